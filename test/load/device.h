// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_DEVICE_H
#define TEST_LOAD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/options.h"

struct rte_mempool;
struct rte_mbuf;

#define DEVICE_BURST 32 /**< net_af_xdp and net_memif do not do more at once */

/* A port of DPDK with one queue each way. */
struct device {
    uint16_t port;
    uint16_t mtu;
    uint8_t mac[OPTIONS_MAC_SIZE];
    const char *driver;
    char name[64];
};

/** Configure and start a port, and wait until it has a link. Says on stderr what is wrong. @return 0 or -errno */
int device_open(struct device *device, uint16_t port, const struct options *options, struct rte_mempool *pool);
void device_close(struct device *device);

/** Frames that may wait for a device. */
#define DEVICE_TX_MAX 1024

/* Frames on their way to a port, first in, first out. What the device does not take waits. */
struct device_tx {
    uint16_t port;
    uint16_t from, to; /* those that wait, in mbuf */
    uint64_t refused;  /**< frames that a full device left for later, each time */
    struct rte_mbuf *mbuf[DEVICE_TX_MAX];
};

/** Give frames to the device. @return true when none is left */
bool device_send(struct device_tx *tx);

/** Frames that there is room for. */
unsigned device_room(struct device_tx *tx);

/** Add a frame; there is room. */
static inline void device_add(struct device_tx *tx, struct rte_mbuf *mbuf)
{
    tx->mbuf[tx->to++] = mbuf;
}

/** Octets of a frame as one piece: in place, or copied to @p scratch when it is in more. NULL: longer than @p size. */
const uint8_t *device_octets(const struct rte_mbuf *mbuf, uint8_t *scratch, uint32_t size);

#endif
