// SPDX-License-Identifier: Apache-2.0
/* The flow table alone, and against a plain array of what must be in it. */
#include <criterion/criterion.h>
#include <errno.h>

#include "pit/flow.h"
#include "pit/wheel.h"

#define MS   UINT64_C(1000000)
#define TICK (UINT64_C(1) << WHEEL_TICK_SHIFT)

static const struct flow_hash_key hash_key = {11, 12};

static struct flow_key key_of(uint32_t n)
{
    uint8_t octets[16] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    struct flow_key key;
    switch (n % 3) {
    case 0:
        flow_key_tuple(&key, octets, octets, n % 2 == 0 ? 4 : 16, octets);
        break;
    case 1:
        flow_key_tuple(&key, octets, octets, 16, octets);
        flow_key_add_scid(&key, octets, 4 + n % 5);
        break;
    default:
        flow_key_dcid(&key, octets, 4 + n % 12);
        break;
    }
    return key;
}

static struct flow *make(uint32_t capacity, uint32_t idle_ms, uint32_t keep_ms)
{
    struct flow *flow = NULL;
    struct flow_config config = {.capacity = capacity, .idle_ms = idle_ms, .keep_ms = keep_ms};
    config.pages = ARENA_PAGES_SMALL;
    cr_assert_eq(flow_create(&flow, &config, 0), 0);
    return flow;
}

static enum flow_result add(struct flow *flow, uint32_t n, uint16_t server, uint64_t now_ns)
{
    struct flow_key key = key_of(n);
    return flow_add(flow, &key, flow_key_hash(&key, &hash_key), server, now_ns);
}

/** @return -1 when it is not there */
static int find(struct flow *flow, uint32_t n, uint64_t now_ns)
{
    struct flow_key key = key_of(n);
    uint64_t hash = flow_key_hash(&key, &hash_key);
    uint16_t server;
    flow_prefetch(flow, hash);
    flow_prefetch_entry(flow, hash);
    return flow_find(flow, &key, hash, now_ns, &server) ? server : -1;
}

static bool take(struct flow *flow, uint32_t n)
{
    struct flow_key key = key_of(n);
    return flow_remove(flow, &key, flow_key_hash(&key, &hash_key));
}

Test(flow, configurations_that_cannot_be)
{
    static const struct flow_config bad[] = {
        {.capacity = 0, .idle_ms = 1000},
        {.capacity = 10, .idle_ms = 0},
        {.capacity = 10, .idle_ms = (1u << 30) + 1},
        {.capacity = 10, .idle_ms = 1000, .keep_ms = 1001},
    };
    struct flow *flow = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(flow_create(&flow, &bad[i], 0), -EINVAL, "%zu", i);
    cr_expect_null(flow);
    flow_destroy(NULL);
}

Test(flow, stays_with_its_server_until_idle)
{
    struct flow *flow = make(100, 1000, 500);
    cr_expect_eq(find(flow, 1, 0), -1);
    cr_expect_eq(add(flow, 1, 7, 0), FLOW_ADDED);
    cr_expect_eq(add(flow, 1, 8, 0), FLOW_KNOWN, "a packet does not move it to another server");
    uint64_t now = 0;
    for (unsigned i = 0; i < 20; i++) {
        now += 900 * MS;
        cr_expect_eq(flow_poll(flow, now, 100), 0);
        cr_expect_eq(find(flow, 1, now), 7);
    }
    cr_expect_eq(flow_poll(flow, now + 1000 * MS - TICK, 100), 0, "not early");
    cr_expect_eq(flow_poll(flow, now + 1000 * MS + 2 * TICK, 100), 1);
    cr_expect_eq(find(flow, 1, now + 1001 * MS), -1);
    struct flow_stats stats;
    flow_stats(flow, &stats);
    cr_expect(stats.n_added == 1 && stats.n_expired == 1 && stats.n_flows == 0);
    cr_expect_eq(flow_check(flow), 0);
    cr_expect_gt(flow_memory(flow), 100 * 128);
    flow_destroy(flow);
}

Test(flow, a_flood_of_new_flows_does_not_push_out_live_ones)
{
    struct flow *flow = make(64, 10000, 2000);
    for (uint32_t i = 0; i < 64; i++) {
        cr_assert_not(flow_is_full(flow));
        cr_assert_eq(add(flow, i, (uint16_t)i, 0), FLOW_ADDED);
    }
    cr_assert(flow_is_full(flow));
    // Even ones are used each second while spoofed packets come in.
    for (uint64_t now = 0; now <= 6000 * MS; now += 100 * MS) {
        if (now % (1000 * MS) == 0)
            for (uint32_t i = 0; i < 64; i += 2)
                cr_assert_eq(find(flow, i, now), (int)i);
        for (uint32_t i = 0; i < 50; i++)
            (void)add(flow, (uint32_t)(1000000 + now / MS * 64 + i), 99, now);
        cr_assert_eq(flow_check(flow), 0);
    }
    for (uint32_t i = 0; i < 64; i++)
        cr_expect_eq(find(flow, i, 6000 * MS), i % 2 == 0 ? (int)i : -1);
    struct flow_stats stats;
    flow_stats(flow, &stats);
    cr_expect(stats.n_refused > 2000 && stats.n_evicted >= 32 && stats.n_flows == 64);
    flow_destroy(flow);
}

Test(flow, the_least_recently_used_gives_way)
{
    struct flow *flow = make(8, 60000, 0);
    for (uint32_t i = 0; i < 8; i++)
        cr_assert_eq(add(flow, i, 1, i * 10 * MS), FLOW_ADDED);
    cr_expect_eq(find(flow, 0, 100 * MS), 1);
    cr_expect_eq(add(flow, 100, 2, 200 * MS), FLOW_ADDED);
    cr_expect_eq(find(flow, 1, 200 * MS), -1);
    cr_expect_eq(find(flow, 0, 200 * MS), 1);
    cr_expect_eq(add(flow, 101, 2, 300 * MS), FLOW_ADDED);
    cr_expect_eq(find(flow, 2, 300 * MS), -1);
    cr_expect_eq(flow_check(flow), 0);
    flow_destroy(flow);
}

Test(flow, the_owner_removes)
{
    struct flow *flow = make(4, 1000, 1000);
    cr_expect_not(take(flow, 5));
    for (uint32_t i = 0; i < 4; i++)
        cr_assert_eq(add(flow, i, 3, 0), FLOW_ADDED);
    cr_expect_eq(add(flow, 4, 3, 0), FLOW_FULL);
    cr_expect(take(flow, 2));
    cr_expect_not(take(flow, 2));
    cr_expect_eq(add(flow, 4, 3, 0), FLOW_ADDED);
    cr_expect_eq(flow_check(flow), 0);
    flow_destroy(flow);
}

Test(flow, equal_hashes_are_told_apart_up_to_the_bound_of_the_index)
{
    struct flow *flow = make(1000, 1000, 0);
    uint32_t n = 0;
    uint16_t server;
    for (;; n++) {
        struct flow_key key = key_of(n);
        enum flow_result result = flow_add(flow, &key, 42, (uint16_t)n, 0);
        if (result == FLOW_FULL)
            break;
        cr_assert_eq(result, FLOW_ADDED);
        cr_assert_lt(n, 1000);
    }
    cr_expect_geq(n, 64);
    for (uint32_t i = 0; i < n; i++) {
        struct flow_key key = key_of(i);
        cr_expect(flow_find(flow, &key, 42, 0, &server) && server == i);
    }
    struct flow_key key = key_of(n);
    cr_expect_not(flow_find(flow, &key, 42, 0, &server));
    cr_expect_not(flow_remove(flow, &key, 42));
    struct flow_stats stats;
    flow_stats(flow, &stats);
    cr_expect(stats.n_flows == n && stats.n_refused == 1 && flow_check(flow) == 0);
    flow_destroy(flow);
}

/* The model: what must be there, in no order. */

#define MODEL_KEYS 60
#define CAPACITY   24
#define IDLE_MS    400
#define KEEP_MS    100

static struct {
    bool in;
    uint16_t server;
    uint32_t used;  /**< tick */
    uint32_t order; /**< of the first use in that tick */
    uint64_t used_ns;
} model[MODEL_KEYS];

static uint32_t last_order;

static uint32_t seed = 12345;

static uint32_t pick(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * below >> 32);
}

static void model_use(uint32_t n, uint64_t now_ns)
{
    if (model[n].used == wheel_tick(now_ns))
        return;
    model[n].used = wheel_tick(now_ns);
    model[n].used_ns = now_ns;
    model[n].order = ++last_order;
}

static void model_add(uint32_t n, uint16_t server, uint64_t now_ns)
{
    model[n].in = true;
    model[n].server = server;
    model[n].used = wheel_tick(now_ns);
    model[n].used_ns = now_ns;
    model[n].order = ++last_order;
}

/** The least recently used. @return MODEL_KEYS when there is none */
static uint32_t model_oldest(void)
{
    uint32_t oldest = MODEL_KEYS;
    for (uint32_t i = 0; i < MODEL_KEYS; i++)
        if (model[i].in && (oldest == MODEL_KEYS || model[i].order < model[oldest].order))
            oldest = i;
    return oldest;
}

static uint32_t model_count(void)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < MODEL_KEYS; i++)
        n += model[i].in;
    return n;
}

/** @return what flow_add() must, and do the same */
static enum flow_result model_add_or_refuse(uint32_t n, uint16_t server, uint64_t now_ns)
{
    if (model[n].in) {
        model_use(n, now_ns);
        return FLOW_KNOWN;
    }
    if (model_count() == CAPACITY) {
        uint32_t oldest = model_oldest();
        if (wheel_tick(now_ns) - model[oldest].used <= wheel_tick(KEEP_MS * MS))
            return FLOW_FULL;
        model[oldest].in = false;
    }
    model_add(n, server, now_ns);
    return FLOW_ADDED;
}

static uint32_t model_expire(uint64_t now_ns)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < MODEL_KEYS; i++) {
        if (model[i].in && (int32_t)(wheel_tick(now_ns) - wheel_tick_after_ms(model[i].used_ns, IDLE_MS)) >= 0) {
            model[i].in = false;
            n++;
        }
    }
    return n;
}

Test(flow, random_operations_agree_with_a_model)
{
    struct flow *flow = make(CAPACITY, IDLE_MS, KEEP_MS);
    uint64_t now = 0;
    for (unsigned step = 0; step < 200000; step++) {
        uint32_t n = pick(step / 20000 % 2 == 0 ? MODEL_KEYS : CAPACITY + 2), what = pick(32);
        uint16_t server = (uint16_t)pick(1000);
        if (what < 12) {
            cr_assert_eq(find(flow, n, now), model[n].in ? model[n].server : -1, "step %u", step);
            if (model[n].in)
                model_use(n, now);
        } else if (what < 28) {
            cr_assert_eq(add(flow, n, server, now), model_add_or_refuse(n, server, now), "step %u", step);
        } else if (what == 28) {
            cr_assert_eq(take(flow, n), model[n].in, "step %u", step);
            model[n].in = false;
        } else {
            now += pick(200) == 0 ? IDLE_MS * MS : pick(160) * (MS / 4);
            cr_assert_eq(flow_poll(flow, now, UINT32_MAX), model_expire(now), "step %u", step);
        }
        cr_assert_eq(flow_check(flow), 0, "step %u", step);
    }
    struct flow_stats stats;
    flow_stats(flow, &stats);
    cr_expect_eq(stats.n_flows, model_count());
    cr_expect_eq(stats.n_added, stats.n_flows + stats.n_expired + stats.n_evicted + stats.n_removed);
    cr_expect(stats.n_refused > 100 && stats.n_evicted > 100 && stats.n_expired > 100 && stats.n_removed > 100,
              "%lu refused, %lu evicted, %lu expired", stats.n_refused, stats.n_evicted, stats.n_expired);
    flow_destroy(flow);
}
