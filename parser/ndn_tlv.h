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

/** Read a TLV of any form; what tlv_read() and tlv_read_outer() leave over. */
enum verdict tlv_read_any(struct cursor *c, bool lenient, struct tlv *tlv);

/** Do the next two octets say this type and length? At least two are left. */
static inline bool tlv_is_pair(const uint8_t *p, uint8_t type, uint8_t len)
{
    return load_be16(p) == (uint16_t)(type << 8 | len);
}

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
    if (left >= 2) {
        uint8_t type = c->p[0], len = c->p[1];
        if ((uint8_t)(type - 1) < 0xfc && len < 0xfd && len <= left - 2) {
            tlv->type = type;
            tlv->len = len;
            tlv->value = c->p + 2;
            c->p += 2 + (size_t)len;
            return VERDICT_OK;
        }
    }
    // Copies, so that the caller's variables can stay in registers.
    struct cursor next = *c;
    struct tlv any;
    enum verdict verdict = tlv_read_any(&next, lenient, &any);
    if (verdict == VERDICT_OK) {
        *c = next;
        *tlv = any;
    }
    return verdict;
}

/** As tlv_read() for a TLV that nothing encloses: one that does not fit was cut on the way (VERDICT_TLV_TRUNC). */
enum verdict tlv_read_outer(struct cursor *c, bool lenient, struct tlv *tlv);

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
