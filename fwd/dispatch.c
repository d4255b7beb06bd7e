// SPDX-License-Identifier: Apache-2.0
#include "fwd/dispatch.h"

#include <rte_ring.h>

#include "fwd/chain.h"
#include "fwd/input.h"
#include "fwd/output.h"
#include "fwd/quic/quic.h"
#include "fwd/token.h"

/*
 * What travels with a packet that is handed over, in the mbuf's hash field: the owner needs no second frame parse.
 * A NextHopFaceId crosses in tx_offload, which means nothing before a device is given the mbuf; 0 is none.
 */
struct dispatch_mark {
    uint32_t face;   /* 0, which is no face's: a whole frame, with the index of its port in level */
    uint8_t level;   /* Data: lengths below this may still be looked at; DISPATCH_DEPTH_MAX + 1 at first */
    uint8_t matched; /* Data: some worker has sent it on */
    uint8_t via;     /* Data: the worker that looked first */
    uint8_t pad;
};
_Static_assert(sizeof(struct dispatch_mark) == sizeof(((struct rte_mbuf *)0)->hash), "fits the mbuf");

static inline struct dispatch_mark *dispatch_mark(struct rte_mbuf *mbuf)
{
    return (struct dispatch_mark *)(void *)&mbuf->hash;
}

static inline uint16_t dispatch_owner(const struct dispatch *dispatch, const struct ndn_name *name, unsigned depth)
{
    return dispatch->owner[name->hash[depth] >> 48];
}

static void dispatch_flush_to(struct fwd *fwd, uint16_t to)
{
    struct dispatch_out *out = &fwd->dispatch_out[to];
    unsigned taken =
        rte_ring_sp_enqueue_burst(fwd->shared->dispatch->ring[fwd->worker][to], (void **)out->mbuf, out->n, NULL);
    fwd->stats.handed_over += taken;
    for (unsigned i = taken; i < out->n; i++)
        pkt_drop(fwd, out->mbuf[i], DROP_RING_FULL);
    out->n = 0;
}

void dispatch_flush(struct fwd *fwd)
{
    for (uint16_t to = 0; to < fwd->shared->dispatch->n_workers; to++)
        if (fwd->dispatch_out[to].n > 0)
            dispatch_flush_to(fwd, to);
}

/* Put a header before a packet, in a buffer of its own when there is no room. @return false without one */
static bool dispatch_prepend(struct fwd *fwd, struct rte_mbuf **mbuf, const uint8_t *header, uint16_t n)
{
    char *p = rte_pktmbuf_prepend(*mbuf, n);
    if (p == NULL) {
        struct rte_mbuf *head = rte_pktmbuf_alloc(fwd->pool);
        p = head != NULL ? rte_pktmbuf_append(head, n) : NULL;
        if (p == NULL) {
            rte_pktmbuf_free(head);
            return false;
        }
        chain_append(head, *mbuf);
        *mbuf = head;
    }
    memcpy(p, header, n);
    return true;
}

static void dispatch_queue(struct fwd *fwd, struct rte_mbuf *mbuf, uint16_t to, struct dispatch_mark mark)
{
    *dispatch_mark(mbuf) = mark;
    struct dispatch_out *out = &fwd->dispatch_out[to];
    out->mbuf[out->n++] = mbuf;
    if (out->n == FWD_BURST_MAX)
        dispatch_flush_to(fwd, to);
}

/* Put the LP fields back before the network packet, without the token when @p token is false, and queue it. */
static void dispatch_hand(struct fwd *fwd, struct pkt *pkt, struct rte_mbuf *mbuf, uint16_t to,
                          struct dispatch_mark mark, bool token)
{
    const struct ndn_lp *lp = &pkt->ndn.lp;
    struct ndn_lp_out fields = {
        .token_len = token ? lp->token_len : 0,
        .token = lp->token,
        // A Nack without a reason crosses with reason 1, which nobody has assigned either, as those above 65535.
        .nack_reason = lp->has & LP_HAS_NACK ? (uint16_t)RTE_MIN(RTE_MAX(lp->nack_reason, 1u), UINT16_MAX) : 0,
        .has_mark = (lp->has & LP_HAS_CONGESTION_MARK) != 0,
        .congestion_mark = lp->congestion_mark,
        .has_cache_policy = (lp->has & LP_HAS_CACHE_POLICY) != 0,
        .cache_policy = lp->cache_policy,
        .non_discovery = (lp->has & LP_HAS_NON_DISCOVERY) != 0,
        .announcement = lp->announcement,
        .announcement_len =
            lp->has & LP_HAS_PREFIX_ANNOUNCEMENT && lp->announcement_len <= NDN_PACKET_MAX ? lp->announcement_len : 0,
    };
    // Written aside first: the token may lie where the new header goes.
    uint8_t header[NDN_LP_HEADER_MAX + NDN_PACKET_MAX];
    uint16_t n = (uint16_t)ndn_lp_prepend(header + sizeof header, mbuf->pkt_len, &fields);
    if (!dispatch_prepend(fwd, &mbuf, header + sizeof header - n, n)) {
        pkt_drop(fwd, mbuf, DROP_TX_NO_MBUF);
        return;
    }
    mbuf->tx_offload = 0;
    if (unlikely(lp->has & LP_HAS_NEXT_HOP_FACE))
        mbuf->tx_offload = lp->next_hop_face != 0 ? lp->next_hop_face : UINT64_MAX;
    dispatch_queue(fwd, mbuf, to, mark);
}

void dispatch_acks(struct fwd *fwd, uint16_t to, uint32_t face, const uint64_t *acks, uint8_t n)
{
    struct ndn_lp_out fields = {.acks = acks, .n_acks = n};
    uint8_t packet[NDN_LP_HEADER_MAX + NDN_LP_ACKS_MAX * NDN_LP_ACK_SIZE];
    uint16_t len = (uint16_t)ndn_lp_prepend(packet + sizeof packet, 0, &fields);
    struct rte_mbuf *mbuf = chain_from_octets(fwd->pool, packet + sizeof packet - len, len);
    // Without a buffer they are lost, as on the link.
    if (mbuf == NULL)
        return;
    fwd->stats.originated++;
    mbuf->tx_offload = 0;
    dispatch_queue(fwd, mbuf, to, (struct dispatch_mark){.face = face, .via = (uint8_t)to});
}

void dispatch_frame(struct fwd *fwd, struct rte_mbuf *mbuf, const struct port *port, uint16_t to)
{
    mbuf->tx_offload = 0;
    dispatch_queue(fwd, mbuf, to, (struct dispatch_mark){.level = (uint8_t)port->index});
}

bool dispatch_owns(const struct fwd *fwd, const struct ndn_name *name)
{
    const struct dispatch *dispatch = fwd->shared->dispatch;
    return dispatch == NULL ||
           dispatch_owner(dispatch, name, RTE_MIN((unsigned)name->n_comps, (unsigned)dispatch->depth)) == fwd->worker;
}

bool dispatch_away(struct fwd *fwd, struct pkt *pkt)
{
    const struct dispatch *dispatch = fwd->shared->dispatch;
    const struct ndn_name *name = &pkt->ndn.name;
    const struct ndn_lp *lp = &pkt->ndn.lp;
    bool upstream = pkt->ndn.type == NDN_TYPE_DATA || lp->has & LP_HAS_NACK;
    struct token token;
    uint16_t to;
    if (upstream && token_read(lp->token, lp->token_len, fwd->shared->token_key, &token) &&
        token.worker < dispatch->n_workers) {
        to = token.worker;
    } else {
        // The Data that an implicit digest asks for does not have that component.
        unsigned depth = RTE_MIN((unsigned)(name->n_comps - name->has_digest), (unsigned)dispatch->depth);
        to = dispatch_owner(dispatch, name, depth);
    }
    pkt->look.via = (uint8_t)to;
    if (to == fwd->worker)
        return false;
    struct dispatch_mark mark = {.face = pkt->face->id, .level = pkt->look.level, .matched = false, .via = (uint8_t)to};
    dispatch_hand(fwd, pkt, pkt->mbuf, to, mark, true);
    return true;
}

bool dispatch_arrive(struct fwd *fwd, struct rte_mbuf *mbuf, struct pkt *pkt, bool *linear)
{
    const struct dispatch_mark mark = *dispatch_mark(mbuf);
    pkt->mbuf = mbuf;
    pkt->face = face_get(fwd->shared->faces, mark.face);
    pkt->look = (struct pkt_look){.level = mark.level, .matched = mark.matched, .via = mark.via};
    if (pkt->face == NULL) {
        if (mark.face == 0)
            quic_arrive(fwd, fwd->shared->port[mark.level], mbuf);
        else
            pkt_drop(fwd, mbuf, DROP_FACE_DOWN);
        return false;
    }
    uint64_t next_hop = mbuf->tx_offload;
    mbuf->tx_offload = 0;
    if (!input_handed_over(fwd, pkt, linear))
        return false;
    if (unlikely(next_hop != 0)) {
        pkt->ndn.lp.has |= LP_HAS_NEXT_HOP_FACE;
        pkt->ndn.lp.next_hop_face = next_hop;
    }
    return true;
}

bool dispatch_second_look(struct fwd *fwd, struct pkt *pkt, bool matched)
{
    const struct dispatch *dispatch = fwd->shared->dispatch;
    const struct ndn_name *name = &pkt->ndn.name;
    unsigned level =
        RTE_MIN(RTE_MIN((unsigned)pkt->look.level, (unsigned)dispatch->depth + 1), (unsigned)name->depth + 1);
    bool seen = matched || pkt->look.matched;
    while (level > 0) {
        level--;
        uint16_t to = dispatch_owner(dispatch, name, level);
        if (to == fwd->worker || to == pkt->look.via)
            continue;
        // The owner of the full dispatch prefix is asked only when a token led elsewhere first.
        bool asked = level == RTE_MIN((unsigned)dispatch->depth, (unsigned)name->depth);
        if (!asked && atomic_load_explicit(&dispatch->short_names[to].pending[level], memory_order_acquire) == 0)
            continue;
        struct dispatch_mark mark = {
            .face = pkt->face->id, .level = (uint8_t)level, .matched = seen, .via = pkt->look.via};
        if (!matched) {
            dispatch_hand(fwd, pkt, pkt->mbuf, to, mark, false);
            return true;
        }
        // A copy of the octets, not a reference to them: two workers would write headers into the same buffer.
        struct rte_mbuf *copy =
            chain_copy(fwd->pool, pkt->mbuf, pkt->mbuf->data_off, pkt->mbuf->pkt_len, NDN_LP_HEADER_MAX);
        fwd->stats.originated++;
        if (copy != NULL)
            dispatch_hand(fwd, pkt, copy, to, mark, false);
        else
            fwd->stats.drops[DROP_TX_NO_MBUF]++;
        return false;
    }
    return false;
}

uint16_t dispatch_receive(struct fwd *fwd, uint16_t from, struct rte_mbuf **mbufs)
{
    return (uint16_t)rte_ring_sc_dequeue_burst(fwd->shared->dispatch->ring[from][fwd->worker], (void **)mbufs,
                                               FWD_BURST_MAX, NULL);
}
