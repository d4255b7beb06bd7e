// SPDX-License-Identifier: Apache-2.0
/* Certificates, commands and announcements that other implementations have signed. */
#include "auth_maker.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/auth_packet.h"

struct vector {
    char name[40];
    uint8_t octets[2000];
    size_t len;
};

static struct vector vectors[64];
static unsigned n_vectors;

static void load(void)
{
    static char line[6000], hex[5000];
    FILE *file = fopen(AUTH_VECTORS, "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        struct vector *v = &vectors[n_vectors];
        if (line[0] == '#')
            continue;
        cr_assert_eq(sscanf(line, "%39s %4999s", v->name, hex), 2);
        v->len = strlen(hex) / 2;
        cr_assert_leq(v->len, sizeof v->octets);
        for (size_t i = 0; i < v->len; i++) {
            unsigned octet = 0;
            cr_assert_eq(sscanf(hex + 2 * i, "%2x", &octet), 1);
            v->octets[i] = (uint8_t)octet;
        }
        n_vectors++;
    }
    fclose(file);
    cr_assert_geq(n_vectors, 18);
}

static const struct vector *find(const char *name)
{
    for (unsigned i = 0; i < n_vectors; i++)
        if (strcmp(vectors[i].name, name) == 0)
            return &vectors[i];
    cr_assert_fail("%s", name);
    return NULL;
}

/* An auth that trusts the certificate of that vector for everything. */
static struct auth *trusting(const char *name)
{
    const struct vector *v = find(name);
    char *base64 = maker_base64(v->octets, v->len), *text = NULL;
    cr_assert_gt(asprintf(&text,
                          "authorizations = ( { certfile = \"%s\"; privileges = \"cs\"; } );\n"
                          "rib: { localhost-security = \"%s\"; };",
                          base64, base64),
                 0);
    struct auth *auth = maker_auth(text);
    free(text);
    free(base64);
    return auth;
}

/* Ask at the time that the command itself tells. */
static enum auth_result ask(struct auth *auth, enum auth_privilege privilege, const uint8_t *octets, size_t len)
{
    struct auth_signature signature;
    cr_assert_leq(auth_interest_parse(octets, len, &signature), AUTH_COMMAND_V02);
    return auth_command(auth, privilege, octets, len, signature.time_ms);
}

static void expect_accepted(const char *certificate, const char *command)
{
    struct auth *auth = trusting(certificate);
    unsigned n = 0;
    for (unsigned i = 0; i < n_vectors; i++) {
        const struct vector *v = &vectors[i];
        bool ours = strcmp(v->name, command) == 0;
        bool is_command = strstr(v->name, "command") != NULL;
        if (!ours && !is_command)
            continue;
        enum auth_result result = ask(auth, AUTH_CS, v->octets, v->len);
        cr_expect_eq(result, ours ? AUTH_ACCEPTED : AUTH_REFUSED, "%s under %s: %d", v->name, certificate, result);
        if (!ours)
            continue;
        n++;
        uint8_t octets[2000];
        // The last octet of a v0.2 command's signature is not that of the packet.
        struct auth_signature signature;
        memcpy(octets, v->octets, v->len);
        auth_interest_parse(octets, v->len, &signature);
        octets[signature.value.p + signature.value.len - 1 - octets] ^= 1;
        cr_expect_eq(ask(auth, AUTH_RIB_LOCALHOST, octets, v->len), AUTH_REFUSED, "%s", v->name);
        cr_expect_eq(ask(auth, AUTH_RIB_LOCALHOST, v->octets, v->len), AUTH_ACCEPTED, "%s", v->name);
    }
    cr_expect_gt(n, 0);
    auth_destroy(auth);
}

Test(auth_vectors, ecdsa_by_NDNts, .init = load)
{
    expect_accepted("ecdsa-certificate", "ecdsa-command");
    expect_accepted("ecdsa384-certificate", "ecdsa384-command");
}

Test(auth_vectors, rsa_by_NDNts, .init = load)
{
    expect_accepted("rsa-certificate", "rsa-command");
}

Test(auth_vectors, ed25519_by_NDNts, .init = load)
{
    expect_accepted("ed25519-certificate", "ed25519-command");
}

Test(auth_vectors, command_interest_v02_by_ndn_js, .init = load)
{
    expect_accepted("js-rsa-certificate", "js-rsa-v02");
    cr_expect(auth_is_command_v02(find("js-rsa-v02")->octets, find("js-rsa-v02")->len));
    cr_expect_not(auth_is_command_v02(find("rsa-command")->octets, find("rsa-command")->len));
}

Test(auth_vectors, hmac_by_NDNts, .init = load)
{
    char folder[128], text[300];
    maker_folder(folder);
    maker_file(folder, "key", find("hmac-key")->octets, find("hmac-key")->len);
    snprintf(text, sizeof text, "authorizations = ( { certfile = \"hmac:%s/key\"; privileges = \"cs\"; } );", folder);
    struct auth *auth = maker_auth(text);
    const struct vector *v = find("hmac-command");
    cr_expect_eq(ask(auth, AUTH_CS, v->octets, v->len), AUTH_ACCEPTED);
    cr_expect_eq(ask(auth, AUTH_CS, v->octets, v->len), AUTH_REPLAYED);
    auth_destroy(auth);
    maker_folder_remove(folder);
}

Test(auth_vectors, digest_by_NDNts_is_enough_for_any, .init = load)
{
    struct auth *any = maker_auth("cs: { };"), *strict = trusting("ecdsa-certificate");
    const struct vector *v = find("digest-command");
    cr_expect_eq(ask(any, AUTH_RIB_LOCALHOST, v->octets, v->len), AUTH_ACCEPTED);
    cr_expect_eq(ask(strict, AUTH_RIB_LOCALHOST, v->octets, v->len), AUTH_REFUSED);
    auth_destroy(any);
    auth_destroy(strict);
}

Test(auth_vectors, chain_and_announcement_by_NDNts, .init = load)
{
    const struct vector *anchor = find("chain-anchor"), *certificate = find("chain-certificate");
    char *first = maker_base64(anchor->octets, anchor->len),
         *second = maker_base64(certificate->octets, certificate->len);
    char *text = NULL;
    cr_assert_gt(asprintf(&text,
                          "rib: { localhost-security = \"%s\"; certificates = \"%s\"; "
                          "prefix-announcement-validation = \"%s\"; };",
                          first, second, first),
                 0);
    struct auth *auth = maker_auth(text);
    const struct vector *v = find("chain-command");
    cr_expect_eq(ask(auth, AUTH_RIB_LOCALHOST, v->octets, v->len), AUTH_ACCEPTED);
    v = find("announcement");
    // Its certificates hold from 2025 to 2035.
    const uint64_t in_2024 = UINT64_C(1720000000000), in_2026 = UINT64_C(1780000000000),
                   in_2036 = UINT64_C(2090000000000);
    cr_expect_eq(auth_data(auth, AUTH_ANNOUNCEMENT, v->octets, v->len, in_2026), AUTH_ACCEPTED);
    cr_expect_eq(auth_data(auth, AUTH_ANNOUNCEMENT, v->octets, v->len, in_2024), AUTH_REFUSED);
    cr_expect_eq(auth_data(auth, AUTH_ANNOUNCEMENT, v->octets, v->len, in_2036), AUTH_REFUSED);
    auth_destroy(auth);
    free(text);
    free(first);
    free(second);
}
