// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_FIB_IMPL_H
#define PIT_FIB_IMPL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "pit/fib.h"

/*
 * Inside of the FIB; pit/fib.h includes it for its inline part, other code takes nothing from here. Workers see buckets
 * and blocks only; nodes are the control thread's picture of the configuration, a tree by components in which every
 * ancestor of a prefix exists, so that inheritance is a walk up and a change spreads by a walk down.
 */

#define FIB_BUCKET_SLOTS 7
#define FIB_PROBES       8
/** Octets of a block in the arena; prefixes that need more stand in memory of their own. */
#define FIB_BLOCK_SIZE 128
#define FIB_WORD_SHIFT 48
#define FIB_WORD_MASK  ((UINT64_C(1) << FIB_WORD_SHIFT) - 1)

/**
 * One cache line. A slot is one word, a tag of 16 bits over an address of 48, so that a reader can never see the tag
 * of one prefix with the block of another. 0: empty.
 */
struct fib_bucket {
    uint64_t word[FIB_BUCKET_SLOTS];
    uint64_t n_spilled; /**< prefixes whose home this is and that stand in a later bucket */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct fib_bucket) == 64, "one cache line");

struct fib_node;

/** A published prefix: this header, its struct fib_entry with next hops, the octets of the prefix. */
struct fib_block {
    struct fib_block *next; /**< writer's: next free block, or next in the queue of the grace period */
    uint32_t size;          /**< octets; FIB_BLOCK_SIZE: in the arena */
    uint16_t name_len;
    uint16_t pad;
};
_Static_assert(sizeof(struct fib_block) == 16, "entry and short prefix fit the first line");

struct fib_node {
    uint64_t hash;
    struct fib_node *parent, *child, *next, *prev; /**< tree; next and prev are siblings */
    struct fib_node *chain;                        /**< next node of the same index slot */
    struct fib_node *planned;                      /**< next node of the change in progress */
    struct fib_block *block;                       /**< published; NULL when the prefix has nothing of its own */
    struct fib_block *fresh;                       /**< built by the change in progress */
    uint16_t len;
    uint16_t strategy;
    uint8_t depth;
    bool has_nexthops; /**< those of the block are its own */
    bool has_strategy;
    uint8_t name[];
};

struct fib {
    /* Read by workers. */
    uint64_t lengths; /**< bit k: there are prefixes of k components */
    struct fib_bucket *bucket;
    uint32_t mask;            /**< buckets - 1 */
    _Atomic uint32_t n_added; /**< see fib_added() */

    /* The control thread's. */
    struct fib_config config __attribute__((aligned(64)));
    uint32_t n_prefixes;
    uint32_t n_of_length[NDN_NAME_DEPTH + 1];
    uint8_t *arena;
    uint32_t n_blocks, n_blocks_used_once;
    struct fib_block *free_blocks;
    struct fib_block *open, *waiting; /**< unpublished: before the grace period was asked for, and during it */
    uint32_t n_open, n_waiting;
    uint64_t token; /**< of the grace period of waiting */
    struct fib_node **index;
    uint32_t index_mask;
    struct fib_node *root;
    size_t heap_octets; /**< nodes and large blocks */
};

static inline struct fib_entry *fib_block_entry(struct fib_block *block)
{
    return (struct fib_entry *)(block + 1);
}

static inline uint8_t *fib_entry_name(struct fib_entry *entry)
{
    return (uint8_t *)(entry->nexthop + entry->n_nexthops);
}

static inline uint64_t fib_tag(uint64_t hash)
{
    return (hash >> FIB_WORD_SHIFT) | 1;
}

static inline struct fib_block *fib_word_block(uint64_t word)
{
    return (struct fib_block *)(uintptr_t)(word & FIB_WORD_MASK);
}

/* pit/fib_table.c: buckets and blocks, writer's side. */

/** @return a block for @p n_nexthops and @p name_len, with only size and name_len set, NULL when there is no memory */
struct fib_block *fib_block_get(struct fib *fib, unsigned n_nexthops, uint16_t name_len);
/** Give back a block that was never published, or that no reader can see. */
void fib_block_put(struct fib *fib, struct fib_block *block);
/** Give back a block that was unpublished just now, after a grace period. */
void fib_block_retire(struct fib *fib, struct fib_block *block);
/** Publish the block of a prefix that had none. @return 0, or -ENOSPC */
int fib_publish(struct fib *fib, uint64_t hash, struct fib_block *block);
/** Publish @p block in the place of @p old. */
void fib_republish(struct fib *fib, uint64_t hash, struct fib_block *old, struct fib_block *block);
void fib_unpublish(struct fib *fib, uint64_t hash, struct fib_block *old);

#include "pit/fib_inline.h"

#endif
