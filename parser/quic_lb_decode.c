// SPDX-License-Identifier: Apache-2.0
/*
 * Decoders of connection IDs. With AES instructions a CID costs three dependent encryptions of 30 cycles each, during
 * which the unit could take up six others: a burst works on eight CIDs side by side.
 */
#include "parser/quic_lb.h"

#include <errno.h>
#include <string.h>

#include "parser/quic_lb_impl.h"

#if QUIC_LB_HAVE_X86
#include <immintrin.h>
#endif

static void burst_portable(struct quic_lb_job *jobs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        jobs[i].verdict = (uint8_t)quic_lb_decode_portable(jobs[i].lb, jobs[i].cid, jobs[i].cid_len, &jobs[i].id);
}

#if QUIC_LB_HAVE_X86
#define TARGET __attribute__((target("aes,sse4.1")))
#define INLINE static inline TARGET __attribute__((always_inline))

INLINE __m128i load16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/** A part of a rule. */
INLINE __m128i part(const uint8_t *p)
{
    return _mm_load_si128((const __m128i *)(const void *)p);
}

INLINE void store_id(struct quic_lb_id *id, __m128i plain, const struct quic_lb_rule *rule)
{
    __m128i whole = _mm_or_si128(_mm_and_si128(plain, part(rule->id_mask)), part(rule->id_tail));
    _mm_store_si128((__m128i *)(void *)id, whole);
}

/** The first 16 octets of a CID of at least 5, gathered by loads that overlap but never leave it. */
INLINE __m128i load_cid(const uint8_t *cid, size_t len)
{
    if (LIKELY(len >= 16))
        return load16(cid);
    if (len >= 8) {
        uint64_t low, high;
        memcpy(&low, cid, sizeof low);
        memcpy(&high, cid + len - 8, sizeof high);
        // In two steps: of 8 octets all of it goes.
        high = high >> 8 >> (8 * (15 - len));
        return _mm_set_epi64x((int64_t)high, (int64_t)low);
    }
    uint32_t low, high;
    memcpy(&low, cid, sizeof low);
    memcpy(&high, cid + len - 4, sizeof high);
    return _mm_cvtsi64_si128((int64_t)((uint64_t)high << (8 * (len - 4)) | low));
}

/** The left and the right half of a CID in one vector each. */
INLINE void split(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, __m128i *left, __m128i *right)
{
    __m128i head = load_cid(cid, len);
    __m128i tail = rule->tail > 0 ? load16(cid + rule->tail) : head;
    *left = _mm_and_si128(_mm_shuffle_epi8(head, part(rule->take[0])), part(rule->mask[0]));
    *right = _mm_and_si128(_mm_shuffle_epi8(tail, part(rule->take[1])), part(rule->mask[1]));
}

/** The half that pass @p number makes of @p to; that goes in with the last round key, beside the chain of rounds. */
INLINE __m128i pass(const struct quic_lb_rule *rule, unsigned number, __m128i from, __m128i to)
{
    __m128i state = _mm_xor_si128(from, part(rule->white[number - 1]));
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        state = _mm_aesenc_si128(state, part(rule->aes.enc[round]));
    state = _mm_aesenclast_si128(state, _mm_xor_si128(to, part(rule->aes.enc[AES128_ROUNDS])));
    return _mm_and_si128(state, part(rule->mask[number % 2]));
}

INLINE __m128i decrypt_block(const struct aes128 *aes, __m128i block)
{
    __m128i state = _mm_xor_si128(block, part(aes->dec[0]));
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        state = _mm_aesdec_si128(state, part(aes->dec[round]));
    return _mm_aesdeclast_si128(state, part(aes->dec[AES128_ROUNDS]));
}

/** Server ID of a four-pass CID from the left half before any pass and the right half before the first. */
INLINE __m128i four_pass(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len)
{
    __m128i left, right;
    split(rule, cid, len, &left, &right);
    left = pass(rule, 4, right, left);
    right = pass(rule, 3, left, right);
    left = pass(rule, 2, right, left);
    if (rule->fourth_pass) {
        right = pass(rule, 1, left, right);
        left = _mm_or_si128(left, _mm_shuffle_epi8(right, part(rule->join)));
    }
    return left;
}

INLINE void plaintext(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id)
{
    store_id(id, _mm_srli_si128(load_cid(cid, len), 1), rule);
}

/** What a burst does not work on side by side. The CID has the octets that its rule needs. */
static TARGET __attribute__((noinline)) enum quic_lb_verdict
decode_single_pass(const struct quic_lb_rule *rule, const uint8_t *cid, struct quic_lb_id *id)
{
    store_id(id, decrypt_block(&rule->aes, load16(cid + 1)), rule);
    return QUIC_LB_OK;
}

static TARGET __attribute__((noinline)) enum quic_lb_verdict
decode_four_pass(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id)
{
    store_id(id, four_pass(rule, cid, len), rule);
    return QUIC_LB_OK;
}

static TARGET __attribute__((noinline)) enum quic_lb_verdict
decode_scheme(const struct quic_lb_rule *rule, const uint8_t *cid, size_t len, struct quic_lb_id *id)
{
    quic_lb_decode_scheme(rule, cid, len, id);
    return QUIC_LB_OK;
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

static TARGET enum quic_lb_verdict decode_aes(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                              struct quic_lb_id *id)
{
    if (len == 0)
        return QUIC_LB_SHORT;
    const struct quic_lb_rule *rule = &lb->rule[lb->rule_of[cid[0]]];
    return len < rule->size ? QUIC_LB_SHORT : decode_by(rule, cid, len, id);
}

/** One pass of eight CIDs of one rule, as pass() of each. */
INLINE void pass_of_all(const struct quic_lb_rule *rule, unsigned number, const __m128i from[LANES], __m128i to[LANES])
{
    __m128i state[LANES];
    for (unsigned i = 0; i < LANES; i++)
        state[i] = _mm_xor_si128(from[i], part(rule->white[number - 1]));
    for (unsigned round = 1; round < AES128_ROUNDS; round++) {
        __m128i key = part(rule->aes.enc[round]);
        for (unsigned i = 0; i < LANES; i++)
            state[i] = _mm_aesenc_si128(state[i], key);
    }
    for (unsigned i = 0; i < LANES; i++) {
        __m128i last = _mm_xor_si128(to[i], part(rule->aes.enc[AES128_ROUNDS]));
        to[i] = _mm_and_si128(_mm_aesenclast_si128(state[i], last), part(rule->mask[number % 2]));
    }
}

static TARGET __attribute__((noinline)) void four_pass_together(const struct quic_lb_rule *rule,
                                                                struct quic_lb_job *const jobs[LANES])
{
    __m128i left[LANES], right[LANES];
    for (unsigned i = 0; i < LANES; i++)
        split(rule, jobs[i]->cid, jobs[i]->cid_len, &left[i], &right[i]);
    pass_of_all(rule, 4, right, left);
    pass_of_all(rule, 3, left, right);
    pass_of_all(rule, 2, right, left);
    if (rule->fourth_pass) {
        pass_of_all(rule, 1, left, right);
        for (unsigned i = 0; i < LANES; i++)
            left[i] = _mm_or_si128(left[i], _mm_shuffle_epi8(right[i], part(rule->join)));
    }
    for (unsigned i = 0; i < LANES; i++)
        store_id(&jobs[i]->id, left[i], rule);
}

static TARGET __attribute__((noinline)) void single_pass_together(const struct quic_lb_rule *rule,
                                                                  struct quic_lb_job *const jobs[LANES])
{
    __m128i state[LANES];
    for (unsigned i = 0; i < LANES; i++)
        state[i] = _mm_xor_si128(load16(jobs[i]->cid + 1), part(rule->aes.dec[0]));
    for (unsigned round = 1; round < AES128_ROUNDS; round++) {
        __m128i key = part(rule->aes.dec[round]);
        for (unsigned i = 0; i < LANES; i++)
            state[i] = _mm_aesdec_si128(state[i], key);
    }
    for (unsigned i = 0; i < LANES; i++)
        store_id(&jobs[i]->id, _mm_aesdeclast_si128(state[i], part(rule->aes.dec[AES128_ROUNDS])), rule);
}

/** Eight CIDs of one rule. */
INLINE void together(const struct quic_lb_rule *rule, struct quic_lb_job *const jobs[LANES])
{
    if (rule->kind == QUIC_LB_KIND_FOUR_PASS)
        four_pass_together(rule, jobs);
    else
        single_pass_together(rule, jobs);
}

static TARGET void burst_aes(struct quic_lb_job *jobs, size_t n)
{
    static const struct quic_lb_ways ways = {plaintext, decode_by, together};
    quic_lb_burst(&ways, jobs, n);
}

static TARGET void encrypt_block_aes(const struct aes128 *aes, const uint8_t in[AES128_BLOCK],
                                     uint8_t out[AES128_BLOCK])
{
    __m128i state = _mm_xor_si128(load16(in), part(aes->enc[0]));
    for (unsigned round = 1; round < AES128_ROUNDS; round++)
        state = _mm_aesenc_si128(state, part(aes->enc[round]));
    state = _mm_aesenclast_si128(state, part(aes->enc[AES128_ROUNDS]));
    _mm_storeu_si128((__m128i *)(void *)out, state);
}

static TARGET void decrypt_block_aes(const struct aes128 *aes, const uint8_t in[AES128_BLOCK],
                                     uint8_t out[AES128_BLOCK])
{
    _mm_storeu_si128((__m128i *)(void *)out, decrypt_block(aes, load16(in)));
}

static bool cpu_has_aes(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("aes") && __builtin_cpu_supports("sse4.1");
}
#endif

enum quic_lb_verdict (*quic_lb_decode)(const struct quic_lb *lb, const uint8_t *cid, size_t len,
                                       struct quic_lb_id *id) = quic_lb_decode_portable;

void (*quic_lb_decode_burst)(struct quic_lb_job *jobs, size_t n) = burst_portable;

void (*quic_lb_encrypt_block)(const struct aes128 *aes, const uint8_t in[AES128_BLOCK],
                              uint8_t out[AES128_BLOCK]) = aes128_encrypt;
void (*quic_lb_decrypt_block)(const struct aes128 *aes, const uint8_t in[AES128_BLOCK],
                              uint8_t out[AES128_BLOCK]) = aes128_decrypt;

int quic_lb_decode_select(const char *isa)
{
    if (strcmp(isa, "portable") == 0) {
        quic_lb_decode = quic_lb_decode_portable;
        quic_lb_decode_burst = burst_portable;
        quic_lb_encrypt_block = aes128_encrypt;
        quic_lb_decrypt_block = aes128_decrypt;
        return 0;
    }
#if QUIC_LB_HAVE_X86
    bool aes = strcmp(isa, "aes") == 0 && cpu_has_aes();
    bool avx512 = strcmp(isa, "avx512") == 0 && quic_lb_cpu_has_avx512();
    if (aes || avx512) {
        quic_lb_decode = avx512 ? quic_lb_decode_avx512 : decode_aes;
        quic_lb_decode_burst = avx512 ? quic_lb_burst_avx512 : burst_aes;
        quic_lb_encrypt_block = encrypt_block_aes;
        quic_lb_decrypt_block = decrypt_block_aes;
        return 0;
    }
#endif
    return -ENOTSUP;
}

void quic_lb_decode_init(void)
{
    if (quic_lb_decode_select("avx512") != 0 && quic_lb_decode_select("aes") != 0)
        (void)quic_lb_decode_select("portable");
}
