// SPDX-License-Identifier: Apache-2.0
/*
 * A whole datagram: parsed, its connection ID decoded, its server selected, link header and TTL rewritten, checksum
 * updated, queued. Bursts of 32 in one worker of a bed; frames are made anew outside the timed part.
 */
#include "test/bench/bench_quic_path.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/quic/quic.h"
#include "test/bed/bed.h"
#include "test/bench/bench.h"

#define BURST     32
#define N_BURSTS  64
#define N_SERVERS 16

static struct bed *bed;
static struct port *in, *out;
static struct quic_set set;
static struct quic_service service;
static struct quic_server server[N_SERVERS];
static struct quic_lb lb;
static uint16_t id_slot[64], maglev_server[N_SERVERS];
static struct rte_mbuf *mbufs[N_BURSTS][BURST];

struct path {
    bool by_hash;     /* connection IDs of the client's own making */
    bool check;       /* the UDP checksum is verified in software */
    uint16_t payload; /* octets of UDP payload */
};

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

static void make(const struct path *path, struct rte_mbuf *mbuf, uint32_t n)
{
    uint8_t *p = rte_pktmbuf_mtod(mbuf, uint8_t *), *ip = p + 14, *udp = ip + 20, *quic = udp + 8;
    uint16_t udp_len = (uint16_t)(8 + path->payload);
    memset(p, 0, 14 + 20 + 8 + 32);
    memcpy(p, in->mac, 6);
    p[6] = 2;
    put16(p + 12, 0x0800);
    ip[0] = 0x45;
    put16(ip + 2, 20u + udp_len);
    put16(ip + 6, 0x4000);
    ip[8] = 64;
    ip[9] = 17;
    memcpy(ip + 12, (const uint8_t[8]){198, 51, 100, (uint8_t)(1 + n % 200), 192, 0, 2, 80}, 8);
    put16(ip + 10, ~sum16(0, ip, 20));
    put16(udp, 1024 + n);
    put16(udp + 2, 443);
    put16(udp + 4, udp_len);
    quic[0] = 0x41;
    quic[1] = path->by_hash ? 0xf1 : 0x07;
    struct quic_lb_id id = {.octets = {(uint8_t)(n % N_SERVERS), 1, 2}, .len = 3};
    uint8_t nonce[4] = {(uint8_t)n, (uint8_t)(n >> 8), 3, 4}, cid[QUIC_LB_CID_MAX];
    if (!path->by_hash && quic_lb_encode(&lb, 7, &id, nonce, cid) == 8)
        memcpy(quic + 1, cid, 8);
    uint8_t pseudo[12];
    memcpy(pseudo, ip + 12, 8);
    put16(pseudo + 8, 17);
    put16(pseudo + 10, udp_len);
    put16(udp + 6, ~sum16(sum16(0, pseudo, 12), udp, udp_len));
    mbuf->data_len = (uint16_t)(14 + 20 + udp_len);
    mbuf->pkt_len = mbuf->data_len;
}

static void prepare(void *arg)
{
    const struct path *path = arg;
    bed_drop_sent(bed);
    in->frame_opts.skip_udp_csum = false;
    in->rx_csum_device = !path->check;
    for (unsigned b = 0; b < N_BURSTS; b++)
        for (unsigned i = 0; i < BURST; i++) {
            mbufs[b][i] = rte_pktmbuf_alloc(bed->pool);
            if (mbufs[b][i] == NULL)
                abort();
            make(path, mbufs[b][i], b * BURST + i);
            mbufs[b][i]->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
        }
}

static void run(void *arg)
{
    (void)arg;
    for (unsigned b = 0; b < N_BURSTS; b++) {
        fwd_input(bed->fwd[0], in, mbufs[b], BURST, bed->now_ns);
        fwd_flush(bed->fwd[0]);
    }
    if (bed->n_sent != N_BURSTS * BURST)
        abort();
}

static void make_service(void)
{
    const struct quic_lb_config config = {
        .server_id_len = 3, .nonce_len = 4, .encrypted = true, .key = "0123456789abcde"};
    struct maglev_backend backend[N_SERVERS];
    if (quic_lb_add_config(&lb, 0, &config) != 0)
        abort();
    service = (struct quic_service){.n_servers = N_SERVERS,
                                    .lb = &lb,
                                    .maglev_server = maglev_server,
                                    .server = server,
                                    .id_slot = id_slot,
                                    .id_mask = 63,
                                    .drop_small_initials = true};
    for (uint16_t i = 0; i < N_SERVERS; i++) {
        server[i] = (struct quic_server){.slot = i, .n_ids = 1, .id = {{.octets = {(uint8_t)i, 1, 2}, .len = 3}}};
        server[i].port = out->index;
        server[i].mtu = 1500;
        server[i].mac = 2u + ((uint64_t)i << 40);
        backend[i] = (struct maglev_backend){.id = i, .weight = 1};
        maglev_server[i] = i;
        if (!quic_service_add_id(&service, &server[i].id[0], i))
            abort();
    }
    if (maglev_create(&service.maglev, MAGLEV_SIZE_DEFAULT, backend, N_SERVERS, ARENA_PAGES_AUTO) != 0)
        abort();
    set = (struct quic_set){.n_services = 1, .n_vips = 1, .service = &service};
    set.vip[0] = (struct quic_vip){.ip = {192, 0, 2, 80}, .port_be = htobe16(443)};
    atomic_store(&bed->shared.quic, &set);
}

void quic_path_add(void)
{
    static struct path by_cid = {.payload = 64}, by_hash = {.by_hash = true, .payload = 64}, large = {.payload = 1200},
                       checked = {.check = true, .payload = 1200};
    bed = bed_create(&(struct bed_config){.quic = true});
    in = bed_port(bed);
    out = bed_port(bed);
    make_service();
    bench_add(&(struct bench_case){"packet four-pass 3+4", N_BURSTS * BURST, prepare, run, &by_cid});
    bench_add(&(struct bench_case){"packet by hash", N_BURSTS * BURST, prepare, run, &by_hash});
    bench_add(&(struct bench_case){"packet four-pass 3+4, 1200 octets", N_BURSTS * BURST, prepare, run, &large});
    bench_add(&(struct bench_case){"the same, its checksum verified", N_BURSTS * BURST, prepare, run, &checked});
}
