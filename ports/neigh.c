// SPDX-License-Identifier: Apache-2.0
/* MAC addresses of next hops, from the kernel's neighbour table: the kernel does ARP (RFC 826) and ND (RFC 4861). */
#include "ports/monitor_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/neighbour.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RETRY_MS     1000 /* first wait for an answer; doubles up to the longest */
#define RETRY_MAX_MS 16000
#define CONFIRM_MS   30000 /* the kernel sees none of our traffic: have it confirm what it knows */
#define NUD_USABLE   (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP)
#define PORT_DISCARD 9

static size_t address_len(uint8_t family)
{
    return family == AF_INET ? 4 : 16;
}

unsigned neigh_ifindex(const struct monitor *monitor, const struct port *port, uint16_t vlan)
{
    if (port == NULL || port->netdev_index == 0 || vlan == 0) {
        return port != NULL ? port->netdev_index : 0;
    }
    for (uint32_t i = 0; i < monitor->n_vlans; i++) {
        if (monitor->vlan[i].lower == port->netdev_index && monitor->vlan[i].vlan == vlan) {
            return monitor->vlan[i].index;
        }
    }
    return 0;
}

static void set_target(struct monitor *monitor, struct neigh_watch *watch, const struct face *face)
{
    if (watch->hop != NULL) {
        hop_set_target(monitor, watch);
        return;
    }
    static const uint8_t none[16];
    uint8_t target[16] = {0};
    unsigned ifindex = neigh_ifindex(monitor, monitor_port(monitor, face->port), face->config.vlan);
    watch->has_target = ifindex != 0;
    if (ifindex == 0) {
        return;
    }
    size_t len = address_len(watch->family);
    if (memcmp(face->config.next_hop, none, len) != 0) {
        memcpy(target, face->config.next_hop, len);
    } else if (netlink_next_hop(monitor->requests, watch->family, ifindex, face->config.remote_ip, target) != 0) {
        memcpy(target, face->config.remote_ip, len); /* no route there: it can only be on the link */
    }
    watch->ifindex = ifindex;
    memcpy(watch->target, target, sizeof target);
}

static void set_mac(struct monitor *monitor, struct neigh_watch *watch, const uint8_t mac[6])
{
    watch->tries = 0;
    watch->due_ms = monitor->now_ms + CONFIRM_MS;
    if (watch->hop != NULL) {
        hop_set_mac(watch, mac);
        return;
    }
    if (watch->known && memcmp(watch->mac, mac, 6) == 0) {
        return;
    }
    if (face_set_remote_mac(monitor->faces, watch->face, mac) != 0) {
        watch->due_ms = monitor->now_ms + RETRY_MS;
        return;
    }
    watch->known = true;
    memcpy(watch->mac, mac, 6);
    const struct face *face = face_get(monitor->faces, watch->face);
    monitor_tell(monitor, MONITOR_FACE_UP, monitor_port(monitor, face->port), watch->face);
}

static void set_unknown(struct monitor *monitor, struct neigh_watch *watch)
{
    if (watch->hop != NULL) {
        watch->hop->known = false;
        watch->hop->failed = true;
        return;
    }
    const struct face *face = face_get(monitor->faces, watch->face);
    if (!watch->known || face == NULL) {
        return;
    }
    watch->known = false;
    watch->tries = 0;
    watch->due_ms = monitor->now_ms + RETRY_MS;
    face_set_down(monitor->faces, watch->face, FACE_DOWN_NEIGHBOUR, true);
    monitor_tell(monitor, MONITOR_FACE_DOWN, monitor_port(monitor, face->port), watch->face);
}

/* Sending anything has the kernel resolve where to. The discard service (RFC 863) is told nothing by an empty datagram.
 */
static void send_datagram(struct monitor *monitor, const struct neigh_watch *watch)
{
    int *fd = &monitor->udp_fd[watch->family == AF_INET6];
    if (*fd < 0) {
        *fd = socket(watch->family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    }
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to = {.any.sa_family = watch->family};
    socklen_t len;
    if (watch->family == AF_INET) {
        to.v4.sin_port = htons(PORT_DISCARD);
        memcpy(&to.v4.sin_addr, watch->target, 4);
        len = sizeof to.v4;
    } else {
        to.v6.sin6_port = htons(PORT_DISCARD);
        memcpy(&to.v6.sin6_addr, watch->target, 16);
        to.v6.sin6_scope_id = IN6_IS_ADDR_LINKLOCAL(&to.v6.sin6_addr) ? watch->ifindex : 0;
        len = sizeof to.v6;
    }
    sendto(*fd, "", 0, 0, &to.any, len); /* on failure the next try is due anyway */
}

static void trigger(struct monitor *monitor, const struct neigh_watch *watch)
{
    if (!monitor->may_not_use) {
        int rc = netlink_neigh_use(monitor->requests, watch->family, watch->ifindex, watch->target);
        monitor->may_not_use = rc == -EPERM;
    }
    if (monitor->may_not_use) {
        send_datagram(monitor, watch);
    }
}

static void resolve(struct monitor *monitor, struct neigh_watch *watch)
{
    const struct face *face = watch->hop == NULL ? face_get(monitor->faces, watch->face) : NULL;
    uint32_t wait = watch->tries < 5 ? RETRY_MS << watch->tries : RETRY_MAX_MS;
    watch->due_ms = monitor->now_ms + (wait < RETRY_MAX_MS ? wait : RETRY_MAX_MS);
    watch->tries += watch->tries < UINT16_MAX;
    if (face == NULL && watch->hop == NULL) {
        return;
    }
    set_target(monitor, watch, face);
    if (!watch->has_target) {
        set_unknown(monitor, watch);
        return;
    }
    if (watch->hop != NULL && watch->hop->config.mac_static) {
        set_mac(monitor, watch, watch->hop->config.mac);
        return;
    }
    struct netlink_neigh neigh;
    if (netlink_neigh_get(monitor->requests, watch->family, watch->ifindex, watch->target, &neigh) == 0 &&
        neigh.has_mac && (neigh.state & NUD_USABLE) != 0) {
        set_mac(monitor, watch, neigh.mac);
        if ((neigh.state & (NUD_PERMANENT | NUD_NOARP)) != 0) {
            return;
        }
    }
    trigger(monitor, watch);
}

static int add_watch(struct monitor *monitor, const struct neigh_watch *new_watch)
{
    if (monitor->n_watches == monitor->watches_room) {
        uint32_t room = monitor->watches_room != 0 ? 2 * monitor->watches_room : 16;
        struct neigh_watch *watch = realloc(monitor->watch, room * sizeof *watch);
        if (watch == NULL) {
            return -ENOMEM;
        }
        monitor->watch = watch;
        monitor->watches_room = room;
    }
    struct neigh_watch *watch = &monitor->watch[monitor->n_watches++];
    *watch = *new_watch;
    resolve(monitor, watch);
    return 0;
}

int neigh_watch_add(struct monitor *monitor, const struct face *face)
{
    return add_watch(monitor,
                     &(struct neigh_watch){.face = face->id, .family = face->kind == FACE_UDP4 ? AF_INET : AF_INET6});
}

int neigh_watch_hop(struct monitor *monitor, struct monitor_hop *hop)
{
    return add_watch(monitor, &(struct neigh_watch){.hop = hop, .family = hop->config.family});
}

void neigh_watch_remove(struct monitor *monitor, uint32_t face)
{
    for (uint32_t i = 0; i < monitor->n_watches; i++) {
        if (monitor->watch[i].hop == NULL && monitor->watch[i].face == face) {
            monitor->watch[i] = monitor->watch[--monitor->n_watches];
            return;
        }
    }
}

void neigh_on_event(struct monitor *monitor, const struct netlink_neigh *neigh, bool deleted)
{
    size_t len = address_len(neigh->family);
    for (uint32_t i = 0; i < monitor->n_watches; i++) {
        struct neigh_watch *watch = &monitor->watch[i];
        if (watch->hop != NULL && watch->hop->config.mac_static) {
            continue;
        }
        if (!watch->has_target || watch->ifindex != neigh->ifindex || watch->family != neigh->family ||
            memcmp(watch->target, neigh->ip, len) != 0) {
            continue;
        }
        if (deleted) {
            watch->due_ms = monitor->now_ms; /* forgotten for want of use, not unreachable: ask again */
        } else if (neigh->has_mac && (neigh->state & NUD_USABLE) != 0) {
            set_mac(monitor, watch, neigh->mac);
        } else if ((neigh->state & NUD_FAILED) != 0) {
            set_unknown(monitor, watch);
        }
    }
}

void neigh_poll(struct monitor *monitor)
{
    for (uint32_t i = 0; i < monitor->n_watches; i++) {
        if (monitor->resolve_all || monitor->watch[i].due_ms <= monitor->now_ms) {
            resolve(monitor, &monitor->watch[i]);
        }
    }
    monitor->resolve_all = false;
}

void neigh_close(struct monitor *monitor)
{
    for (int i = 0; i < 2; i++) {
        if (monitor->udp_fd[i] >= 0) {
            close(monitor->udp_fd[i]);
        }
    }
    for (uint32_t i = 0; i < monitor->n_watches; i++) {
        free(monitor->watch[i].hop);
    }
    free(monitor->watch);
}
