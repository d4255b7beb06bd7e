// SPDX-License-Identifier: Apache-2.0
#include "fwd/nack.h"

#include <string.h>

#include "fwd/chain.h"
#include "fwd/output.h"

void nack_return(struct fwd *fwd, struct pkt *pkt, enum ndn_nack_reason reason, enum drop drop)
{
    uint8_t token[NDN_LP_TOKEN_MAX];
    struct ndn_lp_out lp = {.token_len = pkt->ndn.lp.token_len, .token = token, .nack_reason = (uint16_t)reason};
    // The token lies in front of the Interest, where the new header goes.
    if (lp.token_len > 0)
        memcpy(token, pkt->ndn.lp.token, lp.token_len);
    fwd->stats.drops[drop]++;
    fwd->stats.originated++;
    output_send(fwd, pkt->face, pkt->mbuf, &lp, OUTPUT_NACK);
}

void nack_refuse(struct fwd *fwd, struct pkt *pkt, enum ndn_nack_reason reason, enum drop drop)
{
    pkt_face_stats(fwd, pkt->face->id)->in_drops++;
    if (pkt->face->link_type == FACE_LINK_P2P)
        nack_return(fwd, pkt, reason, drop);
    else
        pkt_drop(fwd, pkt->mbuf, drop);
}

/* The upstream whose Nack gave the reason, 0 when it was none. */
static uint32_t nack_upstream(struct fwd *fwd, const struct pit_entry *entry, uint32_t reason)
{
    struct pit_entry *e = pit_at(fwd->pit, pit_slot(fwd->pit, entry), entry->generation);
    for (struct pit_out *out = pit_out_next(fwd->pit, e, NULL); out != NULL; out = pit_out_next(fwd->pit, e, out))
        if (out->nack != 0 && out->nack == reason)
            return out->face;
    return 0;
}

void nack_downstream(struct fwd *fwd, const struct pit_entry *entry, const struct pit_in *in, uint32_t reason)
{
    const struct face *face = face_get(fwd->shared->faces, in->face);
    if (face == NULL || face->link_type != FACE_LINK_P2P)
        return;
    uint8_t name[NDN_NAME_MAX], wire[NDN_NAME_MAX + 64];
    struct ndn_interest_out out = {
        .name = name,
        .name_len = pit_name_copy(fwd->pit, entry, name),
        .can_be_prefix = (entry->flags & PIT_CAN_BE_PREFIX) != 0,
        .must_be_fresh = (entry->flags & PIT_MUST_BE_FRESH) != 0,
        .nonce = in->nonce,
    };
    size_t len = ndn_interest_encode(wire, sizeof wire, &out);
    struct rte_mbuf *mbuf = chain_from_octets(fwd->pool, wire, (uint32_t)len);
    fwd->stats.originated++;
    if (mbuf == NULL) {
        fwd->stats.drops[DROP_TX_NO_MBUF]++;
        return;
    }
    uint32_t from = nack_upstream(fwd, entry, reason);
    struct ndn_lp_out lp = {.token_len = in->token_len,
                            .token = pit_in_token(fwd->pit, entry, in),
                            .has_incoming_face = from != 0,
                            .incoming_face = from,
                            .nack_reason = (uint16_t)RTE_MIN(reason, (uint32_t)UINT16_MAX)};
    output_send(fwd, face, mbuf, &lp, OUTPUT_NACK);
}
