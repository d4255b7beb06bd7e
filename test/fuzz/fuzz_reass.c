// SPDX-License-Identifier: Apache-2.0
/*
 * Reassembly under an op stream: the budget is never exceeded, every fragment ends in a packet or in exactly one
 * count, every mbuf comes back. The first octets choose small limits; each op is one octet of kind and its operands.
 */
#include "pit/reass.h"

#include <stdio.h>
#include <stdlib.h>

#include "parser/cursor.h"
#include "test/unit/pit/fake_mbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
            abort();                                           \
        }                                                      \
    } while (0)

struct input {
    const uint8_t *p, *end;
};

static uint8_t next(struct input *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

struct run {
    struct reass *reass;
    struct reass_config config;
    uint64_t now_ns;
    uint64_t given, freed, joined;
};

static void fragment(struct run *r, struct input *in)
{
    static const uint8_t octets[NDN_LP_FRAGS_MAX * 64];
    uint8_t where = next(in), which = next(in), shape = next(in);
    uint16_t count = (uint16_t)(where >> 4), len = (uint16_t)(shape * 37 + 1);
    uint8_t token = which;
    struct ndn_lp lp = {
        .has = LP_HAS_HEADER | LP_HAS_SEQUENCE | LP_HAS_FRAGMENT,
        .sequence = (uint64_t)(which >> 4) - 2 + (which & 15),
        .frag_index = which & 15,
        .frag_count = count == 15 ? NDN_LP_FRAGS_MAX + 1 : count,
        .token = &token,
        .token_len = 1,
    };
    struct rte_mbuf *mbuf = fake_chain(octets, len, (uint16_t)(16 + (shape & 3) * 1000 + len / 4), 0), *out = NULL;
    struct reass_header header;
    struct reass_freed freed;
    enum reass_result result =
        reass_add(r->reass, where & 3, (where >> 2) & 1, &lp, mbuf, r->now_ns, &out, &header, &freed);
    r->given++;
    r->freed += (uint64_t)freed.bad + freed.oversize + freed.duplicate + freed.evicted + freed.full;
    CHECK((result == REASS_BAD) == (freed.bad > 0));
    CHECK((result == REASS_OVERSIZE) == (freed.oversize > 0));
    CHECK((result == REASS_DUPLICATE) == (freed.duplicate > 0));
    CHECK((result == REASS_FULL) == (freed.full > 0));
    CHECK((result == REASS_COMPLETE) == (out != NULL));
    if (out == NULL)
        return;
    r->joined += lp.frag_count;
    CHECK(header.lp.frag_index == 0 && header.lp.frag_count == lp.frag_count && header.lp.token == header.token);
    uint32_t total = 0, segs = 0;
    for (const struct rte_mbuf *seg = out; seg != NULL; seg = seg->next, segs++)
        total += seg->data_len;
    CHECK(total == out->pkt_len && segs == out->nb_segs && total <= 8800);
    rte_pktmbuf_free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    struct run r = {0};
    r.config = (struct reass_config){
        .max_messages = 1u + (next(&in) & 15),
        .max_per_face = 1u + (next(&in) & 7),
        .max_bytes = 100u + next(&in) * 256u,
        .max_fragments = (uint16_t)(1 + (next(&in) & 15)),
        .timeout_ms = 500,
        .pages = ARENA_PAGES_SMALL,
    };
    CHECK(reass_create(&r.reass, &r.config, 0) == 0);
    while (in.p < in.end) {
        uint8_t op = next(&in);
        if (op < 200)
            fragment(&r, &in);
        else if (op < 240)
            r.freed += reass_poll(r.reass, r.now_ns += next(&in) * UINT64_C(3000000));
        else
            r.freed += reass_face_remove(r.reass, op & 3);
        CHECK(reass_check(r.reass) == 0);
        struct reass_stats stats;
        reass_stats(r.reass, &stats);
        CHECK(stats.n_bytes <= r.config.max_bytes && stats.n_messages <= r.config.max_messages);
        CHECK(stats.n_frags_freed == r.freed && stats.n_messages <= r.given - r.freed - r.joined);
    }
    r.freed += reass_poll(r.reass, r.now_ns + UINT64_C(500000000));
    CHECK(r.given == r.freed + r.joined && fake_n_live == 0);
    reass_destroy(r.reass);
    return 0;
}
