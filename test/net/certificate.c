// SPDX-License-Identifier: Apache-2.0
/*
 * A key and its self-signed NDN certificate for the network tests: FILE.pem (PKCS #8) and FILE.ndncert, of the identity
 * NAME, named NAME/KEY/1/self/v=1.
 * usage: certificate EC|RSA|ED25519 NAME FILE
 */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"
#include "parser/ndn_tlv.h"

enum { KEY_LOCATOR = 28, VALIDITY_PERIOD = 253, NOT_BEFORE = 254, NOT_AFTER = 255 };

struct octets {
    uint8_t p[4096];
    size_t len;
};

static void put(struct octets *o, uint32_t type, const void *value, size_t len)
{
    if (sizeof o->p - o->len < len + 32)
        exit(3);
    o->len += ndn_tlv_put_var(o->p + o->len, type);
    o->len += ndn_tlv_put_var(o->p + o->len, len);
    memcpy(o->p + o->len, value, len);
    o->len += len;
}

static void put_name(struct octets *o, const char *identity, const char *rest)
{
    char uri[512];
    uint8_t name[1024];
    snprintf(uri, sizeof uri, "%s%s", identity, rest);
    int len = ndn_name_from_uri(uri, name, sizeof name);
    if (len < 0)
        exit(2);
    put(o, NDN_TLV_NAME, name, (size_t)len);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    EVP_PKEY *key = strcmp(argv[1], "EC") == 0    ? EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256")
                    : strcmp(argv[1], "RSA") == 0 ? EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048)
                                                  : EVP_PKEY_Q_keygen(NULL, NULL, argv[1]);
    const uint8_t type = strcmp(argv[1], "EC") == 0 ? 3 : strcmp(argv[1], "RSA") == 0 ? 1 : 5;
    uint8_t *spki = NULL, signature[1024];
    size_t signature_len = sizeof signature;
    int spki_len = key != NULL ? i2d_PUBKEY(key, &spki) : -1;
    if (spki_len <= 0)
        return 3;
    struct octets meta = {0}, locator = {0}, validity = {0}, info = {0}, data = {0}, whole = {0};
    put(&meta, NDN_TLV_CONTENT_TYPE, "\x02", 1); // KEY
    put(&meta, NDN_TLV_FRESHNESS, "\x00\x36\xee\x80", 4);
    put_name(&locator, argv[2], "/KEY/1");
    put(&validity, NOT_BEFORE, "20200101T000000", 15);
    put(&validity, NOT_AFTER, "20991231T235959", 15);
    put(&info, NDN_TLV_SIGNATURE_TYPE, &type, 1);
    put(&info, KEY_LOCATOR, locator.p, locator.len);
    put(&info, VALIDITY_PERIOD, validity.p, validity.len);
    put_name(&data, argv[2], "/KEY/1/self/v=1");
    put(&data, NDN_TLV_META_INFO, meta.p, meta.len);
    put(&data, NDN_TLV_CONTENT, spki, (size_t)spki_len);
    put(&data, NDN_TLV_SIGNATURE_INFO, info.p, info.len);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (EVP_DigestSignInit(ctx, NULL, type == 5 ? NULL : EVP_sha256(), NULL, key) != 1 ||
        EVP_DigestSign(ctx, signature, &signature_len, data.p, data.len) != 1)
        return 3;
    put(&data, NDN_TLV_SIGNATURE_VALUE, signature, signature_len);
    put(&whole, 6, data.p, data.len);

    char path[512];
    snprintf(path, sizeof path, "%s.ndncert", argv[3]);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(whole.p, 1, whole.len, file) != whole.len || fclose(file) != 0)
        return 3;
    snprintf(path, sizeof path, "%s.pem", argv[3]);
    file = fopen(path, "w");
    if (file == NULL || PEM_write_PKCS8PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) != 1 || fclose(file) != 0)
        return 3;
    EVP_MD_CTX_free(ctx);
    OPENSSL_free(spki);
    EVP_PKEY_free(key);
    return 0;
}
