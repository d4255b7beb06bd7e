// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Connections accepted in one turn: those that are there shall have theirs, too. */
#define ACCEPT_MAX 64

int server_add(struct sock *sock, enum sock_kind kind, int fd, const char *uri)
{
    if (sock->n_servers == SOCK_SERVERS_MAX || sock->n_channels == SOCK_CHANNELS_MAX) {
        return -ENOSPC;
    }
    struct sock_server *server = &sock->server[sock->n_servers++];
    *server = (struct sock_server){.sock = sock, .kind = kind, .fd = fd};
    snprintf(server->uri, sizeof server->uri, "%s", uri);
    sock->channels[sock->n_channels++] = server->uri;
    return 0;
}

static void accept_unix(struct sock_server *server, int fd)
{
    struct sock *sock = server->sock;
    char peer[64];
    uid_t uid = 0;
    if (!unix_allowed(sock, fd, &uid)) {
        snprintf(peer, sizeof peer, "peer of account %u", (unsigned)uid);
        conn_log(sock, peer, "may not connect to the Unix socket");
        sock_count(&sock->counters.refused);
        close(fd);
        return;
    }
    struct sock_conn *conn = conn_new(sock, SOCK_UNIX);
    if (conn == NULL) {
        close(fd);
        return;
    }
    conn->fd = conn->send_fd = fd;
    conn->scope = FACE_SCOPE_LOCAL;
    conn->counted = true;
    sock->n_accepted[SOCK_UNIX]++;
    snprintf(conn->local_uri, sizeof conn->local_uri, "%s", server->uri);
    snprintf(conn->remote_uri, sizeof conn->remote_uri, "fd://%d", fd);
    conn_ask(conn, SOCK_ACCEPTED);
}

static void on_connection(uv_poll_t *handle, int status, int events)
{
    struct sock_server *server = handle->data;
    struct sock *sock = server->sock;
    (void)status;
    (void)events;
    for (unsigned i = 0; i < ACCEPT_MAX; i++) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            conn_log(sock, server->uri, strerror(errno));
            uv_poll_stop(handle); /* until the timer looks again: the loop must not turn and turn meanwhile */
            server->paused = true;
            return;
        }
        if (fd < 0) {
            return;
        }
        if (sock->n_accepted[server->kind] >= sock->config.faces_max) {
            conn_log(sock, server->uri, "refuses connections: as many as there may be are open");
            sock_count(&sock->counters.refused);
            close(fd);
            continue;
        }
        accept_unix(server, fd);
    }
}

int server_start(struct sock_server *server)
{
    int rc = uv_poll_init(&server->sock->loop, &server->poll, server->fd);
    server->poll.data = server;
    return rc != 0 ? rc : uv_poll_start(&server->poll, UV_READABLE, on_connection);
}

void server_resume(struct sock_server *server)
{
    if (server->paused) {
        server->paused = false;
        uv_poll_start(&server->poll, UV_READABLE, on_connection);
    }
}
