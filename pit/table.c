// SPDX-License-Identifier: Apache-2.0
#include "pit/table.h"

int table_init(struct table *table, uint32_t capacity, enum arena_pages pages)
{
    if (capacity == 0)
        return -EINVAL;
    // At least as many buckets as a lookup may probe, so that none is looked at twice.
    uint64_t n_buckets = TABLE_PROBES;
    while (n_buckets * TABLE_BUCKET_SLOTS < (uint64_t)capacity * 2)
        n_buckets *= 2;
    struct table_bucket *bucket = arena_map((size_t)n_buckets * sizeof *bucket, pages);
    if (bucket == NULL)
        return -ENOMEM;
    *table = (struct table){.bucket = bucket, .mask = (uint32_t)(n_buckets - 1)};
    return 0;
}

void table_fini(struct table *table)
{
    arena_unmap(table->bucket, table_memory(table));
    *table = (struct table){0};
}

size_t table_memory(const struct table *table)
{
    return table->bucket == NULL ? 0 : arena_size(((size_t)table->mask + 1) * sizeof *table->bucket);
}

uint32_t table_next_spilled(const struct table *table, struct table_iter *iter)
{
    while (iter->matches == 0) {
        if (iter->probe + 1 >= TABLE_PROBES)
            return 0;
        iter->probe++;
        iter->bucket = (iter->bucket + 1) & table->mask;
        iter->matches = (uint8_t)table_match_hash(&table->bucket[iter->bucket], iter->hash);
    }
    unsigned slot = (unsigned)__builtin_ctz(iter->matches);
    iter->matches &= (uint8_t)(iter->matches - 1);
    return table->bucket[iter->bucket].index[slot];
}

int table_insert_spilled(struct table *table, uint64_t hash, uint32_t index)
{
    uint32_t home = table_home(table, hash);
    for (unsigned probe = 1; probe < TABLE_PROBES; probe++) {
        struct table_bucket *bucket = &table->bucket[(home + probe) & table->mask];
        unsigned empty = table_match_tag(bucket, 0);
        if (empty == 0)
            continue;
        unsigned slot = (unsigned)__builtin_ctz(empty);
        bucket->tag[slot] = table_tag(hash);
        bucket->index[slot] = index;
        table->n_entries++;
        table->bucket[home].n_spilled++;
        table->n_spilled++;
        return 0;
    }
    return -ENOSPC;
}

int table_remove_spilled(struct table *table, uint64_t hash, uint32_t index)
{
    uint32_t home = table_home(table, hash);
    for (unsigned probe = 1; probe < TABLE_PROBES && table->bucket[home].n_spilled != 0; probe++) {
        struct table_bucket *bucket = &table->bucket[(home + probe) & table->mask];
        unsigned match = table_match_index(bucket, index) & table_match_hash(bucket, hash);
        if (match == 0)
            continue;
        bucket->tag[__builtin_ctz(match)] = 0;
        table->n_entries--;
        table->bucket[home].n_spilled--;
        table->n_spilled--;
        return 0;
    }
    return -ENOENT;
}
