// SPDX-License-Identifier: Apache-2.0
/* QUIC headers: rules that hold for whatever is accepted, and ngtcp2's decoder where the build has it. */
#include <stdlib.h>
#include <string.h>

#include "parser/quic.h"

#ifdef HAVE_NGTCP2
#include <ngtcp2/ngtcp2.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition)
        abort();
}

static bool inside(const uint8_t *p, size_t size, const uint8_t *part, size_t len)
{
    return part >= p && part <= p + size && len <= (size_t)(p + size - part);
}

static void check(const uint8_t *p, size_t size, const struct quic_opts *opts, const struct quic_header *h)
{
    must(h->first == p[0] && inside(p, size, h->dcid, h->dcid_len));
    must(h->packet_len <= size && h->packet_len > 0);
    if (h->type == QUIC_TYPE_SHORT) {
        must(size >= 21 && (p[0] & 0x80) == 0 && h->version == 0 && h->scid_len == 0 && h->packet_len == size);
        must(h->dcid == p + 1 && h->dcid_len == (opts->short_dcid_len < size - 1 ? opts->short_dcid_len : size - 1));
        return;
    }
    must((p[0] & 0x80) != 0 && inside(p, size, h->scid, h->scid_len));
    must(h->version == ((uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4]));
    must(p[5] == h->dcid_len && h->dcid == p + 6 && h->dcid[h->dcid_len] == h->scid_len);
    must(h->scid == h->dcid + h->dcid_len + 1);
    must((h->version == 0) == (h->type == QUIC_TYPE_VERSION_NEGOTIATION));
    must(!opts->from_client || (h->type != QUIC_TYPE_VERSION_NEGOTIATION && h->type != QUIC_TYPE_RETRY));
    if (h->version != QUIC_VERSION_1 && h->version != QUIC_VERSION_2)
        return;
    must(h->dcid_len <= 20 && h->scid_len <= 20);
    must(!opts->require_fixed_bit || (p[0] & 0x40) != 0);
    must(h->token_len == 0 || inside(p, size, h->token, h->token_len));
    must(!opts->from_client || h->type != QUIC_TYPE_INITIAL || size >= 1200);
}

#ifdef HAVE_NGTCP2
/** Why the parser may refuse what ngtcp2's decoder, which stops behind the connection IDs, accepts. */
static bool explained(const uint8_t *p, size_t size, const struct quic_opts *opts, enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_QUIC_SHORT:
    case VERDICT_QUIC_LEN:
    case VERDICT_QUIC_TYPE:
        // Fields behind the connection IDs, a Version Negotiation list, or a short header packet below 21 octets.
        return (p[0] & 0x80) != 0 || size < 21;
    case VERDICT_QUIC_FIXED_BIT:
        return opts->require_fixed_bit && (p[0] & 0x40) == 0;
    case VERDICT_QUIC_CID_LEN:
        return p[5] > 20 || p[6 + p[5]] > 20;
    case VERDICT_QUIC_VN_RX:
        return opts->from_client && memcmp(p + 1, "\0\0\0\0", 4) == 0;
    case VERDICT_QUIC_DGRAM_SMALL:
        return opts->from_client && size < 1200;
    default:
        return false;
    }
}

static void compare(const uint8_t *p, size_t size, const struct quic_opts *opts, enum verdict verdict,
                    const struct quic_header *h)
{
    ngtcp2_version_cid other;
    if (opts->short_dcid_len > NGTCP2_MAX_CIDLEN)
        return;
    int ret = size > 0 ? ngtcp2_pkt_decode_version_cid(&other, p, size, opts->short_dcid_len) : -1;
    if (ret != 0 && ret != NGTCP2_ERR_VERSION_NEGOTIATION)
        return;
    if (verdict != VERDICT_OK) {
        must(explained(p, size, opts, verdict));
        return;
    }
    must(h->dcid == other.dcid && h->dcid_len == other.dcidlen);
    must(h->version == other.version && h->scid_len == other.scidlen);
    must(h->scid_len == 0 || h->scid == other.scid);
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct quic_opts opts = {
        .require_fixed_bit = (data[0] & 1) != 0, .from_client = (data[0] & 2) != 0, .short_dcid_len = data[1]};
    // Initials have to reach 1200 octets: padding is not something to be mutated towards.
    size_t pad = (data[0] & 4) != 0 && size - 2 < 1200 ? 1200 - (size - 2) : 0;
    size_t len = size - 2 + pad;
    uint8_t *p = malloc(len > 0 ? len : 1);
    if (p == NULL)
        return 0;
    memcpy(p, data + 2, size - 2);
    memset(p + size - 2, 0, pad);
    struct quic_header h = {0};
    enum verdict verdict = quic_parse(p, len, &opts, &h);
    if (verdict == VERDICT_OK)
        check(p, len, &opts, &h);
#ifdef HAVE_NGTCP2
    compare(p, len, &opts, verdict, &h);
#endif
    free(p);
    return 0;
}
