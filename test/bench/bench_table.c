// SPDX-License-Identifier: Apache-2.0
/*
 * The PIT in steady state: as many entries come as go, oldest first, spread at random over the memory. Names are those
 * of the pipeline benchmark: generic components of 8 octets.
 *
 * Options of its own: --live N (that size only), --comps N (4 or 8 only), --large (adds 16 M entries: 4 GB).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_name.h"
#include "pit/pit.h"
#include "test/bench/bench.h"

#define CHUNK    256
#define BATCH    64     /* the largest batch */
#define LIFETIME 100000 /* ticks; no entry gets that old here */

/** A name as kept for a chunk; the parsed form is made batch by batch, so that it is as hot as behind a parser. */
struct packed_name {
    uint64_t hash;
    uint8_t octets[80];
};

/** One PIT with its stream of names, shared by the cases that use it. */
struct stream {
    struct pit *pit;
    uint32_t n_live, n_comps;
    uint64_t head, tail; /**< sequence numbers: next to insert, oldest live */
    uint64_t now_ns, random;
    struct packed_name coming[CHUNK], going[CHUNK];
    struct ndn_name view[BATCH];
};

struct table_case {
    char name[64];
    struct stream *stream;
    unsigned batch;
    bool hit;
    int split_insert, split_erase; /**< cases for the two halves of a FIFO turn, -1: none */
};

static const struct ndn_name_key key = {{9, 8, 7, 6, 5, 4, 3, 2, 1, 11, 22, 33, 44, 55, 66, 77, 88, 99}};

static void fail(const char *what)
{
    fprintf(stderr, "bench_table: %s\n", what);
    exit(1);
}

/** Name number @p sequence: /ndnbench/flow0000/aaaaaaaa/.../<8 hex digits>. */
static void make_name(struct packed_name *n, uint64_t sequence, uint32_t n_comps)
{
    static const char digits[] = "0123456789abcdef";
    for (uint32_t i = 0; i < n_comps; i++) {
        uint8_t *comp = n->octets + (size_t)i * 10;
        comp[0] = NDN_GENERIC;
        comp[1] = 8;
        memcpy(comp + 2, i == 0 ? "ndnbench" : i == 1 ? "flow0000" : "aaaaaaaa", 8);
    }
    uint8_t *last = n->octets + (size_t)(n_comps - 1) * 10 + 2;
    for (unsigned i = 0; i < 8; i++)
        last[i] = (uint8_t)digits[sequence >> (28 - 4 * i) & 15];
    struct ndn_name view;
    if (ndn_name_parse(n->octets, (size_t)n_comps * 10, false, &view) != VERDICT_OK)
        fail("bad name");
    ndn_name_hash(&view, &key);
    n->hash = view.hash_full;
}

/** Views of @p batch names. */
static inline void open_names(struct stream *s, const struct packed_name *n, unsigned batch)
{
    for (unsigned i = 0; i < batch; i++) {
        struct ndn_name *view = &s->view[i];
        view->value = n[i].octets;
        view->len = (uint16_t)(s->n_comps * 10);
        view->n_comps = (uint16_t)s->n_comps;
        view->depth = (uint8_t)s->n_comps;
        view->has_digest = 0;
        view->hash[s->n_comps] = n[i].hash;
        view->hash_full = n[i].hash;
    }
}

static void insert(struct stream *s, const struct ndn_name *name)
{
    struct pit_entry *entry;
    if (pit_insert(s->pit, name, 0, wheel_tick(s->now_ns) + LIFETIME, &entry) != PIT_NEW)
        fail("insert");
    struct pit_in *in = pit_in_add(s->pit, entry, 256);
    in->nonce = (uint32_t)name->hash_full;
}

static void match_and_erase(struct stream *s, const struct ndn_name *name)
{
    struct pit_entry *match[PIT_MATCHES_MAX];
    if (pit_match_data(s->pit, name, &key, NULL, NULL, match) != 1)
        fail("match");
    pit_erase(s->pit, match[0]);
}

static void never(void *ctx, struct pit_entry *entry)
{
    (void)ctx;
    (void)entry;
    fail("an entry expired");
}

/** The two first stages of a batch; a batch of one is not prefetched. */
static inline void prefetch(struct stream *s, const struct packed_name *n, unsigned batch)
{
    open_names(s, n, batch);
    for (unsigned i = 0; batch > 1 && i < batch; i++)
        pit_prefetch_bucket(s->pit, s->view[i].hash_full);
    for (unsigned i = 0; batch > 1 && i < batch; i++)
        pit_prefetch_entry(s->pit, s->view[i].hash_full);
}

static void insert_batch(struct stream *s, const struct packed_name *n, unsigned batch)
{
    prefetch(s, n, batch);
    for (unsigned i = 0; i < batch; i++)
        insert(s, &s->view[i]);
}

static void erase_batch(struct stream *s, const struct packed_name *n, unsigned batch)
{
    prefetch(s, n, batch);
    for (unsigned i = 0; i < batch; i++)
        match_and_erase(s, &s->view[i]);
}

static void fifo_prepare(void *ctx)
{
    const struct table_case *c = ctx;
    struct stream *s = c->stream;
    for (unsigned i = 0; i < CHUNK; i++) {
        make_name(&s->coming[i], s->head + i, s->n_comps);
        make_name(&s->going[i], s->tail + i, s->n_comps);
    }
}

static void fifo_run(void *ctx)
{
    const struct table_case *c = ctx;
    struct stream *s = c->stream;
    uint64_t insert_ticks = 0, erase_ticks = 0;
    for (unsigned i = 0; i < CHUNK; i += c->batch) {
        if (c->split_insert >= 0) {
            uint64_t start = bench_ticks();
            insert_batch(s, s->coming + i, c->batch);
            uint64_t middle = bench_ticks();
            erase_batch(s, s->going + i, c->batch);
            insert_ticks += middle - start;
            erase_ticks += bench_ticks() - middle;
        } else {
            insert_batch(s, s->coming + i, c->batch);
            erase_batch(s, s->going + i, c->batch);
        }
        if (pit_poll(s->pit, s->now_ns, 64, never, NULL) != 0)
            fail("poll");
    }
    s->head += CHUNK;
    s->tail += CHUNK;
    s->now_ns += UINT64_C(1) << WHEEL_TICK_SHIFT;
    if (c->split_insert >= 0) {
        bench_sample(c->split_insert, insert_ticks, CHUNK);
        bench_sample(c->split_erase, erase_ticks, CHUNK);
    }
}

static void find_prepare(void *ctx)
{
    const struct table_case *c = ctx;
    struct stream *s = c->stream;
    for (unsigned i = 0; i < CHUNK; i++) {
        uint64_t sequence = bench_random(&s->random) % s->n_live + (c->hit ? s->tail : 0x80000000u);
        make_name(&s->going[i], sequence, s->n_comps);
    }
}

static void find_run(void *ctx)
{
    const struct table_case *c = ctx;
    struct stream *s = c->stream;
    for (unsigned start = 0; start < CHUNK; start += c->batch) {
        prefetch(s, s->going + start, c->batch);
        for (unsigned i = 0; i < c->batch; i++) {
            if ((pit_find(s->pit, &s->view[i], 0) != NULL) != c->hit)
                fail("find");
        }
    }
}

/** A PIT with its live entries at random places. */
static struct stream *make_stream(uint32_t n_live, uint32_t n_comps)
{
    struct stream *s = calloc(1, sizeof *s);
    uint32_t *order = calloc(n_live, sizeof *order);
    if (s == NULL || order == NULL)
        fail("memory");
    *s = (struct stream){.n_live = n_live, .n_comps = n_comps, .random = 4711, .now_ns = 1};
    struct pit_config config = {.capacity = n_live + CHUNK};
    if (pit_create(&s->pit, &config, s->now_ns) != 0)
        fail("memory");
    // Freed in random order, the slots are handed out in random order.
    for (uint32_t i = 0; i < n_live; i++) {
        make_name(&s->coming[0], i, n_comps);
        open_names(s, s->coming, 1);
        insert(s, s->view);
        order[i] = i;
    }
    for (uint32_t i = 0; i < n_live; i++) {
        uint32_t j = i + (uint32_t)(bench_random(&s->random) % (n_live - i)), swap = order[j];
        order[j] = order[i];
        order[i] = swap;
        make_name(&s->going[0], swap, n_comps);
        open_names(s, s->going, 1);
        match_and_erase(s, s->view);
    }
    for (s->head = 0; s->head < n_live; s->head++) {
        make_name(&s->coming[0], s->head, n_comps);
        open_names(s, s->coming, 1);
        insert(s, s->view);
    }
    free(order);
    return s;
}

static struct table_case *make_case(struct stream *s, const char *size, const char *what, unsigned batch)
{
    struct table_case *c = calloc(1, sizeof *c);
    if (c == NULL)
        fail("memory");
    *c = (struct table_case){.stream = s, .batch = batch, .split_insert = -1, .split_erase = -1};
    int n = snprintf(c->name, sizeof c->name, "%s live, %u comps: %s", size, s->n_comps, what);
    if (batch > 1)
        snprintf(c->name + n, sizeof c->name - (size_t)n, ", batches of %u", batch);
    else
        snprintf(c->name + n, sizeof c->name - (size_t)n, ", one at a time");
    return c;
}

static void add_cases(const char *size, uint32_t n_live, uint32_t n_comps)
{
    struct stream *s = make_stream(n_live, n_comps);
    bench_group();
    static const unsigned batches[] = {64, 32, 1};
    for (unsigned i = 0; i < 3; i++) {
        struct table_case *c = make_case(s, size, "insert+match+erase", batches[i]);
        bench_add(&(struct bench_case){c->name, CHUNK, fifo_prepare, fifo_run, c});
        if (batches[i] == 64) {
            struct table_case *half = make_case(s, size, "insert", batches[i]);
            c->split_insert = bench_add(&(struct bench_case){.name = half->name, .n_ops = CHUNK});
            half = make_case(s, size, "match+erase", batches[i]);
            c->split_erase = bench_add(&(struct bench_case){.name = half->name, .n_ops = CHUNK});
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        bool hit = i % 2 == 0;
        struct table_case *c = make_case(s, size, hit ? "find, hit" : "find, miss", i < 2 ? 64 : 1);
        c->hit = hit;
        bench_add(&(struct bench_case){c->name, CHUNK, find_prepare, find_run, c});
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t n_live;
    } sizes[] = {{"1k", 1 << 10}, {"64k", 1 << 16}, {"1M", 1 << 20}, {"16M", 1 << 24}};
    bench_init("table", &argc, argv);
    uint32_t only_live = 0, only_comps = 0, n_sizes = bench_quick() ? 1 : 3;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--live") == 0 && i + 1 < argc)
            only_live = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--comps") == 0 && i + 1 < argc)
            only_comps = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--large") == 0)
            n_sizes = 4;
        else
            fail("unknown option");
    }
    ndn_name_hash_init();
    for (uint32_t n_comps = 4; n_comps <= 8; n_comps += 4) {
        if (only_comps != 0 && only_comps != n_comps)
            continue;
        if (only_live != 0)
            add_cases("chosen", only_live, n_comps);
        for (uint32_t i = 0; only_live == 0 && i < n_sizes; i++)
            add_cases(sizes[i].name, sizes[i].n_live, n_comps);
    }
    return bench_run();
}
