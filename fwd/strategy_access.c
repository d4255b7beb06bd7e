// SPDX-License-Identifier: Apache-2.0
/*
 * access (NFD v1), for a router between consumers and one producer: the first Interest of a prefix goes to every next
 * hop; later ones to the one that answered last, and to the others too when it does not answer in time (RFC 6298). The
 * prefix is that of the Data without its last component.
 */
#include "fwd/strategy.h"

/* A retransmission sooner than this after the last transmission only waits. */
#define ACCESS_RETX_TICKS 10
/* How long a prefix is remembered after its last Data. */
#define ACCESS_LIFETIME_MS 8000

/* All eligible next hops; with @p unused only those that were not asked. */
static void access_multicast(struct fwd *fwd, struct strategy_choice *choice, bool unused)
{
    unsigned n = 0;
    for (unsigned i = 0; choice->fib != NULL && i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        uint32_t id = choice->fib->nexthop[i].face;
        enum drop reason = strategy_eligible(fwd, choice, id, &face);
        if (reason != DROP_NONE)
            strategy_note(choice, reason);
        else if (!unused || pit_out_find(fwd->pit, choice->entry, id) == NULL)
            choice->out[n++] = face;
    }
    if (n == 0)
        return;
    choice->n_out = (uint16_t)(n | STRATEGY_OUT_MARKED);
    choice->probe = false;
    choice->mark = strategy_now(fwd);
}

/* The next hop that answered last, when it may be used for this Interest. */
static const struct face *access_last(struct fwd *fwd, const struct strategy_choice *choice, uint32_t last)
{
    const struct face *face;
    for (unsigned i = 0; choice->fib != NULL && last != 0 && i < choice->fib->n_nexthops; i++)
        if (choice->fib->nexthop[i].face == last)
            return strategy_eligible(fwd, choice, last, &face) == DROP_NONE ? face : NULL;
    return NULL;
}

static void access_interest(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    struct pit_entry *entry = choice->entry;
    const struct ndn_name *name = &choice->pkt->ndn.name;
    if (strategy_is_waiting(fwd, entry)) {
        if (wheel_tick(fwd->now_ns) - entry->sent < ACCESS_RETX_TICKS)
            choice->suppressed = true;
        else
            access_multicast(fwd, choice, false);
        return;
    }
    strategy_watch(strategy, entry);
    const struct measurements_entry *known =
        measurements_longest(fwd->measurements, name, name->depth, strategy->number);
    const struct face *last = known != NULL ? access_last(fwd, choice, known->last_face) : NULL;
    struct pit_in *in = pit_in_find(fwd->pit, entry, choice->in->id);
    // An Interest that cannot be made again when the answer does not come has to go everywhere now.
    if (last == NULL || in == NULL || !ndn_interest_can_be_made(fwd, entry, in)) {
        access_multicast(fwd, choice, false);
        return;
    }
    choice->out[0] = last;
    choice->n_out = 1 | STRATEGY_OUT_MARKED;
    choice->probe = false;
    choice->mark = strategy_now(fwd);
    strategy_wake_at(fwd, entry, measurements_rto_ms(&known->rtt));
}

static void access_timer(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    (void)strategy;
    access_multicast(fwd, choice, true);
}

static bool access_data(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt,
                        struct pit_entry *entry, struct pit_out *out)
{
    const struct ndn_name *name = &pkt->ndn.name;
    unsigned depth = RTE_MIN((unsigned)name->n_comps - 1, (unsigned)NDN_NAME_DEPTH);
    if (name->n_comps == 0 || entry->n_in == 0)
        return false;
    struct measurements_entry *known =
        measurements_get(fwd->measurements, name, depth, strategy->number, ACCESS_LIFETIME_MS, fwd->now_ns);
    if (known == NULL)
        return false;
    uint32_t rtt = strategy_rtt(fwd, out);
    struct measurements_face *face = measurements_face_get(known, out->face, ACCESS_LIFETIME_MS, fwd->now_ns);
    measurements_rtt_add(&face->rtt, rtt);
    // Another next hop: what is known of this one counts, not what was measured of its predecessor.
    known->last_face = out->face;
    known->rtt = face->rtt;
    return false;
}

const struct strategy_type strategy_access = {
    .name = "access",
    .version = 1,
    .nack_on_loop = true,
    .rejects = true,
    .interest = access_interest,
    .data = access_data,
    .timer = access_timer,
};
