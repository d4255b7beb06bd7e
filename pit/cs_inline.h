// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_CS_INLINE_H
#define PIT_CS_INLINE_H

/* Inline part of pit/cs.h. */
#include "pit/cs_impl.h"

#include <rte_mbuf.h>

#include "parser/ndn_packet.h"

/** The rest of cs_find(), cs_insert() and their steps: what most packets do not come to. */
bool cs_find_any(struct cs *cs, const struct ndn_name *name, const struct ndn_name_key *key, bool can_be_prefix,
                 bool must_be_fresh, uint64_t now_ns, struct cs_hit *hit);
void cs_insert_any(struct cs *cs, const struct ndn_name *name, struct rte_mbuf *mbuf, uint32_t off, uint32_t len,
                   uint32_t freshness_ms, bool unsolicited, uint64_t now_ns);
void cs_insert_failed(struct cs *cs, uint32_t index);
void cs_evict_ahead(struct cs *cs);
uint32_t cs_pass_over(struct cs *cs, uint32_t index);

static inline void cs_prefetch_bucket(const struct cs *cs, uint64_t hash)
{
    table_prefetch(&cs->index, hash);
}

static inline void cs_prefetch_entry(const struct cs *cs, uint64_t hash)
{
    const struct table_bucket *home = &cs->index.bucket[table_home(&cs->index, hash)];
    unsigned match = table_match_hash(home, hash);
    if (__builtin_expect(match != 0, 0))
        __builtin_prefetch(cs_at(cs, home->index[__builtin_ctz(match)]), 1);
}

static inline void cs_prefetch_data(const struct cs *cs, uint64_t hash)
{
    const struct table_bucket *home = &cs->index.bucket[table_home(&cs->index, hash)];
    unsigned match = table_match_hash(home, hash);
    if (__builtin_expect(match != 0, 0)) {
        const struct cs_entry *entry = cs_at(cs, home->index[__builtin_ctz(match)]);
        // Loaded, not prefetched: see pit_prefetch_lines().
        (void)*(const volatile uint16_t *)&entry->mbuf->data_off;
        __builtin_prefetch(entry->name);
    }
}

static inline bool cs_find(struct cs *cs, const struct ndn_name *name, const struct ndn_name_key *key,
                           bool can_be_prefix, bool must_be_fresh, uint64_t now_ns, struct cs_hit *hit)
{
    // Most Interests ask for an exact name, and a look at its bucket says that it is not here.
    if (__builtin_expect(!can_be_prefix && !name->has_digest && table_absent(&cs->index, name->hash_full), 1)) {
        cs->n_misses++;
        return false;
    }
    return cs_find_any(cs, name, key, can_be_prefix, must_be_fresh, now_ns, hit);
}

/** Oldest entry of a queue, POOL_NONE when it is empty. */
static inline uint32_t cs_oldest(const struct cs *cs, enum cs_queue_id id)
{
    uint32_t newest = cs->queue[id].newest;
    return newest != POOL_NONE ? cs_at(cs, newest)->newer : POOL_NONE;
}

/** Entry that policy lru evicts next; there is one. */
static inline uint32_t cs_lru_victim(struct cs *cs)
{
    uint32_t index = cs_oldest(cs, CS_QUEUE_MAIN);
    return __builtin_expect((cs_at(cs, index)->flags & CS_USED) == 0, 1) ? index : cs_pass_over(cs, index);
}

static inline void cs_mbuf_free(struct rte_mbuf *mbuf)
{
    if (__builtin_expect(mbuf->next == NULL, 1))
        rte_pktmbuf_free_seg(mbuf);
    else
        rte_pktmbuf_free(mbuf);
}

/** Write the name of a new entry. What the buffer of the Data holds in one piece is not copied. */
static inline void cs_entry_name(struct cs_entry *entry, const struct ndn_name *name, const struct rte_mbuf *mbuf)
{
    uintptr_t off = (uintptr_t)name->value - (uintptr_t)mbuf->buf_addr;
    entry->name = off < mbuf->buf_len ? name->value : NULL;
    entry->hash = name->hash_full;
    entry->nodes = POOL_NONE;
    entry->name_len = name->len;
    entry->depth = name->depth;
}

/** Write the Data's place into an entry; its references are taken already. */
static inline void cs_entry_data(struct cs *cs, struct cs_entry *entry, struct rte_mbuf *mbuf, uint32_t off,
                                 uint32_t len, uint32_t freshness_ms, uint64_t now_ns)
{
    entry->mbuf = mbuf;
    entry->off = (uint16_t)(mbuf->data_off + off);
    entry->len = (uint16_t)len;
    entry->fresh_until = freshness_ms == 0 ? 0 : now_ns + (uint64_t)freshness_ms * 1000000;
    entry->seq = (uint32_t)++cs->n_inserts;
    entry->flags = 0;
}

static inline void cs_insert(struct cs *cs, const struct ndn_name *name, struct rte_mbuf *mbuf, uint32_t off,
                             uint32_t len, uint32_t freshness_ms, bool unsolicited, uint64_t now_ns)
{
    // New Data for a CS of policy lru that is just full, where it will mostly be: the oldest makes room. Data in one
    // buffer lies within 16 bits of it.
    if (__builtin_expect(!cs->steady || mbuf->next != NULL || len > NDN_PACKET_MAX || name->n_comps == 0 ||
                             name->n_comps > NDN_NAME_DEPTH || !table_absent(&cs->index, name->hash_full),
                         0)) {
        cs_insert_any(cs, name, mbuf, off, len, freshness_ms, unsolicited, now_ns);
        return;
    }
    if (__builtin_expect(cs->look_ahead, 0))
        cs_evict_ahead(cs);
    uint32_t index = cs_lru_victim(cs);
    struct cs_entry *entry = cs_at(cs, index);
    struct rte_mbuf *old = entry->mbuf;
    if (__builtin_expect(entry->nodes != POOL_NONE, 0))
        cs_prefix_remove(cs, index);
    table_remove(&cs->index, entry->hash, index);
    // The oldest of a ring becomes its newest.
    cs->queue[CS_QUEUE_MAIN].newest = index;
    cs->n_evictions++;
    if (__builtin_expect(table_insert(&cs->index, name->hash_full, index) != 0, 0)) {
        cs_insert_failed(cs, index);
        return;
    }
    rte_mbuf_refcnt_update(mbuf, 1);
    cs_entry_name(entry, name, mbuf);
    cs_entry_data(cs, entry, mbuf, off, len, freshness_ms, now_ns);
    if (__builtin_expect(cs->prefixes.lengths != 0, 0))
        cs_prefix_add(cs, index, name, now_ns);
    cs_mbuf_free(old);
}

#endif
