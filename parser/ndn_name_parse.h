// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_NAME_PARSE_H
#define PARSER_NDN_NAME_PARSE_H

#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

/** Largest TLV-TYPE of a name component (NDN packet spec 0.3, section 2). */
#define NDN_COMP_TYPE_MAX 65535

/** Check one component of a Name and step over it. @return as ndn_name_parse() */
static inline enum verdict ndn_name_comp(struct cursor *c, bool lenient, struct tlv *comp)
{
    enum verdict verdict = tlv_read(c, lenient, comp);
    if (verdict != VERDICT_OK)
        return verdict;
    if (comp->type > NDN_COMP_TYPE_MAX && !lenient)
        return VERDICT_NET_INVALID;
    if (comp->type <= NDN_PARAMS_DIGEST && comp->len != NDN_DIGEST_SIZE)
        return VERDICT_NET_INVALID;
    return VERDICT_OK;
}

/**
 * ndn_name_parse() for callers on the hot path, which also learn how many parameters digests the Name has. This is
 * the only parser of Names; ndn_name_parse() is a call of it.
 */
static inline enum verdict ndn_name_parse_inline(const uint8_t *value, size_t len, bool lenient, struct ndn_name *name,
                                                 unsigned *n_params)
{
    if (len > NDN_NAME_MAX)
        return VERDICT_NAME_TOO_LONG;
    unsigned n = 0, params = 0;
    size_t off = 0, digest_end = 0;
    name->end[0] = 0;
    while (off < len) {
        size_t left = len - off;
        if (left >= 2 && value[off] == NDN_GENERIC && value[off + 1] < 0xfd && value[off + 1] <= left - 2) {
            off += 2 + (size_t)value[off + 1];
        } else {
            struct cursor c = cursor_make(value + off, left);
            struct tlv comp;
            enum verdict verdict = ndn_name_comp(&c, lenient, &comp);
            if (verdict != VERDICT_OK)
                return verdict;
            off = (size_t)(c.p - value);
            if (comp.type == NDN_IMPLICIT_DIGEST)
                digest_end = off;
            params += comp.type == NDN_PARAMS_DIGEST;
        }
        n++;
        if (n <= NDN_NAME_DEPTH)
            name->end[n] = (uint16_t)off;
    }
    name->value = value;
    name->len = (uint16_t)len;
    name->n_comps = (uint16_t)n;
    name->depth = (uint8_t)(n < NDN_NAME_DEPTH ? n : NDN_NAME_DEPTH);
    name->has_digest = n > 0 && digest_end == len;
    *n_params = params;
    return VERDICT_OK;
}

#endif
