// SPDX-License-Identifier: Apache-2.0
/*
 * From frames to datagrams of a service. What is taken waits until the burst has been received, so that connection IDs
 * are decoded side by side. The frame has been parsed: Ethernet, IP and UDP are sound.
 */
#include "fwd/quic/take.h"

#include <endian.h>
#include <string.h>

#include "fwd/chain.h"
#include "fwd/dispatch.h"
#include "fwd/pkt.h"
#include "parser/cursor.h"

#define UDP_HEADER 8
#define PROTO_UDP  17

bool quic_is_vip(const struct quic_set *set, const uint8_t *ip, bool v6)
{
    for (unsigned i = 0; i < set->n_vips; i++)
        if (set->vip[i].v6 == v6 && quic_ip_equal(set->vip[i].ip, ip, v6))
            return true;
    return false;
}

/*
 * Is it an address that no answer can go to, or whose answer would come back to us: the port's own, a broadcast of its
 * network (RFC 1122 3.2.1.3), or a link-local one, of which nothing is forwarded (RFC 3927 2.7, RFC 4291 2.5.6)? The
 * parser has refused those that are nobody's on any port.
 */
static bool is_bad_source(const struct port_config *own, const uint8_t *ip, bool v6)
{
    if (v6)
        return memcmp(ip, own->ip6, sizeof own->ip6) == 0 || (load_be16(ip) & 0xffc0) == 0xfe80;
    uint32_t source = load_be32(ip), other = source ^ load_be32(own->ip4);
    uint32_t host = (uint32_t)(UINT64_C(0xffffffff) >> own->ip4_prefix_len);
    if (unlikely(source >> 16 == 0xa9fe))
        return true;
    if (likely((other & ~host) != 0))
        return false;
    // Networks of one host or two have no broadcast address (RFC 3021).
    return other == 0 ||
           (own->ip4_prefix_len > 0 && own->ip4_prefix_len < 31 && ((source & host) == host || (source & host) == 0));
}

enum drop quic_check_link(const struct quic_set *set, const struct port *port, const struct frame *frame, bool v6)
{
    if (frame->vlan != 0)
        return DROP_L2_VLAN;
    if (memcmp(frame->dst_mac, port->mac, sizeof port->mac) != 0)
        return DROP_L2_UNMATCHED;
    // Whoever sends from one of our own addresses wants us to send to ourselves.
    return is_bad_source(&port->config, frame->src_ip, v6) || quic_is_vip(set, frame->src_ip, v6) ? DROP_QUIC_SRC
                                                                                                  : DROP_NONE;
}

/* RFC 9000 12.2: packets of one datagram have one DCID; a server ignores those that do not. */
static bool has_other_cid(const struct quic_header *header, const uint8_t *payload, size_t len)
{
    struct cursor c = cursor_make(payload + header->packet_len, len - header->packet_len);
    const uint8_t *rest, *dcid;
    uint8_t first, dcid_len;
    return cursor_u8(&c, &first) && (first & QUIC_LONG_HEADER) != 0 && cursor_bytes(&c, 4, &rest) &&
           cursor_u8(&c, &dcid_len) && cursor_bytes(&c, dcid_len, &dcid) &&
           (dcid_len != header->dcid_len || memcmp(dcid, header->dcid, dcid_len) != 0);
}

static void count(struct quic_stats_service *stats, const struct quic_pkt *pkt, const uint8_t *payload)
{
    stats->initials += pkt->header.type == QUIC_TYPE_INITIAL;
    if (unlikely(pkt->header.packet_len < pkt->payload_len))
        stats->coalesced_cid += has_other_cid(&pkt->header, payload, pkt->payload_len);
}

/*
 * A local sender may leave the checksum to a device that is not there (a veth): in its place is the sum of the
 * pseudo-header, to which the device would add the rest. The server would not take that. Where such are to be expected
 * (rx-csum off) they are finished here. One in 65536 good ones looks the same, and stays as it is.
 */
static void finish_checksum(uint8_t *udp, const struct frame *frame, bool v6)
{
    size_t len = load_be16(udp + 4);
    uint16_t csum = load_be16(udp + 6);
    uint32_t pseudo = frame_csum_add(PROTO_UDP + (uint32_t)len, frame->src_ip, v6 ? 32 : 8);
    if (likely(csum != pseudo || csum == 0))
        return;
    // The pseudo-header's sum is in it already.
    uint16_t sum = (uint16_t)~frame_csum_add(0, udp, len);
    sum = htobe16(sum != 0 ? sum : UINT16_MAX);
    memcpy(udp + 6, &sum, sizeof sum);
}

void quic_take_pkt(struct fwd *fwd, const uint8_t *frame)
{
    struct quic_worker *quic = fwd->quic;
    struct quic_pkt *pkt = &quic->pkt[quic->n];
    bool in_linear = pkt->mbuf->next != NULL;
    if (unlikely(in_linear)) {
        // As few buffers as it takes. Link padding stays behind.
        struct rte_mbuf *copy = chain_from_octets(fwd->pool, frame, (uint32_t)pkt->l3_off + pkt->l3_len);
        if (copy == NULL) {
            pkt_drop(fwd, pkt->mbuf, DROP_TX_NO_MBUF);
            return;
        }
        rte_pktmbuf_free(pkt->mbuf);
        pkt->mbuf = copy;
    }
    if (++quic->n == FWD_BURST_MAX || in_linear)
        quic_flush(fwd);
}

static void take(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, const struct frame *frame,
                 const struct quic_set *set, const struct quic_service *service, bool handed_over)
{
    struct quic_worker *quic = fwd->quic;
    struct quic_stats_service *stats = &quic->stats.service[service->slot];
    struct quic_pkt *pkt = &quic->pkt[quic->n];
    bool v6 = frame->kind == FRAME_UDP6;
    const uint8_t *start = frame->dst_mac, *payload = start + frame->payload_off;
    uint16_t l3_off = (uint16_t)(frame->payload_off - UDP_HEADER - (v6 ? QUIC_IPV6_HEADER : QUIC_IPV4_HEADER));
    pkt->mbuf = mbuf;
    pkt->port = port;
    pkt->service = service;
    pkt->v6 = v6;
    pkt->handed_over = handed_over;
    pkt->quote_off = 0;
    pkt->l3_off = l3_off;
    pkt->l3_len =
        v6 ? (uint16_t)(QUIC_IPV6_HEADER + load_be16(start + l3_off + 4)) : (uint16_t)load_be16(start + l3_off + 2);
    pkt->payload_off = frame->payload_off;
    pkt->payload_len = frame->payload_len;
    enum drop drop = DROP_NONE;
    if (likely(!handed_over)) {
        stats->packets++;
        stats->bytes += pkt->l3_len;
        drop = frame->sport == 0 ? DROP_QUIC_SRC : quic_check_link(set, port, frame, v6);
    }
    const struct quic_opts opts = {.require_fixed_bit = service->require_fixed_bit,
                                   .from_client = true,
                                   .small_initials = !service->drop_small_initials,
                                   .short_dcid_len = QUIC_LB_CID_MAX};
    if (likely(drop == DROP_NONE))
        drop = (enum drop)quic_parse(payload, frame->payload_len, &opts, &pkt->header);
    if (unlikely(drop != DROP_NONE)) {
        pkt_drop(fwd, mbuf, drop);
        return;
    }
    if (likely(!handed_over)) {
        count(stats, pkt, payload);
        if (port->frame_opts.skip_udp_csum)
            finish_checksum((uint8_t *)(uintptr_t)(payload - UDP_HEADER), frame, v6);
    }
    quic_take_pkt(fwd, start);
}

bool quic_take(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, const struct frame *frame)
{
    const struct quic_set *set = atomic_load_explicit(&fwd->shared->quic, memory_order_acquire);
    if (set == NULL || frame->kind == FRAME_NDN)
        return false;
    const struct quic_service *service =
        quic_set_find(set, frame->dst_ip, frame->kind == FRAME_UDP6, htobe16(frame->dport));
    if (service == NULL)
        return false;
    take(fwd, port, mbuf, frame, set, service, false);
    return true;
}

/* @return false when it has no service any more: the configuration may have changed on its way */
static bool arrive(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf)
{
    const struct quic_set *set = atomic_load_explicit(&fwd->shared->quic, memory_order_acquire);
    if (fwd->quic == NULL || set == NULL)
        return false;
    const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *);
    if (mbuf->next != NULL) {
        chain_read(mbuf, 0, fwd->linear, mbuf->pkt_len);
        p = fwd->linear;
    }
    const struct frame_opts opts = {.skip_ip_csum = true, .skip_udp_csum = true};
    struct frame frame;
    enum verdict verdict = frame_parse(p, mbuf->pkt_len, &opts, &frame);
    if (verdict == VERDICT_IP_PROTO)
        return quic_icmp(fwd, port, mbuf, true);
    const struct quic_service *service = NULL;
    if (verdict == VERDICT_OK)
        service = quic_set_find(set, frame.dst_ip, frame.kind == FRAME_UDP6, htobe16(frame.dport));
    if (service == NULL)
        return false;
    take(fwd, port, mbuf, &frame, set, service, true);
    return true;
}

void quic_arrive(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf)
{
    if (!arrive(fwd, port, mbuf))
        pkt_drop(fwd, mbuf, DROP_UDP_UNMATCHED);
}

/* To the worker that has the service's flow table. */
static void hand_over(struct fwd *fwd, struct quic_pkt *pkt)
{
    fwd->quic->stats.service[pkt->service->slot].handed_over++;
    dispatch_frame(fwd, pkt->mbuf, pkt->port, pkt->owner);
}

/* What is answered or refused at the edge is taken out. @return those that are left */
static unsigned edge(struct fwd *fwd, struct quic_pkt *pkts, unsigned n)
{
    unsigned left = 0;
    for (unsigned i = 0; i < n; i++) {
        if (unlikely(pkts[i].header.type != QUIC_TYPE_SHORT) && !pkts[i].handed_over && pkts[i].quote_off == 0 &&
            quic_edge(fwd, &pkts[i]))
            continue;
        if (unlikely(left != i))
            pkts[left] = pkts[i];
        left++;
    }
    return left;
}

void quic_flush(struct fwd *fwd)
{
    struct quic_worker *quic = fwd->quic;
    if (quic->n == 0)
        return;
    unsigned n = edge(fwd, quic->pkt, quic->n);
    quic->n = 0;
    quic_steer(fwd, quic->pkt, n);
    for (unsigned i = 0; i < n; i++) {
        struct quic_pkt *pkt = &quic->pkt[i];
        if (likely(pkt->server != NULL))
            quic_deliver(fwd, pkt);
        else if (pkt->drop != DROP_NONE)
            pkt_drop(fwd, pkt->mbuf, (enum drop)pkt->drop);
        else
            hand_over(fwd, pkt);
    }
}
