// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_OUTPUT_INLINE_H
#define FWD_OUTPUT_INLINE_H

#include <rte_ether.h>

#include "fwd/output.h"
#include "ports/face_tx.h"

/* The short way out, for the pipelines. Worker only. */

/** Two small arguments in one register. */
struct output_short {
    enum output_kind kind;
    uint32_t token_len;
};

/** output_send() with a token, and the face that @p pkt came by where that is wanted; NULL: from the Content Store. */
void output_lp_any(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const uint8_t *token,
                   const struct pkt *pkt, struct output_short what);
/** The same, and the fields of @p pkt that go on with it: CongestionMark, NonDiscovery, PrefixAnnouncement. */
void output_with_fields(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const uint8_t *token,
                        const struct pkt *pkt, struct output_short what);
/** Write LP and link header before @p len octets at @p net. @return octets written */
uint32_t output_header_any(const struct face *face, uint8_t *net, uint32_t len, const uint8_t token[8]);

/** The mbuf is a whole frame. */
static inline void output_queue(struct fwd *fwd, uint16_t port, struct rte_mbuf *mbuf)
{
    struct fwd_tx *tx = &fwd->tx[port];
    uint16_t n = tx->n;
    tx->mbuf[n] = mbuf;
    tx->n = ++n;
    if (unlikely(n == 1))
        fwd->tx_ports |= 1ull << port;
    if (unlikely(n == FWD_BURST_MAX))
        output_flush(fwd, port);
}

static __rte_always_inline void output_count(struct fwd *fwd, const struct face *face, uint32_t len,
                                             enum output_kind kind)
{
    struct stats_face *stats = pkt_face_stats(fwd, face->id);
    stats->out_bytes += len;
    switch (kind) {
    case OUTPUT_INTEREST:
        stats->out_interests++;
        fwd->stats.out_interests++;
        break;
    case OUTPUT_DATA:
        stats->out_data++;
        fwd->stats.out_data++;
        break;
    case OUTPUT_NACK:
        stats->out_nacks++;
        fwd->stats.out_nacks++;
        break;
    }
}

/**
 * output_send() with no field but a PIT token, of any length, and what the face itself wants, of @p pkt: the packet
 * that is sent on. Nearly every packet: one buffer with room before it, a token of eight octets, a face that is
 * up and takes it whole. Both headers are written at once.
 */
static __rte_always_inline void output_token(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf,
                                             const uint8_t *token, uint8_t token_len, const struct pkt *pkt,
                                             enum output_kind kind)
{
    uint32_t len = mbuf->pkt_len;
    if (unlikely(token_len != 8 || mbuf->next != NULL || len + NDN_LP_TOKEN_HEADER_MAX > face->mtu ||
                 mbuf->data_off < fwd->short_room ||
                 atomic_load_explicit(&face->uncommon, memory_order_relaxed) != 0)) {
        output_lp_any(fwd, face, mbuf, token, pkt, (struct output_short){kind, token_len});
        return;
    }
    output_count(fwd, face, len, kind);
    uint8_t *net = rte_pktmbuf_mtod(mbuf, uint8_t *);
    uint32_t added;
    if (likely(face->kind == FACE_ETHER && face->hdr_len == RTE_ETHER_HDR_LEN && len <= NDN_LP_TOKEN_SHORT_MAX)) {
        ndn_lp_prepend_token_short(net, len, token);
        memcpy(net - NDN_LP_TOKEN_SHORT_SIZE - RTE_ETHER_HDR_LEN, face->hdr, RTE_ETHER_HDR_LEN);
        added = NDN_LP_TOKEN_SHORT_SIZE + RTE_ETHER_HDR_LEN;
    } else {
        added = output_header_any(face, net, len, token);
    }
    mbuf->data_off = (uint16_t)(mbuf->data_off - added);
    mbuf->data_len = (uint16_t)(len + added);
    mbuf->pkt_len = len + added;
    // Without an Ethernet header there is no minimum, and padding would be part of the packet.
    if (unlikely(face->hdr_len == 0))
        thread_port_set_face(mbuf, face->id);
    else if (unlikely(len + added < RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN))
        face_pad(mbuf);
    output_queue(fwd, face->port, mbuf);
}

#endif
