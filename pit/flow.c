// SPDX-License-Identifier: Apache-2.0
#include "pit/flow.h"

#include <errno.h>
#include <string.h>

#include "pit/octets.h"
#include "pit/pool.h"
#include "pit/table.h"
#include "pit/wheel.h"

#define IDLE_MAX_MS (UINT32_C(1) << 30)

/** Two cache lines. The list is in the order of last use, to one tick of the wheel. */
struct entry {
    struct flow_key key;
    uint64_t hash;
    struct wheel_node timer;
    uint32_t newer, older; /**< 0: none */
    uint32_t used;         /**< tick of the last use */
    uint16_t server;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct entry) == 128, "two cache lines");

struct flow {
    struct flow_config config;
    struct pool pool;
    struct table table;
    struct wheel *wheel;
    uint32_t newest, oldest;
    uint32_t keep_ticks;
    struct flow_stats stats;
};

static struct entry *entry_at(const struct flow *flow, uint32_t index)
{
    return pool_at(&flow->pool, index);
}

int flow_create(struct flow **flow, const struct flow_config *config, uint64_t now_ns)
{
    if (config->capacity == 0 || config->idle_ms == 0 || config->idle_ms > IDLE_MAX_MS ||
        config->keep_ms > config->idle_ms)
        return -EINVAL;
    struct flow *made = arena_map(sizeof *made, config->pages);
    if (made == NULL)
        return -ENOMEM;
    made->config = *config;
    made->keep_ticks = wheel_tick((uint64_t)config->keep_ms * 1000000);
    int ret = pool_init(&made->pool, config->capacity, sizeof(struct entry), config->pages);
    if (ret != 0)
        goto unmap;
    ret = table_init(&made->table, config->capacity, config->pages);
    if (ret != 0)
        goto fini_pool;
    ret = wheel_create(&made->wheel, made->pool.base, sizeof(struct entry), offsetof(struct entry, timer), now_ns);
    if (ret != 0)
        goto fini_table;
    *flow = made;
    return 0;
fini_table:
    table_fini(&made->table);
fini_pool:
    pool_fini(&made->pool);
unmap:
    arena_unmap(made, sizeof *made);
    return ret;
}

void flow_destroy(struct flow *flow)
{
    if (flow == NULL)
        return;
    wheel_destroy(flow->wheel);
    table_fini(&flow->table);
    pool_fini(&flow->pool);
    arena_unmap(flow, sizeof *flow);
}

size_t flow_memory(const struct flow *flow)
{
    return arena_size(sizeof *flow) + pool_memory(&flow->pool) + table_memory(&flow->table) + wheel_memory();
}

static void list_push(struct flow *flow, uint32_t index)
{
    struct entry *entry = entry_at(flow, index);
    entry->newer = POOL_NONE;
    entry->older = flow->newest;
    if (flow->newest != POOL_NONE)
        entry_at(flow, flow->newest)->newer = index;
    else
        flow->oldest = index;
    flow->newest = index;
}

static void list_take(struct flow *flow, uint32_t index)
{
    const struct entry *entry = entry_at(flow, index);
    if (entry->newer != POOL_NONE)
        entry_at(flow, entry->newer)->older = entry->older;
    else
        flow->newest = entry->older;
    if (entry->older != POOL_NONE)
        entry_at(flow, entry->older)->newer = entry->newer;
    else
        flow->oldest = entry->newer;
}

static void use(struct flow *flow, uint32_t index, uint64_t now_ns)
{
    struct entry *entry = entry_at(flow, index);
    uint32_t tick = wheel_tick(now_ns);
    // Of many packets in a tick the first does the work, which touches other entries too.
    if (entry->used == tick)
        return;
    entry->used = tick;
    list_take(flow, index);
    list_push(flow, index);
    wheel_arm(flow->wheel, index, wheel_tick_after_ms(now_ns, flow->config.idle_ms));
}

/** Take an entry out of everything but the wheel. */
static void drop(struct flow *flow, uint32_t index)
{
    (void)table_remove(&flow->table, entry_at(flow, index)->hash, index);
    list_take(flow, index);
    pool_put(&flow->pool, index);
    flow->stats.n_flows--;
}

/** Find without using. @return POOL_NONE when it is not there */
static uint32_t look(const struct flow *flow, const struct flow_key *key, uint64_t hash)
{
    struct table_iter iter;
    uint32_t index = table_first(&flow->table, hash, &iter);
    for (; index != POOL_NONE; index = table_next(&flow->table, &iter)) {
        const struct entry *entry = entry_at(flow, index);
        if (octets_equal((const uint8_t *)&entry->key, (const uint8_t *)key, sizeof *key))
            break;
    }
    return index;
}

void flow_prefetch(const struct flow *flow, uint64_t hash)
{
    table_prefetch(&flow->table, hash);
}

void flow_prefetch_entry(const struct flow *flow, uint64_t hash)
{
    struct table_iter iter;
    const struct entry *entry = entry_at(flow, table_first(&flow->table, hash, &iter));
    __builtin_prefetch(entry);
    __builtin_prefetch(&entry->hash, 1);
}

bool flow_find(struct flow *flow, const struct flow_key *key, uint64_t hash, uint64_t now_ns, uint16_t *server)
{
    uint32_t index = look(flow, key, hash);
    if (index == POOL_NONE)
        return false;
    use(flow, index, now_ns);
    *server = entry_at(flow, index)->server;
    return true;
}

/** An entry for a new flow: a free one, or the least recently used if that may give way. @return POOL_NONE if not */
static uint32_t make_room(struct flow *flow, uint64_t now_ns)
{
    uint32_t index = pool_get(&flow->pool);
    if (index != POOL_NONE)
        return index;
    uint32_t oldest = flow->oldest;
    if (wheel_tick(now_ns) - entry_at(flow, oldest)->used <= flow->keep_ticks)
        return POOL_NONE;
    wheel_cancel(flow->wheel, oldest);
    drop(flow, oldest);
    flow->stats.n_evicted++;
    return pool_get(&flow->pool);
}

enum flow_result flow_add(struct flow *flow, const struct flow_key *key, uint64_t hash, uint16_t server,
                          uint64_t now_ns)
{
    uint32_t index = look(flow, key, hash);
    if (index != POOL_NONE) {
        use(flow, index, now_ns);
        return FLOW_KNOWN;
    }
    index = make_room(flow, now_ns);
    if (index == POOL_NONE)
        goto refuse;
    struct entry *entry = entry_at(flow, index);
    if (table_insert(&flow->table, hash, index) != 0) {
        pool_put(&flow->pool, index);
        goto refuse;
    }
    entry->key = *key;
    entry->hash = hash;
    entry->server = server;
    entry->used = wheel_tick(now_ns);
    list_push(flow, index);
    wheel_start(flow->wheel, &entry->timer, index, wheel_tick_after_ms(now_ns, flow->config.idle_ms));
    flow->stats.n_flows++;
    flow->stats.n_added++;
    return FLOW_ADDED;
refuse:
    flow->stats.n_refused++;
    return FLOW_FULL;
}

bool flow_is_full(const struct flow *flow)
{
    return flow->stats.n_flows >= flow->config.capacity;
}

bool flow_remove(struct flow *flow, const struct flow_key *key, uint64_t hash)
{
    uint32_t index = look(flow, key, hash);
    if (index == POOL_NONE)
        return false;
    wheel_cancel(flow->wheel, index);
    drop(flow, index);
    flow->stats.n_removed++;
    return true;
}

static void expire(void *ctx, uint32_t index)
{
    struct flow *flow = ctx;
    drop(flow, index);
    flow->stats.n_expired++;
}

uint32_t flow_poll(struct flow *flow, uint64_t now_ns, uint32_t max)
{
    return wheel_poll(flow->wheel, now_ns, max, expire, flow);
}

void flow_stats(const struct flow *flow, struct flow_stats *stats)
{
    *stats = flow->stats;
}

int flow_check(const struct flow *flow)
{
    uint32_t n = 0, newer = POOL_NONE;
    for (uint32_t index = flow->newest; index != POOL_NONE; index = entry_at(flow, index)->older) {
        const struct entry *entry = entry_at(flow, index);
        if (++n > flow->stats.n_flows || entry->newer != newer || !wheel_armed(flow->wheel, index) ||
            look(flow, &entry->key, entry->hash) != index)
            return -EINVAL;
        if (newer != POOL_NONE && (int32_t)(entry_at(flow, newer)->used - entry->used) < 0)
            return -EINVAL;
        newer = index;
    }
    if (flow->oldest != newer || n != flow->stats.n_flows || n != flow->pool.n_used || n != flow->table.n_entries ||
        n != wheel_count(flow->wheel))
        return -EINVAL;
    return wheel_check(flow->wheel);
}
