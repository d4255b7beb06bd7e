// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_EDGE_PRIV_H
#define FWD_QUIC_EDGE_PRIV_H

/* Steps of the edge, one file each. Worker that owns the struct fwd. */
#include "fwd/pkt.h"
#include "fwd/quic/edge.h"
#include "fwd/quic/retry_packet.h"
#include "fwd/quic/retry_token.h"

/** Tokens that a worker makes with one key (draft-ietf-quic-retry-offload, "Shared-State Retry Keys"). */
#define QUIC_RETRY_TOKENS_MAX (1u << 23)

/** A Retry key in use, and what belongs to it. */
struct quic_edge_key {
    struct gcm gcm;
    struct quic_retry_key from;
    struct flow_hash_key cid_key; /**< connection IDs of Retry packets are made with it */
    uint32_t n_tokens;            /**< made with it */
    bool is_set;
};

struct quic_edge {
    struct quic_limit *limit;
    struct flow_hash_key random_key; /**< of quic_edge_random() */
    uint64_t random_count;
    uint16_t ip_id;                         /**< of the last IPv4 packet made here */
    uint8_t number[RETRY_TOKEN_NUMBER - 4]; /**< of tokens, first octets: the worker, random octets */
    uint32_t number_count;                  /**< and the last four */
    struct retry_tags tags;
    struct quic_edge_key key[QUIC_SERVICES_MAX][QUIC_RETRY_KEYS_MAX];
};

/** Numbers that nobody can tell from random ones (SipHash of a counter). */
uint64_t quic_edge_random(struct quic_edge *edge);

/** The packet ends here. @return true, so that the end of quic_edge() reads well */
static inline bool quic_edge_drop(struct fwd *fwd, const struct quic_pkt *pkt, enum drop drop)
{
    pkt_drop(fwd, pkt->mbuf, drop);
    return true;
}

/** Source address of a datagram: 4 octets or 16. */
static inline const uint8_t *quic_edge_source(const struct quic_pkt *pkt)
{
    return rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, pkt->l3_off + (pkt->v6 ? 8 : 12));
}

/**
 * answer: send a datagram with @p len octets at @p payload, which are not in the mbuf, to where @p pkt came from. It
 * is written over pkt's own, whose end it is; with @p keep into a buffer of its own, and pkt goes on.
 */
void quic_answer(struct fwd *fwd, const struct quic_pkt *pkt, const uint8_t *payload, uint16_t len, bool keep);

/** version: answer a datagram of a version that the service does not offer, or drop it. @return true: it is gone */
bool quic_version_negotiate(struct fwd *fwd, const struct quic_pkt *pkt);

/** retry: an Initial for a service with Retry: answer it, or drop it, or let it go on. @return true: it is gone */
bool quic_retry(struct fwd *fwd, const struct quic_pkt *pkt);

#endif
