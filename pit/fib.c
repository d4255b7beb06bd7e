// SPDX-License-Identifier: Apache-2.0
#include "pit/fib.h"

#include "pit/fib_impl.h"
#include "pit/octets.h"

/** Lengths whose home buckets are prefetched ahead of a lookup. */
#define FIB_PREFETCH 4

/** Bits of the prefix lengths that @p name can match. */
static inline uint64_t lengths_of(const struct fib *fib, const struct ndn_name *name)
{
    // Pairs with the release in fib_publish(): a set bit is seen before the block it stands for is looked for.
    uint64_t lengths = __atomic_load_n(&fib->lengths, __ATOMIC_ACQUIRE);
    return lengths & ((UINT64_C(2) << name->depth) - 1);
}

static inline const struct fib_bucket *bucket_of(const struct fib *fib, uint64_t hash)
{
    return &fib->bucket[(uint32_t)hash & fib->mask];
}

/** The rest of fib_prefetch(): what mostly is not there, a second length. */
static __attribute__((noinline)) void prefetch_more(const struct fib *fib, const struct ndn_name *name,
                                                    uint64_t lengths)
{
    for (unsigned i = 1; lengths != 0 && i < FIB_PREFETCH; i++) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        lengths &= ~(UINT64_C(1) << k);
        __builtin_prefetch(bucket_of(fib, name->hash[k]));
    }
}

void fib_prefetch(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = lengths_of(fib, name);
    if (lengths == 0)
        return;
    unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
    __builtin_prefetch(bucket_of(fib, name->hash[k]));
    lengths &= ~(UINT64_C(1) << k);
    if (lengths != 0)
        prefetch_more(fib, name, lengths);
}

/** Bit i: slot i of the bucket has this tag. */
static inline unsigned match_tag(const struct fib_bucket *bucket, uint64_t tag)
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
static inline struct fib_block *tagged(const struct fib_bucket *bucket, uint64_t hash)
{
    uint64_t tag = fib_tag(hash);
    unsigned match = match_tag(bucket, tag);
    if (match == 0)
        return NULL;
    // Read again by itself, as in find(): the slot may have been written in between.
    uint64_t word = __atomic_load_n(&bucket->word[__builtin_ctz(match)], __ATOMIC_ACQUIRE);
    return word >> FIB_WORD_SHIFT == tag ? fib_word_block(word) : NULL;
}

struct fib_hint fib_prefetch_entry(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = lengths_of(fib, name);
    for (unsigned i = 0; lengths != 0 && i < FIB_PREFETCH; i++) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        const struct fib_bucket *bucket = bucket_of(fib, name->hash[k]);
        struct fib_block *block = tagged(bucket, name->hash[k]);
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

static inline const struct fib_entry *find(const struct fib *fib, uint64_t hash, const uint8_t *value, uint16_t len)
{
    uint64_t tag = fib_tag(hash);
    uint32_t home = (uint32_t)hash & fib->mask;
    for (uint32_t probe = 0; probe < FIB_PROBES; probe++) {
        const struct fib_bucket *bucket = &fib->bucket[(home + probe) & fib->mask];
        for (unsigned i = 0; i < FIB_BUCKET_SLOTS; i++) {
            // Pairs with the release in fib_publish() and fib_republish(): the block is whole when its word is seen.
            uint64_t word = __atomic_load_n(&bucket->word[i], __ATOMIC_ACQUIRE);
            if (word >> FIB_WORD_SHIFT != tag)
                continue;
            struct fib_block *block = fib_word_block(word);
            struct fib_entry *entry = fib_block_entry(block);
            if (block->name_len == len && octets_equal(fib_entry_name(entry), value, len))
                return entry;
        }
        if (probe == 0 && __atomic_load_n(&bucket->n_spilled, __ATOMIC_RELAXED) == 0)
            break;
    }
    return NULL;
}

uint32_t fib_added(const struct fib *fib)
{
    return atomic_load_explicit(&fib->n_added, memory_order_acquire);
}

const struct fib_entry *fib_lookup(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = lengths_of(fib, name);
    while (lengths != 0) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        lengths &= ~(UINT64_C(1) << k);
        const struct fib_entry *entry = find(fib, name->hash[k], name->value, name->end[k]);
        if (entry != NULL)
            return entry;
    }
    return NULL;
}

const struct fib_entry *fib_lookup_hinted(const struct fib *fib, const struct ndn_name *name, struct fib_hint hint)
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
