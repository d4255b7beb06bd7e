// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_REASS_H
#define PIT_REASS_H

#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_lp.h"
#include "pit/arena.h"

struct rte_mbuf;

/*
 * NDNLPv2 reassembly of one worker. A partial message is keyed by (face, sender, Sequence - FragIndex) and holds
 * the mbufs of its fragments, trimmed to the fragment's octets. Bounded by messages, by messages per face and by a
 * byte budget; over a bound the oldest is evicted, of the same face first. One owner thread.
 */
struct reass_config {
    uint32_t max_messages;  /**< partial messages at once, e.g. 1024 */
    uint32_t max_per_face;  /**< e.g. 64 */
    uint32_t max_bytes;     /**< octets of mbuf buffers held, all messages together */
    uint16_t max_fragments; /**< FragCount limit, at most NDN_LP_FRAGS_MAX; default 32 */
    uint32_t timeout_ms;    /**< after the last fragment; default 500 */
    enum arena_pages pages;
};

enum reass_result {
    REASS_STORED,    /**< kept, message not complete */
    REASS_COMPLETE,  /**< *out is the whole network packet, a chain that the caller now owns */
    REASS_DUPLICATE, /**< fragment was there already; mbuf freed */
    REASS_BAD,       /**< FragCount over the limit or changed within the message; mbuf freed, message dropped */
    REASS_OVERSIZE,  /**< sum above NDN_PACKET_MAX; mbuf freed, message dropped */
    REASS_FULL,      /**< no room even after eviction; mbuf freed */
};

/** Header fields that ride on the first fragment and belong to the whole message. */
struct reass_header {
    struct ndn_lp lp; /**< token points into @p token; announcement into the buffer of the first mbuf; no acks */
    uint8_t token[NDN_LP_TOKEN_MAX];
};

struct reass_stats {
    uint32_t n_messages;    /**< partial messages now */
    uint32_t n_bytes;       /**< octets held now */
    uint64_t n_frags_freed; /**< fragments freed by timeout, eviction and dropped messages (frames, for accounting) */
    uint64_t n_evicted, n_timeout, n_completed;
};

struct reass;

/** @return 0, -EINVAL (limits of 0, max_fragments above NDN_LP_FRAGS_MAX), or -ENOMEM */
int reass_create(struct reass **reass, const struct reass_config *config, uint64_t now_ns);
void reass_destroy(struct reass *reass);

/**
 * Take a fragment over. @p mbuf holds exactly the fragment's octets (headers cut off). @p sender tells senders of a
 * multi-access face apart (hash of its address), 0 on point-to-point faces.
 *
 * On REASS_COMPLETE *header holds the fields of the first fragment.
 * @p freed is set to the number of fragments (frames) freed by this call other than through *out, by cause.
 */
struct reass_freed {
    uint16_t bad, oversize, duplicate, evicted, full;
};
enum reass_result reass_add(struct reass *reass, uint32_t face, uint64_t sender, const struct ndn_lp *lp,
                            struct rte_mbuf *mbuf, uint64_t now_ns, struct rte_mbuf **out, struct reass_header *header,
                            struct reass_freed *freed);

/** Drop messages that timed out. @return fragments (frames) freed */
uint32_t reass_poll(struct reass *reass, uint64_t now_ns);
/** Drop all messages of a face. @return fragments freed */
uint32_t reass_face_remove(struct reass *reass, uint32_t face);
void reass_stats(const struct reass *reass, struct reass_stats *stats);
/** Check every invariant. Tests and fuzzers. @return 0 or -EINVAL */
int reass_check(const struct reass *reass);

#endif
