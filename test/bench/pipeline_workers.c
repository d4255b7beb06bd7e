// SPDX-License-Identifier: Apache-2.0
/*
 * Two workers, each on a CPU of its own, whose packets are made by themselves: how much the two do at once of what one
 * does alone, and what it costs when packets arrive at the worker that does not own their names. Both threads run the
 * same chunk after a common start; only the forwarder is timed, as in the case of one worker.
 */
#include "test/bench/pipeline_workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "test/bench/bench.h"
#include "test/bench/exchange.h"

#define BURST   64
#define ROUNDS  16
#define CHUNK   (BURST * ROUNDS)
#define WORKERS 2

/* One worker with what is its own: sequence numbers, flows whose names it owns, tokens of its pending Interests. */
struct lane {
    struct fwd *fwd;
    uint64_t sent, answered, ticks;
    unsigned n_flows;
    unsigned flow[EXCHANGE_FLOWS];
    uint8_t (*token)[TOKEN_SIZE];
    struct rte_mbuf *out[FWD_BURST_MAX];
    uint16_t n_out;
} __attribute__((aligned(64)));

static struct lane lane[WORKERS];
static struct exchange exchange;
static struct bed *bed;
static unsigned live, n_tokens;
static cpu_set_t cpus;

/* What the second thread is to do, and how far it is. */
enum job { JOB_NONE, JOB_EXCHANGES, JOB_OWNER };
static _Atomic int job;
static _Atomic uint64_t arrived; /* bursts that the owner has worked on */
static uint64_t bursts;          /* that were handed over */
static int alone, both, wrong, owner;

static uint16_t keep(struct fwd *fwd, uint16_t port, struct rte_mbuf **mbufs, uint16_t n)
{
    struct lane *l = fwd->send_ctx;
    (void)port;
    if (l->n_out + n > FWD_BURST_MAX)
        abort();
    memcpy(l->out + l->n_out, mbufs, n * sizeof *mbufs);
    l->n_out = (uint16_t)(l->n_out + n);
    return n;
}

static void let_go(struct lane *l)
{
    rte_pktmbuf_free_bulk(l->out, l->n_out);
    l->n_out = 0;
}

static unsigned flow_of(const struct lane *l, uint64_t number)
{
    return l->flow[number % l->n_flows];
}

static void interests(const struct lane *l, struct rte_mbuf **mbufs)
{
    for (unsigned i = 0; i < BURST; i++)
        mbufs[i] = exchange_interest(&exchange, l->sent + i, flow_of(l, l->sent + i));
}

static void data(const struct lane *l, struct rte_mbuf **mbufs)
{
    for (unsigned i = 0; i < BURST; i++) {
        uint64_t number = l->answered + i;
        mbufs[i] = exchange_data(&exchange, number, flow_of(l, number), l->token[number % n_tokens]);
    }
}

static void take_interests(struct lane *l)
{
    if (l->n_out != BURST)
        abort();
    for (unsigned i = 0; i < BURST; i++)
        memcpy(l->token[(l->sent + i) % n_tokens], exchange_token(&exchange, l->out[i]), TOKEN_SIZE);
    exchange_check_interest(&exchange, l->out[0], l->sent);
    let_go(l);
    l->sent += BURST;
}

static void take_data(struct lane *l)
{
    if (l->n_out != BURST)
        abort();
    for (unsigned i = 0; i < BURST; i++)
        exchange_check_data(&exchange, l->out[i], l->answered + i);
    let_go(l);
    l->answered += BURST;
}

static void input(struct lane *l, unsigned port, struct rte_mbuf **mbufs)
{
    uint64_t start = bench_ticks();
    fwd_input(l->fwd, &bed->port[port], mbufs, BURST, bed->now_ns);
    fwd_poll(l->fwd, bed->now_ns, 256);
    fwd_flush(l->fwd);
    l->ticks += bench_ticks() - start;
}

static void exchanges(struct lane *l, bool answer)
{
    struct rte_mbuf *mbufs[BURST];
    interests(l, mbufs);
    input(l, 0, mbufs);
    take_interests(l);
    if (!answer)
        return;
    data(l, mbufs);
    input(l, 1, mbufs);
    take_data(l);
}

static void chunk(struct lane *l)
{
    l->ticks = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        exchanges(l, true);
}

/* A burst that was handed over, from the ring to the frames that are sent. */
static void own(struct lane *l)
{
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    unsigned done = 0;
    while (done < BURST) {
        uint64_t start = bench_ticks();
        uint16_t n = dispatch_receive(l->fwd, 0, mbufs);
        if (n == 0) {
            rte_pause();
            continue;
        }
        fwd_input_handed_over(l->fwd, mbufs, n, bed->now_ns);
        done += n;
        fwd_poll(l->fwd, bed->now_ns, 256);
        fwd_flush(l->fwd);
        l->ticks += bench_ticks() - start;
    }
}

static void own_chunk(struct lane *l)
{
    l->ticks = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        own(l);
        take_interests(l);
        atomic_fetch_add(&arrived, 1);
        own(l);
        take_data(l);
        atomic_fetch_add(&arrived, 1);
    }
}

static void *second(void *arg)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(*(int *)arg, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0 || rte_thread_register() != 0)
        abort();
    for (;;) {
        int now = atomic_load_explicit(&job, memory_order_acquire);
        if (now == JOB_NONE) {
            rte_pause();
            continue;
        }
        if (now == JOB_EXCHANGES)
            chunk(&lane[1]);
        else
            own_chunk(&lane[1]);
        atomic_store_explicit(&job, JOB_NONE, memory_order_release);
    }
    return NULL;
}

static void join(void)
{
    while (atomic_load_explicit(&job, memory_order_acquire) != JOB_NONE)
        rte_pause();
}

/* Hand a burst to its owner and wait until that has worked on it. */
static void hand_over(unsigned port, struct rte_mbuf **mbufs)
{
    input(&lane[0], port, mbufs);
    if (lane[0].n_out != 0)
        abort();
    for (bursts++; atomic_load(&arrived) < bursts;)
        rte_pause();
}

static void run(void *ctx)
{
    (void)ctx;
    bed->now_ns += 20000;
    // What went before has pushed this worker's tables out of the cache.
    chunk(&lane[0]);
    chunk(&lane[0]);
    bench_sample(alone, lane[0].ticks, CHUNK);

    atomic_store_explicit(&job, JOB_EXCHANGES, memory_order_release);
    chunk(&lane[0]);
    join();
    bench_sample(both, lane[0].ticks + lane[1].ticks, (uint64_t)WORKERS * CHUNK);

    lane[0].ticks = 0;
    atomic_store_explicit(&job, JOB_OWNER, memory_order_release);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct rte_mbuf *mbufs[BURST];
        interests(&lane[1], mbufs);
        hand_over(0, mbufs);
        data(&lane[1], mbufs);
        hand_over(1, mbufs);
    }
    join();
    bench_sample(wrong, lane[0].ticks, CHUNK);
    bench_sample(owner, lane[1].ticks, CHUNK);
}

/* Deal the flows out to the workers that own their names. */
static void deal_flows(void)
{
    for (unsigned i = 0; i < EXCHANGE_FLOWS; i++) {
        char uri[64];
        uint8_t value[64];
        struct ndn_name name;
        snprintf(uri, sizeof uri, "/ndnbench/flow%04u/x", i);
        int len = ndn_name_from_uri(uri, value, sizeof value);
        if (len < 0 || ndn_name_parse(value, (size_t)len, false, &name) != VERDICT_OK)
            abort();
        ndn_name_hash(&name, &bed->shared.name_key);
        for (unsigned w = 0; w < WORKERS; w++)
            if (dispatch_owns(lane[w].fwd, &name))
                lane[w].flow[lane[w].n_flows++] = i;
    }
}

void pipeline_workers_cpus(void)
{
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        abort();
}

static int second_cpu(void)
{
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &cpus) && i != sched_getcpu())
            return i;
    fprintf(stderr, "bench_pipeline: two workers need two CPUs\n");
    exit(2);
}

void pipeline_workers_add(unsigned comps, unsigned live_, unsigned payload, unsigned cs)
{
    static int cpu;
    live = live_;
    n_tokens = live + 4096;
    struct bed_config config = {.n_workers = WORKERS,
                                .pit_capacity = live + 4096,
                                .cs_capacity = cs,
                                .fib_capacity = 16384,
                                .dnl_capacity = 65536,
                                .n_mbufs = 8191 + WORKERS * cs};
    bed = bed_create(&config);
    // EAL has pinned this thread.
    cpu = second_cpu();
    struct port *left = bed_port(bed), *right = bed_port(bed);
    uint32_t consumer = bed_ether(bed, left, 2), producer = bed_ether(bed, right, 2);
    for (unsigned i = 0; i < EXCHANGE_FLOWS; i++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "/ndnbench/flow%04u", i);
        bed_route(bed, prefix, producer, 10);
    }
    exchange_init(&exchange, bed, consumer, producer, comps, payload);
    for (unsigned w = 0; w < WORKERS; w++) {
        lane[w].fwd = bed->fwd[w];
        lane[w].fwd->send = keep;
        lane[w].fwd->send_ctx = &lane[w];
        lane[w].token = calloc(n_tokens, TOKEN_SIZE);
    }
    deal_flows();
    for (unsigned w = 0; w < WORKERS; w++)
        while (lane[w].sent < live)
            exchanges(&lane[w], false);

    static char name[4][80];
    static const char *const what[4] = {"one of 2 workers alone", "2 workers at once",
                                        "wrong worker, its side of the hand-over", "wrong worker, the owner's side"};
    int *const number[4] = {&alone, &both, &wrong, &owner};
    for (unsigned i = 0; i < 4; i++) {
        snprintf(name[i], sizeof name[i], "comps=%u,live=%u,payload=%u,cs=%u,%s", comps, live, payload, cs, what[i]);
        *number[i] = bench_add(&(struct bench_case){name[i], CHUNK, NULL, NULL, NULL});
    }
    pthread_t thread;
    if (pthread_create(&thread, NULL, second, &cpu) != 0)
        abort();
    bench_add(&(struct bench_case){"chunk of rounds, harness included", CHUNK, NULL, run, NULL});
}
