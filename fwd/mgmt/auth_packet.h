// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_AUTH_PACKET_H
#define FWD_MGMT_AUTH_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_packet.h"

/*
 * What a signed packet says of its signature, and the octets that the signature covers. Views into the packet. A
 * packet is at most NDN_PACKET_MAX octets here.
 */

/** SignatureType numbers (NDN packet spec 0.3, signature). */
enum auth_signature_type {
    AUTH_DIGEST_SHA256 = 0,
    AUTH_SHA256_RSA = 1,
    AUTH_SHA256_ECDSA = 3,
    AUTH_HMAC_SHA256 = 4,
    AUTH_ED25519 = 5,
};

struct auth_view {
    const uint8_t *p;
    size_t len;
};

struct auth_signature {
    uint64_t type;           /**< enum auth_signature_type, or one that we do not know */
    struct auth_view signer; /**< TLV-VALUE of the KeyLocator's Name; p NULL: no KeyLocator, or one without Name */
    struct auth_view nonce;  /**< SignatureNonce; p NULL: none */
    bool has_time;
    uint64_t time_ms; /**< SignatureTime, since 1970 */
    bool has_validity;
    uint64_t not_before_ms, not_after_ms; /**< ValidityPeriod of a certificate, since 1970 */
    struct auth_view value;               /**< SignatureValue */
    struct auth_view name;                /**< TLV-VALUE of the packet's Name */
    /** Octets that the signature covers, one after the other; those not used have len 0. */
    struct auth_view covered[3];
    struct auth_view params; /**< of an Interest: ApplicationParameters and what follows, for the digest */
    uint8_t params_digest[NDN_DIGEST_SIZE]; /**< as the name has it; zeros: it has none */
    struct auth_view content_type, content; /**< of Data: element values; p NULL: none */
};

enum auth_format {
    AUTH_UNSIGNED,    /**< no signature of any kind */
    AUTH_SIGNED,      /**< signed Interest (v0.3), or Data */
    AUTH_COMMAND_V02, /**< command Interest (v0.2): the signature is in the last two components */
    AUTH_BAD,         /**< there is a signature, and it is malformed */
};

/** Look at an Interest that ndn_packet_parse() has accepted. Fills @p signature for AUTH_SIGNED, AUTH_COMMAND_V02. */
enum auth_format auth_interest_parse(const uint8_t *interest, size_t len, struct auth_signature *signature);

/** Look at octets that should be one Data, no more. @return AUTH_SIGNED or AUTH_BAD */
enum auth_format auth_data_parse(const uint8_t *data, size_t len, struct auth_signature *signature);

/** Copy the covered octets to @p buf of NDN_PACKET_MAX octets. @return their number */
size_t auth_covered(const struct auth_signature *signature, uint8_t *buf);

/**
 * Where the components of a Name's TLV-VALUE are.
 *
 * @return their number; @p from_end[i] is the offset of the (i + 1)th last, for those that there are; -1: bad TLVs
 */
int auth_name_tail(struct auth_view name, size_t from_end[], unsigned n);

#endif
