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

void fib_prefetch(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = lengths_of(fib, name);
    for (unsigned i = 0; lengths != 0 && i < FIB_PREFETCH; i++) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        lengths &= ~(UINT64_C(1) << k);
        __builtin_prefetch(&fib->bucket[(uint32_t)name->hash[k] & fib->mask]);
    }
}

struct fib_hint fib_prefetch_entry(const struct fib *fib, const struct ndn_name *name)
{
    uint64_t lengths = lengths_of(fib, name);
    for (unsigned i = 0; lengths != 0 && i < FIB_PREFETCH; i++) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        lengths &= ~(UINT64_C(1) << k);
        const struct fib_bucket *bucket = &fib->bucket[(uint32_t)name->hash[k] & fib->mask];
        uint64_t tag = fib_tag(name->hash[k]);
        for (unsigned j = 0; j < FIB_BUCKET_SLOTS; j++) {
            // As in find().
            uint64_t word = __atomic_load_n(&bucket->word[j], __ATOMIC_ACQUIRE);
            if (word >> FIB_WORD_SHIFT == tag) {
                struct fib_block *block = fib_word_block(word);
                __builtin_prefetch(block);
                return (struct fib_hint){.entry = fib_block_entry(block), .depth = (uint8_t)k};
            }
        }
        // A longer prefix may stand in a later bucket: then what is found here would not be the longest.
        if (__atomic_load_n(&bucket->n_spilled, __ATOMIC_RELAXED) != 0)
            break;
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
