// SPDX-License-Identifier: Apache-2.0
#include "pit/fib.h"

#include "pit/octets.h"

void fib_prefetch_more(const struct fib *fib, const struct ndn_name *name, uint64_t lengths)
{
    for (unsigned i = 1; lengths != 0 && i < FIB_PREFETCH; i++) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        lengths &= ~(UINT64_C(1) << k);
        __builtin_prefetch(fib_bucket_of(fib, name->hash[k]));
    }
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
    uint64_t lengths = fib_lengths_of(fib, name);
    while (lengths != 0) {
        unsigned k = 63u ^ (unsigned)__builtin_clzll(lengths);
        lengths &= ~(UINT64_C(1) << k);
        const struct fib_entry *entry = find(fib, name->hash[k], name->value, name->end[k]);
        if (entry != NULL)
            return entry;
    }
    return NULL;
}
