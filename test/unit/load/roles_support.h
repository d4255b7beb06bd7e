// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_LOAD_ROLES_SUPPORT_H
#define TEST_UNIT_LOAD_ROLES_SUPPORT_H

#include <rte_mbuf.h>
#include <rte_ring.h>

#include "test/load/consumer.h"
#include "test/load/device.h"
#include "test/load/options.h"
#include "test/load/producer.h"

/*
 * Roles of pitlane-load without anything between them: their ports are rings, the clock is a number, and the test moves
 * the frames by hand.
 */
#define ROLES_HZ     1000000.0 /* ticks are microseconds */
#define ROLES_FRAMES 1024

struct roles {
    struct rte_mempool *pool;
    struct rte_ring *sent[2]; /* by the near end and the far end */
    struct device device[2];
    struct consumer consumer;
    struct producer producer;
    uint64_t now;
    struct rte_mbuf *frame[ROLES_FRAMES]; /* on the way to the consumer */
    unsigned n;
};
extern struct roles roles;

/** Start EAL and open the ports; once in a process. */
void roles_ports(void);
/** Options of a run at its simplest. */
struct options roles_options(void);
/** Make consumer and producer. */
void roles_create(const struct options *options);
/** All frames that a port sent, into roles.frame. */
void roles_collect(unsigned end);
/** Let the consumer send what is due, and the producer answer all of it: Data are in roles.frame. */
void roles_ask(void);
/** Give frame @p i to the consumer, at roles.now. */
void roles_give(unsigned i);
/** Give all of them, in their order. */
void roles_give_all(void);
/** Let time pass, as a loop sees it. */
void roles_pass(uint64_t us);
/** See that each request is accounted for, and no buffer lost. */
void roles_check(void);

#endif
