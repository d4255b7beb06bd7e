// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_XDP_XDP_ABI_H
#define PORTS_XDP_XDP_ABI_H

#include <linux/types.h>

/* What the eBPF program and its loader share. */

#define XDP_QUEUES_MAX    64
#define XDP_UDP_PORTS_MAX 8

/** The one value of map pitlane_conf. All zero: nothing is configured, NDN without a socket goes to the kernel. */
struct xdp_conf {
    __u32 active;                          /**< sockets are bound: a queue without one loses its frames */
    __u32 has_vips;                        /**< map pitlane_vips is not empty */
    __be16 udp_port_be[XDP_UDP_PORTS_MAX]; /**< destination ports to redirect, 0: unused */
};

/** Key of map pitlane_vips: a virtual address, IPv4 with zeros behind it, and where it has QUIC. */
struct xdp_vip {
    __u32 ip[4];    /**< network byte order */
    __u16 version;  /**< 4 or 6 */
    __be16 port_be; /**< UDP */
};
#define XDP_VIPS_MAX 256

/** Indices of map pitlane_stats. */
enum xdp_counter { XDP_COUNT_REDIRECTED, XDP_COUNT_PASSED, XDP_COUNT_DROPPED, XDP_COUNTERS };

#endif
