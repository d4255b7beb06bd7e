// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_QUIC_COUNT_H
#define FWD_DAEMON_QUIC_COUNT_H

#include "fwd/quic/quic.h"

struct daemon;

/*
 * Counters of QUIC services and servers over all workers. Workers only ever add to a place; a service that gets the
 * place of one that is gone counts from what that had. Under the daemon's lock.
 */

/** @return 0, -ENOMEM */
int quic_count_create(struct daemon *daemon);
void quic_count_destroy(struct daemon *daemon);

/** Services and servers of @p set, which is about to be published, that the published one has not begin at 0. */
void quic_count_begin(struct daemon *daemon, const struct quic_set *set);

/** What a service, or a server of it, in these places has counted. */
void quic_count_service(const struct daemon *daemon, uint16_t slot, struct quic_stats_service *sum);
void quic_count_server(const struct daemon *daemon, uint16_t slot, uint16_t server, struct quic_stats_server *sum);

#endif
