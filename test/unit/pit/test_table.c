// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "pit/table.h"
#include "test/unit/pit/names.h"

#define N_MODEL 600

/** True when a lookup of @p hash comes upon @p index; counts it, so that twice is seen. */
static unsigned times_found(const struct table *table, uint64_t hash, uint32_t index)
{
    struct table_iter iter;
    unsigned n = 0, n_candidates = 0;
    for (uint32_t i = table_first(table, hash, &iter); i != 0; i = table_next(table, &iter)) {
        n += i == index;
        cr_assert_leq(++n_candidates, TABLE_PROBES * TABLE_BUCKET_SLOTS);
    }
    return n;
}

Test(table, refuses_no_capacity_and_too_much)
{
    struct table table;
    cr_assert_eq(table_init(&table, 0, ARENA_PAGES_SMALL), -EINVAL);
    table = (struct table){0};
    cr_assert_eq(table_memory(&table), 0);
    table_fini(&table);
}

Test(table, is_at_most_half_full)
{
    static const uint32_t capacities[] = {1, 8, 32, 33, 1000, 4096, 4097, 100000};
    for (unsigned i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        struct table table;
        cr_assert_eq(table_init(&table, capacities[i], ARENA_PAGES_SMALL), 0);
        cr_assert_geq(((uint64_t)table.mask + 1) * TABLE_BUCKET_SLOTS, 2 * (uint64_t)capacities[i]);
        cr_assert_geq(table.mask + 1, TABLE_PROBES);
        cr_assert_geq(table_memory(&table), ((size_t)table.mask + 1) * 64);
        table_fini(&table);
    }
}

Test(table, tag_is_never_the_empty_mark)
{
    cr_assert_eq(table_tag(0), 1);
    cr_assert_eq(table_tag(UINT64_C(0x0000ffffffffffff)), 1);
    cr_assert_eq(table_tag(UINT64_C(0xabcd000000000000)), 0xabcd);
}

Test(table, vector_and_portable_match_agree)
{
    struct test_random random = {5};
    for (unsigned round = 0; round < 2000; round++) {
        struct table_bucket bucket;
        for (unsigned i = 0; i < TABLE_BUCKET_SLOTS; i++) {
            bucket.tag[i] = (uint16_t)(test_random(&random, 3) * 0x7fff);
            bucket.index[i] = test_random(&random, 3) * 0x7fffffff;
        }
        for (uint32_t k = 0; k < 3; k++) {
            cr_assert_eq(table_match_tag(&bucket, (uint16_t)(k * 0x7fff)),
                         table_match_tag_portable(&bucket, (uint16_t)(k * 0x7fff)));
            cr_assert_eq(table_match_index(&bucket, k * 0x7fffffff),
                         table_match_index_portable(&bucket, k * 0x7fffffff));
        }
    }
}

Test(table, equal_hashes_fill_the_probe_bound_and_no_more)
{
    struct table table;
    uint64_t hash = UINT64_C(0x1234000000000003);
    uint32_t most = TABLE_PROBES * TABLE_BUCKET_SLOTS;
    cr_assert_eq(table_init(&table, 1000, ARENA_PAGES_SMALL), 0);
    for (uint32_t i = 1; i <= most; i++)
        cr_assert_eq(table_insert(&table, hash, i), 0);
    cr_assert_eq(table_insert(&table, hash, most + 1), -ENOSPC);
    cr_assert_eq(table.n_entries, most);
    cr_assert_eq(table.n_spilled, most - TABLE_BUCKET_SLOTS);
    for (uint32_t i = 1; i <= most; i++)
        cr_assert_eq(times_found(&table, hash, i), 1);
    // Another home bucket nearby still has room behind.
    cr_assert_eq(table_insert(&table, hash + 7, 1000), 0);
    cr_assert_eq(times_found(&table, hash + 7, 1000), 1);
    cr_assert_eq(table_remove(&table, hash + 7, 1000), 0);
    for (uint32_t i = most; i >= 1; i--)
        cr_assert_eq(table_remove(&table, hash, i), 0);
    cr_assert_eq(table_remove(&table, hash, 1), -ENOENT);
    cr_assert_eq(table.n_entries, 0);
    cr_assert_eq(table.n_spilled, 0);
    table_fini(&table);
}

Test(table, removal_wants_the_right_hash_and_index)
{
    struct table table;
    cr_assert_eq(table_init(&table, 100, ARENA_PAGES_SMALL), 0);
    uint64_t hash = UINT64_C(0x5555000000000001);
    cr_assert_eq(table_insert(&table, hash, 7), 0);
    cr_assert_eq(table_remove(&table, hash, 8), -ENOENT);
    cr_assert_eq(table_remove(&table, hash ^ UINT64_C(0x1000000000000000), 7), -ENOENT);
    cr_assert_eq(table_remove(&table, hash, 7), 0);
    // The index stays behind in the emptied slot, which must not be taken for an entry.
    cr_assert_eq(table_remove(&table, hash, 7), -ENOENT);
    cr_assert_eq(times_found(&table, hash, 7), 0);
    table_fini(&table);
}

Test(table, entries_behind_a_full_bucket_survive_its_emptying)
{
    struct table table;
    cr_assert_eq(table_init(&table, 100, ARENA_PAGES_SMALL), 0);
    uint64_t hash = UINT64_C(0x7777000000000002);
    for (uint32_t i = 1; i <= TABLE_BUCKET_SLOTS + 2; i++)
        cr_assert_eq(table_insert(&table, hash, i), 0);
    for (uint32_t i = 1; i <= TABLE_BUCKET_SLOTS; i++)
        cr_assert_eq(table_remove(&table, hash, i), 0);
    cr_assert_eq(times_found(&table, hash, TABLE_BUCKET_SLOTS + 1), 1);
    cr_assert_eq(times_found(&table, hash, TABLE_BUCKET_SLOTS + 2), 1);
    cr_assert_eq(table_remove(&table, hash, TABLE_BUCKET_SLOTS + 1), 0);
    cr_assert_eq(table_remove(&table, hash, TABLE_BUCKET_SLOTS + 2), 0);
    cr_assert_eq(table.n_spilled, 0);
    table_fini(&table);
}

/** Random operations on few buckets, against a plain array. */
Test(table, agrees_with_a_plain_array)
{
    struct {
        uint64_t hash;
        bool used;
    } model[N_MODEL + 1] = {{0, false}};
    struct test_random random = {99};
    struct table table;
    unsigned n = 0, n_full = 0;
    // Made for fewer than come, so that buckets fill up and spill.
    cr_assert_eq(table_init(&table, 200, ARENA_PAGES_SMALL), 0);
    for (unsigned step = 0; step < 200000; step++) {
        uint32_t index = 1 + test_random(&random, N_MODEL);
        if (model[index].used) {
            cr_assert_eq(times_found(&table, model[index].hash, index), 1);
            if (test_random(&random, 16) != 0)
                continue;
            cr_assert_eq(table_remove(&table, model[index].hash, index), 0);
            cr_assert_eq(times_found(&table, model[index].hash, index), 0);
            model[index].used = false;
            n--;
        } else {
            // Few tags and few buckets: many candidates of a lookup are not the entry.
            uint64_t hash = (uint64_t)test_random(&random, 4) << 48 | test_random(&random, 64);
            if (table_insert(&table, hash, index) != 0) {
                n_full++;
                continue;
            }
            model[index].used = true;
            model[index].hash = hash;
            n++;
        }
        cr_assert_eq(table.n_entries, n);
    }
    cr_assert_gt(n_full, 0);
    cr_assert_gt(table.n_spilled, 0);
    for (uint32_t index = 1; index <= N_MODEL; index++) {
        if (model[index].used)
            cr_assert_eq(table_remove(&table, model[index].hash, index), 0);
    }
    cr_assert_eq(table.n_entries, 0);
    cr_assert_eq(table.n_spilled, 0);
    for (uint32_t i = 0; i <= table.mask; i++)
        cr_assert_eq(table.bucket[i].n_spilled, 0);
    table_fini(&table);
}

/** At half load few entries leave their home bucket, and none is refused. */
Test(table, half_load_seldom_spills)
{
    enum { N = 100000 };
    struct test_random random = {7};
    struct table table;
    cr_assert_eq(table_init(&table, N, ARENA_PAGES_SMALL), 0);
    for (uint32_t i = 1; i <= N; i++) {
        uint64_t hash = (uint64_t)test_random(&random, 1u << 31) << 33 ^ test_random(&random, 1u << 31);
        cr_assert_eq(table_insert(&table, hash, i), 0);
    }
    cr_assert_lt(table.n_spilled, N / 50);
    table_fini(&table);
}
