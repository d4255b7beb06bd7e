// SPDX-License-Identifier: Apache-2.0
/*
 * CIDs where the processor has VAES and AVX-512: four CIDs of one rule are one vector, so that a burst costs a quarter
 * of the AES instructions; and one instruction masks a pass and readies it for the next.
 */
#include "parser/quic_lb_impl.h"

#if QUIC_LB_HAVE_X86
#include <cpuid.h>
#include <immintrin.h>

#define TARGET __attribute__((target("aes,vaes,avx512f,avx512bw,avx512vl")))
#define INLINE static inline TARGET __attribute__((always_inline))

#define XOR_AND_XOR 0x6a /* of _mm_ternarylogic: (a & b) ^ c */

INLINE __m128i load16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/** A part of a rule. */
INLINE __m128i part(const uint8_t *p)
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

/** The same in each of four lanes. */
INLINE __m512i spread(const uint8_t *p)
{
    return _mm512_broadcast_i32x4(part(p));
}

/** The first 16 octets of a CID; what is behind its end reads as zero and is not touched. */
INLINE __m128i load_cid(const uint8_t *cid, size_t len)
{
    return LIKELY(len >= 16) ? load16(cid) : _mm_maskz_loadu_epi8((__mmask16)((1u << len) - 1), cid);
}

INLINE void store_id(struct quic_lb_id *id, __m128i plain, const struct quic_lb_rule *rule)
{
    __m128i whole = _mm_or_si128(_mm_and_si128(plain, part(rule->id_mask)), part(rule->id_tail));
    _mm_store_si128((__m128i *)(void *)id, whole);
}

/** What AES gives of a half made ready; @p to is the half that the pass changes, put in with the last round key. */
INLINE __m128i rounds(const struct quic_lb_rule *rule, __m128i state, __m128i to)
{
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        state = _mm_aesenc_si128(state, part(rule->aes.enc[round]));
    return _mm_aesenclast_si128(state, _mm_xor_si128(to, part(rule->aes.enc[AES128_ROUNDS])));
}

static TARGET __attribute__((noinline)) enum quic_lb_verdict
decode_four_pass(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id)
{
    __m128i head = load_cid(cid, len);
    __m128i tail = rule->tail > 0 ? load16(cid + rule->tail) : head;
    __m128i left_mask = part(rule->mask[0]), right_mask = part(rule->mask[1]);
    __m128i left = _mm_and_si128(_mm_shuffle_epi8(head, part(rule->take[0])), left_mask);
    __m128i right = _mm_and_si128(_mm_shuffle_epi8(tail, part(rule->take[1])), right_mask);
    __m128i state = rounds(rule, _mm_xor_si128(right, part(rule->white[3])), left);
    left = _mm_and_si128(state, left_mask);
    state = rounds(rule, _mm_ternarylogic_epi32(state, left_mask, part(rule->white[2]), XOR_AND_XOR), right);
    right = _mm_and_si128(state, right_mask);
    state = rounds(rule, _mm_ternarylogic_epi32(state, right_mask, part(rule->white[1]), XOR_AND_XOR), left);
    left = _mm_and_si128(state, left_mask);
    if (rule->fourth_pass) {
        state = rounds(rule, _mm_ternarylogic_epi32(state, left_mask, part(rule->white[0]), XOR_AND_XOR), right);
        right = _mm_and_si128(state, right_mask);
        left = _mm_or_si128(left, _mm_shuffle_epi8(right, part(rule->join)));
    }
    store_id(id, left, rule);
    return QUIC_LB_OK;
}

static TARGET __attribute__((noinline)) enum quic_lb_verdict
decode_single_pass(const struct quic_lb_rule *rule, const uint8_t *cid, struct quic_lb_id *id)
{
    __m128i state = _mm_xor_si128(load16(cid + 1), part(rule->aes.dec[0]));
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        state = _mm_aesdec_si128(state, part(rule->aes.dec[round]));
    store_id(id, _mm_aesdeclast_si128(state, part(rule->aes.dec[AES128_ROUNDS])), rule);
    return QUIC_LB_OK;
}

static TARGET __attribute__((noinline)) enum quic_lb_verdict
decode_scheme(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id)
{
    quic_lb_decode_scheme(rule, cid, len, id);
    return QUIC_LB_OK;
}

INLINE void plaintext(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id)
{
    store_id(id, _mm_srli_si128(load_cid(cid, len), 1), rule);
}

/** The CID has the octets that its rule needs. */
INLINE enum quic_lb_verdict decode_by(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len,
                                      struct quic_lb_id *id)
{
    // Each in a function of its own, so that plaintext does not pay for the registers that the others need.
    switch (rule->kind) {
    case QUIC_LB_KIND_PLAINTEXT:
        plaintext(rule, cid, len, id);
        return QUIC_LB_OK;
    case QUIC_LB_KIND_SINGLE_PASS:
        return decode_single_pass(rule, cid, id);
    case QUIC_LB_KIND_FOUR_PASS:
        return decode_four_pass(rule, cid, len, id);
    case QUIC_LB_KIND_SCHEME:
        return decode_scheme(rule, cid, len, id);
    default:
        return quic_lb_no_rule(cid[0]);
    }
}

TARGET enum quic_lb_verdict quic_lb_decode_avx512(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                                  struct quic_lb_id *id)
{
    if (len == 0)
        return QUIC_LB_SHORT;
    const struct quic_lb_rule *rule = &lb->rule[lb->rule_of[cid[0]]];
    return len < rule->size ? QUIC_LB_SHORT : decode_by(rule, cid, len, id);
}

/* Bursts: vectors of four CIDs each. */

#define VECTORS (LANES / 4)

struct keys {
    __m512i key[AES128_ROUNDS + 1];
};

INLINE void spread_keys(struct keys *keys, const uint8_t from[AES128_ROUNDS + 1][AES128_BLOCK])
{
    for (unsigned round = 0; round <= AES128_ROUNDS; round++)
        keys->key[round] = spread(from[round]);
}

/** One pass of all CIDs, as rounds() of each. */
INLINE void rounds_of_all(const struct keys *keys, const __m512i from[VECTORS], const __m512i to[VECTORS],
                          __m512i out[VECTORS])
{
    __m512i state[VECTORS];
    for (unsigned v = 0; v < VECTORS; v++)
        state[v] = from[v];
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        for (unsigned v = 0; v < VECTORS; v++)
            state[v] = _mm512_aesenc_epi128(state[v], keys->key[round]);
    for (unsigned v = 0; v < VECTORS; v++)
        out[v] = _mm512_aesenclast_epi128(state[v], _mm512_xor_si512(to[v], keys->key[AES128_ROUNDS]));
}

/** Mask what a pass gave: *half is its result, *ready the input of pass @p next. */
INLINE void finish_pass(const struct quic_lb_rule *rule, unsigned next, __m512i mask, const __m512i state[VECTORS],
                        __m512i half[VECTORS], __m512i ready[VECTORS])
{
    __m512i white = spread(rule->white[next - 1]);
    for (unsigned v = 0; v < VECTORS; v++) {
        half[v] = _mm512_and_si512(state[v], mask);
        ready[v] = _mm512_ternarylogic_epi32(state[v], mask, white, XOR_AND_XOR);
    }
}

/** Octets of four CIDs from @p at on. */
INLINE __m512i gather(struct quic_lb_job *const jobs[4], size_t at)
{
    __m128i a = load16(jobs[0]->cid + at), b = load16(jobs[1]->cid + at);
    __m128i c = load16(jobs[2]->cid + at), d = load16(jobs[3]->cid + at);
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

/** The same of CIDs that may be shorter than a vector. */
INLINE __m512i gather_heads(struct quic_lb_job *const jobs[4])
{
    __m128i head[4];
    for (unsigned i = 0; i < 4; i++)
        head[i] = load_cid(jobs[i]->cid, jobs[i]->cid_len);
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(head[0]), head[1], 1);
    __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(head[2]), head[3], 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

INLINE void store_ids(const struct quic_lb_rule *rule, struct quic_lb_job *const jobs[4], __m512i plain)
{
    __m512i id = _mm512_or_si512(_mm512_and_si512(plain, spread(rule->id_mask)), spread(rule->id_tail));
    _mm_store_si128((__m128i *)(void *)&jobs[0]->id, _mm512_castsi512_si128(id));
    _mm_store_si128((__m128i *)(void *)&jobs[1]->id, _mm512_extracti32x4_epi32(id, 1));
    _mm_store_si128((__m128i *)(void *)&jobs[2]->id, _mm512_extracti32x4_epi32(id, 2));
    _mm_store_si128((__m128i *)(void *)&jobs[3]->id, _mm512_extracti32x4_epi32(id, 3));
}

static TARGET __attribute__((noinline)) void four_pass_together(const struct quic_lb_rule *rule,
                                                                struct quic_lb_job *const jobs[LANES])
{
    struct keys keys;
    spread_keys(&keys, rule->aes.enc);
    __m512i mask[2] = {spread(rule->mask[0]), spread(rule->mask[1])};
    __m512i left[VECTORS], right[VECTORS], ready[VECTORS], state[VECTORS], white = spread(rule->white[3]);
    for (unsigned v = 0; v < VECTORS; v++) {
        __m512i head = gather_heads(&jobs[4 * v]);
        __m512i tail = rule->tail > 0 ? gather(&jobs[4 * v], rule->tail) : head;
        left[v] = _mm512_and_si512(_mm512_shuffle_epi8(head, spread(rule->take[0])), mask[0]);
        right[v] = _mm512_and_si512(_mm512_shuffle_epi8(tail, spread(rule->take[1])), mask[1]);
        ready[v] = _mm512_xor_si512(right[v], white);
    }
    rounds_of_all(&keys, ready, left, state);
    finish_pass(rule, 3, mask[0], state, left, ready);
    rounds_of_all(&keys, ready, right, state);
    finish_pass(rule, 2, mask[1], state, right, ready);
    rounds_of_all(&keys, ready, left, state);
    finish_pass(rule, 1, mask[0], state, left, ready);
    if (rule->fourth_pass) {
        rounds_of_all(&keys, ready, right, state);
        for (unsigned v = 0; v < VECTORS; v++) {
            right[v] = _mm512_and_si512(state[v], mask[1]);
            left[v] = _mm512_or_si512(left[v], _mm512_shuffle_epi8(right[v], spread(rule->join)));
        }
    }
    for (unsigned v = 0; v < VECTORS; v++)
        store_ids(rule, &jobs[4 * v], left[v]);
}

static TARGET __attribute__((noinline)) void single_pass_together(const struct quic_lb_rule *rule,
                                                                  struct quic_lb_job *const jobs[LANES])
{
    struct keys keys;
    spread_keys(&keys, rule->aes.dec);
    __m512i state[VECTORS];
    for (unsigned v = 0; v < VECTORS; v++)
        state[v] = _mm512_xor_si512(gather(&jobs[4 * v], 1), keys.key[0]);
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        for (unsigned v = 0; v < VECTORS; v++)
            state[v] = _mm512_aesdec_epi128(state[v], keys.key[round]);
    for (unsigned v = 0; v < VECTORS; v++)
        store_ids(rule, &jobs[4 * v], _mm512_aesdeclast_epi128(state[v], keys.key[AES128_ROUNDS]));
}

/** Eight CIDs of one rule. */
INLINE void together(const struct quic_lb_rule *rule, struct quic_lb_job *const jobs[LANES])
{
    if (rule->kind == QUIC_LB_KIND_FOUR_PASS)
        four_pass_together(rule, jobs);
    else
        single_pass_together(rule, jobs);
}

TARGET void quic_lb_burst_avx512(struct quic_lb_job *jobs, size_t n)
{
    static const struct quic_lb_ways ways = {plaintext, decode_by, together};
    quic_lb_burst(&ways, jobs, n);
}

bool quic_lb_cpu_has_avx512(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    // Not every compiler's __builtin_cpu_supports() knows VAES: leaf 7, ECX bit 9.
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 9 & 1) != 0;
}
#endif
