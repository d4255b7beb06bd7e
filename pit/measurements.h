// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_MEASUREMENTS_H
#define PIT_MEASUREMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "parser/ndn_name.h"
#include "pit/arena.h"
#include "pit/wheel.h"

/*
 * What strategies of one worker remember of name prefixes (NFD's Measurements): round-trip times of upstreams and the
 * like. An entry belongs to a prefix and to one strategy instance, so that a prefix that changes its strategy starts
 * anew. Entries expire, and when all are in use a new prefix takes the place of one that was not asked for lately. A
 * prefix is known by the keyed hash of its octets, their number and its depth; the octets are not kept: who could find
 * two names of one hash would gain a wrong measurement.
 * One owner thread, but for measurements_count().
 */

/** Upstreams of a prefix that are remembered. */
#define MEASUREMENTS_FACES_MAX 16
/** Lifetime of an entry that nothing extends. */
#define MEASUREMENTS_LIFETIME_MS 4000

/** Times here are of this length (2^12 ns, 4.1 us), 32 bits of which wrap after 4.8 hours. */
#define MEASUREMENTS_SHIFT 12

/** Round-trip time of an upstream: smoothed, and its deviation (RFC 6298). All zero: nothing measured. */
struct measurements_rtt {
    uint32_t srtt;
    uint32_t rttvar;
};

enum measurements_state {
    MEASUREMENTS_NONE = 0, /**< no answer yet */
    MEASUREMENTS_RTT,
    MEASUREMENTS_TIMEOUT, /**< did not answer, or answered with a Nack */
};

/** What is known of an upstream under a prefix. */
struct measurements_face {
    uint32_t face;   /**< FaceId; 0: unused */
    uint32_t expiry; /**< wheel tick */
    struct measurements_rtt rtt;
    uint32_t deadline; /**< wheel tick by which the Interest that is timed is to be answered */
    uint32_t timed;    /**< part of the hash of that Interest's name; 0: none is timed */
    uint16_t n_timeouts;
    uint8_t state; /**< enum measurements_state */
    uint8_t pad;
};

struct measurements_entry {
    uint64_t hash;
    struct wheel_node node; /**< node.owner is the prefix's length in octets */
    uint16_t strategy;      /**< number of the instance */
    uint8_t depth;          /**< components of the prefix */
    bool used;              /**< asked for since the last search for a place */
    bool in_use;
    bool probing;       /**< probe_at holds */
    uint32_t probe_at;  /**< wheel tick of the next probe */
    uint32_t last_face; /**< FaceId of the upstream that answered last; 0: none */
    struct measurements_rtt rtt;
    struct measurements_face face[MEASUREMENTS_FACES_MAX];
};

struct measurements;

/** @param capacity entries. @return 0, -EINVAL (0), -ENOMEM */
int measurements_create(struct measurements **m, uint32_t capacity, enum arena_pages pages, uint64_t now_ns);
void measurements_destroy(struct measurements *m);

/** Entry of the first @p depth components of @p name (hashed) and of a strategy instance, NULL when there is none. */
struct measurements_entry *measurements_find(struct measurements *m, const struct ndn_name *name, unsigned depth,
                                             uint16_t strategy);
/** Entry of the longest prefix of the first @p depth components of @p name, NULL when there is none. */
struct measurements_entry *measurements_longest(struct measurements *m, const struct ndn_name *name, unsigned depth,
                                                uint16_t strategy);
/**
 * Find or make the entry of a prefix, and let it live for another @p lifetime_ms at least. A new one is zero but for
 * its key. NULL when the index has no room.
 */
struct measurements_entry *measurements_get(struct measurements *m, const struct ndn_name *name, unsigned depth,
                                            uint16_t strategy, uint32_t lifetime_ms, uint64_t now_ns);

/** What is known of a face under a prefix; NULL when nothing is, or that has expired. */
struct measurements_face *measurements_face(struct measurements_entry *entry, uint32_t face, uint64_t now_ns);
/** The same, made when it is not there (in the place of the one that expires first when all are in use); extended. */
struct measurements_face *measurements_face_get(struct measurements_entry *entry, uint32_t face, uint32_t lifetime_ms,
                                                uint64_t now_ns);

/** Add a measured round-trip time (RFC 6298, section 2). */
void measurements_rtt_add(struct measurements_rtt *rtt, uint32_t sample);
/** Retransmission timeout in milliseconds: srtt + 4 rttvar, from 200 ms to 60 s; 1 s when nothing was measured. */
uint32_t measurements_rto_ms(const struct measurements_rtt *rtt);

/** Forget what has expired, at most @p max entries. */
void measurements_poll(struct measurements *m, uint64_t now_ns, uint32_t max);

/** Entries in use; any thread may ask. */
uint32_t measurements_count(const struct measurements *m);
/** Check every invariant. Tests and fuzzers. @return 0 or -EINVAL */
int measurements_check(const struct measurements *m);

#endif
