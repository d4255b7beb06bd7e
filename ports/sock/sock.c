// SPDX-License-Identifier: Apache-2.0
/* The control thread's side. */
#include "ports/sock/private.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <libwebsockets.h>

#include <rte_lcore.h>

/* Descriptors beyond those of connections. */
#define SPARE_FDS 256

int sock_fail(char err[200], int rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, 200, format, args);
    va_end(args);
    return rc;
}

/* Each connection takes a descriptor. */
static void raise_fd_limit(const struct sock_config *config)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)config->faces_max * 4 + SPARE_FDS;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = RTE_MIN(wanted, limit.rlim_max);
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int sock_run(struct sock *sock, char err[200])
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the thread inherits it */
    int rc = rte_ctrl_thread_create(&sock->thread, "pitlane-io", NULL, io_main, sock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        return sock_fail(err, rc, "no thread: %s", strerror(-rc));
    }
    sock->running = true;
    return 0;
}

static int open_all(struct sock *sock, char err[200])
{
    const struct sock_config *config = &sock->config;
    int rc = config->unix_path != NULL ? unix_listen(sock, err) : 0;
    if (rc == 0 && config->tcp_listen && config->tcp_v4) {
        rc = tcp_listen(sock, SOCK_TCP, AF_INET, config->tcp_port, err);
    }
    if (rc == 0 && config->tcp_listen && config->tcp_v6) {
        rc = tcp_listen(sock, SOCK_TCP, AF_INET6, config->tcp_port, err);
    }
    if (rc == 0 && config->ws_listen && config->ws_v4) {
        rc = tcp_listen(sock, SOCK_WEBSOCKET, AF_INET, config->ws_port, err);
    }
    if (rc == 0 && config->ws_listen && config->ws_v6) {
        rc = tcp_listen(sock, SOCK_WEBSOCKET, AF_INET6, config->ws_port, err);
    }
    if (rc == 0) {
        rc = udp_open(sock, AF_INET, err);
    }
    if (rc == 0) {
        rc = udp_open(sock, AF_INET6, err);
    }
    if (rc == 0 && config->udp_multicast) {
        group_follow(sock);
    }
    return rc;
}

int sock_start(struct sock **sock, const struct sock_config *config, const struct sock_listener *listener,
               char err[200])
{
    struct sock *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return sock_fail(err, -ENOMEM, "out of memory");
    }
    made->config = *config;
    made->listener = *listener;
    made->frames = config->port->thread;
    made->events_end = &made->events;
    made->orders_end = &made->orders;
    pthread_mutex_init(&made->lock, NULL);
    made->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int rc = made->event_fd < 0 ? sock_fail(err, -errno, "%s", strerror(errno)) : 0;
    made->udp[0].fd = made->udp[1].fd = -1;
    raise_fd_limit(config);
    if (rc == 0) {
        rc = open_all(made, err);
    }
    if (rc == 0) {
        rc = io_init(made);
        made->looped = rc == 0;
        if (rc != 0) {
            sock_fail(err, rc, "no event loop: %s", uv_strerror(rc));
        }
    }
    if (rc != 0) {
        sock_stop(made);
        return rc;
    }
    *sock = made;
    return 0;
}

static int order(struct sock *sock, const struct sock_order *from)
{
    struct sock_order *made = malloc(sizeof *made);
    if (made == NULL) {
        return -ENOMEM;
    }
    *made = *from;
    sock_post_order(sock, made);
    return 0;
}

void sock_stop(struct sock *sock)
{
    if (sock == NULL) {
        return;
    }
    if (sock->running) {
        while (order(sock, &(struct sock_order){.kind = SOCK_ORDER_STOP}) != 0) {
            usleep(1000);
        }
        pthread_join(sock->thread, NULL);
    }
    if (sock->looped && !sock->running) {
        io_discard(sock);
    }
    if (sock->ws != NULL) {
        lws_context_destroy(sock->ws);
    }
    if (sock->looped) {
        uv_loop_close(&sock->loop);
    }
    for (unsigned i = 0; i < sock->n_servers; i++) {
        close(sock->server[i].fd);
    }
    for (unsigned i = 0; i < RTE_DIM(sock->udp); i++) {
        if (sock->udp[i].fd >= 0) {
            close(sock->udp[i].fd);
        }
    }
    unix_unlink(sock);
    for (struct sock_event *event = sock->events, *next; event != NULL; event = next) {
        next = event->next;
        if (event->kind == SOCK_CLOSED || (event->kind == SOCK_CONNECTED && event->rc != 0)) {
            conn_free(event->conn);
        } else if (event->heap) {
            free(event);
        }
    }
    for (struct sock_order *left = sock->orders, *next; left != NULL; left = next) {
        next = left->next;
        if (left->kind == SOCK_ORDER_CONNECT) {
            conn_free(left->conn);
        }
        free(left);
    }
    for (struct sock_conn *conn = sock->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (conn->fd >= 0) {
            close(conn->fd); /* of a group, when there never was a thread */
        }
        if (conn->kind == SOCK_UDP_GROUP && conn->send_fd >= 0) {
            close(conn->send_fd);
        }
        conn_free(conn);
    }
    if (sock->event_fd >= 0) {
        close(sock->event_fd);
    }
    pthread_mutex_destroy(&sock->lock);
    free(sock);
}

static uint32_t remote_hash(bool stream, const struct sockaddr_storage *address)
{
    return (inet_hash(address) + stream) % SOCK_HASH;
}

static bool indexed(const struct sock_conn *conn)
{
    return conn->kind == SOCK_TCP || conn->kind == SOCK_UDP;
}

static void control_add(struct sock *sock, struct sock_conn *conn, uint32_t face)
{
    conn->control_face = face;
    sock->control_by_face[face % FACE_SLOTS] = conn;
    if (indexed(conn)) {
        struct sock_conn **bucket = &sock->control_by_remote[remote_hash(conn->kind == SOCK_TCP, &conn->remote)];
        conn->control_next = *bucket;
        *bucket = conn;
    }
}

static void control_remove(struct sock *sock, struct sock_conn *conn)
{
    sock->control_by_face[conn->control_face % FACE_SLOTS] = NULL;
    conn->control_face = 0;
    if (indexed(conn)) {
        struct sock_conn **link = &sock->control_by_remote[remote_hash(conn->kind == SOCK_TCP, &conn->remote)];
        while (*link != conn) {
            link = &(*link)->control_next;
        }
        *link = conn->control_next;
    }
}

static struct sock_conn *control_find(const struct sock *sock, uint32_t face)
{
    struct sock_conn *conn = sock->control_by_face[face % FACE_SLOTS];
    return conn != NULL && conn->control_face == face ? conn : NULL;
}

static struct face_config face_config_of(const struct sock *sock, const struct sock_conn *conn)
{
    return (struct face_config){
        .port = sock->config.port->index,
        .kind = FACE_THREAD,
        .scope = conn->scope,
        .link_type = conn->link_type,
        .persistency = atomic_load_explicit(&conn->persistency, memory_order_relaxed),
        .flags = conn->flags,
        .mtu = conn->mtu,
        .local_uri = conn->local_uri,
        .remote_uri = conn->remote_uri,
        .congestion_interval_ns = conn->congestion_interval_ns,
        .congestion_threshold = conn->congestion_threshold,
    };
}

static void answer(struct sock *sock, struct sock_conn *conn, uint32_t face)
{
    if (face != 0) {
        control_add(sock, conn, face);
    }
    while (order(sock, &(struct sock_order){.kind = SOCK_ORDER_FACE, .conn = conn, .face = face}) != 0) {
        usleep(1000); /* the I/O thread waits for it */
    }
}

static void tell(struct sock *sock, struct sock_event *event)
{
    const struct sock_listener *listener = &sock->listener;
    struct sock_conn *conn = event->conn;
    struct face_config config;
    switch (event->kind) {
    case SOCK_ACCEPTED:
        config = face_config_of(sock, conn);
        answer(sock, conn, listener->accepted(listener->ctx, &config));
        break;
    case SOCK_CONNECTED:
        config = face_config_of(sock, conn);
        if (event->rc == 0) {
            answer(sock, conn, listener->connected(listener->ctx, conn->ticket, 0, &config));
        } else {
            listener->connected(listener->ctx, conn->ticket, event->rc, NULL);
            conn_free(conn);
        }
        break;
    case SOCK_CLOSED:
        if (conn->control_face != 0) {
            uint32_t face = conn->control_face;
            control_remove(sock, conn);
            listener->closed(listener->ctx, face);
        }
        conn_free(conn);
        break;
    case SOCK_UPDOWN:
        if (control_find(sock, event->face) != NULL) {
            listener->updown(listener->ctx, event->face, event->up);
        }
        break;
    }
}

int sock_fd(const struct sock *sock)
{
    return sock->event_fd;
}

void sock_poll(struct sock *sock)
{
    for (struct sock_event *event = sock_take_events(sock), *next; event != NULL; event = next) {
        bool heap = event->heap; /* the others go with their connection */
        next = event->next;
        tell(sock, event);
        if (heap) {
            free(event);
        }
    }
}

void sock_close(struct sock *sock, uint32_t face)
{
    struct sock_conn *conn = control_find(sock, face);
    if (conn == NULL) {
        return;
    }
    control_remove(sock, conn);
    while (order(sock, &(struct sock_order){.kind = SOCK_ORDER_CLOSE, .face = face}) != 0) {
        usleep(1000);
    }
}

void sock_changed(struct sock *sock, const struct face *face)
{
    struct sock_conn *conn = control_find(sock, face->id);
    if (conn == NULL) {
        return;
    }
    order(sock, &(struct sock_order){.kind = SOCK_ORDER_CHANGE,
                                     .face = face->id,
                                     .persistency = face->persistency,
                                     .flags = face->flags,
                                     .mtu = face->mtu,
                                     .congestion_interval_ns = face->config.congestion_interval_ns,
                                     .congestion_threshold = face->config.congestion_threshold});
}

unsigned sock_channels(const struct sock *sock, const char *const **uris)
{
    *uris = sock->channels;
    return sock->n_channels;
}

int sock_connect(struct sock *sock, const struct sock_remote *remote, uint64_t ticket)
{
    if (remote->address.ss_family != AF_INET && remote->address.ss_family != AF_INET6) {
        return -EAFNOSUPPORT;
    }
    struct sock_conn *conn = conn_new(sock, remote->stream ? SOCK_TCP : SOCK_UDP);
    if (conn == NULL) {
        return -ENOMEM;
    }
    conn->remote = remote->address;
    conn->ticket = ticket;
    conn->flags = remote->flags;
    conn->mtu = remote->mtu != 0 ? remote->mtu : remote->stream ? 0 : sock->config.udp_mtu;
    conn->congestion_interval_ns = remote->congestion_interval_ns;
    conn->congestion_threshold = remote->congestion_threshold;
    atomic_init(&conn->persistency, remote->persistency);
    int rc = order(sock, &(struct sock_order){.kind = SOCK_ORDER_CONNECT, .conn = conn});
    if (rc != 0) {
        conn_free(conn);
    }
    return rc;
}

uint32_t sock_find(const struct sock *sock, bool stream, const struct sockaddr_storage *address)
{
    for (const struct sock_conn *conn = sock->control_by_remote[remote_hash(stream, address)]; conn != NULL;
         conn = conn->control_next) {
        if ((conn->kind == SOCK_TCP) == stream && inet_same(&conn->remote, address)) {
            return conn->control_face;
        }
    }
    return 0;
}

int64_t sock_expires_ms(const struct sock *sock, uint32_t face)
{
    const struct sock_conn *conn = control_find(sock, face);
    if (conn == NULL || conn->kind != SOCK_UDP ||
        atomic_load_explicit(&conn->persistency, memory_order_relaxed) != FACE_ON_DEMAND) {
        return -1;
    }
    uint64_t idle_ms = (uint64_t)sock->config.udp_idle_s * 1000;
    uint64_t since_ms = uv_hrtime() / 1000000 - atomic_load_explicit(&conn->last_rx_ms, memory_order_relaxed);
    return since_ms < idle_ms ? (int64_t)(idle_ms - since_ms) : 0;
}
