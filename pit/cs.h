// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_CS_H
#define PIT_CS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_name.h"
#include "pit/arena.h"

struct rte_mbuf;

/*
 * Content Store of one worker: Data packets kept as references to the mbufs they arrived in (a chain when they came
 * in fragments). One entry per name; newer Data of the same name replaces the older. Exact lookup by hash;
 * CanBePrefix lookup through an index of those prefix lengths that Interests ask for. One owner thread.
 */
enum cs_policy {
    CS_LRU = 0,       /**< exact up to a capacity of 4096; above, an entry that was used gets a second chance */
    CS_PRIORITY_FIFO, /**< unsolicited Data first, then stale, then the rest, each by age */
};

struct cs_config {
    uint32_t capacity;     /**< Data packets now; 0: off */
    uint32_t capacity_max; /**< most that cs_resize() may ask for; memory is mapped for it at start */
    enum cs_policy policy;
    enum arena_pages pages;
};

/**
 * What a lookup found: @p len octets of Data at offset @p off of mbuf chain @p mbuf, which stays the CS's. The offset
 * is right also when headers were cut off or put before the Data since it was inserted.
 */
struct cs_hit {
    struct rte_mbuf *mbuf;
    uint32_t off;
    uint32_t len;
};

struct cs_info {
    uint32_t capacity, capacity_max;
    uint32_t n_entries; /**< for a while above capacity after cs_resize() */
    uint64_t n_hits, n_misses, n_inserts, n_evictions;
};

struct cs;

/** @return 0, -EINVAL (capacity above capacity_max), or -ENOMEM */
int cs_create(struct cs **cs, const struct cs_config *config, uint64_t now_ns);
/** Frees the mbufs still held. */
void cs_destroy(struct cs *cs);

/** Lookup stages, as pit_prefetch_*(): the bucket, then the candidate entry. */
static inline void cs_prefetch_bucket(const struct cs *cs, uint64_t hash);
static inline void cs_prefetch_entry(const struct cs *cs, uint64_t hash);
/** Third stage, optional: the Data of the candidate, which a hit is going to read. */
static inline void cs_prefetch_data(const struct cs *cs, uint64_t hash);

/**
 * Find Data for an Interest: its exact name, any Data below it when @p can_be_prefix, or the Data with its implicit
 * digest (SHA-256 is computed once per entry and kept). With @p must_be_fresh only Data that is fresh at @p now_ns.
 * Among several the exact name is preferred, then the Data that was inserted last. A hit counts as use for lru.
 * The first CanBePrefix lookups of a length may miss Data while that length is being indexed, and a lookup looks at
 * the newest 64 Data below a prefix only.
 */
static inline bool cs_find(struct cs *cs, const struct ndn_name *name, const struct ndn_name_key *key,
                           bool can_be_prefix, bool must_be_fresh, uint64_t now_ns, struct cs_hit *hit);

/**
 * Keep Data. Takes a reference of its own on every segment of @p mbuf (the caller keeps its reference and may put
 * headers before the Data, but must not change its octets or the chain any more); the Data is @p len octets at
 * @p off, name and all. Nothing is kept when the CS is off, the name is empty, or the name is longer than
 * NDN_NAME_DEPTH components. Evicted Data is freed. FreshnessPeriod @p freshness_ms 0: never fresh. Of @p name only the
 * hash of the whole is needed (name->unread may be set); when its octets lie in the buffer of @p mbuf, they are those
 * of the Data.
 */
static inline void cs_insert(struct cs *cs, const struct ndn_name *name, struct rte_mbuf *mbuf, uint32_t off,
                             uint32_t len, uint32_t freshness_ms, bool unsolicited, uint64_t now_ns);

/**
 * Change the capacity. Data over it is evicted in steps: some here, the rest with cs_poll() and cs_insert(). With 0
 * nothing is found any more from here on.
 *
 * @return 0, or -ERANGE above capacity_max
 */
int cs_resize(struct cs *cs, uint32_t capacity);

/** An erasure in steps, so that packets wait for none of them long. Zeroed but for prefix and max at the start. */
struct cs_erasure {
    const struct ndn_name *prefix;
    uint32_t max; /**< Data to erase */
    uint32_t erased;
    uint32_t next; /**< entry to look at in the next step */
    bool done;
    bool more; /**< done, and at least one Data under the prefix is left */
};

/**
 * Look at @p n entries more and erase those under the prefix. Data that comes in meanwhile may be missed. When max
 * are erased it only looks for one more.
 */
void cs_erase_step(struct cs *cs, struct cs_erasure *erasure, uint32_t n);
/** Erase at most @p max Data under a prefix at once; looks at all entries. @return Data erased */
uint32_t cs_erase(struct cs *cs, const struct ndn_name *prefix, uint32_t max);

/** Bounded background work: priority-fifo's stale queue, building of prefix indices. Call once per burst or idle loop.
 */
void cs_poll(struct cs *cs, uint64_t now_ns);

void cs_info(const struct cs *cs, struct cs_info *info);
size_t cs_memory(const struct cs *cs);
/** Check every invariant. Tests and fuzzers. @return 0 or -EINVAL */
int cs_check(const struct cs *cs);

#include "pit/cs_impl.h"

#endif
