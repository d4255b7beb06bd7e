// SPDX-License-Identifier: Apache-2.0
/*
 * Version Negotiation (RFC 8999 section 6, RFC 9000 section 6.1 and 17.2.1): by the invariants alone, whatever the
 * lengths of connection IDs.
 */
#include <string.h>

#include "fwd/quic/edge_priv.h"
#include "parser/cursor.h"

#define CID_MAX      255
#define VERSIONS_MAX (1 + sizeof(((struct quic_service *)0)->version) / 4)
#define PACKET_MAX   (7 + 2 * CID_MAX + 4 * VERSIONS_MAX)
_Static_assert(2 * (PACKET_MAX + 8 + 40) < QUIC_INITIAL_MIN + 8 + 40, "less than half of what asks for it");

bool quic_version_offered(const struct quic_service *service, uint32_t version)
{
    for (unsigned i = 0; i < service->n_versions; i++)
        if (service->version[i] == version)
            return true;
    return false;
}

static uint8_t *put_version(uint8_t *p, uint32_t version)
{
    version = htobe32(version);
    memcpy(p, &version, sizeof version);
    return p + sizeof version;
}

/* A version that is reserved to be offered by nobody (RFC 9000 15), and is not what the client asked for. */
static uint32_t reserved_version(uint64_t random, uint32_t asked)
{
    uint32_t version = ((uint32_t)random & 0xf0f0f0f0) | 0x0a0a0a0a;
    return version != asked ? version : version ^ 0x10101010;
}

static uint8_t *put_cid(uint8_t *p, const uint8_t *cid, uint8_t len)
{
    *p++ = len;
    memcpy(p, cid, len);
    return p + len;
}

static uint16_t write_packet(const struct quic_service *service, const struct quic_header *header, uint64_t random,
                             uint8_t packet[PACKET_MAX])
{
    uint8_t *p = packet;
    *p++ = (uint8_t)(QUIC_LONG_HEADER | QUIC_FIXED_BIT | (random >> 58));
    p = put_version(p, 0);
    p = put_cid(p, header->scid, header->scid_len);
    p = put_cid(p, header->dcid, header->dcid_len);
    // The reserved one stands anywhere among the others, so that nobody gets used to a place.
    unsigned at = (unsigned)(random >> 32 & 0xff) % (service->n_versions + 1u);
    for (unsigned i = 0; i <= service->n_versions; i++) {
        if (i == at)
            p = put_version(p, reserved_version(random, header->version));
        if (i < service->n_versions)
            p = put_version(p, service->version[i]);
    }
    return (uint16_t)(p - packet);
}

bool quic_version_negotiate(struct fwd *fwd, const struct quic_pkt *pkt)
{
    const struct quic_service *service = pkt->service;
    struct quic_edge *edge = fwd->quic->edge;
    // Smaller ones cannot begin a connection; and the answer must be small against what asks for it.
    if (pkt->payload_len < QUIC_INITIAL_MIN)
        return quic_edge_drop(fwd, pkt, DROP_QUIC_DGRAM_SMALL);
    if (!quic_limit_take(edge->limit, service->slot, QUIC_LIMIT_EDGE, quic_edge_source(pkt), pkt->v6,
                         service->edge_rate, fwd->now_ns))
        return quic_edge_drop(fwd, pkt, DROP_QUIC_LIMITED);
    uint8_t packet[PACKET_MAX];
    uint16_t len = write_packet(service, &pkt->header, quic_edge_random(edge), packet);
    fwd->quic->stats.service[service->slot].version_negotiations++;
    quic_answer(fwd, pkt, packet, len, false);
    return true;
}
