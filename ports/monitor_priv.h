// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_MONITOR_PRIV_H
#define PORTS_MONITOR_PRIV_H

#include "ports/monitor.h"
#include "ports/netlink.h"

#define MONITOR_VLANS_MAX 4096

/* A face, or a host without one, whose next hop is kept resolved. */
struct neigh_watch {
    uint32_t face;
    struct monitor_hop *hop; /* NULL: it is a face */
    uint8_t family;
    bool has_target; /* target and ifindex are valid */
    bool known;      /* the face has the target's MAC address */
    uint16_t tries;  /* unanswered since it was last known */
    unsigned ifindex;
    uint8_t target[16]; /* next hop: given, a gateway, or the remote itself */
    uint8_t mac[6];
    uint64_t due_ms; /* when to look again */
};

struct monitor {
    struct face_table *faces;
    struct monitor_listener listener;
    struct mnl_socket *events, *requests;
    uint64_t now_ms;
    uint64_t link_poll_ms; /* next look at the links of ports that have no netdev */
    struct port *port[PORT_MAX];
    char netdev[PORT_MAX][IF_NAMESIZE];
    bool seen[PORT_MAX];      /* during a dump */
    uint8_t mac[PORT_MAX][6]; /* that the port had when it was added */
    bool has_mac[PORT_MAX];
    struct netlink_link *vlan; /* VLAN interfaces of the machine */
    uint32_t n_vlans;
    struct neigh_watch *watch;
    uint32_t n_watches, watches_room;
    int udp_fd[2];    /* IPv4, IPv6: to have a neighbour resolved without privileges; -1: not open */
    bool resolve_all; /* routes or interfaces changed */
    bool may_not_use; /* the kernel refuses NTF_USE to us */
};

struct port *monitor_port(const struct monitor *monitor, uint16_t index);
void monitor_tell(const struct monitor *monitor, enum monitor_event event, struct port *port, uint32_t face);

/* way.c: the interface is a port, or a VLAN interface upon one. @return 0, -ENODEV */
int way_port(struct monitor *monitor, unsigned ifindex, struct port **port, uint16_t *vlan);

/* neigh.c */
/* Interface that neighbours are known on: the port's, or the VLAN interface upon it. 0: none */
unsigned neigh_ifindex(const struct monitor *monitor, const struct port *port, uint16_t vlan);
int neigh_watch_add(struct monitor *monitor, const struct face *face);
int neigh_watch_hop(struct monitor *monitor, struct monitor_hop *hop);
void neigh_watch_remove(struct monitor *monitor, uint32_t face);
void neigh_on_event(struct monitor *monitor, const struct netlink_neigh *neigh, bool deleted);
void neigh_poll(struct monitor *monitor);
void neigh_close(struct monitor *monitor);

/* hop.c: of a watch without a face. */
void hop_set_target(struct monitor *monitor, struct neigh_watch *watch);
void hop_set_mac(struct neigh_watch *watch, const uint8_t mac[6]);

#endif
