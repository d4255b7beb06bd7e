// SPDX-License-Identifier: Apache-2.0
/* NDNLPv2 fragmentation and reassembly as part of the pipeline: what we cut, a peer like us puts together again. */
#include "test/unit/fwd/scene.h"

static uint32_t in_face, out_face, low_face;

/* Consumer behind a face of this MTU, producer behind a port that takes whole packets. */
static void start(uint16_t mtu, bool multi_seg, uint32_t mbuf_size)
{
    bed = bed_create(&(struct bed_config){
        .tx_multi_seg = multi_seg, .mbuf_size = mbuf_size, .max_fragments = 400, .max_messages = 8, .max_per_face = 4});
    scene_faces();
    struct port *port = bed_port(bed);
    port->mtu = 9000;
    struct face_config config = {.port = port->index, .kind = FACE_ETHER, .mtu = mtu};
    memcpy(config.local_mac, port->mac, 6);
    memcpy(config.remote_mac, (uint8_t[6]){2, 0, 0, 0, 7, 7}, 6);
    in_face = bed_face(bed, &config);
    config.mtu = 0;
    config.remote_mac[5] = 8;
    out_face = bed_face(bed, &config);
    config.mtu = 64;
    config.remote_mac[5] = 9;
    low_face = bed_face(bed, &config);
    bed_route(bed, "/", out_face, 0);
}

/* Give each frame sent, in this order, to the peer: a face of the same bed, as the packet of another sender. */
static unsigned sent_octets(uint8_t (*octets)[9000], size_t *len)
{
    unsigned n = bed->n_sent;
    for (unsigned i = 0; i < n; i++) {
        uint32_t to;
        (void)bed_parse_sent(bed, i, &to);
        const struct face *face = face_get(bed->shared.faces, to);
        len[i] = bed->sent[i].mbuf->pkt_len - face->hdr_len;
        cr_assert_leq(len[i], (size_t)RTE_MAX(face->mtu, 46), "fragment of %zu octets over an MTU of %u", len[i],
                      face->mtu);
        uint8_t frame[9100];
        const uint8_t *p = rte_pktmbuf_read(bed->sent[i].mbuf, 0, bed->sent[i].mbuf->pkt_len, frame);
        memcpy(octets[i], p + face->hdr_len, len[i]);
    }
    bed_drop_sent(bed);
    return n;
}

static uint8_t pieces[400][9000];
static size_t piece_len[400];
static uint8_t whole[9100];

/* Data of @p payload octets for the small face, as fragments in pieces[]. @return how many */
static unsigned cut(uint16_t payload, const char *token)
{
    bed_send_interest(bed, in_face, "/d", FIELDS(.nonce = 1, .token = token, .token_len = (uint8_t)strlen(token)));
    bed_drop_sent(bed);
    size_t len = bed_data(whole, sizeof whole, "/d", FIELDS(.payload = payload, .fill = 0x5c));
    for (unsigned i = 0; i < payload; i++)
        whole[len - 40 - i] = (uint8_t)(i * 7);
    bed_packet(bed, out_face, whole, len);
    return sent_octets(pieces, piece_len);
}

/* Ask for the Data from the other side: the peer's consumer is E, its producer the face that fragments come in by. */
static void expect_from(enum scene_face producer)
{
    bed_route(bed, "/d", face_id[producer], 0);
    interest(E, "/d", FIELDS(.nonce = 2));
    bed_drop_sent(bed);
}

static void expect_whole(unsigned i, enum scene_face face)
{
    // Seen through fragments again where the face needs them; LOCAL takes 1500 octets too.
    struct ndn_packet pkt = sent(i, face);
    if (pkt.type == NDN_TYPE_DATA)
        cr_assert(pkt.net_len > 0 && memcmp(pkt.net, whole, pkt.net_len) == 0);
}

Test(fragment, what_is_cut_is_put_together_to_the_same_octets)
{
    static const uint16_t mtus[] = {100, 128, 500, 1400, 1500, 4000, 8800};
    static const uint16_t payloads[] = {1, 30, 60, 100, 400, 1380, 1450, 1600, 3000, 5000, 8700};
    for (unsigned c = 0; c < RTE_DIM(mtus) * 4; c++) {
        uint16_t mtu = mtus[c / 4];
        start(mtu, c & 1, c & 2 ? 1024 : 0);
        struct port *port = bed_port(bed);
        port->mtu = 9000;
        uint32_t wide = bed_ether(bed, port, 2);
        for (unsigned p = 0; p < RTE_DIM(payloads); p++) {
            unsigned n = cut(payloads[p], "token");
            cr_assert_gt(n, 0, "mtu %u, %u octets: nothing sent", mtu, payloads[p]);
            // The peer: its consumer asked it by way of "wide".
            bed_route(bed, "/d", face_id[A], 0);
            bed_send_interest(bed, wide, "/d", FIELDS(.nonce = 3));
            bed_drop_sent(bed);
            for (unsigned i = 0; i < n; i++) {
                struct ndn_packet pkt;
                struct ndn_parse_opts opts = {.allow_trailing = true};
                cr_assert_eq(ndn_packet_parse(pieces[i], piece_len[i], &opts, &pkt), VERDICT_OK);
                cr_assert_eq(pkt.lp.token_len, i == 0 ? 5 : 0, "the token rides on the first fragment alone");
                if (n > 1) {
                    cr_assert_eq(pkt.lp.frag_index, i);
                    cr_assert_eq(pkt.lp.frag_count, n);
                }
                bed_packet(bed, face_id[A], pieces[i], piece_len[i]);
            }
            // Maybe in buffer-size fragments again: their octets side by side.
            uint8_t back[9100];
            size_t n_back = 0;
            for (unsigned i = 0; i < bed->n_sent; i++) {
                uint32_t to;
                struct ndn_packet pkt = bed_parse_sent(bed, i, &to);
                cr_assert_eq(to, wide);
                memcpy(back + n_back, pkt.net, pkt.net_len);
                n_back += pkt.net_len;
            }
            cr_assert(n_back > payloads[p] && memcmp(back, whole, n_back) == 0, "mtu %u, %u octets (%u fragments)", mtu,
                      payloads[p], n);
            cr_assert_eq(bed_stats(bed).held, 0);
            bed_drop_sent(bed);
            cr_assert_eq(bed_check(bed), 0, "mtu %u, %u octets", mtu, payloads[p]);
            fib_face_remove(bed->shared.fib, face_id[A]);
        }
        finish();
    }
}

Test(fragment, order_repetition_and_splits_do_not_matter)
{
    start(300, true, 0);
    unsigned n = cut(2000, "");
    cr_assert_geq(n, 7);
    expect_from(A);
    for (unsigned i = 0; i < n; i++) {
        unsigned at = (i * 5 + 3) % n; // 5 and n have no common divisor
        struct rte_mbuf *mbuf = bed_frame(bed, face_id[A], pieces[at], piece_len[at]);
        mbuf = bed_split(bed, mbuf, 1 + i * 31 % (mbuf->pkt_len - 1));
        bed_receive(bed, &bed->port[A], &mbuf, 1);
        if (i == 2)
            bed_packet(bed, face_id[A], pieces[at], piece_len[at]);
    }
    cr_assert_eq(n % 5 != 0, 1);
    cr_assert_eq(drops(DROP_LP_REASS_DUPLICATE), 1);
    cr_assert_eq(drops(DROP_REASSEMBLED), n);
    cr_assert_geq(bed->n_sent, 1);
    expect_whole(0, E);
    bed_drop_sent(bed);
    finish();
}

Test(fragment, lost_one_times_out_and_frees_the_others)
{
    start(500, true, 0);
    unsigned n = cut(2000, "");
    expect_from(A);
    for (unsigned i = 0; i + 1 < n; i++)
        bed_packet(bed, face_id[A], pieces[i], piece_len[i]);
    cr_assert_eq(bed_stats(bed).held, n - 1);
    cr_assert_gt(bed_mbufs(bed), 0);
    bed_pass(bed, 499);
    cr_assert_eq(bed_stats(bed).held, n - 1);
    bed_pass(bed, 2);
    cr_assert_eq(bed_stats(bed).held, 0);
    cr_assert_eq(drops(DROP_LP_REASS_TIMEOUT), n - 1);
    bed_packet(bed, face_id[A], pieces[n - 1], piece_len[n - 1]); // too late
    sent_all(0);
    finish();
}

Test(fragment, senders_of_a_shared_link_are_kept_apart)
{
    start(500, true, 0);
    unsigned n = cut(900, "");
    cr_assert_eq(n, 3);
    bed_route(bed, "/d", face_id[MULTI], 0);
    interest(E, "/d", FIELDS(.nonce = 2));
    bed_drop_sent(bed);
    // Two hosts send messages of the same number; one of them never sends its last fragment.
    for (unsigned i = 0; i < n; i++) {
        for (uint8_t host = 1; host <= 2; host++) {
            struct rte_mbuf *mbuf = bed_frame(bed, face_id[MULTI], pieces[i], piece_len[i]);
            rte_pktmbuf_mtod(mbuf, uint8_t *)[11] = host;
            if (host == 2 && i == 1)
                rte_pktmbuf_free(mbuf);
            else
                bed_receive(bed, &bed->port[7], &mbuf, 1);
        }
    }
    cr_assert_eq(drops(DROP_REASSEMBLED), 3);
    cr_assert_eq(drops(DROP_LP_REASS_DUPLICATE), 0);
    cr_assert_eq(bed_stats(bed).held, 2);
    cr_assert_geq(bed->n_sent, 1);
    expect_whole(0, E);
    bed_drop_sent(bed);
    finish();
}

Test(fragment, mtu_that_cannot_hold_the_headers_is_counted)
{
    start(1500, true, 0);
    uint8_t token[32];
    memset(token, 9, sizeof token);
    bed_send_interest(bed, low_face, "/d", FIELDS(.nonce = 1, .token = token, .token_len = 32));
    bed_drop_sent(bed);
    size_t len = bed_data(whole, sizeof whole, "/d", FIELDS(.payload = 100));
    bed_packet(bed, out_face, whole, len);
    cr_assert_eq(drops(DROP_TX_SIZE), 1);
    cr_assert_eq(bed_stats(bed).out_data, 0, "what was not sent must not be counted as sent");
    sent_all(0);
    // What the fields take of the first fragment they do not take of the others.
    bed_send_interest(bed, low_face, "/d", FIELDS(.nonce = 2, .token = token, .token_len = 20));
    bed_drop_sent(bed);
    len = bed_data(whole, sizeof whole, "/d", FIELDS(.payload = 8700));
    bed_packet(bed, out_face, whole, len);
    cr_assert(bed->n_sent > 200 && bed->n_sent < 300, "%u fragments", bed->n_sent);
    for (unsigned i = 0; i < bed->n_sent; i++)
        cr_assert_eq(bed_parse_sent(bed, i, &(uint32_t){0}).lp.token_len, i == 0 ? 20 : 0);
    bed_drop_sent(bed);
    finish();
}

Test(fragment, pool_that_runs_out_between_fragments)
{
    for (unsigned left = 0; left < 8; left++) {
        start(500, true, 0);
        bed_send_interest(bed, in_face, "/d", FIELDS(.nonce = 1));
        bed_drop_sent(bed);
        size_t len = bed_data(whole, sizeof whole, "/d", FIELDS(.payload = 1800));
        struct rte_mbuf *mbuf = bed_frame(bed, out_face, whole, len);
        pool_take(left);
        bed_receive(bed, &bed->port[face_get(bed->shared.faces, out_face)->port], &mbuf, 1);
        pool_give();
        const unsigned count = 4;
        cr_assert_eq(drops(DROP_TX_NO_MBUF), left < count);
        cr_assert_eq(bed->n_sent, RTE_MIN(left, count));
        sent_all(RTE_MIN(left, count));
        finish();
    }
}

Test(fragment, packet_larger_than_a_buffer_leaves_a_port_without_chains)
{
    // MTU 9000, buffers of 1024: the packet would fit the link, but not a buffer of the port.
    start(0, false, 1024);
    for (uint16_t payload = 500; payload <= 8500; payload = (uint16_t)(payload + 1000)) {
        unsigned n = cut(payload, "abcdefgh");
        cr_assert_gt(n, payload > 600, "%u octets: %u frames, %llu without buffer", payload, n,
                     (unsigned long long)drops(DROP_TX_NO_MBUF));
    }
    cr_assert_eq(drops(DROP_TX_NO_MBUF), 0);
    finish();
}

Test(fragment, removed_face_frees_its_partial_messages)
{
    start(500, true, 0);
    unsigned n = cut(1200, "");
    bed_packet(bed, face_id[A], pieces[0], piece_len[0]);
    bed_packet(bed, face_id[B], pieces[0], piece_len[0]);
    cr_assert(n > 1 && bed_stats(bed).held == 2);
    bed_face_remove(bed, face_id[A]);
    cr_assert_eq(bed_stats(bed).held, 1);
    cr_assert_eq(drops(DROP_LP_REASS_EVICT), 1);
    sent_all(0);
    finish();
}

Test(fragment, interests_and_nacks_are_cut_and_joined_too)
{
    start(200, true, 0);
    bed_route(bed, "/long", in_face, 0);
    char uri[1200] = "/long/";
    memset(uri + 6, 'n', 900);
    interest(A, uri, FIELDS(.nonce = 77, .hop_limit = 5));
    unsigned n = sent_octets(pieces, piece_len);
    cr_assert_geq(n, 5);
    // At the peer: the Interest comes in fragments, has no route to go to, and is sent back whole.
    uint32_t here = in_face;
    fib_face_remove(bed->shared.fib, here);
    bed_route(bed, "/long", face_id[A], 0); // where it comes from now
    bed_pass(bed, 70000);
    bed_pass(bed, 7000);
    for (unsigned i = 0; i < n; i++)
        bed_packet(bed, face_id[A], pieces[i], piece_len[i]);
    struct ndn_packet pkt = sent_nack(0, A, NDN_NACK_NO_ROUTE);
    cr_assert(name_is(&pkt, uri));
    cr_assert_eq(pkt.interest.nonce, 77);
    cr_assert_eq(pkt.interest.hop_limit, 3);
    cr_assert_eq(pkt.lp.token_len, TOKEN_SIZE);
    sent_all(1);
    finish();
}

Test(fragment, reassembled_garbage_is_judged_like_any_packet)
{
    start(1500, true, 0);
    packet(A, "6418 51080000000000000010 520100 530102 5006 050B07030801");
    packet(A, "6413 51080000000000000011 520101 530102 5001 41"); // Interest cut short
    cr_assert_eq(drops(DROP_TLV_TRUNC), 1);
    packet(A, "6418 51080000000000000020 520100 530102 5006 050B07030801");
    packet(A, "641A 51080000000000000021 520101 530102 5008 410A040102030400"); // and one octet more
    cr_assert_eq(drops(DROP_TRAILING), 1);
    packet(A, "641D 51080000000000000030 520100 530102 FD032000 5007 06FD0133 070308"); // Nack before Data
    packet(A, "6413 51080000000000000031 520101 530102 5001 41");
    cr_assert_eq(drops(DROP_REASSEMBLED), 6);
    sent_all(0);
    finish();
}
