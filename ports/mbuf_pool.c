// SPDX-License-Identifier: Apache-2.0
#include "ports/mbuf_pool.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>

#define MBUF_POOL_CACHE 256

struct rte_mempool *mbuf_pool_create(const char *name, uint32_t n, uint16_t data_room, bool hugepages)
{
    /* Where devices see the process's own addresses a buffer may cross pages, as AF_XDP needs it. */
    if (hugepages && rte_eal_iova_mode() != RTE_IOVA_VA)
        return rte_pktmbuf_pool_create(name, n, MBUF_POOL_CACHE, 0, data_room, SOCKET_ID_ANY);
    struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size = data_room};
    struct rte_mempool *pool =
        rte_mempool_create_empty(name, n, (unsigned)sizeof(struct rte_mbuf) + data_room, MBUF_POOL_CACHE, sizeof priv,
                                 SOCKET_ID_ANY, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
    if (pool == NULL)
        return NULL;
    int rc = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL);
    if (rc == 0) {
        rte_pktmbuf_pool_init(pool, &priv);
        rc = rte_mempool_populate_default(pool);
    }
    if (rc < 0) {
        rte_mempool_free(pool);
        rte_errno = -rc;
        return NULL;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
    return pool;
}

uint64_t mbuf_pool_memory(uint32_t n, uint16_t data_room)
{
    struct rte_mempool_objsz size;
    rte_mempool_calc_obj_size((uint32_t)sizeof(struct rte_mbuf) + data_room, 0, &size);
    // The free list is a ring of pointers, with as many slots as the next power of two.
    return (uint64_t)n * (size.total_size + 16) + (1u << 20);
}
