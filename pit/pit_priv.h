// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_PIT_PRIV_H
#define PIT_PIT_PRIV_H

/*
 * Shared by the files that make up the PIT: the blocks that hold what does not fit into an entry, and the comparison
 * of names.
 */
#include <string.h>

#include "pit/octets.h"
#include "pit/pit.h"

enum pit_block_type {
    PIT_BLOCK_NAME = 1, /**< next 56 octets of the name */
    PIT_BLOCK_DEEP,     /**< the hash that a PIT_DEEP entry is indexed under */
    PIT_BLOCK_IN,       /**< two in-records */
    PIT_BLOCK_OUT,      /**< two out-records */
};

#define PIT_BLOCK_NAME_SIZE 56
#define PIT_BLOCK_RECORDS   2

/**
 * The blocks of an entry are chained from entry->ext: name pieces in order, then the deep hash, then records. A block
 * with a long token stands outside the chain: its in-record names it.
 */
struct pit_block {
    uint32_t next; /**< next block of the entry, 0: last */
    uint8_t type;  /**< enum pit_block_type */
    uint8_t pad[3];
    union {
        uint8_t name[PIT_BLOCK_NAME_SIZE];
        uint64_t deep_hash;
        struct pit_in in[PIT_BLOCK_RECORDS];
        struct pit_out out[PIT_BLOCK_RECORDS];
        uint8_t token[32];
    };
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct pit_block) == 64, "one cache line");

static inline struct pit_block *pit_block_at(const struct pit *pit, uint32_t index)
{
    return (struct pit_block *)(void *)pit->blocks.base + index;
}

/** Blocks that the name of an entry takes. */
static inline unsigned pit_name_blocks(uint16_t len)
{
    return len <= PIT_NAME_INLINE ? 0 : (len - PIT_NAME_INLINE + PIT_BLOCK_NAME_SIZE - 1) / PIT_BLOCK_NAME_SIZE;
}

/** Number of the block that holds the token of an in-record; 0 when the token is in the record itself. */
static inline uint32_t pit_token_block(const struct pit_in *in)
{
    uint32_t block = 0;
    if (in->token_len > PIT_TOKEN_INLINE)
        memcpy(&block, in->token, sizeof block);
    return block;
}

/** Free the blocks of an entry: chain and long tokens. */
void pit_blocks_free(struct pit *pit, struct pit_entry *entry);
/** Hash that an entry is indexed under. */
uint64_t pit_deep_hash(const struct pit *pit, const struct pit_entry *entry);

static inline uint64_t pit_index_hash(const struct pit *pit, const struct pit_entry *entry)
{
    return (entry->flags & PIT_DEEP) == 0 ? entry->hash : pit_deep_hash(pit, entry);
}

/** Place in the digest filter for Data of a name. */
unsigned pit_digest_slot(const uint8_t *value, uint16_t len);

bool pit_name_rest_equal(const struct pit *pit, const struct pit_entry *entry, const uint8_t *value);

/** True when @p value, which is not shorter, begins with the entry's name. */
static inline bool pit_name_begins(const struct pit *pit, const struct pit_entry *entry, const uint8_t *value)
{
    uint16_t len = entry->node.owner;
    if (len <= PIT_NAME_INLINE)
        return octets_equal(entry->name, value, len);
    return octets_equal(entry->name, value, PIT_NAME_INLINE) && pit_name_rest_equal(pit, entry, value);
}

#endif
