// SPDX-License-Identifier: Apache-2.0
/* A datagram back to where one came from: out of the port it came in by, to the MAC address that it came from. */
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include "fwd/output_inline.h"
#include "fwd/quic/edge_priv.h"
#include "ports/face_tx.h"

#define ANSWER_TTL 64

static uint16_t udp_csum(const struct rte_udp_hdr *udp, const uint8_t *addrs, size_t addrs_len)
{
    // The pseudo header's length and protocol, wherever in it they are: a sum does not care.
    uint32_t sum = (uint32_t)udp->dgram_len + rte_cpu_to_be_16(IPPROTO_UDP);
    sum = face_csum_add(sum, addrs, addrs_len);
    sum = face_csum_add(sum, (const uint8_t *)udp, rte_be_to_cpu_16(udp->dgram_len));
    uint16_t csum = (uint16_t)~sum;
    return csum != 0 ? csum : 0xffff;
}

/* Headers in front of the payload, of which the link header is there and the others are those of the datagram. */
static void write_headers(struct fwd *fwd, const struct quic_pkt *pkt, uint8_t *frame, uint16_t len)
{
    struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(frame + pkt->payload_off - sizeof *udp);
    rte_be16_t port = udp->src_port;
    udp->src_port = udp->dst_port;
    udp->dst_port = port;
    udp->dgram_len = rte_cpu_to_be_16((uint16_t)(len + sizeof *udp));
    udp->dgram_cksum = 0;
    struct rte_ether_hdr *ether = (struct rte_ether_hdr *)frame;
    ether->dst_addr = ether->src_addr;
    memcpy(&ether->src_addr, pkt->port->mac, sizeof ether->src_addr);
    if (pkt->v6) {
        struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)(frame + pkt->l3_off);
        uint8_t addr[16];
        ip->vtc_flow = rte_cpu_to_be_32(6u << 28);
        ip->payload_len = udp->dgram_len;
        ip->proto = IPPROTO_UDP;
        ip->hop_limits = ANSWER_TTL;
        memcpy(addr, ip->src_addr, sizeof addr);
        memcpy(ip->src_addr, ip->dst_addr, sizeof addr);
        memcpy(ip->dst_addr, addr, sizeof addr);
        udp->dgram_cksum = udp_csum(udp, ip->src_addr, 2 * sizeof addr);
        return;
    }
    struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + pkt->l3_off);
    rte_be32_t addr = ip->src_addr;
    ip->version_ihl = 0x45;
    ip->type_of_service = 0;
    ip->total_length = rte_cpu_to_be_16((uint16_t)(len + sizeof *udp + sizeof *ip));
    ip->packet_id = rte_cpu_to_be_16(++fwd->quic->edge->ip_id);
    ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
    ip->time_to_live = ANSWER_TTL;
    ip->next_proto_id = IPPROTO_UDP;
    ip->src_addr = ip->dst_addr;
    ip->dst_addr = addr;
    ip->hdr_checksum = 0;
    ip->hdr_checksum = (rte_be16_t)~face_csum_add(0, (const uint8_t *)ip, sizeof *ip);
    udp->dgram_cksum = udp_csum(udp, (const uint8_t *)&ip->src_addr, 2 * sizeof addr);
}

static struct rte_mbuf *copy_headers(struct fwd *fwd, const struct quic_pkt *pkt)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(fwd->pool);
    if (mbuf != NULL)
        memcpy(rte_pktmbuf_mtod(mbuf, uint8_t *), rte_pktmbuf_mtod(pkt->mbuf, const uint8_t *), pkt->payload_off);
    return mbuf;
}

void quic_answer(struct fwd *fwd, const struct quic_pkt *pkt, const uint8_t *payload, uint16_t len, bool keep)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    uint32_t frame_len = (uint32_t)pkt->payload_off + len;
    if (keep) {
        mbuf = copy_headers(fwd, pkt);
    } else {
        // What was received is consumed by what is sent, which is another frame.
        fwd->stats.drops[DROP_QUIC_ANSWERED]++;
        rte_pktmbuf_free(mbuf->next);
        mbuf->next = NULL;
        mbuf->nb_segs = 1;
    }
    fwd->stats.originated++;
    if (unlikely(mbuf == NULL || (uint32_t)mbuf->buf_len - mbuf->data_off < RTE_MAX(frame_len, RTE_ETHER_MIN_LEN))) {
        pkt_drop(fwd, mbuf, DROP_TX_NO_MBUF);
        return;
    }
    uint8_t *frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
    memcpy(frame + pkt->payload_off, payload, len);
    write_headers(fwd, pkt, frame, len);
    mbuf->data_len = (uint16_t)frame_len;
    mbuf->pkt_len = frame_len;
    if (frame_len < RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)
        face_pad(mbuf);
    output_queue(fwd, pkt->port->index, mbuf);
}
