// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/auth_key.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/x509.h>

#include "parser/ndn_tlv.h"

/* Components of a certificate's name behind the identity: KEY, KEYID, ISSUER, VERSION. */
#define KEY_COMPS 4
#define RSA_BITS  2048
#define EC_BITS   256
#define HMAC_MIN  16
#define HMAC_MAX  1024

#define CONTENT_TYPE_KEY 2

bool auth_sha256(const uint8_t *p, size_t len, uint8_t digest[NDN_DIGEST_SIZE])
{
    unsigned n = NDN_DIGEST_SIZE;
    return EVP_Digest(p, len, digest, &n, EVP_sha256(), NULL) == 1;
}

static const char *out_of_memory(struct auth_key *key)
{
    auth_key_clear(key);
    return "out of memory";
}

static bool keep(uint8_t **to, const uint8_t *from, size_t len)
{
    *to = malloc(len > 0 ? len : 1);
    if (*to != NULL && len > 0)
        memcpy(*to, from, len);
    return *to != NULL;
}

/* Where /KEY/KEYID/ISSUER/VERSION begins in a certificate's name, and where it goes on behind the KEYID. */
static bool find_key_name(struct auth_view name, size_t *identity_len, size_t *key_name_len)
{
    static const uint8_t key[] = {NDN_GENERIC, 3, 'K', 'E', 'Y'};
    size_t at[KEY_COMPS];
    if (auth_name_tail(name, at, KEY_COMPS) < KEY_COMPS)
        return false;
    *identity_len = at[KEY_COMPS - 1];
    *key_name_len = at[KEY_COMPS - 3];
    return at[KEY_COMPS - 2] - at[KEY_COMPS - 1] == sizeof key && memcmp(name.p + *identity_len, key, sizeof key) == 0;
}

static const char *read_public_key(struct auth_view spki, EVP_PKEY **public_key)
{
    const unsigned char *p = spki.p;
    EVP_PKEY *pkey = p != NULL ? d2i_PUBKEY(NULL, &p, (long)spki.len) : NULL;
    ERR_clear_error();
    if (pkey == NULL || p != spki.p + spki.len) {
        EVP_PKEY_free(pkey);
        return "its Content is not a public key";
    }
    const char *wrong = NULL;
    switch (EVP_PKEY_get_base_id(pkey)) {
    case EVP_PKEY_RSA:
        wrong = EVP_PKEY_get_bits(pkey) < RSA_BITS ? "its RSA key has less than 2048 bits" : NULL;
        break;
    case EVP_PKEY_EC:
        wrong = EVP_PKEY_get_bits(pkey) < EC_BITS ? "its elliptic curve has less than 256 bits" : NULL;
        break;
    case EVP_PKEY_ED25519:
        break;
    default:
        wrong = "its key is neither RSA, ECDSA nor Ed25519";
    }
    if (wrong == NULL)
        *public_key = pkey;
    else
        EVP_PKEY_free(pkey);
    return wrong;
}

const char *auth_key_certificate(const uint8_t *data, size_t len, struct auth_key *key)
{
    struct auth_signature s;
    memset(key, 0, sizeof *key);
    if (auth_data_parse(data, len, &s) != AUTH_SIGNED)
        return "is not an NDN certificate: not a Data packet";
    struct tlv content_type = {.value = s.content_type.p, .len = s.content_type.len};
    uint64_t number;
    if (content_type.value == NULL || !tlv_nni(&content_type, &number) || number != CONTENT_TYPE_KEY)
        return "is not an NDN certificate: its ContentType is not KEY (2)";
    if (!find_key_name(s.name, &key->identity_len, &key->key_name_len))
        return "is not an NDN certificate: its name is not /IDENTITY/KEY/KEYID/ISSUER/VERSION";
    if (!s.has_validity || s.not_after_ms < s.not_before_ms)
        return "has no ValidityPeriod, or one that ends before it begins";
    const char *wrong = read_public_key(s.content, &key->public_key);
    if (wrong != NULL)
        return wrong;
    key->not_before_ms = s.not_before_ms;
    key->not_after_ms = s.not_after_ms;
    key->name_len = s.name.len;
    if (!keep(&key->name, s.name.p, s.name.len) || !auth_sha256(s.content.p, s.content.len, key->id))
        return out_of_memory(key);
    return NULL;
}

const char *auth_key_hmac(const uint8_t *name, size_t name_len, const uint8_t *secret, size_t len, struct auth_key *key)
{
    memset(key, 0, sizeof *key);
    if (len < HMAC_MIN || len > HMAC_MAX)
        return "has an HMAC key of less than 16 or more than 1024 octets";
    key->name_len = key->key_name_len = key->identity_len = name_len;
    key->secret_len = len;
    key->not_after_ms = UINT64_MAX;
    if (!keep(&key->name, name, name_len) || !keep(&key->secret, secret, len) || !auth_sha256(secret, len, key->id))
        return out_of_memory(key);
    return NULL;
}

void auth_key_clear(struct auth_key *key)
{
    EVP_PKEY_free(key->public_key);
    if (key->secret != NULL)
        OPENSSL_cleanse(key->secret, key->secret_len);
    free(key->secret);
    free(key->name);
    memset(key, 0, sizeof *key);
}

bool auth_key_is_named(const struct auth_key *key, struct auth_view signer)
{
    bool one_of_both = signer.len == key->key_name_len || signer.len == key->name_len;
    return one_of_both && signer.p != NULL && memcmp(key->name, signer.p, signer.len) == 0;
}

bool auth_key_is_valid(const struct auth_key *key, uint64_t wall_ms)
{
    for (; key != NULL; key = key->issuer)
        if (wall_ms < key->not_before_ms || wall_ms > key->not_after_ms)
            return false;
    return true;
}

static bool verify_hmac(const struct auth_key *key, const uint8_t *octets, size_t len, struct auth_view value)
{
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned mac_len = 0;
    return HMAC(EVP_sha256(), key->secret, (int)key->secret_len, octets, len, mac, &mac_len) != NULL &&
           value.len == mac_len && CRYPTO_memcmp(mac, value.p, mac_len) == 0;
}

static bool verify_public(EVP_PKEY *public_key, const EVP_MD *md, const uint8_t *octets, size_t len,
                          struct auth_view value)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx != NULL && EVP_DigestVerifyInit(ctx, NULL, md, NULL, public_key) == 1 &&
              EVP_DigestVerify(ctx, value.p, value.len, octets, len) == 1;
    EVP_MD_CTX_free(ctx);
    // What a stranger's octets left there is nobody else's.
    ERR_clear_error();
    return ok;
}

bool auth_key_verify(const struct auth_key *key, const struct auth_signature *signature)
{
    uint8_t octets[NDN_PACKET_MAX];
    size_t len = auth_covered(signature, octets);
    if (signature->value.len == 0)
        return false;
    int id = key->public_key != NULL ? EVP_PKEY_get_base_id(key->public_key) : EVP_PKEY_NONE;
    switch (signature->type) {
    case AUTH_SHA256_RSA:
        return id == EVP_PKEY_RSA && verify_public(key->public_key, EVP_sha256(), octets, len, signature->value);
    case AUTH_SHA256_ECDSA:
        return id == EVP_PKEY_EC && verify_public(key->public_key, EVP_sha256(), octets, len, signature->value);
    case AUTH_ED25519:
        return id == EVP_PKEY_ED25519 && verify_public(key->public_key, NULL, octets, len, signature->value);
    case AUTH_HMAC_SHA256:
        return key->secret != NULL && verify_hmac(key, octets, len, signature->value);
    default:
        return false;
    }
}
