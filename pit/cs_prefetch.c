// SPDX-License-Identifier: Apache-2.0
#include "pit/cs.h"

#include "pit/cs_impl.h"

/* Stages of a lookup ahead of cs_find(). */

void cs_prefetch_bucket(const struct cs *cs, uint64_t hash)
{
    table_prefetch(&cs->index, hash);
}

void cs_prefetch_entry(const struct cs *cs, uint64_t hash)
{
    const struct table_bucket *home = &cs->index.bucket[table_home(&cs->index, hash)];
    unsigned match = table_match_hash(home, hash);
    if (match == 0)
        return;
    const struct cs_entry *entry = cs_at(cs, home->index[__builtin_ctz(match)]);
    __builtin_prefetch(entry, 1);
    __builtin_prefetch(entry->name);
}

void cs_prefetch_mbuf(const struct cs *cs, uint64_t hash)
{
    struct table_iter iter;
    uint32_t index = table_first(&cs->index, hash, &iter);
    if (index != 0)
        __builtin_prefetch(cs_at(cs, index)->mbuf);
}
