// SPDX-License-Identifier: Apache-2.0
#include "test/load/register.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <openssl/evp.h>

#include "parser/ndn_encode.h"
#include "parser/ndn_name.h"

/* A buffer that is written from its start; too much is a bug of the caller. */
struct out {
    uint8_t octets[2048];
    size_t len;
};

static void put(struct out *out, const void *p, size_t len)
{
    if (len > sizeof out->octets - out->len) {
        fputs("register: the prefix is too long\n", stderr);
        exit(1);
    }
    memcpy(out->octets + out->len, p, len);
    out->len += len;
}

static void put_tlv(struct out *out, unsigned type, const void *value, size_t len)
{
    uint8_t number[18];
    size_t size = ndn_tlv_put_var(number, type);
    size += ndn_tlv_put_var(number + size, len);
    put(out, number, size);
    put(out, value, len);
}

static void digest(const struct out *in, uint8_t value[32])
{
    if (EVP_Digest(in->octets, in->len, value, NULL, EVP_sha256(), NULL) != 1)
        exit(1);
}

size_t register_prefix(uint8_t *p, size_t size, const char *uri)
{
    uint8_t value[NDN_NAME_MAX], hash[32], number[8];
    int len = ndn_name_from_uri(uri, value, sizeof value);
    if (len < 0)
        exit(1);
    struct out name = {.len = 0}, params = {.len = 0}, control = {.len = 0};
    put_tlv(&params, 7, value, (size_t)len);
    put_tlv(&control, 104, params.octets, params.len);
    static const char *const words[] = {"localhost", "nfd", "rib", "register"};
    for (unsigned i = 0; i < 4; i++)
        put_tlv(&name, NDN_GENERIC, words[i], strlen(words[i]));
    put_tlv(&name, NDN_GENERIC, control.octets, control.len);

    // InterestSignatureInfo: DigestSha256, SignatureNonce, SignatureTime.
    struct out info = {.len = 0}, signed_part = name, tail = {.len = 0}, all = {.len = 0}, body = {.len = 0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    put_tlv(&info, 27, "", 1);
    if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
        exit(1);
    put_tlv(&info, 38, number, sizeof number);
    put_tlv(&info, 40, number, ndn_tlv_put_nni(number, ms));
    put_tlv(&tail, 36, NULL, 0);
    put_tlv(&tail, 44, info.octets, info.len);
    put(&signed_part, tail.octets, tail.len);
    digest(&signed_part, hash);
    put_tlv(&tail, 46, hash, sizeof hash);

    digest(&tail, hash);
    put_tlv(&name, NDN_PARAMS_DIGEST, hash, sizeof hash);
    put_tlv(&body, 7, name.octets, name.len);
    put_tlv(&body, 10, number, 4);
    put(&body, tail.octets, tail.len);
    put_tlv(&all, 5, body.octets, body.len);
    if (all.len > size)
        exit(1);
    memcpy(p, all.octets, all.len);
    return all.len;
}
