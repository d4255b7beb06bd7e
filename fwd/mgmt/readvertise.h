// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_READVERTISE_H
#define FWD_MGMT_READVERTISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/wire.h"

/*
 * Telling another forwarder or routing daemon of our routes: rib/register commands under its prefix for each name that
 * a policy picks, repeated before they lapse, and rib/unregister once the last route of it goes. Commands are sent
 * while the RIB has a route to who shall hear them; failures are tried again after growing waits. Control thread.
 */

struct readvertise;
struct rib;
struct mgmt;
struct conf;
struct rib_route;

/** Is the route to be told of, and under which name? @p identity is the configuration's. */
typedef bool (*readvertise_policy_t)(struct mgmt_octets identity, struct mgmt_octets name,
                                     const struct rib_route *route, struct mgmt_octets *prefix);

struct readvertise_config {
    struct rib *rib;
    struct mgmt *mgmt;
    struct mgmt_octets to;              /**< the command prefix, /localhost/nlsr or /localhop/nfd: TLV-VALUE, copied */
    uint64_t origin, cost;              /**< of the routes there */
    const char *key_file, *certificate; /**< as signer_create(); NULL: DigestSha256 */
    uint64_t timeout_ns, refresh_ns, retry_min_ns, retry_max_ns;
    readvertise_policy_t policy;
    struct mgmt_octets identity; /**< for the policy: TLV-VALUE, copied; p NULL: none */
};

/** Begins with the routes that there are. On failure @p err says why. @return 0, negative errno */
int readvertise_create(struct readvertise **readvertise, const struct readvertise_config *config, char err[256]);
/** After mgmt_destroy() and rib_destroy(). What was told stays until it lapses. */
void readvertise_destroy(struct readvertise *readvertise);
/** Send what is due. @return nanoseconds until it wants to be called again, UINT64_MAX: when something changes */
uint64_t readvertise_poll(struct readvertise *readvertise, uint64_t now_ns);

struct readvertise_counters {
    uint64_t registered, unregistered, failed; /**< commands that were answered so, or not */
    uint32_t n_prefixes;                       /**< that are, or are to be, told of */
};
void readvertise_counters(const struct readvertise *readvertise, struct readvertise_counters *counters);

/* What the configuration asks for: fwd/mgmt/readvertise_conf.c */

enum { READVERTISE_NLSR = 0, READVERTISE_PROPAGATE = 1, READVERTISE_MAX };

/** All of it; NULL in the places of what is off. On failure @p err says why. @return 0, negative errno */
int readvertise_configure(struct readvertise *readvertise[READVERTISE_MAX], const struct conf *conf, struct rib *rib,
                          struct mgmt *mgmt, char err[256]);

/** Routes of applications that register as clients, for NLSR. */
bool readvertise_clients(struct mgmt_octets identity, struct mgmt_octets name, const struct rib_route *route,
                         struct mgmt_octets *prefix);
/**
 * For the gateway. The name of an identity stands for all routes below it. Without one each route of an application is
 * told of by itself. Never names of /localhost and /localhop, and "/" only as an identity: as a route it is mostly the
 * way to the gateway.
 */
bool readvertise_to_gateway(struct mgmt_octets identity, struct mgmt_octets name, const struct rib_route *route,
                            struct mgmt_octets *prefix);

#endif
