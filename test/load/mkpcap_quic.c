// SPDX-License-Identifier: Apache-2.0
#include "test/load/mkpcap_quic.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/quic.h"
#include "test/load/mkpcap_random.h"

#define CLIENT_CID_LEN 8

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* @return octets, or -EINVAL when they are none, more than @p size, or no pairs of digits up to one of @p ends */
static int hex(const char *text, const char *ends, uint8_t *p, size_t size)
{
    size_t digits = strcspn(text, ends);
    if (digits == 0 || digits % 2 != 0 || digits / 2 > size)
        return -EINVAL;
    for (size_t i = 0; i < digits; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0)
            return -EINVAL;
        p[i / 2] = (uint8_t)(high << 4 | low);
    }
    return (int)(digits / 2);
}

int mkpcap_quic_config(struct mkpcap_quic *quic, const char *text)
{
    unsigned id, id_len, nonce_len;
    char encoding[16];
    int used = 0;
    if (sscanf(text, "%u,%15[a-z-],%u,%u%n", &id, encoding, &id_len, &nonce_len, &used) != 4 || text[used] != '\0' ||
        id >= QUIC_LB_CONFIGS || id_len < 1 || id_len > QUIC_LB_SERVER_ID_MAX || nonce_len < QUIC_LB_NONCE_MIN ||
        nonce_len > QUIC_LB_NONCE_MAX || id_len + nonce_len >= QUIC_LB_CID_MAX)
        return -EINVAL;
    // With a key the lengths say which (draft, section 5.3).
    bool single = id_len + nonce_len == AES128_BLOCK;
    if (strcmp(encoding, "plaintext") == 0)
        quic->config.encrypted = false;
    else if (strcmp(encoding, single ? "single-pass" : "four-pass") == 0)
        quic->config.encrypted = true;
    else
        return -EINVAL;
    quic->config_id = (uint8_t)id;
    quic->config.server_id_len = (uint8_t)id_len;
    quic->config.nonce_len = (uint8_t)nonce_len;
    return 0;
}

int mkpcap_quic_key(struct mkpcap_quic *quic, const char *text)
{
    uint8_t key[AES128_BLOCK];
    if (hex(text, "", key, sizeof key) != AES128_BLOCK)
        return -EINVAL;
    memcpy(quic->config.key, key, sizeof key);
    return 0;
}

int mkpcap_quic_servers(struct mkpcap_quic *quic, const char *text)
{
    unsigned n = 0;
    for (;;) {
        if (n == MKPCAP_SERVERS_MAX)
            return -ENOSPC;
        struct quic_lb_id *id = &quic->server[n];
        memset(id, 0, sizeof *id);
        int len = hex(text, ",", id->octets, sizeof id->octets);
        if (len < 0)
            return len;
        id->len = (uint8_t)len;
        n++;
        text += 2 * len;
        if (*text == '\0')
            break;
        text++;
    }
    quic->n_servers = n;
    return 0;
}

int mkpcap_quic_mix(struct mkpcap_quic *quic, const char *text)
{
    unsigned share[MKPCAP_QUIC_KINDS];
    int used = 0;
    if (text[strspn(text, "0123456789/")] != '\0' ||
        sscanf(text, "%3u/%3u/%3u/%3u%n", &share[0], &share[1], &share[2], &share[3], &used) != 4 ||
        text[used] != '\0' || share[0] + share[1] + share[2] + share[3] != 100)
        return -EINVAL;
    memcpy(quic->share, share, sizeof share);
    return 0;
}

int mkpcap_quic_prepare(struct mkpcap_quic *quic)
{
    if (quic->n_servers == 0 || quic->connections == 0 || quic->size < MKPCAP_DATAGRAM_MIN ||
        quic->size > MKPCAP_DATAGRAM_MAX)
        return -EINVAL;
    for (unsigned i = 0; i < quic->n_servers; i++) {
        if (quic->server[i].len != quic->config.server_id_len)
            return -EINVAL;
    }
    memset(&quic->lb, 0, sizeof quic->lb);
    return quic_lb_add_config(&quic->lb, quic->config_id, &quic->config);
}

size_t mkpcap_quic_cid(const struct mkpcap_quic *quic, uint64_t seed, uint64_t connection, uint8_t cid[QUIC_LB_CID_MAX])
{
    uint8_t nonce[QUIC_LB_NONCE_MAX];
    mkpcap_random_octets(seed, MKPCAP_RANDOM_CID, connection, nonce, sizeof nonce);
    // No nonce may be used twice under a key: four octets of it are the connection itself.
    for (unsigned i = 0; i < 4; i++)
        nonce[i] = (uint8_t)(connection >> (24 - 8 * i));
    uint8_t len = (uint8_t)(quic->config.server_id_len + quic->config.nonce_len);
    uint8_t first = (uint8_t)(quic->config_id << 5 | len);
    int n = quic_lb_encode(&quic->lb, first, &quic->server[connection % quic->n_servers], nonce, cid);
    if (n < 0)
        abort(); // mkpcap_quic_prepare() has seen to it
    return (size_t)n;
}

static enum mkpcap_quic_kind kind_of(const struct mkpcap_quic *quic, uint64_t seed, uint64_t number)
{
    unsigned percent = (unsigned)(mkpcap_random(seed, MKPCAP_RANDOM_MIX, number) % 100), kind = 0;
    while (kind < MKPCAP_QUIC_KINDS - 1 && percent >= quic->share[kind])
        percent -= quic->share[kind++];
    return (enum mkpcap_quic_kind)kind;
}

/* Over random octets: what version 1 has in the clear (RFC 9000, sections 17.2 and 17.3). */
static void put_header(uint8_t *p, size_t len, enum mkpcap_quic_kind kind, const uint8_t *cid, size_t cid_len)
{
    static const uint8_t type[MKPCAP_QUIC_KINDS] = {0, 0, 2, 1};
    if (kind == MKPCAP_QUIC_SHORT) {
        p[0] = (uint8_t)(0x40 | (p[0] & 0x3f));
        memcpy(p + 1, cid, cid_len);
        return;
    }
    const uint8_t *end = p + len;
    p[0] = (uint8_t)(0xc0 | type[kind] << 4 | (p[0] & 0x0f));
    memcpy(p + 1, "\0\0\0\1", 4);
    p[5] = (uint8_t)cid_len;
    memcpy(p + 6, cid, cid_len);
    p += 6 + cid_len;
    *p = CLIENT_CID_LEN;
    p += 1 + CLIENT_CID_LEN;
    if (kind == MKPCAP_QUIC_INITIAL)
        *p++ = 0; // no token
    size_t rest = (size_t)(end - p) - 2;
    p[0] = (uint8_t)(0x40 | rest >> 8);
    p[1] = (uint8_t)rest;
}

size_t mkpcap_quic_datagram(const struct mkpcap_quic *quic, uint64_t seed, uint64_t number, uint8_t *p,
                            struct mkpcap_way *way)
{
    uint64_t connection = number % quic->connections;
    enum mkpcap_quic_kind kind = kind_of(quic, seed, number);
    size_t len = quic->size;
    if (kind == MKPCAP_QUIC_INITIAL && len < MKPCAP_INITIAL_MIN)
        len = MKPCAP_INITIAL_MIN;
    mkpcap_random_octets(seed, MKPCAP_RANDOM_DATAGRAM, number, p, len);
    uint8_t cid[QUIC_LB_CID_MAX];
    size_t cid_len = mkpcap_quic_cid(quic, seed, connection, cid);
    if (quic->client_initials && (kind == MKPCAP_QUIC_INITIAL || kind == MKPCAP_QUIC_0RTT)) {
        cid_len = CLIENT_CID_LEN;
        mkpcap_random_octets(seed, MKPCAP_RANDOM_CID, ~connection, cid, cid_len);
    }
    put_header(p, len, kind, cid, cid_len);
    uint64_t place = quic->rebind ? mkpcap_random(seed, MKPCAP_RANDOM_PORT, number) : connection;
    way->from.port = (uint16_t)(way->from.port + place % (UINT16_MAX + 1u - way->from.port));
    return len;
}
