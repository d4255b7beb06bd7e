// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_RANDOM_H
#define PARSER_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Where the keys of hashes and tokens, nonces and other choices that a stranger must not foresee come from, so that all
 * of them can be fixed at once where the same input has to give the same output. The only place with a getrandom(2) for
 * what the data path uses.
 */

/**
 * Fill @p out from getrandom(2), or after random_fix() with the next octets of the fixed sequence. Any thread; after
 * random_fix() one thread only.
 *
 * @return 0, or -EIO
 */
int random_octets(void *out, size_t len);

/** From now on the octets are those of a sequence that @p seed alone decides, on every machine. For replays, tests. */
void random_fix(uint64_t seed);

#endif
