// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_SEARCH_H
#define TEST_LOAD_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "test/load/run.h"

#define SEARCH_TRIALS_MAX 64

/* One stretch of a search. */
struct search_trial {
    double rate;     /**< asked for; 0: closed loop */
    double sent;     /**< packets a second */
    double received; /**< likewise */
    double loss;     /**< ratio */
    double p99_us;
    bool good;
};

struct search {
    double saturated; /**< packets a second in closed loop; 0: not measured */
    double rate;      /**< found */
    unsigned n_trials;
    struct search_trial trial[SEARCH_TRIALS_MAX];
};

/** Share of the packets of a tally that were due and not answered. */
double search_loss(const struct tally *tally);

/** Packets a second over the time of sending. */
double search_per_second(const struct run *run, uint64_t packets);

/** Closed loop for the time of a trial: what comes back in a second is the saturated rate. */
void search_saturate(struct run *run, struct search *search);

/**
 * Throughput (RFC 2544, 26.1; RFC 1242, 3.17): the highest rate at which no more than options->max_loss is lost, by
 * bisection. A trial is good when also the sender kept its rate.
 */
void search_throughput(struct run *run, struct search *search);

#endif
