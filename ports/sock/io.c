// SPDX-License-Identifier: Apache-2.0
/* The I/O thread: its loop, its turns. */
#include "ports/sock/private.h"

#include <linux/capability.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_lcore.h>

/* Batches written in one turn, before the sockets are read again. */
#define BATCHES_MAX 4
/* How soon multicast faces follow a change of interfaces, as NFD does it. */
#define FOLLOW_MS 5000

static void io_send(struct sock_conn *conn, uint32_t first)
{
    switch (conn->kind) {
    case SOCK_UNIX:
    case SOCK_TCP:
        stream_send(conn, first);
        break;
    case SOCK_UDP:
        udp_send(conn, first);
        break;
    case SOCK_UDP_GROUP:
        group_send(conn, first);
        break;
    case SOCK_WEBSOCKET:
        ws_send(conn, first);
        break;
    }
}

static void io_unblock(struct sock *sock)
{
    struct sock_conn *conn = sock->blocked, *next;
    sock->blocked = NULL;
    for (; conn != NULL; conn = next) {
        next = conn->next_blocked;
        stream_unblock(conn);
    }
}

static void close_handle(void *handle)
{
    if (!uv_is_closing(handle)) {
        uv_close(handle, NULL);
    }
}

/* Those of connections go with them, and those of libwebsockets with its context. */
static void io_close_handles(struct sock *sock)
{
    void *handles[] = {&sock->async, &sock->wake, &sock->prepare, &sock->check, &sock->idle, &sock->timer};
    for (unsigned i = 0; i < RTE_DIM(handles); i++) {
        close_handle(handles[i]);
    }
    for (unsigned i = 0; i < sock->n_servers; i++) {
        close_handle(&sock->server[i].poll);
    }
    for (unsigned i = 0; i < RTE_DIM(sock->udp); i++) {
        if (sock->udp[i].fd >= 0) {
            close_handle(&sock->udp[i].poll);
        }
    }
    ws_stop(sock);
}

static void on_change(struct sock *sock, const struct sock_order *order)
{
    struct sock_conn *conn = sock_of_face(sock, order->face);
    if (conn == NULL) {
        return;
    }
    atomic_store_explicit(&conn->persistency, order->persistency, memory_order_relaxed);
    conn->flags = order->flags;
    conn->mtu = order->mtu;
    conn->congestion_interval_ns = order->congestion_interval_ns;
    conn->congestion_threshold = order->congestion_threshold;
    if (conn->state == SOCK_DOWN && order->persistency != FACE_PERMANENT) {
        conn_close(conn);
    }
}

static void io_orders(struct sock *sock)
{
    struct sock_order *order = sock_take_orders(sock), *next;
    for (; order != NULL; order = next) {
        struct sock_conn *conn;
        next = order->next;
        switch (order->kind) {
        case SOCK_ORDER_FACE:
            conn_set_face(order->conn, order->face);
            break;
        case SOCK_ORDER_CONNECT:
            conn_link(order->conn);
            if (order->conn->kind == SOCK_TCP) {
                tcp_connect(order->conn);
            } else {
                udp_connect(order->conn);
            }
            break;
        case SOCK_ORDER_CLOSE:
            conn = sock_of_face(sock, order->face);
            if (conn != NULL) {
                conn_close(conn);
            }
            break;
        case SOCK_ORDER_CHANGE:
            on_change(sock, order);
            break;
        case SOCK_ORDER_STOP:
            sock->stopping = true; /* at the end of the turn */
            break;
        }
        free(order);
    }
}

static void on_orders(uv_async_t *async)
{
    io_orders(async->data);
}

/* Write what the workers sent. @return frames */
static unsigned io_write(struct sock *sock)
{
    uint16_t n = thread_port_receive(sock->frames, sock->batch, SOCK_BATCH);
    /* A face comes before the first frame for it, and goes after the last. */
    if (n > 0 && atomic_load_explicit(&sock->ordered, memory_order_acquire)) {
        io_orders(sock);
    }
    struct sock_conn *touched = NULL, **end = &touched;
    for (uint16_t i = 0; i < n; i++) {
        struct sock_conn *conn = sock_of_face(sock, thread_port_face(sock->batch[i]));
        if (conn == NULL || conn->state != SOCK_UP) {
            sock_count(&sock->counters.no_face);
            continue;
        }
        sock->batch_next[i] = SOCK_NONE;
        if (conn->first == SOCK_NONE) {
            conn->first = i;
            conn->next_touched = NULL;
            *end = conn;
            end = &conn->next_touched;
        } else {
            sock->batch_next[conn->last] = i;
        }
        conn->last = i;
    }
    while (touched != NULL) {
        struct sock_conn *conn = touched;
        uint32_t first = conn->first;
        touched = conn->next_touched;
        conn->first = SOCK_NONE;
        io_send(conn, first); /* the connection may be gone after */
    }
    rte_pktmbuf_free_bulk(sock->batch, n);
    return n;
}

static void io_stop(struct sock *sock)
{
    unsigned n = 0;
    sock->stopped = true;
    while (io_write(sock) > 0 && n++ < BATCHES_MAX) {
    }
    for (struct sock_conn *conn = sock->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        if (sock_is_stream(conn) && conn->state == SOCK_UP && conn->out.len > 0 && !stream_writable(conn)) {
            continue; /* closed */
        }
        conn_close(conn);
    }
    io_close_handles(sock);
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle; /* its presence keeps the loop from sleeping */
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct sock *sock = prepare->data;
    bool idling = sock->blocked != NULL || !thread_port_sleep(sock->frames);
    if (idling == sock->idling) {
        return;
    }
    sock->idling = idling;
    if (idling) {
        uv_idle_start(&sock->idle, on_idle);
    } else {
        uv_idle_stop(&sock->idle);
    }
}

static void on_check(uv_check_t *check)
{
    struct sock *sock = check->data;
    unsigned work = 0, n, i = 0;
    thread_port_awake(sock->frames);
    do {
        n = io_write(sock);
        work += n;
    } while (n == SOCK_BATCH && ++i < BATCHES_MAX);
    if (sock->blocked != NULL) {
        if (work == 0) {
            const struct timespec pause = {.tv_nsec = 20000}; /* for the worker to make room */
            nanosleep(&pause, NULL);
        }
        io_unblock(sock);
    }
    if (sock->stopping && !sock->stopped) {
        io_stop(sock);
    }
}

static void on_wake(uv_poll_t *handle, int status, int events)
{
    struct sock *sock = handle->data;
    (void)status;
    (void)events;
    thread_port_wake(sock->frames);
}

/* Peers that do nothing while something is expected of them. */
static bool io_stalled(struct sock_conn *conn, uint64_t now_ms)
{
    int queued = 0;
    if (conn->out.len > 0 && sock_is_stream(conn) && ioctl(conn->fd, SIOCOUTQ, &queued) == 0 &&
        queued != conn->queued) {
        conn->queued = queued; /* it reads, if not enough for us to write */
        conn->out_since_ms = now_ms;
    }
    uint32_t stall_ms = conn->sock->config.stall_ms;
    return (conn->out.len > 0 && now_ms - conn->out_since_ms >= stall_ms) ||
           (conn->in.len > 0 && !conn->blocked && now_ms - conn->in_since_ms >= stall_ms);
}

static bool io_idle(const struct sock_conn *conn, uint64_t now_ms)
{
    return conn->kind == SOCK_UDP && atomic_load_explicit(&conn->persistency, memory_order_relaxed) == FACE_ON_DEMAND &&
           now_ms - atomic_load_explicit(&conn->last_rx_ms, memory_order_relaxed) >=
               (uint64_t)conn->sock->config.udp_idle_s * 1000;
}

static void io_look_after(struct sock_conn *conn, uint64_t now_ms)
{
    switch (conn->state) {
    case SOCK_UP:
        if (io_stalled(conn, now_ms)) {
            sock_count(&conn->sock->counters.stalled);
            conn_log(conn->sock, conn->remote_uri, "closed: it neither reads nor completes a packet");
            conn_lost(conn);
        } else if (io_idle(conn, now_ms)) {
            conn_close(conn);
        }
        break;
    case SOCK_CONNECTING:
        if (now_ms >= conn->deadline_ms) {
            conn_not_connected(conn, -ETIMEDOUT);
        }
        break;
    case SOCK_DOWN:
        if (now_ms >= conn->retry_ms) {
            tcp_connect(conn);
        }
        break;
    default:
        break;
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct sock *sock = timer->data;
    uint64_t now_ms = sock_now_ms(sock);
    for (struct sock_conn *conn = sock->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        io_look_after(conn, now_ms);
    }
    for (unsigned i = 0; i < sock->n_servers; i++) {
        server_resume(&sock->server[i]);
    }
    if (sock->config.udp_multicast && now_ms - sock->followed_ms >= FOLLOW_MS) {
        sock->followed_ms = now_ms;
        group_follow(sock);
    }
}

/* It reads what peers send, and needs no right for that. */
static void drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    syscall(SYS_capset, &header, data);
    prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul);
}

void *io_main(void *arg)
{
    struct sock *sock = arg;
    drop_capabilities();
    rte_thread_register(); /* for a mempool cache of its own; without it things are slower, not wrong */
    uv_run(&sock->loop, UV_RUN_DEFAULT);
    rte_thread_unregister();
    return NULL;
}

int io_init(struct sock *sock)
{
    int rc = uv_loop_init(&sock->loop);
    if (rc != 0) {
        return rc;
    }
    uv_async_init(&sock->loop, &sock->async, on_orders);
    uv_poll_init(&sock->loop, &sock->wake, sock->frames->wake_fd);
    uv_prepare_init(&sock->loop, &sock->prepare);
    uv_check_init(&sock->loop, &sock->check);
    uv_idle_init(&sock->loop, &sock->idle);
    uv_timer_init(&sock->loop, &sock->timer);
    sock->async.data = sock->wake.data = sock->prepare.data = sock->check.data = sock->idle.data = sock->timer.data =
        sock;
    uv_poll_start(&sock->wake, UV_READABLE, on_wake);
    uv_prepare_start(&sock->prepare, on_prepare);
    uv_check_start(&sock->check, on_check);
    uint64_t period_ms = RTE_MAX(10u, RTE_MIN(1000u, sock->config.stall_ms / 4));
    uv_timer_start(&sock->timer, on_timer, period_ms, period_ms);
    for (unsigned i = 0; i < sock->n_servers && rc == 0; i++) {
        rc = server_start(&sock->server[i]);
    }
    for (unsigned i = 0; i < RTE_DIM(sock->udp) && rc == 0; i++) {
        rc = udp_start(&sock->udp[i]);
    }
    if (rc == 0 && sock->config.ws_listen) {
        rc = ws_init(sock);
    }
    return rc;
}

void io_discard(struct sock *sock)
{
    io_close_handles(sock);
    uv_run(&sock->loop, UV_RUN_DEFAULT);
}
