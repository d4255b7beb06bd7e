// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_RELIABILITY_PRIV_H
#define FWD_RELIABILITY_PRIV_H

#include "fwd/reliability.h"
#include "pit/pool.h"
#include "pit/wheel.h"

/* What the two halves of reliability share: reliability.c sends and keeps, reliability_ack.c receives. */

#define TX_SHIFT (64 - RELIABILITY_WORKER_BITS)
#define TX_MASK  ((UINT64_C(1) << TX_SHIFT) - 1)

/** A link-layer packet that was sent and not acknowledged. */
struct rel_packet {
    struct wheel_node node; /**< RTO */
    uint64_t tx;            /**< TxSequence without the worker */
    uint64_t sent_ns;
    struct rte_mbuf *mbuf; /**< our reference to the frame */
    uint64_t token;        /**< PIT token of an Interest, as its octets lie in memory */
    uint32_t face;         /**< index of its struct rel_face */
    uint32_t prev, next;   /**< fragments of the same network packet, in a ring */
    uint32_t lp_len;
    uint16_t lp_off; /**< where the LpPacket begins in the first buffer */
    uint16_t tx_off; /**< where the value of its TxSequence begins in the LpPacket */
    uint8_t retries;
    uint8_t later_acks;
    bool is_interest;
    uint8_t pad;
};

/** A received Sequence. */
struct rel_seen {
    uint64_t sequence;
    uint32_t tick;
    uint32_t used;
};

/** A face at this worker. */
struct rel_face {
    struct wheel_node node; /**< sends Acks that found no packet to ride on */
    uint32_t id;
    uint32_t n_packets;
    uint64_t first_tx, next_tx; /**< the window; without the worker */
    uint64_t srtt_ns, rttvar_ns, rto_ns;
    bool measured;
    uint8_t n_acks; /**< to be sent, the oldest first */
    uint64_t acks[NDN_LP_ACKS_MAX];
    uint32_t window[RELIABILITY_WINDOW]; /**< packet of each TxSequence, POOL_NONE: acknowledged, or given up */
    struct rel_seen seen[RELIABILITY_SEEN];
};

/** Acks for another worker. */
struct rel_relay {
    uint32_t face;
    uint8_t n;
    uint64_t acks[NDN_LP_ACKS_MAX];
};

struct reliability {
    struct pool faces, packets;
    struct wheel *face_wheel, *packet_wheel;
    uint32_t n_mbufs, max_mbufs; /**< kept */
    uint16_t n_relays;           /**< workers with Acks in relay[] */
    uint16_t slot[FACE_SLOTS];   /**< index of each face's state, 0: none */
    struct rel_relay relay[FWD_WORKERS_MAX];
};

static inline struct rel_face *rel_face_at(const struct reliability *rel, uint32_t index)
{
    return pool_at(&rel->faces, index);
}

static inline struct rel_packet *rel_packet_at(const struct reliability *rel, uint32_t index)
{
    return pool_at(&rel->packets, index);
}

/** Packet of a TxSequence, POOL_NONE when there is none. */
static inline uint32_t rel_window(const struct rel_face *state, uint64_t tx)
{
    return ((tx - state->first_tx) & TX_MASK) < ((state->next_tx - state->first_tx) & TX_MASK)
               ? state->window[tx % RELIABILITY_WINDOW]
               : POOL_NONE;
}

/** State of a face, made when there is none; NULL when there is no room for one more. */
struct rel_face *rel_face_get(struct fwd *fwd, const struct face *face);
/** Forget a packet: it was acknowledged, or is given up. */
void rel_packet_free(struct reliability *rel, uint32_t index);
/** The packet is lost: send it again, or give it up. */
void rel_packet_lost(struct fwd *fwd, uint32_t index);
/** Send Acks by themselves, as many packets as they need. */
void rel_acks_send(struct fwd *fwd, const struct face *face, struct rel_face *state);

#endif
