// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>

#include "pit/arena.h"
#include "pit/pool.h"
#include "test/unit/pit/no_memory.h"

Test(arena, gives_zeroed_aligned_memory)
{
    static const size_t sizes[] = {1, 64, 4096, 4097, 1 << 20, (size_t)2 << 20, ((size_t)2 << 20) + 1, (size_t)9 << 20};
    static const enum arena_pages pages[] = {ARENA_PAGES_AUTO, ARENA_PAGES_SMALL};
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t size = sizes[i];
            uint8_t *p = arena_map(size, pages[k]);
            cr_assert_not_null(p);
            cr_assert_eq((uintptr_t)p % (size >= ARENA_HUGE_SIZE ? ARENA_HUGE_SIZE : 64), 0);
            cr_assert_geq(arena_size(size), size);
            for (size_t at = 0; at < size; at += 61)
                cr_assert_eq(p[at], 0);
            memset(p, 0xff, size);
            arena_unmap(p, size);
        }
    }
}

Test(arena, refuses_what_cannot_be)
{
    cr_assert_null(arena_map(0, ARENA_PAGES_AUTO));
    cr_assert_null(arena_map(SIZE_MAX, ARENA_PAGES_AUTO));
    cr_assert_null(arena_map(SIZE_MAX - ARENA_HUGE_SIZE, ARENA_PAGES_AUTO));
    cr_assert_null(arena_map((size_t)1 << 60, ARENA_PAGES_SMALL));
    cr_assert_null(arena_map((size_t)1 << 60, ARENA_PAGES_AUTO));
    cr_assert_null(arena_map((size_t)1 << 60, ARENA_PAGES_HUGE));
    arena_unmap(NULL, 4096);
}

/** With huge pages asked for, either they are there, or the answer is no; never something else silently. */
Test(arena, huge_means_huge_or_nothing)
{
    uint8_t *p = arena_map(ARENA_HUGE_SIZE, ARENA_PAGES_HUGE);
    if (p != NULL) {
        p[ARENA_HUGE_SIZE - 1] = 1;
        cr_assert_eq((uintptr_t)p % ARENA_HUGE_SIZE, 0);
    }
    arena_unmap(p, ARENA_HUGE_SIZE);
}

Test(arena, lack_of_memory_shows_at_once)
{
    cr_assert_eq(refuse_to_populate(0, ENOMEM), 0);
    cr_assert_null(arena_map(4096, ARENA_PAGES_AUTO));
    cr_assert_null(arena_map(2 * ARENA_HUGE_SIZE, ARENA_PAGES_AUTO));
    cr_assert_null(arena_map(2 * ARENA_HUGE_SIZE, ARENA_PAGES_HUGE));
    cr_assert_null(arena_map(2 * ARENA_HUGE_SIZE, ARENA_PAGES_SMALL));
}

Test(arena, works_on_kernels_that_cannot_populate)
{
    cr_assert_eq(refuse_to_populate(0, EINVAL), 0);
    uint8_t *p = arena_map(2 * ARENA_HUGE_SIZE, ARENA_PAGES_AUTO);
    cr_assert_not_null(p);
    cr_assert_eq(p[0] | p[2 * ARENA_HUGE_SIZE - 1], 0);
    arena_unmap(p, 2 * ARENA_HUGE_SIZE);
}

Test(pool, refuses_bad_sizes)
{
    struct pool pool;
    cr_assert_eq(pool_init(&pool, 0, 64, ARENA_PAGES_SMALL), -EINVAL);
    cr_assert_eq(pool_init(&pool, UINT32_MAX, 64, ARENA_PAGES_SMALL), -EINVAL);
    cr_assert_eq(pool_init(&pool, 8, 0, ARENA_PAGES_SMALL), -EINVAL);
    cr_assert_eq(pool_init(&pool, 8, 12, ARENA_PAGES_SMALL), -EINVAL);
    cr_assert_eq(pool_init(&pool, UINT32_MAX - 1, 1 << 28, ARENA_PAGES_SMALL), -ENOMEM);
}

Test(pool, hands_out_each_element_once)
{
    enum { N = 1000 };
    static bool used[N + 1];
    struct pool pool;
    cr_assert_eq(pool_init(&pool, N, 24, ARENA_PAGES_SMALL), 0);
    cr_assert_geq(pool_memory(&pool), (N + 1) * 24);
    for (unsigned i = 0; i < N; i++) {
        uint32_t index = pool_get(&pool);
        cr_assert(index >= 1 && index <= N && !used[index]);
        used[index] = true;
        uint8_t *elem = pool_at(&pool, index);
        cr_assert_eq(pool_index(&pool, elem), index);
        for (unsigned k = 0; k < 24; k++)
            cr_assert_eq(elem[k], 0);
        memset(elem, 0xa5, 24);
    }
    cr_assert_eq(pool_get(&pool), POOL_NONE);
    cr_assert_eq(pool.n_used, N);
    pool_fini(&pool);
}

Test(pool, last_given_back_is_first_out)
{
    struct pool pool;
    cr_assert_eq(pool_init(&pool, 3, 8, ARENA_PAGES_SMALL), 0);
    uint32_t a = pool_get(&pool), b = pool_get(&pool), c = pool_get(&pool);
    pool_put(&pool, a);
    pool_put(&pool, c);
    pool_put(&pool, b);
    cr_assert_eq(pool.n_used, 0);
    cr_assert_eq(pool_get(&pool), b);
    cr_assert_eq(pool_get(&pool), c);
    cr_assert_eq(pool_get(&pool), a);
    cr_assert_eq(pool_get(&pool), POOL_NONE);
    pool_put(&pool, c);
    cr_assert_eq(pool_get(&pool), c);
    pool_fini(&pool);
    pool_fini(&pool);
}
