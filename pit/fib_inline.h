// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_FIB_INLINE_H
#define PIT_FIB_INLINE_H

/* Inline part of pit/fib.h: readers. */
#include "pit/fib_impl.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "pit/octets.h"

/** The rest of fib_prefetch(): what mostly is not there, a second length. */
void fib_prefetch_more(const struct fib *fib, const struct ndn_name *name, uint64_t lengths);

/** Lengths whose home buckets are prefetched ahead of a lookup. */
#define FIB_PREFETCH 4

/** Bits of the prefix lengths that @p name can match. */
static inline uint64_t fib_lengths_of(const struct fib *fib, const struct ndn_name *name)
{
    // Pairs with the release in fib_publish(): a set bit is seen before the block it stands for is looked for.
    uint64_t lengths = __atomic_load_n(&fib->lengths, __ATOMIC_ACQUIRE);
    return lengths & ((UINT64_C(2) << name->depth) - 1);
}

static inline const struct fib_bucket *fib_bucket_of(const struct fib *fib, uint64_t hash)
{
    return &fib->bucket[(uint32_t)hash & fib->mask];
}

static inline void fib_prefetch(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = fib_lengths_of(fib, name);
    if (lengths == 0)
        return;
    unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
    __builtin_prefetch(fib_bucket_of(fib, name->hash[k]));
    lengths &= ~(UINT64_C(1) << k);
    if (lengths != 0)
        fib_prefetch_more(fib, name, lengths);
}

/** Bit i: slot i of the bucket has this tag. */
static inline unsigned fib_match_tag(const struct fib_bucket *bucket, uint64_t tag)
{
#ifdef __SSE2__
    // The upper halves of eight words; the last is n_spilled, whose tag would be 0.
    const __m128 *at = (const __m128 *)(const void *)bucket;
    __m128i low = _mm_castps_si128(_mm_shuffle_ps(at[0], at[1], _MM_SHUFFLE(3, 1, 3, 1)));
    __m128i high = _mm_castps_si128(_mm_shuffle_ps(at[2], at[3], _MM_SHUFFLE(3, 1, 3, 1)));
    __m128i want = _mm_set1_epi32((int)tag);
    __m128i same = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_srli_epi32(low, 16), want),
                                   _mm_cmpeq_epi32(_mm_srli_epi32(high, 16), want));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
    unsigned bits = 0;
    for (unsigned i = 0; i < FIB_BUCKET_SLOTS; i++)
        bits |= (unsigned)(bucket->word[i] >> FIB_WORD_SHIFT == tag) << i;
    return bits;
#endif
}

/**
 * Block of the first slot in the home bucket whose tag agrees, NULL when there is none. All slots are looked at at
 * once, so that there is no branch that depends on which it is.
 */
static inline struct fib_block *fib_tagged(const struct fib_bucket *bucket, uint64_t hash)
{
    uint64_t tag = fib_tag(hash);
    unsigned match = fib_match_tag(bucket, tag);
    if (match == 0)
        return NULL;
    // Read again by itself, as in find(): the slot may have been written in between.
    uint64_t word = __atomic_load_n(&bucket->word[__builtin_ctz(match)], __ATOMIC_ACQUIRE);
    return word >> FIB_WORD_SHIFT == tag ? fib_word_block(word) : NULL;
}

static inline struct fib_hint fib_prefetch_entry(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = fib_lengths_of(fib, name);
    for (unsigned i = 0; lengths != 0 && i < FIB_PREFETCH; i++) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        const struct fib_bucket *bucket = fib_bucket_of(fib, name->hash[k]);
        struct fib_block *block = fib_tagged(bucket, name->hash[k]);
        if (block != NULL) {
            __builtin_prefetch(block);
            return (struct fib_hint){.entry = fib_block_entry(block), .depth = (uint8_t)k};
        }
        // A longer prefix may stand in a later bucket: then what is found here would not be the longest.
        if (__atomic_load_n(&bucket->n_spilled, __ATOMIC_RELAXED) != 0)
            break;
        lengths &= ~(UINT64_C(1) << k);
    }
    return (struct fib_hint){.entry = NULL};
}

static inline const struct fib_entry *fib_lookup_hinted(const struct fib *fib, const struct ndn_name *name,
                                                        struct fib_hint hint)
{
    // The first tag that agreed, from the longest prefix down: when its name agrees too, there is none longer.
    if (__builtin_expect(hint.entry != NULL, 1)) {
        const struct fib_block *block = (const struct fib_block *)(const void *)hint.entry - 1;
        const uint8_t *prefix = (const uint8_t *)(hint.entry->nexthop + hint.entry->n_nexthops);
        if (__builtin_expect(
                block->name_len == name->end[hint.depth] && octets_equal(prefix, name->value, block->name_len), 1))
            return hint.entry;
    }
    return fib_lookup(fib, name);
}

#endif
