// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "test/cases/bad_inputs.h"

static void expect_octets(const uint8_t *got, size_t len, const char *recipe)
{
    static uint8_t want[BAD_INPUT_MAX];
    size_t want_len = bad_input_expand(recipe, 0, want);
    cr_expect_eq(len, want_len, "%s: %zu octets", recipe, len);
    cr_expect_arr_eq(got, want, want_len, "%s", recipe);
}

Test(ndn_encode, numbers_take_their_shortest_form)
{
    static const struct {
        uint64_t number;
        const char *var, *nni;
    } cases[] = {
        {0, "00", "00"},
        {252, "FC", "FC"},
        {253, "FD00FD", "FD"},
        {255, "FD00FF", "FF"},
        {256, "FD0100", "0100"},
        {65535, "FDFFFF", "FFFF"},
        {65536, "FE00010000", "00010000"},
        {UINT32_MAX, "FEFFFFFFFF", "FFFFFFFF"},
        {(uint64_t)UINT32_MAX + 1, "FF0000000100000000", "0000000100000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t p[9];
        size_t len = ndn_tlv_put_var(p, cases[i].number);
        expect_octets(p, len, cases[i].var);
        cr_expect_eq(len, ndn_tlv_var_size(cases[i].number));
        expect_octets(p, ndn_tlv_put_nni(p, cases[i].number), cases[i].nni);
    }
}

Test(ndn_encode, interests)
{
    uint8_t p[64];
    struct ndn_interest_out out = {.name = (const uint8_t *)"\x08\x01\x41", .name_len = 3, .nonce = 0x01020304};
    expect_octets(p, ndn_interest_encode(p, sizeof p, &out), "050B 0703080141 0A0401020304");
    out.can_be_prefix = out.must_be_fresh = true;
    out.lifetime_ms = 60000;
    out.hop_limit = 9;
    expect_octets(p, ndn_interest_encode(p, sizeof p, &out), "0516 0703080141 2100 1200 0A0401020304 0C02EA60 220109");
    for (size_t size = 0; size < 24; size++)
        cr_expect_eq(ndn_interest_encode(p, size, &out), 0, "%zu", size);
    cr_expect_eq(ndn_interest_encode(p, 24, &out), 24);
}

Test(ndn_encode, data)
{
    uint8_t p[64];
    size_t off, len;
    struct ndn_data_out out = {.name = (const uint8_t *)"\x08\x01\x41", .name_len = 3};
    expect_octets(p, ndn_data_encode(p, sizeof p, &out, &off, &len), "062E 0703080141 1500 16031B0100 1720[00]32 ");
    cr_expect(off == 2 && len == 12);
    out.freshness_ms = 10000;
    out.content = (const uint8_t *)"xy";
    out.content_len = 2;
    out.signature = (const uint8_t *)"0123456789abcdef0123456789abcdef";
    expect_octets(p, ndn_data_encode(p, sizeof p, &out, &off, &len),
                  "0636 0703080141 140419022710 15027879 16031B0100 1720 [30313233343536373839616263646566]2 ");
    cr_expect(off == 2 && len == 20);
    cr_expect_eq(ndn_data_encode(p, 55, &out, NULL, NULL), 0);
    cr_expect_eq(ndn_data_encode(p, 56, &out, NULL, NULL), 56);
}

static void expect_header(const struct ndn_lp_out *lp, size_t payload_len, const char *recipe)
{
    uint8_t p[NDN_LP_HEADER_MAX + 8];
    memset(p, 0xee, sizeof p);
    size_t len = ndn_lp_prepend(p + NDN_LP_HEADER_MAX, payload_len, lp);
    cr_expect_eq(len, ndn_lp_prepend_size(payload_len, lp), "%s", recipe);
    cr_assert_leq(len, NDN_LP_HEADER_MAX);
    expect_octets(p + NDN_LP_HEADER_MAX - len, len, recipe);
    for (size_t i = 0; i < sizeof p; i++)
        cr_assert(i >= NDN_LP_HEADER_MAX - len || p[i] == 0xee, "nothing before the header is written");
    cr_expect_eq(p[NDN_LP_HEADER_MAX], 0xee, "nothing behind it either");
}

Test(ndn_encode, lp_headers)
{
    static const uint8_t token[32] = {1, 2, 3, 4, 5, 6, 7, 8};
    expect_header(&(struct ndn_lp_out){0}, 13, "640F 500D");
    expect_header(&(struct ndn_lp_out){0}, 0, "6400");
    expect_header(&(struct ndn_lp_out){.token = token, .token_len = 8}, 54, "6442 6208 0102030405060708 5036");
    expect_header(&(struct ndn_lp_out){.token = token, .token_len = 8}, 300, "64FD013A 6208 0102030405060708 50FD012C");
    expect_header(&(struct ndn_lp_out){.token = token, .token_len = 8}, 245, "64FD0101 6208 0102030405060708 50F5");
    expect_header(&(struct ndn_lp_out){.nack_reason = NDN_NACK_NO_ROUTE}, 13, "6418 FD032005FD03210196 500D");
    expect_header(&(struct ndn_lp_out){.nack_reason = 1000}, 13, "6419 FD032006FD03210203E8 500D");
    expect_header(&(struct ndn_lp_out){.has_sequence = true, .sequence = 10, .frag_count = 1}, 13,
                  "6419 5108000000000000000A 500D");
    expect_header(&(struct ndn_lp_out){.has_sequence = true, .sequence = 10, .frag_index = 1, .frag_count = 2}, 6,
                  "6418 5108000000000000000A 520101 530102 5006");
    expect_header(&(struct ndn_lp_out){.frag_index = 1, .frag_count = 2}, 13, "640F 500D");
    struct ndn_lp_out all = {
        .token = token,
        .token_len = 32,
        .has_sequence = true,
        .sequence = UINT64_MAX,
        .frag_index = 399,
        .frag_count = 400,
        .nack_reason = UINT16_MAX,
        .has_incoming_face = true,
        .incoming_face = UINT64_MAX,
        .has_cache_policy = true,
        .cache_policy = UINT64_MAX,
        .has_mark = true,
        .congestion_mark = UINT64_MAX,
    };
    expect_header(&all, 8800,
                  "64FD22CA 5108FFFFFFFFFFFFFFFF 5202018F 53020190 6220 0102030405060708[00]24 FD032006FD032102FFFF "
                  "FD032C08FFFFFFFFFFFFFFFF FD03340CFD033508FFFFFFFFFFFFFFFF FD034008FFFFFFFFFFFFFFFF 50FD2260");
}
