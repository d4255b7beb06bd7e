// SPDX-License-Identifier: Apache-2.0
#include "pit/measurements.h"

#include <errno.h>
#include <string.h>

#include "pit/pool.h"
#include "pit/table.h"

/* Entries looked at for one that was not asked for lately, before the next one goes all the same. */
#define EVICT_STEPS 8
/* Bounds of the retransmission timeout, and what it is before anything was measured. */
#define RTO_MIN_MS     200u
#define RTO_MAX_MS     60000u
#define RTO_INITIAL_MS 1000u

struct measurements {
    struct pool entries;
    struct table table;
    struct wheel *wheel;
    uint64_t depths; /* bit d: n_of_depth[d] is not 0 */
    uint32_t n_of_depth[NDN_NAME_DEPTH + 1];
    uint32_t n_entries; /* as entries.n_used; read by other threads */
    uint32_t hand;      /* where the search for a place goes on */
};

int measurements_create(struct measurements **m, uint32_t capacity, enum arena_pages pages, uint64_t now_ns)
{
    struct measurements *n = arena_map(sizeof *n, ARENA_PAGES_SMALL);
    if (n == NULL)
        return -ENOMEM;
    int rc = pool_init(&n->entries, capacity, sizeof(struct measurements_entry), pages);
    if (rc == 0)
        rc = table_init(&n->table, capacity, pages);
    if (rc == 0)
        rc = wheel_create(&n->wheel, n->entries.base, sizeof(struct measurements_entry),
                          offsetof(struct measurements_entry, node), now_ns);
    if (rc != 0) {
        measurements_destroy(n);
        return rc;
    }
    *m = n;
    return 0;
}

void measurements_destroy(struct measurements *m)
{
    if (m == NULL)
        return;
    wheel_destroy(m->wheel);
    table_fini(&m->table);
    pool_fini(&m->entries);
    arena_unmap(m, sizeof *m);
}

static struct measurements_entry *entry_at(const struct measurements *m, uint32_t slot)
{
    return pool_at(&m->entries, slot);
}

/* Where an entry stands in the index: prefixes of several strategies apart. */
static uint64_t index_hash(uint64_t hash, uint16_t strategy)
{
    return hash ^ strategy * UINT64_C(0x9e3779b97f4a7c15);
}

static void entry_free(struct measurements *m, struct measurements_entry *entry)
{
    uint32_t slot = pool_index(&m->entries, entry);
    (void)table_remove(&m->table, index_hash(entry->hash, entry->strategy), slot);
    wheel_stop(m->wheel, &entry->node);
    if (--m->n_of_depth[entry->depth] == 0)
        m->depths &= ~(UINT64_C(1) << entry->depth);
    entry->in_use = false;
    pool_put(&m->entries, slot);
    __atomic_store_n(&m->n_entries, m->entries.n_used, __ATOMIC_RELAXED);
}

struct measurements_entry *measurements_find(struct measurements *m, const struct ndn_name *name, unsigned depth,
                                             uint16_t strategy)
{
    struct table_iter iter;
    if (depth > name->depth || (m->depths >> depth & 1) == 0)
        return NULL;
    uint64_t hash = name->hash[depth];
    for (uint32_t slot = table_first(&m->table, index_hash(hash, strategy), &iter); slot != 0;
         slot = table_next(&m->table, &iter)) {
        struct measurements_entry *entry = entry_at(m, slot);
        if (entry->hash == hash && entry->strategy == strategy && entry->depth == depth &&
            entry->node.owner == name->end[depth]) {
            entry->used = true;
            return entry;
        }
    }
    return NULL;
}

struct measurements_entry *measurements_longest(struct measurements *m, const struct ndn_name *name, unsigned depth,
                                                uint16_t strategy)
{
    uint64_t depths = m->depths & ((UINT64_C(2) << (depth < name->depth ? depth : name->depth)) - 1);
    while (depths != 0) {
        unsigned longest = 63u - (unsigned)__builtin_clzll(depths);
        struct measurements_entry *entry = measurements_find(m, name, longest, strategy);
        if (entry != NULL)
            return entry;
        depths &= ~(UINT64_C(1) << longest);
    }
    return NULL;
}

/* All are in use: one that was not asked for since the hand passed it last makes room. */
static void evict(struct measurements *m)
{
    for (unsigned step = 0;; step++) {
        // Slot 0 is none; when all are in use, each of the others is an entry.
        m->hand = m->hand >= m->entries.capacity ? 1 : m->hand + 1;
        struct measurements_entry *entry = entry_at(m, m->hand);
        if (!entry->used || step >= EVICT_STEPS) {
            entry_free(m, entry);
            return;
        }
        entry->used = false;
    }
}

struct measurements_entry *measurements_get(struct measurements *m, const struct ndn_name *name, unsigned depth,
                                            uint16_t strategy, uint32_t lifetime_ms, uint64_t now_ns)
{
    uint32_t expiry = wheel_tick_after_ms(now_ns, lifetime_ms);
    if (depth > name->depth)
        return NULL;
    struct measurements_entry *entry = measurements_find(m, name, depth, strategy);
    if (entry != NULL) {
        if ((int32_t)(expiry - entry->node.expiry) > 0)
            wheel_arm(m->wheel, pool_index(&m->entries, entry), expiry);
        return entry;
    }
    if (m->entries.n_used == m->entries.capacity)
        evict(m);
    uint32_t slot = pool_get(&m->entries);
    if (slot == POOL_NONE)
        return NULL;
    if (table_insert(&m->table, index_hash(name->hash[depth], strategy), slot) != 0) {
        pool_put(&m->entries, slot);
        return NULL;
    }
    entry = entry_at(m, slot);
    memset(entry, 0, sizeof *entry);
    entry->hash = name->hash[depth];
    entry->node.owner = name->end[depth];
    entry->strategy = strategy;
    entry->depth = (uint8_t)depth;
    entry->used = true;
    entry->in_use = true;
    if (m->n_of_depth[depth]++ == 0)
        m->depths |= UINT64_C(1) << depth;
    wheel_start(m->wheel, &entry->node, slot, expiry);
    __atomic_store_n(&m->n_entries, m->entries.n_used, __ATOMIC_RELAXED);
    return entry;
}

static bool face_is_live(const struct measurements_face *face, uint32_t now)
{
    return face->face != 0 && (int32_t)(face->expiry - now) > 0;
}

struct measurements_face *measurements_face(struct measurements_entry *entry, uint32_t face, uint64_t now_ns)
{
    uint32_t now = wheel_tick(now_ns);
    for (unsigned i = 0; i < MEASUREMENTS_FACES_MAX; i++)
        if (entry->face[i].face == face && face_is_live(&entry->face[i], now))
            return &entry->face[i];
    return NULL;
}

struct measurements_face *measurements_face_get(struct measurements_entry *entry, uint32_t face, uint32_t lifetime_ms,
                                                uint64_t now_ns)
{
    struct measurements_face *place = measurements_face(entry, face, now_ns);
    if (place == NULL) {
        uint32_t now = wheel_tick(now_ns);
        place = &entry->face[0];
        for (unsigned i = 0; i < MEASUREMENTS_FACES_MAX; i++) {
            struct measurements_face *other = &entry->face[i];
            if (!face_is_live(other, now) || other->face == face) {
                place = other;
                break;
            }
            if ((int32_t)(other->expiry - place->expiry) < 0)
                place = other;
        }
        *place = (struct measurements_face){.face = face};
    }
    place->expiry = wheel_tick_after_ms(now_ns, lifetime_ms);
    return place;
}

void measurements_rtt_add(struct measurements_rtt *rtt, uint32_t sample)
{
    // At least 1: 0 is "nothing measured". The cap keeps the sums below within 32 bits.
    if (sample == 0)
        sample = 1;
    if (sample > UINT32_MAX / 16)
        sample = UINT32_MAX / 16;
    if (rtt->srtt == 0) {
        rtt->srtt = sample;
        rtt->rttvar = sample / 2;
        return;
    }
    uint32_t differ = sample > rtt->srtt ? sample - rtt->srtt : rtt->srtt - sample;
    rtt->rttvar = rtt->rttvar - rtt->rttvar / 4 + differ / 4;
    rtt->srtt = rtt->srtt - rtt->srtt / 8 + sample / 8;
    if (rtt->srtt == 0)
        rtt->srtt = 1;
}

uint32_t measurements_rto_ms(const struct measurements_rtt *rtt)
{
    if (rtt->srtt == 0)
        return RTO_INITIAL_MS;
    uint64_t ms = (((uint64_t)rtt->srtt + 4 * (uint64_t)rtt->rttvar) << MEASUREMENTS_SHIFT) / 1000000;
    return ms < RTO_MIN_MS ? RTO_MIN_MS : ms > RTO_MAX_MS ? RTO_MAX_MS : (uint32_t)ms;
}

static void expire(void *ctx, uint32_t slot)
{
    struct measurements *m = ctx;
    entry_free(m, entry_at(m, slot));
}

void measurements_poll(struct measurements *m, uint64_t now_ns, uint32_t max)
{
    (void)wheel_poll(m->wheel, now_ns, max, expire, m);
}

uint32_t measurements_count(const struct measurements *m)
{
    return __atomic_load_n(&m->n_entries, __ATOMIC_RELAXED);
}

int measurements_check(const struct measurements *m)
{
    uint32_t n = 0, n_of_depth[NDN_NAME_DEPTH + 1] = {0};
    for (uint32_t slot = 1; slot < m->entries.n_fresh; slot++) {
        const struct measurements_entry *entry = entry_at(m, slot);
        if (!entry->in_use)
            continue;
        struct table_iter iter;
        uint32_t found = table_first(&m->table, index_hash(entry->hash, entry->strategy), &iter);
        while (found != slot && found != 0)
            found = table_next(&m->table, &iter);
        if (found != slot || entry->depth > NDN_NAME_DEPTH || entry->node.slot == 0)
            return -EINVAL;
        n_of_depth[entry->depth]++;
        n++;
    }
    for (unsigned depth = 0; depth <= NDN_NAME_DEPTH; depth++)
        if (n_of_depth[depth] != m->n_of_depth[depth] || (m->depths >> depth & 1) != (n_of_depth[depth] != 0))
            return -EINVAL;
    if (n != m->entries.n_used || n != m->n_entries || n != m->table.n_entries || n != wheel_count(m->wheel))
        return -EINVAL;
    return wheel_check(m->wheel);
}
