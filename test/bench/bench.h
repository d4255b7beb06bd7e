// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BENCH_BENCH_H
#define TEST_BENCH_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * Harness of the benchmarks: measures ratios that repeat on a shared machine. Every case does a fixed chunk of
 * operations, timed as a whole; the cases run in turn (A B C A B C ...), so that a slow minute slows all of them;
 * median and 10th percentile over many chunks are printed, next to a calibration loop of fixed work. Pins the thread
 * to one CPU. A program has one bench:
 *
 *     bench_init("table", &argc, argv);          options below are taken out of argv; the rest is the program's
 *     bench_add(&(struct bench_case){"insert", 1024, prepare, run, &ctx});
 *     return bench_run();
 *
 * Options: --json (exactly one JSON document on stdout), --quick (few chunks, for smoke tests), --chunks N, --cpu N,
 * --only TEXT (cases whose name has TEXT).
 */
struct bench_case {
    const char *name;           /**< plain text without quotes; must outlive bench_run() */
    uint32_t n_ops;             /**< operations in one chunk */
    void (*prepare)(void *ctx); /**< before each chunk, not timed; NULL allowed */
    void (*run)(void *ctx);     /**< one chunk; NULL: this case is fed by bench_sample() alone */
    void *ctx;
};

/** Read the harness's options and remove them from @p argv. Exits with 2 on a bad one. */
void bench_init(const char *bench, int *argc, char **argv);

/** Register a case. @return its number, for bench_sample() */
int bench_add(const struct bench_case *c);

/**
 * Begin a new group with the cases added from now on: cases of a group run in turn, groups one after another, so that
 * the large tables of one do not take the cache from another. Ratios are to be read within a group.
 */
void bench_group(void);

/** Add one chunk, measured by the caller, to a case: @p ticks for @p n_ops operations. For splits of a longer run. */
void bench_sample(int number, uint64_t ticks, uint64_t n_ops);

/** Chunks of each case unless options say otherwise: short ones have to be many. Before bench_run(). */
void bench_chunks(uint32_t n);

/** True when only a smoke test is wanted: make tables small. */
bool bench_quick(void);

/** Run all cases in turn and print. @return exit status for main() */
int bench_run(void);

/** Time stamp for bench_sample(): reference cycles, or nanoseconds where there is no such counter. */
static inline uint64_t bench_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

/** Keep a result from being optimised away. */
static inline void bench_use(uint64_t value)
{
    __asm__ volatile("" ::"r"(value) : "memory");
}

/** Next of a sequence of reproducible random numbers (xorshift64*); @p state is not 0. */
static inline uint64_t bench_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

#endif
