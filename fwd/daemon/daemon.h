// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_DAEMON_H
#define FWD_DAEMON_DAEMON_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "conf/conf.h"
#include "fwd/daemon/manage.h"
#include "fwd/daemon/quic.h"
#include "fwd/fwd.h"
#include "fwd/strategy_set.h"
#include "fwd/worker.h"
#include "ports/monitor.h"

struct replay;

/** When to open a port again whose netdev came back and could not be opened. */
struct daemon_return {
    uint64_t due_ms;
    uint32_t wait_ms; /**< after the last failure; 0: none yet */
};

/*
 * The running daemon. Everything in it is written by the control (main) thread. Others that look at more than
 * counters (telemetry) hold the lock, and so does the control thread while it changes faces, ports or tables.
 */
struct daemon {
    struct conf *conf;     /**< as read at start */
    struct replay *replay; /**< frames come from a capture, and time with them; NULL: from devices and the clock */
    struct conf *reloaded; /**< as read last, for what a reload applies; NULL: not read again yet */
    struct fwd_shared shared;
    struct rte_rcu_qsbr *qsbr;
    struct rte_mempool *pool;
    struct monitor *monitor;
    uint64_t returned; /**< bit of each port whose netdev was deleted and made again, until it is open */
    struct daemon_return back[PORT_MAX];
    uint64_t closed;        /**< bit of each port that could not be opened again: only index and gone of it hold */
    unsigned pool_baseline; /**< mbufs that ports hold while nothing is going on */
    bool eal;               /**< EAL is up */
    bool hugepages;
    struct timespec started; /**< CLOCK_MONOTONIC: the wall clock may jump */
    pthread_mutex_t lock;
    uint16_t n_ports;
    struct port port[PORT_MAX];    /**< devices, as configured */
    struct port internal, sockets; /**< thread ports: of management and of the I/O thread */
    struct manage manage;
    uint32_t *face_id; /**< FaceId of conf->face[i]; 0: not made */
    struct daemon_quic quic;
    struct strategy_set *strategies;
    struct region *regions;
    uint16_t n_workers;
    struct worker worker[FWD_WORKERS_MAX];
};

/**
 * Check what conf/ cannot, which knows nothing of packets: that prefixes are names and certificates are
 * certificates. Writes a line for each fault, as
 * conf_load() does. @return their number
 */
unsigned daemon_check(const struct conf *conf, FILE *faults);

/**
 * Bring everything up in order: EAL, memory, ports, faces, routes, workers. Faults are logged with the line of the
 * configuration they come from. Takes @p conf over.
 *
 * @return NULL when something failed; all is undone then
 */
struct daemon *daemon_start(struct conf *conf);

/**
 * Read the configuration again and apply what may change while running: QUIC services as a whole, routes, the log
 * level.
 * What needs a restart stays as it is and is logged. A faulty file changes nothing, and its faults are logged.
 *
 * @return 0, or -1: nothing was changed
 */
int daemon_reload(struct daemon *daemon, const char *path);

/**
 * Give the RIB the routes of @p wanted, and take from it those that only @p before has. Routes whose face was not made
 * at start are left out. Under the lock. @return 0, or a negative errno: some of them may be missing (logged)
 */
int daemon_reload_routes(struct daemon *daemon, const struct conf *before, const struct conf *wanted);

/** Stop workers (they send what they hold), close ports, free everything. */
void daemon_stop(struct daemon *daemon);

/** Open the port that conf->port[index] describes; logs why it cannot. @return 0, or -1 */
int daemon_port_open(struct daemon *daemon, unsigned index, struct port *port);

/** Tell workers what POSIX time it is (fwd_shared.posix_ns). Control thread, after worker_clock_init(). */
void daemon_clock(struct daemon *daemon);

/**
 * Follow the kernel: the clock, links, neighbours, netdevs that come back. Takes the lock. Call when monitor_fd() is
 * readable and at least every 200 ms.
 */
void daemon_follow(struct daemon *daemon);

/** Begin to follow the ports and faces there are. @return 0, or -1 with the reason logged */
int daemon_watch(struct daemon *daemon);

/** Start EAL as the configuration says. @return 0, or -1 with the reason logged; *hugepages tells what it got */
int daemon_eal(const struct conf *conf, uint64_t pool_octets, bool *hugepages);

/**
 * Start EAL without devices, hugepages, files or privileges, for one lcore upon all CPUs that this process may use.
 *
 * @return 0, or -1 with the reason logged
 */
int daemon_eal_offline(uint64_t pool_octets);

/** Drop to the configured account; workers lose all capabilities. @return 0, or -1 with the reason logged */
int daemon_drop_privileges(const struct conf *conf);

/** Tell the service manager (NOTIFY_SOCKET, sd_notify protocol); does nothing without one. */
void notify(const char *state);

#endif
