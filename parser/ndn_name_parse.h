// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_NAME_PARSE_H
#define PARSER_NDN_NAME_PARSE_H

#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

/** Largest TLV-TYPE of a name component (NDN packet spec 0.3, section 2). */
#define NDN_COMP_TYPE_MAX 65535

/** Check one component of a Name and step over it. @return as ndn_name_parse() */
enum verdict ndn_name_comp(struct cursor *c, bool lenient, struct tlv *comp);

/**
 * Go on with a Name of which @p n components, @p off octets, are read and none of them is a digest.
 * @p n_params: parameters digests in the whole Name.
 */
enum verdict ndn_name_parse_rest(struct ndn_name *name, size_t off, unsigned n, bool lenient, unsigned *n_params);

/**
 * ndn_name_parse() for callers on the hot path, which also learn how many parameters digests the Name has. This is
 * the only parser of Names; ndn_name_parse() is a call of it.
 */
static inline enum verdict ndn_name_parse_inline(const uint8_t *value, size_t len, bool lenient, struct ndn_name *name,
                                                 unsigned *n_params)
{
    if (len > NDN_NAME_MAX)
        return VERDICT_NAME_TOO_LONG;
    name->value = value;
    name->len = (uint16_t)len;
    name->end[0] = 0;
    // Generic components of up to 252 octets: nearly every Name has nothing else.
    unsigned n = 0;
    size_t off = 0;
    while (n < NDN_NAME_DEPTH && len - off >= 2) {
        size_t size = value[off + 1], next = off + 2 + size;
        if (value[off] != NDN_GENERIC || size >= 0xfd || next > len)
            break;
        off = next;
        name->end[++n] = (uint16_t)off;
    }
    if (off != len)
        return ndn_name_parse_rest(name, off, n, lenient, n_params);
    name->n_comps = (uint16_t)n;
    name->depth = (uint8_t)n;
    name->has_digest = 0;
    *n_params = 0;
    return VERDICT_OK;
}

#endif
