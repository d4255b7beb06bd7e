// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_QUIC_H
#define FWD_DAEMON_QUIC_H

#include <stdint.h>

#include "fwd/quic/probe.h"
#include "fwd/quic/service.h"
#include "ports/monitor.h"

struct conf;
struct daemon;
struct quic_stats;

/*
 * QUIC services inside the daemon: they are built from the configuration, published to workers, and kept in step with
 * the ways to their servers and with their health. Control thread, under the daemon's lock.
 */

/** Of one server, by index in conf->quic_server. */
struct daemon_quic_server {
    const struct monitor_hop *hop;
    uint16_t service, server; /**< indices in the published set */
};

/** A set that workers may still read. */
struct daemon_quic_retired {
    struct daemon_quic_retired *next;
    struct quic_set *set;
    uint64_t token;
};

struct daemon_quic {
    struct daemon_quic_server *server; /**< of each conf->quic_server */
    struct quic_probe_target *target;  /**< of each of them */
    unsigned n_servers;
    struct quic_probe probe;
    struct quic_stats *before; /**< counters of places when those who have them now came, see quic_count.h */
    bool started;
    bool behind; /**< servers changed since the set was built, and there was no memory for another */
    struct daemon_quic_retired *retired;
};

/** Build and publish what the configuration says. Before workers start. @return 0, or -1 (logged) */
int daemon_quic_start(struct daemon *daemon);
/** Free everything. After workers stopped. */
void daemon_quic_stop(struct daemon *daemon);

/**
 * Replace all services by a set built from @p conf; takes the set over. Packets under way
 * go on by the old one. @return 0, or a negative errno: nothing was changed
 */
int daemon_quic_replace(struct daemon *daemon, const struct conf *conf, struct quic_set *set);

/** Have a port take the packets for the virtual addresses that are published. @return 0, negative errno (logged) */
int daemon_quic_port(const struct daemon *daemon, struct port *port);
/** The same for all ports: after daemon_quic_replace(), so that nothing comes in for which there is no service. */
int daemon_quic_ports(const struct daemon *daemon);

/** Take over what became known of servers; free what no worker reads any more. After monitor_poll(). */
void daemon_quic_follow(struct daemon *daemon);

#endif
