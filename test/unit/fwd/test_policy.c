// SPDX-License-Identifier: Apache-2.0
/* What the operator decides: unsolicited Data, network regions, a default HopLimit, CongestionMarks on ports. */
#include "test/unit/fwd/scene.h"

#include "fwd/congestion.h"
#include "fwd/region.h"

static bool cached(const char *uri)
{
    static uint32_t nonce = 7000;
    interest(D, uri, FIELDS(.nonce = nonce++));
    bool hit = bed->n_sent == 1 && bed_parse_sent(bed, 0, &(uint32_t){0}).type == NDN_TYPE_DATA;
    bed_drop_sent(bed);
    return hit;
}

Test(policy, unsolicited_data_is_kept_from_the_faces_that_the_policy_names)
{
    static const struct {
        enum fwd_unsolicited policy;
        bool local, network;
    } row[] = {
        {FWD_DROP_ALL, false, false},
        {FWD_ADMIT_LOCAL, true, false},
        {FWD_ADMIT_NETWORK, false, true},
        {FWD_ADMIT_ALL, true, true},
    };
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        SCENE(.cs_capacity = 8, .cs_policy = i & 1 ? CS_PRIORITY_FIFO : CS_LRU);
        bed->shared.unsolicited = (uint8_t)row[i].policy;
        data(LOCAL, "/l", FIELDS(.payload = 40));
        data(A, "/n", FIELDS(.payload = 40));
        data(LOCAL, "/no/l", FIELDS(.no_cache = true));
        data(A, "/no/n", FIELDS(.no_cache = true));
        sent_all(0);
        uint64_t kept = (uint64_t)row[i].local + row[i].network;
        cr_assert_eq(drops(DROP_UNSOLICITED_KEPT), kept, "row %u", i);
        cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 4 - kept);
        cr_assert_eq(cached("/l"), row[i].local);
        cr_assert_eq(cached("/n"), row[i].network);
        cr_assert(!cached("/no/l") && !cached("/no/n"));
        finish();
    }
}

Test(policy, unsolicited_data_is_kept_by_the_owner_of_its_name)
{
    SCENE(.n_workers = 4, .cs_capacity = 64);
    bed->shared.unsolicited = FWD_ADMIT_ALL;
    for (unsigned i = 0; i < 24; i++) {
        char uri[20];
        snprintf(uri, sizeof uri, "/u/%u/x", i);
        data(A, uri, FIELDS(.payload = 10));
        // A token of nobody's leads nowhere.
        cr_assert(cached(uri), "%s", uri);
    }
    cr_assert_eq(drops(DROP_UNSOLICITED_KEPT), 24);
    cr_assert_eq(bed_check(bed), 0);
    finish();
}

/* Regions by URI. */
static uint8_t region_name[2][100];
static struct region regions[2];
static void set_regions(const char *first, const char *second)
{
    const char *const uri[2] = {first, second};
    for (unsigned i = 0; i < 2; i++) {
        int len = ndn_name_from_uri(uri[i], region_name[i], sizeof region_name[i]);
        cr_assert_gt(len, 0);
        regions[i] = (struct region){.name = region_name[i], .len = (uint16_t)len};
    }
    bed->shared.regions = regions;
    bed->shared.n_regions = 2;
}

Test(policy, hint_that_has_reached_its_region_is_taken_out)
{
    static const struct {
        const char *region;
        bool reached;
    } row[] = {{"/r/e/g", true}, {"/r/e", true}, {"/r", false}, {"/r/ee", false}, {"/h/x", true}, {"/x", false}};
    for (unsigned i = 0; i < RTE_DIM(row); i++) {
        SCENE();
        set_regions("/other/region", row[i].region);
        route("/h", D, 0);
        route("/A", E, 0);
        packet(A, "642C 6203746F6B 5025 0523 0703080141 1E0D 0703080168 0706080172080165 0A0401020304 0C0203E8 220109 "
                  "2400");
        struct ndn_packet pkt = sent_interest(0, row[i].reached ? E : D);
        cr_assert_eq(pkt.interest.n_hints, row[i].reached ? 0 : 2, "region %s", row[i].region);
        cr_assert(name_is(&pkt, "/A"));
        cr_assert(pkt.interest.nonce == 0x01020304 && pkt.interest.lifetime_ms == 1000 && pkt.interest.hop_limit == 8);
        cr_assert_eq(pkt.net_len, row[i].reached ? 22 : 37);
        cr_assert(pkt.net[pkt.net_len - 2] == 0x24, "the rest is untouched");
        sent_all(1);
        data(row[i].reached ? E : D, "/A", NULL);
        cr_assert_eq(sent_data(0, A).lp.token_len, 3);
        sent_all(1);
        finish();
    }
}

Test(policy, hint_is_taken_out_of_an_interest_however_it_is_cut)
{
    uint8_t buf[400];
    size_t len =
        bad_input_expand("05 FD0118 0703080141 1E0D 0703080168 0706080172080165 0A0401020304 24 FA [77]250 ", 0, buf);
    // The length of the whole is found by hand: 5 + 15 + 6 + 252.
    buf[2] = 0x01;
    buf[3] = 0x16;
    for (uint32_t split = 1; split < len + 14; split += split < 60 ? 1 : 37) {
        SCENE(.tx_multi_seg = split & 1);
        set_regions("/r/e", "/unused");
        route("/A", E, 0);
        struct rte_mbuf *mbuf = bed_frame(bed, face_id[A], buf, len);
        mbuf = bed_split(bed, mbuf, split);
        bed_receive(bed, &bed->port[face_get(bed->shared.faces, face_id[A])->port], &mbuf, 1);
        struct ndn_packet pkt = sent_interest(0, E);
        cr_assert(pkt.interest.n_hints == 0 && name_is(&pkt, "/A") && pkt.interest.nonce == 0x01020304);
        cr_assert_eq(pkt.net_len, len - 15);
        sent_all(1);
        finish();
    }
}

Test(policy, default_hop_limit_is_given_to_interests_without_one)
{
    for (uint16_t n_workers = 1; n_workers <= 4; n_workers += 3) {
        SCENE(.n_workers = n_workers, .cs_capacity = 0);
        bed->shared.default_hop_limit = 20;
        route("/", E, 0);
        for (unsigned i = 0; i < 40; i++) {
            char uri[32];
            snprintf(uri, sizeof uri, "/%u/%.*s", i, (int)(i % 20), "abcdefghijklmnopqrstuvwxyz");
            if (i % 20 == 0)
                snprintf(uri, sizeof uri, "/%u", i);
            interest(A, uri,
                     FIELDS(.nonce = i + 1, .lifetime_ms = i & 1 ? 2000 : 0, .hop_limit = i & 2 ? 9 : 0, .token = "abc",
                            .token_len = i & 4 ? 3 : 0));
            struct ndn_packet pkt = sent_interest(0, E);
            cr_assert_eq(pkt.interest.hop_limit, i & 2 ? 8 : 20, "Interest %u", i);
            cr_assert(name_is(&pkt, uri) && pkt.interest.nonce == i + 1);
            cr_assert_eq(pkt.interest.lifetime_ms, i & 1 ? 2000 : NDN_LIFETIME_DEFAULT_MS);
            sent_all(1);
            data(E, uri, FIELDS(.payload = 10));
            cr_assert_eq(sent_data(0, A).lp.token_len, i & 4 ? 3 : 0);
            sent_all(1);
        }
        finish();
    }
}

Test(policy, default_hop_limit_stands_where_it_belongs)
{
    SCENE();
    bed->shared.default_hop_limit = 255;
    route("/", E, 0);
    // Without Nonce and InterestLifetime, with parameters; with an element nobody knows between.
    packet(A, "050D 0703080141 2404AABBCCDD 2A00");
    struct ndn_packet pkt = sent_interest(0, E);
    cr_assert(pkt.interest.has_nonce && pkt.interest.hop_limit == 254);
    cr_assert_eq(pkt.net_len, 15 + 6 + 3);
    cr_assert(pkt.net[13] == 0x22 && pkt.net[16] == 0x24);
    sent_all(1);
    packet(A, "0513 0703080142 0A0401020304 5000 0C0203E8 5000");
    pkt = sent_interest(0, E);
    cr_assert(pkt.interest.lifetime_ms == 1000 && pkt.interest.hop_limit == 254);
    cr_assert_eq(pkt.net[pkt.net_len - 5], 0x22, "behind the InterestLifetime, before what nobody knows");
    sent_all(1);
    finish();
}

Test(policy, mark_is_set_when_a_device_goes_on_refusing_frames)
{
    SCENE();
    struct face_update update = {.has_flags = true, .flags = FACE_CONGESTION_MARKING};
    cr_assert_eq(face_change(bed->shared.faces, face_id[E], &update), 0);
    route("/", E, 0);
    bed->refuse_send = true;
    uint32_t nonce = 1;
    // Refusals for less than the interval mark nothing.
    for (unsigned i = 0; i < 9; i++) {
        interest(A, "/q", FIELDS(.nonce = nonce++));
        bed_pass(bed, 300);
        interest(A, "/q", FIELDS(.nonce = nonce++));
    }
    cr_assert_eq(bed_stats(bed).marked, 0, "refusals far apart are no congestion");
    for (unsigned i = 0; i < 200; i++) {
        char uri[16];
        snprintf(uri, sizeof uri, "/%u", i);
        interest(A, uri, FIELDS(.nonce = nonce++, .lifetime_ms = 100));
        bed_pass(bed, 10);
    }
    // Two seconds: after 100 ms the first, then ever closer.
    uint64_t marked = bed_stats(bed).marked;
    cr_assert(marked > 20 && marked < 120, "%u marks", (unsigned)marked);
    bed->refuse_send = false;
    bed_pass(bed, 1000);
    interest(A, "/one", FIELDS(.nonce = nonce++));
    interest(A, "/two", FIELDS(.nonce = nonce++));
    interest(A, "/three", FIELDS(.nonce = nonce++));
    cr_assert(!(sent_interest(2, E).lp.has & LP_HAS_CONGESTION_MARK), "it is over");
    bed_drop_sent(bed);
    cr_assert_eq(bed_check(bed), 0);
    cr_assert_leq(bed_stats(bed).marked, marked + 1);
    finish();
}

Test(policy, marks_are_for_faces_that_want_them)
{
    // Public report named-data/python-ndn 20: an application that knows no LpPackets must be able to do without marks.
    SCENE();
    route("/", E, 0);
    bed->refuse_send = true;
    for (unsigned i = 0; i < 100; i++) {
        char uri[16];
        snprintf(uri, sizeof uri, "/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 100));
        bed_pass(bed, 10);
    }
    cr_assert_eq(bed_stats(bed).marked, 0);
    finish();
}
