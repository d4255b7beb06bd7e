// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_TALLY_H
#define TEST_LOAD_TALLY_H

#include <stdint.h>

#include "test/load/histogram.h"

/*
 * What became of the packets of one stretch of sending. Every request ends as one of received, aggregated, nacks, lost.
 * One thread writes; others may look at the counters with tally_read() meanwhile.
 */
struct tally {
    uint64_t sent;
    uint64_t unsent;     /**< due, but the port took them too late */
    uint64_t received;   /**< answered, all as it should be */
    uint64_t aggregated; /**< answered by the Data for a later Interest of the same name */
    uint64_t nacks;
    uint64_t lost;                         /**< no answer in time */
    uint64_t late;                         /**< Data for what was counted as lost or aggregated */
    uint64_t duplicates;                   /**< Data for what was answered already */
    uint64_t reordered;                    /**< Data behind that of a later request (RFC 4737, section 3.3) */
    uint64_t corrupted;                    /**< of this run, but not what was sent: name, content, token, fields */
    uint64_t unexpected;                   /**< NDN or QUIC packets that are not of this run */
    uint64_t misrouted;                    /**< QUIC: at another server than it belongs to */
    uint64_t foreign;                      /**< frames of other protocols */
    uint64_t octets_sent, octets_received; /**< of frames */
    uint64_t begin, end;                   /**< ticks, of sending */
    uint64_t behind;                       /**< ticks at most between due and sent */
    struct histogram latency; /**< ticks from when a packet was due; the closed loop: from when it was sent */
    struct histogram service; /**< ticks from when it was sent */
};

/** What a producer did. */
struct tally_producer {
    uint64_t interests, data, frames;
    uint64_t dropped, spoilt, nacks; /**< by --inject */
    uint64_t tokens;                 /**< Interests that had one */
    uint64_t oversize;               /**< Data that did not fit with their token */
    uint64_t corrupted, unexpected, foreign;
};

/** A counter that another thread writes. */
static inline uint64_t tally_read(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
