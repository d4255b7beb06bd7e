// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_tlv.h"

enum verdict tlv_read_any(struct cursor *c, bool lenient, struct tlv *tlv)
{
    struct cursor next = *c;
    uint32_t type;
    size_t len;
    const uint8_t *value;
    enum verdict verdict = cursor_tlv_type(&next, lenient, &type);
    if (verdict != VERDICT_OK)
        return verdict;
    verdict = cursor_tlv_length(&next, lenient, &len);
    if (verdict != VERDICT_OK)
        return verdict;
    if (!cursor_bytes(&next, len, &value))
        return VERDICT_TLV_LEN;
    *tlv = (struct tlv){.type = type, .len = len, .value = value};
    *c = next;
    return VERDICT_OK;
}

enum verdict tlv_read_outer(struct cursor *c, bool lenient, struct tlv *tlv)
{
    enum verdict verdict = tlv_read(c, lenient, tlv);
    if (verdict != VERDICT_TLV_LEN)
        return verdict;
    // A length in nine octets stays what it is: it does not come from a cut.
    struct cursor again = *c;
    uint32_t type;
    size_t len;
    (void)cursor_tlv_type(&again, lenient, &type);
    return cursor_tlv_length(&again, lenient, &len) == VERDICT_OK ? VERDICT_TLV_TRUNC : VERDICT_TLV_LEN;
}
