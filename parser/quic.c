// SPDX-License-Identifier: Apache-2.0
#include "parser/quic.h"

#include "parser/cursor.h"

#define LONG_HEADER          0x80
#define FIXED_BIT            0x40
#define LONG_HEADER_MIN      7
#define SHORT_PACKET_MIN     21 /* RFC 9000 10.3: below, nobody can remove header protection */
#define CID_MAX              20 /* RFC 9000 17.2, for the versions known here */
#define RETRY_TAG            16
#define INITIAL_DATAGRAM_MIN 1200 /* RFC 9000 14.1 */

/** Type bits of v1 (RFC 9000 17.2) and v2 (RFC 9369 3.2). */
static const uint8_t types_v1[4] = {QUIC_TYPE_INITIAL, QUIC_TYPE_0RTT, QUIC_TYPE_HANDSHAKE, QUIC_TYPE_RETRY};
static const uint8_t types_v2[4] = {QUIC_TYPE_RETRY, QUIC_TYPE_INITIAL, QUIC_TYPE_0RTT, QUIC_TYPE_HANDSHAKE};

static enum verdict parse_short(const uint8_t *p, size_t len, const struct quic_opts *opts, struct quic_header *header)
{
    if (len < SHORT_PACKET_MIN)
        return VERDICT_QUIC_SHORT;
    if (opts->require_fixed_bit && (p[0] & FIXED_BIT) == 0)
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
    if (opts->from_client && len < INITIAL_DATAGRAM_MIN)
        return VERDICT_QUIC_DGRAM_SMALL;
    if (!cursor_quic_varint(c, &n))
        return VERDICT_QUIC_SHORT;
    if (!cursor_bytes(c, n, &p))
        return VERDICT_QUIC_LEN;
    *token = (struct cursor){.p = p, .end = p + n};
    return VERDICT_OK;
}

static __attribute__((noinline)) enum verdict parse_long(const uint8_t *p, size_t len, const struct quic_opts *opts,
                                                         struct quic_header *header)
{
    if (len < LONG_HEADER_MIN)
        return VERDICT_QUIC_SHORT;
    uint32_t version = load_be32(p + 1);
    bool known = version == QUIC_VERSION_1 || version == QUIC_VERSION_2;
    if (known && opts->require_fixed_bit && (p[0] & FIXED_BIT) == 0)
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
        type = (version == QUIC_VERSION_1 ? types_v1 : types_v2)[p[0] >> 4 & 3];
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

enum verdict quic_parse(const uint8_t *p, size_t len, const struct quic_opts *opts, struct quic_header *header)
{
    if (len == 0)
        return VERDICT_QUIC_SHORT;
    if (len > UINT16_MAX)
        return VERDICT_QUIC_LEN;
    return (p[0] & LONG_HEADER) != 0 ? parse_long(p, len, opts, header) : parse_short(p, len, opts, header);
}
