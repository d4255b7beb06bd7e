// SPDX-License-Identifier: Apache-2.0
#include "pit/pool.h"

#include <errno.h>

int pool_init(struct pool *pool, uint32_t capacity, uint32_t elem_size, enum arena_pages pages)
{
    // The index after the last must fit as well: n_fresh stands there when the pool is full.
    if (capacity == 0 || capacity > UINT32_MAX - 1 || elem_size < 8 || elem_size % 8 != 0)
        return -EINVAL;
    uint8_t *base = arena_map(((size_t)capacity + 1) * elem_size, pages);
    if (base == NULL)
        return -ENOMEM;
    *pool = (struct pool){
        .base = base,
        .elem_size = elem_size,
        .capacity = capacity,
        .free_head = POOL_NONE,
        .n_fresh = 1,
    };
    return 0;
}

void pool_fini(struct pool *pool)
{
    arena_unmap(pool->base, ((size_t)pool->capacity + 1) * pool->elem_size);
    *pool = (struct pool){0};
}

size_t pool_memory(const struct pool *pool)
{
    return arena_size(((size_t)pool->capacity + 1) * pool->elem_size);
}
