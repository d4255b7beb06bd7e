// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/rib_impl.h"
#include "parser/random.h"

/** Time after which changes that did not reach the FIB are tried again, and what it grows to. */
#define RIB_RETRY_NS     UINT64_C(1000000000)
#define RIB_RETRY_MAX_NS (3600 * RIB_RETRY_NS)
/** Routes that one rib_poll() removes at most. */
#define RIB_EXPIRE_MAX 1024

int rib_create(struct rib **rib, struct fib *fib)
{
    struct rib *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -ENOMEM;
    r->fib = fib;
    // Heights must not be foreseeable, or names could be chosen to make a list of it.
    if (random_octets(&r->random, sizeof r->random) != 0) {
        free(r);
        return -EIO;
    }
    *rib = r;
    return 0;
}

static void entry_free(struct rib_entry *entry)
{
    if (entry->room > 1)
        free(entry->installed.many);
    free(entry);
}

static void held_free(struct rib_held *held)
{
    free(held->announced);
    free(held);
}

void rib_destroy(struct rib *rib)
{
    if (rib == NULL)
        return;
    while (rib->head[0] != NULL) {
        struct rib_entry *entry = rib->head[0];
        rib->head[0] = entry->next[0];
        while (entry->routes != NULL) {
            struct rib_held *held = entry->routes;
            entry->routes = held->next;
            held_free(held);
        }
        entry_free(entry);
    }
    due_free(&rib->expiries);
    free(rib->list);
    free(rib);
}

int rib_listen(struct rib *rib, rib_listener_t listener, void *ctx)
{
    if (rib->n_listeners == RIB_LISTENERS_MAX)
        return -ENOSPC;
    rib->listener[rib->n_listeners].heard = listener;
    rib->listener[rib->n_listeners++].ctx = ctx;
    return 0;
}

static void tell(const struct rib *rib, bool added, const struct rib_entry *entry, const struct rib_route *route)
{
    for (unsigned i = 0; i < rib->n_listeners; i++)
        rib->listener[i].heard(rib->listener[i].ctx, added, (struct mgmt_octets){rib_entry_name(entry), entry->len},
                               route);
}

static struct rib_held *held_of(struct due *due)
{
    return (struct rib_held *)((char *)due - offsetof(struct rib_held, expiry));
}

void rib_expiry_set(struct rib *rib, struct rib_held *held)
{
    if (held->route.expires_ns == 0)
        due_remove(&rib->expiries, &held->expiry);
    else
        due_set(&rib->expiries, &held->expiry, held->route.expires_ns);
}

/** Put a route into the lists of its entry and of its face. */
static void link_route(struct rib *rib, struct rib_entry *entry, struct rib_held *held)
{
    struct rib_held **end = &entry->routes;
    while (*end != NULL)
        end = &(*end)->next;
    *end = held;
    held->entry = entry;
    entry->n_routes++;
    entry->n_captures += (held->route.flags & RIB_CAPTURE) != 0;
    struct rib_slot *slot = &rib->slot[held->route.face % FACE_SLOTS];
    held->face_next = slot->routes;
    held->face_link = &slot->routes;
    if (slot->routes != NULL)
        slot->routes->face_link = &held->face_next;
    slot->routes = held;
    rib_expiry_set(rib, held);
    rib->n_routes++;
}

static void unlink_route(struct rib *rib, struct rib_held *held)
{
    struct rib_entry *entry = held->entry;
    struct rib_held **link = &entry->routes;
    while (*link != held)
        link = &(*link)->next;
    *link = held->next;
    entry->n_routes--;
    entry->n_captures -= (held->route.flags & RIB_CAPTURE) != 0;
    *held->face_link = held->face_next;
    if (held->face_next != NULL)
        held->face_next->face_link = held->face_link;
    due_remove(&rib->expiries, &held->expiry);
    rib->n_routes--;
}

/** Does a change between these flags, or a route with them, matter to names below? */
static bool is_inherited(const struct rib_entry *entry, uint8_t flags, bool captured)
{
    return (flags & RIB_CHILD_INHERIT) != 0 || captured != (entry->n_captures > 0);
}

static void route_remove(struct rib *rib, struct rib_held *held)
{
    struct rib_entry *entry = held->entry;
    bool captured = entry->n_captures > 0;
    unlink_route(rib, held);
    rib_entry_sync(rib, entry);
    if (entry->routes == NULL)
        rib_entry_remove(rib, entry);
    if (is_inherited(entry, held->route.flags, captured))
        rib_heirs_sync(rib, entry);
    tell(rib, false, entry, &held->route);
    held_free(held);
    if (entry->routes == NULL)
        entry_free(entry);
}

struct rib_held *rib_route_find(const struct rib_entry *entry, uint32_t face, uint16_t origin)
{
    struct rib_held *held = entry != NULL ? entry->routes : NULL;
    while (held != NULL && (held->route.face != face || held->route.origin != origin))
        held = held->next;
    return held;
}

static void route_renew(struct rib *rib, struct rib_held *held, const struct rib_route *route)
{
    struct rib_entry *entry = held->entry;
    struct rib_route old = held->route;
    bool captured = entry->n_captures > 0;
    held->route = *route;
    rib_expiry_set(rib, held);
    if (old.cost == route->cost && old.flags == route->flags)
        return;
    entry->n_captures -= (old.flags & RIB_CAPTURE) != 0;
    entry->n_captures += (route->flags & RIB_CAPTURE) != 0;
    rib_entry_sync(rib, entry);
    if (is_inherited(entry, old.flags | route->flags, captured))
        rib_heirs_sync(rib, entry);
}

static int route_add(struct rib *rib, struct mgmt_octets name, struct rib_path *path, struct rib_held *held)
{
    struct rib_entry *entry = path->entry != NULL ? path->entry : rib_entry_add(rib, name, path);
    if (entry == NULL)
        return -ENOMEM;
    bool captured = entry->n_captures > 0;
    link_route(rib, entry, held);
    int rc = rib_entry_sync(rib, entry);
    if (rc != 0) {
        unlink_route(rib, held);
        if (entry->routes == NULL) {
            rib_entry_remove(rib, entry);
            entry_free(entry);
        }
        return rc;
    }
    if (is_inherited(entry, held->route.flags, captured))
        rib_heirs_sync(rib, entry);
    tell(rib, true, entry, &held->route);
    return 0;
}

static int name_check(struct mgmt_octets name)
{
    static const uint8_t none;
    struct ndn_name view;
    if (ndn_name_parse(name.len > 0 ? name.p : &none, name.len, true, &view) != VERDICT_OK)
        return -EINVAL;
    return view.n_comps > NDN_NAME_DEPTH ? -E2BIG : 0;
}

/** Have room for what rib_foreach() says of an entry with one more route. */
static int list_reserve(struct rib *rib, const struct rib_entry *entry)
{
    uint32_t n = entry != NULL ? entry->n_routes + 1 : 1;
    if (n <= rib->list_size)
        return 0;
    struct rib_route *list = reallocarray(rib->list, n + n / 2 + 8, sizeof list[0]);
    if (list == NULL)
        return -ENOMEM;
    rib->list = list;
    rib->list_size = n + n / 2 + 8;
    return 0;
}

int rib_register_announced(struct rib *rib, struct mgmt_octets name, const struct rib_route *route,
                           struct mgmt_octets data, uint64_t announcement_expires_ns)
{
    int rc = name_check(name);
    if (rc != 0)
        return rc;
    struct rib_held *of_slot = rib->slot[route->face % FACE_SLOTS].routes;
    // Two faces of a slot cannot exist at a time: the other one is gone, and nobody told.
    if (of_slot != NULL && of_slot->route.face != route->face)
        rib_face_remove(rib, of_slot->route.face);
    if (route->expires_ns != 0 && due_reserve(&rib->expiries) != 0)
        return -ENOMEM;
    struct rib_announced *announced = NULL;
    if (data.len > 0) {
        announced = malloc(sizeof *announced + data.len);
        if (announced == NULL)
            return -ENOMEM;
        announced->expires_ns = announcement_expires_ns;
        announced->len = data.len;
        memcpy(announced->octets, data.p, data.len);
    }

    struct rib_path path;
    rib_find(rib, name, &path);
    struct rib_held *held = rib_route_find(path.entry, route->face, route->origin);
    if (held != NULL) {
        free(held->announced);
        held->announced = announced;
        route_renew(rib, held, route);
        return 0;
    }
    held = calloc(1, sizeof *held);
    rc = held != NULL ? list_reserve(rib, path.entry) : -ENOMEM;
    if (rc == 0) {
        held->route = *route;
        held->expiry.place = DUE_NOWHERE;
        rc = route_add(rib, name, &path, held);
    }
    if (rc != 0) {
        free(held);
        free(announced);
        return rc;
    }
    held->announced = announced;
    return 0;
}

int rib_register(struct rib *rib, struct mgmt_octets name, const struct rib_route *route)
{
    return rib_register_announced(rib, name, route, (struct mgmt_octets){NULL, 0}, 0);
}

int rib_unregister(struct rib *rib, struct mgmt_octets name, uint32_t face, uint16_t origin)
{
    struct rib_path path;
    rib_find(rib, name, &path);
    struct rib_held *held = rib_route_find(path.entry, face, origin);
    if (held == NULL)
        return -ENOENT;
    route_remove(rib, held);
    return 0;
}

unsigned rib_face_remove(struct rib *rib, uint32_t face)
{
    unsigned n = 0;
    struct rib_slot *slot = &rib->slot[face % FACE_SLOTS];
    for (; slot->routes != NULL && slot->routes->route.face == face; n++)
        route_remove(rib, slot->routes);
    return n;
}

/** Try what the FIB did not take again, and say when to try next. */
static void retry(struct rib *rib, uint64_t now_ns)
{
    if (rib->retry_ns != 0 && rib->retry_ns <= now_ns) {
        rib->out_of_step = false;
        for (struct rib_entry *entry = rib->head[0]; entry != NULL; entry = entry->next[0])
            if (entry->out_of_step)
                rib_entry_sync(rib, entry);
        // Next hops that management added may keep a place taken for ever.
        rib->retry_ns = now_ns + rib->retry_delay_ns;
        rib->retry_delay_ns = rib->retry_delay_ns < RIB_RETRY_MAX_NS / 2 ? rib->retry_delay_ns * 2 : RIB_RETRY_MAX_NS;
    }
    if (rib->out_of_step && rib->retry_ns == 0) {
        rib->retry_ns = now_ns + RIB_RETRY_NS;
        rib->retry_delay_ns = 2 * RIB_RETRY_NS;
    }
    if (!rib->out_of_step)
        rib->retry_ns = 0;
}

uint64_t rib_poll(struct rib *rib, uint64_t now_ns)
{
    struct due *due = due_first(&rib->expiries);
    for (unsigned i = 0; due != NULL && due->at_ns <= now_ns; i++) {
        if (i == RIB_EXPIRE_MAX)
            return 0;
        route_remove(rib, held_of(due));
        due = due_first(&rib->expiries);
    }
    retry(rib, now_ns);
    uint64_t next_ns = due != NULL ? due->at_ns - now_ns : UINT64_MAX;
    if (rib->out_of_step && rib->retry_ns - now_ns < next_ns)
        next_ns = rib->retry_ns - now_ns;
    return next_ns;
}

void rib_foreach(const struct rib *rib,
                 void (*visit)(void *ctx, struct mgmt_octets name, const struct rib_route *routes, size_t n), void *ctx)
{
    for (const struct rib_entry *entry = rib->head[0]; entry != NULL; entry = entry->next[0]) {
        size_t n = 0;
        for (const struct rib_held *held = entry->routes; held != NULL; held = held->next)
            rib->list[n++] = held->route;
        visit(ctx, (struct mgmt_octets){rib_entry_name(entry), entry->len}, rib->list, n);
    }
}

uint32_t rib_count(const struct rib *rib)
{
    return rib->n_routes;
}

bool rib_serves(struct rib *rib, struct mgmt_octets name)
{
    return rib_nearest(rib, name) != NULL;
}
