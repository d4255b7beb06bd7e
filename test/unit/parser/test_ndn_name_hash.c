// SPDX-License-Identifier: Apache-2.0
/* Each test runs for every implementation that the CPU has. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"
#include "test/cases/bad_inputs.h"
#include "test/unit/parser/guard.h"

static struct ndn_name_key key, other_key;
static const char *const isas[] = {"aes", "portable"};

static void make_keys(void)
{
    for (size_t i = 0; i < sizeof key.octets; i++) {
        key.octets[i] = (uint8_t)(i * 37 + 11);
        other_key.octets[i] = key.octets[i];
    }
    other_key.octets[0] ^= 1;
}

#define FOR_EACH_ISA(isa)                                           \
    for (size_t isa = 0; isa < sizeof isas / sizeof isas[0]; isa++) \
        if (ndn_name_hash_select(isas[isa]) == 0)

static struct ndn_name hashed(const uint8_t *value, size_t len, const struct ndn_name_key *k)
{
    struct ndn_name name;
    cr_assert_eq(ndn_name_parse(value, len, true, &name), VERDICT_OK);
    ndn_name_hash(&name, k);
    return name;
}

Test(ndn_name_hash, selection, .init = make_keys)
{
    cr_expect_eq(ndn_name_hash_select("portable"), 0);
    void (*portable)(struct ndn_name *, const struct ndn_name_key *) = ndn_name_hash;
    cr_expect_eq(ndn_name_hash_select("vector processor"), -ENOTSUP);
    cr_expect_eq(ndn_name_hash, portable);
    ndn_name_hash_init();
#if defined(__x86_64__)
    cr_expect_eq(ndn_name_hash != portable, __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1"));
#endif
}

/** A Name of components of every size from 0 to 40 octets and some longer ones. */
static size_t many_sizes(uint8_t *p, uint32_t seed)
{
    uint8_t *start = p;
    for (unsigned size = 0; size < 36; size++) {
        size_t len = size < 31 ? size + seed % 11 : size * 5;
        p += ndn_tlv_put_var(p, NDN_GENERIC);
        p += ndn_tlv_put_var(p, len);
        for (size_t i = 0; i < len; i++)
            *p++ = (uint8_t)(seed = seed * 1664525 + 1013904223, seed >> 24);
    }
    return (size_t)(p - start);
}

Test(ndn_name_hash, hash_of_a_prefix_is_the_hash_at_its_depth, .init = make_keys)
{
    uint8_t value[NDN_NAME_MAX];
    for (uint32_t seed = 0; seed < 22; seed++) {
        size_t len = many_sizes(value, seed);
        FOR_EACH_ISA(isa)
        {
            struct ndn_name whole = hashed(value, len, &key);
            cr_assert_eq(whole.depth, NDN_NAME_DEPTH);
            for (unsigned i = 0; i <= whole.depth; i++) {
                struct ndn_name prefix = hashed(value, whole.end[i], &key);
                cr_expect_eq(prefix.depth, i);
                cr_expect_arr_eq(prefix.hash, whole.hash, (i + 1) * sizeof prefix.hash[0], "%s %u", isas[isa], i);
                cr_expect_eq(prefix.hash_full, whole.hash[i], "%s %u", isas[isa], i);
                for (unsigned j = 0; j < i; j++)
                    cr_expect_neq(whole.hash[i], whole.hash[j]);
            }
            cr_expect_neq(whole.hash_full, whole.hash[whole.depth], "components beyond the depth count");
        }
    }
}

Test(ndn_name_hash, extending_equals_hashing_the_longer_name, .init = make_keys)
{
    uint8_t value[NDN_NAME_MAX];
    size_t len = many_sizes(value, 7);
    FOR_EACH_ISA(isa)
    {
        struct ndn_name whole = hashed(value, len, &key);
        for (unsigned i = 0; i < whole.depth; i++) {
            struct ndn_name prefix = hashed(value, whole.end[i], &key);
            size_t size = (size_t)(whole.end[i + 1] - whole.end[i]);
            cr_expect_eq(ndn_name_hash_extend(&prefix, value + whole.end[i], size, &key), whole.hash[i + 1], "%s %u",
                         isas[isa], i);
        }
        // Beyond the depth too, one component at a time.
        for (size_t off = whole.end[NDN_NAME_DEPTH]; off < len;) {
            struct ndn_name shorter = hashed(value, off, &key);
            size_t size = 2 + (size_t)value[off + 1];
            uint64_t hash = ndn_name_hash_extend(&shorter, value + off, size, &key);
            off += size;
            cr_expect_eq(hash, hashed(value, off, &key).hash_full, "%s %zu", isas[isa], off);
        }
    }
}

Test(ndn_name_hash, every_hash_depends_on_the_key, .init = make_keys)
{
    uint8_t value[NDN_NAME_MAX];
    size_t len = many_sizes(value, 3);
    FOR_EACH_ISA(isa)
    {
        struct ndn_name a = hashed(value, len, &key), b = hashed(value, len, &other_key);
        for (unsigned i = 0; i <= a.depth; i++)
            cr_expect_neq(a.hash[i], b.hash[i], "%s %u", isas[isa], i);
        cr_expect_neq(a.hash_full, b.hash_full);
    }
}

/** Flipping any bit of the key or of the name changes about half of the hash. */
Test(ndn_name_hash, every_bit_of_key_and_name_spreads, .init = make_keys)
{
    uint8_t value[64];
    size_t len = bad_input_expand("080141 080B[42]11 0820[43]32 ", 0, value);
    FOR_EACH_ISA(isa)
    {
        uint64_t hash = hashed(value, len, &key).hash_full;
        size_t used =
            strcmp(isas[isa], "aes") == 0 ? sizeof key.octets : 24; // SipHash: 16 octets and where the state starts
        for (size_t bit = 0; bit < 8 * used; bit++) {
            struct ndn_name_key flipped = key;
            flipped.octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int changed = __builtin_popcountll(hash ^ hashed(value, len, &flipped).hash_full);
            cr_expect(changed > 8 && changed < 56, "%s: key bit %zu changes %d bits", isas[isa], bit, changed);
        }
        // Octets of the values only: the headers have to stay what they are.
        for (size_t at = 5; at < len; at++) {
            if (at == 16 || at == 17)
                continue;
            value[at] ^= 1;
            int changed = __builtin_popcountll(hash ^ hashed(value, len, &key).hash_full);
            value[at] ^= 1;
            cr_expect(changed > 8 && changed < 56, "%s: octet %zu changes %d bits", isas[isa], at, changed);
        }
    }
}

Test(ndn_name_hash, component_boundaries_count, .init = make_keys)
{
    static const char *const recipes[] = {
        "080461626364",      "08026162 08026364", "080161 0803626364", "0803616263 080164", "080461626364 0800",
        "0800 080461626364", "090461626364",      "08056162636400",    "0804616263640800",
    };
    FOR_EACH_ISA(isa)
    {
        uint64_t hash[9];
        uint8_t value[64];
        for (size_t i = 0; i < 8; i++) {
            size_t len = bad_input_expand(recipes[i], 0, value);
            hash[i] = hashed(value, len, &key).hash_full;
            for (size_t j = 0; j < i; j++)
                cr_expect_neq(hash[i], hash[j], "%s: %s and %s", isas[isa], recipes[i], recipes[j]);
        }
        cr_expect_eq(hashed(value, bad_input_expand(recipes[8], 0, value), &key).hash_full, hash[4]);
    }
}

Test(ndn_name_hash, where_the_octets_are_does_not_matter_and_none_is_read_beyond, .init = make_keys)
{
    struct guard guard = guard_make(NDN_NAME_MAX);
    uint8_t value[NDN_NAME_MAX], shifted[NDN_NAME_MAX + 16];
    for (size_t comp = 0; comp < 70; comp++) {
        uint8_t *p = value;
        for (unsigned i = 0; i < 3; i++) {
            *p++ = NDN_GENERIC;
            *p++ = (uint8_t)comp;
            memset(p, (int)(comp + i), comp);
            p += comp;
        }
        size_t len = (size_t)(p - value);
        FOR_EACH_ISA(isa)
        {
            uint64_t hash = hashed(value, len, &key).hash_full;
            cr_expect_eq(hashed(guard_copy(&guard, value, len), len, &key).hash_full, hash, "%s %zu", isas[isa], comp);
            for (size_t shift = 1; shift < 16; shift++) {
                memset(shifted, 0xee, sizeof shifted);
                memcpy(shifted + shift, value, len);
                cr_expect_eq(hashed(shifted + shift, len, &key).hash_full, hash, "%s %zu", isas[isa], comp);
            }
        }
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static size_t collisions(uint64_t *hash, size_t n, uint64_t mask)
{
    for (size_t i = 0; i < n; i++)
        hash[i] &= mask;
    qsort(hash, n, sizeof *hash, compare);
    size_t same = 0;
    for (size_t i = 1; i < n; i++)
        same += hash[i] == hash[i - 1];
    return same;
}

/** Names as applications make them: text, counters in text and in binary, long common prefixes. */
static size_t structured_name(uint8_t *p, uint32_t i)
{
    char text[64];
    uint8_t *start = p;
    int n = snprintf(text, sizeof text, "flow%04u", i / 4096);
    *p++ = NDN_GENERIC;
    *p++ = (uint8_t)n;
    p = (uint8_t *)memcpy(p, text, (size_t)n) + n;
    if (i % 2 == 0) {
        n = snprintf(text, sizeof text, "%08x", i);
        *p++ = NDN_GENERIC;
        *p++ = (uint8_t)n;
        p = (uint8_t *)memcpy(p, text, (size_t)n) + n;
    } else {
        *p++ = 50;
        p[0] = (uint8_t)ndn_tlv_put_nni(p + 1, i / 2);
        p += 1 + p[0];
    }
    return (size_t)(p - start);
}

Test(ndn_name_hash, a_million_structured_names_collide_no_more_than_by_chance, .init = make_keys, .timeout = 120)
{
    enum { N = 1 << 20 };
    uint64_t *hash = malloc(N * sizeof *hash), *scratch = malloc(N * sizeof *hash);
    cr_assert(hash != NULL && scratch != NULL);
    FOR_EACH_ISA(isa)
    {
        uint8_t value[64];
        for (uint32_t i = 0; i < N; i++)
            hash[i] = hashed(value, structured_name(value, i), &key).hash_full;
        memcpy(scratch, hash, N * sizeof *hash);
        // n^2 / 2 / 2^32 = 128 pairs are expected in 32 bits, with a standard deviation of 11.
        size_t low = collisions(scratch, N, UINT32_MAX);
        cr_expect(low > 60 && low < 200, "%s: %zu collisions in the low half", isas[isa], low);
        memcpy(scratch, hash, N * sizeof *hash);
        size_t high = collisions(scratch, N, (uint64_t)UINT32_MAX << 32);
        cr_expect(high > 60 && high < 200, "%s: %zu collisions in the high half", isas[isa], high);
        cr_expect_eq(collisions(hash, N, UINT64_MAX), 0, "%s", isas[isa]);
    }
    free(hash);
    free(scratch);
}
