// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_FLOW_H
#define PIT_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pit/arena.h"
#include "pit/flow_key.h"

/*
 * Which server a flow was given to, for servers that issue connection IDs which cannot be routed
 * (draft-ietf-quic-load-balancers-21, section 4). Bounded. Anybody can send a packet with another's addresses or CID,
 * so no packet removes or changes an entry: entries go when they were not used for idle_ms, when their owner removes
 * them, or, in a full table, when a new flow needs room and the least recently used one was not used for keep_ms. When
 * there is no such entry the new flow is refused, and goes where its hash leads as if there were no table. One owner
 * thread.
 */
struct flow_config {
    uint32_t capacity; /**< flows at once */
    uint32_t idle_ms;  /**< without a packet; 1 to 2^30 */
    uint32_t keep_ms;  /**< a flow used within this time does not give way to a new one; at most idle_ms */
    enum arena_pages pages;
};

enum flow_result {
    FLOW_ADDED,
    FLOW_KNOWN, /**< there is an entry already; it stays as it is */
    FLOW_FULL,  /**< no room, and no entry that may give way */
};

struct flow_stats {
    uint32_t n_flows; /**< now */
    uint64_t n_added, n_expired, n_evicted, n_removed, n_refused;
};

struct flow;

/** @return 0, -EINVAL (capacity or times), or -ENOMEM */
int flow_create(struct flow **flow, const struct flow_config *config, uint64_t now_ns);
void flow_destroy(struct flow *flow);
/** Octets mapped. */
size_t flow_memory(const struct flow *flow);

/** Bring what flow_find() reads first into the cache. @p hash is flow_key_hash() of the key, here and below */
void flow_prefetch(const struct flow *flow, uint64_t hash);

/** The next step before flow_find(), once flow_prefetch() has had its time: the entry itself. */
void flow_prefetch_entry(const struct flow *flow, uint64_t hash);

/** Look up a flow; that is a use of it. @return false when it is not there; else *server as it was added */
bool flow_find(struct flow *flow, const struct flow_key *key, uint64_t hash, uint64_t now_ns, uint16_t *server);

/** Add a flow; when it is there, that is a use of it. */
enum flow_result flow_add(struct flow *flow, const struct flow_key *key, uint64_t hash, uint16_t server,
                          uint64_t now_ns);

/** As many flows as there may be: a flow that is not there may be one that found no room. */
bool flow_is_full(const struct flow *flow);

/** Remove a flow, because its server is gone; never because of what a packet says. @return false when it is not there
 */
bool flow_remove(struct flow *flow, const struct flow_key *key, uint64_t hash);

/** Let flows expire, at most @p max of them. @return how many did */
uint32_t flow_poll(struct flow *flow, uint64_t now_ns, uint32_t max);

void flow_stats(const struct flow *flow, struct flow_stats *stats);
/** Check every invariant. Tests and fuzzers. @return 0 or -EINVAL */
int flow_check(const struct flow *flow);

#endif
