// SPDX-License-Identifier: Apache-2.0
#include "test/load/device.h"

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINK_WAIT_MS   20000
#define MEMIF_PAUSE_MS 1000 /* frames written right after a memif is up are lost */

static int fail(const struct device *device, const char *what, int rc)
{
    fprintf(stderr, "pitlane-load: port %u (%s): %s: %s\n", device->port, device->name, what, rte_strerror(-rc));
    return rc;
}

static int configure(struct device *device, const struct options *options, struct rte_mempool *pool)
{
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(device->port, &info);
    if (rc != 0)
        return fail(device, "no answer", rc);
    device->driver = info.driver_name;
    bool memif = strcmp(info.driver_name, "net_memif") == 0;
    struct rte_eth_conf conf = {0};
    if (options->mtu != 0 && !memif)
        conf.rxmode.mtu = options->mtu;
    rc = rte_eth_dev_configure(device->port, 1, 1, &conf);
    if (rc != 0)
        return fail(device, "configuration", rc);
    uint16_t rx = (uint16_t)options->descriptors, tx = (uint16_t)options->descriptors;
    rc = rte_eth_dev_adjust_nb_rx_tx_desc(device->port, &rx, &tx);
    if (rc != 0 && rc != -ENOTSUP)
        return fail(device, "descriptors", rc);
    rc = rte_eth_rx_queue_setup(device->port, 0, rx, SOCKET_ID_ANY, NULL, pool);
    if (rc == 0)
        rc = rte_eth_tx_queue_setup(device->port, 0, tx, SOCKET_ID_ANY, NULL);
    if (rc != 0)
        return fail(device, "queues", rc);
    device->mtu = options->mtu;
    if (device->mtu == 0 && (rte_eth_dev_get_mtu(device->port, &device->mtu) != 0 || device->mtu == 0))
        device->mtu = RTE_ETHER_MTU;
    struct rte_ether_addr mac;
    if (rte_eth_macaddr_get(device->port, &mac) == 0)
        memcpy(device->mac, mac.addr_bytes, sizeof device->mac);
    return 0;
}

/* A memif starts when its server is there. */
static int start(const struct device *device)
{
    int rc = rte_eth_dev_start(device->port);
    for (unsigned i = 0; rc != 0 && strcmp(device->driver, "net_memif") == 0 && i < LINK_WAIT_MS / 100; i++) {
        rte_delay_us_sleep(100000);
        rc = rte_eth_dev_start(device->port);
    }
    return rc != 0 ? fail(device, "start", rc) : 0;
}

static int wait_for_link(const struct device *device)
{
    for (unsigned i = 0; i < LINK_WAIT_MS / 10; i++) {
        struct rte_eth_link link = {0};
        if (rte_eth_link_get_nowait(device->port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP) {
            if (strcmp(device->driver, "net_memif") == 0)
                rte_delay_us_sleep(MEMIF_PAUSE_MS * 1000);
            return 0;
        }
        rte_delay_us_sleep(10000);
    }
    return fail(device, "no link", -ENETDOWN);
}

int device_open(struct device *device, uint16_t port, const struct options *options, struct rte_mempool *pool)
{
    *device = (struct device){.port = port, .name = "?"};
    if (rte_eth_dev_get_name_by_port(port, device->name) != 0)
        return fail(device, "no such port of DPDK", -ENODEV);
    int rc = configure(device, options, pool);
    if (rc != 0)
        return rc;
    rc = start(device);
    if (rc != 0)
        return rc;
    // Virtual devices that receive everything anyway answer ENOTSUP.
    rte_eth_promiscuous_enable(port);
    rte_eth_allmulticast_enable(port);
    rc = wait_for_link(device);
    if (rc != 0)
        device_close(device);
    return rc;
}

void device_close(struct device *device)
{
    rte_eth_dev_stop(device->port);
    rte_eth_dev_close(device->port);
}

bool device_send(struct device_tx *tx)
{
    while (tx->from < tx->to) {
        uint16_t n = (uint16_t)RTE_MIN(tx->to - tx->from, DEVICE_BURST);
        uint16_t sent = rte_eth_tx_burst(tx->port, 0, tx->mbuf + tx->from, n);
        tx->from = (uint16_t)(tx->from + sent);
        if (sent < n) {
            tx->refused += (uint16_t)(n - sent);
            return false;
        }
    }
    tx->from = tx->to = 0;
    return true;
}

unsigned device_room(struct device_tx *tx)
{
    if (tx->from > 0) {
        tx->to = (uint16_t)(tx->to - tx->from);
        memmove(tx->mbuf, tx->mbuf + tx->from, tx->to * sizeof tx->mbuf[0]);
        tx->from = 0;
    }
    return (unsigned)DEVICE_TX_MAX - tx->to;
}

const uint8_t *device_octets(const struct rte_mbuf *mbuf, uint8_t *scratch, uint32_t size)
{
    if (mbuf->nb_segs == 1)
        return rte_pktmbuf_mtod(mbuf, const uint8_t *);
    return mbuf->pkt_len <= size ? rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, scratch) : NULL;
}
