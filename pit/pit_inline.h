// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_PIT_INLINE_H
#define PIT_PIT_INLINE_H

/*
 * Inline part of pit/pit.h, which includes it. Other code takes nothing from here: the fields may change.
 */
#include "pit/octets.h"
#include "pit/pit.h"

#define PIT_DIGEST_FILTER 1024

struct pit {
    struct table table;
    struct pool entries;
    struct pool blocks;
    struct wheel *wheel;
    uint64_t prefix_depths; /**< bit d: prefix_count[d] is not 0 */
    uint32_t n_entries;     /**< as entries.n_used; read by other threads */
    uint32_t n_digest;      /**< entries with PIT_DIGEST */
    uint32_t prefix_count[NDN_NAME_DEPTH + 1];
    uint32_t digest_filter[PIT_DIGEST_FILTER]; /**< digest entries by what their name without the digest ends in */
};

/** The rest of pit_erase(): what most entries do not come to. */
void pit_erase_any(struct pit *pit, struct pit_entry *entry);
/** Part of pit_poll(): hands the fired entry on. */
struct pit_fire {
    struct pit *pit;
    pit_expire_t expire;
    void *ctx;
};
void pit_fire_entry(void *fire, uint32_t slot);
/** Part of pit_only_exact(): true when a digest entry may be pending for Data of this name. */
bool pit_digest_pending(const struct pit *pit, const struct ndn_name *name);
int pit_in_set_token_any(struct pit *pit, struct pit_in *in, const uint8_t *token, uint8_t len);
struct pit_in *pit_in_add_more(struct pit *pit, struct pit_entry *entry, uint32_t face);
struct pit_out *pit_out_add_more(struct pit *pit, struct pit_entry *entry, uint32_t face);
struct pit_in *pit_in_next_more(const struct pit *pit, struct pit_entry *entry, struct pit_in *prev);
struct pit_out *pit_out_next_more(const struct pit *pit, struct pit_entry *entry, struct pit_out *prev);
struct pit_in *pit_in_find_more(const struct pit *pit, const struct pit_entry *entry, uint32_t face);
struct pit_out *pit_out_find_more(const struct pit *pit, const struct pit_entry *entry, uint32_t face);

static inline struct pit_entry *pit_entry_at(const struct pit *pit, uint32_t slot)
{
    return (struct pit_entry *)(void *)pit->entries.base + slot;
}

static inline uint32_t pit_count(const struct pit *pit)
{
    return __atomic_load_n(&pit->n_entries, __ATOMIC_RELAXED);
}

static inline uint32_t pit_capacity(const struct pit *pit)
{
    return pit->entries.capacity;
}

static inline void pit_prefetch_bucket(const struct pit *pit, uint64_t hash)
{
    table_prefetch(&pit->table, hash);
}

/**
 * The first line is loaded, not prefetched: a prefetch whose page is not in the TLB is dropped, and at 1 M entries that
 * is the rule (insert + match + erase in batches of 64: 116 ns with three prefetches, 86 ns with this).
 */
static inline void pit_prefetch_lines(const struct pit_entry *entry)
{
    (void)*(const volatile uint8_t *)&entry->flags;
    __builtin_prefetch(&entry->out, 1);
    __builtin_prefetch((const uint8_t *)entry + 128, 1);
}

static inline void pit_prefetch_entry(const struct pit *pit, uint64_t hash)
{
    const struct table_bucket *bucket = &pit->table.bucket[table_home(&pit->table, hash)];
    for (unsigned match = table_match_hash(bucket, hash); match != 0; match &= match - 1)
        pit_prefetch_lines(pit_entry_at(pit, bucket->index[__builtin_ctz(match)]));
}

static inline void pit_prefetch_slot(const struct pit *pit, uint32_t slot)
{
    if (slot <= pit->entries.capacity)
        pit_prefetch_lines(pit_entry_at(pit, slot));
}

static inline uint32_t pit_slot(const struct pit *pit, const struct pit_entry *entry)
{
    return (uint32_t)(entry - (const struct pit_entry *)(const void *)pit->entries.base);
}

static inline struct pit_entry *pit_at(const struct pit *pit, uint32_t slot, uint16_t generation)
{
    if (slot > pit->entries.capacity)
        return NULL;
    struct pit_entry *entry = pit_entry_at(pit, slot);
    return (entry->flags & PIT_IN_USE) != 0 && entry->generation == generation ? entry : NULL;
}

/** Write a new entry's fields, but for name and timer. */
static inline void pit_entry_init(struct pit_entry *e, const struct ndn_name *name, uint8_t flags)
{
    e->hash = name->hash_full;
    e->node.owner = name->len;
    e->generation++;
    e->depth = name->depth;
    e->flags = flags;
    e->n_in = 0;
    e->n_out = 0;
    e->suppress = 0;
    e->sent = 0;
    e->ext = 0;
    e->in.face = 0;
    e->in.token_len = 0;
    e->out.face = 0;
}

static inline bool pit_find_place(struct pit *pit, const struct ndn_name *name, struct pit_place *place)
{
    if (name->n_comps > NDN_NAME_DEPTH || name->len > PIT_NAME_INLINE || name->has_digest)
        return false;
    struct table_bucket *home = &pit->table.bucket[table_home(&pit->table, name->hash_full)];
    place->home = home;
    place->empty = table_match_tag(home, 0);
    return (table_match_hash(home, name->hash_full) | home->n_spilled) == 0 && place->empty != 0 &&
           pool_has(&pit->entries);
}

static inline struct pit_entry *pit_put(struct pit *pit, const struct ndn_name *name, struct pit_place place,
                                        uint8_t selectors, uint32_t expiry)
{
    uint32_t slot = pool_get(&pit->entries);
    unsigned at = (unsigned)__builtin_ctz(place.empty);
    place.home->tag[at] = table_tag(name->hash_full);
    place.home->index[at] = slot;
    pit->table.n_entries++;
    struct pit_entry *entry = pit_entry_at(pit, slot);
    pit_entry_init(entry, name, (uint8_t)(PIT_IN_USE | selectors));
    octets_copy(entry->name, name->value, name->len);
    wheel_start(pit->wheel, &entry->node, slot, expiry);
    __atomic_store_n(&pit->n_entries, pit->entries.n_used, __ATOMIC_RELAXED);
    return entry;
}

/** Part of pit_erase(): the entry is out of the index, and has nothing outside it. */
static inline void pit_entry_free(struct pit *pit, struct pit_entry *entry, uint32_t slot)
{
    wheel_stop(pit->wheel, &entry->node);
    entry->flags = 0;
    pool_put(&pit->entries, slot);
    __atomic_store_n(&pit->n_entries, pit->entries.n_used, __ATOMIC_RELAXED);
}

static inline void pit_erase(struct pit *pit, struct pit_entry *entry)
{
    if (__builtin_expect((entry->flags & (PIT_CAN_BE_PREFIX | PIT_DIGEST | PIT_DEEP)) != 0 || entry->ext != 0 ||
                             entry->in.token_len > PIT_TOKEN_INLINE,
                         0)) {
        pit_erase_any(pit, entry);
        return;
    }
    uint32_t slot = pit_slot(pit, entry);
    table_remove(&pit->table, entry->hash, slot);
    pit_entry_free(pit, entry, slot);
}

static inline bool pit_name_is(const struct pit *pit, const struct pit_entry *entry, const struct ndn_name *name)
{
    if (entry->node.owner != name->len)
        return false;
    if (__builtin_expect(name->len <= PIT_NAME_INLINE, 1))
        return octets_equal(entry->name, name->value, name->len);
    return pit_name_matches(pit, entry, name->value, name->len, false);
}

/** Depths shorter than a name, at which a CanBePrefix entry would match it: bits of prefix_depths. */
static inline uint64_t pit_shorter_depths(const struct ndn_name *name)
{
    return name->n_comps > NDN_NAME_DEPTH ? UINT64_MAX : (UINT64_C(1) << name->n_comps) - 1;
}

static inline bool pit_only_exact(const struct pit *pit, const struct ndn_name *name)
{
    return (pit->prefix_depths & pit_shorter_depths(name)) == 0 &&
           (pit->n_digest == 0 || !pit_digest_pending(pit, name));
}

static inline uint32_t pit_prefix_count(const struct pit *pit, unsigned depth)
{
    return depth <= NDN_NAME_DEPTH ? pit->prefix_count[depth] : 0;
}

static inline struct pit_in *pit_in_find(const struct pit *pit, struct pit_entry *entry, uint32_t face)
{
    if (entry->in.face == face)
        return &entry->in;
    return entry->ext == 0 ? NULL : pit_in_find_more(pit, entry, face);
}

static inline struct pit_out *pit_out_find(const struct pit *pit, struct pit_entry *entry, uint32_t face)
{
    if (entry->out.face == face)
        return &entry->out;
    return entry->ext == 0 ? NULL : pit_out_find_more(pit, entry, face);
}

static inline struct pit_in *pit_in_add(struct pit *pit, struct pit_entry *entry, uint32_t face)
{
    if (entry->in.face != 0)
        return pit_in_add_more(pit, entry, face);
    entry->in = (struct pit_in){.face = face};
    entry->n_in++;
    return &entry->in;
}

static inline int pit_in_set_token(struct pit *pit, struct pit_entry *entry, struct pit_in *in, const uint8_t *token,
                                   uint8_t len)
{
    (void)entry;
    if (len == PIT_TOKEN_INLINE && in->token_len <= PIT_TOKEN_INLINE) {
        __builtin_memcpy(in->token, token, PIT_TOKEN_INLINE);
        in->token_len = len;
        return 0;
    }
    return pit_in_set_token_any(pit, in, token, len);
}

static inline struct pit_out *pit_out_add(struct pit *pit, struct pit_entry *entry, uint32_t face)
{
    if (entry->out.face != 0)
        return pit_out_add_more(pit, entry, face);
    entry->out = (struct pit_out){.face = face};
    entry->n_out++;
    return &entry->out;
}

static inline struct pit_in *pit_in_next(const struct pit *pit, struct pit_entry *entry, struct pit_in *prev)
{
    if (prev == NULL && entry->in.face != 0)
        return &entry->in;
    return entry->ext == 0 ? NULL : pit_in_next_more(pit, entry, prev);
}

static inline struct pit_out *pit_out_next(const struct pit *pit, struct pit_entry *entry, struct pit_out *prev)
{
    if (prev == NULL && entry->out.face != 0)
        return &entry->out;
    return entry->ext == 0 ? NULL : pit_out_next_more(pit, entry, prev);
}

static inline void pit_arm(struct pit *pit, struct pit_entry *entry, uint32_t expiry)
{
    wheel_arm(pit->wheel, pit_slot(pit, entry), expiry);
}

static inline uint32_t pit_poll(struct pit *pit, uint64_t now_ns, uint32_t max, pit_expire_t expire, void *ctx)
{
    struct pit_fire fire = {pit, expire, ctx};
    return wheel_poll(pit->wheel, now_ns, max, pit_fire_entry, &fire);
}

#endif
