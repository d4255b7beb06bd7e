// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_PREFETCH_H
#define FWD_PREFETCH_H

#include "fwd/pkt.h"

/* Lookup stages of a burst: buckets first, entries when those have arrived. Worker only. */

static inline void prefetch_interest_bucket(struct fwd *fwd, const struct pkt *pkt)
{
    const struct ndn_name *name = &pkt->ndn.name;
    pit_prefetch_bucket(fwd->pit, name->hash_full);
    dnl_prefetch(fwd->dnl, name->hash_full, pkt->ndn.interest.nonce);
    if (fwd->cs_on)
        cs_prefetch_bucket(fwd->cs, name->hash_full);
    fib_prefetch(fwd->shared->fib, name);
}

static inline void prefetch_interest_entry(struct fwd *fwd, struct pkt *pkt)
{
    pit_prefetch_entry(fwd->pit, pkt->ndn.name.hash_full);
    if (fwd->cs_on)
        cs_prefetch_entry(fwd->cs, pkt->ndn.name.hash_full);
    pkt->fib = fib_prefetch_entry(fwd->shared->fib, &pkt->ndn.name);
}

/** Read the token of Data or a Nack and bring the entry it leads to. */
static inline void prefetch_token(struct fwd *fwd, struct pkt *pkt)
{
    const struct ndn_lp *lp = &pkt->ndn.lp;
    pkt->has_token =
        token_read(lp->token, lp->token_len, fwd->shared->token_key, &pkt->token) && pkt->token.worker == fwd->worker;
    if (likely(pkt->has_token))
        pit_prefetch_slot(fwd->pit, pkt->token.slot);
}

/** What Data and Nacks need when they leave: where the entry is indexed, and where Data goes in the CS. */
static inline void prefetch_upstream_bucket(struct fwd *fwd, uint64_t hash)
{
    pit_prefetch_bucket(fwd->pit, hash);
    if (fwd->cs_on)
        cs_prefetch_bucket(fwd->cs, hash);
}

static inline void prefetch_data_bucket(struct fwd *fwd, struct pkt *pkt)
{
    prefetch_token(fwd, pkt);
    prefetch_upstream_bucket(fwd, pkt->ndn.name.hash_full);
}

/**
 * See whether the entry that the token leads to, which has arrived, has this name: then its hash need not be computed.
 * What the CS has under this name is not needed: Data that was asked for is seldom there already.
 *
 * @return true when it has
 */
static inline bool prefetch_data_entry(struct fwd *fwd, struct pkt *pkt)
{
    struct ndn_name *name = &pkt->ndn.name;
    pkt->entry = NULL;
    if (unlikely(!pkt->has_token)) {
        pit_prefetch_entry(fwd->pit, name->hash_full);
        return false;
    }
    struct pit_entry *entry = pit_at(fwd->pit, pkt->token.slot, pkt->token.generation);
    // One at the limit may have more components than it tells.
    if (unlikely(entry == NULL || entry->depth == NDN_NAME_DEPTH || !pit_name_is(fwd->pit, entry, name)))
        return false;
    pkt->entry = entry;
    if (name->unread) {
        name->n_comps = entry->depth;
        name->depth = entry->depth;
        name->hash_full = entry->hash;
        prefetch_upstream_bucket(fwd, entry->hash);
    }
    return true;
}

#endif
