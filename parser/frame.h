// SPDX-License-Identifier: Apache-2.0
#ifndef PARSER_FRAME_H
#define PARSER_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/verdict.h"

#define FRAME_ETHERTYPE_NDN 0x8624

/** What a frame carries. A type of its own, so that it cannot be compared with an EtherType or an IP protocol. */
enum frame_kind {
    FRAME_NDN = 1, /**< Ethernet payload is an NDN link-layer packet, maybe followed by padding */
    FRAME_UDP4,
    FRAME_UDP6,
    FRAME_ICMP4, /**< of frame_parse_icmp() only */
    FRAME_ICMP6,
};

/** View of a frame down to the payload that a face understands. Pointers go into the frame. */
struct frame {
    uint8_t kind;          /**< enum frame_kind */
    uint8_t n_tags;        /**< VLAN tags, 0..2, priority tags (VID 0) included */
    bool multicast;        /**< destination MAC is a group address */
    uint16_t vlan;         /**< VID of the first tag that has one; 0: untagged or priority-tagged */
    uint16_t vlan_inner;   /**< VID of a second such tag, else 0 */
    uint16_t payload_off;  /**< of the NDN or UDP payload, from the start of the frame */
    uint16_t payload_len;  /**< octets; link padding cut where a length field tells */
    uint16_t sport, dport; /**< UDP, host byte order */
    const uint8_t *dst_mac, *src_mac;
    const uint8_t *src_ip, *dst_ip; /**< 4 or 16 octets */
};

/** Work that the device has done already, and checks that the port's owner switched off. */
struct frame_opts {
    bool skip_ip_csum;  /**< the IPv4 header checksum was verified by the device */
    bool skip_udp_csum; /**< the UDP checksum was verified, or is left unfinished by a local sender */
};

/**
 * Parse Ethernet II with 0..2 VLAN tags (802.1Q, 802.1ad), then NDN or IPv4 (RFC 791) / IPv6 (RFC 8200) and UDP
 * (RFC 768), each header fully validated; options, extension headers and fragments are refused. Addresses that are
 * never valid are refused; what depends on the port's own addresses is the caller's to check.
 *
 * @return VERDICT_OK and *frame filled; else the reason, *frame undefined
 */
enum verdict frame_parse(const uint8_t *p, size_t len, const struct frame_opts *opts, struct frame *frame);

/** The UDP datagram that an ICMP error is about, as far as it quotes it. Pointers go into the frame. */
struct frame_quote {
    const uint8_t *ip; /**< its IP header, of the same version as the error's */
    const uint8_t *src_ip, *dst_ip;
    uint16_t sport, dport; /**< host byte order */
    const uint8_t *payload;
    uint16_t payload_len; /**< octets that are there */
};

/**
 * Parse a frame whose IP payload is an ICMP (RFC 792) or ICMPv6 (RFC 4443) error: link and IP as frame_parse(), then
 * the message's checksum and what it quotes, which has to be a UDP datagram from the address that the error is sent to.
 * Extensions (RFC 4884) behind the quote are not looked at. frame->payload is the whole message.
 *
 * @return VERDICT_OK and *frame, *quote filled; VERDICT_IP_PROTO: no ICMP error; VERDICT_ICMP: one that is broken or
 * about something else, *frame filled; else as frame_parse()
 */
enum verdict frame_parse_icmp(const uint8_t *p, size_t len, const struct frame_opts *opts, struct frame *frame,
                              struct frame_quote *quote);

/** Internet checksum (RFC 1071) of @p len octets on top of a partial @p sum in host order, folded, not inverted. */
uint32_t frame_csum_add(uint32_t sum, const uint8_t *p, size_t len);

#endif
