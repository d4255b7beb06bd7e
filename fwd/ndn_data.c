// SPDX-License-Identifier: Apache-2.0
/*
 * The Data pipeline, in the reference forwarder's order: scope, PIT match (by our token, else by name), Content
 * Store insert, every in-record's face, erase.
 */
#include <string.h>

#include <openssl/sha.h>

#include "fwd/chain.h"
#include "fwd/dispatch.h"
#include "fwd/output.h"
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

void ndn_data_prefetch_bucket(struct fwd *fwd, struct pkt *pkt)
{
    const struct ndn_lp *lp = &pkt->ndn.lp;
    pit_prefetch_bucket(fwd->pit, pkt->ndn.name.hash_full);
    pkt->has_token =
        token_read(lp->token, lp->token_len, fwd->shared->token_key, &pkt->token) && pkt->token.worker == fwd->worker;
    if (likely(pkt->has_token))
        pit_prefetch_slot(fwd->pit, pkt->token.slot);
    if (fwd->cs_on)
        cs_prefetch_bucket(fwd->cs, pkt->ndn.name.hash_full);
}

void ndn_data_prefetch_entry(struct fwd *fwd, const struct pkt *pkt)
{
    if (!pkt->has_token)
        pit_prefetch_entry(fwd->pit, pkt->ndn.name.hash_full);
    if (fwd->cs_on)
        cs_prefetch_entry(fwd->cs, pkt->ndn.name.hash_full);
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

/* Entries that this Data satisfies and that were sent to the face it came from. */
static void data_match(struct data_work *work)
{
    struct fwd *fwd = work->fwd;
    const struct ndn_name *name = &work->pkt->ndn.name;
    struct pit_entry *entry = ndn_token_entry(fwd, work->pkt);
    if (likely(entry != NULL && !(entry->flags & (PIT_SIBLING | PIT_DIGEST)) && entry->depth == name->depth &&
               pit_only_exact(fwd->pit, name) && pit_name_matches(fwd->pit, entry, name->value, name->len, false))) {
        fwd->stats.token_hits++;
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
static const struct face *data_downstream(struct data_work *work, const struct pit_in *in, bool localhost)
{
    struct fwd *fwd = work->fwd;
    const struct face *ingress = work->pkt->face;
    if ((int32_t)(in->expiry - wheel_tick(fwd->now_ns)) < 0)
        return NULL;
    if (in->face == ingress->id && ingress->link_type != FACE_LINK_AD_HOC)
        return NULL;
    const struct face *face = face_get(fwd->shared->faces, in->face);
    if (face == NULL || (localhost && face->scope == FACE_SCOPE_NON_LOCAL))
        return NULL;
    return face;
}

static void data_send(struct data_work *work, const struct face *face, struct rte_mbuf *mbuf,
                      const struct pit_entry *entry, const struct pit_in *in)
{
    const struct ndn_lp *lp = &work->pkt->ndn.lp;
    const uint8_t *token = pit_in_token(work->fwd->pit, entry, in);
    if (likely(!(lp->has & LP_HAS_CONGESTION_MARK))) {
        output_data(work->fwd, face, mbuf, token, in->token_len);
        return;
    }
    struct ndn_lp_out fields = {
        .token_len = in->token_len, .token = token, .has_mark = true, .congestion_mark = lp->congestion_mark};
    output_send(work->fwd, face, mbuf, &fields, OUTPUT_DATA);
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
            const struct face *face = data_downstream(work, in, localhost);
            if (face == NULL)
                continue;
            if (work->n_match > 1 && data_was_sent(work, in, pit_in_token(fwd->pit, entry, in)))
                continue;
            if (last_face != NULL) {
                struct rte_mbuf *copy = output_copy(fwd, last_face, mbuf, mbuf->data_off, mbuf->pkt_len);
                if (copy != NULL)
                    data_send(work, last_face, copy, last_entry, last_in);
            }
            last_face = face;
            last_entry = entry;
            last_in = in;
        }
    }
    if (likely(last_face != NULL))
        data_send(work, last_face, mbuf, last_entry, last_in);
    else
        pkt_drop(fwd, mbuf, DROP_DATA_UNWANTED);
}

void ndn_data(struct fwd *fwd, struct pkt *pkt)
{
    const struct ndn_name *name = &pkt->ndn.name;
    if (likely(pkt->look.level == PKT_LOOK_ALL)) {
        // Not yet counted at a worker before this one.
        fwd->stats.in_data++;
        pkt_face_stats(fwd, pkt->face->id)->in_data++;
    }
    if (unlikely(pkt->face->scope == FACE_SCOPE_NON_LOCAL && pkt_is_localhost(name))) {
        pkt_refuse(fwd, pkt, DROP_SCOPE_VIOLATION);
        return;
    }
    struct data_work work;
    work.fwd = fwd;
    work.pkt = pkt;
    work.n_sent = 0;
    data_match(&work);
    if (fwd->shared->dispatch != NULL && dispatch_second_look(fwd, pkt, work.n_match > 0))
        return;
    if (unlikely(work.n_match == 0)) {
        if (pkt->look.matched)
            pkt_drop(fwd, pkt->mbuf, DROP_SECOND_LOOK);
        else
            pkt_refuse(fwd, pkt, DROP_UNSOLICITED_DATA);
        return;
    }
    const struct ndn_lp *lp = &pkt->ndn.lp;
    if (fwd->cs_on && !(lp->has & LP_HAS_CACHE_POLICY && lp->cache_policy == 1))
        cs_insert(fwd->cs, name, pkt->mbuf, 0, pkt->mbuf->pkt_len, pkt->ndn.data.freshness_ms, false, fwd->now_ns);
    data_satisfy(&work);
    fwd->stats.satisfied += work.n_match;
    for (unsigned i = 0; i < work.n_match; i++) {
        struct pit_entry *entry = work.match[i];
        // A fresh-only Interest may loop back after the cache has gone stale: its nonces must stay known.
        if (unlikely(entry->flags & PIT_MUST_BE_FRESH && pkt->ndn.data.freshness_ms < DNL_LIFETIME_MS))
            ndn_interest_remember(fwd, entry);
        ndn_interest_erase(fwd, entry);
    }
}
