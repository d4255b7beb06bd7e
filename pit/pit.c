// SPDX-License-Identifier: Apache-2.0
#include "pit/pit.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "pit/arena.h"
#include "pit/pit_priv.h"

/*
 * Entries stand in a pool, found through the shared index by the hash of their name, and timed by a wheel whose nodes
 * are part of them. The header fields that a lookup needs, and the records of the common case, fill two cache lines;
 * names up to 44 octets end there.
 */

int pit_create(struct pit **pit, const struct pit_config *config, uint64_t now_ns)
{
    uint32_t n_blocks = config->ext_blocks;
    if (n_blocks == 0)
        n_blocks = config->capacity / 4 > 1024 ? config->capacity / 4 : 1024;
    struct pit *p = arena_map(sizeof *p, ARENA_PAGES_SMALL);
    if (p == NULL)
        return -ENOMEM;
    int rc = pool_init(&p->entries, config->capacity, sizeof(struct pit_entry), config->pages);
    if (rc == 0)
        rc = pool_init(&p->blocks, n_blocks, sizeof(struct pit_block), config->pages);
    if (rc == 0)
        rc = table_init(&p->table, config->capacity, config->pages);
    if (rc == 0)
        rc = wheel_create(&p->wheel, p->entries.base, sizeof(struct pit_entry), offsetof(struct pit_entry, node),
                          now_ns);
    if (rc != 0) {
        pit_destroy(p);
        return rc;
    }
    *pit = p;
    return 0;
}

void pit_destroy(struct pit *pit)
{
    if (pit == NULL)
        return;
    wheel_destroy(pit->wheel);
    table_fini(&pit->table);
    pool_fini(&pit->blocks);
    pool_fini(&pit->entries);
    arena_unmap(pit, sizeof *pit);
}

size_t pit_memory(const struct pit *pit)
{
    return arena_size(sizeof *pit) + pool_memory(&pit->entries) + pool_memory(&pit->blocks) +
           table_memory(&pit->table) + wheel_memory();
}

bool pit_name_rest_equal(const struct pit *pit, const struct pit_entry *entry, const uint8_t *value)
{
    uint16_t len = entry->node.owner, done = PIT_NAME_INLINE;
    for (uint32_t index = entry->ext; done < len;) {
        const struct pit_block *block = pit_block_at(pit, index);
        uint16_t part = len - done < PIT_BLOCK_NAME_SIZE ? len - done : PIT_BLOCK_NAME_SIZE;
        if (!octets_equal(block->name, value + done, part))
            return false;
        done += part;
        index = block->next;
    }
    return true;
}

bool pit_name_matches(const struct pit *pit, const struct pit_entry *entry, const uint8_t *value, uint16_t len,
                      bool prefix)
{
    if (prefix ? entry->node.owner > len : entry->node.owner != len)
        return false;
    return pit_name_begins(pit, entry, value);
}

uint16_t pit_name_copy(const struct pit *pit, const struct pit_entry *entry, uint8_t *buf)
{
    uint16_t len = entry->node.owner, done = len < PIT_NAME_INLINE ? len : PIT_NAME_INLINE;
    memcpy(buf, entry->name, done);
    for (uint32_t index = entry->ext; done < len;) {
        const struct pit_block *block = pit_block_at(pit, index);
        uint16_t part = len - done < PIT_BLOCK_NAME_SIZE ? len - done : PIT_BLOCK_NAME_SIZE;
        memcpy(buf + done, block->name, part);
        done += part;
        index = block->next;
    }
    return len;
}

/**
 * Chain the blocks for what of a name does not fit, and the hash of a deep entry.
 *
 * @return false when blocks ran out; nothing is taken then
 */
static bool chain_name(struct pit *pit, struct pit_entry *entry, const struct ndn_name *name, uint64_t index_hash)
{
    unsigned n_name = pit_name_blocks(name->len);
    unsigned n_all = n_name + ((entry->flags & PIT_DEEP) != 0);
    if (n_all > pit->blocks.capacity - pit->blocks.n_used)
        return false;
    uint32_t *link = &entry->ext;
    for (unsigned i = 0; i < n_all; i++) {
        *link = pool_get(&pit->blocks);
        struct pit_block *block = pit_block_at(pit, *link);
        if (i < n_name) {
            unsigned start = PIT_NAME_INLINE + i * PIT_BLOCK_NAME_SIZE, left = name->len - start;
            block->type = PIT_BLOCK_NAME;
            memcpy(block->name, name->value + start, left < PIT_BLOCK_NAME_SIZE ? left : PIT_BLOCK_NAME_SIZE);
        } else {
            block->type = PIT_BLOCK_DEEP;
            block->deep_hash = index_hash;
        }
        link = &block->next;
        *link = 0;
    }
    return true;
}

uint64_t pit_deep_hash(const struct pit *pit, const struct pit_entry *entry)
{
    const struct pit_block *block = pit_block_at(pit, entry->ext);
    while (block->type != PIT_BLOCK_DEEP)
        block = pit_block_at(pit, block->next);
    return block->deep_hash;
}

void pit_blocks_free(struct pit *pit, struct pit_entry *entry)
{
    for (struct pit_in *in = NULL; (in = pit_in_next(pit, entry, in)) != NULL;) {
        if (in->token_len > PIT_TOKEN_INLINE)
            pool_put(&pit->blocks, pit_token_block(in));
    }
    for (uint32_t index = entry->ext; index != 0;) {
        uint32_t next = pit_block_at(pit, index)->next;
        pool_put(&pit->blocks, index);
        index = next;
    }
    entry->ext = 0;
}

/** Hash that an entry of this name and selectors is indexed under. */
static inline uint64_t index_hash_of(const struct ndn_name *name, uint8_t selectors)
{
    return (selectors & PIT_CAN_BE_PREFIX) != 0 && name->n_comps > NDN_NAME_DEPTH ? name->hash[NDN_NAME_DEPTH]
                                                                                  : name->hash_full;
}

/** Find an entry; *sibling is set to true when one of the same name but other selectors was passed on the way. */
static inline struct pit_entry *search(const struct pit *pit, const struct ndn_name *name, uint64_t index_hash,
                                       uint8_t selectors, bool *sibling)
{
    struct table_iter iter;
    for (uint32_t slot = table_first(&pit->table, index_hash, &iter); slot != 0;
         slot = table_next(&pit->table, &iter)) {
        struct pit_entry *entry = pit_entry_at(pit, slot);
        if (entry->hash != name->hash_full || entry->node.owner != name->len ||
            !pit_name_begins(pit, entry, name->value))
            continue;
        if ((entry->flags & PIT_SELECTORS) == selectors)
            return entry;
        *sibling = true;
    }
    return NULL;
}

struct pit_entry *pit_find(const struct pit *pit, const struct ndn_name *name, uint8_t selectors)
{
    bool sibling;
    selectors &= PIT_SELECTORS;
    return search(pit, name, index_hash_of(name, selectors), selectors, &sibling);
}

/** Set PIT_SIBLING on all entries of a name, if there is more than one. */
static __attribute__((noinline)) void mark_siblings(struct pit *pit, const struct ndn_name *name)
{
    struct pit_entry *same[PIT_SELECTORS + 1];
    unsigned n = 0;
    for (uint8_t selectors = 0; selectors <= PIT_SELECTORS; selectors++) {
        same[n] = pit_find(pit, name, selectors);
        n += same[n] != NULL;
    }
    for (unsigned i = 0; n > 1 && i < n; i++)
        same[i]->flags |= PIT_SIBLING;
}

static void count_in(struct pit *pit, const struct pit_entry *entry, const struct ndn_name *name)
{
    if ((entry->flags & PIT_CAN_BE_PREFIX) != 0 && pit->prefix_count[entry->depth]++ == 0)
        pit->prefix_depths |= UINT64_C(1) << entry->depth;
    if ((entry->flags & PIT_DIGEST) != 0) {
        pit->n_digest++;
        pit->digest_filter[pit_digest_slot(name->value, name->len - NDN_DIGEST_COMP_SIZE)]++;
    }
}

static void count_out(struct pit *pit, const struct pit_entry *entry)
{
    if ((entry->flags & PIT_CAN_BE_PREFIX) != 0 && --pit->prefix_count[entry->depth] == 0)
        pit->prefix_depths &= ~(UINT64_C(1) << entry->depth);
    if ((entry->flags & PIT_DIGEST) != 0) {
        uint8_t name[NDN_NAME_MAX];
        uint16_t len = pit_name_copy(pit, entry, name);
        pit->n_digest--;
        pit->digest_filter[pit_digest_slot(name, len - NDN_DIGEST_COMP_SIZE)]--;
    }
}

enum pit_insert_result pit_insert(struct pit *pit, const struct ndn_name *name, uint8_t selectors, uint32_t expiry,
                                  struct pit_entry **entry)
{
    selectors &= PIT_SELECTORS;
    struct pit_place place;
    if ((selectors & PIT_CAN_BE_PREFIX) == 0 && pit_find_place(pit, name, &place)) {
        *entry = pit_put(pit, name, place, selectors, expiry);
        return PIT_NEW;
    }
    uint64_t index_hash = index_hash_of(name, selectors);
    bool sibling = false;
    struct pit_entry *e = search(pit, name, index_hash, selectors, &sibling);
    *entry = e;
    if (e != NULL)
        return PIT_FOUND;

    uint32_t slot = pool_get(&pit->entries);
    if (slot == POOL_NONE)
        return PIT_FULL;
    e = pit_entry_at(pit, slot);
    if (table_insert(&pit->table, index_hash, slot) != 0)
        goto free_entry;

    bool deep = (selectors & PIT_CAN_BE_PREFIX) != 0 && name->n_comps > NDN_NAME_DEPTH;
    pit_entry_init(e, name,
                   (uint8_t)(PIT_IN_USE | selectors | (name->has_digest ? PIT_DIGEST : 0) | (deep ? PIT_DEEP : 0)));
    if (deep || name->len > PIT_NAME_INLINE) {
        if (!chain_name(pit, e, name, index_hash))
            goto unindex;
        octets_copy(e->name, name->value, name->len < PIT_NAME_INLINE ? name->len : PIT_NAME_INLINE);
    } else {
        octets_copy(e->name, name->value, name->len);
    }
    if ((e->flags & (PIT_CAN_BE_PREFIX | PIT_DIGEST)) != 0)
        count_in(pit, e, name);
    wheel_start(pit->wheel, &e->node, slot, expiry);
    __atomic_store_n(&pit->n_entries, pit->entries.n_used, __ATOMIC_RELAXED);
    // Entries with more than NDN_NAME_DEPTH components may have siblings under another hash.
    if (sibling || name->n_comps > NDN_NAME_DEPTH)
        mark_siblings(pit, name);
    *entry = e;
    return PIT_NEW;

unindex:
    e->flags = 0;
    table_remove(&pit->table, index_hash, slot);
free_entry:
    pool_put(&pit->entries, slot);
    return PIT_FULL;
}

void pit_erase_any(struct pit *pit, struct pit_entry *entry)
{
    uint32_t slot = pit_slot(pit, entry);
    int rc = table_remove(&pit->table, pit_index_hash(pit, entry), slot);
    assert(rc == 0);
    (void)rc;
    if ((entry->flags & (PIT_CAN_BE_PREFIX | PIT_DIGEST)) != 0)
        count_out(pit, entry);
    if (entry->ext != 0 || entry->in.token_len > PIT_TOKEN_INLINE)
        pit_blocks_free(pit, entry);
    pit_entry_free(pit, entry, slot);
}

void pit_fire_entry(void *fire, uint32_t slot)
{
    const struct pit_fire *f = fire;
    struct pit_entry *entry = pit_entry_at(f->pit, slot);
    f->expire(f->ctx, entry);
    // An entry without a timer would never leave; the callee has broken its word then.
    bool stray = (entry->flags & PIT_IN_USE) != 0 && entry->node.slot == 0;
    assert(!stray);
    if (stray)
        pit_erase(f->pit, entry);
}

uint64_t pit_next_ns(const struct pit *pit, uint64_t now_ns)
{
    return wheel_next_ns(pit->wheel, now_ns);
}

struct pit_entry *pit_scan_some(const struct pit *pit, uint32_t *slot, uint32_t n)
{
    uint32_t end = pit->entries.n_fresh;
    if (*slot > end)
        *slot = end;
    if (n < end - *slot)
        end = *slot + n;
    for (uint32_t i = *slot; i < end; i++) {
        struct pit_entry *entry = pit_entry_at(pit, i);
        if ((entry->flags & PIT_IN_USE) != 0) {
            *slot = i + 1;
            return entry;
        }
    }
    *slot = end;
    return NULL;
}

struct pit_entry *pit_scan(const struct pit *pit, uint32_t *slot)
{
    return pit_scan_some(pit, slot, UINT32_MAX);
}

uint32_t pit_scan_end(const struct pit *pit)
{
    return pit->entries.n_fresh;
}
