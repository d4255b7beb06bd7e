// SPDX-License-Identifier: Apache-2.0
/* Which port a packet would leave by, as the kernel's routes and interfaces say. */
#include "ports/monitor_priv.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>

static struct port *port_of(const struct monitor *monitor, unsigned ifindex)
{
    for (uint32_t i = 0; ifindex != 0 && i < PORT_MAX; i++) {
        struct port *port = monitor->port[i];
        if (port != NULL && port->netdev_index == ifindex && !atomic_load_explicit(&port->gone, memory_order_relaxed)) {
            return port;
        }
    }
    return NULL;
}

int way_port(struct monitor *monitor, unsigned ifindex, struct port **port, uint16_t *vlan)
{
    struct netlink_link link;
    *vlan = 0;
    *port = port_of(monitor, ifindex);
    if (*port != NULL) {
        return 0;
    }
    if (ifindex == 0 || netlink_link(monitor->requests, ifindex, &link) != 0 || link.vlan == 0) {
        return -ENODEV;
    }
    *vlan = link.vlan;
    *port = port_of(monitor, link.lower);
    return *port != NULL ? 0 : -ENODEV;
}

int monitor_way(struct monitor *monitor, uint8_t family, const uint8_t *ip, unsigned ifindex, struct monitor_way *way)
{
    struct netlink_route route;
    if (netlink_route(monitor->requests, family, ifindex, ip, &route) != 0) {
        return -ENETUNREACH;
    }
    if (!route.unicast) {
        return -ENODEV;
    }
    *way = (struct monitor_way){.has_source = route.has_source};
    memcpy(way->source, route.source, sizeof way->source);
    return way_port(monitor, route.ifindex, &way->port, &way->vlan);
}

int monitor_netdev(struct monitor *monitor, const char *name, struct port **port, uint16_t *vlan)
{
    return way_port(monitor, if_nametoindex(name), port, vlan);
}
