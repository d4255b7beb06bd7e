// SPDX-License-Identifier: Apache-2.0
/* The header that servers make connection IDs with, against the vectors and the forwarder's own decoder. */
#define QUIC_LB_CID_OPENSSL
#include "conf/examples/quic-lb/quic_lb_cid.h"

#include <criterion/criterion.h>

#include <stdio.h>

#include "parser/quic_lb.h"
#include "test/cases/quic_lb_vectors.h"

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(sscanf(hex + 2 * i, "%2hhx", &out[i]), 1);
    return n;
}

Test(quic_lb_cid, makes_the_vectors)
{
    for (size_t i = 0; i < sizeof quic_lb_vectors / sizeof quic_lb_vectors[0]; i++) {
        const struct quic_lb_vector *v = &quic_lb_vectors[i];
        struct quic_lb_cid lb = {.config_id = 0};
        uint8_t key[16], nonce[18], wanted[20], cid[20];
        size_t len = from_hex(v->cid, wanted);
        lb.config_id = wanted[0] >> 5;
        lb.server_id_len = (uint8_t)from_hex(v->server_id, lb.server_id);
        lb.nonce_len = (uint8_t)from_hex(v->nonce, nonce);
        if (v->encrypted) {
            from_hex(v->key, key);
            cr_assert(quic_lb_cid_encrypt_with(&lb, key));
        }
        cr_assert_eq(quic_lb_cid_make(&lb, nonce, cid), len, "%s", v->cid);
        cr_expect_eq(cid[0] & 31, len - 1);
        cr_expect_eq(memcmp(cid + 1, wanted + 1, len - 1), 0, "%s", v->cid);
        quic_lb_cid_free(&lb);
    }
}

Test(quic_lb_cid, connection_ids_differ_and_name_the_server)
{
    for (int encrypted = 0; encrypted < 2; encrypted++)
        for (uint8_t id_len = 1; id_len <= 15; id_len++)
            for (uint8_t nonce_len = 4; nonce_len <= 18 && id_len + nonce_len <= 19; nonce_len++) {
                static const uint8_t key[16] = {1, 2, 3};
                struct quic_lb_cid lb = {.config_id = 5, .server_id_len = id_len, .nonce_len = nonce_len};
                struct quic_lb_config config = {id_len, nonce_len, encrypted != 0, {1, 2, 3}};
                static struct quic_lb rules;
                memset(&rules, 0, sizeof rules);
                memset(lb.server_id, 0xa5, id_len);
                cr_assert(!encrypted || quic_lb_cid_encrypt_with(&lb, key));
                cr_assert(quic_lb_cid_start(&lb));
                cr_assert_eq(quic_lb_add_config(&rules, 5, &config), 0);
                uint8_t cid[3][20];
                for (int i = 0; i < 3; i++) {
                    struct quic_lb_id id;
                    size_t len = quic_lb_cid_next(&lb, cid[i]);
                    cr_assert_eq(len, 1u + id_len + nonce_len);
                    cr_assert_eq(quic_lb_decode(&rules, cid[i], len, &id), QUIC_LB_OK);
                    cr_assert_eq(id.len, id_len);
                    cr_assert_eq(memcmp(id.octets, lb.server_id, id_len), 0);
                    for (int k = 0; k < i; k++)
                        cr_assert_neq(memcmp(cid[k], cid[i], len), 0);
                }
                quic_lb_cid_free(&lb);
            }
}

Test(quic_lb_cid, lengths_that_do_not_fit_make_none)
{
    static const uint8_t bad[][3] = {{7, 8, 8}, {0, 0, 8}, {0, 16, 4}, {0, 8, 3}, {0, 1, 19}, {0, 12, 8}};
    uint8_t cid[20], nonce[20] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct quic_lb_cid lb = {.config_id = bad[i][0], .server_id_len = bad[i][1], .nonce_len = bad[i][2]};
        cr_expect_eq(quic_lb_cid_make(&lb, nonce, cid), 0, "%zu", i);
    }
}

Test(quic_lb_cid, no_nonce_is_used_twice)
{
    static const uint8_t key[16] = {0};
    struct quic_lb_cid lb = {.config_id = 0, .server_id_len = 1, .nonce_len = 4};
    uint8_t cid[20];
    cr_assert(quic_lb_cid_encrypt_with(&lb, key));
    cr_assert(quic_lb_cid_start(&lb));
    // One before the round is over, over a carry.
    memcpy(lb.nonce_last, "\x01\x00\x00\x01", 4);
    memcpy(lb.nonce, "\x00\xff\xff\xff", 4);
    cr_expect_eq(quic_lb_cid_next(&lb, cid), 6);
    cr_expect_eq(memcmp(lb.nonce, "\x01\x00\x00\x00", 4), 0);
    cr_expect_eq(quic_lb_cid_next(&lb, cid), 6);
    cr_expect_eq(quic_lb_cid_next(&lb, cid), 0);
    quic_lb_cid_free(&lb);
}
