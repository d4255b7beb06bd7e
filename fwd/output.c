// SPDX-License-Identifier: Apache-2.0
#include "fwd/output.h"

#include <string.h>

#include "fwd/chain.h"
#include "fwd/output_inline.h"

/* Below this many octets a copy is cheaper than a header buffer and a reference. */
#define OUTPUT_COPY_MAX 512
/* Room before a packet that is made here. */
#define OUTPUT_HEADROOM (NDN_LP_HEADER_MAX + FACE_HDR_MAX)
/* LpPacket and Fragment headers, Sequence, FragIndex and FragCount of a fragment. */
#define OUTPUT_FRAGMENT_OVERHEAD (4 + 10 + 4 + 4 + 4)

static void output_refuse(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, enum drop drop)
{
    pkt_face_stats(fwd, face->id)->out_drops++;
    pkt_drop(fwd, mbuf, drop);
}

void output_flush(struct fwd *fwd, uint16_t port)
{
    struct fwd_tx *tx = &fwd->tx[port];
    uint64_t relayed = fwd->stats.relayed;
    uint16_t sent = fwd->send(fwd, port, tx->mbuf, tx->n);
    fwd->stats.tx_frames += sent;
    fwd->stats.drops[DROP_TX_FULL] += (uint64_t)(tx->n - sent) - (fwd->stats.relayed - relayed);
    tx->n = 0;
    fwd->tx_ports &= ~(1ull << port);
}

/* The mbuf is a link-layer packet with room for the link header before it. */
static inline void output_frame(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf)
{
    face_header_prepend(face, mbuf);
    // Without an Ethernet header there is no minimum, and padding would be part of the packet.
    if (likely(face->hdr_len != 0))
        face_pad(mbuf);
    else
        thread_port_set_face(mbuf, face->id);
    output_queue(fwd, face->port, mbuf);
}

/* Octets that one buffer holds behind the headers. */
static uint32_t output_buffer_room(const struct fwd *fwd)
{
    return (uint32_t)rte_pktmbuf_data_room_size(fwd->pool) - OUTPUT_HEADROOM;
}

/* Send a packet in fragments, each copied into a buffer of its own. Takes the mbuf over. */
static void output_fragments(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf,
                             const struct ndn_lp_out *lp, enum output_kind kind)
{
    uint32_t fields = (uint32_t)ndn_lp_prepend_size(mbuf->pkt_len, lp);
    uint32_t overhead = OUTPUT_FRAGMENT_OVERHEAD + fields;
    if (face->mtu <= overhead) {
        output_refuse(fwd, face, mbuf, DROP_TX_SIZE);
        return;
    }
    uint32_t room = face->mtu - overhead;
    // A fragment has one buffer to itself; a small buffer cuts it smaller than the face would.
    room = RTE_MIN(room, output_buffer_room(fwd));
    uint32_t count = (mbuf->pkt_len + room - 1) / room;
    if (count > NDN_LP_FRAGS_MAX) {
        output_refuse(fwd, face, mbuf, DROP_TX_SIZE);
        return;
    }
    struct ndn_lp_out part = *lp;
    part.has_sequence = true;
    part.frag_count = (uint16_t)count;
    part.sequence = fwd->sequence;
    fwd->sequence += count;
    uint32_t left = mbuf->pkt_len, off = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = RTE_MIN(left, room);
        struct rte_mbuf *frag = rte_pktmbuf_alloc(fwd->pool);
        if (frag == NULL) {
            // The rest cannot be put together without this one.
            output_refuse(fwd, face, mbuf, DROP_TX_NO_MBUF);
            return;
        }
        frag->data_off = OUTPUT_HEADROOM;
        chain_read(mbuf, off, rte_pktmbuf_append(frag, (uint16_t)n), n);
        part.frag_index = (uint16_t)i;
        rte_pktmbuf_prepend(frag, (uint16_t)ndn_lp_prepend(rte_pktmbuf_mtod(frag, uint8_t *), n, &part));
        fwd->stats.originated++;
        output_frame(fwd, face, frag);
        part = (struct ndn_lp_out){.has_sequence = true, .frag_count = (uint16_t)count, .sequence = part.sequence + 1};
        off += n;
        left -= n;
    }
    // The packet left as its fragments: it is one of them, so one less was made here.
    fwd->stats.originated--;
    output_count(fwd, face, mbuf->pkt_len, kind);
    rte_pktmbuf_free(mbuf);
}

/* Move a packet to new buffers with headroom. @return NULL when there are none; @p mbuf is then as before */
static struct rte_mbuf *output_relocate(struct fwd *fwd, struct rte_mbuf *mbuf)
{
    struct rte_mbuf *copy = chain_copy(fwd->pool, mbuf, mbuf->data_off, mbuf->pkt_len, OUTPUT_HEADROOM);
    if (copy != NULL)
        rte_pktmbuf_free(mbuf);
    return copy;
}

void output_send(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const struct ndn_lp_out *lp,
                 enum output_kind kind)
{
    const struct port *port = fwd->shared->port[face->port];
    if (atomic_load_explicit(&face->down, memory_order_relaxed) != 0) {
        output_refuse(fwd, face, mbuf, DROP_FACE_DOWN);
        return;
    }
    uint32_t header = ndn_lp_out_empty(lp) ? 0 : (uint32_t)ndn_lp_prepend_size(mbuf->pkt_len, lp);
    bool move = rte_pktmbuf_headroom(mbuf) < header + face->hdr_len || (mbuf->nb_segs > 1 && !port->tx_multi_seg);
    // A port that sends no chains gets a packet that needs more than one buffer in fragments as well.
    if (unlikely(mbuf->pkt_len + header > face->mtu ||
                 (move && !port->tx_multi_seg && mbuf->pkt_len > output_buffer_room(fwd)))) {
        output_fragments(fwd, face, mbuf, lp, kind);
        return;
    }
    if (unlikely(move)) {
        struct rte_mbuf *copy = output_relocate(fwd, mbuf);
        if (copy == NULL) {
            output_refuse(fwd, face, mbuf, DROP_TX_NO_MBUF);
            return;
        }
        mbuf = copy;
    }
    output_count(fwd, face, mbuf->pkt_len, kind);
    if (header > 0) {
        ndn_lp_prepend(rte_pktmbuf_mtod(mbuf, uint8_t *), mbuf->pkt_len, lp);
        mbuf->data_off = (uint16_t)(mbuf->data_off - header);
        mbuf->data_len = (uint16_t)(mbuf->data_len + header);
        mbuf->pkt_len += header;
    }
    output_frame(fwd, face, mbuf);
}

uint32_t output_header_any(const struct face *face, uint8_t *net, uint32_t len, const uint8_t token[8])
{
    uint32_t added = (uint32_t)ndn_lp_prepend_token(net, len, token);
    face_header_write(face, net - added, len + added);
    return added + face->hdr_len;
}

void output_lp_any(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const uint8_t *token,
                   uint8_t token_len, enum output_kind kind)
{
    struct ndn_lp_out lp = {.token_len = token_len, .token = token};
    output_send(fwd, face, mbuf, &lp, kind);
}

/* Segments that refer to @p len octets at @p off (from the buffer's start) of a chain, without copying them. */
static struct rte_mbuf *output_refer(struct fwd *fwd, struct rte_mbuf *mbuf, uint32_t off, uint32_t len)
{
    struct rte_mbuf *head = rte_pktmbuf_alloc(fwd->pool);
    if (head == NULL)
        return NULL;
    head->data_off = OUTPUT_HEADROOM;
    for (struct rte_mbuf *seg = mbuf; len > 0; seg = seg->next) {
        uint32_t start = seg == mbuf ? off : seg->data_off;
        uint32_t n = RTE_MIN(len, (uint32_t)seg->data_off + seg->data_len - start);
        struct rte_mbuf *ref = rte_pktmbuf_alloc(fwd->pool);
        if (ref == NULL) {
            rte_pktmbuf_free(head);
            return NULL;
        }
        rte_pktmbuf_attach(ref, seg);
        ref->data_off = (uint16_t)start;
        ref->data_len = (uint16_t)n;
        ref->pkt_len = n;
        ref->nb_segs = 1;
        ref->next = NULL;
        chain_append(head, ref);
        len -= n;
    }
    return head;
}

struct rte_mbuf *output_copy(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, uint32_t off,
                             uint32_t len)
{
    const struct port *port = fwd->shared->port[face->port];
    struct rte_mbuf *copy = len > OUTPUT_COPY_MAX && port->tx_multi_seg
                                ? output_refer(fwd, mbuf, off, len)
                                : chain_copy(fwd->pool, mbuf, off, len, OUTPUT_HEADROOM);
    fwd->stats.originated++;
    if (copy == NULL)
        output_refuse(fwd, face, NULL, DROP_TX_NO_MBUF);
    return copy;
}
