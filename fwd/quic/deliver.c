// SPDX-License-Identifier: Apache-2.0
/*
 * To the server: link header, TTL, and outer headers where the service says so. The IP packet is otherwise the
 * client's: with direct server return the server answers it itself, from the virtual address.
 */
#include <string.h>

#include <rte_ether.h>

#include "fwd/chain.h"
#include "fwd/quic/deliver_inline.h"
#include "fwd/quic/tunnel.h"
#include "parser/cursor.h"

#define LINK_HEADER_MAX (RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN)

/* Take one off the TTL or hop limit. @return false when there is none left */
static bool forward(uint8_t *ip, bool v6)
{
    if (ip[v6 ? 7 : 8] <= 1)
        return false;
    if (v6)
        ip[7]--;
    else
        quic_ipv4_forward(ip);
    return true;
}

/* Cut link header and padding off. */
static void cut_to_ip(struct quic_pkt *pkt)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    if (mbuf->next == NULL)
        mbuf->data_len = (uint16_t)(pkt->l3_off + pkt->l3_len);
    mbuf->pkt_len = (uint32_t)pkt->l3_off + pkt->l3_len;
    rte_pktmbuf_adj(mbuf, pkt->l3_off);
}

/* A buffer with room for @p room octets of headers, another one when need be. @return NULL: it was dropped */
static struct rte_mbuf *with_room(struct fwd *fwd, struct rte_mbuf *mbuf, unsigned room)
{
    if (likely(mbuf->data_off >= room))
        return mbuf;
    struct rte_mbuf *copy = chain_copy(fwd->pool, mbuf, mbuf->data_off, mbuf->pkt_len, room);
    if (copy == NULL) {
        pkt_drop(fwd, mbuf, DROP_TX_NO_MBUF);
        return NULL;
    }
    rte_pktmbuf_free(mbuf);
    return copy;
}

/* A VLAN tag, of which the last two octets are the type of what follows it. There is room. */
static void put_tag(struct rte_mbuf *mbuf, uint64_t mac, uint16_t type_be)
{
    const uint16_t tag[2] = {htobe16((uint16_t)(mac >> 48)), type_be};
    memcpy(rte_pktmbuf_prepend(mbuf, sizeof tag), tag, sizeof tag);
}

static void send_frame(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, uint64_t mac, bool v6)
{
    uint16_t type_be = v6 ? htobe16(RTE_ETHER_TYPE_IPV6) : htobe16(RTE_ETHER_TYPE_IPV4);
    if (unlikely(mac >> 48 != 0)) {
        put_tag(mbuf, mac, type_be);
        type_be = htobe16(RTE_ETHER_TYPE_VLAN);
    }
    // There is room: the link header that it came with was there.
    mbuf->data_off = (uint16_t)(mbuf->data_off - RTE_ETHER_HDR_LEN);
    mbuf->data_len = (uint16_t)(mbuf->data_len + RTE_ETHER_HDR_LEN);
    mbuf->pkt_len += RTE_ETHER_HDR_LEN;
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
    memcpy(p, &mac, RTE_ETHER_ADDR_LEN);
    memcpy(p + RTE_ETHER_ADDR_LEN, port->mac, RTE_ETHER_ADDR_LEN);
    memcpy(p + 2 * RTE_ETHER_ADDR_LEN, &type_be, sizeof type_be);
    face_pad(mbuf);
    output_queue(fwd, port->index, mbuf);
}

static void count(struct fwd *fwd, const struct quic_pkt *pkt)
{
    struct quic_worker *quic = fwd->quic;
    if (unlikely(pkt->quote_off != 0)) {
        quic->stats.service[pkt->service->slot].icmp_followed++;
        return;
    }
    quic_count_delivered(quic, pkt);
}

/* Put outer headers before the IP packet. @return the mbuf, another one when there was no room; NULL: it was dropped */
static struct rte_mbuf *encapsulate(struct fwd *fwd, const struct quic_pkt *pkt, struct rte_mbuf *mbuf,
                                    struct quic_tunnel *tunnel)
{
    mbuf = with_room(fwd, mbuf, QUIC_TUNNEL_MAX + LINK_HEADER_MAX);
    if (mbuf == NULL)
        return NULL;
    const uint8_t *ip = rte_pktmbuf_mtod(mbuf, const uint8_t *);
    tunnel->traffic_class = pkt->v6 ? (uint8_t)(load_be16(ip) >> 4) : ip[1];
    quic_tunnel_put(mbuf, tunnel);
    return mbuf;
}

void quic_deliver(struct fwd *fwd, struct quic_pkt *pkt)
{
    const struct quic_server *server = pkt->server;
    struct rte_mbuf *mbuf = pkt->mbuf;
    uint8_t delivery = pkt->service->delivery;
    bool v6 = pkt->v6;
    uint64_t mac = atomic_load_explicit(&server->mac, memory_order_relaxed);
    uint16_t index = atomic_load_explicit(&server->port, memory_order_relaxed);
    const struct port *port = index < PORT_MAX ? fwd->shared->port[index] : NULL;
    if (unlikely(mac == 0 || port == NULL || (delivery != QUIC_DELIVER_L2 && !quic_tunnel_source(port, server->v6)))) {
        pkt_drop(fwd, mbuf, DROP_QUIC_NO_NEIGHBOUR);
        return;
    }
    uint16_t mtu = atomic_load_explicit(&server->mtu, memory_order_relaxed);
    unsigned outer = unlikely(delivery != QUIC_DELIVER_L2) ? quic_tunnel_size(delivery, server->v6) : 0;
    mtu = mtu != 0 ? RTE_MIN(mtu, port->mtu) : port->mtu;
    if (unlikely(pkt->l3_len + outer > mtu)) {
        quic_too_big(fwd, pkt, (uint16_t)(mtu > outer ? mtu - outer : 0));
        return;
    }
    if (unlikely(!forward(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, pkt->l3_off), v6))) {
        pkt_drop(fwd, mbuf, DROP_QUIC_TTL);
        return;
    }
    struct quic_tunnel tunnel;
    if (unlikely(delivery != QUIC_DELIVER_L2)) {
        struct flow_key tuple;
        quic_tuple_key(pkt, &tuple);
        tunnel = (struct quic_tunnel){.port = port,
                                      .server = server,
                                      .flow_hash = flow_key_hash(&tuple, &pkt->service->hash_key),
                                      .gue_port = pkt->service->gue_port,
                                      .delivery = delivery,
                                      .inner_v6 = v6};
    }
    cut_to_ip(pkt);
    if (unlikely(delivery != QUIC_DELIVER_L2)) {
        mbuf = encapsulate(fwd, pkt, mbuf, &tunnel);
        if (mbuf == NULL)
            return;
        v6 = server->v6;
    }
    if (unlikely(mac >> 48 != 0)) {
        mbuf = with_room(fwd, mbuf, LINK_HEADER_MAX);
        if (mbuf == NULL)
            return;
    }
    if (unlikely(mbuf->next != NULL && !port->tx_multi_seg)) {
        pkt_drop(fwd, mbuf, DROP_TX_SIZE);
        return;
    }
    count(fwd, pkt);
    send_frame(fwd, port, mbuf, mac, v6);
}
