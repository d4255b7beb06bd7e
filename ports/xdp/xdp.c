// SPDX-License-Identifier: Apache-2.0
#include "ports/xdp/xdp.h"

#include "ports/ethdev.h"
#include "ports/xdp/interface.h"
#include "ports/xdp/reclaim.h"
#include "ports/xdp/vips.h"
#include "ports/xdp/xdp_abi.h"

/* Generated, and not written for our warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "pitlane.skel.h"
#pragma GCC diagnostic pop

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_log.h>
#include <rte_mempool.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM_NAME  "pitlane_xdp"
#define FDS_MAX       4096 /* descriptors looked at for a queue's socket */
#define STALE_TRIES   20   /* of 50 ms: a killed process needs a moment to let its link go */
#define STALE_WAIT_NS 50000000L

struct xdp_port {
    char netdev[IF_NAMESIZE];
    unsigned ifindex;
    uint16_t mtu;
    int object_fd; /* memfd with the eBPF object, for net_af_xdp to load */
    int link_fd;   /* keeps the program attached */
    int conf_fd, stats_fd, vips_fd;
    struct xdp_conf conf; /* what is in the map */
    int n_cpus;
    uint32_t program_id, btf_id, map_id[8];
    uint32_t n_maps;
    int xsk_fd[PORT_QUEUES_MAX]; /* of net_af_xdp; -1: unknown */
    struct xdp_rings *rings[PORT_QUEUES_MAX];
    bool xsk_before[FDS_MAX];
};

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* libbpf's word, in the log and not beside it. It ends its lines itself. */
static int log_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
    return rte_vlog(level == LIBBPF_WARN ? RTE_LOG_NOTICE : RTE_LOG_DEBUG, RTE_LOGTYPE_USER1, format, args);
}

static int program_info(uint32_t id, struct bpf_prog_info *info, int *prog_fd)
{
    int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0) {
        return -errno;
    }
    uint32_t len = sizeof *info;
    int rc = bpf_obj_get_info_by_fd(fd, info, &len);
    if (rc != 0 || prog_fd == NULL) {
        close(fd);
    } else {
        *prog_fd = fd;
    }
    return rc != 0 ? -errno : 0;
}

static uint32_t mode_flags(uint8_t attach_mode)
{
    return attach_mode == XDP_ATTACHED_SKB   ? XDP_FLAGS_SKB_MODE
           : attach_mode == XDP_ATTACHED_DRV ? XDP_FLAGS_DRV_MODE
                                             : 0;
}

/* An earlier pitlane that was killed may have left its program; anyone else's is not ours to remove. */
static int clear_stale(const struct xdp_port *xdp, char *err)
{
    for (int try = 0; try < STALE_TRIES; try++) {
        struct bpf_xdp_query_opts query = {.sz = sizeof query};
        int rc = bpf_xdp_query((int)xdp->ifindex, 0, &query);
        if (rc != 0) {
            return port_fail(err, rc, "interface %s does not tell its XDP program: %s", xdp->netdev, strerror(-rc));
        }
        if (query.attach_mode == XDP_ATTACHED_NONE) {
            return 0;
        }
        uint32_t id = query.prog_id != 0       ? query.prog_id
                      : query.drv_prog_id != 0 ? query.drv_prog_id
                                               : query.skb_prog_id;
        struct bpf_prog_info info = {0};
        rc = program_info(id, &info, NULL);
        if (rc == 0 && strcmp(info.name, PROGRAM_NAME) != 0) {
            return port_fail(
                err, -EBUSY,
                "interface %s already has XDP program \"%.16s\" (id %u); remove it: ip link set dev %s xdp off",
                xdp->netdev, info.name, id, xdp->netdev);
        }
        // A program that is held by a link, which is a living pitlane's, is worth one word at the end and no more.
        libbpf_set_print(NULL);
        rc = rc == 0 ? bpf_xdp_detach((int)xdp->ifindex, mode_flags(query.attach_mode), NULL) : rc;
        libbpf_set_print(log_libbpf);
        if (rc == 0) {
            RTE_LOG(NOTICE, USER1, "%s: removed the XDP program of a pitlane that did not stop cleanly\n", xdp->netdev);
            return 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = STALE_WAIT_NS}, NULL);
    }
    return port_fail(err, -EBUSY, "interface %s is in use by another pitlane", xdp->netdev);
}

/*
 * Attach the program once before net_af_xdp does: what the kernel or the driver has against it is learned here, while
 * net_af_xdp would go on with memory that it has freed.
 */
static int try_program(const struct xdp_port *xdp, char *err)
{
    struct pitlane_bpf *bpf = pitlane_bpf__open_and_load();
    if (bpf == NULL) {
        int rc = errno != 0 ? -errno : -EINVAL;
        return port_fail(err, rc, "the kernel does not load the eBPF program: %s", strerror(-rc));
    }
    int fd = bpf_program__fd(bpf->progs.pitlane_xdp);
    int rc = bpf_xdp_attach((int)xdp->ifindex, fd, XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
    if (rc == 0) {
        rc = bpf_xdp_detach((int)xdp->ifindex, 0, NULL);
    }
    if (rc != 0) {
        port_fail(
            err, rc,
            "%s does not take an XDP program (%s): an MTU above 3,500 (it has %u, a veth's peer counts) and LRO are "
            "the usual causes",
            xdp->netdev, strerror(-rc), xdp->mtu);
    }
    pitlane_bpf__destroy(bpf);
    return rc;
}

/* net_af_xdp takes the program as a file: give it one that exists in memory only. */
static int object_memfd(void)
{
    size_t len = 0;
    const char *bytes = (const char *)pitlane_bpf__elf_bytes(&len);
    int fd = memfd_create("pitlane.bpf.o", MFD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);
        if (n <= 0) {
            int rc = n < 0 ? -errno : -EIO;
            close(fd);
            return rc;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return fd;
}

int xdp_open(struct xdp_port **out, const char *netdev, uint16_t *n_queues, char *err)
{
    unsigned ifindex = if_nametoindex(netdev);
    if (ifindex == 0 || strlen(netdev) >= IF_NAMESIZE) {
        return port_fail(err, -ENODEV, "no network interface \"%.40s\" here (see: ip link)", netdev);
    }
    int rc = interface_capabilities(netdev, err);
    if (rc != 0) {
        return rc;
    }
    if ((interface_flags(netdev) & IFF_UP) == 0) {
        return port_fail(err, -ENETDOWN, "interface %s is down: ip link set dev %s up", netdev, netdev);
    }
    struct xdp_port *xdp = calloc(1, sizeof *xdp);
    if (xdp == NULL) {
        return port_fail(err, -ENOMEM, "out of memory");
    }
    snprintf(xdp->netdev, sizeof xdp->netdev, "%s", netdev);
    xdp->ifindex = ifindex;
    xdp->object_fd = xdp->link_fd = xdp->conf_fd = xdp->stats_fd = xdp->vips_fd = -1;
    memset(xdp->xsk_fd, 0xff, sizeof xdp->xsk_fd);
    xdp->mtu = interface_mtu(netdev);
    libbpf_set_print(log_libbpf);
    xdp->n_cpus = libbpf_num_possible_cpus();
    rc = clear_stale(xdp, err);
    if (rc == 0) {
        rc = try_program(xdp, err);
    }
    if (rc != 0) {
        goto fail;
    }
    xdp->object_fd = object_memfd();
    if (xdp->object_fd < 0) {
        rc = port_fail(err, xdp->object_fd, "memory for the eBPF object: %s", strerror(-xdp->object_fd));
        goto fail;
    }
    struct interface_queues queues = interface_queues(netdev);
    *n_queues = RTE_MIN(*n_queues, queues.usable);
    if (queues.receive > *n_queues) {
        RTE_LOG(WARNING, USER1,
                "%s receives on %u queues and %u of them are used: NDN on the others is lost; ethtool -L %s %s %u\n",
                netdev, queues.receive, *n_queues, netdev, queues.combined ? "combined" : "rx", *n_queues);
    }
    *out = xdp;
    return 0;
fail:
    xdp_close(xdp);
    return rc;
}

struct extent {
    uintptr_t low, high;
};

static void widen(struct rte_mempool *pool, void *arg, void *object, unsigned index)
{
    (void)pool;
    (void)index;
    struct extent *extent = arg;
    extent->low = RTE_MIN(extent->low, (uintptr_t)object);
    extent->high = RTE_MAX(extent->high, (uintptr_t)object);
}

bool xdp_pool_usable(struct rte_mempool *pool)
{
    const struct rte_mempool_memhdr *first = STAILQ_FIRST(&pool->mem_list);
    struct extent extent = {.low = UINTPTR_MAX};
    if (first == NULL || rte_mempool_obj_iter(pool, widen, &extent) == 0) {
        return false;
    }
    uint64_t object = rte_mempool_calc_obj_size(pool->elt_size, pool->flags, NULL);
    uintptr_t page = (uintptr_t)getpagesize();
    uintptr_t base = (uintptr_t)first->addr & ~(page - 1);
    uintptr_t end = (uintptr_t)first->addr + pool->populated_size * object;
    return extent.low >= base && extent.high + pool->elt_size <= end;
}

void xdp_device(const struct xdp_port *xdp, uint16_t index, uint16_t n_queues, char *device, size_t size)
{
    /* Without hugepages buffers cross pages that are apart for the device: only the copying mode can use them. */
    snprintf(device, size, "net_af_xdp%u,iface=%s,start_queue=0,queue_count=%u,xdp_prog=/proc/self/fd/%d%s", index,
             xdp->netdev, n_queues, xdp->object_fd, rte_eal_has_hugepages() ? "" : ",force_copy=1");
}

static bool is_xsk(int fd)
{
    int domain = 0;
    socklen_t len = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_XDP;
}

void xdp_queue_before(struct xdp_port *xdp)
{
    for (int fd = 0; fd < FDS_MAX; fd++) {
        xdp->xsk_before[fd] = is_xsk(fd);
    }
}

/* net_af_xdp keeps its sockets to itself: the one that has just come is the queue's. */
void xdp_queue_after(struct xdp_port *xdp, uint16_t queue, uint16_t n_desc)
{
    for (int fd = 0; fd < FDS_MAX; fd++) {
        if (!xdp->xsk_before[fd] && is_xsk(fd)) {
            xdp->xsk_fd[queue] = fd;
            xdp->rings[queue] = xdp_rings_open(fd, n_desc);
            return;
        }
    }
}

int xdp_explain(const struct xdp_port *xdp, uint16_t queue, int rc, char *err)
{
    return port_fail(err, rc,
                     "AF_XDP socket of %s, queue %u: %s; another program may hold the queue, or the packet pool is too "
                     "small (2,048 buffers wait in each queue)",
                     xdp->netdev, queue, strerror(-rc));
}

/* The maps of the loaded program, by name. */
static int find_maps(struct xdp_port *xdp, uint32_t prog_id, int *prog_fd)
{
    uint32_t ids[8];
    struct bpf_prog_info info = {.nr_map_ids = RTE_DIM(ids), .map_ids = (uintptr_t)ids};
    int rc = program_info(prog_id, &info, prog_fd);
    if (rc != 0) {
        return rc;
    }
    xdp->program_id = prog_id;
    xdp->btf_id = info.btf_id;
    xdp->n_maps = RTE_MIN(info.nr_map_ids, (uint32_t)RTE_DIM(ids));
    memcpy(xdp->map_id, ids, sizeof xdp->map_id);
    for (uint32_t i = 0; i < xdp->n_maps; i++) {
        int fd = bpf_map_get_fd_by_id(ids[i]);
        struct bpf_map_info map = {0};
        uint32_t len = sizeof map;
        if (fd < 0 || bpf_obj_get_info_by_fd(fd, &map, &len) != 0) {
            close_fd(&fd);
        } else if (strcmp(map.name, "pitlane_conf") == 0) {
            close_fd(&xdp->conf_fd);
            xdp->conf_fd = fd;
        } else if (strcmp(map.name, "pitlane_stats") == 0) {
            close_fd(&xdp->stats_fd);
            xdp->stats_fd = fd;
        } else if (strcmp(map.name, "pitlane_vips") == 0) {
            close_fd(&xdp->vips_fd);
            xdp->vips_fd = fd;
        } else {
            close(fd);
        }
    }
    if (xdp->conf_fd < 0 || xdp->stats_fd < 0 || xdp->vips_fd < 0) {
        close_fd(prog_fd);
        return -ENOENT;
    }
    return 0;
}

static int xdp_write_conf(struct xdp_port *xdp)
{
    uint32_t zero = 0;
    return bpf_map_update_elem(xdp->conf_fd, &zero, &xdp->conf, BPF_ANY);
}

int xdp_quic_vips(struct xdp_port *xdp, const struct port_vip *vips, unsigned n)
{
    xdp->conf.has_vips = 1; /* before the first is there, so that none is missed */
    int rc = xdp_write_conf(xdp);
    if (rc == 0) {
        rc = xdp_vips_set(xdp->vips_fd, vips, n);
    }
    if (rc == 0 && n == 0) {
        xdp->conf.has_vips = 0;
        rc = xdp_write_conf(xdp);
    }
    return rc;
}

int xdp_attach(struct xdp_port *xdp, const struct port_config *config, char *err)
{
    int prog_fd = -1;
    struct bpf_xdp_query_opts query = {.sz = sizeof query};
    int rc = bpf_xdp_query((int)xdp->ifindex, 0, &query);
    if (rc == 0) {
        rc = query.prog_id != 0 ? find_maps(xdp, query.prog_id, &prog_fd) : -ENOENT;
    }
    if (rc != 0) {
        return port_fail(err, rc, "eBPF program of %s: %s", xdp->netdev, strerror(-rc));
    }
    xdp->conf = (struct xdp_conf){.active = 1};
    for (int i = 0; i < RTE_MIN(XDP_UDP_PORTS_MAX, PORT_UDP_MAX) && config->udp_ports[i] != 0; i++) {
        xdp->conf.udp_port_be[i] = htons(config->udp_ports[i]);
    }
    rc = xdp_write_conf(xdp);
    if (rc != 0) {
        port_fail(err, rc, "configuration of the eBPF program of %s: %s", xdp->netdev, strerror(-rc));
        goto close_program;
    }
    uint32_t flags = mode_flags(query.attach_mode);
    bpf_xdp_detach((int)xdp->ifindex, flags, NULL);
    struct bpf_link_create_opts link = {.sz = sizeof link, .flags = flags};
    xdp->link_fd = bpf_link_create(prog_fd, (int)xdp->ifindex, BPF_XDP, &link);
    if (xdp->link_fd < 0) {
        rc = xdp->link_fd;
        port_fail(err, rc, "eBPF program of %s cannot be attached: %s", xdp->netdev, strerror(-rc));
    } else if (query.attach_mode == XDP_ATTACHED_SKB) {
        RTE_LOG(NOTICE, USER1, "%s: its driver has no XDP, the slower generic mode is used\n", xdp->netdev);
    }
close_program:
    close(prog_fd);
    close_fd(&xdp->object_fd);
    return rc;
}

void xdp_detach(struct xdp_port *xdp, struct rte_mempool *pool)
{
    close_fd(&xdp->link_fd);
    for (int i = 0; i < PORT_QUEUES_MAX; i++) {
        xdp_reclaim(xdp->rings[i], xdp->xsk_fd[i], pool);
    }
}

static bool is_ours(const struct xdp_port *xdp, int fd)
{
    char path[40], kind[40] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, kind, sizeof kind - 1) <= 0) {
        return false;
    }
    struct bpf_prog_info program = {0};
    struct bpf_map_info map = {0};
    struct bpf_btf_info btf = {0};
    uint32_t len;
    if (strcmp(kind, "anon_inode:bpf-prog") == 0) {
        len = sizeof program;
        return bpf_obj_get_info_by_fd(fd, &program, &len) == 0 && program.id == xdp->program_id;
    }
    if (strcmp(kind, "anon_inode:btf") == 0) {
        len = sizeof btf;
        return bpf_obj_get_info_by_fd(fd, &btf, &len) == 0 && btf.id == xdp->btf_id;
    }
    len = sizeof map;
    if (strcmp(kind, "anon_inode:bpf-map") != 0 || bpf_obj_get_info_by_fd(fd, &map, &len) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < xdp->n_maps; i++) {
        if (xdp->map_id[i] == map.id) {
            return true;
        }
    }
    return false;
}

/*
 * net_af_xdp forgets to close its sockets, which would keep their queues busy, and the object that it loaded: an
 * interface that comes and goes would use up descriptors.
 */
static void close_forgotten(const struct xdp_port *xdp)
{
    for (int i = 0; i < PORT_QUEUES_MAX; i++) {
        xdp_rings_close(xdp->rings[i]);
        if (xdp->xsk_fd[i] >= 0 && is_xsk(xdp->xsk_fd[i])) {
            close(xdp->xsk_fd[i]);
        }
    }
    for (int fd = 3; fd < FDS_MAX && xdp->program_id != 0; fd++) {
        if (is_ours(xdp, fd)) {
            close(fd);
        }
    }
}

void xdp_close(struct xdp_port *xdp)
{
    if (xdp == NULL) {
        return;
    }
    close_fd(&xdp->link_fd);
    close_fd(&xdp->object_fd);
    close_fd(&xdp->conf_fd);
    close_fd(&xdp->stats_fd);
    close_fd(&xdp->vips_fd);
    close_forgotten(xdp);
    free(xdp);
}

static uint64_t counter_sum(const struct xdp_port *xdp, uint32_t counter)
{
    uint64_t value[1024], sum = 0;
    if (xdp->stats_fd < 0 || xdp->n_cpus <= 0 || xdp->n_cpus > (int)RTE_DIM(value) ||
        bpf_map_lookup_elem(xdp->stats_fd, &counter, value) != 0) {
        return 0;
    }
    for (int i = 0; i < xdp->n_cpus; i++) {
        sum += value[i];
    }
    return sum;
}

void xdp_losses(const struct xdp_port *xdp, struct port_losses *losses)
{
    losses->xdp_redirected = counter_sum(xdp, XDP_COUNT_REDIRECTED);
    losses->xdp_passed = counter_sum(xdp, XDP_COUNT_PASSED);
    losses->xdp_dropped = counter_sum(xdp, XDP_COUNT_DROPPED);
    for (int i = 0; i < PORT_QUEUES_MAX; i++) {
        struct xdp_statistics stats = {0};
        socklen_t len = sizeof stats;
        if (xdp->xsk_fd[i] < 0 || getsockopt(xdp->xsk_fd[i], SOL_XDP, XDP_STATISTICS, &stats, &len) != 0) {
            continue;
        }
        losses->xsk_rx_dropped += stats.rx_dropped;
        losses->xsk_rx_ring_full += stats.rx_ring_full;
        losses->xsk_fill_ring_empty += stats.rx_fill_ring_empty_descs;
        losses->xsk_rx_invalid += stats.rx_invalid_descs;
    }
}

uint16_t xdp_mtu(const struct xdp_port *xdp)
{
    return xdp->mtu;
}

unsigned xdp_ifindex(const struct xdp_port *xdp)
{
    return xdp->ifindex;
}

bool xdp_link_up(const struct xdp_port *xdp)
{
    return (interface_flags(xdp->netdev) & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}
