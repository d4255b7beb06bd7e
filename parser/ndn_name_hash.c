// SPDX-License-Identifier: Apache-2.0
/*
 * Keyed hash of a Name and of all its prefixes in one pass. The state is 64 bits and is carried from component to
 * component: hash[i + 1] = step(hash[i], component i), hash[0] from the key. A step covers a whole component TLV,
 * type and length octets included, so that where a component ends is part of what is hashed.
 */
#include "parser/ndn_name.h"

#include <errno.h>
#include <string.h>

#include "parser/cursor.h"
#include "parser/ndn_tlv.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define HAVE_AES 1
#else
#define HAVE_AES 0
#endif

static uint64_t load_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/** Octets of the component at @p off behind the depth limit; the Name was parsed before, so it is well-formed. */
static size_t comp_size(const struct ndn_name *name, size_t off)
{
    struct cursor c = cursor_make(name->value + off, name->len - off);
    struct tlv comp;
    // Lenient: whatever forms the parser let pass are read alike.
    return tlv_read(&c, true, &comp) == VERDICT_OK ? (size_t)(c.p - (name->value + off)) : name->len - off;
}

/* Portable: SipHash-1-3 of the component under (key0 ^ state, key1). */

#define ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))

static inline __attribute__((always_inline)) void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = ROTL(v[1], 13) ^ v[0];
    v[0] = ROTL(v[0], 32);
    v[2] += v[3];
    v[3] = ROTL(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = ROTL(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = ROTL(v[1], 17) ^ v[2];
    v[2] = ROTL(v[2], 32);
}

static uint64_t sip_step(uint64_t state, const uint8_t *comp, size_t len, const struct ndn_name_key *key)
{
    uint64_t k0 = load_u64(key->octets + 16) ^ state, k1 = load_u64(key->octets + 24);
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
                     k1 ^ 0x7465646279746573};
    size_t i = 0;
    for (; len - i >= 8; i += 8) {
        uint64_t m = load_u64(comp + i);
        v[3] ^= m;
        sip_round(v);
        v[0] ^= m;
    }
    uint64_t last = (uint64_t)len << 56;
    for (size_t j = 0; i + j < len; j++)
        last |= (uint64_t)comp[i + j] << (8 * j);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v);
    sip_round(v);
    sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void hash_portable(struct ndn_name *name, const struct ndn_name_key *key)
{
    uint64_t state = load_u64(key->octets);
    name->hash[0] = state;
    unsigned depth = name->depth;
    for (unsigned i = 0; i < depth; i++) {
        state = sip_step(state, name->value + name->end[i], (size_t)(name->end[i + 1] - name->end[i]), key);
        name->hash[i + 1] = state;
    }
    for (size_t off = name->end[depth]; off < name->len;) {
        size_t size = comp_size(name, off);
        state = sip_step(state, name->value + off, size, key);
        off += size;
    }
    name->hash_full = state;
}

static uint64_t extend_portable(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                const struct ndn_name_key *key)
{
    return sip_step(name->hash_full, comp, len, key);
}

#if HAVE_AES
#define AES_TARGET __attribute__((target("aes,sse4.1")))

/** Round keys; the state starts as the first eight octets of the key. */
struct aes_keys {
    __m128i white, inner, outer;
};

static inline AES_TARGET __attribute__((always_inline)) struct aes_keys aes_keys(const struct ndn_name_key *key)
{
    return (struct aes_keys){
        .white = _mm_loadu_si128((const __m128i *)(const void *)(key->octets + 16)),
        .inner = _mm_loadu_si128((const __m128i *)(const void *)(key->octets + 32)),
        .outer = _mm_loadu_si128((const __m128i *)(const void *)(key->octets + 48)),
    };
}

/** The octets of a component shorter than 16, gathered by loads that overlap but never leave it. */
static inline AES_TARGET __attribute__((always_inline)) __m128i aes_load_short(const uint8_t *p, size_t len)
{
    if (len >= 8)
        return _mm_set_epi64x((int64_t)load_u64(p + len - 8), (int64_t)load_u64(p));
    if (len >= 4) {
        uint32_t a, b;
        memcpy(&a, p, sizeof a);
        memcpy(&b, p + len - 4, sizeof b);
        return _mm_set_epi64x(0, (int64_t)((uint64_t)b << 32 | a));
    }
    if (len == 0)
        return _mm_setzero_si128();
    return _mm_set_epi64x(0, (int64_t)((uint64_t)p[0] | (uint64_t)p[len >> 1] << 8 | (uint64_t)p[len - 1] << 16));
}

/**
 * One component. Each block is whitened and goes through one round of its own, which does not wait for the state,
 * then through another together with the state: the chain from component to component is one round long.
 */
static inline AES_TARGET __attribute__((always_inline)) __m128i aes_step(__m128i state, const uint8_t *p, size_t len,
                                                                         const struct aes_keys *k)
{
    __m128i size = _mm_cvtsi64_si128((int64_t)len);
    __m128i block;
    if (len <= 16) {
        block = len == 16 ? _mm_loadu_si128((const __m128i *)(const void *)p) : aes_load_short(p, len);
    } else {
        size_t i = 0;
        for (; len - i > 16; i += 16) {
            block = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
            block = _mm_aesenc_si128(_mm_xor_si128(block, k->white), k->inner);
            state = _mm_aesenc_si128(_mm_xor_si128(state, block), k->outer);
        }
        block = _mm_loadu_si128((const __m128i *)(const void *)(p + len - 16));
    }
    block = _mm_aesenc_si128(_mm_xor_si128(block, k->white), _mm_xor_si128(k->inner, size));
    return _mm_aesenc_si128(_mm_xor_si128(state, block), k->outer);
}

static AES_TARGET void hash_aes(struct ndn_name *name, const struct ndn_name_key *key)
{
    struct aes_keys k = aes_keys(key);
    __m128i state = _mm_loadl_epi64((const __m128i *)(const void *)key->octets);
    unsigned depth = name->depth;
    const uint8_t *value = name->value;
    _mm_storel_epi64((__m128i *)(void *)&name->hash[0], state);
    size_t off = 0;
    for (unsigned i = 1; i <= depth; i++) {
        size_t end = name->end[i];
        // Only the 64 bits that are stored go on, so that a prefix and its parent need no more to be continued.
        state = _mm_move_epi64(aes_step(state, value + off, end - off, &k));
        _mm_storel_epi64((__m128i *)(void *)&name->hash[i], state);
        off = end;
    }
    while (off < name->len) {
        size_t size = comp_size(name, off);
        state = _mm_move_epi64(aes_step(state, value + off, size, &k));
        off += size;
    }
    _mm_storel_epi64((__m128i *)(void *)&name->hash_full, state);
}

static AES_TARGET uint64_t extend_aes(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                      const struct ndn_name_key *key)
{
    struct aes_keys k = aes_keys(key);
    __m128i state = _mm_loadl_epi64((const __m128i *)(const void *)&name->hash_full);
    return (uint64_t)_mm_cvtsi128_si64(aes_step(state, comp, len, &k));
}

static bool cpu_has_aes(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1");
}
#endif

void (*ndn_name_hash)(struct ndn_name *name, const struct ndn_name_key *key) = hash_portable;

uint64_t (*ndn_name_hash_extend)(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                 const struct ndn_name_key *key) = extend_portable;

int ndn_name_hash_select(const char *isa)
{
    if (strcmp(isa, "portable") == 0) {
        ndn_name_hash = hash_portable;
        ndn_name_hash_extend = extend_portable;
        return 0;
    }
#if HAVE_AES
    if (strcmp(isa, "aes") == 0 && cpu_has_aes()) {
        ndn_name_hash = hash_aes;
        ndn_name_hash_extend = extend_aes;
        return 0;
    }
#endif
    return -ENOTSUP;
}

void ndn_name_hash_init(void)
{
    if (ndn_name_hash_select("aes") != 0)
        (void)ndn_name_hash_select("portable");
}
