// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_NETLINK_H
#define PORTS_NETLINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

/* The few rtnetlink messages (RFC 3549) that ports need. Control thread. */

/** A kernel interface. */
struct netlink_link {
    unsigned index;
    unsigned flags; /**< IFF_..., IFF_LOWER_UP included */
    uint32_t mtu;
    unsigned lower; /**< VLAN interfaces: index of the one below */
    uint16_t vlan;  /**< and their VID, 0: not a VLAN interface */
    char name[IF_NAMESIZE];
};

/** An entry of the kernel's neighbour table. */
struct netlink_neigh {
    unsigned ifindex;
    uint8_t family; /**< AF_INET, AF_INET6 */
    uint8_t ip[16]; /**< 4 or 16 octets used */
    uint16_t state; /**< NUD_... */
    bool has_mac;
    uint8_t mac[6];
};

/** @return true and *link filled, false when the message is about something else */
bool netlink_parse_link(const struct nlmsghdr *nlh, struct netlink_link *link);
bool netlink_parse_neigh(const struct nlmsghdr *nlh, struct netlink_neigh *neigh);

/** A route socket. @param events subscribe to links, neighbours and routes, and do not block. @return 0, negative errno
 */
int netlink_open(struct mnl_socket **nl, bool events);

/** Call @p each for every interface. @return 0, negative errno */
int netlink_links(struct mnl_socket *nl, void (*each)(void *arg, const struct netlink_link *link), void *arg);
/** @return 0, -ENODEV, negative errno */
int netlink_link(struct mnl_socket *nl, unsigned ifindex, struct netlink_link *link);
/** Where the kernel would send to an address. */
struct netlink_route {
    unsigned ifindex;
    bool unicast;     /**< to another host: not local, broadcast, multicast or forbidden */
    bool has_gateway; /**< else the address is on the link */
    uint8_t gateway[16];
    bool has_source;
    uint8_t source[16]; /**< own address it would be sent from */
};
/**
 * The kernel's route to @p ip, through the interface @p ifindex when that is not 0.
 *
 * @return 0, -ENETUNREACH and others when there is none
 */
int netlink_route(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip,
                  struct netlink_route *route);
/**
 * Next hop of the kernel's route to @p ip on an interface: the gateway, or @p ip itself when it is on the link.
 *
 * @return 0, -ENETUNREACH when there is no route there, negative errno
 */
int netlink_next_hop(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip, uint8_t next_hop[16]);
/** @return 0, -ENOENT, negative errno */
int netlink_neigh_get(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip,
                      struct netlink_neigh *neigh);
/** Have the kernel resolve a neighbour, or confirm one that it knows, now. @return 0, -EPERM, negative errno */
int netlink_neigh_use(struct mnl_socket *nl, uint8_t family, unsigned ifindex, const uint8_t *ip);

#endif
