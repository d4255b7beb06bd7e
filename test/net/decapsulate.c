// SPDX-License-Identifier: Apache-2.0
/*
 * The server's end of a tunnel, for kernels without one: takes IP packets out of IP (protocols 4 and 41, over IPv4 and
 * IPv6) and out of GUE datagrams (variant 1, UDP port as given), and gives them to the kernel again, which delivers
 * them locally; so it does with IP packets in frames of a VLAN, for kernels without VLAN interfaces. Outer and inner
 * headers are judged: what is wrong is counted and not delivered. Prints its counters as JSON at SIGTERM.
 * usage: decapsulate PORT [INTERFACE VLAN]
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DONT_FRAGMENT 0x4000
#define FRAGMENT      0x3fff

/* COUNTER(name) */
#define COUNTERS(COUNTER)                                                              \
    COUNTER(ipip)      /* packets out of IP */                                         \
    COUNTER(gue)       /* packets out of UDP */                                        \
    COUNTER(vlan)      /* packets out of frames of the VLAN */                         \
    COUNTER(untagged)  /* packets to our port in frames without a tag */               \
    COUNTER(outer_bad) /* outer IPv4 header: options, a fragment, or may become one */ \
    COUNTER(inner_bad) /* inner header: version, length, checksum */                   \
    COUNTER(refused)   /* by the kernel */

static struct {
#define COUNTER(name) unsigned long long name;
    COUNTERS(COUNTER)
#undef COUNTER
} counters;
static unsigned largest;
static int out4, out6;
static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

static unsigned be16(const uint8_t *p)
{
    return (unsigned)p[0] << 8 | p[1];
}

static bool checksum_ok(const uint8_t *p, size_t len)
{
    uint32_t sum = 0;
    for (size_t i = 0; i + 1 < len; i += 2)
        sum += be16(p + i);
    while (sum > UINT16_MAX)
        sum = (sum & UINT16_MAX) + (sum >> 16);
    return sum == UINT16_MAX;
}

/* Is this a whole IP packet? */
static bool inner_ok(const uint8_t *p, size_t len, bool v6)
{
    if (v6)
        return len >= 40 && p[0] >> 4 == 6 && 40 + be16(p + 4) == len;
    return len >= 20 && p[0] == 0x45 && be16(p + 2) == len && checksum_ok(p, 20);
}

static void deliver(const uint8_t *p, size_t len, bool v6)
{
    struct sockaddr_in to4 = {.sin_family = AF_INET};
    struct sockaddr_in6 to6 = {.sin6_family = AF_INET6};
    ssize_t sent;
    if (!inner_ok(p, len, v6)) {
        counters.inner_bad++;
        return;
    }
    if (len > largest)
        largest = (unsigned)len;
    if (v6) {
        memcpy(&to6.sin6_addr, p + 24, 16);
        sent = sendto(out6, p, len, 0, (struct sockaddr *)&to6, sizeof(to6));
    } else {
        memcpy(&to4.sin_addr, p + 16, 4);
        sent = sendto(out4, p, len, 0, (struct sockaddr *)&to4, sizeof(to4));
    }
    counters.refused += sent != (ssize_t)len;
}

/* A raw IPv4 socket gives the outer header, too; the kernel has checked its checksum. */
static void from_ip(const uint8_t *p, size_t len, bool outer_v6, bool inner_v6)
{
    counters.ipip++;
    if (!outer_v6) {
        if (len < 20 || p[0] != 0x45 || (be16(p + 6) & FRAGMENT) != 0 || (be16(p + 6) & DONT_FRAGMENT) == 0) {
            counters.outer_bad++;
            return;
        }
        p += 20;
        len -= 20;
    }
    deliver(p, len, inner_v6);
}

static void from_gue(const uint8_t *p, size_t len)
{
    counters.gue++;
    /* Variant 1: the first two bits are 01, as those of an IP packet are. */
    if (len == 0 || p[0] >> 6 != 1)
        counters.inner_bad++;
    else
        deliver(p, len, p[0] >> 4 == 6);
}

/* Is it a datagram to our port? */
static bool is_ours(const uint8_t *p, size_t len, bool v6, uint16_t port)
{
    size_t l3 = v6 ? 40 : 20;
    return len >= l3 + 8 && p[v6 ? 6 : 9] == IPPROTO_UDP && be16(p + l3 + 2) == port;
}

/* The kernel takes the outer tag out of a frame and tells it apart. */
static void from_link(int fd, uint16_t vlan, uint16_t port)
{
    static uint8_t frame[65536];
    union {
        struct cmsghdr header;
        char octets[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    } control;
    struct sockaddr_ll from;
    struct iovec iov = {.iov_base = frame, .iov_len = sizeof(frame)};
    struct msghdr message = {.msg_name = &from,
                             .msg_namelen = sizeof(from),
                             .msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control)};
    ssize_t len = recvmsg(fd, &message, MSG_DONTWAIT);
    if (len < ETHER_HDR_LEN || from.sll_pkttype == PACKET_OUTGOING)
        return;
    unsigned tag = 0, type = be16(frame + 12), at = ETHER_HDR_LEN;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c != NULL; c = CMSG_NXTHDR(&message, c)) {
        struct tpacket_auxdata aux;
        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
            continue;
        memcpy(&aux, CMSG_DATA(c), sizeof(aux));
        if ((aux.tp_status & TP_STATUS_VLAN_VALID) != 0)
            tag = aux.tp_vlan_tci & 0xfff;
    }
    if (type == ETHERTYPE_VLAN && len >= ETHER_HDR_LEN + 4) {
        tag = be16(frame + 14) & 0xfff;
        type = be16(frame + 16);
        at += 4;
    }
    if (type != ETHERTYPE_IP && type != ETHERTYPE_IPV6)
        return;
    bool v6 = type == ETHERTYPE_IPV6;
    if (!is_ours(frame + at, (size_t)len - at, v6, port))
        return;
    if (tag != vlan) {
        counters.untagged++;
        return;
    }
    counters.vlan++;
    /* Padding of the link is behind the packet. */
    size_t total = v6 ? 40 + be16(frame + at + 4) : be16(frame + at + 2);
    deliver(frame + at, total < (size_t)len - at ? total : (size_t)len - at, v6);
}

static int open_socket(int family, int type, int protocol)
{
    int size = 8 << 20, fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0)
        err(1, "socket");
    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
    return fd;
}

static int open_udp(int family, uint16_t port)
{
    int fd = open_socket(family, SOCK_DGRAM, 0), on = 1;
    struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) != 0)
        err(1, "IPV6_V6ONLY");
    if (bind(fd, family == AF_INET6 ? (struct sockaddr *)&in6 : (struct sockaddr *)&in4,
             family == AF_INET6 ? sizeof(in6) : sizeof(in4)) != 0)
        err(1, "bind");
    return fd;
}

static int open_link(const char *interface)
{
    int fd = open_socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), on = 1;
    struct sockaddr_ll to = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(interface)};
    if (to.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) != 0)
        err(1, "%s", interface);
    return fd;
}

int main(int argc, char **argv)
{
    static uint8_t packet[65536];
    struct sigaction action = {.sa_handler = on_signal};
    if (argc != 2 && argc != 4)
        errx(2, "usage: decapsulate PORT [INTERFACE VLAN]");
    uint16_t port = (uint16_t)strtoul(argv[1], NULL, 10);
    out4 = open_socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
    out6 = open_socket(AF_INET6, SOCK_RAW, IPPROTO_RAW);
    struct {
        int fd;
        bool gue, outer_v6, inner_v6;
    } in[] = {
        {.fd = open_socket(AF_INET, SOCK_RAW, IPPROTO_IPIP)},
        {.fd = open_socket(AF_INET, SOCK_RAW, IPPROTO_IPV6), .inner_v6 = true},
        {.fd = open_socket(AF_INET6, SOCK_RAW, IPPROTO_IPIP), .outer_v6 = true},
        {.fd = open_socket(AF_INET6, SOCK_RAW, IPPROTO_IPV6), .outer_v6 = true, .inner_v6 = true},
        {.fd = argc == 2 ? open_udp(AF_INET, port) : -1, .gue = true},
        {.fd = argc == 2 ? open_udp(AF_INET6, port) : -1, .gue = true, .outer_v6 = true},
    };
    const unsigned n = sizeof(in) / sizeof(in[0]);
    struct pollfd fds[sizeof(in) / sizeof(in[0]) + 1];
    for (unsigned i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = in[i].fd, .events = POLLIN};
    // With a VLAN the port is the service's, which a server listens at: tunnels are not for it.
    uint16_t vlan = argc == 4 ? (uint16_t)strtoul(argv[3], NULL, 10) : 0;
    fds[n] = (struct pollfd){.fd = argc == 4 ? open_link(argv[2]) : -1, .events = POLLIN};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    puts("ready");
    fflush(stdout);
    while (!stop) {
        if (poll(fds, n + 1, 1000) <= 0)
            continue;
        if ((fds[n].revents & POLLIN) != 0)
            from_link(fds[n].fd, vlan, port);
        for (unsigned i = 0; i < n; i++) {
            if ((fds[i].revents & POLLIN) == 0)
                continue;
            ssize_t len = recv(fds[i].fd, packet, sizeof(packet), MSG_DONTWAIT);
            if (len < 0)
                continue;
            if (in[i].gue)
                from_gue(packet, (size_t)len);
            else
                from_ip(packet, (size_t)len, in[i].outer_v6, in[i].inner_v6);
        }
    }
    printf("{\"largest\": %u", largest);
#define COUNTER(name) printf(", \"" #name "\": %llu", counters.name);
    COUNTERS(COUNTER)
#undef COUNTER
    printf("}\n");
    return 0;
}
