// SPDX-License-Identifier: Apache-2.0
/* asf, access and random: strategies that measure their upstreams, or choose by chance. */
#include "test/unit/fwd/scene.h"

static uint32_t next_nonce = 1000;

/* Faces that the Interests which came out went to, as bits; they are freed. */
static unsigned taken(void)
{
    unsigned faces = 0;
    for (unsigned i = 0; i < bed->n_sent; i++) {
        uint32_t id;
        struct ndn_packet pkt = bed_parse_sent(bed, i, &id);
        cr_assert(pkt.type == NDN_TYPE_INTEREST && !(pkt.lp.has & LP_HAS_NACK), "frame %u is no Interest", i);
        for (unsigned f = A; f < SCENE_FACES; f++)
            if (face_id[f] == id)
                faces |= 1u << f;
    }
    sent_all(bed->n_sent);
    return faces;
}

/* Send an Interest of a new name under @p prefix, unless @p uri is one. @return faces it went to */
static unsigned ask(enum scene_face in, const char *uri)
{
    interest(in, uri, FIELDS(.nonce = next_nonce++, .lifetime_ms = 2000));
    return taken();
}

#define BIT(face) (1u << (face))

/* Data comes from @p from, @p us microseconds later, and goes to @p to. */
static void answer(enum scene_face from, const char *uri, unsigned us, enum scene_face to)
{
    bed->now_ns += us * 1000ull;
    data(from, uri, NULL);
    sent_data(0, to);
    sent_all(1);
}

/* ---- asf ---- */

/* Names /p/0, /p/1, ... */
static const char *number(unsigned i)
{
    static char uri[32];
    snprintf(uri, sizeof uri, "/p/%u", i);
    return uri;
}

static void asf_scene(const char *strategy)
{
    SCENE();
    bed_strategy_named(bed, "/", strategy);
    route("/p", C, 10);
    route("/p", D, 20);
    route("/p", E, 30);
}

/* One exchange after another; the face asked first, -1 when it was several. Probes are answered like others. */
static unsigned asf_exchange(unsigned i, unsigned us_of[SCENE_FACES], unsigned *asked)
{
    *asked = ask(A, number(i));
    unsigned n = 0;
    for (unsigned step = 0; step < 40; step++) {
        bed->now_ns += 1000000;
        for (unsigned f = C; f <= E; f++)
            if (*asked & BIT(f) && us_of[f] != 0 && us_of[f] / 1000 == step + 1) {
                data((enum scene_face)f, number(i), NULL);
                n++;
            }
    }
    bed_drop_sent(bed);
    bed_pass(bed, 60);
    cr_assert_eq(bed_check(bed), 0);
    return n;
}

Test(asf, unmeasured_next_hops_are_ranked_by_cost_and_the_fastest_one_is_used_once_it_is_known)
{
    asf_scene("asf");
    unsigned us[SCENE_FACES] = {[C] = 30000, [D] = 5000, [E] = 20000}, asked, probes = 0, used_d = 0;
    // A probe a minute: in eleven minutes each alternative is measured, and the fastest one is used ever after.
    for (unsigned i = 0; i < 660; i++) {
        cr_assert_geq(asf_exchange(i, us, &asked), 1);
        if (i == 0)
            cr_assert(asked & BIT(C), "the least cost first");
        probes += __builtin_popcount(asked) > 1;
        cr_assert_leq(__builtin_popcount(asked), 2);
        if (i >= 330) {
            cr_assert(asked & BIT(D), "exchange %u went to %x", i, asked);
            used_d++;
        }
        bed_pass(bed, 1000 - 100);
    }
    cr_assert_eq(used_d, 330);
    cr_assert(probes >= 10 && probes <= 12, "%u probes", probes);
    finish();
}

/* Public report redmine 5310: next hops of equal rank hid one another. */
Test(asf, next_hops_of_equal_rank_are_all_kept)
{
    // All of one cost and not measured: retransmissions reach each of them, and so do probes.
    SCENE();
    bed_strategy_named(bed, "/", "asf/v=5/probing-interval~1000");
    for (int f = B; f <= E; f++)
        route("/p", (enum scene_face)f, 7);
    unsigned seen = 0;
    for (unsigned i = 0; i < 4; i++) {
        seen |= ask(A, "/p/retx");
        bed_pass(bed, 300);
    }
    cr_assert_eq(seen, BIT(B) | BIT(C) | BIT(D) | BIT(E));
    bed_pass(bed, 3000);
    // All of one cost and one time: each is probed.
    unsigned us[SCENE_FACES] = {[B] = 5000, [C] = 5000, [D] = 5000, [E] = 5000}, asked, probed = 0;
    for (unsigned i = 0; i < 60; i++) {
        asked = ask(A, number(i));
        bed->now_ns += us[B] * 1000ull;
        for (unsigned f = B; f <= E; f++)
            if (asked & BIT(f))
                data((enum scene_face)f, number(i), NULL);
        bed_drop_sent(bed);
        if (__builtin_popcount(asked) > 1)
            probed |= asked;
        bed_pass(bed, 1000);
    }
    cr_assert_eq(probed, BIT(B) | BIT(C) | BIT(D) | BIT(E));
    finish();
}

Test(asf, next_hop_counts_as_timed_out_after_max_timeouts_silent_ones)
{
    for (unsigned max = 1; max <= 4; max++) {
        char strategy[64];
        snprintf(strategy, sizeof strategy, "asf/v=5/max-timeouts~%u", max);
        SCENE();
        bed_strategy_named(bed, "/", strategy);
        route("/p", C, 10);
        route("/p", D, 20);
        for (unsigned i = 0; i < max; i++) {
            cr_assert(ask(A, number(i)) & BIT(C), "time-out %u of %u", i, max);
            bed_pass(bed, 1100); // the time-out before anything was measured is one second
        }
        cr_assert_eq(ask(A, number(9)) & BIT(D), BIT(D), "after %u time-outs", max);
        finish();
    }
}

Test(asf, data_ends_the_count_of_timeouts_and_a_late_one_brings_a_face_back)
{
    SCENE();
    bed_strategy_named(bed, "/", "asf/v=5/max-timeouts~2/probing-interval~290000");
    route("/p", C, 10);
    route("/p", D, 20);
    cr_assert(ask(A, number(0)) & BIT(C));
    bed_pass(bed, 1100);
    cr_assert(ask(A, number(1)) & BIT(C));
    answer(C, number(1), 3000, A);
    bed_pass(bed, 100);
    cr_assert(ask(A, number(2)) & BIT(C));
    bed_pass(bed, 250); // now the time-out is 200 ms
    cr_assert(ask(A, number(3)) & BIT(C), "one time-out is forgiven");
    bed_pass(bed, 250);
    cr_assert(ask(A, number(4)) & BIT(D), "two are not");
    data(C, number(3), NULL); // late, but Data
    bed_drop_sent(bed);
    cr_assert(ask(A, number(5)) & BIT(C), "it answers again");
    finish();
}

Test(asf, nack_counts_as_a_timeout_at_once_and_is_aggregated)
{
    SCENE();
    bed_strategy_named(bed, "/", "asf");
    route("/p", C, 10);
    route("/p", D, 20);
    uint32_t nonce = next_nonce;
    cr_assert_eq(ask(A, number(0)), BIT(C));
    interest(C, number(0), FIELDS(.nonce = nonce, .nack = NDN_NACK_NO_ROUTE));
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    sent_all(1);
    cr_assert_eq(pending(), 0);
    cr_assert(ask(A, number(1)) & BIT(D));
    finish();
}

Test(asf, probe_has_a_nonce_of_its_own_and_its_data_is_waited_for)
{
    asf_scene("asf/v=5/probing-interval~1000");
    bed_pass(bed, 10);
    unsigned asked = 0;
    unsigned i = 0;
    // The first probe comes within five seconds.
    for (; i < 60 && __builtin_popcount(asked) < 2; i++) {
        interest(A, number(i), FIELDS(.nonce = 5, .lifetime_ms = 2000, .hop_limit = 9));
        unsigned n_own = 0;
        for (unsigned f = 0; f < bed->n_sent; f++) {
            uint32_t to;
            struct ndn_packet pkt = bed_parse_sent(bed, f, &to);
            cr_assert(name_is(&pkt, number(i)));
            cr_assert_eq(pkt.interest.hop_limit, 8);
            cr_assert_eq(pkt.interest.nonce == 5, to == face_id[C], "the nonce goes to the best one alone");
            n_own += pkt.interest.nonce != 5;
        }
        cr_assert_eq(n_own, bed->n_sent - 1);
        asked = taken();
        bed_pass(bed, 100);
    }
    i--;
    cr_assert_eq(__builtin_popcount(asked), 2);
    cr_assert(asked & BIT(C));
    enum scene_face other = asked & BIT(D) ? D : E;
    // The one answers, the entry waits for the other without a downstream.
    data(C, number(i), NULL);
    sent_data(0, A);
    sent_all(1);
    uint32_t waiting = pending();
    cr_assert_eq(face_pending(A), waiting - 1);
    bed_pass(bed, 30);
    uint64_t satisfied = bed_stats(bed).satisfied;
    data(other, number(i), NULL);
    sent_all(0);
    cr_assert_eq(drops(DROP_DATA_UNWANTED), 1);
    cr_assert_eq(bed_stats(bed).satisfied, satisfied);
    cr_assert_eq(pending(), waiting - 1);
    finish();
}

Test(asf, straggler_that_does_not_come_is_given_up_after_50_ms_and_is_no_failure)
{
    SCENE();
    bed_strategy_named(bed, "/", "asf");
    route("/p", C, 10);
    route("/p", D, 20);
    ask(A, "/p/x");
    bed_pass(bed, 20);
    cr_assert_eq(ask(A, "/p/x"), BIT(D)); // a retransmission, to the unused one
    answer(C, "/p/x", 1000, A);
    cr_assert_eq(pending(), 1);
    uint64_t unsatisfied = bed_stats(bed).unsatisfied;
    bed_pass(bed, 45);
    cr_assert_eq(pending(), 1);
    bed_pass(bed, 7);
    cr_assert_eq(pending(), 0);
    cr_assert_eq(bed_stats(bed).unsatisfied, unsatisfied);
    // Meanwhile the same Interest would have been served.
    ask(A, "/p/y");
    bed_pass(bed, 20);
    cr_assert_eq(ask(A, "/p/y"), BIT(D));
    answer(C, "/p/y", 1000, A);
    interest(B, "/p/y", FIELDS(.nonce = 77, .lifetime_ms = 300));
    cr_assert_eq(taken(), BIT(C));
    cr_assert_eq(face_pending(B), 1);
    bed_pass(bed, 100);
    cr_assert_eq(pending(), 1, "it lives as long as its new downstream");
    answer(D, "/p/y", 0, B);
    finish();
}

Test(asf, suppression_is_by_upstream)
{
    SCENE();
    bed_strategy_named(bed, "/", "asf/v=5/retx-suppression-initial~20/retx-suppression-max~40");
    route("/p", C, 10);
    route("/p", D, 20);
    cr_assert_eq(ask(A, "/p/1"), BIT(C));
    cr_assert_eq(ask(A, "/p/1"), BIT(D), "another upstream is not held back");
    cr_assert_eq(ask(A, "/p/1"), 0u);
    bed_pass(bed, 25);
    cr_assert_eq(ask(B, "/p/1"), BIT(C));
    cr_assert_eq(ask(A, "/p/1"), BIT(D));
    bed_pass(bed, 25);
    cr_assert_eq(ask(A, "/p/1"), 0u);
    bed_pass(bed, 25);
    cr_assert_eq(ask(A, "/p/1"), BIT(C));
    finish();
}

Test(asf, no_route_is_answered_with_a_nack)
{
    SCENE();
    bed_strategy_named(bed, "/", "asf");
    route("/p", C, 10);
    interest(C, "/p/1", FIELDS(.nonce = 1));
    sent_nack(0, C, NDN_NACK_NO_ROUTE);
    sent_all(1);
    interest(A, "/q", FIELDS(.nonce = 2));
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    sent_all(1);
    cr_assert_eq(pending(), 0);
    finish();
}

/* ---- access ---- */

static void access_scene(void)
{
    SCENE();
    bed_strategy_named(bed, "/", "access");
    route("/v", C, 10);
    route("/v", D, 20);
    route("/v", E, 30);
}

Test(access, first_interest_goes_everywhere_later_ones_to_the_last_working_next_hop)
{
    access_scene();
    cr_assert_eq(ask(A, "/v/film/1"), BIT(C) | BIT(D) | BIT(E));
    answer(D, "/v/film/1", 10000, A);
    for (unsigned i = 0; i < 5; i++) {
        cr_assert_eq(ask(A, "/v/film/2"), BIT(D));
        answer(D, "/v/film/2", 10000, A);
    }
    cr_assert_eq(ask(A, "/v/other/1"), BIT(C) | BIT(D) | BIT(E), "another prefix knows nothing");
    answer(E, "/v/other/1", 10000, A);
    cr_assert_eq(ask(A, "/v/film/3"), BIT(D));
    cr_assert_eq(ask(B, "/v/other/2"), BIT(E));
    finish();
}

Test(access, others_are_asked_when_the_last_next_hop_does_not_answer_in_time)
{
    access_scene();
    ask(A, "/v/film/1");
    answer(D, "/v/film/1", 10000, A);
    interest(A, "/v/film/2", FIELDS(.nonce = 21, .lifetime_ms = 2000, .can_be_prefix = true, .hop_limit = 7));
    cr_assert_eq(taken(), BIT(D));
    bed_pass(bed, 190);
    sent_all(0);
    bed_pass(bed, 15); // 200 ms at least
    cr_assert_eq(bed->n_sent, 2);
    for (unsigned i = 0; i < 2; i++) {
        struct ndn_packet pkt = bed_parse_sent(bed, i, NULL);
        cr_assert(name_is(&pkt, "/v/film/2"));
        cr_assert(pkt.interest.can_be_prefix && !pkt.interest.must_be_fresh);
        cr_assert_eq(pkt.interest.nonce, 21);
        cr_assert_eq(pkt.interest.hop_limit, 6);
        cr_assert(pkt.interest.lifetime_ms >= 1780 && pkt.interest.lifetime_ms <= 1810, "%u ms",
                  pkt.interest.lifetime_ms);
        cr_assert_eq(pkt.lp.token_len, TOKEN_SIZE);
    }
    cr_assert_eq(taken(), BIT(C) | BIT(E));
    bed_pass(bed, 1000);
    sent_all(0);
    answer(E, "/v/film/2", 0, A);
    cr_assert_eq(ask(A, "/v/film/3"), BIT(E));
    finish();
}

Test(access, each_downstream_and_the_end_of_the_entry_survive_the_timer)
{
    access_scene();
    ask(A, "/v/film/1");
    answer(D, "/v/film/1", 10000, A);
    uint64_t unsatisfied = bed_stats(bed).unsatisfied;
    interest(A, "/v/film/2", FIELDS(.nonce = 1, .lifetime_ms = 500));
    interest(B, "/v/film/2", FIELDS(.nonce = 2, .lifetime_ms = 900));
    cr_assert_eq(taken(), BIT(D));
    bed_pass(bed, 210);
    cr_assert_eq(taken(), BIT(C) | BIT(E));
    bed_pass(bed, 600);
    cr_assert_eq(pending(), 1);
    bed_pass(bed, 100);
    cr_assert_eq(pending(), 0);
    cr_assert_eq(bed_stats(bed).unsatisfied, unsatisfied + 1);
    // A lifetime that ends before the timer ends the entry.
    interest(A, "/v/film/3", FIELDS(.nonce = 3, .lifetime_ms = 100));
    cr_assert_eq(taken(), BIT(D));
    bed_pass(bed, 110);
    sent_all(0);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(access, interest_that_cannot_be_made_again_goes_everywhere_at_once)
{
    access_scene();
    ask(A, "/v/film/1");
    answer(D, "/v/film/1", 10000, A);
    cr_assert_eq(ask(A, "/v/film/params-sha256="
                        "0000000000000000000000000000000000000000000000000000000000000000"),
                 BIT(C) | BIT(D) | BIT(E));
    finish();
}

Test(access, retransmission_goes_everywhere_unless_it_comes_within_10_ms)
{
    access_scene();
    ask(A, "/v/film/1");
    answer(D, "/v/film/1", 10000, A);
    cr_assert_eq(ask(A, "/v/film/2"), BIT(D));
    cr_assert_eq(ask(A, "/v/film/2"), 0u);
    bed_pass(bed, 15);
    cr_assert_eq(ask(B, "/v/film/2"), BIT(C) | BIT(D) | BIT(E));
    bed_pass(bed, 300);
    sent_all(0); // everyone has been asked: the timer finds nobody
    finish();
}

Test(access, what_is_known_of_a_prefix_lasts_for_8_seconds)
{
    access_scene();
    ask(A, "/v/film/1");
    answer(D, "/v/film/1", 1000, A);
    cr_assert_eq(measurements_count(bed->fwd[0]->measurements), 1);
    bed_pass(bed, 7900);
    cr_assert_eq(ask(A, "/v/film/2"), BIT(D));
    bed_pass(bed, 200);
    cr_assert_eq(measurements_count(bed->fwd[0]->measurements), 0);
    bed_drop_sent(bed);
    cr_assert_eq(ask(A, "/v/film/3"), BIT(C) | BIT(D) | BIT(E));
    finish();
}

Test(access, last_next_hop_that_is_down_or_without_its_route_is_passed_over)
{
    access_scene();
    ask(A, "/v/film/1");
    answer(D, "/v/film/1", 1000, A);
    face_down(D, true);
    cr_assert_eq(ask(A, "/v/film/2"), BIT(C) | BIT(E));
    face_down(D, false);
    cr_assert_eq(ask(A, "/v/film/3"), BIT(D));
    uint8_t name[NDN_NAME_MAX];
    uint16_t len = (uint16_t)ndn_name_from_uri("/v", name, sizeof name);
    cr_assert_eq(fib_nexthop_unset(bed->shared.fib, name, len, face_id[D]), 0);
    cr_assert_eq(ask(A, "/v/film/4"), BIT(C) | BIT(E));
    finish();
}

/* Public report redmine 2831: in a loop of two nodes each sent the Interest back to the other. */
Test(access, interest_is_not_sent_back_to_where_it_came_from)
{
    // This is R, with a route to A and no other; A has one to R.
    SCENE();
    bed_strategy_named(bed, "/", "access");
    route("/net", A, 10);
    interest(A, "/net/1", FIELDS(.nonce = 1));
    sent_all(0);
    cr_assert_eq(pending(), 0);
    // Not even when A was the one that answered last.
    interest(B, "/net/1/1", FIELDS(.nonce = 2));
    cr_assert_eq(taken(), BIT(A));
    answer(A, "/net/1/1", 1000, B);
    interest(A, "/net/1/2", FIELDS(.nonce = 3));
    sent_all(0);
    bed_pass(bed, 2000);
    sent_all(0);
    finish();
}

/* ---- random ---- */

Test(random, each_eligible_next_hop_is_chosen_about_as_often)
{
    SCENE();
    bed_strategy_named(bed, "/", "random");
    unsigned n_of[SCENE_FACES] = {0};
    for (int f = A; f <= E; f++)
        route("/p", (enum scene_face)f, (uint32_t)f);
    face_down(E, true);
    for (unsigned i = 0; i < 900; i++) {
        unsigned asked = ask(A, number(i % 200));
        cr_assert_eq(__builtin_popcount(asked), 1);
        for (unsigned f = A; f <= E; f++)
            n_of[f] += (asked & BIT(f)) != 0;
    }
    cr_assert_eq(n_of[A], 0);
    cr_assert_eq(n_of[E], 0);
    for (unsigned f = B; f <= D; f++)
        cr_assert(n_of[f] > 240 && n_of[f] < 360, "%u of 900", n_of[f]);
    face_down(E, false);
    finish();
}

Test(random, nack_no_route_when_there_is_none_and_nacks_are_passed_on)
{
    SCENE();
    bed_strategy_named(bed, "/", "random");
    interest(A, "/q", FIELDS(.nonce = 1));
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    sent_all(1);
    route("/p", C, 0);
    interest(A, "/p", FIELDS(.nonce = 2));
    cr_assert_eq(taken(), BIT(C));
    interest(C, "/p", FIELDS(.nonce = 2, .nack = NDN_NACK_CONGESTION));
    sent_nack(0, A, NDN_NACK_CONGESTION);
    sent_all(1);
    cr_assert_eq(pending(), 0);
    finish();
}

/* ---- all of them ---- */

Test(strategies, prefix_that_changes_its_strategy_starts_anew)
{
    static const char *const names[] = {"access", "asf", "best-route", "multicast", "random"};
    SCENE();
    route("/p", C, 10);
    route("/p", D, 20);
    unsigned i = 0;
    // Every strategy after every other, with an Interest pending and Data on its way.
    for (unsigned from = 0; from < RTE_DIM(names); from++) {
        for (unsigned to = 0; to < RTE_DIM(names); to++) {
            bed_strategy_named(bed, "/", names[from]);
            cr_assert_neq(ask(A, number(++i)), 0u);
            bed_pass(bed, 5);
            bed_strategy_named(bed, "/", names[to]);
            bed_pass(bed, 20);
            ask(A, number(i));
            bed_pass(bed, 300);
            ask(B, number(i));
            cr_assert_eq(pending(), 1);
            data(C, number(i), NULL);
            bed_drop_sent(bed);
            data(D, number(i), NULL);
            bed_drop_sent(bed);
            bed_pass(bed, 60);
            cr_assert_eq(pending(), 0, "%s to %s", names[from], names[to]);
            cr_assert_eq(bed_check(bed), 0);
        }
    }
    finish();
}

Test(strategies, workers_measure_each_for_itself)
{
    SCENE(.n_workers = 2);
    bed_strategy_named(bed, "/", "access");
    route("/", C, 10);
    route("/", D, 20);
    unsigned learnt = 0;
    for (unsigned i = 0; i < 20; i++) {
        char uri[40];
        snprintf(uri, sizeof uri, "/%u/v/1", i);
        cr_assert_eq(ask(A, uri), BIT(C) | BIT(D));
        answer(D, uri, 1000, A);
        snprintf(uri, sizeof uri, "/%u/v/2", i);
        cr_assert_eq(ask(A, uri), BIT(D));
        answer(D, uri, 1000, A);
        learnt++;
    }
    uint32_t n[2];
    for (unsigned w = 0; w < 2; w++)
        n[w] = measurements_count(bed->fwd[w]->measurements);
    cr_assert_eq(n[0] + n[1], learnt);
    cr_assert(n[0] > 0 && n[1] > 0);
    finish();
}

/* Packets, time, faces, routes and strategies at random: the law and every invariant hold, and nothing is left. */
Test(strategies, random_operations_break_no_invariant_under_any_strategy)
{
    static const char *const names[] = {
        "access", "asf/probing-interval~1000", "best-route", "multicast", "random", "self-learning"};
    static const char *const prefixes[] = {"/", "/p", "/p/1"};
    static const enum scene_face faces[] = {A, B, C, D, E, LOCAL, MULTI, AD_HOC};
    for (unsigned seed = 1; seed <= 6; seed++) {
        SCENE(.n_workers = (uint16_t)(1 + seed % 2), .pit_capacity = 64, .pit_blocks = 64, .cs_capacity = seed % 3 * 4,
              .measurements = 5);
        bed_internal(bed);
        srandom(seed);
        for (unsigned step = 0; step < 3000; step++) {
            long r = random();
            enum scene_face face = faces[(unsigned)(r >> 4) % RTE_DIM(faces)];
            char uri[24];
            snprintf(uri, sizeof uri, "/p/%ld/%ld", r >> 8 & 1, r >> 9 & 7);
            uint32_t nonce = 1 + (uint32_t)(r >> 12) % 500;
            switch (r & 15) {
            case 0:
                bed_strategy_named(bed, prefixes[(unsigned)(r >> 8) % 3], names[(unsigned)(r >> 12) % RTE_DIM(names)]);
                break;
            case 1:
                route(prefixes[(unsigned)(r >> 8) % 3], face, (uint32_t)(r >> 12) % 3);
                break;
            case 2:
                face_down(face, r >> 8 & 1);
                break;
            case 3:
            case 4:
            case 5:
                bed_pass(bed, (uint64_t)(r >> 8) % 300);
                break;
            case 6:
            case 7:
            case 8:
            case 9:
                data(face, uri, FIELDS(.payload = 20));
                break;
            case 10:
                bed_send_data(bed, FACE_ID_INTERNAL, uri, FIELDS(.payload = 20));
                break;
            case 11:
                interest(face, uri,
                         FIELDS(.nonce = nonce, .nack = r >> 8 & 1 ? NDN_NACK_NO_ROUTE : NDN_NACK_DUPLICATE));
                break;
            default:
                interest(face, uri,
                         FIELDS(.nonce = nonce, .lifetime_ms = 100 + (uint32_t)(r >> 16) % 900,
                                .hop_limit = r >> 24 & 1 ? 2 : 0, .must_be_fresh = r >> 25 & 1,
                                .non_discovery = r >> 26 & 1));
                break;
            }
            bed_drop_sent(bed);
            cr_assert_eq(bed_check(bed), 0, "seed %u, step %u", seed, step);
        }
        for (unsigned i = 0; i < RTE_DIM(faces); i++)
            face_down(faces[i], false);
        finish();
    }
}
