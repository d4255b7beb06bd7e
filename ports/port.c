// SPDX-License-Identifier: Apache-2.0
#include "ports/port.h"

#include "ports/ethdev.h"
#include "ports/match.h"
#include "ports/xdp/interface.h"
#include "ports/xdp/xdp.h"

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_log.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UDP_PORT_NDN 6363
/* Octets of an AF_XDP packet buffer that are not payload: mbuf headroom, the kernel's headroom, Ethernet and two tags.
 */
#define XDP_BELOW_MTU (RTE_PKTMBUF_HEADROOM + 256 + RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

static void free_strings(struct port *port)
{
    free((void *)(uintptr_t)port->config.name);
    free((void *)(uintptr_t)port->config.device);
    free((void *)(uintptr_t)port->config.netdev);
    port->config.name = port->config.device = port->config.netdev = NULL;
}

static int copy_string(const char **to, const char *from)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from != NULL && *to == NULL ? -ENOMEM : 0;
}

static int copy_config(struct port *port, const struct port_config *config)
{
    port->config = *config;
    port->config.name = port->config.device = port->config.netdev = NULL;
    if (copy_string(&port->config.name, config->name) != 0 || copy_string(&port->config.device, config->device) != 0 ||
        copy_string(&port->config.netdev, config->netdev) != 0) {
        free_strings(port);
        return -ENOMEM;
    }
    if (config->udp_ports[0] == 0) {
        port->config.udp_ports[0] = UDP_PORT_NDN;
    }
    return 0;
}

/* What of the netdev goes into the device: its MTU as the kernel has it, or less. */
static int use_netdev(struct port *port, struct rte_mempool *pool, char *err)
{
    uint32_t room = rte_pktmbuf_data_room_size(pool);
    uint32_t fits = RTE_MAX(room, (uint32_t)XDP_BELOW_MTU) - XDP_BELOW_MTU;
    uint16_t kernel_mtu = xdp_mtu(port->xdp), mtu = port->config.mtu;
    const char *netdev = port->config.netdev;
    if (!xdp_pool_usable(pool)) {
        return port_fail(
            err, -EINVAL,
            "packet buffers have gaps between them, which AF_XDP on %s cannot use: EAL needs --iova-mode=va", netdev);
    }
    if (mtu > kernel_mtu) {
        return port_fail(err, -EINVAL, "MTU %u is above the %u of %s: ip link set dev %s mtu %u", mtu, kernel_mtu,
                         netdev, netdev, mtu);
    }
    if (mtu > fits) {
        return port_fail(err, -EINVAL, "MTU %u of %s is above the %u octets that a packet buffer holds", mtu, netdev,
                         fits);
    }
    if (mtu == 0 && kernel_mtu > fits) {
        RTE_LOG(WARNING, USER1, "%s: packet buffers hold %u octets, its MTU is %u: longer frames are lost\n", netdev,
                fits, kernel_mtu);
    }
    port->mtu_max = mtu != 0 ? mtu : (uint16_t)RTE_MIN(fits, (uint32_t)UINT16_MAX);
    port->config.mtu = mtu != 0 ? mtu : (uint16_t)RTE_MIN(kernel_mtu, fits);
    port->netdev_index = xdp_ifindex(port->xdp);
    return 0;
}

static int open_netdev(struct port *port, uint16_t n_queues, struct rte_mempool *pool, char *err)
{
    char device[128];
    int rc = xdp_open(&port->xdp, port->config.netdev, &n_queues, err);
    if (rc != 0) {
        return rc;
    }
    rc = use_netdev(port, pool, err);
    if (rc == 0) {
        xdp_device(port->xdp, port->index, n_queues, device, sizeof device);
        rc = ethdev_open(port, device, n_queues, pool, err);
    }
    return rc;
}

static int set_up_queues(struct port *port, struct rte_mempool *pool, char *err)
{
    for (uint16_t queue = 0; queue < port->n_queues; queue++) {
        if (port->xdp != NULL) {
            xdp_queue_before(port->xdp);
        }
        int rc = ethdev_queue(port, queue, pool, err);
        if (rc != 0) {
            return port->xdp != NULL ? xdp_explain(port->xdp, queue, rc, err) : rc;
        }
        if (port->xdp != NULL) {
            xdp_queue_after(port->xdp, queue, port->config.rx_desc);
        }
    }
    return port->xdp != NULL ? xdp_attach(port->xdp, &port->config, err) : 0;
}

static int start(struct port *port, char *err)
{
    int rc = ethdev_start(port, err);
    if (rc != 0 || port->xdp == NULL) {
        return rc;
    }
    port->membership_fd = interface_membership(port->netdev_index, port->config.promiscuous);
    if (port->membership_fd < 0) {
        return port_fail(err, port->membership_fd, "%s cannot receive all multicast frames: %s", port->config.netdev,
                         strerror(-port->membership_fd));
    }
    atomic_store_explicit(&port->link_up, xdp_link_up(port->xdp), memory_order_relaxed);
    return 0;
}

/* net_af_xdp detaches a program that it thinks it has, and complains when there is none or the right is gone. */
static void close_quietly(struct port *port)
{
    int type = rte_log_register("pmd.net.af_xdp");
    int level = type >= 0 ? rte_log_get_level((uint32_t)type) : -1;
    if (level >= 0) {
        rte_log_set_level((uint32_t)type, RTE_LOG_CRIT);
    }
    ethdev_close(port);
    if (level >= 0) {
        rte_log_set_level((uint32_t)type, (uint32_t)level);
    }
}

static void close_device(struct port *port)
{
    if (port->membership_fd >= 0) {
        close(port->membership_fd);
        port->membership_fd = -1;
    }
    if (port->xdp == NULL) {
        ethdev_close(port);
        return;
    }
    ethdev_stop(port);
    xdp_detach(port->xdp, port->pool); /* the program ends with its link, which needs no right */
    close_quietly(port);
    xdp_close(port->xdp);
    port->xdp = NULL;
}

int port_open(struct port *port, uint16_t index, const struct port_config *config, uint16_t n_workers,
              struct rte_mempool *pool, struct rte_rcu_qsbr *qsbr, char err[200])
{
    memset(port, 0, sizeof *port);
    port->index = index;
    port->membership_fd = -1;
    port->pool = pool;
    port->bare = config->bare;
    port->frame_opts.skip_udp_csum = !config->rx_csum;
    if ((config->device == NULL) == (config->netdev == NULL)) {
        return port_fail(err, -EINVAL, "a port needs either a device or a netdev");
    }
    if (copy_config(port, config) != 0) {
        return port_fail(err, -ENOMEM, "out of memory");
    }
    uint16_t n_queues = config->n_queues != 0 ? config->n_queues : n_workers;
    int rc = config->netdev != NULL ? open_netdev(port, n_queues, pool, err)
                                    : ethdev_open(port, config->device, n_queues, pool, err);
    if (rc != 0) {
        goto free_config;
    }
    rc = set_up_queues(port, pool, err);
    if (rc != 0) {
        goto close_device;
    }
    rc = port_match_init(port, qsbr);
    if (rc != 0) {
        port_fail(err, rc, "receive match: %s", strerror(-rc));
        goto close_device;
    }
    rc = start(port, err);
    if (rc != 0) {
        goto free_match;
    }
    return 0;
free_match:
    port_match_destroy(port);
close_device:
    close_device(port);
free_config:
    xdp_close(port->xdp);
    port->xdp = NULL;
    free_strings(port);
    return rc;
}

int port_open_thread(struct port *port, uint16_t index, const char *name, uint16_t n_workers, char err[200])
{
    memset(port, 0, sizeof *port);
    const struct port_config config = {.name = name, .bare = true};
    port->index = index;
    port->membership_fd = -1;
    port->bare = true;
    port->n_queues = n_workers;
    port->mtu = port->mtu_max = UINT16_MAX;
    port->tx_multi_seg = true;
    port->burst_max = THREAD_PORT_RING;
    atomic_init(&port->link_up, true);
    if (copy_config(port, &config) != 0) {
        return port_fail(err, -ENOMEM, "out of memory");
    }
    int rc = thread_port_create(&port->thread, name, n_workers);
    if (rc != 0) {
        free_strings(port);
        return port_fail(err, rc, "rings: %s", strerror(-rc));
    }
    return 0;
}

int port_open_offline(struct port *port, uint16_t index, const struct port_config *config, const uint8_t mac[6],
                      struct rte_rcu_qsbr *qsbr, char err[200])
{
    memset(port, 0, sizeof *port);
    port->index = index;
    port->membership_fd = -1;
    port->offline = true;
    port->bare = config->bare;
    port->n_queues = 1;
    port->mtu = port->mtu_max = config->mtu != 0 ? config->mtu : RTE_ETHER_MTU;
    port->tx_multi_seg = true;
    port->frame_opts.skip_udp_csum = !config->rx_csum;
    port->burst_max = UINT16_MAX;
    memcpy(port->mac, mac, sizeof port->mac);
    atomic_init(&port->link_up, true);
    if (copy_config(port, config) != 0) {
        return port_fail(err, -ENOMEM, "out of memory");
    }
    int rc = port_match_init(port, qsbr);
    if (rc != 0) {
        free_strings(port);
        return port_fail(err, rc, "receive match: %s", strerror(-rc));
    }
    return 0;
}

int port_quic_vips(struct port *port, const struct port_vip *vips, unsigned n)
{
    if (n > PORT_VIPS_MAX) {
        return -E2BIG;
    }
    return port->xdp != NULL ? xdp_quic_vips(port->xdp, vips, n) : 0;
}

void port_close(struct port *port)
{
    if (port->thread != NULL) {
        thread_port_destroy(port->thread);
        port->thread = NULL;
        free_strings(port);
        return;
    }
    if (!port->offline) {
        close_device(port);
    }
    port_match_destroy(port);
    free_strings(port);
}

void port_losses(const struct port *port, struct port_losses *losses)
{
    memset(losses, 0, sizeof *losses);
    if (port->thread != NULL || port->offline) {
        return;
    }
    struct rte_eth_stats stats;
    if (rte_eth_stats_get(port->dpdk_id, &stats) == 0) {
        losses->rx_missed = stats.imissed;
        losses->rx_nombuf = stats.rx_nombuf;
        losses->rx_errors = stats.ierrors;
        losses->tx_errors = stats.oerrors;
    }
    if (port->xdp != NULL) {
        xdp_losses(port->xdp, losses);
    }
}
