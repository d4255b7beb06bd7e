// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_AES128_H
#define PARSER_AES128_H

#include <stdint.h>

#define AES128_BLOCK  16
#define AES128_ROUNDS 10

/** Round keys of AES-128 for both directions. Plain octets, so that AES instructions can use them as they are. */
struct aes128 {
    uint8_t enc[AES128_ROUNDS + 1][AES128_BLOCK];
    uint8_t dec[AES128_ROUNDS + 1][AES128_BLOCK]; /**< of the equivalent inverse cipher (FIPS 197, 5.3.5) */
} __attribute__((aligned(16)));

/** Key schedule (FIPS 197, 5.2). */
void aes128_expand(struct aes128 *aes, const uint8_t key[AES128_BLOCK]);

/**
 * One block, for CPUs without AES instructions: no branch depends on key or data, and the only tables are S-boxes of
 * 256 octets. @p in and @p out may be the same. Any thread.
 */
void aes128_encrypt(const struct aes128 *aes, const uint8_t in[AES128_BLOCK], uint8_t out[AES128_BLOCK]);
void aes128_decrypt(const struct aes128 *aes, const uint8_t in[AES128_BLOCK], uint8_t out[AES128_BLOCK]);

#endif
