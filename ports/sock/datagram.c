// SPDX-License-Identifier: Apache-2.0
/* Packets as datagrams: UDP, unicast and multicast. */
#include "ports/sock/private.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

/* Segments of the packets that one system call sends. */
#define IOV_COUNT 512

bool datagram_check(struct sock *sock, const uint8_t *p, size_t len)
{
    size_t size;
    if (stream_cut(p, len, &size) == STREAM_ELEMENT && size == len) {
        return true;
    }
    sock_count(&sock->counters.datagrams);
    return false;
}

size_t conn_marked(struct sock_conn *conn, const struct rte_mbuf *mbuf)
{
    struct sock *sock = conn->sock;
    /* A datagram must not grow beyond what the face carries. */
    if (mbuf->pkt_len > sizeof sock->flat || (conn->mtu != 0 && mbuf->pkt_len + MARK_SIZE_MAX > conn->mtu)) {
        return 0;
    }
    size_t len = mark_packet(sock->marked, sizeof sock->marked, sock->flat, frames_flatten(mbuf, sock->flat));
    if (len > 0) {
        sock_count(&sock->counters.marked);
    }
    return len;
}

void datagram_send(struct sock_conn *conn, uint32_t first, const struct msghdr *form)
{
    struct sock *sock = conn->sock;
    struct mmsghdr msgs[SOCK_DATAGRAMS];
    struct iovec iov[IOV_COUNT];
    size_t marked = conn_mark_due(conn) ? conn_marked(conn, sock->batch[first]) : 0;
    for (uint32_t i = first; i != SOCK_NONE;) {
        unsigned n = 0, n_iov = 0, sent = 0;
        bool again = false;
        for (; i != SOCK_NONE && n < SOCK_DATAGRAMS && n_iov + sock->batch[i]->nb_segs <= IOV_COUNT; n++) {
            msgs[n].msg_hdr = *form;
            msgs[n].msg_hdr.msg_iov = &iov[n_iov];
            if (marked > 0) {
                iov[n_iov++] = (struct iovec){.iov_base = sock->marked, .iov_len = marked};
                marked = 0;
            } else {
                for (struct rte_mbuf *seg = sock->batch[i]; seg != NULL; seg = seg->next) {
                    iov[n_iov++] = (struct iovec){.iov_base = rte_pktmbuf_mtod(seg, void *), .iov_len = seg->data_len};
                }
            }
            msgs[n].msg_hdr.msg_iovlen = (size_t)(&iov[n_iov] - msgs[n].msg_hdr.msg_iov);
            i = sock->batch_next[i];
        }
        while (sent < n) {
            int rc = sendmmsg(conn->send_fd, msgs + sent, n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (rc > 0) {
                sent += (unsigned)rc;
                continue;
            }
            if (rc < 0 && errno != EAGAIN && errno != EMSGSIZE && !again) {
                again = true; /* it may be the error of another datagram that went before */
                continue;
            }
            again = false;
            /* Nobody waits for a datagram: what the kernel does not take is lost, as it would be further on. */
            sock_count(&sock->counters.queue_full);
            sent++;
        }
    }
}
