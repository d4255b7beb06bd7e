// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_RELIABILITY_H
#define FWD_RELIABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/output.h"
#include "pit/arena.h"

/*
 * NDNLPv2 reliability of one worker, for faces with FACE_RELIABILITY: what is sent has a Sequence and a TxSequence, and
 * is kept until the peer acknowledges the TxSequence. What is not acknowledged within the RTO (RFC 6298), or after
 * three later ones were, is sent again under a new TxSequence, three times at most. What is received is acknowledged on
 * packets that go to the peer anyway, or by themselves after 5 ms, and is worked on once.
 *
 * Everything is bounded: faces, packets kept, packets of one face. What finds no room is sent without TxSequence, as on
 * any other face. The top octet of a TxSequence is the worker's number, so that an Ack that comes in at another worker
 * can be handed over. Worker only; each worker has its own.
 */
struct reliability;

#define RELIABILITY_RETRIES     3
#define RELIABILITY_LATER_ACKS  3 /**< Acks of later TxSequences that mean loss */
#define RELIABILITY_IDLE_MS     5 /**< until Acks go by themselves */
#define RELIABILITY_RTO_MIN_MS  200
#define RELIABILITY_RTO_MS      1000 /**< before the first measurement */
#define RELIABILITY_RTO_MAX_MS  60000
#define RELIABILITY_WINDOW      1024 /**< TxSequences of a face between the oldest unacknowledged one and the next */
#define RELIABILITY_SEEN        512  /**< Sequences of a face that are remembered */
#define RELIABILITY_WORKER_BITS 8    /**< of a TxSequence, the highest */

struct reliability_config {
    uint32_t faces;   /**< with reliability at once; 0: no face has it, whatever its flags */
    uint32_t packets; /**< buffers of packets kept, all faces together */
    enum arena_pages pages;
};

/** @return 0, -EINVAL (limits of 0), -ENOMEM */
int reliability_create(struct reliability **reliability, const struct reliability_config *config, uint64_t now_ns);
/** Frees the packets kept; NULL is allowed. */
void reliability_destroy(struct reliability *reliability);

/** A network packet on its way out; the fields are reliability's own. */
struct reliability_send {
    bool kept;        /**< it has a TxSequence */
    uint32_t face;    /**< index of the face's state */
    uint32_t packet;  /**< index of the packet */
    uint32_t sibling; /**< index of another fragment of the same network packet, 0: none */
    uint64_t acks[NDN_LP_ACKS_MAX];
};

/** Before the first link-layer packet of a network packet. */
static inline void reliability_start(struct reliability_send *send)
{
    send->kept = false;
    send->sibling = 0;
}

/**
 * For each link-layer packet, first: find a place for it. @return true and its TxSequence; false: it is sent without
 */
bool reliability_begin(struct fwd *fwd, const struct face *face, struct reliability_send *send, uint64_t *tx_sequence);
/** Then: let Acks ride along, as many as fit @p room octets. */
void reliability_ride(struct fwd *fwd, struct ndn_lp_out *lp, struct reliability_send *send, uint32_t room);
/**
 * At last, when @p mbuf is the frame: keep a reference to it. @p lp_off says where the LpPacket of @p lp_len octets
 * begins in its first buffer, @p behind how many of these stand behind the TxSequence. @p token is ours, of an
 * Interest, so that its entry is found should it be given up; NULL otherwise.
 */
void reliability_keep(struct fwd *fwd, struct reliability_send *send, struct rte_mbuf *mbuf, uint16_t lp_off,
                      uint32_t lp_len, uint32_t behind, const uint8_t *token);

/**
 * A link-layer packet came in on a face with reliability: take its Acks, and acknowledge it. @return false when its
 * Sequence has been seen: a repetition
 */
bool reliability_receive(struct fwd *fwd, const struct face *face, const struct ndn_lp *lp);
/** Acks that another worker received for this one. */
void reliability_handed_over(struct fwd *fwd, const struct face *face, const struct ndn_lp *lp);
/** Hand Acks over to the workers they are for. */
void reliability_hand_over(struct fwd *fwd);

/** Send again or give up what is due, at most @p max packets; send Acks that have waited. */
void reliability_poll(struct fwd *fwd, uint64_t now_ns, uint32_t max);
/** Nanoseconds until reliability_poll() has work, a lower bound. */
uint64_t reliability_next_ns(const struct reliability *reliability, uint64_t now_ns);
/** Forget a face and what is kept for it. */
void reliability_face_removed(struct reliability *reliability, uint32_t face);

struct reliability_stats {
    uint32_t n_faces, n_packets; /**< now */
};
void reliability_stats(const struct reliability *reliability, struct reliability_stats *stats);
/** Check every invariant. Tests and fuzzers. @return 0 or -EINVAL */
int reliability_check(const struct reliability *reliability);

#endif
