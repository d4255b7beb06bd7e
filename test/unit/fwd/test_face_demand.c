// SPDX-License-Identifier: Apache-2.0
/* On-demand faces of ports: what the first datagram of a peer brings about. */
#include "fwd/mgmt/face_control.h"

#include <criterion/criterion.h>

#include "test/unit/fwd/face_stage.h"

#define FACES 8

static void begin(void)
{
    stage_on_demand = FACES;
    stage_begin();
}

static void begin_deaf(void)
{
    stage_on_demand = 0;
    stage_begin();
}

TestSuite(face_demand, .init = begin, .fini = stage_end);
TestSuite(face_deaf, .init = begin_deaf, .fini = stage_end);

/* A datagram that the neighbour HOST of port 1 sends from a UDP port; it has no face. */
static struct rte_mbuf *datagram(bool v6, uint8_t host, uint16_t udp_port, const void *payload, size_t len)
{
    struct face_config config = {.port = 1, .kind = v6 ? FACE_UDP6 : FACE_UDP4, .local_udp = 6363};
    struct face_table *table;
    uint32_t id;
    memcpy(config.local_mac, bed->port[1].mac, 6);
    memcpy(config.remote_mac, (uint8_t[6]){2, 0, 0, 0, host, 2}, 6);
    if (v6) {
        memcpy(config.local_ip, bed->port[1].config.ip6, 16);
        memcpy(config.remote_ip, (uint8_t[16]){0xfd, 0, [3] = 1, [15] = host}, 16);
    } else {
        memcpy(config.local_ip, bed->port[1].config.ip4, 4);
        memcpy(config.remote_ip, (uint8_t[4]){10, 0, 1, host}, 4);
    }
    config.remote_udp = udp_port;
    // A table of its own: only the link header of such a face is wanted.
    struct face_table *real = bed->shared.faces;
    cr_assert_eq(face_table_create(&table, NULL), 0);
    cr_assert_eq(face_add(table, &config, 1500, &id), 0);
    bed->shared.faces = table;
    struct rte_mbuf *mbuf = bed_frame(bed, id, payload, len);
    bed->shared.faces = real;
    face_table_destroy(table);
    return mbuf;
}

static void receive(uint16_t worker, struct rte_mbuf *mbuf)
{
    bed_receive_at(bed, worker, &bed->port[1], &mbuf, 1);
}

static void interest_from(uint8_t host, const char *uri, uint32_t nonce)
{
    uint8_t packet[256];
    size_t len = bed_interest(packet, sizeof packet, uri, &(struct bed_fields){.nonce = nonce});
    receive(0, datagram(false, host, 7000, packet, len));
}

static const struct face *face_of(const char *uri)
{
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = bed->shared.faces->slot[slot];
        if (face != NULL && strcmp(face->remote_uri, uri) == 0)
            return face;
    }
    return NULL;
}

static unsigned n_demand(void)
{
    unsigned n = 0;
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = bed->shared.faces->slot[slot];
        n += face != NULL && face->persistency == FACE_ON_DEMAND;
    }
    return n;
}

/* The control thread's round, and what workers do with what it gave back. */
static void poll_and_settle(void)
{
    poll_at(0);
    bed_receive_at(bed, 0, &bed->port[1], NULL, 0);
}

static void seconds(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        bed->now_ns += 1000000000;
        poll_and_settle();
    }
}

Test(face_demand, the_first_datagram_makes_a_face_and_is_answered_over_it)
{
    uint32_t producer = bed_ether(bed, &bed->port[0], 2);
    bed_route(bed, "/A", producer, 1);
    interest_from(7, "/A/1", 1);
    cr_expect_eq(bed->n_sent, 0);
    cr_expect_eq(bed_drops(bed, DROP_UNKNOWN_PEER), 1);
    poll_and_settle();
    const struct face *face = face_of("udp4://10.0.1.7:7000");
    cr_assert_not_null(face);
    cr_expect_eq(face->persistency, FACE_ON_DEMAND);
    cr_expect_eq(face->flags, FACE_CONGESTION_MARKING);
    cr_expect_str_eq(face->local_uri, "udp4://10.0.1.1:6363");
    cr_expect_eq(face->down, 0, "the way the frame came is known");
    cr_expect_eq(told(MGMT_FACE_CREATED), 1);
    // The Interest of that datagram went on, and its Data comes back over the new face.
    cr_assert_eq(bed->n_sent, 1);
    uint32_t to;
    bed->face[bed->n_faces++] = face->id;
    struct ndn_packet pkt = bed_parse_sent(bed, 0, &to);
    cr_expect_eq(to, producer);
    uint8_t token[32];
    memcpy(token, pkt.lp.token, pkt.lp.token_len);
    bed_drop_sent(bed);
    bed_send_data(bed, producer, "/A/1", &(struct bed_fields){.token = token, .token_len = pkt.lp.token_len});
    cr_assert_eq(bed->n_sent, 1);
    bed_parse_sent(bed, 0, &to);
    cr_expect_eq(to, face->id);
    cr_expect_eq(bed_check(bed), 0);
    bed_drop_sent(bed);
}

Test(face_demand, a_burst_of_one_peer_makes_one_face)
{
    for (unsigned i = 0; i < 10; i++)
        interest_from(7, "/A/1", i + 1);
    poll_and_settle();
    cr_expect_eq(n_demand(), 1);
    interest_from(7, "/A/2", 99);
    cr_expect_eq(bed_drops(bed, DROP_UNKNOWN_PEER), 10, "now it has a face");
    bed_drop_sent(bed);
    cr_expect_eq(bed_check(bed), 0);
}

Test(face_demand, ipv6_peers_and_other_workers_are_heard_too)
{
    uint8_t packet[256];
    size_t len = bed_interest(packet, sizeof packet, "/A/1", &(struct bed_fields){.nonce = 1});
    receive(1, datagram(true, 9, 8000, packet, len));
    poll_and_settle();
    cr_expect_not_null(face_of("udp6://[fd00:1::9]:8000"));
    bed_drop_sent(bed);
    cr_expect_eq(bed_check(bed), 0);
}

Test(face_demand, what_is_no_link_layer_packet_makes_no_face)
{
    static const struct {
        const char *octets;
        size_t len;
    } payloads[] = {{"", 0}, {"\x00", 1}, {"GET / HTTP/1.1", 14}, {"\x07\x03\x08\x01\x41", 5}, {"\xc0\x00", 2}};
    for (size_t i = 0; i < RTE_DIM(payloads); i++)
        receive(0, datagram(false, 7, 7000, payloads[i].octets, payloads[i].len));
    poll_and_settle();
    cr_expect_eq(n_demand(), 0);
    cr_expect_eq(bed_drops(bed, DROP_UNKNOWN_PEER), 0);
    cr_expect_eq(bed_drops(bed, DROP_UDP_UNMATCHED), RTE_DIM(payloads));
}

Test(face_demand, malformed_packets_make_a_face_as_datagrams_and_count_there)
{
    receive(0, datagram(false, 7, 7000, "\x05\x03\x07\x01\x08", 5));
    poll_and_settle();
    const struct face *face = face_of("udp4://10.0.1.7:7000");
    cr_assert_not_null(face);
    struct stats_face sum;
    face_control_counters(control, face->id, &sum);
    cr_expect_eq(sum.in_drops, 1);
    cr_expect_eq(bed_check(bed), 0);
}

Test(face_demand, idle_faces_go_between_the_timeout_and_twice_that)
{
    interest_from(7, "/A/1", 1);
    poll_and_settle();
    cr_assert_eq(n_demand(), 1);
    uint32_t id = face_of("udp4://10.0.1.7:7000")->id;
    struct mgmt_face_status status;
    seconds(300);
    status_of(id, &status);
    cr_expect(status.has_expiration);
    cr_expect(status.expiration_ms > 0 && status.expiration_ms <= 1200000, "%llu",
              (unsigned long long)status.expiration_ms);
    interest_from(7, "/A/2", 2);
    bed_drop_sent(bed);
    seconds(1);
    status_of(id, &status);
    cr_expect(status.expiration_ms >= 599000 && status.expiration_ms <= 600000, "%llu",
              (unsigned long long)status.expiration_ms);
    seconds(598);
    cr_expect_eq(n_demand(), 1);
    seconds(5);
    cr_expect_eq(n_demand(), 0);
    cr_expect_eq(told(MGMT_FACE_DESTROYED), 1);
}

Test(face_demand, a_face_that_was_made_persistent_stays)
{
    interest_from(7, "/A/1", 1);
    poll_and_settle();
    uint32_t wrong, id = face_of("udp4://10.0.1.7:7000")->id;
    struct face_update update = {.has_persistency = true, .persistency = FACE_PERSISTENT};
    cr_assert_eq(face_control_change(control, id, &update, &wrong), 0);
    struct mgmt_face_status status;
    status_of(id, &status);
    cr_expect_not(status.has_expiration);
    seconds(1300);
    cr_assert_not_null(face_get(bed->shared.faces, id));
    update.persistency = FACE_ON_DEMAND;
    cr_assert_eq(face_control_change(control, id, &update, &wrong), 0);
    seconds(599);
    cr_expect_not_null(face_get(bed->shared.faces, id));
    seconds(5);
    cr_expect_null(face_get(bed->shared.faces, id));
}

Test(face_demand, a_flood_of_peers_is_bounded_and_those_in_use_stay)
{
    interest_from(7, "/A/1", 1);
    poll_and_settle();
    uint32_t used = face_of("udp4://10.0.1.7:7000")->id;
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < 20; i++)
            interest_from((uint8_t)(20 + (round * 20 + i) % 200), "/B", round * 20 + i + 1);
        interest_from(7, "/A/2", 1000 + round);
        seconds(1);
        bed_drop_sent(bed);
        cr_assert_leq(n_demand(), FACES);
        cr_assert_not_null(face_get(bed->shared.faces, used), "round %u", round);
    }
    // Faces that nobody uses any more made room for new peers.
    cr_expect_gt(told(MGMT_FACE_DESTROYED), FACES);
    cr_expect_eq(bed_check(bed), 0);
    cr_expect_eq(bed_mbufs(bed), 0);
}

Test(face_demand, a_full_ring_does_not_hold_the_worker)
{
    for (unsigned i = 0; i < 200; i++)
        interest_from((uint8_t)(2 + i), "/B", i + 1);
    cr_expect_gt(bed_drops(bed, DROP_UDP_UNMATCHED), 100);
    cr_expect_eq(bed_drops(bed, DROP_UDP_UNMATCHED) + bed_drops(bed, DROP_UNKNOWN_PEER), 200);
    cr_expect_eq(bed_check(bed), 0);
    poll_and_settle();
    bed_drop_sent(bed);
    cr_expect_eq(bed_mbufs(bed), 0);
}

Test(face_demand, only_datagrams_to_the_ports_of_ndn_count)
{
    bed->port[1].config.udp_ports[0] = 6364;
    interest_from(7, "/A/1", 1);
    poll_and_settle();
    cr_expect_eq(n_demand(), 0);
    cr_expect_eq(bed_drops(bed, DROP_UDP_UNMATCHED), 1);
}

Test(face_demand, whatever_datagrams_come_every_frame_is_accounted_for)
{
    uint64_t random = 42;
    uint8_t packet[256];
    size_t len = bed_interest(packet, sizeof packet, "/A/1", &(struct bed_fields){.nonce = 1});
    for (unsigned round = 0; round < 3000; round++) {
        struct rte_mbuf *mbuf = datagram(round % 2, (uint8_t)(2 + round % 9), 7000, packet, len);
        for (unsigned i = 0; i < round % 4; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint32_t at = (uint32_t)(random >> 33) % mbuf->data_len;
            rte_pktmbuf_mtod(mbuf, uint8_t *)[at] ^= (uint8_t)(random >> 56);
        }
        if (round % 5 == 4)
            rte_pktmbuf_trim(mbuf, (uint16_t)((random >> 40) % mbuf->data_len));
        receive((uint16_t)(round % STAGE_WORKERS), mbuf);
        if (round % 16 == 15) {
            bed->now_ns += 20000000;
            poll_and_settle();
            bed_drop_sent(bed);
            cr_assert_eq(bed_check(bed), 0, "round %u", round);
            cr_assert_leq(n_demand(), FACES);
        }
    }
    cr_expect_gt(n_demand(), 0);
    poll_and_settle();
    bed_pass(bed, 10000);
    bed_drop_sent(bed);
    cr_expect_eq(bed_mbufs(bed), 0);
}

Test(face_deaf, a_port_that_does_not_listen_makes_no_faces)
{
    bed_udp4(bed, &bed->port[1], 3);
    interest_from(7, "/A/1", 1);
    poll_and_settle();
    cr_expect_eq(n_demand(), 0);
    cr_expect_eq(bed_drops(bed, DROP_UDP_UNMATCHED), 1);
}
