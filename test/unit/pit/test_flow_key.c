// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "pit/flow_key.h"

static const struct flow_hash_key hash_key = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

Test(flow_key, every_bit_counts)
{
    uint8_t src[16] = {1, 2, 3}, dst[16] = {4, 5, 6}, ports[4] = {7, 8, 9, 10}, cid[20] = {11};
    for (size_t addr_len = 4; addr_len <= 16; addr_len += 12) {
        struct flow_key key, other;
        flow_key_tuple(&key, src, dst, addr_len, ports);
        flow_key_add_scid(&key, cid, 20);
        uint64_t hash = flow_key_hash(&key, &hash_key);
        cr_expect_eq(key.len, 2 * addr_len + 24);
        for (unsigned bit = 0; bit < 8u * key.len; bit++) {
            other = key;
            other.octets[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cr_expect_neq(flow_key_hash(&other, &hash_key), hash, "bit %u", bit);
        }
        for (unsigned bit = 0; bit < 64; bit++) {
            struct flow_hash_key changed = {hash_key.k0 ^ UINT64_C(1) << bit, hash_key.k1};
            cr_expect_neq(flow_key_hash(&key, &changed), hash);
            changed = (struct flow_hash_key){hash_key.k0, hash_key.k1 ^ UINT64_C(1) << bit};
            cr_expect_neq(flow_key_hash(&key, &changed), hash);
        }
    }
}

Test(flow_key, a_tuple_is_where_the_header_says)
{
    static const uint8_t src[16] = "0123456789abcdef", dst[16] = "ghijklmnopqrstuv", ports[4] = "wxyz";
    struct flow_key key;
    memset(&key, 0xa5, sizeof key);
    flow_key_tuple(&key, src, dst, 4, ports);
    cr_expect(key.kind == FLOW_KEY_TUPLE && key.addr_len == 4 && key.cid_len == 0 && key.len == 12);
    cr_expect_arr_eq(key.octets, "wxyz0123ghij\0\0", 14);
    memset(&key, 0xa5, sizeof key);
    flow_key_tuple(&key, src, dst, 16, ports);
    cr_expect(key.kind == FLOW_KEY_TUPLE && key.addr_len == 16 && key.cid_len == 0 && key.len == 36);
    cr_expect_arr_eq(key.octets, "wxyz0123456789abcdefghijklmnopqrstuv\0", 37);
    for (unsigned i = key.len; i < sizeof key.octets; i++)
        cr_expect_eq(key.octets[i], 0);
}

Test(flow_key, kinds_and_lengths_are_apart)
{
    static const uint8_t zeros[32];
    struct flow_key keys[64];
    unsigned n = 0;
    flow_key_tuple(&keys[n++], zeros, zeros, 4, zeros);
    flow_key_tuple(&keys[n++], zeros, zeros, 16, zeros);
    for (size_t len = 0; len <= FLOW_KEY_CID_MAX; len++) {
        flow_key_dcid(&keys[n++], zeros, len);
        flow_key_tuple(&keys[n], zeros, zeros, 4, zeros);
        flow_key_add_scid(&keys[n++], zeros, len);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < i; j++) {
            cr_expect_neq(memcmp(&keys[i], &keys[j], sizeof keys[i]), 0, "%u %u", i, j);
            cr_expect_neq(flow_key_hash(&keys[i], &hash_key), flow_key_hash(&keys[j], &hash_key), "%u %u", i, j);
        }
    }
}

Test(flow_key, longer_connection_ids_are_cut)
{
    uint8_t cid[255];
    memset(cid, 7, sizeof cid);
    struct flow_key a, b;
    flow_key_dcid(&a, cid, 255);
    flow_key_dcid(&b, cid, 20);
    cr_expect_arr_eq(&a, &b, sizeof a);
    flow_key_tuple(&a, cid, cid, 16, cid);
    b = a;
    flow_key_add_scid(&a, cid, 255);
    flow_key_add_scid(&b, cid, 20);
    cr_expect_arr_eq(&a, &b, sizeof a);
}
