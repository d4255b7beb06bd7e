// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test/load/shape.h"

static struct shape shape;

static struct options usual(void)
{
    return (struct options){.prefix = "/ndnbench",
                            .components = 4,
                            .flows = 100,
                            .payload = 100,
                            .lifetime_ms = 4000,
                            .freshness_ms = 10000,
                            .seed = 5};
}

static enum shape_verdict check(bool is_data, const uint8_t *p, size_t len, uint32_t *number)
{
    struct ndn_packet pkt;
    uint8_t *exact = malloc(len);
    memcpy(exact, p, len);
    enum shape_verdict verdict = SHAPE_CORRUPT;
    if (ndn_packet_parse(exact, len, &(struct ndn_parse_opts){0}, &pkt) == VERDICT_OK &&
        pkt.type == (is_data ? NDN_TYPE_DATA : NDN_TYPE_INTEREST))
        verdict = is_data ? shape_check_data(&shape, &pkt, number) : shape_check_interest(&shape, &pkt, number);
    free(exact);
    return verdict;
}

Test(shape, what_is_sent_is_what_is_expected)
{
    static const struct {
        uint32_t components, flows, payload, freshness_ms;
        uint8_t hop_limit;
        bool prefix, fresh;
    } cases[] = {{4, 100, 100, 10000, 0, false, false},
                 {2, 1, 0, 0, 64, true, true},
                 {3, 10000, 7, 1, 255, false, true},
                 {32, 1, 8000, 10000, 0, true, false},
                 {8, 1, 1000, 10000, 1, true, true}};
    static const uint32_t numbers[] = {0, 1, 99, 100, 12345, 0xdeadbeef, UINT32_MAX};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options = usual();
        options.components = cases[i].components;
        options.flows = cases[i].flows;
        options.payload = cases[i].payload;
        options.freshness_ms = cases[i].freshness_ms;
        options.hop_limit = cases[i].hop_limit;
        options.can_be_prefix = cases[i].prefix;
        options.must_be_fresh = cases[i].fresh;
        cr_assert_eq(shape_create(&shape, &options), 0);
        for (unsigned k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            uint8_t interest[SHAPE_INTEREST_MAX], data[NDN_PACKET_MAX];
            uint32_t number = ~numbers[k];
            shape_interest(&shape, numbers[k], 0x01020304, interest);
            cr_expect_eq(check(false, interest, shape.interest_len, &number), SHAPE_OK, "case %u", i);
            cr_expect_eq(number, numbers[k]);
            shape_data(&shape, numbers[k], data);
            number = ~numbers[k];
            cr_expect_eq(check(true, data, shape.data_len, &number), SHAPE_OK, "case %u", i);
            cr_expect_eq(number, numbers[k]);
        }
        struct ndn_packet pkt;
        uint8_t data[NDN_PACKET_MAX];
        shape_data(&shape, 1, data);
        cr_assert_eq(ndn_packet_parse(data, shape.data_len, &(struct ndn_parse_opts){0}, &pkt), VERDICT_OK);
        cr_expect_eq(pkt.name.n_comps, cases[i].components + cases[i].prefix);
        cr_expect_eq(pkt.data.freshness_ms, cases[i].freshness_ms);
        shape_destroy(&shape);
    }
}

Test(shape, each_changed_bit_of_data_is_seen)
{
    struct options options = usual();
    options.can_be_prefix = true;
    cr_assert_eq(shape_create(&shape, &options), 0);
    uint8_t data[NDN_PACKET_MAX];
    shape_data(&shape, 123, data);
    for (size_t i = 0; i < 8u * shape.data_len; i++) {
        uint32_t number = 0;
        data[i / 8] ^= (uint8_t)(1 << i % 8);
        cr_expect_neq(check(true, data, shape.data_len, &number), SHAPE_OK, "bit %zu", i);
        data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    shape_destroy(&shape);
}

Test(shape, each_changed_bit_of_an_interest_is_seen_but_what_forwarders_change)
{
    struct options options = usual();
    options.hop_limit = 64;
    cr_assert_eq(shape_create(&shape, &options), 0);
    uint8_t interest[SHAPE_INTEREST_MAX];
    uint32_t number;
    shape_interest(&shape, 123, 7, interest);
    for (size_t i = 0; i < 8u * shape.interest_len; i++) {
        size_t at = i / 8;
        if ((at >= shape.nonce_off && at < shape.nonce_off + 4u) || at == shape.hop_limit_off)
            continue;
        interest[at] ^= (uint8_t)(1 << i % 8);
        cr_expect_neq(check(false, interest, shape.interest_len, &number), SHAPE_OK, "bit %zu", i);
        interest[at] ^= (uint8_t)(1 << i % 8);
    }
    interest[shape.hop_limit_off] = 63;
    cr_expect_eq(check(false, interest, shape.interest_len, &number), SHAPE_OK);
    interest[shape.hop_limit_off] = 65;
    cr_expect_eq(check(false, interest, shape.interest_len, &number), SHAPE_CORRUPT);
    shape_destroy(&shape);
}

Test(shape, the_commonest_form_is_known_without_parsing_and_nothing_else)
{
    for (unsigned payload = 0; payload <= 1000; payload += 200) {
        struct options options = usual();
        options.payload = payload;
        cr_assert_eq(shape_create(&shape, &options), 0);
        for (unsigned is_data = 0; is_data < 2; is_data++) {
            uint8_t buf[2048], *net = buf + 32;
            size_t net_len = is_data ? shape.data_len : shape.interest_len;
            if (is_data)
                shape_data(&shape, 77, net);
            else
                shape_interest(&shape, 77, 5, net);
            size_t head = ndn_lp_prepend_token(net, net_len, (const uint8_t *)"TOKENTOK"), len = head + net_len;
            uint8_t *p = net - head;
            uint32_t number = 0;
            const uint8_t *token, *found;
            cr_assert_eq(shape_quick(&shape, is_data, p, len, &number, &token, &found), len);
            cr_expect(number == 77 && memcmp(token, "TOKENTOK", 8) == 0 && found == net);
            cr_expect_eq(shape_quick(&shape, is_data, p, len + 7, &number, &token, &found), len);
            cr_expect_eq(shape_quick(&shape, is_data, p, len - 1, &number, &token, &found), 0);
            cr_expect_eq(shape_quick(&shape, !is_data, p, len, &number, &token, &found), 0);
            const uint8_t *nonce = net + shape.nonce_off;
            for (uint8_t *at = p; at < p + len; at++) {
                if ((at >= token && at < token + 8) || (!is_data && at >= nonce && at < nonce + 4))
                    continue;
                *at ^= 0x20;
                cr_expect_eq(shape_quick(&shape, is_data, p, len, &number, &token, &found), 0, "octet %zd", at - p);
                *at ^= 0x20;
            }
        }
        shape_destroy(&shape);
    }
}

Test(shape, data_of_another_name_or_run_do_not_pass)
{
    struct options options = usual();
    cr_assert_eq(shape_create(&shape, &options), 0);
    static uint8_t data[2][NDN_PACKET_MAX], mixed[NDN_PACKET_MAX];
    uint32_t number;
    shape_data(&shape, 1, data[0]);
    shape_data(&shape, 101, data[1]); // of the same flow
    memcpy(mixed, data[0], shape.data_len);
    memcpy(mixed + shape.content_off, data[1] + shape.content_off, shape.content_len);
    cr_expect_eq(check(true, mixed, shape.data_len, &number), SHAPE_CORRUPT);
    // Words of one Content in another order.
    memcpy(mixed, data[0], shape.data_len);
    memcpy(mixed + shape.content_off, data[0] + shape.content_off + 8, 8);
    memcpy(mixed + shape.content_off + 8, data[0] + shape.content_off, 8);
    cr_expect_eq(check(true, mixed, shape.data_len, &number), SHAPE_CORRUPT);
    shape_destroy(&shape);
    options.seed = 6;
    cr_assert_eq(shape_create(&shape, &options), 0);
    cr_expect_eq(check(true, data[0], shape.data_len, &number), SHAPE_CORRUPT);
    shape_destroy(&shape);
    options = usual();
    strcpy(options.prefix, "/other/name");
    cr_assert_eq(shape_create(&shape, &options), 0);
    cr_expect_neq(check(true, data[0], 200, &number), SHAPE_OK);
    shape_destroy(&shape);
}

Test(shape, names_of_each_kind)
{
    struct options options = usual();
    options.first = UINT32_MAX;
    struct names names;
    cr_assert_eq(names_create(&names, &options), 0);
    cr_expect_eq(names_next(&names, 0), UINT32_MAX);
    cr_expect_eq(names_next(&names, 1), 0);
    names_destroy(&names);
    options.first = 1000;
    options.names = NAMES_CYCLE;
    options.n_names = 3;
    cr_assert_eq(names_create(&names, &options), 0);
    for (uint32_t i = 0; i < 10; i++)
        cr_expect_eq(names_next(&names, i), 1000 + i % 3);
    names_destroy(&names);
    options.names = NAMES_ZIPF;
    options.zipf_s = 1;
    cr_assert_eq(names_create(&names, &options), 0);
    unsigned seen[3] = {0};
    for (uint32_t i = 0; i < 1000; i++)
        seen[names_next(&names, i) - 1000]++;
    cr_expect(seen[0] > seen[1] && seen[1] > seen[2] && seen[2] > 100);
    names_destroy(&names);
}

Test(shape, runs_that_cannot_be)
{
    static const struct {
        const char *prefix;
        uint32_t components, flows, payload;
    } cases[] = {{"/a/b/c/d", 4, 1, 100}, {"/a/b/c", 4, 2, 100}, {"/%zz", 4, 1, 100}, {"/a", 4, 1, 8800}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options = usual();
        strcpy(options.prefix, cases[i].prefix);
        options.components = cases[i].components;
        options.flows = cases[i].flows;
        options.payload = cases[i].payload;
        cr_expect_eq(shape_create(&shape, &options), -EINVAL, "case %u", i);
    }
}
