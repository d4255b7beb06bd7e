// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_PIT_FAKE_MBUF_H
#define TEST_UNIT_PIT_FAKE_MBUF_H

/*
 * mbufs without rte_eal_init(): each is a heap block of its own, handed back to the heap by the operations of a
 * made-up mempool, so that a sanitizer sees every use after the last reference is gone. Include from one file of a
 * program.
 */
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FAKE_HEADROOM 64
#define FAKE_IDS      (1u << 20)

static struct rte_mempool fake_mempool;
/** mbuf segments that exist. */
static unsigned fake_n_live;
/** Segments alive with this id. */
static uint8_t fake_live[FAKE_IDS];

static int fake_enqueue(struct rte_mempool *mp, void *const *objs, unsigned n)
{
    (void)mp;
    for (unsigned i = 0; i < n; i++) {
        struct rte_mbuf *mbuf = objs[i];
        fake_live[mbuf->dynfield1[0]]--;
        fake_n_live--;
        free(mbuf);
    }
    return 0;
}

static int fake_none(struct rte_mempool *mp)
{
    (void)mp;
    return 0;
}

static int fake_dequeue(struct rte_mempool *mp, void **objs, unsigned n)
{
    (void)mp, (void)objs, (void)n;
    return -1;
}

static void fake_release(struct rte_mempool *mp)
{
    (void)mp;
}

static unsigned fake_count(const struct rte_mempool *mp)
{
    (void)mp;
    return 0;
}

static const struct rte_mempool_ops fake_ops = {
    .name = "fake",
    .alloc = fake_none,
    .free = fake_release,
    .enqueue = fake_enqueue,
    .dequeue = fake_dequeue,
    .get_count = fake_count,
};

static inline void fake_init(void)
{
    if (fake_mempool.pool_data != NULL)
        return;
    int index = rte_mempool_register_ops(&fake_ops);
    if (index < 0)
        abort();
    fake_mempool.ops_index = index;
    fake_mempool.pool_data = &fake_mempool;
}

/** One segment with @p len octets; @p id < FAKE_IDS names it in fake_live[]. */
static inline struct rte_mbuf *fake_segment(const void *octets, uint16_t len, unsigned id)
{
    fake_init();
    uint16_t buf_len = (uint16_t)(FAKE_HEADROOM + len);
    struct rte_mbuf *mbuf = aligned_alloc(64, (sizeof *mbuf + buf_len + 63) & ~(size_t)63);
    if (mbuf == NULL)
        abort();
    memset(mbuf, 0, sizeof *mbuf);
    mbuf->buf_addr = mbuf + 1;
    mbuf->buf_len = buf_len;
    mbuf->data_off = FAKE_HEADROOM;
    mbuf->data_len = len;
    mbuf->pkt_len = len;
    mbuf->nb_segs = 1;
    mbuf->pool = &fake_mempool;
    mbuf->dynfield1[0] = id;
    rte_mbuf_refcnt_set(mbuf, 1);
    if (len > 0)
        memcpy((uint8_t *)mbuf->buf_addr + FAKE_HEADROOM, octets, len);
    fake_live[id]++;
    fake_n_live++;
    return mbuf;
}

/** A chain of segments of at most @p seg_len octets. */
static inline struct rte_mbuf *fake_chain(const void *octets, uint16_t len, uint16_t seg_len, unsigned id)
{
    uint16_t first = len < seg_len ? len : seg_len;
    struct rte_mbuf *head = fake_segment(octets, first, id), *last = head;
    for (uint16_t done = first; done < len;) {
        uint16_t n = len - done < seg_len ? (uint16_t)(len - done) : seg_len;
        last->next = fake_segment((const uint8_t *)octets + done, n, id);
        last = last->next;
        done = (uint16_t)(done + n);
        head->nb_segs++;
        head->pkt_len += n;
    }
    return head;
}

/** Octets of a chain, from @p off on. @return octets copied */
static inline uint32_t fake_read(const struct rte_mbuf *mbuf, uint32_t off, uint32_t len, uint8_t *to)
{
    uint32_t done = 0;
    for (; mbuf != NULL && done < len; mbuf = mbuf->next) {
        if (off >= mbuf->data_len) {
            off -= mbuf->data_len;
            continue;
        }
        uint32_t n = mbuf->data_len - off < len - done ? mbuf->data_len - off : len - done;
        memcpy(to + done, rte_pktmbuf_mtod_offset(mbuf, uint8_t *, off), n);
        done += n;
        off = 0;
    }
    return done;
}

#endif
