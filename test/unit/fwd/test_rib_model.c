// SPDX-License-Identifier: Apache-2.0
/* Random changes of the RIB against next hops computed anew from a plain list of routes. */
#include "fwd/mgmt/rib.h"

#include <errno.h>
#include <stdlib.h>

#include "test/unit/fwd/rib_fixture.h"

#define NAMES_MAX  200
#define ROUTES_MAX 4000
#define FACES      24
#define NEVER      0

struct known {
    uint8_t value[128];
    uint16_t len;
    struct ndn_name name;
};

struct model_route {
    unsigned name;
    struct rib_route route;
};

static struct known names[NAMES_MAX];
static unsigned n_names;
static struct model_route routes[ROUTES_MAX];
static unsigned n_routes;
static uint64_t random_state;
static uint64_t now_ns;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % below;
}

static void names_make(void)
{
    static const char *const comp[] = {"/a", "/b", "/aa"};
    n_names = 0;
    for (unsigned depth = 0; depth <= 4; depth++) {
        unsigned n = 1;
        for (unsigned i = 0; i < depth; i++)
            n *= 3;
        for (unsigned code = 0; code < n; code++) {
            char uri[64] = "/";
            unsigned c = code;
            for (unsigned i = 0; i < depth; i++, c /= 3)
                strcat(i == 0 ? strcpy(uri, "") : uri, comp[c % 3]);
            struct known *known = &names[n_names++];
            known->len = (uint16_t)ndn_name_from_uri(uri, known->value, sizeof known->value);
            cr_assert_eq(ndn_name_parse(known->value, known->len, false, &known->name), VERDICT_OK);
            ndn_name_hash(&known->name, &rib_key);
        }
    }
}

static bool has_routes(unsigned name)
{
    for (unsigned i = 0; i < n_routes; i++)
        if (routes[i].name == name)
            return true;
    return false;
}

/** Number of the name that is @p name without its last component. */
static unsigned parent_of(unsigned name)
{
    uint16_t len = names[name].name.end[names[name].name.n_comps - 1];
    unsigned i = 0;
    while (names[i].len != len || memcmp(names[i].value, names[name].value, len) != 0)
        i++;
    return i;
}

static int compare(const void *a, const void *b)
{
    const struct fib_nexthop *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    return x->face < y->face ? -1 : x->face > y->face;
}

/** Next hops of a name that has routes, by the definition: nearest name first, its own routes nearest of all. */
static unsigned hops_of(unsigned name, struct fib_nexthop *hops)
{
    unsigned n = 0;
    for (unsigned at = name;;) {
        unsigned n_before = n;
        bool captured = false;
        for (unsigned i = 0; i < n_routes; i++) {
            const struct rib_route *route = &routes[i].route;
            if (routes[i].name != at)
                continue;
            captured |= (route->flags & RIB_CAPTURE) != 0;
            if (at != name && (route->flags & RIB_CHILD_INHERIT) == 0)
                continue;
            unsigned k = 0;
            while (k < n && hops[k].face != route->face)
                k++;
            if (k == n)
                hops[n++] = (struct fib_nexthop){route->face, (uint32_t)route->cost};
            else if (k >= n_before && route->cost < hops[k].cost)
                hops[k].cost = (uint32_t)route->cost;
        }
        if (captured || names[at].name.n_comps == 0)
            break;
        at = parent_of(at);
    }
    qsort(hops, n, sizeof hops[0], compare);
    return n < FIB_NEXTHOPS_MAX ? n : FIB_NEXTHOPS_MAX;
}

static void verify(const struct rib_bed *bed)
{
    struct fib_nexthop want[FACES];
    unsigned n_prefixes = 0;
    for (unsigned i = 0; i < n_names; i++) {
        const struct fib_entry *entry = fib_lookup(bed->fib, &names[i].name);
        bool own = has_routes(i);
        n_prefixes += own;
        if (!own) {
            cr_assert(entry == NULL || entry->depth < names[i].name.n_comps);
            continue;
        }
        unsigned n = hops_of(i, want);
        cr_assert_not_null(entry);
        cr_assert_eq(entry->depth, names[i].name.n_comps);
        cr_assert_eq(entry->n_nexthops, n, "%u of %u", entry->n_nexthops, n);
        for (unsigned k = 0; k < n; k++) {
            cr_assert_eq(entry->nexthop[k].face, want[k].face);
            cr_assert_eq(entry->nexthop[k].cost, want[k].cost);
        }
    }
    cr_assert_eq(fib_count(bed->fib), n_prefixes);
    cr_assert_eq(rib_count(bed->rib), n_routes);
}

static bool forget_if(bool (*matches)(const struct model_route *, uint32_t, uint32_t, uint32_t), uint32_t a, uint32_t b,
                      uint32_t c, unsigned *n)
{
    unsigned kept = 0, before = n_routes;
    for (unsigned i = 0; i < n_routes; i++)
        if (!matches(&routes[i], a, b, c))
            routes[kept++] = routes[i];
    n_routes = kept;
    *n = before - kept;
    return *n > 0;
}

static bool is_route(const struct model_route *r, uint32_t name, uint32_t face, uint32_t origin)
{
    return r->name == name && r->route.face == face && r->route.origin == origin;
}

static bool is_of_face(const struct model_route *r, uint32_t face, uint32_t b, uint32_t c)
{
    (void)b, (void)c;
    return r->route.face == face;
}

static bool is_expired(const struct model_route *r, uint32_t a, uint32_t b, uint32_t c)
{
    (void)a, (void)b, (void)c;
    return r->route.expires_ns != NEVER && r->route.expires_ns <= now_ns;
}

static void change(const struct rib_bed *bed)
{
    unsigned name = draw(draw(3) == 0 ? n_names : 14), n;
    struct mgmt_octets octets = {names[name].value, names[name].len};
    uint32_t kind = draw(100), face = 300 + draw(FACES);
    uint16_t origin = (uint16_t)(draw(3) == 0 ? RIB_ORIGIN_NLSR : RIB_ORIGIN_APP);
    if (kind < 60) {
        struct rib_route route = {
            .face = face,
            .origin = origin,
            .cost = draw(6),
            .flags = (uint8_t)((draw(2) ? RIB_CHILD_INHERIT : 0) | (draw(6) == 0 ? RIB_CAPTURE : 0)),
            .expires_ns = draw(4) == 0 ? now_ns + 1 + draw(100) : NEVER,
        };
        cr_assert_eq(rib_register(bed->rib, octets, &route), 0);
        unsigned i = 0;
        while (i < n_routes && !is_route(&routes[i], name, face, origin))
            i++;
        cr_assert_lt(i, ROUTES_MAX);
        n_routes += i == n_routes;
        routes[i] = (struct model_route){name, route};
    } else if (kind < 94) {
        // One that is there, mostly.
        if (n_routes > 0 && draw(5) != 0) {
            const struct model_route *one = &routes[draw(n_routes)];
            octets = (struct mgmt_octets){names[one->name].value, names[one->name].len};
            name = one->name;
            face = one->route.face;
            origin = one->route.origin;
        }
        bool was = forget_if(is_route, name, face, origin, &n);
        cr_assert_eq(rib_unregister(bed->rib, octets, face, origin), was ? 0 : -ENOENT);
    } else if (kind < 96) {
        forget_if(is_of_face, face, 0, 0, &n);
        cr_assert_eq(rib_face_remove(bed->rib, face), n);
    } else {
        now_ns += draw(40);
        forget_if(is_expired, 0, 0, 0, &n);
        uint64_t first = UINT64_MAX;
        for (unsigned i = 0; i < n_routes; i++)
            if (routes[i].route.expires_ns != NEVER && routes[i].route.expires_ns - now_ns < first)
                first = routes[i].route.expires_ns - now_ns;
        cr_assert_eq(rib_poll(bed->rib, now_ns), first);
    }
}

Test(rib_model, next_hops_are_those_of_the_definition)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct rib_bed bed = rib_bed_make(256);
        names_make();
        random_state = seed;
        n_routes = 0;
        now_ns = 1;
        for (unsigned op = 0; op < 2500; op++) {
            change(&bed);
            if (op < 200 || op % 10 == 0)
                verify(&bed);
        }
        for (uint32_t face = 300; face < 300 + FACES; face++)
            rib_face_remove(bed.rib, face);
        cr_assert_eq(rib_count(bed.rib), 0);
        cr_assert_eq(fib_count(bed.fib), 0);
        rib_bed_free(&bed);
    }
}
