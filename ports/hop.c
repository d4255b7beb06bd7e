// SPDX-License-Identifier: Apache-2.0
/* Ways to hosts that have no face: servers that datagrams are delivered to. */
#include "ports/monitor_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hop_set_target(struct monitor *monitor, struct neigh_watch *watch)
{
    struct monitor_hop *hop = watch->hop;
    const struct monitor_hop_config *config = &hop->config;
    struct netlink_route route;
    struct port *port = NULL;
    uint16_t vlan = 0;
    watch->has_target = false;
    if (config->port != NULL && config->mac_static) {
        port = config->port;
        vlan = config->vlan;
    } else {
        unsigned ifindex = neigh_ifindex(monitor, config->port, config->vlan);
        if ((config->port == NULL || ifindex != 0) &&
            netlink_route(monitor->requests, config->family, ifindex, config->ip, &route) == 0 && route.unicast &&
            way_port(monitor, route.ifindex, &port, &vlan) == 0) {
            watch->ifindex = route.ifindex;
            memcpy(watch->target, route.has_gateway ? route.gateway : config->ip, sizeof watch->target);
        }
    }
    hop->port = port;
    hop->vlan = vlan;
    watch->has_target = hop->port != NULL;
}

void hop_set_mac(struct neigh_watch *watch, const uint8_t mac[6])
{
    watch->hop->known = true;
    watch->hop->failed = false;
    memcpy(watch->hop->mac, mac, sizeof watch->hop->mac);
}

int monitor_hop_add(struct monitor *monitor, const struct monitor_hop_config *config, const struct monitor_hop **out)
{
    if (config->port != NULL && config->port->netdev_index == 0 && !config->mac_static) {
        return -ENOTSUP;
    }
    struct monitor_hop *hop = calloc(1, sizeof *hop);
    if (hop == NULL) {
        return -ENOMEM;
    }
    hop->config = *config;
    int rc = neigh_watch_hop(monitor, hop);
    if (rc != 0) {
        free(hop);
        return rc;
    }
    *out = hop;
    return 0;
}

void monitor_hop_remove(struct monitor *monitor, const struct monitor_hop *hop)
{
    for (uint32_t i = 0; hop != NULL && i < monitor->n_watches; i++) {
        if (monitor->watch[i].hop == hop) {
            free(monitor->watch[i].hop);
            monitor->watch[i] = monitor->watch[--monitor->n_watches];
            return;
        }
    }
}
