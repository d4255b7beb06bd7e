// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/private.h"

#include <rte_log.h>

#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* First and longest time between two attempts to reach the peer of a permanent face. */
#define RETRY_FIRST_MS 1000
#define RETRY_MAX_MS   64000
/* Octets in the send queue above which packets are marked (NFD's DefaultCongestionThreshold). */
#define CONGESTION_THRESHOLD   65536
#define CONGESTION_INTERVAL_NS 100000000 /* how long it may be there first (BaseCongestionMarkingInterval) */

struct sock_conn *conn_new(struct sock *sock, enum sock_kind kind)
{
    struct sock_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        return NULL;
    }
    conn->sock = sock;
    conn->kind = kind;
    conn->fd = conn->send_fd = -1;
    atomic_init(&conn->persistency, FACE_ON_DEMAND);
    conn->link_type = FACE_LINK_P2P;
    conn->flags = sock->config.congestion_marking ? FACE_CONGESTION_MARKING : 0;
    conn->first = SOCK_NONE;
    return conn;
}

void conn_free(struct sock_conn *conn)
{
    queue_clear(&conn->in);
    queue_clear(&conn->out);
    free(conn);
}

void conn_log(struct sock *sock, const char *peer, const char *why)
{
    uint64_t now_ms = sock_now_ms(sock);
    if (sock->logged_ms != 0 && now_ms - sock->logged_ms < 1000) {
        return;
    }
    sock->logged_ms = now_ms;
    RTE_LOG(WARNING, USER1, "%s: %s\n", peer, why);
}

void conn_link(struct sock_conn *conn)
{
    struct sock *sock = conn->sock;
    conn->next = sock->conns;
    conn->link = &sock->conns;
    if (conn->next != NULL) {
        conn->next->link = &conn->next;
    }
    sock->conns = conn;
}

static void conn_unlink(struct sock_conn *conn)
{
    *conn->link = conn->next;
    if (conn->next != NULL) {
        conn->next->link = conn->link;
    }
    conn->link = NULL;
}

void conn_ask(struct sock_conn *conn, enum sock_event_kind kind)
{
    if (conn->link == NULL) {
        conn_link(conn);
    }
    conn->state = SOCK_PENDING;
    conn->asked = true;
    conn->first_event = (struct sock_event){.kind = kind, .conn = conn};
    sock_post_event(conn->sock, &conn->first_event);
}

static bool conn_readable(struct sock_conn *conn)
{
    return conn->kind == SOCK_UDP_GROUP ? group_readable(conn) : stream_readable(conn);
}

/* An error, an end of stream and octets all wake us up as "readable". */
static void on_poll(uv_poll_t *handle, int status, int events)
{
    struct sock_conn *conn = handle->data;
    if (conn->state == SOCK_CONNECTING) {
        tcp_connecting(conn);
        return;
    }
    if (status < 0) {
        conn->failed = true; /* what the peer had sent before is still there */
    }
    if ((conn->failed || (events & UV_READABLE) != 0) && !conn_readable(conn)) {
        return;
    }
    if ((events & UV_WRITABLE) != 0) {
        stream_writable(conn);
    }
}

int conn_watch(struct sock_conn *conn)
{
    if (conn->poll == NULL) {
        conn->poll = malloc(sizeof *conn->poll);
        if (conn->poll == NULL) {
            return -ENOMEM;
        }
        int rc = uv_poll_init(&conn->sock->loop, conn->poll, conn->fd);
        if (rc != 0) {
            free(conn->poll);
            conn->poll = NULL;
            return rc;
        }
        conn->poll->data = conn;
    }
    if (conn->state == SOCK_CONNECTING) {
        return uv_poll_start(conn->poll, UV_WRITABLE, on_poll);
    }
    int events = (conn->blocked ? 0 : UV_READABLE) | (conn->out.len > 0 ? UV_WRITABLE : 0);
    return uv_poll_start(conn->poll, events, on_poll); /* without events it stops */
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

/* The connection without its descriptor. */
static void conn_unwatch(struct sock_conn *conn)
{
    if (conn->ws != NULL) {
        ws_close(conn);
    }
    if (conn->poll != NULL) {
        uv_close((uv_handle_t *)conn->poll, on_closed);
        conn->poll = NULL;
    }
    if (conn->fd >= 0) {
        close(conn->fd);
    }
    if (conn->kind == SOCK_UDP_GROUP && conn->send_fd >= 0) {
        close(conn->send_fd);
    }
    conn->fd = conn->send_fd = -1;
    conn->failed = false;
    queue_clear(&conn->in);
    queue_clear(&conn->out);
}

void conn_block(struct sock_conn *conn)
{
    conn->next_blocked = conn->sock->blocked;
    conn->sock->blocked = conn;
}

static void conn_unblock(struct sock_conn *conn)
{
    for (struct sock_conn **link = &conn->sock->blocked; *link != NULL; link = &(*link)->next_blocked) {
        if (*link == conn) {
            *link = conn->next_blocked;
            return;
        }
    }
}

void conn_close(struct sock_conn *conn)
{
    struct sock *sock = conn->sock;
    if (conn->state != SOCK_GONE) {
        conn_unwatch(conn);
        if (conn->blocked) {
            conn_unblock(conn);
        }
        if (conn->face != 0) {
            if (sock->by_face[conn->face % FACE_SLOTS] == conn) {
                sock->by_face[conn->face % FACE_SLOTS] = NULL;
            }
            sock_count(&sock->counters.closed);
        }
        conn->state = SOCK_GONE;
    }
    if (conn->kind == SOCK_UDP) {
        udp_remove(conn);
    }
    if (conn->asked) {
        return; /* the answer is on its way, and names the connection */
    }
    if (conn->counted) {
        sock->n_accepted[conn->kind]--;
    }
    conn_unlink(conn);
    conn->closed_event = (struct sock_event){.kind = SOCK_CLOSED, .conn = conn};
    sock_post_event(sock, &conn->closed_event); /* the control thread frees it */
}

void conn_count(struct sock_conn *conn)
{
    conn->counted = true;
    conn->sock->n_accepted[conn->kind]++;
}

void conn_tell_updown(struct sock_conn *conn, bool up)
{
    struct sock_event *event = malloc(sizeof *event);
    if (event != NULL) { /* without memory a list shows an old state for a while */
        *event = (struct sock_event){.kind = SOCK_UPDOWN, .face = conn->face, .up = up, .heap = true};
        sock_post_event(conn->sock, event);
    }
}

/* Wait, longer after each attempt, and try again. */
static void conn_retry(struct sock_conn *conn)
{
    conn_unwatch(conn);
    if (conn->blocked) {
        conn_unblock(conn);
        conn->blocked = false;
    }
    uint64_t wait_ms = RTE_MIN((uint64_t)RETRY_MAX_MS, (uint64_t)RETRY_FIRST_MS << RTE_MIN(conn->retries, 16u));
    conn->retries++;
    conn->retry_ms = sock_now_ms(conn->sock) + wait_ms;
    conn->state = SOCK_DOWN;
}

void conn_lost(struct sock_conn *conn)
{
    bool permanent = atomic_load_explicit(&conn->persistency, memory_order_relaxed) == FACE_PERMANENT;
    if (conn->kind != SOCK_TCP || !permanent || conn->face == 0) {
        conn_close(conn);
        return;
    }
    if (conn->state == SOCK_UP) {
        conn_tell_updown(conn, false);
    }
    conn_retry(conn);
}

void conn_not_connected(struct sock_conn *conn, int rc)
{
    if (conn->face != 0) {
        conn_lost(conn);
        return;
    }
    conn_unwatch(conn);
    conn_unlink(conn);
    conn->state = SOCK_GONE;
    conn->first_event = (struct sock_event){.kind = SOCK_CONNECTED, .conn = conn, .rc = rc};
    sock_post_event(conn->sock, &conn->first_event); /* the control thread frees it */
}

/* Is its send queue above its threshold? Asks the kernel at most once a millisecond. */
static bool conn_congested(struct sock_conn *conn)
{
    uint64_t now_ms = sock_now_ms(conn->sock);
    uint64_t threshold = conn->congestion_threshold != 0 ? conn->congestion_threshold : CONGESTION_THRESHOLD;
    if (now_ms != conn->level_ms) {
        int queued = 0;
        ioctl(conn->send_fd, SIOCOUTQ, &queued);
        conn->level_ms = now_ms;
        conn->congested = (uint64_t)queued + conn->out.len > threshold;
    }
    return conn->congested;
}

void conn_set_face(struct sock_conn *conn, uint32_t face)
{
    struct sock *sock = conn->sock;
    conn->asked = false;
    if (face == 0 || conn->state == SOCK_GONE) {
        if (face == 0) {
            sock_count(&sock->counters.refused);
        }
        conn_close(conn);
        return;
    }
    conn->face = face;
    conn->state = SOCK_UP;
    conn->in_since_ms = conn->out_since_ms = sock_now_ms(sock);
    atomic_store_explicit(&conn->last_rx_ms, sock_now_ms(sock), memory_order_relaxed);
    sock->by_face[face % FACE_SLOTS] = conn;
    sock_count(&sock->counters.accepted);
    if (conn->kind == SOCK_UDP) {
        udp_up(conn);
    } else if (conn->kind == SOCK_WEBSOCKET) {
        ws_up(conn);
    } else if (conn_watch(conn) != 0) {
        conn_close(conn);
    }
}

bool conn_mark_due(struct sock_conn *conn)
{
    if ((conn->flags & FACE_CONGESTION_MARKING) == 0) {
        return false;
    }
    bool above = conn_congested(conn);
    if (!above && conn->mark.next_ns == 0) {
        return false;
    }
    uint64_t interval_ns = conn->congestion_interval_ns != 0 ? conn->congestion_interval_ns : CONGESTION_INTERVAL_NS;
    return mark_due(&conn->mark, above, sock_now_ms(conn->sock) * 1000000, interval_ns);
}
