// SPDX-License-Identifier: Apache-2.0
#include "pit/fib_impl.h"

#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <stdlib.h>

/** Unpublished blocks that make the writer look whether a grace period has passed. */
#define FIB_RECLAIM_BATCH 256

struct fib_block *fib_block_get(struct fib *fib, unsigned n_nexthops, uint16_t name_len)
{
    size_t size =
        sizeof(struct fib_block) + sizeof(struct fib_entry) + n_nexthops * sizeof(struct fib_nexthop) + name_len;
    struct fib_block *block = NULL;
    if (size <= FIB_BLOCK_SIZE) {
        if (fib->free_blocks == NULL && fib->n_blocks_used_once == fib->n_blocks)
            fib_reclaim(fib);
        if (fib->free_blocks != NULL) {
            block = fib->free_blocks;
            fib->free_blocks = block->next;
        } else if (fib->n_blocks_used_once < fib->n_blocks) {
            block = (struct fib_block *)(fib->arena + (size_t)fib->n_blocks_used_once++ * FIB_BLOCK_SIZE);
        }
        if (block != NULL)
            size = FIB_BLOCK_SIZE;
        else
            size = FIB_BLOCK_SIZE + 1; // its own memory, told from the arena's by its size
    }
    if (block == NULL) {
        size = (size + 63) & ~(size_t)63;
        block = aligned_alloc(64, size);
        if (block == NULL)
            return NULL;
        fib->heap_octets += size;
    }
    block->next = NULL;
    block->size = (uint32_t)size;
    block->name_len = name_len;
    block->pad = 0;
    return block;
}

void fib_block_put(struct fib *fib, struct fib_block *block)
{
    if (block->size == FIB_BLOCK_SIZE) {
        block->next = fib->free_blocks;
        fib->free_blocks = block;
    } else {
        fib->heap_octets -= block->size;
        free(block);
    }
}

void fib_block_retire(struct fib *fib, struct fib_block *block)
{
    if (fib->config.qsbr == NULL) {
        fib_block_put(fib, block);
        return;
    }
    block->next = fib->open;
    fib->open = block;
    if (++fib->n_open >= FIB_RECLAIM_BATCH)
        fib_reclaim(fib);
}

void fib_reclaim(struct fib *fib)
{
    struct rte_rcu_qsbr *qsbr = fib->config.qsbr;
    if (fib->waiting != NULL && rte_rcu_qsbr_check(qsbr, fib->token, false) == 1) {
        while (fib->waiting != NULL) {
            struct fib_block *block = fib->waiting;
            fib->waiting = block->next;
            fib_block_put(fib, block);
        }
        fib->n_waiting = 0;
    }
    if (fib->waiting == NULL && fib->open != NULL) {
        fib->token = rte_rcu_qsbr_start(qsbr);
        fib->waiting = fib->open;
        fib->n_waiting = fib->n_open;
        fib->open = NULL;
        fib->n_open = 0;
    }
}

static uint64_t word_of(uint64_t hash, const struct fib_block *block)
{
    return fib_tag(hash) << FIB_WORD_SHIFT | (uint64_t)(uintptr_t)block;
}

/** Slot that holds @p word among the buckets of @p hash. @return NULL when there is none; *spilled: not in its home */
static uint64_t *slot_find(struct fib *fib, uint64_t hash, uint64_t word, bool *spilled)
{
    for (uint32_t probe = 0; probe < FIB_PROBES; probe++) {
        struct fib_bucket *bucket = &fib->bucket[((uint32_t)hash + probe) & fib->mask];
        for (unsigned i = 0; i < FIB_BUCKET_SLOTS; i++) {
            if (bucket->word[i] == word) {
                *spilled = probe > 0;
                return &bucket->word[i];
            }
        }
    }
    return NULL;
}

int fib_publish(struct fib *fib, uint64_t hash, struct fib_block *block)
{
    bool spilled = false;
    uint64_t *slot = (uintptr_t)block > FIB_WORD_MASK ? NULL : slot_find(fib, hash, 0, &spilled);
    if (slot == NULL)
        return -ENOSPC;
    unsigned depth = fib_block_entry(block)->depth;
    struct fib_bucket *home = &fib->bucket[(uint32_t)hash & fib->mask];
    if (spilled)
        __atomic_store_n(&home->n_spilled, home->n_spilled + 1, __ATOMIC_RELAXED);
    fib->n_prefixes++;
    // Pairs with the acquire in find(): the block and the spill count are written before the word.
    __atomic_store_n(slot, word_of(hash, block), __ATOMIC_RELEASE);
    // Pairs with the acquire in lengths_of().
    if (fib->n_of_length[depth]++ == 0)
        __atomic_store_n(&fib->lengths, fib->lengths | UINT64_C(1) << depth, __ATOMIC_RELEASE);
    return 0;
}

void fib_republish(struct fib *fib, uint64_t hash, struct fib_block *old, struct fib_block *block)
{
    bool spilled = false;
    uint64_t *slot = slot_find(fib, hash, word_of(hash, old), &spilled);
    // Pairs with the acquire in find().
    __atomic_store_n(slot, word_of(hash, block), __ATOMIC_RELEASE);
    fib_block_retire(fib, old);
}

void fib_unpublish(struct fib *fib, uint64_t hash, struct fib_block *old)
{
    bool spilled = false;
    unsigned depth = fib_block_entry(old)->depth;
    uint64_t *slot = slot_find(fib, hash, word_of(hash, old), &spilled);
    struct fib_bucket *home = &fib->bucket[(uint32_t)hash & fib->mask];
    __atomic_store_n(slot, 0, __ATOMIC_RELEASE);
    if (spilled)
        __atomic_store_n(&home->n_spilled, home->n_spilled - 1, __ATOMIC_RELAXED);
    fib->n_prefixes--;
    if (--fib->n_of_length[depth] == 0)
        __atomic_store_n(&fib->lengths, fib->lengths & ~(UINT64_C(1) << depth), __ATOMIC_RELEASE);
    fib_block_retire(fib, old);
}
