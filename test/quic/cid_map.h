// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_CID_MAP_H
#define TEST_QUIC_CID_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Connection IDs to connections. All zero: empty. One thread. */

#define CID_MAP_BUCKETS 4096 /**< a power of two */

struct cid_map_entry;
struct cid_map {
    struct cid_map_entry *bucket[CID_MAP_BUCKETS];
};

/** @p cid, of 1..20 octets, belongs to @p owner from now on. */
void cid_map_add(struct cid_map *map, const uint8_t *cid, size_t len, void *owner);

/** @return the owner, or NULL */
void *cid_map_find(const struct cid_map *map, const uint8_t *cid, size_t len);

/** Forget all of an owner's. */
void cid_map_forget(struct cid_map *map, const void *owner);

#endif
