// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/retry_token.h"

#include <string.h>

#include "parser/cursor.h"
#include "parser/quic.h"

#define CID_MAX  20
#define AAD_MAX  (16 + RETRY_TOKEN_FIXED + 1 + CID_MAX)
#define BODY_MAX (RETRY_TOKEN_BODY + RETRY_TOKEN_OPAQUE)

static size_t write_aad(const uint8_t *token, const struct retry_token_client *client, uint8_t aad[AAD_MAX])
{
    uint8_t *p = aad;
    memcpy(p, client->ip, sizeof client->ip);
    p += sizeof client->ip;
    memcpy(p, token, RETRY_TOKEN_FIXED);
    p += RETRY_TOKEN_FIXED;
    if ((token[0] & RETRY_TOKEN_NEW_BIT) == 0) {
        *p++ = client->rscid_len;
        if (client->rscid_len > 0)
            memcpy(p, client->rscid, client->rscid_len);
        p += client->rscid_len;
    }
    return (size_t)(p - aad);
}

static void write_nonce(const uint8_t iv[GCM_NONCE], const uint8_t *number, uint8_t nonce[GCM_NONCE])
{
    for (unsigned i = 0; i < GCM_NONCE; i++)
        nonce[i] = iv[i] ^ number[i];
}

size_t retry_token_make(struct gcm *gcm, const uint8_t iv[GCM_NONCE], uint8_t sequence,
                        const uint8_t number[RETRY_TOKEN_NUMBER], const struct retry_token_client *client,
                        const uint8_t *odcid, uint8_t odcid_len, uint64_t expiry_s, uint8_t token[RETRY_TOKEN_MADE])
{
    uint8_t aad[AAD_MAX], nonce[GCM_NONCE];
    uint64_t expiry_be = htobe64(expiry_s);
    uint16_t port_be = htobe16(client->port);
    if (odcid_len < QUIC_CLIENT_CID_MIN || odcid_len > RETRY_TOKEN_ODCID || client->rscid_len > CID_MAX)
        return 0;
    token[0] = sequence & (RETRY_TOKEN_NEW_BIT - 1);
    memcpy(token + 1, number, RETRY_TOKEN_NUMBER);
    uint8_t *body = token + RETRY_TOKEN_FIXED, *p = body;
    memcpy(p, &expiry_be, sizeof expiry_be);
    p += sizeof expiry_be;
    *p++ = odcid_len;
    memcpy(p, odcid, odcid_len);
    p += odcid_len;
    memcpy(p, &port_be, sizeof port_be);
    p += sizeof port_be;
    write_nonce(iv, number, nonce);
    if (!gcm_seal(gcm, nonce, aad, write_aad(token, client, aad), body, (size_t)(p - body), p))
        return 0;
    return (size_t)(p - token) + GCM_TAG;
}

/* The body of an authentic token. */
static enum retry_token_verdict read_body(const uint8_t *body, size_t len, struct retry_token *out)
{
    struct cursor c = cursor_make(body, len);
    const uint8_t *odcid;
    if (!cursor_u64(&c, &out->expiry_s))
        return RETRY_TOKEN_FORMAT;
    out->odcid_len = 0;
    out->port = 0;
    if (out->from_new_token)
        return RETRY_TOKEN_OK;
    if (!cursor_u8(&c, &out->odcid_len) || out->odcid_len < QUIC_CLIENT_CID_MIN || out->odcid_len > RETRY_TOKEN_ODCID ||
        !cursor_bytes(&c, out->odcid_len, &odcid) || !cursor_u16(&c, &out->port))
        return RETRY_TOKEN_FORMAT;
    memcpy(out->odcid, odcid, out->odcid_len);
    return RETRY_TOKEN_OK;
}

enum retry_token_verdict retry_token_check(struct gcm *gcm, const uint8_t iv[GCM_NONCE], const uint8_t *token,
                                           size_t len, const struct retry_token_client *client, uint64_t now_s,
                                           uint64_t lifetime_s, struct retry_token *out)
{
    uint8_t aad[AAD_MAX], nonce[GCM_NONCE], body[BODY_MAX];
    if (len < RETRY_TOKEN_FIXED + GCM_TAG || client->rscid_len > CID_MAX)
        return RETRY_TOKEN_FORMAT;
    size_t body_len = len - RETRY_TOKEN_FIXED - GCM_TAG;
    if (body_len > sizeof body)
        return RETRY_TOKEN_FORMAT;
    write_nonce(iv, token + 1, nonce);
    // Decrypted in a copy: an authentic token goes on to the server as it is.
    memcpy(body, token + RETRY_TOKEN_FIXED, body_len);
    if (!gcm_open(gcm, nonce, aad, write_aad(token, client, aad), body, body_len, token + len - GCM_TAG))
        return RETRY_TOKEN_FORGED;
    out->from_new_token = (token[0] & RETRY_TOKEN_NEW_BIT) != 0;
    enum retry_token_verdict verdict = read_body(body, body_len, out);
    if (verdict != RETRY_TOKEN_OK)
        return verdict;
    if (out->expiry_s < now_s && now_s - out->expiry_s >= RETRY_TOKEN_SKEW_S)
        return RETRY_TOKEN_EXPIRED;
    // Tokens for later connections live as long as their server likes.
    if (out->from_new_token)
        return RETRY_TOKEN_OK;
    if (out->expiry_s > now_s && out->expiry_s - now_s > lifetime_s + RETRY_TOKEN_SKEW_S)
        return RETRY_TOKEN_FUTURE;
    return out->port == client->port ? RETRY_TOKEN_OK : RETRY_TOKEN_PORT;
}
