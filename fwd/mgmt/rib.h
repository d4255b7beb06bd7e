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

/** Hear of routes that come and go (readvertise). */
typedef void (*rib_listener_t)(void *ctx, bool added, struct mgmt_octets name, const struct rib_route *route);

int rib_create(struct rib **rib, struct fib *fib);
void rib_destroy(struct rib *rib);
void rib_listen(struct rib *rib, rib_listener_t listener, void *ctx);

/** Add a route, or renew the one of the same name, face and origin. @return 0, -E2BIG (33 components), -ENOSPC, -ENOMEM
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

#endif
