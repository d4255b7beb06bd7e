// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "pit/pit.h"
#include "pit/pit_priv.h"

/*
 * Which entries Data satisfies (NDN packet spec 0.3, section 4.2). An entry is indexed under one hash only, and no two
 * lookups below use the same hash, so that no entry is found twice.
 */

struct match {
    const struct pit *pit;
    const struct ndn_name *name;
    pit_digest_t digest;
    void *ctx;
    const uint8_t *value; /**< the digest, once it was asked for */
    bool asked;
    unsigned n;
    struct pit_entry **entry;
};

/**
 * Only names of the same length and last 16 octets share a place. It need not be keyed: whoever makes names collide
 * here makes the forwarder compute digests, which he could have asked for plainly.
 */
unsigned pit_digest_slot(const uint8_t *value, uint16_t len)
{
    uint64_t tail[2] = {0, 0};
    unsigned n = len < sizeof tail ? len : sizeof tail;
    memcpy(tail, value + len - n, n);
    uint64_t mix = (tail[0] ^ len) * UINT64_C(0x9E3779B97F4A7C15);
    mix = ((mix ^ (mix >> 32)) + tail[1]) * UINT64_C(0xD6E8FEB86659FD93);
    return (unsigned)(mix >> 32) % PIT_DIGEST_FILTER;
}

bool pit_digest_pending(const struct pit *pit, const struct ndn_name *name)
{
    return pit->digest_filter[pit_digest_slot(name->value, name->len)] != 0;
}

static const uint8_t *digest_of(struct match *m)
{
    if (!m->asked) {
        m->asked = true;
        m->value = m->digest != NULL ? m->digest(m->ctx) : NULL;
    }
    return m->value;
}

/** True when the entry's name is the Data's and its implicit digest. */
static bool digest_matches(struct match *m, const struct pit_entry *entry)
{
    uint8_t buf[NDN_NAME_MAX];
    const uint8_t *name = entry->name;
    if (entry->node.owner > PIT_NAME_INLINE) {
        pit_name_copy(m->pit, entry, buf);
        name = buf;
    }
    // Type and length of the digest component were checked when the name was parsed.
    if (!octets_equal(name, m->name->value, m->name->len))
        return false;
    const uint8_t *digest = digest_of(m);
    return digest != NULL && memcmp(name + entry->node.owner - NDN_DIGEST_SIZE, digest, NDN_DIGEST_SIZE) == 0;
}

static inline bool satisfies(struct match *m, const struct pit_entry *entry)
{
    uint16_t len = entry->node.owner;
    if (len == m->name->len || (len < m->name->len && (entry->flags & PIT_CAN_BE_PREFIX) != 0))
        return pit_name_begins(m->pit, entry, m->name->value);
    return (entry->flags & PIT_DIGEST) != 0 && len == m->name->len + NDN_DIGEST_COMP_SIZE && digest_matches(m, entry);
}

static inline void look_under(struct match *m, uint64_t hash)
{
    struct table_iter iter;
    for (uint32_t slot = table_first(&m->pit->table, hash, &iter); slot != 0;
         slot = table_next(&m->pit->table, &iter)) {
        struct pit_entry *entry = pit_entry_at(m->pit, slot);
        if (pit_index_hash(m->pit, entry) == hash && satisfies(m, entry) && m->n < PIT_MATCHES_MAX)
            m->entry[m->n++] = entry;
    }
}

/** All that can match: exact names, CanBePrefix entries at the depths that have some, digest entries. */
static __attribute__((noinline)) unsigned match_all(struct match *m, const struct ndn_name_key *key)
{
    const struct ndn_name *name = m->name;
    look_under(m, name->hash_full);
    uint64_t depths = m->pit->prefix_depths & pit_shorter_depths(name);
    for (; depths != 0; depths &= depths - 1)
        look_under(m, name->hash[__builtin_ctzll(depths)]);
    if (m->pit->n_digest == 0 || !pit_digest_pending(m->pit, name))
        return m->n;
    const uint8_t *digest = digest_of(m);
    if (digest == NULL)
        return m->n;
    uint8_t comp[NDN_DIGEST_COMP_SIZE] = {NDN_IMPLICIT_DIGEST, NDN_DIGEST_SIZE};
    memcpy(comp + 2, digest, NDN_DIGEST_SIZE);
    look_under(m, ndn_name_hash_extend(name, comp, sizeof comp, key));
    return m->n;
}

unsigned pit_match_data(const struct pit *pit, const struct ndn_name *name, const struct ndn_name_key *key,
                        pit_digest_t digest, void *ctx, struct pit_entry *match[PIT_MATCHES_MAX])
{
    if (!pit_only_exact(pit, name)) {
        struct match m = {.pit = pit, .name = name, .digest = digest, .ctx = ctx, .entry = match};
        return match_all(&m, key);
    }
    // At most one for each combination of selectors.
    unsigned n = 0;
    struct table_iter iter;
    for (uint32_t slot = table_first(&pit->table, name->hash_full, &iter); slot != 0;
         slot = table_next(&pit->table, &iter)) {
        struct pit_entry *entry = pit_entry_at(pit, slot);
        if (entry->hash == name->hash_full && entry->node.owner == name->len &&
            pit_name_begins(pit, entry, name->value))
            match[n++] = entry;
    }
    return n;
}
