// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_MKPCAP_RANDOM_H
#define TEST_LOAD_MKPCAP_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/** What a random number is for: each use has a sequence of its own, which does not change when others are added. */
enum mkpcap_random_use {
    MKPCAP_RANDOM_NONCE = 1,
    MKPCAP_RANDOM_TOKEN,
    MKPCAP_RANDOM_MIX,
    MKPCAP_RANDOM_CID,
    MKPCAP_RANDOM_PORT,
    MKPCAP_RANDOM_DATAGRAM,
};

/** SplitMix64 (Steele, Lea, Flood 2014): the next state and its output. */
static inline uint64_t mkpcap_random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Number @p number of a use under a seed; any order, always the same. */
static inline uint64_t mkpcap_random(uint64_t seed, enum mkpcap_random_use use, uint64_t number)
{
    uint64_t state = seed;
    state = mkpcap_random_next(&state) + (uint64_t)use;
    state = mkpcap_random_next(&state) + number;
    return mkpcap_random_next(&state);
}

/** @p n octets that follow from it. */
static inline void mkpcap_random_octets(uint64_t seed, enum mkpcap_random_use use, uint64_t number, uint8_t *p,
                                        size_t n)
{
    uint64_t state = mkpcap_random(seed, use, number);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(mkpcap_random_next(&state) >> 56);
}

#endif
