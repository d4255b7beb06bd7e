// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/auth_replay.h"

#include <stdlib.h>
#include <string.h>

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Also when the clock was set back: times of a clock that was wrong must not shut a key out for ever. */
static bool is_forgotten(uint64_t seen_ms, uint64_t wall_ms)
{
    return distance(seen_ms, wall_ms) >= AUTH_MEMORY_MS;
}

static struct auth_record *find(const struct auth_replay *replay, const uint8_t key[AUTH_KEY_ID])
{
    for (unsigned i = 0; i < replay->n; i++)
        if (memcmp(replay->record[i].key, key, AUTH_KEY_ID) == 0)
            return &replay->record[i];
    return NULL;
}

/* 0: a nonce that is not remembered. */
static uint64_t nonce_digest(const struct auth_signature *signature)
{
    uint8_t digest[NDN_DIGEST_SIZE];
    uint64_t number;
    if (signature->nonce.len < AUTH_NONCE_MIN || !auth_sha256(signature->nonce.p, signature->nonce.len, digest))
        return 0;
    memcpy(&number, digest, sizeof number);
    return number;
}

bool auth_replay_is_new(const struct auth_replay *replay, const uint8_t key[AUTH_KEY_ID],
                        const struct auth_signature *signature, uint64_t wall_ms)
{
    if (distance(signature->time_ms, wall_ms) > AUTH_GRACE_MS)
        return false;
    const struct auth_record *record = find(replay, key);
    if (record == NULL || is_forgotten(record->seen_ms, wall_ms))
        return replay->floor_ms == 0 || is_forgotten(replay->floor_seen_ms, wall_ms) ||
               signature->time_ms > replay->floor_ms;
    uint64_t nonce = nonce_digest(signature);
    for (unsigned i = 0; nonce != 0 && i < AUTH_NONCES; i++)
        if (record->nonce[i] == nonce)
            return false;
    return signature->time_ms > record->time_ms;
}

/* A record for a key that has none: a new one, or the one that was used longest ago. */
static struct auth_record *make_room(struct auth_replay *replay, uint64_t wall_ms)
{
    if (replay->n < AUTH_KEYS_MAX) {
        if (replay->n == replay->room) {
            unsigned room = replay->room > 0 ? replay->room * 2 : 8;
            room = room < AUTH_KEYS_MAX ? room : AUTH_KEYS_MAX;
            struct auth_record *record = realloc(replay->record, room * sizeof *record);
            if (record == NULL)
                return NULL;
            replay->record = record;
            replay->room = room;
        }
        return &replay->record[replay->n++];
    }
    struct auth_record *oldest = replay->record;
    for (unsigned i = 1; i < replay->n; i++)
        if (replay->record[i].seen_ms < oldest->seen_ms)
            oldest = &replay->record[i];
    if (is_forgotten(oldest->seen_ms, wall_ms))
        return oldest;
    if (oldest->time_ms > replay->floor_ms || is_forgotten(replay->floor_seen_ms, wall_ms))
        replay->floor_ms = oldest->time_ms;
    replay->floor_seen_ms = wall_ms;
    return oldest;
}

bool auth_replay_remember(struct auth_replay *replay, const uint8_t key[AUTH_KEY_ID],
                          const struct auth_signature *signature, uint64_t wall_ms)
{
    struct auth_record *record = find(replay, key);
    if (record == NULL) {
        record = make_room(replay, wall_ms);
        if (record == NULL)
            return false;
        memset(record, 0, sizeof *record);
        memcpy(record->key, key, AUTH_KEY_ID);
    }
    record->time_ms = signature->time_ms;
    record->seen_ms = wall_ms;
    uint64_t nonce = nonce_digest(signature);
    if (nonce != 0)
        record->nonce[record->next_nonce++ % AUTH_NONCES] = nonce;
    return true;
}

void auth_replay_clear(struct auth_replay *replay)
{
    free(replay->record);
    memset(replay, 0, sizeof *replay);
}
