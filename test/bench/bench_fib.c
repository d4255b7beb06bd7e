// SPDX-License-Identifier: Apache-2.0
/*
 * FIB: longest-prefix match over 10 k and 1 M prefixes, names of 4 and 8 components, 1 and 3 prefix lengths in use;
 * "staged" prefetches buckets and entries of a burst first, "single" does not. Update: one change of a next hop with
 * its grace period, alone and with a reader on another thread that looks up all the time.
 */
#include <rte_rcu_qsbr.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pit/fib.h"
#include "test/bench/bench.h"

#define CHUNK 256
#define BURST 32

static const struct ndn_name_key key = {{7, 7, 7}};

struct routes {
    struct fib *fib;
    struct rte_rcu_qsbr *qsbr;
    uint32_t n_prefixes;
    unsigned n_comps, n_lengths;
    uint64_t random;
    uint64_t found;
    struct ndn_name name[CHUNK];
    uint8_t value[CHUNK][96];
    /* reader of the update case */
    pthread_t reader;
    bool wanted, reading, stop;
    struct ndn_name read_name[BURST];
    uint8_t read_value[BURST][96];
};

/** Name number @p flow: of its first two components, the second has the number; the rest is filler. */
static uint16_t name_write(uint8_t *value, uint32_t flow, unsigned n_comps)
{
    char text[128];
    int n = snprintf(text, sizeof text, "\x08\x08ndnbench\x08\x08%08x", flow);
    for (unsigned i = 2; i < n_comps; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "\x08\x08%08x", flow * 2654435761u + i);
    memcpy(value, text, (size_t)n);
    return (uint16_t)n;
}

static void name_make(struct ndn_name *name, uint8_t *value, uint32_t flow, unsigned n_comps)
{
    uint16_t len = name_write(value, flow, n_comps);
    if (ndn_name_parse(value, len, false, name) != VERDICT_OK)
        abort();
    ndn_name_hash(name, &key);
}

static void prepare(void *ctx)
{
    struct routes *r = ctx;
    for (unsigned i = 0; i < CHUNK; i++)
        name_make(&r->name[i], r->value[i], (uint32_t)(bench_random(&r->random) % r->n_prefixes), r->n_comps);
}

static void look_up(struct routes *r, unsigned i)
{
    const struct fib_entry *entry = fib_lookup(r->fib, &r->name[i]);
    if (entry != NULL)
        r->found += entry->nexthop[0].face;
}

static void run_staged(void *ctx)
{
    struct routes *r = ctx;
    for (unsigned from = 0; from < CHUNK; from += BURST) {
        for (unsigned i = from; i < from + BURST; i++)
            fib_prefetch(r->fib, &r->name[i]);
        for (unsigned i = from; i < from + BURST; i++)
            fib_prefetch_entry(r->fib, &r->name[i]);
        for (unsigned i = from; i < from + BURST; i++)
            look_up(r, i);
    }
    bench_use(r->found);
}

static void run_single(void *ctx)
{
    struct routes *r = ctx;
    for (unsigned i = 0; i < CHUNK; i++)
        look_up(r, i);
    bench_use(r->found);
}

static void run_update(void *ctx)
{
    struct routes *r = ctx;
    for (unsigned i = 0; i < CHUNK; i++) {
        uint32_t cost = (uint32_t)bench_random(&r->random) % 1000;
        if (fib_nexthop_set(r->fib, r->value[i], r->name[i].end[2], 300, cost) != 0)
            abort();
    }
    fib_reclaim(r->fib);
}

/** Looks up while it is wanted; else it sleeps, so that it does not disturb the other cases. */
static void *read_on(void *ctx)
{
    struct routes *r = ctx;
    uint64_t found = 0;
    while (!__atomic_load_n(&r->stop, __ATOMIC_RELAXED)) {
        if (!__atomic_load_n(&r->wanted, __ATOMIC_ACQUIRE)) {
            usleep(100);
            continue;
        }
        rte_rcu_qsbr_thread_online(r->qsbr, 0);
        __atomic_store_n(&r->reading, true, __ATOMIC_RELEASE);
        while (__atomic_load_n(&r->wanted, __ATOMIC_RELAXED)) {
            for (unsigned i = 0; i < BURST; i++) {
                const struct fib_entry *entry = fib_lookup(r->fib, &r->read_name[i]);
                found += entry != NULL ? entry->nexthop[0].face : 0;
            }
            rte_rcu_qsbr_quiescent(r->qsbr, 0);
        }
        rte_rcu_qsbr_thread_offline(r->qsbr, 0);
        __atomic_store_n(&r->reading, false, __ATOMIC_RELEASE);
    }
    bench_use(found);
    return NULL;
}

static void prepare_read(void *ctx)
{
    struct routes *r = ctx;
    prepare(ctx);
    __atomic_store_n(&r->wanted, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&r->reading, __ATOMIC_ACQUIRE))
        usleep(20);
}

static void run_update_read(void *ctx)
{
    struct routes *r = ctx;
    run_update(ctx);
    __atomic_store_n(&r->wanted, false, __ATOMIC_RELEASE);
}

static void reader_start(struct routes *r)
{
    for (unsigned i = 0; i < BURST; i++)
        name_make(&r->read_name[i], r->read_value[i], (uint32_t)(bench_random(&r->random) % r->n_prefixes), 4);
    if (pthread_create(&r->reader, NULL, read_on, r) != 0)
        exit(1);
    // The harness has pinned this thread, and the reader with it.
    cpu_set_t others;
    CPU_ZERO(&others);
    for (int cpu = 0; cpu < CPU_SETSIZE && cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
        if (cpu != sched_getcpu())
            CPU_SET(cpu, &others);
    if (CPU_COUNT(&others) > 0)
        pthread_setaffinity_np(r->reader, sizeof others, &others);
}

static struct routes *routes_make(uint32_t n_prefixes, unsigned n_comps, unsigned n_lengths)
{
    struct routes *r = aligned_alloc(64, (sizeof *r + 63) & ~(size_t)63);
    if (r == NULL)
        exit(1);
    memset(r, 0, sizeof *r);
    size_t size = (rte_rcu_qsbr_get_memsize(1) + 63) & ~(size_t)63;
    r->qsbr = aligned_alloc(64, size);
    if (r->qsbr == NULL || rte_rcu_qsbr_init(r->qsbr, 1) != 0)
        exit(1);
    rte_rcu_qsbr_thread_register(r->qsbr, 0);
    struct fib_config config = {.capacity = n_prefixes + 16, .key = &key, .qsbr = r->qsbr};
    if (fib_create(&r->fib, &config) != 0) {
        fprintf(stderr, "no memory for %u prefixes\n", n_prefixes);
        exit(1);
    }
    r->n_prefixes = n_prefixes;
    r->n_comps = n_comps;
    r->n_lengths = n_lengths;
    r->random = 88172645463325252u;
    uint8_t value[96];
    for (uint32_t i = 0; i < n_prefixes; i++)
        if (fib_nexthop_set(r->fib, value, name_write(value, i, 2), 300 + i % 100, 10) != 0)
            abort();
    // Longer lengths that no looked-up name has: each costs a bucket that says no.
    if (n_lengths > 1) {
        fib_nexthop_set(r->fib, value, name_write(value, UINT32_MAX, 3), 300, 10);
        fib_nexthop_set(r->fib, value, name_write(value, UINT32_MAX, 4), 300, 10);
    }
    return r;
}

static void add(const char *what, struct routes *r, void (*prep)(void *), void (*run)(void *))
{
    char *name = malloc(96);
    if (name == NULL)
        exit(1);
    snprintf(name, 96, "%s %s, %u comps, %u lengths", what, r->n_prefixes > 100000 ? "1M" : "10k", r->n_comps,
             r->n_lengths);
    bench_add(&(struct bench_case){name, CHUNK, prep, run, r});
}

int main(int argc, char **argv)
{
    bench_init("fib", &argc, argv);
    ndn_name_hash_init();
    static const struct {
        uint32_t n_prefixes;
        unsigned n_comps, n_lengths;
    } kinds[] = {{10000, 4, 1}, {10000, 8, 1}, {10000, 4, 3}, {10000, 8, 3}, {1000000, 4, 1}, {1000000, 8, 3}};
    unsigned n_kinds = bench_quick() ? 4 : 6;
    for (unsigned i = 0; i < n_kinds; i++) {
        struct routes *r = routes_make(kinds[i].n_prefixes, kinds[i].n_comps, kinds[i].n_lengths);
        add("staged", r, prepare, run_staged);
        add("single", r, prepare, run_single);
        if (kinds[i].n_comps == 4 && kinds[i].n_lengths == 1)
            add("update", r, prepare, run_update);
    }
    struct routes *read = routes_make(10000, 4, 1);
    reader_start(read);
    add("update under reads", read, prepare_read, run_update_read);
    int status = bench_run();
    __atomic_store_n(&read->stop, true, __ATOMIC_RELAXED);
    pthread_join(read->reader, NULL);
    return status;
}
