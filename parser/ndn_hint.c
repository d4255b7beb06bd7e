// SPDX-License-Identifier: Apache-2.0
#include "parser/ndn_hint_parse.h"

#include "parser/ndn_name_parse.h"

/** Check a Name inside a ForwardingHint without keeping where its components are. */
static enum verdict check_hint_name(const struct tlv *name, bool lenient)
{
    if (name->len > NDN_NAME_MAX)
        return VERDICT_NAME_TOO_LONG;
    struct cursor c = cursor_make(name->value, name->len);
    while (cursor_left(&c) > 0) {
        struct tlv comp;
        enum verdict verdict = ndn_name_comp(&c, lenient, &comp);
        if (verdict != VERDICT_OK)
            return verdict;
    }
    return VERDICT_OK;
}

/** The Name in a Delegation, the form that a ForwardingHint had before packet format 0.3 was final. */
static enum verdict delegation_name(const struct tlv *delegation, bool lenient, struct tlv *name)
{
    struct cursor c = cursor_make(delegation->value, delegation->len);
    bool found = false;
    while (cursor_left(&c) > 0) {
        struct tlv element;
        enum verdict verdict = tlv_read(&c, lenient, &element);
        if (verdict != VERDICT_OK)
            return verdict;
        if (element.type == NDN_TLV_NAME && !found) {
            *name = element;
            found = true;
        }
    }
    return found ? VERDICT_OK : VERDICT_NET_INVALID;
}

enum verdict ndn_hint_parse(const struct tlv *hints, bool lenient, const uint8_t *net, struct ndn_interest *interest)
{
    struct cursor c = cursor_make(hints->value, hints->len);
    unsigned n = 0;
    while (cursor_left(&c) > 0) {
        struct tlv name;
        enum verdict verdict = tlv_read(&c, lenient, &name);
        if (verdict != VERDICT_OK)
            return verdict;
        if (name.type != NDN_TLV_NAME && name.type != NDN_TLV_DELEGATION) {
            if (tlv_is_critical(name.type))
                return VERDICT_NET_CRITICAL;
            continue;
        }
        if (name.type == NDN_TLV_DELEGATION) {
            struct tlv delegation = name;
            verdict = delegation_name(&delegation, lenient, &name);
            if (verdict != VERDICT_OK)
                return verdict;
        }
        verdict = check_hint_name(&name, lenient);
        if (verdict != VERDICT_OK)
            return verdict;
        if (n < NDN_HINTS_MAX) {
            interest->hint[n] = (struct ndn_hint){.off = (uint16_t)(name.value - net), .len = (uint16_t)name.len};
            interest->n_hints = (uint8_t)(n + 1);
        }
        n++;
    }
    return n > 0 || lenient ? VERDICT_OK : VERDICT_NET_INVALID;
}
