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

static void accept_one(struct sock_server *server, int fd, const struct sockaddr_storage *remote)
{
    struct sock *sock = server->sock;
    if (sock->n_accepted[server->kind] >= sock->config.faces_max) {
        conn_log(sock, server->uri, "refuses connections: as many as there may be are open");
        sock_count(&sock->counters.refused);
        close(fd);
    } else if (server->kind == SOCK_UNIX) {
        unix_accepted(server, fd);
    } else if (server->kind == SOCK_WEBSOCKET) {
        ws_accepted(sock, fd);
    } else {
        tcp_accepted(sock, fd, remote);
    }
}

static void on_connection(uv_poll_t *handle, int status, int events)
{
    struct sock_server *server = handle->data;
    struct sock *sock = server->sock;
    (void)status;
    (void)events;
    for (unsigned i = 0; i < ACCEPT_MAX; i++) {
        struct sockaddr_storage remote = {0};
        socklen_t len = sizeof remote;
        int fd = accept4(server->fd, (struct sockaddr *)&remote, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            conn_log(sock, server->uri, strerror(errno));
            uv_poll_stop(handle); /* until the timer looks again: the loop must not turn and turn meanwhile */
            server->paused = true;
            return;
        }
        if (fd < 0) {
            return;
        }
        accept_one(server, fd, &remote);
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
