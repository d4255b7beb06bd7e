// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/face_control.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "test/unit/fwd/face_stage.h"

TestSuite(face_control, .init = stage_begin, .fini = stage_end);

Test(face_control, udp_remote_on_the_network_of_a_port_becomes_a_face_of_it)
{
    make("udp4://10.0.1.7:6363", NULL);
    made_is(200, "OK");
    const struct face *face = face_get(bed->shared.faces, made.id);
    cr_assert_not_null(face);
    cr_expect_eq(face->port, 1);
    cr_expect_eq(face->kind, FACE_UDP4);
    cr_expect_eq(face->persistency, FACE_PERSISTENT);
    cr_expect_eq(face->flags, FACE_CONGESTION_MARKING);
    cr_expect_str_eq(face->local_uri, "udp4://10.0.1.1:6363");
    cr_expect_str_eq(face->remote_uri, "udp4://10.0.1.7:6363");
    cr_expect_eq(told(MGMT_FACE_CREATED), 1);

    make("udp6://[fd00:1::9]:7000", NULL);
    made_is(200, "OK");
    face = face_get(bed->shared.faces, made.id);
    cr_expect_str_eq(face->remote_uri, "udp6://[fd00:1::9]:7000");
    cr_expect_eq(face->config.remote_udp, 7000);
}

Test(face_control, a_remote_that_has_a_face_gives_that_face)
{
    make("udp4://10.0.1.7:6363", NULL);
    uint32_t id = made.id;
    make("udp4://10.0.1.7:6363", NULL);
    made_is(409, "Face with remote URI already exists");
    cr_expect_eq(made.id, id);
    make("ether://[02:00:00:00:07:02]", "dev://port1");
    made_is(200, "OK");
    id = made.id;
    make("ether://[02:00:00:00:07:02]", "dev://port1");
    made_is(409, "Face with remote URI already exists");
    cr_expect_eq(made.id, id);
    make("ether://[02:00:00:00:07:02]", "dev://port0");
    made_is(200, "OK");
    cr_expect_neq(made.id, id);
    cr_expect_eq(told(MGMT_FACE_CREATED), 3);
}

Test(face_control, a_face_of_the_configuration_is_known)
{
    uint32_t id = bed_udp4(bed, &bed->port[1], 7);
    face_control_announce(control, id);
    cr_expect_eq(told(MGMT_FACE_CREATED), 1);
    face_control_announce(control, id);
    cr_expect_eq(told(MGMT_FACE_CREATED), 1);
    make("udp4://10.0.1.7:6363", NULL);
    made_is(409, "Face with remote URI already exists");
    cr_expect_eq(made.id, id);
}

Test(face_control, packets_go_over_a_face_that_was_made_and_not_over_one_that_was_removed)
{
    uint32_t consumer = bed_ether(bed, &bed->port[0], 2);
    bed_ether(bed, &bed->port[1], 3);
    make("ether://[02:00:00:00:07:02]", "dev://port1");
    made_is(200, "OK");
    uint32_t id = made.id;
    bed->face[bed->n_faces++] = id;
    bed_route(bed, "/A", id, 1);
    bed_send_interest(bed, consumer, "/A/1", &(struct bed_fields){.nonce = 1});
    cr_assert_eq(bed->n_sent, 1);
    cr_expect_eq(bed->sent[0].port, 1);
    bed_drop_sent(bed);
    bed_send_data(bed, id, "/A/1", &(struct bed_fields){0});
    cr_assert_eq(bed->n_sent, 1);
    bed_drop_sent(bed);

    struct rte_mbuf *late = bed_frame(bed, id, "\x05\x07\x07\x03\x08\x01\x41", 7);
    bed->n_faces--;
    cr_assert_eq(face_control_remove(control, id), 0);
    cr_expect_eq(told(MGMT_FACE_DESTROYED), 1);
    bed_send_interest(bed, consumer, "/A/2", &(struct bed_fields){.nonce = 2});
    bed_receive(bed, &bed->port[1], &late, 1);
    cr_expect_eq(bed_drops(bed, DROP_L2_UNMATCHED), 1);
    for (unsigned i = 0; i < bed->n_sent; i++)
        cr_expect_eq(bed->sent[i].port, 0, "sent to a face that is gone");
    bed_drop_sent(bed);
    cr_expect_eq(fib_count(bed->shared.fib), 1);
    face_control_poll(control, bed->now_ns);
    cr_expect_eq(fib_count(bed->shared.fib), 0);
    cr_expect_eq(face_control_remove(control, id), -ENOENT);
    cr_expect_eq(bed_check(bed), 0);
    // Its id is not given again, and its remote is free.
    make("ether://[02:00:00:00:07:02]", "dev://port1");
    made_is(200, "OK");
    cr_expect_gt(made.id, id);
}

static const struct refusal {
    const char *uri, *local;
    uint8_t persistency, flags, mask;
    int64_t mtu;
    unsigned code;
    const char *text;
} refusals[] = {
    // M14
    {"udp4://999.1.1.1:1", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"udp4://10.0.1.7", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"udp4://router:6363", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"udp://10.0.1.7:6363", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"udp6://[fe80::1%nosuchif]:6363", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"foo://10.0.1.7:6363", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"10.0.1.7", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"tcp4://224.0.23.170:6363", NULL, 0, 0, 0, -1, 400, "Non-canonical remote URI"},
    {"ether://[02:00:00:00:07:02]", "dev://", 0, 0, 0, -1, 400, "Non-canonical local URI"},
    // M15
    {"ws://10.0.1.7:9696", NULL, 0, 0, 0, -1, 406, "Unsupported protocol"},
    {"unix:///run/nfd/nfd.sock", NULL, 0, 0, 0, -1, 406, "Unsupported protocol"},
    {"fd://20", NULL, 0, 0, 0, -1, 406, "Unsupported protocol"},
    {"dev://eth0", NULL, 0, 0, 0, -1, 406, "Unsupported protocol"},
    {"udp4://224.0.23.170:56363", NULL, 0, 0, 0, -1, 406, "Cannot create multicast UDP faces"},
    {"udp6://[ff02::1234%lo]:56363", NULL, 0, 0, 0, -1, 406, "Cannot create multicast UDP faces"},
    {"ether://[01:00:5e:00:17:aa]", "dev://port1", 0, 0, 0, -1, 406, "Cannot create multicast Ethernet faces"},
    {"udp4://10.0.1.7:6363", "udp4://10.0.1.1:6363", 0, 0, 0, -1, 406,
     "Cannot create unicast UDP faces with a LocalUri"},
    {"udp4://10.0.1.7:6363", "dev://port1", 0, 0, 0, -1, 406, "Cannot create unicast UDP faces with a LocalUri"},
    {"tcp4://10.0.1.7:6363", "tcp4://10.0.1.1:6363", 0, 0, 0, -1, 406, "Cannot create TCP faces with a LocalUri"},
    {"ether://[02:00:00:00:07:02]", NULL, 0, 0, 0, -1, 406,
     "Creation of unicast Ethernet faces requires a LocalUri with dev:// scheme"},
    {"ether://[02:00:00:00:07:02]", "udp4://10.0.1.1:6363", 0, 0, 0, -1, 406,
     "Creation of unicast Ethernet faces requires a LocalUri with dev:// scheme"},
    {"ether://[02:00:00:00:07:02]", "dev://nosuchport", 0, 0, 0, -1, 504, "No channels available to connect"},
    // persistency and flags
    {"udp4://10.0.1.7:6363", NULL, FACE_ON_DEMAND, 0, 0, -1, 406,
     "Outgoing UDP faces do not support on-demand persistency"},
    {"tcp4://10.0.1.7:6363", NULL, FACE_ON_DEMAND, 0, 0, -1, 406,
     "Outgoing TCP faces do not support on-demand persistency"},
    {"ether://[02:00:00:00:07:02]", "dev://port1", FACE_ON_DEMAND, 0, 0, -1, 406,
     "Outgoing Ethernet faces do not support on-demand persistency"},
    {"udp4://10.0.1.7:6363", NULL, 0, 1, 1, -1, 406, "Local fields can only be enabled on faces with local scope"},
    {"udp4://127.0.0.1:6363", NULL, 0, 1, 1, -1, 406, "Local fields can only be enabled on faces with local scope"},
    {"tcp4://10.0.1.7:6363", NULL, 0, 1, 1, -1, 406, "Local fields can only be enabled on faces with local scope"},
    {"ether://[02:00:00:00:07:02]", "dev://port1", 0, 1, 1, -1, 406,
     "Local fields can only be enabled on faces with local scope"},
    {"tcp4://10.0.1.7:6363", NULL, 0, 2, 2, -1, 406, "TCP faces do not support NDNLPv2 reliability"},
    // M17
    {"udp4://10.0.1.7:6363", NULL, 0, 0, 0, 0, 406, "Override MTU cannot be less than 64"},
    {"udp4://10.0.1.7:6363", NULL, 0, 0, 0, 63, 406, "Override MTU cannot be less than 64"},
    {"udp4://10.0.1.7:6363", NULL, 0, 0, 0, 65536, 406, "Override MTU cannot be greater than 65535"},
    {"udp4://10.0.1.7:6363", NULL, 0, 0, 0, INT64_MAX, 406, "Override MTU cannot be greater than 65535"},
    {"ether://[02:00:00:00:07:02]", "dev://port1", 0, 0, 0, 63, 406, "Override MTU cannot be less than 64"},
    {"tcp4://10.0.1.7:6363", NULL, 0, 0, 0, 1000, 406, "TCP faces do not support an MTU"},
    // addresses that no peer has
    {"udp4://10.0.1.1:6363", NULL, 0, 0, 0, -1, 406, "Cannot create a face to this remote URI"},
    {"ether://[00:00:00:00:00:00]", "dev://port1", 0, 0, 0, -1, 406, "Cannot create a face to this remote URI"},
    {"ether://[02:00:00:00:00:02]", "dev://port1", 0, 0, 0, -1, 406, "Cannot create a face to this remote URI"},
};

Test(face_control, what_cannot_be_made_is_refused_in_the_reference_forwarders_words)
{
    for (size_t i = 0; i < RTE_DIM(refusals); i++) {
        const struct refusal *row = &refusals[i];
        struct face_request request = request_of(row->uri, row->local);
        request.persistency = row->persistency;
        request.flags = row->flags;
        request.mask = row->mask;
        request.has_mtu = row->mtu >= 0;
        request.mtu = row->mtu == INT64_MAX ? UINT64_MAX : (uint64_t)row->mtu;
        make_request(&request);
        cr_expect(made.calls == 1 && made.code == row->code && strcmp(made.text, row->text) == 0, "%s %s: %u %s",
                  row->uri, row->local != NULL ? row->local : "", made.code, made.text);
        cr_expect_eq(made.id, 0, "%s", row->uri);
    }
    cr_expect_eq(n_connects, 0);
    cr_expect_eq(told(MGMT_FACE_CREATED), 0);
}

Test(face_control, uris_that_are_no_text_are_refused)
{
    static uint8_t octets[8192];
    struct face_request request = {.uri = {(const uint8_t *)"udp4://10.0.1.7\0:6363", 21}};
    make_request(&request);
    made_is(400, "Non-canonical remote URI");
    memset(octets, 'a', sizeof octets);
    request.uri = (struct mgmt_octets){octets, sizeof octets};
    make_request(&request);
    made_is(400, "Non-canonical remote URI");
    memcpy(octets, "udp4://", 7);
    make_request(&request);
    made_is(400, "Non-canonical remote URI");
    request = request_of("ether://[02:00:00:00:07:02]", NULL);
    memcpy(octets, "dev://", 6);
    request.local_uri = (struct mgmt_octets){octets, sizeof octets};
    make_request(&request);
    made_is(400, "Non-canonical local URI");
}

Test(face_control, options_are_as_asked_and_an_mtu_is_what_fits_the_port)
{
    struct face_request request = request_of("udp4://10.0.1.7:6363", NULL);
    request.flags = FACE_RELIABILITY;
    request.mask = FACE_RELIABILITY | FACE_CONGESTION_MARKING;
    request.persistency = FACE_PERMANENT;
    request.has_congestion_interval = request.has_congestion_threshold = request.has_mtu = true;
    request.congestion_interval_ns = 5000;
    request.congestion_threshold = 9000;
    request.mtu = 1400;
    make_request(&request);
    made_is(200, "OK");
    struct mgmt_face_status status;
    status_of(made.id, &status);
    cr_expect_eq(status.flags, FACE_RELIABILITY);
    cr_expect_eq(status.persistency, FACE_PERMANENT);
    cr_expect_eq(status.congestion_interval_ns, 5000);
    cr_expect_eq(status.congestion_threshold, 9000);
    cr_expect_eq(status.mtu, 1400);
    request.uri = request_of("udp4://10.0.1.8:6363", NULL).uri;
    request.mtu = 9000;
    make_request(&request);
    made_is(200, "OK");
    status_of(made.id, &status);
    cr_expect_eq(status.mtu, 1500 - 28);
    make("ether://[02:00:00:00:07:02]", "dev://port1");
    status_of(made.id, &status);
    cr_expect_eq(status.flags, 0, "marking is off on Ethernet");
    cr_expect_eq(status.congestion_interval_ns, 100000000);
    cr_expect_eq(status.congestion_threshold, 65536);
    cr_expect_eq(status.mtu, 1500);
    cr_expect_not(status.has_expiration);
}

Test(face_control, remotes_elsewhere_are_connected_to_by_the_kernel)
{
    struct face_request request = request_of("udp4://192.0.2.9:6363", NULL);
    request.has_mtu = true;
    request.mtu = 20000;
    make_request(&request);
    cr_expect_eq(made.calls, 0, "the answer comes with the connection");
    cr_assert_eq(n_connects, 1);
    cr_expect_not(connects[0].remote.stream);
    cr_expect_eq(connects[0].remote.flags, FACE_CONGESTION_MARKING);
    cr_expect_eq(connects[0].remote.mtu, 8800);
    uint32_t id = connected(0, 0, "udp4://192.0.2.1:6363", "udp4://192.0.2.9:6363");
    made_is(200, "OK");
    cr_expect_eq(made.id, id);
    cr_expect_eq(told(MGMT_FACE_CREATED), 1);
    make("udp4://192.0.2.9:6363", NULL);
    made_is(409, "Face with remote URI already exists");
    cr_expect_eq(made.id, id);
    cr_expect_eq(n_connects, 1);
    cr_assert_eq(face_control_remove(control, id), 0);
    cr_expect_eq(n_closed, 1);
}

Test(face_control, who_asks_for_the_same_remote_meanwhile_gets_its_face)
{
    make("tcp4://192.0.2.9:6363", NULL);
    make_request(&(struct face_request){.uri = request_of("tcp4://192.0.2.9:6363", NULL).uri});
    cr_assert_eq(n_connects, 1);
    made.first_code = 0;
    uint32_t id = connected(0, 0, "tcp4://192.0.2.1:1", "tcp4://192.0.2.9:6363");
    cr_expect_eq(made.calls, 2);
    cr_expect_eq(made.first_code, 200);
    cr_expect_eq(made.code, 409);
    cr_expect_eq(made.id, id);
    cr_expect_eq(face_control_connected(control, connects[0].ticket, 0, NULL), 0, "nobody waits any more");
}

Test(face_control, a_connection_that_fails_is_told)
{
    make("tcp4://192.0.2.9:6363", NULL);
    cr_expect_eq(connected(0, -ETIMEDOUT, NULL, NULL), 0);
    made_is(504, "Connection timed out");
    make("tcp4://192.0.2.9:6363", NULL);
    connected(1, -ECONNREFUSED, NULL, NULL);
    made_is(504, "Connection refused");
    connect_rc = -EAFNOSUPPORT;
    make("tcp6://[2001:db8::9]:6363", NULL);
    made_is(504, "No channels available to connect");
    cr_expect_eq(told(MGMT_FACE_CREATED), 0);
}

Test(face_control, a_peer_that_came_by_itself_while_we_connected_keeps_its_face)
{
    make("tcp4://192.0.2.9:6363", NULL);
    uint32_t id = accepted("tcp4://192.0.2.1:6363", "tcp4://192.0.2.9:6363");
    cr_expect_eq(connected(0, 0, "tcp4://192.0.2.1:1", "tcp4://192.0.2.9:6363"), 0);
    made_is(409, "Face with remote URI already exists");
    cr_expect_eq(made.id, id);
}

Test(face_control, reserved_faces_are_there_as_the_reference_forwarder_has_them_and_stay)
{
    struct mgmt_face_status status;
    status_of(FACE_ID_CONTENT_STORE, &status);
    cr_expect(status.uri.len == 15 && memcmp(status.uri.p, "contentstore://", 15) == 0);
    cr_expect(status.local_uri.len == 15 && memcmp(status.local_uri.p, "contentstore://", 15) == 0);
    cr_expect(status.scope == FACE_SCOPE_LOCAL && status.persistency == FACE_PERMANENT && status.link_type == 0);
    cr_expect(status.has_mtu && status.mtu == 8800 && status.flags == 0);
    cr_expect_not(status.has_congestion_interval || status.has_congestion_threshold || status.has_expiration);
    status_of(FACE_ID_NULL, &status);
    cr_expect(status.uri.len == 7 && memcmp(status.uri.p, "null://", 7) == 0);
    status_of(FACE_ID_INTERNAL, &status);
    cr_expect(status.has_congestion_interval && status.congestion_threshold == 65536 && status.mtu == 8800);
    for (uint32_t id = FACE_ID_INTERNAL; id <= FACE_ID_NULL; id += 253)
        cr_expect_eq(face_control_remove(control, id), -EPERM);
    cr_expect_eq(face_control_remove(control, FACE_ID_NULL), -EPERM);
    cr_expect_not_null(face_get(bed->shared.faces, FACE_ID_NULL));
    cr_expect_eq(told(MGMT_FACE_DESTROYED), 0);
}

Test(face_control, null_faces_take_packets_and_send_nothing)
{
    uint32_t consumer = bed_ether(bed, &bed->port[0], 2);
    bed_route(bed, "/N", FACE_ID_NULL, 1);
    bed_send_interest(bed, consumer, "/N/1", &(struct bed_fields){.nonce = 1});
    bed_pass(bed, 10000);
    cr_expect_eq(bed->n_sent, 0, "no Nack");
    struct stats_face sum;
    face_control_counters(control, FACE_ID_NULL, &sum);
    cr_expect_eq(sum.out_drops, 1);
    cr_expect_eq(bed_check(bed), 0);
}

/* An Interest of a local application that names the Content Store's face as next hop (NextHopFaceId 254). */
static void interest_to_store(uint32_t face, const char *uri, uint32_t nonce)
{
    uint8_t packet[256] = {0x64, 0, 0xfd, 0x03, 0x30, 1, FACE_ID_CONTENT_STORE, 0x50};
    size_t len = bed_interest(packet + 9, sizeof packet - 9, uri, &(struct bed_fields){.nonce = nonce});
    packet[1] = (uint8_t)(len + 7);
    packet[8] = (uint8_t)len;
    bed_packet(bed, face, packet, len + 9);
}

Test(face_control, an_interest_to_the_content_store_is_answered_from_there_or_not_at_all)
{
    uint32_t producer = bed_ether(bed, &bed->port[0], 2);
    const struct face_config config = {
        .port = bed_bare_port(bed)->index, .kind = FACE_BARE, .scope = FACE_SCOPE_LOCAL, .flags = FACE_LOCAL_FIELDS};
    uint32_t local = bed_face(bed, &config);
    bed_route(bed, "/A", producer, 1);
    bed_send_interest(bed, local, "/A/1", &(struct bed_fields){.nonce = 1});
    bed_send_data(bed, producer, "/A/1", &(struct bed_fields){.freshness_ms = 10000});
    bed_drop_sent(bed);
    interest_to_store(local, "/A/1", 2);
    cr_assert_eq(bed->n_sent, 1);
    uint32_t to;
    cr_expect_eq(bed_parse_sent(bed, 0, &to).type, NDN_TYPE_DATA);
    cr_expect_eq(to, local);
    bed_drop_sent(bed);
    interest_to_store(local, "/A/2", 3);
    bed_pass(bed, 10000);
    cr_expect_eq(bed->n_sent, 0, "neither Data nor Nack, and nothing to the route's face");
    struct stats_face sum;
    face_control_counters(control, FACE_ID_CONTENT_STORE, &sum);
    cr_expect_eq(sum.out_drops, 1);
    cr_expect_eq(bed_check(bed), 0);
    bed_drop_sent(bed);
    for (uint16_t w = 0; w < STAGE_WORKERS; w++) {
        cs_resize(bed->fwd[w]->cs, 0);
        cs_poll(bed->fwd[w]->cs, bed->now_ns);
    }
}

static const struct change_row {
    enum stage_face face;
    struct face_update update;
    uint32_t wrong;
} changes[] = {
    {S_UDP, {.has_persistency = true, .persistency = FACE_PERMANENT}, 0},
    {S_UDP, {.has_persistency = true, .persistency = FACE_ON_DEMAND}, 0},
    {S_UDP, {.has_persistency = true, .persistency = FACE_PERSISTENT}, 0},
    {S_UDP, {.has_persistency = true, .persistency = 3}, MGMT_HAS_FACE_PERSISTENCY},
    {S_UDP, {.has_flags = true, .flags = FACE_RELIABILITY | FACE_CONGESTION_MARKING}, 0},
    {S_UDP, {.has_flags = true, .flags = FACE_LOCAL_FIELDS}, MGMT_HAS_FLAGS | MGMT_HAS_MASK},
    {S_UDP, {.has_mtu = true, .mtu = 64}, 0},
    {S_UDP, {.has_mtu = true, .mtu = 8800}, 0},
    {S_UDP, {.has_mtu = true, .mtu = 63}, MGMT_HAS_MTU},
    {S_UDP, {.has_mtu = true, .mtu = 0}, MGMT_HAS_MTU},
    {S_UDP, {.has_congestion_interval = true, .congestion_interval_ns = 1}, 0},
    {S_ETHER, {.has_persistency = true, .persistency = FACE_PERMANENT}, 0},
    {S_ETHER, {.has_flags = true, .flags = FACE_CONGESTION_MARKING}, 0},
    {S_GROUP, {.has_persistency = true, .persistency = FACE_ON_DEMAND}, MGMT_HAS_FACE_PERSISTENCY},
    {S_GROUP, {.has_persistency = true, .persistency = FACE_PERMANENT}, 0},
    {S_GROUP, {.has_flags = true, .flags = FACE_RELIABILITY}, MGMT_HAS_FLAGS | MGMT_HAS_MASK},
    {S_UNIX, {.has_flags = true, .flags = FACE_LOCAL_FIELDS}, 0},
    {S_UNIX, {.has_flags = true, .flags = FACE_RELIABILITY}, MGMT_HAS_FLAGS | MGMT_HAS_MASK},
    {S_UNIX, {.has_persistency = true, .persistency = FACE_PERSISTENT}, MGMT_HAS_FACE_PERSISTENCY},
    {S_UNIX, {.has_persistency = true, .persistency = FACE_ON_DEMAND}, 0},
    {S_UNIX, {.has_mtu = true, .mtu = 1000}, MGMT_HAS_MTU},
    {S_UNIX,
     {.has_mtu = true,
      .mtu = 1000,
      .has_persistency = true,
      .persistency = FACE_PERMANENT,
      .has_flags = true,
      .flags = FACE_RELIABILITY},
     MGMT_HAS_MTU | MGMT_HAS_FACE_PERSISTENCY | MGMT_HAS_FLAGS | MGMT_HAS_MASK},
    {S_TCP, {.has_persistency = true, .persistency = FACE_PERMANENT}, 0},
    {S_TCP, {.has_flags = true, .flags = FACE_LOCAL_FIELDS}, MGMT_HAS_FLAGS | MGMT_HAS_MASK},
    {S_TCP, {.has_mtu = true, .mtu = 1000}, MGMT_HAS_MTU},
    {S_NULL, {.has_persistency = true, .persistency = FACE_PERSISTENT}, MGMT_HAS_FACE_PERSISTENCY},
    {S_NULL, {.has_mtu = true, .mtu = 1000}, MGMT_HAS_MTU},
};

Test(face_control, what_may_be_changed_depends_on_the_face)
{
    stage_faces();
    for (size_t i = 0; i < RTE_DIM(changes); i++) {
        const struct change_row *row = &changes[i];
        uint32_t wrong = 0, id = stage_face[row->face];
        const struct face before = *face_get(bed->shared.faces, id);
        int rc = face_control_change(control, id, &row->update, &wrong);
        cr_expect(rc == (row->wrong != 0 ? -EINVAL : 0) && wrong == row->wrong, "row %zu: %d, %x", i, rc, wrong);
        const struct face *after = face_get(bed->shared.faces, id);
        if (row->wrong != 0) {
            cr_expect(after->flags == before.flags && after->mtu == before.mtu &&
                          after->persistency == before.persistency,
                      "row %zu: all of a change or none of it", i);
            continue;
        }
        cr_expect(!row->update.has_flags || after->flags == row->update.flags, "row %zu", i);
        cr_expect(!row->update.has_persistency || after->persistency == row->update.persistency, "row %zu", i);
        cr_expect(!row->update.has_mtu || after->mtu == RTE_MIN(row->update.mtu, 1500 - 28), "row %zu", i);
    }
    uint32_t wrong = 0;
    cr_expect_eq(face_control_change(control, 99999, &changes[0].update, &wrong), -ENOENT);
}

Test(face_control, the_io_thread_hears_of_changes_to_its_faces)
{
    stage_faces();
    uint32_t wrong = 0;
    const struct face_update update = {.has_flags = true, .flags = FACE_LOCAL_FIELDS};
    cr_assert_eq(face_control_change(control, stage_face[S_UNIX], &update, &wrong), 0);
    cr_expect_eq(n_changed, 1);
    cr_expect_eq(changed_flags, FACE_LOCAL_FIELDS);
    const struct face_update other = {.has_persistency = true, .persistency = FACE_PERMANENT};
    cr_assert_eq(face_control_change(control, stage_face[S_UDP], &other, &wrong), 0);
    cr_expect_eq(n_changed, 1);
}

Test(face_control, up_and_down_are_told_once_each)
{
    stage_faces();
    face_control_updown(control, stage_face[S_TCP], false);
    face_control_updown(control, stage_face[S_TCP], false);
    cr_expect_eq(told(MGMT_FACE_DOWN), 1);
    cr_expect(face_get(bed->shared.faces, stage_face[S_TCP])->down & FACE_DOWN_LINK);
    face_control_updown(control, stage_face[S_TCP], true);
    cr_expect_eq(told(MGMT_FACE_UP), 1);
    cr_expect_eq(face_get(bed->shared.faces, stage_face[S_TCP])->down, 0);
    // What the monitor does to faces of ports is noticed within a round.
    face_set_down(bed->shared.faces, stage_face[S_ETHER], FACE_DOWN_LINK, true);
    poll_at(1000);
    cr_expect_eq(told(MGMT_FACE_DOWN), 2);
    poll_at(2000);
    cr_expect_eq(told(MGMT_FACE_DOWN), 2);
    face_set_down(bed->shared.faces, stage_face[S_ETHER], FACE_DOWN_LINK, false);
    poll_at(3000);
    cr_expect_eq(told(MGMT_FACE_UP), 2);
}

Test(face_control, counters_are_summed_over_workers_drops_included)
{
    uint32_t id = bed_ether(bed, &bed->port[0], 2);
    static const uint8_t bad[] = {0x05, 0x03, 0x07, 0x01, 0x08};
    for (uint16_t w = 0; w < STAGE_WORKERS; w++) {
        struct rte_mbuf *mbuf = bed_frame(bed, id, bad, sizeof bad);
        bed_receive_at(bed, w, &bed->port[0], &mbuf, 1);
    }
    struct stats_face sum;
    face_control_counters(control, id, &sum);
    cr_expect_eq(sum.in_drops, STAGE_WORKERS, "%llu", (unsigned long long)sum.in_drops);
    bed_send_interest(bed, id, "/A/1", &(struct bed_fields){.nonce = 1});
    bed_drop_sent(bed);
    face_control_counters(control, id, &sum);
    cr_expect_eq(sum.in_interests, 1);
    cr_expect_gt(sum.in_bytes, 0);
    struct mgmt_face_status status;
    status_of(id, &status);
    cr_expect_eq(status.in_interests, 1);
    cr_expect_eq(status.in_bytes, sum.in_bytes);
    face_control_counters(control, 4711, &sum);
    cr_expect_eq(sum.in_bytes, 0);
}

Test(face_control, partial_messages_of_a_thousand_faces_go_in_one_round)
{
    static uint32_t id[1000];
    static const uint8_t part[] = {0x64, 0x14, 0x51, 0x08, 0,    0,    0, 0,    0,    0, 0,
                                   1,    0x52, 0x01, 0,    0x53, 0x01, 2, 0x50, 0x02, 5, 5};
    for (unsigned i = 0; i < RTE_DIM(id); i++) {
        char uri[64];
        snprintf(uri, sizeof uri, "ether://[02:00:00:01:%02x:%02x]", i / 256, i % 256);
        make(uri, "dev://port0");
        cr_assert_eq(made.code, 200);
        id[i] = made.id;
        bed_route(bed, "/A", id[0], 1);
    }
    for (unsigned i = 0; i < 16; i++) {
        struct rte_mbuf *mbuf = bed_frame(bed, id[i], part, sizeof part);
        bed_receive_at(bed, 0, &bed->port[0], &mbuf, 1);
    }
    cr_expect_eq(bed_stats(bed).held, 16);
    for (unsigned i = 0; i < RTE_DIM(id); i++)
        cr_assert_eq(face_control_remove(control, id[i]), 0);
    cr_expect_eq(told(MGMT_FACE_DESTROYED), RTE_DIM(id));
    cr_expect_eq(bed_stats(bed).held, 16);
    face_control_poll(control, bed->now_ns);
    cr_expect_eq(bed_stats(bed).held, 0);
    cr_expect_eq(fib_count(bed->shared.fib), 0);
    cr_expect_eq(bed_check(bed), 0);
}
