// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "parser/cursor.h"
#include "parser/ndn_tlv.h"
#include "test/cases/bad_inputs.h"

static uint8_t buf[256];

static struct cursor from(const char *recipe)
{
    return cursor_make(buf, bad_input_expand(recipe, 0, buf));
}

Test(cursor, reads_big_endian_numbers_in_turn)
{
    struct cursor c = from("01 0203 040506 0708090A 0B0C0D0E0F101112");
    uint8_t a;
    uint16_t b;
    uint32_t d, e;
    uint64_t f;
    cr_assert(cursor_u8(&c, &a) && cursor_u16(&c, &b) && cursor_u24(&c, &d) && cursor_u32(&c, &e) &&
              cursor_u64(&c, &f));
    cr_expect_eq(a, 1);
    cr_expect_eq(b, 0x0203);
    cr_expect_eq(d, 0x040506);
    cr_expect_eq(e, 0x0708090a);
    cr_expect_eq(f, 0x0b0c0d0e0f101112);
    cr_expect_eq(cursor_left(&c), 0);
}

Test(cursor, a_short_read_leaves_everything_as_it_was)
{
    uint8_t a = 0xaa;
    uint16_t b = 0xaaaa;
    uint32_t d = 0xaaaaaaaa, e = 0xaaaaaaaa;
    uint64_t f = 0xaaaaaaaaaaaaaaaa;
    const uint8_t *bytes = buf;
    struct cursor c = cursor_make(NULL, 0);
    cr_expect_not(cursor_u8(&c, &a));
    c = from("01");
    cr_expect_not(cursor_u16(&c, &b));
    c = from("0102");
    cr_expect_not(cursor_u24(&c, &d));
    c = from("010203");
    cr_expect_not(cursor_u32(&c, &e));
    c = from("01020304050607");
    cr_expect_not(cursor_u64(&c, &f));
    cr_expect_not(cursor_bytes(&c, 8, &bytes));
    cr_expect_not(cursor_bytes(&c, UINT64_MAX, &bytes));
    cr_expect_eq(cursor_left(&c), 7);
    cr_expect(a == 0xaa && b == 0xaaaa && d == 0xaaaaaaaa && e == 0xaaaaaaaa && f == 0xaaaaaaaaaaaaaaaa);
    cr_expect_eq(bytes, buf);
}

Test(cursor, quic_varint_examples_of_rfc_9000)
{
    static const struct {
        const char *hex;
        uint64_t value;
    } cases[] = {
        {"C2197C5EFF14E88C", 151288809941952652},
        {"9D7F3E7D", 494878333},
        {"7BBD", 15293},
        {"25", 37},
        {"4025", 37},
        {"FFFFFFFFFFFFFFFF", ((uint64_t)1 << 62) - 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cursor c = from(cases[i].hex);
        size_t len = cursor_left(&c);
        uint64_t v = 0;
        cr_assert(cursor_quic_varint(&c, &v), "%s", cases[i].hex);
        cr_expect_eq(v, cases[i].value, "%s", cases[i].hex);
        cr_expect_eq(cursor_left(&c), 0);
        for (size_t n = 0; n < len; n++) {
            c = cursor_make(buf, n);
            cr_expect_not(cursor_quic_varint(&c, &v), "%s cut to %zu", cases[i].hex, n);
            cr_expect_eq(cursor_left(&c), n);
        }
    }
}

Test(cursor, tlv_types_and_lengths_by_form_and_value)
{
    static const struct {
        const char *hex;
        uint64_t value;
        enum verdict type, type_lenient, length, length_lenient;
    } cases[] = {
        {"00", 0, VERDICT_TLV_TYPE0, VERDICT_TLV_TYPE0, VERDICT_OK, VERDICT_OK},
        {"01", 1, VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OK},
        {"FC", 252, VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OK},
        {"FD00FC", 252, VERDICT_TLV_NONMIN, VERDICT_OK, VERDICT_TLV_NONMIN, VERDICT_OK},
        {"FD00FD", 253, VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OK},
        {"FDFFFF", 65535, VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OK},
        {"FE0000FFFF", 65535, VERDICT_TLV_NONMIN, VERDICT_OK, VERDICT_TLV_NONMIN, VERDICT_OK},
        {"FE00010000", 65536, VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OK},
        {"FEFFFFFFFF", UINT32_MAX, VERDICT_OK, VERDICT_OK, VERDICT_OK, VERDICT_OK},
        {"FF00000000FFFFFFFF", UINT32_MAX, VERDICT_TLV_NONMIN, VERDICT_OK, VERDICT_TLV_LEN, VERDICT_TLV_LEN},
        {"FF0000000100000000", 0, VERDICT_TLV_TYPE0, VERDICT_TLV_TYPE0, VERDICT_TLV_LEN, VERDICT_TLV_LEN},
        {"FF0000000000000000", 0, VERDICT_TLV_NONMIN, VERDICT_TLV_TYPE0, VERDICT_TLV_LEN, VERDICT_OK},
        {"FE00000000", 0, VERDICT_TLV_NONMIN, VERDICT_TLV_TYPE0, VERDICT_TLV_NONMIN, VERDICT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int lenient = 0; lenient < 2; lenient++) {
            struct cursor start = from(cases[i].hex), c = start;
            uint32_t type = 0;
            size_t len = 0;
            enum verdict want = lenient ? cases[i].type_lenient : cases[i].type;
            cr_expect_eq(cursor_tlv_type(&c, lenient, &type), want, "type %s", cases[i].hex);
            cr_expect_eq(c.p, want == VERDICT_OK ? c.end : start.p);
            cr_expect_eq(type, want == VERDICT_OK ? cases[i].value : 0, "type %s", cases[i].hex);
            c = start;
            want = lenient ? cases[i].length_lenient : cases[i].length;
            cr_expect_eq(cursor_tlv_length(&c, lenient, &len), want, "length %s", cases[i].hex);
            cr_expect_eq(c.p, want == VERDICT_OK ? c.end : start.p);
            cr_expect_eq(len, want == VERDICT_OK ? cases[i].value : 0, "length %s", cases[i].hex);
            for (size_t n = 0; n < cursor_left(&start); n++) {
                c = cursor_make(buf, n);
                cr_expect_eq(cursor_tlv_type(&c, lenient, &type), VERDICT_TLV_TRUNC);
                cr_expect_eq(cursor_tlv_length(&c, lenient, &len), VERDICT_TLV_TRUNC);
                cr_expect_eq(cursor_left(&c), n);
            }
        }
    }
}

Test(tlv, an_error_leaves_the_cursor_at_the_element)
{
    static const struct {
        const char *hex;
        enum verdict inner, outer;
    } cases[] = {
        {"08", VERDICT_TLV_TRUNC, VERDICT_TLV_TRUNC},
        {"0802 41", VERDICT_TLV_LEN, VERDICT_TLV_TRUNC},
        {"0001 41", VERDICT_TLV_TYPE0, VERDICT_TLV_TYPE0},
        {"FD000801 41", VERDICT_TLV_NONMIN, VERDICT_TLV_NONMIN},
        {"08FD0001 41", VERDICT_TLV_NONMIN, VERDICT_TLV_NONMIN},
        {"08FF0000000000000001 41", VERDICT_TLV_LEN, VERDICT_TLV_LEN},
        {"08FE0001000041", VERDICT_TLV_LEN, VERDICT_TLV_TRUNC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cursor start = from(cases[i].hex), c = start;
        struct tlv tlv = {.type = 1};
        cr_expect_eq(tlv_read(&c, false, &tlv), cases[i].inner, "%s", cases[i].hex);
        cr_expect(c.p == start.p && tlv.type == 1 && tlv.value == NULL);
        cr_expect_eq(tlv_read_outer(&c, false, &tlv), cases[i].outer, "%s", cases[i].hex);
        cr_expect(c.p == start.p && tlv.type == 1);
    }
}

Test(tlv, non_negative_integers_have_one_two_four_or_eight_octets)
{
    for (size_t len = 0; len <= 9; len++) {
        struct tlv tlv = {.type = 12, .len = len, .value = (const uint8_t *)"\x01\x02\x03\x04\x05\x06\x07\x08\x09"};
        uint64_t v = 0;
        bool legal = len == 1 || len == 2 || len == 4 || len == 8;
        cr_expect_eq(tlv_nni(&tlv, &v), legal, "%zu", len);
        uint64_t want = 0;
        for (size_t i = 0; legal && i < len; i++)
            want = want << 8 | (i + 1);
        cr_expect_eq(v, want, "%zu", len);
    }
}

Test(tlv, critical_types_are_low_or_odd)
{
    cr_expect(tlv_is_critical(1) && tlv_is_critical(30) && tlv_is_critical(31) && tlv_is_critical(33));
    cr_expect(!tlv_is_critical(32) && !tlv_is_critical(1000) && tlv_is_critical(1001));
}

Test(verdict, names_are_unique_and_known)
{
    for (unsigned i = 0; i < VERDICT_COUNT; i++) {
        cr_assert_not_null(verdict_name((enum verdict)i));
        for (unsigned j = 0; j < i; j++)
            cr_expect_str_neq(verdict_name((enum verdict)i), verdict_name((enum verdict)j));
    }
    cr_expect_str_eq(verdict_name(VERDICT_COUNT), "unknown");
}
