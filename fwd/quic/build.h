// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_BUILD_H
#define FWD_QUIC_BUILD_H

#include <stdint.h>
#include <stdio.h>

#include "conf/conf.h"
#include "fwd/quic/service.h"

/*
 * Making the services that workers read (fwd/quic/service.h). A set is made whole, published, and replaced by another;
 * who unpublishes one waits for a grace period before it is destroyed. Control thread.
 */

/**
 * Make the set of a configuration; reads the files with keys. Each fault is written to @p faults, as conf_load() does;
 * NULL: not told. Services and servers that @p old has, by name, keep their place of counters, and servers what is
 * known of the way to them, unless that was configured anew. Places that services and servers of @p old have are not
 * given to others, as long as there are free ones.
 *
 * @param old the set that this one is to replace, NULL: none
 * @param now_ns of the workers' clock: when Retry is switched on
 * @return 0 and *set, NULL when nothing is configured; -EINVAL with faults written; -ENOMEM
 */
int quic_set_build(struct quic_set **set, const struct conf *conf, const struct quic_set *old, uint64_t now_ns,
                   FILE *faults);

/**
 * Make a copy of a set in which new connections go to the servers that are healthy now: after quic_server.unhealthy
 * changed. @return 0, -ENOMEM
 */
int quic_set_again(struct quic_set **set, const struct quic_set *old);

/** Free a set that nobody reads, and wipe its keys; NULL is allowed. */
void quic_set_destroy(struct quic_set *set);

#endif
