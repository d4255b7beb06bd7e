// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_QUIC_CLIENT_H
#define TEST_LOAD_QUIC_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/device.h"
#include "test/load/link.h"
#include "test/load/options.h"
#include "test/load/pace.h"
#include "test/load/quic_flows.h"
#include "test/load/quic_server.h"
#include "test/load/tally.h"

struct rte_mempool;

/* Sends datagrams of all flows in turn, as a pace says. Servers do not answer: theirs would go another way. One thread.
 */
struct quic_client {
    struct link link;
    struct device_tx tx;
    const struct quic_flows *flows;
    struct quic_server *server;
    struct pace pace;
    uint64_t timeout; /* ticks */
    double hz;
    uint64_t seed, random;
    uint64_t initials; /* of 2^64 datagrams */
    struct rte_mempool *pool;
    uint64_t head;        /* number of the next datagram */
    uint64_t given_up;    /* in this stretch: datagrams that are on the way no more */
    uint64_t arrived;     /* in this stretch, as far as known here */
    uint64_t worked;      /* ticks: when quic_client_work() was last called */
    uint64_t quiet_since; /* ticks: the last time one was sent or arrived, or this program had stood still */
    uint64_t rebinds, n_initials;
    uint32_t *flow_number; /* by flow: of its next datagram */
    struct tally tally;
};

/** Flows and server stay the caller's. Says on stderr what is wrong. @return 0 or -errno */
int quic_client_create(struct quic_client *client, const struct options *options, const struct device *device,
                       const struct quic_flows *flows, struct quic_server *server, struct rte_mempool *pool, double hz);
void quic_client_destroy(struct quic_client *client);

/** As the functions of the consumer. */
void quic_client_start(struct quic_client *client, const struct plan *plan, uint64_t now);
void quic_client_receive(struct quic_client *client, struct rte_mbuf *mbuf);
unsigned quic_client_work(struct quic_client *client, uint64_t now);
bool quic_client_done(struct quic_client *client, uint64_t now);
void quic_client_stop(struct quic_client *client, uint64_t now);

/** The stretch is over: take what the server counted into the tally. */
void quic_client_take(struct quic_client *client, const struct tally *server);

#endif
