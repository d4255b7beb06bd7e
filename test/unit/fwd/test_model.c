// SPDX-License-Identifier: Apache-2.0
/*
 * A random stream of Interests, Data, Nacks, time and face states, against a model of the pipelines that is small and
 * slow: every frame sent and every counter must be the model's, after every step.
 */
#include "test/unit/fwd/scene.h"

enum { NAMES = 7, ENTRIES = 64, RECORDS = 8, DEAD = 4096, OUTPUTS = 64, FACES = 6 };

static const char *const uris[NAMES] = {"/x", "/x/y", "/x/y/z", "/q", "/m", "/m/1", "/m/1/2"};
static const enum scene_face model_face[FACES] = {A, B, C, D, E, MULTI};

/* Model. Times are ticks of the timer wheel; names are numbers. */

struct model_in {
    unsigned face;
    uint32_t nonce, expiry;
    uint8_t token;
};
struct model_out {
    unsigned face;
    uint32_t nonce, sent, expiry, nack, suppress;
};
struct model_entry {
    bool used, can_be_prefix, must_be_fresh;
    unsigned name, n_in, n_out;
    uint32_t expiry, sent, suppress;
    struct model_in in[RECORDS];
    struct model_out out[RECORDS];
};
struct output {
    uint32_t face, kind, nack, name, nonce, token;
};
static struct model {
    struct model_entry entry[ENTRIES];
    struct {
        unsigned name;
        uint32_t nonce, tick;
    } dead[DEAD];
    unsigned n_dead;
    bool down[FACES];
    struct output output[OUTPUTS];
    unsigned n_output;
    uint64_t drops[DROP_COUNT];
    uint64_t satisfied, unsatisfied;
} m;

static uint32_t now_tick(void)
{
    return wheel_tick(bed->now_ns);
}

static bool is_multicast(unsigned name)
{
    return uris[name][1] == 'm';
}

/* Next hops by rising cost. */
static unsigned routes(unsigned name, const unsigned **out)
{
    static const unsigned all[] = {4, 3, 1}, m_faces[] = {1, 2, 4, 5};
    *out = is_multicast(name) ? m_faces : all;
    return is_multicast(name) ? 4 : 3;
}

static void m_send(unsigned face, uint32_t kind, uint32_t nack, unsigned name, uint32_t nonce, uint32_t token)
{
    if (m.down[face])
        m.drops[DROP_FACE_DOWN]++;
    else
        m.output[m.n_output++] = (struct output){face, kind, nack, name, nonce, token};
}

static bool m_is_dead(unsigned name, uint32_t nonce)
{
    for (unsigned i = 0; i < m.n_dead; i++)
        if (m.dead[i].name == name && m.dead[i].nonce == nonce &&
            now_tick() - m.dead[i].tick <= (UINT64_C(1000000) * DNL_LIFETIME_MS >> WHEEL_TICK_SHIFT) + 1)
            return true;
    return false;
}

static void m_remember(const struct model_entry *entry)
{
    for (unsigned i = 0; i < entry->n_out; i++) {
        unsigned at = m.n_dead % DEAD;
        m.dead[at].name = entry->name;
        m.dead[at].nonce = entry->out[i].nonce;
        m.dead[at].tick = now_tick();
        cr_assert_lt(m.n_dead++, DEAD);
    }
}

static void m_reject(struct model_entry *entry)
{
    m.unsatisfied++;
    m_remember(entry);
    entry->used = false;
}

static struct model_entry *m_find(unsigned name, bool can_be_prefix, bool must_be_fresh)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        if (m.entry[i].used && m.entry[i].name == name && m.entry[i].can_be_prefix == can_be_prefix &&
            m.entry[i].must_be_fresh == must_be_fresh)
            return &m.entry[i];
    return NULL;
}

static struct model_out *m_out(struct model_entry *entry, unsigned face)
{
    for (unsigned i = 0; i < entry->n_out; i++)
        if (entry->out[i].face == face)
            return &entry->out[i];
    return NULL;
}

static struct model_in *m_in(struct model_entry *entry, unsigned face)
{
    for (unsigned i = 0; i < entry->n_in; i++)
        if (entry->in[i].face == face)
            return &entry->in[i];
    return NULL;
}

static bool m_is_duplicate(struct model_entry *entry, unsigned face, uint32_t nonce)
{
    struct model_in *own = m_in(entry, face);
    if (own != NULL && own->nonce == nonce && model_face[face] != MULTI)
        return false;
    for (unsigned i = 0; i < entry->n_in; i++)
        if (entry->in[i].nonce == nonce)
            return true;
    for (unsigned i = 0; i < entry->n_out; i++)
        if (entry->out[i].nonce == nonce)
            return true;
    return false;
}

/* May a retransmission go out now? Renews the interval when it may. */
static bool m_retx(uint32_t sent, uint32_t *interval)
{
    if (*interval == 0)
        *interval = 10;
    if (now_tick() - sent < *interval)
        return false;
    *interval = RTE_MIN(*interval * 2, 239u);
    return true;
}

static void m_loop(unsigned face, unsigned name, uint32_t nonce, uint8_t token, enum drop drop)
{
    m.drops[drop]++;
    if (model_face[face] != MULTI && !is_multicast(name))
        m_send(face, 0, NDN_NACK_DUPLICATE, name, nonce, token);
}

static unsigned m_choose(struct model_entry *entry, unsigned face, unsigned chosen[RECORDS], enum drop *none,
                         bool *suppressed)
{
    const unsigned *hops;
    unsigned n_hops = routes(entry->name, &hops), n = 0;
    bool waiting = false, multicast = is_multicast(entry->name);
    *none = DROP_NO_ROUTE;
    *suppressed = false;
    for (unsigned i = 0; i < entry->n_out; i++)
        waiting |= entry->out[i].nack == 0 && (int32_t)(entry->out[i].expiry - now_tick()) >= 0;
    if (!multicast && !waiting)
        entry->suppress = 0;
    if (!multicast && waiting && !m_retx(entry->sent, &entry->suppress)) {
        *suppressed = true;
        return 0;
    }
    unsigned earliest = UINT_MAX;
    for (unsigned i = 0; i < n_hops; i++) {
        if (m.down[hops[i]] || hops[i] == face) {
            if (*none == DROP_NO_ROUTE)
                *none = m.down[hops[i]] ? DROP_FACE_DOWN : DROP_NO_ROUTE;
            continue;
        }
        struct model_out *out = m_out(entry, hops[i]);
        if (multicast) {
            if (out != NULL && !m_retx(out->sent, &out->suppress))
                *suppressed = true;
            else
                chosen[n++] = hops[i];
        } else if (!waiting || out == NULL || (int32_t)(out->expiry - now_tick()) < 0) {
            chosen[0] = hops[i];
            return 1;
        } else if (earliest == UINT_MAX || out->sent < m_out(entry, earliest)->sent) {
            earliest = hops[i];
        }
    }
    if (earliest != UINT_MAX)
        chosen[n++] = earliest;
    return n;
}

static void m_interest(unsigned face, unsigned name, bool can_be_prefix, bool must_be_fresh, uint32_t nonce,
                       uint32_t lifetime_ms, uint8_t token)
{
    if (m_is_dead(name, nonce)) {
        m_loop(face, name, nonce, token, DROP_LOOP_DEAD_NONCE);
        return;
    }
    struct model_entry *entry = m_find(name, can_be_prefix, must_be_fresh);
    uint32_t expiry = wheel_tick_after_ms(bed->now_ns, lifetime_ms);
    if (entry == NULL) {
        for (entry = m.entry; entry->used; entry++)
            ;
        *entry = (struct model_entry){
            .used = true, .name = name, .can_be_prefix = can_be_prefix, .must_be_fresh = must_be_fresh};
    } else if (m_is_duplicate(entry, face, nonce)) {
        m_loop(face, name, nonce, token, DROP_LOOP_DUP_NONCE);
        return;
    }
    struct model_in *in = m_in(entry, face);
    if (in == NULL)
        in = &entry->in[entry->n_in++];
    *in = (struct model_in){face, nonce, expiry, token};
    entry->expiry = expiry;
    for (unsigned i = 0; i < entry->n_in; i++)
        entry->expiry = RTE_MAX(entry->expiry, entry->in[i].expiry);

    unsigned chosen[RECORDS];
    enum drop none;
    bool suppressed;
    unsigned n = m_choose(entry, face, chosen, &none, &suppressed);
    for (unsigned i = 0; i < n; i++) {
        struct model_out *out = m_out(entry, chosen[i]);
        if (out == NULL) {
            out = &entry->out[entry->n_out++];
            *out = (struct model_out){.face = chosen[i]};
        }
        out->nonce = nonce;
        out->sent = entry->sent = now_tick();
        out->expiry = expiry;
        out->nack = 0;
        m_send(chosen[i], 5, 0, name, nonce, 0);
    }
    if (n > 0)
        return;
    if (suppressed || entry->n_out > 0) {
        m.drops[DROP_AGGREGATED]++;
        return;
    }
    m.drops[none]++;
    if (entry->n_in == 1 && !is_multicast(name)) {
        m_reject(entry);
        if (model_face[face] != MULTI)
            m_send(face, 0, NDN_NACK_NO_ROUTE, name, nonce, token);
    }
}

static bool m_satisfies(const struct model_entry *entry, unsigned name)
{
    size_t len = strlen(uris[entry->name]);
    return entry->name == name ||
           (entry->can_be_prefix && strncmp(uris[entry->name], uris[name], len) == 0 && uris[name][len] == '/');
}

static void m_data(unsigned face, unsigned name)
{
    struct model_in sent[ENTRIES];
    unsigned n_match = 0, n_sent = 0;
    for (unsigned e = 0; e < ENTRIES; e++) {
        struct model_entry *entry = &m.entry[e];
        if (!entry->used || !m_satisfies(entry, name) || m_out(entry, face) == NULL)
            continue;
        n_match++;
        for (unsigned i = 0; i < entry->n_in; i++) {
            const struct model_in *in = &entry->in[i];
            if ((int32_t)(in->expiry - now_tick()) < 0 || in->face == face)
                continue;
            bool again = false;
            for (unsigned s = 0; s < n_sent; s++)
                again |= sent[s].face == in->face && sent[s].token == in->token;
            if (again)
                continue;
            sent[n_sent++] = *in;
            m_send(in->face, 6, 0, name, 0, in->token);
        }
        // No FreshnessPeriod here: the nonces of fresh-only Interests stay known.
        if (entry->must_be_fresh)
            m_remember(entry);
        entry->used = false;
    }
    m.satisfied += n_match;
    if (n_match == 0)
        m.drops[DROP_UNSOLICITED_DATA]++;
    else if (n_sent == 0)
        m.drops[DROP_DATA_UNWANTED]++;
}

static unsigned severity(uint32_t reason)
{
    return reason == NDN_NACK_CONGESTION ? 1 : reason == NDN_NACK_DUPLICATE ? 2 : reason == NDN_NACK_NO_ROUTE ? 3 : 4;
}

static void m_nack_down(const struct model_entry *entry, const struct model_in *in, uint32_t reason)
{
    if (model_face[in->face] != MULTI)
        m_send(in->face, 0, reason, entry->name, in->nonce, in->token);
}

static void m_nack(unsigned face, unsigned name, bool can_be_prefix, bool must_be_fresh, uint32_t nonce,
                   uint32_t reason)
{
    if (model_face[face] == MULTI) {
        m.drops[DROP_NACK_NOT_P2P]++;
        return;
    }
    struct model_entry *entry = m_find(name, can_be_prefix, must_be_fresh);
    struct model_out *out = entry != NULL ? m_out(entry, face) : NULL;
    if (out == NULL || out->nonce != nonce) {
        m.drops[DROP_NACK_NO_MATCH]++;
        return;
    }
    m.drops[DROP_NACK_TAKEN]++;
    out->nack = reason;
    if (is_multicast(name))
        return;
    unsigned n_waiting = 0, waiting = 0;
    uint32_t least = 0;
    for (unsigned i = 0; i < entry->n_out; i++) {
        const struct model_out *o = &entry->out[i];
        if (o->nack == 0 && (int32_t)(o->expiry - now_tick()) >= 0) {
            n_waiting++;
            waiting = o->face;
        } else if (o->nack != 0 && (least == 0 || severity(o->nack) < severity(least))) {
            least = o->nack;
        }
    }
    if (n_waiting > 1)
        return;
    if (n_waiting == 1) {
        struct model_in *in = m_in(entry, waiting);
        if (in != NULL) {
            m_nack_down(entry, in, least);
            *in = entry->in[--entry->n_in];
        }
        return;
    }
    for (unsigned i = 0; i < entry->n_in; i++)
        m_nack_down(entry, &entry->in[i], least);
    m_reject(entry);
}

static void m_time(void)
{
    for (unsigned i = 0; i < ENTRIES; i++)
        if (m.entry[i].used && (int32_t)(m.entry[i].expiry - now_tick()) <= 0)
            m_reject(&m.entry[i]);
}

/* Comparison. */

static int output_order(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct output));
}

static void compare(unsigned step)
{
    struct output real[OUTPUTS];
    cr_assert_eq(bed->n_sent, m.n_output, "step %u: %u frames sent, the model sends %u", step, bed->n_sent, m.n_output);
    for (unsigned i = 0; i < bed->n_sent; i++) {
        uint32_t id;
        struct ndn_packet pkt = bed_parse_sent(bed, i, &id);
        struct output *o = &real[i];
        *o = (struct output){0};
        while (face_id[model_face[o->face]] != id)
            o->face++;
        while (!name_is(&pkt, uris[o->name]))
            o->name++;
        o->nack = pkt.lp.nack_reason;
        o->kind = pkt.lp.has & LP_HAS_NACK ? 0 : pkt.type;
        o->nonce = pkt.type == NDN_TYPE_INTEREST ? pkt.interest.nonce : 0;
        o->token = o->kind != NDN_TYPE_INTEREST && pkt.lp.token_len > 0 ? pkt.lp.token[0] : 0;
    }
    qsort(real, m.n_output, sizeof real[0], output_order);
    qsort(m.output, m.n_output, sizeof real[0], output_order);
    cr_assert_eq(memcmp(real, m.output, m.n_output * sizeof real[0]), 0, "step %u: other frames than the model's",
                 step);
    m.n_output = 0;
    const struct stats_worker stats = bed_stats(bed);
    for (unsigned i = 1; i < DROP_COUNT; i++)
        cr_assert_eq(stats.drops[i], m.drops[i], "step %u: %s is %llu, the model's %llu", step, drop_info[i].name,
                     (unsigned long long)stats.drops[i], (unsigned long long)m.drops[i]);
    uint32_t n = 0;
    uint64_t held[FACES] = {0};
    for (unsigned i = 0; i < ENTRIES; i++) {
        n += m.entry[i].used;
        for (unsigned j = 0; m.entry[i].used && j < m.entry[i].n_in; j++)
            held[m.entry[i].in[j].face]++;
    }
    cr_assert_eq(pending(), n, "step %u", step);
    for (unsigned i = 0; i < FACES; i++)
        cr_assert_eq(face_pending(model_face[i]), held[i], "step %u: face %s", step, scene_names[model_face[i]]);
    cr_assert_eq(stats.satisfied, m.satisfied, "step %u", step);
    cr_assert_eq(stats.unsatisfied, m.unsatisfied, "step %u", step);
    bed_drop_sent(bed);
    cr_assert_eq(bed_check(bed), 0, "step %u: law or invariant broken", step);
}

static void one_step(long r, long s)
{
    static const uint32_t lifetimes[] = {0, 5, 60, 400, 4000};
    static const uint32_t passes[] = {0, 1, 3, 12, 30, 110, 280, 2000};
    static const uint16_t reasons[] = {NDN_NACK_CONGESTION, NDN_NACK_DUPLICATE, NDN_NACK_NO_ROUTE, 7};
    unsigned face = (unsigned)(r >> 4) % FACES, name = (unsigned)(r >> 8) % NAMES;
    bool can_be_prefix = r >> 16 & 1, must_be_fresh = (r >> 17 & 3) == 0;
    uint32_t nonce = 1 + (uint32_t)(r >> 20) % 60;
    uint32_t lifetime_ms = lifetimes[(unsigned)(s % 5)];
    uint8_t token[20];
    uint8_t token_len = s >> 8 & 1 ? 20 : 8;
    memset(token, (1 + (int)(s >> 4 & 3)) | token_len << 3, sizeof token); // tells its length too
    switch (r & 15) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        interest(model_face[face], uris[name],
                 FIELDS(.nonce = nonce, .can_be_prefix = can_be_prefix, .must_be_fresh = must_be_fresh,
                        .lifetime_ms = lifetime_ms, .token = token, .token_len = token_len));
        m_interest(face, name, can_be_prefix, must_be_fresh, nonce, lifetime_ms == 0 ? 4000 : lifetime_ms, token[0]);
        break;
    case 6:
    case 7:
    case 8:
        data(model_face[face], uris[name], FIELDS(.payload = (uint16_t)(s >> 9 & 1023)));
        m_data(face, name);
        break;
    case 9:
    case 10:
    case 11: {
        // Of something pending, when there is any.
        struct model_entry *entry = &m.entry[(unsigned)(s >> 6) % ENTRIES];
        for (unsigned i = 0; i < ENTRIES && !(entry->used && entry->n_out > 0); i++)
            entry = &m.entry[(unsigned)(s + i) % ENTRIES];
        if (entry->used && entry->n_out > 0 && (s & 7) != 0) {
            const struct model_out *out = &entry->out[(unsigned)(s >> 3) % entry->n_out];
            face = out->face;
            nonce = out->nonce;
            name = entry->name;
            can_be_prefix = entry->can_be_prefix;
            must_be_fresh = entry->must_be_fresh;
        }
        uint16_t reason = reasons[(unsigned)(s >> 10) % RTE_DIM(reasons)];
        interest(
            model_face[face], uris[name],
            FIELDS(.nonce = nonce, .can_be_prefix = can_be_prefix, .must_be_fresh = must_be_fresh, .nack = reason));
        m_nack(face, name, can_be_prefix, must_be_fresh, nonce, reason);
        break;
    }
    case 12:
    case 13:
    case 14:
        bed_pass(bed, passes[(unsigned)(s % 8)]);
        m_time();
        break;
    default:
        m.down[face] = (s & 3) == 0;
        face_down(model_face[face], m.down[face]);
        break;
    }
}

static void run(unsigned seed, unsigned steps)
{
    memset(&m, 0, sizeof m);
    SCENE(.pit_capacity = 256, .dnl_capacity = 65536);
    bed_strategy(bed, "/m", 1);
    for (unsigned i = 0; i < 2; i++) {
        const unsigned *hops;
        unsigned n = routes(i == 0 ? 0 : 4, &hops);
        for (unsigned h = 0; h < n; h++)
            route(i == 0 ? "/" : "/m", model_face[hops[h]], h);
    }
    srandom(seed);
    for (unsigned step = 0; step < steps; step++) {
        long r = random();
        one_step(r, random());
        compare(step);
    }
    for (unsigned i = 0; i < FACES; i++)
        face_down(model_face[i], false);
    finish();
}

Test(model, random_operations_end_as_the_model_says)
{
    for (unsigned seed = 1; seed <= 20; seed++)
        run(seed, 3000);
}
