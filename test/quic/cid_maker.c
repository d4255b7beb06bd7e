// SPDX-License-Identifier: Apache-2.0
#include "test/quic/cid_maker.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "test/quic/conn.h"

#define RANDOM_LEN 18 /**< octets of CIDs without a server ID */

bool cid_maker_init(struct cid_maker *maker)
{
    struct quic_lb_config config = {
        .server_id_len = maker->id.len, .nonce_len = maker->nonce_len, .encrypted = maker->encrypted};
    memcpy(config.key, maker->key, sizeof(config.key));
    if (maker->form == CID_LB)
        return quic_lb_add_config(&maker->lb, maker->config, &config) == 0;
    return maker->form != CID_PRIVATE || 1u + maker->id.len + maker->nonce_len <= QUIC_LB_CID_MAX;
}

size_t cid_maker_len(const struct cid_maker *maker)
{
    return maker->form == CID_LB || maker->form == CID_PRIVATE ? 1u + maker->id.len + maker->nonce_len : RANDOM_LEN;
}

void cid_maker_next(const struct cid_maker *maker, uint8_t cid[QUIC_LB_CID_MAX])
{
    size_t len = cid_maker_len(maker);
    uint8_t nonce[QUIC_LB_NONCE_MAX], first;
    conn_random(cid, len);
    switch (maker->form) {
    case CID_UNROUTABLE:
        cid[0] = (uint8_t)(7u << 5 | (len - 1));
        break;
    case CID_LB:
        first = maker->hide_length ? cid[0] & 0x1f : (uint8_t)(len - 1);
        /* Random and long enough for the minutes of a test never to repeat under one key, which is what matters. */
        conn_random(nonce, maker->nonce_len);
        if (quic_lb_encode(&maker->lb, (uint8_t)(maker->config << 5 | first), &maker->id, nonce, cid) != (int)len)
            abort();
        break;
    case CID_PRIVATE:
        cid[0] = maker->first;
        memcpy(cid + 1, maker->id.octets, maker->id.len);
        break;
    default:
        break;
    }
}

int cid_maker_hex(const char *text, uint8_t *octets, size_t max)
{
    size_t len = strlen(text);
    if (len % 2 != 0 || len / 2 > max)
        return -1;
    for (size_t i = 0; i < len; i += 2) {
        char pair[3] = {text[i], text[i + 1], 0};
        if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
            return -1;
        octets[i / 2] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return (int)(len / 2);
}
