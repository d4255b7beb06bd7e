// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_PORT_H
#define PORTS_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_ethdev.h>

#include "parser/frame.h"
#include "parser/verdict.h"
#include "ports/face.h"
#include "ports/thread_port.h"

#define PORT_MAX        64
#define PORT_QUEUES_MAX 64
#define PORT_UDP_MAX    8

/** What a port is told to be. Strings are copied. */
struct port_config {
    const char *name;   /**< of the configuration */
    const char *device; /**< "0000:8a:00.0", "net_memif0,role=server,...", any DPDK device string; for AF_XDP: NULL */
    /**
     * Kernel interface for AF_XDP with our own eBPF program; else NULL. The program sees VLAN tags only in the frame:
     * with VLAN faces the interface must not take them out (ethtool -K IF rxvlan off; on a veth, txvlan off at its
     * peer).
     */
    const char *netdev;
    uint16_t mtu;                     /**< 0: the device's */
    uint16_t n_queues;                /**< 0: as many as workers, at most what the device has */
    uint16_t rx_desc, tx_desc;        /**< 0: 1024, bounded by the device */
    uint16_t udp_ports[PORT_UDP_MAX]; /**< destination ports that are NDN, host order; 0 ends the list; default 6363 */
    bool bare;                        /**< frames carry bare NDN packets, no Ethernet header (memif) */
    bool promiscuous;
    bool rx_csum; /**< verify checksums in software unless the device did; off for veth with unfinished ones */
    uint32_t udp_on_demand; /**< faces that unknown UDP peers may have here at once; 0: they are not heard */
    uint32_t udp_idle_ms;   /**< such a face goes when nothing came by it for this long, at most twice this */
    uint8_t ip4[4];         /**< own address, 0: none */
    uint8_t ip4_prefix_len;
    uint8_t ip6[16];
};

struct port_match; /**< receive match of a port: which face a frame belongs to; RCU-published */

/** A port. Written by the control thread at start and by netlink events, read by all. */
struct port {
    uint16_t index; /**< in the port table; what struct face calls port */
    uint16_t dpdk_id;
    uint16_t n_queues; /**< RX and TX queues, equal */
    uint16_t mtu;
    uint16_t mtu_max; /**< what mtu may become when the netdev's changes: configured, or what a packet buffer holds */
    bool bare;
    bool offline;               /**< there is no device: see port_open_offline() */
    struct thread_port *thread; /**< the other end is a thread of this process, not a device; NULL otherwise */
    bool tx_multi_seg;          /**< the device sends chained mbufs */
    bool rx_csum_device;        /**< the device marks the frames whose checksums it verified, see port_frame_opts() */
    uint8_t mac[6];
    struct frame_opts frame_opts; /**< of every frame; port_frame_opts() adds what the device found */
    uint32_t burst_max;           /**< most frames per rx or tx call (32 where the driver asks for it) */
    _Atomic bool link_up;
    _Atomic bool gone; /**< netdev deleted: neither receive nor send */
    struct port_match *_Atomic match;
    struct match_owner *match_owner; /**< of the control thread */
    unsigned netdev_index;           /**< kernel ifindex, 0: none */
    struct port_config config;       /**< strings owned by the port */
    struct xdp_port *xdp;            /**< AF_XDP program, NULL otherwise */
    bool probed;                     /**< the device was created by port_open() and is removed by port_close() */
    bool started;                    /**< frames flow */
    struct rte_mempool *pool;        /**< that frames are received into */
    int membership_fd; /**< packet socket that keeps the netdev in all-multicast mode while we live, -1: none */
};

struct rte_mempool;
struct rte_rcu_qsbr;

/**
 * Open, configure and start a device; for a netdev, load and attach the eBPF program first. Control thread.
 * On failure *err says why in words for a user (static or port-owned text of at most 200 characters).
 *
 * @return 0, or a negative errno
 */
int port_open(struct port *port, uint16_t index, const struct port_config *config, uint16_t n_workers,
              struct rte_mempool *pool, struct rte_rcu_qsbr *qsbr, char err[200]);
/**
 * Open a port whose other end is a thread of this process (ports/thread_port.h), a queue for each worker. Its faces
 * are of kind FACE_THREAD. Control thread. @return 0, or a negative errno
 */
int port_open_thread(struct port *port, uint16_t index, const char *name, uint16_t n_workers, char err[200]);
/**
 * Open a port without a device, whose frames the caller has from elsewhere and gives to workers itself: with the
 * configured MTU, else 1500, and this MAC address. It is up. Control thread. @return 0, or a negative errno
 */
int port_open_offline(struct port *port, uint16_t index, const struct port_config *config, const uint8_t mac[6],
                      struct rte_rcu_qsbr *qsbr, char err[200]);
/** Stop and close; detaches the eBPF program. Control thread, after workers left the port alone. */
void port_close(struct port *port);

static inline uint16_t port_rx_burst(const struct port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
    if (port->thread != NULL)
        return thread_port_rx(port->thread, queue, mbufs, n);
    return rte_eth_rx_burst(port->dpdk_id, queue, mbufs, n);
}

/** @return frames the device took; the caller frees or retries the rest */
static inline uint16_t port_tx_burst(const struct port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
    if (port->thread != NULL)
        return thread_port_tx(port->thread, queue, mbufs, n);
    return rte_eth_tx_burst(port->dpdk_id, queue, mbufs, n);
}

/** What frame_parse() may skip for this very frame: checks that the device has made and found good. */
static inline struct frame_opts port_frame_opts(const struct port *port, const struct rte_mbuf *m)
{
    struct frame_opts opts = port->frame_opts;
    if (port->rx_csum_device) {
        opts.skip_ip_csum |= (m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
        opts.skip_udp_csum |= (m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    }
    return opts;
}

/** A virtual address with QUIC at a UDP port. */
struct port_vip {
    uint8_t ip[16]; /**< 4 or 16 octets used */
    bool v6;
    uint16_t port_be;
};
#define PORT_VIPS_MAX 64

/**
 * From now on these virtual addresses are ours on this port, and no other: the eBPF program of an AF_XDP port redirects
 * UDP to them and ICMP errors about UDP from them; other frames to them are still the kernel's. Those that stay lose no
 * frame. Does nothing on ports without such a program, which get all frames. Control thread.
 *
 * @return 0, -E2BIG (more than PORT_VIPS_MAX), or the kernel's reason as a negative errno
 */
int port_quic_vips(struct port *port, const struct port_vip *vips, unsigned n);

/** Add or remove a face in the port's receive match. Control thread. @return 0, -EEXIST, -ENOMEM / -ENOENT */
int port_face_add(struct port *port, const struct face *face);
int port_face_remove(struct port *port, const struct face *face);

/** Why a well-formed frame has no face. */
enum port_miss {
    PORT_MATCHED = 0,
    PORT_MISS_L2,   /**< unicast to another MAC, or a source that no face has: l2_unmatched */
    PORT_MISS_VLAN, /**< l2_vlan */
    PORT_MISS_SRC,  /**< IP source is our own address: ip_src */
    PORT_MISS_DST,  /**< IP destination is not ours, or is a directed broadcast: ip_dst */
    PORT_MISS_UDP,  /**< no face for these addresses and ports: udp_unmatched */
};

/**
 * Find the face a parsed frame belongs to. Worker, under RCU. *sender is a hash that tells apart senders of a
 * multi-access face, 0 on point-to-point faces.
 */
enum port_miss port_classify(const struct port *port, const struct frame *frame, uint32_t *face, uint64_t *sender);

/** The face of a bare port (memif): every frame belongs to it. 0: none. */
uint32_t port_bare_face(const struct port *port);

/** Losses below us, to be shown beside our own counters. Any thread. */
struct port_losses {
    uint64_t rx_missed, rx_nombuf, rx_errors, tx_errors;                            /**< DPDK's */
    uint64_t xsk_rx_dropped, xsk_rx_ring_full, xsk_fill_ring_empty, xsk_rx_invalid; /**< XDP_STATISTICS */
    uint64_t xdp_redirected, xdp_passed, xdp_dropped; /**< our eBPF program's per-CPU counters */
};
void port_losses(const struct port *port, struct port_losses *losses);

#endif
