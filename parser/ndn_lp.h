// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_LP_H
#define PARSER_NDN_LP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/verdict.h"

#define NDN_LP_TOKEN_MAX 32
/** Most Ack fields looked at in one LpPacket; the rest is skipped. */
#define NDN_LP_ACKS_MAX 64
/** Most fragments of one network packet, unless configured lower. */
#define NDN_LP_FRAGS_MAX 400

/** Nack reasons (NDNLPv2). */
enum ndn_nack_reason {
    NDN_NACK_NONE = 0,
    NDN_NACK_CONGESTION = 50,
    NDN_NACK_DUPLICATE = 100,
    NDN_NACK_NO_ROUTE = 150,
};

/** Which fields of struct ndn_lp are present (bits of ndn_lp.has). The first octet has
 * those that are looked for in every packet. */
enum ndn_lp_has {
    LP_HAS_NACK = 1 << 0,
    LP_HAS_NEXT_HOP_FACE = 1 << 1,
    LP_HAS_CACHE_POLICY = 1 << 2,
    LP_HAS_CONGESTION_MARK = 1 << 3,
    LP_HAS_NON_DISCOVERY = 1 << 4,
    LP_HAS_PREFIX_ANNOUNCEMENT = 1 << 5,
    LP_HAS_TX_SEQUENCE = 1 << 6,
    LP_HAS_ACK = 1 << 7,    /**< n_acks is not 0 */
    LP_HAS_HEADER = 1 << 8, /**< it was an LpPacket, not a bare network packet */
    LP_HAS_SEQUENCE = 1 << 9,
    LP_HAS_FRAGMENT = 1 << 10, /**< else it is an IDLE packet */
    LP_HAS_INCOMING_FACE = 1 << 11,
};

/**
 * NDNLPv2 header fields of one LpPacket. Pointers go into the buffer that was parsed. A field that has a bit in @p has
 * counts only when that is set.
 */
struct ndn_lp {
    uint16_t has;      /**< bits of enum ndn_lp_has */
    uint8_t token_len; /**< PitToken octets, 0 when absent, else 1..32 */
    uint8_t n_acks;    /**< Ack fields, at most NDN_LP_ACKS_MAX */
    uint16_t frag_index;
    uint16_t frag_count; /**< 1 when absent; FragIndex < FragCount always holds */
    uint32_t nack_reason;
    uint16_t fragment_len;
    uint16_t announcement_len;
    const uint8_t *token;
    const uint8_t *fragment; /**< TLV-VALUE of Fragment */
    uint64_t sequence;
    uint64_t next_hop_face;
    uint64_t incoming_face;
    uint64_t cache_policy; /**< 1 = NoCache */
    uint64_t congestion_mark;
    uint64_t tx_sequence;
    const uint8_t *acks;         /**< the first Ack field; read on with ndn_lp_ack() */
    const uint8_t *announcement; /**< PrefixAnnouncement TLV-VALUE (a Data) */
};

/**
 * Parse an LpPacket TLV (NDNLPv2; fields in ascending order, none repeated but Ack, unknown ones ignored only when
 * 800 <= type <= 959 and type & 3 == 0). @p p .. @p len is exactly the LpPacket. Checks that one field does not
 * contradict another (FragIndex < FragCount); what the fragment holds is checked by ndn_packet_parse().
 */
enum verdict ndn_lp_parse(const uint8_t *p, size_t len, bool lenient, struct ndn_lp *lp);

/** Ack field @p i (0 .. n_acks - 1). Acks stand next to each other, each 12 octets (type 836, length 8). */
uint64_t ndn_lp_ack(const struct ndn_lp *lp, unsigned i);

#endif
