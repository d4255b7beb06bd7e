// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BENCH_BENCH_QUIC_H
#define TEST_BENCH_BENCH_QUIC_H

/** The cases of Retry. Starts EAL. */
void bench_quic_retry_add(void);

#endif
