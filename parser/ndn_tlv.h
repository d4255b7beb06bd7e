// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_TLV_H
#define PARSER_NDN_TLV_H

#include "parser/cursor.h"

/** TLV-TYPE numbers of the NDN packet format 0.3 that a forwarder looks at; Interest and Data: ndn_packet.h. */
enum ndn_tlv_type {
    NDN_TLV_NAME = 7,
    NDN_TLV_NONCE = 10,
    NDN_TLV_LIFETIME = 12,
    NDN_TLV_MUST_BE_FRESH = 18,
    NDN_TLV_META_INFO = 20,
    NDN_TLV_CONTENT = 21,
    NDN_TLV_SIGNATURE_INFO = 22,
    NDN_TLV_SIGNATURE_VALUE = 23,
    NDN_TLV_CONTENT_TYPE = 24,
    NDN_TLV_FRESHNESS = 25,
    NDN_TLV_FINAL_BLOCK_ID = 26,
    NDN_TLV_SIGNATURE_TYPE = 27,
    NDN_TLV_FORWARDING_HINT = 30,
    NDN_TLV_DELEGATION = 31,
    NDN_TLV_CAN_BE_PREFIX = 33,
    NDN_TLV_HOP_LIMIT = 34,
    NDN_TLV_APP_PARAMETERS = 36,
};

/** TLV-TYPE numbers of NDNLPv2. */
enum ndn_lp_tlv_type {
    NDN_LP_FRAGMENT = 80,
    NDN_LP_SEQUENCE = 81,
    NDN_LP_FRAG_INDEX = 82,
    NDN_LP_FRAG_COUNT = 83,
    NDN_LP_PIT_TOKEN = 98,
    NDN_LP_PACKET = 100,
    NDN_LP_NACK = 800,
    NDN_LP_NACK_REASON = 801,
    NDN_LP_INCOMING_FACE = 812,
    NDN_LP_NEXT_HOP_FACE = 816,
    NDN_LP_CACHE_POLICY = 820,
    NDN_LP_CACHE_POLICY_TYPE = 821,
    NDN_LP_CONGESTION_MARK = 832,
    NDN_LP_ACK = 836,
    NDN_LP_TX_SEQUENCE = 840,
    NDN_LP_NON_DISCOVERY = 844,
    NDN_LP_PREFIX_ANNOUNCEMENT = 848,
};

/** View of one TLV element. */
struct tlv {
    uint32_t type;
    size_t len;           /**< octets at value */
    const uint8_t *value; /**< TLV-VALUE, inside the buffer that was read */
};

/**
 * Read the next TLV of an enclosing element, of which @p c is at a boundary and not at the end.
 *
 * @return VERDICT_OK and the cursor behind the TLV; VERDICT_TLV_TRUNC when a number is cut, VERDICT_TLV_LEN when the
 * value does not fit into the enclosing element, else as cursor_tlv_type() and cursor_tlv_length()
 */
static inline enum verdict tlv_read(struct cursor *c, bool lenient, struct tlv *tlv)
{
    size_t left = cursor_left(c);
    // Nearly every element has a type and a length of one octet.
    if (left >= 2 && (uint8_t)(c->p[0] - 1) < 0xfc && c->p[1] < 0xfd && c->p[1] <= left - 2) {
        tlv->type = c->p[0];
        tlv->len = c->p[1];
        tlv->value = c->p + 2;
        c->p += 2 + (size_t)c->p[1];
        return VERDICT_OK;
    }
    struct cursor next = *c;
    uint32_t type;
    size_t len;
    enum verdict verdict = cursor_tlv_type(&next, lenient, &type);
    if (verdict != VERDICT_OK)
        return verdict;
    verdict = cursor_tlv_length(&next, lenient, &len);
    if (verdict != VERDICT_OK)
        return verdict;
    if (!cursor_bytes(&next, len, &tlv->value))
        return VERDICT_TLV_LEN;
    tlv->type = type;
    tlv->len = len;
    *c = next;
    return VERDICT_OK;
}

/** As tlv_read() for a TLV that nothing encloses: one that does not fit was cut on the way (VERDICT_TLV_TRUNC). */
static inline enum verdict tlv_read_outer(struct cursor *c, bool lenient, struct tlv *tlv)
{
    const uint8_t *start = c->p;
    enum verdict verdict = tlv_read(c, lenient, tlv);
    if (verdict != VERDICT_TLV_LEN)
        return verdict;
    // The 9-octet length form stays what it is: it does not come from a cut.
    struct cursor again = {.p = start, .end = c->end};
    uint32_t type;
    size_t len;
    (void)cursor_tlv_type(&again, lenient, &type);
    return cursor_tlv_length(&again, lenient, &len) == VERDICT_OK ? VERDICT_TLV_TRUNC : VERDICT_TLV_LEN;
}

/** Read a NonNegativeInteger: 1, 2, 4 or 8 octets. @return false for any other length */
static inline bool tlv_nni(const struct tlv *tlv, uint64_t *v)
{
    switch (tlv->len) {
    case 1:
        *v = tlv->value[0];
        return true;
    case 2:
        *v = load_be16(tlv->value);
        return true;
    case 4:
        *v = load_be32(tlv->value);
        return true;
    case 8:
        *v = load_be64(tlv->value);
        return true;
    default:
        return false;
    }
}

/** May an element of this type not be ignored when it is unrecognized (NDN packet spec 0.3, section 1.3)? */
static inline bool tlv_is_critical(uint32_t type)
{
    return type <= 31 || (type & 1) != 0;
}

#endif
