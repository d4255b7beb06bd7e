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
