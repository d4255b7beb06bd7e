// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_QUIC_RETRY_H
#define TEST_UNIT_FWD_QUIC_RETRY_H

/* A service with Retry and a client of it. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "fwd/quic/edge_priv.h"
#include "test/bed/edge_bed.h"

#define S UINT64_C(1000000000)

static struct edge_bed *edge;
static struct quic_server *servers;
static uint8_t datagram[65536];

static inline void start(void)
{
    edge = edge_bed_create();
    edge_bed_servers(edge);
    servers = edge->server;
}

static inline void stop(void)
{
    cr_assert_eq(bed_check(edge->bed), 0);
    bed_drop_sent(edge->bed);
    cr_assert_eq(bed_mbufs(edge->bed), 0);
    edge_bed_destroy(edge);
}

static inline uint64_t drops(enum drop drop)
{
    return bed_drops(edge->bed, drop);
}

static inline enum edge_end initial(const struct edge_initial *fields)
{
    return edge_datagram(edge, datagram, edge_put_initial(datagram, fields), true);
}

static const uint8_t odcid[20] = {0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8, 0xd9,
                                  0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xe1, 0xe2, 0xe3};

/** What a client gets out of a Retry. */
struct got {
    uint8_t cid[20], cid_len;
    uint8_t token[100];
    uint16_t token_len;
    uint32_t version;
};

static inline struct retry_token_client client_of(const struct got *got)
{
    struct retry_token_client client = {.port = edge->client_port, .rscid = got->cid, .rscid_len = got->cid_len};
    if (edge->v6) {
        client.ip[0] = 0xfd;
        memcpy(client.ip + 4, edge->host, 4);
        client.ip[15] = 2;
    } else {
        memcpy(client.ip, edge->host, 4);
        client.ip[0] = 10;
    }
    return client;
}

/* The only frame sent is a Retry, whose tag is right for an Initial with this DCID. */
static inline struct got take_retry(uint32_t version, uint8_t odcid_len)
{
    struct got got = {.version = version};
    struct quic_header header;
    struct quic_opts opts = {.require_fixed_bit = true};
    cr_assert_eq(edge->bed->n_sent, 1);
    struct edge_sent sent = edge_parse_sent(edge, 0);
    cr_assert_eq(quic_parse(sent.payload, sent.len, &opts, &header), VERDICT_OK);
    cr_assert_eq(header.type, QUIC_TYPE_RETRY);
    cr_assert_eq(header.version, version);
    cr_assert_eq(header.dcid_len, 8);
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(header.dcid[i], 0x50 + i);
    cr_assert_leq(2 * sent.len, 1200);
    got.cid_len = header.scid_len;
    memcpy(got.cid, header.scid, header.scid_len);
    cr_assert_leq(header.token_len, sizeof got.token);
    got.token_len = header.token_len;
    memcpy(got.token, header.token, header.token_len);

    struct retry_tags tags;
    uint8_t buffer[RETRY_PACKET_BUFFER];
    const uint8_t *packet;
    struct retry_packet fields = {
        .version = version,
        .unused = header.first & 15,
        .dcid = header.dcid,
        .dcid_len = header.dcid_len,
        .scid = got.cid,
        .scid_len = got.cid_len,
        .odcid = odcid,
        .odcid_len = odcid_len,
        .token = got.token,
        .token_len = got.token_len,
    };
    cr_assert_eq(retry_tags_create(&tags), 0);
    cr_assert_eq(retry_packet_write(&tags, &fields, buffer, &packet), sent.len);
    cr_assert_arr_eq(packet, sent.payload, sent.len);
    retry_tags_destroy(&tags);
    bed_drop_sent(edge->bed);
    return got;
}

static inline struct got get_retry(uint32_t version, uint8_t odcid_len)
{
    struct edge_initial fields = {.version = version, .dcid_len = odcid_len, .scid_len = 8};
    cr_assert_eq(initial(&fields), EDGE_ANSWERED);
    return take_retry(version, odcid_len);
}

/* The Initial that follows the Retry. */
static inline enum edge_end come_back(const struct got *got)
{
    struct edge_initial fields = {.version = got->version,
                                  .dcid_len = got->cid_len,
                                  .scid_len = 8,
                                  .dcid = got->cid,
                                  .token = got->token,
                                  .token_len = got->token_len};
    return initial(&fields);
}

/* A key of the service as a server has it. */
static inline struct gcm server_key(unsigned index)
{
    struct gcm gcm;
    cr_assert_eq(gcm_create(&gcm), 0);
    cr_assert(gcm_set_key(&gcm, edge->service.retry_key[index].key));
    return gcm;
}

static inline const struct quic_server *server_of_cid(const uint8_t *cid, uint8_t len)
{
    struct quic_lb_id id;
    cr_assert_eq(quic_lb_decode(edge->service.lb, cid, len, &id), QUIC_LB_OK);
    return quic_service_server(&edge->service, &id);
}

#endif
