// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_LIMIT_H
#define FWD_QUIC_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "pit/arena.h"
#include "pit/flow_key.h"

/*
 * How much each source may ask for: a token bucket a second deep for each source (an IPv4 address, or the /64 of an
 * IPv6 address), service and kind. A fixed table of one worker. A source is forgotten as soon as its bucket is full
 * again, which says the same as no entry; one packet of a spoofed source is forgotten after 1 / rate seconds. Where
 * many are remembered at once the one that is nearest to that gives way: who asks for too much stays known, and a
 * source that the table has no room for is served as one that is new.
 */
enum quic_limit_kind {
    QUIC_LIMIT_INITIAL = 1, /**< Initials */
    QUIC_LIMIT_TOO_BIG,     /**< ICMP messages to it */
    QUIC_LIMIT_EDGE,        /**< Version Negotiation and Retry packets to it */
};

#define QUIC_LIMIT_SOURCES 65536u /**< of a worker, unless told otherwise: 1 MB */

struct quic_limit;

/** @p sources at once, rounded up to a power of 2. @return 0, -EINVAL (none, or more than 2^24), or -ENOMEM */
int quic_limit_create(struct quic_limit **limit, uint32_t sources, const struct flow_hash_key *key,
                      enum arena_pages pages);
/** Unmap it; NULL is allowed. */
void quic_limit_destroy(struct quic_limit *limit);

/**
 * May @p ip (4 or, @p v6, 16 octets) have one more? Then that is counted; what is refused is not. @p slot is the
 * service's, @p rate what it allows a second; 0: everything. Owner thread.
 */
bool quic_limit_take(struct quic_limit *limit, uint16_t slot, enum quic_limit_kind kind, const uint8_t *ip, bool v6,
                     uint32_t rate, uint64_t now_ns);

/** Sources that are remembered now. Tests. */
uint32_t quic_limit_count(const struct quic_limit *limit, uint64_t now_ns);

#endif
