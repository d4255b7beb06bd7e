// SPDX-License-Identifier: Apache-2.0
/*
 * Proves a port on its own, without the daemon.
 *
 *   xdp_probe receive NETDEV [unprivileged] [UDP-PORT...] [watch=IP[,VLAN]...]
 *       opens the interface by AF_XDP, says "ready", counts frames and sends each back with its MAC addresses swapped
 *       until SIGTERM, then prints the port's counters. "unprivileged": gives up all capabilities after opening.
 *       "watch": a UDP face to IP is added; what the monitor tells of it and of the port is printed, and a netdev that
 *       returns is opened again.
 *       SIGHUP: the port is closed and opened again. "slow": sleeps between bursts, so that rings fill up. At the end,
 * all packet buffers must be back in the pool, each once. xdp_probe send NETDEV MAC COUNT KIND... sends COUNT frames of
 * each KIND from an ordinary packet socket; more than 10000 without a pause.
 */
#include "ports/mbuf_pool.h"
#include "ports/monitor.h"
#include "ports/port.h"

#include <rte_eal.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BURST     32
#define POOL_SIZE 8191
#define PACED_MAX 10000
#define QUIET_MS  300 /* what was sent before the end is received before it */

static volatile sig_atomic_t stop, again;

static void on_signal(int signal_number)
{
    if (signal_number == SIGHUP) {
        again = 1;
    } else {
        stop = 1;
    }
}

static void swap_macs(struct rte_mbuf *m)
{
    struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
    struct rte_ether_addr mac = eth->src_addr;
    eth->src_addr = eth->dst_addr;
    eth->dst_addr = mac;
}

static void give_up_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capset, &header, none) != 0) {
        perror("capset");
        exit(1);
    }
}

static struct rte_mempool *pool;
static struct port port;
static struct port_config config = {.name = "probe", .rx_csum = true};
static struct face_table *faces;
static struct monitor *monitor;
static bool returned, slow;

static uint64_t clock_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void on_event(void *arg, enum monitor_event event, struct port *p, uint32_t id)
{
    (void)arg;
    static const char *const names[] = {[MONITOR_LINK_UP] = "link-up",
                                        [MONITOR_LINK_DOWN] = "link-down",
                                        [MONITOR_GONE] = "gone",
                                        [MONITOR_RETURNED] = "returned",
                                        [MONITOR_MTU] = "mtu",
                                        [MONITOR_FACE_UP] = "face-up",
                                        [MONITOR_FACE_DOWN] = "face-down"};
    printf("event %s", names[event]);
    if (event == MONITOR_MTU) {
        printf(" %u", p->mtu);
    }
    const struct face *face = face_get(faces, id);
    if (face != NULL) {
        const uint8_t *mac = face->hdr;
        printf(" %s mac %02x:%02x:%02x:%02x:%02x:%02x down %u mtu %u", face->remote_uri, mac[0], mac[1], mac[2], mac[3],
               mac[4], mac[5], atomic_load(&face->down), face->mtu);
    }
    printf("\n");
    returned |= event == MONITOR_RETURNED;
}

static void watch(const char *text)
{
    char ip[64];
    unsigned vlan = 0;
    struct face_config face = {.name = text, .dev = config.netdev, .local_udp = 6363, .remote_udp = 6363};
    if (sscanf(text, "%63[^,],%u", ip, &vlan) < 1) {
        exit(2);
    }
    face.kind = inet_pton(AF_INET, ip, face.remote_ip) == 1 ? FACE_UDP4 : FACE_UDP6;
    if (face.kind == FACE_UDP6 && inet_pton(AF_INET6, ip, face.remote_ip) != 1) {
        exit(2);
    }
    inet_pton(face.kind == FACE_UDP4 ? AF_INET : AF_INET6, face.kind == FACE_UDP4 ? "10.0.1.1" : "fd00:1::1",
              face.local_ip);
    face.vlan = (uint16_t)vlan;
    memcpy(face.local_mac, port.mac, 6);
    uint32_t id;
    int rc = face_add(faces, &face, port.mtu, &id);
    if (rc != 0 || port_face_add(&port, face_get(faces, id)) != 0 || (rc = monitor_face_add(monitor, id)) != 0) {
        fprintf(stderr, "error: watch %s: %d\n", text, rc);
        exit(1);
    }
}

static int compare_pointers(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (void *const *)a, y = (uintptr_t) * (void *const *)b;
    return (x > y) - (x < y);
}

/* Take every buffer out of the pool: how many are missing, and is one there twice? */
static void check_pool(void)
{
    static void *objects[POOL_SIZE + 64];
    unsigned n = 0, twice = 0;
    while (n < POOL_SIZE + 64 && rte_mempool_get(pool, &objects[n]) == 0) {
        n++;
    }
    qsort(objects, n, sizeof objects[0], compare_pointers);
    for (unsigned i = 1; i < n; i++) {
        twice += objects[i] == objects[i - 1];
    }
    printf("left %d twice %u\n", (int)(POOL_SIZE + twice - n), twice);
    for (unsigned i = 0; i < n && twice == 0; i++) {
        rte_mempool_put(pool, objects[i]);
    }
}

/* What the daemon does when an interface was deleted and made again. */
static void reopen(void)
{
    char err[200];
    returned = false;
    again = 0;
    monitor_port_remove(monitor, &port);
    port_close(&port);
    check_pool();
    if (port_open(&port, 0, &config, 1, pool, NULL, err) != 0) {
        fprintf(stderr, "error: %s\n", err);
        exit(1);
    }
    for (uint32_t i = 0; i < FACE_SLOTS; i++) {
        const struct face *face = atomic_load(&faces->slot[i]);
        if (face != NULL) {
            port_face_add(&port, face);
        }
    }
    monitor_port_add(monitor, &port);
    printf("reopened\n");
}

static int set_up(int argc, char **argv)
{
    char *eal[] = {
        argv[0],        (char[]){"--no-huge"},      (char[]){"--no-pci"}, (char[]){"--no-shconf"}, (char[]){"-m"},
        (char[]){"64"}, (char[]){"--no-telemetry"}, (char[]){"-l"},       (char[]){"0"},           NULL};
    if (rte_eal_init((int)(sizeof eal / sizeof eal[0]) - 1, eal) < 0) {
        return 1;
    }
    pool = mbuf_pool_create("pool", POOL_SIZE, RTE_MBUF_DEFAULT_BUF_SIZE, false);
    config.netdev = argv[2];
    bool unprivileged = false;
    size_t n_ports = 0;
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "unprivileged") == 0) {
            unprivileged = true;
        } else if (strcmp(argv[i], "slow") == 0) {
            slow = true;
        } else if (n_ports < PORT_UDP_MAX && atoi(argv[i]) != 0) {
            config.udp_ports[n_ports++] = (uint16_t)atoi(argv[i]);
        }
    }
    char err[200] = "no pool";
    if (pool == NULL || port_open(&port, 0, &config, 1, pool, NULL, err) != 0) {
        fprintf(stderr, "error: %s\n", err);
        return 1;
    }
    if (unprivileged) {
        give_up_capabilities();
    }
    const struct monitor_listener listener = {.on_event = on_event};
    if (face_table_create(&faces, NULL) != 0 || monitor_create(&monitor, faces, &listener) != 0 ||
        monitor_port_add(monitor, &port) != 0) {
        fprintf(stderr, "error: no monitor\n");
        return 1;
    }
    for (int i = 3; i < argc; i++) {
        if (strncmp(argv[i], "watch=", 6) == 0) {
            watch(argv[i] + 6);
        }
    }
    return 0;
}

static int receive(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (set_up(argc, argv) != 0) {
        return 1;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    signal(SIGHUP, on_signal);
    printf("ready mtu %u link %s\n", port.mtu, atomic_load(&port.link_up) ? "up" : "down");
    uint64_t received = 0, sent = 0, poll_ms = 0, rx_ms = 0, asked_ms = 0, now = clock_ms();
    for (;;) {
        if (!stop && !again) {
            asked_ms = now;
        } else if ((now >= rx_ms + QUIET_MS && now >= asked_ms + QUIET_MS) || now >= asked_ms + 10 * QUIET_MS) {
            if (stop) {
                break;
            }
            reopen();
        }
        struct rte_mbuf *mbufs[BURST];
        uint16_t n = atomic_load(&port.gone) ? 0 : port_rx_burst(&port, 0, mbufs, BURST);
        received += n;
        for (uint16_t i = 0; i < n; i++) {
            swap_macs(mbufs[i]);
        }
        uint16_t n_sent = n > 0 ? port_tx_burst(&port, 0, mbufs, n) : 0;
        sent += n_sent;
        rte_pktmbuf_free_bulk(mbufs + n_sent, n - n_sent);
        if (slow && !stop) {
            nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL);
        }
        now = clock_ms();
        rx_ms = n > 0 ? now : rx_ms;
        if (now >= poll_ms) {
            poll_ms = now + 20;
            monitor_poll(monitor, now);
        }
        if (returned) {
            reopen();
        }
    }
    struct port_losses losses;
    port_losses(&port, &losses);
    printf("received %ju sent %ju redirected %ju passed %ju dropped %ju xsk_rx_dropped %ju xsk_rx_ring_full %ju "
           "fill_ring_empty %ju\n",
           (uintmax_t)received, (uintmax_t)sent, (uintmax_t)losses.xdp_redirected, (uintmax_t)losses.xdp_passed,
           (uintmax_t)losses.xdp_dropped, (uintmax_t)losses.xsk_rx_dropped, (uintmax_t)losses.xsk_rx_ring_full,
           (uintmax_t)losses.xsk_fill_ring_empty);
    monitor_port_remove(monitor, &port);
    monitor_destroy(monitor);
    port_close(&port);
    check_pool();
    face_table_destroy(faces);
    return 0;
}

/* Headers after the MAC addresses; checksums do not matter to the eBPF program. */
#define IP4(ihl, flags, protocol) \
    0x08, 0x00, 0x40 | (ihl), 0, 0, 60, 0, 0, (flags), 0, 64, (protocol), 0, 0, 10, 0, 0, 1, 10, 0, 0, 2
#define IP6(next) 0x86, 0xdd, 0x60, 0, 0, 0, 0, 40, (next), 64, [22] = 1, [38] = 2
#define UDP(port) 0x30, 0x39, (port) >> 8, (port)&255, 0, 40, 0, 0
static const struct kind {
    const char *name;
    uint8_t bytes[80];
} kinds[] = {
    {"ether", {0x86, 0x24, 0x05, 0x00}},
    {"vlan", {0x81, 0x00, 0x00, 0x0a, 0x86, 0x24, 0x05, 0x00}},
    {"qinq", {0x88, 0xa8, 0x00, 0x0a, 0x81, 0x00, 0x00, 0x0b, 0x86, 0x24, 0x05, 0x00}},
    {"udp4", {IP4(5, 0x40, 17), UDP(6363)}},
    {"vlan-udp4", {0x81, 0x00, 0x00, 0x0a, IP4(5, 0, 17), UDP(6363)}},
    {"udp6", {IP6(17), [42] = 0x30, 0x39, 6363 >> 8, 6363 & 255, 0, 40, 0, 0}},
    {"udp4-other", {IP4(5, 0, 17), UDP(6364)}},
    {"udp6-other", {IP6(17), [42] = 0x30, 0x39, 6364 >> 8, 6364 & 255, 0, 40, 0, 0}},
    {"udp4-options", {IP4(6, 0, 17), 1, 1, 1, 1, UDP(6363)}},
    {"udp4-fragment", {IP4(5, 0x20, 17), UDP(6363)}},
    {"udp6-hopopt", {IP6(0), [42] = 17, 0, 1, 4, 0, 0, 0, 0, 0x30, 0x39, 6363 >> 8, 6363 & 255, 0, 32, 0, 0}},
    {"tcp4", {IP4(5, 0, 6), UDP(6363)}},
    {"three-tags", {0x81, 0x00, 0, 1, 0x81, 0x00, 0, 2, 0x81, 0x00, 0, 3, 0x86, 0x24}},
    {"big", {0x86, 0x24, 0x05, 0x00}}, /* 2500 octets */
    {"other", {0x88, 0xb5, 1, 2, 3}},
};

static int transmit(int argc, char **argv)
{
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(argv[2]), .sll_halen = 6};
    uint8_t frame[2500] = {[6] = 0x02, [11] = 0x77};
    if (fd < 0 || sscanf(argv[3], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &frame[0], &frame[1], &frame[2], &frame[3],
                         &frame[4], &frame[5]) != 6) {
        perror("socket or MAC address");
        return 1;
    }
    int count = atoi(argv[4]);
    for (int i = 5; i < argc; i++) {
        const struct kind *kind = NULL;
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            kind = strcmp(kinds[k].name, argv[i]) == 0 ? &kinds[k] : kind;
        }
        if (kind == NULL) {
            fprintf(stderr, "no kind %s\n", argv[i]);
            return 1;
        }
        memcpy(frame + 12, kind->bytes, sizeof kind->bytes);
        size_t len = strcmp(kind->name, "big") == 0 ? sizeof frame : 12 + sizeof kind->bytes;
        for (int n = 0; n < count; n++) {
            if (sendto(fd, frame, len, 0, (struct sockaddr *)&to, sizeof to) < 0 && errno != ENOBUFS) {
                perror("sendto");
                return 1;
            }
            if (count <= PACED_MAX && n % BURST == BURST - 1) {
                nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* the receiver shares our core */
            }
        }
    }
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3 && strcmp(argv[1], "receive") == 0) {
        return receive(argc, argv);
    }
    if (argc >= 6 && strcmp(argv[1], "send") == 0) {
        return transmit(argc, argv);
    }
    fprintf(stderr, "usage: xdp_probe receive NETDEV [unprivileged] [UDP-PORT...] | send NETDEV MAC COUNT KIND...\n");
    return 2;
}
