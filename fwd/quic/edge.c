// SPDX-License-Identifier: Apache-2.0
/*
 * What a service has answered or refused before a server is looked for, each part only where its configuration says so:
 * Version Negotiation, Initials that are too small or too many, Retry.
 */
#include "fwd/quic/edge_priv.h"

/* Octets of a long header before its Destination Connection ID (RFC 8999 5.1). */
#define BEFORE_DCID 6

uint64_t quic_edge_random(struct quic_edge *edge)
{
    struct flow_key key;
    flow_key_dcid(&key, (const uint8_t *)&edge->random_count, sizeof edge->random_count);
    edge->random_count++;
    return flow_key_hash(&key, &edge->random_key);
}

static bool initial(struct fwd *fwd, const struct quic_pkt *pkt)
{
    const struct quic_service *service = pkt->service;
    if (service->drop_small_initials && pkt->payload_len < QUIC_INITIAL_MIN)
        return quic_edge_drop(fwd, pkt, DROP_QUIC_DGRAM_SMALL);
    if (!quic_limit_take(fwd->quic->edge->limit, service->slot, QUIC_LIMIT_INITIAL, quic_edge_source(pkt), pkt->v6,
                         service->initial_rate, fwd->now_ns))
        return quic_edge_drop(fwd, pkt, DROP_QUIC_LIMITED);
    return service->retry_mode != QUIC_RETRY_OFF && quic_retry(fwd, pkt);
}

bool quic_edge_initial(const struct quic_header *first, size_t len, struct quic_header *initial)
{
    const struct quic_opts opts = {.from_client = true, .small_initials = true};
    const uint8_t *p = first->dcid - BEFORE_DCID;
    size_t at = first->packet_len;
    *initial = *first;
    // Each turn goes on by a whole long header; other versions and short headers reach to the end.
    while (initial->type != QUIC_TYPE_INITIAL || initial->dcid_len != first->dcid_len ||
           memcmp(initial->dcid, first->dcid, first->dcid_len) != 0) {
        if (at >= len || quic_parse(p + at, len - at, &opts, initial) != VERDICT_OK)
            return false;
        at += initial->packet_len;
    }
    return true;
}

bool quic_edge(struct fwd *fwd, struct quic_pkt *pkt)
{
    const struct quic_service *service = pkt->service;
    switch ((enum quic_type)pkt->header.type) {
    case QUIC_TYPE_SHORT:
        return false;
    case QUIC_TYPE_VERSION_NEGOTIATION:
        return quic_edge_drop(fwd, pkt, DROP_QUIC_VN_RX);
    case QUIC_TYPE_RETRY:
        return quic_edge_drop(fwd, pkt, DROP_QUIC_TYPE);
    case QUIC_TYPE_INITIAL:
    case QUIC_TYPE_0RTT:
    case QUIC_TYPE_HANDSHAKE:
    case QUIC_TYPE_OTHER_VERSION:
        break;
    }
    if (service->version_negotiation && !quic_version_offered(service, pkt->header.version))
        return quic_version_negotiate(fwd, pkt);
    if (pkt->header.type == QUIC_TYPE_INITIAL)
        return initial(fwd, pkt);
    if (pkt->header.packet_len == pkt->payload_len)
        return false;
    struct quic_pkt other = *pkt;
    return quic_edge_initial(&pkt->header, pkt->payload_len, &other.header) && initial(fwd, &other);
}
