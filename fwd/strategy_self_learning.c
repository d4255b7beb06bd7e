// SPDX-License-Identifier: Apache-2.0
/*
 * self-learning (NFD v1; Shi et al., "On Broadcast-based Self-Learning in Named Data Networking"): an Interest without
 * a route is a discovery, which goes to every face; the Data that it brings back carries a prefix announcement, from
 * which the route is made. With a route, Interests are marked NonDiscovery, and one so marked is never broadcast.
 *
 * Routes are the control thread's, so it hears by packets that leave through the internal face, with the IncomingFaceId
 * that they came by:
 *   Data with a PrefixAnnouncement: learn the route;
 *   Data without: it answers a discovery by a route that this forwarder knew. The announcement is to be added, and the
 *     Data sent back from the internal face, where the pending Interest waits for it;
 *   Nack NoRoute: the route leads nowhere any more.
 */
#include "fwd/chain.h"
#include "fwd/nack.h"
#include "fwd/output.h"
#include "fwd/strategy.h"

/* Mark of in-records and out-records: the Interest was a discovery. */
#define LEARN_DISCOVERY 1
/* How old the list of faces to broadcast to may be. */
#define LEARN_FACES_MS 100

/* Faces that a discovery goes to, looked up now and then: most slots of the table are empty. */
static void learn_faces(struct fwd *fwd)
{
    struct fwd_broadcast *broadcast = fwd->broadcast;
    uint32_t now = wheel_tick(fwd->now_ns);
    if (broadcast->is_known && now - broadcast->tick < wheel_tick_after_ms(0, LEARN_FACES_MS))
        return;
    broadcast->is_known = true;
    broadcast->tick = now;
    broadcast->n = 0;
    for (unsigned slot = 0; slot < FACE_SLOTS && broadcast->n < RTE_DIM(broadcast->face); slot++) {
        const struct face *face = atomic_load_explicit(&fwd->shared->faces->slot[slot], memory_order_acquire);
        if (face != NULL && face->scope == FACE_SCOPE_NON_LOCAL)
            broadcast->face[broadcast->n++] = face->id;
    }
}

static void learn_broadcast(struct fwd *fwd, struct strategy_choice *choice)
{
    unsigned n = 0;
    learn_faces(fwd);
    for (unsigned i = 0; i < fwd->broadcast->n; i++) {
        const struct face *face;
        if (strategy_eligible(fwd, choice, fwd->broadcast->face[i], &face) == DROP_NONE)
            choice->out[n++] = face;
    }
    choice->n_out = (uint16_t)(n > 0 ? n | STRATEGY_OUT_MARKED : 0);
    choice->mark = LEARN_DISCOVERY;
}

static void learn_multicast(struct fwd *fwd, struct strategy_choice *choice)
{
    unsigned n = 0;
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        if (strategy_eligible(fwd, choice, choice->fib->nexthop[i].face, &face) == DROP_NONE)
            choice->out[n++] = face;
    }
    choice->n_out = (uint16_t)(n > 0 ? n | STRATEGY_OUT_MARKED : 0);
    choice->mark = 0;
    choice->pkt->ndn.lp.has |= LP_HAS_NON_DISCOVERY;
}

static void learn_interest(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    bool discovery = !(choice->pkt->ndn.lp.has & LP_HAS_NON_DISCOVERY);
    struct pit_in *in = pit_in_find(fwd->pit, choice->entry, choice->in->id);
    if (in != NULL)
        in->mark = discovery ? LEARN_DISCOVERY : 0;
    strategy_watch(strategy, choice->entry);
    choice->probe = false;
    if (choice->fib != NULL && choice->fib->n_nexthops > 0)
        learn_multicast(fwd, choice);
    else if (discovery)
        learn_broadcast(fwd, choice);
    else
        return;
    // Nobody to ask is no answer to who looks for a route: an answer may yet come to others.
    choice->suppressed = choice->n_out == 0;
}

/* A copy of a packet for the control thread. @return false when it does not listen */
static bool learn_tell(struct fwd *fwd, const struct pkt *pkt, struct ndn_lp_out *lp, enum output_kind kind)
{
    const struct face *internal = face_get(fwd->shared->faces, FACE_ID_INTERNAL);
    if (internal == NULL || atomic_load_explicit(&internal->down, memory_order_relaxed) != 0)
        return false;
    lp->has_incoming_face = true;
    lp->incoming_face = pkt->face->id;
    struct rte_mbuf *copy = chain_copy(fwd->pool, pkt->mbuf, pkt->mbuf->data_off, pkt->mbuf->pkt_len,
                                       (uint16_t)(NDN_LP_HEADER_MAX + lp->announcement_len + FACE_HDR_MAX));
    fwd->stats.originated++;
    if (copy == NULL) {
        fwd->stats.drops[DROP_TX_NO_MBUF]++;
        return false;
    }
    output_send(fwd, internal, copy, lp, kind);
    return true;
}

/* True when a downstream asked for a route. */
static bool learn_is_wanted(struct fwd *fwd, struct pit_entry *entry)
{
    for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL; in = pit_in_next(fwd->pit, entry, in))
        if (in->mark == LEARN_DISCOVERY)
            return true;
    return false;
}

/* The entry waits for what the control thread sends back. */
static bool learn_wait(struct fwd *fwd, struct pit_entry *entry)
{
    struct pit_out *out = pit_out_find(fwd->pit, entry, FACE_ID_INTERNAL);
    if (out == NULL)
        out = pit_out_add(fwd->pit, entry, FACE_ID_INTERNAL);
    if (out == NULL)
        return false;
    out->sent = wheel_tick(fwd->now_ns);
    out->expiry = entry->node.expiry;
    return true;
}

static bool learn_data(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt, struct pit_entry *entry,
                       struct pit_out *out)
{
    (void)strategy;
    const struct ndn_lp *lp = &pkt->ndn.lp;
    struct ndn_lp_out fields = {0};
    if (pkt->face->id == FACE_ID_INTERNAL)
        return false;
    if (lp->has & LP_HAS_PREFIX_ANNOUNCEMENT) {
        // Only who was asked for a route may give one.
        if (out->mark == LEARN_DISCOVERY) {
            fields.announcement = lp->announcement;
            fields.announcement_len = lp->announcement_len;
            (void)learn_tell(fwd, pkt, &fields, OUTPUT_DATA);
        }
        return false;
    }
    if (out->mark == LEARN_DISCOVERY || !learn_is_wanted(fwd, entry))
        return false;
    return learn_tell(fwd, pkt, &fields, OUTPUT_DATA) && learn_wait(fwd, entry);
}

static bool learn_nack(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt, struct pit_entry *entry,
                       struct pit_out *out)
{
    (void)strategy;
    // Of those that a discovery went to, one more or less without a route says nothing.
    if (out->nack != NDN_NACK_NO_ROUTE || out->mark == LEARN_DISCOVERY)
        return false;
    for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL; in = pit_in_next(fwd->pit, entry, in))
        nack_downstream(fwd, entry, in, NDN_NACK_NO_ROUTE);
    struct ndn_lp_out fields = {.nack_reason = NDN_NACK_NO_ROUTE};
    (void)learn_tell(fwd, pkt, &fields, OUTPUT_NACK);
    ndn_interest_reject(fwd, entry);
    return true;
}

const struct strategy_type strategy_self_learning = {
    .name = "self-learning",
    .version = 1,
    .nack_no_route = true,
    .nack_on_loop = true,
    .handles_nack = true,
    .interest = learn_interest,
    .data = learn_data,
    .nack = learn_nack,
};
