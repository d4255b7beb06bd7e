// SPDX-License-Identifier: Apache-2.0
/*
 * Keyed hash of a Name and of all its prefixes in one pass: a state goes from component to component, and after each
 * of them 64 bits of it are the hash of the prefix so far. A step covers a whole component TLV, type and length
 * octets included, so that where a component ends is part of what is hashed.
 */
#include "parser/ndn_name.h"

#include <errno.h>
#include <string.h>

#include "parser/cursor.h"
#include "parser/ndn_name_parse.h"

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
    uint64_t k0 = load_u64(key->octets + 8) ^ state, k1 = load_u64(key->octets + 16);
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

static bool read_portable(struct ndn_name *name, const struct ndn_name_key *key)
{
    size_t off;
    unsigned n = ndn_name_walk(name, &off);
    ndn_name_walked(name, n);
    if (off != name->len || n == 0)
        return false;
    hash_portable(name, key);
    return true;
}

static uint64_t extend_portable(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                const struct ndn_name_key *key)
{
    return sip_step(name->hash_full, comp, len, key);
}

#if HAVE_AES
#define AES_TARGET __attribute__((target("aes,avx")))
#define AES_INLINE static inline AES_TARGET __attribute__((always_inline))

/** The four parts of the key: where the state starts, and what is added before and after the rounds. */
struct aes_keys {
    __m128i start, white, inner, middle;
};

AES_INLINE __m128i aes_load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

AES_INLINE struct aes_keys aes_keys(const struct ndn_name_key *key)
{
    return (struct aes_keys){
        .start = aes_load(key->octets),
        .white = aes_load(key->octets + 16),
        .inner = aes_load(key->octets + 32),
        .middle = aes_load(key->octets + 48),
    };
}

/** The octets of a component of 8 to 16, by two loads that may overlap but never leave it. */
AES_INLINE __m128i aes_load_halves(const uint8_t *p, size_t len)
{
    return _mm_set_epi64x((int64_t)load_u64(p + len - 8), (int64_t)load_u64(p));
}

/** The same for one of less than 8. */
AES_INLINE __m128i aes_load_short(const uint8_t *p, size_t len)
{
    if (len >= 4) {
        uint32_t a, b;
        memcpy(&a, p, sizeof a);
        memcpy(&b, p + len - 4, sizeof b);
        return _mm_cvtsi64_si128((int64_t)((uint64_t)b << 32 | a));
    }
    if (len == 0)
        return _mm_setzero_si128();
    return _mm_cvtsi64_si128((int64_t)((uint64_t)p[0] | (uint64_t)p[len >> 1] << 8 | (uint64_t)p[len - 1] << 16));
}

/**
 * Take one block into the state. The block goes through two rounds of its own, which wait for nothing, and a third
 * with the state: of any two rounds half the result would depend on too little of the block, and more than one on
 * the state would lengthen the chain from component to component.
 */
AES_INLINE __m128i aes_block(__m128i state, __m128i block, __m128i inner, const struct aes_keys *k)
{
    block = _mm_aesenc_si128(_mm_xor_si128(block, k->white), inner);
    block = _mm_aesenc_si128(block, k->middle);
    return _mm_aesenc_si128(_mm_xor_si128(state, block), k->white);
}

/** A component of any size; its size goes in with its last block, which overlaps the one before when they do not come
 * out even.
 */
static AES_TARGET __attribute__((noinline)) __m128i aes_step_any(__m128i state, const uint8_t *p, size_t len,
                                                                 const struct ndn_name_key *key)
{
    struct aes_keys k = aes_keys(key);
    __m128i sized = _mm_xor_si128(k.inner, _mm_cvtsi32_si128((int)len));
    if (len <= 16)
        return aes_block(state, len < 8 ? aes_load_short(p, len) : aes_load_halves(p, len), sized, &k);
    for (size_t i = 0; len - i > 16; i += 16)
        state = aes_block(state, aes_load(p + i), k.inner, &k);
    return aes_block(state, aes_load(p + len - 16), sized, &k);
}

/** One component. Those of 8 to 16 octets, type and length included, are the most frequent. */
AES_INLINE __m128i aes_step(__m128i state, const uint8_t *p, size_t len, const struct aes_keys *k,
                            const struct ndn_name_key *key)
{
    if (__builtin_expect(len - 8 > 8, 0))
        return aes_step_any(state, p, len, key);
    __m128i sized = _mm_xor_si128(k->inner, _mm_cvtsi32_si128((int)len));
    return aes_block(state, aes_load_halves(p, len), sized, k);
}

AES_INLINE uint64_t aes_hash(__m128i state)
{
    return (uint64_t)_mm_cvtsi128_si64(state);
}

/** The components that have no hash of their own. */
static AES_TARGET __attribute__((noinline)) __m128i aes_rest(__m128i state, const struct ndn_name *name,
                                                             const struct ndn_name_key *key)
{
    for (size_t off = name->end[name->depth]; off < name->len;) {
        size_t size = comp_size(name, off);
        state = aes_step_any(state, name->value + off, size, key);
        off += size;
    }
    return state;
}

static AES_TARGET void hash_aes(struct ndn_name *name, const struct ndn_name_key *key)
{
    struct aes_keys k = aes_keys(key);
    __m128i state = k.start;
    unsigned depth = name->depth;
    const uint8_t *value = name->value;
    name->hash[0] = aes_hash(state);
    size_t off = 0;
    for (unsigned i = 1; i <= depth; i++) {
        size_t end = name->end[i];
        state = aes_step(state, value + off, end - off, &k, key);
        name->hash[i] = aes_hash(state);
        off = end;
    }
    name->hash_full =
        __builtin_expect(name->n_comps > depth, 0) ? aes_hash(aes_rest(state, name, key)) : name->hash[depth];
}

static AES_TARGET bool read_aes(struct ndn_name *name, const struct ndn_name_key *key)
{
    struct aes_keys k = aes_keys(key);
    __m128i state = k.start;
    const uint8_t *value = name->value;
    size_t at = 0, left = name->len;
    unsigned n = 0;
    name->hash[0] = aes_hash(state);
    name->end[0] = 0;
    while (left >= 2 && n < NDN_NAME_DEPTH) {
        const uint8_t *comp = value + at;
        size_t size = 2 + (size_t)comp[1];
        if (__builtin_expect(size > left, 0))
            return false;
        if (__builtin_expect(comp[0] == NDN_GENERIC && size - 8 <= 8, 1)) {
            // As aes_step().
            __m128i sized = _mm_xor_si128(k.inner, _mm_cvtsi32_si128((int)size));
            state = aes_block(state, aes_load_halves(comp, size), sized, &k);
        } else {
            if (comp[0] <= NDN_PARAMS_DIGEST || comp[0] >= 0xfd || comp[1] >= 0xfd)
                return false;
            state = aes_step_any(state, comp, size, key);
        }
        at += size;
        left -= size;
        name->end[++n] = (uint16_t)at;
        name->hash[n] = aes_hash(state);
    }
    if (left != 0 || n == 0)
        return false;
    name->n_comps = (uint16_t)n;
    name->depth = (uint8_t)n;
    name->has_digest = false;
    name->unread = false;
    name->hash_full = aes_hash(state);
    return true;
}

static AES_TARGET uint64_t extend_aes(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                      const struct ndn_name_key *key)
{
    // Twice as much state as hash: it has to be computed again.
    __m128i state = aes_load(key->octets);
    for (unsigned i = 0; i < name->depth; i++)
        state = aes_step_any(state, name->value + name->end[i], (size_t)(name->end[i + 1] - name->end[i]), key);
    return aes_hash(aes_step_any(aes_rest(state, name, key), comp, len, key));
}

static bool cpu_has_aes(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("avx");
}
#endif

void (*ndn_name_hash)(struct ndn_name *name, const struct ndn_name_key *key) = hash_portable;

bool (*ndn_name_read)(struct ndn_name *name, const struct ndn_name_key *key) = read_portable;

uint64_t (*ndn_name_hash_extend)(const struct ndn_name *name, const uint8_t *comp, size_t len,
                                 const struct ndn_name_key *key) = extend_portable;

int ndn_name_hash_select(const char *isa)
{
    if (strcmp(isa, "portable") == 0) {
        ndn_name_hash = hash_portable;
        ndn_name_read = read_portable;
        ndn_name_hash_extend = extend_portable;
        return 0;
    }
#if HAVE_AES
    if (strcmp(isa, "aes") == 0 && cpu_has_aes()) {
        ndn_name_hash = hash_aes;
        ndn_name_read = read_aes;
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
