// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_RETRY_TOKEN_H
#define FWD_QUIC_RETRY_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fwd/quic/gcm.h"

/*
 * Shared-state tokens of draft-ietf-quic-retry-offload: what a forwarder puts into its Retry packets so that servers
 * with the same key can read it, and what servers put into theirs and into NEW_TOKEN frames. Needs libcrypto alone:
 * a server may use this code as it is.
 *
 *     octet 0       token type (highest bit: 0 Retry, 1 NEW_TOKEN), key sequence (7 bits)
 *     1..12         unique token number: never twice under a key
 *     13..n-17      body, encrypted
 *     n-16..n-1     AES-128-GCM tag
 *
 *     body          u64 expiry, POSIX seconds
 *                   of a Retry token only: u8 ODCIL (8..20), original DCID, u16 client's UDP port
 *                   opaque data of the server; a forwarder writes none
 *     nonce         token IV xor unique token number
 *     AAD           client's IP address in 16 octets, an IPv4 address first and then zeros; octets 0..12 of the token;
 *                   of a Retry token only: u8 length and octets of the Retry's SCID, which is the DCID of the Initial
 *                   that brings the token
 *
 * All numbers in network byte order.
 */
#define RETRY_TOKEN_NUMBER  12
#define RETRY_TOKEN_ODCID   20
#define RETRY_TOKEN_OPAQUE  256 /**< octets of opaque data that are read, at most */
#define RETRY_TOKEN_SKEW_S  2   /**< by which clocks may differ */
#define RETRY_TOKEN_FIXED   (1 + RETRY_TOKEN_NUMBER)
#define RETRY_TOKEN_BODY    (8 + 1 + RETRY_TOKEN_ODCID + 2)
#define RETRY_TOKEN_MADE    (RETRY_TOKEN_FIXED + RETRY_TOKEN_BODY + GCM_TAG) /**< octets of one made here, at most */
#define RETRY_TOKEN_NEW_BIT 0x80                                             /**< octet 0: from a NEW_TOKEN frame */

/** Who sends the Initial, and the CID that AAD is made of. */
struct retry_token_client {
    uint8_t ip[16]; /**< an IPv4 address: 4 octets, then zeros */
    uint16_t port;  /**< host byte order */
    uint8_t rscid_len;
    const uint8_t *rscid; /**< SCID of the Retry; DCID of the Initial with the token */
};

/** What a token says. */
struct retry_token {
    bool from_new_token; /**< of a NEW_TOKEN frame: then no odcid and no port */
    uint64_t expiry_s;   /**< POSIX time */
    uint8_t odcid_len;
    uint8_t odcid[RETRY_TOKEN_ODCID];
    uint16_t port;
};

enum retry_token_verdict {
    RETRY_TOKEN_OK = 0,
    RETRY_TOKEN_FORGED, /**< the tag does not verify: another key, client, CID, or changed */
    RETRY_TOKEN_FORMAT, /**< too short or long, or a body that breaks the format */
    RETRY_TOKEN_EXPIRED,
    RETRY_TOKEN_FUTURE, /**< a Retry token that would be good for longer than any is made */
    RETRY_TOKEN_PORT,   /**< another UDP port */
};

/**
 * Make a Retry token without opaque data for the Initial of @p client with @p odcid (8 to 20 octets). @p gcm has the
 * key of this @p sequence, @p iv belongs to it. A @p number must never be used twice under a key.
 *
 * @return octets written to @p token, 0 when libcrypto refuses
 */
size_t retry_token_make(struct gcm *gcm, const uint8_t iv[GCM_NONCE], uint8_t sequence,
                        const uint8_t number[RETRY_TOKEN_NUMBER], const struct retry_token_client *client,
                        const uint8_t *odcid, uint8_t odcid_len, uint64_t expiry_s, uint8_t token[RETRY_TOKEN_MADE]);

/**
 * Authenticate and read a token of either type (draft, section "Offload Requirements"). @p gcm and @p iv are those of
 * its key sequence, the low 7 bits of its first octet. @p lifetime_s is how long Retry tokens are good for at most.
 * Any octets and any @p len.
 *
 * @return RETRY_TOKEN_OK and *out filled; else the reason, *out undefined
 */
enum retry_token_verdict retry_token_check(struct gcm *gcm, const uint8_t iv[GCM_NONCE], const uint8_t *token,
                                           size_t len, const struct retry_token_client *client, uint64_t now_s,
                                           uint64_t lifetime_s, struct retry_token *out);

#endif
