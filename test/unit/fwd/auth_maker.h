// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_AUTH_MAKER_H
#define TEST_UNIT_FWD_AUTH_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/auth.h"

struct evp_pkey_st;

/* What signs: keys made at test time, certificates, signed and command Interests, Data. Failure ends the test. */

#define MAKER_MAX 8800
/** Time of day of the tests, since 1970 in milliseconds. */
#define MAKER_NOW UINT64_C(1700000000000)

struct maker_key {
    unsigned type; /**< SignatureType */
    struct evp_pkey_st *pkey;
    uint8_t secret[32]; /**< HMAC */
    char name[64];      /**< URI of the key's name */
};

/** A key of a SignatureType under a name such as "/op/KEY/1". */
void maker_key(struct maker_key *key, unsigned type, const char *name);
void maker_key_free(struct maker_key *key);

struct maker_certificate {
    const char *name;                     /**< URI; NULL: the key's name with /self/v=1 */
    const struct maker_key *key, *issuer; /**< issuer NULL: signed by itself */
    const char *issuer_name;              /**< URI in the KeyLocator; NULL: the issuer's key name */
    const char *not_before, *not_after;   /**< NULL: from 1970 to 2100; not_before "": no ValidityPeriod */
    unsigned content_type;                /**< 0: KEY */
    const uint8_t *content;               /**< NULL: the public key */
    size_t content_len;
};
size_t maker_certificate(uint8_t buf[MAKER_MAX], const struct maker_certificate *certificate);
/** SubjectPublicKeyInfo of a new key: "RSA" with bits, "EC" with a curve, or another type. @return octets */
size_t maker_public_key(uint8_t spki[512], const char *type, size_t bits, const char *curve);
/** "base64:..." of octets, to be freed. */
char *maker_base64(const uint8_t *octets, size_t len);

struct maker_command {
    const char *name;            /**< URI; NULL: /localhost/nfd/rib/register/PARAMS with a few octets as parameters */
    const struct maker_key *key; /**< NULL: DigestSha256 */
    const char *locator;         /**< URI; NULL: the key's name, "": no KeyLocator */
    uint64_t time_ms;            /**< 0: none */
    uint64_t nonce;              /**< 0: none */
    unsigned nonce_len;          /**< 0: 8 */
    unsigned type;               /**< SignatureType to claim instead of the key's; UINT_MAX - 1 for 0 */
    bool wrong_digest;
};
#define MAKER_CLAIM_DIGEST (UINT32_MAX - 1)
/** Signed Interest, v0.3. */
size_t maker_signed(uint8_t buf[MAKER_MAX], const struct maker_command *command);
/** Command Interest, v0.2. */
size_t maker_v02(uint8_t buf[MAKER_MAX], const struct maker_command *command);
/** Interest without a signature. */
size_t maker_unsigned(uint8_t buf[MAKER_MAX], const char *name);
/** Data named @p name signed by @p key. */
size_t maker_data(uint8_t buf[MAKER_MAX], const char *name, const struct maker_key *key, const char *locator);

/** What maker_signed() and maker_v02() write behind the name: no signature covers it. */
extern const uint8_t maker_uncovered[10];

/** An auth of this configuration text, which must be good. */
struct auth *maker_auth(const char *text);
/** What auth_create() says of this text, which must be bad to it. */
void maker_auth_fault(const char *text, char err[256]);
/** An auth that trusts this certificate for everything; NULL: one of @p key that it signed itself. */
struct auth *maker_trusting(const struct maker_key *key, const struct maker_certificate *certificate);

/** A fresh folder, and files in it; maker_folder_remove() removes all. */
void maker_folder(char path[128]);
void maker_file(const char *folder, const char *name, const void *octets, size_t len);
void maker_folder_remove(const char *path);

#endif
