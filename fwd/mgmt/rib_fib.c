// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** The cheapest next hops of a name, by rising cost, then FaceId. */
struct hops {
    unsigned n;
    struct fib_nexthop hop[FIB_NEXTHOPS_MAX];
};

/**
 * A route counts unless a nearer name has one of its face: an entry's own routes come before what it inherits,
 * whatever they cost. Of the routes that one name has of a face the cheapest counts.
 */
static void count_route(struct rib *rib, const struct rib_route *route, uint32_t level, unsigned *n_touched)
{
    struct rib_slot *slot = &rib->slot[route->face % FACE_SLOTS];
    uint32_t cost = route->cost < UINT32_MAX ? (uint32_t)route->cost : UINT32_MAX;
    if (slot->stamp != rib->stamp) {
        slot->stamp = rib->stamp;
        slot->level = level;
        slot->cost = cost;
        rib->touched[(*n_touched)++] = (uint16_t)(route->face % FACE_SLOTS);
    } else if (slot->level == level && cost < slot->cost) {
        slot->cost = cost;
    }
}

static void keep_cheapest(struct hops *hops, uint32_t face, uint32_t cost)
{
    unsigned i = hops->n;
    while (i > 0 && (hops->hop[i - 1].cost > cost || (hops->hop[i - 1].cost == cost && hops->hop[i - 1].face > face)))
        i--;
    if (i == FIB_NEXTHOPS_MAX)
        return;
    if (hops->n < FIB_NEXTHOPS_MAX)
        hops->n++;
    memmove(&hops->hop[i + 1], &hops->hop[i], (hops->n - 1 - i) * sizeof hops->hop[0]);
    hops->hop[i] = (struct fib_nexthop){.face = face, .cost = cost};
}

static void compute(struct rib *rib, const struct rib_entry *entry, struct hops *hops)
{
    unsigned n_touched = 0;
    hops->n = 0;
    if (++rib->stamp == 0) {
        for (unsigned i = 0; i < FACE_SLOTS; i++)
            rib->slot[i].stamp = 0;
        rib->stamp = 1;
    }
    for (const struct rib_held *held = entry->routes; held != NULL; held = held->next)
        count_route(rib, &held->route, 0, &n_touched);
    // A name without routes of its own is none of the RIB's: the FIB's longest prefix serves it.
    if (entry->routes == NULL)
        return;
    uint32_t level = 0;
    for (const struct rib_entry *at = entry; at->n_captures == 0 && at->parent != NULL;) {
        at = at->parent;
        level++;
        for (const struct rib_held *held = at->routes; held != NULL; held = held->next)
            if ((held->route.flags & RIB_CHILD_INHERIT) != 0)
                count_route(rib, &held->route, level, &n_touched);
    }
    for (unsigned i = 0; i < n_touched; i++) {
        const struct rib_slot *slot = &rib->slot[rib->touched[i]];
        keep_cheapest(hops, slot->routes->route.face, slot->cost);
    }
}

static struct fib_nexthop *installed_of(struct rib_entry *entry)
{
    return entry->room > 1 ? entry->installed.many : &entry->installed.one;
}

/** Have place for @p n next hops. */
static int make_room(struct rib_entry *entry, unsigned n)
{
    uint8_t room = 2;
    while (room < n)
        room *= 2;
    if (n <= entry->room)
        return 0;
    struct fib_nexthop *many = reallocarray(entry->room > 1 ? entry->installed.many : NULL, room, sizeof *many);
    if (many == NULL)
        return -ENOMEM;
    if (entry->room == 1)
        memcpy(many, &entry->installed.one, sizeof many[0]);
    entry->installed.many = many;
    entry->room = room;
    return 0;
}

static struct fib_nexthop *find_hop(struct fib_nexthop *hops, unsigned n, uint32_t face)
{
    for (unsigned i = 0; i < n; i++)
        if (hops[i].face == face)
            return &hops[i];
    return NULL;
}

/** Take one next hop that is not wanted any more out of the FIB. @return false when there is none, or it stays */
static bool drop_one(struct rib *rib, struct rib_entry *entry, struct hops *want)
{
    struct fib_nexthop *installed = installed_of(entry);
    for (unsigned i = 0; i < entry->n_installed; i++) {
        if (find_hop(want->hop, want->n, installed[i].face) != NULL)
            continue;
        int rc = fib_nexthop_unset(rib->fib, rib_entry_name(entry), entry->len, installed[i].face);
        // -ENOENT: management took it out of the FIB, or the face is gone from there already.
        if (rc != 0 && rc != -ENOENT) {
            entry->out_of_step = true;
            return false;
        }
        installed[i] = installed[--entry->n_installed];
        return true;
    }
    return false;
}

static int set_one(struct rib *rib, struct rib_entry *entry, struct fib_nexthop hop, struct hops *want)
{
    struct fib_nexthop *installed = installed_of(entry);
    struct fib_nexthop *old = find_hop(installed, entry->n_installed, hop.face);
    if (old != NULL && old->cost == hop.cost)
        return 0;
    if (old == NULL && entry->n_installed == entry->room && !drop_one(rib, entry, want))
        return -ENOSPC;
    int rc;
    do {
        rc = fib_nexthop_set(rib->fib, rib_entry_name(entry), entry->len, hop.face, hop.cost);
        // Next hops that management added take places, too.
    } while (rc == -ENOSPC && drop_one(rib, entry, want));
    if (rc != 0)
        return rc;
    // Dropping may have moved it.
    old = find_hop(installed, entry->n_installed, hop.face);
    if (old != NULL)
        old->cost = hop.cost;
    else
        installed[entry->n_installed++] = hop;
    return 0;
}

int rib_entry_sync(struct rib *rib, struct rib_entry *entry)
{
    struct hops want;
    compute(rib, entry, &want);
    entry->out_of_step = false;
    int failed = 0;
    if (make_room(entry, want.n) != 0) {
        failed = -ENOMEM;
        want.n = entry->room;
    }
    // What is new comes before what goes, so that the name has a next hop all the time.
    for (unsigned i = 0; i < want.n; i++) {
        int rc = set_one(rib, entry, want.hop[i], &want);
        failed = rc != 0 ? rc : failed;
    }
    while (drop_one(rib, entry, &want))
        ;
    entry->out_of_step |= failed != 0;
    rib->out_of_step |= entry->out_of_step;
    return want.n > 0 && entry->n_installed == 0 ? failed : 0;
}

void rib_heirs_sync(struct rib *rib, const struct rib_entry *entry)
{
    const uint8_t *name = rib_entry_name(entry);
    struct rib_entry *below = entry->next[0];
    while (below != NULL && rib_entry_under(below, name, entry->len)) {
        if (below->n_captures > 0) {
            // Neither it nor what is below it inherits from here.
            const struct rib_entry *capture = below;
            while (below != NULL && rib_entry_under(below, rib_entry_name(capture), capture->len))
                below = below->next[0];
            continue;
        }
        rib_entry_sync(rib, below);
        below = below->next[0];
    }
}
