// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_FRAME_INLINE_H
#define PARSER_FRAME_INLINE_H

/*
 * The steps of frame_parse(), one header each, for itself and for whoever has a short way for frames of one kind: what
 * the caller knows already, and what of the view it does not use, costs nothing there. Each checks its header wholly.
 */
#include "parser/cursor.h"
#include "parser/frame.h"

#define FRAME_ETHER_HEADER   14
#define FRAME_ETHERTYPE_VLAN 0x8100
#define FRAME_ETHERTYPE_QINQ 0x88a8
#define FRAME_ETHERTYPE_IPV4 0x0800
#define FRAME_ETHERTYPE_IPV6 0x86dd
#define FRAME_IPV4_HEADER    20
#define FRAME_IPV6_HEADER    40
#define FRAME_UDP_HEADER     8
#define FRAME_PROTO_UDP      17
#define FRAME_IPV4_PLAIN     (4 << 4 | FRAME_IPV4_HEADER / 4) /* first octet without options */
#define FRAME_IPV4_FRAGMENT  0x3fff                           /* more fragments, fragment offset */

#define FRAME_STEP static inline __attribute__((always_inline))

/** What is wrong with an IPv4 header whose first octet is not FRAME_IPV4_PLAIN; at least 20 octets are there. */
enum verdict frame_ipv4_other(const uint8_t *ip, size_t left);
/** What is wrong with an IPv6 header that is followed by this one. */
enum verdict frame_ipv6_other(uint8_t next);
/** Is the sum over UDP and its pseudo-header (RFC 768, RFC 8200 8.1) all ones? Both addresses stand together. */
bool frame_udp_csum_good(const uint8_t *addresses, size_t address_len, const uint8_t *udp, uint16_t udp_len);

/** Fold a sum of native words of up to 32 bits (RFC 1071). */
FRAME_STEP uint32_t frame_csum_fold(uint64_t sum)
{
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 32) + (sum & UINT32_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    return (uint32_t)sum;
}

/** Sum of native words, for a size known when compiled and divisible by 4: the loop goes away. */
FRAME_STEP uint64_t frame_csum_fixed(const uint8_t *p, size_t len)
{
    uint64_t sum = 0;
#pragma GCC unroll 8
    for (size_t i = 0; i < len; i += 4) {
        uint32_t w;
        memcpy(&w, p + i, sizeof w);
        sum += w;
    }
    return sum;
}

/** Ethernet, up to the first EtherType. *c is behind it. */
FRAME_STEP enum verdict frame_step_link(const uint8_t *p, size_t len, struct cursor *c, uint16_t *ethertype,
                                        struct frame *frame)
{
    if (len < FRAME_ETHER_HEADER)
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
    if ((p[6] & 1) != 0 || (load_be32(p + 6) == 0 && load_be16(p + 10) == 0))
        return VERDICT_L2_SRC;
    *ethertype = load_be16(p + 12);
    *c = cursor_make(p + FRAME_ETHER_HEADER, len - FRAME_ETHER_HEADER);
    return VERDICT_OK;
}

/** RFC 1122 3.2.1.3: "this network", loopback, multicast, reserved and limited broadcast are no sources. */
FRAME_STEP bool frame_ipv4_bad_source(const uint8_t *a)
{
    return a[0] == 0 || a[0] == 127 || a[0] >= 224;
}

/** Neither hosts nor groups. Directed broadcasts take the port's prefix to tell. */
FRAME_STEP bool frame_ipv4_bad_destination(const uint8_t *a)
{
    return a[0] == 0 || a[0] == 127 || a[0] >= 240;
}

/** Inlined, so that for UDP, which nearly all frames are, the protocol is a constant. *c is cut to the payload. */
FRAME_STEP enum verdict frame_step_ipv4(struct cursor *c, uint8_t protocol, const struct frame_opts *opts,
                                        struct frame *frame)
{
    size_t left = cursor_left(c);
    if (left < FRAME_IPV4_HEADER)
        return VERDICT_IP_LEN;
    const uint8_t *ip = c->p;
    if (__builtin_expect(ip[0] != FRAME_IPV4_PLAIN, 0))
        return frame_ipv4_other(ip, left);
    size_t total_len = load_be16(ip + 2);
    if (total_len > left || total_len < FRAME_IPV4_HEADER + FRAME_UDP_HEADER)
        return VERDICT_IP_LEN;
    if ((load_be16(ip + 6) & FRAME_IPV4_FRAGMENT) != 0)
        return VERDICT_IP_FRAG;
    if (ip[9] != protocol)
        return VERDICT_IP_PROTO;
    if (frame_ipv4_bad_source(ip + 12))
        return VERDICT_IP_SRC;
    if (frame_ipv4_bad_destination(ip + 16))
        return VERDICT_IP_DST;
    if (!opts->skip_ip_csum && frame_csum_fold(frame_csum_fixed(ip, FRAME_IPV4_HEADER)) != UINT16_MAX)
        return VERDICT_IP_CSUM;
    frame->src_ip = ip + 12;
    frame->dst_ip = ip + 16;
    *c = (struct cursor){.p = ip + FRAME_IPV4_HEADER, .end = ip + total_len};
    return VERDICT_OK;
}

/** ::, ::1 and IPv4-mapped addresses (RFC 4291, RFC 4890): on a link they stand for nobody. */
FRAME_STEP bool frame_ipv6_is_special(const uint8_t *a)
{
    uint64_t high;
    memcpy(&high, a, sizeof high);
    if (__builtin_expect(high != 0, 1))
        return false;
    uint64_t low = load_be64(a + 8);
    return low <= 1 || low >> 32 == UINT16_MAX;
}

FRAME_STEP enum verdict frame_step_ipv6(struct cursor *c, uint8_t protocol, struct frame *frame)
{
    size_t left = cursor_left(c);
    if (left < FRAME_IPV6_HEADER)
        return VERDICT_IP_LEN;
    const uint8_t *ip = c->p;
    if (ip[0] >> 4 != 6)
        return VERDICT_IP_VERSION;
    size_t payload_len = load_be16(ip + 4);
    if (payload_len > left - FRAME_IPV6_HEADER || payload_len < FRAME_UDP_HEADER)
        return VERDICT_IP_LEN;
    if (ip[6] != protocol)
        return frame_ipv6_other(ip[6]);
    if (ip[8] == 0xff || frame_ipv6_is_special(ip + 8))
        return VERDICT_IP_SRC;
    if (frame_ipv6_is_special(ip + 24))
        return VERDICT_IP_DST;
    frame->src_ip = ip + 8;
    frame->dst_ip = ip + 24;
    *c = (struct cursor){.p = ip + FRAME_IPV6_HEADER, .end = ip + FRAME_IPV6_HEADER + payload_len};
    return VERDICT_OK;
}

/** UDP behind an IP header with addresses of @p address_len octets; the frame begins at @p start. */
FRAME_STEP enum verdict frame_step_udp(const struct cursor *c, const uint8_t *start, size_t address_len,
                                       const struct frame_opts *opts, struct frame *frame)
{
    size_t left = cursor_left(c);
    if (left < FRAME_UDP_HEADER)
        return VERDICT_UDP_LEN;
    const uint8_t *udp = c->p;
    uint16_t udp_len = load_be16(udp + 4), csum;
    memcpy(&csum, udp + 6, sizeof csum);
    if (udp_len < FRAME_UDP_HEADER || udp_len > left)
        return VERDICT_UDP_LEN;
    if (csum == 0) {
        // "No checksum" exists over IPv4 only.
        if (address_len != 4)
            return VERDICT_UDP_CSUM;
    } else if (!opts->skip_udp_csum && !frame_udp_csum_good(frame->src_ip, address_len, udp, udp_len)) {
        return VERDICT_UDP_CSUM;
    }
    frame->sport = load_be16(udp);
    frame->dport = load_be16(udp + 2);
    frame->payload_off = (uint16_t)(udp + FRAME_UDP_HEADER - start);
    frame->payload_len = (uint16_t)(udp_len - FRAME_UDP_HEADER);
    return VERDICT_OK;
}

/** IP and UDP, whose version is known when compiled. */
FRAME_STEP enum verdict frame_step_datagram(struct cursor *c, const uint8_t *start, bool v6,
                                            const struct frame_opts *opts, struct frame *frame)
{
    enum verdict verdict =
        v6 ? frame_step_ipv6(c, FRAME_PROTO_UDP, frame) : frame_step_ipv4(c, FRAME_PROTO_UDP, opts, frame);
    if (verdict != VERDICT_OK)
        return verdict;
    frame->kind = v6 ? FRAME_UDP6 : FRAME_UDP4;
    return frame_step_udp(c, start, v6 ? 16 : 4, opts, frame);
}

#endif
