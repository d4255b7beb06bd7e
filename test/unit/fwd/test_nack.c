// SPDX-License-Identifier: Apache-2.0
/* Nacks from upstream: who may send them, how several become one, and which of them nobody hears. */
#include "test/unit/fwd/scene.h"

static void nack(enum scene_face face, const char *uri, uint32_t nonce, uint16_t reason)
{
    interest(face, uri, FIELDS(.nonce = nonce, .nack = reason));
}

Test(nack, goes_back_with_the_downstream_s_token_and_nonce)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a",
             FIELDS(.nonce = 1, .token = "abcdefghij", .token_len = 10, .can_be_prefix = true, .must_be_fresh = true));
    interest(B, "/a", FIELDS(.nonce = 2, .can_be_prefix = true, .must_be_fresh = true));
    sent_all(1);
    interest(E, "/a", FIELDS(.nonce = 1, .nack = NDN_NACK_NO_ROUTE, .can_be_prefix = true, .must_be_fresh = true));
    struct ndn_packet pkt = sent_nack(0, A, NDN_NACK_NO_ROUTE);
    cr_assert(pkt.lp.token_len == 10 && memcmp(pkt.lp.token, "abcdefghij", 10) == 0);
    cr_assert(name_is(&pkt, "/a"));
    cr_assert_eq(pkt.interest.nonce, 1);
    cr_assert(pkt.interest.can_be_prefix && pkt.interest.must_be_fresh);
    cr_assert_eq(sent_nack(1, B, NDN_NACK_NO_ROUTE).interest.nonce, 2);
    sent_all(2);
    cr_assert_eq(pending(), 0);
    cr_assert_eq(drops(DROP_NACK_TAKEN), 1);
    finish();
}

Test(nack, that_matches_nothing_is_dropped)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    sent_all(1);
    nack(E, "/b", 1, NDN_NACK_NO_ROUTE);                                                     // name
    nack(E, "/a", 2, NDN_NACK_NO_ROUTE);                                                     // nonce
    nack(D, "/a", 1, NDN_NACK_NO_ROUTE);                                                     // face
    nack(A, "/a", 1, NDN_NACK_NO_ROUTE);                                                     // downstream
    interest(E, "/a", FIELDS(.nonce = 1, .nack = NDN_NACK_NO_ROUTE, .can_be_prefix = true)); // selectors
    cr_assert_eq(drops(DROP_NACK_NO_MATCH), 5);
    sent_all(0);
    cr_assert_eq(pending(), 1);
    finish();
}

Test(nack, from_a_shared_link_is_ignored)
{
    SCENE();
    route("/", MULTI, 0);
    route("/h", AD_HOC, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(A, "/h", FIELDS(.nonce = 2));
    sent_all(2);
    nack(MULTI, "/a", 1, NDN_NACK_NO_ROUTE);
    nack(AD_HOC, "/h", 2, NDN_NACK_NO_ROUTE);
    cr_assert_eq(drops(DROP_NACK_NOT_P2P), 2);
    sent_all(0);
    cr_assert_eq(pending(), 2);
    finish();
}

Test(nack, is_not_sent_to_a_shared_link)
{
    SCENE();
    route("/", E, 0);
    interest(MULTI, "/a", FIELDS(.nonce = 1));
    interest(AD_HOC, "/a", FIELDS(.nonce = 2));
    interest(B, "/a", FIELDS(.nonce = 3));
    sent_all(1);
    nack(E, "/a", 1, NDN_NACK_CONGESTION);
    sent_nack(0, B, NDN_NACK_CONGESTION);
    sent_all(1);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(nack, waits_for_every_upstream_and_the_least_severe_reason_is_told)
{
    static const struct {
        uint16_t first, second, told;
    } row[] = {
        {NDN_NACK_NO_ROUTE, NDN_NACK_CONGESTION, NDN_NACK_CONGESTION},
        {NDN_NACK_CONGESTION, NDN_NACK_NO_ROUTE, NDN_NACK_CONGESTION},
        {NDN_NACK_DUPLICATE, NDN_NACK_NO_ROUTE, NDN_NACK_DUPLICATE},
        {NDN_NACK_NO_ROUTE, NDN_NACK_NO_ROUTE, NDN_NACK_NO_ROUTE},
        {NDN_NACK_DUPLICATE, NDN_NACK_CONGESTION, NDN_NACK_CONGESTION},
        {1, NDN_NACK_NO_ROUTE, NDN_NACK_NO_ROUTE},
        {7000, NDN_NACK_DUPLICATE, NDN_NACK_DUPLICATE},
    };
    SCENE();
    route("/", D, 1);
    route("/", E, 2);
    char uri[16];
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        snprintf(uri, sizeof uri, "/a/%u", i);
        interest(A, uri, FIELDS(.nonce = 1));
        sent_interest(0, D);
        bed_pass(bed, 20);
        interest(A, uri, FIELDS(.nonce = 2));
        sent_interest(1, E);
        sent_all(2);
        nack(D, uri, 1, row[i].first);
        sent_all(0);
        nack(E, uri, 2, row[i].second);
        cr_assert_eq(sent_nack(0, A, row[i].told).interest.nonce, 2);
        sent_all(1);
        cr_assert_eq(pending(), 0);
    }
    finish();
}

Test(nack, last_upstream_that_is_a_downstream_too_hears_it_at_once)
{
    // Two routers wait for each other: B was asked and asks the same.
    SCENE();
    route("/", B, 1);
    route("/", C, 2);
    interest(A, "/a", FIELDS(.nonce = 1));
    sent_interest(0, B);
    bed_pass(bed, 20);
    interest(B, "/a", FIELDS(.nonce = 2));
    sent_interest(1, C);
    sent_all(2);
    nack(C, "/a", 2, NDN_NACK_NO_ROUTE);
    cr_assert_eq(sent_nack(0, B, NDN_NACK_NO_ROUTE).interest.nonce, 2);
    sent_all(1);
    cr_assert_eq(pending(), 1);
    cr_assert_eq(face_pending(B), 0);
    cr_assert_eq(face_pending(A), 1);
    nack(B, "/a", 1, NDN_NACK_CONGESTION);
    cr_assert_eq(sent_nack(0, A, NDN_NACK_CONGESTION).interest.nonce, 1);
    sent_all(1);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(nack, to_an_older_nonce_is_not_for_the_newer_one)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    bed_pass(bed, 20);
    interest(A, "/a", FIELDS(.nonce = 2));
    sent_all(2);
    nack(E, "/a", 1, NDN_NACK_CONGESTION);
    cr_assert_eq(drops(DROP_NACK_NO_MATCH), 1);
    sent_all(0);
    nack(E, "/a", 2, NDN_NACK_CONGESTION);
    sent_nack(0, A, NDN_NACK_CONGESTION);
    sent_all(1);
    finish();
}

Test(nack, found_by_token_must_agree_with_the_name)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    uint8_t token[8];
    memcpy(token, sent_interest(0, E).lp.token, 8);
    sent_all(1);
    interest(E, "/b", FIELDS(.nonce = 1, .nack = NDN_NACK_NO_ROUTE, .token = token, .token_len = 8));
    cr_assert_eq(drops(DROP_NACK_NO_MATCH), 1);
    sent_all(0);
    interest(E, "/a", FIELDS(.nonce = 1, .nack = NDN_NACK_NO_ROUTE, .token = token, .token_len = 8));
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    sent_all(1);
    cr_assert_eq(bed_stats(bed).token_hits, 1);
    finish();
}

Test(nack, without_reason_or_with_an_unknown_one_is_a_nack_all_the_same)
{
    SCENE();
    route("/", E, 0);
    packet(A, "050B 0703080141 0A0401020304");
    sent_all(1);
    packet(E, "6413 FD032000 500D 050B 0703080141 0A0401020304");
    sent_nack(0, A, 1);
    sent_all(1);
    packet(A, "050B 0703080142 0A0401020304");
    sent_all(1);
    packet(E, "641B FD032008FD03210400010000 500D 050B 0703080142 0A0401020304");
    sent_nack(0, A, 1);
    sent_all(1);
    finish();
}

/*
 * Public reports redmine 1966 and 5278: D aggregates E's Interest with B's, whose loop is answered with Nack
 * Duplicate. With multicast no Nack is sent for a loop, and none that comes in ends the waiting.
 */
Test(nack, duplicate_does_not_kill_an_aggregated_interest_under_multicast)
{
    SCENE();
    route("/", C, 0);
    route("/", D, 0);
    bed_strategy(bed, "/", 1);
    interest(B, "/a", FIELDS(.nonce = 1));
    sent_interest(0, C);
    sent_interest(1, D);
    interest(E, "/a", FIELDS(.nonce = 2));
    sent_all(2);
    nack(C, "/a", 1, NDN_NACK_DUPLICATE);
    nack(D, "/a", 1, NDN_NACK_DUPLICATE);
    cr_assert_eq(drops(DROP_NACK_TAKEN), 2);
    sent_all(0);
    interest(C, "/a", FIELDS(.nonce = 1)); // B's Interest came round: silence
    cr_assert_eq(drops(DROP_LOOP_DUP_NONCE), 1);
    sent_all(0);
    data(D, "/a", NULL);
    sent_data(0, B);
    sent_data(1, E);
    sent_all(2);
    finish();
}

Test(nack, of_a_long_name_to_many_downstreams_is_whole)
{
    SCENE(.pit_capacity = 64, .pit_blocks = 512);
    route("/", E, 0);
    char uri[1300] = "/";
    memset(uri + 1, 'n', 1200);
    interest(A, uri, FIELDS(.nonce = 1));
    interest(B, uri, FIELDS(.nonce = 2));
    interest(C, uri, FIELDS(.nonce = 3));
    sent_all(1);
    nack(E, uri, 1, NDN_NACK_NO_ROUTE);
    for (int i = 0; i < 3; i++) {
        struct ndn_packet pkt = sent_nack((unsigned)i, (enum scene_face)(A + i), NDN_NACK_NO_ROUTE);
        cr_assert(name_is(&pkt, uri));
    }
    sent_all(3);
    finish();
}

Test(nack, that_finds_no_buffer_is_counted)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(B, "/a", FIELDS(.nonce = 2));
    sent_all(1);
    uint8_t buf[200];
    size_t len = bed_interest(buf, sizeof buf, "/a", FIELDS(.nonce = 1, .nack = NDN_NACK_NO_ROUTE));
    struct rte_mbuf *mbuf = bed_frame(bed, face_id[E], buf, len);
    pool_take(1);
    bed_receive(bed, &bed->port[E], &mbuf, 1);
    pool_give();
    cr_assert_eq(drops(DROP_TX_NO_MBUF), 1);
    cr_assert_eq(pending(), 0);
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    sent_all(1);
    finish();
}
