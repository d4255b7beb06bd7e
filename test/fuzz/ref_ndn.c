// SPDX-License-Identifier: Apache-2.0
#include "test/fuzz/ref_ndn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "test/cases/usual.h"

struct element {
    uint64_t type;
    size_t off, len, end;
};

struct list {
    struct element *e;
    size_t n;
};

struct ref {
    const uint8_t *p;
    bool lenient;
    struct ref_packet *out;
};

static uint64_t number_at(const uint8_t *p, size_t size)
{
    uint64_t v = 0;
    for (size_t i = 0; i < size; i++)
        v = v * 256 + p[i];
    return v;
}

/** A TLV number in [at, to). @return octets it takes, 0 when it is wrong */
static size_t number(const struct ref *r, size_t at, size_t to, uint64_t *v)
{
    if (at >= to)
        return 0;
    size_t size = r->p[at] == 253 ? 2 : r->p[at] == 254 ? 4 : r->p[at] == 255 ? 8 : 0;
    if (size == 0) {
        *v = r->p[at];
        return 1;
    }
    if (to - at < 1 + size)
        return 0;
    *v = number_at(r->p + at + 1, size);
    uint64_t least = size == 2 ? 253 : size == 4 ? 65536 : 4294967296;
    return *v < least && !r->lenient ? 0 : 1 + size;
}

static bool one(const struct ref *r, size_t at, size_t to, struct element *e)
{
    uint64_t len;
    size_t n = number(r, at, to, &e->type);
    if (n == 0 || e->type == 0 || e->type > 4294967295)
        return false;
    size_t m = number(r, at + n, to, &len);
    if (m == 0 || len > to - at - n - m)
        return false;
    e->off = at + n + m;
    e->len = (size_t)len;
    e->end = e->off + e->len;
    return true;
}

/** All elements of [from, to). @return false when they do not come out even */
static bool children(const struct ref *r, size_t from, size_t to, struct list *list)
{
    list->e = NULL;
    list->n = 0;
    for (size_t at = from; at < to; at = list->e[list->n++].end) {
        struct element *more = realloc(list->e, (list->n + 1) * sizeof *more);
        if (more == NULL)
            abort();
        list->e = more;
        if (!one(r, at, to, &list->e[list->n])) {
            free(list->e);
            list->e = NULL;
            return false;
        }
    }
    return true;
}

static bool nni(const struct ref *r, const struct element *e, uint64_t *v)
{
    if (e->len != 1 && e->len != 2 && e->len != 4 && e->len != 8)
        return false;
    *v = number_at(r->p + e->off, e->len);
    return true;
}

static uint32_t at_most(uint64_t v, uint32_t max)
{
    return v > max ? max : (uint32_t)v;
}

static bool critical(uint64_t type)
{
    return type < 32 || type % 2 == 1;
}

static bool name(const struct ref *r, const struct element *e, struct ref_name *n)
{
    struct list comps;
    if (e->len > NDN_NAME_MAX || !children(r, e->off, e->end, &comps))
        return false;
    bool good = true;
    *n = (struct ref_name){.off = e->off, .len = e->len, .n_comps = comps.n};
    for (size_t i = 0; i < comps.n; i++) {
        const struct element *c = &comps.e[i];
        if ((c->type == 1 || c->type == 2) && c->len != 32)
            good = false;
        if (c->type > 65535 && !r->lenient)
            good = false;
        n->n_params += c->type == 2;
        n->has_digest = c->type == 1;
        if (i < NDN_NAME_DEPTH)
            n->end[i + 1] = c->end - e->off;
    }
    free(comps.e);
    return good;
}

static bool add_hint(const struct ref *r, const struct element *e)
{
    struct ref_name n;
    if (!name(r, e, &n))
        return false;
    if (r->out->n_hints < NDN_HINTS_MAX)
        r->out->hint[r->out->n_hints++] = n;
    return true;
}

static bool hints(const struct ref *r, const struct element *e)
{
    struct list all;
    size_t names = 0;
    if (!children(r, e->off, e->end, &all))
        return false;
    bool good = true;
    for (size_t i = 0; i < all.n && good; i++) {
        if (all.e[i].type == 7) {
            names++;
            good = add_hint(r, &all.e[i]);
        } else if (all.e[i].type == 31) {
            struct list inside;
            names++;
            if ((good = children(r, all.e[i].off, all.e[i].end, &inside))) {
                size_t k = 0;
                while (k < inside.n && inside.e[k].type != 7)
                    k++;
                good = k < inside.n && add_hint(r, &inside.e[k]);
                free(inside.e);
            }
        } else {
            good = !critical(all.e[i].type);
        }
    }
    free(all.e);
    return good && (names > 0 || r->lenient);
}

static bool interest(const struct ref *r, const struct list *l)
{
    static const uint64_t order[] = {7, 33, 18, 30, 10, 12, 34, 36};
    struct ref_packet *out = r->out;
    size_t place = 0;
    if (l->n == 0 || l->e[0].type != 7 || !name(r, &l->e[0], &out->name) || out->name.n_comps == 0 ||
        out->name.n_params > 1)
        return false;
    out->lifetime_ms = 4000;
    out->hop_limit = 255;
    out->nonce_off = l->e[0].end - out->net_off;
    for (size_t i = 1; i < l->n; i++) {
        const struct element *e = &l->e[i];
        size_t k = 0;
        while (k < 8 && order[k] != e->type)
            k++;
        if (k == 8 || k <= place) {
            if (critical(e->type))
                return false;
            continue;
        }
        place = k;
        uint64_t v;
        switch (e->type) {
        case 33:
            out->can_be_prefix = true;
            if (e->len != 0)
                return false;
            break;
        case 18:
            out->must_be_fresh = true;
            if (e->len != 0)
                return false;
            break;
        case 30:
            if (!hints(r, e))
                return false;
            break;
        case 10:
            if (e->len != 4)
                return false;
            out->has_nonce = true;
            out->nonce = (uint32_t)number_at(r->p + e->off, 4);
            out->nonce_off = e->off - out->net_off;
            break;
        case 12:
            if (!nni(r, e, &v))
                return false;
            out->lifetime_ms = at_most(v, NDN_LIFETIME_MAX_MS);
            break;
        case 34:
            if (e->len != 1)
                return false;
            out->hop_limit = r->p[e->off];
            out->hop_limit_off = e->off - out->net_off;
            break;
        default:
            break;
        }
        if (place <= 3)
            out->nonce_off = e->end - out->net_off;
    }
    return true;
}

static bool meta(const struct ref *r, const struct element *e)
{
    struct list l;
    if (!children(r, e->off, e->end, &l))
        return false;
    bool good = true;
    uint64_t last = 0;
    for (size_t i = 0; i < l.n; i++) {
        uint64_t type = l.e[i].type, v;
        if (type >= 24 && type <= 26) {
            if (type > last) {
                if (type == 25 && nni(r, &l.e[i], &v))
                    r->out->freshness_ms = at_most(v, NDN_FRESHNESS_MAX_MS);
                else if (type == 25)
                    good = false;
                last = type;
            } else if (!r->lenient) {
                good = false;
            }
        } else if (type >= 128 && type <= 252) {
            last = 26;
        } else if (critical(type) && !r->lenient) {
            good = false;
        }
    }
    free(l.e);
    return good;
}

static bool data(const struct ref *r, const struct list *l)
{
    uint64_t last = 7;
    bool info = false, value = false;
    if (l->n == 0 || l->e[0].type != 7 || !name(r, &l->e[0], &r->out->name))
        return false;
    for (size_t i = 1; i < l->n; i++) {
        const struct element *e = &l->e[i];
        if (e->type < 20 || e->type > 23) {
            if (critical(e->type))
                return false;
            continue;
        }
        if (e->type <= last || (e->type == 20 && !meta(r, e)))
            return false;
        last = e->type;
        info = info || e->type == 22;
        value = value || e->type == 23;
    }
    return info && value;
}

/** The first element of [from, to), and what there may be behind it. */
static bool outermost(const struct ref *r, size_t from, size_t to, bool trailing, struct element *e)
{
    return one(r, from, to, e) && (trailing || e->end == to);
}

static bool network(const struct ref *r, size_t from, const struct element *e)
{
    struct ref_packet *out = r->out;
    struct list l;
    out->type = (int)e->type;
    out->net_off = from;
    out->net_len = e->end - from;
    if ((e->type != 5 && e->type != 6) || out->net_len > NDN_PACKET_MAX)
        return false;
    if (e->type == 6 && (out->has_nack || out->has_next_hop || out->has_non_discovery))
        return false;
    if (e->type == 5 && (out->has_policy || out->announcement_len > 0))
        return false;
    if (out->has_nack && (out->has_next_hop || out->has_non_discovery))
        return false;
    if (!children(r, e->off, e->end, &l))
        return false;
    bool good = e->type == 5 ? interest(r, &l) : data(r, &l);
    free(l.e);
    return good;
}

static bool ignorable(uint64_t type)
{
    return type >= 800 && type <= 959 && type % 4 == 0;
}

static bool nack(const struct ref *r, const struct element *e)
{
    struct list l;
    size_t reasons = 0;
    if (!children(r, e->off, e->end, &l))
        return false;
    bool good = true;
    for (size_t i = 0; i < l.n; i++) {
        if (l.e[i].type == 801)
            good = good && nni(r, &l.e[i], &r->out->nack_reason) && ++reasons == 1;
        else
            good = good && ignorable(l.e[i].type);
    }
    free(l.e);
    r->out->has_nack = true;
    r->out->nack_reason = at_most(r->out->nack_reason, UINT32_MAX);
    return good;
}

static bool policy(const struct ref *r, const struct element *e)
{
    struct list l;
    if (!children(r, e->off, e->end, &l))
        return false;
    bool good = l.n > 0 && l.e[0].type == 821 && nni(r, &l.e[0], &r->out->policy);
    for (size_t i = 1; i < l.n; i++)
        good = good && ignorable(l.e[i].type);
    free(l.e);
    r->out->has_policy = true;
    return good;
}

static bool header_field(const struct ref *r, const struct element *e)
{
    struct ref_packet *out = r->out;
    struct element inside;
    switch (e->type) {
    case 80:
        out->has_fragment = true;
        return e->len > 0;
    case 81:
        out->has_sequence = true;
        return nni(r, e, &out->sequence);
    case 82:
        return nni(r, e, &out->frag_index);
    case 83:
        return nni(r, e, &out->frag_count);
    case 98:
        out->token_off = e->off;
        out->token_len = e->len;
        return e->len >= 1 && e->len <= 32;
    case 800:
        return nack(r, e);
    case 812:
        out->has_incoming = true;
        return nni(r, e, &out->incoming);
    case 816:
        out->has_next_hop = true;
        return nni(r, e, &out->next_hop);
    case 820:
        return policy(r, e);
    case 832:
        out->has_mark = true;
        return nni(r, e, &out->mark);
    case 836:
        // The header in its shortest form, as the views of Acks demand.
        if (e->len != 8 || e->off < 4 || memcmp(r->p + e->off - 4, "\xfd\x03\x44\x08", 4) != 0)
            return false;
        if (out->n_acks < NDN_LP_ACKS_MAX) {
            out->last_ack = number_at(r->p + e->off, 8);
            if (out->n_acks++ == 0)
                out->first_ack = out->last_ack;
        }
        return true;
    case 840:
        out->has_tx_sequence = true;
        return e->len == 8 && nni(r, e, &out->tx_sequence);
    case 844:
        out->has_non_discovery = true;
        return e->len == 0;
    case 848:
        out->announcement_off = e->off;
        out->announcement_len = e->len;
        return outermost(r, e->off, e->end, false, &inside) && inside.type == 6;
    default:
        return ignorable(e->type);
    }
}

static bool link_packet(const struct ref *r, const struct element *e)
{
    struct ref_packet *out = r->out;
    struct list l;
    if (e->len > UINT16_MAX || !children(r, e->off, e->end, &l))
        return false;
    bool good = true;
    out->is_lp = true;
    for (size_t i = 0; i < l.n && good; i++) {
        good = header_field(r, &l.e[i]);
        if (i > 0)
            good =
                good && l.e[i - 1].type != 80 &&
                (l.e[i].type == 80 || l.e[i].type > l.e[i - 1].type || (l.e[i].type == 836 && l.e[i - 1].type == 836));
    }
    struct element fragment = l.n > 0 ? l.e[l.n - 1] : (struct element){0};
    size_t sequence_len = 0;
    for (size_t i = 0; i < l.n; i++)
        sequence_len = l.e[i].type == 81 ? l.e[i].len : sequence_len;
    free(l.e);
    if (!good || out->frag_count == 0 || out->frag_count > NDN_LP_FRAGS_MAX || out->frag_index >= out->frag_count ||
        (out->frag_count > 1 && sequence_len != 8))
        return false;
    if (!out->has_fragment)
        return true;
    if (out->frag_count > 1) {
        out->net_off = fragment.off;
        out->net_len = fragment.len;
        return fragment.len <= NDN_PACKET_MAX;
    }
    struct element net;
    return outermost(r, fragment.off, fragment.end, r->lenient, &net) && network(r, fragment.off, &net);
}

bool ref_ndn_parse(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts, struct ref_packet *ref)
{
    struct ref r = {.p = p, .lenient = opts->lenient, .out = ref};
    struct element e;
    *ref = (struct ref_packet){.frag_count = 1};
    if (!outermost(&r, 0, len, opts->allow_trailing, &e))
        return false;
    return e.type == 100 ? link_packet(&r, &e) : network(&r, 0, &e);
}

/** Comparison that stays on in every build. */
#define MUST(condition)                                                     \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                        \
        }                                                                   \
    } while (0)

static void compare_name(const uint8_t *p, const struct ref_name *ref, const struct ndn_name *n)
{
    MUST(n->value == p + ref->off && n->len == ref->len && n->n_comps == ref->n_comps);
    MUST(n->depth == (ref->n_comps < NDN_NAME_DEPTH ? ref->n_comps : NDN_NAME_DEPTH));
    MUST((n->has_digest != 0) == ref->has_digest);
    for (size_t i = 0; i <= n->depth; i++)
        MUST(n->end[i] == ref->end[i]);
}

/** A field counts only with its bit. */
static bool same_field(const struct ndn_lp *lp, unsigned bit, uint64_t value, bool ref_has, uint64_t ref)
{
    bool has = (lp->has & bit) != 0;
    return has == ref_has && (!has || value == ref);
}

static void compare_lp(const uint8_t *p, const struct ref_packet *ref, const struct ndn_lp *lp)
{
    MUST(((lp->has & LP_HAS_HEADER) != 0) == ref->is_lp);
    MUST(same_field(lp, LP_HAS_SEQUENCE, lp->sequence, ref->has_sequence, ref->sequence));
    MUST(((lp->has & LP_HAS_FRAGMENT) != 0) == ref->has_fragment);
    MUST(((lp->has & LP_HAS_NACK) != 0) == ref->has_nack && lp->nack_reason == ref->nack_reason);
    MUST(same_field(lp, LP_HAS_NEXT_HOP_FACE, lp->next_hop_face, ref->has_next_hop, ref->next_hop));
    MUST(same_field(lp, LP_HAS_INCOMING_FACE, lp->incoming_face, ref->has_incoming, ref->incoming));
    MUST(same_field(lp, LP_HAS_CACHE_POLICY, lp->cache_policy, ref->has_policy, ref->policy));
    MUST(same_field(lp, LP_HAS_CONGESTION_MARK, lp->congestion_mark, ref->has_mark, ref->mark));
    MUST(same_field(lp, LP_HAS_TX_SEQUENCE, lp->tx_sequence, ref->has_tx_sequence, ref->tx_sequence));
    MUST(((lp->has & LP_HAS_NON_DISCOVERY) != 0) == ref->has_non_discovery);
    MUST(same_field(lp, LP_HAS_PREFIX_ANNOUNCEMENT, lp->announcement_len, ref->announcement_len > 0,
                    ref->announcement_len));
    MUST(ref->announcement_len == 0 || lp->announcement == p + ref->announcement_off);
    MUST(lp->token_len == ref->token_len && (ref->token_len == 0 || lp->token == p + ref->token_off));
    MUST(lp->frag_index == ref->frag_index && lp->frag_count == ref->frag_count);
    MUST(lp->n_acks == ref->n_acks);
    if (ref->n_acks > 0)
        MUST(ndn_lp_ack(lp, 0) == ref->first_ack && ndn_lp_ack(lp, lp->n_acks - 1u) == ref->last_ack);
}

static void compare_interest(const uint8_t *net, const struct ref_packet *ref, const struct ndn_interest *i)
{
    MUST(i->can_be_prefix == ref->can_be_prefix && i->must_be_fresh == ref->must_be_fresh);
    MUST(i->has_nonce == ref->has_nonce && i->nonce == ref->nonce && i->nonce_off == ref->nonce_off);
    MUST(i->lifetime_ms == ref->lifetime_ms);
    MUST(i->hop_limit == ref->hop_limit && i->hop_limit_off == ref->hop_limit_off);
    MUST(i->n_hints == ref->n_hints);
    for (size_t k = 0; k < ref->n_hints; k++) {
        struct ndn_name hint;
        MUST(i->hint[k].off == ref->hint[k].off - ref->net_off && i->hint[k].len == ref->hint[k].len);
        MUST(ndn_name_parse(net + i->hint[k].off, i->hint[k].len, true, &hint) == VERDICT_OK);
    }
}

bool ref_ndn_compare(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts, struct ndn_packet *pkt)
{
    struct ref_packet ref;
    static bool chosen;
    if (!chosen)
        ndn_name_hash_init();
    chosen = true;
    const char *differs = usual_differs(p, len, opts);
    if (differs != NULL)
        fprintf(stderr, "usual shape: %s\n", differs);
    MUST(differs == NULL);
    enum verdict verdict = ndn_packet_parse(p, len, opts, pkt);
    bool accepted = ref_ndn_parse(p, len, opts, &ref);
    if (accepted != (verdict == VERDICT_OK))
        fprintf(stderr, "parser says %s\n", verdict_name(verdict));
    MUST(accepted == (verdict == VERDICT_OK));
    if (!accepted)
        return false;
    MUST(pkt->type == ref.type);
    compare_lp(p, &ref, &pkt->lp);
    if (ref.is_lp && !ref.has_fragment)
        return true;
    MUST(pkt->net == p + ref.net_off && pkt->net_len == ref.net_len);
    if (pkt->type == 0)
        return true;
    compare_name(p, &ref.name, &pkt->name);
    if (pkt->type == NDN_TYPE_INTEREST)
        compare_interest(pkt->net, &ref, &pkt->interest);
    else
        MUST(pkt->data.freshness_ms == ref.freshness_ms);
    return true;
}

static void check_same_name(const struct ndn_name *a, const struct ndn_name *b)
{
    static const struct ndn_name_key key = {.octets = {1, 2, 3}};
    struct ndn_name x = *a, y = *b;
    MUST(x.len == y.len && x.n_comps == y.n_comps && x.depth == y.depth && x.has_digest == y.has_digest);
    MUST(memcmp(x.value, y.value, x.len) == 0);
    ndn_name_hash(&x, &key);
    ndn_name_hash(&y, &key);
    MUST(memcmp(x.hash, y.hash, (x.depth + 1u) * sizeof x.hash[0]) == 0 && x.hash_full == y.hash_full);
    MUST(x.n_comps > x.depth || x.hash_full == x.hash[x.depth]);
}

void ref_ndn_check_reencoded(const struct ndn_packet *pkt)
{
    static uint8_t buf[2 * NDN_PACKET_MAX];
    // Lenient, for components keep the form that they came in.
    static const struct ndn_parse_opts opts = {.lenient = true};
    struct ndn_packet again;
    size_t len, signed_off, signed_len;
    if (pkt->type == NDN_TYPE_INTEREST) {
        struct ndn_interest_out out = {
            .name = pkt->name.value,
            .name_len = pkt->name.len,
            .can_be_prefix = pkt->interest.can_be_prefix,
            .must_be_fresh = pkt->interest.must_be_fresh,
            .nonce = pkt->interest.nonce,
            .lifetime_ms = pkt->interest.lifetime_ms,
            .hop_limit = pkt->interest.hop_limit,
        };
        len = ndn_interest_encode(buf, sizeof buf, &out);
        MUST(len > 0 && ndn_interest_encode(buf, len - 1, &out) == 0 && ndn_interest_encode(buf, len, &out) == len);
        MUST(ndn_packet_parse(buf, len, &opts, &again) == VERDICT_OK && again.type == NDN_TYPE_INTEREST);
        const struct ndn_interest *a = &pkt->interest, *b = &again.interest;
        MUST(a->can_be_prefix == b->can_be_prefix && a->must_be_fresh == b->must_be_fresh && a->nonce == b->nonce);
        // Zero lifetime and zero HopLimit mean "leave it out" to the encoder.
        MUST(b->lifetime_ms == (a->lifetime_ms == 0 ? NDN_LIFETIME_DEFAULT_MS : a->lifetime_ms));
        MUST(b->hop_limit == (a->hop_limit == 0 ? UINT8_MAX : a->hop_limit));
    } else {
        struct ndn_data_out out = {
            .name = pkt->name.value, .name_len = pkt->name.len, .freshness_ms = pkt->data.freshness_ms};
        len = ndn_data_encode(buf, sizeof buf, &out, &signed_off, &signed_len);
        MUST(len > 0 && ndn_data_encode(buf, len - 1, &out, NULL, NULL) == 0);
        MUST(signed_off + signed_len + 2 + NDN_DIGEST_SIZE == len);
        MUST(ndn_packet_parse(buf, len, &opts, &again) == VERDICT_OK && again.type == NDN_TYPE_DATA);
        MUST(again.data.freshness_ms == pkt->data.freshness_ms);
    }
    check_same_name(&pkt->name, &again.name);
}
