// SPDX-License-Identifier: Apache-2.0
/* The Interest pipeline: what the reference forwarder does with an Interest, in its order. */
#include "test/unit/fwd/scene.h"

Test(interest, goes_to_the_route_with_our_token_and_the_nonce_it_had)
{
    SCENE();
    route("/", C, 10);
    route("/a", B, 10);
    interest(A, "/a/1", FIELDS(.nonce = 0xAABBCCDD, .hop_limit = 7, .token = "theirs", .token_len = 6));
    struct ndn_packet pkt = sent_interest(0, B);
    cr_assert(name_is(&pkt, "/a/1"));
    cr_assert_eq(pkt.interest.nonce, 0xAABBCCDD);
    cr_assert_eq(pkt.interest.hop_limit, 6);
    struct token token;
    cr_assert(token_read(pkt.lp.token, pkt.lp.token_len, bed->shared.token_key, &token));
    cr_assert_eq(pending(), 1);
    sent_all(1);
    interest(A, "/b", NULL);
    sent_interest(0, C);
    sent_all(1);
    finish();
}

Test(interest, hop_limit_lets_zero_reach_local_faces_only)
{
    static const struct {
        uint8_t hop_limit;
        enum scene_face in, out;
        enum drop drop; /* DROP_NONE: forwarded */
    } row[] = {
        {1, A, B, DROP_HOP_LIMIT_SPENT}, {1, A, LOCAL, DROP_NONE}, {1, LOCAL, B, DROP_HOP_LIMIT_SPENT},
        {1, LOCAL, LOCAL2, DROP_NONE},   {2, A, B, DROP_NONE},     {255, A, B, DROP_NONE},
    };
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        SCENE();
        route("/a", row[i].out, 0);
        interest(row[i].in, "/a", FIELDS(.hop_limit = row[i].hop_limit));
        if (row[i].drop == DROP_NONE) {
            cr_assert_eq(sent_interest(0, row[i].out).interest.hop_limit, row[i].hop_limit - 1);
            cr_assert_eq(pending(), 1);
        } else {
            sent_nack(0, row[i].in, NDN_NACK_NO_ROUTE);
            cr_assert_eq(drops(row[i].drop), 1, "row %u", i);
            cr_assert_eq(pending(), 0);
        }
        sent_all(1);
        finish();
    }
}

Test(interest, hop_limit_zero_on_arrival_is_dropped_even_with_data_cached)
{
    SCENE(.cs_capacity = 8);
    route("/a", B, 0);
    interest(A, "/a", NULL);
    data(B, "/a", NULL);
    sent_all(2);
    packet(C, "050E 0703080161 0A0405060708 220100");
    sent_all(0);
    cr_assert_eq(drops(DROP_HOP_LIMIT_ZERO), 1);
    packet(C, "050E 0703080161 0A0405060708 220101");
    sent_data(0, C);
    sent_all(1);
    finish();
}

Test(interest, hop_limit_behind_the_first_buffer_is_lowered)
{
    SCENE(.mbuf_size = 1024, .tx_multi_seg = true);
    route("/", E, 0);
    char uri[1300] = "/";
    memset(uri + 1, 'n', 1250);
    interest(LOCAL, uri, FIELDS(.nonce = 1, .hop_limit = 9));
    struct ndn_packet pkt = sent_interest(0, E);
    cr_assert_eq(pkt.interest.hop_limit, 8);
    cr_assert(name_is(&pkt, uri));
    sent_all(1);
    finish();
}

Test(interest, scopes_hold_in_every_direction)
{
    static const struct {
        const char *uri;
        enum scene_face in, out;
        enum drop drop;
        bool nack;
    } row[] = {
        {"/localhost/x", A, B, DROP_SCOPE_VIOLATION, false},
        {"/localhost/x", A, LOCAL, DROP_SCOPE_VIOLATION, false},
        {"/localhost/x", LOCAL, B, DROP_SCOPE_VIOLATION, true},
        {"/localhost/x", LOCAL, LOCAL2, DROP_NONE, false},
        {"/localhost", A, B, DROP_SCOPE_VIOLATION, false},
        {"/localhosts", A, B, DROP_NONE, false},
        {"/localhop/x", A, B, DROP_SCOPE_LOCALHOP, true},
        {"/localhop/x", A, LOCAL, DROP_NONE, false},
        {"/localhop/x", LOCAL, B, DROP_NONE, false},
        {"/localhop/x", LOCAL, LOCAL2, DROP_NONE, false},
        {"/x/localhost", A, B, DROP_NONE, false},
    };
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        for (uint16_t strategy = 0; strategy < 2; strategy++) {
            SCENE();
            route("/", row[i].out, 0);
            bed_strategy(bed, "/", strategy);
            interest(row[i].in, row[i].uri, NULL);
            if (row[i].drop == DROP_NONE) {
                sent_interest(0, row[i].out);
                sent_all(1);
            } else {
                cr_assert_eq(drops(row[i].drop), 1, "row %u", i);
                if (row[i].nack && strategy == 0)
                    sent_nack(0, row[i].in, NDN_NACK_NO_ROUTE);
                sent_all(row[i].nack && strategy == 0);
            }
            finish();
        }
    }
}

/* Public report redmine 1953: the PIT entry had died before the Interest came back, which was then sent on again. */
Test(interest, short_lived_interest_that_loops_is_known_by_its_dead_nonce)
{
    SCENE();
    route("/", B, 0);
    interest(A, "/A/1", FIELDS(.nonce = 4321, .lifetime_ms = 50));
    sent_interest(0, B);
    sent_all(1);
    bed_pass(bed, 170);
    cr_assert_eq(pending(), 0);
    interest(B, "/A/1", FIELDS(.nonce = 4321, .lifetime_ms = 50));
    sent_nack(0, B, NDN_NACK_DUPLICATE);
    sent_all(1);
    cr_assert_eq(drops(DROP_LOOP_DEAD_NONCE), 1);
    finish();
}

/* Public report redmine 3484: entries for Interests caught by the Dead Nonce List stayed in the PIT for ever. */
Test(interest, caught_by_the_dead_nonce_list_leaves_no_entry)
{
    SCENE();
    route("/", B, 0);
    interest(A, "/A/1", FIELDS(.nonce = 4321, .lifetime_ms = 50));
    bed_pass(bed, 100);
    sent_all(1);
    for (int i = 0; i < 3; i++)
        interest(A, "/A/1", FIELDS(.nonce = 4321, .lifetime_ms = 50));
    cr_assert_eq(pending(), 0);
    sent_all(3);
    // Another name or nonce is no loop, and after six seconds neither is this one.
    interest(A, "/A/2", FIELDS(.nonce = 4321));
    interest(A, "/A/1", FIELDS(.nonce = 4322));
    sent_all(2);
    bed_pass(bed, 7000);
    interest(A, "/A/1", FIELDS(.nonce = 4321));
    sent_interest(0, B);
    sent_all(1);
    finish();
}

Test(interest, duplicate_nonce_from_another_face_is_a_loop)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 7));
    sent_all(1);
    interest(B, "/a", FIELDS(.nonce = 7));
    sent_nack(0, B, NDN_NACK_DUPLICATE);
    sent_all(1);
    interest(E, "/a", FIELDS(.nonce = 7)); // back from the upstream
    sent_nack(0, E, NDN_NACK_DUPLICATE);
    sent_all(1);
    interest(MULTI, "/a", FIELDS(.nonce = 7));
    interest(AD_HOC, "/a", FIELDS(.nonce = 7));
    sent_all(0);
    cr_assert_eq(drops(DROP_LOOP_DUP_NONCE), 4);
    data(E, "/a", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(interest, same_nonce_again_on_a_point_to_point_face_is_a_retransmission)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 7));
    sent_all(1);
    bed_pass(bed, 100);
    interest(A, "/a", FIELDS(.nonce = 7));
    cr_assert_eq(sent_interest(0, E).interest.nonce, 7);
    sent_all(1);
    cr_assert_eq(bed_stats(bed).retransmitted, 1);
    finish();
}

Test(interest, same_nonce_again_on_a_shared_link_is_a_loop)
{
    SCENE();
    route("/", E, 0);
    interest(MULTI, "/a", FIELDS(.nonce = 7));
    sent_all(1);
    bed_pass(bed, 100);
    interest(MULTI, "/a", FIELDS(.nonce = 7));
    sent_all(0);
    cr_assert_eq(drops(DROP_LOOP_DUP_NONCE), 1);
    finish();
}

Test(interest, joins_a_pending_one_and_is_answered_with_it)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1, .token = "aa", .token_len = 2));
    interest(B, "/a", FIELDS(.nonce = 2, .token = "bbb", .token_len = 3));
    interest(C, "/a", FIELDS(.nonce = 3));
    cr_assert_eq(drops(DROP_AGGREGATED), 2);
    sent_all(1);
    cr_assert_eq(pending(), 1);
    data(E, "/a", NULL);
    struct ndn_packet pkt = sent_data(0, A);
    cr_assert(pkt.lp.token_len == 2 && memcmp(pkt.lp.token, "aa", 2) == 0);
    pkt = sent_data(1, B);
    cr_assert(pkt.lp.token_len == 3 && memcmp(pkt.lp.token, "bbb", 3) == 0);
    cr_assert_eq(sent_data(2, C).lp.has, 0);
    sent_all(3);
    finish();
}

Test(interest, selectors_keep_entries_apart)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(A, "/a", FIELDS(.nonce = 2, .can_be_prefix = true));
    interest(A, "/a", FIELDS(.nonce = 3, .must_be_fresh = true));
    interest(A, "/a", FIELDS(.nonce = 4, .can_be_prefix = true, .must_be_fresh = true));
    cr_assert_eq(pending(), 4);
    sent_all(4);
    cr_assert_eq(face_pending(A), 4);
    data(E, "/a", NULL);
    cr_assert_eq(pending(), 0);
    sent_all(1);
    finish();
}

/* Every shape of Interest without Nonce: TLV sizes on both sides of a limit, elements before and after. */
static void without_nonce(enum scene_face in, unsigned comp_len, bool hint, bool hop_limit, bool extra,
                          uint8_t token_len, uint32_t split)
{
    uint8_t body[9000], wire[9100];
    size_t n = 0;
    body[n++] = 7;
    n += ndn_tlv_put_var(body + n, 1 + ndn_tlv_var_size(comp_len) + comp_len);
    body[n++] = 8;
    n += ndn_tlv_put_var(body + n, comp_len);
    memset(body + n, 'n', comp_len);
    n += comp_len;
    if (hint) {
        memcpy(body + n, "\x1e\x05\x07\x03\x08\x01h", 7);
        n += 7;
    }
    size_t nonce_at = n;
    memcpy(body + n, "\x0c\x02\x10\x00", 4);
    n += 4;
    if (hop_limit) {
        memcpy(body + n, "\x22\x01\x09", 3);
        n += 3;
    }
    if (extra) {
        memcpy(body + n, "\xfd\x03\xe8\x03xyz", 7);
        n += 7;
    }
    size_t len = 0;
    if (token_len > 0) {
        size_t inner = 1 + ndn_tlv_var_size(n) + n;
        size_t lp = 2u + token_len + 1 + ndn_tlv_var_size(inner) + inner;
        wire[len++] = 100;
        len += ndn_tlv_put_var(wire + len, lp);
        wire[len++] = 98;
        wire[len++] = token_len;
        memset(wire + len, 't', token_len);
        len += token_len;
        wire[len++] = 80;
        len += ndn_tlv_put_var(wire + len, inner);
    }
    wire[len++] = 5;
    len += ndn_tlv_put_var(wire + len, n);
    memcpy(wire + len, body, n);
    len += n;

    struct rte_mbuf *mbuf = bed_frame(bed, face_id[in], wire, len);
    if (split > 0)
        mbuf = bed_split(bed, mbuf, split);
    bed_receive(bed, &bed->port[face_get(bed->shared.faces, face_id[in])->port], &mbuf, 1);
    struct ndn_packet pkt = sent_interest(0, hint ? D : E);
    cr_assert(pkt.interest.has_nonce);
    cr_assert_eq(pkt.interest.nonce_off,
                 (size_t)(pkt.name.value - pkt.net) - 1 - ndn_tlv_var_size(pkt.name.len) + nonce_at + 2);
    cr_assert_eq(pkt.interest.lifetime_ms, 4096);
    cr_assert_eq(pkt.interest.hop_limit, hop_limit ? 8 : 255);
    cr_assert_eq(pkt.interest.n_hints, hint);
    // All other octets are as they were.
    uint8_t left[9100];
    size_t n_left = pkt.net_len - (size_t)(pkt.name.value - 1 - ndn_tlv_var_size(pkt.name.len) - pkt.net) - 6;
    const uint8_t *first = pkt.name.value - 1 - ndn_tlv_var_size(pkt.name.len);
    memcpy(left, first, nonce_at);
    memcpy(left + nonce_at, first + nonce_at + 6, n_left - nonce_at);
    if (hop_limit)
        body[nonce_at + 6] = 8;
    cr_assert_eq(n_left, n);
    cr_assert_arr_eq(left, body, n);
    bed_drop_sent(bed);

    uint8_t answer[9100];
    memset(answer, 0, sizeof answer);
    char uri[4200] = "/";
    memset(uri + 1, 'n', comp_len);
    uri[1 + comp_len] = '\0';
    bed_send_data(bed, face_id[hint ? D : E], uri, NULL);
    pkt = sent_data(0, in);
    cr_assert_eq(pkt.lp.token_len, token_len, "token of %u octets came back as %u", token_len, pkt.lp.token_len);
    for (unsigned i = 0; i < token_len; i++)
        cr_assert_eq(pkt.lp.token[i], 't', "octet %u of the token was overwritten", i);
    sent_all(1);
}

Test(interest, without_nonce_is_given_one_and_is_otherwise_untouched)
{
    // 230 to 240 octets of name put the Interest on both sides of a length of 253.
    static const unsigned sizes[] = {1,   20,  225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235,  236, 237,
                                     238, 239, 240, 241, 242, 243, 244, 245, 250, 252, 253, 260, 1000, 2000};
    SCENE();
    route("/", E, 0);
    route("/h", D, 0);
    for (unsigned i = 0; i < RTE_DIM(sizes) * 8; i++)
        for (uint8_t token_len = 0; token_len <= 32; token_len = (uint8_t)(token_len == 0 ? 1 : token_len * 2))
            without_nonce(i % 3 == 0 ? LOCAL : A, RTE_MIN(sizes[i / 8], 1380u), i & 1, i & 2, i & 4, token_len, 0);
    finish();
}

Test(interest, without_nonce_in_two_segments_is_given_one)
{
    SCENE(.tx_multi_seg = true);
    route("/", E, 0);
    route("/h", D, 0);
    for (uint32_t split = 1; split < 60; split++)
        without_nonce(A, 30, split & 1, split & 2, split & 4, (uint8_t)(split % 33), split);
    without_nonce(A, 240, true, true, true, 32, 200);
    finish();
}

Test(interest, nonces_that_are_given_differ)
{
    SCENE();
    route("/", E, 0);
    uint32_t seen[16];
    for (unsigned i = 0; i < RTE_DIM(seen); i++) {
        packet(A, "0505 0703080141");
        if (i == 0)
            seen[0] = sent_interest(0, E).interest.nonce;
        bed_drop_sent(bed);
        data(E, "/A", NULL);
        bed_drop_sent(bed);
        packet(A, "0505 0703080142");
        seen[i] = sent_interest(0, E).interest.nonce;
        for (unsigned j = 0; j < i; j++)
            cr_assert_neq(seen[i], seen[j]);
        bed_drop_sent(bed);
        data(E, "/B", NULL);
        bed_drop_sent(bed);
    }
    finish();
}

Test(interest, without_nonce_that_would_grow_too_large_is_dropped)
{
    SCENE(.tx_multi_seg = true);
    route("/", E, 0);
    packet(LOCAL, "05FD225C 0703080141 24FD2253[AA]8787");
    cr_assert_eq(drops(DROP_PKT_OVERSIZE), 1);
    sent_all(0);
    finish();
}

Test(interest, unknown_even_elements_are_preserved)
{
    SCENE();
    route("/", E, 0);
    packet(A, "0512 0703080141 0A0401020304 FD03E803 789ABC");
    struct ndn_packet pkt = sent_interest(0, E);
    cr_assert_eq(pkt.net_len, 0x14);
    cr_assert_arr_eq(pkt.net + pkt.net_len - 7, ((uint8_t[]){0xfd, 3, 0xe8, 3, 0x78, 0x9a, 0xbc}), 7);
    sent_all(1);
    finish();
}

Test(interest, forwarding_hint_chooses_next_hops_and_the_name_the_strategy)
{
    SCENE();
    route("/", E, 0);
    route("/hub", B, 0);
    route("/hub", C, 5);
    bed_strategy(bed, "/hub", 1); // multicast, which must not apply: strategies go by name
    const char *hinted = "0519 07030801 41 1E0C 070508036E6F6E 070308015A 0A0401020304";
    packet(A, hinted); // neither delegation has a route of its own: "/" is the longest match
    sent_interest(0, E);
    sent_all(1);
    packet(A, "0519 0703080142 1E0C 070508036E6F6E 0703080143 0A0401020304");
    sent_interest(0, E);
    sent_all(1);
    packet(A, "0514 0703080143 1E07 07050803687562 0A0401020305");
    sent_interest(0, B);
    sent_all(1);
    data(B, "/C", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(interest, longest_lifetime_overflows_nothing)
{
    SCENE();
    route("/", E, 0);
    packet(A, "0515 0703080141 0A0401020304 0C08FFFFFFFFFFFFFFFF");
    sent_interest(0, E);
    sent_all(1);
    bed_pass(bed, 3600 * 1000);
    cr_assert_eq(pending(), 1);
    data(E, "/A", NULL);
    sent_data(0, A);
    sent_all(1);
    packet(A, "0515 0703080141 0A0401020305 0C08FFFFFFFFFFFFFFFF");
    sent_all(1);
    bed_pass(bed, NDN_LIFETIME_MAX_MS + 10);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(interest, entry_lives_as_long_as_its_last_downstream)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1, .lifetime_ms = 1000));
    interest(B, "/a", FIELDS(.nonce = 2, .lifetime_ms = 100));
    sent_all(1);
    bed_pass(bed, 500);
    cr_assert_eq(pending(), 1);
    data(E, "/a", NULL);
    sent_data(0, A); // B waits no longer
    sent_all(1);
    interest(A, "/b", FIELDS(.nonce = 1, .lifetime_ms = 100));
    interest(B, "/b", FIELDS(.nonce = 2, .lifetime_ms = 1000));
    bed_pass(bed, 500);
    cr_assert_eq(pending(), 1);
    bed_pass(bed, 600);
    cr_assert_eq(pending(), 0);
    sent_all(1);
    cr_assert_eq(bed_stats(bed).unsatisfied, 1);
    // A shorter lifetime in a retransmission shortens the entry.
    interest(A, "/c", FIELDS(.nonce = 3, .lifetime_ms = 10000));
    interest(A, "/c", FIELDS(.nonce = 4, .lifetime_ms = 100));
    bed_pass(bed, 200);
    cr_assert_eq(pending(), 0);
    sent_all(1);
    finish();
}

Test(interest, congestion_mark_is_carried)
{
    SCENE();
    route("/", E, 0);
    packet(A, "6414 FD03400103 500D 050B 0703080141 0A0401020304");
    struct ndn_packet pkt = sent_interest(0, E);
    cr_assert(pkt.lp.has & LP_HAS_CONGESTION_MARK);
    cr_assert_eq(pkt.lp.congestion_mark, 3);
    sent_all(1);
    finish();
}

Test(interest, next_hop_face_is_obeyed_on_local_fields_faces_only)
{
    SCENE();
    route("/", E, 0);
    uint8_t buf[64];
    size_t len = bad_input_expand("6415 FD03300200 00 500D 050B 0703080141 0A0401020304", 0, buf);
    buf[6] = (uint8_t)(face_id[B] >> 8);
    buf[7] = (uint8_t)face_id[B];
    bed_packet(bed, face_id[A], buf, len);
    cr_assert_eq(drops(DROP_LP_LOCAL_FIELD), 1);
    sent_all(0);
    bed_packet(bed, face_id[LOCAL], buf, len);
    sent_interest(0, B);
    sent_all(1);
    data(B, "/A", NULL);
    sent_data(0, LOCAL);
    sent_all(1);
    // A face that is not there, then one that HopLimit keeps it from.
    buf[6] = 0x40;
    bed_packet(bed, face_id[LOCAL], buf, len);
    cr_assert_eq(drops(DROP_FACE_DOWN), 1);
    sent_all(0);
    len = bad_input_expand("6418 FD03300200 00 5010 050E 0703080142 0A0401020304 220101", 0, buf);
    buf[6] = (uint8_t)(face_id[B] >> 8);
    buf[7] = (uint8_t)face_id[B];
    bed_packet(bed, face_id[LOCAL], buf, len);
    cr_assert_eq(drops(DROP_HOP_LIMIT_SPENT), 1);
    sent_all(0);
    finish();
}

Test(interest, is_never_sent_back_where_it_came_from)
{
    // Public report named-data/ndnd PR 20: the consumer's face is a next hop too.
    for (uint16_t strategy = 0; strategy < 2; strategy++) {
        SCENE();
        route("/sync", A, 0);
        bed_strategy(bed, "/sync", strategy);
        interest(A, "/sync/1", FIELDS(.nonce = 1));
        cr_assert_eq(drops(DROP_NO_ROUTE), 1);
        if (strategy == 0)
            sent_nack(0, A, NDN_NACK_NO_ROUTE);
        sent_all(strategy == 0);
        route("/sync", B, 10);
        interest(A, "/sync/2", FIELDS(.nonce = 2));
        sent_interest(0, B);
        sent_all(1);
        // On an ad-hoc link others may not have heard it.
        route("/adhoc", AD_HOC, 0);
        interest(AD_HOC, "/adhoc/1", FIELDS(.nonce = 3));
        sent_interest(0, AD_HOC);
        sent_all(1);
        data(AD_HOC, "/adhoc/1", NULL);
        sent_data(0, AD_HOC);
        sent_all(1);
        finish();
    }
}

Test(interest, without_route_is_answered_and_forgotten)
{
    SCENE();
    route("/other", E, 0);
    interest(A, "/a", FIELDS(.token = "abc", .token_len = 3, .nonce = 99));
    struct ndn_packet pkt = sent_nack(0, A, NDN_NACK_NO_ROUTE);
    cr_assert(pkt.lp.token_len == 3 && memcmp(pkt.lp.token, "abc", 3) == 0);
    cr_assert_eq(pkt.interest.nonce, 99);
    sent_all(1);
    interest(MULTI, "/a", NULL);
    sent_all(0);
    cr_assert_eq(drops(DROP_NO_ROUTE), 2);
    cr_assert_eq(pending(), 0);
    cr_assert_eq(face_pending(A), 0);
    finish();
}

Test(interest, finds_no_room_in_a_full_pit)
{
    SCENE(.pit_capacity = 16);
    route("/", E, 0);
    char uri[32];
    for (unsigned i = 0; i < 16; i++) {
        snprintf(uri, sizeof uri, "/n/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 1000));
    }
    sent_all(16);
    interest(A, "/n/16", FIELDS(.nonce = 50));
    sent_nack(0, A, NDN_NACK_CONGESTION);
    interest(MULTI, "/n/16", FIELDS(.nonce = 51));
    sent_all(1);
    cr_assert_eq(drops(DROP_PIT_FULL), 2);
    // Joining what is pending needs no entry.
    interest(B, "/n/3", FIELDS(.nonce = 60));
    cr_assert_eq(drops(DROP_AGGREGATED), 1);
    bed_pass(bed, 5000);
    interest(A, "/n/16", FIELDS(.nonce = 52));
    sent_interest(0, E);
    sent_all(1);
    finish();
}

Test(interest, face_that_holds_its_share_of_the_pit_gets_no_more)
{
    SCENE(.face_share = 3);
    route("/", E, 0);
    char uri[32];
    for (unsigned i = 0; i < 5; i++) {
        snprintf(uri, sizeof uri, "/n/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 1000));
    }
    cr_assert_eq(drops(DROP_PIT_FACE_SHARE), 2);
    for (unsigned i = 0; i < 3; i++)
        sent_interest(i, E);
    sent_nack(3, A, NDN_NACK_CONGESTION);
    sent_nack(4, A, NDN_NACK_CONGESTION);
    sent_all(5);
    cr_assert_eq(pending(), 3);
    // Others are not hurt; a retransmission needs no share; Data gives one back.
    interest(B, "/n/9", FIELDS(.nonce = 20));
    sent_interest(0, E);
    sent_all(1);
    interest(A, "/n/1", FIELDS(.nonce = 21));
    cr_assert_eq(drops(DROP_AGGREGATED), 1);
    data(E, "/n/0", NULL);
    sent_data(0, A);
    sent_all(1);
    interest(A, "/n/4", FIELDS(.nonce = 22));
    sent_interest(0, E);
    sent_all(1);
    cr_assert_eq(face_pending(A), 3);
    bed_pass(bed, 5000);
    cr_assert_eq(face_pending(A), 0);
    finish();
}

Test(interest, long_tokens_that_find_no_block_are_refused)
{
    SCENE(.pit_capacity = 64, .pit_blocks = 4);
    route("/", E, 0);
    uint8_t token[32];
    memset(token, 0x77, sizeof token);
    char uri[32];
    for (unsigned i = 0; i < 8; i++) {
        snprintf(uri, sizeof uri, "/n/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .token = token, .token_len = 32));
    }
    cr_assert_eq(drops(DROP_PIT_FULL), 4);
    cr_assert_eq(pending(), 4);
    cr_assert_eq(face_pending(A), 4);
    sent_all(8);
    // No block for a second downstream either, nor for a longer token of a known one.
    interest(B, "/n/0", FIELDS(.nonce = 31));
    cr_assert_eq(drops(DROP_PIT_FULL), 5);
    sent_nack(0, B, NDN_NACK_CONGESTION);
    sent_all(1);
    cr_assert_eq(face_pending(B), 0);
    finish();
}

Test(interest, upstream_records_that_find_no_block_send_nothing)
{
    SCENE(.pit_capacity = 64, .pit_blocks = 1);
    bed_strategy(bed, "/", 1);
    for (int i = B; i <= E; i++)
        route("/", (enum scene_face)i, (uint32_t)i);
    interest(A, "/a", FIELDS(.nonce = 1));
    sent_interest(0, B);
    sent_interest(1, C);
    sent_interest(2, D);
    cr_assert_eq(drops(DROP_PIT_FULL), 1);
    sent_all(3);
    finish();
}
