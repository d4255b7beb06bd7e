// SPDX-License-Identifier: Apache-2.0
/* Octets of sockets as frames for the workers. */
#include "ports/sock/private.h"

#include <string.h>

#include <rte_mbuf.h>

static struct rte_mbuf *frame_of(struct sock *sock, const uint8_t *p, size_t len)
{
    struct rte_mbuf *head = rte_pktmbuf_alloc(sock->config.pool);
    if (unlikely(head == NULL)) {
        return NULL;
    }
    uint16_t n = (uint16_t)RTE_MIN(len, (size_t)rte_pktmbuf_tailroom(head));
    memcpy(rte_pktmbuf_mtod(head, void *), p, n);
    head->data_len = n;
    head->pkt_len = (uint32_t)len;
    struct rte_mbuf *tail = head;
    for (size_t off = n; unlikely(off < len); off += n) {
        struct rte_mbuf *seg = rte_pktmbuf_alloc(sock->config.pool);
        if (seg == NULL) {
            rte_pktmbuf_free(head);
            return NULL;
        }
        seg->data_off = 0;
        n = (uint16_t)RTE_MIN(len - off, (size_t)seg->buf_len);
        memcpy(rte_pktmbuf_mtod(seg, void *), p + off, n);
        seg->data_len = n;
        tail->next = seg;
        tail = seg;
        head->nb_segs++;
    }
    return head;
}

static uint16_t worker_of(const struct sock_conn *conn)
{
    return (uint16_t)(conn->face % conn->sock->frames->n_queues);
}

size_t frames_of_stream(struct sock_conn *conn, const uint8_t *p, size_t len)
{
    struct sock *sock = conn->sock;
    struct rte_mbuf *mbufs[64];
    uint16_t queue = worker_of(conn), n = 0;
    uint32_t room = thread_port_room(sock->frames, queue);
    size_t used = 0, size = 0;
    enum stream_verdict verdict = STREAM_MORE;
    while (room > 0 && (verdict = stream_cut(p + used, len - used, &size)) == STREAM_ELEMENT) {
        struct rte_mbuf *mbuf = frame_of(sock, p + used, size);
        used += size;
        if (unlikely(mbuf == NULL)) {
            sock_count(&sock->counters.no_mbuf);
            continue;
        }
        thread_port_set_face(mbuf, conn->face);
        mbufs[n++] = mbuf;
        room--;
        if (n == RTE_DIM(mbufs)) {
            thread_port_send(sock->frames, queue, mbufs, n); /* there is room for them: nobody else fills the ring */
            n = 0;
        }
    }
    thread_port_send(sock->frames, queue, mbufs, n);
    if (verdict == STREAM_BAD) {
        return SIZE_MAX;
    }
    /* What is left is an element without room, or the beginning of one. */
    conn->blocked = room == 0 && stream_cut(p + used, len - used, &size) == STREAM_ELEMENT;
    return used;
}

void frames_of_packet(struct sock_conn *conn, const uint8_t *p, size_t len, uint32_t sender)
{
    struct sock *sock = conn->sock;
    struct rte_mbuf *mbuf = frame_of(sock, p, len);
    if (mbuf == NULL) {
        sock_count(&sock->counters.no_mbuf);
        return;
    }
    thread_port_set_face(mbuf, conn->face);
    thread_port_set_sender(mbuf, sender);
    if (thread_port_send(sock->frames, worker_of(conn), &mbuf, 1) == 0) {
        sock_count(&sock->counters.ring_full);
        rte_pktmbuf_free(mbuf);
    }
}

size_t frames_flatten(const struct rte_mbuf *mbuf, uint8_t *p)
{
    size_t len = 0;
    for (; mbuf != NULL; len += mbuf->data_len, mbuf = mbuf->next) {
        memcpy(p + len, rte_pktmbuf_mtod(mbuf, const void *), mbuf->data_len);
    }
    return len;
}
