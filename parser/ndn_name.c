// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_name.h"

#include "parser/ndn_name_parse.h"

enum verdict ndn_name_comp(struct cursor *c, bool lenient, struct tlv *comp)
{
    struct cursor next = *c;
    enum verdict verdict = tlv_read(&next, lenient, comp);
    if (verdict != VERDICT_OK)
        return verdict;
    if (comp->type > NDN_COMP_TYPE_MAX && !lenient)
        return VERDICT_NET_INVALID;
    if (comp->type <= NDN_PARAMS_DIGEST && comp->len != NDN_DIGEST_SIZE)
        return VERDICT_NET_INVALID;
    *c = next;
    return VERDICT_OK;
}

enum verdict ndn_name_parse_rest(struct ndn_name *name, size_t off, unsigned n, bool lenient, unsigned *n_params)
{
    struct cursor c = {.p = name->value + off, .end = name->value + name->len};
    unsigned params = 0;
    bool last_is_digest = false;
    while (cursor_left(&c) > 0) {
        struct tlv comp;
        enum verdict verdict = ndn_name_comp(&c, lenient, &comp);
        if (verdict != VERDICT_OK)
            return verdict;
        last_is_digest = comp.type == NDN_IMPLICIT_DIGEST;
        params += comp.type == NDN_PARAMS_DIGEST;
        n++;
        if (n <= NDN_NAME_DEPTH)
            name->end[n] = (uint16_t)(c.p - name->value);
    }
    name->n_comps = (uint16_t)n;
    name->depth = (uint8_t)(n < NDN_NAME_DEPTH ? n : NDN_NAME_DEPTH);
    name->has_digest = last_is_digest;
    name->unread = false;
    *n_params = params;
    return VERDICT_OK;
}

enum verdict ndn_name_parse(const uint8_t *value, size_t len, bool lenient, struct ndn_name *name)
{
    if (len == 0) {
        // The address of nothing may be NULL, with which no arithmetic is done.
        static const uint8_t nothing;
        value = value != NULL ? value : &nothing;
    }
    unsigned n_params;
    return ndn_name_parse_inline(value, len, lenient, name, &n_params);
}
