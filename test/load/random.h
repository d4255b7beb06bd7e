// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_RANDOM_H
#define TEST_LOAD_RANDOM_H

#include <stdint.h>

/** Next of a sequence of reproducible random numbers (xorshift64*); @p state is not 0. */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/** Mix the bits of a number, so that neighbours have nothing in common (the finaliser of splitmix64). */
static inline uint64_t random_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/** Start of a sequence; never 0. */
static inline uint64_t random_seed(uint64_t seed)
{
    uint64_t state = random_mix(seed);
    return state != 0 ? state : 1;
}

/** A number below @p n from one of random_next(), without division. */
static inline uint32_t random_below(uint64_t number, uint32_t n)
{
    return (uint32_t)(((number >> 32) * n) >> 32);
}

#endif
