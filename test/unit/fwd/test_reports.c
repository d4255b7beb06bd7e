// SPDX-License-Identifier: Apache-2.0
/* Faults that users of other forwarders reported publicly, as far as no other file has them: test/reports.md. */
#include "test/unit/fwd/scene.h"

/* named-data/ndnd 215: one fragment with FragCount 2^40 ended the daemon; FragIndex above Sequence went below zero. */
Test(reports, hostile_fragment_counts_cost_nothing_and_leave_nothing)
{
    SCENE();
    route("/", E, 0);
    const unsigned before = bed_mbufs(bed);
    static const char *const refused[] = {
        "641F 51080000000000000000 520101 53080000010000000000 5006 050B07030801", // FragCount 2^40
        "6426 51080000000000000000 52080000010000000000 53080000010000000001 5006 050B07030801",
        "641F 51080000000000000000 520101 5308FFFFFFFFFFFFFFFF 5006 050B07030801",
        "6418 51080000000000000000 520102 530102 5006 050B07030801", // FragIndex = FragCount
        "6418 51080000000000000000 520100 530100 5006 050B07030801",
    };
    for (unsigned i = 0; i < RTE_DIM(refused); i++) {
        packet(A, refused[i]);
        cr_assert_eq(drops(DROP_LP_FRAG_BAD), i + 1, "row %u: %s", i, bed_only_drop(bed));
        cr_assert_eq(bed_mbufs(bed), before, "a refused fragment holds nothing");
    }
    sent_all(0);
    // The second of two whose number wraps below zero: what belongs together is put together all the same.
    packet(A, "6419 51080000000000000000 520101 530102 5007 410A0401020304");
    bed_pass(bed, 1000);
    sent_all(0);
    cr_assert_eq(bed_mbufs(bed), before);
    packet(A, "6418 5108FFFFFFFFFFFFFFFF 520100 530102 5006 050B07030801");
    packet(A, "6419 51080000000000000000 520101 530102 5007 410A0401020304");
    struct ndn_packet pkt = sent_interest(0, E);
    cr_assert(name_is(&pkt, "/A") && pkt.interest.nonce == 0x01020304);
    sent_all(1);
    finish();
}

/* usnistgov/ndn-dpdk 66 and 82: an Interest without Nonce, padded by the sender, of odd length, was not forwarded. */
Test(reports, interest_without_nonce_before_an_ethernet_trailer_is_forwarded)
{
    SCENE();
    route("/", E, 0);
    uint8_t buf[100];
    for (size_t trailer = 0; trailer < 40; trailer++) {
        char uri[20];
        memset(buf, 0x5a, sizeof buf);
        // 05 0a 07 08 08 06 and six characters.
        snprintf((char *)buf + 6, sizeof buf - 6, "test%02u", (unsigned)trailer);
        buf[12] = 0x5a;
        memcpy(buf, "\x05\x0a\x07\x08\x08\x06", 6);
        bed_packet(bed, face_id[A], buf, 12 + trailer);
        snprintf(uri, sizeof uri, "/test%02u", (unsigned)trailer);
        struct ndn_packet pkt = sent_interest(0, E);
        cr_assert(name_is(&pkt, uri) && pkt.interest.has_nonce);
        cr_assert_eq(pkt.net_len, 18, "the trailer stays on its link");
        sent_all(1);
        data(E, uri, NULL);
        sent_data(0, A);
        sent_all(1);
    }
    // A datagram has no trailer: what is behind the packet is an error there.
    uint32_t udp = bed_udp4(bed, bed_port(bed), 2);
    bed_packet(bed, udp, buf, 12 + 3);
    cr_assert_eq(drops(DROP_TRAILING), 1, "%s", bed_only_drop(bed));
    sent_all(0);
    finish();
}

/* redmine 3236: entries of priority_fifo whose freshness changed stayed in a queue they did not belong to. */
Test(reports, priority_fifo_gives_back_what_is_refreshed_and_evicted)
{
    SCENE(.cs_capacity = 4, .cs_policy = CS_PRIORITY_FIFO);
    route("/", E, 0);
    uint32_t nonce = 1;
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < 7; i++) {
            char uri[8];
            snprintf(uri, sizeof uri, "/%u", (round + i * 3) % 9);
            interest(A, uri, FIELDS(.nonce = nonce++, .must_be_fresh = true));
            bool hit = bed_parse_sent(bed, 0, &(uint32_t){0}).type == NDN_TYPE_DATA;
            bed_drop_sent(bed);
            if (!hit)
                data(E, uri, FIELDS(.payload = 200, .freshness_ms = (round * 7 + i) % 3 * 40));
            bed_drop_sent(bed);
            bed_pass(bed, 13);
            struct cs_info info;
            cs_info(bed->fwd[0]->cs, &info);
            cr_assert_leq(info.n_entries, 4);
            cr_assert_eq(bed_mbufs(bed), info.n_entries, "%u buffers for %u Data", bed_mbufs(bed), info.n_entries);
            cr_assert_eq(bed_check(bed), 0);
        }
    }
    finish();
}

/* redmine 1511 and 2441: what was lost below or behind an Ethernet face showed nowhere. */
Test(reports, burst_that_a_device_does_not_take_shows_in_the_counters)
{
    SCENE();
    route("/", E, 0);
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    for (unsigned i = 0; i < FWD_BURST_MAX; i++) {
        uint8_t buf[200];
        char uri[8];
        snprintf(uri, sizeof uri, "/%u", i);
        size_t len = bed_interest(buf, sizeof buf, uri, FIELDS(.nonce = i + 1));
        mbufs[i] = bed_frame(bed, face_id[A], buf, len);
    }
    bed->refuse_send = true;
    bed_receive(bed, &bed->port[face_get(bed->shared.faces, face_id[A])->port], mbufs, FWD_BURST_MAX);
    cr_assert_eq(drops(DROP_TX_FULL), FWD_BURST_MAX);
    cr_assert_eq(bed_stats(bed).rx_frames, FWD_BURST_MAX);
    face_down(E, true);
    interest(A, "/0", FIELDS(.nonce = 900));
    bed_pass(bed, 300);
    interest(A, "/0", FIELDS(.nonce = 901));
    sent_all(0);
    finish();
}
