// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_OCTETS_H
#define PIT_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/*
 * Names are short and of any length, where a call of memcmp() or memcpy() costs more than the work: whole words, and
 * one word that overlaps the last. Nothing outside the given octets is touched.
 */

static inline uint64_t octets_u64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint32_t octets_u32(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

#ifdef __SSE2__
/** A bit for each of 16 octets that is equal. */
static inline __m128i octets_same16(const uint8_t *a, const uint8_t *b)
{
    return _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
                          _mm_loadu_si128((const __m128i *)(const void *)b));
}

static inline bool octets_equal_from16(const uint8_t *a, const uint8_t *b, size_t len)
{
    // No way out at the first difference: names that are compared are equal as a rule.
    __m128i same = octets_same16(a + len - 16, b + len - 16);
    for (size_t i = 0; i + 16 < len; i += 16)
        same = _mm_and_si128(same, octets_same16(a + i, b + i));
    return _mm_movemask_epi8(same) == 0xffff;
}

static inline void octets_copy16(uint8_t *to, const uint8_t *from)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
}
#else
static inline bool octets_equal_from16(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint64_t differ = 0;
    for (size_t i = 0; i + 8 < len; i += 8)
        differ |= octets_u64(a + i) ^ octets_u64(b + i);
    return (differ | (octets_u64(a + len - 8) ^ octets_u64(b + len - 8))) == 0;
}

static inline void octets_copy16(uint8_t *to, const uint8_t *from)
{
    memcpy(to, from, 16);
}
#endif

/** True when @p len octets at @p a and @p b are equal. */
static inline bool octets_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len >= 16)
        return octets_equal_from16(a, b, len);
    if (len >= 8)
        return octets_u64(a) == octets_u64(b) && octets_u64(a + len - 8) == octets_u64(b + len - 8);
    if (len >= 4)
        return octets_u32(a) == octets_u32(b) && octets_u32(a + len - 4) == octets_u32(b + len - 4);
    for (size_t i = 0; i < len; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/** Copy @p len octets; the two do not overlap. */
static inline void octets_copy(uint8_t *to, const uint8_t *from, size_t len)
{
    if (len >= 16) {
        for (size_t i = 0; i + 16 < len; i += 16)
            octets_copy16(to + i, from + i);
        octets_copy16(to + len - 16, from + len - 16);
    } else if (len >= 8) {
        memcpy(to, from, 8);
        memcpy(to + len - 8, from + len - 8, 8);
    } else if (len >= 4) {
        memcpy(to, from, 4);
        memcpy(to + len - 4, from + len - 4, 4);
    } else {
        for (size_t i = 0; i < len; i++)
            to[i] = from[i];
    }
}

#endif
