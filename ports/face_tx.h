// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_FACE_TX_H
#define PORTS_FACE_TX_H

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include <errno.h>
#include <string.h>

#include "ports/face.h"

/* The link header of a packet that is about to leave. Hot path: no call, no allocation. */

/**
 * Sum of @p len octets on top of @p sum, as 16-bit words lie in memory, folded to 16 bits. Adding 32-bit words in 64
 * bits is the same sum (RFC 1071 section 2) with half the loads.
 */
static inline uint32_t face_csum_add(uint32_t sum, const uint8_t *p, size_t len)
{
    uint64_t acc = sum;
    for (; len >= 4; p += 4, len -= 4) {
        uint32_t word;
        memcpy(&word, p, 4);
        acc += word;
    }
    if (len >= 2) {
        uint16_t word;
        memcpy(&word, p, 2);
        acc += word;
        p += 2;
        len -= 2;
    }
    if (len != 0) {
        uint16_t word = 0;
        memcpy(&word, p, 1);
        acc += word;
    }
    acc = (acc & UINT32_MAX) + (acc >> 32);
    acc = (acc & UINT32_MAX) + (acc >> 32);
    acc = (acc & UINT16_MAX) + (acc >> 16);
    acc = (acc & UINT16_MAX) + (acc >> 16);
    return (uint32_t)acc;
}

/** face_csum_add() over the segments of a packet; a segment that starts at an odd octet counts with octets swapped. */
static inline uint32_t face_csum_add_mbuf(uint32_t sum, const struct rte_mbuf *m)
{
    bool odd = false;
    for (; m != NULL; m = m->next) {
        uint32_t part = face_csum_add(0, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
        sum += odd ? rte_bswap16((uint16_t)part) : part;
        odd ^= (m->data_len & 1) != 0;
    }
    return sum;
}

/** Copy the header template to the octets below @p packet. */
static inline uint8_t *face_header_copy(const struct face *face, uint8_t *packet)
{
    uint8_t *start = packet - face->hdr_len;
    if (face->kind == FACE_ETHER) {
        if (likely(face->hdr_len == RTE_ETHER_HDR_LEN)) {
            memcpy(start, face->hdr, RTE_ETHER_HDR_LEN);
        } else {
            memcpy(start, face->hdr, RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN);
        }
        return start;
    }
    memcpy(start, face->hdr, face->hdr_len);
    return start;
}

/* Lengths and checksums of UDP in a header at start; sum is that of the payload. */
static inline void face_header_finish(const struct face *face, uint8_t *start, size_t len, uint32_t sum)
{
    struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(start + face->hdr_len - sizeof *udp);
    rte_be16_t udp_len = rte_cpu_to_be_16((uint16_t)(len + sizeof *udp));
    if (face->kind == FACE_UDP4) {
        struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(start + face->l3_off);
        rte_be16_t total = rte_cpu_to_be_16((uint16_t)(len + sizeof *udp + sizeof *ip));
        uint32_t ip_sum = (uint32_t)ip->hdr_checksum + total;
        ip->total_length = total;
        ip->hdr_checksum = (rte_be16_t) ~((ip_sum & 0xffff) + (ip_sum >> 16));
    } else {
        struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(start + face->l3_off);
        ip->payload_len = udp_len;
    }
    /* The length counts twice: in the UDP header and in the pseudo header (RFC 768, RFC 8200 section 8.1). */
    sum += face->csum_base + 2 * (uint32_t)udp_len;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    uint16_t csum = (uint16_t)~sum;
    udp->dgram_len = udp_len;
    udp->dgram_cksum = csum != 0 ? csum : 0xffff; /* 0 would say "no checksum" */
}

/**
 * Write the link header in front of a link-layer packet of @p len contiguous octets: Ethernet, and for UDP faces IP
 * and UDP with lengths and full checksums (many devices below us have no checksum offload). The caller guarantees
 * face->hdr_len writable octets before @p packet and len <= face->mtu. Worker, under RCU.
 *
 * @return where the frame starts
 */
static inline uint8_t *face_header_write(const struct face *face, uint8_t *packet, size_t len)
{
    uint8_t *start = face_header_copy(face, packet);
    if (face->l3_off != 0) {
        face_header_finish(face, start, len, face_csum_add(0, packet, len));
    }
    return start;
}

/**
 * The same for a packet in an mbuf of one or more segments, which takes the header into its headroom. The first
 * segment must be writable, that is not shared with another owner.
 *
 * @return 0, or -ENOSPC without enough headroom
 */
static inline int face_header_prepend(const struct face *face, struct rte_mbuf *m)
{
    size_t len = m->pkt_len;
    uint32_t sum = 0;
    if (face->l3_off != 0) {
        sum = face_csum_add_mbuf(0, m);
    }
    uint8_t *packet = rte_pktmbuf_mtod(m, uint8_t *);
    if (unlikely(rte_pktmbuf_prepend(m, face->hdr_len) == NULL)) {
        return -ENOSPC;
    }
    uint8_t *start = face_header_copy(face, packet);
    if (face->l3_off != 0) {
        face_header_finish(face, start, len, sum);
    }
    return 0;
}

/**
 * Pad a frame to the Ethernet minimum of 60 octets (without FCS) where the last segment is ours to write and has room.
 * What cannot be padded here is padded by the device; virtual links carry short frames as they are.
 */
static inline void face_pad(struct rte_mbuf *m)
{
    const uint32_t min = RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN;
    if (likely(m->pkt_len >= min)) {
        return;
    }
    struct rte_mbuf *last = rte_pktmbuf_lastseg(m);
    uint32_t pad = min - m->pkt_len;
    if (!RTE_MBUF_DIRECT(last) || rte_mbuf_refcnt_read(last) != 1 || rte_pktmbuf_tailroom(last) < pad) {
        return;
    }
    memset(rte_pktmbuf_mtod_offset(last, uint8_t *, last->data_len), 0, pad);
    last->data_len = (uint16_t)(last->data_len + pad);
    m->pkt_len += pad;
}

#endif
