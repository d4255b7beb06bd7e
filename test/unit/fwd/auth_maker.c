// SPDX-License-Identifier: Apache-2.0
#include "auth_maker.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/x509.h>

#include "conf/conf.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"

/* Octets that are written from the end to the beginning, so that lengths are known. */
struct writer {
    uint8_t buf[2 * MAKER_MAX];
    size_t at;
};

static void writer_init(struct writer *w)
{
    w->at = sizeof w->buf;
}

static size_t written(const struct writer *w)
{
    return sizeof w->buf - w->at;
}

static void put(struct writer *w, const void *octets, size_t len)
{
    cr_assert_leq(len, w->at);
    w->at -= len;
    if (len > 0)
        memcpy(w->buf + w->at, octets, len);
}

/* Header of an element that everything written since @p before is the value of. */
static void wrap(struct writer *w, uint32_t type, size_t before)
{
    uint8_t head[18];
    size_t n = ndn_tlv_put_var(head, type);
    n += ndn_tlv_put_var(head + n, written(w) - before);
    put(w, head, n);
}

static void put_tlv(struct writer *w, uint32_t type, const void *octets, size_t len)
{
    size_t before = written(w);
    put(w, octets, len);
    wrap(w, type, before);
}

static void put_nni(struct writer *w, uint32_t type, uint64_t number)
{
    uint8_t octets[8];
    put_tlv(w, type, octets, ndn_tlv_put_nni(octets, number));
}

static size_t name_of(const char *uri, uint8_t name[NDN_NAME_MAX])
{
    int len = ndn_name_from_uri(uri, name, NDN_NAME_MAX);
    cr_assert_geq(len, 0, "%s", uri);
    return (size_t)len;
}

static void put_name(struct writer *w, const char *uri)
{
    uint8_t name[NDN_NAME_MAX];
    put_tlv(w, 7, name, name_of(uri, name));
}

void maker_key(struct maker_key *key, unsigned type, const char *name)
{
    memset(key, 0, sizeof *key);
    key->type = type;
    snprintf(key->name, sizeof key->name, "%s", name);
    if (type == 1)
        key->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
    else if (type == 3)
        key->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    else if (type == 5)
        key->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    else
        for (size_t i = 0; i < sizeof key->secret; i++)
            key->secret[i] = (uint8_t)(i * 7 + 1);
    cr_assert(key->pkey != NULL || type == 4);
}

void maker_key_free(struct maker_key *key)
{
    EVP_PKEY_free(key->pkey);
}

static size_t sign(const struct maker_key *key, const uint8_t *octets, size_t len, uint8_t value[512])
{
    size_t value_len = 512;
    unsigned n = 512;
    if (key == NULL) {
        cr_assert(EVP_Digest(octets, len, value, &n, EVP_sha256(), NULL));
        return n;
    }
    if (key->type == 4) {
        cr_assert_not_null(HMAC(EVP_sha256(), key->secret, sizeof key->secret, octets, len, value, &n));
        return n;
    }
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    cr_assert(EVP_DigestSignInit(ctx, NULL, key->type == 5 ? NULL : EVP_sha256(), NULL, key->pkey));
    cr_assert(EVP_DigestSign(ctx, value, &value_len, octets, len));
    EVP_MD_CTX_free(ctx);
    return value_len;
}

/* SignatureInfo of a type, without what stands in it. */
static void put_locator(struct writer *w, const struct maker_key *key, const char *locator)
{
    if (locator == NULL && key == NULL)
        return;
    if (locator == NULL)
        locator = key->name;
    if (locator[0] == '\0')
        return;
    size_t before = written(w);
    put_name(w, locator);
    wrap(w, 28, before);
}

static void put_date(struct writer *w, uint32_t type, const char *date)
{
    put_tlv(w, type, date, strlen(date));
}

size_t maker_certificate(uint8_t buf[MAKER_MAX], const struct maker_certificate *c)
{
    const struct maker_key *issuer = c->issuer != NULL ? c->issuer : c->key;
    char name[128];
    uint8_t value[512], *spki = NULL;
    struct writer w;
    writer_init(&w);
    snprintf(name, sizeof name, "%s/self/v=1", c->key->name);
    size_t before = 0;
    if (c->not_before == NULL || c->not_before[0] != '\0') {
        put_date(&w, 255, c->not_after != NULL ? c->not_after : "21000101T000000");
        put_date(&w, 254, c->not_before != NULL ? c->not_before : "19700101T000000");
        wrap(&w, 253, before);
    }
    put_locator(&w, issuer, c->issuer_name);
    put_nni(&w, 27, issuer->type);
    wrap(&w, 22, before);
    before = written(&w);
    if (c->content != NULL) {
        put_tlv(&w, 21, c->content, c->content_len);
    } else {
        int len = i2d_PUBKEY(c->key->pkey, &spki);
        cr_assert_gt(len, 0);
        put_tlv(&w, 21, spki, (size_t)len);
        OPENSSL_free(spki);
    }
    before = written(&w);
    put_nni(&w, 25, 3600000);
    put_nni(&w, 24, c->content_type != 0 ? c->content_type : 2);
    wrap(&w, 20, before);
    put_name(&w, c->name != NULL ? c->name : name);
    size_t len = written(&w), value_len = sign(issuer, w.buf + w.at, len, value);
    uint8_t covered[MAKER_MAX];
    memcpy(covered, w.buf + w.at, len);
    writer_init(&w);
    put_tlv(&w, 23, value, value_len);
    put(&w, covered, len);
    wrap(&w, 6, 0);
    memcpy(buf, w.buf + w.at, written(&w));
    return written(&w);
}

size_t maker_public_key(uint8_t spki[512], const char *type, size_t bits, const char *curve)
{
    EVP_PKEY *pkey = bits > 0        ? EVP_PKEY_Q_keygen(NULL, NULL, type, bits)
                     : curve != NULL ? EVP_PKEY_Q_keygen(NULL, NULL, type, curve)
                                     : EVP_PKEY_Q_keygen(NULL, NULL, type);
    cr_assert_not_null(pkey);
    uint8_t *end = spki;
    int len = i2d_PUBKEY(pkey, &end);
    EVP_PKEY_free(pkey);
    cr_assert_gt(len, 0);
    cr_assert_leq(len, 512);
    return (size_t)len;
}

size_t maker_data(uint8_t buf[MAKER_MAX], const char *name, const struct maker_key *key, const char *locator)
{
    struct writer w;
    uint8_t value[512], covered[MAKER_MAX];
    writer_init(&w);
    put_locator(&w, key, locator);
    put_nni(&w, 27, key->type);
    wrap(&w, 22, 0);
    put_tlv(&w, 21, "content", 7);
    put_name(&w, name);
    size_t len = written(&w), value_len = sign(key, w.buf + w.at, len, value);
    memcpy(covered, w.buf + w.at, len);
    writer_init(&w);
    put_tlv(&w, 23, value, value_len);
    put(&w, covered, len);
    wrap(&w, 6, 0);
    memcpy(buf, w.buf + w.at, written(&w));
    return written(&w);
}

char *maker_base64(const uint8_t *octets, size_t len)
{
    static const char scheme[] = "base64:";
    char *text = malloc(sizeof scheme + len / 3 * 4 + 5);
    cr_assert_not_null(text);
    memcpy(text, scheme, sizeof scheme);
    EVP_EncodeBlock((unsigned char *)text + sizeof scheme - 1, octets, (int)len);
    return text;
}

#define COMMAND "/localhost/nfd/rib/register/h%07%07%07%05%08%03abc"

static void put_info(struct writer *w, const struct maker_command *c, bool interest)
{
    size_t before = written(w);
    if (interest && c->time_ms != 0) {
        uint8_t time[8];
        put_tlv(w, 40, time, ndn_tlv_put_nni(time, c->time_ms));
    }
    if (interest && c->nonce != 0)
        put_tlv(w, 38, &c->nonce, c->nonce_len != 0 ? c->nonce_len : 8);
    put_locator(w, c->key, c->locator);
    unsigned type = c->key != NULL ? c->key->type : 0;
    put_nni(w, 27, c->type == 0 ? type : c->type == MAKER_CLAIM_DIGEST ? 0 : c->type);
    wrap(w, interest ? 44 : 22, before);
}

/* CanBePrefix, MustBeFresh, Nonce. */
const uint8_t maker_uncovered[10] = {33, 0, 18, 0, 10, 4, 1, 2, 3, 4};

static void put_interest(struct writer *w, const uint8_t *name, size_t name_len)
{
    put(w, maker_uncovered, sizeof maker_uncovered);
    put_tlv(w, 7, name, name_len);
    wrap(w, 5, 0);
}

size_t maker_signed(uint8_t buf[MAKER_MAX], const struct maker_command *c)
{
    struct writer w;
    uint8_t name[NDN_NAME_MAX], covered[MAKER_MAX], value[512];
    size_t name_len = name_of(c->name != NULL ? c->name : COMMAND, name);
    writer_init(&w);
    put_info(&w, c, true);
    put_tlv(&w, 36, "", 0);
    size_t params_len = written(&w);
    memcpy(covered, name, name_len);
    memcpy(covered + name_len, w.buf + w.at, params_len);
    size_t value_len = sign(c->key, covered, name_len + params_len, value);
    writer_init(&w);
    put_tlv(&w, 46, value, value_len);
    put(&w, covered + name_len, params_len);
    uint8_t digest[34] = {NDN_PARAMS_DIGEST, 32};
    cr_assert(EVP_Digest(w.buf + w.at, written(&w), digest + 2, NULL, EVP_sha256(), NULL));
    digest[2] ^= c->wrong_digest;
    memcpy(name + name_len, digest, sizeof digest);
    put_interest(&w, name, name_len + sizeof digest);
    memcpy(buf, w.buf + w.at, written(&w));
    return written(&w);
}

static size_t append_component(uint8_t *name, size_t name_len, const struct writer *w)
{
    name[name_len++] = NDN_GENERIC;
    name_len += ndn_tlv_put_var(name + name_len, written(w));
    memcpy(name + name_len, w->buf + w->at, written(w));
    return name_len + written(w);
}

size_t maker_v02(uint8_t buf[MAKER_MAX], const struct maker_command *c)
{
    struct writer w;
    uint8_t name[NDN_NAME_MAX], value[512];
    size_t name_len = name_of(c->name != NULL ? c->name : COMMAND, name);
    uint64_t time = htobe64(c->time_ms);
    writer_init(&w);
    put(&w, &time, sizeof time);
    name_len = append_component(name, name_len, &w);
    writer_init(&w);
    put(&w, &c->nonce, sizeof c->nonce);
    name_len = append_component(name, name_len, &w);
    writer_init(&w);
    put_info(&w, c, false);
    name_len = append_component(name, name_len, &w);
    size_t value_len = sign(c->key, name, name_len, value);
    writer_init(&w);
    put_tlv(&w, 23, value, value_len);
    name_len = append_component(name, name_len, &w);
    writer_init(&w);
    put_interest(&w, name, name_len);
    memcpy(buf, w.buf + w.at, written(&w));
    return written(&w);
}

size_t maker_unsigned(uint8_t buf[MAKER_MAX], const char *uri)
{
    struct writer w;
    uint8_t name[NDN_NAME_MAX];
    writer_init(&w);
    put_interest(&w, name, name_of(uri != NULL ? uri : COMMAND, name));
    memcpy(buf, w.buf + w.at, written(&w));
    return written(&w);
}

struct auth *maker_auth(const char *text)
{
    struct conf *conf;
    struct auth *auth;
    char err[256] = "";
    cr_assert_eq(conf_load_text("text", text, strlen(text), &conf, stderr), 0, "%s", text);
    cr_assert_eq(auth_create(&auth, conf, err), 0, "%s", err);
    conf_free(conf);
    return auth;
}

void maker_auth_fault(const char *text, char err[256])
{
    struct conf *conf;
    struct auth *auth;
    cr_assert_eq(conf_load_text("text", text, strlen(text), &conf, stderr), 0, "%s", text);
    cr_expect_eq(auth_create(&auth, conf, err), -EINVAL, "%s", text);
    conf_free(conf);
}

struct auth *maker_trusting(const struct maker_key *key, const struct maker_certificate *certificate)
{
    uint8_t octets[MAKER_MAX];
    struct maker_certificate self = {.key = key};
    char *base64 = maker_base64(octets, maker_certificate(octets, certificate != NULL ? certificate : &self));
    char *text = NULL;
    cr_assert_gt(
        asprintf(&text,
                 "authorizations = ( { certfile = \"%s\"; privileges = [ \"faces\", \"fib\", \"cs\", "
                 "\"strategy-choice\" ]; } );\nrib: { localhost-security = \"%s\"; localhop-security = \"%s\"; "
                 "prefix-announcement-validation = \"%s\"; };",
                 base64, base64, base64, base64),
        0);
    struct auth *auth = maker_auth(text);
    free(text);
    free(base64);
    return auth;
}

void maker_folder(char path[128])
{
    const char *base = getenv("TMPDIR");
    cr_assert_lt(snprintf(path, 128, "%s/pitlane-auth-XXXXXX", base != NULL ? base : "/tmp"), 128);
    cr_assert_not_null(mkdtemp(path));
}

void maker_file(const char *folder, const char *name, const void *octets, size_t len)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(octets, 1, len, file), len);
    fclose(file);
}

void maker_folder_remove(const char *path)
{
    char file[400];
    struct dirent **entry;
    int n = scandir(path, &entry, NULL, NULL);
    for (int i = 0; i < n; i++) {
        snprintf(file, sizeof file, "%s/%s", path, entry[i]->d_name);
        remove(file);
        free(entry[i]);
    }
    free(entry);
    cr_assert_eq(rmdir(path), 0, "%s", path);
}
