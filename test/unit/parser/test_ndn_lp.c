// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_lp.h"
#include "test/cases/bad_inputs.h"

#define INTEREST "050B 0703080141 0A0401020304 "

static uint8_t buf[BAD_INPUT_MAX];

static enum verdict parse(const char *recipe, bool lenient, struct ndn_lp *lp)
{
    memset(lp, 0xa5, sizeof *lp);
    return ndn_lp_parse(buf, bad_input_expand(recipe, 0, buf), lenient, lp);
}

Test(ndn_lp, every_field)
{
    struct ndn_lp lp;
    cr_assert_eq(parse("6484 51080000000000000102 520101 530103 620411121314 FD032005FD03210132 FD032C020123 "
                       "FD0330020124 FD033405FD03350101 FD03400105 FD0344080000000000000007 FD0344080000000000000008 "
                       "FD0348080000000000000009 FD034C00 FD03500B 0609 0703080141 16001700 FD03BC0101 500D " INTEREST,
                       false, &lp),
                 VERDICT_OK);
    cr_expect_eq(lp.has, 0xfff);
    cr_expect(lp.sequence == 0x102 && lp.frag_index == 1 && lp.frag_count == 3);
    cr_expect(lp.token_len == 4 && lp.token[0] == 0x11 && lp.token[3] == 0x14);
    cr_expect(lp.nack_reason == NDN_NACK_CONGESTION && lp.incoming_face == 0x123 && lp.next_hop_face == 0x124);
    cr_expect(lp.cache_policy == 1 && lp.congestion_mark == 5 && lp.tx_sequence == 9);
    cr_expect(lp.n_acks == 2 && ndn_lp_ack(&lp, 0) == 7 && ndn_lp_ack(&lp, 1) == 8);
    cr_expect(lp.announcement_len == 11 && lp.announcement[0] == 6);
    cr_expect(lp.fragment_len == 13 && lp.fragment[0] == 5);
}

Test(ndn_lp, absent_fields_are_zero)
{
    struct ndn_lp lp;
    cr_assert_eq(parse("640F 500D " INTEREST, false, &lp), VERDICT_OK);
    cr_expect_eq(lp.has, LP_HAS_HEADER | LP_HAS_FRAGMENT);
    cr_expect(lp.token_len == 0 && lp.n_acks == 0 && lp.frag_index == 0 && lp.frag_count == 1 && lp.nack_reason == 0);
    cr_expect(lp.sequence == 0 && lp.incoming_face == 0 && lp.cache_policy == 0 && lp.announcement_len == 0);
}

Test(ndn_lp, an_input_is_exactly_one_lp_packet)
{
    struct ndn_lp lp;
    cr_expect_eq(parse("6400 00", false, &lp), VERDICT_TRAILING);
    cr_expect_eq(parse(INTEREST, false, &lp), VERDICT_PKT_TYPE);
    cr_expect_eq(parse("6401", false, &lp), VERDICT_TLV_TRUNC);
    cr_expect_eq(parse("", false, &lp), VERDICT_TLV_TRUNC);
    cr_expect_eq(parse("64FE00010000 50FE0000FFFA [AA]65530 ", true, &lp), VERDICT_PKT_OVERSIZE);
}

Test(ndn_lp, acks_are_looked_at_up_to_a_limit)
{
    struct ndn_lp lp;
    cr_assert_eq(parse("64FD0384 [FD0344080000000000000003]75 ", false, &lp), VERDICT_OK);
    cr_expect_eq(lp.n_acks, NDN_LP_ACKS_MAX);
    cr_expect_eq(ndn_lp_ack(&lp, NDN_LP_ACKS_MAX - 1), 3);
    cr_expect_eq(parse("640E FE0000034408 0000000000000003", true, &lp), VERDICT_LP_INVALID, "no room for views");
}

Test(ndn_lp, errors_inside_fields)
{
    static const struct {
        const char *recipe;
        enum verdict verdict;
    } cases[] = {
        {"6408 FD032004 FD032101", VERDICT_TLV_LEN},
        {"6404 FD032000", VERDICT_OK},
        {"6409 FD032005 FD03240132", VERDICT_OK},
        {"6409 FD032005 FD03BF0132", VERDICT_LP_CRITICAL},
        {"640D FD032009 FD0321050000000096 ", VERDICT_LP_INVALID},
        {"6409 FD033405 FD03350201 ", VERDICT_TLV_LEN},
        {"6409 FD033405 FD03360101 ", VERDICT_LP_INVALID},
        {"640D FD033409 FD03350101 FD03BC00", VERDICT_OK},
        {"640D FD033409 FD03350101 FD03BF00", VERDICT_LP_CRITICAL},
        {"640A FD033406 FD03350101 FD", VERDICT_TLV_TRUNC},
        {"6404 FD035000", VERDICT_LP_INVALID},
        {"6406 FD035002 0601", VERDICT_TLV_LEN},
        {"6406 FD035002 0600", VERDICT_OK},
        {"6408 FD035004 0600 0600", VERDICT_LP_INVALID},
        {"6407 FD032C03 010203", VERDICT_LP_INVALID},
        {"6407 FD033003 010203", VERDICT_LP_INVALID},
        {"6407 FD034003 010203", VERDICT_LP_INVALID},
        {"6405 5203 010203", VERDICT_LP_INVALID},
        {"6405 5303 010203", VERDICT_LP_INVALID},
        {"6404 5302 0001", VERDICT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ndn_lp lp;
        enum verdict verdict = parse(cases[i].recipe, false, &lp);
        cr_expect_eq(verdict, cases[i].verdict, "%s: %s", cases[i].recipe, verdict_name(verdict));
    }
}

Test(ndn_lp, an_unheard_of_nack_reason_is_kept_as_far_as_it_fits)
{
    struct ndn_lp lp;
    cr_assert_eq(parse("6410 FD03200C FD032108FFFFFFFFFFFFFFFF", false, &lp), VERDICT_OK);
    cr_expect(lp.nack_reason == UINT32_MAX && (lp.has & LP_HAS_NACK) != 0);
}
