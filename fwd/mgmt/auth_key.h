// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_KEY_H
#define FWD_MGMT_AUTH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/mgmt/auth_packet.h"

/*
 * Keys that signatures are verified with: public keys of NDN certificates (certificate format v2) and HMAC keys.
 */

/** Octets that identify a key. */
#define AUTH_KEY_ID 32

struct evp_pkey_st;

struct auth_key {
    uint8_t *name; /**< TLV-VALUE of the certificate's name, or of an HMAC key's */
    size_t name_len;
    size_t key_name_len;            /**< of these what names the key: /IDENTITY/KEY/KEYID; all of it for HMAC */
    size_t identity_len;            /**< and what names the identity */
    uint8_t id[AUTH_KEY_ID];        /**< SHA-256 of the key itself: the same for all certificates of a key */
    struct evp_pkey_st *public_key; /**< NULL: an HMAC key */
    uint8_t *secret;
    size_t secret_len;
    uint64_t not_before_ms, not_after_ms; /**< since 1970; of an HMAC key: always */
    const struct auth_key *issuer;        /**< whose key signed the certificate; NULL: a trust anchor */
};

/**
 * Read a certificate: Data of ContentType KEY whose Content is a SubjectPublicKeyInfo. RSA of at least 2048 bits,
 * ECDSA of at least 256, and Ed25519 are taken.
 *
 * @return NULL and *key, to be freed with auth_key_clear(); else what is wrong
 */
const char *auth_key_certificate(const uint8_t *data, size_t len, struct auth_key *key);

/** An HMAC key of 16 to 1024 octets under a name, its TLV-VALUE. @return as auth_key_certificate() */
const char *auth_key_hmac(const uint8_t *name, size_t name_len, const uint8_t *secret, size_t len,
                          struct auth_key *key);

void auth_key_clear(struct auth_key *key);

/** Is this the key that a KeyLocator's Name means: by the name of the key, or of the certificate? */
bool auth_key_is_named(const struct auth_key *key, struct auth_view signer);

/** Do the certificate and all that it was issued by hold at this time? */
bool auth_key_is_valid(const struct auth_key *key, uint64_t wall_ms);

/** Did this key make the signature? The algorithm must be that of the key. */
bool auth_key_verify(const struct auth_key *key, const struct auth_signature *signature);

/** SHA-256 of octets. @return false when the library fails */
bool auth_sha256(const uint8_t *p, size_t len, uint8_t digest[NDN_DIGEST_SIZE]);

#endif
