// SPDX-License-Identifier: Apache-2.0
/* best-route and multicast, their suppression of retransmissions, and what is told of face and port states. */
#include "test/unit/fwd/scene.h"

/* Send the same name with a new nonce; the face it is forwarded to, -1 when it only waits. */
static uint32_t next_nonce = 1000;
static int try(enum scene_face in, const char *uri)
{
    interest(in, uri, FIELDS(.nonce = next_nonce++, .lifetime_ms = 60000));
    int to = -1;
    if (bed->n_sent == 1) {
        uint32_t id;
        (void)bed_parse_sent(bed, 0, &id);
        for (to = A; face_id[to] != id; to++)
            ;
    }
    cr_assert_leq(bed->n_sent, 1);
    sent_all(bed->n_sent);
    return to;
}

Test(strategy, best_route_takes_the_lowest_cost_then_unused_then_the_earliest_used)
{
    SCENE();
    route("/", C, 10);
    route("/", B, 20);
    route("/", D, 30);
    cr_assert_eq(try(A, "/a"), C);
    bed_pass(bed, 100);
    cr_assert_eq(try(A, "/a"), B);
    bed_pass(bed, 300);
    cr_assert_eq(try(A, "/a"), D);
    for (int round = 0; round < 2; round++) {
        bed_pass(bed, 300);
        cr_assert_eq(try(A, "/a"), C);
        bed_pass(bed, 300);
        cr_assert_eq(try(A, "/a"), B);
        bed_pass(bed, 300);
        cr_assert_eq(try(A, "/a"), D);
    }
    finish();
}

Test(strategy, suppression_doubles_from_10_ms_to_250_ms)
{
    // Interval after each forwarded retransmission: 10 20 40 80 160 250 250, in ticks of 1.05 ms rounded up.
    static const unsigned intervals[] = {10, 20, 40, 80, 160, 250, 250};
    for (uint16_t strategy = 0; strategy < 2; strategy++) {
        SCENE();
        route("/", E, 0);
        bed_strategy(bed, "/", strategy);
        cr_assert_eq(try(A, "/a"), E);
        for (unsigned i = 0; i < RTE_DIM(intervals); i++) {
            bed_pass(bed, intervals[i] - 3);
            cr_assert_eq(try(A, "/a"), -1, "interval %u of strategy %u is too short", i, strategy);
            cr_assert_eq(try(B, "/a"), -1);
            bed_pass(bed, 3 + intervals[i] / 8 + 3);
            cr_assert_eq(try(B, "/a"), E, "interval %u of strategy %u is too long", i, strategy);
        }
        // What was suppressed still waits for Data.
        data(E, "/a", NULL);
        sent_data(0, A);
        sent_data(1, B);
        sent_all(2);
        // A new entry starts from the beginning.
        cr_assert_eq(try(A, "/a"), E);
        bed_pass(bed, 15);
        cr_assert_eq(try(A, "/a"), E);
        finish();
    }
}

Test(strategy, best_route_suppresses_by_entry_multicast_by_upstream)
{
    SCENE();
    route("/", D, 1);
    route("/", E, 2);
    cr_assert_eq(try(A, "/a"), D);
    cr_assert_eq(try(B, "/a"), -1);
    bed_pass(bed, 15);
    cr_assert_eq(try(B, "/a"), E);
    cr_assert_eq(try(C, "/a"), -1);

    bed_strategy(bed, "/m", 1);
    route("/m", C, 1);
    interest(A, "/m", FIELDS(.nonce = 1));
    sent_interest(0, C);
    sent_all(1);
    route("/m", D, 1);
    interest(B, "/m", FIELDS(.nonce = 2)); // C was just asked, D was not
    sent_interest(0, D);
    sent_all(1);
    interest(E, "/m", FIELDS(.nonce = 3));
    sent_all(0);
    bed_pass(bed, 15);
    interest(E, "/m", FIELDS(.nonce = 4));
    sent_interest(0, C);
    sent_interest(1, D);
    sent_all(2);
    finish();
}

Test(strategy, best_route_starts_anew_when_no_upstream_is_pending)
{
    // The only upstream's record has expired, the entry lives on for another downstream.
    SCENE();
    route("/", D, 1);
    route("/", E, 2);
    interest(A, "/a", FIELDS(.nonce = 1, .lifetime_ms = 5));
    sent_interest(0, D);
    interest(B, "/a", FIELDS(.nonce = 2, .lifetime_ms = 4000));
    sent_all(1);
    bed_pass(bed, 8);
    interest(C, "/a", FIELDS(.nonce = 3, .lifetime_ms = 4000));
    sent_interest(0, D);
    sent_all(1);
    finish();
}

Test(strategy, multicast_asks_every_next_hop_but_the_ingress)
{
    SCENE();
    bed_strategy(bed, "/", 1);
    for (int i = A; i <= E; i++)
        route("/", (enum scene_face)i, (uint32_t)i);
    route("/", MULTI, 9);
    interest(B, "/a", FIELDS(.nonce = 1, .hop_limit = 9));
    static const enum scene_face out[] = {A, C, D, E, MULTI};
    uint8_t tokens[5][8];
    for (unsigned i = 0; i < 5; i++) {
        struct ndn_packet pkt = sent_interest(i, out[i]);
        cr_assert_eq(pkt.interest.hop_limit, 8);
        memcpy(tokens[i], pkt.lp.token, 8);
        cr_assert_arr_eq(tokens[i], tokens[0], 8);
    }
    sent_all(5);
    data(MULTI, "/a", NULL);
    sent_data(0, B);
    sent_all(1);
    finish();
}

Test(strategy, multicast_to_sixteen_next_hops_with_large_interests)
{
    for (unsigned multi_seg = 0; multi_seg < 2; multi_seg++) {
        bed = bed_create(&(struct bed_config){.pit_blocks = 256, .tx_multi_seg = multi_seg});
        scene_faces();
        struct port *port = bed_port(bed);
        bed_strategy(bed, "/", 1);
        for (uint8_t i = 0; i < FIB_NEXTHOPS_MAX; i++)
            bed_route(bed, "/", bed_ether(bed, port, (uint8_t)(i + 2)), i);
        char uri[1300] = "/";
        memset(uri + 1, 'n', 1100);
        interest(A, uri, FIELDS(.nonce = 1, .hop_limit = 3));
        cr_assert_eq(bed->n_sent, FIB_NEXTHOPS_MAX);
        for (unsigned i = 0; i < bed->n_sent; i++) {
            struct ndn_packet pkt = bed_parse_sent(bed, i, NULL);
            cr_assert(name_is(&pkt, uri));
            cr_assert_eq(pkt.interest.hop_limit, 2);
        }
        sent_all(FIB_NEXTHOPS_MAX);
        finish();
    }
}

/* Public report redmine 5123: the same Interest came back from the next hop, and Data then reached nobody. */
Test(strategy, interest_from_its_next_hop_does_not_end_the_first_one)
{
    for (uint32_t nonce = 1; nonce <= 2; nonce++) {
        for (uint16_t strategy = 0; strategy < 2; strategy++) {
            SCENE();
            route("/", B, 0);
            bed_strategy(bed, "/", strategy);
            interest(A, "/a", FIELDS(.nonce = 1));
            sent_interest(0, B);
            sent_all(1);
            bed_pass(bed, 15);
            interest(B, "/a", FIELDS(.nonce = nonce)); // the same one, or one of its own
            if (nonce == 1 && strategy == 0)
                sent_nack(0, B, NDN_NACK_DUPLICATE);
            bed_drop_sent(bed);
            cr_assert_eq(pending(), 1);
            cr_assert_eq(face_pending(A), 1);
            data(B, "/a", NULL);
            sent_data(0, A);
            sent_all(1);
            finish();
        }
    }
}

Test(strategy, interest_that_waits_with_others_is_not_refused)
{
    // B's own route is where A's Interest went, so B's is not sent anywhere; but it is pending, and says so.
    SCENE();
    route("/", B, 0);
    interest(A, "/a", FIELDS(.nonce = 1));
    bed_pass(bed, 50);
    interest(B, "/a", FIELDS(.nonce = 2));
    cr_assert_eq(drops(DROP_AGGREGATED), 1);
    cr_assert_eq(drops(DROP_NO_ROUTE), 0);
    sent_all(1);
    finish();
}

Test(strategy, faces_that_are_down_or_gone_are_passed_over)
{
    SCENE();
    route("/", C, 1);
    route("/", D, 2);
    face_down(C, true);
    cr_assert_eq(try(A, "/a"), D);
    face_down(D, true);
    interest(A, "/b", FIELDS(.nonce = 1));
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    cr_assert_eq(drops(DROP_FACE_DOWN), 1);
    sent_all(1);
    face_down(C, false);
    cr_assert_eq(try(A, "/b"), C);
    bed_face_remove(bed, face_id[C]);
    face_down(D, false);
    cr_assert_eq(try(A, "/c"), D);
    face_id[C] = bed_ether(bed, &bed->port[C], 2);
    finish();
}

Test(strategy, data_of_a_removed_upstream_or_for_a_removed_downstream_is_no_harm)
{
    SCENE();
    route("/", E, 1);
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(B, "/b", FIELDS(.nonce = 2));
    sent_all(2);
    cr_assert_eq(face_pending(A), 1);
    uint32_t old = face_id[A];
    bed_face_remove(bed, old);
    face_id[A] = bed_ether(bed, &bed->port[A], 2);
    cr_assert_neq(face_id[A], old);
    interest(A, "/a", FIELDS(.nonce = 3)); // joins its predecessor's
    cr_assert_eq(drops(DROP_AGGREGATED), 1);
    sent_all(0);
    data(E, "/a", NULL);
    sent_data(0, A);
    sent_all(1);
    uint32_t up = face_id[E];
    bed_face_remove(bed, up);
    face_id[E] = bed_ether(bed, &bed->port[E], 2);
    data(E, "/b", NULL); // another face now: not the one that was asked
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 1);
    sent_all(0);
    bed_pass(bed, 5000);
    cr_assert_eq(bed->fwd[0]->face_stats[old % FACE_SLOTS].pending, 0);
    finish();
}

Test(strategy, suppression_parameters_are_read)
{
    SCENE();
    bed_strategy_named(bed, "/s",
                       "best-route/v=5/retx-suppression-initial~104/retx-suppression-max~157/"
                       "retx-suppression-multiplier~3");
    route("/s", E, 0);
    cr_assert_eq(try(A, "/s/1"), E);
    bed_pass(bed, 90);
    cr_assert_eq(try(A, "/s/1"), -1);
    bed_pass(bed, 20);
    cr_assert_eq(try(A, "/s/1"), E);
    bed_pass(bed, 150);
    cr_assert_eq(try(A, "/s/1"), -1);
    bed_pass(bed, 10);
    cr_assert_eq(try(A, "/s/1"), E);
    struct strategy_suppression s = strategy_suppression(10, 250, 2);
    cr_assert_eq(s.initial_ticks, strategy_default.suppression.initial_ticks);
    cr_assert_eq(s.max_ticks, strategy_default.suppression.max_ticks);
    cr_assert_eq(strategy_suppression(0, 0, 1).initial_ticks, 1);
    cr_assert_eq(strategy_suppression(UINT32_MAX, UINT32_MAX, 1).max_ticks, UINT16_MAX);
    finish();
}

Test(strategy, device_that_takes_nothing_is_counted)
{
    SCENE();
    bed_strategy(bed, "/m", 1);
    route("/", E, 0);
    route("/m", D, 0);
    route("/m", E, 0);
    bed->refuse_send = true;
    interest(A, "/a", FIELDS(.nonce = 1));
    interest(A, "/m", FIELDS(.nonce = 2));
    cr_assert_eq(drops(DROP_TX_FULL), 3);
    sent_all(0);
    bed->refuse_send = false;
    data(E, "/a", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}

/* Every step of both directions with 0, 1, 2 .. buffers left: the law holds and nothing leaks. */
Test(strategy, pool_that_runs_out_anywhere_breaks_nothing)
{
    for (unsigned multi_seg = 0; multi_seg < 2; multi_seg++) {
        for (unsigned left = 0; left < 14; left++) {
            for (unsigned step = 0; step < 6; step++) {
                SCENE(.n_mbufs = 511, .cs_capacity = 4, .tx_multi_seg = multi_seg);
                bed_strategy(bed, "/m", 1);
                route("/", E, 0);
                route("/m", C, 0);
                route("/m", D, 0);
                route("/m", E, 0);
                const char *uri = step < 2 ? "/m/1" : "/a";
                uint16_t payload = step & 1 ? 1000 : 10;
                uint8_t buf[9000];
                struct rte_mbuf *mbuf;
                interest(B, step == 5 ? "/b" : "/m/1", FIELDS(.nonce = 5));
                interest(A, "/m/1", FIELDS(.nonce = 6));
                bed_drop_sent(bed);
                enum scene_face in = A;
                switch (step) {
                case 0: // multicast Interest
                    mbuf = bed_frame(bed, face_id[A], buf, bed_interest(buf, sizeof buf, "/m/2", FIELDS(.nonce = 9)));
                    break;
                case 1: // Data for two
                case 2:
                    in = E;
                    uri = "/m/1";
                    mbuf = bed_frame(bed, face_id[E], buf, bed_data(buf, sizeof buf, uri, FIELDS(.payload = payload)));
                    break;
                case 3: // fragments
                    in = LOCAL;
                    bed_strategy(bed, "/l", 0);
                    bed_route(bed, "/l", face_id[LOCAL], 0);
                    interest(A, "/l", FIELDS(.nonce = 1));
                    bed_drop_sent(bed);
                    mbuf =
                        bed_frame(bed, face_id[LOCAL], buf, bed_data(buf, sizeof buf, "/l", FIELDS(.payload = 8000)));
                    break;
                case 4: // Interest in two segments
                    mbuf = bed_split(
                        bed, bed_frame(bed, face_id[A], buf, bed_interest(buf, sizeof buf, "/a", FIELDS(.nonce = 9))),
                        20);
                    break;
                default: // Content Store
                    data(E, "/b", FIELDS(.payload = 100));
                    interest(C, "/b", FIELDS(.nonce = 44)); // stays in flight
                    mbuf = bed_frame(bed, face_id[A], buf, bed_interest(buf, sizeof buf, "/b", FIELDS(.nonce = 9)));
                    break;
                }
                pool_take(left);
                bed_receive(bed, &bed->port[in], &mbuf, 1);
                cr_assert_eq(bed_check(bed), 0, "step %u with %u left", step, left);
                pool_give();
                finish();
            }
        }
    }
}

/* Pending Interests of a prefix with multicast go to next hops that come later. */
Test(strategy, multicast_sends_pending_interests_to_a_new_next_hop)
{
    SCENE();
    bed_strategy(bed, "/m", 1);
    route("/m", C, 1);
    interest(A, "/m/1", FIELDS(.nonce = 7, .lifetime_ms = 3000, .hop_limit = 5, .can_be_prefix = true));
    sent_interest(0, C);
    sent_all(1);
    interest(A, "/m/2", FIELDS(.nonce = 8, .lifetime_ms = 100));
    interest(A, "/n/1", FIELDS(.nonce = 9));
    bed_drop_sent(bed);
    bed_pass(bed, 1000);
    route("/m", C, 5); // another cost is no new next hop
    bed_pass(bed, 1);
    sent_all(0);
    route("/m", D, 1);
    route("/n", D, 1);
    bed_pass(bed, 1);
    struct ndn_packet pkt = sent_interest(0, D);
    cr_assert(name_is(&pkt, "/m/1"));
    cr_assert_eq(pkt.interest.nonce, 7);
    cr_assert_eq(pkt.interest.hop_limit, 4);
    cr_assert(pkt.interest.can_be_prefix);
    cr_assert(pkt.interest.lifetime_ms > 1900 && pkt.interest.lifetime_ms <= 2000);
    sent_all(1);
    bed_pass(bed, 10);
    sent_all(0);
    data(D, "/m/1/x", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(strategy, multicast_does_not_send_pending_interests_where_they_came_from_or_may_not_go)
{
    SCENE();
    bed_strategy(bed, "/", 1);
    interest(A, "/m/1", FIELDS(.nonce = 1));
    interest(B, "/m/1", FIELDS(.nonce = 2));
    interest(A, "/m/2", FIELDS(.nonce = 3, .hop_limit = 1));
    interest(LOCAL, "/localhost/x", FIELDS(.nonce = 4));
    interest(A, "/localhop/x", FIELDS(.nonce = 5));
    sent_all(0);
    bed_pass(bed, 5);
    route("/", A, 1);
    bed_pass(bed, 1);
    // A is B's upstream, and nobody else's that may use it.
    struct ndn_packet pkt = sent_interest(0, A);
    cr_assert(name_is(&pkt, "/m/1"));
    cr_assert_eq(pkt.interest.nonce, 2);
    sent_all(1);
    route("/localhost", LOCAL2, 1);
    route("/localhop", LOCAL2, 1);
    route("/m", LOCAL2, 1);
    bed_pass(bed, 1);
    // An application is no further hop: to it all four may go.
    for (unsigned i = 0; i < 4; i++)
        (void)sent_interest(i, LOCAL2);
    sent_all(4);
    finish();
}

Test(strategy, walk_for_new_next_hops_takes_a_few_entries_at_a_time)
{
    SCENE(.pit_capacity = 4096);
    bed_strategy(bed, "/", 1);
    char uri[32];
    for (unsigned i = 0; i < 500; i++) {
        snprintf(uri, sizeof uri, "/m/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 60000));
    }
    bed_pass(bed, 1);
    route("/m", C, 1);
    unsigned asked = 0;
    for (unsigned turn = 0; turn < 40; turn++) {
        bed_pass(bed, 0);
        cr_assert_leq(bed->n_sent, turn < 5 ? 32 : 64); // two next hops each, after the second one
        asked += bed->n_sent;
        bed_drop_sent(bed);
        if (turn == 5)
            route("/m", D, 1); // during the walk
        if (turn < 10)
            cr_assert_eq(fwd_next_ns(bed->fwd[0], bed->now_ns), 0);
    }
    cr_assert_eq(asked, 1000);
    cr_assert_gt(fwd_next_ns(bed->fwd[0], bed->now_ns), 0);
    // Without such Interests there is no walk.
    bed_pass(bed, 61000);
    route("/m", E, 1);
    bed_pass(bed, 0);
    cr_assert_gt(fwd_next_ns(bed->fwd[0], bed->now_ns), 0);
    finish();
}

/* A second forwarder's view of a packet that the first one sent: nodes of the tests below are beds of one face each. */
static const char *const all_strategies[] = {"access", "asf", "best-route", "multicast", "random", "self-learning"};

/*
 * Public report redmine 5278 (page 1966): five nodes with multicast. D has an Interest of its own from E pending and
 * one of B's; a neighbour answers B's with Nack Duplicate, which must not end E's.
 */
Test(strategy, nack_duplicate_of_one_nonce_does_not_end_the_interest_of_another_one)
{
    SCENE();
    bed_strategy(bed, "/", 1);
    route("/sync", B, 0);
    route("/sync", C, 0);
    route("/sync", E, 0);
    interest(B, "/sync/1", FIELDS(.nonce = 0xb));
    sent_interest(0, C);
    sent_interest(1, E);
    sent_all(2);
    bed_pass(bed, 2);
    interest(E, "/sync/1", FIELDS(.nonce = 0xe)); // joins; B, not asked yet, hears of it
    sent_interest(0, B);
    sent_all(1);
    interest(C, "/sync/1", FIELDS(.nonce = 0xb, .nack = NDN_NACK_DUPLICATE));
    interest(E, "/sync/1", FIELDS(.nonce = 0xb, .nack = NDN_NACK_DUPLICATE));
    interest(B, "/sync/1", FIELDS(.nonce = 0xe, .nack = NDN_NACK_DUPLICATE));
    sent_all(0);
    cr_assert_eq(pending(), 1);
    cr_assert_eq(face_pending(B), 1);
    cr_assert_eq(face_pending(E), 1);
    data(C, "/sync/1", NULL);
    sent_data(0, B);
    sent_data(1, E);
    sent_all(2);
    // Nor does a looping one provoke such a Nack.
    interest(B, "/sync/2", FIELDS(.nonce = 1));
    bed_drop_sent(bed);
    interest(C, "/sync/2", FIELDS(.nonce = 1));
    sent_all(0);
    finish();
}

/* Public report named-data/ndnd PR 20: in a sync group each member's face is a next hop as well. */
Test(strategy, interest_is_never_sent_back_to_its_ingress)
{
    for (unsigned s = 0; s < RTE_DIM(all_strategies); s++) {
        SCENE();
        bed_strategy_named(bed, "/", all_strategies[s]);
        route("/sync", A, 0);
        route("/sync", B, 1);
        route("/sync", MULTI, 2);
        for (uint32_t i = 0; i < 30; i++) {
            // Retransmissions among them, and Data, so that strategies know the face.
            char uri[32];
            snprintf(uri, sizeof uri, "/sync/%u", i / 3);
            static const enum scene_face from[] = {A, B, MULTI};
            enum scene_face in = from[i % 3 == 2 ? i / 3 % 3 : i % 3 == 1 ? (i / 3 + 1) % 3 : i / 3 % 3];
            interest(in, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 700));
            for (unsigned f = 0; f < bed->n_sent; f++) {
                uint32_t to;
                (void)bed_parse_sent(bed, f, &to);
                cr_assert_neq(to, face_id[in], "%s sent it back", all_strategies[s]);
            }
            bed_drop_sent(bed);
            if (i % 6 == 5)
                data(i % 4 == 1 ? B : A, uri, NULL);
            bed_drop_sent(bed);
            bed_pass(bed, 60 + i * 11);
            bed_drop_sent(bed);
        }
        finish();
    }
}

/* Public report named-data/ndnd 73: /localhop goes one hop, whatever the strategy. */
Test(strategy, localhop_goes_one_hop_and_localhost_none)
{
    for (unsigned s = 0; s < RTE_DIM(all_strategies); s++) {
        SCENE();
        bed_strategy_named(bed, "/", all_strategies[s]);
        route("/localhop", E, 0);
        route("/localhop", D, 1);
        route("/localhost", E, 0);
        for (uint32_t i = 0; i < 3; i++) {
            interest(A, "/localhop/x", FIELDS(.nonce = i + 1, .non_discovery = i == 1));
            for (unsigned f = 0; f < bed->n_sent; f++) {
                struct ndn_packet pkt = bed_parse_sent(bed, f, NULL);
                cr_assert_neq(pkt.lp.has & LP_HAS_NACK, 0, "%s let it pass", all_strategies[s]);
            }
            bed_drop_sent(bed);
            bed_pass(bed, 300);
        }
        interest(LOCAL, "/localhop/y", FIELDS(.nonce = 10));
        cr_assert_geq(bed->n_sent, 1, "%s kept it", all_strategies[s]);
        bed_drop_sent(bed);
        interest(LOCAL, "/localhost/z", FIELDS(.nonce = 11));
        for (unsigned f = 0; f < bed->n_sent; f++) {
            uint32_t to;
            (void)bed_parse_sent(bed, f, &to);
            cr_assert_eq(to, face_id[LOCAL], "%s let /localhost out", all_strategies[s]);
        }
        finish();
    }
}

/* Public report redmine 5123 for every strategy: Data still reaches who asked first. */
Test(strategy, same_interest_from_the_next_hop_keeps_the_first_one_pending)
{
    for (unsigned s = 0; s < RTE_DIM(all_strategies); s++) {
        SCENE();
        bed_strategy_named(bed, "/", all_strategies[s]);
        route("/p", B, 0);
        interest(A, "/p/1", FIELDS(.nonce = 1));
        sent_interest(0, B);
        sent_all(1);
        bed_pass(bed, 15);
        interest(B, "/p/1", FIELDS(.nonce = 1));
        bed_drop_sent(bed);
        cr_assert_eq(face_pending(A), 1, "%s", all_strategies[s]);
        data(B, "/p/1", NULL);
        struct ndn_packet pkt = bed_parse_sent(bed, 0, NULL);
        cr_assert_eq(pkt.type, NDN_TYPE_DATA, "%s", all_strategies[s]);
        sent_data(0, A);
        sent_all(1);
        finish();
    }
}

/* Public reports redmine 1953 and 3484: a loop longer than the lifetime is met once, and leaves nothing behind. */
Test(strategy, interest_that_loops_longer_than_its_lifetime_is_sent_once_and_leaves_no_entry)
{
    for (unsigned s = 0; s < RTE_DIM(all_strategies); s++) {
        SCENE();
        bed_strategy_named(bed, "/", all_strategies[s]);
        route("/A", B, 0);
        interest(A, "/A/1", FIELDS(.nonce = 77, .lifetime_ms = 50));
        sent_interest(0, B);
        sent_all(1);
        bed_pass(bed, 170);
        cr_assert_eq(pending(), 0);
        for (unsigned i = 0; i < 3; i++) {
            interest(B, "/A/1", FIELDS(.nonce = 77, .lifetime_ms = 50));
            bool is_multicast = strcmp(all_strategies[s], "multicast") == 0;
            if (!is_multicast)
                sent_nack(0, B, NDN_NACK_DUPLICATE);
            sent_all(!is_multicast);
            cr_assert_eq(pending(), 0, "%s", all_strategies[s]);
            bed_pass(bed, 100);
        }
        finish();
    }
}
