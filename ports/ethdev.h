// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_ETHDEV_H
#define PORTS_ETHDEV_H

#include <stddef.h>

#include "ports/port.h"

#define PORT_ERR_LEN 200

struct rte_mempool;

/** Write a message for a user to @p err, at most PORT_ERR_LEN octets. @return @p rc */
int port_fail(char *err, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Does this thread have the effective capability CAP_...? */
bool port_has_capability(int capability);

/**
 * Create the DPDK device of a device string and configure it: port->dpdk_id, n_queues, mac, mtu, burst_max, offloads.
 * Queues are set up by ethdev_queues(), frames flow after ethdev_start(). Control thread.
 *
 * @param device a PCI address, or a vdev name with its arguments
 * @return 0, or a negative errno with a message in @p err
 */
int ethdev_open(struct port *port, const char *device, uint16_t n_queues, struct rte_mempool *pool, char *err);
/** Set up receive queue @p queue and the transmit queue of the same number; port->config tells what it got. */
int ethdev_queue(struct port *port, uint16_t queue, struct rte_mempool *pool, char *err);
int ethdev_start(struct port *port, char *err);
void ethdev_stop(struct port *port);
/** Stop if need be, close and remove the device. */
void ethdev_close(struct port *port);
/** Ask the device for its link state; ports with a netdev get theirs by netlink instead. */
bool ethdev_link_up(const struct port *port);

#endif
