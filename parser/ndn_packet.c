// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_packet.h"

#include "parser/ndn_hint_parse.h"
#include "parser/ndn_lp_parse.h"
#include "parser/ndn_name_parse.h"
#include "parser/ndn_packet_usual.h"

/** Place of each recognized element in an Interest or Data; one that does not come after the last seen is misplaced. */
enum rank {
    RANK_NAME,
    RANK_CAN_BE_PREFIX,
    RANK_MUST_BE_FRESH,
    RANK_FORWARDING_HINT,
    RANK_NONCE,
    RANK_LIFETIME,
    RANK_HOP_LIMIT,
    RANK_APP_PARAMETERS,

    RANK_META_INFO = 1,
    RANK_CONTENT,
    RANK_SIGNATURE_INFO,
    RANK_SIGNATURE_VALUE,
};

/** Keeps what rarely happens out of the way of what always does. */
#define NOINLINE __attribute__((noinline))

/** What is left of an Interest or Data while it is read, and how far it got. */
struct reader {
    struct cursor c;
    enum rank rank;
    bool lenient;
};

/** The first element is no Name: is there one behind it, or none at all? */
static NOINLINE enum verdict missing_name(const uint8_t *p, const uint8_t *end, bool lenient)
{
    struct cursor c = {.p = p, .end = end};
    while (cursor_left(&c) > 0) {
        struct tlv element;
        enum verdict verdict = tlv_read(&c, lenient, &element);
        if (verdict != VERDICT_OK)
            return verdict;
        if (element.type == NDN_TLV_NAME)
            return VERDICT_NET_ORDER;
    }
    return VERDICT_NET_INVALID;
}

/** The Name comes first in both packets (NDN packet spec 0.3, sections 3 and 4). */
static inline enum verdict parse_name(struct cursor *c, bool lenient, struct ndn_name *name, unsigned *n_params)
{
    struct cursor next = *c;
    struct tlv element;
    if (cursor_left(c) == 0)
        return VERDICT_NET_INVALID;
    enum verdict verdict = tlv_read(&next, lenient, &element);
    if (verdict != VERDICT_OK)
        return verdict;
    if (element.type != NDN_TLV_NAME)
        return missing_name(c->p, c->end, lenient);
    *c = next;
    return ndn_name_parse_inline(element.value, element.len, lenient, name, n_params);
}

static uint32_t cap(uint64_t number, uint32_t max)
{
    return number < max ? (uint32_t)number : max;
}

static void set_nonce(struct ndn_interest *interest, const uint8_t *net, const uint8_t *value)
{
    interest->has_nonce = true;
    interest->nonce = load_be32(value);
    interest->nonce_off = (uint16_t)(value - net);
}

static void set_hop_limit(struct ndn_interest *interest, const uint8_t *net, const uint8_t *value)
{
    interest->hop_limit = *value;
    interest->hop_limit_off = (uint16_t)(value - net);
}

static enum verdict interest_element(struct reader *r, const struct tlv *element, const uint8_t *net,
                                     struct ndn_interest *interest)
{
    static const uint8_t ranks[] = {
        [NDN_TLV_NAME] = RANK_NAME,
        [NDN_TLV_CAN_BE_PREFIX] = RANK_CAN_BE_PREFIX,
        [NDN_TLV_MUST_BE_FRESH] = RANK_MUST_BE_FRESH,
        [NDN_TLV_FORWARDING_HINT] = RANK_FORWARDING_HINT,
        [NDN_TLV_NONCE] = RANK_NONCE,
        [NDN_TLV_LIFETIME] = RANK_LIFETIME,
        [NDN_TLV_HOP_LIMIT] = RANK_HOP_LIMIT,
        [NDN_TLV_APP_PARAMETERS] = RANK_APP_PARAMETERS,
    };
    uint64_t number;
    switch (element->type) {
    case NDN_TLV_HOP_LIMIT:
    case NDN_TLV_APP_PARAMETERS:
        // Not critical, so ignored where they do not belong.
        if (ranks[element->type] <= (uint8_t)r->rank)
            return VERDICT_OK;
        break;
    case NDN_TLV_NAME:
    case NDN_TLV_CAN_BE_PREFIX:
    case NDN_TLV_MUST_BE_FRESH:
    case NDN_TLV_FORWARDING_HINT:
    case NDN_TLV_NONCE:
    case NDN_TLV_LIFETIME:
        if (ranks[element->type] <= (uint8_t)r->rank)
            return VERDICT_NET_ORDER;
        break;
    default:
        return tlv_is_critical(element->type) ? VERDICT_NET_CRITICAL : VERDICT_OK;
    }
    r->rank = (enum rank)ranks[element->type];
    switch (r->rank) {
    case RANK_CAN_BE_PREFIX:
    case RANK_MUST_BE_FRESH:
        if (element->len != 0)
            return VERDICT_NET_INVALID;
        if (r->rank == RANK_CAN_BE_PREFIX)
            interest->can_be_prefix = true;
        else
            interest->must_be_fresh = true;
        interest->nonce_off = (uint16_t)(r->c.p - net);
        return VERDICT_OK;
    case RANK_FORWARDING_HINT:
        interest->nonce_off = (uint16_t)(r->c.p - net);
        return ndn_hint_parse(element, r->lenient, net, interest);
    case RANK_NONCE:
        if (element->len != 4)
            return VERDICT_NET_INVALID;
        set_nonce(interest, net, element->value);
        return VERDICT_OK;
    case RANK_LIFETIME:
        if (!tlv_nni(element, &number))
            return VERDICT_NET_INVALID;
        interest->lifetime_ms = cap(number, NDN_LIFETIME_MAX_MS);
        return VERDICT_OK;
    case RANK_HOP_LIMIT:
        if (element->len != 1)
            return VERDICT_NET_INVALID;
        set_hop_limit(interest, net, element->value);
        return VERDICT_OK;
    default:
        return VERDICT_OK; // ApplicationParameters are for the producer
    }
}

/** All that follows the Name, in the general case. */
static NOINLINE enum verdict interest_rest(const uint8_t *p, const uint8_t *end, bool lenient, const uint8_t *net,
                                           struct ndn_interest *interest)
{
    struct reader r = {.c = {.p = p, .end = end}, .rank = RANK_NAME, .lenient = lenient};
    while (cursor_left(&r.c) > 0) {
        struct tlv element;
        enum verdict verdict = tlv_read(&r.c, lenient, &element);
        if (verdict != VERDICT_OK)
            return verdict;
        verdict = interest_element(&r, &element, net, interest);
        if (verdict != VERDICT_OK)
            return verdict;
    }
    return VERDICT_OK;
}

/** All that follows the Name. */
static enum verdict parse_interest_rest(const uint8_t *net, const uint8_t *p, const uint8_t *end, bool lenient,
                                        struct ndn_interest *interest)
{
    if (ndn_usual_interest(net, p, (size_t)(end - p), interest))
        return VERDICT_OK;
    interest->can_be_prefix = false;
    interest->must_be_fresh = false;
    interest->has_nonce = false;
    interest->n_hints = 0;
    interest->hop_limit = UINT8_MAX;
    interest->hop_limit_off = 0;
    interest->nonce = 0;
    interest->nonce_off = (uint16_t)(p - net);
    interest->lifetime_ms = NDN_LIFETIME_DEFAULT_MS;
    return interest_rest(p, end, lenient, net, interest);
}

static NOINLINE enum verdict parse_interest(const uint8_t *net, const uint8_t *value, const uint8_t *end, bool lenient,
                                            struct ndn_packet *pkt)
{
    struct cursor c = {.p = value, .end = end};
    unsigned n_params;
    enum verdict verdict = parse_name(&c, lenient, &pkt->name, &n_params);
    if (verdict != VERDICT_OK)
        return verdict;
    if (pkt->name.n_comps == 0 || n_params > 1)
        return VERDICT_NET_INVALID;
    return parse_interest_rest(net, c.p, end, lenient, &pkt->interest);
}

/**
 * MetaInfo: ContentType, FreshnessPeriod, FinalBlockId, of which only the second matters here; then AppMetaInfo
 * (128..252, odd types included). The reference forwarder takes anything after these, in any order.
 */
static enum verdict parse_meta_info(const struct tlv *meta, bool lenient, struct ndn_data *data)
{
    struct cursor c = cursor_make(meta->value, meta->len);
    uint32_t last = 0;
    while (cursor_left(&c) > 0) {
        struct tlv element;
        enum verdict verdict = tlv_read(&c, lenient, &element);
        if (verdict != VERDICT_OK)
            return verdict;
        if (element.type >= 128 && element.type <= 252) {
            last = NDN_TLV_FINAL_BLOCK_ID;
            continue;
        }
        if (element.type < NDN_TLV_CONTENT_TYPE || element.type > NDN_TLV_FINAL_BLOCK_ID) {
            if (tlv_is_critical(element.type) && !lenient)
                return VERDICT_NET_CRITICAL;
            continue;
        }
        if (element.type <= last) {
            if (!lenient)
                return VERDICT_NET_ORDER;
            continue;
        }
        last = element.type;
        if (element.type == NDN_TLV_FRESHNESS) {
            uint64_t number;
            if (!tlv_nni(&element, &number))
                return VERDICT_NET_INVALID;
            data->freshness_ms = cap(number, NDN_FRESHNESS_MAX_MS);
        }
    }
    return VERDICT_OK;
}

static enum verdict data_element(struct reader *r, const struct tlv *element, struct ndn_data *data)
{
    enum rank rank;
    switch (element->type) {
    case NDN_TLV_NAME:
        return VERDICT_NET_ORDER;
    case NDN_TLV_META_INFO:
        rank = RANK_META_INFO;
        break;
    case NDN_TLV_CONTENT:
        rank = RANK_CONTENT;
        break;
    case NDN_TLV_SIGNATURE_INFO:
        rank = RANK_SIGNATURE_INFO;
        break;
    case NDN_TLV_SIGNATURE_VALUE:
        if (r->rank < RANK_SIGNATURE_INFO)
            return VERDICT_NET_INVALID;
        rank = RANK_SIGNATURE_VALUE;
        break;
    default:
        return tlv_is_critical(element->type) ? VERDICT_NET_CRITICAL : VERDICT_OK;
    }
    if (rank <= r->rank)
        return VERDICT_NET_ORDER;
    r->rank = rank;
    return rank == RANK_META_INFO ? parse_meta_info(element, r->lenient, data) : VERDICT_OK;
}

/** All that follows the Name, in the general case. */
static NOINLINE enum verdict data_rest(const uint8_t *p, const uint8_t *end, bool lenient, struct ndn_data *data)
{
    data->freshness_ms = 0;
    struct reader r = {.c = {.p = p, .end = end}, .rank = RANK_NAME, .lenient = lenient};
    while (cursor_left(&r.c) > 0) {
        struct tlv element;
        enum verdict verdict = tlv_read(&r.c, lenient, &element);
        if (verdict != VERDICT_OK)
            return verdict;
        verdict = data_element(&r, &element, data);
        if (verdict != VERDICT_OK)
            return verdict;
    }
    return r.rank == RANK_SIGNATURE_VALUE ? VERDICT_OK : VERDICT_NET_INVALID;
}

static NOINLINE enum verdict parse_data(const uint8_t *value, const uint8_t *end, bool lenient, struct ndn_packet *pkt)
{
    struct cursor c = {.p = value, .end = end};
    unsigned n_params;
    enum verdict verdict = parse_name(&c, lenient, &pkt->name, &n_params);
    if (verdict != VERDICT_OK)
        return verdict;
    if (ndn_usual_data(c.p, (size_t)(end - c.p), &pkt->data))
        return VERDICT_OK;
    return data_rest(c.p, end, lenient, &pkt->data);
}

/** Header fields that contradict the packet they stand before (NDNLPv2; as the reference forwarder). */
static enum verdict check_lp(const struct ndn_lp *lp, uint8_t type)
{
    unsigned wrong;
    if (type == NDN_TYPE_DATA)
        wrong = LP_HAS_NACK | LP_HAS_NEXT_HOP_FACE | LP_HAS_NON_DISCOVERY;
    else if ((lp->has & LP_HAS_NACK) != 0)
        wrong = LP_HAS_NEXT_HOP_FACE | LP_HAS_CACHE_POLICY | LP_HAS_NON_DISCOVERY | LP_HAS_PREFIX_ANNOUNCEMENT;
    else
        wrong = LP_HAS_CACHE_POLICY | LP_HAS_PREFIX_ANNOUNCEMENT;
    return (lp->has & wrong) == 0 ? VERDICT_OK : VERDICT_LP_INVALID;
}

static enum verdict parse_net_tlv(const uint8_t *net, const struct tlv *tlv, bool lenient, struct ndn_packet *pkt)
{
    if (tlv->type != NDN_TYPE_INTEREST && tlv->type != NDN_TYPE_DATA)
        return VERDICT_PKT_TYPE;
    const uint8_t *end = tlv->value + tlv->len;
    if (end - net > NDN_PACKET_MAX)
        return VERDICT_PKT_OVERSIZE;
    enum verdict verdict = check_lp(&pkt->lp, (uint8_t)tlv->type);
    if (verdict != VERDICT_OK)
        return verdict;
    pkt->type = (uint8_t)tlv->type;
    pkt->net = net;
    pkt->net_len = (uint16_t)(end - net);
    return pkt->type == NDN_TYPE_INTEREST ? parse_interest(net, tlv->value, end, lenient, pkt)
                                          : parse_data(tlv->value, end, lenient, pkt);
}

enum verdict ndn_packet_parse_net(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts,
                                  struct ndn_packet *pkt)
{
    struct cursor c = cursor_make(p, len);
    struct tlv tlv;
    enum verdict verdict = tlv_read_outer(&c, opts->lenient, &tlv);
    if (verdict != VERDICT_OK)
        return verdict;
    // Link padding is outside of the LpPacket; octets behind the packet in a Fragment come from the sender.
    if (cursor_left(&c) > 0 && !opts->lenient)
        return VERDICT_TRAILING;
    return parse_net_tlv(p, &tlv, opts->lenient, pkt);
}

NOINLINE enum verdict ndn_packet_parse_general(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts,
                                               struct ndn_packet *pkt)
{
    struct cursor c = cursor_make(p, len);
    struct tlv tlv;
    enum verdict verdict = tlv_read_outer(&c, opts->lenient, &tlv);
    if (verdict != VERDICT_OK)
        return verdict;
    if (cursor_left(&c) > 0 && !opts->allow_trailing)
        return VERDICT_TRAILING;
    struct ndn_lp *lp = &pkt->lp;
    ndn_lp_clear(lp);
    if (tlv.type != NDN_LP_PACKET)
        return parse_net_tlv(p, &tlv, opts->lenient, pkt);
    verdict = ndn_lp_parse_value(tlv.value, tlv.len, opts->lenient, lp);
    if (verdict != VERDICT_OK)
        return verdict;
    if ((lp->has & LP_HAS_FRAGMENT) != 0 && lp->frag_count == 1)
        return ndn_packet_parse_net(lp->fragment, lp->fragment_len, opts, pkt);
    if (lp->fragment_len > NDN_PACKET_MAX)
        return VERDICT_PKT_OVERSIZE;
    pkt->type = 0;
    pkt->net = lp->fragment;
    pkt->net_len = lp->fragment_len;
    return VERDICT_OK;
}

NOINLINE bool ndn_usual_parse_long(const uint8_t *p, size_t len, bool allow_trailing, bool defer_name,
                                   struct ndn_packet *pkt)
{
    if (len < 24 || !tlv_is_pair(p, NDN_LP_PACKET, 0xfd) || !tlv_is_pair(p + 4, NDN_LP_PIT_TOKEN, 8) ||
        !tlv_is_pair(p + 14, NDN_LP_FRAGMENT, 0xfd) || p[19] != 0xfd)
        return false;
    size_t lp_len = load_be16(p + 2), fragment_len = load_be16(p + 16), net_len = load_be16(p + 20);
    if (net_len < 0xfd || net_len + 4 != fragment_len || fragment_len > NDN_PACKET_MAX || fragment_len + 14 != lp_len ||
        lp_len > len - 4 || (lp_len < len - 4 && !allow_trailing))
        return false;
    if ((p[18] != NDN_TYPE_INTEREST && p[18] != NDN_TYPE_DATA) || p[23] >= 0xfd)
        return false;
    return ndn_usual_net(p + 6, p + 18, 4, net_len, defer_name, pkt);
}

enum verdict ndn_packet_parse(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts, struct ndn_packet *pkt)
{
    return ndn_usual_parse(p, len, opts->allow_trailing, false, pkt) ? VERDICT_OK
                                                                     : ndn_packet_parse_general(p, len, opts, pkt);
}

enum verdict ndn_packet_parse_deferred(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts,
                                       struct ndn_packet *pkt)
{
    return ndn_usual_parse(p, len, opts->allow_trailing, true, pkt) ? VERDICT_OK
                                                                    : ndn_packet_parse_general(p, len, opts, pkt);
}
