// SPDX-License-Identifier: Apache-2.0
#include "pit/cs.h"

#include <criterion/criterion.h>

#include "pit/cs_impl.h"
#include "test/unit/pit/cs_data.h"

#define SECOND UINT64_C(1000000000)

static void insert_many_at(struct cs *cs, const char *format, uint32_t from, uint32_t to, uint64_t now_ns)
{
    char uri[128];
    for (uint32_t i = from; i < to; i++) {
        struct data_name n;
        snprintf(uri, sizeof uri, format, i);
        data_name(&n, uri);
        data_insert(cs, &n.name, i, 0, 4096, 0, false, now_ns);
    }
    cr_assert_eq(cs_check(cs), 0);
}

static void insert_many(struct cs *cs, const char *format, uint32_t from, uint32_t to)
{
    insert_many_at(cs, format, from, to, 0);
}

static uint32_t find_below(struct cs *cs, const char *uri, uint64_t now_ns)
{
    struct data_name n;
    data_name(&n, uri);
    return data_find(cs, &n.name, true, false, now_ns);
}

static void destroy(struct cs *cs)
{
    cs_destroy(cs);
    cr_assert_eq(fake_n_live, 0);
}

Test(cs_prefix, nothing_is_indexed_before_it_is_asked_for)
{
    struct cs *cs = data_cs(100, 100, CS_LRU);
    insert_many(cs, "/a/b/c/%u", 1, 50);
    cr_assert_eq(cs->prefixes.nodes.n_used, 0);
    cr_assert_eq(find_below(cs, "/a", 0), 49);
    cr_assert_eq(cs->prefixes.nodes.n_used, 49);
    insert_many(cs, "/a/b/c/%u", 50, 200);
    cr_assert_eq(cs->prefixes.nodes.n_used, 100);
    cr_assert_eq(find_below(cs, "/a", 0), 199);
    destroy(cs);
}

Test(cs_prefix, large_cs_is_indexed_bit_by_bit)
{
    struct cs *cs = data_cs(3000, 3000, CS_LRU);
    insert_many(cs, "/old/%u", 1, 2000);
    cr_assert_eq(find_below(cs, "/old", 0), 0, "not yet");
    insert_many(cs, "/new/%u", 2000, 2100);
    cr_assert_eq(find_below(cs, "/new", 0), 2099);
    unsigned polls = 0;
    while (cs->prefixes.building != 0) {
        cs_poll(cs, 0);
        cr_assert_lt(++polls, 1000);
        if (polls % 10 == 0)
            cr_assert_eq(cs_check(cs), 0);
    }
    cr_assert_gt(polls, 10);
    cr_assert_eq(find_below(cs, "/old", 0), 1999);
    cr_assert_eq(cs->prefixes.nodes.n_used, 2099);
    destroy(cs);
}

Test(cs_prefix, idle_length_is_given_up_and_comes_back)
{
    struct cs *cs = data_cs(3000, 3000, CS_LRU);
    insert_many(cs, "/a/b/%u", 1, 500);
    cr_assert_eq(find_below(cs, "/a", 0), 499);
    cr_assert_eq(find_below(cs, "/a/b", 0), 499);
    for (unsigned s = 0; s < 100; s++) {
        cs_poll(cs, s * SECOND);
        cr_assert_eq(find_below(cs, "/a/b", s * SECOND), 499);
        cr_assert_eq(cs_check(cs), 0);
    }
    for (unsigned i = 0; i < 100; i++)
        cs_poll(cs, 100 * SECOND);
    cr_assert_eq(cs->prefixes.lengths, 1u << 2);
    cr_assert_eq(cs->prefixes.nodes.n_used, 499);
    cr_assert_eq(find_below(cs, "/a", 100 * SECOND), 499);
    cr_assert_eq(cs->prefixes.nodes.n_used, 998);
    // Asked for again while it is being dropped.
    cs_poll(cs, 161 * SECOND);
    cs_poll(cs, 162 * SECOND);
    cr_assert_neq(cs->prefixes.dropping, 0);
    cr_assert_eq(cs_check(cs), 0);
    cr_assert_eq(find_below(cs, "/a", 162 * SECOND), 499);
    cr_assert_eq(find_below(cs, "/a/b", 162 * SECOND), 499);
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs_prefix, lookups_look_at_so_many_entries_only)
{
    struct cs *cs = data_cs(300, 300, CS_LRU);
    struct data_name n;
    data_name(&n, "/a/fresh");
    data_insert(cs, &n.name, 1, 0, 4096, 1000, false, 0);
    insert_many(cs, "/a/%u", 2, 2 + CS_WALK - 1);
    data_name(&n, "/a");
    cr_assert_eq(data_find(cs, &n.name, true, true, 0), 1);
    insert_many(cs, "/a/%u", 100, 101);
    cr_assert_eq(data_find(cs, &n.name, true, true, 0), 0);
    cr_assert_eq(data_find(cs, &n.name, true, false, 0), 100);
    destroy(cs);
}

Test(cs_prefix, order_of_more_entries_than_a_lookup_sees)
{
    struct cs *cs = data_cs(300, 300, CS_LRU);
    insert_many(cs, "/a/%u", 1, 200);
    // Hits turn the order of use around before the length is indexed.
    for (uint32_t i = 199; i > 0; i--) {
        struct data_name n;
        char uri[32];
        snprintf(uri, sizeof uri, "/a/%u", i);
        data_name(&n, uri);
        cr_assert_eq(data_find(cs, &n.name, false, false, 0), i);
    }
    cr_assert_eq(find_below(cs, "/a", 0), 199);
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs_prefix, little_used_length_makes_room)
{
    enum { CAPACITY = 16 };
    struct cs *cs = data_cs(CAPACITY, CAPACITY, CS_LRU);
    static const char *const below[] = {
        "/1",           "/1/2",           "/1/2/3",           "/1/2/3/4",          "/1/2/3/4/5",
        "/1/2/3/4/5/6", "/1/2/3/4/5/6/7", "/1/2/3/4/5/6/7/8", "/1/2/3/4/5/6/7/8/9"};
    insert_many(cs, "/1/2/3/4/5/6/7/8/9/%u", 1, CAPACITY + 1);
    uint64_t now = SECOND;
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(find_below(cs, below[i], now++), CAPACITY);
    cr_assert_eq(cs->prefixes.nodes.n_used, cs->prefixes.nodes.capacity);
    cr_assert_eq(cs_check(cs), 0);
    // All eight are in use: the ninth has to do without.
    cr_assert_eq(find_below(cs, below[8], now), 0);
    cr_assert_eq(cs_check(cs), 0);
    insert_many_at(cs, "/1/2/3/4/5/6/7/8/9/%u", 100, 101, now);
    cr_assert_eq(cs->prefixes.dropping, 0);
    cr_assert_eq(cs_check(cs), 0);
    // Later only the first is little used.
    now += 2 * SECOND;
    for (unsigned i = 1; i < 9; i++)
        find_below(cs, below[i], now);
    for (unsigned i = 0; i < 20; i++) {
        insert_many_at(cs, "/1/2/3/4/5/6/7/8/9/%u", 101 + i, 102 + i, now);
        for (unsigned j = 0; j < 20; j++)
            cs_poll(cs, now);
        cr_assert_eq(cs_check(cs), 0);
    }
    for (unsigned i = 1; i < 9; i++)
        cr_assert_eq(find_below(cs, below[i], now), 120, "%s", below[i]);
    destroy(cs);
}

/** All hashes equal: groups hold entries of other prefixes, buckets are full, only names tell. */
static void same_hash(struct ndn_name *name, const struct ndn_name_key *key)
{
    (void)key;
    for (unsigned i = 0; i <= name->depth; i++)
        name->hash[i] = 42;
    name->hash_full = 42;
}

Test(cs_prefix, names_with_equal_hashes_are_told_apart)
{
    struct cs *cs = data_cs(300, 300, CS_LRU);
    ndn_name_hash = same_hash;
    insert_many(cs, "/a/%u", 1, 20);
    insert_many(cs, "/b/c/%u", 20, 40);
    cr_assert_eq(find_below(cs, "/a", 0), 19);
    cr_assert_eq(find_below(cs, "/b", 0), 39);
    cr_assert_eq(find_below(cs, "/b/c", 0), 39);
    cr_assert_eq(find_below(cs, "/a/7", 0), 7);
    cr_assert_eq(find_below(cs, "/c", 0), 0);
    // No more than the probed buckets hold can be kept, and nothing is lost or leaked.
    insert_many(cs, "/d/%u", 100, 300);
    struct cs_info info;
    cs_info(cs, &info);
    cr_assert_eq(info.n_entries, fake_n_live);
    cr_assert_leq(info.n_entries, TABLE_BUCKET_SLOTS * TABLE_PROBES);
    destroy(cs);
}

Test(cs_prefix, full_bucket_on_eviction_loses_one_entry)
{
    struct cs *cs = data_cs(100, 100, CS_LRU);
    insert_many(cs, "/a/%u", 1, 37);
    ndn_name_hash = same_hash;
    insert_many(cs, "/b/%u", 37, 101);
    insert_many(cs, "/c/%u", 101, 120);
    struct cs_info info;
    cs_info(cs, &info);
    cr_assert_eq(info.n_entries, fake_n_live);
    cr_assert_lt(info.n_entries, 100);
    destroy(cs);
}

/** Prefixes of one component share bucket and tag, but not the hash. */
static void same_bucket(struct ndn_name *name, const struct ndn_name_key *key)
{
    (void)key;
    uint64_t sum = 0;
    for (unsigned i = 0; i < name->len; i++)
        sum = sum * 31 + name->value[i];
    for (unsigned i = 0; i <= name->depth; i++)
        name->hash[i] = i == 1 ? 42 | (uint64_t)name->value[2] << 20 | (uint64_t)name->value[3] << 28 : sum;
    name->hash_full = name->n_comps == 1 ? name->hash[1] : sum * 0x9e3779b97f4a7c15;
}

Test(cs_prefix, full_index_leaves_entries_to_exact_lookup)
{
    struct cs *cs = data_cs(300, 300, CS_LRU);
    ndn_name_hash = same_bucket;
    insert_many(cs, "/%u/x", 10, 11);
    cr_assert_eq(find_below(cs, "/10", 0), 10);
    insert_many(cs, "/%u/x", 11, 100);
    cr_assert_eq(cs->prefixes.groups.n_used, TABLE_BUCKET_SLOTS * TABLE_PROBES);
    struct data_name n;
    unsigned below = 0;
    for (uint32_t i = 10; i < 100; i++) {
        char uri[32];
        snprintf(uri, sizeof uri, "/%u/x", i);
        data_name(&n, uri);
        cr_assert_eq(data_find(cs, &n.name, false, false, 0), i);
        snprintf(uri, sizeof uri, "/%u", i);
        below += find_below(cs, uri, 0) == i;
    }
    cr_assert_eq(below, TABLE_BUCKET_SLOTS * TABLE_PROBES);
    for (unsigned i = 0; i < 20; i++)
        cs_poll(cs, 0);
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs_prefix, entries_erased_during_a_drop)
{
    struct cs *cs = data_cs(300, 300, CS_LRU);
    insert_many(cs, "/a/%u", 1, 200);
    cr_assert_eq(find_below(cs, "/a", 0), 199);
    cs_poll(cs, 61 * SECOND);
    cs_poll(cs, 61 * SECOND);
    cr_assert_neq(cs->prefixes.dropping, 0);
    struct data_name n;
    data_name(&n, "/a");
    cr_assert_eq(cs_erase(cs, &n.name, 150), 150);
    cr_assert_eq(cs_check(cs), 0);
    for (unsigned i = 0; i < 10; i++)
        cs_poll(cs, 61 * SECOND);
    cr_assert_eq(cs->prefixes.dropping, 0);
    cr_assert_eq(cs->prefixes.nodes.n_used, 0);
    destroy(cs);
}
