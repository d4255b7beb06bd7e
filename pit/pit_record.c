// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "pit/pit.h"
#include "pit/pit_priv.h"

/*
 * In-records and out-records of an entry: the first of each in the entry, the others two to a block. A removed record
 * leaves a hole (face 0) that the next one fills; a block without records is freed.
 */

/** Chain a new block of records behind those of the name. @return NULL when blocks ran out */
static struct pit_block *add_block(struct pit *pit, struct pit_entry *entry, enum pit_block_type type)
{
    uint32_t index = pool_get(&pit->blocks);
    if (index == POOL_NONE)
        return NULL;
    struct pit_block *block = pit_block_at(pit, index);
    memset(block, 0, sizeof *block);
    block->type = (uint8_t)type;
    uint32_t *link = &entry->ext;
    for (unsigned i = pit_name_blocks(entry->node.owner) + ((entry->flags & PIT_DEEP) != 0); i > 0; i--)
        link = &pit_block_at(pit, *link)->next;
    block->next = *link;
    *link = index;
    return block;
}

static void remove_block(struct pit *pit, struct pit_entry *entry, const struct pit_block *block)
{
    uint32_t index = (uint32_t)(block - pit_block_at(pit, 0));
    uint32_t *link = &entry->ext;
    while (*link != index)
        link = &pit_block_at(pit, *link)->next;
    *link = block->next;
    pool_put(&pit->blocks, index);
}

/** First block of a type at or after @p index. */
static struct pit_block *find_block(const struct pit *pit, uint32_t index, enum pit_block_type type)
{
    while (index != 0) {
        struct pit_block *block = pit_block_at(pit, index);
        if (block->type == type)
            return block;
        index = block->next;
    }
    return NULL;
}

/** Block that a chained record stands in: blocks are aligned to their size. */
static struct pit_block *block_of(const struct pit *pit, const void *record)
{
    size_t offset = (size_t)((const uint8_t *)record - pit->blocks.base);
    return pit_block_at(pit, (uint32_t)(offset / sizeof(struct pit_block)));
}

struct pit_in *pit_in_find_more(const struct pit *pit, const struct pit_entry *entry, uint32_t face)
{
    struct pit_block *block = find_block(pit, entry->ext, PIT_BLOCK_IN);
    for (; block != NULL; block = find_block(pit, block->next, PIT_BLOCK_IN)) {
        for (unsigned i = 0; i < PIT_BLOCK_RECORDS; i++) {
            if (block->in[i].face == face)
                return &block->in[i];
        }
    }
    return NULL;
}

struct pit_in *pit_in_add_more(struct pit *pit, struct pit_entry *entry, uint32_t face)
{
    if (entry->n_in == PIT_RECORDS_MAX)
        return NULL;
    struct pit_in *in = pit_in_find_more(pit, entry, 0);
    if (in == NULL) {
        struct pit_block *block = add_block(pit, entry, PIT_BLOCK_IN);
        if (block == NULL)
            return NULL;
        in = &block->in[0];
    }
    *in = (struct pit_in){.face = face};
    entry->n_in++;
    return in;
}

void pit_in_remove(struct pit *pit, struct pit_entry *entry, struct pit_in *in)
{
    if (in->token_len > PIT_TOKEN_INLINE)
        pool_put(&pit->blocks, pit_token_block(in));
    in->face = 0;
    in->token_len = 0;
    entry->n_in--;
    if (in == &entry->in)
        return;
    struct pit_block *block = block_of(pit, in);
    if (block->in[0].face == 0 && block->in[1].face == 0)
        remove_block(pit, entry, block);
}

struct pit_in *pit_in_next_more(const struct pit *pit, struct pit_entry *entry, struct pit_in *prev)
{
    uint32_t next = entry->ext;
    if (prev != NULL && prev != &entry->in) {
        struct pit_block *block = block_of(pit, prev);
        if (prev == &block->in[0] && block->in[1].face != 0)
            return &block->in[1];
        next = block->next;
    }
    struct pit_block *block = find_block(pit, next, PIT_BLOCK_IN);
    if (block == NULL)
        return NULL;
    return block->in[0].face != 0 ? &block->in[0] : &block->in[1];
}

int pit_in_set_token_any(struct pit *pit, struct pit_in *in, const uint8_t *token, uint8_t len)
{
    uint32_t block = pit_token_block(in);
    if (len > sizeof pit_block_at(pit, 0)->token)
        return -EINVAL;
    if (len > PIT_TOKEN_INLINE) {
        if (block == 0 && (block = pool_get(&pit->blocks)) == POOL_NONE)
            return -ENOSPC;
        memcpy(pit_block_at(pit, block)->token, token, len);
        memcpy(in->token, &block, sizeof block);
    } else {
        if (block != 0)
            pool_put(&pit->blocks, block);
        if (len != 0)
            memcpy(in->token, token, len);
    }
    in->token_len = len;
    return 0;
}

const uint8_t *pit_in_token(const struct pit *pit, const struct pit_entry *entry, const struct pit_in *in)
{
    (void)entry;
    return in->token_len > PIT_TOKEN_INLINE ? pit_block_at(pit, pit_token_block(in))->token : in->token;
}

struct pit_out *pit_out_find_more(const struct pit *pit, const struct pit_entry *entry, uint32_t face)
{
    struct pit_block *block = find_block(pit, entry->ext, PIT_BLOCK_OUT);
    for (; block != NULL; block = find_block(pit, block->next, PIT_BLOCK_OUT)) {
        for (unsigned i = 0; i < PIT_BLOCK_RECORDS; i++) {
            if (block->out[i].face == face)
                return &block->out[i];
        }
    }
    return NULL;
}

struct pit_out *pit_out_add_more(struct pit *pit, struct pit_entry *entry, uint32_t face)
{
    if (entry->n_out == PIT_RECORDS_MAX)
        return NULL;
    struct pit_out *out = pit_out_find_more(pit, entry, 0);
    if (out == NULL) {
        struct pit_block *block = add_block(pit, entry, PIT_BLOCK_OUT);
        if (block == NULL)
            return NULL;
        out = &block->out[0];
    }
    *out = (struct pit_out){.face = face};
    entry->n_out++;
    return out;
}

void pit_out_remove(struct pit *pit, struct pit_entry *entry, struct pit_out *out)
{
    out->face = 0;
    entry->n_out--;
    if (out == &entry->out)
        return;
    struct pit_block *block = block_of(pit, out);
    if (block->out[0].face == 0 && block->out[1].face == 0)
        remove_block(pit, entry, block);
}

struct pit_out *pit_out_next_more(const struct pit *pit, struct pit_entry *entry, struct pit_out *prev)
{
    uint32_t next = entry->ext;
    if (prev != NULL && prev != &entry->out) {
        struct pit_block *block = block_of(pit, prev);
        if (prev == &block->out[0] && block->out[1].face != 0)
            return &block->out[1];
        next = block->next;
    }
    struct pit_block *block = find_block(pit, next, PIT_BLOCK_OUT);
    if (block == NULL)
        return NULL;
    return block->out[0].face != 0 ? &block->out[0] : &block->out[1];
}
