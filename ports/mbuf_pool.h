// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_MBUF_POOL_H
#define PORTS_MBUF_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mempool;

/**
 * Pool of packet buffers that all ports receive into. Without hugepages the buffers are packed back to back: DPDK
 * would give each a 4 kB page of its own, so that the headers of a burst fall into the same few cache sets and a
 * third of the memory is lost. Devices on PCI, which need contiguous pages, come with hugepages; those are packed too
 * where devices see virtual addresses (--iova-mode=va). AF_XDP needs a packed pool: net_af_xdp takes it for one
 * stretch of number times size, and buffers beyond that would be lost.
 *
 * @param n         buffers
 * @param data_room octets of a buffer, headroom counted in
 * @return NULL with rte_errno set
 */
struct rte_mempool *mbuf_pool_create(const char *name, uint32_t n, uint16_t data_room, bool hugepages);

/** Octets of memory that such a pool takes, a little more than less. */
uint64_t mbuf_pool_memory(uint32_t n, uint16_t data_room);

#endif
