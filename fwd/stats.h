// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_STATS_H
#define FWD_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/drop.h"

/*
 * Counters of a worker. Only the worker writes them (plain stores); others read with relaxed loads, so that a value
 * may be a burst old but never torn. The list below is the only one: client, telemetry and tests all walk it.
 */

/** STAT(field, name, meaning): counters of the whole worker. */
#define STATS_WORKER(STAT)                                                                                     \
    STAT(rx_frames, "rx_frames", "frames received")                                                            \
    STAT(tx_frames, "tx_frames", "frames given to a port")                                                     \
    STAT(originated, "originated", "frames made here: copies, fragments, answers, Nacks, reassembled packets") \
    STAT(held, "held", "fragments that wait for the rest of their message (a gauge)")                          \
    STAT(in_interests, "in_interests", "Interests received")                                                   \
    STAT(in_data, "in_data", "Data received")                                                                  \
    STAT(in_nacks, "in_nacks", "Nacks received")                                                               \
    STAT(out_interests, "out_interests", "Interests sent")                                                     \
    STAT(out_data, "out_data", "Data sent")                                                                    \
    STAT(out_nacks, "out_nacks", "Nacks sent")                                                                 \
    STAT(satisfied, "satisfied", "pending Interests that Data satisfied")                                      \
    STAT(unsatisfied, "unsatisfied", "pending Interests that expired or were rejected")                        \
    STAT(retransmitted, "retransmitted", "Interests forwarded again for a pending one")                        \
    STAT(token_hits, "token_hits", "Data and Nacks found by our PIT token")                                    \
    STAT(token_bad, "token_bad", "tokens that failed a check; the name was looked up instead")                 \
    STAT(linearised, "linearised", "packets in several segments, copied to be parsed")                         \
    STAT(handed_over, "handed_over", "packets handed to the worker that owns their name")                      \
    STAT(relayed, "relayed", "frames given to the worker that sends on their port, and counts them")           \
    STAT(marked, "marked", "packets given a CongestionMark here")                                              \
    STAT(lp_acknowledged, "lp_acknowledged", "link-layer packets that the peer acknowledged")                  \
    STAT(lp_retransmitted, "lp_retransmitted", "link-layer packets sent again")                                \
    STAT(lp_given_up, "lp_given_up", "network packets given up after too many retransmissions")                \
    STAT(lp_unreliable, "lp_unreliable", "packets to reliable faces that found no room to be kept")            \
    STAT(polls, "polls", "turns of the loop")                                                                  \
    STAT(polls_idle, "polls_idle", "turns that found nothing to do")                                           \
    STAT(sleeps, "sleeps", "times the worker slept")

struct stats_worker {
#define STAT(field, name, text) uint64_t field;
    STATS_WORKER(STAT)
#undef STAT
    uint64_t drops[DROP_COUNT];
};

/** STAT(field, name, meaning): counters of one face at one worker. */
#define STATS_FACE(STAT)                                                        \
    STAT(in_interests, "in_interests", "Interests received")                    \
    STAT(in_data, "in_data", "Data received")                                   \
    STAT(in_nacks, "in_nacks", "Nacks received")                                \
    STAT(in_bytes, "in_bytes", "octets of link-layer packets received")         \
    STAT(out_interests, "out_interests", "Interests sent")                      \
    STAT(out_data, "out_data", "Data sent")                                     \
    STAT(out_nacks, "out_nacks", "Nacks sent")                                  \
    STAT(out_bytes, "out_bytes", "octets of network packets sent")              \
    STAT(in_drops, "in_drops", "packets of this face that were refused")        \
    STAT(out_drops, "out_drops", "packets that could not be sent to this face") \
    STAT(pending, "pending", "in-records of this face in the PIT (a gauge)")

struct stats_face {
    uint32_t face; /**< FaceId the counters belong to; another one in the same slot starts from zero */
    uint32_t pad;
#define STAT(field, name, text) uint64_t field;
    STATS_FACE(STAT)
#undef STAT
} __attribute__((aligned(64)));

/** Relaxed read of a counter that another thread writes. */
static inline uint64_t stats_read(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/** Name, meaning and place of each counter, for those who print them. */
struct stats_desc {
    const char *name;
    const char *text;
    size_t offset;
};
extern const struct stats_desc stats_worker_desc[]; /**< ends with a NULL name */
extern const struct stats_desc stats_face_desc[];   /**< ends with a NULL name */

/** Add worker counters @p from to @p sum, with relaxed loads. */
void stats_worker_add(struct stats_worker *sum, const struct stats_worker *from);

/**
 * Frames not accounted for: received + originated - sent - held - dropped - consumed. Exactly 0 whenever the workers
 * are quiet, which is the law every test checks.
 */
int64_t stats_unaccounted(const struct stats_worker *sum);

#endif
