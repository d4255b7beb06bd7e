// SPDX-License-Identifier: Apache-2.0
#include "fwd/output.h"

#include <string.h>

#include "fwd/chain.h"
#include "fwd/congestion.h"
#include "fwd/output_inline.h"
#include "fwd/reliability.h"

/* Below this many octets a copy is cheaper than a header buffer and a reference. */
#define OUTPUT_COPY_MAX 512
/* Room before a packet that is made here. */
#define OUTPUT_HEADROOM (NDN_LP_HEADER_MAX + FACE_HDR_MAX)
/* LpPacket and Fragment headers, Sequence, FragIndex and FragCount of a fragment. */
#define OUTPUT_FRAGMENT_OVERHEAD (4 + 10 + 4 + 4 + 4)
#define OUTPUT_TX_SEQUENCE_SIZE  12
/* What reliability adds to a packet that is sent whole: Sequence, TxSequence, and the LpPacket's length may grow. */
#define OUTPUT_RELIABLE_SIZE (10 + OUTPUT_TX_SEQUENCE_SIZE + 2)
/* A PrefixAnnouncement that would take more than this part of a frame or a buffer stays behind. */
#define OUTPUT_ANNOUNCEMENT_PART 2

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
    uint64_t refused = (uint64_t)(tx->n - sent) - (fwd->stats.relayed - relayed);
    fwd->stats.tx_frames += sent;
    fwd->stats.drops[DROP_TX_FULL] += refused;
    if (unlikely(refused != 0))
        congestion_refused(fwd, port);
    tx->n = 0;
    fwd->tx_ports &= ~(1ull << port);
}

/* Make a frame of a link-layer packet that has room for the link header before it. */
static inline void output_frame(const struct face *face, struct rte_mbuf *mbuf)
{
    face_header_prepend(face, mbuf);
    // Without an Ethernet header there is no minimum, and padding would be part of the packet.
    if (likely(face->hdr_len != 0))
        face_pad(mbuf);
    else
        thread_port_set_face(mbuf, face->id);
}

void output_link(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf)
{
    output_frame(face, mbuf);
    output_queue(fwd, face->port, mbuf);
}

/* Room to leave before a packet with these fields. */
static uint32_t output_headroom(const struct ndn_lp_out *lp)
{
    return OUTPUT_HEADROOM + lp->announcement_len;
}

/* Octets that one buffer holds behind the headers. */
static uint32_t output_buffer_room(const struct fwd *fwd, const struct ndn_lp_out *lp)
{
    return (uint32_t)rte_pktmbuf_data_room_size(fwd->pool) - output_headroom(lp);
}

/*
 * Leave out what this face does not take. Local applications need not know of tokens, nor give them back, and forward
 * nothing: an Interest to them has none, and is bare unless it has something to say.
 */
static void output_fields(const struct fwd *fwd, const struct face *face, struct ndn_lp_out *lp, enum output_kind kind)
{
    if (!(face->flags & FACE_LOCAL_FIELDS))
        lp->has_incoming_face = false;
    if (kind == OUTPUT_INTEREST && face->scope == FACE_SCOPE_LOCAL) {
        lp->token_len = 0;
        lp->non_discovery = false;
    }
    if (lp->announcement_len > 0) {
        uint32_t room = RTE_MIN((uint32_t)face->mtu, (uint32_t)rte_pktmbuf_data_room_size(fwd->pool));
        if (lp->announcement_len > room / OUTPUT_ANNOUNCEMENT_PART)
            lp->announcement_len = 0;
    }
}

/* Write the header fields before the packet. */
static void output_header(struct rte_mbuf *mbuf, const struct ndn_lp_out *lp)
{
    uint16_t n = (uint16_t)ndn_lp_prepend(rte_pktmbuf_mtod(mbuf, uint8_t *), mbuf->pkt_len, lp);
    mbuf->data_off = (uint16_t)(mbuf->data_off - n);
    mbuf->data_len = (uint16_t)(mbuf->data_len + n);
    mbuf->pkt_len += n;
}

/* What has to be known of a packet that a reliable face is sent. */
struct output_reliable {
    const uint8_t *token; /* ours, of an Interest; else NULL */
    struct reliability_send send;
};

/* Write header fields and link header before the octets in @p mbuf, with room for both, and queue the frame. */
static void output_packet(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, struct ndn_lp_out *lp,
                          struct output_reliable *reliable)
{
    if (reliable != NULL) {
        // An LpPacket that grows may need two octets more for its length.
        uint32_t header = (uint32_t)ndn_lp_prepend_size(mbuf->pkt_len, lp) + 2, room = face->mtu;
        uint32_t link = RTE_MIN(room, mbuf->pkt_len + (uint32_t)rte_pktmbuf_headroom(mbuf) - face->hdr_len);
        reliability_ride(fwd, lp, &reliable->send, link > mbuf->pkt_len + header ? link - mbuf->pkt_len - header : 0);
    }
    uint32_t payload_len = mbuf->pkt_len;
    if (!ndn_lp_out_empty(lp))
        output_header(mbuf, lp);
    uint16_t lp_off = mbuf->data_off;
    uint32_t lp_len = mbuf->pkt_len;
    output_frame(face, mbuf);
    if (reliable != NULL)
        reliability_keep(fwd, &reliable->send, mbuf, lp_off, lp_len,
                         (uint32_t)ndn_lp_behind_tx_sequence(payload_len, lp) + payload_len, reliable->token);
    output_queue(fwd, face->port, mbuf);
}

/* Send a packet in fragments, each copied into a buffer of its own. Takes the mbuf over. */
static void output_fragments(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf,
                             const struct ndn_lp_out *lp, enum output_kind kind, struct output_reliable *reliable)
{
    // The fields ride on the first fragment, but for those that each one has.
    const uint32_t each = OUTPUT_FRAGMENT_OVERHEAD + (reliable != NULL ? OUTPUT_TX_SEQUENCE_SIZE : 0);
    uint32_t overhead = each + (uint32_t)ndn_lp_prepend_size(mbuf->pkt_len, lp);
    if (face->mtu <= overhead) {
        output_refuse(fwd, face, mbuf, DROP_TX_SIZE);
        return;
    }
    // A fragment has one buffer to itself; a small buffer cuts it smaller than the face would.
    uint32_t room = RTE_MIN(face->mtu - each, output_buffer_room(fwd, &(struct ndn_lp_out){0}));
    uint32_t first = RTE_MIN(RTE_MIN(face->mtu - overhead, output_buffer_room(fwd, lp)), mbuf->pkt_len);
    uint32_t count = 1 + (mbuf->pkt_len - first + room - 1) / room;
    if (count > NDN_LP_FRAGS_MAX) {
        output_refuse(fwd, face, mbuf, DROP_TX_SIZE);
        return;
    }
    struct ndn_lp_out part = *lp;
    uint64_t sequence = fwd->sequence;
    fwd->sequence += count;
    uint32_t left = mbuf->pkt_len, off = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = i == 0 ? first : RTE_MIN(left, room);
        struct rte_mbuf *frag = rte_pktmbuf_alloc(fwd->pool);
        if (frag == NULL) {
            // The rest cannot be put together without this one.
            output_refuse(fwd, face, mbuf, DROP_TX_NO_MBUF);
            return;
        }
        part.has_sequence = true;
        part.sequence = sequence + i;
        part.frag_index = (uint16_t)i;
        part.frag_count = (uint16_t)count;
        frag->data_off = (uint16_t)output_headroom(&part);
        chain_read(mbuf, off, rte_pktmbuf_append(frag, (uint16_t)n), n);
        if (reliable != NULL)
            part.has_tx_sequence = reliability_begin(fwd, face, &reliable->send, &part.tx_sequence);
        fwd->stats.originated++;
        output_packet(fwd, face, frag, &part, reliable);
        part = (struct ndn_lp_out){0};
        off += n;
        left -= n;
    }
    // The packet left as its fragments: it is one of them, so one less was made here.
    fwd->stats.originated--;
    output_count(fwd, face, mbuf->pkt_len, kind);
    rte_pktmbuf_free(mbuf);
}

/* Send a packet whole when it fits, else in fragments. @p reliable is NULL when the face is not. */
static void output_fit(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, struct ndn_lp_out *lp,
                       enum output_kind kind, struct output_reliable *reliable)
{
    const struct port *port = fwd->shared->port[face->port];
    const uint32_t each = reliable != NULL ? OUTPUT_RELIABLE_SIZE : 0;
    uint32_t header = each + (ndn_lp_out_empty(lp) && each == 0 ? 0 : (uint32_t)ndn_lp_prepend_size(mbuf->pkt_len, lp));
    bool move = rte_pktmbuf_headroom(mbuf) < header + face->hdr_len || (mbuf->nb_segs > 1 && !port->tx_multi_seg);
    // A port that sends no chains gets a packet that needs more than one buffer in fragments as well.
    if (unlikely(mbuf->pkt_len + header > face->mtu ||
                 (move && !port->tx_multi_seg && mbuf->pkt_len > output_buffer_room(fwd, lp)))) {
        output_fragments(fwd, face, mbuf, lp, kind, reliable);
        return;
    }
    struct rte_mbuf *moved = NULL;
    if (unlikely(move)) {
        moved = mbuf;
        mbuf = chain_copy(fwd->pool, moved, moved->data_off, moved->pkt_len, (uint16_t)output_headroom(lp));
        if (mbuf == NULL) {
            output_refuse(fwd, face, moved, DROP_TX_NO_MBUF);
            return;
        }
    }
    output_count(fwd, face, mbuf->pkt_len, kind);
    if (reliable != NULL && reliability_begin(fwd, face, &reliable->send, &lp->tx_sequence)) {
        lp->has_tx_sequence = true;
        lp->has_sequence = true;
        lp->frag_count = 1;
        lp->sequence = fwd->sequence++;
    }
    output_packet(fwd, face, mbuf, lp, reliable);
    // Its buffer may have held an announcement until now.
    rte_pktmbuf_free(moved);
}

void output_send(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const struct ndn_lp_out *fields,
                 enum output_kind kind)
{
    struct ndn_lp_out lp = *fields;
    if (atomic_load_explicit(&face->down, memory_order_relaxed) != 0) {
        output_refuse(fwd, face, mbuf, DROP_FACE_DOWN);
        return;
    }
    output_fields(fwd, face, &lp, kind);
    if (unlikely(fwd->mark_ports != 0))
        congestion_mark(fwd, face, &lp);
    if (likely(!(face->flags & FACE_RELIABILITY))) {
        output_fit(fwd, face, mbuf, &lp, kind, NULL);
        return;
    }
    struct output_reliable reliable;
    reliable.token = kind == OUTPUT_INTEREST && fields->token_len == TOKEN_SIZE ? fields->token : NULL;
    reliability_start(&reliable.send);
    output_fit(fwd, face, mbuf, &lp, kind, &reliable);
}

uint32_t output_header_any(const struct face *face, uint8_t *net, uint32_t len, const uint8_t token[8])
{
    uint32_t added = (uint32_t)ndn_lp_prepend_token(net, len, token);
    face_header_write(face, net - added, len + added);
    return added + face->hdr_len;
}

void output_lp_any(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const uint8_t *token,
                   const struct pkt *pkt, struct output_short what)
{
    struct ndn_lp_out lp = {.token_len = (uint8_t)what.token_len,
                            .token = token,
                            .has_incoming_face = true,
                            .incoming_face = pkt != NULL ? pkt->face->id : FACE_ID_CONTENT_STORE};
    output_send(fwd, face, mbuf, &lp, what.kind);
}

void output_with_fields(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const uint8_t *token,
                        const struct pkt *pkt, struct output_short what)
{
    const struct ndn_lp *in = &pkt->ndn.lp;
    struct ndn_lp_out lp = {
        .token_len = (uint8_t)what.token_len,
        .token = token,
        .has_incoming_face = true,
        .incoming_face = pkt->face->id,
        .has_mark = (in->has & LP_HAS_CONGESTION_MARK) != 0,
        .congestion_mark = in->congestion_mark,
        .non_discovery = (in->has & LP_HAS_NON_DISCOVERY) != 0,
        .announcement = in->announcement,
        .announcement_len = in->has & LP_HAS_PREFIX_ANNOUNCEMENT ? in->announcement_len : 0,
    };
    output_send(fwd, face, mbuf, &lp, what.kind);
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
