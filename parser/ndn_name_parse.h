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
 * The common Name: at most NDN_NAME_DEPTH components, with types and lengths of one octet, none of them a digest.
 * Its length is at most NDN_NAME_MAX; where the components end is filled in as far as this came.
 *
 * @return components and *off == name->len; with another *off: octets of the first so many components, which are
 *         fine, or beyond the Name when they are not
 */
static inline unsigned ndn_name_walk(struct ndn_name *name, size_t *off)
{
    const uint8_t *value = name->value;
    size_t len = name->len, at = 0;
    unsigned n = 0;
    name->end[0] = 0;
    // That a component ends within the Name is seen when the next one is looked for, or by the end of the last.
    while (at + 1 < len) {
        // Type and length at one look: below 253 it is a GenericNameComponent and its length.
        unsigned size = (unsigned)load_be16(value + at) - (NDN_GENERIC << 8);
        if (__builtin_expect(size >= 0xfd, 0)) {
            size = value[at + 1];
            if (value[at] <= NDN_PARAMS_DIGEST || value[at] >= 0xfd || size >= 0xfd)
                break;
        }
        if (n == NDN_NAME_DEPTH)
            break;
        at += 2 + (size_t)size;
        name->end[++n] = (uint16_t)at;
    }
    *off = at;
    return n;
}

/** Write what ndn_name_walk() has found out about a common Name. */
static inline void ndn_name_walked(struct ndn_name *name, unsigned n)
{
    name->n_comps = (uint16_t)n;
    name->depth = (uint8_t)n;
    name->has_digest = false;
    name->unread = false;
}

/** ndn_name_parse() for callers that want to know how many parameters digests the Name has. */
static inline enum verdict ndn_name_parse_inline(const uint8_t *value, size_t len, bool lenient, struct ndn_name *name,
                                                 unsigned *n_params)
{
    if (len > NDN_NAME_MAX)
        return VERDICT_NAME_TOO_LONG;
    name->value = value;
    name->len = (uint16_t)len;
    size_t off;
    unsigned n = ndn_name_walk(name, &off);
    if (off < len)
        return ndn_name_parse_rest(name, off, n, lenient, n_params);
    if (off > len)
        return ndn_name_parse_rest(name, 0, 0, lenient, n_params);
    ndn_name_walked(name, n);
    *n_params = 0;
    return VERDICT_OK;
}

#endif
