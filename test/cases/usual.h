// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_CASES_USUAL_H
#define TEST_CASES_USUAL_H

#include <string.h>

#include "parser/ndn_packet_usual.h"

/** Do both say the same of the link-layer header? */
static inline bool usual_same_lp(const struct ndn_lp *a, const struct ndn_lp *b)
{
    return a->has == b->has && a->token_len == b->token_len && a->token == b->token && a->n_acks == b->n_acks &&
           a->frag_index == b->frag_index && a->frag_count == b->frag_count && a->nack_reason == b->nack_reason &&
           a->fragment == b->fragment && a->fragment_len == b->fragment_len;
}

/** Do both say the same of the Interest or Data? */
static inline bool usual_same_net(const struct ndn_packet *a, const struct ndn_packet *b)
{
    const struct ndn_interest *i = &a->interest, *j = &b->interest;
    if (a->type != b->type || a->net != b->net || a->net_len != b->net_len)
        return false;
    if (a->type == NDN_TYPE_DATA)
        return a->data.freshness_ms == b->data.freshness_ms;
    return i->can_be_prefix == j->can_be_prefix && i->must_be_fresh == j->must_be_fresh &&
           i->has_nonce == j->has_nonce && i->n_hints == j->n_hints && i->hop_limit == j->hop_limit &&
           i->hop_limit_off == j->hop_limit_off && i->nonce_off == j->nonce_off && i->nonce == j->nonce &&
           i->lifetime_ms == j->lifetime_ms;
}

static inline bool usual_same_name(const struct ndn_name *a, const struct ndn_name *b)
{
    return a->value == b->value && a->len == b->len && a->n_comps == b->n_comps && a->depth == b->depth &&
           a->has_digest == b->has_digest && a->unread == b->unread &&
           memcmp(a->end, b->end, (a->depth + 1u) * sizeof a->end[0]) == 0;
}

/**
 * Compare what the straight line says of a packet, with the Name read and unread, with the general parser.
 *
 * @return NULL, or what differs
 */
static inline const char *usual_differs(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts)
{
    // What nobody writes differs, so that it cannot be equal by chance.
    struct ndn_packet general, at_once, deferred;
    memset(&general, 0x11, sizeof general);
    memset(&at_once, 0x22, sizeof at_once);
    memset(&deferred, 0x33, sizeof deferred);
    enum verdict verdict = ndn_packet_parse_general(p, len, opts, &general);
    if (ndn_usual_parse(p, len, opts->allow_trailing, false, &at_once)) {
        if (verdict != VERDICT_OK)
            return "accepted, but not by the general parser";
        if (!usual_same_lp(&at_once.lp, &general.lp) || !usual_same_net(&at_once, &general) ||
            !usual_same_name(&at_once.name, &general.name))
            return "another packet";
    }
    if (ndn_usual_parse(p, len, opts->allow_trailing, true, &deferred)) {
        static const struct ndn_name_key key = {.octets = {3, 1, 4}};
        struct ndn_name *name = &deferred.name;
        struct ndn_name at_a_stroke = *name;
        enum verdict later = VERDICT_OK;
        if (name->unread)
            later = ndn_packet_parse_net(deferred.net, deferred.net_len, opts, &deferred);
        if (later != verdict)
            return "another verdict on the name";
        if (ndn_name_read(&at_a_stroke, &key)) {
            if (later != VERDICT_OK || !usual_same_name(&at_a_stroke, name))
                return "another name, read at a stroke";
            ndn_name_hash(name, &key);
            if (at_a_stroke.hash_full != name->hash_full ||
                memcmp(at_a_stroke.hash, name->hash, (name->depth + 1u) * sizeof name->hash[0]) != 0)
                return "another hash, read at a stroke";
        }
        if (later == VERDICT_OK && (!usual_same_lp(&deferred.lp, &general.lp) || !usual_same_net(&deferred, &general) ||
                                    !usual_same_name(name, &general.name)))
            return "another packet, with its name read later";
    }
    return NULL;
}

#endif
