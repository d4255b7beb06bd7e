// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"
#include "test/cases/bad_inputs.h"

static uint8_t buf[BAD_INPUT_MAX];

static struct ndn_name parse(const char *recipe)
{
    struct ndn_name name;
    memset(&name, 0xa5, sizeof name);
    cr_assert_eq(ndn_name_parse(buf, bad_input_expand(recipe, 0, buf), false, &name), VERDICT_OK, "%s", recipe);
    return name;
}

Test(ndn_name, ends_of_components)
{
    struct ndn_name name = parse("080141 0800 0820[42]32 FD012C 0143");
    cr_expect_eq(name.n_comps, 4);
    cr_expect_eq(name.depth, 4);
    cr_expect_eq(name.len, 44);
    cr_expect_eq(name.value, buf);
    static const uint16_t ends[] = {0, 3, 5, 39, 44};
    cr_expect_arr_eq(name.end, ends, sizeof ends);
    cr_expect_eq(name.has_digest, 0);
}

Test(ndn_name, no_components)
{
    struct ndn_name name = parse("");
    cr_expect(name.n_comps == 0 && name.depth == 0 && name.len == 0 && name.end[0] == 0 && name.has_digest == 0);
}

Test(ndn_name, an_implicit_digest_counts_only_at_the_end)
{
    cr_expect_eq(parse("080141 0120[55]32 ").has_digest, 1);
    cr_expect_eq(parse("080141 0120[55]32 080141").has_digest, 0);
    cr_expect_eq(parse("080141 0220[55]32 ").has_digest, 0);
    cr_expect_eq(parse("[080141]40 0120[55]32 ").has_digest, 1);
}

Test(ndn_name, components_beyond_the_depth_are_counted_only)
{
    struct ndn_name name = parse("[080141]33 ");
    cr_expect_eq(name.n_comps, 33);
    cr_expect_eq(name.depth, 32);
    cr_expect_eq(name.end[32], 96);
    cr_expect_eq(name.len, 99);
    // The same where the components are not all alike.
    name = parse("360101 [080141]33 ");
    cr_expect(name.n_comps == 34 && name.depth == 32 && name.end[1] == 3 && name.end[31] == 93 && name.end[32] == 96);
}

Test(ndn_name, bad_components_are_refused)
{
    static const struct {
        const char *recipe;
        enum verdict strict, lenient;
    } cases[] = {
        {"08", VERDICT_TLV_TRUNC, VERDICT_TLV_TRUNC},
        {"0801", VERDICT_TLV_LEN, VERDICT_TLV_LEN},
        {"0000", VERDICT_TLV_TYPE0, VERDICT_TLV_TYPE0},
        {"FD00080141", VERDICT_TLV_NONMIN, VERDICT_OK},
        {"08FD000141", VERDICT_TLV_NONMIN, VERDICT_OK},
        {"FDFFFF00", VERDICT_OK, VERDICT_OK},
        {"FE0001000000", VERDICT_NET_INVALID, VERDICT_OK},
        {"011F[00]31 ", VERDICT_NET_INVALID, VERDICT_NET_INVALID},
        {"0221[00]33 ", VERDICT_NET_INVALID, VERDICT_NET_INVALID},
        {"[0800]1025 ", VERDICT_NAME_TOO_LONG, VERDICT_NAME_TOO_LONG},
        {"[0800]1024 ", VERDICT_OK, VERDICT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ndn_name name;
        size_t len = bad_input_expand(cases[i].recipe, 0, buf);
        cr_expect_eq(ndn_name_parse(buf, len, false, &name), cases[i].strict, "%s", cases[i].recipe);
        cr_expect_eq(ndn_name_parse(buf, len, true, &name), cases[i].lenient, "%s lenient", cases[i].recipe);
    }
}

/* URIs */

Test(ndn_name_uri, canonical_forms_survive_both_ways)
{
    static const struct {
        const char *uri, *recipe;
    } cases[] = {
        {"/", ""},
        {"/a/b", "080161 080162"},
        {"/...", "0800"},
        {"/....", "08012E"},
        {"/.a", "08022E61"},
        {"/a%2Fb~-_.", "080761 2F 62 7E 2D 5F 2E"},
        {"/%00%FF", "080200FF"},
        {"/54=%01", "360101"},
        {"/32=metadata", "20086D65746164617461"},
        {"/65535=x", "FDFFFF0178"},
        {"/sha256digest=1111111111111111111111111111111111111111111111111111111111111111", "0120[11]32 "},
        {"/a/params-sha256=abababababababababababababababababababababababababababababababab", "080161 0220[AB]32 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t want[256], got[256];
        char text[512];
        size_t len = bad_input_expand(cases[i].recipe, 0, want);
        cr_expect_eq(ndn_name_from_uri(cases[i].uri, got, sizeof got), (int)len, "%s", cases[i].uri);
        cr_expect_arr_eq(got, want, len, "%s", cases[i].uri);
        int n = ndn_name_to_uri(want, len, text, sizeof text);
        cr_expect_str_eq(text, cases[i].uri);
        cr_expect_eq(n, (int)strlen(text));
        // A buffer too small by any number of octets gets as much as fits, and says how much it takes.
        for (size_t size = 0; size <= strlen(cases[i].uri); size++) {
            memset(text, 'x', sizeof text);
            cr_expect_eq(ndn_name_to_uri(want, len, text, size), n);
            cr_expect_eq(strnlen(text, sizeof text), size > 0 ? size - 1 : sizeof text);
            cr_expect(memcmp(text, cases[i].uri, size > 0 ? size - 1 : 0) == 0);
        }
        for (size_t size = 0; size < len; size++)
            cr_expect_eq(ndn_name_from_uri(cases[i].uri, got, size), -ENOSPC, "%s in %zu", cases[i].uri, size);
        cr_expect_eq(ndn_name_from_uri(cases[i].uri, got, len), (int)len, "%s in %zu", cases[i].uri, len);
    }
}

Test(ndn_name_uri, other_forms_are_understood)
{
    static const struct {
        const char *uri, *recipe;
    } cases[] = {
        {"ndn:/a", "080161"},
        {"/a/", "080161"},
        {"/8=a", "080161"},
        {"/%61", "080161"},
        {"/8=...", "0800"},
        {"/v=5", "360105"},
        {"/seg=256", "32020100"},
        {"/off=65536", "340400010000"},
        {"/t=4294967296", "38080000000100000000"},
        {"/seq=0", "3A0100"},
        {"/sha256digest=ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB", "0120[AB]32 "},
        {"/1=%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB%AB",
         "0120[AB]32 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t want[256], got[256];
        size_t len = bad_input_expand(cases[i].recipe, 0, want);
        cr_expect_eq(ndn_name_from_uri(cases[i].uri, got, sizeof got), (int)len, "%s", cases[i].uri);
        cr_expect_arr_eq(got, want, len, "%s", cases[i].uri);
    }
}

Test(ndn_name_uri, nonsense_is_refused)
{
    static const char *const uris[] = {
        "",
        "a",
        "ndn:a",
        "//",
        "//a",
        "/a//b",
        "/.",
        "/..",
        "/%",
        "/%4",
        "/%4g",
        "/%g4",
        "/0=a",
        "/65536=a",
        "/08=a",
        "/=a",
        "/x=a",
        "/a=b",
        "/v=",
        "/v=01",
        "/v=1x",
        "/v=18446744073709551616",
        "/54=..",
        "/sha256digest=11",
        "/sha256digest=1",
        "/sha256digest=zz",
        "/params-sha256=",
        "/1=a",
        "/2=a",
        "/99999999999999999999=a",
    };
    for (size_t i = 0; i < sizeof uris / sizeof uris[0]; i++)
        cr_expect_eq(ndn_name_from_uri(uris[i], buf, sizeof buf), -EINVAL, "%s", uris[i]);
}

Test(ndn_name_uri, broken_names_have_no_uri)
{
    static const char *const recipes[] = {"08", "080541", "011F[00]31 ", "0000"};
    char text[512];
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        size_t len = bad_input_expand(recipes[i], 0, buf);
        cr_expect_eq(ndn_name_to_uri(buf, len, text, sizeof text), -EINVAL, "%s", recipes[i]);
    }
}
