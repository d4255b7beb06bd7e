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
