// SPDX-License-Identifier: Apache-2.0
/*
 * The Data pipeline, in the reference forwarder's order: scope, PIT match (by our token, else by name), Content
 * Store insert, every in-record's face, erase.
 */
#include <assert.h>
#include <string.h>

#include <openssl/sha.h>

#include "fwd/chain.h"
#include "fwd/dispatch.h"
#include "fwd/output_inline.h"
#include "fwd/strategy.h"
#include "fwd/token.h"

/* A downstream that was sent this Data already, when several entries match. */
struct data_sent {
    uint32_t face;
    uint8_t token_len;
    uint8_t token[NDN_LP_TOKEN_MAX];
};
#define DATA_SENT_MAX 32

/* One Data on its way through the pipeline. */
struct data_work {
    struct fwd *fwd;
    struct pkt *pkt;
    unsigned n_match;
    struct pit_entry *match[PIT_MATCHES_MAX];
    uint8_t digest[NDN_DIGEST_SIZE];
    unsigned n_sent;
    struct data_sent sent[DATA_SENT_MAX];
};

struct pit_entry *ndn_token_entry(struct fwd *fwd, const struct pkt *pkt)
{
    struct pit_entry *entry = pkt->has_token ? pit_at(fwd->pit, pkt->token.slot, pkt->token.generation) : NULL;
    fwd->stats.token_bad += entry == NULL && pkt->ndn.lp.token_len > 0;
    return entry;
}

/* SHA-256 of the whole Data, for Interests that ask for an implicit digest. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static const uint8_t *data_digest(void *ctx)
{
    struct data_work *work = ctx;
    // The one-shot and EVP interfaces allocate; these do not.
    SHA256_CTX sha;
    SHA256_Init(&sha);
    for (const struct rte_mbuf *seg = work->pkt->mbuf; seg != NULL; seg = seg->next)
        SHA256_Update(&sha, rte_pktmbuf_mtod(seg, const void *), seg->data_len);
    SHA256_Final(work->digest, &sha);
    return work->digest;
}
#pragma GCC diagnostic pop

/* Where the components of the name end, and the hashes of its prefixes, when the token has made them needless so far.
 */
static inline void data_read_name(struct fwd *fwd, struct pkt *pkt)
{
    struct ndn_name *name = &pkt->ndn.name;
    if (!name->unread)
        return;
    // It is the name of an entry, which came in by an Interest that was parsed.
    enum verdict verdict = ndn_name_parse(name->value, name->len, fwd->shared->lenient, name);
    assert(verdict == VERDICT_OK);
    (void)verdict;
    ndn_name_hash(name, &fwd->shared->name_key);
}

/*
 * Is the entry that the second stage found by the token, with this name, still there, and can it alone match? Packets
 * before this one in the burst may have changed that.
 */
static inline bool data_is_for(const struct fwd *fwd, const struct pkt *pkt, const struct pit_entry *entry)
{
    return entry->generation == pkt->token.generation &&
           (entry->flags & (PIT_IN_USE | PIT_SIBLING | PIT_DIGEST | PIT_WATCHED)) == PIT_IN_USE &&
           pit_only_exact(fwd->pit, &pkt->ndn.name);
}

/* The entry that a token leads to, when it alone can match, in the general case. */
static struct pit_entry *data_match_token(struct fwd *fwd, const struct pkt *pkt)
{
    const struct ndn_name *name = &pkt->ndn.name;
    struct pit_entry *entry = ndn_token_entry(fwd, pkt);
    if (likely(entry != NULL && !(entry->flags & (PIT_SIBLING | PIT_DIGEST | PIT_WATCHED)) &&
               entry->depth == name->depth && pit_only_exact(fwd->pit, name) && pit_name_is(fwd->pit, entry, name))) {
        fwd->stats.token_hits++;
        return entry;
    }
    return NULL;
}

/* Entries that this Data satisfies and that were sent to the face it came from; @p entry is what the token said. */
static void data_match(struct data_work *work, struct pit_entry *entry)
{
    struct fwd *fwd = work->fwd;
    const struct ndn_name *name = &work->pkt->ndn.name;
    if (entry != NULL) {
        work->match[0] = entry;
        work->n_match = 1;
    } else {
        work->n_match = pit_match_data(fwd->pit, name, &fwd->shared->name_key, data_digest, work, work->match);
    }
    unsigned n = 0;
    for (unsigned i = 0; i < work->n_match; i++)
        if (likely(pit_out_find(fwd->pit, work->match[i], work->pkt->face->id) != NULL))
            work->match[n++] = work->match[i];
    work->n_match = n;
}

/* True when a downstream has had this Data through another entry with the same token; remembers it otherwise. */
static bool data_was_sent(struct data_work *work, const struct pit_in *in, const uint8_t *token)
{
    for (unsigned i = 0; i < work->n_sent; i++) {
        const struct data_sent *sent = &work->sent[i];
        if (sent->face == in->face && sent->token_len == in->token_len &&
            memcmp(sent->token, token, in->token_len) == 0)
            return true;
    }
    if (work->n_sent < DATA_SENT_MAX) {
        struct data_sent *sent = &work->sent[work->n_sent++];
        sent->face = in->face;
        sent->token_len = in->token_len;
        memcpy(sent->token, token, in->token_len);
    }
    return false;
}

/* Face that an in-record's Data goes to; NULL when it gets none. */
static inline const struct face *data_downstream(struct fwd *fwd, const struct pkt *pkt, const struct pit_in *in,
                                                 bool localhost)
{
    const struct face *ingress = pkt->face;
    if ((int32_t)(in->expiry - wheel_tick(fwd->now_ns)) < 0)
        return NULL;
    if (in->face == ingress->id && ingress->link_type != FACE_LINK_AD_HOC)
        return NULL;
    const struct face *face = face_get(fwd->shared->faces, in->face);
    if (face == NULL || (localhost && face->scope == FACE_SCOPE_NON_LOCAL))
        return NULL;
    return face;
}

static __rte_always_inline void data_send(struct fwd *fwd, const struct pkt *pkt, const struct face *face,
                                          struct rte_mbuf *mbuf, const uint8_t *token, uint8_t token_len)
{
    if (likely(!(pkt->ndn.lp.has & (LP_HAS_CONGESTION_MARK | LP_HAS_PREFIX_ANNOUNCEMENT))))
        output_token(fwd, face, mbuf, token, token_len, pkt, OUTPUT_DATA);
    else
        output_with_fields(fwd, face, mbuf, token, pkt, (struct output_short){OUTPUT_DATA, token_len});
}

/* The same, where it does not matter that it is a call. */
static __rte_noinline void data_send_in(struct fwd *fwd, const struct pkt *pkt, const struct face *face,
                                        struct rte_mbuf *mbuf, const struct pit_entry *entry, const struct pit_in *in)
{
    data_send(fwd, pkt, face, mbuf, pit_in_token(fwd->pit, entry, in), in->token_len);
}

/* Send to all downstreams of all entries; the last takes the packet itself. The mbuf is gone afterwards. */
static void data_satisfy(struct data_work *work)
{
    struct fwd *fwd = work->fwd;
    struct rte_mbuf *mbuf = work->pkt->mbuf;
    bool localhost = pkt_is_localhost(&work->pkt->ndn.name);
    const struct pit_entry *last_entry = NULL;
    const struct pit_in *last_in = NULL;
    const struct face *last_face = NULL;
    for (unsigned i = 0; i < work->n_match; i++) {
        struct pit_entry *entry = work->match[i];
        for (struct pit_in *in = pit_in_next(fwd->pit, entry, NULL); in != NULL;
             in = pit_in_next(fwd->pit, entry, in)) {
            const struct face *face = data_downstream(fwd, work->pkt, in, localhost);
            if (face == NULL)
                continue;
            if (work->n_match > 1 && data_was_sent(work, in, pit_in_token(fwd->pit, entry, in)))
                continue;
            if (last_face != NULL) {
                struct rte_mbuf *copy = output_copy(fwd, last_face, mbuf, mbuf->data_off, mbuf->pkt_len);
                if (copy != NULL)
                    data_send_in(fwd, work->pkt, last_face, copy, last_entry, last_in);
            }
            last_face = face;
            last_entry = entry;
            last_in = in;
        }
    }
    if (likely(last_face != NULL))
        data_send_in(fwd, work->pkt, last_face, mbuf, last_entry, last_in);
    else
        pkt_drop(fwd, mbuf, DROP_DATA_UNWANTED);
}

static inline bool data_may_be_kept(const struct fwd *fwd, const struct pkt *pkt)
{
    const struct ndn_lp *lp = &pkt->ndn.lp;
    return likely(fwd->cs_admit && !(lp->has & LP_HAS_CACHE_POLICY && lp->cache_policy == 1));
}

static inline void data_keep(struct fwd *fwd, const struct pkt *pkt)
{
    if (likely(data_may_be_kept(fwd, pkt)))
        cs_insert(fwd->cs, &pkt->ndn.name, pkt->mbuf, 0, pkt->mbuf->pkt_len, pkt->ndn.data.freshness_ms, false,
                  fwd->now_ns);
}

/* Data that nobody asked for: into the Content Store, where Interests for it come by, when the policy says so. */
static void data_unsolicited(struct fwd *fwd, struct pkt *pkt)
{
    uint8_t policy = fwd->shared->unsolicited;
    bool local = pkt->face->scope == FACE_SCOPE_LOCAL;
    bool admit = policy == FWD_ADMIT_ALL || policy == (local ? FWD_ADMIT_LOCAL : FWD_ADMIT_NETWORK);
    if (!admit || !data_may_be_kept(fwd, pkt) || !dispatch_owns(fwd, &pkt->ndn.name)) {
        pkt_refuse(fwd, pkt, DROP_UNSOLICITED_DATA);
        return;
    }
    cs_insert(fwd->cs, &pkt->ndn.name, pkt->mbuf, 0, pkt->mbuf->pkt_len, pkt->ndn.data.freshness_ms, true, fwd->now_ns);
    pkt_drop(fwd, pkt->mbuf, DROP_UNSOLICITED_KEPT);
}

static inline void data_erase(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry)
{
    // A fresh-only Interest may loop back after the cache has gone stale: its nonces must stay known.
    if (unlikely(entry->flags & PIT_MUST_BE_FRESH && pkt->ndn.data.freshness_ms < DNL_LIFETIME_MS))
        ndn_interest_remember(fwd, entry);
    ndn_interest_erase(fwd, entry);
}

/* Tell the strategies that watch. Entries whose strategy holds the Data back are no longer matches. */
static void data_report(struct data_work *work)
{
    struct fwd *fwd = work->fwd;
    unsigned n = 0;
    for (unsigned i = 0; i < work->n_match; i++) {
        struct pit_entry *entry = work->match[i];
        bool held = false;
        if (unlikely(entry->flags & PIT_WATCHED)) {
            const struct strategy *strategy = strategy_watching(fwd, entry);
            struct pit_out *out = pit_out_find(fwd->pit, entry, work->pkt->face->id);
            held = strategy->type->data != NULL && strategy->type->data(fwd, strategy, work->pkt, entry, out);
        }
        if (held)
            continue;
        // One that waited for slower upstreams was counted when it was satisfied.
        fwd->stats.satisfied += !(entry->flags & PIT_SATISFIED);
        work->match[n++] = entry;
    }
    work->n_match = n;
}

/* A watched entry that other upstreams may still answer stays for a while, without downstreams. @return false: not */
static bool data_linger(struct fwd *fwd, const struct pkt *pkt, struct pit_entry *entry)
{
    if (likely(!(entry->flags & PIT_WATCHED)) || entry->n_out < 2)
        return false;
    uint8_t ms = strategy_watching(fwd, entry)->type->straggler_ms;
    if (ms == 0)
        return false;
    if (!(entry->flags & PIT_SATISFIED)) {
        if (entry->flags & PIT_MUST_BE_FRESH && pkt->ndn.data.freshness_ms < DNL_LIFETIME_MS)
            ndn_interest_remember(fwd, entry);
        for (struct pit_in *in; (in = pit_in_next(fwd->pit, entry, NULL)) != NULL;) {
            pkt_face_release(fwd, in->face);
            pit_in_remove(fwd->pit, entry, in);
        }
        entry->flags |= PIT_SATISFIED;
        pit_arm(fwd->pit, entry, wheel_tick_after_ms(fwd->now_ns, ms));
    }
    pit_out_remove(fwd->pit, entry, pit_out_find(fwd->pit, entry, pkt->face->id));
    return true;
}

/* Any number of entries, with any number of records. */
static __rte_noinline void data_any(struct fwd *fwd, struct pkt *pkt)
{
    data_read_name(fwd, pkt);
    struct pit_entry *entry = data_match_token(fwd, pkt);
    struct data_work work;
    work.fwd = fwd;
    work.pkt = pkt;
    work.n_sent = 0;
    data_match(&work, entry);
    if (fwd->shared->dispatch != NULL && dispatch_second_look(fwd, pkt, work.n_match > 0))
        return;
    if (unlikely(work.n_match == 0)) {
        if (pkt->look.matched)
            pkt_drop(fwd, pkt->mbuf, DROP_SECOND_LOOK);
        else
            data_unsolicited(fwd, pkt);
        return;
    }
    data_report(&work);
    if (unlikely(work.n_match == 0)) {
        pkt_drop(fwd, pkt->mbuf, DROP_DATA_HELD);
        return;
    }
    data_keep(fwd, pkt);
    data_satisfy(&work);
    for (unsigned i = 0; i < work.n_match; i++)
        if (!data_linger(fwd, pkt, work.match[i]))
            data_erase(fwd, pkt, work.match[i]);
}

/* What nearly all Data meets: one entry with one downstream, whose token it holds, and one upstream. */
static inline void data_one(struct fwd *fwd, struct pkt *pkt, struct pit_entry *entry, bool scoped)
{
    const struct pit_in *in = &entry->in;
    fwd->stats.token_hits++;
    if (unlikely(fwd->shared->dispatch != NULL)) {
        data_read_name(fwd, pkt);
        (void)dispatch_second_look(fwd, pkt, true);
    }
    data_keep(fwd, pkt);
    const struct face *face = data_downstream(fwd, pkt, in, scoped && pkt_is_localhost(&pkt->ndn.name));
    if (likely(face != NULL))
        data_send(fwd, pkt, face, pkt->mbuf, in->token, in->token_len);
    else
        pkt_drop(fwd, pkt->mbuf, DROP_DATA_UNWANTED);
    fwd->stats.satisfied++;
    if (unlikely(entry->flags & PIT_SELECTORS)) {
        data_erase(fwd, pkt, entry);
        return;
    }
    pkt_face_release(fwd, in->face);
    pit_erase(fwd->pit, entry);
}

void ndn_data(struct fwd *fwd, struct pkt *pkt)
{
    if (likely(pkt->look.level == PKT_LOOK_ALL)) {
        // Not yet counted at a worker before this one.
        fwd->stats.in_data++;
        pkt_face_stats(fwd, pkt->face->id)->in_data++;
    }
    bool scoped = pkt_may_be_scoped(&pkt->ndn.name);
    if (unlikely(scoped && pkt->face->scope == FACE_SCOPE_NON_LOCAL && pkt_is_localhost(&pkt->ndn.name))) {
        pkt_refuse(fwd, pkt, DROP_SCOPE_VIOLATION);
        return;
    }
    struct pit_entry *entry = pkt->entry;
    if (likely(entry != NULL && data_is_for(fwd, pkt, entry) && entry->ext == 0 && entry->out.face == pkt->face->id &&
               entry->in.face != 0 && entry->in.token_len <= PIT_TOKEN_INLINE))
        data_one(fwd, pkt, entry, scoped);
    else
        data_any(fwd, pkt);
}
