// SPDX-License-Identifier: Apache-2.0
/* Retry in the servers' place: packets, tokens, and what becomes of Initials with and without one. */
#include "test/bed/edge_bed.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "fwd/quic/edge_priv.h"

#define S UINT64_C(1000000000)

static struct edge_bed *edge;
static struct quic_server *servers;
static uint8_t datagram[65536];

static void start(void)
{
    edge = edge_bed_create();
    edge_bed_servers(edge);
    servers = edge->server;
}

static void stop(void)
{
    cr_assert_eq(bed_check(edge->bed), 0);
    bed_drop_sent(edge->bed);
    cr_assert_eq(bed_mbufs(edge->bed), 0);
    edge_bed_destroy(edge);
}

TestSuite(quic_retry, .init = start, .fini = stop, .timeout = 120);

static uint64_t drops(enum drop drop)
{
    return bed_drops(edge->bed, drop);
}

static enum edge_end initial(const struct edge_initial *fields)
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

static struct retry_token_client client_of(const struct got *got)
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
static struct got take_retry(uint32_t version, uint8_t odcid_len)
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

static struct got get_retry(uint32_t version, uint8_t odcid_len)
{
    struct edge_initial fields = {.version = version, .dcid_len = odcid_len, .scid_len = 8};
    cr_assert_eq(initial(&fields), EDGE_ANSWERED);
    return take_retry(version, odcid_len);
}

/* The Initial that follows the Retry. */
static enum edge_end come_back(const struct got *got)
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
static struct gcm server_key(unsigned index)
{
    struct gcm gcm;
    cr_assert_eq(gcm_create(&gcm), 0);
    cr_assert(gcm_set_key(&gcm, edge->service.retry_key[index].key));
    return gcm;
}

static const struct quic_server *server_of_cid(const uint8_t *cid, uint8_t len)
{
    struct quic_lb_id id;
    cr_assert_eq(quic_lb_decode(edge->service.lb, cid, len, &id), QUIC_LB_OK);
    return quic_service_server(&edge->service, &id);
}

Test(quic_retry, packets_of_the_specifications)
{
    static const uint8_t v1[] = "\xff\x00\x00\x00\x01\x00\x08\xf0\x67\xa5\x50\x2a\x42\x62\xb5\x74\x6f\x6b\x65\x6e"
                                "\x04\xa2\x65\xba\x2e\xff\x4d\x82\x90\x58\xfb\x3f\x0f\x24\x96\xba";
    static const uint8_t v2[] = "\xcf\x6b\x33\x43\xcf\x00\x08\xf0\x67\xa5\x50\x2a\x42\x62\xb5\x74\x6f\x6b\x65\x6e"
                                "\xc8\x64\x6c\xe8\xbf\xe3\x39\x52\xd9\x55\x54\x36\x65\xdc\xc7\xb6";
    struct retry_packet fields = {.version = QUIC_VERSION_1,
                                  .unused = 15,
                                  .scid = (const uint8_t *)"\xf0\x67\xa5\x50\x2a\x42\x62\xb5",
                                  .scid_len = 8,
                                  .odcid = (const uint8_t *)"\x83\x94\xc8\xf0\x3e\x51\x57\x08",
                                  .odcid_len = 8,
                                  .token = (const uint8_t *)"token",
                                  .token_len = 5};
    struct retry_tags tags;
    uint8_t buffer[RETRY_PACKET_BUFFER];
    const uint8_t *packet;
    cr_assert_eq(retry_tags_create(&tags), 0);
    for (unsigned i = 0; i < 3; i++) {
        fields.version = QUIC_VERSION_1;
        cr_assert_eq(retry_packet_write(&tags, &fields, buffer, &packet), sizeof v1 - 1);
        cr_assert_arr_eq(packet, v1, sizeof v1 - 1);
        fields.version = QUIC_VERSION_2;
        cr_assert_eq(retry_packet_write(&tags, &fields, buffer, &packet), sizeof v2 - 1);
        cr_assert_arr_eq(packet, v2, sizeof v2 - 1);
    }
    struct retry_packet bad = fields;
    bad.version = 0x709a50c4;
    cr_assert_eq(retry_packet_write(&tags, &bad, buffer, &packet), 0);
    bad = fields;
    bad.token_len = 0;
    cr_assert_eq(retry_packet_write(&tags, &bad, buffer, &packet), 0);
    bad.token_len = RETRY_PACKET_TOKEN + 1;
    cr_assert_eq(retry_packet_write(&tags, &bad, buffer, &packet), 0);
    bad = fields;
    bad.scid_len = 21;
    cr_assert_eq(retry_packet_write(&tags, &bad, buffer, &packet), 0);
    retry_tags_destroy(&tags);
}

Test(quic_retry, initial_without_token_gets_one_that_servers_can_read)
{
    for (unsigned i = 0; i < 64; i++) {
        uint32_t version = i & 1 ? QUIC_VERSION_2 : QUIC_VERSION_1;
        uint8_t odcid_len = (uint8_t)(8 + i % 13);
        edge->v6 = i & 2;
        edge->vlan = i & 4;
        edge->service.retry_config = (uint8_t)(i % EDGE_CONFIGS);
        edge->host[2] = (uint8_t)i;
        edge->client_port++;
        struct got got = get_retry(version, odcid_len);
        cr_assert_eq(got.token[0], 77);

        struct gcm gcm = server_key(0);
        struct retry_token token;
        struct retry_token_client client = client_of(&got);
        cr_assert_eq(retry_token_check(&gcm, edge->service.retry_key[0].iv, got.token, got.token_len, &client,
                                       EDGE_POSIX_S, EDGE_LIFETIME_S, &token),
                     RETRY_TOKEN_OK);
        gcm_destroy(&gcm);
        cr_assert(!token.from_new_token);
        cr_assert_eq(token.expiry_s, EDGE_POSIX_S + EDGE_LIFETIME_S);
        cr_assert_eq(token.odcid_len, odcid_len);
        cr_assert_arr_eq(token.odcid, odcid, odcid_len);
        cr_assert_eq(token.port, edge->client_port);
        cr_assert_eq(come_back(&got), EDGE_PASSED);
    }
    cr_assert_eq(edge_stats(edge)->retries, 64);
    cr_assert_eq(edge_stats(edge)->tokens_good, 64);
    cr_assert_eq(edge_stats(edge)->tokens_bad, 0);
    cr_assert_eq(drops(DROP_QUIC_ANSWERED), 64);
}

Test(quic_retry, connection_id_of_a_retry_leads_where_the_4_tuple_does)
{
    unsigned seen[EDGE_SERVERS] = {0};
    for (unsigned i = 0; i < 300; i++) {
        edge->v6 = i & 1;
        edge->client_port = (uint16_t)(1000 + i);
        edge->service.retry_config = (uint8_t)(i % EDGE_CONFIGS);
        struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
        edge->service.retry_mode = QUIC_RETRY_OFF;
        cr_assert_eq(initial(&fields), EDGE_PASSED);
        edge->service.retry_mode = QUIC_RETRY_ON;
        struct got got = get_retry(QUIC_VERSION_1, 8);
        cr_assert_eq(got.cid[0] >> 5, i % EDGE_CONFIGS);
        cr_assert_eq((got.cid[0] & 31) + 1, got.cid_len, "the length tells itself");
        const struct quic_server *server = server_of_cid(got.cid, got.cid_len);
        // The pipeline's own choice, by the 4-tuple alone.
        uint8_t octets[65536];
        size_t len = edge_frame(edge, octets, datagram, 1200);
        struct quic_pkt pkt = {.mbuf = bed_raw(edge->bed, octets, len),
                               .v6 = edge->v6,
                               .l3_off = 14,
                               .payload_off = edge->v6 ? 62 : 42,
                               .header = {.dcid_len = 0, .type = QUIC_TYPE_INITIAL}};
        enum quic_unroutable why;
        struct quic_lb_id id;
        cr_assert_eq(quic_explain(&edge->service, &pkt, &why, &id), server);
        rte_pktmbuf_free(pkt.mbuf);
        seen[server - servers]++;
    }
    for (unsigned i = 0; i < EDGE_SERVERS; i++)
        cr_assert_gt(seen[i], 40);
}

Test(quic_retry, no_two_tokens_have_the_same_number)
{
    static uint8_t numbers[2000][RETRY_TOKEN_NUMBER];
    edge->quic->edge->number_count = UINT32_MAX - 1000;
    for (unsigned i = 0; i < 2000; i++) {
        struct got got = get_retry(QUIC_VERSION_1, 8);
        memcpy(numbers[i], got.token + 1, RETRY_TOKEN_NUMBER);
        cr_assert_eq(numbers[i][0], 3, "the worker");
        for (unsigned j = 0; j < i; j++)
            cr_assert(memcmp(numbers[i], numbers[j], RETRY_TOKEN_NUMBER) != 0);
    }
}

/* Q29 */
Test(quic_retry, each_flipped_bit_of_a_token_is_found)
{
    struct got got = get_retry(QUIC_VERSION_1, 20);
    cr_assert_eq(got.token_len, RETRY_TOKEN_MADE);
    unsigned n_dropped = 0;
    for (unsigned bit = 0; bit < 8u * got.token_len; bit++) {
        struct got bad = got;
        bad.token[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        // The first bit makes it one of a NEW_TOKEN frame, which is answered.
        cr_assert_eq(come_back(&bad), bit == 0 ? EDGE_ANSWERED : EDGE_DROPPED, "bit %u", bit);
        n_dropped += bit != 0;
    }
    cr_assert_eq(drops(DROP_QUIC_TOKEN_BAD), n_dropped);
    cr_assert_eq(edge_stats(edge)->tokens_bad, n_dropped + 1);
    cr_assert_eq(come_back(&got), EDGE_PASSED);
}

/* Q29 */
Test(quic_retry, each_cut_or_prolonged_token_is_found)
{
    struct got got = get_retry(QUIC_VERSION_1, 8);
    uint16_t len = got.token_len;
    for (got.token_len = 1; got.token_len <= sizeof got.token; got.token_len++)
        cr_assert_eq(come_back(&got), got.token_len == len ? EDGE_PASSED : EDGE_DROPPED);
    got.token_len = 0;
    cr_assert_eq(come_back(&got), EDGE_ANSWERED, "an empty token is none");
}

/* Q29 */
Test(quic_retry, huge_tokens_are_dropped)
{
    static uint8_t token[65536];
    struct got got = get_retry(QUIC_VERSION_1, 8);
    memcpy(token, got.token, got.token_len);
    struct edge_initial fields = {.len = 65507,
                                  .version = QUIC_VERSION_1,
                                  .dcid = got.cid,
                                  .dcid_len = got.cid_len,
                                  .scid_len = 8,
                                  .token = token,
                                  .token_len = 65400};
    cr_assert_eq(initial(&fields), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_TOKEN_BAD), 1);
    struct gcm gcm = server_key(0);
    struct retry_token out;
    struct retry_token_client client = client_of(&got);
    static const size_t sizes[] = {0, 1, 28, 29, 300, 65535};
    for (unsigned i = 0; i < RTE_DIM(sizes); i++)
        cr_assert_neq(retry_token_check(&gcm, edge->service.retry_key[0].iv, token, sizes[i], &client, EDGE_POSIX_S,
                                        EDGE_LIFETIME_S, &out),
                      RETRY_TOKEN_OK);
    gcm_destroy(&gcm);
}

/* Q29 */
Test(quic_retry, token_of_another_client_is_dropped)
{
    for (unsigned v6 = 0; v6 < 2; v6++) {
        edge->v6 = v6;
        struct got got = get_retry(QUIC_VERSION_1, 8);
        edge->host[3]++;
        cr_assert_eq(come_back(&got), EDGE_DROPPED);
        edge->host[3]--;
        edge->client_port++;
        cr_assert_eq(come_back(&got), EDGE_DROPPED);
        edge->client_port--;
        edge->v6 = !v6;
        cr_assert_eq(come_back(&got), EDGE_DROPPED);
        edge->v6 = v6;
        cr_assert_eq(come_back(&got), EDGE_PASSED);
    }
    cr_assert_eq(drops(DROP_QUIC_TOKEN_BAD), 6);
    cr_assert_eq(edge->bed->n_sent, 0, "a Retry token is never answered by Retry");
}

/* Q29 */
Test(quic_retry, tokens_are_good_for_their_time_and_what_clocks_differ)
{
    struct got got = get_retry(QUIC_VERSION_1, 8);
    uint64_t now_ns = edge->bed->now_ns;
    edge->bed->now_ns = now_ns + EDGE_LIFETIME_S * S + 2 * S - 1;
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    edge->bed->now_ns++;
    cr_assert_eq(come_back(&got), EDGE_DROPPED);
    // The clock goes back: by more than clocks may differ the token is from a time to come.
    edge->bed->now_ns = now_ns;
    edge->bed->shared.posix_ns -= 2 * S;
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    edge->bed->shared.posix_ns -= 1;
    cr_assert_eq(come_back(&got), EDGE_DROPPED);
    edge->bed->shared.posix_ns = 0;
    cr_assert_eq(come_back(&got), EDGE_DROPPED);
}

Test(quic_retry, connection_id_of_the_retry_is_part_of_the_token)
{
    struct got got = get_retry(QUIC_VERSION_1, 8);
    unsigned n_same = 0;
    for (unsigned bit = 0; bit < 8u * got.cid_len; bit++) {
        struct got bad = got;
        bad.cid[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
        // What is unroutable goes where the 4-tuple leads, and what decodes to the same server goes there as well.
        struct quic_lb_id id;
        const struct quic_server *server = NULL;
        if (quic_lb_decode(edge->service.lb, bad.cid, bad.cid_len, &id) == QUIC_LB_OK)
            server = quic_service_server(&edge->service, &id);
        bool same = server == NULL || server == server_of_cid(got.cid, got.cid_len);
        n_same += same;
        cr_assert_eq(come_back(&bad), same ? EDGE_PASSED : EDGE_DROPPED, "bit %u", bit);
    }
    cr_assert_gt(n_same, 0);
}

Test(quic_retry, further_initials_of_a_connection_carry_its_token_to_the_same_server)
{
    for (unsigned i = 0; i < 60; i++) {
        edge->v6 = i & 1;
        edge->client_port++;
        edge->service.retry_config = (uint8_t)(i % EDGE_CONFIGS);
        struct got got = get_retry(QUIC_VERSION_1, 8);
        const struct quic_server *server = server_of_cid(got.cid, got.cid_len);
        // Connection IDs that servers chose: of any configuration, and none that can be routed.
        for (uint8_t c = 0; c < EDGE_CONFIGS; c++) {
            for (unsigned s = 0; s < EDGE_SERVERS; s++) {
                struct got later = got;
                int len = quic_lb_encode(edge->service.lb, (uint8_t)(c << 5), &servers[s].id[c],
                                         (const uint8_t *)"nonce of a server", later.cid);
                later.cid_len = (uint8_t)len;
                cr_assert_eq(come_back(&later), &servers[s] == server ? EDGE_PASSED : EDGE_DROPPED);
            }
        }
        struct got later = got;
        memset(later.cid, 0xff, later.cid_len);
        cr_assert_eq(come_back(&later), EDGE_PASSED);
    }
}

/* A token of a NEW_TOKEN frame, which only servers make. */
static uint16_t new_token(unsigned key, uint64_t expiry_s, const struct retry_token_client *client, uint8_t *token)
{
    struct gcm gcm = server_key(key);
    const struct quic_retry_key *from = &edge->service.retry_key[key];
    uint8_t aad[29], nonce[12];
    expiry_s = htobe64(expiry_s);
    token[0] = 0x80 | from->sequence;
    memcpy(token + 1, "twelveoctets", 12);
    memcpy(token + 13, &expiry_s, 8);
    memcpy(token + 21, "opaque", 6);
    memcpy(aad, client->ip, 16);
    memcpy(aad + 16, token, 13);
    for (unsigned i = 0; i < 12; i++)
        nonce[i] = from->iv[i] ^ token[1 + i];
    cr_assert(gcm_seal(&gcm, nonce, aad, sizeof aad, token + 13, 14, token + 27));
    gcm_destroy(&gcm);
    return 27 + 16;
}

Test(quic_retry, tokens_of_servers_for_later_connections_are_accepted)
{
    struct got got = {.version = QUIC_VERSION_1, .cid_len = 8};
    struct retry_token_client client = client_of(&got);
    memcpy(got.cid, odcid, 8);
    for (unsigned key = 0; key < 2; key++) {
        // A week is fine: they have no lifetime of ours.
        got.token_len = new_token(key, EDGE_POSIX_S + 7 * 86400, &client, got.token);
        cr_assert_eq(come_back(&got), EDGE_PASSED);
        edge->client_port++;
        cr_assert_eq(come_back(&got), EDGE_PASSED, "at any port");
    }
    cr_assert_eq(edge_stats(edge)->tokens_good, 4);
    // Not good, or not good any more: as if there were none.
    got.token[30] ^= 1;
    cr_assert_eq(come_back(&got), EDGE_ANSWERED);
    struct got retry = take_retry(QUIC_VERSION_1, 8);
    cr_assert_eq(come_back(&retry), EDGE_PASSED);
    got.token_len = new_token(0, EDGE_POSIX_S - 2, &client, got.token);
    cr_assert_eq(come_back(&got), EDGE_ANSWERED);
    got.token[0] = 0x80 | 55;
    cr_assert_eq(come_back(&got), EDGE_ANSWERED, "a key that is not known");
    cr_assert_eq(edge_stats(edge)->tokens_bad, 3);
    cr_assert_eq(drops(DROP_QUIC_TOKEN_BAD), 0);
}

Test(quic_retry, retry_tokens_of_servers_are_accepted)
{
    struct gcm gcm = server_key(1);
    struct got got = {.version = QUIC_VERSION_2, .cid_len = 12};
    memset(got.cid, 0xee, sizeof got.cid);
    struct retry_token_client client = client_of(&got);
    got.token_len = (uint16_t)retry_token_make(&gcm, edge->service.retry_key[1].iv, 3, (const uint8_t *)"twelveoctets",
                                               &client, odcid, 8, EDGE_POSIX_S + EDGE_LIFETIME_S, got.token);
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    got.token_len = (uint16_t)retry_token_make(&gcm, edge->service.retry_key[1].iv, 3, (const uint8_t *)"TWELVEoctets",
                                               &client, odcid, 8, EDGE_POSIX_S + EDGE_LIFETIME_S + 3, got.token);
    cr_assert_eq(come_back(&got), EDGE_DROPPED);
    cr_assert_eq(retry_token_make(&gcm, edge->service.retry_key[1].iv, 3, (const uint8_t *)"TWELVEoctets", &client,
                                  odcid, 7, EDGE_POSIX_S, got.token),
                 0, "no client has so short a connection ID");
    gcm_destroy(&gcm);
}

Test(quic_retry, authentic_tokens_that_break_the_format_are_dropped)
{
    // Bodies: none, a time alone, an ODCIL too small, too large, beyond the end, without port, and a good one.
    static const struct {
        const char *rest;
        uint8_t len, verdict;
    } cases[] = {{"", 0, RETRY_TOKEN_FORMAT},
                 {"\7abcdefg12", 10, RETRY_TOKEN_FORMAT},
                 {"\25abcdefghijklmnopqrstu12", 24, RETRY_TOKEN_FORMAT},
                 {"\12abcdefgh", 9, RETRY_TOKEN_FORMAT},
                 {"\10abcdefgh1", 10, RETRY_TOKEN_FORMAT},
                 {"\10abcdefgh\303\120", 11, RETRY_TOKEN_OK},
                 {"\10abcdefgh\303\120opaque", 17, RETRY_TOKEN_OK},
                 {"\10abcdefgh\303\121", 11, RETRY_TOKEN_PORT}};
    struct gcm gcm = server_key(0);
    const struct quic_retry_key *from = &edge->service.retry_key[0];
    struct got got = {.version = QUIC_VERSION_1, .cid_len = 8};
    struct retry_token_client client = client_of(&got);
    for (unsigned i = 0; i < RTE_DIM(cases); i++) {
        uint8_t aad[16 + 13 + 1 + 8] = {0}, nonce[12];
        uint64_t expiry_s = htobe64(EDGE_POSIX_S + 1);
        got.token[0] = from->sequence;
        memset(got.token + 1, (int)i, 12);
        memcpy(got.token + 13, &expiry_s, 8);
        memcpy(got.token + 21, cases[i].rest, cases[i].len);
        memcpy(aad, client.ip, 16);
        memcpy(aad + 16, got.token, 13);
        aad[29] = 8;
        for (unsigned j = 0; j < 12; j++)
            nonce[j] = from->iv[j] ^ got.token[1 + j];
        cr_assert(
            gcm_seal(&gcm, nonce, aad, sizeof aad, got.token + 13, 8u + cases[i].len, got.token + 21 + cases[i].len));
        got.token_len = 21 + cases[i].len + 16;
        struct retry_token token;
        cr_assert_eq(
            retry_token_check(&gcm, from->iv, got.token, got.token_len, &client, EDGE_POSIX_S, EDGE_LIFETIME_S, &token),
            cases[i].verdict, "case %u", i);
        cr_assert_eq(come_back(&got), cases[i].verdict == RETRY_TOKEN_OK ? EDGE_PASSED : EDGE_DROPPED);
    }
    gcm_destroy(&gcm);
}

Test(quic_retry, in_transition_initials_get_a_retry_and_go_on)
{
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    edge->service.retry_mode = QUIC_RETRY_TRANSITION;
    edge->service.retry_on_ns = edge->bed->now_ns;
    for (unsigned i = 0; i < 4; i++) {
        edge->v6 = i & 1;
        edge->split = i & 2 ? 100 : 0;
        cr_assert_eq(initial(&fields), EDGE_BOTH);
        struct got got = take_retry(QUIC_VERSION_1, 8);
        cr_assert_eq(come_back(&got), EDGE_PASSED);
        got.token[20] ^= 1;
        cr_assert_eq(come_back(&got), EDGE_DROPPED);
        got.token[0] |= 0x80;
        cr_assert_eq(come_back(&got), EDGE_BOTH);
        bed_drop_sent(edge->bed);
    }
    // Whoever cannot be answered goes on.
    edge->split = 0;
    fields.dcid_len = 7;
    cr_assert_eq(initial(&fields), EDGE_PASSED);
    fields.dcid_len = 8;
    edge->service.edge_rate = 1;
    cr_assert_eq(initial(&fields), EDGE_BOTH);
    cr_assert_eq(initial(&fields), EDGE_PASSED);
    edge->service.edge_rate = 0;
    bed_drop_sent(edge->bed);
    // 200 ms, and the time before by which clocks may differ.
    edge->bed->now_ns += 199999999;
    cr_assert_eq(initial(&fields), EDGE_BOTH);
    edge->bed->now_ns++;
    cr_assert_eq(initial(&fields), EDGE_ANSWERED);
    edge->service.retry_on_ns = edge->bed->now_ns + 1;
    cr_assert_eq(initial(&fields), EDGE_BOTH);
    cr_assert_eq(drops(DROP_QUIC_ANSWERED), 1);
}

Test(quic_retry, what_goes_on_in_transition_is_what_came)
{
    edge->service.retry_mode = QUIC_RETRY_TRANSITION;
    edge->service.retry_on_ns = edge->bed->now_ns;
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    size_t len = edge_put_initial(datagram, &fields);
    uint8_t octets[2048];
    size_t frame_len = edge_frame(edge, octets, datagram, len);
    struct rte_mbuf *mbuf = bed_raw(edge->bed, octets, frame_len);
    struct fwd *fwd = edge->bed->fwd[0];
    struct quic_opts opts = {.from_client = true};
    struct quic_pkt pkt = {.mbuf = mbuf,
                           .port = edge->port,
                           .service = &edge->service,
                           .l3_off = 14,
                           .payload_off = 42,
                           .payload_len = (uint16_t)len};
    cr_assert_eq(quic_parse(rte_pktmbuf_mtod_offset(mbuf, uint8_t *, 42), len, &opts, &pkt.header), VERDICT_OK);
    fwd->quic = edge->quic;
    cr_assert(!quic_edge(fwd, &pkt));
    fwd->quic = NULL;
    fwd_flush(fwd);
    cr_assert_eq(mbuf->pkt_len, frame_len);
    cr_assert_arr_eq(rte_pktmbuf_mtod(mbuf, uint8_t *), octets, frame_len);
    rte_pktmbuf_free(mbuf);
    cr_assert_eq(edge->bed->n_sent, 1);
}

Test(quic_retry, transition_goes_on_without_a_buffer_for_the_retry)
{
    edge->service.retry_mode = QUIC_RETRY_TRANSITION;
    edge->service.retry_on_ns = edge->bed->now_ns;
    struct rte_mbuf *all[1023];
    unsigned n = 0;
    while (n < RTE_DIM(all) - 1 && (all[n] = rte_pktmbuf_alloc(edge->bed->pool)) != NULL)
        n++;
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    // One buffer is left, and that is the Initial's.
    cr_assert_eq(initial(&fields), EDGE_BOTH);
    cr_assert_eq(drops(DROP_TX_NO_MBUF), 1);
    cr_assert_eq(edge->bed->n_sent, 0);
    rte_pktmbuf_free_bulk(all, n);
}

Test(quic_retry, off_looks_at_no_token)
{
    struct got got = get_retry(QUIC_VERSION_1, 8);
    edge->service.retry_mode = QUIC_RETRY_OFF;
    got.token[20] ^= 1;
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    got.token_len = 0;
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    cr_assert_eq(edge_stats(edge)->tokens_bad, 0);
}

Test(quic_retry, retry_packets_to_a_source_are_limited)
{
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    unsigned n = 0;
    edge->service.edge_rate = 10;
    for (unsigned i = 0; i < 3000; i++) {
        edge->client_port++;
        n += initial(&fields) == EDGE_ANSWERED;
        bed_drop_sent(edge->bed);
        edge->bed->now_ns += 1000000;
    }
    cr_assert(n >= 38 && n <= 41, "%u", n);
    cr_assert_eq(drops(DROP_QUIC_LIMITED), 3000 - n);
    // Who has a token needs no Retry.
    edge->bed->now_ns += S;
    struct got got = get_retry(QUIC_VERSION_1, 8);
    for (unsigned i = 0; i < 100; i++)
        cr_assert_eq(come_back(&got), EDGE_PASSED);
}

Test(quic_retry, initials_that_break_the_rules_of_the_first_are_dropped)
{
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 7, .scid_len = 8};
    cr_assert_eq(initial(&fields), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_CID_LEN), 1);
    fields = (struct edge_initial){.len = 1199, .version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    cr_assert_eq(edge_datagram(edge, datagram, edge_put_initial(datagram, &fields), false), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_DGRAM_SMALL), 1);
}

Test(quic_retry, without_a_server_there_is_no_retry)
{
    struct maglev *maglev = edge->service.maglev;
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    struct got got = get_retry(QUIC_VERSION_1, 8), later = got;
    edge->service.maglev = NULL;
    cr_assert_eq(initial(&fields), EDGE_PASSED);
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    memset(later.cid, 0xff, later.cid_len);
    cr_assert_eq(come_back(&later), EDGE_DROPPED);
    edge->service.maglev = maglev;
}

Test(quic_retry, server_without_an_id_is_led_to_by_the_4_tuple)
{
    for (unsigned i = 0; i < EDGE_SERVERS; i++)
        servers[i].n_ids = 1; // that of PLAIN
    struct got got = get_retry(QUIC_VERSION_1, 8);
    struct quic_lb_id id;
    cr_assert_eq(got.cid_len, 20);
    cr_assert_eq(got.cid[0], 0xf3, "it says so, and how long it is");
    cr_assert_eq(quic_lb_decode(edge->service.lb, got.cid, got.cid_len, &id), QUIC_LB_RESERVED);
    cr_assert_eq(come_back(&got), EDGE_PASSED);
}

Test(quic_retry, no_key_makes_more_than_its_tokens)
{
    struct quic_edge_key *keys = edge->quic->edge->key[edge->service.slot];
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    struct got first = get_retry(QUIC_VERSION_1, 8);
    cr_assert_eq(keys[0].n_tokens, 1);
    keys[0].n_tokens = QUIC_RETRY_TOKENS_MAX - 1;
    cr_assert_eq(get_retry(QUIC_VERSION_1, 8).token[0], 77);
    struct got second = get_retry(QUIC_VERSION_1, 8);
    cr_assert_eq(second.token[0], 3);
    keys[1].n_tokens = QUIC_RETRY_TOKENS_MAX;
    cr_assert_eq(initial(&fields), EDGE_PASSED);
    cr_assert_eq(edge_stats(edge)->retry_spent, 1);
    // Those that there are stay good.
    cr_assert_eq(come_back(&first), EDGE_PASSED);
    cr_assert_eq(come_back(&second), EDGE_PASSED);
    // The count is the key's, wherever that stands.
    struct quic_retry_key key = edge->service.retry_key[0];
    edge->service.retry_key[0] = edge->service.retry_key[1];
    edge->service.retry_key[1] = key;
    cr_assert_eq(initial(&fields), EDGE_PASSED);
    edge->service.retry_key[0].key[3]++;
    cr_assert_eq(get_retry(QUIC_VERSION_1, 8).token[0], 3);
}

Test(quic_retry, keys_change_while_tokens_are_on_their_way)
{
    struct quic_service *service = &edge->service;
    struct got old = get_retry(QUIC_VERSION_1, 8);
    service->retry_key[2] = service->retry_key[1];
    service->retry_key[1] = service->retry_key[0];
    service->retry_key[0] = (struct quic_retry_key){.sequence = 4, .key = "a third key ....", .iv = "a third iv."};
    service->n_retry_keys = 3;
    struct got young = get_retry(QUIC_VERSION_1, 8);
    cr_assert_eq(young.token[0], 4);
    cr_assert_eq(come_back(&old), EDGE_PASSED);
    service->n_retry_keys = 1;
    cr_assert_eq(come_back(&young), EDGE_PASSED);
    cr_assert_eq(come_back(&old), EDGE_DROPPED);
    // The sequence of a key that went, with another key.
    service->retry_key[1] = (struct quic_retry_key){.sequence = 77, .key = "a fourth key ...", .iv = "a third iv."};
    service->n_retry_keys = 2;
    cr_assert_eq(come_back(&old), EDGE_DROPPED);
    // More keys come and go than there is room for.
    for (unsigned i = 0; i < 20; i++) {
        service->retry_key[0].key[0] = (uint8_t)i;
        young = get_retry(QUIC_VERSION_1, 8);
        cr_assert_eq(come_back(&young), EDGE_PASSED);
    }
    service->n_retry_keys = 0;
    cr_assert_eq(come_back(&young), EDGE_DROPPED);
}

Test(quic_retry, another_worker_accepts_what_one_made)
{
    struct got got = get_retry(QUIC_VERSION_1, 8), later = got;
    struct quic_edge_config config = {.worker = 4, .sources = 8, .pages = ARENA_PAGES_SMALL};
    struct quic_edge *mine = edge->quic->edge, *other;
    cr_assert_eq(quic_edge_create(&other, &config), 0);
    edge->quic->edge = other;
    cr_assert_eq(come_back(&got), EDGE_PASSED);
    memset(later.cid, 0xff, later.cid_len);
    cr_assert_eq(come_back(&later), EDGE_PASSED);
    edge->quic->edge = mine;
    quic_edge_destroy(other);
    config.worker = FWD_WORKERS_MAX;
    cr_assert_eq(quic_edge_create(&other, &config), -EINVAL);
}
