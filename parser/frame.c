// SPDX-License-Identifier: Apache-2.0
#include "parser/frame.h"

#include <string.h>

#include "parser/frame_inline.h"

#define VLAN_TAGS_MAX 2
#define VLAN_VID_MASK 0x0fff
#define PROTO_ICMP    1
#define PROTO_ICMP6   58
#define ICMP_HEADER   8

/** Errors (RFC 792); of ICMPv6 the types below 128 are (RFC 4443 2.1). */
#define ICMP_UNREACHABLE   3
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETER     12
#define ICMP6_TOO_BIG      2
#define ICMP6_FIRST_INFO   128

/** IPv6 extension headers (RFC 8200, IANA): what they are followed by is never looked for. */
enum ipv6_ext {
    IPV6_HOP_BY_HOP = 0,
    IPV6_ROUTING = 43,
    IPV6_FRAGMENT = 44,
    IPV6_ESP = 50,
    IPV6_AUTH = 51,
    IPV6_DEST_OPTIONS = 60,
    IPV6_MOBILITY = 135,
    IPV6_HIP = 139,
    IPV6_SHIM6 = 140,
};

/** Sum of native words, as yet unfolded; byte order does not matter until the end (RFC 1071, 2B). */
static inline uint64_t sum_native(const uint8_t *p, size_t len)
{
    // The two halves of a word apart, so that carries stay inside; 2^32 turns of the loop could not overflow them.
    uint64_t low = 0, high = 0, w8;
    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&w8, p, sizeof w8);
        low += w8 & UINT32_MAX;
        high += w8 >> 32;
    }
    uint32_t w4 = 0;
    uint16_t w2 = 0, w1 = 0;
    if ((len & 4) != 0) {
        memcpy(&w4, p, 4);
        p += 4;
    }
    if ((len & 2) != 0) {
        memcpy(&w2, p, 2);
        p += 2;
    }
    if ((len & 1) != 0)
        memcpy(&w1, p, 1);
    return low + high + w4 + w2 + w1;
}

uint32_t frame_csum_add(uint32_t sum, const uint8_t *p, size_t len)
{
    return frame_csum_fold((uint64_t)be16toh((uint16_t)frame_csum_fold(sum_native(p, len))) + sum);
}

bool frame_udp_csum_good(const uint8_t *addresses, size_t address_len, const uint8_t *udp, uint16_t udp_len)
{
    uint64_t sum = address_len == 4 ? frame_csum_fixed(addresses, 8) : frame_csum_fixed(addresses, 32);
    sum += (uint64_t)htobe16(FRAME_PROTO_UDP) + htobe16(udp_len);
    return frame_csum_fold(sum + sum_native(udp, udp_len)) == UINT16_MAX;
}

enum verdict frame_ipv4_other(const uint8_t *ip, size_t left)
{
    if (ip[0] >> 4 != 4)
        return VERDICT_IP_VERSION;
    size_t header_len = (size_t)(ip[0] & 0x0f) * 4, total_len = load_be16(ip + 2);
    if (header_len < FRAME_IPV4_HEADER || header_len > total_len || total_len > left ||
        total_len < FRAME_IPV4_HEADER + FRAME_UDP_HEADER)
        return VERDICT_IP_LEN;
    return VERDICT_IP_OPTIONS;
}

enum verdict frame_ipv6_other(uint8_t next)
{
    switch (next) {
    case IPV6_FRAGMENT:
        return VERDICT_IP_FRAG;
    case IPV6_HOP_BY_HOP:
    case IPV6_ROUTING:
    case IPV6_ESP:
    case IPV6_AUTH:
    case IPV6_DEST_OPTIONS:
    case IPV6_MOBILITY:
    case IPV6_HIP:
    case IPV6_SHIM6:
        return VERDICT_IP_OPTIONS;
    default:
        return VERDICT_IP_PROTO;
    }
}

static bool is_tag(uint16_t ethertype)
{
    return ethertype == FRAME_ETHERTYPE_VLAN || ethertype == FRAME_ETHERTYPE_QINQ;
}

/** 802.1Q and 802.1ad tags; a tag with VID 0 carries a priority only and identifies no VLAN. */
static __attribute__((noinline)) enum verdict parse_tags(struct cursor *c, uint16_t *ethertype, struct frame *frame)
{
    unsigned n_vids = 0;
    while (is_tag(*ethertype)) {
        uint16_t tci;
        if (frame->n_tags == VLAN_TAGS_MAX)
            return VERDICT_L2_VLAN;
        if (!cursor_u16(c, &tci) || !cursor_u16(c, ethertype))
            return VERDICT_L2_SHORT;
        uint16_t vid = tci & VLAN_VID_MASK;
        if (vid == VLAN_VID_MASK)
            return VERDICT_L2_VLAN;
        frame->n_tags++;
        if (vid == 0)
            continue;
        if (n_vids++ == 0)
            frame->vlan = vid;
        else
            frame->vlan_inner = vid;
    }
    return VERDICT_OK;
}

/** Ethernet and tags. *c is behind them. */
static inline __attribute__((always_inline)) enum verdict parse_link(const uint8_t *p, size_t len, struct cursor *c,
                                                                     uint16_t *ethertype, struct frame *frame)
{
    enum verdict verdict = frame_step_link(p, len, c, ethertype, frame);
    if (verdict != VERDICT_OK || __builtin_expect(!is_tag(*ethertype), 1))
        return verdict;
    // Copies, so that the caller's variables can stay in registers.
    struct cursor next = *c;
    uint16_t last = *ethertype;
    verdict = parse_tags(&next, &last, frame);
    *c = next;
    *ethertype = last;
    return verdict;
}

enum verdict frame_parse(const uint8_t *p, size_t len, const struct frame_opts *opts, struct frame *frame)
{
    struct cursor c;
    uint16_t ethertype;
    enum verdict verdict = parse_link(p, len, &c, &ethertype, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    switch (ethertype) {
    case FRAME_ETHERTYPE_NDN:
        if (cursor_left(&c) > UINT16_MAX)
            return VERDICT_PKT_OVERSIZE;
        frame->kind = FRAME_NDN;
        frame->payload_off = (uint16_t)(c.p - p);
        frame->payload_len = (uint16_t)cursor_left(&c);
        return VERDICT_OK;
    case FRAME_ETHERTYPE_IPV4:
        return frame_step_datagram(&c, p, false, opts, frame);
    case FRAME_ETHERTYPE_IPV6:
        return frame_step_datagram(&c, p, true, opts, frame);
    default:
        return VERDICT_L2_TYPE;
    }
}

/* Octets of the quoted packet where the message says so (RFC 4884), else all that follow its header of 8. */
static size_t quote_len(const uint8_t *icmp, size_t len, bool v6)
{
    size_t said = v6 ? (size_t)icmp[4] * 8 : (size_t)icmp[5] * 4;
    // A Packet Too Big message has its MTU there; in others the octet is 0 where there are no extensions.
    if (v6 && icmp[0] == ICMP6_TOO_BIG)
        said = 0;
    return said != 0 && said < len - ICMP_HEADER ? said : len - ICMP_HEADER;
}

static bool is_error(uint8_t type, bool v6)
{
    if (v6)
        return type < ICMP6_FIRST_INFO;
    return type == ICMP_UNREACHABLE || type == ICMP_TIME_EXCEEDED || type == ICMP_PARAMETER;
}

/** The IP header of a quote, which may be cut behind the UDP header. @return octets of it, 0 when it is not one */
static size_t quoted_ip(struct cursor *c, bool v6, struct frame_quote *quote)
{
    const uint8_t *ip = c->p;
    size_t header_len = v6 ? FRAME_IPV6_HEADER : FRAME_IPV4_HEADER, left = cursor_left(c), total_len;
    if (left < header_len + FRAME_UDP_HEADER)
        return 0;
    if (v6) {
        total_len = FRAME_IPV6_HEADER + (size_t)load_be16(ip + 4);
        if (ip[0] >> 4 != 6 || ip[6] != FRAME_PROTO_UDP)
            return 0;
    } else {
        // Some hosts quote the total length in their own byte order: what counts is what is there.
        total_len = left;
        if (ip[0] != FRAME_IPV4_PLAIN || ip[9] != FRAME_PROTO_UDP || (load_be16(ip + 6) & FRAME_IPV4_FRAGMENT) != 0)
            return 0;
    }
    if (total_len < header_len + FRAME_UDP_HEADER)
        return 0;
    quote->ip = ip;
    quote->src_ip = ip + (v6 ? 8 : 12);
    quote->dst_ip = ip + (v6 ? 24 : 16);
    if (total_len < left)
        c->end = ip + total_len;
    return header_len;
}

static enum verdict parse_quote(const uint8_t *icmp, size_t len, bool v6, const struct frame *frame,
                                struct frame_quote *quote)
{
    struct cursor c = cursor_make(icmp + ICMP_HEADER, quote_len(icmp, len, v6));
    size_t header_len = quoted_ip(&c, v6, quote);
    if (header_len == 0 || memcmp(quote->src_ip, frame->dst_ip, v6 ? 16 : 4) != 0)
        return VERDICT_ICMP;
    const uint8_t *udp = c.p + header_len;
    size_t udp_len = load_be16(udp + 4), left = (size_t)(c.end - udp);
    if (udp_len < FRAME_UDP_HEADER)
        return VERDICT_ICMP;
    quote->sport = load_be16(udp);
    quote->dport = load_be16(udp + 2);
    quote->payload = udp + FRAME_UDP_HEADER;
    quote->payload_len = (uint16_t)((udp_len < left ? udp_len : left) - FRAME_UDP_HEADER);
    return VERDICT_OK;
}

static bool icmp_csum_good(const struct frame *frame, const uint8_t *icmp, size_t len, bool v6)
{
    uint64_t sum = sum_native(icmp, len);
    if (v6)
        sum += frame_csum_fixed(frame->src_ip, 32) + htobe16(PROTO_ICMP6) + htobe16((uint16_t)len);
    return frame_csum_fold(sum) == UINT16_MAX;
}

enum verdict frame_parse_icmp(const uint8_t *p, size_t len, const struct frame_opts *opts, struct frame *frame,
                              struct frame_quote *quote)
{
    struct cursor c;
    uint16_t ethertype;
    enum verdict verdict = parse_link(p, len, &c, &ethertype, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    bool v6 = ethertype == FRAME_ETHERTYPE_IPV6;
    if (!v6 && ethertype != FRAME_ETHERTYPE_IPV4)
        return VERDICT_L2_TYPE;
    verdict = v6 ? frame_step_ipv6(&c, PROTO_ICMP6, frame) : frame_step_ipv4(&c, PROTO_ICMP, opts, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    const uint8_t *icmp = c.p;
    size_t icmp_len = cursor_left(&c);
    if (!is_error(icmp[0], v6))
        return VERDICT_IP_PROTO;
    frame->kind = v6 ? FRAME_ICMP6 : FRAME_ICMP4;
    frame->payload_off = (uint16_t)(icmp - p);
    frame->payload_len = (uint16_t)icmp_len;
    return icmp_csum_good(frame, icmp, icmp_len, v6) ? parse_quote(icmp, icmp_len, v6, frame, quote) : VERDICT_ICMP;
}
