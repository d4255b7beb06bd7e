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
    *header = (struct quic_header){
        .first = p[0],
        .type = QUIC_TYPE_SHORT,
        .dcid = p + 1,
        .dcid_len = (uint8_t)dcid_len,
        .packet_len = (uint16_t)len,
    };
    return VERDICT_OK;
}

/** RFC 8999, 6: at least one whole version follows the connection IDs. */
static enum verdict parse_version_negotiation(const struct cursor *c, const struct quic_opts *opts,
                                              struct quic_header *header)
{
    if (opts->from_client)
        return VERDICT_QUIC_VN_RX;
    if (cursor_left(c) == 0 || cursor_left(c) % 4 != 0)
        return VERDICT_QUIC_SHORT;
    header->type = QUIC_TYPE_VERSION_NEGOTIATION;
    return VERDICT_OK;
}

/** RFC 9000 17.2.5: everything up to the integrity tag at the end of the datagram is the token, never empty. */
static enum verdict parse_retry(const struct cursor *c, const struct quic_opts *opts, struct quic_header *header)
{
    if (opts->from_client)
        return VERDICT_QUIC_TYPE;
    if (cursor_left(c) <= RETRY_TAG)
        return VERDICT_QUIC_SHORT;
    header->token = c->p;
    header->token_len = (uint16_t)(cursor_left(c) - RETRY_TAG);
    return VERDICT_OK;
}

static enum verdict parse_known_version(struct cursor *c, size_t len, const struct quic_opts *opts,
                                        struct quic_header *header)
{
    const uint8_t *start = c->end - len;
    const uint8_t *types = header->version == QUIC_VERSION_1 ? types_v1 : types_v2;
    header->type = types[header->first >> 4 & 3];
    if (header->type == QUIC_TYPE_RETRY)
        return parse_retry(c, opts, header);
    uint64_t n;
    if (header->type == QUIC_TYPE_INITIAL) {
        if (opts->from_client && len < INITIAL_DATAGRAM_MIN)
            return VERDICT_QUIC_DGRAM_SMALL;
        if (!cursor_quic_varint(c, &n))
            return VERDICT_QUIC_SHORT;
        if (!cursor_bytes(c, n, &header->token))
            return VERDICT_QUIC_LEN;
        header->token_len = (uint16_t)n;
    }
    const uint8_t *protected;
    if (!cursor_quic_varint(c, &n))
        return VERDICT_QUIC_SHORT;
    if (!cursor_bytes(c, n, &protected))
        return VERDICT_QUIC_LEN;
    header->packet_len = (uint16_t)(c->p - start);
    return VERDICT_OK;
}

static enum verdict parse_long(const uint8_t *p, size_t len, const struct quic_opts *opts, struct quic_header *header)
{
    if (len < LONG_HEADER_MIN)
        return VERDICT_QUIC_SHORT;
    struct quic_header h = {
        .first = p[0],
        .version = load_be32(p + 1),
        .packet_len = (uint16_t)len,
    };
    bool known = h.version == QUIC_VERSION_1 || h.version == QUIC_VERSION_2;
    struct cursor c = cursor_make(p + 5, len - 5);
    if (known && opts->require_fixed_bit && (p[0] & FIXED_BIT) == 0)
        return VERDICT_QUIC_FIXED_BIT;
    if (known && c.p[0] > CID_MAX)
        return VERDICT_QUIC_CID_LEN;
    if (!cursor_u8(&c, &h.dcid_len) || !cursor_bytes(&c, h.dcid_len, &h.dcid) || !cursor_u8(&c, &h.scid_len))
        return VERDICT_QUIC_SHORT;
    if (known && h.scid_len > CID_MAX)
        return VERDICT_QUIC_CID_LEN;
    if (!cursor_bytes(&c, h.scid_len, &h.scid))
        return VERDICT_QUIC_SHORT;
    enum verdict verdict = VERDICT_OK;
    if (known)
        verdict = parse_known_version(&c, len, opts, &h);
    else if (h.version == 0)
        verdict = parse_version_negotiation(&c, opts, &h);
    else
        h.type = QUIC_TYPE_OTHER_VERSION;
    if (verdict == VERDICT_OK)
        *header = h;
    return verdict;
}

enum verdict quic_parse(const uint8_t *p, size_t len, const struct quic_opts *opts, struct quic_header *header)
{
    if (len == 0)
        return VERDICT_QUIC_SHORT;
    if (len > UINT16_MAX)
        return VERDICT_QUIC_LEN;
    return (p[0] & LONG_HEADER) != 0 ? parse_long(p, len, opts, header) : parse_short(p, len, opts, header);
}
