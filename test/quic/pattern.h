// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_QUIC_PATTERN_H
#define TEST_QUIC_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a transfer consists of: pseudo-random octets with a long period that no packet size divides, the same for every
 * transfer. Octets that are lost, doubled, swapped or changed show at their offset.
 */

/** The octets from @p offset on, in memory that stays. @param len in: wanted, out: there, less at the period's end */
uint8_t *pattern_at(uint64_t offset, size_t *len);

/** Are these the octets at @p offset? */
bool pattern_check(uint64_t offset, const uint8_t *data, size_t len);

#endif
