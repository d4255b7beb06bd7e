// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_TABLE_H
#define PIT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "pit/arena.h"

/**
 * Open-addressing index from a keyed 64-bit hash to 32-bit entry indices, shared by all exact-match tables of a
 * worker. Buckets are one cache line: eight 16-bit tags, eight indices, and a count of entries that had to go to a
 * later bucket, so that a lookup normally reads one line. Probing is bounded; an insert that finds no room within
 * the bound fails. Several entries may have the same hash. One owner thread. The caller compares full keys.
 */
#define TABLE_BUCKET_SLOTS 8
#define TABLE_PROBES       8

struct table_bucket {
    uint16_t tag[TABLE_BUCKET_SLOTS];   /**< 0: empty */
    uint32_t index[TABLE_BUCKET_SLOTS];
    uint16_t n_spilled; /**< entries whose home this is and that live in a later bucket */
    uint8_t pad[14];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct table_bucket) == 64, "one cache line");

struct table {
    struct table_bucket *bucket;
    uint32_t mask; /**< buckets - 1 */
    uint32_t n_entries;
    uint32_t n_spilled;
};

/** Index for @p capacity entries at no more than half load. @return 0, or -ENOMEM */
int table_init(struct table *table, uint32_t capacity, enum arena_pages pages);
void table_fini(struct table *table);

/** Bring the home bucket of @p hash into the cache. */
static inline void table_prefetch(const struct table *table, uint64_t hash);

/** Position of a lookup, so that a caller can go on after a candidate whose key differs. */
struct table_iter {
    uint64_t hash;
    uint32_t bucket;  /**< bucket looked at */
    uint8_t probe;    /**< 0: home bucket */
    uint8_t matches;  /**< bit i: slot i has the tag and was not yet returned */
};

/** Start a lookup. @return the first candidate's index, 0 when there is none */
static inline uint32_t table_first(const struct table *table, uint64_t hash, struct table_iter *iter);
/** Next candidate of the same tag. @return its index, 0 when there are no more */
static inline uint32_t table_next(const struct table *table, struct table_iter *iter);

/** Add @p index (not 0) under @p hash. @return 0, or -ENOSPC when no bucket within the probe bound has room */
int table_insert(struct table *table, uint64_t hash, uint32_t index);
/** Remove @p index, which was inserted under @p hash. @return 0, or -ENOENT */
int table_remove(struct table *table, uint64_t hash, uint32_t index);

#endif
