// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_XDP_INTERFACE_H
#define PORTS_XDP_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

/* What AF_XDP ports ask of the kernel about their interface. Control thread. */

/** IFF_... flags, 0 when there is no such interface. */
unsigned interface_flags(const char *netdev);
/** 1500 when it cannot be learned. */
uint16_t interface_mtu(const char *netdev);
/** Queues of an interface. */
struct interface_queues {
    uint16_t usable;  /**< by net_af_xdp: combined channels, 1 where the interface knows none */
    uint32_t receive; /**< that frames may arrive on */
    bool combined;    /**< how ethtool -L speaks of them: combined, else rx */
};
struct interface_queues interface_queues(const char *netdev);
/** Have we what opening an AF_XDP port takes? @return 0, or -EPERM with the missing ones named in @p err */
int interface_capabilities(const char *netdev, char *err);

/**
 * Let the interface receive all multicast frames (and all frames) as long as the returned descriptor is open: unlike a
 * flag on the interface this ends with the process.
 *
 * @return descriptor, or a negative errno
 */
int interface_membership(unsigned ifindex, bool promiscuous);

#endif
