// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_TELEMETRY_PREFIX_H
#define FWD_DAEMON_TELEMETRY_PREFIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fwd_shared;
struct prefix_row;
struct rte_tel_data;
struct strategy_set;

/*
 * Listing of the FIB's prefixes in pages. Its walk has no place to go on from, so the first page takes a copy of what
 * is to be listed; later pages name the copy they belong to, and the last one frees it. A newer listing replaces an
 * older one, whose client is told to begin anew. Control code, under the daemon's lock.
 */
struct prefix_list {
    bool strategies; /**< list strategy choices, not routes */
    bool failed;
    uint32_t id;
    size_t n, size;
    struct prefix_row *row;
    size_t names_len, names_size;
    uint8_t *names;
};

/** Free the copy. */
void prefix_list_clear(struct prefix_list *list);

/** Answer with the page that begins at @p start. @return 0, or -1 without memory or when the copy is gone */
int prefix_list_answer(struct prefix_list *list, const struct fwd_shared *shared, const struct strategy_set *set,
                       struct rte_tel_data *d, uint64_t start);

#endif
