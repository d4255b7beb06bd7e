// SPDX-License-Identifier: Apache-2.0
/*
 * Whole exchanges through the forwarder of one worker, without a NIC: Interest received and forwarded, Data received
 * and forwarded. A steady number of Interests is pending: for each one that enters, the oldest is answered. The time
 * counts everything from frames in a burst array to frames in the send array; making and freeing frames does not.
 *
 * --comps N   components of the names, of eight octets each (4)
 * --live N    pending Interests (1024)
 * --payload N octets of Content (100)
 * --cs N      Content Store capacity (64)
 * --routes N  prefixes of two components in the FIB (10000)
 * --small     4 kB pages for the tables
 * --check     verify every frame that comes out (always done for the first chunk)
 * --workers 2 two workers on two CPUs: at once, and with packets at the wrong one
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "parser/frame.h"
#include "test/bed/bed.h"
#include "test/bench/bench.h"
#include "test/bench/exchange.h"
#include "test/bench/pipeline_workers.h"

#define BURST  64
#define ROUNDS 16
#define CHUNK  (BURST * ROUNDS)

struct work {
    unsigned comps, live, payload, cs, routes;
    unsigned workers;
    bool small, check;
    struct bed *bed;
    uint32_t consumer, producer;
    struct exchange frames;
    uint64_t sent, answered;
    uint8_t (*token)[TOKEN_SIZE]; /* of each pending Interest, by number modulo capacity */
    size_t n_tokens;
    struct rte_mbuf *in[CHUNK], *out[CHUNK];
    int n_in, n_out;
    int split_interest, split_data, split_parse, split_tx;
    bool warm;
};

/* The producer's side: remember the token that each forwarded Interest carries. */
static void take_interests(struct work *work, uint64_t first)
{
    struct bed *bed = work->bed;
    if (bed->n_sent != BURST)
        abort();
    for (unsigned i = 0; i < BURST; i++) {
        const struct rte_mbuf *mbuf = bed->sent[i].mbuf;
        memcpy(work->token[(first + i) % work->n_tokens], exchange_token(&work->frames, mbuf), TOKEN_SIZE);
        if (work->check || !work->warm) {
            if (bed->sent[i].port != 1)
                abort();
            exchange_check_interest(&work->frames, mbuf, first + i);
        }
    }
    bed_drop_sent(bed);
}

/* The consumer's side: each Data brings back the token of its Interest. */
static void take_data(struct work *work, uint64_t first)
{
    struct bed *bed = work->bed;
    if (bed->n_sent != BURST)
        abort();
    for (unsigned i = 0; i < BURST; i++) {
        if (bed->sent[i].port != 0)
            abort();
        exchange_check_data(&work->frames, bed->sent[i].mbuf, first + i);
    }
    bed_drop_sent(bed);
}

/* Header parsing of a burst and the names' hashes, by themselves: the share of the whole that parsing has. */
static uint64_t time_parse(struct work *work, struct rte_mbuf **mbufs, const struct port *port)
{
    static struct ndn_packet packets[BURST];
    struct ndn_parse_opts opts = {.allow_trailing = true};
    uint64_t start = bench_ticks();
    for (unsigned i = 0; i < BURST; i++) {
        const uint8_t *p = rte_pktmbuf_mtod(mbufs[i], const uint8_t *);
        struct frame frame;
        uint32_t face;
        uint64_t sender;
        if (frame_parse(p, mbufs[i]->data_len, &port->frame_opts, &frame) != VERDICT_OK ||
            port_classify(port, &frame, &face, &sender) != PORT_MATCHED ||
            ndn_packet_parse_deferred(p + frame.payload_off, frame.payload_len, &opts, &packets[i]) != VERDICT_OK ||
            !ndn_name_read(&packets[i].name, &work->bed->shared.name_key))
            abort();
    }
    return bench_ticks() - start;
}

static void exchange(struct work *work, uint64_t ticks[4], bool answer)
{
    struct bed *bed = work->bed;
    struct fwd *fwd = bed->fwd[0];
    struct rte_mbuf *mbufs[BURST];
    for (unsigned i = 0; i < BURST; i++) {
        uint64_t number = work->sent + i;
        mbufs[i] = exchange_interest(&work->frames, number, number % EXCHANGE_FLOWS);
    }
    ticks[2] += time_parse(work, mbufs, &bed->port[0]);
    uint64_t t0 = bench_ticks();
    fwd_input(fwd, &bed->port[0], mbufs, BURST, bed->now_ns);
    uint64_t t1 = bench_ticks();
    fwd_poll(fwd, bed->now_ns, 256);
    fwd_flush(fwd);
    uint64_t t2 = bench_ticks();
    ticks[0] += t2 - t0;
    ticks[3] += t2 - t1;
    take_interests(work, work->sent);
    work->sent += BURST;
    if (!answer)
        return;
    for (unsigned i = 0; i < BURST; i++) {
        uint64_t number = work->answered + i;
        mbufs[i] = exchange_data(&work->frames, number, number % EXCHANGE_FLOWS, work->token[number % work->n_tokens]);
    }
    ticks[2] += time_parse(work, mbufs, &bed->port[1]);
    t0 = bench_ticks();
    fwd_input(fwd, &bed->port[1], mbufs, BURST, bed->now_ns);
    t1 = bench_ticks();
    fwd_poll(fwd, bed->now_ns, 256);
    fwd_flush(fwd);
    t2 = bench_ticks();
    ticks[1] += t2 - t0;
    ticks[3] += t2 - t1;
    take_data(work, work->answered);
    work->answered += BURST;
}

static void chunk(struct work *work)
{
    uint64_t ticks[4] = {0};
    for (unsigned i = 0; i < ROUNDS; i++) {
        work->bed->now_ns += 20000;
        exchange(work, ticks, true);
    }
    work->warm = true;
    bench_sample(work->n_in, ticks[0] + ticks[1], CHUNK);
    bench_sample(work->split_interest, ticks[0], CHUNK);
    bench_sample(work->split_data, ticks[1], CHUNK);
    bench_sample(work->split_parse, ticks[2], CHUNK);
    bench_sample(work->split_tx, ticks[3], CHUNK);
}

static void run(void *ctx)
{
    chunk(ctx);
}

int main(int argc, char **argv)
{
    static struct work work = {.comps = 4, .live = 1024, .payload = 100, .cs = 64, .routes = 10000, .workers = 1};
    static const struct option options[] = {{"comps", required_argument, NULL, 'c'},
                                            {"live", required_argument, NULL, 'l'},
                                            {"payload", required_argument, NULL, 'p'},
                                            {"cs", required_argument, NULL, 's'},
                                            {"routes", required_argument, NULL, 'r'},
                                            {"small", no_argument, NULL, 'm'},
                                            {"check", no_argument, NULL, 'k'},
                                            {"workers", required_argument, NULL, 'w'},
                                            {NULL, 0, NULL, 0}};
    pipeline_workers_cpus();
    bench_init("pipeline", &argc, argv);
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        unsigned number = optarg != NULL ? (unsigned)strtoul(optarg, NULL, 10) : 0;
        switch (option) {
        case 'c':
            work.comps = number;
            break;
        case 'l':
            work.live = number;
            break;
        case 'p':
            work.payload = number;
            break;
        case 's':
            work.cs = number;
            break;
        case 'r':
            work.routes = number;
            break;
        case 'w':
            work.workers = number;
            break;
        case 'm':
            work.small = true;
            break;
        case 'k':
            work.check = true;
            break;
        default:
            return 2;
        }
    }
    if (work.comps < 3 || work.comps > 30 || work.live < BURST || work.payload > 1300 || work.routes > 10000 ||
        work.workers < 1 || work.workers > 2) {
        fprintf(stderr,
                "bench_pipeline: 3 <= comps <= 30, live >= %d, payload <= 1300, routes <= 10000, 1 or 2 workers\n",
                BURST);
        return 2;
    }
    if (bench_quick() && work.live > 4096)
        work.live = 4096;
    work.live -= work.live % BURST;
    if (work.workers == 2) {
        pipeline_workers_add(work.comps, work.live, work.payload, work.cs);
        return bench_run();
    }
    struct bed_config config = {.pit_capacity = work.live + 4096,
                                .cs_capacity = work.cs,
                                .fib_capacity = 16384,
                                .dnl_capacity = 65536,
                                .n_mbufs = 8191 + work.cs,
                                .pages = work.small ? ARENA_PAGES_SMALL : ARENA_PAGES_AUTO};
    work.bed = bed_create(&config);
    struct port *left = bed_port(work.bed), *right = bed_port(work.bed);
    work.consumer = bed_ether(work.bed, left, 2);
    work.producer = bed_ether(work.bed, right, 2);
    for (unsigned i = 0; i < work.routes; i++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "/ndnbench/flow%04u", i);
        bed_route(work.bed, prefix, work.producer, 10);
    }
    if (work.routes < 10000)
        bed_route(work.bed, "/ndnbench", work.producer, 10);
    exchange_init(&work.frames, work.bed, work.consumer, work.producer, work.comps, work.payload);
    work.n_tokens = work.live + 4096;
    work.token = calloc(work.n_tokens, TOKEN_SIZE);

    char name[5][64];
    static const char *const part[5] = {"", ",part=interest", ",part=data", ",part=parse", ",part=tx"};
    for (unsigned i = 0; i < 5; i++)
        snprintf(name[i], sizeof name[i], "comps=%u,live=%u,payload=%u,cs=%u%s", work.comps, work.live, work.payload,
                 work.cs, part[i]);
    work.n_in = bench_add(&(struct bench_case){name[0], CHUNK, NULL, NULL, &work});
    work.split_interest = bench_add(&(struct bench_case){name[1], CHUNK, NULL, NULL, &work});
    work.split_data = bench_add(&(struct bench_case){name[2], CHUNK, NULL, NULL, &work});
    work.split_parse = bench_add(&(struct bench_case){name[3], CHUNK, NULL, NULL, &work});
    work.split_tx = bench_add(&(struct bench_case){name[4], CHUNK, NULL, NULL, &work});

    uint64_t unused[4] = {0};
    while (work.sent < work.live)
        exchange(&work, unused, false);
    bench_add(&(struct bench_case){"chunk of rounds, harness included", CHUNK, NULL, run, &work});
    return bench_run();
}
