// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_MAGLEV_H
#define PIT_MAGLEV_H

#include <stddef.h>
#include <stdint.h>

#include "pit/arena.h"

/*
 * Maglev hashing (Eisenbud et al., NSDI 2016, section 3.4): a table from a hash to a server in which every server has
 * a share by its weight, and which changes little when servers come and go. A table never changes: another one is made
 * and published in its place. It depends on the servers' ids and weights alone, not on their order.
 */
#define MAGLEV_SIZE_DEFAULT 65537u
#define MAGLEV_BACKENDS_MAX 4096u

struct maglev_backend {
    uint64_t id;     /**< names the server for good, e.g. a hash of its name; no two alike */
    uint32_t weight; /**< relative share; 0: none */
};

/** Open for maglev_pick(); callers leave the fields alone. */
struct maglev {
    uint32_t size;
    uint32_t n_backends;
    uint16_t slot[]; /**< index of the backend */
};

/**
 * Make a table of @p size slots, a prime up to 2^31 and many times the number of servers: a share is exact to about
 * one slot.
 *
 * @return 0, -EINVAL (size, count, equal ids, no weight at all), or -ENOMEM
 */
int maglev_create(struct maglev **maglev, uint32_t size, const struct maglev_backend *backends, unsigned n_backends,
                  enum arena_pages pages);
/** Unmap a table; NULL is allowed. */
void maglev_destroy(struct maglev *maglev);
/** Octets mapped for a table. */
size_t maglev_memory(const struct maglev *maglev);

/** Server for a hash that is spread over all of its 64 bits. @return index into maglev_create()'s array. Any thread. */
static inline uint16_t maglev_pick(const struct maglev *maglev, uint64_t hash)
{
    return maglev->slot[(hash >> 32) * maglev->size >> 32];
}

/** Slots of the table that lead to @p backend, for display of shares. */
uint32_t maglev_slots(const struct maglev *maglev, uint16_t backend);

#endif
