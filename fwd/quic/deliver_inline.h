// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_DELIVER_INLINE_H
#define FWD_QUIC_DELIVER_INLINE_H

#include <string.h>

#include <rte_ether.h>

#include "fwd/output_inline.h"
#include "fwd/quic/quic.h"

/* The short way to a server, for quic_flush(). Worker only. */

/** One less in the TTL, the first octet of a word, and one more in the checksum of that word's sum (RFC 1624). */
static inline void quic_ipv4_forward(uint8_t *ip)
{
    uint16_t sum;
    memcpy(&sum, ip + 10, sizeof sum);
    uint32_t next = sum + (uint32_t)rte_cpu_to_be_16(0x0100);
    sum = (uint16_t)(next + (next >= UINT16_MAX));
    ip[8]--;
    memcpy(ip + 10, &sum, sizeof sum);
}

static inline void quic_count_delivered(struct quic_worker *quic, const struct quic_pkt *pkt)
{
    struct quic_stats_server *stats = &quic->stats.server[pkt->service->slot][pkt->server->slot];
    stats->packets++;
    stats->bytes += pkt->l3_len;
    stats->initials += pkt->header.type == QUIC_TYPE_INITIAL;
}

/**
 * quic_deliver() for nearly every datagram: in one segment, by direct server return to a server whose way is known and
 * takes it whole. The link header is written where the old one was. @return false: it is something else, and as it was
 */
static inline bool quic_deliver_plain(struct fwd *fwd, const struct quic_pkt *pkt)
{
    const struct quic_server *server = pkt->server;
    struct rte_mbuf *mbuf = pkt->mbuf;
    uint64_t mac = atomic_load_explicit(&server->mac, memory_order_relaxed);
    uint16_t index = atomic_load_explicit(&server->port, memory_order_relaxed);
    uint16_t mtu = atomic_load_explicit(&server->mtu, memory_order_relaxed);
    uint32_t l3_len = pkt->l3_len;
    // An unknown MAC address wraps around, and a VLAN stands above a known one.
    if (unlikely(!pkt->plain || pkt->service->delivery != QUIC_DELIVER_L2 || (mac - 1) >> 48 != 0 ||
                 index >= PORT_MAX || l3_len < RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN - RTE_ETHER_HDR_LEN))
        return false;
    const struct port *port = fwd->shared->port[index];
    if (unlikely(port == NULL || l3_len > port->mtu || (mtu != 0 && l3_len > mtu)))
        return false;
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *), *ip = p + RTE_ETHER_HDR_LEN;
    if (pkt->v6) {
        if (unlikely(ip[7] <= 1))
            return false;
        ip[7]--;
    } else {
        if (unlikely(ip[8] <= 1))
            return false;
        quic_ipv4_forward(ip);
    }
    // Behind the addresses is the type, which stays.
    memcpy(p, &mac, RTE_ETHER_ADDR_LEN);
    memcpy(p + RTE_ETHER_ADDR_LEN, port->mac, RTE_ETHER_ADDR_LEN);
    // Link padding stays behind.
    mbuf->data_len = (uint16_t)(RTE_ETHER_HDR_LEN + l3_len);
    mbuf->pkt_len = RTE_ETHER_HDR_LEN + l3_len;
    quic_count_delivered(fwd->quic, pkt);
    output_queue(fwd, index, mbuf);
    return true;
}

#endif
