// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_PRODUCER_H
#define TEST_LOAD_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/device.h"
#include "test/load/link.h"
#include "test/load/options.h"
#include "test/load/shape.h"
#include "test/load/tally.h"

struct rte_mempool;

/* Answers Interests at once, in their order. Knows nothing of what it answered before. One thread. */
struct producer {
    struct link link;
    struct device_tx tx;
    struct shape shape;
    struct options_inject inject;
    bool token_echo, fragments, is_bare;
    uint16_t frames_each; /* at most, of one Data */
    uint64_t sequence;    /* NDNLPv2, of the next fragment */
    struct rte_mempool *pool;
    struct tally_producer tally;
};

/** Says on stderr what is wrong. @return 0 or -errno */
int producer_create(struct producer *producer, const struct options *options, const struct device *device,
                    struct rte_mempool *pool);
void producer_destroy(struct producer *producer);

/** Interests that may be given to producer_receive() now: its answers have to wait for the port. */
unsigned producer_room(struct producer *producer);

/** Take over a frame that came. */
void producer_receive(struct producer *producer, struct rte_mbuf *mbuf);

/** Send what is answered. */
void producer_work(struct producer *producer);

#endif
