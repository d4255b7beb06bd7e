// SPDX-License-Identifier: Apache-2.0
#include "test/load/producer.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "parser/ndn_encode.h"

/** Where a packet begins in a buffer: behind room for its headers. */
#define PACKET_OFF (LINK_HEADER_MAX + NDN_LP_HEADER_MAX)

/* Octets of a packet that one frame carries behind @p head octets of NDNLPv2. */
static unsigned piece_max(const struct producer *producer, size_t head)
{
    unsigned buffer = (unsigned)rte_pktmbuf_data_room_size(producer->pool) - PACKET_OFF;
    unsigned frame = producer->link.payload_max > head ? producer->link.payload_max - (unsigned)head : 0;
    return RTE_MIN(buffer, frame);
}

int producer_create(struct producer *producer, const struct options *options, const struct device *device,
                    struct rte_mempool *pool)
{
    *producer = (struct producer){.inject = options->inject,
                                  .token_echo = options->token_echo,
                                  .fragments = options->fragments,
                                  .tx = {.port = device->port},
                                  .pool = pool};
    int rc = link_create(&producer->link, &options->producer, device);
    if (rc == 0)
        rc = shape_create(&producer->shape, options);
    if (rc != 0)
        return rc;
    producer->is_bare = producer->link.kind != LINK_ETHER;
    unsigned len = producer->shape.data_len, piece = piece_max(producer, NDN_LP_HEADER_MAX);
    if (len > piece_max(producer, NDN_LP_TOKEN_HEADER_MAX) && !options->fragments) {
        fprintf(stderr, "pitlane-load: Data of %u octets do not fit the MTU without --fragments\n", len);
        rc = -EMSGSIZE;
    } else if (piece == 0 || len / piece >= NDN_LP_FRAGS_MAX) {
        fprintf(stderr, "pitlane-load: the MTU is too small\n");
        rc = -EMSGSIZE;
    }
    if (rc != 0)
        shape_destroy(&producer->shape);
    else
        producer->frames_each = (uint16_t)(len / piece + 1);
    return rc;
}

void producer_destroy(struct producer *producer)
{
    shape_destroy(&producer->shape);
}

unsigned producer_room(struct producer *producer)
{
    return device_room(&producer->tx) / producer->frames_each;
}

static bool every(uint64_t n, uint32_t nth)
{
    return nth != 0 && n % nth == 0;
}

/* A frame with NDNLPv2 header and packet, or a piece of one. False: no buffer. */
static bool add_frame(struct producer *producer, const struct ndn_lp_out *lp, const uint8_t *packet, size_t len)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(producer->pool);
    if (mbuf == NULL)
        return false;
    uint8_t *at = (uint8_t *)mbuf->buf_addr + PACKET_OFF;
    memcpy(at, packet, len);
    size_t head = 0;
    if (lp->token_len == 8 && !lp->has_sequence && lp->nack_reason == 0)
        head = ndn_lp_prepend_token(at, len, lp->token);
    else if (!ndn_lp_out_empty(lp))
        head = ndn_lp_prepend(at, len, lp);
    uint8_t *frame = link_wrap(&producer->link, at - head, head + len);
    mbuf->data_off = (uint16_t)(frame - (uint8_t *)mbuf->buf_addr);
    mbuf->data_len = (uint16_t)(at + len - frame);
    mbuf->pkt_len = mbuf->data_len;
    device_add(&producer->tx, mbuf);
    producer->tally.frames++;
    return true;
}

static void send_data(struct producer *producer, uint32_t name, struct ndn_lp_out *lp)
{
    uint8_t data[NDN_PACKET_MAX];
    size_t len = producer->shape.data_len, off = 0;
    shape_data(&producer->shape, name, data);
    if (every(producer->tally.interests, producer->inject.corrupt)) {
        data[producer->shape.signature_off] ^= 1;
        producer->tally.spoilt++;
    }
    if (producer->frames_each == 1 || len <= piece_max(producer, ndn_lp_prepend_size(len, lp))) {
        if (add_frame(producer, lp, data, len))
            producer->tally.data++;
        return;
    }
    if (!producer->fragments) {
        producer->tally.oversize++;
        return;
    }
    // Even pieces; fields that are not about fragments go with the first.
    size_t piece = (len + producer->frames_each - 1) / producer->frames_each;
    lp->has_sequence = true;
    lp->frag_count = producer->frames_each;
    for (lp->frag_index = 0; lp->frag_index < lp->frag_count; lp->frag_index++) {
        lp->sequence = producer->sequence++;
        size_t n = len - off < piece ? len - off : piece;
        if (!add_frame(producer, lp, data + off, n))
            return;
        off += n;
        lp->token_len = 0;
    }
    producer->tally.data++;
}

/* An Interest of this run: @p net is all of it. */
static void answer(struct producer *producer, uint32_t name, const uint8_t *token, uint8_t token_len,
                   const uint8_t *net, size_t net_len)
{
    struct tally_producer *tally = &producer->tally;
    tally->interests++;
    tally->tokens += token_len > 0;
    struct ndn_lp_out lp = {0};
    if (producer->token_echo && token_len > 0) {
        lp.token = token;
        lp.token_len = token_len;
    }
    if (every(tally->interests, producer->inject.drop)) {
        tally->dropped++;
    } else if (every(tally->interests, producer->inject.nack)) {
        lp.nack_reason = NDN_NACK_CONGESTION;
        tally->nacks += add_frame(producer, &lp, net, net_len);
    } else {
        send_data(producer, name, &lp);
    }
}

static void take_packet(struct producer *producer, const uint8_t *packet, size_t len)
{
    struct tally_producer *tally = &producer->tally;
    uint32_t name;
    const uint8_t *token, *net;
    size_t whole = shape_quick(&producer->shape, false, packet, len, &name, &token, &net);
    // Behind it there may be padding, but not on every link.
    if (whole == len || (whole > 0 && !producer->is_bare)) {
        answer(producer, name, token, 8, net, producer->shape.interest_len);
        return;
    }
    struct ndn_packet pkt;
    struct ndn_parse_opts opts = {.allow_trailing = !producer->is_bare};
    if (ndn_packet_parse(packet, len, &opts, &pkt) != VERDICT_OK) {
        tally->corrupted++;
        return;
    }
    enum shape_verdict verdict = SHAPE_STRANGE;
    if (pkt.type == NDN_TYPE_INTEREST && (pkt.lp.has & LP_HAS_NACK) == 0)
        verdict = shape_check_interest(&producer->shape, &pkt, &name);
    if (verdict == SHAPE_OK)
        answer(producer, name, pkt.lp.token, pkt.lp.token_len, pkt.net, pkt.net_len);
    else if (verdict == SHAPE_STRANGE)
        tally->unexpected++;
    else
        tally->corrupted++;
}

void producer_receive(struct producer *producer, struct rte_mbuf *mbuf)
{
    uint8_t scratch[NDN_PACKET_MAX + 256];
    const uint8_t *frame = device_octets(mbuf, scratch, sizeof scratch), *packet;
    size_t len;
    if (frame != NULL && link_unwrap(&producer->link, frame, mbuf->pkt_len, &packet, &len) == 0)
        take_packet(producer, packet, len);
    else
        producer->tally.foreign++;
    rte_pktmbuf_free(mbuf);
}

void producer_work(struct producer *producer)
{
    device_send(&producer->tx);
}
