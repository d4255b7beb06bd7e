// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_LP_PARSE_H
#define PARSER_NDN_LP_PARSE_H

#include "parser/ndn_lp.h"
#include "parser/ndn_tlv.h"

/** No header fields: what a bare network packet has. */
static inline void ndn_lp_clear(struct ndn_lp *lp)
{
    memset(lp, 0, sizeof *lp);
    lp->frag_count = 1;
}

/** The general loop over LpPacket fields from @p c on, the type @p last having been read before (0: none). */
enum verdict ndn_lp_parse_fields(struct cursor *c, uint32_t last, bool lenient, struct ndn_lp *lp);

/**
 * ndn_lp_parse() for callers on the hot path, given the TLV-VALUE of the LpPacket. An 8-octet PitToken and Fragment
 * are taken here; whatever else there is goes through ndn_lp_parse_fields().
 */
static inline enum verdict ndn_lp_parse_value(const uint8_t *value, size_t len, bool lenient, struct ndn_lp *lp)
{
    if (len > UINT16_MAX)
        return VERDICT_PKT_OVERSIZE;
    ndn_lp_clear(lp);
    lp->has = LP_HAS_HEADER;
    struct cursor c = cursor_make(value, len);
    uint32_t last = 0;
    if (len >= 12 && value[0] == NDN_LP_PIT_TOKEN && value[1] == 8) {
        lp->token = value + 2;
        lp->token_len = 8;
        c.p += 10;
        last = NDN_LP_PIT_TOKEN;
        if (c.p[0] == NDN_LP_FRAGMENT) {
            struct tlv fragment;
            struct cursor next = c;
            if (tlv_read(&next, lenient, &fragment) == VERDICT_OK && next.p == c.end && fragment.len > 0) {
                lp->has = LP_HAS_HEADER | LP_HAS_FRAGMENT;
                lp->fragment = fragment.value;
                lp->fragment_len = (uint16_t)fragment.len;
                return VERDICT_OK;
            }
        }
    }
    return ndn_lp_parse_fields(&c, last, lenient, lp);
}

#endif
