// SPDX-License-Identifier: Apache-2.0
/* Random changes of the FIB against a plain list of prefixes. */
#include "pit/fib.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY  60
#define NAMES_MAX 400

struct prefix {
    struct ndn_name name;
    uint8_t value[512];
    unsigned n_nexthops;
    struct fib_nexthop nexthop[FIB_NEXTHOPS_MAX];
    bool has_strategy;
    uint16_t strategy;
};

static const struct ndn_name_key key = {{9}};
static struct prefix prefixes[NAMES_MAX];
static unsigned n_prefixes;
static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % below;
}

static void prefixes_make(void)
{
    static const char long_comp[] = "/this-component-makes-a-prefix-of-two-of-it-too-long-for-a-block-of-the-arena";
    static const char *const comp[] = {"/a", "/b", long_comp};
    for (unsigned depth = 0; depth <= 5; depth++) {
        unsigned n = 1;
        for (unsigned i = 0; i < depth; i++)
            n *= 3;
        for (unsigned code = 0; code < n; code++) {
            char uri[1024] = "/";
            unsigned c = code;
            for (unsigned i = 0; i < depth; i++, c /= 3)
                strcat(i == 0 ? strcpy(uri, "") : uri, comp[c % 3]);
            struct prefix *p = &prefixes[n_prefixes++];
            int len = ndn_name_from_uri(uri, p->value, sizeof p->value);
            cr_assert_geq(len, 0);
            cr_assert_eq(ndn_name_parse(p->value, (size_t)len, false, &p->name), VERDICT_OK);
            ndn_name_hash(&p->name, &key);
        }
    }
}

static bool exists(const struct prefix *p)
{
    return p->n_nexthops > 0 || p->has_strategy;
}

static unsigned count(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < n_prefixes; i++)
        n += exists(&prefixes[i]);
    return n;
}

static bool is_prefix(const struct prefix *p, const struct ndn_name *name)
{
    return p->name.len <= name->len && memcmp(p->name.value, name->value, p->name.len) == 0;
}

static int compare(const void *a, const void *b)
{
    const struct fib_nexthop *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->face < y->face ? -1 : x->face > y->face;
}

static void verify(const struct fib *fib, const struct ndn_name *name)
{
    const struct prefix *match = NULL, *hops = NULL, *choice = NULL;
    for (unsigned i = 0; i < n_prefixes; i++) {
        const struct prefix *p = &prefixes[i];
        if (!exists(p) || !is_prefix(p, name))
            continue;
        if (match == NULL || p->name.len > match->name.len)
            match = p;
        if (p->n_nexthops > 0 && (hops == NULL || p->name.len > hops->name.len))
            hops = p;
        if (p->has_strategy && (choice == NULL || p->name.len > choice->name.len))
            choice = p;
    }
    const struct fib_entry *entry = fib_lookup(fib, name);
    cr_assert_eq(entry != NULL, match != NULL);
    if (entry == NULL)
        return;
    cr_assert_eq(entry->depth, match->name.n_comps);
    cr_assert_eq(entry->strategy, choice != NULL ? choice->strategy : 0);
    cr_assert_eq(entry->n_nexthops, hops != NULL ? hops->n_nexthops : 0);
    if (hops == NULL)
        return;
    struct fib_nexthop sorted[FIB_NEXTHOPS_MAX];
    memcpy(sorted, hops->nexthop, sizeof sorted);
    qsort(sorted, hops->n_nexthops, sizeof sorted[0], compare);
    cr_assert_eq(memcmp(sorted, entry->nexthop, hops->n_nexthops * sizeof sorted[0]), 0);
}

static bool drop_face(struct prefix *p, uint32_t face)
{
    for (unsigned i = 0; i < p->n_nexthops; i++) {
        if (p->nexthop[i].face == face) {
            p->nexthop[i] = p->nexthop[--p->n_nexthops];
            return true;
        }
    }
    return false;
}

static bool visit(void *ctx, const struct fib_item *item)
{
    unsigned *n = ctx;
    for (unsigned i = 0; i < n_prefixes; i++) {
        const struct prefix *p = &prefixes[i];
        if (p->name.len != item->len || memcmp(p->value, item->prefix, item->len) != 0)
            continue;
        cr_assert_eq(item->has_nexthops, p->n_nexthops > 0);
        cr_assert_eq(item->has_strategy, p->has_strategy);
        cr_assert(exists(p));
        ++*n;
    }
    return true;
}

static void change(struct fib *fib)
{
    struct prefix *p = &prefixes[draw(draw(3) == 0 ? n_prefixes : 40)];
    uint32_t face = 300 + draw(24), cost = draw(4);
    bool full = !exists(p) && count() == CAPACITY;
    uint32_t kind = draw(100), n = 0;
    if (kind < 45) {
        struct prefix before = *p;
        drop_face(p, face);
        bool fits = !full && p->n_nexthops < FIB_NEXTHOPS_MAX;
        cr_assert_eq(fib_nexthop_set(fib, p->value, p->name.len, face, cost), fits ? 0 : -ENOSPC);
        if (fits)
            p->nexthop[p->n_nexthops++] = (struct fib_nexthop){face, cost};
        else
            *p = before;
    } else if (kind < 70) {
        int rc = fib_nexthop_unset(fib, p->value, p->name.len, face);
        cr_assert_eq(rc, drop_face(p, face) ? 0 : -ENOENT);
    } else if (kind < 82) {
        uint16_t number = (uint16_t)draw(5);
        cr_assert_eq(fib_strategy_set(fib, p->value, p->name.len, number), full ? -ENOSPC : 0);
        if (!full) {
            p->has_strategy = true;
            p->strategy = number;
        }
    } else if (kind < 97) {
        cr_assert_eq(fib_strategy_unset(fib, p->value, p->name.len), p->has_strategy ? 0 : -ENOENT);
        p->has_strategy = false;
    } else {
        for (unsigned i = 0; i < n_prefixes; i++)
            n += drop_face(&prefixes[i], face);
        cr_assert_eq(fib_face_remove(fib, face), n);
    }
}

Test(fib_model, does_what_a_plain_list_does)
{
    ndn_name_hash_init();
    prefixes_make();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        random_state = seed;
        struct fib *fib = NULL;
        struct fib_config config = {.capacity = CAPACITY, .pages = ARENA_PAGES_SMALL, .key = &key};
        cr_assert_eq(fib_create(&fib, &config), 0);
        size_t empty = fib_memory(fib);
        for (unsigned op = 0; op < 4000; op++) {
            change(fib);
            cr_assert_eq(fib_count(fib), count());
            for (unsigned i = 0; i < 10; i++)
                verify(fib, &prefixes[draw(n_prefixes)].name);
            if (op % 50 != 0)
                continue;
            for (unsigned i = 0; i < n_prefixes; i++)
                verify(fib, &prefixes[i].name);
            unsigned n = 0;
            fib_foreach(fib, visit, &n);
            cr_assert_eq(n, count());
        }
        for (unsigned i = 0; i < n_prefixes; i++) {
            struct prefix *p = &prefixes[i];
            while (p->n_nexthops > 0)
                cr_assert_eq(fib_nexthop_unset(fib, p->value, p->name.len, p->nexthop[--p->n_nexthops].face), 0);
            if (p->has_strategy)
                cr_assert_eq(fib_strategy_unset(fib, p->value, p->name.len), 0);
            p->has_strategy = false;
        }
        cr_assert_eq(fib_count(fib), 0);
        cr_assert_eq(fib_memory(fib), empty, "all nodes and blocks are back");
        fib_destroy(fib);
    }
}
