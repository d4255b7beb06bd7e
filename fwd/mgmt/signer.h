// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_SIGNER_H
#define FWD_MGMT_SIGNER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Signed Interests (NDN packet spec 0.3, "Signed Interest"): DigestSha256, or a private key of ECDSA, RSA or Ed25519.
 * Each has a nonce of 8 octets and a time, which increases from one to the next. Single-threaded.
 */
struct signer;

#define SIGNER_ERR 256

/**
 * @param key_file PEM of a private key without a passphrase (PKCS #8, or the older forms of OpenSSL); NULL:
 * DigestSha256
 * @param certificate NDN name (URI) of the certificate, for KeyLocator; goes with @p key_file
 *
 * @return 0, or a negative errno and words in @p err
 */
int signer_create(struct signer **signer, const char *key_file, const char *certificate, char err[SIGNER_ERR]);
void signer_destroy(struct signer *signer);

/**
 * Encode a signed Interest with empty ApplicationParameters. @p name is the TLV-VALUE of its Name, to which the
 * digest component is added. @return octets written, 0 when @p size is too small or the library failed
 */
size_t signer_interest(struct signer *signer, uint8_t *p, size_t size, const uint8_t *name, size_t name_len,
                       uint32_t lifetime_ms);

#endif
