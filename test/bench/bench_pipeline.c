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
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fwd/token.h"
#include "parser/frame.h"
#include "test/bed/bed.h"
#include "test/bench/bench.h"

#define BURST  64
#define ROUNDS 16
#define CHUNK  (BURST * ROUNDS)

struct work {
    unsigned comps, live, payload, cs, routes;
    bool small, check;
    struct bed *bed;
    uint32_t consumer, producer;
    uint8_t interest[512], data[NDN_PACKET_MAX + 256];
    size_t interest_len, data_len;
    size_t interest_seq, data_seq, interest_flow, data_flow; /* where the varying octets are */
    size_t interest_token, data_token, interest_nonce;
    uint64_t sent, answered;
    uint8_t (*token)[TOKEN_SIZE]; /* of each pending Interest, by number modulo capacity */
    size_t n_tokens;
    struct rte_mbuf *in[CHUNK], *out[CHUNK];
    int n_in, n_out;
    int split_interest, split_data, split_parse, split_tx;
    bool warm;
};

static size_t find(const uint8_t *in, size_t len, const char *text)
{
    uint8_t *at = memmem(in, len, text, strlen(text));
    if (at == NULL)
        abort();
    return (size_t)(at - in);
}

static void digits(uint8_t *to, uint64_t number, unsigned base, unsigned n)
{
    for (unsigned i = n; i-- > 0; number /= base)
        to[i] = (uint8_t) "0123456789abcdef"[number % base];
}

/* One frame of each kind, whose varying octets are then overwritten in copies of it. */
static void make_templates(struct work *work)
{
    char uri[512] = "/ndnbench/flow0000";
    for (unsigned i = 3; i < work->comps; i++)
        strcat(uri, "/aaaaaaaa");
    strcat(uri, "/00000000");
    struct bed_fields fields = {.nonce = 0x5a5b5c5d,
                                .lifetime_ms = 60000,
                                .token = "TOKENTOK",
                                .token_len = 8,
                                .freshness_ms = 10000,
                                .payload = (uint16_t)work->payload,
                                .fill = 0x55};
    uint8_t packet[NDN_PACKET_MAX + 512];
    size_t len = bed_interest(packet, sizeof packet, uri, &fields);
    struct rte_mbuf *frame = bed_frame(work->bed, work->consumer, packet, len);
    work->interest_len = frame->pkt_len;
    memcpy(work->interest, rte_pktmbuf_mtod(frame, void *), work->interest_len);
    rte_pktmbuf_free(frame);
    len = bed_data(packet, sizeof packet, uri, &fields);
    frame = bed_frame(work->bed, work->producer, packet, len);
    work->data_len = frame->pkt_len;
    if (work->data_len > frame->data_len)
        abort();
    memcpy(work->data, rte_pktmbuf_mtod(frame, void *), work->data_len);
    rte_pktmbuf_free(frame);
    work->interest_seq = find(work->interest, work->interest_len, "00000000");
    work->data_seq = find(work->data, work->data_len, "00000000");
    work->interest_flow = find(work->interest, work->interest_len, "flow") + 4;
    work->data_flow = find(work->data, work->data_len, "flow") + 4;
    work->interest_token = find(work->interest, work->interest_len, "TOKENTOK");
    work->data_token = find(work->data, work->data_len, "TOKENTOK");
    work->interest_nonce = find(work->interest, work->interest_len, "\x5a\x5b\x5c\x5d");
}

static struct rte_mbuf *make(struct work *work, const uint8_t *octets, size_t len)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(work->bed->pool);
    if (mbuf == NULL)
        abort();
    memcpy(rte_pktmbuf_append(mbuf, (uint16_t)len), octets, len);
    return mbuf;
}

static struct rte_mbuf *make_interest(struct work *work, uint64_t number)
{
    struct rte_mbuf *mbuf = make(work, work->interest, work->interest_len);
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
    digits(p + work->interest_seq, number, 16, 8);
    digits(p + work->interest_flow, number % 10000, 10, 4);
    uint32_t nonce = (uint32_t)(number * 2654435761u);
    memcpy(p + work->interest_nonce, &nonce, sizeof nonce);
    memcpy(p + work->interest_token, &number, sizeof number);
    return mbuf;
}

static struct rte_mbuf *make_data(struct work *work, uint64_t number)
{
    struct rte_mbuf *mbuf = make(work, work->data, work->data_len);
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
    digits(p + work->data_seq, number, 16, 8);
    digits(p + work->data_flow, number % 10000, 10, 4);
    memcpy(p + work->data_token, work->token[number % work->n_tokens], TOKEN_SIZE);
    return mbuf;
}

/* The producer's side: remember the token that each forwarded Interest carries. */
static void take_interests(struct work *work, uint64_t first)
{
    struct bed *bed = work->bed;
    if (bed->n_sent != BURST)
        abort();
    for (unsigned i = 0; i < BURST; i++) {
        uint8_t *p = rte_pktmbuf_mtod(bed->sent[i].mbuf, uint8_t *);
        // Same shape as what came in, with our token of the same size.
        memcpy(work->token[(first + i) % work->n_tokens], p + work->interest_token, TOKEN_SIZE);
        if (work->check || !work->warm) {
            uint8_t want[8];
            digits(want, first + i, 16, 8);
            if (bed->sent[i].port != 1 || memcmp(p + work->interest_seq, want, 8) != 0)
                abort();
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
        uint8_t *p = rte_pktmbuf_mtod(bed->sent[i].mbuf, uint8_t *);
        uint64_t number = first + i;
        if (bed->sent[i].port != 0 || memcmp(p + work->data_token, &number, 8) != 0)
            abort();
    }
    bed_drop_sent(bed);
}

static void prepare(void *ctx)
{
    struct work *work = ctx;
    work->bed->now_ns += 500000;
    // Frames of a burst are made right before it in run(), untimed, so that they are as warm as a NIC leaves them.
}

/* Header parsing of a burst, by itself: the share of the whole that parsing has. */
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
            ndn_packet_parse(p + frame.payload_off, frame.payload_len, &opts, &packets[i]) != VERDICT_OK)
            abort();
        ndn_name_hash(&packets[i].name, &work->bed->shared.name_key);
    }
    return bench_ticks() - start;
}

static void exchange(struct work *work, uint64_t ticks[4], bool answer)
{
    struct bed *bed = work->bed;
    struct fwd *fwd = bed->fwd[0];
    struct rte_mbuf *mbufs[BURST];
    for (unsigned i = 0; i < BURST; i++)
        mbufs[i] = make_interest(work, work->sent + i);
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
    for (unsigned i = 0; i < BURST; i++)
        mbufs[i] = make_data(work, work->answered + i);
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
    static struct work work = {.comps = 4, .live = 1024, .payload = 100, .cs = 64, .routes = 10000};
    static const struct option options[] = {
        {"comps", required_argument, NULL, 'c'},   {"live", required_argument, NULL, 'l'},
        {"payload", required_argument, NULL, 'p'}, {"cs", required_argument, NULL, 's'},
        {"routes", required_argument, NULL, 'r'},  {"small", no_argument, NULL, 'm'},
        {"check", no_argument, NULL, 'k'},         {NULL, 0, NULL, 0}};
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
    if (work.comps < 3 || work.comps > 30 || work.live < BURST || work.payload > 1300 || work.routes > 10000) {
        fprintf(stderr, "bench_pipeline: 3 <= comps <= 30, live >= %d, payload <= 1300, routes <= 10000\n", BURST);
        return 2;
    }
    if (bench_quick() && work.live > 4096)
        work.live = 4096;
    work.live -= work.live % BURST;
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
    make_templates(&work);
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
    (void)prepare;

    uint64_t unused[4] = {0};
    while (work.sent < work.live)
        exchange(&work, unused, false);
    bench_add(&(struct bench_case){"chunk of rounds, harness included", CHUNK, NULL, run, &work});
    return bench_run();
}
