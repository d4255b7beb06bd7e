// SPDX-License-Identifier: Apache-2.0
#include "pit/dnl.h"

#include <errno.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "pit/wheel.h"

#define DNL_SLOTS 8

/** Lifetime in ticks; one more than its quotient, since both ends are rounded down. */
#define DNL_TICKS ((uint32_t)((UINT64_C(1000000) * DNL_LIFETIME_MS >> WHEEL_TICK_SHIFT) + 1))

struct dnl_bucket {
    uint32_t print[DNL_SLOTS]; /**< fingerprint; 0: empty */
    uint32_t tick[DNL_SLOTS];  /**< when it was added */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct dnl_bucket) == 64, "one cache line");

int dnl_create(struct dnl **dnl, uint32_t capacity, enum arena_pages pages)
{
    struct dnl *d = arena_map(sizeof *d, ARENA_PAGES_SMALL);
    if (d == NULL)
        return -ENOMEM;
    d->n_buckets = 1;
    while (d->n_buckets * DNL_SLOTS < capacity)
        d->n_buckets *= 2;
    d->bucket = arena_map(d->n_buckets * sizeof *d->bucket, pages);
    if (d->bucket == NULL) {
        arena_unmap(d, sizeof *d);
        return -ENOMEM;
    }
    *dnl = d;
    return 0;
}

void dnl_destroy(struct dnl *dnl)
{
    if (dnl == NULL)
        return;
    arena_unmap(dnl->bucket, dnl->n_buckets * sizeof *dnl->bucket);
    arena_unmap(dnl, sizeof *dnl);
}

/** The name hash is keyed, so that nobody outside can aim at a bucket; the rest spreads the nonces of one name. */
static inline uint64_t mix(uint64_t name_hash, uint32_t nonce)
{
    uint64_t x = name_hash + nonce * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 32);
}

static inline struct dnl_bucket *bucket_of(const struct dnl *dnl, uint64_t x)
{
    return &dnl->bucket[x & (dnl->n_buckets - 1)];
}

static inline uint32_t print_of(uint64_t x)
{
    uint32_t print = (uint32_t)(x >> 32);
    return print != 0 ? print : 1;
}

/** Bit i: slot i holds the fingerprint. */
static inline unsigned match_print(const struct dnl_bucket *bucket, uint32_t print)
{
#ifdef __SSE2__
    const __m128i *at = (const __m128i *)(const void *)bucket->print;
    __m128i want = _mm_set1_epi32((int)print);
    __m128i same =
        _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at), want), _mm_cmpeq_epi32(_mm_load_si128(at + 1), want));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
    unsigned bits = 0;
    for (unsigned i = 0; i < DNL_SLOTS; i++)
        bits |= (unsigned)(bucket->print[i] == print) << i;
    return bits;
#endif
}

void dnl_prefetch_bucket(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce)
{
    __builtin_prefetch(bucket_of(dnl, mix(name_hash, nonce)));
}

void dnl_add(struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns)
{
    uint64_t x = mix(name_hash, nonce);
    struct dnl_bucket *bucket = bucket_of(dnl, x);
    uint32_t now = wheel_tick(now_ns);
    unsigned match = match_print(bucket, print_of(x));
    unsigned slot = 0;
    if (match != 0) {
        slot = (unsigned)__builtin_ctz(match);
    } else {
        uint32_t oldest = 0;
        for (unsigned i = 0; i < DNL_SLOTS; i++) {
            uint32_t age = bucket->print[i] == 0 ? UINT32_MAX : now - bucket->tick[i];
            if (age >= oldest) {
                oldest = age;
                slot = i;
            }
        }
        dnl->n_overruns += oldest <= DNL_TICKS;
    }
    bucket->print[slot] = print_of(x);
    bucket->tick[slot] = now;
    dnl->last = now;
    dnl->any = true;
}

bool dnl_has_print(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns)
{
    uint32_t now = wheel_tick(now_ns);
    if (now - dnl->last > DNL_TICKS)
        return false;
    uint64_t x = mix(name_hash, nonce);
    const struct dnl_bucket *bucket = bucket_of(dnl, x);
    unsigned match = match_print(bucket, print_of(x));
    return match != 0 && now - bucket->tick[__builtin_ctz(match)] <= DNL_TICKS;
}

uint64_t dnl_overruns(const struct dnl *dnl)
{
    return dnl->n_overruns;
}
