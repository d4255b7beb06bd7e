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

struct dnl;

/** @return 0, or -ENOMEM. @p capacity: fingerprints, rounded up to a power of two */
int dnl_create(struct dnl **dnl, uint32_t capacity, enum arena_pages pages);
void dnl_destroy(struct dnl *dnl);

/** Bring the bucket of a name and nonce into the cache; nothing when the list is empty. */
void dnl_prefetch(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce);
void dnl_add(struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns);
/** True when the pair was added within the last DNL_LIFETIME_MS. */
bool dnl_has(const struct dnl *dnl, uint64_t name_hash, uint32_t nonce, uint64_t now_ns);
/** Fingerprints overwritten before their time. */
uint64_t dnl_overruns(const struct dnl *dnl);

#endif
