// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_TABLE_H
#define PIT_TABLE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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
    uint16_t tag[TABLE_BUCKET_SLOTS]; /**< 0: empty */
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

/** Index for @p capacity entries at no more than half load. @return 0, -EINVAL (capacity 0), or -ENOMEM */
int table_init(struct table *table, uint32_t capacity, enum arena_pages pages);
/** Unmap the buckets; allowed on a table that is all zero. */
void table_fini(struct table *table);
/** Octets mapped for the buckets. */
size_t table_memory(const struct table *table);

/** Position of a lookup, so that a caller can go on after a candidate whose key differs. */
struct table_iter {
    uint64_t hash;
    uint32_t bucket; /**< bucket looked at */
    uint8_t probe;   /**< 0: home bucket */
    uint8_t matches; /**< bit i: slot i has the tag and was not yet returned */
};

/** Bucket where a hash belongs. The low bits choose it, the high ones are the tag. */
static inline uint32_t table_home(const struct table *table, uint64_t hash)
{
    return (uint32_t)hash & table->mask;
}

/** Tag of a hash; never 0, which marks an empty slot. */
static inline uint16_t table_tag(uint64_t hash)
{
    return (uint16_t)(hash >> 48 | 1);
}

/** Bit i: slot i holds @p tag. For CPUs without SSE2. */
static inline unsigned table_match_tag_portable(const struct table_bucket *bucket, uint16_t tag)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < TABLE_BUCKET_SLOTS; i++)
        bits |= (unsigned)(bucket->tag[i] == tag) << i;
    return bits;
}

/** Bit i: slot i holds @p index. For CPUs without SSE2. */
static inline unsigned table_match_index_portable(const struct table_bucket *bucket, uint32_t index)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < TABLE_BUCKET_SLOTS; i++)
        bits |= (unsigned)(bucket->index[i] == index) << i;
    return bits;
}

/** Bit i: slot i holds @p tag; tag 0 finds the empty slots. */
static inline unsigned table_match_tag(const struct table_bucket *bucket, uint16_t tag)
{
#ifdef __SSE2__
    __m128i tags = _mm_load_si128((const __m128i *)(const void *)bucket->tag);
    // Not _mm_set1_epi16(): gcc 12 passes a 16 bit value through memory and reads 32 bits back, which stalls.
    __m128i want = _mm_shuffle_epi32(_mm_cvtsi32_si128((int)(tag * 0x10001u)), 0);
    __m128i same = _mm_cmpeq_epi16(tags, want);
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
    return table_match_tag_portable(bucket, tag);
#endif
}

/** Bit i: slot i holds the tag of @p hash. */
static inline unsigned table_match_hash(const struct table_bucket *bucket, uint64_t hash)
{
#ifdef __SSE2__
    // The tag is the topmost of four words; spreading it from there takes two instructions.
    __m128i words = _mm_cvtsi64_si128((int64_t)(hash | UINT64_C(1) << 48));
    __m128i want = _mm_shuffle_epi32(_mm_shufflelo_epi16(words, 0xff), 0);
    __m128i same = _mm_cmpeq_epi16(_mm_load_si128((const __m128i *)(const void *)bucket->tag), want);
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
    return table_match_tag_portable(bucket, table_tag(hash));
#endif
}

/** Bit i: slot i holds @p index. */
static inline unsigned table_match_index(const struct table_bucket *bucket, uint32_t index)
{
#ifdef __SSE2__
    const __m128i *at = (const __m128i *)(const void *)bucket->index;
    __m128i want = _mm_set1_epi32((int)index);
    __m128i same =
        _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at), want), _mm_cmpeq_epi32(_mm_load_si128(at + 1), want));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
    return table_match_index_portable(bucket, index);
#endif
}

/** Bring the home bucket of @p hash into the cache. */
static inline void table_prefetch(const struct table *table, uint64_t hash)
{
    __builtin_prefetch(&table->bucket[table_home(table, hash)], 1);
}

/** Go on to the buckets behind the home bucket, where an entry is seldom. Part of table_next(). */
uint32_t table_next_spilled(const struct table *table, struct table_iter *iter);

/** Next candidate of the same tag. @return its index, 0 when there are no more */
static inline uint32_t table_next(const struct table *table, struct table_iter *iter)
{
    if (iter->matches == 0) {
        if (__builtin_expect(table->bucket[table_home(table, iter->hash)].n_spilled == 0, 1))
            return 0;
        return table_next_spilled(table, iter);
    }
    unsigned slot = (unsigned)__builtin_ctz(iter->matches);
    iter->matches &= (uint8_t)(iter->matches - 1);
    return table->bucket[iter->bucket].index[slot];
}

/** Start a lookup. @return the first candidate's index, 0 when there is none */
static inline uint32_t table_first(const struct table *table, uint64_t hash, struct table_iter *iter)
{
    iter->hash = hash;
    iter->bucket = table_home(table, hash);
    iter->probe = 0;
    iter->matches = (uint8_t)table_match_hash(&table->bucket[iter->bucket], hash);
    return table_next(table, iter);
}

/** The rest of table_insert() and table_remove(): the buckets behind the home bucket. */
int table_insert_spilled(struct table *table, uint64_t hash, uint32_t index);
int table_remove_spilled(struct table *table, uint64_t hash, uint32_t index);

/** True when certainly nothing is indexed under @p hash: what a look at the home bucket alone can tell. */
static inline bool table_absent(const struct table *table, uint64_t hash)
{
    const struct table_bucket *home = &table->bucket[table_home(table, hash)];
    return (table_match_hash(home, hash) | home->n_spilled) == 0;
}

/** Add @p index (not 0) under @p hash. @return 0, or -ENOSPC when no bucket within the probe bound has room */
static inline int table_insert(struct table *table, uint64_t hash, uint32_t index)
{
    struct table_bucket *bucket = &table->bucket[table_home(table, hash)];
    unsigned empty = table_match_tag(bucket, 0);
    if (__builtin_expect(empty == 0, 0))
        return table_insert_spilled(table, hash, index);
    unsigned slot = (unsigned)__builtin_ctz(empty);
    bucket->tag[slot] = table_tag(hash);
    bucket->index[slot] = index;
    table->n_entries++;
    return 0;
}

/** Remove @p index, which was inserted under @p hash. @return 0, or -ENOENT */
static inline int table_remove(struct table *table, uint64_t hash, uint32_t index)
{
    struct table_bucket *bucket = &table->bucket[table_home(table, hash)];
    // An index stays behind in a slot that was emptied, so the tag has to agree as well.
    for (unsigned match = table_match_hash(bucket, hash); match != 0; match &= match - 1) {
        unsigned slot = (unsigned)__builtin_ctz(match);
        if (__builtin_expect(bucket->index[slot] != index, 0))
            continue;
        bucket->tag[slot] = 0;
        table->n_entries--;
        return 0;
    }
    return table_remove_spilled(table, hash, index);
}

#endif
