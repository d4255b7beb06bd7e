// SPDX-License-Identifier: Apache-2.0
/* The Data pipeline, the Content Store behind it, and what carries Data back: PIT tokens and out-records. */
#include "test/unit/fwd/scene.h"

#include <openssl/sha.h>

Test(data, goes_back_to_whoever_asked_and_the_entry_is_gone)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a/1", NULL);
    sent_all(1);
    data(E, "/a/1", FIELDS(.payload = 100, .fill = 0x5a));
    struct ndn_packet pkt = sent_data(0, A);
    cr_assert(name_is(&pkt, "/a/1"));
    cr_assert_eq(pkt.lp.has, 0, "plain Data must stay plain");
    sent_all(1);
    cr_assert_eq(pending(), 0);
    cr_assert_eq(bed_stats(bed).satisfied, 1);
    data(E, "/a/1", NULL);
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 1);
    sent_all(0);
    finish();
}

Test(data, that_nobody_asked_this_face_for_is_unsolicited)
{
    // The Interest went to E; the same name from another face, a longer one, a shorter one.
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    interest(A, "/a/b", NULL);
    sent_all(1);
    data(D, "/a/b", NULL);
    data(A, "/a/b", NULL);
    data(E, "/a/b/c", NULL);
    data(E, "/a", NULL);
    data(E, "/a/bb", NULL);
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 5);
    sent_all(0);
    struct cs_info info;
    cs_info(bed->fwd[0]->cs, &info);
    cr_assert_eq(info.n_entries, 0, "unsolicited Data was cached");
    data(E, "/a/b", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(data, under_localhost_stays_local)
{
    SCENE();
    route("/", LOCAL2, 0);
    interest(LOCAL, "/localhost/x", NULL);
    sent_all(1);
    data(A, "/localhost/x", NULL);
    cr_assert_eq(drops(DROP_SCOPE_VIOLATION), 1);
    sent_all(0);
    data(LOCAL2, "/localhost/x", NULL);
    sent_data(0, LOCAL);
    sent_all(1);
    // A CanBePrefix Interest for a name without components cannot be, but Data under /localhost can match a shorter
    // prefix that a non-local face asked for.
    interest(A, "/local", FIELDS(.can_be_prefix = true));
    sent_all(1);
    data(LOCAL2, "/localhost/y", NULL);
    sent_all(0);
    finish();
}

Test(data, satisfies_prefixes_and_all_selectors_at_once)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a/b/c", FIELDS(.nonce = 1));
    interest(B, "/a/b", FIELDS(.nonce = 2, .can_be_prefix = true));
    interest(C, "/a", FIELDS(.nonce = 3, .can_be_prefix = true, .must_be_fresh = true));
    interest(D, "/a/b", FIELDS(.nonce = 4)); // not a prefix Interest: not satisfied
    sent_all(4);
    data(E, "/a/b/c", NULL);
    cr_assert_eq(bed->n_sent, 3);
    sent_all(3);
    cr_assert_eq(pending(), 1);
    cr_assert_eq(bed_stats(bed).satisfied, 3);
    // One face that asked in several ways is answered once, unless its tokens differ.
    interest(A, "/x/y", FIELDS(.nonce = 5));
    interest(A, "/x", FIELDS(.nonce = 6, .can_be_prefix = true));
    sent_all(2);
    data(E, "/x/y", NULL);
    sent_data(0, A);
    sent_all(1);
    interest(A, "/y/y", FIELDS(.nonce = 5, .token = "1", .token_len = 1));
    interest(A, "/y", FIELDS(.nonce = 6, .token = "2", .token_len = 1, .can_be_prefix = true));
    sent_all(2);
    data(E, "/y/y", NULL);
    cr_assert_eq(sent_data(0, A).lp.token[0] ^ sent_data(1, A).lp.token[0], '1' ^ '2');
    sent_all(2);
    finish();
}

Test(data, answers_an_implicit_digest_when_it_is_its_own)
{
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    uint8_t buf[512], digest[32];
    size_t len = bed_data(buf, sizeof buf, "/a", FIELDS(.payload = 50));
    SHA256(buf, len, digest);
    char uri[100] = "/a/sha256digest=";
    for (unsigned i = 0; i < 32; i++)
        snprintf(uri + strlen(uri), 3, "%02x", digest[i]);
    interest(A, uri, FIELDS(.nonce = 1));
    sent_interest(0, E);
    sent_all(1);
    data(E, "/a", FIELDS(.payload = 51)); // another one of that name
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 1);
    bed_packet(bed, face_id[E], buf, len);
    sent_data(0, A);
    sent_all(1);
    interest(B, uri, FIELDS(.nonce = 2)); // now from the Content Store
    sent_data(0, B);
    sent_all(1);
    uri[strlen(uri) - 1] ^= 1;
    interest(B, uri, FIELDS(.nonce = 3));
    sent_interest(0, E);
    sent_all(1);
    finish();
}

Test(data, is_kept_and_answers_from_the_content_store)
{
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    interest(A, "/a/1", NULL);
    data(E, "/a/1", FIELDS(.payload = 300, .fill = 7, .freshness_ms = 1000));
    sent_all(2);
    for (unsigned i = 0; i < 3; i++) {
        // While the frame is in flight, and after.
        interest(B, "/a/1", FIELDS(.nonce = 100 + i, .token = "tok", .token_len = 3));
        interest(C, "/a/1", FIELDS(.nonce = 200 + i));
        struct ndn_packet pkt = sent_data(0, B);
        cr_assert(pkt.lp.token_len == 3 && memcmp(pkt.lp.token, "tok", 3) == 0);
        cr_assert_eq(pkt.net[pkt.net_len - 40], 7);
        pkt = sent_data(1, C);
        cr_assert_eq(pkt.lp.has, 0);
        cr_assert_eq(pkt.net[pkt.net_len - 40], 7);
        if (i == 1)
            sent_all(2);
        else
            bed_drop_sent(bed);
    }
    cr_assert_eq(drops(DROP_CS_HIT), 6);
    interest(B, "/a", FIELDS(.nonce = 1, .can_be_prefix = true));
    sent_data(0, B);
    interest(B, "/a", FIELDS(.nonce = 2));
    sent_interest(1, E);
    interest(B, "/a/1", FIELDS(.nonce = 3, .must_be_fresh = true));
    sent_data(2, B);
    sent_all(3);
    bed_pass(bed, 1500);
    interest(B, "/a/1", FIELDS(.nonce = 4, .must_be_fresh = true));
    sent_interest(0, E);
    interest(C, "/a/1", FIELDS(.nonce = 5));
    sent_data(1, C);
    sent_all(2);
    finish();
}

Test(data, with_no_cache_is_not_kept)
{
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    interest(A, "/a", NULL);
    data(E, "/a", FIELDS(.no_cache = true));
    sent_data(1, A);
    sent_all(2);
    interest(B, "/a", FIELDS(.nonce = 2));
    sent_interest(0, E);
    sent_all(1);
    finish();
}

Test(data, of_the_store_is_not_looked_for_while_others_wait)
{
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1, .can_be_prefix = true));
    interest(B, "/a/b", FIELDS(.nonce = 2));
    data(E, "/a/b", NULL);
    sent_all(4);
    interest(A, "/c", FIELDS(.nonce = 1, .must_be_fresh = true));
    sent_all(1);
    interest(B, "/c", FIELDS(.nonce = 2, .must_be_fresh = true));
    sent_all(0);
    cr_assert_eq(drops(DROP_AGGREGATED), 1);
    finish();
}

/* Data leaves the store for a face whose port sends no chains, or needs fragments, while another copy is in flight. */
Test(data, hit_while_in_flight_leaves_both_frames_whole)
{
    for (unsigned multi_seg = 0; multi_seg < 2; multi_seg++) {
        static const uint16_t sizes[] = {1, 200, 480, 520, 1300, 1700, 3000, 8000};
        SCENE(.cs_capacity = 8, .tx_multi_seg = multi_seg);
        route("/", LOCAL, 0);
        for (unsigned i = 0; i < RTE_DIM(sizes); i++) {
            char uri[16];
            snprintf(uri, sizeof uri, "/a/%u", i);
            interest(LOCAL2, uri, FIELDS(.nonce = 1));
            data(LOCAL, uri, FIELDS(.payload = sizes[i], .fill = 0x11));
            cr_assert_eq(bed_check(bed), 0);
            interest(A, uri, FIELDS(.nonce = 2, .token = "abcdefgh", .token_len = 8));
            interest(B, uri, FIELDS(.nonce = 3));
            interest(LOCAL2, uri, FIELDS(.nonce = 4));
            for (unsigned s = 0; s < bed->n_sent; s++) {
                uint32_t to;
                struct ndn_packet pkt = bed_parse_sent(bed, s, &to);
                if (pkt.type != NDN_TYPE_DATA)
                    continue;
                for (unsigned o = 40; o < 40u + sizes[i] && o < pkt.net_len - 10u && sizes[i] > 80; o += 16)
                    cr_assert_eq(pkt.net[pkt.net_len - o], 0x11, "size %u frame %u octet %u", sizes[i], s, o);
            }
            bed_drop_sent(bed);
            cr_assert_eq(bed_check(bed), 0);
        }
        finish();
    }
}

Test(data, tokens_of_all_lengths_come_back)
{
    SCENE(.cs_capacity = 64, .pit_capacity = 64);
    route("/t", E, 0);
    uint8_t token[32];
    for (uint8_t len = 1; len <= 32; len++) {
        for (unsigned i = 0; i < len; i++)
            token[i] = (uint8_t)(len * 7 + i);
        char uri[32];
        snprintf(uri, sizeof uri, "/t/%u", len);
        interest(A, uri, FIELDS(.token = token, .token_len = len));
        sent_interest(0, E);
        data(E, uri, NULL);
        interest(B, uri, FIELDS(.nonce = 9, .token = token, .token_len = len)); // from the store
        snprintf(uri, sizeof uri, "/none/%u", len);
        interest(C, uri, FIELDS(.nonce = 9, .token = token, .token_len = len)); // with a Nack
        const struct ndn_packet back[] = {sent_data(1, A), sent_data(2, B), sent_nack(3, C, NDN_NACK_NO_ROUTE)};
        for (unsigned i = 0; i < 3; i++) {
            (void)sent(1 + i, i == 0 ? A : i == 1 ? B : C);
            struct ndn_packet pkt = sent(1 + i, i == 0 ? A : i == 1 ? B : C);
            cr_assert_eq(back[i].lp.token_len, len);
            cr_assert_arr_eq(pkt.lp.token, token, len);
        }
        sent_all(4);
    }
    finish();
}

Test(data, token_finds_the_entry_and_a_bad_one_falls_back_to_the_name)
{
    SCENE();
    route("/", E, 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        interest(A, "/a", FIELDS(.nonce = bit + 1));
        uint8_t token[8];
        memcpy(token, sent_interest(0, E).lp.token, 8);
        sent_all(1);
        token[bit / 8] ^= (uint8_t)(1 << bit % 8);
        data(E, "/a", FIELDS(.token = token, .token_len = 8));
        sent_data(0, A);
        sent_all(1);
        cr_assert_eq(bed_stats(bed).token_bad, bit + 1);
        bed_pass(bed, 10);
    }
    cr_assert_eq(bed_stats(bed).token_hits, 0);
    interest(A, "/a", FIELDS(.nonce = 99));
    uint8_t token[8];
    memcpy(token, sent_interest(0, E).lp.token, 8);
    sent_all(1);
    data(E, "/a", FIELDS(.token = token, .token_len = 8));
    sent_data(0, A);
    sent_all(1);
    cr_assert_eq(bed_stats(bed).token_hits, 1);
    cr_assert_eq(bed_stats(bed).token_bad, 64);
    // The same token again: its generation is over. With another name: it proves nothing.
    interest(A, "/a", FIELDS(.nonce = 100));
    sent_all(1);
    data(E, "/a", FIELDS(.token = token, .token_len = 8));
    sent_data(0, A);
    sent_all(1);
    cr_assert_eq(bed_stats(bed).token_bad, 65);
    interest(A, "/b", FIELDS(.nonce = 101));
    memcpy(token, sent_interest(0, E).lp.token, 8);
    sent_all(1);
    data(E, "/c", FIELDS(.token = token, .token_len = 8));
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 1);
    data(D, "/b", FIELDS(.token = token, .token_len = 8)); // right token, wrong face
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 2);
    sent_all(0);
    finish();
}

Test(data, token_does_not_hide_other_entries)
{
    // The token names one entry, but siblings and prefixes want the Data too.
    SCENE();
    route("/", E, 0);
    interest(A, "/a/b", FIELDS(.nonce = 1));
    uint8_t token[8];
    memcpy(token, sent_interest(0, E).lp.token, 8);
    interest(B, "/a/b", FIELDS(.nonce = 2, .must_be_fresh = true));
    interest(C, "/a", FIELDS(.nonce = 3, .can_be_prefix = true));
    sent_all(3);
    data(E, "/a/b", FIELDS(.token = token, .token_len = 8));
    sent_all(3);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(data, foreign_tokens_of_any_length_are_no_harm)
{
    SCENE();
    route("/", E, 0);
    uint8_t token[32];
    memset(token, 0xff, sizeof token);
    for (uint8_t len = 1; len <= 32; len++) {
        interest(A, "/a", FIELDS(.nonce = len));
        data(E, "/a", FIELDS(.token = token, .token_len = len));
        sent_data(1, A);
        sent_all(2);
        bed_pass(bed, 5);
    }
    cr_assert_eq(bed_stats(bed).token_bad, 32);
    finish();
}

Test(data, congestion_mark_is_carried)
{
    SCENE();
    route("/", E, 0);
    packet(A, "050B 0703080141 0A0401020304");
    sent_all(1);
    packet(E, "6419 FD03400105 5012 0610 0703080141 1400 1500 16031B0100 1700");
    struct ndn_packet pkt = sent_data(0, A);
    cr_assert(pkt.lp.has & LP_HAS_CONGESTION_MARK);
    cr_assert_eq(pkt.lp.congestion_mark, 5);
    sent_all(1);
    finish();
}

Test(data, remembers_nonces_of_fresh_only_interests_that_may_come_back)
{
    SCENE(.cs_capacity = 4);
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1, .must_be_fresh = true));
    data(E, "/a", FIELDS(.freshness_ms = 50));
    sent_all(2);
    bed_pass(bed, 200);
    interest(D, "/a", FIELDS(.nonce = 1, .must_be_fresh = true)); // came round a loop
    cr_assert_eq(drops(DROP_LOOP_DEAD_NONCE), 1);
    sent_nack(0, D, NDN_NACK_DUPLICATE);
    sent_all(1);
    finish();
}

Test(data, freshness_of_all_ones_overflows_nothing)
{
    SCENE(.cs_capacity = 4, .cs_policy = CS_PRIORITY_FIFO);
    route("/", E, 0);
    packet(A, "050B 0703080141 0A0401020304");
    packet(E, "061A 0703080141 140A1908FFFFFFFFFFFFFFFF 1500 16031B0100 1700");
    sent_data(1, A);
    sent_all(2);
    bed_pass(bed, 1000000);
    packet(B, "050D 0703080141 1200 0A0401020305");
    sent_data(0, B);
    sent_all(1);
    finish();
}

Test(data, fans_out_beyond_the_records_of_an_entry)
{
    // Small Data is copied, large Data is referred to where the port can send chains.
    for (unsigned multi_seg = 0; multi_seg < 2; multi_seg++) {
        bed = bed_create(&(struct bed_config){.pit_capacity = 512, .pit_blocks = 2048, .tx_multi_seg = multi_seg});
        scene_faces();
        struct port *port = bed_port(bed);
        uint32_t many[100];
        for (unsigned i = 0; i < RTE_DIM(many); i++)
            many[i] = bed_ether(bed, port, (uint8_t)(i + 2));
        route("/", E, 0);
        for (unsigned size = 10; size <= 1400; size += 1390) {
            for (unsigned i = 0; i < RTE_DIM(many); i++) {
                uint8_t token[20];
                memset(token, (int)i, sizeof token);
                bed_send_interest(bed, many[i], "/a",
                                  FIELDS(.nonce = i + 1 + size, .token = token, .token_len = (uint8_t)(i % 21)));
            }
            sent_all(1);
            cr_assert_eq(pending(), 1);
            data(E, "/a", FIELDS(.payload = (uint16_t)size, .fill = 0x33));
            cr_assert_eq(bed->n_sent, RTE_DIM(many));
            bool seen[RTE_DIM(many)] = {false};
            for (unsigned s = 0; s < bed->n_sent; s++) {
                uint32_t to;
                struct ndn_packet pkt = bed_parse_sent(bed, s, &to);
                unsigned i = 0;
                while (many[i] != to)
                    i++;
                cr_assert(!seen[i]);
                seen[i] = true;
                cr_assert_eq(pkt.lp.token_len, i % 21);
                for (unsigned o = 0; o < pkt.lp.token_len; o++)
                    cr_assert_eq(pkt.lp.token[o], i);
            }
            sent_all(RTE_DIM(many));
            bed_pass(bed, 100);
        }
        finish();
    }
}

Test(data, downstream_that_is_gone_or_down_is_left_out)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(B, "/a", FIELDS(.nonce = 2));
    interest(C, "/a", FIELDS(.nonce = 3));
    sent_all(1);
    face_down(A, true);
    uint32_t b = face_id[B];
    bed_face_remove(bed, b);
    data(E, "/a", NULL);
    sent_data(0, C);
    sent_all(1);
    cr_assert_eq(drops(DROP_FACE_DOWN), 1);
    // All of them gone: the Data had no taker.
    uint32_t c = face_id[C];
    interest(C, "/b", FIELDS(.nonce = 4));
    sent_all(1);
    bed_face_remove(bed, c);
    data(E, "/b", NULL);
    cr_assert_eq(drops(DROP_DATA_UNWANTED), 1);
    sent_all(0);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(data, from_the_face_that_waits_for_it_is_not_sent_back)
{
    SCENE();
    route("/", E, 0);
    bed_strategy(bed, "/", 1);
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(E, "/a", FIELDS(.nonce = 2));
    sent_all(1);
    data(E, "/a", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}
