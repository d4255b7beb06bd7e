// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_TOKEN_H
#define FWD_TOKEN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * Our PIT token: eight octets that lead Data and Nacks back to their PIT entry without hashing. A hint only: the
 * check bits keep strangers' tokens from pointing anywhere, and name, generation and out-record are compared before
 * the entry is believed.
 */
#define TOKEN_SIZE            8
#define TOKEN_SLOT_BITS       28
#define TOKEN_WORKER_BITS     6
#define TOKEN_GENERATION_BITS 16
#define TOKEN_BODY_BITS       (TOKEN_SLOT_BITS + TOKEN_WORKER_BITS + TOKEN_GENERATION_BITS)

struct token {
    uint32_t slot;
    uint16_t generation;
    uint8_t worker;
};

static inline uint64_t token_check(uint64_t body, const uint64_t key[2])
{
    uint64_t x = (body ^ key[0]) * (key[1] | 1);
    x ^= x >> 32;
    x *= key[1] | 1;
    return x & ~((1ull << TOKEN_BODY_BITS) - 1);
}

/** Write a token of eight octets (host order: it is opaque to everyone else). slot < 2^28, worker < 64 */
static inline void token_write(uint8_t octets[TOKEN_SIZE], struct token token, const uint64_t key[2])
{
    uint64_t body = token.slot | (uint64_t)token.worker << TOKEN_SLOT_BITS |
                    (uint64_t)token.generation << (TOKEN_SLOT_BITS + TOKEN_WORKER_BITS);
    body |= token_check(body, key);
    memcpy(octets, &body, sizeof body);
}

/** Read a token. @return false when it is not one of ours; *token is then unchanged */
static inline bool token_read(const uint8_t *octets, uint8_t len, const uint64_t key[2], struct token *token)
{
    if (len != TOKEN_SIZE)
        return false;
    uint64_t word;
    memcpy(&word, octets, sizeof word);
    uint64_t body = word & ((1ull << TOKEN_BODY_BITS) - 1);
    if ((word ^ body) != token_check(body, key))
        return false;
    token->slot = (uint32_t)(body & ((1u << TOKEN_SLOT_BITS) - 1));
    token->worker = (uint8_t)(body >> TOKEN_SLOT_BITS & ((1u << TOKEN_WORKER_BITS) - 1));
    token->generation = (uint16_t)(body >> (TOKEN_SLOT_BITS + TOKEN_WORKER_BITS));
    return true;
}

#endif
