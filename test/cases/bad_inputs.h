// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_CASES_BAD_INPUTS_H
#define TEST_CASES_BAD_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bad, odd and just legal inputs with the one right outcome of each, for the parser's tests and for tests that push
 * whole frames through the receive path. A row gives packets in one of four forms (enum bad_carrier):
 *
 *   BAD_ETHER  an NDN link-layer packet as Ethernet payload (EtherType 0x8624)
 *   BAD_UDP4   an NDN link-layer packet as UDP payload; most rows are BAD_NDN, which is both
 *   BAD_QUIC   a UDP payload for a QUIC service
 *   BAD_FRAME  a whole Ethernet frame
 *
 * bad_input_payload() gives what the carrier carries, bad_input_frame() always a whole frame around it, with right
 * checksums. Frames are not padded to 60 octets, because padding is part of what some rows are about and would
 * turn a cut packet into another one.
 *
 * What a row expects:
 *   - outcome "accept": no drop. Any other outcome is the name of the drop counter that rises by one.
 *   - stage BAD_PARSER: frame_parse(), ndn_packet_parse() or quic_parse() decides; the outcome is verdict_name().
 *   - stage BAD_PIPELINE: the parser accepts, and what follows decides; `needs` says in which state it does so.
 *     Where it says nothing: empty tables, strict TLV, all ports ordinary (non-local, point-to-point, no local
 *     fields), and a route for every name to a face that the packet did not come from.
 *   - n_packets > 1: the packets are sent in order; the outcome is counted at least once for the series.
 *   - n_packets == 1 and no `needs`: exactly one counter rises, by one.
 */

enum bad_carrier {
    BAD_ETHER = 1 << 0,
    BAD_UDP4 = 1 << 1,
    BAD_NDN = BAD_ETHER | BAD_UDP4,
    BAD_QUIC = 1 << 2,
    BAD_FRAME = 1 << 3,
};

enum bad_stage {
    BAD_PARSER,
    BAD_PIPELINE,
};

/** Addresses that frames are built with: "our" is the receiving port, "peer" the sender. */
struct bad_addrs {
    uint8_t our_mac[6], peer_mac[6];
    uint8_t our_ip4[4], peer_ip4[4];
    uint8_t our_ip6[16], peer_ip6[16];
    uint16_t ndn_port;  /**< UDP, both ends */
    uint16_t quic_port; /**< UDP, our end */
    uint16_t vlan;      /**< a VID that no face uses */
};

/** 02:00:00:00:00:01 192.0.2.1 2001:db8::1 (ours), the same ending in 2 (peer), ports 6363 and 4433, VLAN 77. */
extern const struct bad_addrs bad_addrs_default;

struct frame_builder;

struct bad_input {
    const char *id;      /**< as "N13"; rows with several forms have a letter behind it */
    const char *what;    /**< one line for test output */
    const char *outcome; /**< "accept" or a drop counter's name */
    const char *needs;   /**< NULL, or the state that a BAD_PIPELINE row needs to have this outcome */
    uint8_t carriers;    /**< bits of enum bad_carrier */
    uint8_t stage;       /**< enum bad_stage */
    bool lenient;        /**< parse with tlv-lenient */
    bool fixed_bit;      /**< parse with quic_opts.require_fixed_bit */
    uint32_t n_packets;
    const char *recipe; /**< see bad_inputs.c; NULL for BAD_FRAME */
    void (*build)(struct frame_builder *b);
};

extern const struct bad_input bad_inputs[];
extern const size_t n_bad_inputs;

/** Largest packet or frame of any row, in octets. */
#define BAD_INPUT_MAX 65700

/** The row with this id; aborts when there is none, for that is a mistake in the test. */
const struct bad_input *bad_input_find(const char *id);

/** Packet @p i of @p row without its carrier (a BAD_FRAME row: the frame). @return octets, at most BAD_INPUT_MAX */
size_t bad_input_payload(const struct bad_input *row, uint32_t i, const struct bad_addrs *addrs, uint8_t *buf);

/** Packet @p i of @p row as a whole frame on @p carrier, one of row->carriers. @return octets */
size_t bad_input_frame(const struct bad_input *row, uint32_t i, enum bad_carrier carrier, const struct bad_addrs *addrs,
                       uint8_t *buf);

/** A recipe's octets (see bad_inputs.c) for tests that write their own. @return octets */
size_t bad_input_expand(const char *recipe, uint32_t i, uint8_t *buf);

/* bad_frames.c: frames in general. */

/** A frame under construction, its headers at known places. */
struct frame_builder {
    const struct bad_addrs *addrs;
    uint8_t *frame;
    size_t len;
    size_t ip_off, udp_off; /**< 0: none */
    bool keep_ip_csum;      /**< leave the IPv4 header checksum as it is */
    bool keep_udp_csum;     /**< leave the UDP checksum as it is */
};

/** An NDN frame from the peer to us around @p payload. */
void frame_build_ether(struct frame_builder *b, const uint8_t *payload, size_t len);
/** A UDP datagram over IPv4 from the peer to us. */
void frame_build_udp4(struct frame_builder *b, uint16_t sport, uint16_t dport, const uint8_t *payload, size_t len);
/** A UDP datagram over IPv6 from the peer to us. */
void frame_build_udp6(struct frame_builder *b, uint16_t sport, uint16_t dport, const uint8_t *payload, size_t len);
/** Insert a VLAN tag before the EtherType. */
void frame_build_tag(struct frame_builder *b, uint16_t tpid, uint16_t tci);
/** Compute the checksums that the builder is not told to keep. */
void frame_build_checksums(struct frame_builder *b);

/* Whole-frame rows, listed in bad_inputs.c. */
#define BAD_FRAME_ROWS(X)     \
    X(runt_1)                 \
    X(runt_13)                \
    X(no_payload)             \
    X(all_ones_header)        \
    X(vlan_other)             \
    X(vlan_priority)          \
    X(vlan_reserved)          \
    X(vlan_qinq)              \
    X(vlan_three)             \
    X(vlan_cut)               \
    X(src_multicast)          \
    X(src_broadcast)          \
    X(src_zero)               \
    X(other_mac)              \
    X(arp)                    \
    X(ip4_version_6)          \
    X(ip6_version_4)          \
    X(ip4_options)            \
    X(ip4_ihl_small)          \
    X(ip4_ihl_over_total)     \
    X(ip4_total_over_frame)   \
    X(ip4_total_small)        \
    X(ip4_padded)             \
    X(ip4_first_fragment)     \
    X(ip4_later_fragment)     \
    X(ip4_tiny_fragment)      \
    X(ip4_src_zero)           \
    X(ip4_src_loopback)       \
    X(ip4_src_multicast)      \
    X(ip4_src_broadcast)      \
    X(ip4_src_ours)           \
    X(ip4_dst_broadcast)      \
    X(ip4_dst_directed)       \
    X(ip4_bad_csum)           \
    X(ip4_tcp)                \
    X(ip4_icmp)               \
    X(ip4_udplite)            \
    X(ip6_fragment)           \
    X(ip6_hop_by_hop)         \
    X(ip6_payload_over_frame) \
    X(ip6_src_multicast)      \
    X(ip6_dst_loopback)       \
    X(udp4_len_0)             \
    X(udp4_len_7)             \
    X(udp4_len_over_ip)       \
    X(udp4_len_under_ip)      \
    X(udp4_empty)             \
    X(udp4_bad_csum)          \
    X(udp4_no_csum)           \
    X(udp6_bad_csum)          \
    X(udp6_no_csum)           \
    X(icmp_quoting_quic)      \
    X(quic_sport_0)           \
    X(quic_from_ourselves)

#define X(name) void bad_frame_##name(struct frame_builder *b);
BAD_FRAME_ROWS(X)
#undef X

#endif
