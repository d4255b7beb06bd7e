// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/retry_packet.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "parser/quic.h"

static const uint8_t key_v1[GCM_KEY] = {0xbe, 0x0c, 0x69, 0x0b, 0x9f, 0x66, 0x57, 0x5a,
                                        0x1d, 0x76, 0x6b, 0x54, 0xe3, 0x68, 0xc8, 0x4e};
static const uint8_t nonce_v1[GCM_NONCE] = {0x46, 0x15, 0x99, 0xd3, 0x5d, 0x63, 0x2b, 0xf2, 0x23, 0x98, 0x25, 0xbb};
static const uint8_t key_v2[GCM_KEY] = {0x8f, 0xb4, 0xb0, 0x1b, 0x56, 0xac, 0x48, 0xe2,
                                        0x60, 0xfb, 0xcb, 0xce, 0xad, 0x7c, 0xcc, 0x92};
static const uint8_t nonce_v2[GCM_NONCE] = {0xd8, 0x69, 0x69, 0xbc, 0x2d, 0x7c, 0x6d, 0x99, 0x90, 0xef, 0xb0, 0x4a};

int retry_tags_create(struct retry_tags *tags)
{
    memset(tags, 0, sizeof *tags);
    int rc = gcm_create(&tags->v1);
    if (rc == 0)
        rc = gcm_create(&tags->v2);
    if (rc == 0 && gcm_set_key(&tags->v1, key_v1) && gcm_set_key(&tags->v2, key_v2))
        return 0;
    retry_tags_destroy(tags);
    return rc != 0 ? rc : -ENOMEM;
}

void retry_tags_destroy(struct retry_tags *tags)
{
    gcm_destroy(&tags->v1);
    gcm_destroy(&tags->v2);
}

static uint8_t *put_cid(uint8_t *p, const uint8_t *cid, uint8_t len)
{
    *p++ = len;
    if (len > 0)
        memcpy(p, cid, len);
    return p + len;
}

size_t retry_packet_write(struct retry_tags *tags, const struct retry_packet *fields,
                          uint8_t buffer[RETRY_PACKET_BUFFER], const uint8_t **packet)
{
    bool v2 = fields->version == QUIC_VERSION_2;
    uint32_t version_be = htobe32(fields->version);
    if ((!v2 && fields->version != QUIC_VERSION_1) || fields->dcid_len > RETRY_PACKET_CID ||
        fields->scid_len > RETRY_PACKET_CID || fields->odcid_len > RETRY_PACKET_CID || fields->token_len == 0 ||
        fields->token_len > RETRY_PACKET_TOKEN)
        return 0;
    uint8_t *start = put_cid(buffer, fields->odcid, fields->odcid_len), *p = start;
    *p++ = (uint8_t)((v2 ? 0xc0 : 0xf0) | (fields->unused & 0x0f));
    memcpy(p, &version_be, sizeof version_be);
    p = put_cid(p + sizeof version_be, fields->dcid, fields->dcid_len);
    p = put_cid(p, fields->scid, fields->scid_len);
    memcpy(p, fields->token, fields->token_len);
    p += fields->token_len;
    if (!gcm_seal(v2 ? &tags->v2 : &tags->v1, v2 ? nonce_v2 : nonce_v1, buffer, (size_t)(p - buffer), NULL, 0, p))
        return 0;
    *packet = start;
    return (size_t)(p + GCM_TAG - start);
}
