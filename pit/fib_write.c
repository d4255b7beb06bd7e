// SPDX-License-Identifier: Apache-2.0
#include "pit/fib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pit/fib_impl.h"

/** What a prefix is to have of its own. */
struct fib_own {
    bool has_nexthops, has_strategy;
    unsigned n_nexthops;
    uint16_t strategy;
    struct fib_nexthop nexthop[FIB_NEXTHOPS_MAX];
};

/** Next hops and strategy that are in force somewhere, own or inherited. */
struct fib_force {
    const struct fib_nexthop *nexthop;
    unsigned n_nexthops;
    uint16_t strategy;
};

static struct fib_node *node_find(const struct fib *fib, const uint8_t *value, uint16_t len, uint64_t hash)
{
    struct fib_node *node = fib->index[(hash >> 16) & fib->index_mask];
    while (node != NULL && (node->hash != hash || node->len != len || (len > 0 && memcmp(node->name, value, len) != 0)))
        node = node->chain;
    return node;
}

static struct fib_node *node_add(struct fib *fib, struct fib_node *parent, const struct ndn_name *name, uint8_t depth)
{
    uint16_t len = name->end[depth];
    struct fib_node *node = calloc(1, sizeof *node + len);
    if (node == NULL)
        return NULL;
    fib->heap_octets += sizeof *node + len;
    node->hash = name->hash[depth];
    node->len = len;
    node->depth = depth;
    if (len > 0)
        memcpy(node->name, name->value, len);
    struct fib_node **slot = &fib->index[(node->hash >> 16) & fib->index_mask];
    node->chain = *slot;
    *slot = node;
    node->parent = parent;
    if (parent != NULL) {
        node->next = parent->child;
        if (node->next != NULL)
            node->next->prev = node;
        parent->child = node;
    }
    return node;
}

/** Free @p node and its ancestors as far as they are neither published nor needed as an ancestor. */
static void node_prune(struct fib *fib, struct fib_node *node)
{
    while (node != NULL && node->block == NULL && node->child == NULL) {
        struct fib_node *parent = node->parent;
        struct fib_node **slot = &fib->index[(node->hash >> 16) & fib->index_mask];
        while (*slot != node)
            slot = &(*slot)->chain;
        *slot = node->chain;
        if (node->next != NULL)
            node->next->prev = node->prev;
        if (node->prev != NULL)
            node->prev->next = node->next;
        else if (parent != NULL)
            parent->child = node->next;
        if (fib->root == node)
            fib->root = NULL;
        fib->heap_octets -= sizeof *node + node->len;
        free(node);
        node = parent;
    }
}

/** Node of the whole of @p name, made with its ancestors when it is not there. */
static struct fib_node *node_make(struct fib *fib, const struct ndn_name *name)
{
    struct fib_node *node = NULL;
    for (uint8_t depth = 0; depth <= name->depth; depth++) {
        struct fib_node *next = node_find(fib, name->value, name->end[depth], name->hash[depth]);
        if (next == NULL)
            next = node_add(fib, node, name, depth);
        if (next == NULL) {
            node_prune(fib, node);
            return NULL;
        }
        if (depth == 0)
            fib->root = next;
        node = next;
    }
    return node;
}

static struct fib_entry *node_entry(const struct fib_node *node)
{
    return fib_block_entry(node->block);
}

static struct fib_force force_at(const struct fib_node *node)
{
    struct fib_force force = {0};
    const struct fib_node *up = node;
    while (up != NULL && !up->has_nexthops)
        up = up->parent;
    if (up != NULL) {
        force.nexthop = node_entry(up)->nexthop;
        force.n_nexthops = node_entry(up)->n_nexthops;
    }
    up = node;
    while (up != NULL && !up->has_strategy)
        up = up->parent;
    if (up != NULL)
        force.strategy = up->strategy;
    return force;
}

static bool same_nexthops(const struct fib_force *a, const struct fib_force *b)
{
    return a->n_nexthops == b->n_nexthops &&
           (a->n_nexthops == 0 || memcmp(a->nexthop, b->nexthop, a->n_nexthops * sizeof *a->nexthop) == 0);
}

/** True when @p after has a face that @p before has not. */
static bool adds_nexthop(const struct fib_force *before, const struct fib_force *after)
{
    for (unsigned i = 0; i < after->n_nexthops; i++) {
        unsigned j = 0;
        while (j < before->n_nexthops && before->nexthop[j].face != after->nexthop[i].face)
            j++;
        if (j == before->n_nexthops)
            return true;
    }
    return false;
}

static struct fib_block *block_build(struct fib *fib, const struct fib_node *node, const struct fib_force *force)
{
    struct fib_block *block = fib_block_get(fib, force->n_nexthops, node->len);
    if (block == NULL)
        return NULL;
    struct fib_entry *entry = fib_block_entry(block);
    entry->depth = node->depth;
    entry->n_nexthops = (uint8_t)force->n_nexthops;
    entry->strategy = force->strategy;
    for (unsigned i = 0; i < force->n_nexthops; i++)
        entry->nexthop[i] = force->nexthop[i];
    if (node->len > 0)
        memcpy(fib_entry_name(entry), node->name, node->len);
    return block;
}

/** Which of the two a change upstream alters for a node. */
enum { ALTERS_NEXTHOPS = 1, ALTERS_STRATEGY = 2 };

/**
 * Build new blocks for the published prefixes below @p top that inherit what changes there.
 *
 * @return 0, or -ENOSPC; what was built stands in *plan either way
 */
static int plan_heirs(struct fib *fib, struct fib_node *top, const struct fib_force *force, int alters,
                      struct fib_node **plan)
{
    int at_depth[NDN_NAME_DEPTH + 1] = {0};
    at_depth[top->depth] = alters;
    struct fib_node *node = top->child;
    while (node != NULL) {
        int here = at_depth[node->depth - 1];
        if (node->has_nexthops)
            here &= ~ALTERS_NEXTHOPS;
        if (node->has_strategy)
            here &= ~ALTERS_STRATEGY;
        at_depth[node->depth] = here;
        if (here != 0 && node->block != NULL) {
            const struct fib_entry *entry = node_entry(node);
            struct fib_force changed = {entry->nexthop, entry->n_nexthops, entry->strategy};
            if ((here & ALTERS_NEXTHOPS) != 0) {
                changed.nexthop = force->nexthop;
                changed.n_nexthops = force->n_nexthops;
            }
            if ((here & ALTERS_STRATEGY) != 0)
                changed.strategy = force->strategy;
            node->fresh = block_build(fib, node, &changed);
            if (node->fresh == NULL)
                return -ENOSPC;
            node->planned = *plan;
            *plan = node;
        }
        if (here != 0 && node->child != NULL) {
            node = node->child;
            continue;
        }
        while (node != top && node->next == NULL)
            node = node->parent;
        node = node == top ? NULL : node->next;
    }
    return 0;
}

/** Give @p node what it is to have, and its heirs with it: all of it, or -ENOSPC and nothing. */
static int node_change(struct fib *fib, struct fib_node *node, const struct fib_own *own)
{
    struct fib_force before = force_at(node);
    struct fib_force above = node->parent != NULL ? force_at(node->parent) : (struct fib_force){0};
    struct fib_force after = above;
    if (own->has_nexthops) {
        after.nexthop = own->nexthop;
        after.n_nexthops = own->n_nexthops;
    }
    if (own->has_strategy)
        after.strategy = own->strategy;

    int alters = (same_nexthops(&before, &after) ? 0 : ALTERS_NEXTHOPS) |
                 (before.strategy == after.strategy ? 0 : ALTERS_STRATEGY);
    bool adds = adds_nexthop(&before, &after);
    struct fib_node *plan = NULL;
    bool publish = own->has_nexthops || own->has_strategy;
    struct fib_block *block = NULL;
    if (publish && (alters != 0 || node->block == NULL)) {
        if (node->block == NULL && fib->n_prefixes >= fib->config.capacity)
            return -ENOSPC;
        block = block_build(fib, node, &after);
        if (block == NULL)
            return -ENOSPC;
    }
    if (alters != 0 && plan_heirs(fib, node, &after, alters, &plan) != 0)
        goto undo;
    if (block != NULL && node->block == NULL && fib_publish(fib, node->hash, block) != 0)
        goto undo;

    struct fib_block *old = node->block;
    node->has_nexthops = own->has_nexthops;
    node->has_strategy = own->has_strategy;
    node->strategy = own->strategy;
    if (block != NULL)
        node->block = block;
    if (!publish)
        node->block = NULL;
    for (; plan != NULL; plan = plan->planned) {
        fib_republish(fib, plan->hash, plan->block, plan->fresh);
        plan->block = plan->fresh;
        plan->fresh = NULL;
    }
    // Last, because heirs were built from next hops that may stand in the old block.
    if (old != NULL && block != NULL)
        fib_republish(fib, node->hash, old, block);
    else if (old != NULL && !publish)
        fib_unpublish(fib, node->hash, old);
    // Release pairs with the acquire in fib_added(): who sees the count sees the next hop.
    if (adds)
        atomic_fetch_add_explicit(&fib->n_added, 1, memory_order_release);
    return 0;

undo:
    for (; plan != NULL; plan = plan->planned) {
        fib_block_put(fib, plan->fresh);
        plan->fresh = NULL;
    }
    if (block != NULL)
        fib_block_put(fib, block);
    return -ENOSPC;
}

static void own_of(const struct fib_node *node, struct fib_own *own)
{
    own->has_nexthops = node->has_nexthops;
    own->has_strategy = node->has_strategy;
    own->strategy = node->strategy;
    own->n_nexthops = 0;
    if (node->has_nexthops) {
        own->n_nexthops = node_entry(node)->n_nexthops;
        memcpy(own->nexthop, node_entry(node)->nexthop, own->n_nexthops * sizeof own->nexthop[0]);
    }
}

static bool own_drop_face(struct fib_own *own, uint32_t face)
{
    for (unsigned i = 0; i < own->n_nexthops; i++) {
        if (own->nexthop[i].face != face)
            continue;
        own->n_nexthops--;
        memmove(&own->nexthop[i], &own->nexthop[i + 1], (own->n_nexthops - i) * sizeof own->nexthop[0]);
        own->has_nexthops = own->n_nexthops > 0;
        return true;
    }
    return false;
}

static int own_add_face(struct fib_own *own, uint32_t face, uint32_t cost)
{
    own_drop_face(own, face);
    if (own->n_nexthops == FIB_NEXTHOPS_MAX)
        return -ENOSPC;
    unsigned i = own->n_nexthops++;
    for (; i > 0; i--) {
        const struct fib_nexthop *before = &own->nexthop[i - 1];
        if (before->cost < cost || (before->cost == cost && before->face < face))
            break;
        own->nexthop[i] = *before;
    }
    own->nexthop[i] = (struct fib_nexthop){face, cost};
    own->has_nexthops = true;
    return 0;
}

static int name_of(const struct fib *fib, const uint8_t *prefix, uint16_t len, struct ndn_name *name)
{
    static const uint8_t none;
    // What the configuration or management gives has been checked there; forms that tlv-lenient allows stay allowed.
    if (ndn_name_parse(len > 0 ? prefix : &none, len, true, name) != VERDICT_OK || name->n_comps > NDN_NAME_DEPTH)
        return -EINVAL;
    ndn_name_hash(name, fib->config.key);
    return 0;
}

/** Node of a prefix that something is to be added to. */
static int node_open(struct fib *fib, const uint8_t *prefix, uint16_t len, struct fib_node **node, struct fib_own *own)
{
    struct ndn_name name;
    int rc = name_of(fib, prefix, len, &name);
    if (rc != 0)
        return rc;
    *node = node_make(fib, &name);
    if (*node == NULL)
        return -ENOSPC;
    own_of(*node, own);
    return 0;
}

/** Node of a prefix that something is to be taken from. */
static int node_seek(struct fib *fib, const uint8_t *prefix, uint16_t len, struct fib_node **node, struct fib_own *own)
{
    struct ndn_name name;
    if (name_of(fib, prefix, len, &name) != 0)
        return -ENOENT;
    *node = node_find(fib, name.value, name.len, name.hash[name.depth]);
    if (*node == NULL)
        return -ENOENT;
    own_of(*node, own);
    return 0;
}

int fib_nexthop_set(struct fib *fib, const uint8_t *prefix, uint16_t len, uint32_t face, uint32_t cost)
{
    struct fib_node *node;
    struct fib_own own;
    int rc = node_open(fib, prefix, len, &node, &own);
    if (rc != 0)
        return rc;
    rc = own_add_face(&own, face, cost);
    if (rc == 0)
        rc = node_change(fib, node, &own);
    node_prune(fib, node);
    return rc;
}

int fib_nexthop_unset(struct fib *fib, const uint8_t *prefix, uint16_t len, uint32_t face)
{
    struct fib_node *node;
    struct fib_own own;
    int rc = node_seek(fib, prefix, len, &node, &own);
    if (rc != 0)
        return rc;
    if (!own_drop_face(&own, face))
        return -ENOENT;
    rc = node_change(fib, node, &own);
    node_prune(fib, node);
    return rc;
}

static bool own_drop_gone(struct fib_own *own, bool (*gone)(void *ctx, uint32_t face), void *ctx)
{
    unsigned left = 0;
    for (unsigned i = 0; i < own->n_nexthops; i++)
        if (!gone(ctx, own->nexthop[i].face))
            own->nexthop[left++] = own->nexthop[i];
    bool changed = left < own->n_nexthops;
    own->n_nexthops = left;
    own->has_nexthops = left > 0;
    return changed;
}

uint32_t fib_faces_remove(struct fib *fib, bool (*gone)(void *ctx, uint32_t face), void *ctx)
{
    uint32_t n_changed = 0;
    for (uint32_t i = 0; i <= fib->index_mask; i++) {
        struct fib_node *node = fib->index[i];
        while (node != NULL) {
            struct fib_own own;
            own_of(node, &own);
            if (own_drop_gone(&own, gone, ctx) && node_change(fib, node, &own) == 0) {
                n_changed++;
                node_prune(fib, node);
                // Pruning may have taken any node of this chain.
                node = fib->index[i];
            } else {
                node = node->chain;
            }
        }
    }
    return n_changed;
}

static bool is_face(void *ctx, uint32_t face)
{
    return face == *(const uint32_t *)ctx;
}

uint32_t fib_face_remove(struct fib *fib, uint32_t face)
{
    return fib_faces_remove(fib, is_face, &face);
}

int fib_strategy_set(struct fib *fib, const uint8_t *prefix, uint16_t len, uint16_t strategy)
{
    struct fib_node *node;
    struct fib_own own;
    int rc = node_open(fib, prefix, len, &node, &own);
    if (rc != 0)
        return rc;
    own.has_strategy = true;
    own.strategy = strategy;
    rc = node_change(fib, node, &own);
    node_prune(fib, node);
    return rc;
}

int fib_strategy_unset(struct fib *fib, const uint8_t *prefix, uint16_t len)
{
    struct fib_node *node;
    struct fib_own own;
    int rc = node_seek(fib, prefix, len, &node, &own);
    if (rc != 0)
        return rc;
    if (!own.has_strategy)
        return -ENOENT;
    own.has_strategy = false;
    own.strategy = 0;
    rc = node_change(fib, node, &own);
    node_prune(fib, node);
    return rc;
}

static struct fib_node *node_after(const struct fib_node *node)
{
    if (node->child != NULL)
        return node->child;
    while (node != NULL && node->next == NULL)
        node = node->parent;
    return node != NULL ? node->next : NULL;
}

void fib_foreach(const struct fib *fib, bool (*visit)(void *ctx, const struct fib_item *item), void *ctx)
{
    for (struct fib_node *node = fib->root; node != NULL; node = node_after(node)) {
        if (node->block == NULL)
            continue;
        struct fib_item item = {
            .prefix = node->name,
            .len = node->len,
            .has_nexthops = node->has_nexthops,
            .has_strategy = node->has_strategy,
            .entry = node_entry(node),
        };
        if (!visit(ctx, &item))
            return;
    }
}

uint32_t fib_count(const struct fib *fib)
{
    return fib->n_prefixes;
}

size_t fib_memory(const struct fib *fib)
{
    return sizeof *fib + ((size_t)fib->mask + 1) * sizeof(struct fib_bucket) + (size_t)fib->n_blocks * FIB_BLOCK_SIZE +
           ((size_t)fib->index_mask + 1) * sizeof(struct fib_node *) + fib->heap_octets;
}

int fib_create(struct fib **fib, const struct fib_config *config)
{
    if (config->capacity == 0 || config->capacity > 1u << 28 || config->key == NULL)
        return -EINVAL;
    struct fib *f = aligned_alloc(64, (sizeof *f + 63) & ~(size_t)63);
    if (f == NULL)
        return -ENOMEM;
    memset(f, 0, sizeof *f);
    f->config = *config;
    // At most a third full: fuller, a million prefixes find eight full buckets in a row.
    uint32_t buckets = 16;
    while ((uint64_t)buckets * FIB_BUCKET_SLOTS < (uint64_t)config->capacity * 3)
        buckets *= 2;
    f->mask = buckets - 1;
    f->bucket = arena_map((size_t)buckets * sizeof(struct fib_bucket), config->pages);
    if (f->bucket == NULL)
        goto free_fib;
    // Blocks of a grace period stand beside those in use.
    f->n_blocks = config->capacity + config->capacity / 16 + 64;
    f->arena = arena_map((size_t)f->n_blocks * FIB_BLOCK_SIZE, config->pages);
    if (f->arena == NULL)
        goto unmap_buckets;
    f->index_mask = 15;
    while (f->index_mask < config->capacity)
        f->index_mask = f->index_mask * 2 + 1;
    f->index = calloc((size_t)f->index_mask + 1, sizeof(struct fib_node *));
    if (f->index == NULL)
        goto unmap_blocks;
    *fib = f;
    return 0;

unmap_blocks:
    arena_unmap(f->arena, (size_t)f->n_blocks * FIB_BLOCK_SIZE);
unmap_buckets:
    arena_unmap(f->bucket, (size_t)buckets * sizeof(struct fib_bucket));
free_fib:
    free(f);
    return -ENOMEM;
}

static void blocks_free(struct fib *fib, struct fib_block *block)
{
    while (block != NULL) {
        struct fib_block *next = block->next;
        fib_block_put(fib, block);
        block = next;
    }
}

void fib_destroy(struct fib *fib)
{
    if (fib == NULL)
        return;
    for (uint32_t i = 0; i <= fib->index_mask; i++) {
        while (fib->index[i] != NULL) {
            struct fib_node *node = fib->index[i];
            fib->index[i] = node->chain;
            if (node->block != NULL)
                fib_block_put(fib, node->block);
            free(node);
        }
    }
    blocks_free(fib, fib->waiting);
    blocks_free(fib, fib->open);
    free(fib->index);
    arena_unmap(fib->arena, (size_t)fib->n_blocks * FIB_BLOCK_SIZE);
    arena_unmap(fib->bucket, ((size_t)fib->mask + 1) * sizeof(struct fib_bucket));
    free(fib);
}
