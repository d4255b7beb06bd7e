// SPDX-License-Identifier: Apache-2.0
/*
 * The Interest pipeline, in the reference forwarder's order: HopLimit, scope, Dead Nonce List, PIT insert, duplicate
 * nonce, Content Store (only without pending downstreams), in-record, strategy. There is no return between the
 * insertion of a PIT entry and the arming of its timer: pit_insert() arms it.
 */
#include <string.h>

#include "fwd/chain.h"
#include "fwd/dispatch.h"
#include "fwd/nack.h"
#include "fwd/output_inline.h"
#include "fwd/region.h"
#include "fwd/strategy.h"
#include "fwd/token.h"

void ndn_interest_remember(struct fwd *fwd, const struct pit_entry *entry)
{
    struct pit_entry *e = pit_at(fwd->pit, pit_slot(fwd->pit, entry), entry->generation);
    for (struct pit_out *out = pit_out_next(fwd->pit, e, NULL); out != NULL; out = pit_out_next(fwd->pit, e, out))
        dnl_add(fwd->dnl, entry->hash, out->nonce, fwd->now_ns);
}

void ndn_interest_erase(struct fwd *fwd, struct pit_entry *entry)
{
    if (likely(entry->ext == 0)) {
        if (entry->in.face != 0)
            pkt_face_release(fwd, entry->in.face);
    } else {
        for (struct pit_in *in = NULL; (in = pit_in_next(fwd->pit, entry, in)) != NULL;)
            pkt_face_release(fwd, in->face);
    }
    unsigned depth = entry->depth;
    if (likely(!(entry->flags & PIT_CAN_BE_PREFIX))) {
        pit_erase(fwd->pit, entry);
        return;
    }
    pit_erase(fwd->pit, entry);
    dispatch_publish(fwd, depth);
}

void ndn_interest_reject(struct fwd *fwd, struct pit_entry *entry)
{
    // One that only waited for slower upstreams has had its Data, and its nonces are dealt with.
    if (likely(!(entry->flags & PIT_SATISFIED))) {
        fwd->stats.unsatisfied++;
        ndn_interest_remember(fwd, entry);
    }
    ndn_interest_erase(fwd, entry);
}

/*
 * True when the entry has seen this nonce before: a loop. A point-to-point downstream that repeats its own nonce
 * retransmits.
 */
static __rte_noinline bool interest_is_duplicate(struct fwd *fwd, struct pit_entry *entry, const struct pkt *pkt)
{
    uint32_t nonce = pkt->ndn.interest.nonce;
    bool seen = false;
    for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL; in = pit_in_next(fwd->pit, entry, in)) {
        if (in->nonce != nonce)
            continue;
        if (in->face == pkt->face->id && pkt->face->link_type == FACE_LINK_P2P)
            return false;
        seen = true;
    }
    for (struct pit_out *out = pit_out_next(fwd->pit, entry, NULL); out != NULL;
         out = pit_out_next(fwd->pit, entry, out))
        seen |= out->nonce == nonce;
    return seen;
}

static __rte_noinline void interest_loop(struct fwd *fwd, struct pkt *pkt, enum drop drop)
{
    const struct fib_entry *fib = fib_lookup(fwd->shared->fib, &pkt->ndn.name);
    const struct strategy *strategy = fwd->shared->strategies[fib != NULL ? fib->strategy : 0];
    pkt_face_stats(fwd, pkt->face->id)->in_drops++;
    if (pkt->face->link_type == FACE_LINK_P2P && strategy->type->nack_on_loop)
        nack_return(fwd, pkt, NDN_NACK_DUPLICATE, drop);
    else
        pkt_drop(fwd, pkt->mbuf, drop);
}

/* Answer from the Content Store. The Interest's frame ends here. */
static __rte_noinline void interest_hit(struct fwd *fwd, struct pkt *pkt, const struct cs_hit *hit)
{
    // The Interest goes first, and its token with it.
    uint8_t token_len = pkt->ndn.lp.token_len;
    uint8_t token[NDN_LP_TOKEN_MAX];
    if (token_len > 0)
        memcpy(token, pkt->ndn.lp.token, token_len);
    const struct face *face = pkt->face;
    struct rte_mbuf *data = hit->mbuf;
    // The header of an earlier transmission may lie before the Data still: count from the buffer.
    uint32_t start = data->data_off + hit->off;
    if (rte_mbuf_refcnt_read(data) == 1 && data->next == NULL) {
        // Nobody else uses the buffer now, so its headroom is free for this answer.
        data->data_off = (uint16_t)start;
        data->data_len = (uint16_t)hit->len;
        data->pkt_len = hit->len;
        rte_mbuf_refcnt_update(data, 1);
        fwd->stats.originated++;
    } else {
        data = output_copy(fwd, face, data, start, hit->len);
    }
    pkt_drop(fwd, pkt->mbuf, DROP_CS_HIT);
    if (data != NULL)
        output_lp_any(fwd, face, data, token, NULL, (struct output_short){OUTPUT_DATA, token_len});
}

/* Tick at which this Interest's lifetime ends. */
static uint32_t interest_expiry(const struct fwd *fwd, const struct pkt *pkt)
{
    return wheel_tick_after_ms(fwd->now_ns, RTE_MIN(pkt->ndn.interest.lifetime_ms, fwd->shared->max_lifetime_ms));
}

/* Next hops of the first delegation that has any (NDN ForwardingHint), else those of the name, in @p named. */
static __rte_noinline const struct fib_entry *interest_route(struct fwd *fwd, struct pkt *pkt, struct pit_entry *entry,
                                                             const struct fib_entry *named)
{
    const struct ndn_interest *interest = &pkt->ndn.interest;
    if (region_strip_hint(fwd, pkt))
        return named;
    struct pit_in *in = pit_in_find(fwd->pit, entry, pkt->face->id);
    if (in != NULL)
        in->hops |= INTEREST_HOPS_HINTED;
    for (unsigned i = 0; i < interest->n_hints; i++) {
        struct ndn_name hint;
        const uint8_t *value = pkt->ndn.net + interest->hint[i].off;
        if (ndn_name_parse(value, interest->hint[i].len, fwd->shared->lenient, &hint) != VERDICT_OK)
            continue;
        ndn_name_hash(&hint, &fwd->shared->name_key);
        const struct fib_entry *fib = fib_lookup(fwd->shared->fib, &hint);
        if (fib != NULL && fib->n_nexthops > 0)
            return fib;
    }
    return named;
}

/* Make or renew the out-record of an entry that has some. @return false when there is no room for it */
static __rte_noinline bool interest_out_record(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry,
                                               const struct face *face, uint32_t expiry)
{
    struct pit_out *out = pit_out_find(fwd->pit, entry, face->id);
    if (out == NULL)
        out = pit_out_add(fwd->pit, entry, face->id);
    if (out == NULL)
        return false;
    out->nonce = pkt->ndn.interest.nonce;
    out->sent = wheel_tick(fwd->now_ns);
    out->expiry = expiry;
    out->nack = 0;
    return true;
}

/* The frame, with our token. Takes the mbuf over. */
static __rte_always_inline void interest_transmit(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry,
                                                  const struct face *face, struct rte_mbuf *mbuf)
{
    uint8_t octets[TOKEN_SIZE];
    struct token token = {
        .slot = pit_slot(fwd->pit, entry), .generation = entry->generation, .worker = (uint8_t)fwd->worker};
    token_write(octets, token, fwd->shared->token_key);
    if (likely(!(pkt->ndn.lp.has & (LP_HAS_CONGESTION_MARK | LP_HAS_NON_DISCOVERY))))
        output_token(fwd, face, mbuf, octets, TOKEN_SIZE, pkt, OUTPUT_INTEREST);
    else
        output_with_fields(fwd, face, mbuf, octets, pkt, (struct output_short){OUTPUT_INTEREST, TOKEN_SIZE});
}

/* The first out-record of an entry. */
static inline void interest_out_first(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry,
                                      const struct face *face, uint32_t expiry)
{
    uint32_t now = wheel_tick(fwd->now_ns);
    entry->out = (struct pit_out){.face = face->id, .nonce = pkt->ndn.interest.nonce, .sent = now, .expiry = expiry};
    entry->n_out = 1;
    entry->sent = now;
}

/* Out-record and our token, then the frame. Takes the mbuf over. */
static void interest_send(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry, const struct face *face,
                          struct rte_mbuf *mbuf, uint32_t expiry)
{
    if (entry->n_out == 0) {
        interest_out_first(fwd, pkt, entry, face, expiry);
    } else if (!interest_out_record(fwd, pkt, entry, face, expiry)) {
        pkt_drop(fwd, mbuf, DROP_PIT_FULL);
        return;
    }
    entry->sent = wheel_tick(fwd->now_ns);
    interest_transmit(fwd, pkt, entry, face, mbuf);
}

/* A probe: the same Interest with a nonce of its own, so that it is no duplicate where the two meet. */
static void interest_probe(struct fwd *fwd, struct pkt *pkt, struct pit_entry *entry, const struct face *face,
                           uint32_t expiry)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    struct rte_mbuf *copy =
        chain_copy(fwd->pool, mbuf, mbuf->data_off, mbuf->pkt_len, NDN_LP_HEADER_MAX + FACE_HDR_MAX);
    fwd->stats.originated++;
    if (copy == NULL) {
        fwd->stats.drops[DROP_TX_NO_MBUF]++;
        return;
    }
    uint32_t nonce = pkt->ndn.interest.nonce;
    pkt->ndn.interest.nonce = (uint32_t)pkt_random(fwd);
    for (unsigned i = 0; i < sizeof nonce; i++)
        chain_write_octet(copy, pkt->ndn.interest.nonce_off + i, (uint8_t)(pkt->ndn.interest.nonce >> (24 - 8 * i)));
    interest_send(fwd, pkt, entry, face, copy, expiry);
    pkt->ndn.interest.nonce = nonce;
}

void ndn_interest_forward(struct fwd *fwd, struct pkt *pkt, const struct strategy_choice *choice, uint32_t expiry)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    struct pit_entry *entry = choice->entry;
    bool marked = (choice->n_out & STRATEGY_OUT_MARKED) != 0;
    unsigned n = choice->n_out & ~STRATEGY_OUT_MARKED, first = 0;
    if (marked && choice->probe)
        interest_probe(fwd, pkt, entry, choice->out[first++], expiry);
    for (unsigned i = first; i + 1 < n; i++) {
        struct rte_mbuf *copy = output_copy(fwd, choice->out[i], mbuf, mbuf->data_off, mbuf->pkt_len);
        if (copy != NULL)
            interest_send(fwd, pkt, entry, choice->out[i], copy, expiry);
    }
    interest_send(fwd, pkt, entry, choice->out[n - 1], mbuf, expiry);
    for (unsigned i = 0; marked && i < n; i++) {
        struct pit_out *out = pit_out_find(fwd->pit, entry, choice->out[i]->id);
        if (out != NULL)
            out->mark = choice->mark;
    }
}

/* Make or renew the in-record of this Interest. DROP_NONE, or why there is no room. */
static enum drop interest_in_record(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry, uint32_t expiry)
{
    const struct face *face = pkt->face;
    struct stats_face *stats = pkt_face_stats(fwd, face->id);
    struct pit_in *in = entry->n_in == 0 ? NULL : pit_in_find(fwd->pit, entry, face->id);
    bool is_new = in == NULL;
    if (is_new) {
        if (unlikely(stats->pending >= fwd->shared->face_share))
            return DROP_PIT_FACE_SHARE;
        in = pit_in_add(fwd->pit, entry, face->id);
        if (unlikely(in == NULL))
            return DROP_PIT_FULL;
        in->token_len = 0;
        stats->pending++;
    }
    if (unlikely(pit_in_set_token(fwd->pit, entry, in, pkt->ndn.lp.token, pkt->ndn.lp.token_len) != 0)) {
        if (is_new) {
            pit_in_remove(fwd->pit, entry, in);
            pkt_face_release(fwd, face->id);
        }
        return DROP_PIT_FULL;
    }
    in->nonce = pkt->ndn.interest.nonce;
    in->expiry = expiry;
    in->mark = 0;
    in->hops = pkt->ndn.interest.hop_limit;
    return DROP_NONE;
}

/* The first in-record of an entry, with a token that stands in it. */
static inline void interest_in_first(const struct pkt *pkt, struct pit_entry *entry, uint32_t expiry)
{
    struct pit_in *in = &entry->in;
    in->face = pkt->face->id;
    in->nonce = pkt->ndn.interest.nonce;
    in->expiry = expiry;
    in->token_len = PIT_TOKEN_INLINE;
    in->mark = 0;
    in->hops = pkt->ndn.interest.hop_limit;
    memcpy(in->token, pkt->ndn.lp.token, PIT_TOKEN_INLINE);
    entry->n_in = 1;
}

/* A local application named the next hop itself (NextHopFaceId). */
static __rte_noinline void interest_to_face(struct fwd *fwd, struct pkt *pkt, struct pit_entry *entry, uint32_t expiry)
{
    const struct ndn_name *name = &pkt->ndn.name;
    uint64_t id = pkt->ndn.lp.next_hop_face;
    const struct face *face = id <= UINT32_MAX ? face_get(fwd->shared->faces, (uint32_t)id) : NULL;
    enum drop refused = DROP_NONE;
    if (face == NULL)
        refused = DROP_FACE_DOWN;
    else if (face->scope == FACE_SCOPE_NON_LOCAL && pkt_is_localhost(name))
        refused = DROP_SCOPE_VIOLATION;
    else if (face->scope == FACE_SCOPE_NON_LOCAL && pkt->ndn.interest.hop_limit == 0)
        refused = DROP_HOP_LIMIT_SPENT;
    if (refused == DROP_NONE) {
        region_strip_hint(fwd, pkt);
        interest_send(fwd, pkt, entry, face, pkt->mbuf, expiry);
        return;
    }
    if (entry->n_out == 0 && entry->n_in == 1)
        ndn_interest_reject(fwd, entry);
    pkt_refuse(fwd, pkt, refused);
}

/* An entry that was there lives as long as its last in-record. */
static __rte_noinline void interest_arm(struct fwd *fwd, struct pit_entry *entry, uint32_t expiry)
{
    entry->flags &= (uint8_t)~PIT_SATISFIED;
    for (struct pit_in *r = pit_in_next(fwd->pit, entry, NULL); r != NULL; r = pit_in_next(fwd->pit, entry, r))
        if ((int32_t)(r->expiry - expiry) > 0)
            expiry = r->expiry;
    // A strategy that wants to be woken earlier is: the entry is armed for its end then.
    if (entry->flags & PIT_WATCHED && (int32_t)(entry->node.expiry - expiry) < 0)
        return;
    if (entry->node.expiry != expiry)
        pit_arm(fwd->pit, entry, expiry);
}

/* No upstream was chosen: why, and what the downstream hears of it. */
static __rte_noinline void interest_not_sent(struct fwd *fwd, struct pkt *pkt, const struct strategy *strategy,
                                             const struct strategy_choice *choice, bool is_new)
{
    // It waits with those before it, when one of them was sent.
    if (choice->suppressed || choice->entry->n_out > 0) {
        pkt_drop(fwd, pkt->mbuf, DROP_AGGREGATED);
        return;
    }
    pkt_face_stats(fwd, pkt->face->id)->in_drops++;
    if (is_new && (strategy->type->nack_no_route || strategy->type->rejects)) {
        ndn_interest_reject(fwd, choice->entry);
        if (strategy->type->nack_no_route && pkt->face->link_type == FACE_LINK_P2P) {
            nack_return(fwd, pkt, NDN_NACK_NO_ROUTE, choice->none);
            return;
        }
    }
    pkt_drop(fwd, pkt->mbuf, choice->none);
}

/* HopLimit (NDN packet spec 0.3, section 3): one less. @return false when it was 0 */
static __rte_noinline bool interest_hop(struct pkt *pkt)
{
    struct ndn_interest *interest = &pkt->ndn.interest;
    if (interest->hop_limit == 0)
        return false;
    interest->hop_limit--;
    chain_write_octet(pkt->mbuf, interest->hop_limit_off, interest->hop_limit);
    return true;
}

/* An Interest whose name, selectors, fields and token are what most have. */
static inline bool interest_is_usual(const struct ndn_packet *ndn)
{
    const struct ndn_interest *interest = &ndn->interest;
    return (interest->can_be_prefix | interest->n_hints | interest->hop_limit_off |
            (ndn->lp.has & (LP_HAS_NEXT_HOP_FACE | LP_HAS_CONGESTION_MARK | LP_HAS_NON_DISCOVERY))) == 0 &&
           ndn->lp.token_len == PIT_TOKEN_INLINE && !pkt_may_be_scoped(&ndn->name);
}

/* The upstream when the strategy takes the first eligible next hop, and that is the first of all. NULL: ask it. */
static inline const struct face *interest_first_next_hop(const struct fwd *fwd, const struct pkt *pkt)
{
    const struct fib_entry *fib = fib_lookup_hinted(fwd->shared->fib, &pkt->ndn.name, pkt->fib);
    if (unlikely(fib == NULL || fib->n_nexthops == 0 || !fwd->shared->strategies[fib->strategy]->type->first_eligible))
        return NULL;
    const struct face *face = face_get(fwd->shared->faces, fib->nexthop[0].face);
    if (unlikely(face == NULL || face == pkt->face || atomic_load_explicit(&face->down, memory_order_relaxed) != 0))
        return NULL;
    return face;
}

/*
 * The short way on for an Interest that has its place in the PIT: to the first next hop. All questions come first, and
 * change nothing; then all is written at once.
 *
 * @return false when one of the answers is not the usual one
 */
static inline bool interest_short(struct fwd *fwd, struct pkt *pkt, struct pit_place place, struct stats_face *stats)
{
    const struct face *upstream = interest_first_next_hop(fwd, pkt);
    if (unlikely(upstream == NULL || stats->pending >= fwd->shared->face_share))
        return false;
    uint32_t expiry = interest_expiry(fwd, pkt);
    uint8_t selectors = pkt->ndn.interest.must_be_fresh ? PIT_MUST_BE_FRESH : 0;
    struct pit_entry *entry = pit_put(fwd->pit, &pkt->ndn.name, place, selectors, expiry);
    stats->pending++;
    interest_in_first(pkt, entry, expiry);
    interest_out_first(fwd, pkt, entry, upstream, expiry);
    interest_transmit(fwd, pkt, entry, upstream, pkt->mbuf);
    return true;
}

/* All steps. @p missed: the Content Store has been asked already */
static __rte_noinline void interest_any(struct fwd *fwd, struct pkt *pkt, bool missed)
{
    struct ndn_interest *interest = &pkt->ndn.interest;
    const struct ndn_name *name = &pkt->ndn.name;
    const struct face *face = pkt->face;
    bool scoped = pkt_may_be_scoped(name);
    if (unlikely(interest->hop_limit_off != 0) && !interest_hop(pkt)) {
        pkt_refuse(fwd, pkt, DROP_HOP_LIMIT_ZERO);
        return;
    }
    if (unlikely(scoped && face->scope == FACE_SCOPE_NON_LOCAL && pkt_is_localhost(name))) {
        pkt_refuse(fwd, pkt, DROP_SCOPE_VIOLATION);
        return;
    }
    if (unlikely(dnl_has(fwd->dnl, name->hash_full, interest->nonce, fwd->now_ns))) {
        interest_loop(fwd, pkt, DROP_LOOP_DEAD_NONCE);
        return;
    }

    uint8_t selectors = (uint8_t)((interest->can_be_prefix ? PIT_CAN_BE_PREFIX : 0) |
                                  (interest->must_be_fresh ? PIT_MUST_BE_FRESH : 0));
    uint32_t expiry = interest_expiry(fwd, pkt);
    struct pit_entry *entry;
    enum pit_insert_result inserted = pit_insert(fwd->pit, name, selectors, expiry, &entry);
    if (unlikely(inserted == PIT_FULL)) {
        nack_refuse(fwd, pkt, NDN_NACK_CONGESTION, DROP_PIT_FULL);
        return;
    }
    if (unlikely(inserted == PIT_FOUND) && interest_is_duplicate(fwd, entry, pkt)) {
        interest_loop(fwd, pkt, DROP_LOOP_DUP_NONCE);
        return;
    }
    if (entry->n_in == 0 && fwd->cs_serve && !missed) {
        struct cs_hit hit;
        if (cs_find(fwd->cs, name, &fwd->shared->name_key, interest->can_be_prefix, interest->must_be_fresh,
                    fwd->now_ns, &hit)) {
            interest_hit(fwd, pkt, &hit);
            ndn_interest_erase(fwd, entry);
            return;
        }
    }
    enum drop refused = interest_in_record(fwd, pkt, entry, expiry);
    if (unlikely(refused != DROP_NONE)) {
        if (inserted == PIT_NEW)
            ndn_interest_erase(fwd, entry);
        nack_refuse(fwd, pkt, NDN_NACK_CONGESTION, refused);
        return;
    }
    if (unlikely(inserted == PIT_FOUND))
        interest_arm(fwd, entry, expiry);
    else if (unlikely(interest->can_be_prefix))
        dispatch_publish(fwd, entry->depth);

    if (unlikely(pkt->ndn.lp.has & LP_HAS_NEXT_HOP_FACE)) {
        interest_to_face(fwd, pkt, entry, expiry);
        return;
    }
    // A ForwardingHint changes the next hops; the strategy is the name's.
    const struct fib_entry *fib = fib_lookup_hinted(fwd->shared->fib, name, pkt->fib);
    const struct strategy *strategy = fwd->shared->strategies[fib != NULL ? fib->strategy : 0];
    // Not initialised as a whole: most of it is the array of upstreams.
    struct strategy_choice choice;
    choice.in = face;
    choice.fib = likely(interest->n_hints == 0) ? fib : interest_route(fwd, pkt, entry, fib);
    choice.entry = entry;
    choice.pkt = pkt;
    choice.localhost = scoped && face->scope == FACE_SCOPE_LOCAL && pkt_is_localhost(name);
    choice.localhop = scoped && pkt_is_localhop(name);
    choice.hop_limit = interest->hop_limit;
    choice.n_out = 0;
    choice.none = DROP_NO_ROUTE;
    choice.suppressed = false;
    strategy->type->interest(fwd, strategy, &choice);
    if (unlikely(choice.n_out == 0)) {
        interest_not_sent(fwd, pkt, strategy, &choice, entry->n_out == 0 && entry->n_in == 1);
        return;
    }
    fwd->stats.retransmitted += inserted == PIT_FOUND;
    ndn_interest_forward(fwd, pkt, &choice, expiry);
}

void ndn_interest(struct fwd *fwd, struct pkt *pkt)
{
    const struct ndn_name *name = &pkt->ndn.name;
    struct stats_face *stats = pkt_face_stats(fwd, pkt->face->id);
    struct pit_place place;
    bool missed = false;
    fwd->stats.in_interests++;
    stats->in_interests++;
    // Nearly every Interest is a usual one for a name that is not pending.
    if (likely(interest_is_usual(&pkt->ndn) &&
               !dnl_has(fwd->dnl, name->hash_full, pkt->ndn.interest.nonce, fwd->now_ns) &&
               pit_find_place(fwd->pit, name, &place))) {
        if (fwd->cs_serve) {
            struct cs_hit hit;
            if (cs_find(fwd->cs, name, &fwd->shared->name_key, false, pkt->ndn.interest.must_be_fresh, fwd->now_ns,
                        &hit)) {
                interest_hit(fwd, pkt, &hit);
                return;
            }
            missed = true;
        }
        if (likely(interest_short(fwd, pkt, place, stats)))
            return;
    }
    interest_any(fwd, pkt, missed);
}
