// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_XDP_XDP_H
#define PORTS_XDP_XDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ports/port.h"

/*
 * The eBPF program of an AF_XDP port, in the order of calls: xdp_open(), device made from xdp_device() and its queues,
 * xdp_queue() for each, xdp_attach(), device started. net_af_xdp loads and attaches the program; we then exchange its
 * attachment for a BPF link, which the kernel undoes whatever way the process ends, also without privileges.
 */

struct xdp_port;

/**
 * Check that the interface and our capabilities will do, and clear away a program that an earlier pitlane left behind.
 *
 * @param n_queues most queues wanted; on return what the interface has at most
 * @return 0 and *xdp, or a negative errno and the reason in @p err
 */
int xdp_open(struct xdp_port **xdp, const char *netdev, uint16_t *n_queues, char *err);
/**
 * Can an AF_XDP socket use the buffers of a pool? The driver takes them for one stretch of memory as long as their
 * number times their size.
 */
bool xdp_pool_usable(struct rte_mempool *pool);
/** Write the DPDK device string of the port to @p device. */
void xdp_device(const struct xdp_port *xdp, uint16_t index, uint16_t n_queues, char *device, size_t size);
/** Call before and after the set-up of each receive queue: finds the queue's socket for its statistics. */
void xdp_queue_before(struct xdp_port *xdp);
void xdp_queue_after(struct xdp_port *xdp, uint16_t queue, uint16_t n_desc);
/** Why the set-up of a queue failed, in better words than the driver's; @p rc is returned. */
int xdp_explain(const struct xdp_port *xdp, uint16_t queue, int rc, char *err);
/** Tell the program its UDP ports and take its attachment over. */
int xdp_attach(struct xdp_port *xdp, const struct port_config *config, char *err);
/** See port_quic_vips(). */
int xdp_quic_vips(struct xdp_port *xdp, const struct port_vip *vips, unsigned n);
/**
 * Detach the program, so that the interface is the kernel's again, and take back the packet buffers that wait there.
 * After the device was stopped, before it is closed.
 */
void xdp_detach(struct xdp_port *xdp, struct rte_mempool *pool);
/** Free everything, after the device was closed. NULL is ignored. */
void xdp_close(struct xdp_port *xdp);
/** Add what program and sockets know. Any thread. */
void xdp_losses(const struct xdp_port *xdp, struct port_losses *losses);
/** Kernel MTU of the interface. */
uint16_t xdp_mtu(const struct xdp_port *xdp);
unsigned xdp_ifindex(const struct xdp_port *xdp);
/** Administratively up, with carrier. */
bool xdp_link_up(const struct xdp_port *xdp);

#endif
