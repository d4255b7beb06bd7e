// SPDX-License-Identifier: Apache-2.0
/* Multicast UDP: a permanent face to NFD's groups on each interface that is no port. */
#include "ports/sock/private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#define GROUP_PORT 56363
#define GROUP_V4   "224.0.23.170"
#define GROUP_V6   "ff02::1234"
/* Datagrams taken in one turn. */
#define GROUP_TURN 64

static struct sockaddr_storage group_address(int family, unsigned ifindex)
{
    struct sockaddr_storage address = inet_any(family, GROUP_PORT);
    if (family == AF_INET) {
        inet_pton(AF_INET, GROUP_V4, &((struct sockaddr_in *)&address)->sin_addr);
    } else {
        inet_pton(AF_INET6, GROUP_V6, &((struct sockaddr_in6 *)&address)->sin6_addr);
        ((struct sockaddr_in6 *)&address)->sin6_scope_id = ifindex;
    }
    return address;
}

static int group_socket(const struct sockaddr_storage *address)
{
    int on = 1, fd = socket(address->ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    /* Others on this host may listen to the group, too. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)address, inet_len(address)) != 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    return fd;
}

static int group_join(int fd, int family, unsigned ifindex)
{
    int off = 0;
    if (family == AF_INET) {
        const struct ip_mreqn request = {.imr_multiaddr.s_addr = inet_addr(GROUP_V4), .imr_ifindex = (int)ifindex};
        /* Only what comes by the interfaces that this very socket has joined the group on. */
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof off);
        return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) == 0 ? 0 : -errno;
    }
    struct ipv6_mreq request = {.ipv6mr_interface = ifindex};
    inet_pton(AF_INET6, GROUP_V6, &request.ipv6mr_multiaddr);
    return setsockopt(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &request, sizeof request) == 0 ? 0 : -errno;
}

static int group_aim(int fd, const struct sockaddr_storage *to, unsigned ifindex)
{
    int rc, off = 0;
    if (to->ss_family == AF_INET) {
        const struct ip_mreqn request = {.imr_ifindex = (int)ifindex};
        rc = setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
        setsockopt(fd, IPPROTO_IP, IP_MULTICAST_LOOP, &off, sizeof off);
    } else {
        rc = setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &ifindex, sizeof ifindex);
        setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &off, sizeof off);
    }
    return rc == 0 && connect(fd, (const struct sockaddr *)to, inet_len(to)) == 0 ? 0 : -errno;
}

static int group_open(struct sock *sock, const struct sockaddr_storage *own, unsigned ifindex)
{
    struct sock_conn *conn = conn_new(sock, SOCK_UDP_GROUP);
    if (conn == NULL) {
        return -ENOMEM;
    }
    conn->remote = group_address(own->ss_family, ifindex);
    conn->local = *own;
    conn->ifindex = ifindex;
    int rc = conn->fd = group_socket(&conn->remote);
    if (rc >= 0) {
        rc = conn->send_fd = group_socket(&conn->local);
    }
    if (rc >= 0) {
        rc = group_join(conn->fd, own->ss_family, ifindex);
    }
    if (rc >= 0) {
        rc = group_aim(conn->send_fd, &conn->remote, ifindex);
    }
    if (rc < 0) {
        if (conn->fd >= 0) {
            close(conn->fd);
        }
        if (conn->send_fd >= 0) {
            close(conn->send_fd);
        }
        conn_free(conn);
        return rc;
    }
    conn->scope = FACE_SCOPE_NON_LOCAL;
    conn->link_type = FACE_LINK_MULTI_ACCESS;
    conn->mtu = sock->config.udp_mtu;
    atomic_init(&conn->persistency, FACE_PERMANENT);
    inet_uri(conn->local_uri, sizeof conn->local_uri, "udp", &conn->local);
    inet_uri(conn->remote_uri, sizeof conn->remote_uri, "udp", &conn->remote);
    conn_ask(conn, SOCK_ACCEPTED);
    return 0;
}

static bool is_port(const struct sock *sock, const char *name)
{
    for (const char *const *netdev = sock->config.netdevs; netdev != NULL && *netdev != NULL; netdev++) {
        if (strcmp(*netdev, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The first IPv4 and the first link-local IPv6 address of an interface speak for it. */
static bool wanted(const struct sock *sock, const struct ifaddrs *first, const struct ifaddrs *at)
{
    const unsigned flags = IFF_UP | IFF_MULTICAST;
    if (at->ifa_addr == NULL || (at->ifa_flags & flags) != flags || (at->ifa_flags & IFF_LOOPBACK) != 0 ||
        is_port(sock, at->ifa_name)) {
        return false;
    }
    int family = at->ifa_addr->sa_family;
    if (family == AF_INET6) {
        const struct sockaddr_in6 *address = (const void *)at->ifa_addr;
        if (!IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) {
            return false;
        }
    } else if (family != AF_INET) {
        return false;
    }
    for (const struct ifaddrs *before = first; before != at; before = before->ifa_next) {
        if (family == AF_INET && before->ifa_addr != NULL && before->ifa_addr->sa_family == AF_INET &&
            strcmp(before->ifa_name, at->ifa_name) == 0) {
            return false;
        }
    }
    return true;
}

static struct sockaddr_storage own_address(const struct ifaddrs *at, unsigned ifindex)
{
    struct sockaddr_storage own = inet_any(at->ifa_addr->sa_family, GROUP_PORT);
    if (own.ss_family == AF_INET) {
        ((struct sockaddr_in *)&own)->sin_addr = ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr;
    } else {
        ((struct sockaddr_in6 *)&own)->sin6_addr = ((const struct sockaddr_in6 *)(const void *)at->ifa_addr)->sin6_addr;
        ((struct sockaddr_in6 *)&own)->sin6_scope_id = ifindex;
    }
    return own;
}

static struct sock_conn *group_find(const struct sock *sock, const struct sockaddr_storage *own, unsigned ifindex)
{
    struct sock_conn *conn = sock->conns;
    while (conn != NULL &&
           (conn->kind != SOCK_UDP_GROUP || conn->ifindex != ifindex || !inet_same(&conn->local, own))) {
        conn = conn->next;
    }
    return conn;
}

void group_follow(struct sock *sock)
{
    struct ifaddrs *first;
    if (getifaddrs(&first) != 0) {
        return;
    }
    for (struct sock_conn *conn = sock->conns; conn != NULL; conn = conn->next) {
        conn->present = false;
    }
    for (const struct ifaddrs *at = first; at != NULL; at = at->ifa_next) {
        if (!wanted(sock, first, at)) {
            continue;
        }
        unsigned ifindex = if_nametoindex(at->ifa_name);
        struct sockaddr_storage own = own_address(at, ifindex);
        struct sock_conn *conn = group_find(sock, &own, ifindex);
        if (conn == NULL && group_open(sock, &own, ifindex) == 0) {
            conn = group_find(sock, &own, ifindex);
        }
        if (conn != NULL) {
            conn->present = true;
        }
    }
    freeifaddrs(first);
    for (struct sock_conn *conn = sock->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->kind == SOCK_UDP_GROUP && !conn->present && conn->state == SOCK_UP) {
            conn_close(conn); /* the interface or its address is gone */
        }
    }
}

bool group_readable(struct sock_conn *conn)
{
    struct sock *sock = conn->sock;
    uint8_t *p = sock->datagram[0];
    for (unsigned i = 0; i < GROUP_TURN; i++) {
        struct sockaddr_storage from = {0};
        socklen_t len = sizeof from;
        ssize_t n = recvfrom(conn->fd, p, sizeof sock->datagram[0], MSG_DONTWAIT, (struct sockaddr *)&from, &len);
        if (n < 0 && errno == EAGAIN) {
            break;
        }
        if (n >= 0 && datagram_check(sock, p, (size_t)n)) {
            frames_of_packet(conn, p, (size_t)n, inet_hash(&from) | 1);
        }
    }
    if (conn->failed) {
        conn->failed = false;
        conn_watch(conn); /* the error has stopped it; the face is permanent */
    }
    return true;
}

void group_send(struct sock_conn *conn, uint32_t first)
{
    datagram_send(conn, first, &(struct msghdr){0});
}
