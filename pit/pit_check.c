// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "pit/pit.h"
#include "pit/pit_priv.h"

/* What must hold between any two calls; nothing here runs on the data path. */

struct totals {
    uint64_t n_entries, n_blocks, n_digest;
    uint64_t prefix_count[NDN_NAME_DEPTH + 1];
    uint32_t filter[PIT_DIGEST_FILTER];
};

/** Check the chain of an entry and count its blocks. */
static bool chain_ok(const struct pit *pit, struct pit_entry *entry, struct totals *t)
{
    unsigned n_name = pit_name_blocks(entry->node.owner), n_deep = (entry->flags & PIT_DEEP) != 0, n = 0;
    unsigned n_in = entry->in.face != 0, n_out = entry->out.face != 0;
    for (uint32_t index = entry->ext; index != 0; n++) {
        if (index >= pit->blocks.n_fresh || n > pit->blocks.n_used)
            return false;
        const struct pit_block *block = pit_block_at(pit, index);
        unsigned n_before = n_in + n_out;
        if (n < n_name + n_deep) {
            if (block->type != (n < n_name ? PIT_BLOCK_NAME : PIT_BLOCK_DEEP))
                return false;
        } else if (block->type == PIT_BLOCK_IN) {
            n_in += (block->in[0].face != 0) + (block->in[1].face != 0);
        } else if (block->type == PIT_BLOCK_OUT) {
            n_out += (block->out[0].face != 0) + (block->out[1].face != 0);
        }
        if (n >= n_name + n_deep && n_in + n_out == n_before)
            return false;
        index = block->next;
    }
    t->n_blocks += n;
    for (struct pit_in *in = NULL; (in = pit_in_next(pit, entry, in)) != NULL;) {
        uint32_t token = pit_token_block(in);
        t->n_blocks += token != 0;
        if (token >= pit->blocks.n_fresh || in->token_len > 32)
            return false;
    }
    return n >= n_name + n_deep && n_in == entry->n_in && n_out == entry->n_out;
}

/** The index must hold an entry once, and siblings must know of each other. */
static bool index_ok(const struct pit *pit, const struct pit_entry *entry)
{
    uint8_t name[NDN_NAME_MAX];
    uint16_t len = pit_name_copy(pit, entry, name);
    uint32_t self = pit_slot(pit, entry);
    unsigned n_self = 0;
    struct table_iter iter;
    for (uint32_t slot = table_first(&pit->table, pit_index_hash(pit, entry), &iter); slot != 0;
         slot = table_next(&pit->table, &iter)) {
        const struct pit_entry *other = pit_entry_at(pit, slot);
        if (slot == self) {
            n_self++;
        } else if (slot >= pit->entries.n_fresh) {
            return false;
        } else if (pit_name_matches(pit, other, name, len, false)) {
            if ((other->flags & PIT_SELECTORS) == (entry->flags & PIT_SELECTORS) ||
                (other->flags & entry->flags & PIT_SIBLING) == 0)
                return false;
        }
    }
    return n_self == 1;
}

static bool entry_ok(const struct pit *pit, struct pit_entry *entry, struct totals *t)
{
    if (entry->node.slot == 0 || entry->node.owner > NDN_NAME_MAX || entry->depth > NDN_NAME_DEPTH)
        return false;
    // Who waits has not had it.
    if ((entry->flags & PIT_SATISFIED) != 0 && entry->n_in != 0)
        return false;
    if (!chain_ok(pit, entry, t) || !index_ok(pit, entry))
        return false;
    t->n_entries++;
    if ((entry->flags & PIT_CAN_BE_PREFIX) != 0)
        t->prefix_count[entry->depth]++;
    if ((entry->flags & PIT_DIGEST) != 0) {
        uint8_t name[NDN_NAME_MAX];
        uint16_t len = pit_name_copy(pit, entry, name);
        if (len < NDN_DIGEST_COMP_SIZE)
            return false;
        t->n_digest++;
        t->filter[pit_digest_slot(name, len - NDN_DIGEST_COMP_SIZE)]++;
    }
    return true;
}

int pit_check(const struct pit *pit)
{
    struct totals t;
    memset(&t, 0, sizeof t);
    uint32_t slot = 0;
    for (struct pit_entry *entry; (entry = pit_scan(pit, &slot)) != NULL;) {
        if (!entry_ok(pit, entry, &t))
            return -EINVAL;
    }
    if (t.n_entries != pit->entries.n_used || t.n_entries != pit->n_entries || t.n_entries != pit->table.n_entries ||
        t.n_entries != wheel_count(pit->wheel) || t.n_blocks != pit->blocks.n_used || t.n_digest != pit->n_digest)
        return -EINVAL;
    for (unsigned depth = 0; depth <= NDN_NAME_DEPTH; depth++) {
        bool bit = (pit->prefix_depths >> depth & 1) != 0;
        if (t.prefix_count[depth] != pit->prefix_count[depth] || bit != (t.prefix_count[depth] != 0))
            return -EINVAL;
    }
    if (memcmp(t.filter, pit->digest_filter, sizeof t.filter) != 0)
        return -EINVAL;
    return wheel_check(pit->wheel);
}
