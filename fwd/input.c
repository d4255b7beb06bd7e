// SPDX-License-Identifier: Apache-2.0
/*
 * From frames to packets, in stages: parse, hash and prefetch buckets; prefetch entries; act. Memory latency is paid
 * once per burst. A packet in several segments is copied into one linear buffer to be parsed; as there is only one,
 * such a packet ends its burst and is worked on by itself, in order.
 */
#include "fwd/input.h"

#include <string.h>

#include <rte_ether.h>
#include <rte_prefetch.h>
#include <rte_ring.h>

#include "fwd/chain.h"
#include "fwd/dispatch.h"
#include "fwd/prefetch.h"
#include "fwd/quic/quic.h"
#include "fwd/reliability.h"
#include "parser/ndn_packet_usual.h"

/* Frames ahead whose first octets are brought into the cache. */
#define INPUT_AHEAD 4

/*
 * Interest or Data in pkt->ndn, whose octets begin at mbuf data + off, or in the linear buffer. Cuts the mbuf to it,
 * refuses local fields from faces without them, completes an Interest without Nonce, hashes the name.
 */
static enum drop input_network(struct fwd *fwd, struct pkt *pkt, uint32_t off, bool linear)
{
    struct ndn_packet *ndn = &pkt->ndn;
    if (unlikely(ndn->lp.has & LP_HAS_NEXT_HOP_FACE && !(pkt->face->flags & FACE_LOCAL_FIELDS)))
        return DROP_LP_LOCAL_FIELD;
    bool incomplete =
        ndn->type == NDN_TYPE_INTEREST &&
        (!ndn->interest.has_nonce || (fwd->shared->default_hop_limit > 0 && ndn->interest.hop_limit_off == 0));
    if (unlikely(incomplete && ndn->net_len > NDN_PACKET_MAX - NDN_NONCE_TLV_SIZE - NDN_HOP_LIMIT_TLV_SIZE)) {
        if (!ndn->interest.has_nonce)
            return DROP_PKT_OVERSIZE;
        incomplete = false; // it does without HopLimit
    }
    if (unlikely(linear)) {
        if (incomplete)
            input_complete(fwd, fwd->linear + (ndn->net - fwd->linear), ndn);
        if (ndn->type == NDN_TYPE_INTEREST) {
            // An Interest may be rewritten, so it moves to buffers that are ours alone.
            struct rte_mbuf *copy = chain_from_octets(fwd->pool, ndn->net, ndn->net_len);
            if (copy == NULL)
                return DROP_TX_NO_MBUF;
            rte_pktmbuf_free(pkt->mbuf);
            pkt->mbuf = copy;
        } else {
            pkt->mbuf = chain_cut(pkt->mbuf, off, ndn->net_len);
        }
    } else {
        struct rte_mbuf *mbuf = pkt->mbuf;
        if (unlikely(incomplete))
            off -= input_complete(fwd, rte_pktmbuf_mtod_offset(mbuf, uint8_t *, off), ndn);
        mbuf->data_off = (uint16_t)(mbuf->data_off + off);
        mbuf->data_len = ndn->net_len;
        mbuf->pkt_len = ndn->net_len;
    }
    return DROP_NONE;
}

/* Reassembly: takes the fragment's mbuf; true when the whole packet is in *pkt. */
static __rte_noinline bool input_fragment(struct fwd *fwd, struct pkt *pkt, uint64_t sender, uint32_t off)
{
    struct rte_mbuf *whole = NULL;
    struct reass_header header;
    struct reass_freed freed = {0};
    struct rte_mbuf *frag = chain_cut(pkt->mbuf, off, pkt->ndn.net_len);
    fwd->stats.held++;
    enum reass_result result =
        reass_add(fwd->reass, pkt->face->id, sender, &pkt->ndn.lp, frag, fwd->now_ns, &whole, &header, &freed);
    fwd->stats.held -= (uint64_t)(freed.bad + freed.oversize + freed.duplicate + freed.evicted + freed.full);
    fwd->stats.drops[DROP_LP_FRAG_BAD] += freed.bad;
    fwd->stats.drops[DROP_PKT_OVERSIZE] += freed.oversize;
    fwd->stats.drops[DROP_LP_REASS_DUPLICATE] += freed.duplicate;
    fwd->stats.drops[DROP_LP_REASS_EVICT] += freed.evicted;
    fwd->stats.drops[DROP_LP_REASS_FULL] += freed.full;
    if (result != REASS_COMPLETE)
        return false;

    fwd->stats.held -= pkt->ndn.lp.frag_count;
    fwd->stats.drops[DROP_REASSEMBLED] += pkt->ndn.lp.frag_count;
    fwd->stats.originated++;
    struct ndn_parse_opts opts = {.lenient = fwd->shared->lenient};
    uint32_t len = whole->pkt_len;
    chain_read(whole, 0, fwd->linear, len);
    memcpy(fwd->lp_token, header.token, header.lp.token_len);
    pkt->mbuf = whole;
    pkt->ndn.lp = header.lp;
    pkt->ndn.lp.token = fwd->lp_token;
    enum verdict verdict = ndn_packet_parse_net(fwd->linear, len, &opts, &pkt->ndn);
    enum drop drop = (enum drop)verdict;
    if (drop == DROP_NONE)
        drop = input_network(fwd, pkt, 0, true);
    if (drop != DROP_NONE) {
        pkt_refuse(fwd, pkt, drop);
        return false;
    }
    return true;
}

/*
 * A link-layer packet that was parsed into pkt->ndn with this outcome; it lay at @p p, which is @p off octets into the
 * mbuf's data (or into the linear buffer). True when *pkt is ready for the pipelines; else the mbuf has been taken care
 * of.
 */
static __rte_noinline bool input_parsed(struct fwd *fwd, struct pkt *pkt, enum drop drop, const uint8_t *p,
                                        uint32_t off, uint64_t sender, bool *linear)
{
    if (unlikely(drop != DROP_NONE)) {
        pkt_refuse(fwd, pkt, drop);
        return false;
    }
    if (unlikely(pkt->face->flags & FACE_RELIABILITY) && pkt->ndn.lp.has & LP_HAS_HEADER &&
        !reliability_receive(fwd, pkt->face, &pkt->ndn.lp)) {
        pkt_refuse(fwd, pkt, DROP_LP_DUPLICATE);
        return false;
    }
    off += (uint32_t)(pkt->ndn.net - p);
    if (unlikely(pkt->ndn.type == 0)) {
        if (!(pkt->ndn.lp.has & LP_HAS_FRAGMENT)) {
            pkt_drop(fwd, pkt->mbuf, DROP_LP_IDLE);
            return false;
        }
        *linear = input_fragment(fwd, pkt, sender, off);
        return *linear;
    }
    drop = input_network(fwd, pkt, off, *linear);
    if (unlikely(drop != DROP_NONE)) {
        pkt_refuse(fwd, pkt, drop);
        return false;
    }
    return true;
}

bool input_handed_over(struct fwd *fwd, struct pkt *pkt, bool *linear)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *);
    *linear = mbuf->nb_segs > 1;
    if (*linear) {
        chain_read(mbuf, 0, fwd->linear, mbuf->pkt_len);
        p = fwd->linear;
    }
    struct ndn_parse_opts opts = {.lenient = fwd->shared->lenient};
    enum drop drop = (enum drop)ndn_packet_parse(p, mbuf->pkt_len, &opts, &pkt->ndn);
    if (unlikely(drop == DROP_NONE && pkt->ndn.type == 0)) {
        reliability_handed_over(fwd, pkt->face, &pkt->ndn.lp);
        pkt_drop(fwd, mbuf, DROP_LP_IDLE);
        return false;
    }
    if (drop == DROP_NONE)
        drop = input_network(fwd, pkt, (uint32_t)(pkt->ndn.net - p), *linear);
    if (drop != DROP_NONE)
        pkt_refuse(fwd, pkt, drop);
    return drop == DROP_NONE;
}

static enum drop input_miss(enum port_miss miss)
{
    switch (miss) {
    case PORT_MISS_VLAN:
        return DROP_L2_VLAN;
    case PORT_MISS_SRC:
        return DROP_IP_SRC;
    case PORT_MISS_DST:
        return DROP_IP_DST;
    case PORT_MISS_UDP:
        return DROP_UDP_UNMATCHED;
    case PORT_MISS_L2:
    case PORT_MATCHED:
        break;
    }
    return DROP_L2_UNMATCHED;
}

static bool input_is_udp_port(const struct port *port, uint16_t udp_port)
{
    const uint16_t *own = port->config.udp_ports;
    for (unsigned i = 0; i < PORT_UDP_MAX && own[i] != 0; i++)
        if (own[i] == udp_port)
            return true;
    return false;
}

/*
 * A datagram from a peer without a face, on a port that makes faces for such: the control thread gets the frame, makes
 * the face, and gives the frame back. Never waits. @return true when it was taken
 */
static __rte_noinline bool input_unknown_peer(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf,
                                              const struct frame *frame, const uint8_t *p)
{
    struct rte_ring *ring = fwd->shared->unknown_peer[fwd->worker];
    if (port->config.udp_on_demand == 0 || ring == NULL || mbuf->next != NULL || frame->multicast ||
        frame->payload_len == 0 || !input_is_udp_port(port, frame->dport))
        return false;
    uint8_t type = p[frame->payload_off];
    if (type != NDN_TYPE_INTEREST && type != NDN_TYPE_DATA && type != NDN_LP_PACKET)
        return false;
    mbuf->hash.usr = port->index;
    if (rte_ring_sp_enqueue(ring, mbuf) != 0)
        return false;
    fwd->stats.drops[DROP_UNKNOWN_PEER]++;
    return true;
}

/*
 * The link header of the last frame of this burst that was matched to an untagged Ethernet face. A burst mostly comes
 * from one neighbour: a frame with the same 14 octets needs neither parsing nor matching. Lives no longer than the
 * burst, so that a change of faces is seen at the next.
 */
struct input_memo {
    const struct face *face; /* NULL: nothing remembered */
    struct stats_face *stats;
    uint64_t sender;
    uint64_t first;  /* octets 0..7 */
    uint64_t second; /* octets 6..13 */
};

static inline bool input_memo_hit(const struct input_memo *memo, const uint8_t *p, uint32_t len)
{
    uint64_t first, second;
    if (memo->face == NULL || len < sizeof(struct rte_ether_hdr))
        return false;
    memcpy(&first, p, sizeof first);
    memcpy(&second, p + 6, sizeof second);
    return ((first ^ memo->first) | (second ^ memo->second)) == 0;
}

/*
 * A frame whose link header is not that of the last one, or that has several segments: then *linear says so, and its
 * octets are in the linear buffer. True when *pkt is ready for the pipelines; else the mbuf has been taken care of.
 */
static __rte_noinline bool input_frame_any(struct fwd *fwd, const struct port *port, struct pkt *pkt,
                                           struct input_memo *memo, bool *linear)
{
    struct rte_mbuf *mbuf = pkt->mbuf;
    const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *);
    uint32_t len = mbuf->data_len;
    *linear = mbuf->next != NULL;
    if (unlikely(*linear)) {
        if (mbuf->pkt_len > (fwd->quic != NULL ? INPUT_LINEAR_SIZE : INPUT_NDN_SIZE)) {
            pkt_drop(fwd, mbuf, DROP_SEGMENTS);
            return false;
        }
        len = mbuf->pkt_len;
        chain_read(mbuf, 0, fwd->linear, len);
        p = fwd->linear;
        fwd->stats.linearised++;
    }
    // What is no QUIC datagram is no packet of ours then.
    bool jumbo = *linear && len > INPUT_NDN_SIZE;
    struct frame frame = {.payload_len = (uint16_t)len};
    uint32_t face_id;
    uint64_t sender = 0;
    enum drop drop = DROP_NONE;
    if (port->bare) {
        face_id = port->thread != NULL ? thread_port_face(mbuf) : port_bare_face(port);
        sender = port->thread != NULL ? thread_port_sender(mbuf) : 0;
        drop = face_id == 0 ? DROP_NO_FACE : DROP_NONE;
    } else {
        struct frame_opts opts = port_frame_opts(port, pkt->mbuf);
        drop = (enum drop)frame_parse(p, len, &opts, &frame);
        if (unlikely(fwd->quic != NULL) && drop == DROP_NONE && quic_take(fwd, port, mbuf, &frame))
            return false;
        if (unlikely(drop == DROP_IP_PROTO) && fwd->quic != NULL && quic_take_icmp(fwd, port, mbuf))
            return false;
        if (likely(drop == DROP_NONE && !jumbo)) {
            enum port_miss miss = port_classify(port, &frame, &face_id, &sender);
            if (unlikely(miss != PORT_MATCHED)) {
                if (miss == PORT_MISS_UDP && input_unknown_peer(fwd, port, mbuf, &frame, p))
                    return false;
                drop = input_miss(miss);
            }
        }
    }
    if (unlikely(jumbo))
        drop = DROP_SEGMENTS;
    if (drop == DROP_NONE) {
        pkt->face = face_get(fwd->shared->faces, face_id);
        drop = pkt->face == NULL ? DROP_FACE_DOWN : DROP_NONE;
    }
    if (unlikely(drop != DROP_NONE)) {
        pkt_drop(fwd, pkt->mbuf, drop);
        return false;
    }
    struct stats_face *stats = pkt_face_stats(fwd, face_id);
    if (frame.kind == FRAME_NDN && frame.n_tags == 0) {
        *memo = (struct input_memo){.face = pkt->face, .stats = stats, .sender = sender};
        memcpy(&memo->first, p, sizeof memo->first);
        memcpy(&memo->second, p + 6, sizeof memo->second);
    }
    stats->in_bytes += frame.payload_len;
    struct ndn_parse_opts opts = {.lenient = fwd->shared->lenient, .allow_trailing = frame.kind == FRAME_NDN};
    p += frame.payload_off;
    enum drop parsed = (enum drop)ndn_packet_parse_deferred(p, frame.payload_len, &opts, &pkt->ndn);
    return input_parsed(fwd, pkt, parsed, p, frame.payload_off, sender, linear);
}

/* A frame of which the link header is known and the packet of any shape; as input_frame_any(). */
static __rte_noinline bool input_frame_known(struct fwd *fwd, struct pkt *pkt, const struct input_memo *memo,
                                             bool *linear)
{
    const uint8_t *p = rte_pktmbuf_mtod_offset(pkt->mbuf, const uint8_t *, sizeof(struct rte_ether_hdr));
    // Ethernet pads.
    struct ndn_parse_opts opts = {.lenient = fwd->shared->lenient, .allow_trailing = true};
    uint32_t len = pkt->mbuf->data_len - (uint32_t)sizeof(struct rte_ether_hdr);
    enum drop drop = (enum drop)ndn_packet_parse_general(p, len, &opts, &pkt->ndn);
    *linear = false;
    return input_parsed(fwd, pkt, drop, p, sizeof(struct rte_ether_hdr), memo->sender, linear);
}

/* What has become of a frame: taken care of; a packet in *pkt; a packet of which the octets are in the linear buffer.
 */
enum input_got { INPUT_GONE, INPUT_READY, INPUT_LINEAR };

static inline enum input_got input_got(bool ready, bool linear)
{
    return !ready ? INPUT_GONE : linear ? INPUT_LINEAR : INPUT_READY;
}

/* A frame from a port. @p each not 0: every packet is looked at more closely. */
static inline enum input_got input_frame(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf,
                                         struct pkt *pkt, struct input_memo *memo, unsigned each)
{
    bool linear;
    const uint8_t *p = rte_pktmbuf_mtod(mbuf, const uint8_t *);
    uint32_t len = mbuf->data_len;
    pkt->mbuf = mbuf;
    pkt->look.level = PKT_LOOK_ALL;
    pkt->look.matched = false;
    pkt->look.via = 0;
    pkt->has_token = false;
    if (unlikely(mbuf->next != NULL || !input_memo_hit(memo, p, len))) {
        if (fwd->quic != NULL && quic_take_plain(fwd, port, mbuf))
            return INPUT_GONE;
        bool ready = input_frame_any(fwd, port, pkt, memo, &linear);
        return input_got(ready, linear);
    }
    p += sizeof(struct rte_ether_hdr);
    len -= (uint32_t)sizeof(struct rte_ether_hdr);
    pkt->face = memo->face;
    memo->stats->in_bytes += len;
    // Of the usual shape: nothing has to be done to it but to cut its headers off.
    struct ndn_packet *ndn = &pkt->ndn;
    if (unlikely(!ndn_usual_parse(p, len, true, true, ndn) || each != 0)) {
        bool ready = input_frame_known(fwd, pkt, memo, &linear);
        return input_got(ready, linear);
    }
    mbuf->data_off = (uint16_t)(mbuf->data_off + (ndn->net - p) + sizeof(struct rte_ether_hdr));
    mbuf->data_len = ndn->net_len;
    mbuf->pkt_len = ndn->net_len;
    return INPUT_READY;
}

static inline bool input_is_nack(const struct pkt *pkt)
{
    return (pkt->ndn.lp.has & LP_HAS_NACK) != 0;
}

static inline bool input_is_upstream(const struct pkt *pkt)
{
    return pkt->ndn.type == NDN_TYPE_DATA || input_is_nack(pkt);
}

/* Bring the buckets that the name leads to. @return false when it is another worker's, and gone */
static inline bool input_look_up(struct fwd *fwd, struct pkt *pkt, bool dispatch)
{
    if (unlikely(dispatch) && dispatch_away(fwd, pkt))
        return false;
    if (input_is_upstream(pkt))
        prefetch_data_bucket(fwd, pkt);
    else
        prefetch_interest_bucket(fwd, pkt);
    return true;
}

/* Any packet whose name was left unread: all of it is read anew. @return false when it is refused, and gone */
static __rte_noinline bool input_read_any(struct fwd *fwd, struct pkt *pkt)
{
    struct ndn_packet *ndn = &pkt->ndn;
    struct ndn_parse_opts opts = {.lenient = fwd->shared->lenient};
    enum drop drop = (enum drop)ndn_packet_parse_net(ndn->net, ndn->net_len, &opts, ndn);
    if (unlikely(drop != DROP_NONE)) {
        pkt_refuse(fwd, pkt, drop);
        return false;
    }
    ndn_name_hash(&ndn->name, &fwd->shared->name_key);
    return true;
}

/* Read the name, if it was left unread, and hash it. @return false when the packet is refused, and gone */
static inline bool input_read_name(struct fwd *fwd, struct pkt *pkt)
{
    struct ndn_name *name = &pkt->ndn.name;
    if (unlikely(!name->unread)) {
        ndn_name_hash(name, &fwd->shared->name_key);
        return true;
    }
    return likely(ndn_name_read(name, &fwd->shared->name_key)) || input_read_any(fwd, pkt);
}

/*
 * First stage of looking up. Data with a token of this worker's leads to its entry without a hash. When that has the
 * same name, the next stage finds all there is to know of it there.
 *
 * @return false when the packet is gone
 */
static inline bool input_first(struct fwd *fwd, struct pkt *pkt, bool dispatch)
{
    if (pkt->ndn.name.unread && pkt->ndn.type == NDN_TYPE_DATA) {
        prefetch_token(fwd, pkt);
        if (likely(pkt->has_token)) {
            pkt->look.via = (uint8_t)fwd->worker;
            return true;
        }
    }
    return input_read_name(fwd, pkt) && input_look_up(fwd, pkt, dispatch);
}

/* The name is not what the token says: it is looked up as if there were no token. @return false when it is gone */
static __rte_noinline bool input_second_unread(struct fwd *fwd, struct pkt *pkt)
{
    return input_read_name(fwd, pkt) && input_look_up(fwd, pkt, false);
}

/* Second stage: buckets have arrived, and entries that tokens lead to. @return false when the packet is gone */
static inline bool input_second(struct fwd *fwd, struct pkt *pkt)
{
    if (!input_is_upstream(pkt)) {
        prefetch_interest_entry(fwd, pkt);
        return true;
    }
    if (likely(prefetch_data_entry(fwd, pkt)) || !pkt->ndn.name.unread)
        return true;
    return input_second_unread(fwd, pkt);
}

/* The stages after the first. */
static void input_act(struct fwd *fwd, unsigned n)
{
    struct pkt *pkts = fwd->pkts;
    for (unsigned i = 0; i < n; i++)
        if (unlikely(!input_second(fwd, &pkts[i])))
            pkts[i].ndn.type = 0;
    for (unsigned i = 0; i < n; i++) {
        struct pkt *pkt = &pkts[i];
        if (pkt->ndn.type == NDN_TYPE_DATA)
            ndn_data(fwd, pkt);
        else if (likely(pkt->ndn.type == NDN_TYPE_INTEREST && !input_is_nack(pkt)))
            ndn_interest(fwd, pkt);
        else if (pkt->ndn.type != 0)
            ndn_nack(fwd, pkt);
    }
}

void fwd_input(struct fwd *fwd, const struct port *port, struct rte_mbuf **mbufs, uint16_t n, uint64_t now_ns)
{
    bool dispatch = fwd->shared->dispatch != NULL;
    fwd->now_ns = now_ns;
    fwd->stats.rx_frames += n;
    for (unsigned i = 0; i < INPUT_AHEAD && i < n; i++)
        rte_prefetch0(rte_pktmbuf_mtod(mbufs[i], void *));
    const unsigned each = fwd->shared->default_hop_limit;
    struct input_memo memo = {.face = NULL};
    struct pkt *pkt = fwd->pkts;
    for (unsigned i = 0; i < n; i++) {
        if (i + INPUT_AHEAD < n)
            rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + INPUT_AHEAD], void *));
        enum input_got got = input_frame(fwd, port, mbufs[i], pkt, &memo, each);
        if (unlikely(got == INPUT_GONE))
            continue;
        pkt += input_first(fwd, pkt, dispatch);
        // The next packet in several segments needs the linear buffer, which this one's names point into.
        if (unlikely(got == INPUT_LINEAR)) {
            input_act(fwd, (unsigned)(pkt - fwd->pkts));
            pkt = fwd->pkts;
        }
    }
    input_act(fwd, (unsigned)(pkt - fwd->pkts));
    if (unlikely(fwd->quic != NULL))
        quic_flush(fwd);
    if (dispatch) {
        if (fwd->reliability != NULL)
            reliability_hand_over(fwd);
        dispatch_flush(fwd);
    }
}

void fwd_input_handed_over(struct fwd *fwd, struct rte_mbuf **mbufs, uint16_t n, uint64_t now_ns)
{
    fwd->now_ns = now_ns;
    struct pkt *pkt = fwd->pkts;
    for (unsigned i = 0; i < n; i++) {
        bool linear;
        if (!dispatch_arrive(fwd, mbufs[i], pkt, &linear))
            continue;
        pkt += input_first(fwd, pkt, false);
        if (unlikely(linear)) {
            input_act(fwd, (unsigned)(pkt - fwd->pkts));
            pkt = fwd->pkts;
        }
    }
    input_act(fwd, (unsigned)(pkt - fwd->pkts));
    if (unlikely(fwd->quic != NULL))
        quic_flush(fwd);
    dispatch_flush(fwd);
}
