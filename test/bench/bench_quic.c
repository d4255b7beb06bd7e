// SPDX-License-Identifier: Apache-2.0
/*
 * What a QUIC datagram costs: its header, beside ngtcp2's decoder of the same fields where the build has it; its
 * connection ID, in each encoding, one by one and in bursts; its server when the connection ID tells none; and numbers
 * read through the cursor.
 */
#include "test/bench/bench_quic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/cursor.h"
#include "parser/quic.h"
#include "parser/quic_lb.h"
#include "pit/flow.h"
#include "pit/maglev.h"
#include "test/bench/bench_quic_path.h"
#include "test/bench/bench.h"

#ifdef HAVE_NGTCP2
#include <ngtcp2/ngtcp2.h>
#endif

#define CHUNK    4096
#define N_PACKET 64 /* different packets of a corpus, all in the cache */
#define DATAGRAM 1200
#define DCID_LEN 8

/* Headers. */

struct corpus {
    uint8_t packet[N_PACKET][DATAGRAM];
};

static uint64_t seed = 1;

static void put_random(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(bench_random(&seed) >> 56);
}

static void put_short(uint8_t *p)
{
    put_random(p, 1 + DCID_LEN);
    p[0] = (uint8_t)(0x40 | (p[0] & 0x3f));
}

/** First octet, version 1, both connection IDs of 8 octets. @return what follows them */
static uint8_t *put_long(uint8_t *p, uint8_t type)
{
    *p++ = (uint8_t)(0xc0 | type << 4 | (bench_random(&seed) >> 60));
    memcpy(p, "\0\0\0\1", 4);
    p += 4;
    for (unsigned i = 0; i < 2; i++) {
        *p++ = DCID_LEN;
        put_random(p, DCID_LEN);
        p += DCID_LEN;
    }
    return p;
}

static void put_length(uint8_t *p, const uint8_t *packet)
{
    size_t n = DATAGRAM - (size_t)(p + 2 - packet);
    p[0] = (uint8_t)(0x40 | n >> 8);
    p[1] = (uint8_t)n;
}

static void put_initial(uint8_t *packet)
{
    uint8_t *p = put_long(packet, 0);
    *p++ = 0;
    put_length(p, packet);
}

static void put_handshake(uint8_t *packet)
{
    put_length(put_long(packet, 2), packet);
}

static void put_0rtt(uint8_t *packet)
{
    put_length(put_long(packet, 1), packet);
}

/** 90 % 1-RTT, 4 % Initial, 5 % Handshake, 1 % 0-RTT, in random order. */
static void put_mix(uint8_t *packet)
{
    uint64_t n = (bench_random(&seed) >> 32) % 100;
    if (n < 90)
        put_short(packet);
    else if (n < 94)
        put_initial(packet);
    else if (n < 99)
        put_handshake(packet);
    else
        put_0rtt(packet);
}

static void run_parse(void *arg)
{
    static const struct quic_opts opts = {.from_client = true, .short_dcid_len = DCID_LEN};
    struct corpus *corpus = arg;
    struct quic_header header = {0};
    for (unsigned i = 0; i < CHUNK; i += N_PACKET) {
        for (unsigned j = 0; j < N_PACKET; j++) {
            if (quic_parse(corpus->packet[j], DATAGRAM, &opts, &header) != VERDICT_OK)
                abort();
            bench_use((uint64_t)(uintptr_t)header.dcid + header.scid_len);
        }
    }
}

#ifdef HAVE_NGTCP2
static void run_ngtcp2(void *arg)
{
    struct corpus *corpus = arg;
    ngtcp2_version_cid cid;
    for (unsigned i = 0; i < CHUNK; i += N_PACKET) {
        for (unsigned j = 0; j < N_PACKET; j++) {
            if (ngtcp2_pkt_decode_version_cid(&cid, corpus->packet[j], DATAGRAM, DCID_LEN) != 0)
                abort();
            bench_use((uint64_t)(uintptr_t)cid.dcid + cid.scidlen);
        }
    }
}
#endif

static void add_headers(const char *name, const char *ngtcp2_name, void (*put)(uint8_t *packet))
{
    struct corpus *corpus = calloc(1, sizeof *corpus);
    if (corpus == NULL)
        abort();
    for (unsigned i = 0; i < N_PACKET; i++)
        put(corpus->packet[i]);
    bench_add(&(struct bench_case){name, CHUNK, NULL, run_parse, corpus});
#ifdef HAVE_NGTCP2
    bench_add(&(struct bench_case){ngtcp2_name, CHUNK, NULL, run_ngtcp2, corpus});
#else
    (void)ngtcp2_name;
#endif
}

/* Connection IDs. */

struct cids {
    struct quic_lb lb;
    uint8_t octets[N_PACKET][32]; /**< as they lie in a short header: payload follows */
    uint8_t len;
    const char *isa;
};

/** Each case that has to do with connection IDs says what they are to be worked on by: another may have run before. */
static void choose_isa(void *arg)
{
    const struct cids *cids = arg;
    if (cids->isa == NULL)
        quic_lb_decode_init();
    else if (quic_lb_decode_select(cids->isa) != 0)
        abort();
}

static void run_decode(void *arg)
{
    struct cids *cids = arg;
    struct quic_lb_id id;
    for (unsigned i = 0; i < CHUNK; i += N_PACKET) {
        for (unsigned j = 0; j < N_PACKET; j++) {
            if (quic_lb_decode(&cids->lb, cids->octets[j], cids->len, &id) != QUIC_LB_OK)
                abort();
            bench_use((uint64_t)(uintptr_t)&id);
        }
    }
}

static void run_burst(void *arg)
{
    struct cids *cids = arg;
    struct quic_lb_job jobs[N_PACKET];
    for (unsigned i = 0; i < CHUNK; i += N_PACKET) {
        for (unsigned j = 0; j < N_PACKET; j++) {
            jobs[j].lb = &cids->lb;
            jobs[j].cid = cids->octets[j];
            jobs[j].cid_len = cids->len;
        }
        quic_lb_decode_burst(jobs, N_PACKET);
        for (unsigned j = 0; j < N_PACKET; j++)
            if (jobs[j].verdict != QUIC_LB_OK)
                abort();
        bench_use((uint64_t)(uintptr_t)jobs);
    }
}

static struct cids *make_cids(uint8_t server_id_len, uint8_t nonce_len, bool encrypted, uint8_t len)
{
    struct cids *cids = aligned_alloc(64, (sizeof *cids + 63) / 64 * 64);
    if (cids == NULL)
        abort();
    memset(cids, 0, sizeof *cids);
    struct quic_lb_config config = {
        .server_id_len = server_id_len, .nonce_len = nonce_len, .encrypted = encrypted, .key = "sixteen octets."};
    if (quic_lb_add_config(&cids->lb, 0, &config) != 0)
        abort();
    for (unsigned i = 0; i < N_PACKET; i++) {
        struct quic_lb_id id = {.len = server_id_len};
        uint8_t nonce[QUIC_LB_NONCE_MAX];
        put_random(id.octets, server_id_len);
        put_random(nonce, sizeof nonce);
        put_random(cids->octets[i], sizeof cids->octets[i]);
        if (quic_lb_encode(&cids->lb, (uint8_t)(server_id_len + nonce_len), &id, nonce, cids->octets[i]) < 0)
            abort();
    }
    cids->len = len;
    return cids;
}

static void add_cids(void)
{
    static const struct {
        const char *one, *burst;
        uint8_t server_id_len, nonce_len;
        bool encrypted;
        uint8_t len; /**< octets shown to the decoder */
    } cases[] = {
        {"cid plaintext 3+4", "cid plaintext 3+4, burst", 3, 4, false, QUIC_LB_CID_MAX},
        {"cid four-pass 3+4", "cid four-pass 3+4, burst", 3, 4, true, QUIC_LB_CID_MAX},
        {"cid four-pass 3+4, 8 octets", "cid four-pass 3+4, 8 octets, burst", 3, 4, true, 8},
        {"cid single-pass 8+8", "cid single-pass 8+8, burst", 8, 8, true, QUIC_LB_CID_MAX},
        {"cid four-pass 8+10", "cid four-pass 8+10, burst", 8, 10, true, QUIC_LB_CID_MAX},
        {"cid four-pass 4+7", "cid four-pass 4+7, burst", 4, 7, true, QUIC_LB_CID_MAX},
        {"cid four-pass 10+5 (all four)", "cid four-pass 10+5 (all four), burst", 10, 5, true, QUIC_LB_CID_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cids *cids = make_cids(cases[i].server_id_len, cases[i].nonce_len, cases[i].encrypted, cases[i].len);
        bench_add(&(struct bench_case){cases[i].one, CHUNK, choose_isa, run_decode, cids});
        bench_add(&(struct bench_case){cases[i].burst, CHUNK, choose_isa, run_burst, cids});
    }
    struct cids *aes = make_cids(3, 4, true, QUIC_LB_CID_MAX), *portable = make_cids(3, 4, true, QUIC_LB_CID_MAX);
    aes->isa = "aes";
    portable->isa = "portable";
    if (quic_lb_decode_select(aes->isa) == 0) {
        bench_add(&(struct bench_case){"cid four-pass 3+4, aes", CHUNK, choose_isa, run_decode, aes});
        bench_add(&(struct bench_case){"cid four-pass 3+4, aes, burst", CHUNK, choose_isa, run_burst, aes});
    }
    bench_add(&(struct bench_case){"cid four-pass 3+4, portable", CHUNK, choose_isa, run_decode, portable});
}

/* Servers of datagrams whose connection ID tells none. */

#define N_BACKENDS 16

struct choice {
    struct maglev *maglev;
    struct flow *flow;
    uint32_t n_flows, next; /**< power of 2 */
    size_t addr_len;
    uint64_t now_ns;
};

static const struct flow_hash_key hash_key = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)};

static uint8_t clients[16][16], vip[16];

/** Flow @p n: a port of one of the clients, whose addresses have been in memory for a while as those of a packet are.
 */
static void make_key(struct flow_key *key, uint32_t n, size_t addr_len)
{
    uint32_t both = n << 16 | 443;
    uint8_t ports[4];
    memcpy(ports, &both, sizeof ports);
    if (addr_len == 4)
        flow_key_tuple(key, clients[n >> 16 & 15], vip, 4, ports);
    else
        flow_key_tuple(key, clients[n >> 16 & 15], vip, 16, ports);
}

static void run_maglev(void *arg)
{
    struct choice *choice = arg;
    for (unsigned i = 0; i < CHUNK; i++) {
        struct flow_key key;
        make_key(&key, choice->next++, choice->addr_len);
        bench_use(maglev_pick(choice->maglev, flow_key_hash(&key, &hash_key)));
    }
}

/** Bursts of 32 of random flows: hash and prefetch the index, prefetch the entries, find. */
static void run_flows(void *arg)
{
    struct choice *choice = arg;
    struct flow_key keys[32];
    uint64_t hashes[32];
    for (unsigned i = 0; i < CHUNK; i += 32) {
        for (unsigned j = 0; j < 32; j++) {
            make_key(&keys[j], (uint32_t)(bench_random(&seed) >> 32) & (choice->n_flows - 1), choice->addr_len);
            hashes[j] = flow_key_hash(&keys[j], &hash_key);
            flow_prefetch(choice->flow, hashes[j]);
        }
        for (unsigned j = 0; j < 32; j++)
            flow_prefetch_entry(choice->flow, hashes[j]);
        for (unsigned j = 0; j < 32; j++) {
            uint16_t server;
            if (!flow_find(choice->flow, &keys[j], hashes[j], choice->now_ns, &server))
                abort();
            bench_use(server);
        }
        choice->now_ns += 3000;
    }
}

static struct choice *make_choice(size_t addr_len, uint32_t n_flows)
{
    struct choice *choice = calloc(1, sizeof *choice);
    struct maglev_backend backends[N_BACKENDS];
    struct flow_config config = {.capacity = n_flows, .idle_ms = 1u << 30};
    if (choice == NULL)
        abort();
    choice->addr_len = addr_len;
    choice->n_flows = n_flows;
    for (unsigned i = 0; i < N_BACKENDS; i++)
        backends[i] = (struct maglev_backend){.id = i, .weight = 1};
    if (maglev_create(&choice->maglev, MAGLEV_SIZE_DEFAULT, backends, N_BACKENDS, ARENA_PAGES_AUTO) != 0 ||
        flow_create(&choice->flow, &config, 0) != 0)
        abort();
    for (uint32_t i = 0; i < n_flows; i++) {
        struct flow_key key;
        make_key(&key, i, addr_len);
        if (flow_add(choice->flow, &key, flow_key_hash(&key, &hash_key), (uint16_t)(i % N_BACKENDS), 0) != FLOW_ADDED)
            abort();
    }
    return choice;
}

static void add_choices(void)
{
    put_random(clients[0], sizeof clients);
    put_random(vip, sizeof vip);
    bench_add(&(struct bench_case){"maglev of IPv4 tuple", CHUNK, NULL, run_maglev, make_choice(4, 1)});
    bench_add(&(struct bench_case){"maglev of IPv6 tuple", CHUNK, NULL, run_maglev, make_choice(16, 1)});
    bench_group();
    bench_add(&(struct bench_case){"flow of IPv4 tuple, 1k", CHUNK, NULL, run_flows, make_choice(4, 1024)});
    bench_add(&(struct bench_case){"flow of IPv6 tuple, 1k", CHUNK, NULL, run_flows, make_choice(16, 1024)});
    bench_group();
    bench_add(&(struct bench_case){"flow of IPv6 tuple, 1M", CHUNK, NULL, run_flows,
                                   make_choice(16, bench_quick() ? 4096 : 1024 * 1024)});
}

/* Numbers. */

#define FRAMES       16384 /* of a chunk: ten million in 611 of them */
#define FRAME_OCTETS 16

struct frames {
    uint8_t octets[1024 * FRAME_OCTETS];
};

/** Frames of u8, u16, u32, u64 and u8, each number with its own check. */
static void run_frames(void *arg)
{
    struct frames *frames = arg;
    uint64_t sum = 0;
    for (unsigned n = 0; n < FRAMES;) {
        struct cursor c = cursor_make(frames->octets, sizeof frames->octets);
        uint8_t a, e;
        uint16_t b;
        uint32_t d;
        uint64_t f;
        for (; cursor_u8(&c, &a) && cursor_u16(&c, &b) && cursor_u32(&c, &d) && cursor_u64(&c, &f) && cursor_u8(&c, &e);
             n++)
            sum += a + b + d + f + e;
    }
    bench_use(sum);
}

/** The same with one check for the whole shape, as the parsers' fast paths have it. */
static void run_shapes(void *arg)
{
    struct frames *frames = arg;
    uint64_t sum = 0;
    for (unsigned n = 0; n < FRAMES;) {
        struct cursor c = cursor_make(frames->octets, sizeof frames->octets);
        const uint8_t *p;
        for (; cursor_bytes(&c, FRAME_OCTETS, &p); n++)
            sum += p[0] + load_be16(p + 1) + load_be32(p + 3) + load_be64(p + 7) + p[15];
    }
    bench_use(sum);
}

static void add_frames(void)
{
    struct frames *frames = malloc(sizeof *frames);
    if (frames == NULL)
        abort();
    put_random(frames->octets, sizeof frames->octets);
    bench_add(&(struct bench_case){"frame u8 u16 u32 u64 u8", FRAMES, NULL, run_frames, frames});
    bench_add(&(struct bench_case){"frame u8 u16 u32 u64 u8, one check", FRAMES, NULL, run_shapes, frames});
}

int main(int argc, char **argv)
{
    bench_init("quic", &argc, argv);
    bench_chunks(1001);
    add_headers("header short", "header short, ngtcp2", put_short);
    add_headers("header initial", "header initial, ngtcp2", put_initial);
    add_headers("header handshake", "header handshake, ngtcp2", put_handshake);
    add_headers("header mix 90/4/5/1", "header mix 90/4/5/1, ngtcp2", put_mix);
    bench_group();
    add_cids();
    bench_group();
    add_choices();
    bench_group();
    quic_path_add();
    bench_group();
    add_frames();
    bench_group();
    bench_quic_retry_add();
    return bench_run();
}
