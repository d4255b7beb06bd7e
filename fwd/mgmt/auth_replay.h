// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_REPLAY_H
#define FWD_MGMT_AUTH_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/mgmt/auth_key.h"

/*
 * Memory of the last command of each key, so that none counts twice: times within a grace period around now, strictly
 * increasing for each key, and nonces that are not repeated.
 */

#define AUTH_GRACE_MS  120000
#define AUTH_MEMORY_MS 3600000
#define AUTH_KEYS_MAX  1000
/** Nonces of a key that are remembered; those of less than eight octets repeat by chance and are not. */
#define AUTH_NONCES    16
#define AUTH_NONCE_MIN 8

struct auth_record {
    uint8_t key[AUTH_KEY_ID];
    uint64_t time_ms; /**< of its last command */
    uint64_t seen_ms; /**< when that came */
    uint32_t next_nonce;
    uint64_t nonce[AUTH_NONCES]; /**< digests; 0: none */
};

/** Zeroed: empty. */
struct auth_replay {
    struct auth_record *record;
    unsigned n, room;
    /**
     * Commands of keys without a record must be younger than every command of a key whose record was taken away for
     * another: else filling the memory would make what the forgotten key said count again.
     */
    uint64_t floor_ms, floor_seen_ms;
};

/** May a command of this key and time count? Nothing is remembered yet: its signature may be wrong. */
bool auth_replay_is_new(const struct auth_replay *replay, const uint8_t key[AUTH_KEY_ID],
                        const struct auth_signature *signature, uint64_t wall_ms);

/** Remember a command whose signature is right. @return false without memory: then it does not count */
bool auth_replay_remember(struct auth_replay *replay, const uint8_t key[AUTH_KEY_ID],
                          const struct auth_signature *signature, uint64_t wall_ms);

void auth_replay_clear(struct auth_replay *replay);

#endif
