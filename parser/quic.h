// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_QUIC_H
#define PARSER_QUIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/verdict.h"

#define QUIC_VERSION_1 0x00000001u
#define QUIC_VERSION_2 0x6b3343cfu

#define QUIC_LONG_HEADER 0x80 /* bits of the first octet */
#define QUIC_FIXED_BIT   0x40
#define QUIC_SHORT_MIN   21 /* RFC 9000 10.3: nobody can remove header protection from fewer octets */

#define QUIC_CLIENT_CID_MIN 8    /* RFC 9000 7.2: octets of a DCID that a client begins a connection with */
#define QUIC_INITIAL_MIN    1200 /* RFC 9000 14.1: octets of a datagram with an Initial from a client */

/** Long-header packet types, independent of the version's encoding (RFC 9000 17.2, RFC 9369 3.2). */
enum quic_type {
    QUIC_TYPE_SHORT = 0,
    QUIC_TYPE_INITIAL,
    QUIC_TYPE_0RTT,
    QUIC_TYPE_HANDSHAKE,
    QUIC_TYPE_RETRY,
    QUIC_TYPE_VERSION_NEGOTIATION,
    QUIC_TYPE_OTHER_VERSION, /**< only the invariants (RFC 8999) are known */
};

/** View of the first QUIC packet of a datagram. Pointers go into the datagram. */
struct quic_header {
    uint8_t first;    /**< first octet as received; protected bits are never interpreted */
    uint8_t type;     /**< enum quic_type */
    uint8_t dcid_len; /**< 0..255; of a short header: the caller's expectation, as far as the datagram reaches */
    uint8_t scid_len;
    uint32_t version; /**< 0 for a short header */
    const uint8_t *dcid;
    const uint8_t *scid;
    const uint8_t *token; /**< Initial: Token field; Retry: Retry Token */
    uint16_t token_len;
    uint16_t packet_len; /**< octets of this packet; of short headers and other versions: the whole datagram */
};

struct quic_opts {
    bool require_fixed_bit; /**< refuse first octets with 0x40 clear (RFC 9287 lets peers clear it) */
    bool small_initials;    /**< from_client: Initials in datagrams below 1200 octets are taken nevertheless */
    bool from_client;       /**< server side: refuse Version Negotiation, Retry and undersized Initials */
    uint8_t short_dcid_len; /**< octets taken as the DCID of a short header, when the datagram has them */
};

/** quic_parse() for a first octet with QUIC_LONG_HEADER, and up to UINT16_MAX octets. */
enum verdict quic_parse_long(const uint8_t *p, size_t len, const struct quic_opts *opts, struct quic_header *header);

/**
 * Parse the first QUIC packet of a datagram: invariants (RFC 8999), and for v1 and v2 the long-header fields up to
 * the Length (RFC 9000 17.2, RFC 9369). Coalesced packets after it are not looked at. In line for short headers, which
 * nearly all datagrams have.
 *
 * @return VERDICT_OK and *header filled; else the reason, *header undefined
 */
static inline __attribute__((always_inline)) enum verdict
quic_parse(const uint8_t *p, size_t len, const struct quic_opts *opts, struct quic_header *header)
{
    // None, or too many for a datagram.
    if (__builtin_expect(len - 1 >= UINT16_MAX, 0))
        return len == 0 ? VERDICT_QUIC_SHORT : VERDICT_QUIC_LEN;
    if ((p[0] & QUIC_LONG_HEADER) != 0)
        return quic_parse_long(p, len, opts, header);
    if (__builtin_expect(len < QUIC_SHORT_MIN, 0))
        return VERDICT_QUIC_SHORT;
    if (__builtin_expect(opts->require_fixed_bit, 0) && (p[0] & QUIC_FIXED_BIT) == 0)
        return VERDICT_QUIC_FIXED_BIT;
    size_t dcid_len = opts->short_dcid_len < len - 1 ? opts->short_dcid_len : len - 1;
    header->first = p[0];
    header->type = QUIC_TYPE_SHORT;
    header->dcid_len = (uint8_t)dcid_len;
    header->scid_len = 0;
    header->version = 0;
    header->dcid = p + 1;
    header->scid = NULL;
    header->token = NULL;
    header->token_len = 0;
    header->packet_len = (uint16_t)len;
    return VERDICT_OK;
}

#endif
