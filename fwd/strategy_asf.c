// SPDX-License-Identifier: Apache-2.0
/*
 * asf (NFD v5; Lehman et al., "An Experimental Investigation of Hyperbolic Routing with a Smart Forwarding Plane in
 * NDN"): the next hop of the shortest smoothed round-trip time is used; next hops not measured yet come after those,
 * and next hops that did not answer come last, each by cost. Once in an interval a second next hop is probed with a
 * nonce of its own, so that a better one is found.
 *
 * A time-out needs no timer: its deadline is looked at when the measurement is next used.
 */
#include "fwd/strategy.h"

/* The first probe of a prefix comes within this. */
#define ASF_FIRST_PROBE_MS 5000
/* Wait for Data from a slower upstream, in order to measure it. */
#define ASF_STRAGGLER_MS 50

/* A next hop and its rank: less is better. */
struct asf_rank {
    const struct face *face;
    uint64_t value;
};

/* Count a time-out that has come to pass. */
static void asf_settle(const struct fwd *fwd, const struct strategy *strategy, struct measurements_face *known)
{
    if (known->timed == 0 || (int32_t)(wheel_tick(fwd->now_ns) - known->deadline) < 0)
        return;
    known->timed = 0;
    known->n_timeouts = (uint16_t)RTE_MIN(known->n_timeouts + 1, UINT16_MAX);
    if (known->n_timeouts >= strategy->max_timeouts)
        known->state = MEASUREMENTS_TIMEOUT;
}

/* What is known of a next hop; NULL: nothing. */
static const struct measurements_face *asf_known(const struct fwd *fwd, const struct strategy *strategy,
                                                 struct measurements_entry *entry, uint32_t face)
{
    struct measurements_face *known = entry != NULL ? measurements_face(entry, face, fwd->now_ns) : NULL;
    if (known != NULL)
        asf_settle(fwd, strategy, known);
    return known;
}

static uint32_t asf_timed(const struct pit_entry *entry)
{
    return (uint32_t)(entry->hash >> 32) | 1;
}

/* Begin to time an Interest that is sent to a face, unless another one is being timed. */
static void asf_time(struct fwd *fwd, const struct strategy *strategy, const struct pit_entry *pending,
                     struct measurements_entry *entry, uint32_t face)
{
    if (entry == NULL)
        return;
    struct measurements_face *known =
        measurements_face_get(entry, face, strategy->measurements_lifetime_ms, fwd->now_ns);
    if (known->timed == 0) {
        known->timed = asf_timed(pending);
        known->deadline = wheel_tick_after_ms(fwd->now_ns, measurements_rto_ms(&known->rtt));
    }
}

/* True when an out-record of the face still waits for its answer. */
static bool asf_is_used(struct fwd *fwd, struct pit_entry *entry, uint32_t face)
{
    const struct pit_out *out = pit_out_find(fwd->pit, entry, face);
    return out != NULL && (int32_t)(out->expiry - wheel_tick(fwd->now_ns)) > 0;
}

/* Best next hop for forwarding: measured by time, then not measured, then timed out. Next hops come by cost. */
static const struct face *asf_best(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice,
                                   struct measurements_entry *entry, bool unused)
{
    struct asf_rank best = {.face = NULL, .value = UINT64_MAX};
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        uint32_t id = choice->fib->nexthop[i].face;
        enum drop reason = strategy_eligible(fwd, choice, id, &face);
        if (reason != DROP_NONE) {
            strategy_note(choice, reason);
            continue;
        }
        if (unused && asf_is_used(fwd, choice->entry, id))
            continue;
        const struct measurements_face *known = asf_known(fwd, strategy, entry, id);
        uint64_t value = known == NULL || known->state == MEASUREMENTS_NONE ? UINT64_C(1) << 32
                         : known->state == MEASUREMENTS_RTT                 ? known->rtt.srtt
                                                                            : UINT64_C(2) << 32;
        if (value < best.value)
            best = (struct asf_rank){.face = face, .value = value};
    }
    return best.face;
}

/*
 * Next hop to probe: one that was not measured, if there is any; else each by chance, a better one more likely. The
 * order here is measured, then timed out.
 */
static const struct face *asf_probe(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice,
                                    struct measurements_entry *entry, const struct face *used)
{
    struct asf_rank rank[FIB_NEXTHOPS_MAX];
    unsigned n = 0;
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        uint32_t id = choice->fib->nexthop[i].face;
        if (id == used->id || id == choice->in->id || strategy_eligible(fwd, choice, id, &face) != DROP_NONE)
            continue;
        const struct measurements_face *known = asf_known(fwd, strategy, entry, id);
        if (known == NULL || known->state == MEASUREMENTS_NONE)
            return face;
        uint64_t value = known->state == MEASUREMENTS_RTT ? known->rtt.srtt : UINT64_C(1) << 32;
        // Sorted as they come: equal ones stay by cost, and none takes another's place.
        unsigned at = n++;
        for (; at > 0 && rank[at - 1].value > value; at--)
            rank[at] = rank[at - 1];
        rank[at] = (struct asf_rank){.face = face, .value = value};
    }
    if (n == 0)
        return NULL;
    // The first of n is n times as likely as the last.
    uint32_t sum = n * (n + 1) / 2, chance = (uint32_t)((pkt_random(fwd) >> 32) * sum >> 32);
    unsigned i = 0;
    for (; chance >= n - i; i++)
        chance -= n - i;
    return rank[i].face;
}

/* True when a probe is due. The first one of a prefix comes by chance. */
static bool asf_probe_due(struct fwd *fwd, struct measurements_entry *entry)
{
    if (entry == NULL)
        return false;
    if (!entry->probing) {
        uint32_t ms = (uint32_t)((pkt_random(fwd) >> 32) * ASF_FIRST_PROBE_MS >> 32);
        entry->probing = true;
        entry->probe_at = wheel_tick_after_ms(fwd->now_ns, ms);
    }
    return (int32_t)(wheel_tick(fwd->now_ns) - entry->probe_at) >= 0;
}

/* All next hops have been asked: the one whose turn was the longest ago, when it is not too early. */
static void asf_again(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    struct pit_out *earliest = NULL;
    uint32_t now = wheel_tick(fwd->now_ns);
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        uint32_t id = choice->fib->nexthop[i].face;
        if (strategy_eligible(fwd, choice, id, &face) != DROP_NONE)
            continue;
        struct pit_out *out = pit_out_find(fwd->pit, choice->entry, id);
        if (out != NULL && (earliest == NULL || now - out->sent > now - earliest->sent)) {
            earliest = out;
            choice->out[0] = face;
        }
    }
    if (earliest == NULL)
        return;
    if (strategy_suppress_out(fwd, strategy, earliest) == STRATEGY_SUPPRESS)
        choice->suppressed = true;
    else
        choice->n_out = 1 | STRATEGY_OUT_MARKED;
}

static void asf_interest(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    const struct ndn_name *name = &choice->pkt->ndn.name;
    if (choice->fib == NULL)
        return;
    strategy_watch(strategy, choice->entry);
    choice->probe = false;
    choice->mark = strategy_now(fwd);
    struct measurements_entry *entry =
        measurements_get(fwd->measurements, name, strategy_depth(fwd, choice), strategy->number,
                         strategy->measurements_lifetime_ms, fwd->now_ns);
    bool is_new = !strategy_is_waiting(fwd, choice->entry);
    const struct face *best = asf_best(fwd, strategy, choice, entry, !is_new);
    if (best == NULL) {
        if (!is_new)
            asf_again(fwd, strategy, choice);
        return;
    }
    asf_time(fwd, strategy, choice->entry, entry, best->id);
    unsigned n = 0;
    if (asf_probe_due(fwd, entry)) {
        const struct face *probe = asf_probe(fwd, strategy, choice, entry, best);
        if (probe != NULL) {
            asf_time(fwd, strategy, choice->entry, entry, probe->id);
            entry->probe_at = wheel_tick_after_ms(fwd->now_ns, strategy->probing_interval_ms);
            choice->out[n++] = probe;
            choice->probe = true;
        }
    }
    choice->out[n++] = best;
    choice->n_out = (uint16_t)(n | STRATEGY_OUT_MARKED);
}

/* Measurements of the face that a packet of a pending Interest came from; NULL when there are none. */
static struct measurements_face *asf_of(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt,
                                        const struct pit_entry *pending, uint32_t face)
{
    struct measurements_entry *entry =
        measurements_longest(fwd->measurements, &pkt->ndn.name, pending->depth, strategy->number);
    struct measurements_face *known = entry != NULL ? measurements_face(entry, face, fwd->now_ns) : NULL;
    if (known == NULL)
        return NULL;
    asf_settle(fwd, strategy, known);
    return measurements_face_get(entry, face, strategy->measurements_lifetime_ms, fwd->now_ns);
}

static bool asf_data(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt, struct pit_entry *entry,
                     struct pit_out *out)
{
    struct measurements_face *known = asf_of(fwd, strategy, pkt, entry, out->face);
    if (known == NULL)
        return false;
    measurements_rtt_add(&known->rtt, strategy_rtt(fwd, out));
    known->state = MEASUREMENTS_RTT;
    known->n_timeouts = 0;
    if (known->timed == asf_timed(entry))
        known->timed = 0;
    return false;
}

static bool asf_nack(struct fwd *fwd, const struct strategy *strategy, const struct pkt *pkt, struct pit_entry *entry,
                     struct pit_out *out)
{
    struct measurements_face *known = asf_of(fwd, strategy, pkt, entry, out->face);
    if (known == NULL)
        return false;
    known->state = MEASUREMENTS_TIMEOUT;
    known->n_timeouts = (uint16_t)RTE_MIN(known->n_timeouts + 1, UINT16_MAX);
    known->timed = 0;
    return false;
}

const struct strategy_type strategy_asf = {
    .name = "asf",
    .version = 5,
    .suppresses = true,
    .probes = true,
    .nack_no_route = true,
    .nack_on_loop = true,
    .handles_nack = true,
    .straggler_ms = ASF_STRAGGLER_MS,
    .interest = asf_interest,
    .data = asf_data,
    .nack = asf_nack,
};
