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

static inline uint64_t octets_load(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/** True when @p len octets at @p a and @p b are equal. */
static inline bool octets_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
    if (len < 8) {
        for (size_t i = 0; i < len; i++)
            if (a[i] != b[i])
                return false;
        return true;
    }
    for (size_t i = 0; i + 8 < len; i += 8)
        if (octets_load(a + i) != octets_load(b + i))
            return false;
    return octets_load(a + len - 8) == octets_load(b + len - 8);
}

/** Copy @p len octets; the two do not overlap. */
static inline void octets_copy(uint8_t *to, const uint8_t *from, size_t len)
{
    if (len < 8) {
        for (size_t i = 0; i < len; i++)
            to[i] = from[i];
        return;
    }
    for (size_t i = 0; i + 8 < len; i += 8)
        memcpy(to + i, from + i, 8);
    memcpy(to + len - 8, from + len - 8, 8);
}

#endif
