// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_MONITOR_H
#define PORTS_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "ports/face.h"
#include "ports/port.h"

/*
 * Keeps ports and faces in step with the machine: carrier, MTU and removal of netdevs, and the MAC addresses of UDP
 * faces' next hops, all learned from the kernel by netlink. Works without privileges. Control thread.
 */

enum monitor_event {
    MONITOR_LINK_UP = 1, /**< port has link: its faces lost FACE_DOWN_LINK */
    MONITOR_LINK_DOWN,
    MONITOR_GONE,      /**< the netdev was deleted: port->gone, faces are down. Close the port, or wait */
    MONITOR_RETURNED,  /**< a netdev of that name is there again and up: close the port and open it anew */
    MONITOR_MTU,       /**< port->mtu changed, its faces' with it */
    MONITOR_FACE_UP,   /**< a face's next hop was resolved or changed its MAC address */
    MONITOR_FACE_DOWN, /**< a face's next hop does not answer */
};

/** Told of a change after it was made. @param face 0 when the event is about the port */
struct monitor_listener {
    void (*on_event)(void *arg, enum monitor_event event, struct port *port, uint32_t face);
    void *arg;
};

struct monitor;

/**
 * @param faces the table whose faces are changed
 * @param listener may be NULL; copied
 * @return 0, -ENOMEM, or what socket() says
 */
int monitor_create(struct monitor **monitor, struct face_table *faces, const struct monitor_listener *listener);
void monitor_destroy(struct monitor *monitor);

/**
 * Watch a port; its present state is taken over. A port that comes back under its index after it was closed gives its
 * faces in the table its new MTU and MAC address; the caller adds them to the new receive match.
 *
 * @return 0, -ENOSPC
 */
int monitor_port_add(struct monitor *monitor, struct port *port);
/** Forget a port, before port_close(). */
void monitor_port_remove(struct monitor *monitor, struct port *port);

/**
 * Watch a new face: it is down while its port is, and the next hop of a UDP unicast face without a static MAC address
 * is resolved by the kernel, which needs a port with a netdev (on a VLAN: a VLAN interface upon it).
 *
 * @return 0, -ENOENT no such face, -ENOMEM, -ENOTSUP the next hop cannot be resolved on this kind of port: give its MAC
 */
int monitor_face_add(struct monitor *monitor, uint32_t face);
void monitor_face_remove(struct monitor *monitor, uint32_t face);

/** The port that the way to a remote leads out of. */
struct monitor_way {
    struct port *port;
    uint16_t vlan;      /**< of the VLAN interface that the kernel would use, 0: none */
    bool has_source;    /**< the kernel knows an address of its own to send from */
    uint8_t source[16]; /**< 4 or 16 octets used */
};
/**
 * Ask the kernel for the way to a host, through the interface @p ifindex when that is not 0.
 *
 * @return 0; -ENODEV it leads out of no port that is watched (or to this host), -ENETUNREACH there is none
 */
int monitor_way(struct monitor *monitor, uint8_t family, const uint8_t *ip, unsigned ifindex, struct monitor_way *way);
/** The port of a netdev, or of the VLAN interface upon one, by name. @return 0, -ENODEV */
int monitor_netdev(struct monitor *monitor, const char *name, struct port **port, uint16_t *vlan);

/** A host that frames are sent to without a face. */
struct monitor_hop_config {
    uint8_t family;    /**< AF_INET, AF_INET6 */
    uint8_t ip[16];    /**< 4 or 16 octets used */
    struct port *port; /**< that it is reached by; NULL: as the kernel's routes say */
    uint16_t vlan;     /**< on that port; 0: untagged */
    bool mac_static;   /**< mac is given, not to be resolved */
    uint8_t mac[6];
};

/** What is known of the way to a host; kept up to date by monitor_poll(). */
struct monitor_hop {
    struct monitor_hop_config config;
    struct port *port; /**< NULL: there is no way by a port */
    uint16_t vlan;     /**< of the VLAN interface upon it that the kernel would use; 0: none */
    bool known;        /**< mac is the next hop's address */
    bool failed;       /**< there is no way, or the next hop does not answer */
    uint8_t mac[6];    /**< the last one known */
};

/**
 * Watch the way to a host: its port, and the MAC address of the next hop, which the kernel resolves (on a VLAN: by a
 * VLAN interface upon the port). The answer is the monitor's and valid until monitor_hop_remove() or monitor_destroy().
 *
 * @return 0 and *hop, -ENOMEM, -ENOTSUP: that port has no neighbours of the kernel: give its MAC
 */
int monitor_hop_add(struct monitor *monitor, const struct monitor_hop_config *config, const struct monitor_hop **hop);
void monitor_hop_remove(struct monitor *monitor, const struct monitor_hop *hop);

/** Readable when there is something for monitor_poll(). */
int monitor_fd(const struct monitor *monitor);
/** Take in events and do what is due. Call when monitor_fd() is readable, and at least every 200 ms. */
void monitor_poll(struct monitor *monitor, uint64_t now_ms);

#endif
