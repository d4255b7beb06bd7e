// SPDX-License-Identifier: Apache-2.0
#include "ports/ethdev.h"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_pci.h>

#include <errno.h>
#include <linux/capability.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ports/vhost.h"

#define DESC_DEFAULT 1024
#define BURST_MAX    64
#define BURST_SMALL  32 /* net_af_xdp and net_memif lose frames or misbehave above it */
#define L2_OVERHEAD  (RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN)

int port_fail(char *err, int rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, PORT_ERR_LEN, format, args);
    va_end(args);
    return rc;
}

bool port_has_capability(int capability)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capget, &header, data) == 0 &&
           (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

/* Owner mark that keeps two ports from opening one device. */
static const struct rte_eth_dev_owner *owner_mark(void)
{
    static struct rte_eth_dev_owner owner = {.name = "pitlane"};
    if (owner.id == RTE_ETH_DEV_NO_OWNER) {
        rte_eth_dev_owner_new(&owner.id);
    }
    return &owner;
}

static bool has_driver(const struct rte_eth_dev_info *info, const char *driver)
{
    return info->driver_name != NULL && strcmp(info->driver_name, driver) == 0;
}

static int explain_pci(const char *address, int rc, char *err)
{
    char path[128], link[256];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s", address);
    if (access(path, F_OK) != 0) {
        return port_fail(err, -ENODEV, "no PCI device at %.32s (see lspci -D)", address);
    }
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/driver", address);
    ssize_t len = readlink(path, link, sizeof link - 1);
    link[len > 0 ? len : 0] = '\0';
    const char *slash = strrchr(link, '/');
    const char *driver = slash != NULL ? slash + 1 : "no driver";
    if (strcmp(driver, "vfio-pci") != 0 && strcmp(driver, "uio_pci_generic") != 0 && strcmp(driver, "igb_uio") != 0) {
        return port_fail(err, -EBUSY,
                         "PCI device %.32s is bound to %.40s; bind it with: dpdk-devbind.py -b vfio-pci %.32s", address,
                         driver, address);
    }
    return port_fail(err, rc,
                     "no DPDK driver took PCI device %.32s: %s; is its driver installed, and EAL without --no-pci?",
                     address, rte_strerror(-rc));
}

static bool is_vdev(const char *name)
{
    return strncmp(name, "net_", 4) == 0 || strncmp(name, "eth_", 4) == 0 || strncmp(name, "virtio_user", 11) == 0;
}

static int explain_vdev(const char *device, const char *name, int rc, char *err)
{
    char netdev[IF_NAMESIZE] = "";
    const char *iface = strstr(device, ",iface=");
    if (iface != NULL && sscanf(iface, ",iface=%15[^,/]", netdev) == 1 && strncmp(name, "net_tap", 7) != 0 &&
        if_nametoindex(netdev) == 0) {
        return port_fail(err, -ENODEV, "no network interface \"%s\" for device %.60s", netdev, name);
    }
    if (!port_has_capability(CAP_NET_ADMIN) || !port_has_capability(CAP_NET_RAW)) {
        return port_fail(err, -EPERM,
                         "no device %.60s without CAP_NET_ADMIN and CAP_NET_RAW: run as root or grant them", name);
    }
    if (rc == -1) { /* what many drivers return for anything */
        return port_fail(err, -EINVAL, "no DPDK driver made device %.60s; check its driver's name and arguments", name);
    }
    return port_fail(err, rc, "no DPDK driver made device %.60s: %s; check its driver's name and arguments", name,
                     rte_strerror(-rc));
}

/* Find the device, or create it. */
static int probe(struct port *port, const char *device, char *err)
{
    char name[RTE_ETH_NAME_MAX_LEN];
    size_t name_len = strcspn(device, ",");
    if (name_len == 0 || name_len >= sizeof name) {
        return port_fail(err, -EINVAL, "device string \"%.60s\" does not start with a device name", device);
    }
    memcpy(name, device, name_len);
    name[name_len] = '\0';
    struct rte_pci_addr pci;
    bool is_pci = rte_pci_addr_parse(name, &pci) == 0;
    if (is_pci) {
        rte_pci_device_name(&pci, name, sizeof name); /* "8a:00.0" is "0000:8a:00.0" */
    } else if (!is_vdev(name)) {
        return port_fail(err, -EINVAL,
                         "\"%.60s\" is neither a PCI address (0000:8a:00.0) nor a DPDK virtual device (net_tap0)",
                         name);
    }
    if (rte_eth_dev_get_port_by_name(name, &port->dpdk_id) != 0) {
        int refused = vhost_prepare(device, err);
        if (refused != 0) {
            return refused;
        }
        errno = 0; /* net_af_xdp 22.11 mistakes an old errno for its own */
        int rc = rte_dev_probe(device);
        if (rc == 0) {
            port->probed = true;
            rc = rte_eth_dev_get_port_by_name(name, &port->dpdk_id);
        }
        if (rc != 0) {
            rc = rc < 0 ? rc : -ENODEV;
            return is_pci ? explain_pci(name, rc, err) : explain_vdev(device, name, rc, err);
        }
    }
    if (rte_eth_dev_owner_set(port->dpdk_id, owner_mark()) != 0) {
        port->probed = false;
        return port_fail(err, -EBUSY, "device %.60s is in use by another port", name);
    }
    return 0;
}

/* Largest frame payload that fits an mbuf of the pool. */
static uint32_t pool_mtu(struct rte_mempool *pool)
{
    uint32_t room = rte_pktmbuf_data_room_size(pool);
    return room > RTE_PKTMBUF_HEADROOM + L2_OVERHEAD ? room - RTE_PKTMBUF_HEADROOM - L2_OVERHEAD : 0;
}

static void rss_on(struct rte_eth_conf *conf, const struct rte_eth_dev_info *info)
{
    uint64_t hf = info->flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
    if (hf != 0) {
        conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        conf->rx_adv_conf.rss_conf.rss_hf = hf;
    }
}

static int configure(struct port *port, const char *device, uint16_t n_queues, struct rte_mempool *pool, char *err)
{
    struct rte_eth_dev_info info;
    int rc = rte_eth_dev_info_get(port->dpdk_id, &info);
    if (rc != 0) {
        return port_fail(err, rc, "device %.60s does not answer: %s", device, rte_strerror(-rc));
    }
    bool memif = has_driver(&info, "net_memif");
    n_queues = RTE_MIN(n_queues, RTE_MIN(info.max_rx_queues, info.max_tx_queues));
    port->n_queues = RTE_MAX(RTE_MIN(n_queues, (uint16_t)PORT_QUEUES_MAX), (uint16_t)1);
    port->burst_max = memif || has_driver(&info, "net_af_xdp") ? BURST_SMALL : BURST_MAX;

    struct rte_eth_conf conf = {0};
    uint64_t csum = RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
    /* Asked for it, these take frames whose sender left the checksum to hardware that is not there. */
    if (has_driver(&info, "net_vhost") || has_driver(&info, "net_virtio_user") || has_driver(&info, "net_virtio")) {
        csum = 0;
    }
    conf.rxmode.offloads = info.rx_offload_capa & csum;
    port->rx_csum_device = conf.rxmode.offloads != 0;
    /* Chained transmit of net_memif has had bugs: it gets one segment. Mbufs are shared, so no MBUF_FAST_FREE. */
    if (!memif && (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0) {
        conf.txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
        port->tx_multi_seg = true;
    }
    if (port->n_queues > 1) {
        rss_on(&conf, &info);
    }
    uint16_t mtu = port->config.mtu;
    if (!memif && mtu > pool_mtu(pool)) {
        if ((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) == 0) {
            return port_fail(err, -EINVAL, "MTU %u of device %.60s is above the %u octets that a packet buffer holds",
                             mtu, device, pool_mtu(pool));
        }
        conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
    }
    if (!memif && mtu != 0) {
        if (mtu < info.min_mtu || (info.max_mtu != 0 && mtu > info.max_mtu)) {
            return port_fail(err, -EINVAL, "MTU %u of device %.60s is outside of %u..%u", mtu, device, info.min_mtu,
                             info.max_mtu);
        }
        conf.rxmode.mtu = mtu;
    }
    rc = rte_eth_dev_configure(port->dpdk_id, port->n_queues, port->n_queues, &conf);
    if (rc != 0) {
        return port_fail(err, rc, "device %.60s refuses its configuration: %s", device, rte_strerror(-rc));
    }
    port->mtu = mtu;
    if (mtu == 0 && (rte_eth_dev_get_mtu(port->dpdk_id, &port->mtu) != 0 || port->mtu == 0)) {
        port->mtu = RTE_ETHER_MTU;
    }
    if (port->mtu_max == 0) {
        port->mtu_max = port->mtu;
    }
    if (has_driver(&info, "net_af_packet")) {
        port->netdev_index = info.if_index;
    }
    struct rte_ether_addr mac;
    if (rte_eth_macaddr_get(port->dpdk_id, &mac) == 0) {
        memcpy(port->mac, mac.addr_bytes, 6);
    }
    return 0;
}

int ethdev_open(struct port *port, const char *device, uint16_t n_queues, struct rte_mempool *pool, char *err)
{
    int rc = probe(port, device, err);
    if (rc != 0) {
        return rc;
    }
    rc = configure(port, device, n_queues, pool, err);
    if (rc != 0) {
        ethdev_close(port);
    }
    return rc;
}

int ethdev_queue(struct port *port, uint16_t queue, struct rte_mempool *pool, char *err)
{
    struct port_config *config = &port->config;
    uint16_t rx = config->rx_desc != 0 ? config->rx_desc : DESC_DEFAULT;
    uint16_t tx = config->tx_desc != 0 ? config->tx_desc : DESC_DEFAULT;
    int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port->dpdk_id, &rx, &tx);
    if (rc != 0 && rc != -ENOTSUP) {
        return port_fail(err, rc, "%u receive and %u transmit descriptors: %s", rx, tx, rte_strerror(-rc));
    }
    int socket = rte_eth_dev_socket_id(port->dpdk_id);
    unsigned int numa = socket >= 0 ? (unsigned int)socket : SOCKET_ID_ANY;
    rc = rte_eth_rx_queue_setup(port->dpdk_id, queue, rx, numa, NULL, pool);
    if (rc != 0) {
        return port_fail(err, rc, "receive queue %u with %u descriptors: %s; the packet pool may be too small", queue,
                         rx, rte_strerror(-rc));
    }
    rc = rte_eth_tx_queue_setup(port->dpdk_id, queue, tx, numa, NULL);
    if (rc != 0) {
        return port_fail(err, rc, "transmit queue %u with %u descriptors: %s", queue, tx, rte_strerror(-rc));
    }
    config->rx_desc = rx;
    config->tx_desc = tx;
    return 0;
}

bool ethdev_link_up(const struct port *port)
{
    struct rte_eth_link link = {0};
    return rte_eth_link_get_nowait(port->dpdk_id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

int ethdev_start(struct port *port, char *err)
{
    int rc = rte_eth_dev_start(port->dpdk_id);
    if (rc != 0) {
        return port_fail(err, rc, "device does not start: %s", rte_strerror(-rc));
    }
    port->started = true;
    if (port->config.netdev == NULL) {
        /* Virtual devices that receive everything anyway answer ENOTSUP; others that cannot are no use to complain of.
         */
        if (port->config.promiscuous) {
            rte_eth_promiscuous_enable(port->dpdk_id);
        }
        rte_eth_allmulticast_enable(port->dpdk_id);
    }
    atomic_store_explicit(&port->link_up, ethdev_link_up(port), memory_order_relaxed);
    return 0;
}

void ethdev_stop(struct port *port)
{
    if (port->started) {
        rte_eth_dev_stop(port->dpdk_id);
        port->started = false;
    }
}

void ethdev_close(struct port *port)
{
    struct rte_eth_dev_info info;
    struct rte_device *device = rte_eth_dev_info_get(port->dpdk_id, &info) == 0 ? info.device : NULL;
    ethdev_stop(port);
    rte_eth_dev_owner_unset(port->dpdk_id, owner_mark()->id);
    if (port->probed && device != NULL) {
        rte_dev_remove(device); /* closes the port as well */
    } else {
        rte_eth_dev_close(port->dpdk_id);
    }
    port->probed = false;
}
