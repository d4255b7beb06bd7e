// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_ENCODE_H
#define PARSER_NDN_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_lp.h"

/**
 * Most octets that ndn_lp_prepend() writes: all fields below at their longest, with LpPacket and Fragment headers. Each
 * Ack takes NDN_LP_ACK_SIZE more, and a PrefixAnnouncement its own octets.
 */
#define NDN_LP_HEADER_MAX 132
#define NDN_LP_ACK_SIZE   12

/** Header fields to put before a network packet or a fragment of one. Zeroed means: none. */
struct ndn_lp_out {
    uint8_t token_len; /**< 0..32 */
    bool has_sequence; /**< write Sequence, and with frag_count > 1 FragIndex and FragCount */
    bool has_mark;
    bool has_incoming_face;
    bool has_cache_policy;
    bool has_tx_sequence;
    bool non_discovery;
    uint8_t n_acks; /**< Ack fields */
    uint16_t frag_index;
    uint16_t frag_count;
    uint16_t nack_reason;      /**< 0: no Nack header */
    uint16_t announcement_len; /**< 0: no PrefixAnnouncement */
    const uint8_t *token;
    const uint8_t *announcement; /**< a Data; may lie before the payload, where the header goes */
    const uint64_t *acks;        /**< n_acks of them: TxSequences of the peer's */
    uint64_t sequence;
    uint64_t congestion_mark;
    uint64_t incoming_face;
    uint64_t cache_policy;
    uint64_t tx_sequence;
};

/**
 * Write LpPacket header fields, in the order NDNLPv2 demands, so that they end right before @p end, for a Fragment
 * of @p payload_len octets that begins at @p end. The caller guarantees ndn_lp_prepend_size() octets before @p end,
 * of which there are no more than NDN_LP_HEADER_MAX says. The token-only shape is the fast path.
 *
 * @return octets written; the LpPacket begins at end - return value
 */
size_t ndn_lp_prepend(uint8_t *end, size_t payload_len, const struct ndn_lp_out *lp);

/** Most octets that ndn_lp_prepend_token() writes. */
#define NDN_LP_TOKEN_HEADER_MAX (4 + 10 + 4)

/**
 * The shape of nearly every packet a forwarder sends: a PitToken of eight octets and a Fragment, for a payload of
 * 1 to 65000 octets. Writes the same octets as ndn_lp_prepend(). @return octets written before @p end
 */
static inline size_t ndn_lp_prepend_token(uint8_t *end, size_t payload_len, const uint8_t token[8])
{
    uint8_t *p = end;
    size_t inside = payload_len + 10;
    if (payload_len < 253) {
        *--p = (uint8_t)payload_len;
        inside += 2;
    } else {
        *--p = (uint8_t)payload_len;
        *--p = (uint8_t)(payload_len >> 8);
        *--p = 0xfd;
        inside += 4;
    }
    *--p = 0x50; // Fragment
    p -= 8;
    __builtin_memcpy(p, token, 8);
    *--p = 8;
    *--p = 0x62; // PitToken
    *--p = (uint8_t)inside;
    if (inside >= 253) {
        *--p = (uint8_t)(inside >> 8);
        *--p = 0xfd;
    }
    *--p = 0x64; // LpPacket
    return (size_t)(end - p);
}

/** Largest payload for ndn_lp_prepend_token_short(), and how many octets that writes. */
#define NDN_LP_TOKEN_SHORT_MAX  240
#define NDN_LP_TOKEN_SHORT_SIZE (2 + 10 + 2)

/** ndn_lp_prepend_token() when all lengths take one octet. */
static inline void ndn_lp_prepend_token_short(uint8_t *end, size_t payload_len, const uint8_t token[8])
{
    const uint8_t head[4] = {0x64, (uint8_t)(payload_len + 12), 0x62, 8}, tail[2] = {0x50, (uint8_t)payload_len};
    __builtin_memcpy(end - 14, head, sizeof head);
    __builtin_memcpy(end - 10, token, 8);
    __builtin_memcpy(end - 2, tail, sizeof tail);
}

/** True when there is no field to write: the packet is sent bare. */
static inline bool ndn_lp_out_empty(const struct ndn_lp_out *lp)
{
    return lp->token_len == 0 && !lp->has_sequence && !lp->has_mark && !lp->has_incoming_face &&
           !lp->has_cache_policy && lp->nack_reason == 0 && lp->n_acks == 0 && !lp->has_tx_sequence &&
           !lp->non_discovery && lp->announcement_len == 0;
}

/** Octets that ndn_lp_prepend() would write. */
size_t ndn_lp_prepend_size(size_t payload_len, const struct ndn_lp_out *lp);

/** Of these, the octets behind the TxSequence, so that another number can be written over it. */
size_t ndn_lp_behind_tx_sequence(size_t payload_len, const struct ndn_lp_out *lp);

/** Write a TLV-TYPE or TLV-LENGTH number in shortest form, big-endian. @return octets written: 1, 3, 5 or 9 */
size_t ndn_tlv_put_var(uint8_t *p, uint64_t number);

/** Octets of ndn_tlv_put_var(). */
size_t ndn_tlv_var_size(uint64_t number);

/** Write a NonNegativeInteger (1, 2, 4 or 8 octets, shortest). @return octets written */
size_t ndn_tlv_put_nni(uint8_t *p, uint64_t number);

/** An Interest to be encoded by a consumer or by a test. */
struct ndn_interest_out {
    const uint8_t *name; /**< TLV-VALUE of the Name */
    uint16_t name_len;
    bool can_be_prefix;
    bool must_be_fresh;
    uint32_t nonce;
    uint32_t lifetime_ms; /**< 0: element absent */
    uint8_t hop_limit;    /**< 0: element absent */
};

/** Encode an Interest. @return octets written, or 0 when @p size is too small */
size_t ndn_interest_encode(uint8_t *p, size_t size, const struct ndn_interest_out *out);

/** A Data packet to be encoded by a producer or by a test; SignatureInfo is DigestSha256 with the value given. */
struct ndn_data_out {
    const uint8_t *name;
    uint16_t name_len;
    uint8_t content_type;       /**< 0 (BLOB): element absent */
    uint32_t freshness_ms;      /**< 0: element absent */
    const uint8_t *final_block; /**< FinalBlockId: a component TLV */
    uint16_t final_block_len;   /**< 0: element absent */
    uint16_t content_len;
    const uint8_t *content;
    const uint8_t *signature; /**< 32 octets; NULL: zeros */
};

/**
 * Encode a Data packet. @p signed_off and @p signed_len (both may be NULL) tell the octets that a signature covers,
 * so that the caller can sign and write the last 32 octets in place.
 *
 * @return octets written, or 0 when @p size is too small
 */
size_t ndn_data_encode(uint8_t *p, size_t size, const struct ndn_data_out *out, size_t *signed_off, size_t *signed_len);

#endif
