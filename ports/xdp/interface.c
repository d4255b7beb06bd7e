// SPDX-License-Identifier: Apache-2.0
#include "ports/xdp/interface.h"

#include "ports/ethdev.h"

#include <rte_common.h>

#include <errno.h>
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static int interface_ioctl(const char *netdev, unsigned long request, struct ifreq *ifr)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    snprintf(ifr->ifr_name, sizeof ifr->ifr_name, "%s", netdev);
    int rc = ioctl(fd, request, ifr) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

unsigned interface_flags(const char *netdev)
{
    struct ifreq ifr = {0};
    return interface_ioctl(netdev, SIOCGIFFLAGS, &ifr) == 0 ? (unsigned short)ifr.ifr_flags : 0;
}

uint16_t interface_mtu(const char *netdev)
{
    struct ifreq ifr = {0};
    return interface_ioctl(netdev, SIOCGIFMTU, &ifr) == 0 ? (uint16_t)RTE_MIN(ifr.ifr_mtu, UINT16_MAX) : 1500;
}

struct interface_queues interface_queues(const char *netdev)
{
    struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};
    struct ifreq ifr = {.ifr_data = (void *)&channels};
    struct interface_queues queues = {.usable = 1, .receive = 1};
    if (interface_ioctl(netdev, SIOCETHTOOL, &ifr) != 0) {
        return queues;
    }
    if (channels.max_combined != 0) {
        queues.usable = (uint16_t)RTE_MAX(RTE_MIN(channels.combined_count, (uint32_t)PORT_QUEUES_MAX), 1u);
    }
    queues.receive = channels.combined_count + channels.rx_count;
    queues.combined = channels.max_combined != 0;
    return queues;
}

int interface_capabilities(const char *netdev, char *err)
{
    static const struct {
        int capability;
        const char *name;
    } needed[] = {
        {CAP_NET_ADMIN, " CAP_NET_ADMIN"},
        {CAP_NET_RAW, " CAP_NET_RAW"},
        {CAP_SYS_ADMIN, " CAP_SYS_ADMIN"},
    };
    char missing[100] = "";
    for (size_t i = 0; i < RTE_DIM(needed); i++) {
        if (!port_has_capability(needed[i].capability)) {
            strcat(missing, needed[i].name);
        }
    }
    struct rlimit lock;
    if (!port_has_capability(CAP_IPC_LOCK) && getrlimit(RLIMIT_MEMLOCK, &lock) == 0 && lock.rlim_cur != RLIM_INFINITY) {
        strcat(missing, " CAP_IPC_LOCK");
    }
    if (missing[0] != '\0') {
        return port_fail(err, -EPERM, "AF_XDP on %s needs%s at start: run as root or grant them", netdev, missing);
    }
    return 0;
}

int interface_membership(unsigned ifindex, bool promiscuous)
{
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); /* protocol 0: receives nothing itself */
    if (fd < 0) {
        return -errno;
    }
    struct packet_mreq mreq = {.mr_ifindex = (int)ifindex, .mr_type = PACKET_MR_ALLMULTI};
    int rc = setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq, sizeof mreq);
    if (rc == 0 && promiscuous) {
        mreq.mr_type = PACKET_MR_PROMISC;
        rc = setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq, sizeof mreq);
    }
    if (rc != 0) {
        rc = -errno;
        close(fd);
        return rc;
    }
    return fd;
}
