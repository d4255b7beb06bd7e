// SPDX-License-Identifier: Apache-2.0
/* Memory of commands against a model: nothing that counted may count again while its time is within the grace. */
#include "fwd/mgmt/auth_replay.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define START    UINT64_C(1700000000000)
#define COMMANDS 40000
#define KEYS     3000

static void key_of(unsigned n, uint8_t key[AUTH_KEY_ID])
{
    memset(key, 0, AUTH_KEY_ID);
    memcpy(key, &n, sizeof n);
}

static bool send(struct auth_replay *replay, unsigned n, uint64_t time_ms, uint64_t wall_ms)
{
    uint8_t key[AUTH_KEY_ID];
    struct auth_signature signature = {.time_ms = time_ms, .has_time = true};
    key_of(n, key);
    return auth_replay_is_new(replay, key, &signature, wall_ms) &&
           auth_replay_remember(replay, key, &signature, wall_ms);
}

Test(auth_replay, nothing_counts_twice_however_many_keys_there_are)
{
    struct sent {
        unsigned key;
        uint64_t time_ms;
    } *sent = calloc(COMMANDS, sizeof *sent);
    struct auth_replay replay = {0};
    unsigned short seed[3] = {1, 2, 3};
    uint64_t now = START;
    unsigned n = 0, again = 0;
    for (unsigned i = 0; i < COMMANDS; i++) {
        now += (uint64_t)(nrand48(seed) % 40);
        if (n > 0 && nrand48(seed) % 2 == 0) {
            const struct sent *old = &sent[(unsigned)nrand48(seed) % n];
            cr_assert_not(send(&replay, old->key, old->time_ms, now), "command %u", i);
            again++;
            continue;
        }
        unsigned key = (unsigned)nrand48(seed) % KEYS;
        // Clocks of the senders differ.
        uint64_t time = now + key % 7 * 1000;
        if (send(&replay, key, time, now))
            sent[n++] = (struct sent){key, time};
    }
    cr_expect_eq(replay.n, AUTH_KEYS_MAX);
    cr_expect_gt(n, COMMANDS / 20);
    cr_expect_gt(again, COMMANDS / 3);
    auth_replay_clear(&replay);
    free(sent);
}

Test(auth_replay, a_key_is_forgotten_after_an_hour_and_when_the_clock_was_wrong)
{
    struct auth_replay replay = {0};
    cr_expect(send(&replay, 1, START, START));
    cr_expect_not(send(&replay, 1, START - 1, START + 1));
    // The clock is set back by a day: what came before was in the future.
    uint64_t day = UINT64_C(86400000);
    cr_expect(send(&replay, 1, START - day, START - day));
    cr_expect_not(send(&replay, 1, START - day, START - day));
    auth_replay_clear(&replay);
}

Test(auth_replay, the_floor_is_forgotten_after_an_hour)
{
    struct auth_replay replay = {0};
    for (unsigned i = 0; i <= AUTH_KEYS_MAX; i++)
        cr_expect(send(&replay, i, START + AUTH_GRACE_MS, START + i));
    cr_expect_eq(replay.floor_ms, START + AUTH_GRACE_MS);
    // Of a key that was never seen: as old as what was forgotten, so who knows.
    cr_expect_not(send(&replay, 5000, START + 60000, START + 60000));
    cr_expect(send(&replay, 5001, START + AUTH_GRACE_MS + 1, START + 60000));
    uint64_t later = START + 60000 + AUTH_MEMORY_MS;
    cr_expect(send(&replay, 5002, later - 1000, later));
    auth_replay_clear(&replay);
}

Test(auth_replay, the_last_sixteen_nonces_are_remembered)
{
    struct auth_replay replay = {0};
    uint8_t key[AUTH_KEY_ID] = {1};
    for (uint64_t i = 0; i < 40; i++) {
        for (uint64_t back = 1; back <= i && back <= AUTH_NONCES; back++) {
            uint64_t old = i - back;
            struct auth_signature repeated = {.time_ms = START + i, .nonce = {(const uint8_t *)&old, sizeof old}};
            cr_expect_not(auth_replay_is_new(&replay, key, &repeated, START + i));
        }
        struct auth_signature fresh = {.time_ms = START + i, .nonce = {(const uint8_t *)&i, sizeof i}};
        cr_expect(auth_replay_is_new(&replay, key, &fresh, START + i));
        cr_expect(auth_replay_remember(&replay, key, &fresh, START + i));
    }
    auth_replay_clear(&replay);
}
