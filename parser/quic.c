// SPDX-License-Identifier: Apache-2.0
#include "parser/quic.h"

#include "parser/cursor.h"

#define LONG_HEADER_MIN 7
#define CID_MAX         20 /* RFC 9000 17.2, for the versions known here */
#define RETRY_TAG       16

/** As far as the second octet of a Length that follows the longest CIDs of v1 and v2 and an empty token. */
#define SHAPE_MAX (6 + CID_MAX + 1 + CID_MAX + 1 + 2)

/** Type bits of v1 (RFC 9000 17.2) count in the order of the enum; those of v2 (RFC 9369 3.2) are one ahead. */
static inline uint8_t type_of(uint8_t first, uint32_t version)
{
    return (uint8_t)(QUIC_TYPE_INITIAL + (((first >> 4) - (version == QUIC_VERSION_2)) & 3));
}
_Static_assert(QUIC_TYPE_0RTT == QUIC_TYPE_INITIAL + 1 && QUIC_TYPE_HANDSHAKE == QUIC_TYPE_INITIAL + 2 &&
                   QUIC_TYPE_RETRY == QUIC_TYPE_INITIAL + 3,
               "the order of the type bits");

/** RFC 8999, 6: at least one whole version follows the connection IDs. */
static enum verdict parse_version_negotiation(const struct cursor *c, const struct quic_opts *opts)
{
    if (opts->from_client)
        return VERDICT_QUIC_VN_RX;
    return cursor_left(c) > 0 && cursor_left(c) % 4 == 0 ? VERDICT_OK : VERDICT_QUIC_SHORT;
}

/** RFC 9000 17.2.5: everything up to the integrity tag at the end of the datagram is the token, never empty. */
static enum verdict parse_retry(const struct cursor *c, const struct quic_opts *opts, struct cursor *token)
{
    if (opts->from_client)
        return VERDICT_QUIC_TYPE;
    if (cursor_left(c) <= RETRY_TAG)
        return VERDICT_QUIC_SHORT;
    *token = (struct cursor){.p = c->p, .end = c->end - RETRY_TAG};
    return VERDICT_OK;
}

/** RFC 9000 17.2.2: the Token of an Initial, and the size of the datagram that it is in. */
static inline enum verdict parse_initial(struct cursor *c, size_t len, const struct quic_opts *opts,
                                         struct cursor *token)
{
    uint64_t n;
    const uint8_t *p;
    if (opts->from_client && !opts->small_initials && len < QUIC_INITIAL_MIN)
        return VERDICT_QUIC_DGRAM_SMALL;
    if (!cursor_quic_varint(c, &n))
        return VERDICT_QUIC_SHORT;
    if (!cursor_bytes(c, n, &p))
        return VERDICT_QUIC_LEN;
    *token = (struct cursor){.p = p, .end = p + n};
    return VERDICT_OK;
}

static __attribute__((noinline)) enum verdict parse_general(const uint8_t *p, size_t len, const struct quic_opts *opts,
                                                            struct quic_header *header)
{
    if (len < LONG_HEADER_MIN)
        return VERDICT_QUIC_SHORT;
    uint32_t version = load_be32(p + 1);
    bool known = version == QUIC_VERSION_1 || version == QUIC_VERSION_2;
    if (known && opts->require_fixed_bit && (p[0] & QUIC_FIXED_BIT) == 0)
        return VERDICT_QUIC_FIXED_BIT;
    struct cursor c = {.p = p + 6, .end = p + len}, token = {.p = NULL, .end = NULL};
    const uint8_t *dcid, *scid, *payload;
    uint8_t dcid_len = p[5], scid_len;
    if (known && dcid_len > CID_MAX)
        return VERDICT_QUIC_CID_LEN;
    if (!cursor_bytes(&c, dcid_len, &dcid) || !cursor_u8(&c, &scid_len))
        return VERDICT_QUIC_SHORT;
    if (known && scid_len > CID_MAX)
        return VERDICT_QUIC_CID_LEN;
    if (!cursor_bytes(&c, scid_len, &scid))
        return VERDICT_QUIC_SHORT;
    enum verdict verdict = VERDICT_OK;
    uint8_t type = QUIC_TYPE_OTHER_VERSION;
    size_t packet_len = len;
    if (known) {
        type = type_of(p[0], version);
        if (type == QUIC_TYPE_RETRY)
            verdict = parse_retry(&c, opts, &token);
        else if (type == QUIC_TYPE_INITIAL)
            verdict = parse_initial(&c, len, opts, &token);
        if (verdict != VERDICT_OK)
            return verdict;
        if (type != QUIC_TYPE_RETRY) {
            uint64_t n;
            if (!cursor_quic_varint(&c, &n))
                return VERDICT_QUIC_SHORT;
            if (!cursor_bytes(&c, n, &payload))
                return VERDICT_QUIC_LEN;
            packet_len = (size_t)(c.p - p);
        }
    } else if (version == 0) {
        type = QUIC_TYPE_VERSION_NEGOTIATION;
        verdict = parse_version_negotiation(&c, opts);
        if (verdict != VERDICT_OK)
            return verdict;
    }
    header->first = p[0];
    header->type = type;
    header->dcid_len = dcid_len;
    header->scid_len = scid_len;
    header->version = version;
    header->dcid = dcid;
    header->scid = scid;
    header->token = token.p;
    header->token_len = (uint16_t)cursor_left(&token);
    header->packet_len = (uint16_t)packet_len;
    return VERDICT_OK;
}

/** A Length in two octets, which are there at @p at. @return false when it is another, or beyond the datagram */
static inline __attribute__((always_inline)) bool parse_length(const uint8_t *restrict p, size_t len, size_t at,
                                                               struct quic_header *restrict header)
{
    // Shorter forms wrap around to more than longer ones have.
    size_t n = (size_t)load_be16(p + at) - 0x4000;
    at += 2;
    if (n > 0x3fff || n > len - at)
        return false;
    header->packet_len = (uint16_t)(at + n);
    return true;
}

/**
 * Initial, 0-RTT and Handshake as they nearly always are: v1 or v2, a token of less than 64 octets, a Length in two
 * octets, no rule about the fixed bit, and all of it there. One check of the datagram's size stands for those of both
 * CIDs and what follows them. Anything else, good or bad, is for the general parser.
 */
enum verdict quic_parse_long(const uint8_t *restrict p, size_t len, const struct quic_opts *restrict opts,
                             struct quic_header *restrict header)
{
    if (len < SHAPE_MAX)
        return parse_general(p, len, opts, header);
    uint32_t version = load_be32(p + 1);
    size_t dcid_len = p[5];
    uint32_t first = p[0];
    unsigned type_bits = first >> 4;
    if (__builtin_expect(version != QUIC_VERSION_1, 0)) {
        if (version != QUIC_VERSION_2)
            return parse_general(p, len, opts, header);
        type_bits--;
    }
    if (dcid_len > CID_MAX || __builtin_expect(opts->require_fixed_bit, 0))
        return parse_general(p, len, opts, header);
    // Each field is stored once it is known: kept to the end, they would not all fit into registers.
    header->first = (uint8_t)first;
    header->dcid_len = (uint8_t)dcid_len;
    header->version = version;
    header->dcid = p + 6;
    size_t at = 6 + dcid_len, scid_len = p[at++];
    if (scid_len > CID_MAX)
        return parse_general(p, len, opts, header);
    header->scid_len = (uint8_t)scid_len;
    header->scid = p + at;
    at += scid_len;
    type_bits &= 3;
    header->type = (uint8_t)(QUIC_TYPE_INITIAL + type_bits);
    if (type_bits == 0) {
        // From here on the size that clients have to give an Initial stands for that of a short token, too.
        if (len < QUIC_INITIAL_MIN)
            return parse_general(p, len, opts, header);
        size_t token_len = p[at++];
        header->token = p + at;
        header->token_len = (uint16_t)token_len;
        if (token_len >= 0x40)
            return parse_general(p, len, opts, header);
        at += token_len;
        return parse_length(p, len, at, header) ? VERDICT_OK : parse_general(p, len, opts, header);
    }
    header->token = NULL;
    header->token_len = 0;
    if (type_bits == QUIC_TYPE_RETRY - QUIC_TYPE_INITIAL || !parse_length(p, len, at, header))
        return parse_general(p, len, opts, header);
    return VERDICT_OK;
}
