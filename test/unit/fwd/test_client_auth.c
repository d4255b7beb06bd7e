// SPDX-License-Identifier: Apache-2.0
/* Requests that the client signs, judged by the daemon's authorizations under a real trust anchor. */
#include "fwd/mgmt/signer.h"

#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <time.h>

#include "auth_maker.h"
#include "parser/ndn_name.h"

static uint64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/** A signer of the key's PEM file, which is made and removed. */
static struct signer *signer_of(const struct maker_key *key, const char *certificate)
{
    char folder[128], path[160], err[SIGNER_ERR] = "";
    struct signer *signer;
    maker_folder(folder);
    snprintf(path, sizeof path, "%s/key.pem", folder);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_eq(PEM_write_PKCS8PrivateKey(file, key->pkey, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
    cr_assert_eq(signer_create(&signer, path, certificate, err), 0, "%s", err);
    maker_folder_remove(folder);
    return signer;
}

static size_t make(struct signer *signer, uint8_t octets[MAKER_MAX])
{
    uint8_t name[128];
    int len = ndn_name_from_uri("/localhost/nfd/rib/register/h%06%07%03%08%01a", name, sizeof name);
    cr_assert_gt(len, 0);
    size_t n = signer_interest(signer, octets, MAKER_MAX, name, (size_t)len, 10000);
    cr_assert_gt(n, 0);
    return n;
}

static enum auth_result judge(struct auth *auth, const uint8_t *octets, size_t len)
{
    return auth_command(auth, AUTH_RIB_LOCALHOST, octets, len, wall_ms());
}

Test(client_auth, requests_of_the_certified_key_are_accepted_and_those_of_others_are_not)
{
    static const unsigned types[] = {1, 3, 5};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct maker_key key, stranger;
        uint8_t octets[MAKER_MAX];
        char err[SIGNER_ERR];
        maker_key(&key, types[i], "/op/KEY/1");
        maker_key(&stranger, types[i], "/op/KEY/1");
        struct auth *auth = maker_trusting(&key, NULL);
        struct signer *ours = signer_of(&key, "/op/KEY/1/self/v=1"),
                      *theirs = signer_of(&stranger, "/op/KEY/1/self/v=1"), *digest;
        cr_assert_eq(signer_create(&digest, NULL, NULL, err), 0);
        for (unsigned k = 0; k < 3; k++) {
            size_t len = make(ours, octets);
            cr_expect_eq(judge(auth, octets, len), AUTH_ACCEPTED, "type %u", types[i]);
            cr_expect_eq(judge(auth, octets, len), AUTH_REPLAYED, "type %u", types[i]);
        }
        // Of the times of this certificate's name nothing is known yet to an auth of its own.
        struct auth *fresh = maker_trusting(&key, NULL);
        cr_expect_eq(judge(fresh, octets, make(theirs, octets)), AUTH_REFUSED, "type %u", types[i]);
        auth_destroy(fresh);
        cr_expect_eq(judge(auth, octets, make(digest, octets)), AUTH_REFUSED, "type %u", types[i]);
        signer_destroy(ours);
        signer_destroy(theirs);
        signer_destroy(digest);
        auth_destroy(auth);
        maker_key_free(&key);
        maker_key_free(&stranger);
    }
}

Test(client_auth, requests_with_a_digest_are_accepted_where_anyone_is)
{
    struct auth *auth = maker_auth("rib: { localhost-security = \"any\"; };");
    struct signer *digest;
    uint8_t octets[MAKER_MAX];
    char err[SIGNER_ERR];
    cr_assert_eq(signer_create(&digest, NULL, NULL, err), 0);
    cr_expect_eq(judge(auth, octets, make(digest, octets)), AUTH_ACCEPTED);
    signer_destroy(digest);
    auth_destroy(auth);
}
