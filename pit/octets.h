// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_OCTETS_H
#define PIT_OCTETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/** Non-zero when 16 octets differ. */
static inline uint64_t octets_differ16(const uint8_t *a, const uint8_t *b)
{
    return (octets_u64(a) ^ octets_u64(b)) | (octets_u64(a + 8) ^ octets_u64(b + 8));
}

/** True when @p len octets at @p a and @p b are equal. */
static inline bool octets_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len >= 16) {
        for (size_t i = 0; i + 16 < len; i += 16)
            if (octets_differ16(a + i, b + i) != 0)
                return false;
        return octets_differ16(a + len - 16, b + len - 16) == 0;
    }
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
            memcpy(to + i, from + i, 16);
        memcpy(to + len - 16, from + len - 16, 16);
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
