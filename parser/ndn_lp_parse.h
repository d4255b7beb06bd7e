// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_LP_PARSE_H
#define PARSER_NDN_LP_PARSE_H

#include "parser/ndn_lp.h"
#include "parser/ndn_tlv.h"

/** No header fields, as ndn_lp_clear(), but for those that only count with their bit in lp->has. */
static inline void ndn_lp_clear_bare(struct ndn_lp *lp)
{
    lp->has = 0;
    lp->token_len = 0;
    lp->n_acks = 0;
    lp->frag_index = 0;
    lp->frag_count = 1;
    lp->nack_reason = 0;
    lp->token = NULL;
    lp->fragment_len = 0;
    lp->fragment = NULL;
}

/** No header fields: what a bare network packet has. */
static inline void ndn_lp_clear(struct ndn_lp *lp)
{
    // One by one, because for the whole of it the compiler takes a string instruction that costs more than parsing.
    ndn_lp_clear_bare(lp);
    lp->sequence = 0;
    lp->next_hop_face = 0;
    lp->incoming_face = 0;
    lp->cache_policy = 0;
    lp->congestion_mark = 0;
    lp->tx_sequence = 0;
    lp->acks = NULL;
    lp->announcement = NULL;
    lp->announcement_len = 0;
}

/** ndn_lp_parse() for callers that have the TLV-VALUE of the LpPacket; @p lp is cleared already. */
enum verdict ndn_lp_parse_value(const uint8_t *value, size_t len, bool lenient, struct ndn_lp *lp);

#endif
