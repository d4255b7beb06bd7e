// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_POOL_H
#define PIT_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pit/arena.h"

/** "No element": index 0 is never handed out. */
#define POOL_NONE 0u

/**
 * Fixed-size elements named by 32-bit indices, with a LIFO free list threaded through them: the element freed last,
 * still in the cache, is handed out first. One owner thread. Elements are zero at the start and keep what the last
 * user left but for their first four octets: the user sets all it reads.
 */
struct pool {
    uint8_t *base;
    uint32_t elem_size;
    uint32_t capacity; /**< elements that can be in use at once */
    uint32_t n_used;
    uint32_t free_head;
    uint32_t n_fresh; /**< elements at or above this index were never used */
};

/** @return 0, -EINVAL (sizes), or -ENOMEM. @p elem_size is a multiple of 8, at least 8 */
int pool_init(struct pool *pool, uint32_t capacity, uint32_t elem_size, enum arena_pages pages);
/** Unmap the elements; allowed on a pool that is all zero. */
void pool_fini(struct pool *pool);
/** Octets mapped for the elements. */
size_t pool_memory(const struct pool *pool);

static inline void *pool_at(const struct pool *pool, uint32_t index)
{
    return pool->base + (size_t)index * pool->elem_size;
}

static inline uint32_t pool_index(const struct pool *pool, const void *elem)
{
    return (uint32_t)((size_t)((const uint8_t *)elem - pool->base) / pool->elem_size);
}

/** True when an element is left. */
static inline bool pool_has(const struct pool *pool)
{
    return pool->free_head != POOL_NONE || pool->n_fresh <= pool->capacity;
}

/** Take an element. @return its index, POOL_NONE when all are in use */
static inline uint32_t pool_get(struct pool *pool)
{
    uint32_t index = pool->free_head;
    if (index != POOL_NONE) {
        memcpy(&pool->free_head, pool_at(pool, index), sizeof pool->free_head);
    } else {
        if (pool->n_fresh > pool->capacity)
            return POOL_NONE;
        index = pool->n_fresh++;
    }
    pool->n_used++;
    return index;
}

/** Give an element back. */
static inline void pool_put(struct pool *pool, uint32_t index)
{
    memcpy(pool_at(pool, index), &pool->free_head, sizeof pool->free_head);
    pool->free_head = index;
    pool->n_used--;
}

#endif
