// SPDX-License-Identifier: Apache-2.0
/*
 * A client is told that its datagram is too big for the way to its server: RFC 1191 (ICMP, Fragmentation Needed) and
 * RFC 4443 3.2 (ICMPv6, Packet Too Big). QUIC forbids fragments (RFC 9000 14), so that it is told whatever its DF bit.
 * Within a rate, for each source and in all: the source address may be somebody else's.
 */
#include <endian.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>

#include "fwd/chain.h"
#include "fwd/output_inline.h"
#include "fwd/quic/edge_priv.h"
#include "fwd/quic/quic.h"
#include "parser/frame.h"

#define IPV4_HEADER     20
#define IPV6_HEADER     40
#define ICMP_HEADER     8
#define ICMP_MAX        576  /* RFC 1812 4.3.2.3 */
#define ICMP6_MAX       1280 /* RFC 4443 3.2 */
#define ICMP_TTL        64
#define ICMP_PRECEDENCE 0xc0 /* RFC 1812 4.3.2.5: internetwork control */
#define MTU_MIN         68   /* RFC 791 */
#define MTU6_MIN        1280 /* RFC 8200 5 */
#define RATE_OF_SOURCE  10
#define RATE_OF_WORKER  1000 /* messages a second, and at once */

static void put_be16(uint8_t *p, uint32_t value)
{
    uint16_t be = htobe16((uint16_t)value);
    memcpy(p, &be, sizeof be);
}

/* A bucket of all messages of this worker. */
static bool worker_may(struct quic_worker *quic, uint64_t now_ns)
{
    const uint64_t each_ns = 1000000000 / RATE_OF_WORKER;
    uint64_t earliest = now_ns > 1000000000 ? now_ns - 1000000000 : 0;
    quic->too_big_ns = RTE_MAX(quic->too_big_ns, earliest);
    if (quic->too_big_ns + each_ns > now_ns)
        return false;
    quic->too_big_ns += each_ns;
    return true;
}

static bool may_send(struct fwd *fwd, const struct quic_pkt *pkt)
{
    // Never an ICMP error about an ICMP error (RFC 1122 3.2.2, RFC 4443 2.4).
    return pkt->quote_off == 0 &&
           quic_limit_take(fwd->quic->edge->limit, pkt->service->slot, QUIC_LIMIT_TOO_BIG, quic_edge_source(pkt),
                           pkt->v6, RATE_OF_SOURCE, fwd->now_ns) &&
           worker_may(fwd->quic, fwd->now_ns);
}

/* From the virtual address that the datagram was for, to its source. */
static void put_ipv4(uint8_t *ip, const uint8_t *of, uint32_t len, uint16_t mtu)
{
    uint8_t *icmp = ip + IPV4_HEADER;
    memset(ip, 0, IPV4_HEADER + ICMP_HEADER);
    ip[0] = 4 << 4 | IPV4_HEADER / 4;
    ip[1] = ICMP_PRECEDENCE;
    put_be16(ip + 2, IPV4_HEADER + ICMP_HEADER + len);
    put_be16(ip + 6, RTE_IPV4_HDR_DF_FLAG);
    ip[8] = ICMP_TTL;
    ip[9] = IPPROTO_ICMP;
    memcpy(ip + 12, of + 16, 4);
    memcpy(ip + 16, of + 12, 4);
    put_be16(ip + 10, ~frame_csum_add(0, ip, IPV4_HEADER));
    icmp[0] = 3;
    icmp[1] = 4;
    put_be16(icmp + 6, RTE_MAX(mtu, (uint16_t)MTU_MIN));
    put_be16(icmp + 2, ~frame_csum_add(0, icmp, ICMP_HEADER + len));
}

static void put_ipv6(uint8_t *ip, const uint8_t *of, uint32_t len, uint16_t mtu)
{
    uint8_t *icmp = ip + IPV6_HEADER;
    uint32_t icmp_len = ICMP_HEADER + len;
    memset(ip, 0, IPV6_HEADER + ICMP_HEADER);
    ip[0] = 6 << 4;
    put_be16(ip + 4, icmp_len);
    ip[6] = IPPROTO_ICMPV6;
    ip[7] = ICMP_TTL;
    memcpy(ip + 8, of + 24, 16);
    memcpy(ip + 24, of + 8, 16);
    icmp[0] = 2;
    // Hosts do not listen to less (RFC 8201 4).
    put_be16(icmp + 6, RTE_MAX(mtu, (uint16_t)MTU6_MIN));
    put_be16(icmp + 2, ~frame_csum_add(frame_csum_add(icmp_len + IPPROTO_ICMPV6, ip + 8, 32), icmp, icmp_len));
}

static void send_message(struct fwd *fwd, const struct quic_pkt *pkt, uint16_t mtu)
{
    const uint8_t *frame = rte_pktmbuf_mtod(pkt->mbuf, const uint8_t *), *of = frame + pkt->l3_off;
    unsigned headers = (pkt->v6 ? IPV6_HEADER : IPV4_HEADER) + ICMP_HEADER;
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(fwd->pool);
    fwd->stats.originated++;
    if (mbuf == NULL || rte_pktmbuf_tailroom(mbuf) < RTE_ETHER_HDR_LEN + headers + IPV6_HEADER + ICMP_HEADER) {
        pkt_drop(fwd, mbuf, DROP_TX_NO_MBUF);
        return;
    }
    uint32_t room = rte_pktmbuf_tailroom(mbuf) - RTE_ETHER_HDR_LEN - headers;
    uint32_t len = RTE_MIN((uint32_t)pkt->l3_len, (uint32_t)((pkt->v6 ? ICMP6_MAX : ICMP_MAX) - headers));
    len = RTE_MIN(len, room);
    mbuf->data_len = (uint16_t)(RTE_ETHER_HDR_LEN + headers + len);
    mbuf->pkt_len = mbuf->data_len;
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
    memcpy(p, frame + RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
    memcpy(p + RTE_ETHER_ADDR_LEN, pkt->port->mac, RTE_ETHER_ADDR_LEN);
    put_be16(p + 2 * RTE_ETHER_ADDR_LEN, pkt->v6 ? RTE_ETHER_TYPE_IPV6 : RTE_ETHER_TYPE_IPV4);
    uint8_t *ip = p + RTE_ETHER_HDR_LEN;
    chain_read(pkt->mbuf, pkt->l3_off, ip + headers, len);
    if (pkt->v6)
        put_ipv6(ip, of, len, mtu);
    else
        put_ipv4(ip, of, len, mtu);
    fwd->quic->stats.service[pkt->service->slot].too_big++;
    output_queue(fwd, pkt->port->index, mbuf);
}

void quic_too_big(struct fwd *fwd, struct quic_pkt *pkt, uint16_t mtu)
{
    if (may_send(fwd, pkt))
        send_message(fwd, pkt, mtu);
    pkt_drop(fwd, pkt->mbuf, DROP_QUIC_MTU);
}
