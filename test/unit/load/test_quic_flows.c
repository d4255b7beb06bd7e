// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parser/quic.h"
#include "test/load/quic_flows.h"

static struct quic_flows flows;

static struct options usual(void)
{
    struct options options = {
        .payload = 300,
        .seed = 9,
        .quic = {.flows = 50,
                 .config_id = 2,
                 .config = {.server_id_len = 4, .nonce_len = 6, .encrypted = true, .key = "0123456789abcde"},
                 .n_servers = 3,
                 .rebind = 10,
                 .first_sport = 10000}};
    for (uint8_t i = 0; i < 3; i++)
        options.quic.server[i] = (struct quic_lb_id){.octets = {1, 2, 3, i}, .len = 4};
    return options;
}

static enum quic_read read_exact(const uint8_t *p, size_t len, struct quic_stamp *stamp)
{
    uint8_t *exact = malloc(len > 0 ? len : 1);
    memcpy(exact, p, len);
    enum quic_read read = quic_flows_read(&flows, exact, len, stamp);
    free(exact);
    return read;
}

Test(quic_flows, datagrams_tell_what_was_put_into_them_and_lead_to_their_server)
{
    struct options options = usual();
    cr_assert_eq(quic_flows_create(&flows, &options), 0);
    struct quic_lb *lb = calloc(1, sizeof *lb);
    cr_assert_eq(quic_lb_add_config(lb, 2, &options.quic.config), 0);
    quic_lb_decode_init();
    for (uint32_t i = 0; i < 200; i++) {
        struct quic_stamp stamp = {.flow = i % 50,
                                   .flow_number = i / 50,
                                   .number = UINT64_C(0x100000000) + i,
                                   .due = 1000 * i,
                                   .lag = i,
                                   .initial = i % 3 == 0},
                          got = {0};
        uint8_t p[2048];
        size_t len = quic_flows_write(&flows, &stamp, p);
        cr_assert_eq(len, stamp.initial ? 1200 : 300);
        cr_assert_eq(read_exact(p, len, &got), QUIC_READ_OK);
        cr_expect(got.flow == stamp.flow && got.flow_number == stamp.flow_number && got.number == stamp.number &&
                  got.due == stamp.due && got.lag == stamp.lag && got.initial == stamp.initial);
        struct quic_header header;
        struct quic_opts opts = {.require_fixed_bit = true, .from_client = true, .short_dcid_len = 11};
        cr_assert_eq(quic_parse(p, len, &opts, &header), VERDICT_OK);
        cr_expect_eq(header.type, stamp.initial ? QUIC_TYPE_INITIAL : QUIC_TYPE_SHORT);
        cr_expect_eq(header.packet_len, len, "the datagram is one packet");
        struct quic_lb_id id;
        if (!stamp.initial) {
            cr_assert_eq(quic_lb_decode(lb, header.dcid, header.dcid_len, &id), QUIC_LB_OK);
            cr_expect_eq(memcmp(&id, &options.quic.server[i % 50 % 3], sizeof id), 0);
        }
    }
    free(lb);
    quic_flows_destroy(&flows);
}

Test(quic_flows, each_changed_bit_is_seen_and_so_is_what_is_cut)
{
    struct options options = usual();
    cr_assert_eq(quic_flows_create(&flows, &options), 0);
    for (unsigned initial = 0; initial < 2; initial++) {
        struct quic_stamp stamp = {.flow = 7, .flow_number = 12, .number = 607, .initial = initial != 0}, got;
        uint8_t p[2048];
        size_t len = quic_flows_write(&flows, &stamp, p);
        for (size_t i = 0; i < 8 * len; i++) {
            p[i / 8] ^= (uint8_t)(1 << i % 8);
            cr_expect_neq(read_exact(p, len, &got), QUIC_READ_OK, "initial %u bit %zu", initial, i);
            p[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        for (size_t i = 0; i < len; i++)
            cr_expect_neq(read_exact(p, i, &got), QUIC_READ_OK, "initial %u cut at %zu", initial, i);
    }
    quic_flows_destroy(&flows);
}

Test(quic_flows, addresses_change_after_so_many_packets)
{
    struct options options = usual();
    cr_assert_eq(quic_flows_create(&flows, &options), 0);
    cr_expect_eq(quic_flows_generation(&flows, 9), 0);
    cr_expect_eq(quic_flows_generation(&flows, 10), 1);
    for (uint32_t flow = 0; flow < 50; flow++) {
        for (uint32_t generation = 0; generation < 100; generation++) {
            cr_expect_geq(quic_flows_sport(&flows, flow, generation), 10000);
            cr_expect_neq(quic_flows_sport(&flows, flow, generation), quic_flows_sport(&flows, flow, generation + 1));
        }
    }
    // Connection IDs differ, and Initials of one flow have another after the change.
    for (uint32_t i = 1; i < 50; i++)
        cr_expect_neq(memcmp(flows.cid[0], flows.cid[i], flows.cid_len), 0);
    struct quic_stamp stamp = {.flow = 1, .flow_number = 9, .initial = true};
    uint8_t a[2048], b[2048];
    quic_flows_write(&flows, &stamp, a);
    stamp.flow_number = 10;
    quic_flows_write(&flows, &stamp, b);
    cr_expect_neq(memcmp(a + 6, b + 6, 8), 0);
    quic_flows_destroy(&flows);
}

Test(quic_flows, packets_of_others_are_strange)
{
    struct options options = usual();
    cr_assert_eq(quic_flows_create(&flows, &options), 0);
    struct quic_stamp stamp = {.flow = 1}, got;
    uint8_t p[2048];
    size_t len = quic_flows_write(&flows, &stamp, p);
    quic_flows_destroy(&flows);
    options.seed = 10;
    cr_assert_eq(quic_flows_create(&flows, &options), 0);
    cr_expect_eq(read_exact(p, len, &got), QUIC_READ_STRANGE);
    cr_expect_eq(read_exact(p, 0, &got), QUIC_READ_STRANGE);
    quic_flows_destroy(&flows);
}
