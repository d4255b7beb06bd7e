// SPDX-License-Identifier: Apache-2.0
/* Each test of decoding runs for every implementation that the CPU has. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/quic_lb.h"
#include "test/cases/quic_lb_vectors.h"
#include "test/unit/parser/guard.h"

static const char *const isas[] = {"avx512", "aes", "portable"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define FOR_EACH_ISA(isa)                          \
    for (size_t isa = 0; isa < COUNT(isas); isa++) \
        if (quic_lb_decode_select(isas[isa]) == 0)

static struct quic_lb lb;

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(sscanf(hex + 2 * i, "%2hhx", &out[i]), 1);
    return n;
}

/** One vector, its lengths taken from its texts. */
struct vector {
    struct quic_lb_config config;
    struct quic_lb_id id;
    uint8_t nonce[QUIC_LB_NONCE_MAX], cid[QUIC_LB_CID_MAX], cid_len, config_id;
};

static struct vector read_vector(const struct quic_lb_vector *from)
{
    struct vector v = {.config.encrypted = from->encrypted};
    from_hex(from->key, v.config.key);
    v.id.len = v.config.server_id_len = (uint8_t)from_hex(from->server_id, v.id.octets);
    v.config.nonce_len = (uint8_t)from_hex(from->nonce, v.nonce);
    v.cid_len = (uint8_t)from_hex(from->cid, v.cid);
    v.config_id = v.cid[0] >> 5;
    return v;
}

static uint32_t seed = 1;

static uint8_t random_octet(void)
{
    seed = seed * 1664525 + 1013904223;
    return (uint8_t)(seed >> 24);
}

static void random_octets(uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = random_octet();
}

Test(quic_lb, isa_selection)
{
    cr_expect_eq(quic_lb_decode_select("vector processor"), -ENOTSUP);
    cr_expect_eq(quic_lb_decode_select("portable"), 0);
    enum quic_lb_verdict (*portable)(const struct quic_lb *, const uint8_t *, size_t, struct quic_lb_id *) =
        quic_lb_decode;
    quic_lb_decode_init();
#if defined(__x86_64__)
    cr_expect_eq(quic_lb_decode != portable, __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1"));
#endif
}

Test(quic_lb, aes_of_fips_197)
{
    uint8_t key[16], plain[16], secret[16], block[16];
    struct aes128 aes;
    from_hex("000102030405060708090a0b0c0d0e0f", key);
    from_hex("00112233445566778899aabbccddeeff", plain);
    from_hex("69c4e0d86a7b0430d8cdb78070b4c55a", secret);
    aes128_expand(&aes, key);
    aes128_encrypt(&aes, plain, block);
    cr_expect_arr_eq(block, secret, 16);
    aes128_decrypt(&aes, block, block);
    cr_expect_arr_eq(block, plain, 16);
    uint8_t last[16];
    from_hex("13111d7fe3944a17f307a78b4d2b30c5", last);
    cr_expect_arr_eq(aes.enc[10], last, 16);
}

Test(quic_lb, vectors)
{
    struct guard guard = guard_make(QUIC_LB_CID_MAX);
    for (size_t i = 0; i < COUNT(quic_lb_vectors); i++) {
        struct vector v = read_vector(&quic_lb_vectors[i]);
        memset(&lb, 0, sizeof lb);
        cr_assert_eq(quic_lb_add_config(&lb, v.config_id, &v.config), 0);
        FOR_EACH_ISA(isa)
        {
            const char *which = isas[isa], *text = quic_lb_vectors[i].cid;
            uint8_t cid[QUIC_LB_CID_MAX] = {0}, nonce[QUIC_LB_NONCE_MAX] = {0};
            struct quic_lb_id id;
            cr_expect_eq(quic_lb_encode(&lb, v.cid[0], &v.id, v.nonce, cid), v.cid_len);
            cr_expect_arr_eq(cid, v.cid, v.cid_len, "%s %s", which, text);
            memset(&id, 0xa5, sizeof id);
            const uint8_t *p = guard_copy(&guard, v.cid, v.cid_len);
            cr_expect_eq(quic_lb_open(&lb, p, v.cid_len, &id, nonce), v.config.nonce_len);
            cr_expect_arr_eq(nonce, v.nonce, v.config.nonce_len, "%s %s", which, text);
            cr_expect_arr_eq(&id, &v.id, sizeof id, "%s %s", which, text);
            memset(&id, 0xa5, sizeof id);
            cr_expect_eq(quic_lb_decode(&lb, p, v.cid_len, &id), QUIC_LB_OK);
            cr_expect_arr_eq(&id, &v.id, sizeof id, "%s %s", which, text);
        }
    }
}

/** All lengths that the draft allows, and the config IDs in turn. @return false after the last */
static bool next_lengths(struct quic_lb_config *config)
{
    if (config->server_id_len == 0) {
        config->server_id_len = 1;
        config->nonce_len = QUIC_LB_NONCE_MIN;
        return true;
    }
    if (++config->nonce_len > QUIC_LB_NONCE_MAX || config->nonce_len + config->server_id_len > 19) {
        config->nonce_len = QUIC_LB_NONCE_MIN;
        return ++config->server_id_len <= QUIC_LB_SERVER_ID_MAX;
    }
    return true;
}

Test(quic_lb, every_length_goes_there_and_back_without_a_read_beyond)
{
    struct guard guard = guard_make(64);
    struct quic_lb_config config = {0};
    unsigned n = 0;
    while (next_lengths(&config)) {
        for (unsigned encrypted = 0; encrypted < 2; encrypted++, n++) {
            uint8_t config_id = (uint8_t)(n % QUIC_LB_CONFIGS), cid[64], nonce[QUIC_LB_NONCE_MAX];
            struct quic_lb_id id = {.len = config.server_id_len};
            config.encrypted = encrypted != 0;
            random_octets(config.key, sizeof config.key);
            random_octets(id.octets, id.len);
            random_octets(nonce, sizeof nonce);
            random_octets(cid, sizeof cid);
            memset(&lb, 0, sizeof lb);
            cr_assert_eq(quic_lb_add_config(&lb, config_id, &config), 0);
            int size = quic_lb_encode(&lb, (uint8_t)(config_id << 5 | random_octet() >> 3), &id, nonce, cid);
            cr_assert_eq(size, 1 + config.server_id_len + config.nonce_len);
            FOR_EACH_ISA(isa)
            {
                struct quic_lb_id got;
                uint8_t again[QUIC_LB_CID_MAX];
                cr_assert_eq(quic_lb_encode(&lb, cid[0], &id, nonce, again), size);
                cr_assert_arr_eq(again, cid, (size_t)size, "%s", isas[isa]);
                for (size_t len = 0; len <= (size_t)size + 12; len++) {
                    const uint8_t *p = guard_copy(&guard, cid, len);
                    memset(&got, 0xa5, sizeof got);
                    enum quic_lb_verdict want = len < (size_t)size ? QUIC_LB_SHORT : QUIC_LB_OK;
                    cr_expect_eq(quic_lb_decode(&lb, p, len, &got), want);
                    cr_expect_eq(memcmp(&got, &id, sizeof id) == 0, want == QUIC_LB_OK, "%s %u+%u of %zu", isas[isa],
                                 config.server_id_len, config.nonce_len, len);
                }
            }
        }
    }
    cr_expect_eq(n, 2 * 120);
}

Test(quic_lb, a_burst_decodes_as_one_by_one)
{
    // Two services with all kinds of rules; CIDs mostly of four passes, some short, some unknown.
    static struct quic_lb services[2];
    static const uint8_t lengths[2][QUIC_LB_CONFIGS - 1][2] = {{{3, 4}, {8, 10}, {15, 4}, {8, 8}, {4, 7}, {1, 18}},
                                                               {{3, 4}, {9, 9}, {2, 5}, {12, 7}, {10, 6}, {6, 13}}};
    struct quic_lb_scheme scheme = {.mask = 0xe0, .value = 0xc0, .offset_bits = 11, .bits = 24};
    for (unsigned s = 0; s < 2; s++) {
        for (uint8_t i = 0; i < QUIC_LB_CONFIGS - 1; i++) {
            struct quic_lb_config config = {
                .server_id_len = lengths[s][i][0], .nonce_len = lengths[s][i][1], .encrypted = i != 5 || s == 1};
            random_octets(config.key, sizeof config.key);
            cr_assert_eq(quic_lb_add_config(&services[s], i, &config), 0);
        }
        cr_assert_eq(quic_lb_add_scheme(&services[s], &scheme), 0);
    }
    unsigned seen[4] = {0};
    for (unsigned turn = 0; turn < 4000; turn++) {
        uint8_t cids[40][QUIC_LB_CID_MAX];
        struct quic_lb_job jobs[40], want[40];
        size_t n = turn % 41;
        memset(jobs, 0, sizeof jobs);
        for (size_t i = 0; i < n; i++) {
            random_octets(cids[i], sizeof cids[i]);
            if (turn % 4 < 2) // one rule of each service in all lanes: of four passes, of a single pass
                cids[i][0] = (uint8_t)((cids[i][0] & 0x1f) | (turn % 4 == 1 ? 0x60 : 0));
            uint8_t len = random_octet() % 4 != 0 ? QUIC_LB_CID_MAX : (uint8_t)(random_octet() % (QUIC_LB_CID_MAX + 1));
            jobs[i] = (struct quic_lb_job){.lb = &services[random_octet() >> 7], .cid = cids[i], .cid_len = len};
            want[i] = jobs[i];
            cr_assert_eq(quic_lb_decode_select("portable"), 0);
            want[i].verdict = (uint8_t)quic_lb_decode(want[i].lb, want[i].cid, want[i].cid_len, &want[i].id);
            seen[want[i].verdict]++;
        }
        FOR_EACH_ISA(isa)
        {
            struct quic_lb_job got[40];
            memcpy(got, jobs, sizeof got);
            quic_lb_decode_burst(got, n);
            for (size_t i = 0; i < n; i++) {
                cr_assert_eq(got[i].verdict, want[i].verdict, "%s", isas[isa]);
                cr_assert_arr_eq(&got[i].id, &want[i].id, sizeof got[i].id, "%s", isas[isa]);
            }
        }
    }
    cr_expect(seen[QUIC_LB_OK] > 1000 && seen[QUIC_LB_SHORT] > 1000 && seen[QUIC_LB_RESERVED] > 1000);
}

Test(quic_lb, unroutable_for_a_reason)
{
    struct quic_lb_config config = {.server_id_len = 3, .nonce_len = 4};
    memset(&lb, 0, sizeof lb);
    cr_assert_eq(quic_lb_add_config(&lb, 2, &config), 0);
    FOR_EACH_ISA(isa)
    {
        for (unsigned first = 0; first < 256; first++) {
            uint8_t cid[QUIC_LB_CID_MAX] = {(uint8_t)first};
            struct quic_lb_id id;
            enum quic_lb_verdict want = first >> 5 == 2   ? QUIC_LB_OK
                                        : first >> 5 == 7 ? QUIC_LB_RESERVED
                                                          : QUIC_LB_NO_CONFIG;
            cr_expect_eq(quic_lb_decode(&lb, cid, sizeof cid, &id), want);
            cr_expect_eq(quic_lb_decode(&lb, cid, 7, &id), want == QUIC_LB_OK ? QUIC_LB_SHORT : want);
            cr_expect_eq(quic_lb_decode(&lb, cid, 1, &id), want == QUIC_LB_OK ? QUIC_LB_SHORT : want);
            cr_expect_eq(quic_lb_decode(&lb, cid, 0, &id), QUIC_LB_SHORT);
        }
        // DTLS: content type first, then 0xfe or the sequence number where a short header has the CID.
        static const uint8_t dtls[] = {0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 1};
        struct quic_lb_id id;
        cr_expect_eq(quic_lb_decode(&lb, dtls, sizeof dtls, &id), QUIC_LB_RESERVED);
    }
    for (unsigned i = QUIC_LB_OK; i <= QUIC_LB_SHORT; i++)
        for (unsigned j = QUIC_LB_OK; j < i; j++)
            cr_expect_str_neq(quic_lb_verdict_text(i), quic_lb_verdict_text(j));
}

Test(quic_lb, schemes)
{
    static const struct {
        struct quic_lb_scheme scheme;
        const char *cid, *server_id;
    } cases[] = {
        {{0, 0, 0, 64}, "0102030405060708", "0102030405060708"},
        {{0, 0, 96, 64}, "00000000000000000000000001020304050607ff", "01020304050607ff"},
        {{0xc0, 0x40, 2, 16}, "6b4d800000000000", "ad36"},
        {{0xc0, 0x80, 8, 24}, "8baabbccdd", "aabbcc"},
        {{0xff, 0xc3, 8, 32}, "c3aabbccdd", "aabbccdd"},
        {{0, 0, 7, 57}, "01ffffffffffffffff", "01ffffffffffffff"},
        {{0, 0, 1, 1}, "40", "01"},
        {{0, 0, 159, 1}, "0000000000000000000000000000000000000001", "01"},
        {{0, 0, 13, 9}, "000557ff", "0155"},
    };
    struct guard guard = guard_make(64);
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t cid[64] = {0};
        struct quic_lb_id want = {0}, id;
        size_t len = from_hex(cases[i].cid, cid);
        want.len = (uint8_t)from_hex(cases[i].server_id, want.octets);
        memset(&lb, 0, sizeof lb);
        cr_assert_eq(quic_lb_add_scheme(&lb, &cases[i].scheme), 0);
        size_t size = (cases[i].scheme.offset_bits + cases[i].scheme.bits + 7u) / 8;
        FOR_EACH_ISA(isa)
        {
            for (size_t n = 1; n <= len + 9; n++) {
                memset(&id, 0xa5, sizeof id);
                enum quic_lb_verdict verdict = quic_lb_decode(&lb, guard_copy(&guard, cid, n), n, &id);
                cr_expect_eq(verdict, n < size ? QUIC_LB_SHORT : QUIC_LB_OK, "%zu of %s", n, cases[i].cid);
                cr_expect_eq(memcmp(&id, &want, sizeof id) == 0, n >= size, "%zu of %s", n, cases[i].cid);
            }
        }
        cr_expect_eq(quic_lb_encode(&lb, cid[0], &want, cid, cid), -EINVAL);
        cr_expect_eq(quic_lb_open(&lb, cid, len, &id, cid), -EINVAL);
    }
}

Test(quic_lb, configurations_that_cannot_be)
{
    static const struct {
        uint8_t config_id, server_id_len, nonce_len;
        int want;
    } cases[] = {
        {7, 3, 4, -EINVAL},   {8, 3, 4, -EINVAL},  {0, 0, 4, -EINVAL},  {0, 16, 4, -EINVAL},
        {0, 3, 3, -EINVAL},   {0, 1, 19, -EINVAL}, {0, 2, 18, -EINVAL}, {0, 15, 5, -EINVAL},
        {0, 255, 4, -EINVAL}, {0, 15, 4, 0},       {0, 1, 18, -EEXIST}, {6, 1, 18, 0},
    };
    memset(&lb, 0, sizeof lb);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct quic_lb_config config = {.server_id_len = cases[i].server_id_len, .nonce_len = cases[i].nonce_len};
        cr_expect_eq(quic_lb_add_config(&lb, cases[i].config_id, &config), cases[i].want, "%zu", i);
    }
    static const struct {
        struct quic_lb_scheme scheme;
        int want;
    } schemes[] = {
        {{0xf0, 0x21, 0, 8}, -EINVAL},  {{0xff, 0x20, 0, 0}, -EINVAL},    {{0xff, 0x20, 0, 65}, -EINVAL},
        {{0xff, 0x20, 1, 64}, -EINVAL}, {{0xff, 0x20, 104, 64}, -EINVAL}, {{0, 0, 0, 8}, -EEXIST},
        {{0xff, 0xc0, 0, 8}, -EEXIST},  {{0xfe, 0x20, 0, 8}, 0},          {{0xff, 0x21, 0, 8}, -EEXIST},
    };
    for (size_t i = 0; i < COUNT(schemes); i++)
        cr_expect_eq(quic_lb_add_scheme(&lb, &schemes[i].scheme), schemes[i].want, "%zu", i);
    struct quic_lb_config config = {.server_id_len = 1, .nonce_len = 4};
    cr_expect_eq(quic_lb_add_config(&lb, 1, &config), -EEXIST, "a scheme has two of its first octets");
    for (uint8_t i = 1; i < QUIC_LB_SCHEMES; i++)
        cr_expect_eq(quic_lb_add_scheme(&lb, &(struct quic_lb_scheme){0xff, (uint8_t)(0x40 + i), 0, 8}), 0);
    cr_expect_eq(quic_lb_add_scheme(&lb, &(struct quic_lb_scheme){0xff, 0x50, 0, 8}), -ENOSPC);
    struct quic_lb_id id = {.len = 14};
    uint8_t cid[QUIC_LB_CID_MAX], nonce[QUIC_LB_NONCE_MAX] = {0};
    cr_expect_eq(quic_lb_encode(&lb, 0, &id, nonce, cid), -EINVAL, "length of another configuration");
    cr_expect_eq(quic_lb_encode(&lb, 0xe0, &id, nonce, cid), -EINVAL);
    cr_expect_eq(quic_lb_open(&lb, cid, 0, &id, nonce), -EINVAL);
}
