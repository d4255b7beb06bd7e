// SPDX-License-Identifier: Apache-2.0
#include "pit/cs_impl.h"

#include <errno.h>

/*
 * Index of prefix lengths that CanBePrefix Interests ask for. Each entry has one node for each such length that is
 * shorter than its name; nodes of the same length and prefix hash form a group, newest first. Lengths come into use
 * when they are asked for and go when nobody has asked for a minute, so that a CS without CanBePrefix Interests pays
 * nothing. Nodes are bounded: when they run out, the length asked for least recently is given up.
 */

/** Slots looked at by one cs_poll(), while a length is being built or dropped. */
#define CS_SLOTS_PER_POLL 64
/** Names hashed by one cs_poll(). */
#define CS_NAMES_PER_POLL 16
#define CS_CHECK_NS       UINT64_C(1000000000)

static struct cs_node *node_at(const struct cs *cs, uint32_t index)
{
    return (struct cs_node *)pool_at(&cs->prefixes.nodes, index);
}

static struct cs_group *group_at(const struct cs *cs, uint32_t index)
{
    return (struct cs_group *)pool_at(&cs->prefixes.groups, index);
}

int cs_prefix_init(struct cs_prefixes *prefixes, uint32_t capacity, enum arena_pages pages)
{
    uint32_t n = capacity <= 4096 ? capacity * 8 : capacity * 2;
    if (pool_init(&prefixes->nodes, n, sizeof(struct cs_node), pages) != 0 ||
        pool_init(&prefixes->groups, n, sizeof(struct cs_group), pages) != 0 ||
        table_init(&prefixes->index, n, pages) != 0)
        return -ENOMEM;
    return 0;
}

void cs_prefix_fini(struct cs_prefixes *prefixes)
{
    table_fini(&prefixes->index);
    pool_fini(&prefixes->groups);
    pool_fini(&prefixes->nodes);
}

static uint32_t group_find(const struct cs *cs, unsigned length, uint64_t hash)
{
    struct table_iter iter;
    const struct table *index = &cs->prefixes.index;
    for (uint32_t i = table_first(index, hash, &iter); i != 0; i = table_next(index, &iter)) {
        const struct cs_group *group = group_at(cs, i);
        if (group->hash == hash && group->length == length)
            return i;
    }
    return POOL_NONE;
}

/** Put a node before @p older, POOL_NONE: at the old end. */
static void group_link(struct cs *cs, struct cs_group *group, uint32_t index, uint32_t older)
{
    struct cs_node *node = node_at(cs, index);
    node->older = older;
    node->newer = older != POOL_NONE ? node_at(cs, older)->newer : group->oldest;
    if (older != POOL_NONE)
        node_at(cs, older)->newer = index;
    else
        group->oldest = index;
    if (node->newer != POOL_NONE)
        node_at(cs, node->newer)->older = index;
    else
        group->newest = index;
    group->count++;
}

static void group_unlink(struct cs *cs, struct cs_group *group, uint32_t index)
{
    const struct cs_node *node = node_at(cs, index);
    if (node->older != POOL_NONE)
        node_at(cs, node->older)->newer = node->newer;
    else
        group->oldest = node->newer;
    if (node->newer != POOL_NONE)
        node_at(cs, node->newer)->older = node->older;
    else
        group->newest = node->older;
    group->count--;
}

/** Node that one inserted at @p seq goes before; exact among the newest CS_WALK, else the old end. */
static uint32_t place_of(const struct cs *cs, const struct cs_group *group, uint32_t seq)
{
    uint32_t index = group->newest;
    for (unsigned i = 0; index != POOL_NONE; i++) {
        const struct cs_node *node = node_at(cs, index);
        if ((int32_t)(seq - cs_at(cs, node->entry)->seq) > 0)
            return index;
        if (i == CS_WALK)
            return POOL_NONE;
        index = node->older;
    }
    return POOL_NONE;
}

/** @return false when nodes, groups or buckets ran out */
static bool node_add(struct cs *cs, uint32_t entry_index, unsigned length, uint64_t hash)
{
    struct cs_prefixes *p = &cs->prefixes;
    uint32_t index = pool_get(&p->nodes);
    if (index == POOL_NONE)
        return false;
    uint32_t g = group_find(cs, length, hash);
    if (g == POOL_NONE) {
        // There are as many groups as nodes, so one is left.
        g = pool_get(&p->groups);
        if (table_insert(&p->index, hash, g) != 0) {
            pool_put(&p->groups, g);
            pool_put(&p->nodes, index);
            return false;
        }
        *group_at(cs, g) = (struct cs_group){.hash = hash, .length = length};
    }
    struct cs_entry *entry = cs_at(cs, entry_index);
    struct cs_node *node = node_at(cs, index);
    node->entry = entry_index;
    node->group = g;
    node->length = length;
    node->sibling = entry->nodes;
    entry->nodes = index;
    group_link(cs, group_at(cs, g), index, place_of(cs, group_at(cs, g), entry->seq));
    return true;
}

/** Free a node that no entry refers to any more. */
static void node_free(struct cs *cs, uint32_t index)
{
    struct cs_prefixes *p = &cs->prefixes;
    uint32_t g = node_at(cs, index)->group;
    struct cs_group *group = group_at(cs, g);
    group_unlink(cs, group, index);
    pool_put(&p->nodes, index);
    if (group->count == 0) {
        table_remove(&p->index, group->hash, g);
        pool_put(&p->groups, g);
    }
}

static void length_drop(struct cs *cs, unsigned length)
{
    struct cs_prefixes *p = &cs->prefixes;
    p->lengths &= ~(UINT64_C(1) << length);
    p->building &= ~(UINT64_C(1) << length);
    p->dropping |= UINT64_C(1) << length;
    p->length[length].cursor = 1;
}

/** Nodes ran out while @p keep was being indexed: it has a gap, and another length goes if it is little used. */
static void make_nodes(struct cs *cs, unsigned keep, uint64_t now_ns)
{
    struct cs_prefixes *p = &cs->prefixes;
    p->building |= UINT64_C(1) << keep;
    p->length[keep].cursor = 1;
    if (p->dropping != 0)
        return;
    unsigned spare = keep;
    for (uint64_t left = p->lengths; left != 0; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);
        if (p->length[k].asked_ns < p->length[spare].asked_ns)
            spare = k;
    }
    if (spare != keep && now_ns >= p->length[spare].asked_ns + CS_LENGTH_SPARE_NS)
        length_drop(cs, spare);
}

void cs_prefix_add(struct cs *cs, uint32_t index, const struct ndn_name *name, uint64_t now_ns)
{
    uint64_t shorter = (UINT64_C(1) << name->depth) - 1;
    struct ndn_name whole;
    if (name->unread) {
        // Its octets are those of an Interest's name, which was parsed; lenient, as in entry_index().
        if (ndn_name_parse(name->value, name->len, true, &whole) != VERDICT_OK)
            return;
        ndn_name_hash(&whole, &cs->prefixes.key);
        name = &whole;
    }
    for (uint64_t left = cs->prefixes.lengths & shorter; left != 0; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);
        if (!node_add(cs, index, k, name->hash[k]))
            make_nodes(cs, k, now_ns);
    }
}

void cs_prefix_remove(struct cs *cs, uint32_t index)
{
    struct cs_entry *entry = cs_at(cs, index);
    while (entry->nodes != POOL_NONE) {
        uint32_t node = entry->nodes;
        entry->nodes = node_at(cs, node)->sibling;
        node_free(cs, node);
    }
}

void cs_prefix_renew(struct cs *cs, uint32_t index)
{
    for (uint32_t i = cs_at(cs, index)->nodes; i != POOL_NONE; i = node_at(cs, i)->sibling) {
        struct cs_group *group = group_at(cs, node_at(cs, i)->group);
        group_unlink(cs, group, i);
        group_link(cs, group, i, group->newest);
    }
}

/** Index an entry that was there before its length was. @return false when nodes ran out */
static bool entry_index(struct cs *cs, uint32_t index, unsigned length)
{
    for (uint32_t i = cs_at(cs, index)->nodes; i != POOL_NONE; i = node_at(cs, i)->sibling)
        if (node_at(cs, i)->length == length)
            return true;
    uint8_t value[NDN_NAME_MAX];
    struct ndn_name name;
    uint16_t len = cs_name_copy(cs_at(cs, index), value);
    // It was parsed on arrival; a strict parser then has been strict already.
    if (ndn_name_parse(value, len, true, &name) != VERDICT_OK)
        return true;
    ndn_name_hash(&name, &cs->prefixes.key);
    return node_add(cs, index, length, name.hash[length]);
}

static void build_at_once(struct cs *cs, unsigned length)
{
    for (unsigned q = 0; q < CS_QUEUES; q++)
        for (uint32_t i = cs_oldest(cs, q); i != POOL_NONE; i = cs_newer(cs, i))
            if (cs_at(cs, i)->depth > length && !entry_index(cs, i, length))
                return;
    cs->prefixes.building &= ~(UINT64_C(1) << length);
}

static void length_ask(struct cs *cs, unsigned length, const struct ndn_name_key *key, uint64_t now_ns)
{
    struct cs_prefixes *p = &cs->prefixes;
    uint64_t bit = UINT64_C(1) << length;
    p->length[length].asked_ns = now_ns;
    if ((p->lengths & bit) != 0)
        return;
    p->key = *key;
    p->lengths |= bit;
    p->building |= bit;
    p->dropping &= ~bit;
    p->length[length].cursor = 1;
    if (cs->n_entries <= CS_BUILD_AT_ONCE)
        build_at_once(cs, length);
}

uint32_t cs_prefix_find(struct cs *cs, const struct ndn_name *name, const struct ndn_name_key *key, bool must_be_fresh,
                        uint64_t now_ns)
{
    unsigned length = name->n_comps;
    length_ask(cs, length, key, now_ns);
    uint32_t g = group_find(cs, length, name->hash[length]);
    if (g == POOL_NONE)
        return POOL_NONE;
    uint32_t index = group_at(cs, g)->newest;
    for (unsigned i = 0; index != POOL_NONE && i < CS_WALK; i++) {
        const struct cs_node *node = node_at(cs, index);
        const struct cs_entry *entry = cs_at(cs, node->entry);
        bool fits = !must_be_fresh || cs_fresh(entry, now_ns);
        if (fits && entry->name_len > name->len && cs_name_begins(entry, name->value, name->len))
            return node->entry;
        index = node->older;
    }
    return POOL_NONE;
}

static void build_some(struct cs *cs, unsigned length)
{
    struct cs_prefixes *p = &cs->prefixes;
    uint32_t *cursor = &p->length[length].cursor;
    unsigned names = CS_NAMES_PER_POLL;
    for (unsigned i = 0; i < CS_SLOTS_PER_POLL && names > 0; i++) {
        if (*cursor >= cs->entries.n_fresh) {
            p->building &= ~(UINT64_C(1) << length);
            return;
        }
        const struct cs_entry *entry = cs_at(cs, *cursor);
        if (entry->mbuf != NULL && entry->depth > length) {
            names--;
            // Stays at this slot until other Data or another length has given nodes back.
            if (!entry_index(cs, *cursor, length))
                return;
        }
        ++*cursor;
    }
}

static void drop_some(struct cs *cs, unsigned length)
{
    struct cs_prefixes *p = &cs->prefixes;
    uint32_t *cursor = &p->length[length].cursor;
    for (unsigned i = 0; i < CS_SLOTS_PER_POLL; i++, ++*cursor) {
        if (*cursor >= cs->entries.n_fresh) {
            p->dropping &= ~(UINT64_C(1) << length);
            return;
        }
        struct cs_entry *entry = cs_at(cs, *cursor);
        if (entry->mbuf == NULL)
            continue;
        uint32_t *link = &entry->nodes;
        while (*link != POOL_NONE && node_at(cs, *link)->length != length)
            link = &node_at(cs, *link)->sibling;
        if (*link != POOL_NONE) {
            uint32_t node = *link;
            *link = node_at(cs, node)->sibling;
            node_free(cs, node);
        }
    }
}

void cs_prefix_poll(struct cs *cs, uint64_t now_ns)
{
    struct cs_prefixes *p = &cs->prefixes;
    if (p->dropping != 0)
        drop_some(cs, (unsigned)__builtin_ctzll(p->dropping));
    else if (p->building != 0)
        build_some(cs, (unsigned)__builtin_ctzll(p->building));
    if (now_ns < p->check_ns)
        return;
    p->check_ns = now_ns + CS_CHECK_NS;
    for (uint64_t left = p->lengths; left != 0; left &= left - 1) {
        unsigned k = (unsigned)__builtin_ctzll(left);
        if (now_ns >= p->length[k].asked_ns + CS_LENGTH_IDLE_NS)
            length_drop(cs, k);
    }
}

static int entry_check(const struct cs *cs, const struct cs_entry *entry, uint32_t index, uint32_t *n_nodes)
{
    const struct cs_prefixes *p = &cs->prefixes;
    uint64_t seen = 0;
    for (uint32_t i = entry->nodes; i != POOL_NONE; i = node_at(cs, i)->sibling) {
        const struct cs_node *node = node_at(cs, i);
        const struct cs_group *group = group_at(cs, node->group);
        uint64_t bit = UINT64_C(1) << node->length;
        if (node->entry != index || node->length >= entry->depth || (seen & bit) != 0 || group->length != node->length)
            return -EINVAL;
        if (((p->lengths | p->dropping) & bit) == 0 || group_find(cs, node->length, group->hash) != node->group)
            return -EINVAL;
        if ((node->newer == POOL_NONE) != (group->newest == i) || (node->older == POOL_NONE) != (group->oldest == i))
            return -EINVAL;
        if (node->older != POOL_NONE && node_at(cs, node->older)->newer != i)
            return -EINVAL;
        seen |= bit;
        ++*n_nodes;
    }
    uint64_t complete = p->lengths & ~p->building & ((UINT64_C(1) << entry->depth) - 1);
    return (complete & ~seen) == 0 ? 0 : -EINVAL;
}

int cs_prefix_check(const struct cs *cs)
{
    const struct cs_prefixes *p = &cs->prefixes;
    uint32_t n_nodes = 0;
    for (unsigned q = 0; q < CS_QUEUES; q++)
        for (uint32_t i = cs_oldest(cs, q); i != POOL_NONE; i = cs_newer(cs, i))
            if (entry_check(cs, cs_at(cs, i), i, &n_nodes) != 0)
                return -EINVAL;
    bool apart = (p->lengths & p->dropping) == 0 && (p->building & ~p->lengths) == 0;
    bool counts = n_nodes == p->nodes.n_used && p->groups.n_used == p->index.n_entries;
    return apart && counts ? 0 : -EINVAL;
}
