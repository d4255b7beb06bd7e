// SPDX-License-Identifier: Apache-2.0
#include "test/quic/cid_map.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

struct cid_map_entry {
    struct cid_map_entry *next;
    void *owner;
    size_t len;
    uint8_t cid[20];
};

static unsigned bucket_of(const uint8_t *cid, size_t len)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ cid[i]) * 16777619u;
    return (hash ^ hash >> 16) & (CID_MAP_BUCKETS - 1);
}

void cid_map_add(struct cid_map *map, const uint8_t *cid, size_t len, void *owner)
{
    struct cid_map_entry *entry = calloc(1, sizeof(*entry)), **bucket = &map->bucket[bucket_of(cid, len)];
    if (entry == NULL || len > sizeof(entry->cid))
        errx(2, "no room for a connection ID");
    entry->owner = owner;
    entry->len = len;
    memcpy(entry->cid, cid, len);
    entry->next = *bucket;
    *bucket = entry;
}

void *cid_map_find(const struct cid_map *map, const uint8_t *cid, size_t len)
{
    for (struct cid_map_entry *entry = map->bucket[bucket_of(cid, len)]; entry != NULL; entry = entry->next) {
        if (entry->len == len && memcmp(entry->cid, cid, len) == 0)
            return entry->owner;
    }
    return NULL;
}

void cid_map_forget(struct cid_map *map, const void *owner)
{
    for (unsigned i = 0; i < CID_MAP_BUCKETS; i++) {
        struct cid_map_entry **at = &map->bucket[i];
        while (*at != NULL) {
            struct cid_map_entry *entry = *at;
            if (entry->owner == owner) {
                *at = entry->next;
                free(entry);
            } else {
                at = &entry->next;
            }
        }
    }
}
