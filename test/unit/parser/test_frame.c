// SPDX-License-Identifier: Apache-2.0
/* Fields of accepted frames and the checksum; what is refused is in test_bad_inputs.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "parser/frame.h"
#include "test/cases/bad_inputs.h"

static const struct bad_addrs *const addrs = &bad_addrs_default;
static const struct frame_opts check_all;
static uint8_t buf[BAD_INPUT_MAX];
static uint8_t payload[2000];

static struct frame_builder builder(void)
{
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)(i * 7 + i / 256);
    return (struct frame_builder){.addrs = addrs, .frame = buf};
}

static struct frame parse(struct frame_builder *b)
{
    struct frame frame;
    memset(&frame, 0xa5, sizeof frame);
    frame_build_checksums(b);
    enum verdict verdict = frame_parse(buf, b->len, &check_all, &frame);
    cr_assert_eq(verdict, VERDICT_OK, "%s", verdict_name(verdict));
    return frame;
}

Test(frame, ndn)
{
    struct frame_builder b = builder();
    frame_build_ether(&b, payload, 100);
    struct frame f = parse(&b);
    cr_expect(f.kind == FRAME_NDN && f.n_tags == 0 && f.vlan == 0 && f.vlan_inner == 0 && !f.multicast);
    cr_expect(f.payload_off == 14 && f.payload_len == 100 && f.dst_mac == buf && f.src_mac == buf + 6);
    cr_expect(f.sport == 0 && f.dport == 0 && f.src_ip == NULL && f.dst_ip == NULL);
    buf[0] |= 1;
    cr_expect(parse(&b).multicast);
}

Test(frame, udp_over_ipv4)
{
    struct frame_builder b = builder();
    for (size_t len = 0; len < 80; len++) {
        frame_build_udp4(&b, 1234, 6363, payload, len);
        struct frame f = parse(&b);
        cr_expect(f.kind == FRAME_UDP4 && f.payload_off == 42 && f.payload_len == len);
        cr_expect(f.sport == 1234 && f.dport == 6363);
        cr_expect_arr_eq(f.src_ip, addrs->peer_ip4, 4);
        cr_expect_arr_eq(f.dst_ip, addrs->our_ip4, 4);
    }
}

Test(frame, udp_over_ipv6)
{
    struct frame_builder b = builder();
    for (size_t len = 0; len < 80; len++) {
        frame_build_udp6(&b, 1234, 6363, payload, len);
        struct frame f = parse(&b);
        cr_expect(f.kind == FRAME_UDP6 && f.payload_off == 62 && f.payload_len == len);
        cr_expect_arr_eq(f.src_ip, addrs->peer_ip6, 16);
        cr_expect_arr_eq(f.dst_ip, addrs->our_ip6, 16);
    }
}

Test(frame, vlan_tags)
{
    static const struct {
        uint16_t outer, inner; /**< 0xffff: no such tag */
        uint16_t vlan, vlan_inner;
    } cases[] = {
        {0xffff, 5, 5, 0}, {0xffff, 0, 0, 0}, {0xffff, 0xe005, 5, 0}, {5, 6, 5, 6},
        {0, 6, 6, 0},      {5, 0, 5, 0},      {0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct frame_builder b = builder();
        frame_build_udp4(&b, 1, 2, payload, 10);
        frame_build_tag(&b, 0x8100, cases[i].inner);
        if (cases[i].outer != 0xffff)
            frame_build_tag(&b, 0x88a8, cases[i].outer);
        struct frame f = parse(&b);
        cr_expect(f.vlan == cases[i].vlan && f.vlan_inner == cases[i].vlan_inner, "case %zu", i);
        cr_expect_eq(f.n_tags, cases[i].outer != 0xffff ? 2 : 1);
        cr_expect_eq(f.payload_off, 42 + 4 * f.n_tags);
    }
}

Test(frame, padding_is_cut)
{
    struct frame_builder b = builder();
    frame_build_udp4(&b, 1, 2, payload, 3);
    frame_build_checksums(&b);
    memset(buf + b.len, 0xff, 60 - b.len);
    b.len = 60;
    cr_expect_eq(parse(&b).payload_len, 3);
    frame_build_udp6(&b, 1, 2, payload, 3);
    memset(buf + b.len, 0xff, 9);
    b.len += 9;
    cr_expect_eq(parse(&b).payload_len, 3);
}

Test(frame, an_ndn_frame_beyond_16_bits_is_too_large)
{
    static uint8_t huge[70000];
    struct frame f;
    memcpy(huge, addrs->our_mac, 6);
    memcpy(huge + 6, addrs->peer_mac, 6);
    huge[12] = 0x86;
    huge[13] = 0x24;
    cr_expect_eq(frame_parse(huge, 14 + 65535, &check_all, &f), VERDICT_OK);
    cr_expect_eq(f.payload_len, 65535);
    cr_expect_eq(frame_parse(huge, 14 + 65536, &check_all, &f), VERDICT_PKT_OVERSIZE);
}

Test(frame, checks_can_be_left_to_the_device)
{
    static const struct frame_opts skip = {.skip_ip_csum = true, .skip_udp_csum = true};
    static const char *const ids[] = {"E19", "E25", "E25c"};
    struct frame f;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        size_t len = bad_input_payload(bad_input_find(ids[i]), 0, addrs, buf);
        cr_expect_eq(frame_parse(buf, len, &skip, &f), VERDICT_OK, "%s", ids[i]);
    }
    size_t len = bad_input_payload(bad_input_find("E25d"), 0, addrs, buf);
    cr_expect_eq(frame_parse(buf, len, &skip, &f), VERDICT_UDP_CSUM, "none over IPv6 is never right");
}

Test(frame, addresses_that_nobody_has)
{
    static const struct {
        const char *address;
        enum verdict src, dst;
    } cases[] = {
        {"00000000 00000000 00000000 00000000", VERDICT_IP_SRC, VERDICT_IP_DST},
        {"00000000 00000000 00000000 00000001", VERDICT_IP_SRC, VERDICT_IP_DST},
        {"00000000 00000000 0000FFFF C0000201", VERDICT_IP_SRC, VERDICT_IP_DST},
        {"00000000 00000000 00000000 00000002", VERDICT_OK, VERDICT_OK},
        {"FE800000 00000000 00000000 00000001", VERDICT_OK, VERDICT_OK},
        {"FF020000 00000000 00000000 00001234", VERDICT_IP_SRC, VERDICT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t at = 8; at <= 24; at += 16) {
            struct frame_builder b = builder();
            struct frame f;
            frame_build_udp6(&b, 1, 2, payload, 5);
            bad_input_expand(cases[i].address, 0, buf + b.ip_off + at);
            frame_build_checksums(&b);
            cr_expect_eq(frame_parse(buf, b.len, &check_all, &f), at == 8 ? cases[i].src : cases[i].dst, "%s at %zu",
                         cases[i].address, at);
        }
    }
    static const uint8_t dst4[][4] = {{0, 0, 0, 0}, {127, 0, 0, 1}, {240, 0, 0, 1}, {224, 0, 23, 170}};
    for (size_t i = 0; i < 4; i++) {
        struct frame_builder b = builder();
        struct frame f;
        frame_build_udp4(&b, 1, 2, payload, 5);
        memcpy(buf + b.ip_off + 16, dst4[i], 4);
        frame_build_checksums(&b);
        cr_expect_eq(frame_parse(buf, b.len, &check_all, &f), i == 3 ? VERDICT_OK : VERDICT_IP_DST);
    }
}

Test(frame, ipv6_extension_headers)
{
    static const struct {
        uint8_t next;
        enum verdict verdict;
    } cases[] = {
        {0, VERDICT_IP_OPTIONS},  {6, VERDICT_IP_PROTO},     {43, VERDICT_IP_OPTIONS},  {44, VERDICT_IP_FRAG},
        {50, VERDICT_IP_OPTIONS}, {51, VERDICT_IP_OPTIONS},  {58, VERDICT_IP_PROTO},    {59, VERDICT_IP_PROTO},
        {60, VERDICT_IP_OPTIONS}, {135, VERDICT_IP_OPTIONS}, {139, VERDICT_IP_OPTIONS}, {140, VERDICT_IP_OPTIONS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct frame_builder b = builder();
        struct frame f;
        frame_build_udp6(&b, 1, 2, payload, 5);
        buf[b.ip_off + 6] = cases[i].next;
        cr_expect_eq(frame_parse(buf, b.len, &check_all, &f), cases[i].verdict, "%u", cases[i].next);
    }
}

static uint32_t slow_sum(uint32_t sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum += (uint32_t)p[i] << (i % 2 == 0 ? 8 : 0);
    while (sum > 0xffff)
        sum = (sum & 0xffff) + (sum >> 16);
    return sum;
}

Test(frame, checksum_equals_the_slow_sum)
{
    builder();
    for (size_t len = 0; len < 200; len++) {
        for (size_t at = 0; at < 8; at++)
            cr_expect_eq(frame_csum_add(at * 0x1111, payload + at, len),
                         slow_sum((uint32_t)at * 0x1111, payload + at, len), "%zu octets at %zu", len, at);
    }
    memset(payload, 0xff, sizeof payload);
    cr_expect_eq(frame_csum_add(0xffff, payload, sizeof payload), slow_sum(0xffff, payload, sizeof payload));
    // Parts of even size add up to the whole.
    cr_expect_eq(frame_csum_add(frame_csum_add(0, payload, 100), payload + 100, 31), slow_sum(0, payload, 131));
}

Test(frame, any_flipped_bit_of_a_datagram_is_noticed)
{
    struct frame_builder b = builder();
    frame_build_udp4(&b, 1234, 6363, payload, 40);
    frame_build_checksums(&b);
    for (size_t bit = 8 * b.ip_off; bit < 8 * b.len; bit++) {
        struct frame f;
        buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_expect_neq(frame_parse(buf, b.len, &check_all, &f), VERDICT_OK, "bit %zu", bit);
        buf[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}
