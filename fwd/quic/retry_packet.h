// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_RETRY_PACKET_H
#define FWD_QUIC_RETRY_PACKET_H

#include <stddef.h>
#include <stdint.h>

#include "fwd/quic/gcm.h"

/*
 * Retry packets of v1 (RFC 9000 17.2.5) and v2 (RFC 9369 3.2), with the Retry Integrity Tag (RFC 9001 5.8, RFC 9369
 * 3.3.3). Needs libcrypto alone.
 */
#define RETRY_PACKET_CID   20
#define RETRY_PACKET_TOKEN 512 /**< octets of a token that is written here, at most */
/** The original DCID in front of the packet, as the tag wants them, and the packet itself. */
#define RETRY_PACKET_BUFFER \
    (1 + RETRY_PACKET_CID + 5 + 1 + RETRY_PACKET_CID + 1 + RETRY_PACKET_CID + RETRY_PACKET_TOKEN + GCM_TAG)

/** Contexts with the public keys of the versions. One thread. */
struct retry_tags {
    struct gcm v1, v2;
};

/** @return 0, or -ENOMEM with nothing left to destroy */
int retry_tags_create(struct retry_tags *tags);
/** All zero is allowed. */
void retry_tags_destroy(struct retry_tags *tags);

struct retry_packet {
    uint32_t version; /**< QUIC_VERSION_1 or QUIC_VERSION_2, that of the Initial */
    uint8_t unused;   /**< low four bits of the first octet: any */
    uint8_t dcid_len, scid_len, odcid_len;
    uint16_t token_len;
    const uint8_t *dcid;  /**< client's SCID */
    const uint8_t *scid;  /**< chosen by us; not the Initial's DCID */
    const uint8_t *odcid; /**< the Initial's DCID */
    const uint8_t *token;
};

/**
 * Write a packet into @p buffer. @return its octets, which begin at *packet; 0 when a field is too long, the token
 * empty, the version another, or libcrypto refuses
 */
size_t retry_packet_write(struct retry_tags *tags, const struct retry_packet *fields,
                          uint8_t buffer[RETRY_PACKET_BUFFER], const uint8_t **packet);

#endif
