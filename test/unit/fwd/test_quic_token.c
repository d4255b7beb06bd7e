// SPDX-License-Identifier: Apache-2.0
/* Retry tokens: which are good, and where Initials with them go. */
#include "test/unit/fwd/quic_retry.h"

TestSuite(quic_token, .init = start, .fini = stop, .timeout = 120);

/* Q29 */
Test(quic_token, each_flipped_bit_of_a_token_is_found)
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
Test(quic_token, each_cut_or_prolonged_token_is_found)
{
    struct got got = get_retry(QUIC_VERSION_1, 8);
    uint16_t len = got.token_len;
    for (got.token_len = 1; got.token_len <= sizeof got.token; got.token_len++)
        cr_assert_eq(come_back(&got), got.token_len == len ? EDGE_PASSED : EDGE_DROPPED);
    got.token_len = 0;
    cr_assert_eq(come_back(&got), EDGE_ANSWERED, "an empty token is none");
}

/* Q29 */
Test(quic_token, huge_tokens_are_dropped)
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
Test(quic_token, token_of_another_client_is_dropped)
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
Test(quic_token, tokens_are_good_for_their_time_and_what_clocks_differ)
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

Test(quic_token, connection_id_of_the_retry_is_part_of_the_token)
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

Test(quic_token, further_initials_of_a_connection_carry_its_token_to_the_same_server)
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

Test(quic_token, tokens_of_servers_for_later_connections_are_accepted)
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

Test(quic_token, retry_tokens_of_servers_are_accepted)
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

Test(quic_token, authentic_tokens_that_break_the_format_are_dropped)
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

/* That of the note for operators of servers (conf/examples/quic-retry.md), made by another implementation. */
Test(quic_token, vector_of_the_note)
{
    static const uint8_t want[] = "\x05\x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x21\x14\xb5\xeb\x68\x15\x00"
                                  "\x7c\xb7\xf0\x60\x59\xc1\xf8\xe5\x61\x46\x60\x03\x8e\xba\x08\x60\x03\x78\xfe\x43"
                                  "\x8e\x7b\x5d\xaa\x0f\xd6\x86\xc6";
    uint8_t key[16], iv[12], number[12], token[RETRY_TOKEN_MADE];
    struct retry_token_client client = {.ip = {192, 0, 2, 7},
                                        .port = 50000,
                                        .rscid = (const uint8_t *)"\xf0\x67\xa5\x50\x2a\x42\x62\xb5",
                                        .rscid_len = 8};
    struct gcm gcm;
    struct retry_token out;
    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)i;
    for (unsigned i = 0; i < sizeof iv; i++) {
        iv[i] = (uint8_t)(0x10 + i);
        number[i] = (uint8_t)(0x20 + i);
    }
    cr_assert_eq(gcm_create(&gcm), 0);
    cr_assert(gcm_set_key(&gcm, key));
    cr_assert_eq(retry_token_make(&gcm, iv, 5, number, &client, (const uint8_t *)"\x83\x94\xc8\xf0\x3e\x51\x57\x08", 8,
                                  1800000000, token),
                 sizeof want - 1);
    cr_assert_arr_eq(token, want, sizeof want - 1);
    cr_assert_eq(retry_token_check(&gcm, iv, want, sizeof want - 1, &client, 1799999995, 10, &out), RETRY_TOKEN_OK);
    gcm_destroy(&gcm);
}
