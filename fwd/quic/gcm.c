// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/gcm.h"

#include <errno.h>
#include <string.h>

#include <openssl/evp.h>

int gcm_create(struct gcm *gcm)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL)
        return -ENOMEM;
    // From now on the context has its cipher and, by its default, nonces of 12 octets.
    if (EVP_CipherInit_ex(ctx, EVP_aes_128_gcm(), NULL, NULL, NULL, 1) != 1) {
        EVP_CIPHER_CTX_free(ctx);
        return -ENOMEM;
    }
    gcm->ctx = ctx;
    return 0;
}

void gcm_destroy(struct gcm *gcm)
{
    EVP_CIPHER_CTX_free(gcm->ctx);
    gcm->ctx = NULL;
}

bool gcm_set_key(struct gcm *gcm, const uint8_t key[GCM_KEY])
{
    return EVP_CipherInit_ex(gcm->ctx, NULL, NULL, key, NULL, 1) == 1;
}

static bool begin(struct gcm *gcm, const uint8_t nonce[GCM_NONCE], const uint8_t *aad, size_t aad_len, uint8_t *data,
                  size_t len, int encrypt)
{
    int n;
    return EVP_CipherInit_ex(gcm->ctx, NULL, NULL, NULL, nonce, encrypt) == 1 &&
           EVP_CipherUpdate(gcm->ctx, NULL, &n, aad, (int)aad_len) == 1 &&
           (len == 0 || EVP_CipherUpdate(gcm->ctx, data, &n, data, (int)len) == 1);
}

bool gcm_seal(struct gcm *gcm, const uint8_t nonce[GCM_NONCE], const uint8_t *aad, size_t aad_len, uint8_t *data,
              size_t len, uint8_t tag[GCM_TAG])
{
    uint8_t rest[GCM_TAG];
    int n;
    return begin(gcm, nonce, aad, aad_len, data, len, 1) && EVP_CipherFinal_ex(gcm->ctx, rest, &n) == 1 &&
           EVP_CIPHER_CTX_ctrl(gcm->ctx, EVP_CTRL_AEAD_GET_TAG, GCM_TAG, tag) == 1;
}

bool gcm_open(struct gcm *gcm, const uint8_t nonce[GCM_NONCE], const uint8_t *aad, size_t aad_len, uint8_t *data,
              size_t len, const uint8_t tag[GCM_TAG])
{
    uint8_t rest[GCM_TAG], copy[GCM_TAG];
    int n;
    memcpy(copy, tag, sizeof copy);
    return begin(gcm, nonce, aad, aad_len, data, len, 0) &&
           EVP_CIPHER_CTX_ctrl(gcm->ctx, EVP_CTRL_AEAD_SET_TAG, GCM_TAG, copy) == 1 &&
           EVP_CipherFinal_ex(gcm->ctx, rest, &n) == 1;
}
