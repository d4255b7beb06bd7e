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

/** Also reads the token. */
static inline void prefetch_data_bucket(struct fwd *fwd, struct pkt *pkt)
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

/** What the CS has under this name is not needed: Data that was asked for is seldom there already. */
static inline void prefetch_data_entry(struct fwd *fwd, const struct pkt *pkt)
{
    if (unlikely(!pkt->has_token))
        pit_prefetch_entry(fwd->pit, pkt->ndn.name.hash_full);
}

#endif
