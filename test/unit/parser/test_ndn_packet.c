// SPDX-License-Identifier: Apache-2.0
/* Fields of accepted packets; what is refused is in test_bad_inputs.c. */
#include <criterion/criterion.h>

#include "parser/ndn_packet.h"
#include "test/cases/bad_inputs.h"
#include "test/cases/usual.h"
#include "test/unit/parser/guard.h"

#define NAME  "0703080141 "
#define NONCE "0A0401020304 "
#define TOKEN "1112131415161718 "

static uint8_t buf[BAD_INPUT_MAX];

static struct ndn_packet parse(const char *recipe, bool lenient)
{
    struct ndn_parse_opts opts = {.lenient = lenient};
    struct ndn_packet pkt;
    memset(&pkt, 0xa5, sizeof pkt);
    enum verdict verdict = ndn_packet_parse(buf, bad_input_expand(recipe, 0, buf), &opts, &pkt);
    cr_assert_eq(verdict, VERDICT_OK, "%s: %s", recipe, verdict_name(verdict));
    return pkt;
}

Test(ndn_packet, interest_with_every_element)
{
    struct ndn_packet pkt = parse("051F " NAME "2100 1200 1E05 0703080142 " NONCE "0C0203E8 220107 2400", false);
    cr_expect_eq(pkt.type, NDN_TYPE_INTEREST);
    cr_expect(pkt.net == buf && pkt.net_len == 33 && pkt.lp.has == 0 && pkt.lp.frag_count == 1 &&
              pkt.lp.token_len == 0);
    cr_expect(pkt.name.value == buf + 4 && pkt.name.len == 3 && pkt.name.n_comps == 1);
    const struct ndn_interest *i = &pkt.interest;
    cr_expect(i->can_be_prefix && i->must_be_fresh && i->has_nonce);
    cr_expect(i->nonce == 0x01020304 && i->nonce_off == 20 && i->lifetime_ms == 1000);
    cr_expect(i->hop_limit == 7 && i->hop_limit_off == 30 && buf[i->hop_limit_off] == 7);
    cr_expect(i->n_hints == 1 && i->hint[0].off == 15 && i->hint[0].len == 3);
}

Test(ndn_packet, interest_defaults)
{
    struct ndn_packet pkt = parse("0505 " NAME, false);
    const struct ndn_interest *i = &pkt.interest;
    cr_expect(!i->can_be_prefix && !i->must_be_fresh && !i->has_nonce && i->n_hints == 0);
    cr_expect(i->nonce == 0 && i->lifetime_ms == NDN_LIFETIME_DEFAULT_MS);
    cr_expect(i->hop_limit == 255 && i->hop_limit_off == 0);
}

Test(ndn_packet, the_usual_interest)
{
    for (unsigned token = 0; token < 2; token++) {
        struct ndn_packet pkt = parse(token == 0 ? "050F " NAME NONCE "0C02EA60"
                                                 : "641D 6208 1112131415161718 5011 050F " NAME NONCE "0C02EA60",
                                      false);
        const struct ndn_interest *i = &pkt.interest;
        cr_expect(!i->can_be_prefix && !i->must_be_fresh && i->has_nonce && i->n_hints == 0);
        cr_expect(i->nonce == 0x01020304 && i->nonce_off == 9 && i->lifetime_ms == 60000);
        cr_expect(i->hop_limit == 255 && i->hop_limit_off == 0 && pkt.net_len == 17 && pkt.name.n_comps == 1);
        cr_expect(pkt.net == buf + 14 * token && pkt.name.value == pkt.net + 4);
    }
}

/** The last elements of the usual shapes are checked as strictly as the first. */
Test(ndn_packet, nearly_usual_packets)
{
    static const struct {
        const char *recipe;
        enum verdict verdict;
    } cases[] = {
        {"050F " NAME NONCE "0C03EA60", VERDICT_TLV_LEN},
        {"641B 6208" TOKEN "500D 050B " NAME NONCE "5400", VERDICT_LP_CRITICAL},
        {"641C 6208" TOKEN "500D 050B " NAME NONCE "620141", VERDICT_LP_ORDER},
        {"641B 6208" TOKEN "500F 050B " NAME NONCE "5400", VERDICT_TRAILING},
        {"6419 6208" TOKEN "500D 050B " NAME NONCE "00", VERDICT_TRAILING},
        {"6419 6208" TOKEN "500D 050C " NAME NONCE, VERDICT_TLV_TRUNC},
        {"6419 6208" TOKEN "500E 050B " NAME NONCE, VERDICT_TLV_LEN},
        {"641A 6208" TOKEN "500D 050B " NAME NONCE, VERDICT_TLV_TRUNC},
        {"64FD0111 6208" TOKEN "50FD0103 06FD00FF " NAME "15FD00F2[AA]242 16001700", VERDICT_TLV_NONMIN},
        {"64FD0111 6208" TOKEN "50FD0103 06FD00FF " NAME "15F2[AA]242 2000 16001700", VERDICT_OK},
        {"64FD0111 6208" TOKEN "50FD0103 06FD00FF " NAME "15F2[AA]242 2000 16001700 00", VERDICT_TRAILING},
        {"64FD0113 6208" TOKEN "50FD0103 06FD00FF " NAME "15F2[AA]242 2000 16001700 5400", VERDICT_LP_CRITICAL},
        {"64FD0113 6208" TOKEN "50FD0105 06FD00FF " NAME "15F2[AA]242 2000 16001700 5400", VERDICT_TRAILING},
        {"64FD0112 6208" TOKEN "50FD0103 06FD00FF " NAME "15F2[AA]242 2000 16001700", VERDICT_TLV_TRUNC},
        {"64FD010D 6208" TOKEN "50FD00FF 06FD00FB " NAME "15EE[AA]238 2000 16001700", VERDICT_TLV_NONMIN},
        {"050F " NAME NONCE "0D02EA60", VERDICT_NET_CRITICAL},
        {"050F " NAME "0A0501020304"
         "0C01EA60",
         VERDICT_NET_INVALID},
        {"050F " NAME "0B0401020304"
         "0C02EA60",
         VERDICT_NET_CRITICAL},
        {"0611 " NAME "140419022710 1500 1600 1701", VERDICT_TLV_LEN},
        {"0613 " NAME "140419022710 1500 1600 1700 1700", VERDICT_NET_ORDER},
        {"0611 " NAME "140419022710 1500 1600 1800", VERDICT_NET_CRITICAL},
        {"0611 " NAME "140419032710 1500 1600 1700", VERDICT_TLV_LEN},
        {"0611 " NAME "140418022710 1500 1600 1700", VERDICT_OK},
        {"060D " NAME "1500 1600 1700 2000", VERDICT_OK},
        {"060D " NAME "0700 1500 1600 1700", VERDICT_NET_ORDER},
        {"060D " NAME "15FD0000 1600 1700", VERDICT_TLV_NONMIN},
        {"05FD000D 15FD0000 1600 1700 0703080141", VERDICT_TLV_NONMIN},
        {"0509 15FD0000 0703080141", VERDICT_TLV_NONMIN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ndn_parse_opts opts = {.lenient = false};
        struct ndn_packet pkt;
        enum verdict verdict = ndn_packet_parse(buf, bad_input_expand(cases[i].recipe, 0, buf), &opts, &pkt);
        cr_expect_eq(verdict, cases[i].verdict, "%s: %s", cases[i].recipe, verdict_name(verdict));
    }
}

/**
 * The straight line of the usual shape against the general parser: each packet cut anywhere, lengthened, and with each
 * octet changed to each other, at the end of readable memory.
 */
static void compare_with_general(void)
{
    static const char *const usual[] = {
        "6421 6208" TOKEN "5015 0513 0707 080141 08024243 " NONCE "0C02EA60",
        "6420 6208" TOKEN "5014 0612 0707 080141 08024243 15021122 1600 170133",
        "6429 6208" TOKEN "501D 061B 0707 080141 08024243 140419022710 15021122 16021B00 17023344",
        "643E 6208" TOKEN "5032 0530 0724 0808[61]8 080F[62]15 0807[63]7 " NONCE "0C02EA60",
        "6422 6208" TOKEN "5016 0614 0707 360141 21024243 1400 15021122 1600 170133",
        "64FD0111 6208" TOKEN "50FD0103 06FD00FF " NAME "15F0[AA]240 16021B00 17023344",
        "64FD0111 6208" TOKEN "50FD0103 06FD00FF " NAME "1400 15EE[AA]238 16021B00 17023344",
    };
    struct guard guard = guard_make(512);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        size_t len = bad_input_expand(usual[i], 0, buf);
        struct ndn_packet pkt;
        cr_assert(ndn_usual_parse(buf, len, false, true, &pkt), "%s", usual[i]);
        for (unsigned options = 0; options < 4; options++) {
            struct ndn_parse_opts opts = {.lenient = (options & 1) != 0, .allow_trailing = (options & 2) != 0};
            for (size_t cut = 0; cut <= len; cut++) {
                const char *differs = usual_differs(guard_copy(&guard, buf, cut), cut, &opts);
                cr_assert_null(differs, "%s, %zu octets: %s", usual[i], cut, differs);
            }
            for (size_t at = 0; at < len + 2; at++) {
                for (unsigned change = 0; change < 256; change++) {
                    size_t n = at < len ? len : at + 1;
                    buf[at] ^= (uint8_t)change;
                    const char *differs = usual_differs(guard_copy(&guard, buf, n), n, &opts);
                    buf[at] ^= (uint8_t)change;
                    cr_assert_null(differs, "%s, octet %zu changed by %02x: %s", usual[i], at, change, differs);
                }
            }
        }
    }
}

Test(ndn_packet, the_usual_shape_is_what_the_general_parser_says)
{
    // Names are read by what hashes them.
    static const char *const isas[] = {"aes", "portable"};
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++)
        if (ndn_name_hash_select(isas[i]) == 0)
            compare_with_general();
}

/** Data of the usual shape with a name that is none is refused for what is wrong with the name, when that is read. */
Test(ndn_packet, a_name_left_unread_is_checked_when_it_is_read)
{
    static const struct {
        const char *name;
        enum verdict verdict;
    } cases[] = {
        {"0707 080141 08024243", VERDICT_OK},        {"0708 080141 08024243 08", VERDICT_TLV_TRUNC},
        {"0707 080141 08054243", VERDICT_TLV_LEN},   {"0707 010141 08024243", VERDICT_NET_INVALID},
        {"0707 000141 08024243", VERDICT_TLV_TYPE0}, {"0707 0800 0800 08FD00", VERDICT_TLV_TRUNC},
        {"0706 FD0008 0800 08", VERDICT_TLV_NONMIN}, {"0700", VERDICT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t inside[64], *p = inside;
        p += bad_input_expand(cases[i].name, 0, p);
        p += bad_input_expand("15021122 1600 170133", 0, p);
        size_t net_len = (size_t)(p - inside);
        size_t n = bad_input_expand("6400 6208" TOKEN "5000 0600", 0, buf);
        buf[1] = (uint8_t)(net_len + 14);
        buf[13] = (uint8_t)(net_len + 2);
        buf[15] = (uint8_t)net_len;
        memcpy(buf + n, inside, net_len);
        struct ndn_packet pkt;
        cr_assert(ndn_usual_parse(buf, n + net_len, false, true, &pkt), "%s", cases[i].name);
        cr_assert(pkt.name.unread && pkt.name.value == buf + 18 && pkt.name.len == inside[1]);
        struct ndn_parse_opts opts = {.lenient = false};
        enum verdict verdict = ndn_packet_parse_net(pkt.net, pkt.net_len, &opts, &pkt);
        cr_expect_eq(verdict, cases[i].verdict, "%s: %s", cases[i].name, verdict_name(verdict));
        cr_expect_eq(ndn_packet_parse(buf, n + net_len, &opts, &pkt), cases[i].verdict, "%s", cases[i].name);
        cr_expect(cases[i].verdict != VERDICT_OK || !pkt.name.unread);
    }
}

Test(ndn_packet, broken_forwarding_hints)
{
    static const struct {
        const char *recipe;
        enum verdict verdict;
    } cases[] = {
        {"05FD0813 " NAME "1EFD080A 07FD0806 [0800]1027 ", VERDICT_NAME_TOO_LONG},
        {"050C " NAME "1E05 1F03 1E0200", VERDICT_TLV_LEN},
        {"050C " NAME "1E05 0703 080241", VERDICT_TLV_LEN},
        {"050E " NAME "1E07 0703080142 2000", VERDICT_OK},
        {"0509 " NAME "1E02 2000", VERDICT_NET_INVALID},
        {"050D " NAME "1E06 0704 01024142", VERDICT_NET_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ndn_parse_opts opts = {.lenient = false};
        struct ndn_packet pkt;
        enum verdict verdict = ndn_packet_parse(buf, bad_input_expand(cases[i].recipe, 0, buf), &opts, &pkt);
        cr_expect_eq(verdict, cases[i].verdict, "%s: %s", cases[i].recipe, verdict_name(verdict));
    }
}

Test(ndn_packet, a_hop_limit_behind_the_usual_elements_is_read)
{
    struct ndn_packet pkt = parse("0512 " NAME NONCE "0C02EA60 220107", false);
    cr_expect(pkt.interest.hop_limit == 7 && pkt.interest.hop_limit_off == 19 && pkt.interest.lifetime_ms == 60000);
}

Test(ndn_packet, place_of_a_missing_nonce_is_behind_what_must_precede_it)
{
    static const struct {
        const char *recipe;
        uint16_t off;
    } cases[] = {
        {"0505 " NAME, 7},
        {"0507 " NAME "2100 ", 9},
        {"0507 " NAME "1200 ", 9},
        {"0509 " NAME "2100 1200 ", 11},
        {"050E " NAME "1200 1E05 0703080142 ", 16},
        {"0509 " NAME "0C0203E8 ", 7},
        {"050B " NAME "2100 0C0203E8 ", 9},
        {"0509 " NAME "FD03E800 ", 7},
        {"050D " NAME "2100 FD03E800 1200", 15},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ndn_packet pkt = parse(cases[i].recipe, false);
        cr_expect_not(pkt.interest.has_nonce);
        cr_expect_eq(pkt.interest.nonce_off, cases[i].off, "%s", cases[i].recipe);
    }
}

Test(ndn_packet, numbers_are_capped)
{
    cr_expect_eq(parse("0515 " NAME NONCE "0C08FFFFFFFFFFFFFFFF", false).interest.lifetime_ms, NDN_LIFETIME_MAX_MS);
    cr_expect_eq(parse("0511 " NAME NONCE "0C04FFFFFFFF", false).interest.lifetime_ms, NDN_LIFETIME_MAX_MS);
    cr_expect_eq(parse("050E " NAME NONCE "0C0100", false).interest.lifetime_ms, 0);
    cr_expect_eq(parse("061A " NAME "140A1908FFFFFFFFFFFFFFFF 1500 16031B0100 1700", false).data.freshness_ms,
                 NDN_FRESHNESS_MAX_MS);
}

Test(ndn_packet, a_long_forwarding_hint_is_kept_in_part)
{
    struct ndn_packet pkt = parse("05FD11A3 " NAME "1EFD1194[0703080142]900 " NONCE, false);
    cr_expect_eq(pkt.interest.n_hints, NDN_HINTS_MAX);
    for (unsigned i = 0; i < NDN_HINTS_MAX; i++)
        cr_expect(pkt.interest.hint[i].off == 15 + 5 * i && pkt.interest.hint[i].len == 3);
}

Test(ndn_packet, delegations_of_the_older_format_are_hints)
{
    struct ndn_packet pkt = parse("0517 " NAME "1E0A1F08 1E0100 0703080142 " NONCE, false);
    cr_expect(pkt.interest.n_hints == 1 && pkt.interest.hint[0].off == 16 && pkt.interest.hint[0].len == 3);
}

Test(ndn_packet, misplaced_elements_that_are_not_critical_count_for_nothing)
{
    struct ndn_packet pkt = parse("0511 " NAME NONCE "220109 220100", false);
    cr_expect(pkt.interest.hop_limit == 9 && pkt.interest.hop_limit_off == 15);
    pkt = parse("0512 " NAME NONCE "2400 220109 2400", false);
    cr_expect(pkt.interest.hop_limit == 255 && pkt.interest.hop_limit_off == 0);
}

Test(ndn_packet, freshness_in_each_shape_of_meta_info)
{
    static const struct {
        const char *meta;
        uint32_t freshness_ms;
    } cases[] = {
        {"0609 " NAME "16001700", 0},
        {"060B " NAME "1400 16001700", 0},
        {"060E " NAME "1403190105 16001700", 5},
        {"060F " NAME "140419022710 16001700", 10000},
        {"0611 " NAME "1406190400012710 16001700", 75536},
        {"0611 " NAME "1406180100190105 16001700", 5},
        {"0611 " NAME "14061901051A0141 16001700", 5},
        {"0611 " NAME "1406190105800141 16001700", 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(parse(cases[i].meta, false).data.freshness_ms, cases[i].freshness_ms, "%s", cases[i].meta);
    // Out of order, or unrecognized and critical: refused, or ignored as the reference forwarder does.
    static const char *const bad[] = {
        "0611 " NAME "14061A0141190105 16001700", "0611 " NAME "1406190105190106 16001700",
        "0611 " NAME "14061B0141190105 16001700", "0611 " NAME "1406810141190105 16001700"};
    static const enum verdict strict[] = {VERDICT_NET_ORDER, VERDICT_NET_ORDER, VERDICT_NET_CRITICAL,
                                          VERDICT_NET_ORDER};
    static const uint32_t lax_freshness[] = {0, 5, 5, 0};
    for (size_t i = 0; i < 4; i++) {
        struct ndn_parse_opts opts = {.lenient = false};
        struct ndn_packet pkt;
        cr_expect_eq(ndn_packet_parse(buf, bad_input_expand(bad[i], 0, buf), &opts, &pkt), strict[i], "%s", bad[i]);
        cr_expect_eq(parse(bad[i], true).data.freshness_ms, lax_freshness[i], "%s", bad[i]);
    }
}

Test(ndn_packet, header_fields_stay_with_the_packet)
{
    struct ndn_packet pkt = parse("6419 6208 1112131415161718 500D 050B " NAME NONCE, false);
    cr_expect(pkt.lp.has == (LP_HAS_HEADER | LP_HAS_FRAGMENT) && pkt.lp.token_len == 8 && pkt.lp.token == buf + 4);
    cr_expect(pkt.net == buf + 14 && pkt.net_len == 13 && pkt.lp.fragment == pkt.net && pkt.lp.fragment_len == 13);
    cr_expect(pkt.interest.nonce_off == 9 && pkt.name.value == buf + 18);
    cr_expect(pkt.lp.n_acks == 0 && pkt.lp.nack_reason == 0 && pkt.lp.frag_count == 1 && pkt.lp.frag_index == 0);
}

Test(ndn_packet, long_packets_behind_a_token)
{
    struct ndn_packet pkt =
        parse("64FD0145 6208 1112131415161718 50FD0137 06FD0133 " NAME "140419022710 15FD0120[AA]288 16001700", false);
    cr_expect_eq(pkt.type, NDN_TYPE_DATA);
    cr_expect(pkt.net == buf + 18 && pkt.net_len == 311 && pkt.lp.token == buf + 6 && pkt.data.freshness_ms == 10000);
}

Test(ndn_packet, fragments_and_idle_packets_are_not_looked_into)
{
    struct ndn_packet pkt = parse("6418 5108000000000000000A 520101 530102 5006 FFFFFFFFFFFF", false);
    cr_expect(pkt.type == 0 && pkt.net == buf + 20 && pkt.net_len == 6 && pkt.lp.frag_index == 1);
    pkt = parse("6400", false);
    cr_expect(pkt.type == 0 && pkt.net_len == 0 && pkt.lp.has == LP_HAS_HEADER);
}

Test(ndn_packet, reassembled_packets_keep_the_fields_of_the_first_fragment)
{
    struct ndn_packet pkt =
        parse("6421 5108000000000000000A 520100 530102 FD032005FD03210164 5006 050B07030801", false);
    struct ndn_parse_opts opts = {.allow_trailing = true};
    uint8_t whole[64];
    size_t len = bad_input_expand("050B " NAME NONCE, 0, whole);
    cr_expect_eq(ndn_packet_parse_net(whole, len, &opts, &pkt), VERDICT_OK);
    cr_expect(pkt.type == NDN_TYPE_INTEREST && pkt.net == whole && pkt.lp.nack_reason == NDN_NACK_DUPLICATE);
    cr_expect_eq(ndn_packet_parse_net(whole, len - 1, &opts, &pkt), VERDICT_TLV_TRUNC);
    cr_expect_eq(ndn_packet_parse_net(whole, len + 1, &opts, &pkt), VERDICT_TRAILING, "padding is not in fragments");
    len = bad_input_expand("0609 " NAME "16001700", 0, whole);
    cr_expect_eq(ndn_packet_parse_net(whole, len, &opts, &pkt), VERDICT_LP_INVALID, "a Nack holds an Interest");
}
