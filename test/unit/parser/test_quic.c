// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "parser/quic.h"
#include "test/cases/bad_inputs.h"
#include "test/unit/parser/guard.h"

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

/** A long header put together of fields, each of which may be wrong. */
struct made {
    uint32_t version;
    uint8_t bits, dcid_len, scid_len, length_size;
    uint16_t token_len;
    int slack; /**< octets of the datagram behind what Length says; below 0: missing */
    size_t size;
    uint8_t octets[1600];
};

static size_t put_varint(uint8_t *p, uint64_t v, size_t size)
{
    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(v >> (8 * (size - 1 - i)));
    p[0] |= (uint8_t)(__builtin_ctzl(size) << 6);
    return size;
}

/** @return where the token is */
static const uint8_t *make(struct made *m, enum quic_type type)
{
    uint8_t *p = m->octets;
    memset(p, 0xbb, sizeof m->octets);
    *p++ = (uint8_t)(0xc0 | m->bits << 4);
    p += put_varint(p, 0, 4);
    m->octets[1] = (uint8_t)(m->version >> 24);
    m->octets[2] = (uint8_t)(m->version >> 16);
    m->octets[3] = (uint8_t)(m->version >> 8);
    m->octets[4] = (uint8_t)m->version;
    *p++ = m->dcid_len;
    p += m->dcid_len;
    *p++ = m->scid_len;
    p += m->scid_len;
    const uint8_t *token = NULL;
    if (type == QUIC_TYPE_INITIAL) {
        p += put_varint(p, m->token_len, m->token_len < 64 ? 1 : 2);
        token = p;
        p += m->token_len;
    }
    size_t at = (size_t)(p - m->octets) + m->length_size;
    put_varint(p, m->size - at - (size_t)m->slack, m->length_size);
    return token;
}

Test(quic, every_shape_of_long_header)
{
    static const uint32_t versions[] = {QUIC_VERSION_1, QUIC_VERSION_2};
    static const uint8_t cid_lens[] = {0, 1, 8, 19, 20, 21};
    static const uint16_t token_lens[] = {0, 1, 62, 63, 64, 300};
    static const size_t sizes[] = {400, 1199, 1200, 1400};
    struct guard guard = guard_make(1600);
    unsigned n = 0, good = 0;
    static struct made m;
    for (unsigned version = 0; version < 2; version++)
        for (unsigned bits = 0; bits < 4; bits++)
            for (unsigned turn = 0; turn < 6 * 6 * 6 * 4 * 2 * 3; turn++) {
                m.version = versions[version];
                m.bits = (uint8_t)bits;
                m.dcid_len = cid_lens[turn % 6];
                m.scid_len = cid_lens[turn / 6 % 6];
                m.token_len = token_lens[turn / 36 % 6];
                m.size = sizes[turn / 216 % 4];
                m.length_size = turn / 864 % 2 == 0 ? 2 : 4;
                m.slack = (int)(turn / 1728) - 1;
                enum quic_type type = QUIC_TYPE_INITIAL + ((bits - version) & 3);
                const uint8_t *token = make(&m, type);
                bool from_client = turn % 5 != 0;
                struct quic_opts opts = {.from_client = from_client};
                struct quic_header h;
                const uint8_t *p = guard_copy(&guard, m.octets, m.size);
                enum verdict got = quic_parse(p, m.size, &opts, &h), want = VERDICT_OK;
                if (m.dcid_len > 20 || m.scid_len > 20)
                    want = VERDICT_QUIC_CID_LEN;
                else if (type == QUIC_TYPE_RETRY)
                    want = from_client ? VERDICT_QUIC_TYPE : VERDICT_OK;
                else if (type == QUIC_TYPE_INITIAL && from_client && m.size < 1200)
                    want = VERDICT_QUIC_DGRAM_SMALL;
                else if (m.slack < 0)
                    want = VERDICT_QUIC_LEN;
                cr_assert_eq(got, want, "version %u type %u turn %u", version, type, turn);
                n++;
                if (want != VERDICT_OK || type == QUIC_TYPE_RETRY)
                    continue;
                good++;
                cr_assert(h.first == m.octets[0] && h.type == type && h.version == m.version);
                cr_assert(h.dcid_len == m.dcid_len && h.scid_len == m.scid_len);
                cr_assert(h.dcid == p + 6 && h.scid == p + 7 + m.dcid_len);
                cr_assert_eq(h.token_len, type == QUIC_TYPE_INITIAL ? m.token_len : 0);
                cr_assert_eq(h.token, token == NULL ? NULL : p + (token - m.octets));
                cr_assert_eq(h.packet_len, m.size - (size_t)m.slack);
            }
    cr_expect(n == 41472 && good > n / 4);
}

Test(quic, cut_anywhere_it_is_refused_and_not_read_beyond)
{
    struct guard guard = guard_make(1600);
    static struct made m;
    for (unsigned bits = 0; bits < 4; bits++) {
        m = (struct made){.version = QUIC_VERSION_1, .bits = (uint8_t)bits, .dcid_len = 20, .scid_len = 20};
        m.token_len = 63;
        m.size = 1300;
        m.length_size = 2;
        make(&m, QUIC_TYPE_INITIAL + bits);
        for (size_t len = 0; len <= m.size; len++) {
            struct quic_opts opts = {0};
            struct quic_header h;
            enum verdict got = quic_parse(guard_copy(&guard, m.octets, len), len, &opts, &h);
            // A Retry has no length: it is whole once there is a token in front of the tag.
            cr_expect_eq(got == VERDICT_OK, bits == 3 ? len > 47 + 16 : len == m.size, "%u %zu", bits, len);
        }
    }
}
