// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/signer.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "parser/ndn_tlv.h"

enum {
    TLV_KEY_LOCATOR = 28,
    TLV_SIGNATURE_NONCE = 38,
    TLV_SIGNATURE_TIME = 40,
    TLV_INTEREST_SIGNATURE_INFO = 44,
    TLV_INTEREST_SIGNATURE_VALUE = 46,
};

enum { SIGNATURE_DIGEST = 0, SIGNATURE_RSA = 1, SIGNATURE_ECDSA = 3, SIGNATURE_ED25519 = 5 };

#define DIGEST_SIZE 32
/** Of an RSA key of 8192 bits; larger ones are refused. */
#define SIGNATURE_MAX 1024

struct signer {
    EVP_PKEY *key; /**< NULL: DigestSha256 */
    uint8_t type;  /**< SignatureType */
    uint64_t last_ms;
    size_t locator_len;
    uint8_t locator[NDN_PACKET_MAX / 4]; /**< TLV-VALUE of the certificate's Name */
};

/** Octets being written: all or nothing, as @p failed tells. */
struct writer {
    uint8_t *p;
    size_t len, size;
    bool failed;
};

static void put(struct writer *w, const void *octets, size_t len)
{
    if (w->failed || w->size - w->len < len) {
        w->failed = true;
        return;
    }
    memcpy(w->p + w->len, octets, len);
    w->len += len;
}

static void put_header(struct writer *w, uint32_t type, size_t len)
{
    uint8_t octets[18];
    size_t n = ndn_tlv_put_var(octets, type);
    n += ndn_tlv_put_var(octets + n, len);
    put(w, octets, n);
}

static void put_tlv(struct writer *w, uint32_t type, const void *value, size_t len)
{
    put_header(w, type, len);
    put(w, value, len);
}

static void put_nni(struct writer *w, uint32_t type, uint64_t number)
{
    uint8_t octets[8];
    put_tlv(w, type, octets, ndn_tlv_put_nni(octets, number));
}

static int signature_type(const EVP_PKEY *key)
{
    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_EC:
        return SIGNATURE_ECDSA;
    case EVP_PKEY_RSA:
        return SIGNATURE_RSA;
    case EVP_PKEY_ED25519:
        return SIGNATURE_ED25519;
    default:
        return -1;
    }
}

/** No passphrase is asked for: a command of a script must not wait for one. */
static int no_passphrase(char *buf, int size, int rwflag, void *ctx)
{
    (void)buf;
    (void)size;
    (void)rwflag;
    (void)ctx;
    return -1;
}

static int load_key(struct signer *signer, const char *key_file, char err[SIGNER_ERR])
{
    FILE *file = fopen(key_file, "r");
    if (file == NULL) {
        int code = -errno;
        snprintf(err, SIGNER_ERR, "%s: %s", key_file, strerror(errno));
        return code;
    }
    signer->key = PEM_read_PrivateKey(file, NULL, no_passphrase, NULL);
    fclose(file);
    ERR_clear_error();
    if (signer->key == NULL) {
        snprintf(err, SIGNER_ERR, "%s: no private key in PEM form without a passphrase", key_file);
        return -EINVAL;
    }
    int type = signature_type(signer->key);
    if (type < 0 || EVP_PKEY_get_size(signer->key) > SIGNATURE_MAX) {
        snprintf(err, SIGNER_ERR, "%s: a key of ECDSA, RSA or Ed25519 is allowed", key_file);
        return -EINVAL;
    }
    signer->type = (uint8_t)type;
    return 0;
}

int signer_create(struct signer **out, const char *key_file, const char *certificate, char err[SIGNER_ERR])
{
    if ((key_file != NULL) != (certificate != NULL)) {
        snprintf(err, SIGNER_ERR, "a key and the name of its certificate go together");
        return -EINVAL;
    }
    struct signer *signer = calloc(1, sizeof *signer);
    if (signer == NULL) {
        snprintf(err, SIGNER_ERR, "out of memory");
        return -ENOMEM;
    }
    int ret = 0;
    if (key_file != NULL) {
        int len = ndn_name_from_uri(certificate, signer->locator, sizeof signer->locator);
        if (len <= 0) {
            snprintf(err, SIGNER_ERR, "%s: not the name of a certificate", certificate);
            ret = -EINVAL;
        } else {
            signer->locator_len = (size_t)len;
            ret = load_key(signer, key_file, err);
        }
    }
    if (ret != 0) {
        signer_destroy(signer);
        return ret;
    }
    *out = signer;
    return 0;
}

void signer_destroy(struct signer *signer)
{
    if (signer == NULL)
        return;
    EVP_PKEY_free(signer->key);
    free(signer);
}

static bool sha256(const uint8_t *p, size_t len, uint8_t digest[DIGEST_SIZE])
{
    unsigned n = DIGEST_SIZE;
    return EVP_Digest(p, len, digest, &n, EVP_sha256(), NULL) == 1;
}

/** @return octets of the signature, 0 when the library failed */
static size_t sign(const struct signer *signer, const uint8_t *p, size_t len, uint8_t *signature)
{
    if (signer->key == NULL)
        return sha256(p, len, signature) ? DIGEST_SIZE : 0;
    size_t n = SIGNATURE_MAX;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    // Ed25519 has a digest of its own.
    const EVP_MD *md = signer->type == SIGNATURE_ED25519 ? NULL : EVP_sha256();
    if (ctx == NULL || EVP_DigestSignInit(ctx, NULL, md, NULL, signer->key) != 1 ||
        EVP_DigestSign(ctx, signature, &n, p, len) != 1)
        n = 0;
    EVP_MD_CTX_free(ctx);
    return n;
}

static void put_signature_info(struct signer *signer, struct writer *w)
{
    uint8_t inside_octets[sizeof signer->locator + 64], nonce[8];
    struct writer inside = {.p = inside_octets, .size = sizeof inside_octets};
    put_nni(&inside, NDN_TLV_SIGNATURE_TYPE, signer->type);
    if (signer->key != NULL) {
        size_t name = 1 + ndn_tlv_var_size(signer->locator_len) + signer->locator_len;
        put_header(&inside, TLV_KEY_LOCATOR, name);
        put_tlv(&inside, NDN_TLV_NAME, signer->locator, signer->locator_len);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    signer->last_ms = ms > signer->last_ms ? ms : signer->last_ms + 1;
    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        inside.failed = true;
    put_tlv(&inside, TLV_SIGNATURE_NONCE, nonce, sizeof nonce);
    put_nni(&inside, TLV_SIGNATURE_TIME, signer->last_ms);
    w->failed = w->failed || inside.failed;
    put_tlv(w, TLV_INTEREST_SIGNATURE_INFO, inside_octets, inside.len);
}

size_t signer_interest(struct signer *signer, uint8_t *p, size_t size, const uint8_t *name, size_t name_len,
                       uint32_t lifetime_ms)
{
    uint8_t covered_octets[NDN_PACKET_MAX], signature[SIGNATURE_MAX], digest[DIGEST_SIZE], nonce[4];
    // What the signature covers: the components before the digest, ApplicationParameters and the signature's info.
    struct writer covered = {.p = covered_octets, .size = sizeof covered_octets - SIGNATURE_MAX - 8};
    put(&covered, name, name_len);
    put_header(&covered, NDN_TLV_APP_PARAMETERS, 0);
    put_signature_info(signer, &covered);
    if (covered.failed || getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        return 0;
    size_t signature_len = sign(signer, covered_octets, covered.len, signature);
    if (signature_len == 0)
        return 0;
    // What the digest covers: all after the Name.
    covered.size = sizeof covered_octets;
    put_tlv(&covered, TLV_INTEREST_SIGNATURE_VALUE, signature, signature_len);
    if (!sha256(covered_octets + name_len, covered.len - name_len, digest))
        return 0;
    size_t whole_name = name_len + 2 + DIGEST_SIZE;
    uint8_t head_octets[32];
    struct writer head = {.p = head_octets, .size = sizeof head_octets};
    put_tlv(&head, NDN_TLV_NONCE, nonce, sizeof nonce);
    if (lifetime_ms != NDN_LIFETIME_DEFAULT_MS)
        put_nni(&head, NDN_TLV_LIFETIME, lifetime_ms);
    struct writer w = {.p = p, .size = size};
    put_header(&w, NDN_TYPE_INTEREST,
               1 + ndn_tlv_var_size(whole_name) + whole_name + head.len + covered.len - name_len);
    put_header(&w, NDN_TLV_NAME, whole_name);
    put(&w, name, name_len);
    put_tlv(&w, NDN_PARAMS_DIGEST, digest, sizeof digest);
    put(&w, head_octets, head.len);
    put(&w, covered_octets + name_len, covered.len - name_len);
    return w.failed ? 0 : w.len;
}
