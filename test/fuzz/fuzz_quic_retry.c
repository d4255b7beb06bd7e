// SPDX-License-Identifier: Apache-2.0
/*
 * The edge of a QUIC service: any datagram, any token, and tokens that were made here and changed. At most one answer
 * to a datagram, sound in every header and less than half of what asked for it; no changed token passes; every frame is
 * accounted for.
 *
 * Input: u8 what, u8 switches, u8 configuration of connection IDs, then the datagram, the token, or what is added to a
 * token octet by octet.
 */
#include <stdlib.h>
#include <string.h>

#include "fwd/quic/edge_priv.h"
#include "test/bed/edge_bed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAW, TOKEN, CHANGED, CHECK, KINDS };

static struct edge_bed *edge;
static struct gcm server;
static uint8_t datagram[65536];

static void must(bool condition)
{
    if (!condition)
        abort();
}

static void stop(void)
{
    gcm_destroy(&server);
    edge_bed_destroy(edge);
}

static void start(void)
{
    edge = edge_bed_create();
    edge_bed_servers(edge);
    edge->service.n_versions = 2;
    edge->service.version[0] = QUIC_VERSION_1;
    edge->service.version[1] = 0xff00001d;
    must(gcm_create(&server) == 0 && gcm_set_key(&server, edge->service.retry_key[0].key));
    must(atexit(stop) == 0);
}

static enum edge_end give(size_t len)
{
    enum edge_end end = edge_datagram(edge, datagram, len, false);
    unsigned want = end == EDGE_ANSWERED || end == EDGE_BOTH;
    must(edge->bed->n_sent == want);
    if (want == 1)
        must(2u * edge_parse_sent(edge, 0).len < len);
    return end;
}

static void raw(const uint8_t *data, size_t size, bool pad)
{
    struct quic_header header;
    const struct quic_opts opts = {.short_dcid_len = 20};
    size_t len = size < 1472 ? size : 1472;
    memcpy(datagram, data, len);
    if (pad && len < 1200) {
        memset(datagram + len, 0, 1200 - len);
        len = 1200;
    }
    if (quic_parse(datagram, len, &opts, &header) == VERDICT_OK)
        give(len);
}

static void any_token(const uint8_t *data, size_t size)
{
    struct edge_initial fields = {.version = size & 1 ? QUIC_VERSION_2 : QUIC_VERSION_1,
                                  .dcid_len = (uint8_t)(8 + size % 13),
                                  .scid_len = (uint8_t)(size % 21),
                                  .token = data,
                                  .token_len = size < 1100 ? size : 1100};
    enum edge_end end = give(edge_put_initial(datagram, &fields));
    must(edge->service.retry_mode == QUIC_RETRY_OFF || end != EDGE_PASSED);
}

/* A token that a Retry brought, with these octets added to it; none of them 0 at the end. */
static void changed_token(const uint8_t *data, size_t size)
{
    uint8_t cid[20], token[RETRY_TOKEN_MADE];
    struct quic_header header;
    const struct quic_opts opts = {0};
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = (uint8_t)(8 + size % 13), .scid_len = 8};
    edge->service.version_negotiation = false;
    if (edge->service.retry_mode != QUIC_RETRY_ON)
        return;
    must(give(edge_put_initial(datagram, &fields)) == EDGE_ANSWERED);
    struct edge_sent sent = edge_parse_sent(edge, 0);
    must(quic_parse(sent.payload, sent.len, &opts, &header) == VERDICT_OK && header.type == QUIC_TYPE_RETRY);
    must(header.token_len <= sizeof token);
    memcpy(cid, header.scid, header.scid_len);
    memcpy(token, header.token, header.token_len);
    bed_drop_sent(edge->bed);
    bool changed = false;
    for (size_t i = 0; i < size && i < header.token_len; i++) {
        token[i] ^= data[i];
        changed |= data[i] != 0;
    }
    fields.dcid = cid;
    fields.dcid_len = header.scid_len;
    fields.token = token;
    fields.token_len = header.token_len;
    enum edge_end want = !changed ? EDGE_PASSED : token[0] & RETRY_TOKEN_NEW_BIT ? EDGE_ANSWERED : EDGE_DROPPED;
    must(give(edge_put_initial(datagram, &fields)) == want);
}

static void check_alone(const uint8_t *data, size_t size)
{
    struct retry_token out;
    struct retry_token_client client = {.port = 1, .rscid = data, .rscid_len = (uint8_t)(size < 20 ? size : 20)};
    uint8_t *token = malloc(size > 0 ? size : 1);
    if (token == NULL)
        return;
    memcpy(token, data, size);
    must(retry_token_check(&server, edge->service.retry_key[0].iv, token, size, &client, EDGE_POSIX_S, EDGE_LIFETIME_S,
                           &out) != RETRY_TOKEN_OK);
    free(token);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (edge == NULL)
        start();
    if (size < 3)
        return 0;
    struct quic_service *service = &edge->service;
    struct quic_edge_key *keys = edge->quic->edge->key[service->slot];
    keys[0].n_tokens = keys[1].n_tokens = 0;
    edge->v6 = data[1] & 1;
    edge->vlan = data[1] & 2;
    edge->split = data[1] & 4 ? 100u + data[2] : 0;
    service->version_negotiation = data[1] & 8;
    service->drop_small_initials = data[1] & 16;
    service->retry_mode = (uint8_t)((data[1] >> 5 & 3) % 3);
    service->retry_on_ns = edge->bed->now_ns;
    service->retry_config = data[2] % 8;
    switch (data[0] % KINDS) {
    case RAW:
        raw(data + 3, size - 3, data[1] & 128);
        break;
    case TOKEN:
        any_token(data + 3, size - 3);
        break;
    case CHANGED:
        changed_token(data + 3, size - 3);
        break;
    case CHECK:
        check_alone(data + 3, size - 3);
        break;
    }
    bed_drop_sent(edge->bed);
    must(bed_check(edge->bed) == 0 && bed_mbufs(edge->bed) == 0);
    return 0;
}
