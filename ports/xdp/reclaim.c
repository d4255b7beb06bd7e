// SPDX-License-Identifier: Apache-2.0
#include "ports/xdp/reclaim.h"

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <linux/if_xdp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Rings of net_af_xdp, fixed there. */
#define FILL_SIZE 4096
#define COMP_SIZE 2048

#define ADDRESS_MASK ((UINT64_C(1) << XSK_UNALIGNED_BUF_OFFSET_SHIFT) - 1)
#define SETTLE_NS    20000000L /* for frames that are on their way out of a virtual interface */

/* A ring of the socket, mapped once more: the driver's own mapping is private to it. */
struct ring {
    void *map;
    size_t map_len;
    uint32_t size; /* a power of two */
    const uint32_t *producer, *consumer;
    const uint8_t *entry;
    size_t entry_len;
};

struct xdp_rings {
    struct ring fill, comp, rx, tx;
};

static bool ring_map(struct ring *ring, int fd, uint64_t page_offset, const struct xdp_ring_offset *off, uint32_t size,
                     size_t entry_len)
{
    ring->size = size;
    ring->entry_len = entry_len;
    ring->map_len = off->desc + size * entry_len;
    ring->map = mmap(NULL, ring->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)page_offset);
    if (ring->map == MAP_FAILED) {
        ring->map = NULL;
        return false;
    }
    ring->producer = (const uint32_t *)((const uint8_t *)ring->map + off->producer);
    ring->consumer = (const uint32_t *)((const uint8_t *)ring->map + off->consumer);
    ring->entry = (const uint8_t *)ring->map + off->desc;
    return true;
}

static void ring_unmap(struct ring *ring)
{
    if (ring->map != NULL) {
        munmap(ring->map, ring->map_len);
    }
}

static uint32_t load(const uint32_t *index)
{
    return __atomic_load_n(index, __ATOMIC_ACQUIRE);
}

/* Buffer address of an entry: the whole of a fill or completion entry, the first field of a descriptor. */
static uint64_t entry_address(const struct ring *ring, uint32_t index)
{
    uint64_t address;
    memcpy(&address, ring->entry + (size_t)(index & (ring->size - 1)) * ring->entry_len, sizeof address);
    return address & ADDRESS_MASK;
}

/* The mbuf at an address of the socket's memory, which starts at the page of the pool's first octet. */
static struct rte_mbuf *mbuf_at(struct rte_mempool *pool, uint64_t address)
{
    const struct rte_mempool_memhdr *first = STAILQ_FIRST(&pool->mem_list);
    uintptr_t base = (uintptr_t)first->addr & ~((uintptr_t)getpagesize() - 1);
    uint64_t object = rte_mempool_calc_obj_size(pool->elt_size, pool->flags, NULL);
    if (address > (uint64_t)pool->populated_size * object + (uintptr_t)first->addr - base - object) {
        return NULL;
    }
    struct rte_mbuf *m = (struct rte_mbuf *)(base + address + pool->header_size);
    return rte_mempool_from_obj(m) == pool && m->pool == pool ? m : NULL;
}

/* The buffers at count addresses of a ring, the last of them before index end. False: something is not as it must be.
 */
static bool collect(struct rte_mempool *pool, const struct ring *ring, uint32_t end, uint32_t count, bool exclusive,
                    struct rte_mbuf **mbufs)
{
    for (uint32_t i = 0; i < count; i++) {
        struct rte_mbuf *m = mbuf_at(pool, entry_address(ring, end - count + i));
        if (m == NULL || rte_mbuf_refcnt_read(m) == 0 || (exclusive && rte_mbuf_refcnt_read(m) != 1)) {
            return false;
        }
        mbufs[i] = m;
    }
    return true;
}

/*
 * What was given to the kernel for reception and has not come back: in copying mode buffers come back in the order in
 * which they were given (a frame that is dropped late hands its buffer to the very next one), so it is the latest of
 * the fill ring. The kernel's own index of the fill ring lags and would not tell.
 */
static uint32_t reclaim_rx(struct rte_mempool *pool, const struct ring *fill, const struct ring *rx,
                           struct rte_mbuf **mbufs)
{
    uint32_t end = load(fill->producer), count = end - load(rx->consumer);
    if (count > fill->size || !collect(pool, fill, end, count, true, mbufs)) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        rte_mempool_put(pool, mbufs[i]);
    }
    return count;
}

/* What was sent and is completed, and what the kernel never took. */
static uint32_t reclaim_tx(struct rte_mempool *pool, const struct ring *tx, const struct ring *comp,
                           struct rte_mbuf **mbufs)
{
    uint32_t done_end = load(comp->producer), done = done_end - load(comp->consumer);
    uint32_t sent = load(tx->producer), left = sent - load(tx->consumer);
    if (done > comp->size || left > tx->size || !collect(pool, comp, done_end, done, false, mbufs)) {
        return 0;
    }
    /* Only when nothing is under way is an entry that looks untaken surely so. */
    bool settled = sent - load(comp->consumer) == done + left;
    if (!settled || !collect(pool, tx, sent, left, false, mbufs + done)) {
        left = 0;
    }
    rte_pktmbuf_free_bulk(mbufs, done + left);
    return done + left;
}

static bool is_certain(int fd)
{
    struct xdp_options options = {0};
    struct xdp_statistics stats = {0};
    socklen_t options_len = sizeof options, stats_len = sizeof stats;
    return getsockopt(fd, SOL_XDP, XDP_OPTIONS, &options, &options_len) == 0 &&
           (options.flags & XDP_OPTIONS_ZEROCOPY) == 0 &&
           getsockopt(fd, SOL_XDP, XDP_STATISTICS, &stats, &stats_len) == 0 && stats.rx_invalid_descs == 0;
}

struct xdp_rings *xdp_rings_open(int fd, uint32_t n_desc)
{
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof off;
    if (n_desc == 0 || (n_desc & (n_desc - 1)) != 0 || getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len) != 0 ||
        len != sizeof off) {
        return NULL;
    }
    struct xdp_rings *rings = calloc(1, sizeof *rings);
    if (rings == NULL) {
        return NULL;
    }
    if (!ring_map(&rings->fill, fd, XDP_UMEM_PGOFF_FILL_RING, &off.fr, FILL_SIZE, sizeof(uint64_t)) ||
        !ring_map(&rings->comp, fd, XDP_UMEM_PGOFF_COMPLETION_RING, &off.cr, COMP_SIZE, sizeof(uint64_t)) ||
        !ring_map(&rings->rx, fd, XDP_PGOFF_RX_RING, &off.rx, n_desc, sizeof(struct xdp_desc)) ||
        !ring_map(&rings->tx, fd, XDP_PGOFF_TX_RING, &off.tx, n_desc, sizeof(struct xdp_desc))) {
        xdp_rings_close(rings);
        return NULL;
    }
    return rings;
}

void xdp_rings_close(struct xdp_rings *rings)
{
    if (rings != NULL) {
        ring_unmap(&rings->fill);
        ring_unmap(&rings->comp);
        ring_unmap(&rings->rx);
        ring_unmap(&rings->tx);
        free(rings);
    }
}

uint32_t xdp_reclaim(const struct xdp_rings *rings, int fd, struct rte_mempool *pool)
{
    if (rings == NULL || !is_certain(fd)) {
        return 0;
    }
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
    struct rte_mbuf **mbufs = calloc(FILL_SIZE + COMP_SIZE + rings->tx.size, sizeof(struct rte_mbuf *));
    if (mbufs == NULL) {
        return 0;
    }
    uint32_t count = reclaim_rx(pool, &rings->fill, &rings->rx, mbufs);
    count += reclaim_tx(pool, &rings->tx, &rings->comp, mbufs);
    free(mbufs);
    return count;
}
