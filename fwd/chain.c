// SPDX-License-Identifier: Apache-2.0
#include "fwd/chain.h"

#include <string.h>

void chain_read(const struct rte_mbuf *mbuf, uint32_t off, void *buf, uint32_t len)
{
    uint8_t *to = buf;
    while (off >= mbuf->data_len) {
        off -= mbuf->data_len;
        mbuf = mbuf->next;
    }
    while (len > 0) {
        uint32_t n = RTE_MIN(mbuf->data_len - off, len);
        memcpy(to, rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, off), n);
        to += n;
        len -= n;
        off = 0;
        mbuf = mbuf->next;
    }
}

void chain_write_octet(struct rte_mbuf *mbuf, uint32_t off, uint8_t octet)
{
    while (off >= mbuf->data_len) {
        off -= mbuf->data_len;
        mbuf = mbuf->next;
    }
    *rte_pktmbuf_mtod_offset(mbuf, uint8_t *, off) = octet;
}

struct rte_mbuf *chain_cut(struct rte_mbuf *mbuf, uint32_t off, uint32_t len)
{
    struct rte_mbuf *head = mbuf;
    while (off >= head->data_len) {
        struct rte_mbuf *next = head->next;
        off -= head->data_len;
        rte_pktmbuf_free_seg(head);
        head = next;
    }
    head->data_off = (uint16_t)(head->data_off + off);
    head->data_len = (uint16_t)(head->data_len - off);
    head->pkt_len = len;
    uint16_t n_segs = 1;
    struct rte_mbuf *last = head;
    while (len > last->data_len) {
        len -= last->data_len;
        last = last->next;
        n_segs++;
    }
    last->data_len = (uint16_t)len;
    rte_pktmbuf_free(last->next);
    last->next = NULL;
    head->nb_segs = n_segs;
    return head;
}

struct rte_mbuf *chain_from_octets(struct rte_mempool *pool, const uint8_t *p, uint32_t len)
{
    struct rte_mbuf *head = NULL;
    do {
        struct rte_mbuf *seg = rte_pktmbuf_alloc(pool);
        if (seg == NULL) {
            rte_pktmbuf_free(head);
            return NULL;
        }
        uint16_t n = (uint16_t)RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(seg));
        memcpy(rte_pktmbuf_append(seg, n), p, n);
        if (head == NULL)
            head = seg;
        else
            chain_append(head, seg);
        p += n;
        len -= n;
    } while (len > 0);
    return head;
}

struct rte_mbuf *chain_copy(struct rte_mempool *pool, const struct rte_mbuf *mbuf, uint32_t buf_off, uint32_t len,
                            uint16_t headroom)
{
    struct rte_mbuf *head = rte_pktmbuf_alloc(pool);
    if (head == NULL)
        return NULL;
    head->data_off = headroom;
    struct rte_mbuf *to = head;
    while (len > 0) {
        uint32_t left = (uint32_t)mbuf->data_off + mbuf->data_len - buf_off;
        uint32_t room = rte_pktmbuf_tailroom(to);
        if (left == 0) {
            mbuf = mbuf->next;
            buf_off = mbuf->data_off;
        } else if (room == 0) {
            to->next = rte_pktmbuf_alloc(pool);
            if (to->next == NULL) {
                rte_pktmbuf_free(head);
                return NULL;
            }
            to = to->next;
            head->nb_segs++;
        } else {
            uint32_t n = RTE_MIN(RTE_MIN(left, room), len);
            memcpy((uint8_t *)to->buf_addr + to->data_off + to->data_len, (const uint8_t *)mbuf->buf_addr + buf_off, n);
            to->data_len = (uint16_t)(to->data_len + n);
            head->pkt_len += n;
            buf_off += n;
            len -= n;
        }
    }
    return head;
}
