// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_CONSUMER_H
#define TEST_LOAD_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/device.h"
#include "test/load/link.h"
#include "test/load/options.h"
#include "test/load/pace.h"
#include "test/load/shape.h"
#include "test/load/tally.h"

struct rte_mempool;
struct reass;

enum consumer_state {
    REQUEST_NONE,
    REQUEST_OUT, /* waits for an answer */
    REQUEST_RECEIVED,
    REQUEST_AGGREGATED,
    REQUEST_NACKED,
    REQUEST_LOST,
};

/* An Interest that was sent. */
struct consumer_request {
    uint64_t due;      /* ticks */
    uint32_t lag;      /* ticks from due to sent */
    uint32_t name;     /* number */
    uint32_t previous; /* request of the same name, its number + 1; 0: none */
    uint8_t state;     /* enum consumer_state */
};

/*
 * Sends Interests as a pace says, and knows of each what came of it. Requests are numbered from 0 over the life of the
 * consumer, and remembered in a ring. One thread.
 */
struct consumer {
    struct link link;
    struct device_tx tx;
    struct shape shape;
    struct pace pace;
    bool token, distinct, is_bare;
    uint64_t timeout;  /* ticks */
    uint64_t worked;   /* ticks: when consumer_work() was last called */
    uint64_t patience; /* ticks: nothing is given up before */
    double hz;
    uint64_t seed, random;
    struct rte_mempool *pool;
    struct reass *reass; /* NULL: fragments are unexpected */

    struct consumer_request *ring;
    uint64_t mask, head, tail; /* numbers: next request, oldest one that may be waiting */
    uint32_t out;              /* of them wait */
    uint64_t next_expected;    /* one more than the latest request that was answered */
    uint32_t *last;            /* by name: number + 1 of its latest request; NULL with distinct names */
    uint16_t *surplus;         /* by name: Data that may yet come for aggregated requests, without tokens */

    uint16_t template_len;
    uint8_t token_off, net_off; /* in the template */
    uint8_t template[LINK_HEADER_MAX + NDN_LP_TOKEN_MAX + SHAPE_INTEREST_MAX];
    struct tally tally;
};

/** Says on stderr what is wrong. @return 0 or -errno */
int consumer_create(struct consumer *consumer, const struct options *options, const struct device *device,
                    struct rte_mempool *pool, double hz);
void consumer_destroy(struct consumer *consumer);

/** Begin a stretch of sending, with a tally of zeros. */
void consumer_start(struct consumer *consumer, const struct plan *plan, uint64_t now);

/** Take over a frame that came. @return false when it is an Interest: not taken, it may be for a producer on this port
 */
bool consumer_receive(struct consumer *consumer, struct rte_mbuf *mbuf, uint64_t now);

/**
 * Give up what waited too long, and send what is due. After a standstill of this very program nothing is given up for
 * another timeout: answers lie in the port yet, or Interests before a producer of the same thread.
 *
 * @return packets sent or given up
 */
unsigned consumer_work(struct consumer *consumer, uint64_t now);

/** All of the stretch is sent, and all of it answered or given up. Ends the tally. */
bool consumer_done(struct consumer *consumer, uint64_t now);

/** Send no more. */
void consumer_stop(struct consumer *consumer, uint64_t now);

#endif
