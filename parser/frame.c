// SPDX-License-Identifier: Apache-2.0
#include "parser/frame.h"

#include <string.h>

#include "parser/cursor.h"

#define ETHER_HEADER    14
#define ETHERTYPE_VLAN  0x8100
#define ETHERTYPE_QINQ  0x88a8
#define ETHERTYPE_IPV4  0x0800
#define ETHERTYPE_IPV6  0x86dd
#define VLAN_TAGS_MAX   2
#define VLAN_VID_MASK   0x0fff
#define IPV4_HEADER     20
#define IPV6_HEADER     40
#define UDP_HEADER      8
#define IPV4_MORE_FRAGS 0x2000
#define IPV4_FRAG_OFF   0x1fff
#define PROTO_UDP       17
#define PROTO_ICMP      1
#define PROTO_ICMP6     58
#define ICMP_HEADER     8

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

static uint32_t fold(uint64_t sum)
{
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint32_t)sum;
}

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

/** The same for a size known when compiled and divisible by 4: the loop goes away. */
static inline __attribute__((always_inline)) uint64_t sum_fixed(const uint8_t *p, size_t len)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t w;
        memcpy(&w, p + i, sizeof w);
        sum += w;
    }
    return sum;
}

uint32_t frame_csum_add(uint32_t sum, const uint8_t *p, size_t len)
{
    return fold((uint64_t)be16toh((uint16_t)fold(sum_native(p, len))) + sum);
}

/** Is the sum over UDP and its pseudo-header (RFC 768, RFC 8200 8.1) all ones? Both addresses stand together. */
static bool udp_csum_good(const uint8_t *addresses, size_t address_len, const uint8_t *udp, uint16_t udp_len)
{
    uint64_t sum = address_len == 4 ? sum_fixed(addresses, 8) : sum_fixed(addresses, 32);
    sum += (uint64_t)htobe16(PROTO_UDP) + htobe16(udp_len);
    return fold(sum + sum_native(udp, udp_len)) == UINT16_MAX;
}

static enum verdict parse_udp(struct cursor *c, const uint8_t *start, size_t address_len, const struct frame_opts *opts,
                              struct frame *frame)
{
    size_t left = cursor_left(c);
    if (left < UDP_HEADER)
        return VERDICT_UDP_LEN;
    const uint8_t *udp = c->p;
    uint16_t udp_len = load_be16(udp + 4), csum = load_be16(udp + 6);
    if (udp_len < UDP_HEADER || udp_len > left)
        return VERDICT_UDP_LEN;
    if (csum == 0) {
        // "No checksum" exists over IPv4 only.
        if (address_len != 4)
            return VERDICT_UDP_CSUM;
    } else if (!opts->skip_udp_csum && !udp_csum_good(frame->src_ip, address_len, udp, udp_len)) {
        return VERDICT_UDP_CSUM;
    }
    frame->sport = load_be16(udp);
    frame->dport = load_be16(udp + 2);
    frame->payload_off = (uint16_t)(udp + UDP_HEADER - start);
    frame->payload_len = (uint16_t)(udp_len - UDP_HEADER);
    return VERDICT_OK;
}

/** RFC 1122 3.2.1.3: "this network", loopback, multicast, reserved and limited broadcast are no sources. */
static bool ipv4_bad_source(const uint8_t *a)
{
    return a[0] == 0 || a[0] == 127 || a[0] >= 224;
}

/** Neither hosts nor groups. Directed broadcasts take the port's prefix to tell. */
static bool ipv4_bad_destination(const uint8_t *a)
{
    return a[0] == 0 || a[0] == 127 || a[0] >= 240;
}

/** Inlined, so that for UDP, which nearly all frames are, the protocol is a constant. */
static inline __attribute__((always_inline)) enum verdict
parse_ipv4_header(struct cursor *c, uint8_t protocol, const struct frame_opts *opts, struct frame *frame)
{
    size_t left = cursor_left(c);
    if (left < IPV4_HEADER)
        return VERDICT_IP_LEN;
    const uint8_t *ip = c->p;
    if (ip[0] >> 4 != 4)
        return VERDICT_IP_VERSION;
    size_t header_len = (size_t)(ip[0] & 0x0f) * 4, total_len = load_be16(ip + 2);
    if (header_len < IPV4_HEADER || header_len > total_len || total_len > left || total_len < IPV4_HEADER + UDP_HEADER)
        return VERDICT_IP_LEN;
    if (header_len > IPV4_HEADER)
        return VERDICT_IP_OPTIONS;
    if ((load_be16(ip + 6) & (IPV4_MORE_FRAGS | IPV4_FRAG_OFF)) != 0)
        return VERDICT_IP_FRAG;
    if (ip[9] != protocol)
        return VERDICT_IP_PROTO;
    if (ipv4_bad_source(ip + 12))
        return VERDICT_IP_SRC;
    if (ipv4_bad_destination(ip + 16))
        return VERDICT_IP_DST;
    if (!opts->skip_ip_csum && fold(sum_fixed(ip, IPV4_HEADER)) != UINT16_MAX)
        return VERDICT_IP_CSUM;
    frame->src_ip = ip + 12;
    frame->dst_ip = ip + 16;
    *c = (struct cursor){.p = ip + IPV4_HEADER, .end = ip + total_len};
    return VERDICT_OK;
}

static enum verdict parse_ipv4(struct cursor *c, const uint8_t *start, const struct frame_opts *opts,
                               struct frame *frame)
{
    enum verdict verdict = parse_ipv4_header(c, PROTO_UDP, opts, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    frame->kind = FRAME_UDP4;
    return parse_udp(c, start, 4, opts, frame);
}

/** ::, ::1 and IPv4-mapped addresses (RFC 4291, RFC 4890): on a link they stand for nobody. */
static bool ipv6_is_special(const uint8_t *a)
{
    if (load_be64(a) != 0)
        return false;
    uint64_t low = load_be64(a + 8);
    return low <= 1 || low >> 32 == UINT16_MAX;
}

static enum verdict ipv6_other_header(uint8_t next)
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

static inline __attribute__((always_inline)) enum verdict parse_ipv6_header(struct cursor *c, uint8_t protocol,
                                                                            struct frame *frame)
{
    size_t left = cursor_left(c);
    if (left < IPV6_HEADER)
        return VERDICT_IP_LEN;
    const uint8_t *ip = c->p;
    if (ip[0] >> 4 != 6)
        return VERDICT_IP_VERSION;
    size_t payload_len = load_be16(ip + 4);
    if (payload_len > left - IPV6_HEADER || payload_len < UDP_HEADER)
        return VERDICT_IP_LEN;
    if (ip[6] != protocol)
        return ipv6_other_header(ip[6]);
    if (ip[8] == 0xff || ipv6_is_special(ip + 8))
        return VERDICT_IP_SRC;
    if (ipv6_is_special(ip + 24))
        return VERDICT_IP_DST;
    frame->src_ip = ip + 8;
    frame->dst_ip = ip + 24;
    *c = (struct cursor){.p = ip + IPV6_HEADER, .end = ip + IPV6_HEADER + payload_len};
    return VERDICT_OK;
}

static enum verdict parse_ipv6(struct cursor *c, const uint8_t *start, const struct frame_opts *opts,
                               struct frame *frame)
{
    enum verdict verdict = parse_ipv6_header(c, PROTO_UDP, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    frame->kind = FRAME_UDP6;
    return parse_udp(c, start, 16, opts, frame);
}

static bool is_vlan(uint16_t ethertype)
{
    return ethertype == ETHERTYPE_VLAN || ethertype == ETHERTYPE_QINQ;
}

/** 802.1Q and 802.1ad tags; a tag with VID 0 carries a priority only and identifies no VLAN. */
static enum verdict parse_vlan(struct cursor *c, uint16_t *ethertype, struct frame *frame)
{
    unsigned n_vids = 0;
    while (is_vlan(*ethertype)) {
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

static bool mac_is_zero(const uint8_t *mac)
{
    return load_be32(mac) == 0 && load_be16(mac + 4) == 0;
}

/** Ethernet and tags. *c is behind them. */
static inline __attribute__((always_inline)) enum verdict parse_link(const uint8_t *p, size_t len, struct cursor *c,
                                                                     uint16_t *ethertype, struct frame *frame)
{
    if (len < ETHER_HEADER)
        return VERDICT_L2_SHORT;
    frame->n_tags = 0;
    frame->multicast = (p[0] & 1) != 0;
    frame->vlan = 0;
    frame->vlan_inner = 0;
    frame->sport = 0;
    frame->dport = 0;
    frame->dst_mac = p;
    frame->src_mac = p + 6;
    frame->src_ip = NULL;
    frame->dst_ip = NULL;
    if ((p[6] & 1) != 0 || mac_is_zero(p + 6))
        return VERDICT_L2_SRC;
    *ethertype = load_be16(p + 12);
    *c = cursor_make(p + ETHER_HEADER, len - ETHER_HEADER);
    return parse_vlan(c, ethertype, frame);
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
    case ETHERTYPE_IPV4:
        return parse_ipv4(&c, p, opts, frame);
    case ETHERTYPE_IPV6:
        return parse_ipv6(&c, p, opts, frame);
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
    size_t header_len = v6 ? IPV6_HEADER : IPV4_HEADER, left = cursor_left(c), total_len;
    if (left < header_len + UDP_HEADER)
        return 0;
    if (v6) {
        total_len = IPV6_HEADER + (size_t)load_be16(ip + 4);
        if (ip[0] >> 4 != 6 || ip[6] != PROTO_UDP)
            return 0;
    } else {
        // Some hosts quote the total length in their own byte order: what counts is what is there.
        total_len = left;
        if (ip[0] != (4 << 4 | IPV4_HEADER / 4) || ip[9] != PROTO_UDP ||
            (load_be16(ip + 6) & (IPV4_MORE_FRAGS | IPV4_FRAG_OFF)) != 0)
            return 0;
    }
    if (total_len < header_len + UDP_HEADER)
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
    if (udp_len < UDP_HEADER)
        return VERDICT_ICMP;
    quote->sport = load_be16(udp);
    quote->dport = load_be16(udp + 2);
    quote->payload = udp + UDP_HEADER;
    quote->payload_len = (uint16_t)((udp_len < left ? udp_len : left) - UDP_HEADER);
    return VERDICT_OK;
}

static bool icmp_csum_good(const struct frame *frame, const uint8_t *icmp, size_t len, bool v6)
{
    uint64_t sum = sum_native(icmp, len);
    if (v6)
        sum += sum_fixed(frame->src_ip, 32) + htobe16(PROTO_ICMP6) + htobe16((uint16_t)len);
    return fold(sum) == UINT16_MAX;
}

enum verdict frame_parse_icmp(const uint8_t *p, size_t len, const struct frame_opts *opts, struct frame *frame,
                              struct frame_quote *quote)
{
    struct cursor c;
    uint16_t ethertype;
    enum verdict verdict = parse_link(p, len, &c, &ethertype, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    bool v6 = ethertype == ETHERTYPE_IPV6;
    if (!v6 && ethertype != ETHERTYPE_IPV4)
        return VERDICT_L2_TYPE;
    verdict = v6 ? parse_ipv6_header(&c, PROTO_ICMP6, frame) : parse_ipv4_header(&c, PROTO_ICMP, opts, frame);
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
