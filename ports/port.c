// SPDX-License-Identifier: Apache-2.0
#include "ports/port.h"

#include "ports/ethdev.h"
#include "ports/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UDP_PORT_NDN 6363

static void free_strings(struct port *port)
{
    free((void *)(uintptr_t)port->config.name);
    free((void *)(uintptr_t)port->config.device);
    free((void *)(uintptr_t)port->config.netdev);
    port->config.name = port->config.device = port->config.netdev = NULL;
}

static int copy_string(const char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from != NULL && *to == NULL ? -ENOMEM : 0;
}

static int copy_config(struct port *port, const struct port_config *config)
{
    port->config = *config;
    port->config.name = port->config.device = port->config.netdev = NULL;
    if (copy_string(&port->config.name, config->name) != 0 || copy_string(&port->config.device, config->device) != 0 ||
        copy_string(&port->config.netdev, config->netdev) != 0) {
        free_strings(port);
        return -ENOMEM;
    }
    if (config->udp_ports[0] == 0) {
        port->config.udp_ports[0] = UDP_PORT_NDN;
    }
    return 0;
}

int port_open(struct port *port, uint16_t index, const struct port_config *config, uint16_t n_workers,
              struct rte_mempool *pool, struct rte_rcu_qsbr *qsbr, char err[200])
{
    memset(port, 0, sizeof *port);
    port->index = index;
    port->membership_fd = -1;
    port->bare = config->bare;
    port->frame_opts.skip_udp_csum = !config->rx_csum;
    if ((config->device == NULL) == (config->netdev == NULL)) {
        return port_fail(err, -EINVAL, "a port needs either a device or a netdev");
    }
    if (copy_config(port, config) != 0) {
        return port_fail(err, -ENOMEM, "out of memory");
    }
    uint16_t n_queues = config->n_queues != 0 ? config->n_queues : n_workers;
    int rc = ethdev_open(port, config->device, n_queues, pool, err);
    if (rc != 0) {
        goto free_config;
    }
    for (uint16_t queue = 0; queue < port->n_queues; queue++) {
        rc = ethdev_queue(port, queue, pool, err);
        if (rc != 0) {
            goto close_device;
        }
    }
    rc = port_match_init(port, qsbr);
    if (rc != 0) {
        port_fail(err, rc, "receive match: %s", strerror(-rc));
        goto close_device;
    }
    rc = ethdev_start(port, err);
    if (rc != 0) {
        goto free_match;
    }
    return 0;
free_match:
    port_match_destroy(port);
close_device:
    ethdev_close(port);
free_config:
    free_strings(port);
    return rc;
}

void port_close(struct port *port)
{
    ethdev_close(port);
    port_match_destroy(port);
    free_strings(port);
}

void port_losses(const struct port *port, struct port_losses *losses)
{
    memset(losses, 0, sizeof *losses);
    struct rte_eth_stats stats;
    if (rte_eth_stats_get(port->dpdk_id, &stats) == 0) {
        losses->rx_missed = stats.imissed;
        losses->rx_nombuf = stats.rx_nombuf;
        losses->rx_errors = stats.ierrors;
        losses->tx_errors = stats.oerrors;
    }
}
