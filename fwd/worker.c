// SPDX-License-Identifier: Apache-2.0
#include "fwd/worker.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

#include <cap-ng.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include "fwd/dispatch.h"

/* Turns without work before the first sleep. */
#define WORKER_SPINS 256
/* Timers fired in one turn of the loop: catching up after a stall must not starve the queues. */
#define WORKER_TIMERS_MAX 256
/* Attempts to give a full device its frames. */
#define WORKER_TX_TRIES 8

/* How long a worker is waited for to begin what it is asked. */
#define WORKER_CALL_NS 1000000000

/* How long a worker that stops waits for what others hand over; they stop at the same time. */
#define WORKER_DRAIN_NS 10000000

__extension__ typedef unsigned __int128 clock_wide;

static uint64_t clock_mult; /* nanoseconds per TSC tick, times 2^32; 0: the clock stands still */
static uint64_t clock_base; /* what a clock that stands still shows */

void worker_clock_init(void)
{
    clock_mult = (uint64_t)((((clock_wide)1000000000) << 32) / rte_get_tsc_hz());
}

uint64_t worker_now_ns(void)
{
    return (uint64_t)(((clock_wide)rte_rdtsc() * clock_mult) >> 32) + clock_base;
}

void worker_clock_set(uint64_t now_ns)
{
    clock_mult = 0;
    clock_base = now_ns;
}

/* Worker that polls queue @p queue of a port with @p n_queues. Ports with few queues are spread over the workers. */
static uint16_t worker_of_queue(const struct port *port, uint16_t queue, uint16_t n_workers)
{
    return port->n_queues >= n_workers ? queue % n_workers : (uint16_t)((queue + port->index) % n_workers);
}

static int worker_plan_tx(struct worker *workers, uint16_t n_workers, uint16_t w, struct port *port)
{
    struct worker_tx *tx = &workers[w].tx[port->index];
    tx->port = port;
    for (uint16_t queue = 0; queue < port->n_queues; queue++) {
        if (worker_of_queue(port, queue, n_workers) == w) {
            tx->queue = queue;
            return 0;
        }
    }
    char name[RTE_RING_NAMESIZE];
    snprintf(name, sizeof name, "relay_%u_%u", port->index, w);
    tx->ring = rte_ring_create(name, WORKER_TX_RING_SIZE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
    if (tx->ring == NULL)
        return -ENOMEM;
    uint16_t queue = w % port->n_queues;
    struct worker *owner = &workers[worker_of_queue(port, queue, n_workers)];
    if (owner->n_relays == RTE_DIM(owner->relay))
        return -ENOMEM;
    owner->relay[owner->n_relays++] = (struct worker_relay){.ring = tx->ring, .port = port, .queue = queue};
    return 0;
}

int worker_plan(struct worker *workers, uint16_t n_workers, struct port *const *ports, uint16_t n_ports)
{
    for (uint16_t p = 0; p < n_ports; p++) {
        for (uint16_t queue = 0; queue < ports[p]->n_queues; queue++) {
            struct worker *worker = &workers[worker_of_queue(ports[p], queue, n_workers)];
            if (worker->n_rx == RTE_DIM(worker->rx))
                return -ENOMEM;
            worker->rx[worker->n_rx++] = (struct worker_rx){.port = ports[p], .queue = queue};
        }
        for (uint16_t w = 0; w < n_workers; w++) {
            int rc = worker_plan_tx(workers, n_workers, w, ports[p]);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

void worker_unplan(struct worker *workers, uint16_t n_workers)
{
    for (uint16_t w = 0; w < n_workers; w++) {
        for (unsigned p = 0; p < PORT_MAX; p++) {
            struct rte_ring *ring = workers[w].tx[p].ring;
            struct rte_mbuf *mbuf;
            if (ring == NULL)
                continue;
            while (rte_ring_sc_dequeue(ring, (void **)&mbuf) == 0)
                rte_pktmbuf_free(mbuf);
            rte_ring_free(ring);
            workers[w].tx[p].ring = NULL;
        }
    }
}

/* Give a device its frames, in bursts it can take; frees what it does not take. */
static uint16_t worker_transmit(const struct port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
    uint16_t sent = 0;
    if (!atomic_load_explicit(&port->gone, memory_order_acquire)) {
        for (unsigned tries = 0; sent < n && tries < WORKER_TX_TRIES; tries++) {
            uint16_t taken;
            do {
                uint16_t want = (uint16_t)RTE_MIN((uint32_t)(n - sent), port->burst_max);
                taken = port_tx_burst(port, queue, mbufs + sent, want);
                sent = (uint16_t)(sent + taken);
            } while (taken > 0 && sent < n);
        }
    }
    if (unlikely(sent < n))
        rte_pktmbuf_free_bulk(mbufs + sent, (unsigned)(n - sent));
    return sent;
}

static uint16_t worker_send(struct fwd *fwd, uint16_t port, struct rte_mbuf **mbufs, uint16_t n)
{
    const struct worker *worker = fwd->send_ctx;
    const struct worker_tx *tx = &worker->tx[port];
    if (likely(tx->ring == NULL))
        return worker_transmit(tx->port, tx->queue, mbufs, n);
    uint16_t taken = (uint16_t)rte_ring_sp_enqueue_burst(tx->ring, (void **)mbufs, n, NULL);
    if (unlikely(taken < n))
        rte_pktmbuf_free_bulk(mbufs + taken, (unsigned)(n - taken));
    fwd->stats.relayed += taken;
    return 0;
}

/* Send what other workers left for our queues. */
static unsigned worker_relays(struct worker *worker)
{
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    unsigned work = 0;
    for (unsigned i = 0; i < worker->n_relays; i++) {
        const struct worker_relay *relay = &worker->relay[i];
        uint16_t n = (uint16_t)rte_ring_sc_dequeue_burst(relay->ring, (void **)mbufs, FWD_BURST_MAX, NULL);
        if (n == 0)
            continue;
        uint16_t sent = worker_transmit(relay->port, relay->queue, mbufs, n);
        worker->fwd->stats.tx_frames += sent;
        worker->fwd->stats.drops[DROP_TX_FULL] += (uint64_t)(n - sent);
        work += n;
    }
    return work;
}

/* Packets that other workers handed over. */
static unsigned worker_receive_handed_over(struct worker *worker)
{
    struct fwd *fwd = worker->fwd;
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    unsigned work = 0;
    if (fwd->shared->dispatch == NULL)
        return 0;
    for (uint16_t from = 0; from < fwd->shared->n_workers; from++) {
        if (from == fwd->worker)
            continue;
        uint16_t n = dispatch_receive(fwd, from, mbufs);
        if (n > 0)
            fwd_input_handed_over(fwd, mbufs, n, worker_now_ns());
        work += n;
    }
    return work;
}

static unsigned worker_receive(struct worker *worker)
{
    struct fwd *fwd = worker->fwd;
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    unsigned work = 0;
    for (unsigned i = 0; i < worker->n_rx; i++) {
        const struct worker_rx *rx = &worker->rx[i];
        if (atomic_load_explicit(&rx->port->gone, memory_order_acquire))
            continue;
        uint16_t want = (uint16_t)RTE_MIN((uint32_t)worker->config.burst, rx->port->burst_max);
        uint16_t n = port_rx_burst(rx->port, rx->queue, mbufs, want);
        if (n > 0)
            fwd_input(fwd, rx->port, mbufs, n, worker_now_ns());
        work += n;
    }
    return work + worker_receive_handed_over(worker);
}

/* Nothing to do: spin, then sleep longer and longer, never past a timer. */
static void worker_idle(struct worker *worker, unsigned idle_turns, uint64_t now_ns)
{
    if (worker->config.busy_poll || idle_turns < WORKER_SPINS) {
        rte_pause();
        return;
    }
    uint64_t sleep_ns = (uint64_t)RTE_MIN(idle_turns - WORKER_SPINS + 1, worker->config.max_sleep_us) * 1000;
    sleep_ns = RTE_MIN(sleep_ns, fwd_next_ns(worker->fwd, now_ns));
    if (sleep_ns < 1000)
        return;
    worker->fwd->stats.sleeps++;
    struct timespec pause = {.tv_nsec = (long)sleep_ns};
    nanosleep(&pause, NULL);
}

static void worker_answer_call(struct worker *worker)
{
    if (likely(atomic_load_explicit(&worker->call_state, memory_order_relaxed) == WORKER_CALL_IDLE))
        return;
    int asked = WORKER_CALL_ASKED;
    if (!atomic_compare_exchange_strong(&worker->call_state, &asked, WORKER_CALL_RUNNING))
        return;
    worker->call(worker->fwd, worker->call_arg);
    // Pairs with the acquire in worker_run(): what the call wrote is seen by who asked.
    atomic_store_explicit(&worker->call_state, WORKER_CALL_IDLE, memory_order_release);
}

/*
 * What other workers hand over before they stop, too, is still forwarded. Ports give no more, so that no load keeps a
 * worker from stopping.
 */
static void worker_drain(struct worker *worker)
{
    uint64_t end_ns = worker_now_ns() + (worker->fwd->shared->n_workers > 1 ? WORKER_DRAIN_NS : 0);
    do {
        unsigned work = worker_receive_handed_over(worker);
        fwd_flush(worker->fwd);
        work += worker_relays(worker);
        if (work == 0)
            rte_delay_us_sleep(50);
    } while (worker_now_ns() < end_ns);
}

static void worker_loop(struct worker *worker)
{
    struct fwd *fwd = worker->fwd;
    unsigned idle_turns = 0;
    while (!atomic_load_explicit(&worker->stop, memory_order_relaxed)) {
        unsigned work = worker_receive(worker);
        uint64_t now_ns = worker_now_ns();
        fwd_poll(fwd, now_ns, WORKER_TIMERS_MAX);
        fwd_flush(fwd);
        if (worker->n_relays > 0)
            work += worker_relays(worker);
        worker_answer_call(worker);
        rte_rcu_qsbr_quiescent(worker->config.qsbr, fwd->worker);
        fwd->stats.polls++;
        if (work > 0) {
            idle_turns = 0;
        } else {
            fwd->stats.polls_idle++;
            idle_turns += idle_turns < UINT32_MAX;
            worker_idle(worker, idle_turns, now_ns);
        }
    }
    worker_drain(worker);
}

/* A worker reads hostile octets and needs nothing of the kernel but what the ports' descriptors give. */
static void worker_give_up_privileges(void)
{
    capng_clear(CAPNG_SELECT_BOTH);
    capng_apply(CAPNG_SELECT_CAPS);
    prctl(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul);
}

static int worker_main(void *arg)
{
    struct worker *worker = arg;
    struct fwd *fwd = NULL;
    // Without this a sleep of 50 us lasts twice as long.
    prctl(PR_SET_TIMERSLACK, 1000ul, 0, 0, 0);
    worker->config.fwd.send = worker_send;
    worker->config.fwd.send_ctx = worker;
    worker->config.fwd.now_ns = worker_now_ns();
    int rc = fwd_create(&fwd, &worker->config.fwd);
    worker_give_up_privileges();
    worker->fwd = fwd;
    if (rc == 0) {
        rte_rcu_qsbr_thread_register(worker->config.qsbr, fwd->worker);
        rte_rcu_qsbr_thread_online(worker->config.qsbr, fwd->worker);
    }
    atomic_store_explicit(&worker->ready, true, memory_order_release);
    if (rc != 0)
        return rc;
    worker_loop(worker);
    rte_rcu_qsbr_thread_offline(worker->config.qsbr, fwd->worker);
    rte_rcu_qsbr_thread_unregister(worker->config.qsbr, fwd->worker);
    return 0;
}

int worker_start(struct worker *worker)
{
    int rc = rte_eal_remote_launch(worker_main, worker, worker->config.lcore);
    if (rc != 0)
        return rc;
    while (!atomic_load_explicit(&worker->ready, memory_order_acquire))
        rte_delay_us_sleep(100);
    return worker->fwd != NULL ? 0 : -ENOMEM;
}

void worker_ask_stop(struct worker *worker)
{
    atomic_store(&worker->stop, true);
}

void worker_stop(struct worker *worker)
{
    worker_ask_stop(worker);
    rte_eal_wait_lcore(worker->config.lcore);
    fwd_destroy(worker->fwd);
    worker->fwd = NULL;
}

static uint64_t worker_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int worker_run(struct worker *worker, void (*run)(struct fwd *fwd, void *arg), void *arg)
{
    worker->call = run;
    worker->call_arg = arg;
    atomic_store_explicit(&worker->call_state, WORKER_CALL_ASKED, memory_order_release);
    uint64_t end_ns = worker_monotonic_ns() + WORKER_CALL_NS;
    while (atomic_load_explicit(&worker->call_state, memory_order_acquire) != WORKER_CALL_IDLE) {
        int asked = WORKER_CALL_ASKED;
        // Once it has begun it must be waited for.
        if (worker_monotonic_ns() >= end_ns &&
            atomic_compare_exchange_strong(&worker->call_state, &asked, WORKER_CALL_IDLE))
            return -ETIMEDOUT;
        rte_delay_us_sleep(50);
    }
    return 0;
}
