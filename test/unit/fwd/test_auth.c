// SPDX-License-Identifier: Apache-2.0
/* Who may command: everybody, or who signs with the key of a certificate. */
#include "auth_maker.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

#define NOW MAKER_NOW

static const enum auth_privilege modules[] = {AUTH_FACES, AUTH_FIB, AUTH_CS, AUTH_STRATEGY_CHOICE};
static const enum auth_privilege rib[] = {AUTH_RIB_LOCALHOST, AUTH_RIB_LOCALHOP};

Test(auth, without_authorizations_everybody_commands_modules_even_unsigned)
{
    static const char listed[] = "authorizations = ( { certfile = \"any\"; privileges = [ \"faces\", \"fib\", "
                                 "\"cs\", \"strategy-choice\" ]; } );";
    static const char *const texts[] = {"cs: { };", "authorizations = ( );", listed};
    uint8_t octets[MAKER_MAX];
    size_t len = maker_unsigned(octets, "/localhost/nfd/faces/create/x");
    for (size_t i = 0; i < 3; i++) {
        struct auth *auth = maker_auth(texts[i]);
        for (size_t m = 0; m < 4; m++)
            cr_expect_eq(auth_command(auth, modules[m], octets, len, NOW), AUTH_ACCEPTED);
        auth_destroy(auth);
    }
}

Test(auth, who_is_not_listed_for_a_module_may_not_command_it)
{
    struct auth *auth = maker_auth("authorizations = ( { certfile = \"any\"; privileges = \"cs\"; } );");
    uint8_t octets[MAKER_MAX];
    struct maker_command command = {.time_ms = NOW};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_CS, octets, len, NOW), AUTH_ACCEPTED);
    cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_REFUSED);
    cr_expect_eq(auth_command(auth, AUTH_STRATEGY_CHOICE, octets, len, NOW), AUTH_REFUSED);
    auth_destroy(auth);
}

/* As the reference forwarder answers with its sample configuration. */
Test(auth, rib_with_any_wants_a_dated_signature_but_does_not_verify_it)
{
    struct auth *auth = maker_auth("rib: { localhop-security = \"any\"; };");
    uint8_t octets[MAKER_MAX];
    for (size_t i = 0; i < 2; i++) {
        size_t len = maker_unsigned(octets, NULL);
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_REFUSED, "unsigned");
        struct maker_command command = {.nonce = 5};
        len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_REFUSED, "without SignatureTime");
        command.time_ms = NOW;
        len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_ACCEPTED, "v0.3");
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_ACCEPTED, "the same again");
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW + 600000), AUTH_ACCEPTED, "from long ago");
        octets[len - 1] ^= 1;
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_ACCEPTED, "wrong signature");
        command.wrong_digest = true;
        len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_ACCEPTED, "wrong parameters digest");
        len = maker_v02(octets, &command);
        cr_expect_eq(auth_command(auth, rib[i], octets, len, NOW), AUTH_ACCEPTED, "v0.2");
    }
    auth_destroy(auth);
}

Test(auth, rib_without_anchors_takes_no_command)
{
    struct auth *auth = maker_auth("rib: { localhost-security = [ ]; };");
    uint8_t octets[MAKER_MAX];
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct maker_command command = {.key = &key, .time_ms = NOW};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, NOW), AUTH_REFUSED);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOP, octets, len, NOW), AUTH_REFUSED);
    auth_destroy(auth);
    maker_key_free(&key);
}

/* Both formats, KeyLocator by key and by certificate, with nonce and without. */
static void expect_key_works(unsigned type)
{
    struct maker_key key;
    maker_key(&key, type, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    uint64_t time = NOW;
    for (unsigned i = 0; i < 8; i++) {
        struct maker_command command = {.key = &key, .time_ms = ++time, .nonce = i & 5 ? i + 1 : 0};
        command.locator = i & 2 ? "/op/KEY/1/self/v=1" : NULL;
        size_t len = i & 4 ? maker_v02(octets, &command) : maker_signed(octets, &command);
        cr_expect_eq(auth_is_command_v02(octets, len), (i & 4) != 0);
        for (size_t p = 0; p < 4; p++)
            cr_expect_eq(auth_command(auth, modules[p], octets, len, NOW), AUTH_ACCEPTED, "type %u way %u", type, i);
        for (size_t p = 0; p < 2; p++)
            cr_expect_eq(auth_command(auth, rib[p], octets, len, NOW), AUTH_ACCEPTED, "type %u way %u", type, i);
    }
    auth_destroy(auth);
    maker_key_free(&key);
}

Test(auth, ecdsa_signatures_are_verified)
{
    expect_key_works(3);
}

Test(auth, rsa_signatures_are_verified)
{
    expect_key_works(1);
}

Test(auth, ed25519_signatures_are_verified)
{
    expect_key_works(5);
}

/* M04 */
Test(auth, unsigned_commands_are_clearly_malformed_where_a_certificate_is_required)
{
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    size_t len = maker_unsigned(octets, NULL);
    for (size_t p = 0; p < 4; p++)
        cr_expect_eq(auth_command(auth, modules[p], octets, len, NOW), AUTH_MALFORMED);
    // The RIB's answer is 403, as the reference forwarder's.
    for (size_t p = 0; p < 2; p++)
        cr_expect_eq(auth_command(auth, rib[p], octets, len, NOW), AUTH_REFUSED);
    auth_destroy(auth);
    maker_key_free(&key);
}

/* M05 */
Test(auth, a_stranger_is_refused_whatever_name_its_key_has)
{
    struct maker_key key, stranger, namesake;
    maker_key(&key, 3, "/op/KEY/1");
    maker_key(&stranger, 3, "/stranger/KEY/1");
    maker_key(&namesake, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    const struct maker_key *const keys[] = {&stranger, &namesake};
    for (size_t i = 0; i < 2; i++) {
        struct maker_command command = {.key = keys[i], .time_ms = NOW};
        size_t len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
        cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, NOW), AUTH_REFUSED);
        len = maker_v02(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
    }
    // What a stranger sent has not used up the time.
    struct maker_command command = {.key = &key, .time_ms = NOW};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_ACCEPTED);
    auth_destroy(auth);
    maker_key_free(&key);
    maker_key_free(&stranger);
    maker_key_free(&namesake);
}

/* M06 */
Test(auth, times_are_within_two_minutes_of_now)
{
    static const struct {
        int64_t offset;
        enum auth_result result;
    } cases[] = {{-120001, AUTH_REPLAYED}, {-121000, AUTH_REPLAYED}, {121000, AUTH_REPLAYED}, {120001, AUTH_REPLAYED},
                 {-120000, AUTH_ACCEPTED}, {0, AUTH_ACCEPTED},       {120000, AUTH_ACCEPTED}};
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct maker_command command = {.key = &key, .time_ms = NOW + (uint64_t)cases[i].offset, .nonce = i + 1};
        size_t len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), cases[i].result, "%ld", (long)cases[i].offset);
        len = maker_v02(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_CS, octets, len, NOW), cases[i].result, "%ld", (long)cases[i].offset);
    }
    struct maker_command undated = {.key = &key};
    size_t len = maker_signed(octets, &undated);
    cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, NOW), AUTH_REFUSED);
    auth_destroy(auth);
    maker_key_free(&key);
}

/* M07 */
Test(auth, replays_and_older_times_of_a_key_are_refused)
{
    struct maker_key key, other;
    maker_key(&key, 5, "/op/KEY/1");
    maker_key(&other, 5, "/op/KEY/2");
    uint8_t octets[MAKER_MAX];
    struct auth *auth = maker_trusting(&key, NULL);
    struct maker_command command = {.key = &key, .time_ms = NOW, .nonce = 77};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_ACCEPTED);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_REPLAYED);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW + 119000), AUTH_REPLAYED);
    command.time_ms = NOW - 1;
    len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_REPLAYED);
    // By another of its names, in another format.
    command.locator = "/op/KEY/1/self/v=1";
    len = maker_v02(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_REPLAYED);
    command.time_ms = NOW + 1;
    command.nonce = 78;
    len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_ACCEPTED);
    auth_destroy(auth);
    maker_key_free(&key);
    maker_key_free(&other);
}

Test(auth, a_nonce_that_a_key_used_does_not_count_again)
{
    struct maker_key key;
    maker_key(&key, 5, "/op/KEY/1");
    uint8_t octets[MAKER_MAX];
    struct auth *auth = maker_trusting(&key, NULL);
    struct maker_command command = {.key = &key, .time_ms = NOW, .nonce = 77};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_ACCEPTED);
    command.time_ms = NOW + 1;
    len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_REPLAYED);
    // Short ones repeat by chance.
    for (unsigned i = 2; i < 5; i++) {
        command.time_ms = NOW + i;
        command.nonce_len = 4;
        len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FIB, octets, len, NOW), AUTH_ACCEPTED);
    }
    auth_destroy(auth);
    maker_key_free(&key);
}

/* M10 */
Test(auth, a_digest_is_no_signature_where_a_certificate_is_required)
{
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    struct maker_command command = {.time_ms = NOW};
    for (unsigned i = 0; i < 2; i++) {
        command.locator = i == 0 ? NULL : "/op/KEY/1";
        size_t len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
        cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, NOW), AUTH_REFUSED);
        len = maker_v02(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
    }
    auth_destroy(auth);
    maker_key_free(&key);
}

/* M11 */
Test(auth, a_wrong_parameters_digest_is_refused)
{
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    struct maker_command command = {.key = &key, .time_ms = NOW, .wrong_digest = true};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, NOW), AUTH_REFUSED);
    auth_destroy(auth);
    maker_key_free(&key);
}

Test(auth, a_signature_without_a_key_locator_is_malformed)
{
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    struct maker_command command = {.key = &key, .time_ms = NOW, .locator = ""};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_MALFORMED);
    auth_destroy(auth);
    maker_key_free(&key);
}

Test(auth, an_algorithm_other_than_the_keys_is_refused)
{
    struct maker_key key;
    maker_key(&key, 3, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX];
    static const unsigned types[] = {MAKER_CLAIM_DIGEST, 1, 2, 4, 5, 6, 200, 100000};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct maker_command command = {.key = &key, .time_ms = NOW, .type = types[i]};
        size_t len = maker_signed(octets, &command);
        cr_expect_eq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_REFUSED, "%u", types[i]);
    }
    auth_destroy(auth);
    maker_key_free(&key);
}

/* Where the octets stand that no signature covers: between the name and the parameters. */
static size_t find_uncovered(const uint8_t *octets, size_t len)
{
    size_t at = len;
    for (size_t i = 0; i + sizeof maker_uncovered <= len; i++)
        if (memcmp(octets + i, maker_uncovered, sizeof maker_uncovered) == 0)
            at = i;
    cr_assert_lt(at, len);
    return at;
}

static void expect_tampering_is_seen(size_t (*make)(uint8_t *, const struct maker_command *), unsigned type)
{
    struct maker_key key;
    maker_key(&key, type, "/op/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL);
    uint8_t octets[MAKER_MAX], good[MAKER_MAX];
    struct maker_command command = {.key = &key, .time_ms = NOW, .nonce = 9};
    size_t len = make(good, &command), uncovered = find_uncovered(good, len);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        memcpy(octets, good, len);
        octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (bit / 8 < uncovered || bit / 8 >= uncovered + sizeof maker_uncovered)
            cr_expect_neq(auth_command(auth, AUTH_FACES, octets, len, NOW), AUTH_ACCEPTED, "type %u: bit %zu", type,
                          bit);
    }
    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, good, cut);
        cr_expect_eq(auth_command(auth, AUTH_FACES, exact, cut, NOW), AUTH_MALFORMED, "cut to %zu", cut);
        free(exact);
    }
    // Consumers and forwarders may choose another Nonce.
    good[uncovered + sizeof maker_uncovered - 1] ^= 0xff;
    cr_expect_eq(auth_command(auth, AUTH_FACES, good, len, NOW), AUTH_ACCEPTED);
    auth_destroy(auth);
    maker_key_free(&key);
}

Test(auth, every_signed_octet_that_is_tampered_with_is_seen)
{
    expect_tampering_is_seen(maker_signed, 3);
    expect_tampering_is_seen(maker_signed, 5);
}

Test(auth, every_signed_octet_of_a_v02_command_that_is_tampered_with_is_seen)
{
    expect_tampering_is_seen(maker_v02, 3);
    expect_tampering_is_seen(maker_v02, 5);
}
