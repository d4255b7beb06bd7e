// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_WORKER_H
#define FWD_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fwd/fwd.h"
#include "ports/port.h"

struct rte_rcu_qsbr;
struct rte_ring;

/*
 * A worker: one lcore that polls its queues and runs the forwarder on what they give, to completion. Queue q of a
 * port belongs to one worker; a worker without a queue of its own on a port sends through the queue of another,
 * over a single-producer single-consumer ring.
 */
#define WORKER_TX_RING_SIZE 2048

/** A queue this worker polls. */
struct worker_rx {
    const struct port *port;
    uint16_t queue;
};

/** How this worker sends on a port. */
struct worker_tx {
    const struct port *port;
    uint16_t queue;        /**< its own queue, when ring is NULL */
    struct rte_ring *ring; /**< else: towards the worker that owns a queue */
};

/** Frames that another worker wants sent through a queue of this one. */
struct worker_relay {
    struct rte_ring *ring;
    const struct port *port;
    uint16_t queue;
};

struct worker_config {
    unsigned lcore;
    uint16_t burst;
    bool busy_poll;
    uint32_t max_sleep_us;
    struct rte_rcu_qsbr *qsbr;
    struct fwd_config fwd;
};

/** Work that a control thread asks of a worker: asked, then run by the worker between two bursts, then idle again. */
enum worker_call_state { WORKER_CALL_IDLE = 0, WORKER_CALL_ASKED, WORKER_CALL_RUNNING };

struct worker {
    struct fwd
        *fwd; /**< made by the worker itself, so that its memory is local; NULL until then, and when that failed */
    struct worker_config config;
    uint16_t n_rx;
    uint16_t n_relays;
    struct worker_rx rx[PORT_MAX * 2];
    struct worker_tx tx[PORT_MAX];
    struct worker_relay relay[PORT_MAX * 2];
    _Atomic bool stop;
    _Atomic bool ready;     /**< forwarding, or failed when fwd is NULL */
    _Atomic int call_state; /**< enum worker_call_state */
    void (*call)(struct fwd *fwd, void *arg);
    void *call_arg;
};

/**
 * Give each queue of each port to a worker, and rings to those without one. Control thread, before worker_start().
 *
 * @return 0, or -ENOMEM
 */
int worker_plan(struct worker *workers, uint16_t n_workers, struct port *const *ports, uint16_t n_ports);
/** Free the rings and what is left in them, after the workers have ended. */
void worker_unplan(struct worker *workers, uint16_t n_workers);

/** Launch on its lcore and wait until it forwards. @return 0, or -ENOMEM when its tables could not be made */
int worker_start(struct worker *worker);
/** Ask a worker to end. Ask all of them before worker_stop() of one: they still hand packets to one another. */
void worker_ask_stop(struct worker *worker);
/** Ask it to end, having sent what it holds; wait, and free its tables. Control thread. */
void worker_stop(struct worker *worker);

/**
 * Run a function on the worker between two bursts and wait for it. One caller at a time (the control lock).
 *
 * @return 0, or -ETIMEDOUT when the worker did not begin within a second
 */
int worker_run(struct worker *worker, void (*run)(struct fwd *fwd, void *arg), void *arg);

/** Monotonic time in nanoseconds from the TSC: what workers call now. Any thread, after worker_clock_init(). */
uint64_t worker_now_ns(void);
void worker_clock_init(void);
/** Instead: from now on the time is this, until it is set again. For a replay, which has one thread. */
void worker_clock_set(uint64_t now_ns);

#endif
