// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BENCH_PIPELINE_WORKERS_H
#define TEST_BENCH_PIPELINE_WORKERS_H

/**
 * Add the cases of two workers on two CPUs: one of them alone, both at once, and packets that arrive at the wrong one.
 * A second CPU is taken from those that this process may use at its start, so to be called before bench_init().
 */
void pipeline_workers_cpus(void);
void pipeline_workers_add(unsigned comps, unsigned live, unsigned payload, unsigned cs);

#endif
