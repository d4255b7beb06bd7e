// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_XDP_RECLAIM_H
#define PORTS_XDP_RECLAIM_H

#include <stdint.h>

struct rte_mempool;

/*
 * Packet buffers that an AF_XDP socket of net_af_xdp holds when it is closed: 2,048 wait in its fill ring, and the
 * driver forgets them, so that an interface that comes and goes would empty the pool.
 */

struct xdp_rings;

/**
 * Map the rings of a socket once more, after its queue was set up.
 *
 * @param fd     the socket
 * @param n_desc descriptors of its receive and transmit rings
 * @return NULL when that is not possible: nothing will be reclaimed
 */
struct xdp_rings *xdp_rings_open(int fd, uint32_t n_desc);
/** Unmap; the socket is held until then. NULL is ignored. */
void xdp_rings_close(struct xdp_rings *rings);
/**
 * Give back the buffers that the socket holds to their pool. Call when no frame arrives or is sent any more (program
 * detached, device stopped) and before the device is closed. Does nothing where it cannot be sure what the socket
 * holds, as in zero-copy mode.
 *
 * @return buffers given back
 */
uint32_t xdp_reclaim(const struct xdp_rings *rings, int fd, struct rte_mempool *pool);

#endif
