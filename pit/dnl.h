// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_DNL_H
#define PIT_DNL_H

#include <stdbool.h>
#include <stdint.h>

#include "pit/arena.h"

/**
 * Dead Nonce List: remembers Name + Nonce of Interests whose PIT entries are gone, for at least DNL_LIFETIME_MS as
 * long as the list is not overrun. Fixed size: buckets of one cache line with eight fingerprints and their time;
 * a full bucket forgets its oldest. One owner thread.
 */
#define DNL_LIFETIME_MS 6000

struct dnl {
    struct dnl_bucket *bucket;
    uint64_t n_buckets; /**< a power of two */
    uint64_t n_overruns;
    uint32_t last; /**< tick of the last addition */
    bool any;      /**< something was added at some time */
};

/** @return 0, or -ENOMEM. @p capacity: fingerprints, rounded up to a power of two */
int dnl_create(struct dnl **dnl, uint32_t capacity, enum arena_pages pages);
void dnl_destroy(struct dnl *dnl);

/** The rest of the next two when the list has something in it. */
void dnl_prefetch_bucket(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce);
bool dnl_has_print(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns);

/** Bring the bucket of a name and nonce into the cache; nothing when the list is empty. */
static inline void dnl_prefetch(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce)
{
    if (__builtin_expect(dnl->any, 0))
        dnl_prefetch_bucket(dnl, name_hash, nonce);
}

/** True when the pair was added within the last DNL_LIFETIME_MS. */
static inline bool dnl_has(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns)
{
    return __builtin_expect(dnl->any, 0) && dnl_has_print(dnl, name_hash, nonce, now_ns);
}

void dnl_add(struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns);
/** Fingerprints overwritten before their time. */
uint64_t dnl_overruns(const struct dnl *dnl);

#endif
