// SPDX-License-Identifier: Apache-2.0
/*
 * The server's end of a tunnel, for kernels without one: takes IP packets out of IP (protocols 4 and 41, over IPv4 and
 * IPv6) and out of GUE datagrams (variant 1, UDP port as given), and gives them to the kernel again, which delivers
 * them locally. Outer and inner headers are judged: what is wrong is counted and not delivered. Prints its counters as
 * JSON at SIGTERM. usage: decapsulate PORT
 */
#include <arpa/inet.h>
#include <err.h>
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

int main(int argc, char **argv)
{
    static uint8_t packet[65536];
    struct sigaction action = {.sa_handler = on_signal};
    if (argc != 2)
        errx(2, "usage: decapsulate PORT");
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
        {.fd = open_udp(AF_INET, port), .gue = true},
        {.fd = open_udp(AF_INET6, port), .gue = true, .outer_v6 = true},
    };
    const unsigned n = sizeof(in) / sizeof(in[0]);
    struct pollfd fds[sizeof(in) / sizeof(in[0])];
    for (unsigned i = 0; i < n; i++)
        fds[i] = (struct pollfd){.fd = in[i].fd, .events = POLLIN};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    puts("ready");
    fflush(stdout);
    while (!stop) {
        if (poll(fds, n, 1000) <= 0)
            continue;
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
