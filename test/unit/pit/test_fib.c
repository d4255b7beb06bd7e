// SPDX-License-Identifier: Apache-2.0
#include "pit/fib.h"

#include <rte_rcu_qsbr.h>

#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ndn_name_key key = {{1, 2, 3, 4}};

static struct fib *make(uint32_t capacity, struct rte_rcu_qsbr *qsbr)
{
    struct fib *fib = NULL;
    ndn_name_hash_init();
    struct fib_config config = {.capacity = capacity, .pages = ARENA_PAGES_SMALL, .key = &key, .qsbr = qsbr};
    cr_assert_eq(fib_create(&fib, &config), 0);
    return fib;
}

/** TLV-VALUE of an URI, in a static buffer. */
static const uint8_t *uri(const char *text, uint16_t *len)
{
    static uint8_t value[NDN_NAME_MAX];
    int n = ndn_name_from_uri(text, value, sizeof value);
    cr_assert_geq(n, 0, "%s", text);
    *len = (uint16_t)n;
    return value;
}

static const struct fib_entry *lookup(const struct fib *fib, const char *text)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    struct ndn_name name;
    cr_assert_eq(ndn_name_parse(value, len, false, &name), VERDICT_OK);
    ndn_name_hash(&name, &key);
    fib_prefetch(fib, &name);
    fib_prefetch_entry(fib, &name);
    return fib_lookup(fib, &name);
}

static int set(struct fib *fib, const char *text, uint32_t face, uint32_t cost)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_nexthop_set(fib, value, len, face, cost);
}

static int unset(struct fib *fib, const char *text, uint32_t face)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_nexthop_unset(fib, value, len, face);
}

static int strategy(struct fib *fib, const char *text, uint16_t number)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_strategy_set(fib, value, len, number);
}

static int no_strategy(struct fib *fib, const char *text)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_strategy_unset(fib, value, len);
}

Test(fib, longest_prefix_wins)
{
    struct fib *fib = make(16, NULL);
    cr_assert_null(lookup(fib, "/a/b"));
    cr_assert_eq(set(fib, "/a", 300, 1), 0);
    cr_assert_eq(set(fib, "/a/b/c", 301, 1), 0);
    cr_assert_eq(lookup(fib, "/a/b")->nexthop[0].face, 300);
    cr_assert_eq(lookup(fib, "/a/b")->depth, 1);
    cr_assert_eq(lookup(fib, "/a/b/c/d")->nexthop[0].face, 301);
    cr_assert_null(lookup(fib, "/b"));
    cr_assert_eq(set(fib, "/", 302, 1), 0);
    cr_assert_eq(lookup(fib, "/b")->nexthop[0].face, 302);
    cr_assert_eq(lookup(fib, "/b")->depth, 0);
    cr_assert_eq(unset(fib, "/a", 300), 0);
    cr_assert_eq(lookup(fib, "/a/b")->nexthop[0].face, 302);
    cr_assert_eq(unset(fib, "/a", 300), -ENOENT);
    cr_assert_eq(unset(fib, "/a/b/c", 300), -ENOENT);
    cr_assert_eq(unset(fib, "/unknown", 300), -ENOENT);
    cr_assert_eq(no_strategy(fib, "/unknown"), -ENOENT);
    cr_assert_eq(no_strategy(fib, "/a/b/c"), -ENOENT);
    cr_assert_eq(fib_count(fib), 2);
    fib_destroy(fib);
}

Test(fib, next_hops_are_sorted_by_cost_then_face)
{
    struct fib *fib = make(16, NULL);
    cr_assert_eq(set(fib, "/a", 303, 5), 0);
    cr_assert_eq(set(fib, "/a", 302, 7), 0);
    cr_assert_eq(set(fib, "/a", 301, 5), 0);
    cr_assert_eq(set(fib, "/a", 302, 1), 0);
    const struct fib_entry *entry = lookup(fib, "/a");
    cr_assert_eq(entry->n_nexthops, 3);
    cr_assert_eq(entry->nexthop[0].face, 302);
    cr_assert_eq(entry->nexthop[0].cost, 1);
    cr_assert_eq(entry->nexthop[1].face, 301);
    cr_assert_eq(entry->nexthop[2].face, 303);
    for (uint32_t i = 3; i < FIB_NEXTHOPS_MAX; i++)
        cr_assert_eq(set(fib, "/a", 400 + i, 100 - i), 0);
    cr_assert_eq(lookup(fib, "/a")->n_nexthops, FIB_NEXTHOPS_MAX);
    cr_assert_eq(set(fib, "/a", 500, 1), -ENOSPC);
    cr_assert_eq(set(fib, "/a", 301, 9), 0, "a change of cost needs no room");
    cr_assert_eq(lookup(fib, "/a")->n_nexthops, FIB_NEXTHOPS_MAX);
    fib_destroy(fib);
}

Test(fib, what_a_prefix_lacks_is_inherited)
{
    struct fib *fib = make(16, NULL);
    cr_assert_eq(set(fib, "/a/b", 300, 1), 0);
    cr_assert_eq(strategy(fib, "/", 7), 0);
    cr_assert_eq(lookup(fib, "/a/b")->strategy, 7);
    cr_assert_eq(strategy(fib, "/a", 8), 0);
    cr_assert_eq(lookup(fib, "/a/b")->strategy, 8);
    cr_assert_eq(lookup(fib, "/a/x")->n_nexthops, 0);
    cr_assert_eq(strategy(fib, "/a/b/c", 9), 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->nexthop[0].face, 300);
    cr_assert_eq(set(fib, "/a/b", 299, 1), 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->n_nexthops, 2);
    cr_assert_eq(lookup(fib, "/a/b/c")->nexthop[0].face, 299);
    cr_assert_eq(no_strategy(fib, "/a"), 0);
    cr_assert_eq(lookup(fib, "/a/b")->strategy, 7);
    cr_assert_eq(fib_face_remove(fib, 299), 1);
    cr_assert_eq(fib_face_remove(fib, 300), 1);
    cr_assert_eq(fib_face_remove(fib, 300), 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->n_nexthops, 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->strategy, 9);
    cr_assert_eq(lookup(fib, "/a/b")->depth, 0);
    fib_destroy(fib);
}

Test(fib, full_table_refuses_and_changes_nothing)
{
    struct fib *fib = make(4, NULL);
    cr_assert_eq(set(fib, "/a", 300, 1), 0);
    cr_assert_eq(set(fib, "/b", 300, 1), 0);
    cr_assert_eq(set(fib, "/c", 300, 1), 0);
    cr_assert_eq(strategy(fib, "/d/e/f", 1), 0);
    size_t memory = fib_memory(fib);
    cr_assert_eq(set(fib, "/g/h", 300, 1), -ENOSPC);
    cr_assert_eq(strategy(fib, "/d/e", 300), -ENOSPC);
    cr_assert_eq(fib_memory(fib), memory);
    cr_assert_null(lookup(fib, "/d/e"));
    cr_assert_eq(set(fib, "/d/e/f", 300, 1), 0);
    cr_assert_eq(unset(fib, "/a", 300), 0);
    cr_assert_eq(set(fib, "/g/h", 300, 1), 0);
    cr_assert_eq(fib_count(fib), 4);
    fib_destroy(fib);
}

Test(fib, bad_prefixes_are_refused)
{
    struct fib *fib = make(4, NULL);
    static const uint8_t cut[] = {8, 2, 'a'};
    uint8_t deep[33 * 3];
    for (unsigned i = 0; i < sizeof deep; i += 3)
        memcpy(deep + i, "\x08\x01x", 3);
    cr_assert_eq(fib_nexthop_set(fib, cut, sizeof cut, 300, 1), -EINVAL);
    cr_assert_eq(fib_nexthop_unset(fib, cut, sizeof cut, 300), -ENOENT);
    cr_assert_eq(fib_strategy_set(fib, deep, sizeof deep, 1), -EINVAL);
    cr_assert_eq(fib_strategy_set(fib, deep, sizeof deep - 3, 1), 0);
    struct ndn_name name;
    cr_assert_eq(ndn_name_parse(deep, sizeof deep, false, &name), VERDICT_OK);
    ndn_name_hash(&name, &key);
    cr_assert_eq(fib_lookup(fib, &name)->depth, 32);
    cr_assert_eq(fib_nexthop_set(fib, NULL, 0, 300, 1), 0, "the empty prefix needs no octets");
    struct fib *none = NULL;
    cr_assert_eq(fib_create(&none, &(struct fib_config){.capacity = 0, .key = &key}), -EINVAL);
    cr_assert_eq(fib_create(&none, &(struct fib_config){.capacity = 1}), -EINVAL);
    fib_destroy(none);
    fib_destroy(fib);
}

/** All hashes equal. */
static void same_hash(struct ndn_name *name, const struct ndn_name_key *k)
{
    (void)k;
    for (unsigned i = 0; i <= name->depth; i++)
        name->hash[i] = 42;
    name->hash_full = 42;
}

Test(fib, equal_hashes_fill_the_probed_buckets_and_no_more)
{
    struct fib *fib = make(1000, NULL);
    ndn_name_hash = same_hash;
    char text[32];
    unsigned n = 0;
    for (; n < 1000; n++) {
        snprintf(text, sizeof text, "/p/%u", n);
        if (set(fib, text, 300 + n, 1) != 0)
            break;
    }
    cr_assert_eq(n, 56);
    cr_assert_eq(fib_count(fib), n);
    cr_assert_null(lookup(fib, "/p/999"));
    for (unsigned i = 0; i < n; i++) {
        snprintf(text, sizeof text, "/p/%u/x", i);
        cr_assert_eq(lookup(fib, text)->nexthop[0].face, 300 + i);
    }
    for (unsigned i = 0; i < n; i += 2) {
        snprintf(text, sizeof text, "/p/%u", i);
        cr_assert_eq(unset(fib, text, 300 + i), 0);
    }
    for (unsigned i = 0; i < n; i++) {
        snprintf(text, sizeof text, "/p/%u/x", i);
        cr_assert_eq(lookup(fib, text) != NULL, i % 2 == 1);
    }
    fib_destroy(fib);
}

static bool count_some(void *ctx, const struct fib_item *item)
{
    unsigned *n = ctx;
    cr_assert_not_null(item->entry);
    return ++*n < 3;
}

Test(fib, listing_stops_when_told)
{
    struct fib *fib = make(16, NULL);
    unsigned n = 0;
    fib_foreach(fib, count_some, &n);
    cr_assert_eq(n, 0);
    for (int i = 0; i < 5; i++) {
        char text[16];
        snprintf(text, sizeof text, "/a/%d/b", i);
        cr_assert_eq(set(fib, text, 300, 1), 0);
    }
    fib_foreach(fib, count_some, &n);
    cr_assert_eq(n, 3);
    fib_destroy(fib);
}

static struct rte_rcu_qsbr *qsbr_make(unsigned n_threads)
{
    size_t size = (rte_rcu_qsbr_get_memsize(n_threads) + 63) & ~(size_t)63;
    struct rte_rcu_qsbr *qsbr = aligned_alloc(64, size);
    cr_assert_not_null(qsbr);
    cr_assert_eq(rte_rcu_qsbr_init(qsbr, n_threads), 0);
    return qsbr;
}

Test(fib, entry_stays_until_its_reader_is_quiescent)
{
    struct rte_rcu_qsbr *qsbr = qsbr_make(1);
    struct fib *fib = make(4, qsbr);
    rte_rcu_qsbr_thread_register(qsbr, 0);
    rte_rcu_qsbr_thread_online(qsbr, 0);
    // Long enough for memory of its own, which a sanitizer watches.
    static const char *const text = "/a-prefix-that-is-too-long-for-a-block-of-the-arena-and-so-has-its-own-memory/"
                                    "to-see-that-it-is-not-freed-too-early/while-a-reader-may-look-at-it";
    cr_assert_eq(set(fib, text, 300, 1), 0);
    size_t before = fib_memory(fib);
    const struct fib_entry *entry = lookup(fib, text);
    cr_assert_eq(set(fib, text, 301, 2), 0);
    for (int i = 0; i < 3; i++)
        fib_reclaim(fib);
    cr_assert_eq(entry->n_nexthops, 1);
    cr_assert_eq(entry->nexthop[0].face, 300);
    cr_assert_gt(fib_memory(fib), before);
    rte_rcu_qsbr_quiescent(qsbr, 0);
    fib_reclaim(fib);
    cr_assert_leq(fib_memory(fib), before + 64);
    // More changes than there are blocks, without a reader's consent: memory grows, nothing is reused.
    cr_assert_eq(set(fib, "/b", 400, 1), 0);
    entry = lookup(fib, "/b");
    for (uint32_t i = 0; i < 500; i++)
        cr_assert_eq(set(fib, "/b", 400, i + 2), 0);
    cr_assert_eq(entry->nexthop[0].cost, 1);
    cr_assert_eq(lookup(fib, "/b")->nexthop[0].cost, 501);
    cr_assert_eq(set(fib, text, 302, 2), 0);
    fib_destroy(fib);
    free(qsbr);
}

/* Readers under updates: an entry's costs tell its depth and the round that wrote it, all of one entry the same. */
#define READERS 2
#define ROUNDS  3000
#define LOOPS   3000

static struct {
    struct fib *fib;
    struct rte_rcu_qsbr *qsbr;
    struct ndn_name name[4];
    uint8_t value[4][256];
    unsigned loops[READERS];
    bool stop;
} shared;

static uint64_t entry_verify(const struct fib_entry *entry, const struct ndn_name *name)
{
    cr_assert_leq(entry->depth, name->depth);
    cr_assert_leq(entry->n_nexthops, 4);
    for (unsigned i = 0; i < entry->n_nexthops; i++) {
        cr_assert_eq(entry->nexthop[i].cost / 1000, entry->nexthop[i].face);
        cr_assert_eq(i == 0 || entry->nexthop[i - 1].cost <= entry->nexthop[i].cost, true);
    }
    return entry->n_nexthops;
}

/** True when all readers have looked often enough while the writer was at work. */
static bool all_have_read(void)
{
    for (unsigned i = 0; i < READERS; i++)
        if (__atomic_load_n(&shared.loops[i], __ATOMIC_RELAXED) < LOOPS)
            return false;
    return true;
}

static void *read_on(void *arg)
{
    unsigned thread = *(unsigned *)arg;
    uint64_t seen = 0;
    rte_rcu_qsbr_thread_online(shared.qsbr, thread);
    while (!__atomic_load_n(&shared.stop, __ATOMIC_RELAXED)) {
        const struct fib_entry *held[4];
        for (unsigned i = 0; i < 4; i++) {
            held[i] = fib_lookup(shared.fib, &shared.name[i]);
            cr_assert_not_null(held[i], "the root is always there");
        }
        for (unsigned i = 0; i < 4; i++)
            seen += entry_verify(held[i], &shared.name[i]);
        rte_rcu_qsbr_quiescent(shared.qsbr, thread);
        __atomic_fetch_add(&shared.loops[thread], 1, __ATOMIC_RELAXED);
    }
    rte_rcu_qsbr_thread_offline(shared.qsbr, thread);
    cr_assert_gt(seen, 0);
    return NULL;
}

Test(fib, readers_see_whole_entries_under_updates)
{
    static const char long_prefix[] = "/a/b/a-component-that-makes-the-entry-too-long-for-the-arena-and-that-is-"
                                      "seen-by-a-sanitizer-when-it-is-used-after-it-was-freed-by-the-writer";
    static const char *const text[] = {"/a", "/a/b", "/a/b/c", long_prefix};
    shared.qsbr = qsbr_make(READERS);
    shared.fib = make(8, shared.qsbr);
    for (unsigned i = 0; i < 4; i++) {
        uint16_t len;
        const uint8_t *value = uri(text[i], &len);
        memcpy(shared.value[i], value, len);
        cr_assert_eq(ndn_name_parse(shared.value[i], len, false, &shared.name[i]), VERDICT_OK);
        ndn_name_hash(&shared.name[i], &key);
    }
    cr_assert_eq(set(shared.fib, "/", 300, 300 * 1000), 0);
    pthread_t thread[READERS];
    unsigned number[READERS];
    for (unsigned i = 0; i < READERS; i++) {
        number[i] = i;
        rte_rcu_qsbr_thread_register(shared.qsbr, i);
        cr_assert_eq(pthread_create(&thread[i], NULL, read_on, &number[i]), 0);
    }
    uint64_t state = 12345;
    for (unsigned round = 0; round < ROUNDS || !all_have_read(); round++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const struct ndn_name *name = &shared.name[(state >> 33) % 4];
        uint32_t face = 301 + (uint32_t)(state >> 40) % 3;
        switch ((state >> 50) % 4) {
        case 0:
        case 1:
            cr_assert_eq(fib_nexthop_set(shared.fib, name->value, name->len, face, face * 1000 + round % 1000), 0);
            break;
        case 2:
            fib_nexthop_unset(shared.fib, name->value, name->len, face);
            break;
        default:
            if ((state >> 60) % 2 == 0)
                fib_strategy_set(shared.fib, name->value, name->len, (uint16_t)round);
            else
                fib_strategy_unset(shared.fib, name->value, name->len);
            break;
        }
        if (round % 16 == 0)
            fib_reclaim(shared.fib);
    }
    __atomic_store_n(&shared.stop, true, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(thread[i], NULL);
    fib_destroy(shared.fib);
    free(shared.qsbr);
}
