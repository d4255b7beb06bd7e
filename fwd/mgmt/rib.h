// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_RIB_H
#define FWD_MGMT_RIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/wire.h"

/*
 * Routing Information Base: routes (name, face, origin) from applications and routing daemons, with inheritance
 * (CHILD_INHERIT, CAPTURE) and expiry, computed into the next hops of the FIB. Control thread.
 */

struct rib;
struct fib;

enum rib_origin {
    RIB_ORIGIN_APP = 0,
    RIB_ORIGIN_AUTOREG = 64,
    RIB_ORIGIN_CLIENT = 65,
    RIB_ORIGIN_AUTOCONF = 66,
    RIB_ORIGIN_NLSR = 128,
    RIB_ORIGIN_PREFIXANN = 129,
    RIB_ORIGIN_STATIC = 255,
};
enum rib_flags { RIB_CHILD_INHERIT = 1 << 0, RIB_CAPTURE = 1 << 1 };
#define RIB_COST_PREFIXANN 2048

struct rib_route {
    uint32_t face;
    uint16_t origin;
    uint8_t flags; /**< enum rib_flags */
    uint64_t cost;
    uint64_t expires_ns; /**< 0: never */
};

/**
 * Hear of routes that come and go (readvertise); renewing one is neither. The route is in the RIB already, or no more.
 * A listener must not change the RIB.
 */
typedef void (*rib_listener_t)(void *ctx, bool added, struct mgmt_octets name, const struct rib_route *route);

int rib_create(struct rib **rib, struct fib *fib);
void rib_destroy(struct rib *rib);
/** @return 0 or -ENOSPC (4 listeners) */
int rib_listen(struct rib *rib, rib_listener_t listener, void *ctx);

/**
 * Add a route, or renew the one of the same name, face and origin. Of the next hops that a name comes to the FIB has
 * the FIB_NEXTHOPS_MAX cheapest. Next hops that were added to the FIB by other ways stay, but for those of a name and
 * face that a route has, too: these are the RIB's from then on, as in the reference forwarder.
 *
 * @return 0, -EINVAL (name), -E2BIG (33 components), -ENOSPC when the FIB is full, -ENOMEM
 */
int rib_register(struct rib *rib, struct mgmt_octets name, const struct rib_route *route);
/** @return 0, or -ENOENT */
int rib_unregister(struct rib *rib, struct mgmt_octets name, uint32_t face, uint16_t origin);
/** Remove every route of a face. @return their number */
unsigned rib_face_remove(struct rib *rib, uint32_t face);
/** Remove what has expired. @return nanoseconds until the next expiry, UINT64_MAX: none */
uint64_t rib_poll(struct rib *rib, uint64_t now_ns);

/** Call @p visit for every name with its routes, in name order. */
void rib_foreach(const struct rib *rib,
                 void (*visit)(void *ctx, struct mgmt_octets name, const struct rib_route *routes, size_t n),
                 void *ctx);
uint32_t rib_count(const struct rib *rib);
/** Is there a route for @p name or for an ancestor of it? */
bool rib_serves(struct rib *rib, struct mgmt_octets name);

struct conf;
/**
 * Add the routes of the configuration, with origin static. @p faces are the FaceIds of conf->face, 0: the face could
 * not be made, its routes are left out.
 *
 * @return 0, or as rib_register() for the first route that failed, *failed being its index
 */
int rib_add_configured(struct rib *rib, const struct conf *conf, const uint32_t *faces, unsigned *failed);

/*
 * Prefix announcements: Data /PREFIX/32=PA/54=VERSION/50=SEGMENT that say how long PREFIX may be routed to whoever
 * sent them. Whether they may is for the caller to ask (auth_data()).
 */

/** A route from an announcement, with the name that it is for. */
struct rib_announcement {
    struct mgmt_octets name; /**< inside the announcement */
    struct rib_route route;
};

/**
 * Decode a prefix announcement, a whole Data TLV that came by @p face, into the route that it asks for: origin
 * prefixann, cost 2048, CHILD_INHERIT, expiring with the announcement, whose ExpirationPeriod and ValidityPeriod count
 * from now. One that is not valid now, or no longer, expires at once.
 *
 * @return 0; -EBADMSG: this is no prefix announcement
 */
int rib_announcement_decode(const uint8_t *data, size_t len, uint32_t face, uint64_t now_ns, uint64_t wall_ms,
                            struct rib_announcement *announcement);
/**
 * Add the route of a decoded announcement, or renew it, and keep the Data for rib_announcement_find(). @p max_ns cuts
 * its life (self-learning); UINT64_MAX: does not. @p data are the octets it was decoded from.
 *
 * @return 0, -ETIME when it has expired, in which case the route goes; else as rib_register()
 */
int rib_announce(struct rib *rib, const struct rib_announcement *announcement, const uint8_t *data, size_t len,
                 uint64_t now_ns, uint64_t max_ns);
/**
 * Self-learning has seen Data of @p name come by @p face: the announced route that it followed lives @p max_ns more, if
 * the announcement allows. @return 0, -ENOENT, -ETIME
 */
int rib_announcement_renew(struct rib *rib, struct mgmt_octets name, uint32_t face, uint64_t now_ns, uint64_t max_ns);
/**
 * The announcement for the nearest name with routes: of those that came the one that lives longest, else one made here
 * that lives as long as the routes, at most a day. @return octets written to @p data, 0: no route, or @p size too small
 */
size_t rib_announcement_find(struct rib *rib, struct mgmt_octets name, uint64_t now_ns, uint64_t wall_ms, uint8_t *data,
                             size_t size);

#endif
