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

Test(ndn_encode, meta_info)
{
    uint8_t p[80];
    struct ndn_data_out out = {.name = (const uint8_t *)"\x08\x01\x41", .name_len = 3, .content_type = 3};
    expect_octets(p, ndn_data_encode(p, sizeof p, &out, NULL, NULL),
                  "0633 0703080141 1403180103 1500 16031B0100 1720[00]32 ");
    out.freshness_ms = 1000;
    out.final_block = (const uint8_t *)"\x32\x01\x07";
    out.final_block_len = 3;
    expect_octets(p, ndn_data_encode(p, sizeof p, &out, NULL, NULL),
                  "063C 0703080141 140C180103190203E81A03320107 1500 16031B0100 1720[00]32 ");
    cr_expect_eq(ndn_data_encode(p, 61, &out, NULL, NULL), 0);
    cr_expect_eq(ndn_data_encode(p, 62, &out, NULL, NULL), 62);
}

static void expect_header(const struct ndn_lp_out *lp, size_t payload_len, const char *recipe)
{
    uint8_t p[NDN_LP_HEADER_MAX + 200];
    const size_t end = sizeof p - 8, most = NDN_LP_HEADER_MAX + lp->n_acks * NDN_LP_ACK_SIZE + lp->announcement_len;
    memset(p, 0xee, sizeof p);
    size_t len = ndn_lp_prepend(p + end, payload_len, lp);
    cr_expect_eq(len, ndn_lp_prepend_size(payload_len, lp), "%s", recipe);
    cr_assert_leq(len, most);
    expect_octets(p + end - len, len, recipe);
    for (size_t i = 0; i < sizeof p; i++)
        cr_assert(i >= end - len || p[i] == 0xee, "nothing before the header is written");
    cr_expect_eq(p[end], 0xee, "nothing behind it either");
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
    // Everything at its longest; an announcement of more than 252 octets takes two octets more for its length.
    static const uint8_t announcement[128] = {6, 126};
    static const uint64_t acks[4] = {0};
    all.has_tx_sequence = all.non_discovery = true;
    all.acks = acks;
    all.n_acks = 4;
    all.announcement = announcement;
    all.announcement_len = sizeof announcement;
    cr_expect_eq(ndn_lp_prepend_size(8800, &all), NDN_LP_HEADER_MAX + 4 * NDN_LP_ACK_SIZE + sizeof announcement - 2);
}

Test(ndn_encode, lp_headers_of_links_that_repeat_and_of_self_learning)
{
    static const uint64_t acks[2] = {7, 0x0102030405060708};
    static const uint8_t data[4] = {6, 2, 7, 0};
    expect_header(&(struct ndn_lp_out){.acks = acks, .n_acks = 2}, 0,
                  "6418 FD0344080000000000000007 FD0344080102030405060708");
    expect_header(&(struct ndn_lp_out){.has_tx_sequence = true, .tx_sequence = 9}, 13,
                  "641B FD0348080000000000000009 500D");
    expect_header(&(struct ndn_lp_out){.non_discovery = true}, 13, "6413 FD034C00 500D");
    expect_header(&(struct ndn_lp_out){.announcement = data, .announcement_len = 4}, 13, "6417 FD035004 06020700 500D");
    struct ndn_lp_out all = {
        .has_sequence = true,
        .sequence = 1,
        .frag_count = 1,
        .has_mark = true,
        .congestion_mark = 1,
        .acks = acks,
        .n_acks = 1,
        .has_tx_sequence = true,
        .tx_sequence = 2,
        .non_discovery = true,
        .announcement = data,
        .announcement_len = 4,
    };
    expect_header(&all, 13,
                  "6442 51080000000000000001 FD03400101 FD0344080000000000000007 FD0348080000000000000002 FD034C00 "
                  "FD035004 06020700 500D");
    struct ndn_lp lp;
    uint8_t p[256];
    size_t len = ndn_lp_prepend(p + 128, 13, &all);
    memset(p + 128, 0, 13);
    cr_assert_eq(ndn_lp_parse(p + 128 - len, len + 13, false, &lp), VERDICT_OK);
    cr_expect(lp.n_acks == 1 && ndn_lp_ack(&lp, 0) == 7 && lp.tx_sequence == 2 && lp.has & LP_HAS_NON_DISCOVERY);
    cr_expect(lp.announcement_len == 4 && memcmp(lp.announcement, data, 4) == 0);
}

Test(ndn_encode, an_announcement_may_lie_where_its_header_goes)
{
    // As in Data that is forwarded: the header that came with it stood right before it, PIT token and all.
    uint8_t p[128], want[8] = {6, 6, 7, 4, 8, 2, 1, 2};
    uint8_t *net = p + 100;
    memset(p, 0xee, sizeof p);
    memcpy(net - 2 - sizeof want, want, sizeof want);
    struct ndn_lp_out lp = {
        .announcement = net - 2 - sizeof want, .announcement_len = sizeof want, .has_mark = true, .congestion_mark = 1};
    size_t len = ndn_lp_prepend(net, 20, &lp);
    expect_octets(net - len, len, "6427 FD03400101 FD035008 0606070408020102 5014");
}

Test(ndn_encode, a_packet_without_fields_is_sent_bare)
{
    static const uint64_t ack = 1;
    static const uint8_t octets[8] = {6, 0};
    cr_expect(ndn_lp_out_empty(&(struct ndn_lp_out){.frag_count = 1}));
    const struct ndn_lp_out one[] = {
        {.token = octets, .token_len = 8},
        {.has_sequence = true},
        {.has_mark = true},
        {.has_incoming_face = true},
        {.has_cache_policy = true},
        {.nack_reason = 50},
        {.acks = &ack, .n_acks = 1},
        {.has_tx_sequence = true},
        {.non_discovery = true},
        {.announcement = octets, .announcement_len = 2},
    };
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++)
        cr_expect(!ndn_lp_out_empty(&one[i]), "%zu", i);
}
