// SPDX-License-Identifier: Apache-2.0
/* What Retry costs at the edge: an Initial answered, from frame to frame, and one whose token is good. */
#include "test/bench/bench_quic.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "fwd/quic/quic.h"
#include "parser/quic.h"
#include "test/bed/edge_bed.h"
#include "test/bench/bench.h"

#ifdef HAVE_NGTCP2_CRYPTO
#include <arpa/inet.h>
#include <netinet/in.h>

#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#endif

#define CHUNK     256
#define FRAME_OFF 42

static struct edge_bed *edge;
static const struct quic_opts opts = {.from_client = true, .short_dcid_len = 20};

struct initial {
    uint8_t config; /**< of the connection IDs in Retry packets */
    size_t len;
    uint8_t frame[1300];
    struct rte_mbuf *mbuf; /**< it for good, when it goes on */
};

static void fill(struct initial *initial, const struct edge_initial *fields)
{
    uint8_t datagram[1200];
    size_t len = edge_put_initial(datagram, fields);
    initial->len = edge_frame(edge, initial->frame, datagram, len);
}

static bool give(struct rte_mbuf *mbuf)
{
    struct quic_pkt pkt = {
        .mbuf = mbuf,
        .port = edge->port,
        .service = &edge->service,
        .l3_off = 14,
        .payload_off = FRAME_OFF,
        .payload_len = (uint16_t)(mbuf->data_len - FRAME_OFF),
    };
    if (quic_parse(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, FRAME_OFF), pkt.payload_len, &opts, &pkt.header) !=
        VERDICT_OK)
        abort();
    return quic_edge(edge->bed->fwd[0], &pkt);
}

static void run_answer(void *arg)
{
    const struct initial *initial = arg;
    struct fwd *fwd = edge->bed->fwd[0];
    edge->service.retry_config = initial->config;
    for (unsigned i = 0; i < CHUNK; i++) {
        struct rte_mbuf *mbuf = rte_pktmbuf_alloc(edge->bed->pool);
        // As far as it is read: the rest was written by the device.
        memcpy(rte_pktmbuf_mtod(mbuf, uint8_t *), initial->frame, 128);
        mbuf->data_len = (uint16_t)initial->len;
        mbuf->pkt_len = (uint32_t)initial->len;
        fwd->stats.rx_frames++;
        if (!give(mbuf))
            abort();
    }
    fwd_flush(fwd);
}

static void run_check(void *arg)
{
    const struct initial *initial = arg;
    edge->service.retry_config = initial->config;
    for (unsigned i = 0; i < CHUNK; i++)
        if (give(initial->mbuf))
            abort();
}

/* Keys may make a number of tokens that a bench soon reaches. */
static void forget_tokens(void *arg)
{
    (void)arg;
    quic_lb_decode_init();
    struct quic_edge_config config = {.sources = 8, .pages = ARENA_PAGES_SMALL};
    quic_edge_destroy(edge->quic->edge);
    if (quic_edge_create(&edge->quic->edge, &config) != 0)
        abort();
    // The first token sets the key up.
    struct initial first;
    fill(&first, &(struct edge_initial){.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8});
    struct rte_mbuf *mbuf = bed_raw(edge->bed, first.frame, first.len);
    edge->bed->fwd[0]->stats.rx_frames++;
    if (!give(mbuf))
        abort();
    fwd_flush(edge->bed->fwd[0]);
}

static void add(const char *answer, const char *check, uint8_t config)
{
    struct initial *without = calloc(1, sizeof *without), *with = calloc(1, sizeof *with);
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    struct quic_header header;
    if (without == NULL || with == NULL)
        abort();
    without->config = with->config = config;
    fill(without, &fields);
    bench_add(&(struct bench_case){answer, CHUNK, forget_tokens, run_answer, without});

    edge->service.retry_config = config;
    edge->bed->free_sent = false;
    edge->bed->fwd[0]->stats.rx_frames++;
    if (!give(bed_raw(edge->bed, without->frame, without->len)))
        abort();
    fwd_flush(edge->bed->fwd[0]);
    struct edge_sent sent = edge_parse_sent(edge, 0);
    if (quic_parse(sent.payload, sent.len, &(struct quic_opts){0}, &header) != VERDICT_OK)
        abort();
    fields.dcid = header.scid;
    fields.dcid_len = header.scid_len;
    fields.token = header.token;
    fields.token_len = header.token_len;
    fill(with, &fields);
    bed_drop_sent(edge->bed);
    edge->bed->free_sent = true;
    with->mbuf = bed_raw(edge->bed, with->frame, with->len);
    bench_add(&(struct bench_case){check, CHUNK, forget_tokens, run_check, with});
}

#ifdef HAVE_NGTCP2_CRYPTO
struct peer {
    ngtcp2_cid client, odcid, scid;
    struct sockaddr_in addr;
    uint8_t token[NGTCP2_CRYPTO_MAX_RETRY_TOKENLEN];
    ngtcp2_ssize token_len;
};

static const uint8_t secret[] = "a secret of a server";

static void peer_token(struct peer *peer)
{
    peer->token_len = ngtcp2_crypto_generate_retry_token(peer->token, secret, sizeof secret, NGTCP2_PROTO_VER_V1,
                                                         (const ngtcp2_sockaddr *)&peer->addr, sizeof peer->addr,
                                                         &peer->scid, &peer->odcid, 1000);
    if (peer->token_len < 0)
        abort();
}

static void run_peer_answer(void *arg)
{
    struct peer *peer = arg;
    uint8_t packet[256];
    for (unsigned i = 0; i < CHUNK; i++) {
        peer_token(peer);
        if (ngtcp2_crypto_write_retry(packet, sizeof packet, NGTCP2_PROTO_VER_V1, &peer->client, &peer->scid,
                                      &peer->odcid, peer->token, (size_t)peer->token_len) < 0)
            abort();
        bench_use(packet[40]);
    }
}

static void run_peer_check(void *arg)
{
    struct peer *peer = arg;
    ngtcp2_cid odcid;
    for (unsigned i = 0; i < CHUNK; i++)
        if (ngtcp2_crypto_verify_retry_token(&odcid, peer->token, (size_t)peer->token_len, secret, sizeof secret,
                                             NGTCP2_PROTO_VER_V1, (const ngtcp2_sockaddr *)&peer->addr,
                                             sizeof peer->addr, &peer->scid, 10 * NGTCP2_SECONDS, 2000) != 0)
            abort();
}

static void add_peer(void)
{
    static struct peer peer = {.addr = {.sin_family = AF_INET, .sin_port = 4433}};
    peer.client.datalen = peer.odcid.datalen = 8;
    peer.scid.datalen = 10;
    memset(peer.client.data, 1, sizeof peer.client.data);
    memset(peer.odcid.data, 2, sizeof peer.odcid.data);
    memset(peer.scid.data, 3, sizeof peer.scid.data);
    peer_token(&peer);
    bench_add(&(struct bench_case){"retry answer, ngtcp2", CHUNK, NULL, run_peer_answer, &peer});
    bench_add(&(struct bench_case){"retry token check, ngtcp2", CHUNK, NULL, run_peer_check, &peer});
}
#endif

void bench_quic_retry_add(void)
{
    edge = edge_bed_create();
    edge_bed_servers(edge);
    edge->bed->fwd[0]->quic = edge->quic;
    edge->bed->fwd[0]->now_ns = edge->bed->now_ns;
    edge->bed->free_sent = true;
    add("retry answer", "retry token check", EDGE_PLAIN);
    add("retry answer, four-pass CID", "retry token check, four-pass CID", EDGE_FOUR_PASS);
#ifdef HAVE_NGTCP2_CRYPTO
    add_peer();
#endif
}
