// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/private.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* Longest that a connection attempt may take: less than the time for which a client waits for faces/create. */
#define CONNECT_MS 8000

static void listen_uri(char *uri, size_t size, enum sock_kind kind, const struct sockaddr_storage *address)
{
    if (kind == SOCK_WEBSOCKET) {
        inet_uri_plain(uri, size, "ws", address);
    } else {
        inet_uri(uri, size, "tcp", address);
    }
}

int tcp_listen(struct sock *sock, enum sock_kind kind, int family, uint16_t port, char err[200])
{
    struct sockaddr_storage address = inet_any(family, port);
    char uri[FACE_URI_MAX];
    int on = 1, rc;
    listen_uri(uri, sizeof uri, kind, &address);
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno == EAFNOSUPPORT ? 0 : sock_fail(err, -errno, "%s: %s", uri, strerror(errno));
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    }
    if (bind(fd, (struct sockaddr *)&address, inet_len(&address)) != 0 || listen(fd, SOCK_BACKLOG) != 0) {
        rc = sock_fail(err, -errno, "%s: %s", uri, strerror(errno));
        if (rc == -EADDRNOTAVAIL && family == AF_INET6) {
            close(fd); /* IPv6 is switched off here */
            return 0;
        }
    } else {
        socklen_t len = sizeof address;
        getsockname(fd, (struct sockaddr *)&address, &len); /* port 0 has become a free one */
        listen_uri(uri, sizeof uri, kind, &address);
        rc = server_add(sock, kind, fd, uri);
    }
    if (rc != 0) {
        close(fd);
    }
    return rc;
}

/* Options, addresses and what follows from them, of a descriptor that is connected. */
static int tcp_describe(struct sock_conn *conn)
{
    const struct sock_config *config = &conn->sock->config;
    int on = 1, idle_s = 120, interval_s = 30, count = 4;
    socklen_t len = sizeof conn->local;
    if (getsockname(conn->fd, (struct sockaddr *)&conn->local, &len) != 0) {
        return -errno;
    }
    setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* A peer that vanished without a word is noticed in the end. */
    setsockopt(conn->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(conn->fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(conn->fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(conn->fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    bool local = inet_in(&conn->local, config->local_white, config->n_local_white) &&
                 inet_in(&conn->remote, config->local_white, config->n_local_white) &&
                 !inet_in(&conn->local, config->local_black, config->n_local_black) &&
                 !inet_in(&conn->remote, config->local_black, config->n_local_black);
    conn->scope = local ? FACE_SCOPE_LOCAL : FACE_SCOPE_NON_LOCAL;
    inet_uri(conn->local_uri, sizeof conn->local_uri, "tcp", &conn->local);
    inet_uri(conn->remote_uri, sizeof conn->remote_uri, "tcp", &conn->remote);
    return 0;
}

void tcp_accepted(struct sock *sock, int fd, const struct sockaddr_storage *remote)
{
    struct sock_conn *conn = conn_new(sock, SOCK_TCP);
    if (conn == NULL) {
        close(fd);
        return;
    }
    conn->fd = conn->send_fd = fd;
    conn->remote = *remote;
    if (tcp_describe(conn) != 0) { /* gone already */
        close(fd);
        conn_free(conn);
        return;
    }
    conn_count(conn);
    conn_ask(conn, SOCK_ACCEPTED);
}

/* The outcome of a connection attempt. */
static void tcp_outcome(struct sock_conn *conn, int rc)
{
    struct sock *sock = conn->sock;
    if (rc == 0 && conn->face == 0) {
        rc = tcp_describe(conn);
    }
    if (rc != 0) {
        conn_not_connected(conn, rc);
        return;
    }
    if (conn->face == 0) {
        uv_poll_stop(conn->poll); /* until it has a face */
        conn_ask(conn, SOCK_CONNECTED);
        return;
    }
    int on = 1;
    setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    conn->state = SOCK_UP;
    conn->retries = 0;
    conn->in_since_ms = conn->out_since_ms = sock_now_ms(sock);
    conn_tell_updown(conn, true);
    if (conn_watch(conn) != 0) {
        conn_lost(conn);
    }
}

void tcp_connect(struct sock_conn *conn)
{
    conn->state = SOCK_CONNECTING;
    conn->deadline_ms = sock_now_ms(conn->sock) + CONNECT_MS;
    int fd = socket(conn->remote.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        conn_not_connected(conn, -errno);
        return;
    }
    conn->fd = conn->send_fd = fd;
    int rc = connect(fd, (const struct sockaddr *)&conn->remote, inet_len(&conn->remote)) == 0 ? 0 : -errno;
    if (rc == 0 || rc == -EINPROGRESS) {
        rc = conn_watch(conn); /* writable: there is an outcome */
    }
    if (rc != 0) {
        conn_not_connected(conn, rc);
    }
}

void tcp_connecting(struct sock_conn *conn)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0) {
        error = errno;
    }
    tcp_outcome(conn, -error);
}
