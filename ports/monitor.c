// SPDX-License-Identifier: Apache-2.0
#include "ports/monitor.h"

#include "ports/ethdev.h"
#include "ports/monitor_priv.h"

#include <rte_common.h>

#include <errno.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_POLL_MS 500 /* ports without a netdev cannot tell by themselves */

struct port *monitor_port(const struct monitor *monitor, uint16_t index)
{
    return index < PORT_MAX ? monitor->port[index] : NULL;
}

void monitor_tell(const struct monitor *monitor, enum monitor_event event, struct port *port, uint32_t face)
{
    if (monitor->listener.on_event != NULL && port != NULL) {
        monitor->listener.on_event(monitor->listener.arg, event, port, face);
    }
}

/* Ids of a port's faces in turn: start with *slot = 0. @return 0 after the last */
static uint32_t next_face(const struct monitor *monitor, const struct port *port, uint32_t *slot)
{
    while (*slot < FACE_SLOTS) {
        const struct face *face = atomic_load_explicit(&monitor->faces->slot[(*slot)++], memory_order_relaxed);
        if (face != NULL && face->port == port->index) {
            return face->id;
        }
    }
    return 0;
}

static void set_faces_link(struct monitor *monitor, const struct port *port, bool up)
{
    uint32_t slot = 0, id;
    while ((id = next_face(monitor, port, &slot)) != 0) {
        face_set_down(monitor->faces, id, FACE_DOWN_LINK, !up);
    }
}

static void set_link(struct monitor *monitor, struct port *port, bool up)
{
    if (atomic_load_explicit(&port->link_up, memory_order_relaxed) == up) {
        return;
    }
    atomic_store_explicit(&port->link_up, up, memory_order_relaxed);
    set_faces_link(monitor, port, up);
    if (up) {
        monitor->resolve_all = true;
    }
    monitor_tell(monitor, up ? MONITOR_LINK_UP : MONITOR_LINK_DOWN, port, 0);
}

static void set_mtu(struct monitor *monitor, struct port *port, uint32_t kernel_mtu)
{
    uint16_t mtu = (uint16_t)RTE_MIN(kernel_mtu, (uint32_t)port->mtu_max);
    if (mtu == 0 || mtu == port->mtu) {
        return;
    }
    port->mtu = mtu;
    uint32_t slot = 0, id;
    while ((id = next_face(monitor, port, &slot)) != 0) {
        face_set_port_mtu(monitor->faces, id, mtu);
    }
    monitor_tell(monitor, MONITOR_MTU, port, 0);
}

static void set_gone(struct monitor *monitor, struct port *port)
{
    if (atomic_load_explicit(&port->gone, memory_order_relaxed)) {
        return;
    }
    atomic_store_explicit(&port->gone, true, memory_order_relaxed);
    atomic_store_explicit(&port->link_up, false, memory_order_relaxed);
    set_faces_link(monitor, port, false);
    monitor_tell(monitor, MONITOR_GONE, port, 0);
}

static bool is_up(const struct netlink_link *link)
{
    const unsigned up = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;
    return (link->flags & up) == up;
}

static void forget_vlan(struct monitor *monitor, unsigned index)
{
    for (uint32_t i = 0; i < monitor->n_vlans; i++) {
        if (monitor->vlan[i].index == index) {
            monitor->vlan[i] = monitor->vlan[--monitor->n_vlans];
            return;
        }
    }
}

static void note_vlan(struct monitor *monitor, const struct netlink_link *link)
{
    if (link->vlan == 0 || monitor->n_vlans == MONITOR_VLANS_MAX) {
        return;
    }
    forget_vlan(monitor, link->index);
    monitor->vlan[monitor->n_vlans++] = *link;
    monitor->resolve_all = true;
}

static void on_link(void *arg, const struct netlink_link *link)
{
    struct monitor *monitor = arg;
    note_vlan(monitor, link);
    for (uint32_t i = 0; i < PORT_MAX; i++) {
        struct port *port = monitor->port[i];
        if (port == NULL || port->netdev_index == 0) {
            continue;
        }
        bool gone = atomic_load_explicit(&port->gone, memory_order_relaxed);
        if (link->index == port->netdev_index && !gone) {
            monitor->seen[i] = true;
            set_mtu(monitor, port, link->mtu);
            set_link(monitor, port, is_up(link));
        } else if (gone && link->index != port->netdev_index && (link->flags & IFF_UP) != 0 &&
                   strcmp(link->name, monitor->netdev[i]) == 0) {
            monitor_tell(monitor, MONITOR_RETURNED, port, 0);
        }
    }
}

static void on_link_deleted(struct monitor *monitor, const struct netlink_link *link)
{
    forget_vlan(monitor, link->index);
    for (uint32_t i = 0; i < PORT_MAX; i++) {
        struct port *port = monitor->port[i];
        if (port != NULL && port->netdev_index == link->index) {
            set_gone(monitor, port);
        }
    }
}

/* Events were lost, or we have just begun: look at everything. */
static void look_at_all(struct monitor *monitor)
{
    memset(monitor->seen, 0, sizeof monitor->seen);
    monitor->n_vlans = 0;
    monitor->resolve_all = true;
    int rc = -EINTR;
    for (int try = 0; try < 3 && rc == -EINTR; try++) { /* interrupted by a change while it was read */
        rc = netlink_links(monitor->requests, on_link, monitor);
    }
    if (rc != 0) {
        return; /* nothing is concluded from what was not seen */
    }
    for (uint32_t i = 0; i < PORT_MAX; i++) {
        struct port *port = monitor->port[i];
        if (port != NULL && port->netdev_index != 0 && !monitor->seen[i]) {
            set_gone(monitor, port);
        }
    }
}

static int on_message(const struct nlmsghdr *nlh, void *data)
{
    struct monitor *monitor = data;
    struct netlink_link link;
    struct netlink_neigh neigh;
    if (netlink_parse_link(nlh, &link)) {
        if (nlh->nlmsg_type == RTM_NEWLINK) {
            on_link(monitor, &link);
        } else {
            on_link_deleted(monitor, &link);
        }
    } else if (netlink_parse_neigh(nlh, &neigh)) {
        neigh_on_event(monitor, &neigh, nlh->nlmsg_type == RTM_DELNEIGH);
    } else if (nlh->nlmsg_type == RTM_NEWROUTE || nlh->nlmsg_type == RTM_DELROUTE) {
        monitor->resolve_all = true;
    }
    return MNL_CB_OK;
}

int monitor_create(struct monitor **out, struct face_table *faces, const struct monitor_listener *listener)
{
    struct monitor *monitor = calloc(1, sizeof *monitor);
    if (monitor == NULL) {
        return -ENOMEM;
    }
    monitor->faces = faces;
    if (listener != NULL) {
        monitor->listener = *listener;
    }
    monitor->udp_fd[0] = monitor->udp_fd[1] = -1;
    int rc = -ENOMEM;
    monitor->vlan = calloc(MONITOR_VLANS_MAX, sizeof *monitor->vlan);
    if (monitor->vlan == NULL) {
        goto fail;
    }
    rc = netlink_open(&monitor->requests, false);
    if (rc != 0) {
        goto fail;
    }
    rc = netlink_open(&monitor->events, true);
    if (rc != 0) {
        goto fail;
    }
    look_at_all(monitor);
    *out = monitor;
    return 0;
fail:
    monitor_destroy(monitor);
    return rc;
}

void monitor_destroy(struct monitor *monitor)
{
    if (monitor == NULL) {
        return;
    }
    neigh_close(monitor);
    if (monitor->events != NULL) {
        mnl_socket_close(monitor->events);
    }
    if (monitor->requests != NULL) {
        mnl_socket_close(monitor->requests);
    }
    free(monitor->vlan);
    free(monitor);
}

/* A port that is opened anew may have another MTU and MAC address than its faces remember. */
static void renew_faces(struct monitor *monitor, const struct port *port)
{
    uint8_t *mac = monitor->mac[port->index];
    bool other_mac = monitor->has_mac[port->index] && memcmp(mac, port->mac, 6) != 0;
    uint32_t slot = 0, id;
    while ((id = next_face(monitor, port, &slot)) != 0) {
        face_set_port_mtu(monitor->faces, id, port->mtu);
        if (other_mac && memcmp(face_get(monitor->faces, id)->config.local_mac, mac, 6) == 0) {
            face_set_local_mac(monitor->faces, id, port->mac);
        }
    }
    memcpy(mac, port->mac, 6);
    monitor->has_mac[port->index] = true;
}

int monitor_port_add(struct monitor *monitor, struct port *port)
{
    if (port->index >= PORT_MAX) {
        return -ENOSPC;
    }
    uint16_t i = port->index;
    monitor->port[i] = port;
    monitor->netdev[i][0] = '\0';
    renew_faces(monitor, port);
    set_faces_link(monitor, port, atomic_load_explicit(&port->link_up, memory_order_relaxed));
    struct netlink_link link;
    if (port->netdev_index == 0) {
        return 0;
    }
    if (netlink_link(monitor->requests, port->netdev_index, &link) != 0) {
        set_gone(monitor, port);
        return 0;
    }
    snprintf(monitor->netdev[i], sizeof monitor->netdev[i], "%s", link.name);
    on_link(monitor, &link);
    monitor->resolve_all = true;
    return 0;
}

void monitor_port_remove(struct monitor *monitor, struct port *port)
{
    if (monitor_port(monitor, port->index) == port) {
        monitor->port[port->index] = NULL;
    }
}

static bool is_udp_unicast(const struct face *face)
{
    return (face->kind == FACE_UDP4 && (face->config.remote_ip[0] & 0xf0) != 0xe0) ||
           (face->kind == FACE_UDP6 && face->config.remote_ip[0] != 0xff);
}

int monitor_face_add(struct monitor *monitor, uint32_t id)
{
    const struct face *face = face_get(monitor->faces, id);
    if (face == NULL) {
        return -ENOENT;
    }
    const struct port *port = monitor_port(monitor, face->port);
    if (port != NULL) {
        face_set_down(monitor->faces, id, FACE_DOWN_LINK, !atomic_load_explicit(&port->link_up, memory_order_relaxed));
    }
    if (!is_udp_unicast(face) || face->config.mac_static) {
        return 0;
    }
    if (port == NULL || port->netdev_index == 0) {
        return -ENOTSUP;
    }
    return neigh_watch_add(monitor, face);
}

void monitor_face_remove(struct monitor *monitor, uint32_t face)
{
    neigh_watch_remove(monitor, face);
}

int monitor_fd(const struct monitor *monitor)
{
    return mnl_socket_get_fd(monitor->events);
}

static void poll_links(struct monitor *monitor)
{
    if (monitor->now_ms < monitor->link_poll_ms) {
        return;
    }
    monitor->link_poll_ms = monitor->now_ms + LINK_POLL_MS;
    for (uint32_t i = 0; i < PORT_MAX; i++) {
        struct port *port = monitor->port[i];
        if (port != NULL && port->netdev_index == 0) {
            set_link(monitor, port, ethdev_link_up(port));
        }
    }
}

void monitor_poll(struct monitor *monitor, uint64_t now_ms)
{
    char buffer[16384] __attribute__((aligned(8)));
    monitor->now_ms = now_ms;
    for (int i = 0; i < 1024; i++) { /* a storm of events must not keep the control thread */
        ssize_t len = mnl_socket_recvfrom(monitor->events, buffer, sizeof buffer);
        if (len < 0) {
            if (errno == ENOBUFS) {
                look_at_all(monitor);
            }
            break;
        }
        mnl_cb_run(buffer, (size_t)len, 0, 0, on_message, monitor);
    }
    poll_links(monitor);
    neigh_poll(monitor);
}
