// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_ARENA_H
#define PIT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Memory of the tables: large zeroed mappings made at start, on hugetlbfs pages when there are any, else on
 * transparent huge pages when the kernel grants them, else on 4 kB pages. No table allocates later.
 */
enum arena_pages {
    ARENA_PAGES_AUTO = 0, /**< huge when there, else small */
    ARENA_PAGES_HUGE,     /**< fail when there are no huge pages */
    ARENA_PAGES_SMALL,
};

/** Size of a huge page; a mapping smaller than this stands on small pages in every mode. */
#define ARENA_HUGE_SIZE ((size_t)2 << 20)

/**
 * Map @p size octets, zeroed, 64-octet aligned (2 MB aligned when large), populated by the calling thread so that
 * they lie on its NUMA node and never fault later.
 *
 * @return NULL when there is no memory
 */
void *arena_map(size_t size, enum arena_pages pages);
/** Unmap what arena_map() gave; NULL is allowed. @p size as then. */
void arena_unmap(void *p, size_t size);
/** Octets that a mapping of @p size really takes: whole pages. */
size_t arena_size(size_t size);

#endif
