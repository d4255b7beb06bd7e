// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_TUNNEL_H
#define FWD_QUIC_TUNNEL_H

#include "fwd/quic/service.h"
#include "ports/port.h"

/* Headers around a client's IP packet on its way to a server in another network. Worker. */

/** Most octets that they take. */
#define QUIC_TUNNEL_MAX 48

struct quic_tunnel {
    const struct port *port; /**< it leaves by; its address is the source */
    const struct quic_server *server;
    uint64_t flow_hash;
    uint16_t gue_port; /**< host byte order */
    uint8_t delivery;  /**< enum quic_delivery, not QUIC_DELIVER_L2 */
    uint8_t traffic_class;
    bool inner_v6;
};

/** Octets that a service's delivery adds to each packet for a server with an address of this version. */
unsigned quic_tunnel_size(uint8_t delivery, bool v6);
/** Has the port an address of this version to send from? */
bool quic_tunnel_source(const struct port *port, bool v6);
/** Put the headers before the IP packet in @p mbuf, which has room for them. */
void quic_tunnel_put(struct rte_mbuf *mbuf, const struct quic_tunnel *tunnel);

#endif
