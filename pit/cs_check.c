// SPDX-License-Identifier: Apache-2.0
#include "pit/cs.h"

#include <errno.h>

#include "pit/cs_impl.h"

/* What a Content Store says about itself. */

void cs_info(const struct cs *cs, struct cs_info *info)
{
    *info = (struct cs_info){
        .capacity = cs->capacity,
        .capacity_max = cs->capacity_max,
        .n_entries = cs->n_entries,
        .n_hits = cs->n_hits,
        .n_misses = cs->n_misses,
        .n_inserts = cs->n_inserts,
        .n_evictions = cs->n_evictions,
    };
}

size_t cs_memory(const struct cs *cs)
{
    return sizeof *cs + pool_memory(&cs->entries) + table_memory(&cs->index) +
           ((size_t)cs->entries.capacity + 1) * sizeof *cs->cold + pool_memory(&cs->prefixes.nodes) +
           pool_memory(&cs->prefixes.groups) + table_memory(&cs->prefixes.index);
}

static uint32_t find(const struct cs *cs, uint64_t hash, const uint8_t *value, uint16_t len)
{
    struct table_iter iter;
    uint32_t i = table_first(&cs->index, hash, &iter);
    while (i != 0 &&
           (cs_at(cs, i)->hash != hash || cs_at(cs, i)->name_len != len || !cs_name_begins(cs_at(cs, i), value, len)))
        i = table_next(&cs->index, &iter);
    return i;
}

static int entry_check(const struct cs *cs, uint32_t index, unsigned queue)
{
    const struct cs_entry *entry = cs_at(cs, index);
    if (entry->mbuf == NULL || entry->queue != queue || entry->depth == 0 || entry->depth > NDN_NAME_DEPTH)
        return -EINVAL;
    uint8_t name[NDN_NAME_MAX];
    if (cs_name_copy(entry, name) != entry->name_len)
        return -EINVAL;
    if (find(cs, entry->hash, name, entry->name_len) != index)
        return -EINVAL;
    bool armed = cs->wheel != NULL && queue == CS_QUEUE_MAIN;
    return cs->wheel == NULL || wheel_armed(cs->wheel, index) == armed ? 0 : -EINVAL;
}

int cs_check(const struct cs *cs)
{
    uint32_t total = 0;
    for (unsigned q = 0; q < CS_QUEUES; q++) {
        uint32_t n = 0, older = cs->queue[q].newest;
        for (uint32_t i = cs_oldest(cs, q); i != POOL_NONE; i = cs_newer(cs, i)) {
            if (++n > cs->queue[q].count || cs_at(cs, i)->older != older || entry_check(cs, i, q) != 0)
                return -EINVAL;
            older = i;
        }
        if (n != cs->queue[q].count)
            return -EINVAL;
        total += n;
    }
    if (total != cs->n_entries || total != cs->entries.n_used || total != cs->index.n_entries)
        return -EINVAL;
    return cs_prefix_check(cs);
}
