// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_MATCH_H
#define PORTS_MATCH_H

#include "ports/port.h"

/**
 * Give a port an empty receive match for its own addresses (port->mac, port->config.ip4 and ip6); part of port_open().
 * Control thread. @return 0, -ENOMEM, -EIO without random numbers
 */
int port_match_init(struct port *port, struct rte_rcu_qsbr *qsbr);
/** Free the match. After workers left the port alone. */
void port_match_destroy(struct port *port);

#endif
