// SPDX-License-Identifier: Apache-2.0
/*
 * From frames to datagrams of a service. What is taken waits until the burst has been received, so that connection IDs
 * are decoded side by side. The frame has been parsed: Ethernet, IP and UDP are sound.
 */
#include "fwd/quic/take.h"

#include <endian.h>
#include <string.h>

#include <rte_ether.h>

#include "fwd/chain.h"
#include "fwd/dispatch.h"
#include "fwd/pkt.h"
#include "fwd/quic/deliver_inline.h"
#include "parser/frame_inline.h"

#define UDP_HEADER 8
#define PROTO_UDP  17

/* Without a call. */
static inline bool mac_equal(const uint8_t *a, const uint8_t *b)
{
    uint32_t high[2];
    uint16_t low[2];
    memcpy(&high[0], a, sizeof high[0]);
    memcpy(&high[1], b, sizeof high[1]);
    memcpy(&low[0], a + sizeof high[0], sizeof low[0]);
    memcpy(&low[1], b + sizeof high[1], sizeof low[1]);
    return ((high[0] ^ high[1]) | (uint32_t)(low[0] ^ low[1])) == 0;
}

/*
 * Is it an address that no answer can go to, or whose answer would come back to us: the port's own, a broadcast of its
 * network (RFC 1122 3.2.1.3), or a link-local one, of which nothing is forwarded (RFC 3927 2.7, RFC 4291 2.5.6)? The
 * parser has refused those that are nobody's on any port.
 */
static inline bool is_bad_source(const struct port_config *own, const uint8_t *ip, bool v6)
{
    if (v6)
        return quic_equal16(ip, own->ip6) || (load_be16(ip) & 0xffc0) == 0xfe80;
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
    if (!mac_equal(frame->dst_mac, port->mac))
        return DROP_L2_UNMATCHED;
    // Whoever sends from one of our own addresses wants us to send to ourselves.
    return is_bad_source(&port->config, frame->src_ip, v6) || quic_set_has_vip(set, frame->src_ip, v6) ? DROP_QUIC_SRC
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

static __rte_noinline void count_long(struct quic_stats_service *stats, const struct quic_pkt *pkt,
                                      const uint8_t *payload)
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
static void finish_checksum(uint8_t *udp, bool v6)
{
    const uint8_t *addresses = v6 ? udp - 32 : udp - 8;
    size_t len = load_be16(udp + 4);
    uint16_t csum = load_be16(udp + 6);
    uint32_t pseudo = frame_csum_add(PROTO_UDP + (uint32_t)len, addresses, v6 ? 32 : 8);
    if (likely(csum != pseudo || csum == 0))
        return;
    // The pseudo-header's sum is in it already.
    uint16_t sum = (uint16_t)~frame_csum_add(0, udp, len);
    sum = htobe16(sum != 0 ? sum : UINT16_MAX);
    memcpy(udp + 6, &sum, sizeof sum);
}

/* The next place of the burst is filled: it waits there, unless the edge takes it. */
static __rte_always_inline void enqueue(struct fwd *fwd, struct quic_pkt *pkt)
{
    struct quic_worker *quic = fwd->quic;
    if (unlikely(pkt->header.type != QUIC_TYPE_SHORT) && !pkt->handed_over && pkt->quote_off == 0 &&
        quic_edge(fwd, pkt))
        return;
    struct quic_lb_job *job = &quic->job[quic->n];
    job->lb = pkt->service->lb;
    job->cid = pkt->header.dcid;
    job->cid_len = RTE_MIN(pkt->header.dcid_len, (uint8_t)QUIC_LB_CID_MAX);
    if (++quic->n == FWD_BURST_MAX)
        quic_flush(fwd);
}

void quic_take_pkt(struct fwd *fwd, const uint8_t *frame)
{
    struct quic_pkt *pkt = &fwd->quic->pkt[fwd->quic->n];
    if (likely(pkt->mbuf->next == NULL)) {
        enqueue(fwd, pkt);
        return;
    }
    // As few buffers as it takes. Link padding stays behind.
    struct rte_mbuf *copy = chain_from_octets(fwd->pool, frame, (uint32_t)pkt->l3_off + pkt->l3_len);
    if (copy == NULL) {
        pkt_drop(fwd, pkt->mbuf, DROP_TX_NO_MBUF);
        return;
    }
    rte_pktmbuf_free(pkt->mbuf);
    pkt->mbuf = copy;
    pkt->plain = false;
    enqueue(fwd, pkt);
    quic_flush(fwd);
}

/*
 * A datagram whose frame is sound: its QUIC header. In line, so that on the short way what is known of the frame costs
 * nothing here. @return false: it was dropped
 */
static __rte_always_inline bool parse(struct fwd *fwd, struct quic_pkt *pkt, const uint8_t *payload)
{
    const struct quic_service *service = pkt->service;
    const struct quic_opts opts = {.require_fixed_bit = service->require_fixed_bit,
                                   .from_client = true,
                                   .small_initials = !service->drop_small_initials,
                                   .short_dcid_len = QUIC_LB_CID_MAX};
    enum drop drop = (enum drop)quic_parse(payload, pkt->payload_len, &opts, &pkt->header);
    if (unlikely(drop != DROP_NONE)) {
        pkt_drop(fwd, pkt->mbuf, drop);
        return false;
    }
    if (unlikely(pkt->handed_over))
        return true;
    if (unlikely(pkt->header.type != QUIC_TYPE_SHORT))
        count_long(&fwd->quic->stats.service[service->slot], pkt, payload);
    if (pkt->port->frame_opts.skip_udp_csum)
        finish_checksum((uint8_t *)(uintptr_t)(payload - UDP_HEADER), pkt->v6);
    return true;
}

static void take(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, const struct frame *frame,
                 const struct quic_set *set, const struct quic_service *service, bool handed_over)
{
    struct quic_worker *quic = fwd->quic;
    struct quic_stats_service *stats = &quic->stats.service[service->slot];
    struct quic_pkt *pkt = &quic->pkt[quic->n];
    bool v6 = frame->kind == FRAME_UDP6;
    const uint8_t *start = frame->dst_mac;
    uint16_t l3_off = (uint16_t)(frame->payload_off - UDP_HEADER - (v6 ? QUIC_IPV6_HEADER : QUIC_IPV4_HEADER));
    pkt->mbuf = mbuf;
    pkt->port = port;
    pkt->service = service;
    pkt->v6 = v6;
    pkt->plain = mbuf->next == NULL && l3_off == RTE_ETHER_HDR_LEN;
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
    if (unlikely(drop != DROP_NONE)) {
        pkt_drop(fwd, mbuf, drop);
        return;
    }
    if (parse(fwd, pkt, start + frame->payload_off))
        quic_take_pkt(fwd, start);
}

static inline uint8_t *vip_hint(struct quic_worker *quic, const uint8_t *ip, bool v6, uint16_t port_be)
{
    return &quic->vip_hint[(quic_vip_hash(ip, v6) ^ port_be) % QUIC_VIPS_MAX];
}

bool quic_take(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, const struct frame *frame)
{
    const struct quic_set *set = atomic_load_explicit(&fwd->shared->quic, memory_order_acquire);
    if (set == NULL || frame->kind == FRAME_NDN)
        return false;
    bool v6 = frame->kind == FRAME_UDP6;
    uint16_t port_be = htobe16(frame->dport);
    const struct quic_vip *vip = quic_set_find_vip(set, frame->dst_ip, v6, port_be);
    if (vip == NULL)
        return false;
    *vip_hint(fwd->quic, frame->dst_ip, v6, port_be) = (uint8_t)(vip - set->vip);
    take(fwd, port, mbuf, frame, set, &set->service[vip->service], false);
    return true;
}

/* Which IP version it is is known when compiled, and with it where everything is. */
static __rte_always_inline bool take_plain(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf,
                                           const struct quic_set *set, bool v6)
{
    const unsigned ip_len = v6 ? QUIC_IPV6_HEADER : QUIC_IPV4_HEADER, udp_off = RTE_ETHER_HDR_LEN + ip_len;
    const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *), *dst_ip = p + RTE_ETHER_HDR_LEN + (v6 ? 24 : 16);
    uint16_t port_be, ethertype;
    if (mbuf->data_len < udp_off + UDP_HEADER)
        return false;
    memcpy(&port_be, p + udp_off + 2, sizeof port_be);
    struct quic_worker *quic = fwd->quic;
    // The configuration may have changed since: a place that is not used has no address that a frame may have.
    const struct quic_vip *vip = &set->vip[*vip_hint(quic, dst_ip, v6, port_be)];
    if (!quic_vip_is(vip, dst_ip, v6, port_be))
        return false;
    struct frame_opts opts = port_frame_opts(port, mbuf);
    struct frame frame;
    struct cursor c;
    if (frame_step_link(p, mbuf->data_len, &c, &ethertype, &frame) != VERDICT_OK ||
        frame_step_datagram(&c, p, v6, &opts, &frame) != VERDICT_OK || frame.sport == 0 || !mac_equal(p, port->mac) ||
        is_bad_source(&port->config, frame.src_ip, v6) || quic_set_may_have_vip(set, frame.src_ip, v6))
        return false;
    const struct quic_service *service = &set->service[vip->service];
    struct quic_stats_service *stats = &quic->stats.service[service->slot];
    struct quic_pkt *pkt = &quic->pkt[quic->n];
    pkt->mbuf = mbuf;
    pkt->port = port;
    pkt->service = service;
    pkt->v6 = v6;
    pkt->plain = true;
    pkt->handed_over = false;
    pkt->quote_off = 0;
    pkt->l3_off = RTE_ETHER_HDR_LEN;
    pkt->l3_len = (uint16_t)(c.end - p - RTE_ETHER_HDR_LEN);
    pkt->payload_off = (uint16_t)(udp_off + UDP_HEADER);
    pkt->payload_len = frame.payload_len;
    stats->packets++;
    stats->bytes += pkt->l3_len;
    if (parse(fwd, pkt, p + udp_off + UDP_HEADER))
        enqueue(fwd, pkt);
    return true;
}

bool quic_take_plain(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf)
{
    const struct quic_set *set = atomic_load_explicit(&fwd->shared->quic, memory_order_acquire);
    if (set == NULL || port->bare || mbuf->next != NULL || mbuf->data_len < RTE_ETHER_HDR_LEN)
        return false;
    uint16_t ethertype_be;
    memcpy(&ethertype_be, rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, 12), sizeof ethertype_be);
    if (likely(ethertype_be == htobe16(RTE_ETHER_TYPE_IPV4)))
        return take_plain(fwd, port, mbuf, set, false);
    return ethertype_be == htobe16(RTE_ETHER_TYPE_IPV6) && take_plain(fwd, port, mbuf, set, true);
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

void quic_flush(struct fwd *fwd)
{
    struct quic_worker *quic = fwd->quic;
    unsigned n = quic->n;
    if (n == 0)
        return;
    quic->n = 0;
    quic_steer(fwd, quic->pkt, n);
    for (unsigned i = 0; i < n; i++) {
        struct quic_pkt *pkt = &quic->pkt[i];
        if (likely(pkt->server != NULL && quic_deliver_plain(fwd, pkt)))
            continue;
        if (pkt->server != NULL)
            quic_deliver(fwd, pkt);
        else if (pkt->drop != DROP_NONE)
            pkt_drop(fwd, pkt->mbuf, (enum drop)pkt->drop);
        else
            hand_over(fwd, pkt);
    }
}
