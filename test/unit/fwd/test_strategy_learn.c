// SPDX-License-Identifier: Apache-2.0
/* self-learning: discoveries, what the control thread is told, what it sends back. */
#include "test/unit/fwd/scene.h"

static const uint8_t announcement[] = "\x06\x0a\x07\x08\x08\x03net\x08\x01x";

static void learn_scene(const struct bed_config *config)
{
    scene(config);
    bed_internal(bed);
    bed_strategy_named(bed, "/", "self-learning");
}

#define LEARN_SCENE(...) learn_scene(&(struct bed_config){.pages = ARENA_PAGES_SMALL, __VA_ARGS__})

/* The frame that went to a face; fails when there is none, or several. */
static struct ndn_packet sent_to(uint32_t face)
{
    unsigned found = UINT_MAX;
    for (unsigned i = 0; i < bed->n_sent; i++) {
        uint32_t id;
        (void)bed_parse_sent(bed, i, &id);
        if (id == face) {
            cr_assert_eq(found, UINT_MAX, "several frames to face %u", face);
            found = i;
        }
    }
    cr_assert_neq(found, UINT_MAX, "no frame to face %u", face);
    return bed_parse_sent(bed, found, NULL);
}

static bool is_discovery(const struct ndn_packet *pkt)
{
    cr_assert_eq(pkt->type, NDN_TYPE_INTEREST);
    cr_assert_eq(pkt->lp.has & LP_HAS_NACK, 0);
    return !(pkt->lp.has & LP_HAS_NON_DISCOVERY);
}

/* Interest from @p in goes to these faces, ended by SCENE_FACES, as a discovery or not. */
static void asks(enum scene_face in, const char *uri, uint32_t nonce, bool non_discovery, const enum scene_face *to,
                 bool discovery)
{
    interest(in, uri, FIELDS(.nonce = nonce, .non_discovery = non_discovery, .lifetime_ms = 2000));
    unsigned n = 0;
    for (; to[n] != SCENE_FACES; n++) {
        struct ndn_packet pkt = sent_to(face_id[to[n]]);
        cr_assert_eq(is_discovery(&pkt), discovery, "%s to %s", uri, scene_names[to[n]]);
    }
    sent_all(n);
}

#define TO(...) ((const enum scene_face[]){__VA_ARGS__, SCENE_FACES})

Test(self_learning, interest_without_route_is_a_discovery_that_goes_to_every_face_but_local_ones)
{
    LEARN_SCENE();
    asks(B, "/net/1", 1, false, TO(A, C, D, E, MULTI, AD_HOC), true);
    // From an ad-hoc face it goes there, too: not everyone there has heard it.
    asks(AD_HOC, "/net/2", 2, false, TO(A, B, C, D, E, MULTI, AD_HOC), true);
    asks(LOCAL, "/net/3", 3, false, TO(A, B, C, D, E, MULTI, AD_HOC), true);
    face_down(C, true);
    asks(B, "/net/4", 4, false, TO(A, D, E, MULTI, AD_HOC), true);
    face_down(C, false);
    finish();
}

Test(self_learning, marked_interest_goes_by_the_fib_or_is_answered_with_a_nack)
{
    LEARN_SCENE();
    interest(A, "/net/1", FIELDS(.nonce = 1, .non_discovery = true));
    sent_nack(0, A, NDN_NACK_NO_ROUTE);
    sent_all(1);
    cr_assert_eq(pending(), 0);
    route("/net", C, 0);
    route("/net", D, 5);
    asks(A, "/net/2", 2, true, TO(C, D), false);
    // One that is not marked gets the mark, for there is a route.
    asks(A, "/net/3", 3, false, TO(C, D), false);
    // Where it came from is no way to send it.
    interest(C, "/net/4", FIELDS(.nonce = 4));
    struct ndn_packet pkt = sent_to(face_id[D]);
    cr_assert(!is_discovery(&pkt));
    sent_all(1);
    finish();
}

Test(self_learning, applications_do_not_see_the_mark)
{
    LEARN_SCENE();
    bed_route(bed, "/app", face_id[LOCAL], 0);
    interest(A, "/app/1", FIELDS(.nonce = 1));
    struct ndn_packet pkt = sent_interest(0, LOCAL);
    cr_assert_eq(pkt.lp.has & LP_HAS_NON_DISCOVERY, 0);
    sent_all(1);
    finish();
}

Test(self_learning, announcement_is_told_to_the_control_thread_and_passed_on)
{
    LEARN_SCENE();
    asks(A, "/net/1", 1, false, TO(B, C, D, E, MULTI, AD_HOC), true);
    asks(B, "/net/1", 2, false, TO(A, C, D, E, MULTI, AD_HOC), true);
    data(D, "/net/1",
         FIELDS(.payload = 200, .announcement = announcement, .announcement_len = sizeof announcement - 1));
    const uint32_t to[] = {face_id[A], face_id[B], FACE_ID_INTERNAL};
    for (unsigned i = 0; i < 3; i++) {
        struct ndn_packet pkt = sent_to(to[i]);
        cr_assert_eq(pkt.type, NDN_TYPE_DATA);
        cr_assert(name_is(&pkt, "/net/1"));
        cr_assert_neq(pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0, "face %u", to[i]);
        cr_assert_eq(pkt.lp.announcement_len, sizeof announcement - 1);
        cr_assert_arr_eq(pkt.lp.announcement, announcement, sizeof announcement - 1);
        cr_assert_eq((pkt.lp.has & LP_HAS_INCOMING_FACE) != 0, to[i] == FACE_ID_INTERNAL);
        if (to[i] == FACE_ID_INTERNAL)
            cr_assert_eq(pkt.lp.incoming_face, face_id[D]);
    }
    sent_all(3);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(self_learning, announcement_that_nobody_asked_for_makes_no_route)
{
    LEARN_SCENE();
    route("/net", C, 0);
    asks(A, "/net/1", 1, true, TO(C), false);
    data(C, "/net/1", FIELDS(.announcement = announcement, .announcement_len = sizeof announcement - 1));
    struct ndn_packet pkt = sent_to(face_id[A]);
    cr_assert_eq(pkt.type, NDN_TYPE_DATA);
    sent_all(1);
    finish();
}

Test(self_learning, discovery_that_met_a_route_is_answered_with_its_announcement)
{
    for (uint16_t n_workers = 1; n_workers <= 2; n_workers++) {
        LEARN_SCENE(.n_workers = n_workers);
        route("/net", C, 0);
        for (uint32_t i = 0; i < 8; i++) {
            char uri[20];
            snprintf(uri, sizeof uri, "/net/%u", i);
            asks(A, uri, 10 + i, false, TO(C), false);
            interest(B, uri, FIELDS(.nonce = 100 + i, .non_discovery = true, .lifetime_ms = 2000));
            bed_drop_sent(bed);
            data(C, uri, FIELDS(.payload = 100));
            // Not yet sent on: the control thread is asked first.
            struct ndn_packet pkt = sent_to(FACE_ID_INTERNAL);
            cr_assert_eq(pkt.type, NDN_TYPE_DATA);
            cr_assert_eq(pkt.lp.incoming_face, face_id[C]);
            cr_assert_eq(pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0);
            sent_all(1);
            cr_assert_eq(drops(DROP_DATA_HELD), i + 1);
            cr_assert_eq(pending(), 1);
            bed_send_data(
                bed, FACE_ID_INTERNAL, uri,
                FIELDS(.payload = 100, .announcement = announcement, .announcement_len = sizeof announcement - 1));
            for (enum scene_face f = A; f <= B; f++) {
                pkt = sent_to(face_id[f]);
                cr_assert(name_is(&pkt, uri));
                cr_assert_neq(pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0);
                cr_assert_arr_eq(pkt.lp.announcement, announcement, sizeof announcement - 1);
            }
            sent_all(2);
            cr_assert_eq(pending(), 0);
        }
        finish();
    }
}

Test(self_learning, data_goes_on_at_once_when_no_downstream_looks_for_a_route)
{
    LEARN_SCENE();
    route("/net", C, 0);
    asks(A, "/net/1", 1, true, TO(C), false);
    data(C, "/net/1", FIELDS(.payload = 100));
    sent_data(0, A);
    sent_all(1);
    // Nor when it answers a discovery of ours without an announcement: the upstream cannot do better.
    asks(A, "/other", 2, false, TO(B, C, D, E, MULTI, AD_HOC), true);
    data(D, "/other", FIELDS(.payload = 100));
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(self_learning, without_control_thread_data_goes_on_as_it_is)
{
    SCENE();
    bed_strategy_named(bed, "/", "self-learning");
    route("/net", C, 0);
    asks(A, "/net/1", 1, false, TO(C), false);
    data(C, "/net/1", FIELDS(.payload = 100));
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(self_learning, control_thread_that_does_not_answer_costs_the_data_only)
{
    LEARN_SCENE();
    route("/net", C, 0);
    asks(A, "/net/1", 1, false, TO(C), false);
    data(C, "/net/1", NULL);
    bed_drop_sent(bed);
    cr_assert_eq(pending(), 1);
    bed_pass(bed, 2100);
    cr_assert_eq(pending(), 0);
    // What comes too late is nobody's.
    bed_send_data(bed, FACE_ID_INTERNAL, "/net/1", NULL);
    sent_all(0);
    finish();
}

Test(self_learning, nack_no_route_goes_to_all_downstreams_and_ends_the_route)
{
    LEARN_SCENE();
    route("/net", C, 0);
    route("/net", D, 0);
    asks(A, "/net/1", 1, true, TO(C, D), false);
    asks(B, "/net/1", 2, true, TO(C, D), false);
    interest(C, "/net/1", FIELDS(.nonce = 2, .nack = NDN_NACK_NO_ROUTE));
    const uint32_t to[] = {face_id[A], face_id[B], FACE_ID_INTERNAL};
    for (unsigned i = 0; i < 3; i++) {
        struct ndn_packet pkt = sent_to(to[i]);
        cr_assert_neq(pkt.lp.has & LP_HAS_NACK, 0);
        cr_assert_eq(pkt.lp.nack_reason, NDN_NACK_NO_ROUTE);
        cr_assert(name_is(&pkt, "/net/1"));
        if (to[i] == FACE_ID_INTERNAL)
            cr_assert_eq(pkt.lp.incoming_face, face_id[C]);
    }
    sent_all(3);
    cr_assert_eq(pending(), 0);
    finish();
}

Test(self_learning, nack_of_one_face_does_not_end_a_discovery)
{
    LEARN_SCENE();
    asks(A, "/net/1", 1, false, TO(B, C, D, E, MULTI, AD_HOC), true);
    interest(C, "/net/1", FIELDS(.nonce = 1, .nack = NDN_NACK_NO_ROUTE));
    sent_all(0);
    cr_assert_eq(pending(), 1);
    data(D, "/net/1", NULL);
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(self_learning, new_faces_are_broadcast_to_soon_and_old_ones_no_more)
{
    LEARN_SCENE();
    asks(A, "/net/1", 1, false, TO(B, C, D, E, MULTI, AD_HOC), true);
    bed_face_remove(bed, face_id[C]);
    asks(A, "/net/2", 2, false, TO(B, D, E, MULTI, AD_HOC), true);
    face_id[C] = bed_ether(bed, &bed->port[C], 2);
    bed_pass(bed, 110);
    asks(A, "/net/3", 3, false, TO(B, C, D, E, MULTI, AD_HOC), true);
    finish();
}

Test(self_learning, broadcast_to_more_faces_than_an_entry_holds_is_bounded)
{
    scene(&(struct bed_config){.pages = ARENA_PAGES_SMALL, .pit_blocks = 40});
    bed_strategy_named(bed, "/", "self-learning");
    struct port *port = bed_port(bed);
    for (unsigned i = 3; i < 203; i++)
        bed_ether(bed, port, (uint8_t)i);
    interest(A, "/net/1", FIELDS(.nonce = 1));
    cr_assert(bed->n_sent >= 60 && bed->n_sent <= 127, "%u", bed->n_sent);
    cr_assert_gt(drops(DROP_PIT_FULL), 0);
    sent_all(bed->n_sent);
    finish();
}
