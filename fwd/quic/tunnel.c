// SPDX-License-Identifier: Apache-2.0
/*
 * Outer headers: IP in IP (RFC 2003, RFC 2473, RFC 4213) and GUE variant 1 (draft-ietf-intarea-gue-09, 4), in which the
 * IP packet follows the UDP header and says by its first four bits what it is.
 */
#include "fwd/quic/tunnel.h"

#include <endian.h>
#include <string.h>

#include <rte_ip.h>

#include "parser/frame.h"

#define IPV4_HEADER  20
#define IPV6_HEADER  40
#define UDP_HEADER   8
#define OUTER_TTL    64
#define FLOW_LABEL   0xfffffu
#define SOURCE_PORTS 0xc000u /* dynamic ports (RFC 6335 6), as many as the hash can tell apart */

static void put_be16(uint8_t *p, uint32_t value)
{
    uint16_t be = htobe16((uint16_t)value);
    memcpy(p, &be, sizeof be);
}

/*
 * RFC 6864: with DF the packet is never fragmented and its ID means nothing. The congestion bits are those of the inner
 * header (RFC 6040, normal mode).
 */
static void put_ipv4(uint8_t *ip, const struct quic_tunnel *tunnel, uint32_t len, uint8_t protocol)
{
    memset(ip, 0, IPV4_HEADER);
    ip[0] = 4 << 4 | IPV4_HEADER / 4;
    ip[1] = tunnel->traffic_class;
    put_be16(ip + 2, len);
    put_be16(ip + 6, RTE_IPV4_HDR_DF_FLAG);
    ip[8] = OUTER_TTL;
    ip[9] = protocol;
    memcpy(ip + 12, tunnel->port->config.ip4, 4);
    memcpy(ip + 16, tunnel->server->ip, 4);
    put_be16(ip + 10, ~frame_csum_add(0, ip, IPV4_HEADER));
}

/* RFC 6438: a flow label of the flow's own spreads tunnels over paths. */
static void put_ipv6(uint8_t *ip, const struct quic_tunnel *tunnel, uint32_t len, uint8_t next)
{
    uint32_t first =
        htobe32(6u << 28 | (uint32_t)tunnel->traffic_class << 20 | (uint32_t)(tunnel->flow_hash >> 20 & FLOW_LABEL));
    memcpy(ip, &first, sizeof first);
    put_be16(ip + 4, len - IPV6_HEADER);
    ip[6] = next;
    ip[7] = OUTER_TTL;
    memcpy(ip + 8, tunnel->port->config.ip6, 16);
    memcpy(ip + 24, tunnel->server->ip, 16);
}

/* Over IPv4 GUE leaves the checksum out; over IPv6 there has to be one (RFC 8200 8.1). */
static void finish_udp(struct rte_mbuf *mbuf, uint8_t *ip)
{
    uint8_t *udp = ip + IPV6_HEADER;
    uint32_t len = mbuf->pkt_len - IPV6_HEADER;
    uint32_t pseudo = frame_csum_add(len + IPPROTO_UDP, ip + 8, 32);
    uint16_t part = 0;
    rte_raw_cksum_mbuf(mbuf, IPV6_HEADER, len, &part);
    uint32_t sum = pseudo + be16toh(part);
    sum = (sum >> 16) + (sum & UINT16_MAX);
    uint16_t csum = (uint16_t) ~((sum >> 16) + sum);
    put_be16(udp + 6, csum != 0 ? csum : UINT16_MAX);
}

unsigned quic_tunnel_size(uint8_t delivery, bool v6)
{
    unsigned ip = v6 ? IPV6_HEADER : IPV4_HEADER;
    switch ((enum quic_delivery)delivery) {
    case QUIC_DELIVER_IPIP:
        return ip;
    case QUIC_DELIVER_GUE:
        return ip + UDP_HEADER;
    case QUIC_DELIVER_L2:
        break;
    }
    return 0;
}

bool quic_tunnel_source(const struct port *port, bool v6)
{
    static const uint8_t none[16];
    return v6 ? memcmp(port->config.ip6, none, 16) != 0 : memcmp(port->config.ip4, none, 4) != 0;
}

void quic_tunnel_put(struct rte_mbuf *mbuf, const struct quic_tunnel *tunnel)
{
    bool v6 = tunnel->server->v6, gue = tunnel->delivery == QUIC_DELIVER_GUE;
    unsigned size = quic_tunnel_size(tunnel->delivery, v6);
    uint32_t inner_len = mbuf->pkt_len;
    mbuf->data_off = (uint16_t)(mbuf->data_off - size);
    mbuf->data_len = (uint16_t)(mbuf->data_len + size);
    mbuf->pkt_len += size;
    uint8_t *ip = rte_pktmbuf_mtod(mbuf, uint8_t *);
    uint8_t protocol = gue ? IPPROTO_UDP : tunnel->inner_v6 ? IPPROTO_IPV6 : IPPROTO_IPIP;
    if (v6)
        put_ipv6(ip, tunnel, mbuf->pkt_len, protocol);
    else
        put_ipv4(ip, tunnel, mbuf->pkt_len, protocol);
    if (!gue)
        return;
    uint8_t *udp = ip + size - UDP_HEADER;
    put_be16(udp, SOURCE_PORTS | (uint32_t)(tunnel->flow_hash & 0x3fff));
    put_be16(udp + 2, tunnel->gue_port);
    put_be16(udp + 4, UDP_HEADER + inner_len);
    put_be16(udp + 6, 0);
    if (v6)
        finish_udp(mbuf, ip);
}
