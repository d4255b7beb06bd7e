// SPDX-License-Identifier: Apache-2.0
#include "test/quic/server_retry.h"

#include <arpa/inet.h>
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fwd/quic/retry_token.h"
#include "test/quic/cid_maker.h"

#define LIFETIME_S 600
#define SEQUENCES  128

static struct key {
    bool is_set;
    struct gcm gcm;
    uint8_t iv[GCM_NONCE];
} keys[SEQUENCES];

void server_retry_init(const char *file)
{
    unsigned sequence, n = 0;
    char key_text[40], iv_text[32];
    uint8_t key[GCM_KEY];
    FILE *in = fopen(file, "re");
    if (in == NULL)
        err(2, "%s", file);
    while (fscanf(in, "%u %39s %31s", &sequence, key_text, iv_text) == 3) {
        if (sequence >= SEQUENCES || cid_maker_hex(key_text, key, sizeof(key)) != GCM_KEY ||
            cid_maker_hex(iv_text, keys[sequence].iv, GCM_NONCE) != GCM_NONCE)
            errx(2, "%s: not a line \"SEQUENCE KEY IV\"", file);
        if (gcm_create(&keys[sequence].gcm) != 0 || !gcm_set_key(&keys[sequence].gcm, key))
            errx(2, "%s: key is refused", file);
        keys[sequence].is_set = true;
        n++;
    }
    fclose(in);
    if (n == 0)
        errx(2, "%s: no keys", file);
}

enum server_retry server_retry_check(const ngtcp2_pkt_hd *header, const struct udp_addr *peer,
                                     ngtcp2_cid *original_dcid)
{
    struct retry_token_client client = {.rscid_len = (uint8_t)header->dcid.datalen, .rscid = header->dcid.data};
    struct retry_token token;
    if (header->token.len == 0)
        return SERVER_RETRY_NONE;
    if (peer->sa.ss_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, &peer->sa, sizeof(in6));
        memcpy(client.ip, &in6.sin6_addr, 16);
        client.port = ntohs(in6.sin6_port);
    } else {
        struct sockaddr_in in4;
        memcpy(&in4, &peer->sa, sizeof(in4));
        memcpy(client.ip, &in4.sin_addr, 4);
        client.port = ntohs(in4.sin_port);
    }
    struct key *key = &keys[header->token.base[0] & 0x7f];
    if (!key->is_set ||
        retry_token_check(&key->gcm, key->iv, header->token.base, header->token.len, &client, (uint64_t)time(NULL),
                          LIFETIME_S, &token) != RETRY_TOKEN_OK ||
        token.from_new_token)
        return SERVER_RETRY_BAD;
    ngtcp2_cid_init(original_dcid, token.odcid, token.odcid_len);
    return SERVER_RETRY_GOOD;
}
