// SPDX-License-Identifier: Apache-2.0
#ifndef QUIC_LB_CID_H
#define QUIC_LB_CID_H

/*
 * Connection IDs for QUIC servers behind pitlane, or any load balancer of draft-ietf-quic-load-balancers: the server's
 * ID is in them, so that packets find it whatever address the client has. One header, to be copied into a server; it
 * needs nothing but AES-128 of one block, from OpenSSL (define QUIC_LB_CID_OPENSSL before including it) or of your own.
 *
 *     struct quic_lb_cid lb = {.config_id = 0, .server_id_len = 8, .nonce_len = 8};
 *     memcpy(lb.server_id, my_id, 8);
 *     quic_lb_cid_encrypt_with(&lb, key);           // leave it out for plaintext
 *     quic_lb_cid_start(&lb);                        // a random nonce to begin with
 *     size_t len = quic_lb_cid_next(&lb, cid);       // each time that a connection ID is needed
 *
 * lengths, key and server ID are those of quic-config and quic-server in the configuration of pitlaned. Give each
 * thread a struct of its own, with a server ID of its own: no nonce may be used twice under one server ID and key. A
 * struct that is made anew, when the server starts again, begins at another random nonce; with nonces of less than 8
 * octets, rather take another server ID or key then.
 *
 * The CID's length is fixed: 1 + server_id_len + nonce_len, at most 20. Tell your QUIC library to expect that length in
 * short headers. Use such CIDs for the server's first Source Connection ID and for all in NEW_CONNECTION_ID.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#define QUIC_LB_CID_LEN_MAX 20

struct quic_lb_cid {
    uint8_t config_id;     /* 0 to 6 */
    uint8_t server_id_len; /* 1 to 15 */
    uint8_t nonce_len;     /* 4 to 18; with the server ID at most 19 */
    uint8_t server_id[15];
    /* Encrypt one block of AES-128-ECB; return 0 when it fails. NULL: plaintext. */
    int (*encrypt)(void *ctx, const uint8_t in[16], uint8_t out[16]);
    void *ctx;
    uint8_t nonce[18];      /* of the next CID */
    uint8_t nonce_last[18]; /* the one that ends the round: all were used then */
    int used_up;
};

/* Left or right half of server ID and nonce, with what tells the pass and the length (draft, section 5.4.2). */
static inline void quic_lb_cid_expand(uint8_t out[16], uint8_t len, uint8_t pass, const uint8_t *half, size_t half_len)
{
    memset(out, 0, 16);
    memcpy(out, half, half_len);
    out[14] = len;
    out[15] = pass;
}

/* Four passes: a half is XORed with the encryption of the other one. Of an odd length both have half of the middle
 * octet. */
static inline int quic_lb_cid_four_pass(const struct quic_lb_cid *lb, uint8_t *text, uint8_t len)
{
    uint8_t half[2][10], in[16], out[16];
    size_t half_len = (len + 1u) / 2;
    memcpy(half[0], text, half_len);
    memcpy(half[1], text + len - half_len, half_len);
    if (len % 2 != 0) {
        half[0][half_len - 1] &= 0xf0;
        half[1][0] &= 0x0f;
    }
    for (uint8_t pass = 1; pass <= 4; pass++) {
        uint8_t *from = half[pass % 2 == 0], *to = half[pass % 2];
        quic_lb_cid_expand(in, len, pass, from, half_len);
        if (!lb->encrypt(lb->ctx, in, out))
            return 0;
        for (size_t i = 0; i < half_len; i++)
            to[i] ^= out[i];
        if (len % 2 != 0 && to == half[0])
            to[half_len - 1] &= 0xf0;
        if (len % 2 != 0 && to == half[1])
            to[0] &= 0x0f;
    }
    uint8_t middle = half[0][half_len - 1];
    memcpy(text, half[0], half_len);
    memcpy(text + len - half_len, half[1], half_len);
    if (len % 2 != 0)
        text[half_len - 1] |= middle;
    return 1;
}

/* A CID with this nonce. The length is in its first octet. Returns its length, 0 when encryption or the lengths fail.
 */
static inline size_t quic_lb_cid_make(const struct quic_lb_cid *lb, const uint8_t *nonce,
                                      uint8_t cid[QUIC_LB_CID_LEN_MAX])
{
    uint8_t len = (uint8_t)(lb->server_id_len + lb->nonce_len), block[16];
    if (lb->config_id > 6 || lb->server_id_len < 1 || lb->server_id_len > 15 || lb->nonce_len < 4 ||
        lb->nonce_len > 18 || len > 19)
        return 0;
    cid[0] = (uint8_t)(lb->config_id << 5 | len);
    memcpy(cid + 1, lb->server_id, lb->server_id_len);
    memcpy(cid + 1 + lb->server_id_len, nonce, lb->nonce_len);
    if (lb->encrypt == NULL)
        return len + 1u;
    if (len != 16)
        return quic_lb_cid_four_pass(lb, cid + 1, len) ? len + 1u : 0;
    memcpy(block, cid + 1, sizeof block);
    return lb->encrypt(lb->ctx, block, cid + 1) ? len + 1u : 0;
}

/* Begin with a random nonce. Returns 0 when there are no random numbers. */
static inline int quic_lb_cid_start(struct quic_lb_cid *lb)
{
    lb->used_up = 0;
    if (getrandom(lb->nonce, sizeof lb->nonce, 0) != (ssize_t)sizeof lb->nonce)
        return 0;
    memcpy(lb->nonce_last, lb->nonce, sizeof lb->nonce);
    return 1;
}

/*
 * The next CID: nonces are counted, which encryption hides. In plaintext they are random, lest two CIDs of one
 * connection tell that they belong together. Returns its length; 0: all nonces were used, or encryption failed.
 */
static inline size_t quic_lb_cid_next(struct quic_lb_cid *lb, uint8_t cid[QUIC_LB_CID_LEN_MAX])
{
    if (lb->encrypt == NULL && getrandom(lb->nonce, sizeof lb->nonce, 0) != (ssize_t)sizeof lb->nonce)
        return 0;
    if (lb->used_up)
        return 0;
    size_t len = quic_lb_cid_make(lb, lb->nonce, cid);
    if (lb->encrypt == NULL)
        return len;
    for (size_t i = lb->nonce_len; i > 0 && ++lb->nonce[i - 1] == 0; i--) {
    }
    lb->used_up = memcmp(lb->nonce, lb->nonce_last, lb->nonce_len) == 0;
    return len;
}

#ifdef QUIC_LB_CID_OPENSSL
#include <openssl/evp.h>

static inline int quic_lb_cid_openssl(void *ctx, const uint8_t in[16], uint8_t out[16])
{
    int len = 0;
    return EVP_EncryptUpdate((EVP_CIPHER_CTX *)ctx, out, &len, in, 16) == 1 && len == 16;
}

/* Encrypt with a key of 16 octets. Returns 0 when OpenSSL fails. */
static inline int quic_lb_cid_encrypt_with(struct quic_lb_cid *lb, const uint8_t key[16])
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    if (ctx == NULL || EVP_EncryptInit_ex(ctx, EVP_aes_128_ecb(), NULL, key, NULL) != 1) {
        EVP_CIPHER_CTX_free(ctx);
        return 0;
    }
    EVP_CIPHER_CTX_set_padding(ctx, 0);
    lb->encrypt = quic_lb_cid_openssl;
    lb->ctx = ctx;
    return 1;
}

static inline void quic_lb_cid_free(struct quic_lb_cid *lb)
{
    EVP_CIPHER_CTX_free((EVP_CIPHER_CTX *)lb->ctx);
    lb->ctx = NULL;
    lb->encrypt = NULL;
}
#endif

#endif
