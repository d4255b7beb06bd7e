// SPDX-License-Identifier: Apache-2.0
/* Unicast UDP: one socket for each address family, whose peers are told apart by their addresses. */
#include "ports/sock/private.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

/* Octets of datagrams that may wait in the kernel, in each direction. */
#define UDP_BUFFER (4 << 20)
/* System calls in one turn: others shall have theirs, too. */
#define UDP_TURNS 4
/* Octets kept of a peer until it has a face. */
#define UDP_EARLY_MAX 65536

struct control {
    _Alignas(struct cmsghdr) char octets[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void udp_options(int fd, int family)
{
    int on = 1, size = UDP_BUFFER;
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    } else {
        setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
        setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    }
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    }
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    }
}

int udp_open(struct sock *sock, int family, char err[200])
{
    const struct sock_config *config = &sock->config;
    bool listening = config->udp_listen && (family == AF_INET ? config->udp_v4 : config->udp_v6);
    struct sockaddr_storage address = inet_any(family, config->udp_port);
    struct sock_udp *udp = &sock->udp[family == AF_INET6];
    char uri[FACE_URI_MAX];
    *udp = (struct sock_udp){.sock = sock, .family = family, .listening = listening, .fd = -1};
    inet_uri(uri, sizeof uri, "udp", &address);
    int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno == EAFNOSUPPORT ? 0 : sock_fail(err, -errno, "%s: %s", uri, strerror(errno));
    }
    udp_options(fd, family);
    int rc = bind(fd, (struct sockaddr *)&address, inet_len(&address)) == 0 ? 0 : -errno;
    if (rc != 0 && !listening) {
        /* Faces to others do not need the port. */
        address = inet_any(family, 0);
        rc = bind(fd, (struct sockaddr *)&address, inet_len(&address)) == 0 ? 0 : -errno;
    }
    if (rc == -EADDRNOTAVAIL && family == AF_INET6) {
        close(fd); /* IPv6 is switched off here */
        return 0;
    }
    if (rc != 0) {
        close(fd);
        return sock_fail(err, rc, "%s: %s", uri, strerror(-rc));
    }
    udp->fd = fd;
    if (listening) {
        socklen_t len = sizeof address;
        getsockname(fd, (struct sockaddr *)&address, &len); /* port 0 has become a free one */
        inet_uri(udp->uri, sizeof udp->uri, "udp", &address);
        sock->channels[sock->n_channels++] = udp->uri;
    }
    return 0;
}

static struct sock_conn **udp_bucket(struct sock *sock, const struct sockaddr_storage *remote)
{
    return &sock->by_remote[inet_hash(remote) % SOCK_HASH];
}

static struct sock_conn *udp_find(struct sock *sock, const struct sockaddr_storage *remote)
{
    struct sock_conn *conn = *udp_bucket(sock, remote);
    while (conn != NULL && !inet_same(&conn->remote, remote)) {
        conn = conn->next_remote;
    }
    return conn;
}

static void udp_add(struct sock_conn *conn, struct sock_udp *udp)
{
    struct sock_conn **bucket = udp_bucket(conn->sock, &conn->remote);
    conn->udp = udp;
    conn->send_fd = udp->fd;
    conn->next_remote = *bucket;
    *bucket = conn;
}

void udp_remove(struct sock_conn *conn)
{
    struct sock_conn **link = udp_bucket(conn->sock, &conn->remote);
    while (*link != NULL && *link != conn) {
        link = &(*link)->next_remote;
    }
    if (*link != NULL) {
        *link = conn->next_remote;
    }
}

/* The address that a datagram was sent to, from its control data; the port is ours. */
static bool udp_destination(const struct sock_udp *udp, struct msghdr *msg, struct sockaddr_storage *local)
{
    socklen_t len = sizeof *local;
    if (getsockname(udp->fd, (struct sockaddr *)local, &len) != 0) {
        return false;
    }
    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            ((struct sockaddr_in *)local)->sin_addr = info.ipi_addr;
            return (ntohl(info.ipi_addr.s_addr) >> 28) < 14; /* no group, no broadcast */
        }
        if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            ((struct sockaddr_in6 *)local)->sin6_addr = info.ipi6_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr)) {
                ((struct sockaddr_in6 *)local)->sin6_scope_id = info.ipi6_ifindex;
            }
            return !IN6_IS_ADDR_MULTICAST(&info.ipi6_addr);
        }
    }
    return false;
}

/* The first datagram of somebody new. */
static struct sock_conn *udp_accept(struct sock_udp *udp, const struct sockaddr_storage *from, struct msghdr *msg)
{
    struct sock *sock = udp->sock;
    struct sockaddr_storage local;
    if (!udp->listening) {
        return NULL;
    }
    if (sock->n_accepted[SOCK_UDP] >= sock->config.faces_max || !udp_destination(udp, msg, &local)) {
        sock_count(&sock->counters.refused);
        return NULL;
    }
    struct sock_conn *conn = conn_new(sock, SOCK_UDP);
    if (conn == NULL) {
        return NULL;
    }
    conn->remote = *from;
    conn->local = local;
    conn->pinned = true;
    conn->scope = FACE_SCOPE_NON_LOCAL;
    conn->mtu = sock->config.udp_mtu;
    inet_uri(conn->local_uri, sizeof conn->local_uri, "udp", &conn->local);
    inet_uri(conn->remote_uri, sizeof conn->remote_uri, "udp", &conn->remote);
    udp_add(conn, udp);
    conn_count(conn);
    conn_ask(conn, SOCK_ACCEPTED);
    return conn;
}

static void udp_input(struct sock_udp *udp, const uint8_t *p, struct mmsghdr *msg)
{
    struct sock *sock = udp->sock;
    const struct sockaddr_storage *from = msg->msg_hdr.msg_name;
    if (!datagram_check(sock, p, msg->msg_len)) {
        return;
    }
    struct sock_conn *conn = udp_find(sock, from);
    if (conn == NULL) {
        conn = udp_accept(udp, from, &msg->msg_hdr);
        if (conn == NULL) {
            return;
        }
    }
    atomic_store_explicit(&conn->last_rx_ms, sock_now_ms(sock), memory_order_relaxed);
    if (conn->state == SOCK_UP) {
        frames_of_packet(conn, p, msg->msg_len, 0);
        return;
    }
    uint8_t *room = conn->in.len < UDP_EARLY_MAX ? queue_room(&conn->in, msg->msg_len) : NULL;
    if (room != NULL) {
        memcpy(room, p, msg->msg_len);
        queue_added(&conn->in, msg->msg_len);
    }
}

void udp_up(struct sock_conn *conn)
{
    if (conn->in.len > 0) {
        frames_of_stream(conn, queue_first(&conn->in), conn->in.len); /* each is a whole element */
        conn->blocked = false;
        queue_clear(&conn->in);
    }
}

/* What neighbours and routers say of datagrams that we sent: nobody listens there. */
static void udp_errors(struct sock_udp *udp)
{
    for (unsigned i = 0; i < SOCK_DATAGRAMS; i++) {
        struct {
            _Alignas(struct cmsghdr) char octets[512];
        } control;
        struct sockaddr_storage to = {0};
        struct msghdr msg = {
            .msg_name = &to, .msg_namelen = sizeof to, .msg_control = &control, .msg_controllen = sizeof control};
        if (recvmsg(udp->fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
            return;
        }
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c)) {
            struct sock_extended_err error;
            if (c->cmsg_len < CMSG_LEN(sizeof error)) {
                continue;
            }
            memcpy(&error, CMSG_DATA(c), sizeof error);
            struct sock_conn *conn = error.ee_errno == ECONNREFUSED ? udp_find(udp->sock, &to) : NULL;
            if (conn != NULL && conn->state == SOCK_UP &&
                atomic_load_explicit(&conn->persistency, memory_order_relaxed) != FACE_PERMANENT) {
                conn_lost(conn);
            }
        }
    }
}

static void udp_readable(uv_poll_t *handle, int status, int events)
{
    struct sock_udp *udp = handle->data;
    struct sock *sock = udp->sock;
    struct mmsghdr msgs[SOCK_DATAGRAMS];
    struct iovec iov[SOCK_DATAGRAMS];
    struct sockaddr_storage from[SOCK_DATAGRAMS];
    struct control control[SOCK_DATAGRAMS];
    (void)events;
    udp_errors(udp);
    for (unsigned turn = 0; turn < UDP_TURNS; turn++) {
        for (unsigned i = 0; i < SOCK_DATAGRAMS; i++) {
            iov[i] = (struct iovec){.iov_base = sock->datagram[i], .iov_len = sizeof sock->datagram[i]};
            msgs[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
                                              .msg_namelen = sizeof from[i],
                                              .msg_iov = &iov[i],
                                              .msg_iovlen = 1,
                                              .msg_control = &control[i],
                                              .msg_controllen = sizeof control[i]};
            memset(&from[i], 0, sizeof from[i]);
        }
        int n = recvmmsg(udp->fd, msgs, SOCK_DATAGRAMS, MSG_DONTWAIT, NULL);
        for (int i = 0; i < n; i++) {
            udp_input(udp, sock->datagram[i], &msgs[i]);
        }
        if (n < SOCK_DATAGRAMS) {
            break;
        }
    }
    if (status < 0) {
        uv_poll_start(handle, UV_READABLE, udp_readable); /* an error has stopped it */
    }
}

int udp_start(struct sock_udp *udp)
{
    if (udp->fd < 0) {
        return 0;
    }
    int rc = uv_poll_init(&udp->sock->loop, &udp->poll, udp->fd);
    udp->poll.data = udp;
    return rc != 0 ? rc : uv_poll_start(&udp->poll, UV_READABLE, udp_readable);
}

/* Which of our addresses the kernel would send from. */
static int udp_route(const struct sock_udp *udp, const struct sockaddr_storage *remote, struct sockaddr_storage *local)
{
    struct sockaddr_storage own;
    socklen_t len = sizeof *local, own_len = sizeof own;
    int fd = socket(udp->family, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (const struct sockaddr *)remote, inet_len(remote)) != 0 ||
        getsockname(fd, (struct sockaddr *)local, &len) != 0 ||
        getsockname(udp->fd, (struct sockaddr *)&own, &own_len) != 0) {
        rc = -errno;
    } else if (udp->family == AF_INET) {
        ((struct sockaddr_in *)local)->sin_port = ((struct sockaddr_in *)&own)->sin_port;
    } else {
        ((struct sockaddr_in6 *)local)->sin6_port = ((struct sockaddr_in6 *)&own)->sin6_port;
    }
    close(fd);
    return rc;
}

void udp_connect(struct sock_conn *conn)
{
    struct sock_udp *udp = &conn->sock->udp[conn->remote.ss_family == AF_INET6];
    int rc = udp->fd < 0 ? -EAFNOSUPPORT : udp_find(conn->sock, &conn->remote) != NULL ? -EEXIST : 0;
    if (rc == 0) {
        rc = udp_route(udp, &conn->remote, &conn->local);
    }
    if (rc != 0) {
        conn_not_connected(conn, rc);
        return;
    }
    conn->scope = FACE_SCOPE_NON_LOCAL;
    inet_uri(conn->local_uri, sizeof conn->local_uri, "udp", &conn->local);
    inet_uri(conn->remote_uri, sizeof conn->remote_uri, "udp", &conn->remote);
    udp_add(conn, udp);
    conn_ask(conn, SOCK_CONNECTED);
}

/* The peer knows us by the address that it sent to. */
static size_t udp_source(const struct sock_conn *conn, struct control *control)
{
    *control = (struct control){0};
    struct cmsghdr *c = (struct cmsghdr *)control->octets;
    if (conn->local.ss_family == AF_INET) {
        struct in_pktinfo info = {.ipi_spec_dst = ((const struct sockaddr_in *)&conn->local)->sin_addr};
        c->cmsg_level = IPPROTO_IP;
        c->cmsg_type = IP_PKTINFO;
        c->cmsg_len = CMSG_LEN(sizeof info);
        memcpy(CMSG_DATA(c), &info, sizeof info);
        return CMSG_SPACE(sizeof info);
    }
    struct in6_pktinfo info = {.ipi6_addr = ((const struct sockaddr_in6 *)&conn->local)->sin6_addr};
    c->cmsg_level = IPPROTO_IPV6;
    c->cmsg_type = IPV6_PKTINFO;
    c->cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(c), &info, sizeof info);
    return CMSG_SPACE(sizeof info);
}

void udp_send(struct sock_conn *conn, uint32_t first)
{
    struct control control;
    struct msghdr form = {.msg_name = &conn->remote, .msg_namelen = inet_len(&conn->remote)};
    if (conn->pinned) {
        form.msg_control = &control;
        form.msg_controllen = udp_source(conn, &control);
    }
    datagram_send(conn, first, &form);
}
