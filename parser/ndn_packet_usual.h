// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_PACKET_USUAL_H
#define PARSER_NDN_PACKET_USUAL_H

#include "parser/ndn_name_parse.h"
#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"

/*
 * The shape that nearly all packets between forwarders have, in a straight line: an LpPacket with a PitToken of eight
 * octets and a Fragment, in which everything is where it always is; Interests of Name, Nonce and InterestLifetime; Data
 * of Name, MetaInfo, Content and signature. First the whole header line is found to be there, then it is read.
 *
 * This is the first step of ndn_packet_parse(), inline for those to whom a call matters. It accepts or says nothing:
 * whatever is unusual, or wrong, is for the general parser, which decides alone what is wrong with it.
 */

/** Octets from the LpPacket's first to the Interest's or Data's, with lengths of one octet. */
#define NDN_USUAL_HEADERS 14

/** Its Name, of which value and len are filled, when ndn_name_walk() gets through it. */
static inline bool ndn_usual_name(struct ndn_name *name)
{
    size_t off;
    unsigned n = ndn_name_walk(name, &off);
    ndn_name_walked(name, n);
    return off == name->len;
}

/** What an Interest has behind its Name: @p len octets at @p p, all of which are there. */
static inline bool ndn_usual_interest(const uint8_t *net, const uint8_t *p, size_t len, struct ndn_interest *interest)
{
    if (len != 10 || !tlv_is_pair(p, NDN_TLV_NONCE, 4) || !tlv_is_pair(p + 6, NDN_TLV_LIFETIME, 2))
        return false;
    interest->can_be_prefix = false;
    interest->must_be_fresh = false;
    interest->has_nonce = true;
    interest->n_hints = 0;
    interest->hop_limit = UINT8_MAX;
    interest->hop_limit_off = 0;
    interest->nonce_off = (uint16_t)(p + 2 - net);
    interest->nonce = load_be32(p + 2);
    interest->lifetime_ms = load_be16(p + 8);
    return true;
}

/**
 * Step over an element of this type whose length takes one octet. Where it ends is compared with @p len by whatever
 * reads on from there: the next step, or who asks for the end. @return false when there is none
 */
static inline bool ndn_usual_skip(const uint8_t *p, size_t len, size_t *off, uint8_t type)
{
    if (*off + 2 > len || p[*off] != type || p[*off + 1] >= 0xfd)
        return false;
    *off += 2 + (size_t)p[*off + 1];
    return true;
}

/** As ndn_usual_skip() for a length of one octet or three. */
static inline bool ndn_usual_skip_long(const uint8_t *p, size_t len, size_t *off, uint8_t type)
{
    if (ndn_usual_skip(p, len, off, type))
        return true;
    if (*off + 4 > len || !tlv_is_pair(p + *off, type, 0xfd))
        return false;
    uint16_t size = load_be16(p + *off + 2);
    *off += 4 + (size_t)size;
    return size >= 0xfd;
}

/** What Data has behind its Name: MetaInfo, empty or with a FreshnessPeriod of two octets, Content and signature. */
static inline bool ndn_usual_data(const uint8_t *p, size_t len, struct ndn_data *data)
{
    size_t off = 0;
    uint32_t freshness_ms = 0;
    if (len >= 6 && load_be32(p) == (NDN_TLV_META_INFO << 24 | 4 << 16 | NDN_TLV_FRESHNESS << 8 | 2)) {
        freshness_ms = load_be16(p + 4);
        off = 6;
    } else if (len >= 2 && p[0] == NDN_TLV_META_INFO) {
        if (p[1] != 0)
            return false;
        off = 2;
    }
    if (!ndn_usual_skip_long(p, len, &off, NDN_TLV_CONTENT) || !ndn_usual_skip(p, len, &off, NDN_TLV_SIGNATURE_INFO) ||
        !ndn_usual_skip(p, len, &off, NDN_TLV_SIGNATURE_VALUE) || off != len)
        return false;
    data->freshness_ms = freshness_ms;
    return true;
}

/**
 * The Interest or Data at @p net, with @p header octets of type and length and @p len of value: two at least, and a
 * length of one octet for the Name. Behind a PitToken; nothing else is in the LpPacket.
 */
static inline bool ndn_usual_net(const uint8_t *token, const uint8_t *net, size_t header, size_t len, bool defer_name,
                                 struct ndn_packet *pkt)
{
    struct ndn_name *name = &pkt->name;
    const uint8_t *value = net + header;
    uint8_t type = *net;
    size_t name_len = value[1];
    if (value[0] != NDN_TLV_NAME || name_len > len - 2)
        return false;
    const uint8_t *p = value + 2 + name_len;
    if (type == NDN_TYPE_INTEREST) {
        if (name_len == 0 || !ndn_usual_interest(net, p, len - 2 - name_len, &pkt->interest))
            return false;
    } else if (!ndn_usual_data(p, len - 2 - name_len, &pkt->data)) {
        return false;
    }
    pkt->type = type;
    pkt->net = net;
    pkt->net_len = (uint16_t)(header + len);
    struct ndn_lp *lp = &pkt->lp;
    lp->has = LP_HAS_HEADER | LP_HAS_FRAGMENT;
    lp->token_len = 8;
    lp->n_acks = 0;
    lp->frag_index = 0;
    lp->frag_count = 1;
    lp->nack_reason = 0;
    lp->token = token;
    lp->fragment = net;
    lp->fragment_len = (uint16_t)(header + len);
    name->value = value + 2;
    name->len = (uint16_t)name_len;
    name->has_digest = false;
    name->unread = true;
    return defer_name || ndn_usual_name(name);
}

/** ndn_usual_parse() for lengths of three octets. */
bool ndn_usual_parse_long(const uint8_t *p, size_t len, bool allow_trailing, bool defer_name, struct ndn_packet *pkt);

/**
 * Is it a packet of the usual shape? Parameters as those of ndn_packet_parse(); with @p defer_name as of
 * ndn_packet_parse_deferred().
 *
 * @return true and *pkt filled as by ndn_packet_parse(); false: it is something else, *pkt is undefined
 */
static inline bool ndn_usual_parse(const uint8_t *p, size_t len, bool allow_trailing, bool defer_name,
                                   struct ndn_packet *pkt)
{
    // All lengths follow from the innermost: what the octets before it are then is computed, and compared at one look.
    if (len < NDN_USUAL_HEADERS + 4)
        return false;
    uint32_t net_len = p[15];
    uint32_t line = (NDN_LP_PACKET | NDN_LP_PIT_TOKEN << 16 | 8u << 24) + ((net_len + NDN_USUAL_HEADERS) << 8);
    uint32_t inner = (NDN_LP_FRAGMENT | 2 << 8 | NDN_TYPE_INTEREST << 16) + (net_len << 8 | net_len << 24);
    // Interest and Data differ in one bit of the sum.
    if (load_le32(p) != line || ((load_le32(p + 12) - inner) & ~UINT32_C(0x10000)) != 0)
        return ndn_usual_parse_long(p, len, allow_trailing, defer_name, pkt);
    // Two octets are a Name's header; beyond 252 a length of one octet is none.
    if (net_len - 2 > 252 - NDN_USUAL_HEADERS - 2 || net_len + NDN_USUAL_HEADERS + 2 > len ||
        (net_len + NDN_USUAL_HEADERS + 2 < len && !allow_trailing))
        return false;
    return ndn_usual_net(p + 4, p + NDN_USUAL_HEADERS, 2, net_len, defer_name, pkt);
}

#endif
