// SPDX-License-Identifier: Apache-2.0
/*
 * A whole datagram: parsed, its connection ID decoded, its server selected, link header and TTL rewritten, checksum
 * updated, queued. Bursts of 64 in one worker of a bed. Frames are made anew before each chunk, as far as they are
 * read, and all that were sent are looked at after it; neither is timed.
 */
#include "test/bench/bench_quic_path.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/quic/quic.h"
#include "test/bed/bed.h"
#include "test/bench/bench.h"

#define BURST     64
#define N_BURSTS  16
#define N_FRAMES  (N_BURSTS * BURST)
#define N_SERVERS 16
#define DATAGRAM  1200 /* of a client's first packets */
#define HEADERS   128  /* octets of a frame that are not payload, and more */
#define SCID_LEN  8

/* Configurations of connection IDs, by their ID. */
enum encoding { FOUR_PASS = 0, PLAINTEXT, SINGLE_PASS, ENCODINGS, NONE };

static const struct quic_lb_config config[ENCODINGS] = {
    [FOUR_PASS] = {.server_id_len = 3, .nonce_len = 4, .encrypted = true, .key = "0123456789abcde"},
    [PLAINTEXT] = {.server_id_len = 3, .nonce_len = 4},
    [SINGLE_PASS] = {.server_id_len = 8, .nonce_len = 8, .encrypted = true, .key = "edcba9876543210"},
};

static struct bed *bed;
static struct port *in, *out;
static struct quic_set set;
static struct quic_service service;
static struct quic_server server[N_SERVERS];
static struct quic_lb lb;
static uint16_t id_slot[64], maglev_server[N_SERVERS];
static struct rte_mbuf *mbufs[N_FRAMES];
static uint64_t seed = 1;

struct path {
    const char *name;
    uint8_t encoding; /**< of the servers' connection IDs; NONE: they name no server */
    bool v6;
    bool mix;         /**< 90 % 1-RTT, 4 % Initial, 5 % Handshake, 1 % 0-RTT in random order; else all 1-RTT */
    bool check;       /**< the UDP checksum is verified in software */
    uint16_t payload; /**< octets of UDP payload of 1-RTT packets */
    struct template
    {
        uint8_t octets[HEADERS];
        uint16_t len;
        uint8_t server; /**< the one that it has to go to; N_SERVERS: any */
    }
    frame[N_FRAMES];
};

/* The case whose frames were sent last, and not yet looked at. */
static const struct path *ran;

static uint32_t sum16(uint32_t sum, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2)
        sum += (uint32_t)p[i] << 8 | p[i + 1];
    while (sum > 0xffff)
        sum = (sum >> 16) + (sum & 0xffff);
    return sum;
}

static void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static void put_random(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(bench_random(&seed) >> 56);
}

/* A connection ID of server @p to, or one that cannot be routed. @return octets */
static size_t put_cid(uint8_t *p, uint8_t encoding, uint8_t to)
{
    struct quic_lb_id id = {.octets = {to, 1, 2}};
    uint8_t nonce[QUIC_LB_NONCE_MAX];
    if (encoding == NONE) {
        put_random(p, 8);
        p[0] |= 0xe0;
        return 8;
    }
    id.len = config[encoding].server_id_len;
    put_random(nonce, sizeof nonce);
    int len = quic_lb_encode(&lb, (uint8_t)(encoding << 5 | 7), &id, nonce, p);
    if (len < 0)
        abort();
    return (size_t)len;
}

static void put_long(uint8_t *p, uint8_t type, const uint8_t *cid, size_t cid_len)
{
    const uint8_t *start = p;
    *p++ = (uint8_t)(0xc0 | type << 4);
    put16(p, 0);
    put16(p + 2, 1);
    p += 4;
    *p++ = (uint8_t)cid_len;
    memcpy(p, cid, cid_len);
    p += cid_len;
    *p++ = SCID_LEN;
    put_random(p, SCID_LEN);
    p += SCID_LEN;
    if (type == 0)
        *p++ = 0;
    put16(p, 0x4000u | (uint32_t)(DATAGRAM - (p + 2 - start)));
}

/* @return octets of the datagram */
static uint16_t put_quic(const struct path *path, uint8_t *p, struct template *frame, uint8_t to)
{
    enum { INITIAL = 0, ZERO_RTT, HANDSHAKE };
    uint8_t cid[QUIC_LB_CID_MAX];
    uint64_t n = path->mix ? (bench_random(&seed) >> 32) % 100 : 0;
    // Clients' first packets have connection IDs of their own making.
    bool servers_own = n < 95;
    frame->server = servers_own && path->encoding != NONE ? to : N_SERVERS;
    size_t len = put_cid(cid, servers_own ? path->encoding : (uint8_t)NONE, to);
    if (n < 90) {
        p[0] = (uint8_t)(0x40 | (bench_random(&seed) >> 59));
        memcpy(p + 1, cid, len);
        return path->payload;
    }
    put_long(p, n < 95 ? HANDSHAKE : n < 99 ? INITIAL : ZERO_RTT, cid, len);
    return DATAGRAM;
}

static void make(const struct path *path, struct template *frame, uint32_t n)
{
    uint8_t *p = frame->octets, *ip = p + 14, *udp = ip + (path->v6 ? 40 : 20);
    memcpy(p, in->mac, 6);
    p[6] = 2;
    put16(p + 12, path->v6 ? 0x86dd : 0x0800);
    uint16_t udp_len = (uint16_t)(8 + put_quic(path, udp + 8, frame, (uint8_t)(n % N_SERVERS)));
    uint8_t *addresses = ip + (path->v6 ? 8 : 12);
    size_t address_len = path->v6 ? 16 : 4;
    if (path->v6) {
        ip[0] = 0x60;
        put16(ip + 4, udp_len);
        ip[6] = 17;
        ip[7] = 64;
        memcpy(addresses, (const uint8_t[16]){0x20, 1, 0x0d, 0xb8, [15] = (uint8_t)(1 + n % 200)}, 16);
    } else {
        ip[0] = 0x45;
        put16(ip + 2, 20u + udp_len);
        put16(ip + 6, 0x4000);
        ip[8] = 64;
        ip[9] = 17;
        memcpy(addresses, (const uint8_t[4]){198, 51, 100, (uint8_t)(1 + n % 200)}, 4);
    }
    memcpy(addresses + address_len, set.vip[path->v6].ip, address_len);
    if (!path->v6)
        put16(ip + 10, ~sum16(0, ip, 20));
    put16(udp, 1024 + n);
    put16(udp + 2, 443);
    put16(udp + 4, udp_len);
    // What of the payload is not in the template is zero, where the checksum is looked at.
    uint32_t sum = sum16(17u + udp_len, addresses, 2 * address_len);
    put16(udp + 6, ~sum16(sum, udp, (size_t)(p + HEADERS - udp)));
    frame->len = (uint16_t)(udp + udp_len - p);
}

/* What was sent is what came in, to the right server, with one less in the TTL. */
static void look(void)
{
    if (ran == NULL)
        return;
    bool v6 = ran->v6;
    if (bed->n_sent != N_FRAMES)
        abort();
    for (unsigned i = 0; i < N_FRAMES; i++) {
        const struct template *frame = &ran->frame[i];
        const struct rte_mbuf *mbuf = bed->sent[i].mbuf;
        const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *);
        uint8_t want[HEADERS];
        memcpy(want, frame->octets, sizeof want);
        memcpy(want, (const uint8_t[6]){2, 0, 0, 0, 0, p[5]}, 6);
        memcpy(want + 6, out->mac, 6);
        want[14 + (v6 ? 7 : 8)]--;
        if (!v6) {
            memcpy(want + 24, p + 24, 2);
            if (sum16(0, p + 14, 20) != 0xffff)
                abort();
        }
        bool right = frame->server == N_SERVERS ? p[5] < N_SERVERS : p[5] == frame->server;
        if (!right || mbuf->data_len != frame->len || memcmp(p, want, RTE_MIN(frame->len, HEADERS)) != 0)
            abort();
    }
}

static void prepare(void *arg)
{
    const struct path *path = arg;
    look();
    ran = path;
    bed_drop_sent(bed);
    quic_lb_decode_init();
    in->rx_csum_device = !path->check;
    for (unsigned i = 0; i < N_FRAMES; i++) {
        struct rte_mbuf *mbuf = rte_pktmbuf_alloc(bed->pool);
        if (mbuf == NULL)
            abort();
        uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *);
        const struct template *frame = &path->frame[i];
        memcpy(p, frame->octets, HEADERS);
        if (path->check)
            memset(p + HEADERS, 0, (size_t)frame->len - HEADERS);
        mbuf->data_len = frame->len;
        mbuf->pkt_len = frame->len;
        mbuf->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
        mbufs[i] = mbuf;
    }
}

static void run(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < N_FRAMES; i += BURST) {
        fwd_input(bed->fwd[0], in, &mbufs[i], BURST, bed->now_ns);
        fwd_flush(bed->fwd[0]);
    }
}

static void make_service(void)
{
    struct maglev_backend backend[N_SERVERS];
    for (uint8_t i = 0; i < ENCODINGS; i++)
        if (quic_lb_add_config(&lb, i, &config[i]) != 0)
            abort();
    service = (struct quic_service){.n_servers = N_SERVERS,
                                    .lb = &lb,
                                    .maglev_server = maglev_server,
                                    .server = server,
                                    .id_slot = id_slot,
                                    .id_mask = 63,
                                    .drop_small_initials = true};
    for (uint16_t i = 0; i < N_SERVERS; i++) {
        const uint8_t id = (uint8_t)i;
        server[i] = (struct quic_server){.slot = i, .id = {{{id, 1, 2}, .len = 3}, {{id, 1, 2}, .len = 8}}};
        server[i].port = out->index;
        server[i].mtu = 1500;
        server[i].mac = 2u + ((uint64_t)i << 40);
        backend[i] = (struct maglev_backend){.id = i, .weight = 1};
        maglev_server[i] = i;
        for (; server[i].n_ids < 2; server[i].n_ids++)
            if (!quic_service_add_id(&service, &server[i].id[server[i].n_ids], i))
                abort();
    }
    if (maglev_create(&service.maglev, MAGLEV_SIZE_DEFAULT, backend, N_SERVERS, ARENA_PAGES_AUTO) != 0)
        abort();
    const struct quic_vip vip[2] = {
        {.ip = {192, 0, 2, 80}, .port_be = htobe16(443)},
        {.ip = {0x20, 1, 0x0d, 0xb8, [14] = 1, [15] = 80}, .v6 = true, .port_be = htobe16(443)}};
    set = (struct quic_set){.n_services = 1, .service = &service};
    for (unsigned i = 0; i < RTE_DIM(vip); i++)
        quic_set_add_vip(&set, &vip[i]);
    atomic_store(&bed->shared.quic, &set);
}

void quic_path_add(void)
{
    static struct path paths[] = {
        {.name = "packet four-pass 3+4", .payload = 64},
        {.name = "packet four-pass 3+4, IPv6", .payload = 64, .v6 = true},
        {.name = "packet plaintext 3+4", .encoding = PLAINTEXT, .payload = 64},
        {.name = "packet plaintext 3+4, IPv6", .encoding = PLAINTEXT, .payload = 64, .v6 = true},
        {.name = "packet single-pass 8+8", .encoding = SINGLE_PASS, .payload = 64},
        {.name = "packet single-pass 8+8, IPv6", .encoding = SINGLE_PASS, .payload = 64, .v6 = true},
        {.name = "packet by hash", .encoding = NONE, .payload = 64},
        {.name = "packet by hash, IPv6", .encoding = NONE, .payload = 64, .v6 = true},
        {.name = "packet mix 90/4/5/1", .payload = 64, .mix = true},
        {.name = "packet mix 90/4/5/1, IPv6", .payload = 64, .mix = true, .v6 = true},
        {.name = "packet four-pass 3+4, 1200 octets", .payload = DATAGRAM},
        {.name = "packet four-pass 3+4, 1200 octets, IPv6", .payload = DATAGRAM, .v6 = true},
        {.name = "packet 1200 octets, checksum verified", .payload = DATAGRAM, .check = true},
        {.name = "packet 1200 octets, checksum verified, IPv6", .payload = DATAGRAM, .check = true, .v6 = true},
    };
    bed = bed_create(&(struct bed_config){.quic = true});
    in = bed_port(bed);
    out = bed_port(bed);
    make_service();
    for (size_t i = 0; i < RTE_DIM(paths); i++) {
        for (uint32_t n = 0; n < N_FRAMES; n++)
            make(&paths[i], &paths[i].frame[n], n);
        bench_add(&(struct bench_case){paths[i].name, N_FRAMES, prepare, run, &paths[i]});
    }
}
