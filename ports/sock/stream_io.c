// SPDX-License-Identifier: Apache-2.0
/* Streams of concatenated packets: Unix and TCP. */
#include "ports/sock/private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Give the worker what is in @p p; keep what is left. @return false: closed */
static bool stream_input(struct sock_conn *conn, const uint8_t *p, size_t len)
{
    struct sock *sock = conn->sock;
    bool was_blocked = conn->blocked, fresh = conn->in.len == 0;
    size_t used = frames_of_stream(conn, p, len);
    if (used == SIZE_MAX) {
        sock_count(&sock->counters.malformed);
        conn_log(sock, conn->remote_uri, "closed: what it sends is no packet of at most 8800 octets");
        conn_lost(conn);
        return false;
    }
    if (used > 0 || fresh) {
        conn->in_since_ms = sock_now_ms(sock);
    }
    if (!queue_set(&conn->in, p + used, len - used)) {
        conn_lost(conn);
        return false;
    }
    if (conn->blocked) {
        conn_block(conn);
    }
    if (conn->blocked != was_blocked) {
        return conn_watch(conn) == 0 || (conn_lost(conn), false);
    }
    return true;
}

bool stream_unblock(struct sock_conn *conn)
{
    return stream_input(conn, queue_first(&conn->in), conn->in.len);
}

bool stream_readable(struct sock_conn *conn)
{
    struct sock *sock = conn->sock;
    uint8_t *p = sock->octets;
    /* Once only, so that a peer that sends a lot gets no more than its turn. */
    do {
        size_t have = conn->in.len;
        if (have > 0) {
            memcpy(p, queue_first(&conn->in), have);
        }
        ssize_t n = read(conn->fd, p + have, SOCK_READ);
        if (n < 0 && (errno == EAGAIN || errno == EINTR) && !conn->failed) {
            return true;
        }
        if (n <= 0) {
            conn_lost(conn);
            return false;
        }
        if (!stream_input(conn, p, have + (size_t)n)) {
            return false;
        }
    } while (conn->failed && !conn->blocked);
    if (conn->failed) {
        conn_lost(conn);
        return false;
    }
    return true;
}

static bool stream_broken(struct sock_conn *conn)
{
    conn_lost(conn);
    return false;
}

bool stream_writable(struct sock_conn *conn)
{
    while (conn->out.len > 0) {
        ssize_t n = send(conn->fd, queue_first(&conn->out), conn->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            if (errno == EAGAIN || errno == EINTR) {
                return true;
            }
            return stream_broken(conn);
        }
        queue_take(&conn->out, (size_t)n);
        conn->out_since_ms = sock_now_ms(conn->sock);
    }
    return conn_watch(conn) == 0 || stream_broken(conn);
}

/* Keep octets of a frame from @p off on for when the kernel takes them. @return false: there is no room */
static bool stream_keep(struct sock_conn *conn, const struct rte_mbuf *mbuf, size_t off)
{
    size_t len = mbuf->pkt_len - off;
    /* The rest of a frame that has been begun must be kept, or the stream would be nonsense. */
    if (off == 0 && conn->out.len + len > conn->sock->config.queue_max) {
        return false;
    }
    uint8_t *room = queue_room(&conn->out, len);
    if (room == NULL) {
        return false;
    }
    if (conn->out.len == 0) {
        conn->out_since_ms = sock_now_ms(conn->sock);
    }
    for (; mbuf != NULL; mbuf = mbuf->next) {
        if (off >= mbuf->data_len) {
            off -= mbuf->data_len;
            continue;
        }
        size_t n = mbuf->data_len - off;
        memcpy(room, rte_pktmbuf_mtod(mbuf, const uint8_t *) + off, n);
        room += n;
        off = 0;
    }
    queue_added(&conn->out, len);
    return true;
}

static void stream_keep_all(struct sock_conn *conn, uint32_t first, size_t off)
{
    struct sock *sock = conn->sock;
    bool was_empty = conn->out.len == 0;
    for (uint32_t i = first; i != SOCK_NONE; i = sock->batch_next[i]) {
        if (!stream_keep(conn, sock->batch[i], off)) {
            if (off > 0) {
                conn_lost(conn);
                return;
            }
            sock_count(&sock->counters.queue_full);
        }
        off = 0;
    }
    if (was_empty && conn_watch(conn) != 0) {
        conn_lost(conn);
    }
}

/* Write one packet, or keep what the kernel does not take. @return false: closed */
static bool stream_write(struct sock_conn *conn, const uint8_t *p, size_t len)
{
    size_t sent = 0;
    if (conn->out.len == 0) {
        ssize_t rc = send(conn->fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (rc < 0 && errno != EAGAIN && errno != EINTR) {
            return stream_broken(conn);
        }
        sent = rc > 0 ? (size_t)rc : 0;
    }
    if (sent == len) {
        return true;
    }
    if (sent == 0 && conn->out.len + len > conn->sock->config.queue_max) {
        sock_count(&conn->sock->counters.queue_full);
        return true;
    }
    uint8_t *room = queue_room(&conn->out, len - sent);
    if (room == NULL) {
        return stream_broken(conn);
    }
    memcpy(room, p + sent, len - sent);
    bool was_empty = conn->out.len == 0;
    if (was_empty) {
        conn->out_since_ms = sock_now_ms(conn->sock);
    }
    queue_added(&conn->out, len - sent);
    return !was_empty || conn_watch(conn) == 0 || stream_broken(conn);
}

void stream_send(struct sock_conn *conn, uint32_t first)
{
    struct sock *sock = conn->sock;
    struct iovec iov[IOV_MAX];
    size_t marked = conn_mark_due(conn) ? conn_marked(conn, sock->batch[first]) : 0;
    if (marked > 0) {
        first = sock->batch_next[first];
        if (!stream_write(conn, sock->marked, marked) || first == SOCK_NONE) {
            return;
        }
    }
    if (conn->out.len > 0) {
        stream_keep_all(conn, first, 0);
        return;
    }
    for (uint32_t i = first; i != SOCK_NONE;) {
        unsigned n = 0;
        size_t octets = 0;
        uint32_t end = i;
        for (; end != SOCK_NONE && n + sock->batch[end]->nb_segs <= IOV_MAX; end = sock->batch_next[end]) {
            for (struct rte_mbuf *seg = sock->batch[end]; seg != NULL; seg = seg->next) {
                iov[n++] = (struct iovec){.iov_base = rte_pktmbuf_mtod(seg, void *), .iov_len = seg->data_len};
                octets += seg->data_len;
            }
        }
        struct msghdr msg = {.msg_iov = iov, .msg_iovlen = n};
        ssize_t rc = sendmsg(conn->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (rc < 0 && errno != EAGAIN && errno != EINTR) {
            conn_lost(conn);
            return;
        }
        size_t sent = rc > 0 ? (size_t)rc : 0;
        if (sent == octets) {
            i = end;
            continue;
        }
        for (; sent >= sock->batch[i]->pkt_len; i = sock->batch_next[i]) {
            sent -= sock->batch[i]->pkt_len;
        }
        stream_keep_all(conn, i, sent);
        return;
    }
}
