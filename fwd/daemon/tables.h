// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_TABLES_H
#define FWD_DAEMON_TABLES_H

#include <stdint.h>

#include "ports/port.h"

struct conf;
struct conf_port;
struct daemon;
struct fwd_config;

/*
 * From the configuration to tables, faces, strategies and routes: what the daemon and a replay have in common. Control
 * thread, before workers start. Those that return int return 0, or -1 with the reason logged; daemon_stop() frees what
 * they made, also when they failed.
 */

/** A daemon with nothing in it yet, to be started; daemon_stop() frees it. Takes @p conf over. @return NULL: logged */
struct daemon *daemon_create(struct conf *conf, uint16_t n_workers);

/** Packet buffers that tables and bursts of @p n_workers hold at most; queues and rings are not counted. */
uint64_t tables_mbufs(const struct conf *conf, unsigned n_workers);

/** Memory without packets: the pool of @p n_mbufs packet buffers, and RCU. After rte_eal_init(). */
int tables_memory(struct daemon *daemon, uint32_t n_mbufs);

/** Keys, FIB, face table, network regions; with several workers what they hand over by. */
int tables_create(struct daemon *daemon);
void tables_destroy(struct daemon *daemon);

/** What a port is told to be. Strings are the configuration's. */
void tables_port_config(const struct conf_port *from, struct port_config *config);

/** Faces of the configuration, upon ports that are open. */
int tables_faces(struct daemon *daemon);
int tables_strategies(struct daemon *daemon);
/** Routes of the configuration, into the RIB. */
int tables_routes(struct daemon *daemon);

/** What worker @p w is told to be, all but how it sends and what time it is. After the QUIC services were made. */
int tables_fwd_config(const struct daemon *daemon, uint16_t w, struct fwd_config *config);

#endif
