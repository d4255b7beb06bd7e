// SPDX-License-Identifier: Apache-2.0
#include "test/quic/udp.h"

#include <arpa/inet.h>
#include <err.h>
#include <string.h>
#include <time.h>

bool udp_addr_parse(struct udp_addr *addr, const char *text, uint16_t port)
{
    struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memset(addr, 0, sizeof(*addr));
    if (inet_pton(AF_INET, text, &in4.sin_addr) == 1) {
        memcpy(&addr->sa, &in4, sizeof(in4));
        addr->len = sizeof(in4);
        return true;
    }
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1) {
        memcpy(&addr->sa, &in6, sizeof(in6));
        addr->len = sizeof(in6);
        return true;
    }
    return false;
}

int udp_open(struct udp_addr *addr)
{
    int size = 8 << 20, discover = IP_PMTUDISC_PROBE;
    bool v6 = addr->sa.ss_family == AF_INET6;
    int fd = socket(addr->sa.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        err(2, "socket");
    /* Forced, since the default limit is less than a burst of a busy test machine. Without root the limit stays. */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    /* RFC 9000, section 14: never fragmented; the path's size is found by QUIC's own probes. */
    if (setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, &discover,
                   sizeof(discover)) != 0)
        err(2, "MTU discovery");
    if (bind(fd, (struct sockaddr *)&addr->sa, addr->len) != 0)
        err(2, "bind");
    addr->len = sizeof(addr->sa);
    if (getsockname(fd, (struct sockaddr *)&addr->sa, &addr->len) != 0)
        err(2, "getsockname");
    return fd;
}

uint64_t udp_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void vectors(struct mmsghdr *msg, struct iovec *iov, struct udp_batch *batch, unsigned n)
{
    memset(msg, 0, n * sizeof(*msg));
    for (unsigned i = 0; i < n; i++) {
        iov[i].iov_base = batch->data[i];
        msg[i].msg_hdr.msg_iov = &iov[i];
        msg[i].msg_hdr.msg_iovlen = 1;
        msg[i].msg_hdr.msg_name = &batch->peer[i].sa;
    }
}

unsigned udp_receive(int fd, struct udp_batch *batch)
{
    struct mmsghdr msg[UDP_BATCH];
    struct iovec iov[UDP_BATCH];
    vectors(msg, iov, batch, UDP_BATCH);
    for (unsigned i = 0; i < UDP_BATCH; i++) {
        iov[i].iov_len = UDP_SIZE_MAX;
        msg[i].msg_hdr.msg_namelen = sizeof(batch->peer[i].sa);
    }
    int n = recvmmsg(fd, msg, UDP_BATCH, 0, NULL);
    batch->n = n > 0 ? (unsigned)n : 0;
    for (unsigned i = 0; i < batch->n; i++) {
        batch->len[i] = msg[i].msg_len;
        batch->peer[i].len = msg[i].msg_hdr.msg_namelen;
    }
    return batch->n;
}

void udp_send(int fd, struct udp_batch *batch)
{
    struct mmsghdr msg[UDP_BATCH];
    struct iovec iov[UDP_BATCH];
    vectors(msg, iov, batch, batch->n);
    for (unsigned i = 0; i < batch->n; i++) {
        iov[i].iov_len = batch->len[i];
        msg[i].msg_hdr.msg_namelen = batch->peer[i].len;
    }
    for (unsigned done = 0; done < batch->n;) {
        int n = sendmmsg(fd, msg + done, batch->n - done, 0);
        done += n > 0 ? (unsigned)n : 1;
    }
    batch->n = 0;
}
