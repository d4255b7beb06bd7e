// SPDX-License-Identifier: Apache-2.0
/* Several workers: each name has one owner, and what arrives elsewhere gets there once and whole. */
#include "test/unit/fwd/scene.h"

#include <openssl/sha.h>

/* Send at a worker of choice. */
static void at(uint16_t worker, enum scene_face face, const uint8_t *buf, size_t len)
{
    struct rte_mbuf *mbuf = bed_frame(bed, face_id[face], buf, len);
    bed_receive_at(bed, worker, &bed->port[face_get(bed->shared.faces, face_id[face])->port], &mbuf, 1);
}

static void interest_at(uint16_t worker, enum scene_face face, const char *uri, const struct bed_fields *fields)
{
    uint8_t buf[2000];
    at(worker, face, buf, bed_interest(buf, sizeof buf, uri, fields));
}

static void data_at(uint16_t worker, enum scene_face face, const char *uri, const struct bed_fields *fields)
{
    static uint8_t buf[9200];
    at(worker, face, buf, bed_data(buf, sizeof buf, uri, fields));
}

/* Worker with the only pending entry; -1 when there is none or several have one. */
static int owner(void)
{
    int found = -1;
    for (uint16_t w = 0; w < bed->shared.n_workers; w++) {
        if (pit_count(bed->fwd[w]->pit) == 0)
            continue;
        if (found >= 0)
            return -1;
        found = w;
    }
    return found;
}

Test(dispatch, name_has_one_owner_wherever_it_arrives)
{
    SCENE(.n_workers = 4);
    route("/", E, 0);
    bool used[4] = {false};
    for (unsigned i = 0; i < 40; i++) {
        char uri[40];
        snprintf(uri, sizeof uri, "/a/%u/x/y", i);
        int first = -1;
        for (uint16_t w = 0; w < 4; w++) {
            interest_at(w, (enum scene_face)(A + w), uri, FIELDS(.nonce = w + 1u, .token = "tok", .token_len = 3));
            int now = owner();
            cr_assert_geq(now, 0);
            cr_assert(first < 0 || first == now);
            first = now;
        }
        used[first] = true;
        cr_assert_eq(pending(), 1);
        sent_all(1);
        // Below the dispatch prefix the owner is the same.
        data_at((uint16_t)(i % 4), E, uri, FIELDS(.payload = (uint16_t)(i * 30)));
        cr_assert_geq(bed->n_sent, 4);
        cr_assert_eq(sent_data(0, A).lp.token_len, 3);
        bed_drop_sent(bed);
        cr_assert_eq(pending(), 0);
        cr_assert_eq(bed_check(bed), 0);
    }
    cr_assert(used[0] && used[1] && used[2] && used[3]);
    cr_assert_gt(bed_stats(bed).handed_over, 0);
    cr_assert_eq(bed_stats(bed).in_data, 40);
    cr_assert_eq(bed_stats(bed).in_interests, 160);
    finish();
}

Test(dispatch, nothing_a_packet_carries_is_lost_on_the_way)
{
    SCENE(.n_workers = 4, .cs_capacity = 16);
    route("/", E, 0);
    for (uint16_t w = 0; w < 4; w++) {
        uint8_t buf[200];
        size_t len = bad_input_expand("6414 FD03400107 500D 050B 0703080141 0A0401020304", 0, buf);
        at(w, A, buf, len);
        struct ndn_packet pkt = sent_interest(0, E);
        cr_assert(pkt.lp.has & LP_HAS_CONGESTION_MARK);
        cr_assert_eq(pkt.lp.congestion_mark, 7);
        sent_all(1);
        // Data with a mark, not to be cached.
        len = bad_input_expand("6422 FD033405FD03350101 FD03400109 5012 0610 0703080141 1400 1500 16031B0100 1700", 0,
                               buf);
        at(w, E, buf, len);
        pkt = sent_data(0, A);
        cr_assert_eq(pkt.lp.congestion_mark, 9);
        sent_all(1);
        len = bad_input_expand("050B 0703080141 0A0401020305", 0, buf);
        at(w, B, buf, len);
        sent_interest(0, E);
        sent_all(1);
        // Nacks of every kind: with a reason, without, with one that does not fit 16 bits.
        static const char *const nacks[] = {
            "6418 FD032005FD03210196 500D 050B 0703080141 0A0401020305",
            "6413 FD032000 500D 050B 0703080141 0A0401020305",
            "641B FD032008FD03210400010000 500D 050B 0703080141 0A0401020305",
        };
        len = bad_input_expand(nacks[w % 3], 0, buf);
        at((uint16_t)(3 - w), E, buf, len);
        sent_nack(0, B, w % 3 == 0 ? NDN_NACK_NO_ROUTE : 1);
        sent_all(1);
        cr_assert_eq(pending(), 0);
        // An Interest without Nonce and with a token; one whose next hop is given.
        len = bad_input_expand("640E 6203746F6B 5007 0505 0703080142", 0, buf);
        at(w, A, buf, len);
        cr_assert(sent_interest(0, E).interest.has_nonce);
        sent_all(1);
        data_at(w, E, "/B", FIELDS(.no_cache = true));
        cr_assert_eq(sent_data(0, A).lp.token_len, 3);
        sent_all(1);
        len = bad_input_expand("6415 FD03300200 00 500D 050B 0703080143 0A0401020306", 0, buf);
        buf[6] = (uint8_t)(face_id[C] >> 8);
        buf[7] = (uint8_t)face_id[C];
        at(w, A, buf, len);
        cr_assert_eq(drops(DROP_LP_LOCAL_FIELD), w + 1u);
        sent_all(0);
        at(w, LOCAL, buf, len);
        sent_interest(0, C);
        sent_all(1);
        data_at(w, C, "/C", FIELDS(.no_cache = true));
        sent_data(0, LOCAL);
        sent_all(1);
        bed_pass(bed, 7000);
    }
    finish();
}

Test(dispatch, interests_shorter_than_the_dispatch_prefix_get_data_from_any_owner)
{
    for (unsigned multi_seg = 0; multi_seg < 2; multi_seg++) {
        SCENE(.n_workers = 4, .cs_capacity = 32, .tx_multi_seg = multi_seg);
        route("/", E, 0);
        for (unsigned i = 0; i < 24; i++) {
            char shorter[20], longer[40];
            snprintf(shorter, sizeof shorter, "/p%u", i);
            snprintf(longer, sizeof longer, "/p%u/%u/z", i, i * 7);
            interest_at((uint16_t)(i % 4), A, shorter, FIELDS(.nonce = 1, .can_be_prefix = true));
            sent_all(1);
            data_at((uint16_t)(i / 4 % 4), E, longer, FIELDS(.payload = (uint16_t)(i * 60), .fill = 0x66));
            struct ndn_packet pkt = sent_data(0, A);
            cr_assert(name_is(&pkt, longer));
            sent_all(1);
            // At two workers at once: both are satisfied, each once, by frames that are whole.
            interest_at(0, A, shorter, FIELDS(.nonce = 2, .can_be_prefix = true, .must_be_fresh = true));
            interest_at(0, B, longer, FIELDS(.nonce = 3, .must_be_fresh = true));
            sent_all(2);
            data_at(1, E, longer, FIELDS(.payload = (uint16_t)(i * 60), .fill = 0x77));
            cr_assert_eq(bed->n_sent, 2, "%u: %u frames", i, bed->n_sent);
            bool to_a = false, to_b = false;
            for (unsigned s = 0; s < 2; s++) {
                uint32_t to;
                pkt = bed_parse_sent(bed, s, &to);
                to_a |= to == face_id[A];
                to_b |= to == face_id[B];
                cr_assert(name_is(&pkt, longer));
                for (unsigned o = 40; o < i * 60; o++)
                    cr_assert_eq(pkt.net[pkt.net_len - o], 0x77, "%u: octet %u of frame %u", i, o, s);
            }
            cr_assert(to_a && to_b);
            sent_all(2);
            cr_assert_eq(pending(), 0);
        }
        cr_assert_eq(bed_stats(bed).in_data, 48);
        cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 0);
        finish();
    }
}

Test(dispatch, digest_interests_are_where_their_data_comes_by)
{
    SCENE(.n_workers = 4);
    route("/", E, 0);
    for (unsigned i = 0; i < 12; i++) {
        char uri[160];
        snprintf(uri, sizeof uri, "/d%u", i);
        for (unsigned depth = 1; depth < i % 4 + 1; depth++)
            strcat(uri, "/x");
        uint8_t buf[400], digest[32];
        size_t len = bed_data(buf, sizeof buf, uri, NULL);
        SHA256(buf, len, digest);
        strcat(uri, "/sha256digest=");
        for (unsigned j = 0; j < 32; j++)
            snprintf(uri + strlen(uri), 3, "%02x", digest[j]);
        interest_at((uint16_t)(i % 4), A, uri, FIELDS(.nonce = 1));
        sent_interest(0, E);
        sent_all(1);
        at((uint16_t)(i / 4), E, buf, len);
        sent_data(0, A);
        sent_all(1);
    }
    finish();
}

Test(dispatch, tokens_lead_to_the_worker_and_wrong_ones_do_no_harm)
{
    SCENE(.n_workers = 4);
    route("/", E, 0);
    for (unsigned i = 0; i < 32; i++) {
        char uri[40], wrong[40];
        snprintf(uri, sizeof uri, "/a/%u", i);
        snprintf(wrong, sizeof wrong, "/b/%u", i);
        uint8_t token[8], other[8];
        interest_at(0, A, uri, FIELDS(.nonce = i + 1));
        memcpy(token, sent_interest(0, E).lp.token, 8);
        interest_at(0, A, wrong, FIELDS(.nonce = i + 1));
        memcpy(other, sent_interest(1, E).lp.token, 8);
        sent_all(2);
        uint64_t hits = bed_stats(bed).token_hits;
        data_at((uint16_t)(i % 4), E, uri, FIELDS(.token = token, .token_len = 8));
        sent_data(0, A);
        sent_all(1);
        cr_assert_eq(bed_stats(bed).token_hits, hits + 1);
        // A token of ours that belongs to another name, and so maybe to another worker.
        interest_at(1, A, uri, FIELDS(.nonce = 100 + i));
        sent_all(1);
        data_at((uint16_t)(i / 4 % 4), E, uri, FIELDS(.token = other, .token_len = 8));
        struct ndn_packet pkt = sent_data(0, A);
        cr_assert(name_is(&pkt, uri));
        sent_all(1);
        data_at(2, E, wrong, FIELDS(.token = token, .token_len = 8));
        pkt = sent_data(0, A);
        cr_assert(name_is(&pkt, wrong));
        sent_all(1);
        cr_assert_eq(pending(), 0);
    }
    finish();
}

Test(dispatch, face_that_goes_while_its_packet_crosses_is_no_harm)
{
    SCENE(.n_workers = 2);
    route("/", E, 0);
    uint8_t buf[200];
    for (unsigned i = 0; i < 16; i++) {
        char uri[20];
        snprintf(uri, sizeof uri, "/a/%u", i);
        struct rte_mbuf *mbuf =
            bed_frame(bed, face_id[A], buf, bed_interest(buf, sizeof buf, uri, FIELDS(.nonce = i + 1)));
        fwd_input(bed->fwd[0], &bed->port[A], &mbuf, 1, bed->now_ns);
    }
    uint32_t left = pit_count(bed->fwd[0]->pit);
    cr_assert(left > 0 && left < 16);
    bed_face_remove(bed, face_id[A]);
    bed_pass(bed, 1);
    cr_assert_eq(drops(DROP_FACE_DOWN), 16 - left);
    sent_all(left);
    finish();
}

Test(dispatch, full_ring_drops_and_counts)
{
    SCENE(.n_workers = 2, .pit_capacity = 16384, .n_mbufs = 16383);
    route("/", E, 0);
    // Frames for the other worker, which does not run meanwhile.
    uint8_t buf[200];
    unsigned n = 0;
    char uri[40];
    for (unsigned i = 0; i < 12000; i++) {
        snprintf(uri, sizeof uri, "/a/%u", i);
        size_t len = bed_interest(buf, sizeof buf, uri, FIELDS(.nonce = i + 1));
        struct rte_mbuf *mbuf = bed_frame(bed, face_id[A], buf, len);
        fwd_input(bed->fwd[0], &bed->port[A], &mbuf, 1, bed->now_ns);
        if (n++ % 64 == 0) {
            fwd_flush(bed->fwd[0]);
            bed_drop_sent(bed);
        }
    }
    cr_assert_gt(drops(DROP_RING_FULL), 0);
    bed->free_sent = true;
    bed_pass(bed, 1);
    cr_assert_eq(bed_check(bed), 0);
    cr_assert_eq(bed_stats(bed).handed_over + drops(DROP_RING_FULL) + pit_count(bed->fwd[0]->pit), 12000);
    finish();
}

/* What one worker sends, four send too, if not in the same order. */
struct digest_of {
    unsigned n;
    uint64_t sum;
};

static struct digest_of mix(uint16_t n_workers, unsigned seed)
{
    static uint8_t buf[9200];
    SCENE(.n_workers = n_workers, .pit_capacity = 256);
    route("/", E, 0);
    route("/a", D, 5);
    route("/a", E, 9);
    struct digest_of result = {0};
    srandom(seed);
    for (unsigned step = 0; step < 3000; step++) {
        long r = random();
        char uri[40];
        unsigned depth = 1 + (unsigned)(r & 3);
        snprintf(uri, sizeof uri, "/%c", 'a' + (char)(r >> 2 & 1));
        for (unsigned i = 1; i < depth; i++)
            snprintf(uri + strlen(uri), 4, "/%u", (unsigned)(r >> (3 + 2 * i) & 3));
        // A token for each name and selector: at several workers, those cannot share an answer.
        char token[9];
        snprintf(token, sizeof token, "%08x", (unsigned)(r & 0x1fff));
        struct bed_fields fields = {.nonce = 1 + step,
                                    .can_be_prefix = r >> 12 & 1,
                                    .payload = (uint16_t)(r >> 13 & 511),
                                    .token = token,
                                    .token_len = 8};
        enum scene_face face = (enum scene_face)(A + (r >> 23) % 3);
        uint16_t worker = (uint16_t)((r >> 25) % n_workers);
        switch (r >> 27 & 3) {
        case 0:
        case 1:
            interest_at(worker, face, uri, &fields);
            break;
        case 2:
            fields.token_len = 0;
            data_at(worker, E, uri, &fields);
            data_at((uint16_t)(n_workers - 1 - worker), D, uri, &fields);
            break;
        default:
            fields.token_len = 0;
            fields.nack = NDN_NACK_NO_ROUTE;
            fields.nonce = step;
            at(worker, E, buf, bed_interest(buf, sizeof buf, uri, &fields));
            if (step % 7 == 0)
                bed_pass(bed, 30);
            break;
        }
        for (unsigned i = 0; i < bed->n_sent; i++) {
            uint32_t to;
            struct ndn_packet pkt = bed_parse_sent(bed, i, &to);
            uint64_t hash = to * 0x9e3779b97f4a7c15u + pkt.type * 31u + pkt.lp.nack_reason;
            for (unsigned o = 0; o < pkt.net_len; o++)
                hash = (hash ^ pkt.net[o]) * 0x100000001b3u;
            result.sum += hash; // in any order
            result.n++;
        }
        bed_drop_sent(bed);
        cr_assert_eq(bed_check(bed), 0, "step %u", step);
    }
    finish();
    return result;
}

Test(dispatch, random_mix_comes_out_as_from_one_worker)
{
    for (unsigned seed = 1; seed <= 2; seed++) {
        struct digest_of one = mix(1, seed);
        cr_assert_gt(one.n, 500);
        for (uint16_t n_workers = 2; n_workers <= 4; n_workers++) {
            struct digest_of many = mix(n_workers, seed);
            cr_assert_eq(many.n, one.n, "seed %u, %u workers: %u frames instead of %u", seed, n_workers, many.n, one.n);
            cr_assert_eq(many.sum, one.sum, "seed %u, %u workers: other frames", seed, n_workers);
        }
    }
}
