// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_NDN_PACKET_H
#define PARSER_NDN_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/ndn_lp.h"
#include "parser/ndn_name.h"
#include "parser/verdict.h"

/** Largest network packet, in octets (NDN practical limit). */
#define NDN_PACKET_MAX 8800
/** InterestLifetime when the element is absent, and the cap put on it (ten days, as the reference forwarder). */
#define NDN_LIFETIME_DEFAULT_MS 4000
#define NDN_LIFETIME_MAX_MS     864000000
/** FreshnessPeriod is capped likewise. */
#define NDN_FRESHNESS_MAX_MS 864000000
#define NDN_HINTS_MAX        4

#define NDN_TYPE_INTEREST 5
#define NDN_TYPE_DATA     6

/** A Name inside a ForwardingHint, as an offset and length of its TLV-VALUE from ndn_packet.net. */
struct ndn_hint {
    uint16_t off;
    uint16_t len;
};

struct ndn_interest {
    bool can_be_prefix;
    bool must_be_fresh;
    bool has_nonce;
    uint8_t n_hints;        /**< 0..NDN_HINTS_MAX; the rest of a longer ForwardingHint is skipped */
    uint8_t hop_limit;      /**< 255 when absent */
    uint16_t hop_limit_off; /**< of the value octet from ndn_packet.net, 0 when absent */
    uint16_t nonce_off;     /**< of the four octets from ndn_packet.net; when absent: where the element belongs */
    uint32_t nonce;
    uint32_t lifetime_ms; /**< default filled in, capped */
    struct ndn_hint hint[NDN_HINTS_MAX];
};

struct ndn_data {
    uint32_t freshness_ms; /**< 0 when absent, capped */
};

/**
 * View of a link-layer packet and of the network packet in it. Pointers go into the buffer that was parsed. Fields are
 * ordered so that a usual packet fills few cache lines.
 */
struct ndn_packet {
    uint8_t type;       /**< NDN_TYPE_INTEREST, NDN_TYPE_DATA; 0 for a fragment or an IDLE packet */
    const uint8_t *net; /**< the whole Interest or Data TLV; for a fragment: the octets of the Fragment */
    uint16_t net_len;   /**< octets at net */
    union {
        struct ndn_interest interest; /**< also the Interest inside a Nack (lp.nack_reason != 0 or LP_HAS_NACK) */
        struct ndn_data data;
    };
    struct ndn_lp lp; /**< NDNLPv2 header fields; all absent for a bare packet */
    struct ndn_name name;
};

/** How strict, and what a carrier allows. */
struct ndn_parse_opts {
    bool lenient; /**< tlv-lenient: accept non-shortest TLV forms and what else the reference forwarder accepts */
    bool allow_trailing; /**< octets after the packet are padding (Ethernet); else VERDICT_TRAILING */
};

/**
 * Parse a link-layer packet: a bare Interest or Data, or an LpPacket (NDNLPv2) that carries one, a fragment of one,
 * or nothing. A fragment (lp.frag_count > 1) is not looked into: its type is 0 and net/net_len are its octets.
 *
 * @return VERDICT_OK and *pkt filled, the names not hashed; else the reason, *pkt undefined
 */
enum verdict ndn_packet_parse(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts, struct ndn_packet *pkt);

/**
 * As ndn_packet_parse(), but the Name may be left unread (pkt->name.unread): its value and len are filled, the rest is
 * up to the caller. Of Data it may be known, octet by octet, from a Name that was read. Else ndn_name_read() reads most
 * Names; what it leaves over, ndn_packet_parse_net() reads or refuses.
 */
enum verdict ndn_packet_parse_deferred(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts,
                                       struct ndn_packet *pkt);

/** ndn_packet_parse() without its first step (ndn_packet_usual.h), for packets that this has said nothing of. */
enum verdict ndn_packet_parse_general(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts,
                                      struct ndn_packet *pkt);

/**
 * Parse a reassembled network packet, or one of which the Name was left unread; as ndn_packet_parse(), keeping the
 * header fields already in pkt->lp. Octets behind the packet are no link padding here: opts->allow_trailing has no
 * effect, only opts->lenient lets them pass.
 */
enum verdict ndn_packet_parse_net(const uint8_t *p, size_t len, const struct ndn_parse_opts *opts,
                                  struct ndn_packet *pkt);

#endif
