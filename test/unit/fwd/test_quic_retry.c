// SPDX-License-Identifier: Apache-2.0
/* Retry in the servers' place: packets, transition, keys. */
#include "test/unit/fwd/quic_retry.h"

TestSuite(quic_retry, .init = start, .fini = stop, .timeout = 120);

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

/* Packets of @p first with 20 octets each in front of an Initial, all in one datagram of 1200. */
static enum edge_end behind(uint8_t first, unsigned n, struct edge_initial *fields)
{
    size_t at = 0;
    for (unsigned i = 0; i < n; i++) {
        at += edge_put_long(datagram + at, first, fields->version, 8, 8);
        memcpy(datagram + at, "\x40\x14", 2);
        memset(datagram + at + 2, 0x5a, 20);
        at += 22;
    }
    fields->len = 1200 - at;
    edge_put_initial(datagram + at, fields);
    return edge_datagram(edge, datagram, 1200, true);
}

/* RFC 9000 12.2 lets senders order the packets of a datagram as they like. */
Test(quic_retry, initial_behind_other_packets_is_an_initial)
{
    static const struct {
        uint8_t first;
        uint32_t version;
    } kinds[] = {{0xd0, QUIC_VERSION_1}, {0xe0, QUIC_VERSION_1}, {0xe0, QUIC_VERSION_2}, {0xf0, QUIC_VERSION_2}};
    static const uint8_t other[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    for (unsigned i = 0; i < 5 * RTE_DIM(kinds); i++) {
        uint8_t first = kinds[i / 5].first;
        struct edge_initial fields = {.version = kinds[i / 5].version, .dcid_len = 8, .scid_len = 8};
        unsigned n = (unsigned[]){1, 2, 7, 8, 20}[i % 5];
        edge->v6 = i & 1;
        edge->split = i & 2 ? 100 : 0;
        cr_assert_eq(behind(first, n, &fields), EDGE_ANSWERED, "%u in front", n);
        struct got got = take_retry(fields.version, 8);
        cr_assert_eq(come_back(&got), EDGE_PASSED);
        got.token[20] ^= 1;
        fields.token = got.token;
        fields.token_len = got.token_len;
        cr_assert_eq(behind(first, 1, &fields), EDGE_DROPPED, "its token is looked at");
        fields.dcid = other;
        cr_assert_eq(behind(first, 1, &fields), EDGE_PASSED, "servers ignore those of another connection ID");
    }
    edge->service.retry_mode = QUIC_RETRY_OFF;
    edge->service.initial_rate = 1;
    struct edge_initial fields = {.version = QUIC_VERSION_1, .dcid_len = 8, .scid_len = 8};
    cr_assert_eq(behind(0xd0, 1, &fields), EDGE_PASSED);
    cr_assert_eq(behind(0xd0, 1, &fields), EDGE_DROPPED);
    cr_assert_eq(drops(DROP_QUIC_LIMITED), 1);
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
