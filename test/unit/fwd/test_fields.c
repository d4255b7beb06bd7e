// SPDX-License-Identifier: Apache-2.0
/* Which NDNLPv2 header fields go to which face: local fields, tokens, what self-learning adds. */
#include "test/unit/fwd/scene.h"

/* An application of local scope that has not asked for local fields, on a port of its own. */
static uint32_t plain_app(void)
{
    struct face_config config = {.port = bed_bare_port(bed)->index, .kind = FACE_BARE, .scope = FACE_SCOPE_LOCAL};
    return bed_face(bed, &config);
}

/* Frame 0 went to this face; its packet. */
static struct ndn_packet first_to(uint32_t face)
{
    uint32_t to;
    cr_assert_geq(bed->n_sent, 1);
    struct ndn_packet pkt = bed_parse_sent(bed, 0, &to);
    cr_assert_eq(to, face);
    return pkt;
}

static void expect_from(const struct ndn_packet *pkt, uint32_t from)
{
    cr_assert(pkt->lp.has & LP_HAS_INCOMING_FACE);
    cr_assert_eq(pkt->lp.incoming_face, from, "from %u instead of %u", (unsigned)pkt->lp.incoming_face, from);
}

#define ANNOUNCEMENT "0610 0703080150 1400 1500 16031B0100 1700"
#define DATA_A       "0610 0703080141 1400 1500 16031B0100 1700"

Test(fields, local_fields_tell_where_interests_data_and_nacks_came_from)
{
    SCENE(.cs_capacity = 8);
    route("/app", LOCAL, 0);
    route("/net", E, 0);
    interest(A, "/app/1", FIELDS(.nonce = 1));
    struct ndn_packet pkt = sent_interest(0, LOCAL);
    expect_from(&pkt, face_id[A]);
    sent_all(1);
    interest(LOCAL, "/net/1", FIELDS(.nonce = 2, .token = "me", .token_len = 2));
    cr_assert(!(sent_interest(0, E).lp.has & LP_HAS_INCOMING_FACE), "only local applications are told");
    sent_all(1);
    data(E, "/net/1", FIELDS(.payload = 10));
    pkt = sent_data(0, LOCAL);
    expect_from(&pkt, face_id[E]);
    cr_assert(pkt.lp.token_len == 2 && memcmp(pkt.lp.token, "me", 2) == 0);
    sent_all(1);
    // The same again is answered by the Content Store, which has a FaceId of its own.
    interest(LOCAL, "/net/1", FIELDS(.nonce = 3));
    pkt = sent_data(0, LOCAL);
    expect_from(&pkt, FACE_ID_CONTENT_STORE);
    sent_all(1);
    interest(LOCAL, "/net/2", FIELDS(.nonce = 4));
    sent_all(1);
    bed_send_interest(bed, face_id[E], "/net/2", FIELDS(.nonce = 4, .nack = NDN_NACK_CONGESTION));
    pkt = sent_nack(0, LOCAL, NDN_NACK_CONGESTION);
    expect_from(&pkt, face_id[E]);
    sent_all(1);
    // A Nack of our own came from nowhere.
    interest(LOCAL, "/none", FIELDS(.nonce = 5));
    cr_assert(!(sent_nack(0, LOCAL, NDN_NACK_NO_ROUTE).lp.has & LP_HAS_INCOMING_FACE));
    sent_all(1);
    finish();
}

Test(fields, local_fields_are_told_by_every_worker)
{
    SCENE(.n_workers = 4);
    route("/app", LOCAL, 0);
    for (unsigned i = 0; i < 16; i++) {
        char uri[20];
        snprintf(uri, sizeof uri, "/app/%u", i);
        interest(B, uri, FIELDS(.nonce = i + 1));
        struct ndn_packet pkt = sent_interest(0, LOCAL);
        expect_from(&pkt, face_id[B]);
        sent_all(1);
        data(LOCAL, uri, NULL);
        sent_data(0, B);
        sent_all(1);
    }
    cr_assert_gt(bed_stats(bed).handed_over, 0);
    finish();
}

Test(fields, application_that_knows_no_link_protocol_gets_bare_packets)
{
    SCENE(.cs_capacity = 4);
    uint32_t app = plain_app();
    bed_route(bed, "/app", app, 0);
    route("/net", E, 0);
    interest(A, "/app/1", FIELDS(.nonce = 1, .token = "12345678", .token_len = 8));
    cr_assert_eq(first_to(app).lp.has, 0, "neither a token of ours nor one of the consumer's");
    sent_all(1);
    // It answers without token, and the consumer gets back its own.
    bed_send_data(bed, app, "/app/1", FIELDS(.payload = 20));
    struct ndn_packet pkt = sent_data(0, A);
    cr_assert(pkt.lp.token_len == 8 && memcmp(pkt.lp.token, "12345678", 8) == 0);
    sent_all(1);
    for (unsigned i = 0; i < 2; i++) {
        // From the network, then from the Content Store.
        bed_send_interest(bed, app, "/net/1", FIELDS(.nonce = 2 + i));
        if (i == 0) {
            sent_interest(0, E);
            sent_all(1);
            data(E, "/net/1", FIELDS(.payload = 300));
        }
        cr_assert_eq(first_to(app).lp.has, 0);
        sent_all(1);
    }
    finish();
}

Test(fields, tokens_of_an_application_come_back_to_it)
{
    SCENE();
    uint32_t app = plain_app();
    route("/net", E, 0);
    bed_send_interest(bed, app, "/net/1", FIELDS(.nonce = 1, .token = "abc", .token_len = 3));
    sent_all(1);
    data(E, "/net/1", NULL);
    struct ndn_packet pkt = first_to(app);
    cr_assert(pkt.lp.token_len == 3 && memcmp(pkt.lp.token, "abc", 3) == 0);
    cr_assert(!(pkt.lp.has & LP_HAS_INCOMING_FACE));
    sent_all(1);
    finish();
}

Test(fields, flag_that_is_switched_shows_in_the_next_packet)
{
    SCENE();
    uint32_t app = plain_app();
    bed_route(bed, "/app", app, 0);
    for (unsigned on = 0; on < 2; on++) {
        struct face_update update = {.has_flags = true, .flags = on ? FACE_LOCAL_FIELDS : 0};
        cr_assert_eq(face_change(bed->shared.faces, app, &update), 0);
        interest(A, on ? "/app/on" : "/app/off", NULL);
        cr_assert_eq((first_to(app).lp.has & LP_HAS_INCOMING_FACE) != 0, on);
        sent_all(1);
    }
    finish();
}

Test(fields, congestion_marks_go_on_both_ways_but_not_into_the_content_store)
{
    SCENE(.cs_capacity = 4);
    route("/", E, 0);
    packet(A, "6410 FD03400105 5009 0507 0703080141 0A00"); // malformed inside: nothing goes on
    sent_all(0);
    packet(A, "6414 FD03400105 500D 050B 0703080141 0A0401020304");
    cr_assert_eq(sent_interest(0, E).lp.congestion_mark, 5);
    sent_all(1);
    packet(B, "6414 FD03400106 500D 050B 0703080141 0A0401020305");
    sent_all(0);
    packet(E, "6419 FD03400107 5012 " DATA_A);
    for (unsigned i = 0; i < 2; i++)
        cr_assert_eq(bed_parse_sent(bed, i, &(uint32_t){0}).lp.congestion_mark, 7);
    sent_all(2);
    // What was congested then says nothing of now.
    interest(C, "/A", FIELDS(.nonce = 9));
    cr_assert(!(sent_data(0, C).lp.has & LP_HAS_CONGESTION_MARK));
    sent_all(1);
    finish();
}

/* A Data that announces a prefix: 6 octets of header, then a small Data as PrefixAnnouncement, then Data /A. */
static void expect_announcement(const struct ndn_packet *pkt)
{
    uint8_t want[64];
    size_t len = bad_input_expand(ANNOUNCEMENT, 0, want);
    cr_assert(pkt->lp.has & LP_HAS_PREFIX_ANNOUNCEMENT);
    cr_assert(pkt->lp.announcement_len == len && memcmp(pkt->lp.announcement, want, len) == 0);
}

Test(fields, announcements_and_non_discovery_go_on_hop_by_hop)
{
    for (uint16_t n_workers = 1; n_workers <= 4; n_workers += 3) {
        SCENE(.n_workers = n_workers);
        route("/", E, 0);
        for (uint16_t worker = 0; worker < n_workers; worker++) {
            packet(A, "6413 FD034C00 500D 050B 0703080141 0A0401020304");
            cr_assert(sent_interest(0, E).lp.has & LP_HAS_NON_DISCOVERY);
            sent_all(1);
            interest(B, "/A", FIELDS(.nonce = 9 + worker, .token = "b", .token_len = 1));
            sent_all(0);
            // With a mark as well, and in two segments: both downstreams get all of it.
            uint8_t buf[200];
            size_t len = bad_input_expand("642F FD03400103 FD035012 " ANNOUNCEMENT " 5012 " DATA_A, 0, buf);
            struct rte_mbuf *mbuf = bed_frame(bed, face_id[E], buf, len);
            if (worker & 1)
                mbuf = bed_split(bed, mbuf, 14 + 35);
            bed_receive_at(bed, worker, &bed->port[face_get(bed->shared.faces, face_id[E])->port], &mbuf, 1);
            for (unsigned i = 0; i < 2; i++) {
                struct ndn_packet pkt = bed_parse_sent(bed, i, &(uint32_t){0});
                cr_assert(pkt.type == NDN_TYPE_DATA && pkt.lp.congestion_mark == 3);
                expect_announcement(&pkt);
            }
            sent_all(2);
        }
        finish();
    }
}

Test(fields, announcement_crosses_to_other_workers_when_its_buffer_has_no_room)
{
    // The Data lies in a segment that has no room before it.
    SCENE(.n_workers = 4);
    route("/", E, 0);
    for (uint16_t worker = 0; worker < 4; worker++) {
        packet(A, "050B 0703080141 0A0401020304");
        sent_all(1);
        uint8_t buf[200];
        size_t len = bad_input_expand("642A FD035012 " ANNOUNCEMENT " 5012 " DATA_A, 0, buf);
        struct rte_mbuf *head = bed_frame(bed, face_id[E], buf, len - 18);
        struct rte_mbuf *tail = bed_raw(bed, buf + len - 18, 18);
        memmove(tail->buf_addr, rte_pktmbuf_mtod(tail, uint8_t *), 18);
        tail->data_off = 0;
        head->next = tail;
        head->nb_segs = 2;
        head->pkt_len += 18;
        // bed_frame() knew nothing of the rest, and Ethernet has no length to say otherwise.
        bed_receive_at(bed, worker, &bed->port[face_get(bed->shared.faces, face_id[E])->port], &head, 1);
        struct ndn_packet pkt = sent_data(0, A);
        expect_announcement(&pkt);
        sent_all(1);
        bed_pass(bed, 7000);
    }
    finish();
}

Test(fields, announcement_that_leaves_no_room_for_data_stays_behind)
{
    SCENE();
    route("/", E, 0);
    for (unsigned big = 0; big < 2; big++) {
        interest(A, "/A", FIELDS(.nonce = 1 + big));
        sent_all(1);
        // An announcement of 500 or 1000 octets, where an MTU of 1500 is the face's.
        packet(E, big ? "64FD040A FD0350FD03F0 06FD03EC 0703080150 1400 15FD03DA [00]986 16031B0100 1700 5012 " DATA_A
                      : "64FD020A FD0350FD01F0 06FD01EC 0703080150 1400 15FD01DA [00]474 16031B0100 1700 5012 " DATA_A);
        struct ndn_packet pkt = sent_data(0, A);
        cr_assert_eq((pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT) != 0, !big);
        sent_all(1);
    }
    finish();
}

Test(fields, announcement_rides_on_the_first_fragment)
{
    SCENE();
    route("/", E, 0);
    interest(A, "/A", FIELDS(.nonce = 1));
    sent_all(1);
    packet(E, "64FD05DC FD035012 " ANNOUNCEMENT " 50FD05C2 06FD05BE 0703080141 1400 15FD05AC [5A]1452 16031B0100 1700");
    unsigned n = bed->n_sent;
    cr_assert_eq(n, 2, "%u fragments", n);
    for (unsigned i = 0; i < n; i++) {
        struct ndn_packet pkt = sent(i, A);
        cr_assert_eq(pkt.lp.frag_count, 2);
        cr_assert_eq((pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT) != 0, i == 0);
    }
    sent_all(2);
    finish();
}
