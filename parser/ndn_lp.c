// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_lp.h"

#include "parser/ndn_lp_parse.h"

/** May an unknown field of this type be ignored (NDNLPv2)? */
static bool is_ignorable(uint32_t type)
{
    return type >= 800 && type <= 959 && (type & 3) == 0;
}

static enum verdict parse_nack(const struct tlv *nack, bool lenient, struct ndn_lp *lp)
{
    struct cursor c = cursor_make(nack->value, nack->len);
    bool has_reason = false;
    while (cursor_left(&c) > 0) {
        struct tlv field;
        enum verdict verdict = tlv_read(&c, lenient, &field);
        if (verdict != VERDICT_OK)
            return verdict;
        if (field.type == NDN_LP_NACK_REASON) {
            uint64_t reason;
            if (has_reason)
                return VERDICT_LP_ORDER;
            if (!tlv_nni(&field, &reason))
                return VERDICT_LP_INVALID;
            lp->nack_reason = reason < UINT32_MAX ? (uint32_t)reason : UINT32_MAX;
            has_reason = true;
        } else if (!is_ignorable(field.type)) {
            return VERDICT_LP_CRITICAL;
        }
    }
    lp->has |= LP_HAS_NACK;
    return VERDICT_OK;
}

static enum verdict parse_cache_policy(const struct tlv *policy, bool lenient, struct ndn_lp *lp)
{
    struct cursor c = cursor_make(policy->value, policy->len);
    struct tlv field;
    if (cursor_left(&c) == 0)
        return VERDICT_LP_INVALID;
    enum verdict verdict = tlv_read(&c, lenient, &field);
    if (verdict != VERDICT_OK)
        return verdict;
    if (field.type != NDN_LP_CACHE_POLICY_TYPE || !tlv_nni(&field, &lp->cache_policy))
        return VERDICT_LP_INVALID;
    while (cursor_left(&c) > 0) {
        verdict = tlv_read(&c, lenient, &field);
        if (verdict != VERDICT_OK)
            return verdict;
        if (!is_ignorable(field.type))
            return VERDICT_LP_CRITICAL;
    }
    lp->has |= LP_HAS_CACHE_POLICY;
    return VERDICT_OK;
}

static enum verdict parse_announcement(const struct tlv *announcement, bool lenient, struct ndn_lp *lp)
{
    struct cursor c = cursor_make(announcement->value, announcement->len);
    struct tlv data;
    if (cursor_left(&c) == 0)
        return VERDICT_LP_INVALID;
    enum verdict verdict = tlv_read(&c, lenient, &data);
    if (verdict != VERDICT_OK)
        return verdict;
    if (data.type != 6 || cursor_left(&c) > 0)
        return VERDICT_LP_INVALID;
    lp->has |= LP_HAS_PREFIX_ANNOUNCEMENT;
    lp->announcement = announcement->value;
    lp->announcement_len = (uint16_t)announcement->len;
    return VERDICT_OK;
}

/** Numbers that only their being a NonNegativeInteger constrains. */
static enum verdict parse_number(const struct tlv *field, unsigned has, uint64_t *number, struct ndn_lp *lp)
{
    if (!tlv_nni(field, number))
        return VERDICT_LP_INVALID;
    lp->has |= (uint16_t)has;
    return VERDICT_OK;
}

static enum verdict parse_ack(const struct tlv *ack, struct ndn_lp *lp)
{
    // Acks are read again by position, so each must have the 4-octet header of the shortest form.
    static const uint8_t header[4] = {0xfd, NDN_LP_ACK >> 8, NDN_LP_ACK & 0xff, 8};
    if (ack->len != 8 || memcmp(ack->value - sizeof header, header, sizeof header) != 0)
        return VERDICT_LP_INVALID;
    // Fields ascend, so that nothing can stand between two Acks.
    if (lp->n_acks == 0)
        lp->acks = ack->value - sizeof header;
    lp->has |= LP_HAS_ACK;
    if (lp->n_acks < NDN_LP_ACKS_MAX)
        lp->n_acks++;
    return VERDICT_OK;
}

/** FragIndex and FragCount while the fields are read: too wide for struct ndn_lp until they are checked. */
struct frag {
    uint64_t index, count;
    size_t sequence_len;
};

static enum verdict parse_field(const struct tlv *field, bool lenient, struct frag *frag, struct ndn_lp *lp)
{
    switch (field->type) {
    case NDN_LP_FRAGMENT:
        if (field->len == 0)
            return VERDICT_LP_INVALID;
        lp->has |= LP_HAS_FRAGMENT;
        lp->fragment = field->value;
        lp->fragment_len = (uint16_t)field->len;
        return VERDICT_OK;
    case NDN_LP_SEQUENCE:
        frag->sequence_len = field->len;
        return parse_number(field, LP_HAS_SEQUENCE, &lp->sequence, lp);
    case NDN_LP_FRAG_INDEX:
        return parse_number(field, 0, &frag->index, lp);
    case NDN_LP_FRAG_COUNT:
        return parse_number(field, 0, &frag->count, lp);
    case NDN_LP_PIT_TOKEN:
        if (field->len == 0 || field->len > NDN_LP_TOKEN_MAX)
            return VERDICT_LP_INVALID;
        lp->token = field->value;
        lp->token_len = (uint8_t)field->len;
        return VERDICT_OK;
    case NDN_LP_NACK:
        return parse_nack(field, lenient, lp);
    case NDN_LP_INCOMING_FACE:
        return parse_number(field, LP_HAS_INCOMING_FACE, &lp->incoming_face, lp);
    case NDN_LP_NEXT_HOP_FACE:
        return parse_number(field, LP_HAS_NEXT_HOP_FACE, &lp->next_hop_face, lp);
    case NDN_LP_CACHE_POLICY:
        return parse_cache_policy(field, lenient, lp);
    case NDN_LP_CONGESTION_MARK:
        return parse_number(field, LP_HAS_CONGESTION_MARK, &lp->congestion_mark, lp);
    case NDN_LP_ACK:
        return parse_ack(field, lp);
    case NDN_LP_TX_SEQUENCE:
        return field->len == 8 ? parse_number(field, LP_HAS_TX_SEQUENCE, &lp->tx_sequence, lp) : VERDICT_LP_INVALID;
    case NDN_LP_NON_DISCOVERY:
        if (field->len != 0)
            return VERDICT_LP_INVALID;
        lp->has |= LP_HAS_NON_DISCOVERY;
        return VERDICT_OK;
    case NDN_LP_PREFIX_ANNOUNCEMENT:
        return parse_announcement(field, lenient, lp);
    default:
        return VERDICT_OK; // an unknown field that may be ignored
    }
}

static bool is_known(uint32_t type)
{
    switch (type) {
    case NDN_LP_FRAGMENT:
    case NDN_LP_SEQUENCE:
    case NDN_LP_FRAG_INDEX:
    case NDN_LP_FRAG_COUNT:
    case NDN_LP_PIT_TOKEN:
        return true;
    default:
        return is_ignorable(type);
    }
}

/** Index below count, count within limits, and a full Sequence to tell messages apart. */
static enum verdict check_frag(const struct frag *frag, struct ndn_lp *lp)
{
    if (frag->count == 0 || frag->count > NDN_LP_FRAGS_MAX || frag->index >= frag->count)
        return VERDICT_LP_FRAG_BAD;
    if (frag->count > 1 && frag->sequence_len != 8)
        return VERDICT_LP_INVALID;
    lp->frag_index = (uint16_t)frag->index;
    lp->frag_count = (uint16_t)frag->count;
    return VERDICT_OK;
}

enum verdict ndn_lp_parse_value(const uint8_t *value, size_t len, bool lenient, struct ndn_lp *lp)
{
    if (len > UINT16_MAX)
        return VERDICT_PKT_OVERSIZE;
    struct cursor c = cursor_make(value, len);
    struct frag frag = {.index = 0, .count = 1};
    uint32_t last = 0;
    lp->has = LP_HAS_HEADER;
    while (cursor_left(&c) > 0) {
        struct tlv field;
        enum verdict verdict = tlv_read(&c, lenient, &field);
        if (verdict != VERDICT_OK)
            return verdict;
        if (!is_known(field.type))
            return VERDICT_LP_CRITICAL;
        // Fragment comes last whatever its number; of the rest only Ack may repeat.
        if (last == NDN_LP_FRAGMENT)
            return VERDICT_LP_ORDER;
        if (field.type != NDN_LP_FRAGMENT && (field.type < last || (field.type == last && field.type != NDN_LP_ACK)))
            return VERDICT_LP_ORDER;
        verdict = parse_field(&field, lenient, &frag, lp);
        if (verdict != VERDICT_OK)
            return verdict;
        last = field.type;
    }
    return check_frag(&frag, lp);
}

enum verdict ndn_lp_parse(const uint8_t *p, size_t len, bool lenient, struct ndn_lp *lp)
{
    struct cursor c = cursor_make(p, len);
    struct tlv packet;
    enum verdict verdict = tlv_read_outer(&c, lenient, &packet);
    if (verdict != VERDICT_OK)
        return verdict;
    if (packet.type != NDN_LP_PACKET)
        return VERDICT_PKT_TYPE;
    if (cursor_left(&c) > 0)
        return VERDICT_TRAILING;
    ndn_lp_clear(lp);
    return ndn_lp_parse_value(packet.value, packet.len, lenient, lp);
}

uint64_t ndn_lp_ack(const struct ndn_lp *lp, unsigned i)
{
    return load_be64(lp->acks + (size_t)i * 12 + 4);
}
