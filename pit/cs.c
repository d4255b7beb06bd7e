// SPDX-License-Identifier: Apache-2.0
#include "pit/cs.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <string.h>

#include "pit/cs_impl.h"

/** Most Data that cs_resize() evicts at once, and cs_poll() per call; the rest goes bit by bit. */
#define CS_SHRINK_AT_ONCE  256
#define CS_SHRINK_PER_POLL 32
#define CS_STALE_PER_POLL  32
/** From this capacity on, entries that will be evicted soon are brought into the cache ahead. */
#define CS_AHEAD_MIN 2048
#define CS_AHEAD     8
/** From this capacity on, lru is approximated by giving used entries a second chance. */
#define CS_EXACT_MAX 4096
/** Used entries that one eviction passes over. */
#define CS_PASS_OVER 16
/** Longest time that is put on the wheel at once. */
#define CS_TIMER_MAX_MS 2000000000u

/** To be called when n_entries or capacity has changed. */
static inline void steady_set(struct cs *cs)
{
    cs->steady = cs->policy == CS_LRU && cs->n_entries == cs->capacity && cs->capacity > 0;
}

static void capacity_set(struct cs *cs, uint32_t capacity)
{
    cs->capacity = capacity;
    steady_set(cs);
    cs->look_ahead = cs->policy == CS_LRU && capacity >= CS_AHEAD_MIN;
    cs->approximate = cs->policy == CS_LRU && capacity > CS_EXACT_MAX;
    cs->ahead = POOL_NONE;
}

int cs_create(struct cs **out, const struct cs_config *config, uint64_t now_ns)
{
    if (config->capacity > config->capacity_max || config->capacity_max > 1u << 28)
        return -EINVAL;
    struct cs *cs = arena_map(sizeof *cs, config->pages);
    if (cs == NULL)
        return -ENOMEM;
    uint32_t n = config->capacity_max > 0 ? config->capacity_max : 1;
    cs->policy = config->policy;
    capacity_set(cs, config->capacity);
    if (pool_init(&cs->entries, n, sizeof(struct cs_entry), config->pages) != 0)
        goto fail;
    cs->entry = pool_at(&cs->entries, 0);
    // A small index is made roomy: entries outside their home bucket cost more than the memory.
    if (table_init(&cs->index, n < 4096 ? 2 * n : n, config->pages) != 0)
        goto fail;
    cs->cold = arena_map(((size_t)n + 1) * sizeof *cs->cold, config->pages);
    if (cs->cold == NULL)
        goto fail;
    if (cs_prefix_init(&cs->prefixes, n, config->pages) != 0)
        goto fail;
    if (cs->policy == CS_PRIORITY_FIFO &&
        wheel_create(&cs->wheel, cs->cold, sizeof *cs->cold, offsetof(struct cs_cold, node), now_ns) != 0)
        goto fail;
    cs->capacity_max = config->capacity_max;
    *out = cs;
    return 0;

fail:
    cs_destroy(cs);
    return -ENOMEM;
}

void cs_destroy(struct cs *cs)
{
    if (cs == NULL)
        return;
    for (unsigned q = 0; q < CS_QUEUES; q++)
        for (uint32_t i = cs_oldest(cs, q); i != POOL_NONE; i = cs_newer(cs, i))
            rte_pktmbuf_free(cs_at(cs, i)->mbuf);
    if (cs->wheel != NULL)
        wheel_destroy(cs->wheel);
    cs_prefix_fini(&cs->prefixes);
    if (cs->cold != NULL)
        arena_unmap(cs->cold, ((size_t)cs->entries.capacity + 1) * sizeof *cs->cold);
    table_fini(&cs->index);
    pool_fini(&cs->entries);
    arena_unmap(cs, sizeof *cs);
}

static void queue_push(struct cs *cs, uint32_t index, enum cs_queue_id id)
{
    struct cs_queue *queue = &cs->queue[id];
    struct cs_entry *entry = cs_at(cs, index);
    entry->queue = id;
    if (queue->newest == POOL_NONE) {
        entry->newer = index;
        entry->older = index;
    } else {
        struct cs_entry *newest = cs_at(cs, queue->newest);
        entry->older = queue->newest;
        entry->newer = newest->newer;
        cs_at(cs, newest->newer)->older = index;
        newest->newer = index;
    }
    queue->newest = index;
    queue->count++;
}

static void queue_remove(struct cs *cs, uint32_t index)
{
    struct cs_entry *entry = cs_at(cs, index);
    struct cs_queue *queue = &cs->queue[entry->queue];
    if (cs->ahead == index)
        cs->ahead = entry->newer;
    cs_at(cs, entry->older)->newer = entry->newer;
    cs_at(cs, entry->newer)->older = entry->older;
    if (queue->newest == index)
        queue->newest = --queue->count > 0 ? entry->older : POOL_NONE;
    else
        queue->count--;
}

/** Bring what the next evictions will touch into the cache: entry, bucket and mbuf are each one miss in a large CS. */
void cs_evict_ahead(struct cs *cs)
{
    uint32_t ahead = cs->ahead;
    if (ahead == POOL_NONE || ahead == cs_oldest(cs, CS_QUEUE_MAIN)) {
        ahead = cs_oldest(cs, CS_QUEUE_MAIN);
        for (unsigned i = 0; i < CS_AHEAD; i++)
            ahead = cs_at(cs, ahead)->newer;
    }
    const struct cs_entry *entry = cs_at(cs, ahead);
    table_prefetch(&cs->index, entry->hash);
    __builtin_prefetch(entry->mbuf, 1);
    cs->ahead = entry->newer;
    __builtin_prefetch(cs_at(cs, entry->newer), 1);
}

/** Take an entry out of all but its queue and the pool; its mbuf is freed. */
static inline void entry_clear(struct cs *cs, uint32_t index)
{
    struct cs_entry *entry = cs_at(cs, index);
    if (cs->wheel != NULL)
        wheel_cancel(cs->wheel, index);
    if (entry->nodes != POOL_NONE)
        cs_prefix_remove(cs, index);
    table_remove(&cs->index, entry->hash, index);
    cs_mbuf_free(entry->mbuf);
    entry->mbuf = NULL;
}

static void entry_erase(struct cs *cs, uint32_t index)
{
    entry_clear(cs, index);
    queue_remove(cs, index);
    pool_put(&cs->entries, index);
    cs->n_entries--;
    steady_set(cs);
}

/**
 * In a large CS of policy lru a hit only marks its entry, since moving it would cost three cache misses; marked
 * entries are passed over once.
 */
uint32_t cs_pass_over(struct cs *cs, uint32_t index)
{
    for (unsigned i = 0; i < CS_PASS_OVER && (cs_at(cs, index)->flags & CS_USED) != 0; i++) {
        cs_at(cs, index)->flags &= (uint8_t)~CS_USED;
        cs->queue[CS_QUEUE_MAIN].newest = index;
        index = cs_at(cs, index)->newer;
    }
    return index;
}

/** Entry that is evicted next; there is one. */
static inline uint32_t victim(struct cs *cs)
{
    if (cs->policy == CS_LRU)
        return cs_lru_victim(cs);
    unsigned q = CS_QUEUE_UNSOLICITED;
    while (q < CS_QUEUE_MAIN && cs->queue[q].count == 0)
        q++;
    return cs_oldest(cs, q);
}

static void shrink(struct cs *cs, uint32_t max)
{
    for (; cs->n_entries > cs->capacity && max > 0; max--) {
        cs->n_evictions++;
        entry_erase(cs, victim(cs));
    }
}

static uint32_t find_candidates(const struct cs *cs, uint64_t hash, const uint8_t *value, uint16_t len)
{
    struct table_iter iter;
    for (uint32_t i = table_first(&cs->index, hash, &iter); i != 0; i = table_next(&cs->index, &iter)) {
        const struct cs_entry *entry = cs_at(cs, i);
        if (entry->hash == hash && entry->name_len == len && cs_name_begins(entry, value, len))
            return i;
    }
    return POOL_NONE;
}

static inline uint32_t find_exact(const struct cs *cs, uint64_t hash, const uint8_t *value, uint16_t len)
{
    if (table_absent(&cs->index, hash))
        return POOL_NONE;
    return find_candidates(cs, hash, value, len);
}

/** Data with the implicit digest that @p name ends in. */
static uint32_t find_digest(struct cs *cs, const struct ndn_name *name)
{
    unsigned n = (unsigned)name->n_comps - 1;
    if (n == 0 || n > NDN_NAME_DEPTH || name->len < NDN_DIGEST_COMP_SIZE)
        return POOL_NONE;
    uint32_t index = find_exact(cs, name->hash[n], name->value, name->end[n]);
    const uint8_t *digest = name->value + name->len - NDN_DIGEST_SIZE;
    if (index == POOL_NONE || memcmp(cs_digest(cs, index), digest, NDN_DIGEST_SIZE) != 0)
        return POOL_NONE;
    return index;
}

bool cs_find_any(struct cs *cs, const struct ndn_name *name, const struct ndn_name_key *key, bool can_be_prefix,
                 bool must_be_fresh, uint64_t now_ns, struct cs_hit *hit)
{
    uint32_t index = POOL_NONE;
    if (cs->n_entries == 0 || cs->capacity == 0)
        goto miss;
    if (name->has_digest) {
        index = find_digest(cs, name);
        if (index != POOL_NONE && must_be_fresh && !cs_fresh(cs_at(cs, index), now_ns))
            index = POOL_NONE;
    }
    if (index == POOL_NONE && name->n_comps <= NDN_NAME_DEPTH) {
        index = find_exact(cs, name->hash_full, name->value, name->len);
        if (index != POOL_NONE && must_be_fresh && !cs_fresh(cs_at(cs, index), now_ns))
            index = POOL_NONE;
        if (index == POOL_NONE && can_be_prefix && name->n_comps < NDN_NAME_DEPTH)
            index = cs_prefix_find(cs, name, key, must_be_fresh, now_ns);
    }
    if (index == POOL_NONE)
        goto miss;

    struct cs_entry *entry = cs_at(cs, index);
    if (cs->policy == CS_LRU) {
        if (cs->approximate) {
            entry->flags |= CS_USED;
        } else if (cs->queue[CS_QUEUE_MAIN].newest != index) {
            queue_remove(cs, index);
            queue_push(cs, index, CS_QUEUE_MAIN);
        }
    }
    hit->mbuf = entry->mbuf;
    hit->off = (uint32_t)entry->off - entry->mbuf->data_off;
    hit->len = entry->len;
    cs->n_hits++;
    return true;

miss:
    cs->n_misses++;
    return false;
}

/** Where new Data goes. */
static inline enum cs_queue_id queue_for(const struct cs *cs, uint32_t freshness_ms, bool unsolicited)
{
    if (cs->policy == CS_LRU)
        return CS_QUEUE_MAIN;
    return unsolicited ? CS_QUEUE_UNSOLICITED : freshness_ms == 0 ? CS_QUEUE_STALE : CS_QUEUE_MAIN;
}

/** Entries of the main queue go to the stale one when their freshness ends (priority-fifo). */
static void timer_arm(struct cs *cs, uint32_t index, uint32_t freshness_ms, uint64_t now_ns)
{
    uint32_t ms = freshness_ms < CS_TIMER_MAX_MS ? freshness_ms : CS_TIMER_MAX_MS;
    if (cs_at(cs, index)->queue == CS_QUEUE_MAIN)
        wheel_arm(cs->wheel, index, wheel_tick_after_ms(now_ns, ms));
}

/** Take a reference of every segment. */
static void hold(struct rte_mbuf *mbuf)
{
    for (; mbuf != NULL; mbuf = mbuf->next)
        rte_mbuf_refcnt_update(mbuf, 1);
}

/** The same name again: the newer Data takes the place of the older. */
static void replace(struct cs *cs, uint32_t index, const struct ndn_name *name, struct rte_mbuf *mbuf, uint32_t off,
                    uint32_t len, uint32_t freshness_ms, bool unsolicited, uint64_t now_ns)
{
    struct cs_entry *entry = cs_at(cs, index);
    struct rte_mbuf *old = entry->mbuf;
    // Data that was once asked for does not become unsolicited again.
    unsolicited = unsolicited && entry->queue == CS_QUEUE_UNSOLICITED;
    if (cs->wheel != NULL)
        wheel_cancel(cs->wheel, index);
    queue_remove(cs, index);
    hold(mbuf);
    uint32_t nodes = entry->nodes;
    cs_entry_name(entry, name, mbuf);
    entry->nodes = nodes;
    cs_entry_data(cs, entry, mbuf, off, len, freshness_ms, now_ns);
    rte_pktmbuf_free(old);
    queue_push(cs, index, queue_for(cs, freshness_ms, unsolicited));
    if (cs->wheel != NULL)
        timer_arm(cs, index, freshness_ms, now_ns);
    if (entry->nodes != POOL_NONE)
        cs_prefix_renew(cs, index);
}

/** The index has no room for an entry that stands in its queue, without Data. */
static void drop_place(struct cs *cs, uint32_t index)
{
    queue_remove(cs, index);
    pool_put(&cs->entries, index);
    cs->n_entries--;
    steady_set(cs);
}

void cs_insert_failed(struct cs *cs, uint32_t index)
{
    struct cs_entry *entry = cs_at(cs, index);
    cs_mbuf_free(entry->mbuf);
    entry->mbuf = NULL;
    drop_place(cs, index);
}

void cs_insert_any(struct cs *cs, const struct ndn_name *name, struct rte_mbuf *mbuf, uint32_t off, uint32_t len,
                   uint32_t freshness_ms, bool unsolicited, uint64_t now_ns)
{
    if (cs->capacity == 0 || name->n_comps == 0 || name->n_comps > NDN_NAME_DEPTH)
        return;
    if (len > NDN_PACKET_MAX || off > (uint32_t)UINT16_MAX - mbuf->data_off)
        return;
    uint32_t index = find_exact(cs, name->hash_full, name->value, name->len);
    if (index != POOL_NONE) {
        replace(cs, index, name, mbuf, off, len, freshness_ms, unsolicited, now_ns);
        return;
    }

    bool reuse = cs->n_entries >= cs->capacity;
    enum cs_queue_id queue = queue_for(cs, freshness_ms, unsolicited);
    if (reuse) {
        // One more than needed while a smaller capacity is not reached yet.
        if (cs->n_entries > cs->capacity)
            shrink(cs, 1);
        if (cs->look_ahead)
            cs_evict_ahead(cs);
        index = victim(cs);
        entry_clear(cs, index);
        cs->n_evictions++;
    } else {
        // The pool holds capacity_max, so one is left.
        index = pool_get(&cs->entries);
    }
    struct cs_entry *entry = cs_at(cs, index);
    if (reuse && entry->queue == queue) {
        // The oldest entry of a ring becomes its newest.
        cs->queue[queue].newest = index;
    } else {
        if (reuse)
            queue_remove(cs, index);
        else
            cs->n_entries++;
        queue_push(cs, index, queue);
    }
    steady_set(cs);
    if (table_insert(&cs->index, name->hash_full, index) != 0) {
        entry->mbuf = NULL;
        drop_place(cs, index);
        return;
    }
    hold(mbuf);
    cs_entry_name(entry, name, mbuf);
    cs_entry_data(cs, entry, mbuf, off, len, freshness_ms, now_ns);
    if (cs->wheel != NULL)
        timer_arm(cs, index, freshness_ms, now_ns);
    if (cs->prefixes.lengths != 0)
        cs_prefix_add(cs, index, name, now_ns);
}

int cs_resize(struct cs *cs, uint32_t capacity)
{
    if (capacity > cs->capacity_max)
        return -ERANGE;
    capacity_set(cs, capacity);
    shrink(cs, CS_SHRINK_AT_ONCE);
    return 0;
}

void cs_erase_step(struct cs *cs, struct cs_erasure *erasure, uint32_t n)
{
    const struct ndn_name *prefix = erasure->prefix;
    uint32_t i = erasure->next > 0 ? erasure->next : 1;
    for (; i < cs->entries.n_fresh && n > 0; i++, n--) {
        const struct cs_entry *entry = cs_at(cs, i);
        if (entry->mbuf == NULL || entry->name_len < prefix->len || !cs_name_begins(entry, prefix->value, prefix->len))
            continue;
        if (erasure->erased == erasure->max) {
            erasure->more = true;
            break;
        }
        entry_erase(cs, i);
        erasure->erased++;
    }
    erasure->next = i;
    erasure->done = erasure->more || i >= cs->entries.n_fresh;
}

uint32_t cs_erase(struct cs *cs, const struct ndn_name *prefix, uint32_t max)
{
    struct cs_erasure erasure = {.prefix = prefix, .max = max};
    while (!erasure.done)
        cs_erase_step(cs, &erasure, UINT32_MAX);
    return erasure.erased;
}

/** Freshness has ended. */
static void stale(void *ctx, uint32_t index)
{
    struct cs *cs = ctx;
    const struct cs_entry *entry = cs_at(cs, index);
    if (entry->fresh_until > cs->now_ns) {
        uint64_t ms = (entry->fresh_until - cs->now_ns) / 1000000 + 1;
        uint32_t part = ms < CS_TIMER_MAX_MS ? (uint32_t)ms : CS_TIMER_MAX_MS;
        wheel_arm(cs->wheel, index, wheel_tick_after_ms(cs->now_ns, part));
        return;
    }
    queue_remove(cs, index);
    queue_push(cs, index, CS_QUEUE_STALE);
}

void cs_poll(struct cs *cs, uint64_t now_ns)
{
    cs->now_ns = now_ns;
    if (cs->wheel != NULL)
        wheel_poll(cs->wheel, now_ns, CS_STALE_PER_POLL, stale, cs);
    if (cs->n_entries > cs->capacity)
        shrink(cs, CS_SHRINK_PER_POLL);
    if (cs->prefixes.lengths != 0 || cs->prefixes.dropping != 0)
        cs_prefix_poll(cs, now_ns);
}
