// SPDX-License-Identifier: Apache-2.0
/*
 * The Nack pipeline: point-to-point faces only; PIT entry, out-record and nonce must agree; the strategy's part is
 * Nack aggregation (NFD ProcessNack): downstreams hear a Nack when every upstream has sent one, with the least
 * severe reason; when only one upstream is left and it is a downstream too, that one hears it at once.
 */
#include "fwd/nack.h"
#include "fwd/strategy.h"

static int nack_severity(uint32_t reason)
{
    switch (reason) {
    case NDN_NACK_CONGESTION:
        return 1;
    case NDN_NACK_DUPLICATE:
        return 2;
    case NDN_NACK_NO_ROUTE:
        return 3;
    default:
        return 4;
    }
}

static struct pit_entry *nack_entry(struct fwd *fwd, const struct pkt *pkt)
{
    const struct ndn_interest *interest = &pkt->ndn.interest;
    const struct ndn_name *name = &pkt->ndn.name;
    uint8_t selectors = (uint8_t)((interest->can_be_prefix ? PIT_CAN_BE_PREFIX : 0) |
                                  (interest->must_be_fresh ? PIT_MUST_BE_FRESH : 0));
    struct pit_entry *entry = ndn_token_entry(fwd, pkt);
    if (entry != NULL && (entry->flags & PIT_SELECTORS) == selectors &&
        pit_name_matches(fwd->pit, entry, name->value, name->len, false)) {
        fwd->stats.token_hits++;
        return entry;
    }
    return pit_find(fwd->pit, name, selectors);
}

/* All upstreams have answered with a Nack, or all but one. */
static void nack_aggregate(struct fwd *fwd, struct pit_entry *entry)
{
    const struct pit_out *waiting = NULL;
    unsigned n_waiting = 0;
    uint32_t least = UINT32_MAX;
    for (struct pit_out *out = pit_out_next(fwd->pit, entry, NULL); out != NULL;
         out = pit_out_next(fwd->pit, entry, out)) {
        if (out->nack == 0 && (int32_t)(out->expiry - wheel_tick(fwd->now_ns)) >= 0) {
            waiting = out;
            n_waiting++;
        } else if (out->nack != 0 && (least == UINT32_MAX || nack_severity(out->nack) < nack_severity(least))) {
            least = out->nack;
        }
    }
    if (n_waiting > 1)
        return;
    if (n_waiting == 1) {
        struct pit_in *in = pit_in_find(fwd->pit, entry, waiting->face);
        if (in != NULL) {
            nack_downstream(fwd, entry, in, least);
            pkt_face_release(fwd, in->face);
            pit_in_remove(fwd->pit, entry, in);
        }
        return;
    }
    for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL; in = pit_in_next(fwd->pit, entry, in))
        nack_downstream(fwd, entry, in, least);
    ndn_interest_reject(fwd, entry);
}

void ndn_nack(struct fwd *fwd, struct pkt *pkt)
{
    fwd->stats.in_nacks++;
    pkt_face_stats(fwd, pkt->face->id)->in_nacks++;
    if (pkt->face->link_type != FACE_LINK_P2P) {
        pkt_refuse(fwd, pkt, DROP_NACK_NOT_P2P);
        return;
    }
    struct pit_entry *entry = nack_entry(fwd, pkt);
    struct pit_out *out = entry != NULL ? pit_out_find(fwd->pit, entry, pkt->face->id) : NULL;
    if (out == NULL || out->nonce != pkt->ndn.interest.nonce) {
        pkt_refuse(fwd, pkt, DROP_NACK_NO_MATCH);
        return;
    }
    // An unspecified reason is kept as 1, so that "no Nack" stays 0.
    uint32_t reason = pkt->ndn.lp.nack_reason;
    out->nack = reason == 0 || reason > UINT8_MAX ? 1 : (uint8_t)reason;
    const struct fib_entry *fib = fib_lookup(fwd->shared->fib, &pkt->ndn.name);
    const struct strategy *strategy = fwd->shared->strategies[fib != NULL ? fib->strategy : 0];
    bool done = strategy->type->nack != NULL && strategy->type->nack(fwd, strategy, pkt, entry, out);
    if (!done && strategy->type->handles_nack)
        nack_aggregate(fwd, entry);
    pkt_drop(fwd, pkt->mbuf, DROP_NACK_TAKEN);
}
