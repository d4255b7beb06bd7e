// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_GCM_H
#define FWD_QUIC_GCM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * AES-128-GCM with libcrypto, all of whose memory is asked for when a context is created: setting keys, sealing and
 * opening ask for none. A context belongs to one thread at a time.
 */
#define GCM_KEY   16
#define GCM_NONCE 12
#define GCM_TAG   16

struct gcm {
    void *ctx; /**< EVP_CIPHER_CTX */
};

/** A context without a key. @return 0, or -ENOMEM */
int gcm_create(struct gcm *gcm);
/** Wipes the key; a context that is all zero is allowed. */
void gcm_destroy(struct gcm *gcm);

/** Give it another key. @return false when libcrypto refuses, which leaves the context without one */
bool gcm_set_key(struct gcm *gcm, const uint8_t key[GCM_KEY]);

/** Encrypt @p len octets at @p data in place. @return false when libcrypto refuses */
bool gcm_seal(struct gcm *gcm, const uint8_t nonce[GCM_NONCE], const uint8_t *aad, size_t aad_len, uint8_t *data,
              size_t len, uint8_t tag[GCM_TAG]);
/** Decrypt in place. @return false when the tag, which is compared in constant time, does not verify: wipe data */
bool gcm_open(struct gcm *gcm, const uint8_t nonce[GCM_NONCE], const uint8_t *aad, size_t aad_len, uint8_t *data,
              size_t len, const uint8_t tag[GCM_TAG]);

#endif
