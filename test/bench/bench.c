// SPDX-License-Identifier: Apache-2.0
#include "test/bench/bench.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES_MAX       128
#define CALIBRATION_OPS 10000
#define CHUNKS_DEFAULT  301
#define CHUNKS_QUICK    3

struct series {
    struct bench_case c;
    double *ticks; /**< per operation, one for each chunk */
    uint32_t n, size;
    int group;
};

static struct {
    const char *name;
    const char *only;
    bool json, quick;
    bool warm; /**< samples are not kept */
    int cpu;
    uint32_t n_chunks;
    int n_cases, group;
    struct series series[CASES_MAX];
    struct series calibration;
    uint64_t start_ticks, start_ns;
} bench = {.cpu = -1};

static uint64_t clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void usage(const char *wrong)
{
    fprintf(stderr, "bench_%s: bad value for %s\noptions: --json --quick --chunks N --cpu N --only TEXT\n", bench.name,
            wrong);
    exit(2);
}

static uint32_t number_option(const char *option, const char *text)
{
    char *end;
    unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;
    if (text == NULL || end == text || *end != '\0' || value > 1000000)
        usage(option);
    return (uint32_t)value;
}

/** A CPU must be chosen once: migration shows as a slow chunk. The last allowed one is the least busy as a rule. */
static void pin(void)
{
    cpu_set_t set;
    if (bench.cpu < 0 && sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int i = 0; i < CPU_SETSIZE; i++) {
            if (CPU_ISSET(i, &set))
                bench.cpu = i;
        }
    }
    CPU_ZERO(&set);
    if (bench.cpu < 0 || bench.cpu >= CPU_SETSIZE)
        usage("--cpu");
    CPU_SET(bench.cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        usage("--cpu");
}

void bench_init(const char *name, int *argc, char **argv)
{
    bench.name = name;
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *option = argv[i];
        if (strcmp(option, "--json") == 0) {
            bench.json = true;
        } else if (strcmp(option, "--quick") == 0) {
            bench.quick = true;
        } else if (strcmp(option, "--chunks") == 0) {
            bench.n_chunks = number_option(option, i + 1 < *argc ? argv[++i] : NULL);
        } else if (strcmp(option, "--cpu") == 0) {
            bench.cpu = (int)number_option(option, i + 1 < *argc ? argv[++i] : NULL);
        } else if (strcmp(option, "--only") == 0) {
            bench.only = i + 1 < *argc ? argv[++i] : NULL;
            if (bench.only == NULL)
                usage(option);
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    argv[kept] = NULL;
    if (bench.n_chunks == 0 && bench.quick)
        bench.n_chunks = CHUNKS_QUICK;
    pin();
    bench.start_ticks = bench_ticks();
    bench.start_ns = clock_ns();
}

void bench_group(void)
{
    bench.group++;
}

void bench_chunks(uint32_t n)
{
    if (bench.n_chunks == 0)
        bench.n_chunks = n;
}

bool bench_quick(void)
{
    return bench.quick;
}

int bench_add(const struct bench_case *c)
{
    if (bench.n_cases == CASES_MAX || c->n_ops == 0) {
        fprintf(stderr, "bench_%s: cannot add case %s\n", bench.name, c->name);
        exit(1);
    }
    bench.series[bench.n_cases].c = *c;
    bench.series[bench.n_cases].group = bench.group;
    return bench.n_cases++;
}

static void add_sample(struct series *s, double ticks_per_op)
{
    if (s->n == s->size) {
        s->size = s->size != 0 ? 2 * s->size : 1024;
        s->ticks = realloc(s->ticks, s->size * sizeof *s->ticks);
        if (s->ticks == NULL) {
            perror("bench");
            exit(1);
        }
    }
    s->ticks[s->n++] = ticks_per_op;
}

void bench_sample(int number, uint64_t ticks, uint64_t n_ops)
{
    if (n_ops != 0 && !bench.warm)
        add_sample(&bench.series[number], (double)ticks / (double)n_ops);
}

/** Fixed work without memory: shows which speed state the machine is in. */
static void calibrate(void *ctx)
{
    (void)ctx;
    uint64_t x = 1;
    for (unsigned i = 0; i < CALIBRATION_OPS; i++) {
        x = x * 6364136223846793005u + 1;
        bench_use(x);
    }
}

static bool wanted(const struct series *s)
{
    return bench.only == NULL || strstr(s->c.name, bench.only) != NULL;
}

static void run_chunk(struct series *s)
{
    if (s->c.prepare != NULL)
        s->c.prepare(s->c.ctx);
    uint64_t start = bench_ticks();
    s->c.run(s->c.ctx);
    uint64_t ticks = bench_ticks() - start;
    if (!bench.warm)
        add_sample(s, (double)ticks / s->c.n_ops);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const struct series *s, double q, double ns_per_tick)
{
    return s->n == 0 ? 0 : s->ticks[(uint32_t)(q * (s->n - 1) + 0.5)] * ns_per_tick;
}

static void sort_series(struct series *s)
{
    if (s->n != 0)
        qsort(s->ticks, s->n, sizeof *s->ticks, compare);
}

static void print_results(double ns_per_tick)
{
    double calibration = quantile(&bench.calibration, 0.1, ns_per_tick);
    if (bench.json)
        printf("{\"bench\": \"%s\", \"cases\": [", bench.name);
    else
        printf("%-48s %12s %12s %8s\n", bench.name, "median ns", "p10 ns", "chunks");
    const char *separator = "";
    for (int i = 0; i < bench.n_cases; i++) {
        struct series *s = &bench.series[i];
        if (!wanted(s))
            continue;
        sort_series(s);
        double median = quantile(s, 0.5, ns_per_tick), p10 = quantile(s, 0.1, ns_per_tick);
        if (bench.json)
            printf("%s\n{\"name\": \"%s\", \"ns_median\": %.3f, \"ns_p10\": %.3f, \"chunks\": %" PRIu32 "}", separator,
                   s->c.name, median, p10, s->n);
        else
            printf("%-48s %12.2f %12.2f %8" PRIu32 "\n", s->c.name, median, p10, s->n);
        separator = ",";
    }
    if (bench.json)
        printf("],\n\"calibration_ns\": %.4f}\n", calibration);
    else
        printf("%-48s %12s %12.4f\n", "calibration (one multiply and add)", "", calibration);
}

/** The first tenth of the rounds, and one at least, only warms caches and branch predictors. */
static void run_group(int group)
{
    uint32_t n_warm = 1 + bench.n_chunks / 10;
    for (uint32_t round = 0; round < n_warm + bench.n_chunks; round++) {
        bench.warm = round < n_warm;
        run_chunk(&bench.calibration);
        for (int i = 0; i < bench.n_cases; i++) {
            struct series *s = &bench.series[i];
            if (s->c.run != NULL && s->group == group && wanted(s))
                run_chunk(s);
        }
    }
    bench.warm = false;
}

int bench_run(void)
{
    bench_chunks(CHUNKS_DEFAULT);
    bench.calibration.c = (struct bench_case){.name = "calibration", .n_ops = CALIBRATION_OPS, .run = calibrate};
    for (int group = 0; group <= bench.group; group++)
        run_group(group);
    while (clock_ns() - bench.start_ns < 20000000) {
        // Too short a time would give a rough frequency.
    }
    uint64_t ns = clock_ns() - bench.start_ns;
    double ns_per_tick = (double)ns / (double)(bench_ticks() - bench.start_ticks);
    sort_series(&bench.calibration);
    print_results(ns_per_tick);
    for (int i = 0; i < bench.n_cases; i++)
        free(bench.series[i].ticks);
    free(bench.calibration.ticks);
    return fflush(stdout) == 0 ? 0 : 1;
}
