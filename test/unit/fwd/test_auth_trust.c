// SPDX-License-Identifier: Apache-2.0
/* Trust anchors: certificates, chains of them, folders, HMAC keys; prefix announcements. */
#include "auth_maker.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

#define NOW MAKER_NOW

static enum auth_result send(struct auth *auth, const struct maker_key *key, const char *locator, uint64_t time_ms)
{
    uint8_t octets[MAKER_MAX];
    struct maker_command command = {.key = key, .locator = locator, .time_ms = time_ms};
    size_t len = maker_signed(octets, &command);
    return auth_command(auth, AUTH_RIB_LOCALHOP, octets, len, time_ms);
}

/* Base64 as tools write it, in lines of 64. */
static size_t in_lines(char *lines, const uint8_t *octets, size_t len)
{
    char *base64 = maker_base64(octets, len);
    size_t n = 0;
    for (const char *p = base64 + strlen("base64:"); *p != '\0'; p += strnlen(p, 64))
        n += (size_t)sprintf(lines + n, "%.64s\n", p);
    free(base64);
    return n;
}

Test(auth_trust, a_certificate_counts_within_its_validity_period)
{
    struct maker_key key;
    maker_key(&key, 5, "/op/KEY/1");
    // NOW is 2023-11-14T22:13:20.
    static const struct {
        const char *not_before, *not_after;
        enum auth_result result;
    } cases[] = {{"20231114T221320", "20231114T221320", AUTH_ACCEPTED},
                 {"20231114T221321", "20991231T000000", AUTH_REFUSED},
                 {"19700101T000000", "20231114T221319", AUTH_REFUSED},
                 {"19690101T000000", "99991231T235959", AUTH_ACCEPTED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct maker_certificate c = {.key = &key, .not_before = cases[i].not_before, .not_after = cases[i].not_after};
        struct auth *auth = maker_trusting(&key, &c);
        cr_expect_eq(send(auth, &key, NULL, NOW), cases[i].result, "%s", cases[i].not_before);
        auth_destroy(auth);
    }
    maker_key_free(&key);
}

/* C17, with the reason and where it is said. */
Test(auth_trust, what_is_not_a_certificate_is_refused_with_file_and_line)
{
    struct maker_key key, odd;
    maker_key(&key, 5, "/op/KEY/1");
    maker_key(&odd, 5, "/op/NOKEY/1");
    static const uint8_t rubbish[] = {1, 2, 3};
    struct maker_certificate blob = {.key = &key, .content_type = 0xf0}, undated = {.key = &key, .not_before = ""},
                             backwards = {.key = &key, .not_before = "20300101T000000", .not_after = "20200101T000000"},
                             misdated = {.key = &key, .not_before = "2030-01-01T0000", .not_after = "20200101T000000"},
                             month13 = {.key = &key, .not_before = "20301301T000000"},
                             no_key = {.key = &key, .content = rubbish, .content_len = sizeof rubbish},
                             short_name = {.key = &key, .name = "/KEY/1/self"}, other_name = {.key = &odd};
    const struct {
        const struct maker_certificate *certificate;
        const char *why;
    } cases[] = {{&blob, "is not an NDN certificate: its ContentType is not KEY (2)"},
                 {&undated, "has no ValidityPeriod, or one that ends before it begins"},
                 {&backwards, "has no ValidityPeriod, or one that ends before it begins"},
                 {&misdated, "is not an NDN certificate: not a Data packet"},
                 {&month13, "is not an NDN certificate: not a Data packet"},
                 {&no_key, "its Content is not a public key"},
                 {&short_name, "is not an NDN certificate: its name is not /IDENTITY/KEY/KEYID/ISSUER/VERSION"},
                 {&other_name, "is not an NDN certificate: its name is not /IDENTITY/KEY/KEYID/ISSUER/VERSION"}};
    char folder[128], text[600], err[256], expected[400];
    uint8_t octets[MAKER_MAX];
    maker_folder(folder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        maker_file(folder, "cert", octets, maker_certificate(octets, cases[i].certificate));
        snprintf(text, sizeof text, "\nauthorizations = ( { privileges = \"cs\";\n certfile = \"%s/cert\"; } );",
                 folder);
        maker_auth_fault(text, err);
        snprintf(expected, sizeof expected, "text:3: authorizations.certfile: \"%s/cert\" %s", folder, cases[i].why);
        cr_expect_str_eq(err, expected);
    }
    const struct {
        const char *octets, *why;
    } files[] = {{"", "is empty"},
                 {"-----BEGIN CERTIFICATE-----", "is neither an NDN certificate nor one in base64"},
                 {"Bv0=", "is not an NDN certificate: not a Data packet"},
                 {"BgA=", "is not an NDN certificate: not a Data packet"},
                 {"BgAAAA=", "is neither an NDN certificate nor one in base64"},
                 {"QQ==QQ===", "is neither an NDN certificate nor one in base64"},
                 {"A=AA", "is neither an NDN certificate nor one in base64"},
                 {"\006\377", "is not an NDN certificate: not a Data packet"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        maker_file(folder, "cert", files[i].octets, strlen(files[i].octets));
        snprintf(text, sizeof text, "rib: {\n localhost-security = [ \"any\",\n \"%s/cert\" ]; };", folder);
        maker_auth_fault(text, err);
        snprintf(expected, sizeof expected, "text:2: rib.localhost-security: \"%s/cert\" %s", folder, files[i].why);
        cr_expect_str_eq(err, expected);
    }
    char *large = calloc(1, 70000);
    maker_file(folder, "cert", large, 70000);
    free(large);
    maker_auth_fault(text, err);
    cr_expect_not_null(strstr(err, "is larger than 64 kB"), "%s", err);
    maker_auth_fault("rib: { prefix-announcement-validation = \"/nonexistent\"; };", err);
    cr_expect_str_eq(err,
                     "text:1: rib.prefix-announcement-validation: \"/nonexistent\" cannot be read: No such file or "
                     "directory");
    maker_auth_fault("rib: { certificates = \"/dev/null\"; };", err);
    cr_expect_str_eq(err, "text:1: rib.certificates: \"/dev/null\" is not a file");
    maker_folder_remove(folder);
    maker_key_free(&key);
    maker_key_free(&odd);
}

Test(auth_trust, weak_keys_are_refused)
{
    static const struct {
        const char *type, *why;
        size_t bits;
        const char *curve;
    } cases[] = {{"RSA", "its RSA key has less than 2048 bits", 1024, NULL},
                 {"EC", "its elliptic curve has less than 256 bits", 0, "P-224"},
                 {"X25519", "its key is neither RSA, ECDSA nor Ed25519", 0, NULL}};
    struct maker_key key;
    maker_key(&key, 5, "/op/KEY/1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t octets[MAKER_MAX], spki[512];
        struct maker_certificate c = {.key = &key, .content = spki};
        c.content_len = maker_public_key(spki, cases[i].type, cases[i].bits, cases[i].curve);
        char *base64 = maker_base64(octets, maker_certificate(octets, &c)), *text = NULL, err[256];
        cr_assert_gt(asprintf(&text, "rib: { localhop-security = \"%s\"; };", base64), 0);
        maker_auth_fault(text, err);
        cr_expect_not_null(strstr(err, cases[i].why), "%s", err);
        free(text);
        free(base64);
    }
    maker_key_free(&key);
}

Test(auth_trust, files_may_hold_several_certificates_raw_or_in_base64)
{
    struct maker_key key[2];
    char folder[128], text[400], lines[MAKER_MAX];
    uint8_t octets[2 * MAKER_MAX];
    size_t len = 0, n = 0;
    maker_folder(folder);
    for (unsigned i = 0; i < 2; i++) {
        char name[20];
        snprintf(name, sizeof name, "/op/KEY/%u", i);
        maker_key(&key[i], 5, name);
        struct maker_certificate c = {.key = &key[i]};
        size_t one = maker_certificate(octets + len, &c);
        n += in_lines(lines + n, octets + len, one);
        n += (size_t)sprintf(lines + n, "\r\n \t\n");
        len += one;
    }
    maker_file(folder, "raw", octets, len);
    maker_file(folder, "text", lines, n);
    for (unsigned i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "rib: { localhop-security = \"%s/%s\"; };", folder, i == 0 ? "raw" : "text");
        struct auth *auth = maker_auth(text);
        cr_expect_eq(send(auth, &key[0], NULL, NOW), AUTH_ACCEPTED);
        cr_expect_eq(send(auth, &key[1], NULL, NOW), AUTH_ACCEPTED);
        auth_destroy(auth);
    }
    maker_folder_remove(folder);
    maker_key_free(&key[0]);
    maker_key_free(&key[1]);
}

/* root -> site -> router, each certificate below the identity that issued it. */
struct chain {
    struct maker_key root, site, router;
    char folder[128];
};

static void chain_make(struct chain *chain, const char *site_before, const char *router_identity)
{
    uint8_t octets[MAKER_MAX];
    char lines[MAKER_MAX], name[64];
    maker_folder(chain->folder);
    maker_key(&chain->root, 3, "/net/KEY/1");
    maker_key(&chain->site, 1, "/net/site/KEY/1");
    snprintf(name, sizeof name, "%s/KEY/1", router_identity);
    maker_key(&chain->router, 5, name);
    struct maker_certificate root = {.key = &chain->root},
                             site = {.key = &chain->site,
                                     .issuer = &chain->root,
                                     .not_before = site_before,
                                     .issuer_name = "/net/KEY/1/self/v=1"},
                             router = {.key = &chain->router, .issuer = &chain->site};
    maker_file(chain->folder, "root", octets, maker_certificate(octets, &root));
    // The last one first: order must not matter.
    size_t n = in_lines(lines, octets, maker_certificate(octets, &router));
    n += in_lines(lines + n, octets, maker_certificate(octets, &site));
    maker_file(chain->folder, "others", lines, n);
}

static struct auth *chain_auth(const struct chain *chain)
{
    char text[600];
    snprintf(text, sizeof text, "rib: { localhop-security = \"%s/root\"; certificates = \"%s/others\"; };",
             chain->folder, chain->folder);
    return maker_auth(text);
}

static void chain_free(struct chain *chain)
{
    maker_folder_remove(chain->folder);
    maker_key_free(&chain->root);
    maker_key_free(&chain->site);
    maker_key_free(&chain->router);
}

Test(auth_trust, a_chain_of_certificates_leads_to_an_anchor)
{
    struct chain chain;
    chain_make(&chain, NULL, "/net/site/router");
    struct auth *auth = chain_auth(&chain);
    cr_expect_eq(send(auth, &chain.router, NULL, NOW), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &chain.router, "/net/site/router/KEY/1/self/v=1", NOW + 1), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &chain.site, NULL, NOW), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &chain.root, NULL, NOW), AUTH_ACCEPTED);
    // The anchor of one purpose is none of another.
    uint8_t octets[MAKER_MAX];
    struct maker_command command = {.key = &chain.root, .time_ms = NOW};
    size_t len = maker_signed(octets, &command);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, NOW), AUTH_ACCEPTED); // any
    auth_destroy(auth);
    chain_free(&chain);
}

Test(auth_trust, a_link_of_a_chain_that_has_expired_breaks_it)
{
    struct chain chain;
    chain_make(&chain, "20300101T000000", "/net/site/router");
    struct auth *auth = chain_auth(&chain);
    cr_expect_eq(send(auth, &chain.router, NULL, NOW), AUTH_REFUSED);
    cr_expect_eq(send(auth, &chain.site, NULL, NOW), AUTH_REFUSED);
    cr_expect_eq(send(auth, &chain.root, NULL, NOW), AUTH_ACCEPTED);
    // Later it holds.
    cr_expect_eq(send(auth, &chain.router, NULL, UINT64_C(1900000000000)), AUTH_ACCEPTED);
    auth_destroy(auth);
    chain_free(&chain);
}

Test(auth_trust, an_identity_issues_no_certificates_for_others)
{
    struct chain chain;
    chain_make(&chain, NULL, "/net/other/router");
    struct auth *auth = chain_auth(&chain);
    cr_expect_eq(send(auth, &chain.router, NULL, NOW), AUTH_REFUSED);
    cr_expect_eq(send(auth, &chain.site, NULL, NOW), AUTH_ACCEPTED);
    auth_destroy(auth);
    chain_free(&chain);
}

Test(auth_trust, certificates_alone_are_no_anchors)
{
    struct chain chain;
    char text[400];
    chain_make(&chain, NULL, "/net/site/router");
    snprintf(text, sizeof text, "rib: { localhop-security = \"%s/others\"; certificates = \"%s/root\"; };",
             chain.folder, chain.folder);
    struct auth *auth = maker_auth(text);
    cr_expect_eq(send(auth, &chain.root, NULL, NOW), AUTH_REFUSED);
    cr_expect_eq(send(auth, &chain.site, NULL, NOW), AUTH_ACCEPTED);
    auth_destroy(auth);
    chain_free(&chain);
}

Test(auth_trust, folders_are_read_again_and_what_is_no_certificate_is_skipped)
{
    struct maker_key key[2];
    char folder[128], text[400];
    uint8_t octets[MAKER_MAX];
    maker_folder(folder);
    maker_key(&key[0], 5, "/op/KEY/0");
    maker_key(&key[1], 5, "/op/KEY/1");
    struct maker_certificate c[2] = {{.key = &key[0]}, {.key = &key[1]}};
    maker_file(folder, "a", octets, maker_certificate(octets, &c[0]));
    maker_file(folder, "b", "not a certificate", 17);
    snprintf(text, sizeof text, "rib: { localhop-security = \"%s\"; anchor-refresh = \"10s\"; };", folder);
    struct auth *auth = maker_auth(text);
    cr_expect_eq(send(auth, &key[0], NULL, NOW), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &key[1], NULL, NOW), AUTH_REFUSED);
    maker_file(folder, "b", octets, maker_certificate(octets, &c[1]));
    maker_file(folder, "a", "", 0);
    cr_expect_eq(send(auth, &key[1], NULL, NOW + 9999), AUTH_REFUSED);
    cr_expect_eq(send(auth, &key[1], NULL, NOW + 10000), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &key[0], NULL, NOW + 10001), AUTH_REFUSED);
    // What was said before is still known: a key that comes back cannot be replayed.
    maker_file(folder, "a", octets, maker_certificate(octets, &c[0]));
    cr_expect_eq(send(auth, &key[0], NULL, NOW + 30000), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &key[1], NULL, NOW + 10000), AUTH_REPLAYED);
    // Without the folder all stays as it was.
    maker_folder_remove(folder);
    cr_expect_eq(send(auth, &key[0], NULL, NOW + 60000), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &key[1], NULL, NOW + 60001), AUTH_ACCEPTED);
    auth_destroy(auth);
    maker_key_free(&key[0]);
    maker_key_free(&key[1]);
}

/* M09: who fills the memory of 1000 keys does not make what others said count again. */
Test(auth_trust, a_forgotten_keys_commands_are_still_replays, .timeout = 120)
{
    enum { N = 1001 };
    struct maker_key *key = calloc(N, sizeof *key);
    char folder[128], text[400], name[40];
    uint8_t octets[MAKER_MAX], first[MAKER_MAX];
    maker_folder(folder);
    for (unsigned i = 0; i < N; i++) {
        snprintf(name, sizeof name, "/op/KEY/%u", i);
        maker_key(&key[i], 5, name);
        struct maker_certificate c = {.key = &key[i]};
        snprintf(name, sizeof name, "%u", i);
        maker_file(folder, name, octets, maker_certificate(octets, &c));
    }
    snprintf(text, sizeof text, "rib: { localhop-security = \"%s\"; };", folder);
    struct auth *auth = maker_auth(text);
    struct maker_command command = {.key = &key[0], .time_ms = NOW};
    size_t len = maker_signed(first, &command);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOP, first, len, NOW), AUTH_ACCEPTED);
    for (unsigned i = 1; i < N; i++)
        cr_expect_eq(send(auth, &key[i], NULL, NOW + i), AUTH_ACCEPTED, "%u", i);
    cr_expect_eq(auth_command(auth, AUTH_RIB_LOCALHOP, first, len, NOW + N), AUTH_REPLAYED);
    // Its next command counts.
    cr_expect_eq(send(auth, &key[0], NULL, NOW + N), AUTH_ACCEPTED);
    auth_destroy(auth);
    for (unsigned i = 0; i < N; i++)
        maker_key_free(&key[i]);
    free(key);
    maker_folder_remove(folder);
}

Test(auth_trust, hmac_keys_are_read_from_files_beside_the_configuration)
{
    struct maker_key key, other;
    char folder[128], path[256], line[256], err[256];
    maker_key(&key, 4, "/op/KEY/secret");
    maker_key(&other, 4, "/op/KEY/secret");
    other.secret[31] ^= 1;
    maker_folder(folder);
    char *base64 = maker_base64(key.secret, sizeof key.secret);
    int n = snprintf(line, sizeof line, "/op/KEY/secret %s\n", base64 + strlen("base64:"));
    maker_file(folder, "secret", line, (size_t)n);
    free(base64);
    static const char text[] = "rib: { localhop-security = \"hmac:secret\"; };";
    maker_file(folder, "conf", text, strlen(text));
    snprintf(path, sizeof path, "%s/conf", folder);
    struct conf *conf;
    struct auth *auth;
    cr_assert_eq(conf_load(path, &conf, stderr), 0);
    cr_assert_eq(auth_create(&auth, conf, err), 0, "%s", err);
    conf_free(conf);
    cr_expect_eq(send(auth, &key, NULL, NOW), AUTH_ACCEPTED);
    cr_expect_eq(send(auth, &key, NULL, NOW), AUTH_REPLAYED);
    cr_expect_eq(send(auth, &key, "/op/KEY", NOW + 1), AUTH_REFUSED);
    cr_expect_eq(send(auth, &other, NULL, NOW + 1), AUTH_REFUSED);
    auth_destroy(auth);
    static const struct {
        const char *line, *why;
    } bad[] = {{"", "is not a name and an HMAC key in base64"},
               {"/name", "is not a name and an HMAC key in base64"},
               {"name AAAA", "is not a name and an HMAC key in base64"},
               {"/name !", "is not a name and an HMAC key in base64"},
               {"/ AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "is not a name and an HMAC key in base64"},
               {"/name AAAAAAAAAAAAAAAAAAAA", "has an HMAC key of less than 16 or more than 1024 octets"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char bad_text[256], expected[300];
        maker_file(folder, "secret", bad[i].line, strlen(bad[i].line));
        snprintf(bad_text, sizeof bad_text, "rib: { localhop-security = \"hmac:%s/secret\"; };", folder);
        maker_auth_fault(bad_text, err);
        snprintf(expected, sizeof expected, "text:1: rib.localhop-security: \"%s/secret\" %s", folder, bad[i].why);
        cr_expect_str_eq(err, expected);
    }
    maker_folder_remove(folder);
    maker_key_free(&key);
    maker_key_free(&other);
}

Test(auth_trust, announcements_are_signed_by_an_identity_above_the_prefix)
{
    struct maker_key key, stranger;
    maker_key(&key, 3, "/net/site/KEY/1");
    maker_key(&stranger, 3, "/net/site/KEY/1");
    struct auth *auth = maker_trusting(&key, NULL), *open = maker_auth("cs: { };");
    uint8_t octets[MAKER_MAX];
    static const struct {
        const char *name;
        bool stranger;
        const char *locator;
        enum auth_result result;
    } cases[] = {{"/net/site/app/32=PA/v=1/seg=0", false, NULL, AUTH_ACCEPTED},
                 {"/net/site/app/32=PA/v=1/seg=0", false, "/net/site/KEY/1/self/v=1", AUTH_ACCEPTED},
                 {"/net/site/app/32=PA/v=1/seg=0", false, "", AUTH_REFUSED},
                 {"/net/site/app/32=PA/v=1/seg=0", false, "/net/site/KEY/2", AUTH_REFUSED},
                 {"/net/site/app/32=PA/v=1/seg=0", true, NULL, AUTH_REFUSED},
                 {"/net/other/32=PA/v=1/seg=0", false, NULL, AUTH_REFUSED},
                 {"/net", false, NULL, AUTH_REFUSED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = maker_data(octets, cases[i].name, cases[i].stranger ? &stranger : &key, cases[i].locator);
        cr_expect_eq(auth_data(auth, AUTH_ANNOUNCEMENT, octets, len, NOW), cases[i].result, "%zu", i);
        cr_expect_eq(auth_data(open, AUTH_ANNOUNCEMENT, octets, len, NOW), AUTH_ACCEPTED, "%zu", i);
    }
    uint8_t good[MAKER_MAX];
    size_t len = maker_data(good, cases[0].name, &key, NULL);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        memcpy(octets, good, len);
        octets[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_expect_eq(auth_data(auth, AUTH_ANNOUNCEMENT, octets, len, NOW), AUTH_REFUSED, "bit %zu", bit);
    }
    for (size_t cut = 0; cut < len; cut++) {
        uint8_t *exact = malloc(cut + 1);
        memcpy(exact, good, cut);
        cr_expect_eq(auth_data(auth, AUTH_ANNOUNCEMENT, exact, cut, NOW), AUTH_REFUSED, "cut to %zu", cut);
        free(exact);
    }
    auth_destroy(auth);
    auth_destroy(open);
    maker_key_free(&key);
    maker_key_free(&stranger);
}
