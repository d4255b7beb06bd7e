// SPDX-License-Identifier: Apache-2.0
/* NDNLPv2 reliability: what is sent, kept, sent again and given up. */
#include "fwd/reliability_priv.h"

#include <errno.h>
#include <string.h>

#include "fwd/chain.h"
#include "fwd/output_inline.h"

/* Part of all packets kept that one face may have: a peer that is gone must not take the others' room. */
#define REL_FACE_SHARE 4

#define NS_PER_MS UINT64_C(1000000)

int reliability_create(struct reliability **out, const struct reliability_config *config, uint64_t now_ns)
{
    if (config->faces == 0 || config->faces > UINT16_MAX || config->packets < REL_FACE_SHARE)
        return -EINVAL;
    struct reliability *rel = arena_map(sizeof *rel, config->pages);
    if (rel == NULL)
        return -ENOMEM;
    rel->max_mbufs = config->packets;
    if (pool_init(&rel->faces, config->faces, sizeof(struct rel_face), config->pages) != 0 ||
        pool_init(&rel->packets, config->packets, sizeof(struct rel_packet), config->pages) != 0 ||
        wheel_create(&rel->face_wheel, rel->faces.base, rel->faces.elem_size, offsetof(struct rel_face, node),
                     now_ns) != 0 ||
        wheel_create(&rel->packet_wheel, rel->packets.base, rel->packets.elem_size, offsetof(struct rel_packet, node),
                     now_ns) != 0) {
        reliability_destroy(rel);
        return -ENOMEM;
    }
    *out = rel;
    return 0;
}

void reliability_destroy(struct reliability *rel)
{
    if (rel == NULL)
        return;
    for (unsigned i = 0; rel->packets.base != NULL && i < FACE_SLOTS; i++)
        if (rel->slot[i] != 0)
            reliability_face_removed(rel, rel_face_at(rel, rel->slot[i])->id);
    if (rel->packet_wheel != NULL)
        wheel_destroy(rel->packet_wheel);
    if (rel->face_wheel != NULL)
        wheel_destroy(rel->face_wheel);
    if (rel->packets.base != NULL)
        pool_fini(&rel->packets);
    if (rel->faces.base != NULL)
        pool_fini(&rel->faces);
    arena_unmap(rel, sizeof *rel);
}

struct rel_face *rel_face_get(struct fwd *fwd, const struct face *face)
{
    struct reliability *rel = fwd->reliability;
    if (rel == NULL)
        return NULL;
    uint16_t *slot = &rel->slot[face->id % FACE_SLOTS];
    if (likely(*slot != 0)) {
        struct rel_face *state = rel_face_at(rel, *slot);
        if (likely(state->id == face->id))
            return state;
        reliability_face_removed(rel, state->id);
    }
    uint32_t index = pool_get(&rel->faces);
    if (index == POOL_NONE)
        return NULL;
    struct rel_face *state = rel_face_at(rel, index);
    memset(state, 0, sizeof *state);
    state->id = face->id;
    state->rto_ns = RELIABILITY_RTO_MS * NS_PER_MS;
    // A peer that still acknowledges what an earlier life of ours has sent hits nothing.
    state->first_tx = state->next_tx = pkt_random(fwd) & TX_MASK;
    *slot = (uint16_t)index;
    return state;
}

/* The window begins at the oldest packet kept. */
static void rel_window_advance(struct rel_face *state)
{
    while (state->first_tx != state->next_tx && state->window[state->first_tx % RELIABILITY_WINDOW] == POOL_NONE)
        state->first_tx = (state->first_tx + 1) & TX_MASK;
}

static bool rel_window_full(const struct rel_face *state)
{
    return ((state->next_tx - state->first_tx) & TX_MASK) >= RELIABILITY_WINDOW;
}

/* Give a packet the next TxSequence. The window is not full. */
static void rel_window_put(struct rel_face *state, uint32_t index, struct rel_packet *packet)
{
    packet->tx = state->next_tx;
    state->window[packet->tx % RELIABILITY_WINDOW] = index;
    state->next_tx = (state->next_tx + 1) & TX_MASK;
}

static void rel_window_take(struct rel_face *state, const struct rel_packet *packet)
{
    state->window[packet->tx % RELIABILITY_WINDOW] = POOL_NONE;
    rel_window_advance(state);
}

void rel_packet_free(struct reliability *rel, uint32_t index)
{
    struct rel_packet *packet = rel_packet_at(rel, index);
    struct rel_face *state = rel_face_at(rel, packet->face);
    wheel_stop(rel->packet_wheel, &packet->node);
    rel_packet_at(rel, packet->prev)->next = packet->next;
    rel_packet_at(rel, packet->next)->prev = packet->prev;
    rel_window_take(state, packet);
    state->n_packets--;
    if (packet->mbuf != NULL) {
        rel->n_mbufs -= packet->mbuf->nb_segs;
        rte_pktmbuf_free(packet->mbuf);
    }
    pool_put(&rel->packets, index);
}

void reliability_face_removed(struct reliability *rel, uint32_t face)
{
    if (rel == NULL)
        return;
    uint16_t *slot = &rel->slot[face % FACE_SLOTS];
    struct rel_face *state = *slot != 0 ? rel_face_at(rel, *slot) : NULL;
    if (state == NULL || state->id != face)
        return;
    while (state->first_tx != state->next_tx)
        rel_packet_free(rel, state->window[state->first_tx % RELIABILITY_WINDOW]);
    wheel_stop(rel->face_wheel, &state->node);
    pool_put(&rel->faces, *slot);
    *slot = 0;
}

static uint32_t rel_rto_tick(const struct fwd *fwd, const struct rel_face *state)
{
    return wheel_tick(fwd->now_ns + state->rto_ns + (1u << WHEEL_TICK_SHIFT) - 1);
}

bool reliability_begin(struct fwd *fwd, const struct face *face, struct reliability_send *send, uint64_t *tx_sequence)
{
    struct reliability *rel = fwd->reliability;
    struct rel_face *state = rel_face_get(fwd, face);
    // There are as many packets as buffers: one is free when a buffer may be kept.
    send->kept = state != NULL && rel->n_mbufs < rel->max_mbufs && state->n_packets < rel->max_mbufs / REL_FACE_SHARE &&
                 !rel_window_full(state);
    if (!send->kept) {
        fwd->stats.lp_unreliable++;
        return false;
    }
    send->face = rel->slot[face->id % FACE_SLOTS];
    send->packet = pool_get(&rel->packets);
    struct rel_packet *packet = rel_packet_at(rel, send->packet);
    *packet = (struct rel_packet){.face = send->face, .prev = send->packet, .next = send->packet};
    rel_window_put(state, send->packet, packet);
    state->n_packets++;
    *tx_sequence = packet->tx | (uint64_t)fwd->worker << TX_SHIFT;
    return true;
}

/* Take up to @p n Acks off the queue. @return how many */
static uint8_t rel_acks_take(struct rel_face *state, uint64_t *acks, uint32_t n)
{
    n = RTE_MIN(n, (uint32_t)state->n_acks);
    memcpy(acks, state->acks, n * sizeof *acks);
    state->n_acks = (uint8_t)(state->n_acks - n);
    memmove(state->acks, state->acks + n, state->n_acks * sizeof *acks);
    return (uint8_t)n;
}

void reliability_ride(struct fwd *fwd, struct ndn_lp_out *lp, struct reliability_send *send, uint32_t room)
{
    if (!send->kept)
        return;
    lp->acks = send->acks;
    lp->n_acks = rel_acks_take(rel_face_at(fwd->reliability, send->face), send->acks, room / NDN_LP_ACK_SIZE);
}

void reliability_keep(struct fwd *fwd, struct reliability_send *send, struct rte_mbuf *mbuf, uint16_t lp_off,
                      uint32_t lp_len, uint32_t behind, const uint8_t *token)
{
    if (!send->kept)
        return;
    struct reliability *rel = fwd->reliability;
    struct rel_packet *packet = rel_packet_at(rel, send->packet);
    packet->mbuf = mbuf;
    packet->sent_ns = fwd->now_ns;
    packet->lp_off = lp_off;
    packet->lp_len = lp_len;
    packet->tx_off = (uint16_t)(lp_len - behind - 8);
    packet->is_interest = token != NULL;
    if (token != NULL)
        memcpy(&packet->token, token, sizeof packet->token);
    if (send->sibling != POOL_NONE) {
        struct rel_packet *before = rel_packet_at(rel, send->sibling);
        packet->prev = send->sibling;
        packet->next = before->next;
        rel_packet_at(rel, before->next)->prev = send->packet;
        before->next = send->packet;
    }
    send->sibling = send->packet;
    rte_pktmbuf_refcnt_update(mbuf, 1);
    rel->n_mbufs += mbuf->nb_segs;
    wheel_arm(rel->packet_wheel, send->packet, rel_rto_tick(fwd, rel_face_at(rel, send->face)));
}

/* The link gave an Interest up: its upstream will not answer, so that the next retransmission is free to go elsewhere.
 */
static void rel_tell_pit(struct fwd *fwd, const struct rel_packet *packet)
{
    struct token token;
    if (!token_read((const uint8_t *)&packet->token, TOKEN_SIZE, fwd->shared->token_key, &token))
        return;
    struct pit_entry *entry = pit_at(fwd->pit, token.slot, token.generation);
    uint32_t face = rel_face_at(fwd->reliability, packet->face)->id;
    struct pit_out *out = entry != NULL ? pit_out_find(fwd->pit, entry, face) : NULL;
    if (out != NULL)
        out->expiry = wheel_tick(fwd->now_ns) - 1;
}

/* Too many retries: the network packet is gone, and its other fragments with it. */
static void rel_packet_give_up(struct fwd *fwd, uint32_t index)
{
    struct reliability *rel = fwd->reliability;
    struct rel_packet *packet = rel_packet_at(rel, index);
    fwd->stats.lp_given_up++;
    if (packet->is_interest)
        rel_tell_pit(fwd, packet);
    while (packet->next != index)
        rel_packet_free(rel, packet->next);
    rel_packet_free(rel, index);
}

/* The frame anew, under its present TxSequence. */
static void rel_packet_send(struct fwd *fwd, const struct face *face, const struct rel_packet *packet)
{
    if (atomic_load_explicit(&face->down, memory_order_relaxed) != 0)
        return;
    struct rte_mbuf *copy = chain_copy(fwd->pool, packet->mbuf, packet->lp_off, packet->lp_len, face->hdr_len);
    if (copy != NULL && copy->nb_segs > 1 && !fwd->shared->port[face->port]->tx_multi_seg) {
        rte_pktmbuf_free(copy);
        copy = NULL;
    }
    if (copy == NULL)
        return;
    uint64_t tx = packet->tx | (uint64_t)fwd->worker << TX_SHIFT;
    for (unsigned i = 0; i < sizeof tx; i++)
        chain_write_octet(copy, packet->tx_off + i, (uint8_t)(tx >> (56 - 8 * i)));
    fwd->stats.originated++;
    fwd->stats.lp_retransmitted++;
    output_link(fwd, face, copy);
}

void rel_packet_lost(struct fwd *fwd, uint32_t index)
{
    struct reliability *rel = fwd->reliability;
    struct rel_packet *packet = rel_packet_at(rel, index);
    struct rel_face *state = rel_face_at(rel, packet->face);
    const struct face *face = face_get(fwd->shared->faces, state->id);
    if (face == NULL || !(face->flags & FACE_RELIABILITY) || packet->retries >= RELIABILITY_RETRIES) {
        rel_packet_give_up(fwd, index);
        return;
    }
    packet->retries++;
    packet->later_acks = 0;
    // In a full window it keeps the TxSequence it has, unless it makes room by itself.
    if (!rel_window_full(state) || packet->tx == state->first_tx) {
        rel_window_take(state, packet);
        rel_window_put(state, index, packet);
    }
    wheel_arm(rel->packet_wheel, index, rel_rto_tick(fwd, state));
    rel_packet_send(fwd, face, packet);
}

static void rel_fire_packet(void *ctx, uint32_t index)
{
    rel_packet_lost(ctx, index);
}

void rel_acks_send(struct fwd *fwd, const struct face *face, struct rel_face *state)
{
    uint64_t acks[NDN_LP_ACKS_MAX];
    while (state->n_acks > 0) {
        struct rte_mbuf *mbuf = rte_pktmbuf_alloc(fwd->pool);
        if (mbuf == NULL) {
            // The peer will repeat what it misses an Ack for.
            state->n_acks = 0;
            return;
        }
        uint32_t room = RTE_MIN((uint32_t)face->mtu, (uint32_t)rte_pktmbuf_data_room_size(fwd->pool) - FACE_HDR_MAX);
        struct ndn_lp_out lp = {.acks = acks};
        lp.n_acks = rel_acks_take(state, acks, (room - 4) / NDN_LP_ACK_SIZE);
        mbuf->data_off = (uint16_t)(FACE_HDR_MAX + ndn_lp_prepend_size(0, &lp));
        uint16_t n = (uint16_t)ndn_lp_prepend(rte_pktmbuf_mtod(mbuf, uint8_t *), 0, &lp);
        mbuf->data_off = (uint16_t)(mbuf->data_off - n);
        mbuf->data_len = n;
        mbuf->pkt_len = n;
        fwd->stats.originated++;
        output_link(fwd, face, mbuf);
    }
}

static void rel_fire_face(void *ctx, uint32_t index)
{
    struct fwd *fwd = ctx;
    struct rel_face *state = rel_face_at(fwd->reliability, index);
    const struct face *face = face_get(fwd->shared->faces, state->id);
    if (face == NULL || !(face->flags & FACE_RELIABILITY) ||
        atomic_load_explicit(&face->down, memory_order_relaxed) != 0)
        state->n_acks = 0;
    else
        rel_acks_send(fwd, face, state);
}

void reliability_poll(struct fwd *fwd, uint64_t now_ns, uint32_t max)
{
    struct reliability *rel = fwd->reliability;
    wheel_poll(rel->packet_wheel, now_ns, max, rel_fire_packet, fwd);
    wheel_poll(rel->face_wheel, now_ns, max, rel_fire_face, fwd);
}

uint64_t reliability_next_ns(const struct reliability *rel, uint64_t now_ns)
{
    uint64_t packets = wheel_next_ns(rel->packet_wheel, now_ns), acks = wheel_next_ns(rel->face_wheel, now_ns);
    return RTE_MIN(packets, acks);
}

void reliability_stats(const struct reliability *rel, struct reliability_stats *stats)
{
    *stats = (struct reliability_stats){.n_faces = rel->faces.n_used, .n_packets = rel->packets.n_used};
}

/* Every packet of a face's window. @return their number, UINT32_MAX when something is wrong */
static uint32_t rel_face_check(const struct reliability *rel, uint32_t index, uint32_t *n_mbufs)
{
    const struct rel_face *state = rel_face_at(rel, index);
    uint32_t n = 0;
    uint64_t span = (state->next_tx - state->first_tx) & TX_MASK;
    if (span > RELIABILITY_WINDOW || (span > 0 && state->window[state->first_tx % RELIABILITY_WINDOW] == POOL_NONE))
        return UINT32_MAX;
    for (uint64_t i = 0; i < span; i++) {
        uint64_t tx = (state->first_tx + i) & TX_MASK;
        uint32_t at = state->window[tx % RELIABILITY_WINDOW];
        if (at == POOL_NONE)
            continue;
        const struct rel_packet *packet = rel_packet_at(rel, at);
        if (packet->tx != tx || packet->face != index || packet->mbuf == NULL || packet->node.slot == 0 ||
            packet->retries > RELIABILITY_RETRIES || rel_packet_at(rel, packet->next)->prev != at ||
            rel_packet_at(rel, packet->prev)->next != at)
            return UINT32_MAX;
        *n_mbufs += packet->mbuf->nb_segs;
        n++;
    }
    return n == state->n_packets ? n : UINT32_MAX;
}

int reliability_check(const struct reliability *rel)
{
    uint32_t n_packets = 0, n_faces = 0, n_mbufs = 0;
    for (uint32_t i = 1; i < rel->faces.n_fresh; i++) {
        const struct rel_face *state = rel_face_at(rel, i);
        if (rel->slot[state->id % FACE_SLOTS] != i)
            continue;
        uint32_t n = rel_face_check(rel, i, &n_mbufs);
        // Acks that wait have a timer.
        if (n == UINT32_MAX || (state->n_acks > 0 && state->node.slot == 0))
            return -EINVAL;
        n_packets += n;
        n_faces++;
    }
    return n_packets == rel->packets.n_used && n_faces == rel->faces.n_used && n_mbufs == rel->n_mbufs &&
                   rel->packet_wheel->n_armed == n_packets && wheel_check(rel->packet_wheel) == 0 &&
                   wheel_check(rel->face_wheel) == 0
               ? 0
               : -EINVAL;
}
