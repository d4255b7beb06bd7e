// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_FIB_H
#define PIT_FIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_name.h"
#include "pit/arena.h"

/*
 * Forwarding table: longest-prefix match to next hops and strategy. Read by all workers without locks, written by
 * the control thread, published by RCU (QSBR): a reader uses an entry until it next reports a quiescent state. A
 * lookup touches only prefix lengths that exist. Strategy choices live here too: a prefix may have next hops, a
 * strategy, or both; what it lacks is inherited from its nearest ancestor that has it, resolved when written.
 */
#define FIB_NEXTHOPS_MAX 16

struct fib_nexthop {
    uint32_t face; /**< FaceId */
    uint32_t cost;
};

/** What a lookup gives; immutable while published. Next hops by rising cost, then FaceId. */
struct fib_entry {
    uint8_t depth;                /**< components of the prefix that matched */
    uint8_t n_nexthops;           /**< own or inherited */
    uint16_t strategy;            /**< number of the strategy instance, own or inherited; 0: the default */
    struct fib_nexthop nexthop[]; /**< n_nexthops of them, at most FIB_NEXTHOPS_MAX */
};

struct fib;
struct rte_rcu_qsbr;

struct fib_config {
    uint32_t capacity; /**< prefixes */
    enum arena_pages pages;
    const struct ndn_name_key *key;
    struct rte_rcu_qsbr *qsbr; /**< NULL in single-threaded tests: freed at once */
};

int fib_create(struct fib **fib, const struct fib_config *config);
void fib_destroy(struct fib *fib);

/* Readers: workers. */

/** Bring the buckets that fib_lookup() would read first into the cache. */
static inline void fib_prefetch(const struct fib *fib, const struct ndn_name *name);
/** What the second stage of a lookup has seen: where the longest prefix most likely is, its octets not read yet. */
struct fib_hint {
    const struct fib_entry *entry; /**< NULL: nothing to go by */
    uint8_t depth;                 /**< components of the prefix that was looked for */
};

/**
 * Second stage, optional: bring the entry of the longest prefix into the cache. The buckets should have arrived.
 *
 * @return what fib_lookup_hinted() wants to know, valid until the next quiescent state
 */
static inline struct fib_hint fib_prefetch_entry(const struct fib *fib, const struct ndn_name *name);
/** Longest prefix of @p name (hashed) that has an entry; NULL when not even "/" has one. */
const struct fib_entry *fib_lookup(const struct fib *fib, const struct ndn_name *name);
/** The same, with what fib_prefetch_entry() returned for this name. */
static inline const struct fib_entry *fib_lookup_hinted(const struct fib *fib, const struct ndn_name *name,
                                                        struct fib_hint hint);

/** How often a prefix got a next hop that it did not have, modulo 2^32: who sees it change may look anew. */
uint32_t fib_added(const struct fib *fib);

/* Writer: the control thread. Names are TLV-VALUEs, at most NDN_NAME_DEPTH components and NDN_NAME_MAX octets. */

/** Add or change a next hop. @return 0, -EINVAL (name), -ENOSPC (table full, or FIB_NEXTHOPS_MAX) */
int fib_nexthop_set(struct fib *fib, const uint8_t *prefix, uint16_t len, uint32_t face, uint32_t cost);
/** @return 0, or -ENOENT */
int fib_nexthop_unset(struct fib *fib, const uint8_t *prefix, uint16_t len, uint32_t face);
/** Remove a face from every prefix. @return prefixes changed; one that finds no memory for it stays as it is */
uint32_t fib_face_remove(struct fib *fib, uint32_t face);
/** Remove every face that @p gone says is gone, in one walk. @return prefixes changed; as above */
uint32_t fib_faces_remove(struct fib *fib, bool (*gone)(void *ctx, uint32_t face), void *ctx);
/** Set the strategy of a prefix. @return 0, -EINVAL, -ENOSPC */
int fib_strategy_set(struct fib *fib, const uint8_t *prefix, uint16_t len, uint16_t strategy);
/** @return 0, or -ENOENT */
int fib_strategy_unset(struct fib *fib, const uint8_t *prefix, uint16_t len);

/** One prefix as it was configured, for listing. */
struct fib_item {
    const uint8_t *prefix;
    uint16_t len;
    bool has_nexthops, has_strategy;
    const struct fib_entry *entry;
};
/** Call @p visit for every prefix; stops when it returns false. Writer thread, or under the writer's lock. */
void fib_foreach(const struct fib *fib, bool (*visit)(void *ctx, const struct fib_item *item), void *ctx);

uint32_t fib_count(const struct fib *fib);
size_t fib_memory(const struct fib *fib);
/** Free what readers can no longer see; call now and then from the writer. */
void fib_reclaim(struct fib *fib);

#include "pit/fib_impl.h"

#endif
