// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_RUN_H
#define TEST_LOAD_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/consumer.h"
#include "test/load/device.h"
#include "test/load/options.h"
#include "test/load/producer.h"
#include "test/load/quic_client.h"
#include "test/load/quic_flows.h"
#include "test/load/quic_server.h"

/* Both roles, and the threads that drive them: with one lcore the main one does all, with two a producer has its own.
 */
struct run {
    const struct options *options;
    double hz;
    struct rte_mempool *pool;
    struct device device[2];
    unsigned n_devices;
    bool same_port;  /* both roles share it, and so a thread */
    unsigned worker; /* lcore of the producer; RTE_MAX_LCORE: none */
    bool stop;       /* by a signal: end what goes on, and report */
    bool quit;       /* for the thread of the producer */

    struct consumer *consumer; /* NULL: not here */
    struct producer *producer;
    struct quic_flows flows; /* of the two that follow, in the place of those above */
    struct quic_client *client;
    struct quic_server *server;
    uint64_t n_turns;

    struct tally *tally;        /* of the consumer or the client; NULL: neither is here */
    const struct device_tx *tx; /* theirs */
};

/** Open ports, make the roles, start the producer's thread. Says on stderr what is wrong. @return 0 or -errno */
int run_create(struct run *run, const struct options *options);
void run_destroy(struct run *run);

/** Send as planned, until all is answered or given up; run->tally tells. Main thread. */
void run_stretch(struct run *run, const struct plan *plan);

/** End what goes on early. Any thread, and signal handlers. */
static inline void run_stop(struct run *run)
{
    __atomic_store_n(&run->stop, true, __ATOMIC_RELAXED);
}

static inline bool run_stopped(const struct run *run)
{
    return __atomic_load_n(&run->stop, __ATOMIC_RELAXED);
}

#endif
