// SPDX-License-Identifier: Apache-2.0
/*
 * Content Store: exact hit, miss, insert with eviction at 64, 1 k, 64 k and 1 M entries; CanBePrefix; and a mix in
 * which half of the Interests find their Data. "staged" prefetches buckets, entries and Data of a burst first, as the
 * pipeline does; "single" does not. Names and mbufs of a chunk are made outside the timed part.
 */
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pit/cs.h"
#include "test/bench/bench.h"

#define CHUNK 256
#define BURST 32
#define NAME  40
/** Octets from one mbuf to the next: header and a little Data. */
#define STRIDE 192

static const struct ndn_name_key key = {{7, 7, 7}};

/* mbufs on a stack that is a mempool to DPDK. */
static struct rte_mempool mempool;
static struct rte_mbuf **stack;
static size_t n_stack;

static int stack_put(struct rte_mempool *mp, void *const *objs, unsigned n)
{
    (void)mp;
    for (unsigned i = 0; i < n; i++)
        stack[n_stack++] = objs[i];
    return 0;
}

static int stack_alloc(struct rte_mempool *mp)
{
    (void)mp;
    return 0;
}

static int stack_get(struct rte_mempool *mp, void **objs, unsigned n)
{
    (void)mp, (void)objs, (void)n;
    return -1;
}

static void stack_free(struct rte_mempool *mp)
{
    (void)mp;
}

static unsigned stack_count(const struct rte_mempool *mp)
{
    (void)mp;
    return (unsigned)n_stack;
}

static const struct rte_mempool_ops stack_ops = {
    .name = "stack_bench",
    .alloc = stack_alloc,
    .free = stack_free,
    .enqueue = stack_put,
    .dequeue = stack_get,
    .get_count = stack_count,
};

static void mbufs_make(size_t n)
{
    mempool.ops_index = rte_mempool_register_ops(&stack_ops);
    stack = malloc(n * sizeof *stack);
    uint8_t *memory = arena_map(n * STRIDE, ARENA_PAGES_AUTO);
    if (stack == NULL || memory == NULL) {
        fprintf(stderr, "no memory for mbufs\n");
        exit(1);
    }
    for (size_t i = 0; i < n; i++) {
        struct rte_mbuf *mbuf = (struct rte_mbuf *)(memory + i * STRIDE);
        mbuf->buf_addr = mbuf + 1;
        mbuf->buf_len = STRIDE - sizeof *mbuf;
        mbuf->data_len = STRIDE - sizeof *mbuf;
        mbuf->pkt_len = mbuf->data_len;
        mbuf->nb_segs = 1;
        mbuf->pool = &mempool;
        rte_mbuf_refcnt_set(mbuf, 1);
        stack[n_stack++] = mbuf;
    }
}

struct content {
    struct cs *cs;
    uint32_t capacity;
    uint32_t next; /**< sequence number of the next Data; the last capacity ones are in the CS */
    uint64_t random;
    unsigned prefix; /**< components that Interests leave out */
    uint32_t hits;
    struct rte_mbuf *mbuf[CHUNK];
    struct ndn_name name[CHUNK];
    uint8_t value[CHUNK][NAME];
};

static void name_make(struct content *c, unsigned i, uint32_t sequence, unsigned leave_out)
{
    char text[64];
    snprintf(text, sizeof text,
             "\x08\x08ndnbench\x08\x08"
             "flow0000\x08\x08%08x\x08\x08%08x",
             sequence >> 4, sequence);
    memcpy(c->value[i], text, NAME);
    if (ndn_name_parse(c->value[i], NAME - 10 * leave_out, false, &c->name[i]) != VERDICT_OK)
        abort();
    ndn_name_hash(&c->name[i], &key);
}

static void mbufs_give_back(struct content *c)
{
    for (unsigned i = 0; i < CHUNK; i++) {
        if (c->mbuf[i] != NULL)
            rte_pktmbuf_free(c->mbuf[i]);
        c->mbuf[i] = NULL;
    }
}

/** Data of this name, which lies in its buffer. */
static void data_make(struct content *c, unsigned i)
{
    c->mbuf[i] = stack[--n_stack];
    rte_mbuf_refcnt_set(c->mbuf[i], 1);
    uint8_t *p = rte_pktmbuf_mtod(c->mbuf[i], uint8_t *);
    memcpy(p, "\x06\x3a\x07\x28", 4);
    memcpy(p + 4, c->value[i], NAME);
    c->name[i].value = p + 4;
}

static void prepare_insert(void *ctx)
{
    struct content *c = ctx;
    mbufs_give_back(c);
    for (unsigned i = 0; i < CHUNK; i++) {
        name_make(c, i, c->next++, 0);
        data_make(c, i);
    }
}

static void prepare_hit(void *ctx)
{
    struct content *c = ctx;
    for (unsigned i = 0; i < CHUNK; i++)
        name_make(c, i, c->next - 1 - (uint32_t)(bench_random(&c->random) % c->capacity), c->prefix);
}

static void prepare_miss(void *ctx)
{
    struct content *c = ctx;
    for (unsigned i = 0; i < CHUNK; i++)
        name_make(c, i, 0x80000000u + (uint32_t)(bench_random(&c->random) >> 33), 0);
}

/** Half of the names are in the CS. */
static void prepare_mix(void *ctx)
{
    struct content *c = ctx;
    mbufs_give_back(c);
    for (unsigned i = 0; i < CHUNK; i++) {
        uint32_t back = (uint32_t)(bench_random(&c->random) % (c->capacity / 2));
        bool old = bench_random(&c->random) >> 63 != 0;
        name_make(c, i, old ? c->next - 1 - back : c->next++, 0);
        data_make(c, i);
    }
}

static void stage(struct content *c, unsigned from)
{
    for (unsigned i = from; i < from + BURST; i++)
        cs_prefetch_bucket(c->cs, c->name[i].hash_full);
    for (unsigned i = from; i < from + BURST; i++)
        cs_prefetch_entry(c->cs, c->name[i].hash_full);
    for (unsigned i = from; i < from + BURST; i++)
        cs_prefetch_data(c->cs, c->name[i].hash_full);
}

static void run_insert(void *ctx)
{
    struct content *c = ctx;
    for (unsigned from = 0; from < CHUNK; from += BURST) {
        for (unsigned i = from; i < from + BURST; i++)
            cs_prefetch_bucket(c->cs, c->name[i].hash_full);
        for (unsigned i = from; i < from + BURST; i++)
            cs_insert(c->cs, &c->name[i], c->mbuf[i], 0, 60, 10000, false, 1);
    }
}

static void find(struct content *c, unsigned i)
{
    struct cs_hit hit;
    if (cs_find(c->cs, &c->name[i], &key, c->prefix > 0, false, 1, &hit)) {
        bench_use(hit.off);
        c->hits++;
    }
}

static void run_find_staged(void *ctx)
{
    struct content *c = ctx;
    for (unsigned from = 0; from < CHUNK; from += BURST) {
        stage(c, from);
        for (unsigned i = from; i < from + BURST; i++)
            find(c, i);
    }
}

static void run_find_single(void *ctx)
{
    struct content *c = ctx;
    for (unsigned i = 0; i < CHUNK; i++)
        find(c, i);
}

static void run_mix(void *ctx)
{
    struct content *c = ctx;
    for (unsigned from = 0; from < CHUNK; from += BURST) {
        stage(c, from);
        for (unsigned i = from; i < from + BURST; i++) {
            struct cs_hit hit;
            if (cs_find(c->cs, &c->name[i], &key, false, false, 1, &hit))
                bench_use(hit.off);
            else
                cs_insert(c->cs, &c->name[i], c->mbuf[i], 0, 60, 10000, false, 1);
        }
    }
}

static struct content *content_make(uint32_t capacity)
{
    struct content *c = calloc(1, sizeof *c);
    struct cs_config config = {.capacity = capacity, .capacity_max = capacity, .policy = CS_LRU};
    if (c == NULL || cs_create(&c->cs, &config, 0) != 0) {
        fprintf(stderr, "no memory for %u entries\n", capacity);
        exit(1);
    }
    c->capacity = capacity;
    c->random = 88172645463325252u;
    while (c->next < capacity + 1024) {
        prepare_insert(c);
        run_insert(c);
    }
    mbufs_give_back(c);
    return c;
}

static void add(const char *what, const char *size, void (*prepare)(void *), void (*run)(void *), struct content *c)
{
    char *name = malloc(64);
    if (name == NULL)
        exit(1);
    snprintf(name, 64, "%s %s", what, size);
    bench_add(&(struct bench_case){name, CHUNK, prepare, run, c});
}

int main(int argc, char **argv)
{
    bench_init("cs", &argc, argv);
    ndn_name_hash_init();
    static const struct {
        const char *text;
        uint32_t capacity;
    } sizes[] = {{"64", 64}, {"1k", 1024}, {"64k", 65536}, {"1M", 1048576}};
    unsigned n_sizes = bench_quick() ? 2 : 4;
    size_t n_mbufs = 0;
    for (unsigned i = 0; i < n_sizes; i++)
        n_mbufs += 2 * (sizes[i].capacity + 2 * CHUNK);
    mbufs_make(n_mbufs);
    for (unsigned i = 0; i < n_sizes; i++) {
        const char *size = sizes[i].text;
        struct content *c = content_make(sizes[i].capacity);
        add("hit staged", size, prepare_hit, run_find_staged, c);
        add("hit single", size, prepare_hit, run_find_single, c);
        add("miss staged", size, prepare_miss, run_find_staged, c);
        add("insert+evict", size, prepare_insert, run_insert, c);
        add("mix, half hits", size, prepare_mix, run_mix, c);
        if (sizes[i].capacity > 1024)
            continue;
        struct content *p = content_make(sizes[i].capacity);
        p->prefix = 1;
        add("prefix hit staged", size, prepare_hit, run_find_staged, p);
        add("insert+evict, 1 length indexed", size, prepare_insert, run_insert, p);
    }
    return bench_run();
}
