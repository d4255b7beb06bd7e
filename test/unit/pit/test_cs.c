// SPDX-License-Identifier: Apache-2.0
#include "pit/cs.h"

#include <criterion/criterion.h>

#include <errno.h>

#include "pit/cs_impl.h"
#include "test/unit/pit/cs_data.h"

#define MS UINT64_C(1000000)

static void insert(struct cs *cs, const char *uri, uint32_t freshness_ms, uint64_t now_ns, uint32_t id)
{
    struct data_name n;
    data_name(&n, uri);
    data_insert(cs, &n.name, id, 0, 4096, freshness_ms, false, now_ns);
    cr_assert_eq(cs_check(cs), 0);
}

static uint32_t find(struct cs *cs, const char *uri, bool can_be_prefix, bool must_be_fresh, uint64_t now_ns)
{
    struct data_name n;
    data_name(&n, uri);
    uint32_t id = data_find(cs, &n.name, can_be_prefix, must_be_fresh, now_ns);
    cr_assert_eq(cs_check(cs), 0);
    return id;
}

static uint32_t find_exact(struct cs *cs, const char *uri)
{
    return find(cs, uri, false, false, 1000);
}

static uint32_t find_below(struct cs *cs, const char *uri)
{
    return find(cs, uri, true, false, 1000);
}

static struct cs_info info(const struct cs *cs)
{
    struct cs_info i;
    cs_info(cs, &i);
    return i;
}

static void destroy(struct cs *cs)
{
    cs_destroy(cs);
    cr_assert_eq(fake_n_live, 0);
}

Test(cs, exact_name_is_found)
{
    struct cs *cs = data_cs(4, 4, CS_LRU);
    insert(cs, "/a/b", 0, 0, 1);
    cr_assert_eq(find_exact(cs, "/a/b"), 1);
    cr_assert_eq(find_exact(cs, "/a"), 0);
    cr_assert_eq(find_exact(cs, "/a/b/c"), 0);
    cr_assert_eq(find_exact(cs, "/a/c"), 0);
    struct cs_info i = info(cs);
    cr_assert_eq(i.n_hits, 1);
    cr_assert_eq(i.n_misses, 3);
    cr_assert_eq(i.n_inserts, 1);
    cr_assert_eq(i.n_entries, 1);
    cr_assert_eq(i.capacity, 4);
    destroy(cs);
}

Test(cs, newest_data_below_a_prefix_is_found)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    insert(cs, "/a/b/c", 10, 0, 1);
    insert(cs, "/a/b/d", 0, 0, 2);
    insert(cs, "/a/x", 0, 0, 3);
    cr_assert_eq(find_below(cs, "/a/b"), 2);
    cr_assert_eq(find_below(cs, "/a"), 3);
    insert(cs, "/a/b/c", 10, 0, 4);
    cr_assert_eq(find_below(cs, "/a"), 4);
    cr_assert_eq(find_below(cs, "/a/b"), 4);
    cr_assert_eq(find_below(cs, "/a/bb"), 0);
    cr_assert_eq(find_below(cs, "/a/b/d"), 2, "the exact name counts as a prefix");
    destroy(cs);
}

Test(cs, exact_name_goes_before_longer_ones)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    insert(cs, "/a", 0, 0, 1);
    insert(cs, "/a/b", 10, 0, 2);
    cr_assert_eq(find(cs, "/a", true, false, 0), 1);
    cr_assert_eq(find(cs, "/a", true, true, 0), 2, "unless only the longer one is fresh");
    destroy(cs);
}

Test(cs, freshness_ends_with_its_period)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    insert(cs, "/a", 10, 5 * MS, 1);
    cr_assert_eq(find(cs, "/a", false, true, 15 * MS), 1);
    cr_assert_eq(find(cs, "/a", false, true, 15 * MS + 1), 0);
    cr_assert_eq(find(cs, "/a", false, false, 15 * MS + 1), 1);
    insert(cs, "/a", 10, 20 * MS, 2);
    cr_assert_eq(find(cs, "/a", false, true, 30 * MS), 2, "the same name again is fresh again");
    insert(cs, "/b", 0, 20 * MS, 3);
    cr_assert_eq(find(cs, "/b", false, true, 20 * MS), 0, "no FreshnessPeriod: never fresh");
    insert(cs, "/c", 0, 0, 4);
    cr_assert_eq(find(cs, "/c", false, true, 0), 0);
    insert(cs, "/d", UINT32_MAX, 20 * MS, 5);
    cr_assert_eq(find(cs, "/d", false, true, 20 * MS + UINT32_MAX * MS), 5);
    destroy(cs);
}

Test(cs, implicit_digest_must_agree)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    struct data_name n, digest;
    data_name(&n, "/a/b");
    data_insert(cs, &n.name, 7, 0, 4096, 10, false, 0);
    for (int twice = 0; twice < 2; twice++) {
        data_digest_name(&digest, &n.name, 7);
        cr_assert_eq(data_find(cs, &digest.name, false, false, 0), 7);
        cr_assert_eq(data_find(cs, &digest.name, true, true, 0), 7);
        cr_assert_eq(data_find(cs, &digest.name, true, true, 11 * MS), 0);
        data_digest_name(&digest, &n.name, 8);
        cr_assert_eq(data_find(cs, &digest.name, false, false, 0), 0);
        cr_assert_eq(data_find(cs, &digest.name, true, false, 0), 0);
    }
    data_insert(cs, &n.name, 8, 0, 4096, 0, false, 0);
    cr_assert_eq(data_find(cs, &digest.name, false, false, 0), 8, "the digest is that of the newer Data");
    cr_assert_eq(find_exact(cs, "/sha256digest=0000000000000000000000000000000000000000000000000000000000000000"), 0);
    destroy(cs);
}

Test(cs, digest_of_a_chain_with_headers)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    struct data_name n, digest;
    data_name(&n, "/a/b/a-component-that-is-longer-than-any-that-would-fit-the-entry-itself/"
                  "and-one-more-of-this-kind-because-it-costs-nothing");
    for (uint16_t seg_len = 1; seg_len < 300; seg_len = (uint16_t)(seg_len + 13)) {
        for (uint16_t off = 0; off < 30; off = (uint16_t)(off + 14)) {
            data_insert(cs, &n.name, seg_len, off, seg_len, 0, false, 0);
            cr_assert_eq(cs_check(cs), 0);
            data_digest_name(&digest, &n.name, seg_len);
            cr_assert_eq(data_find(cs, &n.name, false, false, 0), seg_len);
            cr_assert_eq(data_find(cs, &digest.name, false, false, 0), seg_len);
        }
    }
    n.value[n.name.len - 1] ^= 1;
    cr_assert_eq(data_find(cs, &n.name, false, false, 0), 0, "same hash, other name");
    destroy(cs);
}

Test(cs, offset_survives_new_headers)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    struct data_name n;
    data_name(&n, "/a/b");
    uint8_t frame[DATA_MAX] = {0};
    uint16_t len = data_make(frame + 20, &n.name, 1);
    struct rte_mbuf *mbuf = fake_segment(frame, (uint16_t)(len + 20), 1);
    cs_insert(cs, &n.name, mbuf, 20, len, 0, false, 0);
    cr_assert_eq(rte_mbuf_refcnt_read(mbuf), 2);
    rte_pktmbuf_adj(mbuf, 20);
    cr_assert_eq(data_find(cs, &n.name, false, false, 0), 1);
    rte_pktmbuf_prepend(mbuf, 50);
    cr_assert_eq(data_find(cs, &n.name, false, false, 0), 1);
    struct data_name digest;
    data_digest_name(&digest, &n.name, 1);
    cr_assert_eq(data_find(cs, &digest.name, false, false, 0), 1);
    rte_pktmbuf_free(mbuf);
    destroy(cs);
}

Test(cs, lru_evicts_the_least_recently_used)
{
    struct cs *cs = data_cs(3, 3, CS_LRU);
    insert(cs, "/a", 0, 0, 1);
    insert(cs, "/b", 0, 0, 2);
    insert(cs, "/c", 0, 0, 3);
    cr_assert_eq(find_exact(cs, "/b"), 2);
    cr_assert_eq(find_exact(cs, "/a"), 1);
    insert(cs, "/d", 0, 0, 4);
    cr_assert_eq(fake_live[3], 0);
    insert(cs, "/e", 0, 0, 5);
    cr_assert_eq(fake_live[2], 0);
    cr_assert_eq(find_exact(cs, "/a"), 1);
    cr_assert_eq(info(cs).n_evictions, 2);
    cr_assert_eq(fake_n_live, 3);
    destroy(cs);
}

Test(cs, large_lru_spares_what_was_used)
{
    enum { N = 5000 };
    struct cs *cs = data_cs(N, N, CS_LRU);
    char uri[32];
    for (uint32_t i = 1; i <= N; i++) {
        struct data_name n;
        snprintf(uri, sizeof uri, "/a/%u", i);
        data_name(&n, uri);
        cs_prefetch_bucket(cs, n.name.hash_full);
        data_insert(cs, &n.name, i, 0, 4096, 0, false, 0);
    }
    cr_assert_eq(find_exact(cs, "/a/1"), 1);
    for (uint32_t i = N + 1; i < 2 * N; i++) {
        struct data_name n;
        snprintf(uri, sizeof uri, "/a/%u", i);
        data_name(&n, uri);
        data_insert(cs, &n.name, i, 0, 4096, 0, false, 0);
        cr_assert_eq(fake_live[1], 1);
        cr_assert_eq(fake_live[i - N + 1], 0);
        if (i % 64 == 0) {
            snprintf(uri, sizeof uri, "/a/%u", i - N / 2);
            find(cs, "/a/1", false, false, 0);
            cr_assert_eq(fake_live[i - N / 2], 1);
        }
    }
    cr_assert_eq(cs_check(cs), 0);
    cr_assert_eq(fake_n_live, N);
    struct data_name n;
    data_name(&n, "/a");
    cr_assert_eq(cs_erase(cs, &n.name, N), N, "whatever was brought into the cache ahead");
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs, large_lru_evicts_although_all_was_used)
{
    enum { N = 4200 };
    struct cs *cs = data_cs(N, N, CS_LRU);
    struct data_name n;
    char uri[32];
    for (uint32_t i = 1; i <= N + 100; i++) {
        snprintf(uri, sizeof uri, "/a/%u", i);
        data_name(&n, uri);
        data_insert(cs, &n.name, i, 0, 4096, 0, false, 0);
        cr_assert_eq(data_find(cs, &n.name, false, false, 0), i);
    }
    cr_assert_eq(fake_n_live, N);
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs, priority_fifo_evicts_unsolicited_then_stale_then_oldest)
{
    struct cs *cs = data_cs(5, 5, CS_PRIORITY_FIFO);
    struct data_name n;
    insert(cs, "/fresh/1", 1000, 0, 1);
    insert(cs, "/soon/2", 5, 0, 2);
    insert(cs, "/never/3", 0, 0, 3);
    data_name(&n, "/unsolicited/4");
    data_insert(cs, &n.name, 4, 0, 4096, 1000, true, 0);
    insert(cs, "/fresh/5", 1000, 0, 5);
    cr_assert_eq(find_exact(cs, "/fresh/1"), 1, "a hit changes no order");
    cs_poll(cs, 10 * MS);
    static const uint32_t order[] = {4, 3, 2, 1, 5};
    for (unsigned i = 0; i < 5; i++) {
        char uri[32];
        snprintf(uri, sizeof uri, "/next/%u", i);
        insert(cs, uri, 1000, 10 * MS, 10 + i);
        cr_assert_eq(fake_live[order[i]], 0, "%u", order[i]);
        cr_assert_eq(fake_n_live, 5);
    }
    destroy(cs);
}

Test(cs, refreshed_data_leaves_the_stale_queue)
{
    struct cs *cs = data_cs(2, 2, CS_PRIORITY_FIFO);
    struct data_name n;
    insert(cs, "/a", 5, 0, 1);
    cs_poll(cs, 10 * MS);
    insert(cs, "/a", 100, 10 * MS, 2);
    insert(cs, "/b", 5, 10 * MS, 3);
    cs_poll(cs, 20 * MS);
    insert(cs, "/c", 5, 20 * MS, 4);
    cr_assert_eq(fake_live[2], 1);
    cr_assert_eq(fake_live[3], 0);
    // What was asked for once does not become unsolicited; what was unsolicited may become solicited.
    data_name(&n, "/a");
    data_insert(cs, &n.name, 5, 0, 4096, 100, true, 20 * MS);
    cs_poll(cs, 30 * MS);
    insert(cs, "/d", 100, 30 * MS, 6);
    cr_assert_eq(fake_live[5], 1);
    cr_assert_eq(fake_live[4], 0);
    destroy(cs);
}

Test(cs, freshness_of_many_days_is_timed_in_parts)
{
    struct cs *cs = data_cs(2, 2, CS_PRIORITY_FIFO);
    uint64_t until = 3000000000u * MS;
    insert(cs, "/long", 3000000000u, 0, 1);
    for (uint64_t now = 0; now < until; now += until / 64) {
        cs_poll(cs, now);
        cr_assert_eq(cs->queue[CS_QUEUE_MAIN].count, 1);
        cr_assert_eq(cs_check(cs), 0);
    }
    cs_poll(cs, until + 3 * MS);
    cr_assert_eq(cs->queue[CS_QUEUE_STALE].count, 1);
    destroy(cs);
}

Test(cs, capacity_changes_at_run_time)
{
    struct cs *cs = data_cs(1000, 2000, CS_LRU);
    char uri[32];
    for (uint32_t i = 1; i <= 1000; i++) {
        snprintf(uri, sizeof uri, "/a/%u", i);
        struct data_name n;
        data_name(&n, uri);
        data_insert(cs, &n.name, i, 0, 4096, 0, false, 0);
    }
    cr_assert_eq(cs_resize(cs, 2001), -ERANGE);
    cr_assert_eq(cs_resize(cs, 10), 0);
    cr_assert_gt(info(cs).n_entries, 10, "it shrinks in steps");
    insert(cs, "/b", 0, 0, 1001);
    for (int i = 0; i < 100; i++)
        cs_poll(cs, 0);
    cr_assert_eq(info(cs).n_entries, 10);
    cr_assert_eq(fake_n_live, 10);
    cr_assert_eq(find_exact(cs, "/b"), 1001);
    cr_assert_eq(find_exact(cs, "/a/1000"), 1000);
    cr_assert_eq(cs_resize(cs, 20), 0);
    for (uint32_t i = 0; i < 10; i++) {
        snprintf(uri, sizeof uri, "/c/%u", i);
        insert(cs, uri, 0, 0, 2000 + i);
    }
    cr_assert_eq(info(cs).n_entries, 20);
    cr_assert_eq(cs_resize(cs, 0), 0);
    cr_assert_eq(find_exact(cs, "/b"), 0);
    insert(cs, "/b", 0, 0, 1002);
    cr_assert_eq(fake_live[1002], 0);
    cr_assert_eq(fake_n_live, 0);
    destroy(cs);
}

Test(cs, off_from_the_start)
{
    struct cs *cs = data_cs(0, 0, CS_LRU);
    insert(cs, "/b", 0, 0, 1);
    cr_assert_eq(find_exact(cs, "/b"), 0);
    cs_poll(cs, MS);
    cr_assert_eq(cs_resize(cs, 1), -ERANGE);
    destroy(cs);
}

Test(cs, unfit_data_is_not_kept)
{
    struct cs *cs = data_cs(4, 4, CS_LRU);
    insert(cs, "/", 0, 0, 1);
    insert(cs, "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33", 0, 0, 2);
    struct data_name n;
    data_name(&n, "/a");
    struct rte_mbuf *mbuf = fake_segment("x", 1, 3);
    cs_insert(cs, &n.name, mbuf, 0, 8801, 0, false, 0);
    cs_insert(cs, &n.name, mbuf, 65500, 10, 0, false, 0);
    rte_pktmbuf_free(mbuf);
    cr_assert_eq(info(cs).n_entries, 0);
    cr_assert_eq(fake_n_live, 0);
    destroy(cs);
}

Test(cs, names_of_thirty_two_components)
{
    static const char *const uri =
        "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32";
    struct cs *cs = data_cs(4, 4, CS_LRU);
    insert(cs, uri, 0, 0, 1);
    struct data_name n, digest;
    data_name(&n, uri);
    cr_assert_eq(n.name.n_comps, 32);
    cr_assert_eq(find_exact(cs, uri), 1);
    cr_assert_eq(find_below(cs, uri), 1);
    cr_assert_eq(find_below(cs, "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31"),
                 1);
    data_digest_name(&digest, &n.name, 1);
    cr_assert_eq(digest.name.n_comps, 33);
    cr_assert_eq(data_find(cs, &digest.name, true, false, 0), 1);
    cr_assert_eq(find_below(cs, "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/"
                                "32/33/34"),
                 0);
    destroy(cs);
}

Test(cs, erase_takes_what_is_below_a_prefix)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    insert(cs, "/a", 0, 0, 1);
    insert(cs, "/a/b", 0, 0, 2);
    insert(cs, "/a/b/c", 0, 0, 3);
    insert(cs, "/ab", 0, 0, 4);
    struct data_name n;
    data_name(&n, "/a/b");
    cr_assert_eq(cs_erase(cs, &n.name, 1), 1);
    cr_assert_eq(cs_check(cs), 0);
    cr_assert_eq(cs_erase(cs, &n.name, 100), 1);
    cr_assert_eq(cs_erase(cs, &n.name, 100), 0);
    cr_assert_eq(find_exact(cs, "/a"), 1);
    data_name(&n, "/");
    cr_assert_eq(cs_erase(cs, &n.name, 100), 2);
    cr_assert_eq(fake_n_live, 0);
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs, an_erasure_goes_in_steps)
{
    enum { N = 100 };
    struct cs *cs = data_cs(2 * N, 2 * N, CS_LRU);
    char uri[32];
    for (int i = 0; i < N; i++) {
        snprintf(uri, sizeof uri, i % 2 == 0 ? "/a/%d" : "/b/%d", i);
        insert(cs, uri, 0, 0, (uint32_t)i + 1);
    }
    struct data_name n;
    data_name(&n, "/a");
    struct cs_erasure erasure = {.prefix = &n.name, .max = N};
    cs_erase_step(cs, &erasure, 10);
    cr_assert_eq(erasure.erased, 5, "ten entries were looked at");
    cr_assert(!erasure.done && !erasure.more);
    cr_assert_eq(cs_check(cs), 0);
    unsigned steps = 1;
    for (; !erasure.done; steps++)
        cs_erase_step(cs, &erasure, 10);
    cr_assert_eq(steps, 10);
    cr_assert_eq(erasure.erased, N / 2);
    cr_assert(!erasure.more);

    data_name(&n, "/b");
    erasure = (struct cs_erasure){.prefix = &n.name, .max = 3};
    while (!erasure.done)
        cs_erase_step(cs, &erasure, 10);
    cr_assert_eq(erasure.erased, 3);
    cr_assert(erasure.more, "there is a fourth");
    struct cs_info info;
    cs_info(cs, &info);
    cr_assert_eq(info.n_entries, N / 2 - 3);
    cr_assert_eq(info.capacity_max, 2 * N);
    erasure = (struct cs_erasure){.prefix = &n.name, .max = N / 2 - 3};
    while (!erasure.done)
        cs_erase_step(cs, &erasure, 10);
    cr_assert_eq(erasure.erased, N / 2 - 3);
    cr_assert(!erasure.more, "exactly so many there were");
    cr_assert_eq(cs_check(cs), 0);
    destroy(cs);
}

Test(cs, prefetch_changes_nothing)
{
    struct cs *cs = data_cs(8, 8, CS_LRU);
    struct data_name n, other;
    insert(cs, "/a", 0, 0, 1);
    data_name(&n, "/a");
    data_name(&other, "/b");
    cs_prefetch_bucket(cs, n.name.hash_full);
    cs_prefetch_entry(cs, n.name.hash_full);
    cs_prefetch_data(cs, n.name.hash_full);
    cs_prefetch_entry(cs, other.name.hash_full);
    cs_prefetch_data(cs, other.name.hash_full);
    cr_assert_eq(cs_check(cs), 0);
    cr_assert_eq(info(cs).n_hits, 0);
    destroy(cs);
}

Test(cs, creation_refuses_what_cannot_be)
{
    struct cs *cs = NULL;
    struct cs_config config = {.capacity = 2, .capacity_max = 1};
    cr_assert_eq(cs_create(&cs, &config, 0), -EINVAL);
    config = (struct cs_config){.capacity = 2, .capacity_max = UINT32_MAX};
    cr_assert_eq(cs_create(&cs, &config, 0), -EINVAL);
    cr_assert_null(cs);
    cs_destroy(NULL);
    cs = data_cs(1, 1024, CS_LRU);
    cr_assert_geq(cs_memory(cs), 1024 * (sizeof(struct cs_entry) + sizeof(struct cs_cold)));
    destroy(cs);
}
