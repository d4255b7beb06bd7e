// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "parser/quic.h"
#include "test/cases/bad_inputs.h"

#define D8 "08 8394C8F03E515708 "
#define S4 "04 01020304 "

static uint8_t buf[BAD_INPUT_MAX];

static enum verdict parse(const char *recipe, const struct quic_opts *opts, struct quic_header *header)
{
    memset(header, 0xa5, sizeof *header);
    return quic_parse(buf, bad_input_expand(recipe, 0, buf), opts, header);
}

static const struct quic_opts server = {.from_client = true, .short_dcid_len = 8};
static const struct quic_opts client = {.short_dcid_len = 8};

Test(quic, initials_of_the_rfcs)
{
    // RFC 9001 A.2 and RFC 9369 A.2: the protected headers, padded to the datagram's size.
    static const char *const recipes[] = {"C000000001088394C8F03E5157080000449E7B9AEC34 ~1200",
                                          "D76B3343CF088394C8F03E5157080000449EA0C95E82 ~1200"};
    static const uint32_t versions[] = {QUIC_VERSION_1, QUIC_VERSION_2};
    for (size_t i = 0; i < 2; i++) {
        struct quic_header h;
        cr_assert_eq(parse(recipes[i], &server, &h), VERDICT_OK);
        cr_expect(h.type == QUIC_TYPE_INITIAL && h.version == versions[i] && h.first == buf[0]);
        cr_expect(h.dcid == buf + 6 && h.dcid_len == 8 && h.scid_len == 0 && h.token_len == 0);
        cr_expect_eq(h.packet_len, 1200);
    }
    struct quic_header h;
    cr_assert_eq(parse("CF000000010008F067A5502A4262B5004075C0D9 ~135", &client, &h), VERDICT_OK);
    cr_expect(h.type == QUIC_TYPE_INITIAL && h.dcid_len == 0 && h.scid_len == 8 && h.scid == buf + 7);
    cr_expect_eq(h.packet_len, 135);
}

Test(quic, retries_of_the_rfcs)
{
    static const char *const recipes[] = {
        "FF000000010008F067A5502A4262B5746F6B656E04A265BA2EFF4D829058FB3F0F2496BA",
        "CF6B3343CF0008F067A5502A4262B5746F6B656EC8646CE8BFE33952D955543665DCC7B6",
    };
    for (size_t i = 0; i < 2; i++) {
        struct quic_header h;
        cr_assert_eq(parse(recipes[i], &client, &h), VERDICT_OK);
        cr_expect(h.type == QUIC_TYPE_RETRY && h.token_len == 5 && memcmp(h.token, "token", 5) == 0);
        cr_expect_eq(parse(recipes[i], &server, &h), VERDICT_QUIC_TYPE);
    }
    struct quic_header h;
    cr_expect_eq(parse("FF00000001 00 00 [AA]16 ", &client, &h), VERDICT_QUIC_SHORT, "no token");
}

Test(quic, types_by_version)
{
    static const uint8_t v1[] = {QUIC_TYPE_INITIAL, QUIC_TYPE_0RTT, QUIC_TYPE_HANDSHAKE, QUIC_TYPE_RETRY};
    static const uint8_t v2[] = {QUIC_TYPE_RETRY, QUIC_TYPE_INITIAL, QUIC_TYPE_0RTT, QUIC_TYPE_HANDSHAKE};
    static const char *const recipes[] = {"C0 00000001 " D8 S4 "0014 [00]30 ", "C0 6B3343CF " D8 S4 "0014 [00]30 "};
    for (size_t i = 0; i < 2; i++) {
        for (unsigned bits = 0; bits < 4; bits++) {
            struct quic_header h;
            size_t len = bad_input_expand(recipes[i], 0, buf);
            buf[0] |= (uint8_t)(bits << 4);
            cr_assert_eq(quic_parse(buf, len, &client, &h), VERDICT_OK);
            cr_expect_eq(h.type, i == 0 ? v1[bits] : v2[bits]);
        }
    }
}

Test(quic, a_packet_ends_where_its_length_says)
{
    struct quic_header h;
    cr_assert_eq(parse("E0 00000001 " D8 S4 "14 [00]20 C0FFEE", &server, &h), VERDICT_OK);
    cr_expect_eq(h.packet_len, 40);
    cr_assert_eq(parse("C0 00000001 " D8 S4 "03 AABBCC 4014 [00]20 ~1200", &server, &h), VERDICT_OK);
    cr_expect(h.token_len == 3 && h.token == buf + 20 && h.packet_len == 45);
}

Test(quic, short_headers)
{
    struct quic_header h;
    cr_assert_eq(parse("40 0102030405060708 [00]12 ", &server, &h), VERDICT_OK);
    cr_expect(h.type == QUIC_TYPE_SHORT && h.version == 0 && h.scid_len == 0 && h.token_len == 0);
    cr_expect(h.dcid == buf + 1 && h.dcid_len == 8 && h.packet_len == 21);
    struct quic_opts opts = {.short_dcid_len = 255};
    cr_assert_eq(parse("40 [11]20 ", &opts, &h), VERDICT_OK);
    cr_expect_eq(h.dcid_len, 20, "as far as the datagram reaches");
    opts.short_dcid_len = 0;
    cr_assert_eq(parse("40 [11]20 ", &opts, &h), VERDICT_OK);
    cr_expect_eq(h.dcid_len, 0);
}

Test(quic, fixed_bit_only_where_it_means_something)
{
    struct quic_opts opts = {.require_fixed_bit = true};
    struct quic_header h;
    cr_expect_eq(parse("00 [11]20 ", &opts, &h), VERDICT_QUIC_FIXED_BIT);
    cr_expect_eq(parse("A0 00000001 " D8 S4 "14 [00]20 ", &opts, &h), VERDICT_QUIC_FIXED_BIT);
    cr_expect_eq(parse("A0 1A2A3A4A " D8 S4 "14 [00]20 ", &opts, &h), VERDICT_OK);
    cr_expect_eq(parse("80 00000000 " D8 S4 "00000001", &opts, &h), VERDICT_OK);
    opts.require_fixed_bit = false;
    cr_expect_eq(parse("A0 00000001 " D8 S4 "14 [00]20 ", &opts, &h), VERDICT_OK);
}

Test(quic, version_negotiation)
{
    struct quic_header h;
    cr_assert_eq(parse("80 00000000 " D8 S4 "00000001 6B3343CF", &client, &h), VERDICT_OK);
    cr_expect(h.type == QUIC_TYPE_VERSION_NEGOTIATION && h.dcid_len == 8 && h.scid_len == 4 && h.packet_len == 27);
    cr_expect_eq(parse("80 00000000 " D8 S4 "00000001 6B3343", &client, &h), VERDICT_QUIC_SHORT);
    cr_expect_eq(parse("80 00000000 " D8 S4, &client, &h), VERDICT_QUIC_SHORT);
    cr_expect_eq(parse("80 00000000 " D8 S4 "00000001", &server, &h), VERDICT_QUIC_VN_RX);
}

Test(quic, other_versions_have_invariants_only)
{
    struct quic_header h;
    cr_assert_eq(parse("C3 1A2A3A4A FF[AA]255 FF[BB]255 ", &server, &h), VERDICT_OK);
    cr_expect(h.type == QUIC_TYPE_OTHER_VERSION && h.version == 0x1a2a3a4a && h.dcid_len == 255 && h.scid_len == 255);
    cr_expect(h.scid == h.dcid + 256 && h.packet_len == 517 && h.token_len == 0);
    cr_expect_eq(parse("C3 1A2A3A4A FF[AA]255 FF[BB]254 ", &server, &h), VERDICT_QUIC_SHORT);
    cr_expect_eq(parse("C3 1A2A3A4A FF[AA]255 ", &server, &h), VERDICT_QUIC_SHORT);
}

Test(quic, size_rules_are_for_clients_only)
{
    struct quic_header h;
    cr_expect_eq(parse("C0 00000001 " D8 S4 "00 4014 [00]20 ", &client, &h), VERDICT_OK);
    cr_expect_eq(parse("C0 00000001 " D8 S4 "00 4014 [00]20 ", &server, &h), VERDICT_QUIC_DGRAM_SMALL);
}

Test(quic, lengths_in_every_form_beyond_the_datagram)
{
    static const char *const lengths[] = {"15", "4015", "80000015", "C000000000000015", "7FFF", "FFFFFFFFFFFFFFFF"};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char recipe[128];
        struct quic_header h;
        snprintf(recipe, sizeof recipe, "E0 00000001 " D8 S4 "%s [00]20 ", lengths[i]);
        cr_expect_eq(parse(recipe, &server, &h), VERDICT_QUIC_LEN, "Handshake, %s", lengths[i]);
        snprintf(recipe, sizeof recipe, "C0 00000001 " D8 S4 "%s [00]20 ", lengths[i]);
        cr_expect_eq(parse(recipe, &client, &h), VERDICT_QUIC_LEN, "token, %s", lengths[i]);
    }
    struct quic_header cut;
    cr_expect_eq(parse("C0 00000001 " D8 S4, &client, &cut), VERDICT_QUIC_SHORT, "no token length");
    cr_expect_eq(parse("C0 00000001 " D8 S4 "80", &client, &cut), VERDICT_QUIC_SHORT, "token length cut");
    cr_expect_eq(parse("C0 00000001 " D8 S4 "00 C0", &client, &cut), VERDICT_QUIC_SHORT, "length cut");
    static uint8_t huge[65536] = {0x40};
    struct quic_header h;
    cr_expect_eq(quic_parse(huge, 65535, &server, &h), VERDICT_OK);
    cr_expect_eq(quic_parse(huge, 65536, &server, &h), VERDICT_QUIC_LEN);
}
