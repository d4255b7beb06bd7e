// SPDX-License-Identifier: Apache-2.0
/* NDNLPv2 reliability: what is sent is kept until it is acknowledged, sent again, given up; what comes twice. */
#include "test/unit/fwd/scene.h"

#include "fwd/reliability.h"

#define RTO_MS 1000

/* Face E is reliable, by what its port takes an MTU of 1500. */
static void reliable(enum scene_face face, bool on)
{
    struct face_update update = {.has_flags = true, .flags = on ? FACE_RELIABILITY : 0};
    cr_assert_eq(face_change(bed->shared.faces, face_id[face], &update), 0);
}

static void start(struct bed_config config)
{
    config.reliable_faces = config.reliable_faces != 0 ? config.reliable_faces : 4;
    scene(&config);
    route("/", E, 0);
    route("/e", A, 0);
    reliable(E, true);
}

#define START(...) start((struct bed_config){.pages = ARENA_PAGES_SMALL, __VA_ARGS__})

/* Acks and nothing else, as the peer of a face would send them, at a worker. */
static void ack_at(uint16_t worker, enum scene_face face, const uint64_t *acks, uint8_t n)
{
    uint8_t buf[NDN_LP_HEADER_MAX + NDN_LP_ACKS_MAX * NDN_LP_ACK_SIZE];
    struct ndn_lp_out lp = {.acks = acks, .n_acks = n};
    size_t len = ndn_lp_prepend(buf + sizeof buf, 0, &lp);
    struct rte_mbuf *mbuf = bed_frame(bed, face_id[face], buf + sizeof buf - len, len);
    bed_receive_at(bed, worker, &bed->port[face_get(bed->shared.faces, face_id[face])->port], &mbuf, 1);
}

static void ack(enum scene_face face, uint64_t tx)
{
    ack_at(0, face, &tx, 1);
}

/* A packet from a reliable peer: Sequence, TxSequence, and what bed_interest() or bed_data() made. */
static void from_peer(enum scene_face face, uint64_t sequence, uint64_t tx, const uint8_t *net, size_t len)
{
    static uint8_t buf[10000];
    struct ndn_lp_out lp = {
        .has_sequence = true, .frag_count = 1, .sequence = sequence, .has_tx_sequence = true, .tx_sequence = tx};
    memcpy(buf + 1000, net, len);
    size_t header = ndn_lp_prepend(buf + 1000, len, &lp);
    bed_packet(bed, face_id[face], buf + 1000 - header, header + len);
}

static void interest_from_peer(enum scene_face face, uint64_t sequence, uint64_t tx, const char *uri, uint32_t nonce)
{
    uint8_t net[500];
    from_peer(face, sequence, tx, net, bed_interest(net, sizeof net, uri, FIELDS(.nonce = nonce)));
}

static struct ndn_packet sent_reliably(unsigned i, enum scene_face face)
{
    struct ndn_packet pkt = sent(i, face);
    cr_assert(pkt.lp.has & LP_HAS_TX_SEQUENCE && pkt.lp.has & LP_HAS_SEQUENCE, "frame %u is not reliable", i);
    return pkt;
}

static uint32_t kept(void)
{
    uint32_t n = 0;
    for (uint16_t w = 0; w < bed->shared.n_workers; w++) {
        struct reliability_stats stats;
        reliability_stats(bed->fwd[w]->reliability, &stats);
        n += stats.n_packets;
    }
    return n;
}

/* Let every retransmission time out, and nothing is kept; then the end of every test. */
static void end(void)
{
    for (unsigned i = 0; i < RELIABILITY_RETRIES + 2; i++) {
        bed_pass(bed, 2 * RTO_MS);
        bed_drop_sent(bed);
    }
    cr_assert_eq(kept(), 0);
    finish();
}

/* A new Interest from A that leaves by E. @return its TxSequence */
static uint64_t ask(const char *uri)
{
    static uint32_t nonce = 1000;
    unsigned before = bed->n_sent;
    interest(A, uri, FIELDS(.nonce = nonce++, .lifetime_ms = 30000));
    return sent_reliably(before, E).lp.tx_sequence;
}

Test(reliability, packets_have_sequences_and_wait_for_their_acks)
{
    START();
    uint64_t tx = ask("/1");
    struct ndn_packet first = sent_interest(0, E);
    cr_assert_eq(first.lp.frag_count, 1);
    cr_assert_eq(ask("/2"), tx + 1);
    cr_assert_eq(sent_interest(1, E).lp.sequence, first.lp.sequence + 1);
    sent_all(2);
    cr_assert_eq(kept(), 2);
    ack(E, tx);
    cr_assert_eq(kept(), 1);
    ack(E, tx);
    ack(E, tx + 7);
    cr_assert_eq(kept(), 1, "Acks of what is not pending do nothing");
    ack(E, tx + 1);
    cr_assert_eq(kept(), 0);
    bed_pass(bed, 5000);
    sent_all(0);
    cr_assert_eq(bed_stats(bed).lp_acknowledged, 2);
    cr_assert_eq(drops(DROP_LP_IDLE), 4);
    end();
}

Test(reliability, faces_without_the_flag_have_nothing_of_it)
{
    START();
    interest(E, "/e/1", NULL);
    cr_assert(!(sent_interest(0, A).lp.has & (LP_HAS_SEQUENCE | LP_HAS_TX_SEQUENCE)));
    sent_all(1);
    // What a reliable peer writes is no harm there, and not answered.
    interest_from_peer(B, 1, 1, "/1", 5);
    sent_interest(0, E);
    sent_all(1);
    interest_from_peer(B, 1, 2, "/2", 6);
    sent_interest(0, E);
    sent_all(1);
    bed_pass(bed, 20);
    sent_all(0);
    cr_assert_eq(kept(), 2);
    end();
}

Test(reliability, silence_brings_three_retransmissions_and_no_more)
{
    START();
    uint64_t tx = ask("/1");
    struct ndn_packet first = sent_interest(0, E);
    uint8_t net[200];
    memcpy(net, first.net, first.net_len);
    sent_all(1);
    for (unsigned i = 1; i <= RELIABILITY_RETRIES; i++) {
        bed_pass(bed, RTO_MS - 10);
        sent_all(0);
        bed_pass(bed, 12);
        struct ndn_packet again = sent_interest(0, E);
        cr_assert_eq(again.lp.tx_sequence, tx + i, "a new TxSequence each time");
        cr_assert_eq(again.lp.sequence, first.lp.sequence, "the same Sequence, to be recognised by");
        cr_assert(again.net_len == first.net_len && memcmp(again.net, net, again.net_len) == 0);
        sent_all(1);
    }
    bed_pass(bed, RTO_MS + 2);
    sent_all(0);
    cr_assert_eq(kept(), 0);
    cr_assert_eq(bed_stats(bed).lp_retransmitted, 3);
    cr_assert_eq(bed_stats(bed).lp_given_up, 1);
    end();
}

Test(reliability, ack_of_any_transmission_still_under_way_is_enough)
{
    START();
    uint64_t tx = ask("/1");
    sent_all(1);
    bed_pass(bed, RTO_MS + 2);
    sent_all(1);
    ack(E, tx);
    cr_assert_eq(kept(), 1, "the first TxSequence counts no more");
    ack(E, tx + 1);
    cr_assert_eq(kept(), 0);
    bed_pass(bed, 5000);
    sent_all(0);
    end();
}

Test(reliability, three_later_acks_mean_loss)
{
    START();
    uint64_t tx = ask("/0");
    for (unsigned i = 1; i <= 4; i++) {
        char uri[8];
        snprintf(uri, sizeof uri, "/%u", i);
        ask(uri);
    }
    sent_all(5);
    ack(E, tx + 1);
    ack(E, tx + 2);
    sent_all(0);
    ack(E, tx + 4);
    struct ndn_packet again = sent_reliably(0, E);
    cr_assert(name_is(&again, "/0"));
    cr_assert_eq(again.lp.tx_sequence, tx + 5);
    sent_all(1);
    // Only one later Ack for the other one that waits.
    ack(E, tx + 5);
    sent_all(0);
    ack(E, tx + 3);
    cr_assert_eq(kept(), 0);
    end();
}

Test(reliability, several_acks_in_one_packet_count_one_by_one)
{
    START();
    uint64_t tx = ask("/0");
    for (unsigned i = 1; i <= 10; i++) {
        char uri[8];
        snprintf(uri, sizeof uri, "/%u", i);
        ask(uri);
    }
    sent_all(11);
    uint64_t acks[10];
    for (unsigned i = 0; i < 10; i++)
        acks[i] = tx + 10 - i; // the last first
    ack_at(0, E, acks, 10);
    cr_assert_gt(bed->n_sent, 0);
    struct ndn_packet pkt = sent_reliably(0, E);
    cr_assert(name_is(&pkt, "/0"));
    // What was taken for lost is sent again; Acks of the older transmission no longer count.
    cr_assert_eq(kept(), bed->n_sent);
    bed_drop_sent(bed);
    end();
}

Test(reliability, rto_follows_the_round_trip)
{
    START();
    for (unsigned i = 0; i < 20; i++) {
        char uri[8];
        snprintf(uri, sizeof uri, "/%u", i);
        uint64_t tx = ask(uri);
        sent_all(1);
        bed_pass(bed, 40);
        ack(E, tx);
    }
    ask("/last");
    sent_all(1);
    bed_pass(bed, RELIABILITY_RTO_MIN_MS - 5);
    sent_all(0);
    bed_pass(bed, 8);
    sent_all(1);
    // A link of 400 ms, and the RTO is above it: a round trip does not look like loss.
    bed_pass(bed, 5000);
    bed_drop_sent(bed);
    for (unsigned i = 0; i < 60; i++) {
        char uri[8];
        snprintf(uri, sizeof uri, "/b%u", i);
        uint64_t tx = ask(uri);
        bed_drop_sent(bed);
        bed_pass(bed, i < 5 ? 190 : 400);
        ack(E, i < 5 ? tx : bed->n_sent > 0 ? sent_reliably(0, E).lp.tx_sequence : tx);
        bed_drop_sent(bed);
    }
    end();
}

Test(reliability, what_comes_in_is_acknowledged_within_the_idle_time)
{
    START();
    interest_from_peer(E, 100, 7, "/e/1", 1);
    sent_interest(0, A);
    sent_all(1);
    interest_from_peer(E, 101, 9, "/e/2", 2);
    sent_all(1);
    bed_pass(bed, 3);
    sent_all(0);
    bed_pass(bed, 4);
    struct ndn_packet pkt = sent(0, E);
    cr_assert(pkt.type == 0 && !(pkt.lp.has & (LP_HAS_FRAGMENT | LP_HAS_TX_SEQUENCE)));
    cr_assert_eq(pkt.lp.n_acks, 2);
    cr_assert(ndn_lp_ack(&pkt.lp, 0) == 7 && ndn_lp_ack(&pkt.lp, 1) == 9);
    sent_all(1);
    // Acks are not acknowledged.
    ack(E, 1);
    bed_pass(bed, 10);
    sent_all(0);
    end();
}

Test(reliability, acks_ride_on_what_is_sent_anyway)
{
    START();
    interest_from_peer(E, 100, 7, "/e/1", 1);
    sent_all(1);
    bed_send_data(bed, face_id[A], "/e/1", FIELDS(.payload = 50));
    struct ndn_packet pkt = sent_reliably(0, E);
    cr_assert_eq(pkt.type, NDN_TYPE_DATA);
    cr_assert(pkt.lp.n_acks == 1 && ndn_lp_ack(&pkt.lp, 0) == 7);
    ack(E, pkt.lp.tx_sequence);
    sent_all(1);
    bed_pass(bed, 10);
    sent_all(0);
    end();
}

Test(reliability, acks_that_find_no_room_in_a_packet_go_by_themselves)
{
    START();
    for (unsigned i = 0; i < 3; i++)
        interest_from_peer(E, 100 + i, 7 + i, i == 0 ? "/e/1" : "/e/2", i + 1);
    bed_drop_sent(bed);
    // Data that leaves room for none of them within 1500 octets, and then for one.
    bed_send_data(bed, face_id[A], "/e/1", FIELDS(.payload = 1409));
    struct ndn_packet pkt = sent_reliably(0, E);
    cr_assert_eq(pkt.lp.frag_count, 1);
    cr_assert_leq(bed->sent[0].mbuf->pkt_len, 1514);
    cr_assert_lt(pkt.lp.n_acks, 3);
    unsigned rode = pkt.lp.n_acks;
    ack(E, pkt.lp.tx_sequence);
    sent_all(1);
    bed_pass(bed, 10);
    pkt = sent(0, E);
    cr_assert_eq(pkt.lp.n_acks + rode, 3);
    sent_all(1);
    end();
}

Test(reliability, many_acks_do_not_wait)
{
    START();
    for (unsigned i = 0; i < NDN_LP_ACKS_MAX; i++)
        interest_from_peer(E, 100 + i, 1000 + i, "/none/1", i + 1);
    unsigned n = 0;
    for (unsigned i = 0; i < bed->n_sent; i++) {
        uint32_t to;
        struct ndn_packet pkt = bed_parse_sent(bed, i, &to);
        if (to == face_id[E])
            n += pkt.lp.n_acks;
    }
    cr_assert_eq(n, NDN_LP_ACKS_MAX);
    bed_drop_sent(bed);
    bed_pass(bed, 10);
    sent_all(0);
    end();
}

Test(reliability, repetition_is_acknowledged_but_not_worked_on)
{
    START();
    interest_from_peer(E, 100, 7, "/e/1", 1);
    sent_all(1);
    interest_from_peer(E, 100, 8, "/e/1", 1);
    sent_all(0);
    cr_assert_eq(drops(DROP_LP_DUPLICATE), 1);
    bed_pass(bed, 10);
    struct ndn_packet pkt = sent(0, E);
    cr_assert(pkt.lp.n_acks == 2 && ndn_lp_ack(&pkt.lp, 1) == 8);
    sent_all(1);
    // The last of its retransmissions, at the latest.
    bed_pass(bed, RELIABILITY_RETRIES * RTO_MS);
    interest_from_peer(E, 100, 9, "/e/1", 1);
    bed_drop_sent(bed);
    cr_assert_eq(drops(DROP_LP_DUPLICATE), 2);
    // A peer that starts anew may count from where it did before.
    bed_pass(bed, (RELIABILITY_RETRIES + 1) * RTO_MS + 20);
    bed_drop_sent(bed);
    interest_from_peer(E, 100, 7, "/e/2", 2);
    sent_interest(0, A);
    bed_drop_sent(bed);
    cr_assert_eq(drops(DROP_LP_DUPLICATE), 2);
    end();
}

Test(reliability, fragments_are_acknowledged_and_repeated_one_by_one)
{
    START();
    interest_from_peer(E, 100, 7, "/e/1", 1);
    bed_drop_sent(bed);
    bed_send_data(bed, face_id[A], "/e/1", FIELDS(.payload = 4000, .fill = 0x77));
    unsigned n = bed->n_sent;
    cr_assert_eq(n, 3);
    uint64_t tx[3], sequence[3];
    for (unsigned i = 0; i < n; i++) {
        struct ndn_packet pkt = sent_reliably(i, E);
        cr_assert(pkt.lp.frag_index == i && pkt.lp.frag_count == 3);
        cr_assert_leq(bed->sent[i].mbuf->pkt_len, 1514);
        tx[i] = pkt.lp.tx_sequence;
        sequence[i] = pkt.lp.sequence;
    }
    sent_all(3);
    ack(E, tx[0]);
    ack(E, tx[2]);
    bed_pass(bed, RTO_MS + 2);
    struct ndn_packet pkt = sent_reliably(0, E);
    cr_assert(pkt.lp.frag_index == 1 && pkt.lp.sequence == sequence[1]);
    ack(E, pkt.lp.tx_sequence);
    sent_all(1);
    cr_assert_eq(kept(), 0);
    end();
}

Test(reliability, fragment_that_is_given_up_takes_the_others_with_it)
{
    START();
    interest_from_peer(E, 100, 7, "/e/1", 1);
    bed_drop_sent(bed);
    bed_send_data(bed, face_id[A], "/e/1", FIELDS(.payload = 8000));
    unsigned n = bed->n_sent;
    cr_assert_geq(n, 6);
    cr_assert_eq(kept(), n);
    bed_drop_sent(bed);
    ask("/other");
    bed_drop_sent(bed);
    for (unsigned i = 0; i < RELIABILITY_RETRIES; i++) {
        bed_pass(bed, RTO_MS + 2);
        // Keep the other one out of it.
        for (unsigned j = 0; j < bed->n_sent; j++) {
            struct ndn_packet pkt = sent_reliably(j, E);
            if (pkt.type == NDN_TYPE_INTEREST)
                ack(E, pkt.lp.tx_sequence);
        }
        bed_drop_sent(bed);
    }
    cr_assert_eq(kept(), n);
    bed_pass(bed, RTO_MS + 2);
    sent_all(0);
    cr_assert_eq(kept(), 0);
    cr_assert_eq(bed_stats(bed).lp_given_up, 1, "one network packet");
    end();
}

Test(reliability, interest_that_is_given_up_may_go_elsewhere)
{
    START();
    route("/", D, 10);
    ask("/1");
    sent_all(1);
    for (unsigned i = 0; i <= RELIABILITY_RETRIES; i++)
        bed_pass(bed, RTO_MS + 2);
    bed_drop_sent(bed);
    cr_assert_eq(bed_stats(bed).lp_given_up, 1);
    interest(A, "/1", FIELDS(.nonce = 99, .lifetime_ms = 4000));
    cr_assert_geq(bed->n_sent, 1, "a consumer that asks again is not held back by an upstream that is silent");
    bed_drop_sent(bed);
    end();
}

Test(reliability, data_kept_for_a_peer_is_not_touched_by_a_cache_hit)
{
    START(.cs_capacity = 8);
    interest_from_peer(E, 100, 7, "/e/1", 1);
    bed_drop_sent(bed);
    bed_send_data(bed, face_id[A], "/e/1", FIELDS(.payload = 300, .fill = 0x31, .freshness_ms = 60000));
    struct ndn_packet pkt = sent_reliably(0, E);
    uint8_t net[400];
    memcpy(net, pkt.net, pkt.net_len);
    sent_all(1);
    for (unsigned i = 0; i < 4; i++)
        interest(B, "/e/1", FIELDS(.nonce = 50 + i, .token = "abcdefghijklmnopqrstuvwxyz012345", .token_len = 32));
    sent_data(3, B);
    bed_drop_sent(bed);
    bed_pass(bed, RTO_MS + 2);
    pkt = sent_reliably(0, E);
    cr_assert(memcmp(net, pkt.net, pkt.net_len) == 0 && pkt.lp.n_acks == 1);
    ack(E, pkt.lp.tx_sequence);
    sent_all(1);
    end();
}

Test(reliability, budget_is_kept_and_the_rest_goes_without)
{
    START(.reliable_packets = 40);
    for (unsigned i = 0; i < 12; i++) {
        char uri[8];
        snprintf(uri, sizeof uri, "/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 2000));
        // A quarter of all for one face.
        cr_assert_eq((sent_interest(i, E).lp.has & LP_HAS_TX_SEQUENCE) != 0, i < 10);
    }
    sent_all(12);
    cr_assert_eq(kept(), 10);
    cr_assert_eq(bed_stats(bed).lp_unreliable, 2);
    for (unsigned i = 0; i < 5; i++)
        bed_pass(bed, RTO_MS + 2);
    bed_drop_sent(bed);
    ask("/again");
    end();
}

Test(reliability, faces_beyond_the_limit_go_without)
{
    START(.reliable_faces = 1);
    reliable(D, true);
    route("/d", D, 0);
    ask("/1");
    interest(A, "/d/1", FIELDS(.nonce = 1));
    cr_assert(!(sent_interest(1, D).lp.has & LP_HAS_TX_SEQUENCE));
    sent_all(2);
    interest_from_peer(D, 3, 3, "/e/1", 4);
    sent_interest(0, A);
    sent_all(1);
    cr_assert_eq(bed_stats(bed).lp_unreliable, 1);
    end();
}

Test(reliability, full_window_waits_for_its_oldest)
{
    START(.reliable_packets = 8192, .pit_capacity = 4096, .n_mbufs = 16383);
    uint64_t tx = ask("/first"), last = tx;
    sent_all(1);
    // All but the first are acknowledged, two at a time so that it does not count as lost.
    unsigned i = 0;
    bool full = false;
    for (; i < RELIABILITY_WINDOW + 8; i++) {
        char uri[16];
        snprintf(uri, sizeof uri, "/%u", i);
        interest(A, uri, FIELDS(.nonce = i + 1, .lifetime_ms = 30000));
        struct ndn_packet pkt = sent_interest(0, E);
        if (!(pkt.lp.has & LP_HAS_TX_SEQUENCE)) {
            full = true;
            bed_drop_sent(bed);
            break;
        }
        last = pkt.lp.tx_sequence;
        bed_drop_sent(bed);
    }
    cr_assert(full && i == RELIABILITY_WINDOW - 1, "after %u", i);
    cr_assert_eq(kept(), RELIABILITY_WINDOW);
    // A timeout moves none of those that cannot move, and loses none.
    bed_pass(bed, RTO_MS + 2);
    bed_drop_sent(bed);
    cr_assert_eq(kept(), RELIABILITY_WINDOW);
    cr_assert_eq(bed_check(bed), 0);
    ack(E, last);
    bed_drop_sent(bed);
    for (unsigned j = 0; j < 5; j++)
        bed_pass(bed, RTO_MS + 2);
    bed_drop_sent(bed);
    cr_assert_eq(kept(), 0);
    end();
}

Test(reliability, pool_that_runs_out_leaves_no_trace)
{
    for (unsigned left = 0; left < 5; left++) {
        START();
        interest_from_peer(E, 100, 7, "/e/1", 1);
        bed_drop_sent(bed);
        static uint8_t net[6000];
        size_t len = bed_data(net, sizeof net, "/e/1", FIELDS(.payload = 5000));
        struct rte_mbuf *mbuf = bed_frame(bed, face_id[A], net, len);
        pool_take(left);
        bed_receive(bed, &bed->port[face_get(bed->shared.faces, face_id[A])->port], &mbuf, 1);
        bed_drop_sent(bed);
        // Neither a copy nor an idle packet can be made.
        pool_take(0);
        bed_pass(bed, RTO_MS + 2);
        sent_all(0);
        pool_give();
        end();
    }
}

Test(reliability, face_that_is_removed_or_switched_is_forgotten)
{
    START();
    ask("/1");
    interest_from_peer(E, 100, 7, "/e/1", 1);
    bed_drop_sent(bed);
    reliable(E, false);
    interest(A, "/2", FIELDS(.nonce = 5));
    cr_assert(!(sent_interest(0, E).lp.has & LP_HAS_TX_SEQUENCE));
    sent_all(1);
    bed_pass(bed, RTO_MS + 20);
    sent_all(0);
    cr_assert_eq(kept(), 0);
    reliable(E, true);
    ask("/3");
    ask("/4");
    bed_drop_sent(bed);
    cr_assert_eq(kept(), 2);
    struct reliability_stats stats;
    bed_face_remove(bed, face_id[E]);
    reliability_stats(bed->fwd[0]->reliability, &stats);
    cr_assert(stats.n_packets == 0 && stats.n_faces == 0);
    bed_pass(bed, 5000);
    sent_all(0);
    end();
}

Test(reliability, face_that_is_down_sends_nothing_again)
{
    START();
    ask("/1");
    interest_from_peer(E, 100, 7, "/e/1", 1);
    bed_drop_sent(bed);
    face_down(E, true);
    for (unsigned i = 0; i < 6; i++)
        bed_pass(bed, RTO_MS + 2);
    sent_all(0);
    cr_assert_eq(kept(), 0);
    face_down(E, false);
    end();
}

Test(reliability, acks_find_the_worker_that_waits_for_them)
{
    START(.n_workers = 4);
    uint64_t tx[40];
    for (unsigned i = 0; i < 40; i++) {
        char uri[16];
        snprintf(uri, sizeof uri, "/%u/x", i);
        tx[i] = ask(uri);
    }
    sent_all(40);
    bool used[4] = {false};
    for (unsigned i = 0; i < 40; i++)
        used[tx[i] >> 56] = true;
    cr_assert(used[0] && used[1] && used[2] && used[3], "every worker sends under its own number");
    cr_assert_eq(kept(), 40);
    // All of them in two packets, at whatever worker.
    ack_at(2, E, tx, 20);
    ack_at(1, E, tx + 20, 20);
    cr_assert_eq(kept(), 0);
    uint64_t nobody[] = {UINT64_C(9) << 56 | 5, UINT64_MAX};
    ack_at(3, E, nobody, 2);
    bed_pass(bed, 5000);
    sent_all(0);
    cr_assert_eq(bed_stats(bed).lp_acknowledged, 40);
    end();
}
