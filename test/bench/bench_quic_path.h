// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_BENCH_BENCH_QUIC_PATH_H
#define TEST_BENCH_BENCH_QUIC_PATH_H

/** Add the cases of whole packets: from frames in a burst to frames in the transmit array. */
void quic_path_add(void);

#endif
