// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_RIB_IMPL_H
#define FWD_MGMT_RIB_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/due.h"
#include "fwd/mgmt/rib.h"
#include "parser/ndn_name.h"
#include "pit/fib.h"
#include "ports/face.h"

/*
 * Inside of the RIB. Entries (names that have routes) stand in a skip list in name order, so that the descendants of
 * a name follow it, and each knows its nearest ancestor. Name order is that of the octets: component TLVs in
 * shortest form compare as the specification's canonical order does.
 */

/** Entries of a skip list level stand in the next with probability 1/4: enough for 4^12. */
#define RIB_HEIGHT_MAX    12
#define RIB_LISTENERS_MAX 4

struct rib_entry;

/** A prefix announcement that a route came from. */
struct rib_announced {
    uint64_t expires_ns; /**< of the announcement; the route's may be sooner */
    uint16_t len;
    uint8_t octets[]; /**< the Data */
};

/** A route in its place. */
struct rib_held {
    struct rib_route route;
    struct rib_entry *entry;
    struct rib_held *next;                   /**< of the entry */
    struct rib_held *face_next, **face_link; /**< of the face's slot */
    struct rib_announced *announced;         /**< NULL: not by a prefix announcement */
    struct due expiry;                       /**< queued when the route expires */
};

struct rib_entry {
    struct rib_entry *parent; /**< nearest ancestor that has routes */
    struct rib_held *routes;  /**< in the order they were registered */
    union {
        struct fib_nexthop one;
        struct fib_nexthop *many; /**< when room is more than 1 */
    } installed;                  /**< next hops that were put into the FIB */
    uint32_t n_routes;
    uint32_t n_captures; /**< routes with RIB_CAPTURE */
    uint16_t len;        /**< octets of the name */
    uint8_t n_installed;
    uint8_t height;
    uint8_t room;             /**< next hops that installed has place for */
    bool out_of_step;         /**< the FIB did not take all of a change */
    struct rib_entry *next[]; /**< height of them, then the octets of the name */
};

/** What is known of the faces of one slot of the face table, of which no more than one exists at a time. */
struct rib_slot {
    struct rib_held *routes;
    uint32_t stamp; /**< of the computation that the next two are of */
    uint32_t cost;
    uint32_t level; /**< ancestors between the name and where the cost is from */
};

struct rib {
    struct fib *fib;
    uint64_t random; /**< state of the generator of heights */
    uint32_t n_routes;
    uint32_t n_entries;
    struct rib_entry *head[RIB_HEIGHT_MAX]; /**< first entry of each level */
    struct due_queue expiries;
    struct rib_route *list; /**< room for the routes of one entry, for rib_foreach() */
    uint32_t list_size;
    bool out_of_step;        /**< an entry is */
    uint64_t retry_ns;       /**< when rib_poll() tries again; 0: to be set */
    uint64_t retry_delay_ns; /**< from then to the next time */
    struct {
        rib_listener_t heard;
        void *ctx;
    } listener[RIB_LISTENERS_MAX];
    unsigned n_listeners;
    uint32_t stamp;
    uint16_t touched[FACE_SLOTS]; /**< slots of the computation in progress */
    struct rib_slot slot[FACE_SLOTS];
};

static inline const uint8_t *rib_entry_name(const struct rib_entry *entry)
{
    return (const uint8_t *)(entry->next + entry->height);
}

/** Is @p prefix the name of @p entry, or an ancestor's? */
static inline bool rib_entry_under(const struct rib_entry *entry, const uint8_t *prefix, uint16_t len)
{
    return entry->len >= len && (len == 0 || __builtin_memcmp(rib_entry_name(entry), prefix, len) == 0);
}

/* fwd/mgmt/rib.c */

/** rib_register() of a route that an announcement asked for; @p data may be empty. */
int rib_register_announced(struct rib *rib, struct mgmt_octets name, const struct rib_route *route,
                           struct mgmt_octets data, uint64_t announcement_expires_ns);
/** Queue a route by its expires_ns, or not; there is room. */
void rib_expiry_set(struct rib *rib, struct rib_held *held);
struct rib_held *rib_route_find(const struct rib_entry *entry, uint32_t face, uint16_t origin);

/* fwd/mgmt/rib_name.c: entries by name. */

/** Where a name stands, or would: for each level the link that leads there. */
struct rib_path {
    struct rib_entry **link[RIB_HEIGHT_MAX];
    struct rib_entry *before; /**< last entry before the name, NULL: none */
    struct rib_entry *entry;  /**< of the name itself, NULL: none */
};
void rib_find(struct rib *rib, struct mgmt_octets name, struct rib_path *path);
/** Last entry that is @p name or an ancestor of it, NULL: none. */
struct rib_entry *rib_nearest(struct rib *rib, struct mgmt_octets name);
/** Make the entry of a name that has none; descendants are told of it. @return NULL without memory */
struct rib_entry *rib_entry_add(struct rib *rib, struct mgmt_octets name, struct rib_path *path);
/** Take an entry out of the order; its memory and its next[0] stay. */
void rib_entry_remove(struct rib *rib, struct rib_entry *entry);

/* fwd/mgmt/rib_fib.c: routes to next hops. */

/**
 * Bring the FIB's next hops of an entry in step with the routes. @return 0; -ENOSPC or -EINVAL when the FIB takes none
 * of them, or -ENOMEM
 */
int rib_entry_sync(struct rib *rib, struct rib_entry *entry);
/** The same for what inherits from the name of @p entry, which follows it in name order. */
void rib_heirs_sync(struct rib *rib, const struct rib_entry *entry);

#endif
