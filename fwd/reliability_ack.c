// SPDX-License-Identifier: Apache-2.0
/* NDNLPv2 reliability: what is received, acknowledged, and seen a second time. */
#include "fwd/reliability_priv.h"

#include "fwd/dispatch.h"

/* RTT measured by an Ack of a packet that was sent once (RFC 6298 section 2, alpha 1/8, beta 1/4, K 4). */
static void rel_measure(struct rel_face *state, uint64_t rtt_ns)
{
    if (!state->measured) {
        state->srtt_ns = rtt_ns;
        state->rttvar_ns = rtt_ns / 2;
        state->measured = true;
    } else {
        uint64_t off = state->srtt_ns > rtt_ns ? state->srtt_ns - rtt_ns : rtt_ns - state->srtt_ns;
        state->rttvar_ns = (3 * state->rttvar_ns + off) / 4;
        state->srtt_ns = (7 * state->srtt_ns + rtt_ns) / 8;
    }
    uint64_t rto_ns = state->srtt_ns + 4 * state->rttvar_ns;
    rto_ns = RTE_MAX(rto_ns, RELIABILITY_RTO_MIN_MS * UINT64_C(1000000));
    state->rto_ns = RTE_MIN(rto_ns, RELIABILITY_RTO_MAX_MS * UINT64_C(1000000));
}

/* One Ack of ours. Each one counts once against every older packet, and the third is the end of that TxSequence. */
static void rel_ack(struct fwd *fwd, struct rel_face *state, uint64_t tx)
{
    struct reliability *rel = fwd->reliability;
    uint32_t index = rel_window(state, tx);
    if (index == POOL_NONE)
        return;
    const struct rel_packet *packet = rel_packet_at(rel, index);
    if (packet->retries == 0)
        rel_measure(state, fwd->now_ns - packet->sent_ns);
    uint64_t first = state->first_tx;
    fwd->stats.lp_acknowledged++;
    rel_packet_free(rel, index);
    for (uint64_t t = first; t != tx; t = (t + 1) & TX_MASK) {
        // What is lost leaves the place it had, and may take others along.
        uint32_t older = rel_window(state, t);
        if (older != POOL_NONE && ++rel_packet_at(rel, older)->later_acks >= RELIABILITY_LATER_ACKS)
            rel_packet_lost(fwd, older);
    }
}

static void rel_relay_send(struct fwd *fwd, uint16_t to)
{
    struct rel_relay *relay = &fwd->reliability->relay[to];
    if (relay->n > 0) {
        dispatch_acks(fwd, to, relay->face, relay->acks, relay->n);
        fwd->reliability->n_relays--;
    }
    relay->n = 0;
}

void reliability_hand_over(struct fwd *fwd)
{
    for (uint16_t to = 0; fwd->reliability->n_relays > 0 && to < fwd->shared->n_workers; to++)
        rel_relay_send(fwd, to);
}

static void rel_relay_add(struct fwd *fwd, uint16_t to, uint32_t face, uint64_t ack)
{
    struct rel_relay *relay = &fwd->reliability->relay[to];
    if (relay->n == RTE_DIM(relay->acks) || (relay->n > 0 && relay->face != face))
        rel_relay_send(fwd, to);
    if (relay->n == 0)
        fwd->reliability->n_relays++;
    relay->face = face;
    relay->acks[relay->n++] = ack;
}

static void rel_acks(struct fwd *fwd, struct rel_face *state, const struct ndn_lp *lp, bool relay)
{
    for (unsigned i = 0; i < lp->n_acks; i++) {
        uint64_t ack = ndn_lp_ack(lp, i);
        uint16_t worker = (uint16_t)(ack >> TX_SHIFT);
        if (worker == fwd->worker)
            rel_ack(fwd, state, ack & TX_MASK);
        else if (relay && worker < fwd->shared->n_workers)
            rel_relay_add(fwd, worker, state->id, ack);
    }
}

/*
 * Has this Sequence come in while its sender may still repeat it? Remembers it. Longer ago it may be another life of
 * the peer's. The peer's RTO is not known, and may have been the initial one a moment ago.
 */
static bool rel_is_seen(const struct fwd *fwd, struct rel_face *state, uint64_t sequence)
{
    // Each worker of a peer like us counts in a range of its own: the top octet must not make them meet.
    struct rel_seen *seen = &state->seen[(sequence ^ (sequence >> 56) * 0x61) % RELIABILITY_SEEN];
    uint32_t now = wheel_tick(fwd->now_ns);
    uint64_t rto_ns = RTE_MAX(state->rto_ns, RELIABILITY_RTO_MS * UINT64_C(1000000));
    uint32_t window = wheel_tick((RELIABILITY_RETRIES + 1) * rto_ns);
    bool again = seen->used && seen->sequence == sequence && now - seen->tick <= window;
    if (!again)
        *seen = (struct rel_seen){.sequence = sequence, .tick = now, .used = 1};
    return again;
}

bool reliability_receive(struct fwd *fwd, const struct face *face, const struct ndn_lp *lp)
{
    struct reliability *rel = fwd->reliability;
    struct rel_face *state = rel_face_get(fwd, face);
    if (state == NULL)
        return true;
    rel_acks(fwd, state, lp, true);
    if ((lp->has & LP_HAS_FRAGMENT) && (lp->has & LP_HAS_TX_SEQUENCE)) {
        state->acks[state->n_acks++] = lp->tx_sequence;
        if (state->n_acks == RTE_DIM(state->acks))
            rel_acks_send(fwd, face, state);
        else if (state->node.slot == 0)
            wheel_arm(rel->face_wheel, rel->slot[face->id % FACE_SLOTS],
                      wheel_tick_after_ms(fwd->now_ns, RELIABILITY_IDLE_MS));
    }
    return !(lp->has & LP_HAS_SEQUENCE) || !rel_is_seen(fwd, state, lp->sequence);
}

void reliability_handed_over(struct fwd *fwd, const struct face *face, const struct ndn_lp *lp)
{
    struct rel_face *state = face->flags & FACE_RELIABILITY ? rel_face_get(fwd, face) : NULL;
    if (state != NULL)
        rel_acks(fwd, state, lp, false);
}
