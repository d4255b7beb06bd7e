// SPDX-License-Identifier: Apache-2.0
/*
 * The table, and the small language its recipes are written in: hexadecimal octets; spaces mean nothing;
 * "[..]N" is N times what is between the brackets; "~N" pads with zeros to N octets in all; "@1" and "@8" are the
 * packet's number as 1 and 8 octets; "|" stands between the packets of a series that are not alike.
 */
#include "test/cases/bad_inputs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The reference Interest /A and Data /A, and their elements. */
#define NAME     "0703080141 "
#define NONCE    "0A0401020304 "
#define INTEREST "050B " NAME NONCE
#define SIG      "16031B0100 1700 "
#define DATA     "0610 " NAME "1400 1500 " SIG
#define FRAG_I   "500D " INTEREST
#define FRAG_D   "5012 " DATA
#define CUT_I    "5006 050B07030801 "
#define SEQ_10   "5108000000000000000A "
#define D8       "08 8394C8F03E515708 "
#define S8       "08 0102030405060708 "
#define V1       "00000001 "
#define V2       "6B3343CF "

#define PENDING "a pending Interest for the name"
#define QUIC_LB "QUIC-LB configuration 0: no key, server ID 3, nonce 4; servers c4605e and ed793a"

#define NDN(id_, what_, outcome_, recipe_)                                                                    \
    {                                                                                                         \
        .id = id_, .what = what_, .outcome = outcome_, .carriers = BAD_NDN, .n_packets = 1, .recipe = recipe_ \
    }
#define NDN_LAX(id_, what_, outcome_, recipe_)                                                               \
    {                                                                                                        \
        .id = id_, .what = what_, .outcome = outcome_, .carriers = BAD_NDN, .lenient = true, .n_packets = 1, \
        .recipe = recipe_                                                                                    \
    }
#define NDN_ON(id_, what_, carriers_, outcome_, recipe_)                                                        \
    {                                                                                                           \
        .id = id_, .what = what_, .outcome = outcome_, .carriers = carriers_, .n_packets = 1, .recipe = recipe_ \
    }
#define NDN_LATER(id_, what_, outcome_, needs_, n_, recipe_)                                                        \
    {                                                                                                               \
        .id = id_, .what = what_, .outcome = outcome_, .needs = needs_, .carriers = BAD_NDN, .stage = BAD_PIPELINE, \
        .n_packets = n_, .recipe = recipe_                                                                          \
    }
#define QUIC(id_, what_, outcome_, recipe_)                                                                    \
    {                                                                                                          \
        .id = id_, .what = what_, .outcome = outcome_, .carriers = BAD_QUIC, .n_packets = 1, .recipe = recipe_ \
    }
#define QUIC_LATER(id_, what_, outcome_, needs_, recipe_)                                                            \
    {                                                                                                                \
        .id = id_, .what = what_, .outcome = outcome_, .needs = needs_, .carriers = BAD_QUIC, .stage = BAD_PIPELINE, \
        .n_packets = 1, .recipe = recipe_                                                                            \
    }
#define FRAME(id_, what_, outcome_, build_)                                                   \
    {                                                                                         \
        .id = id_, .what = what_, .outcome = outcome_, .carriers = BAD_FRAME, .n_packets = 1, \
        .build = bad_frame_##build_                                                           \
    }
#define FRAME_LATER(id_, what_, outcome_, needs_, build_)                                                             \
    {                                                                                                                 \
        .id = id_, .what = what_, .outcome = outcome_, .needs = needs_, .carriers = BAD_FRAME, .stage = BAD_PIPELINE, \
        .n_packets = 1, .build = bad_frame_##build_                                                                   \
    }

const struct bad_addrs bad_addrs_default = {
    .our_mac = {0x02, 0, 0, 0, 0, 0x01},
    .peer_mac = {0x02, 0, 0, 0, 0, 0x02},
    .our_ip4 = {192, 0, 2, 1},
    .peer_ip4 = {192, 0, 2, 2},
    .our_ip6 = {0x20, 0x01, 0x0d, 0xb8, [15] = 1},
    .peer_ip6 = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
    .ndn_port = 6363,
    .quic_port = 4433,
    .vlan = 77,
};

// clang-format off
const struct bad_input bad_inputs[] = {
    /* NDN TLV */
    NDN("N00", "the reference Interest", "accept", INTEREST),
    NDN_LATER("N00d", "the reference Data", "accept", PENDING, 1, DATA),
    NDN("N01", "type without length", "tlv_trunc", "05"),
    NDN("N02", "length beyond the datagram", "tlv_trunc", "0510 " NAME NONCE),
    NDN("N03", "length 2^64-1", "tlv_len", "05FFFFFFFFFFFFFFFFFF"),
    NDN("N04", "length 2^32", "tlv_len", "05FF0000000100000000 " NAME NONCE),
    NDN("N05", "length of three octets where one does", "tlv_nonmin", "05FD000B " NAME NONCE),
    NDN_LAX("N05l", "the same with tlv-lenient", "accept", "05FD000B " NAME NONCE),
    NDN("N05b", "length of five octets where one does", "tlv_nonmin", "05FE0000000B " NAME NONCE),
    NDN_LAX("N05m", "length of nine octets with tlv-lenient", "accept", "05FF000000000000000B " NAME NONCE),
    NDN("N05c", "component with a three-octet length", "tlv_nonmin", "050D 070508FD000141 " NONCE),
    NDN("N07", "type 0", "tlv_type0", "0000"),
    NDN("N08", "type of three octets where one does", "tlv_nonmin", "FD00050B " NAME NONCE),
    NDN_LAX("N08l", "the same with tlv-lenient", "accept", "FD00050B " NAME NONCE),
    NDN("N08b", "element type of 2^32 in nine octets", "tlv_type0", "0515 " NAME NONCE "FF000000010000000000"),
    NDN("N10", "Name length 2^64-1", "tlv_len", "051307FFFFFFFFFFFFFFFFFF0801410A0401020304"),
    NDN("N11", "component length cut", "tlv_trunc", "050B070508FF410A0401020304"),
    NDN("N12", "component longer than its Name", "tlv_len", "050B07030805410A0401020304"),
    NDN("N12b", "Name longer than its Interest", "tlv_len", "050B07200801410A0401020304"),
    NDN("N13", "empty Name", "net_invalid", "050807000A0401020304"),
    NDN("N14", "no Name", "net_invalid", "05060A0401020304"),
    NDN("N14b", "nothing in the Interest", "net_invalid", "0500"),
    NDN("N15", "component of type 0", "tlv_type0", "050B07030001410A0401020304"),
    NDN("N15b", "component of type 65536", "net_invalid", "050F 0707FE0001000001 41 " NONCE),
    NDN_LAX("N15l", "component of type 65536 with tlv-lenient", "accept", "050F 0707FE0001000001 41 " NONCE),
    NDN("N17", "4300 empty components", "name_too_long", "05FD21A2 07FD2198 [0800]4300 " NONCE),
    NDN("N17b", "Name of 2048 octets in 1024 components", "accept", "05FD080A 07FD0800 [0800]1024 " NONCE),
    NDN("N17c", "Name of 2050 octets", "name_too_long", "05FD080C 07FD0802 [0800]1025 " NONCE),
    NDN("N18", "implicit digest of 31 octets", "net_invalid", "05290721011F[78]31 " NONCE),
    NDN("N18b", "parameters digest of 33 octets", "net_invalid", "052B07230221[78]33 " NONCE),
    NDN("N19", "parameters digest without ApplicationParameters", "accept", "052A 0722 0220[78]32 " NONCE),
    NDN("N19b", "two parameters digests", "net_invalid", "054C 0744 [0220[78]32 ]2 " NONCE),
    NDN("N20", "no Nonce", "accept", "05050703080141"),
    NDN("N21", "Nonce of 3 octets", "net_invalid", "050A " NAME "0A03010203"),
    NDN("N22", "two Nonces", "net_order", "0511 " NAME NONCE "0A0401020305"),
    NDN("N24", "InterestLifetime 2^64-1", "accept", "0515 " NAME NONCE "0C08FFFFFFFFFFFFFFFF"),
    NDN("N25", "empty InterestLifetime", "net_invalid", "050D " NAME NONCE "0C00"),
    NDN("N25b", "InterestLifetime of 3 octets", "net_invalid", "0510 " NAME NONCE "0C03000FA0"),
    NDN("N26", "HopLimit of 2 octets", "net_invalid", "050F " NAME NONCE "22020001"),
    NDN_LATER("N27", "HopLimit 0", "hop_limit_zero", NULL, 1, "050E " NAME NONCE "220100"),
    NDN("N27b", "second HopLimit, not critical and misplaced", "accept", "0511 " NAME NONCE "220109 220100"),
    NDN("N28", "Nonce before Name", "net_order", "050B " NONCE NAME),
    NDN("N28b", "unrecognized element before Name", "net_order", "050F FD03E800 " NAME NONCE),
    NDN("N29", "MustBeFresh before CanBePrefix", "net_order", "050F " NAME "1200 2100 " NONCE),
    NDN("N29b", "CanBePrefix with a value", "net_invalid", "050E " NAME "210100 " NONCE),
    NDN("N30", "critical type 31", "net_critical", "050D " NAME NONCE "1F00"),
    NDN("N31", "unrecognized even type 1000", "accept", "050F " NAME NONCE "FD03E800"),
    NDN("N32", "unrecognized odd type 1001", "net_critical", "050F " NAME NONCE "FD03E900"),
    NDN("N34", "ForwardingHint with 900 names", "accept",
        "05FD11A3 " NAME "1EFD1194[0703080142]900 " NONCE),
    NDN("N34b", "empty ForwardingHint", "net_invalid", "050D " NAME "1E00 " NONCE),
    NDN_LAX("N34l", "the same with tlv-lenient", "accept", "050D " NAME "1E00 " NONCE),
    NDN("N34c", "Delegation of the older format", "accept", "0517 " NAME "1E0A1F08 1E0100 0703080142 " NONCE),
    NDN("N34d", "Delegation without a Name", "net_invalid", "0512 " NAME "1E051F03 1E0100 " NONCE),
    NDN("N34e", "critical type in ForwardingHint", "net_critical", "0514 " NAME "1E07 0703080142 0500 " NONCE),
    NDN("N34f", "ForwardingHint name cut", "tlv_len", "0512 " NAME "1E05 0703080542 " NONCE),
    NDN("N35", "ApplicationParameters without digest", "accept", "050D " NAME NONCE "2400"),
    NDN("N36", "Data without Name", "net_invalid", "0600"),
    NDN("N37", "Data without signature", "net_invalid", "0609 " NAME "1400 1500"),
    NDN("N37b", "Data without SignatureValue", "net_invalid", "060E " NAME "1400 1500 16031B0100"),
    NDN("N37c", "Data without SignatureInfo", "net_invalid", "060B " NAME "1400 1500 1700"),
    NDN("N37d", "Content before MetaInfo", "net_order", "0610 " NAME "1500 1400 " SIG),
    NDN("N37e", "two Contents", "net_order", "0612 " NAME "1400 1500 1500 " SIG),
    NDN("N37f", "critical type in Data", "net_critical", "0612 " NAME "1400 1500 1F00 " SIG),
    NDN_LATER("N37g", "unrecognized even type in Data", "accept", PENDING, 1, "0614 " NAME "1400 1500 FD03E800 " SIG),
    NDN_LATER("N38", "FreshnessPeriod 2^64-1", "accept", PENDING, 1,
              "061A " NAME "140A1908FFFFFFFFFFFFFFFF 1500 " SIG),
    NDN("N38b", "FreshnessPeriod of 3 octets", "net_invalid", "0615 " NAME "14051903010203 1500 " SIG),
    NDN("N39", "MetaInfo cut inside a number", "tlv_trunc", "06090703080141140218FD"),
    NDN_LATER("N40", "Data with an empty Name", "unsolicited_data", NULL, 1, "0609070016031B01001700"),
    NDN_ON("N42", "zeros behind the packet in a datagram", BAD_UDP4, "trailing", INTEREST "[00]40"),
    NDN_ON("N42e", "zeros behind the packet on Ethernet", BAD_ETHER, "accept", INTEREST "[00]40"),
    NDN_ON("N43", "two Interests in a datagram", BAD_UDP4, "trailing", INTEREST INTEREST),
    NDN("N44", "type 8 at top level", "pkt_type", "080141"),
    NDN("N45", "Data of 8801 octets", "pkt_oversize", "06FD225D " NAME "15FD224D[AA]8781 " SIG),
    NDN_LATER("N45b", "Data of 8800 octets", "accept", PENDING, 1, "06FD225C " NAME "15FD224C[AA]8780 " SIG),
    NDN("N45c", "Interest of 8801 octets", "pkt_oversize", "05FD225D " NAME NONCE "24FD224E[AA]8782 "),
    NDN("N45d", "Interest of 8800 octets", "accept", "05FD225C " NAME NONCE "24FD224D[AA]8781 "),
    NDN("N46", "Name of 32 components", "accept", "0568 0760[080141]32 " NONCE),
    NDN("N46b", "Name of 33 components", "accept", "056B 0763[080141]33 " NONCE),
    NDN_LATER("N47", "Interest under /localhost", "scope_violation", NULL, 1,
              "0529 0721 08096C6F63616C686F7374 08036E6664 0806737461747573 080767656E6572616C " NONCE),
    NDN_LATER("N48", "Data under /localhost", "scope_violation", NULL, 1,
              "061B 070E 08096C6F63616C686F7374 080178 1400 1500 " SIG),
    NDN_LATER("N49", "Interest under /localhop, next hop not local", "scope_localhop", NULL, 1,
              "0515 070D 08086C6F63616C686F70 080178 " NONCE),
    NDN_LATER("N50", "same name and Nonce from another face", "loop_dup_nonce", "second packet from another face", 2,
              INTEREST),
    NDN_LATER("N51", "same name and Nonce from the same face", "accept", "second packet from the same face", 2, INTEREST),
    NDN_LATER("N52", "Data that nobody asked for", "unsolicited_data", NULL, 1, DATA),
    NDN_LATER("N53", "Data whose name is one octet longer", "unsolicited_data", "a pending Interest for /A", 1,
              "0611 070408024141 1400 1500 " SIG),

    /* NDNLPv2 */
    NDN("L00", "Interest in an LpPacket", "accept", "640F " FRAG_I),
    NDN("L00b", "Interest behind a PitToken", "accept",
        "641D 62081112131415161718 5011 050F " NAME NONCE "0C02EA60"),
    NDN_LATER("L00c", "Data of 311 octets behind a PitToken", "accept", PENDING, 1,
              "64FD0145 62081112131415161718 50FD0137 06FD0133 " NAME "140419022710 15FD0120[AA]288 16001700"),
    NDN_LATER("L01", "IDLE packet", "lp_idle", NULL, 1, "6400"),
    NDN("L02", "empty Fragment", "lp_invalid", "64025000"),
    NDN("L03", "Sequence cut", "tlv_trunc", "640551080000"),
    NDN("L04", "Sequence of 1 octet, not fragmented", "accept", "6412510101 " FRAG_I),
    NDN("L04b", "Sequence of 1 octet, fragmented", "lp_invalid", "6411 510101 520100 530102 " CUT_I),
    NDN("L04c", "fragmented without Sequence", "lp_invalid", "640E 520100 530102 " CUT_I),
    NDN("L04d", "Sequence of 3 octets", "lp_invalid", "6414 5103010203 " FRAG_I),
    NDN("L06", "FragIndex equal to FragCount", "lp_frag_bad", "6418 " SEQ_10 "520102 530102 " CUT_I),
    NDN("L06b", "FragIndex without FragCount", "lp_frag_bad", "6415 " SEQ_10 "520101 " CUT_I),
    NDN("L07", "FragCount 0", "lp_frag_bad", "6418 " SEQ_10 "520100 530100 " CUT_I),
    NDN("L09", "FragCount 2^40", "lp_frag_bad",
        "641A5108000000000000000A52010053080000010000000000500105"),
    NDN("L10", "FragCount 401", "lp_frag_bad", "6419 " SEQ_10 "520100 53020191 " CUT_I),
    NDN_LATER("L11", "20,000 first fragments of 400", "lp_reass_evict", "a fragment limit of 400", 20000,
              "641A 5108@8 520100 53020190 5007[AA]7 "),
    NDN_LATER("L12", "FragCount changes within a message", "lp_frag_bad", NULL, 2,
              "6418 51080000000000000010 520100 530103 " CUT_I "|6418 51080000000000000011 520101 530104 " CUT_I),
    NDN_LATER("L13", "Sequence 0 with FragIndex 1: the message number wraps", "accept", NULL, 1,
              "6418 51080000000000000000 520101 530102 " CUT_I),
    NDN_LATER("L14", "32 fragments of 8700 octets", "pkt_oversize", NULL, 32,
              "64FD2210 5108@8 5201@1 530120 50FD21FC[AA]8700 "),
    NDN("L14b", "one fragment of more than 8800 octets", "pkt_oversize",
        "64FD2276 " SEQ_10 "520100 530102 50FD2262[AA]8802 "),
    NDN("L15", "two Fragments", "lp_order", "641E " FRAG_I FRAG_I),
    NDN("L15b", "field behind the Fragment", "lp_order", "6419 " FRAG_I "62080102030405060708"),
    NDN("L17", "LpPacket inside Fragment", "pkt_type", "6413 5011 640F " FRAG_I),
    NDN("L17b", "two Interests in a Fragment", "trailing", "641C 501A " INTEREST INTEREST),
    NDN("L17c", "Interest cut in an unfragmented Fragment", "tlv_trunc", "6408 " CUT_I),
    NDN("L17d", "type 15 behind a PitToken", "pkt_type", "6419 62080102030405060708 500D 0F0B " NAME NONCE),
    NDN("L17e", "type 0 behind a PitToken", "tlv_type0", "6419 62080102030405060708 500D 000B " NAME NONCE),
    NDN("L17f", "LpPacket behind a PitToken", "pkt_type", "641B 62080102030405060708 500F 640D " INTEREST),
    NDN("L18", "PitToken of 0 octets", "lp_invalid", "6411 6200 " FRAG_I),
    NDN("L19", "PitToken of 33 octets", "lp_invalid", "6432 6221[AA]33 " FRAG_I),
    NDN("L19b", "PitToken of 32 octets", "accept", "6431 6220[AA]32 " FRAG_I),
    NDN("L20", "unknown field 99", "lp_critical", "6411 6300 " FRAG_I),
    NDN("L21", "unknown field 959", "lp_critical", "6413 FD03BF00 " FRAG_I),
    NDN("L22", "unknown field 956", "accept", "6413 FD03BC00 " FRAG_I),
    NDN("L22b", "unknown field 956 twice", "lp_order", "6417 FD03BC00 FD03BC00 " FRAG_I),
    NDN("L23", "Nack header before Data", "lp_invalid", "641D FD032005FD03210164 " FRAG_D),
    NDN("L23b", "NackReason of 3 octets", "lp_invalid", "641A FD032007FD032103000064 " FRAG_I),
    NDN("L23c", "unknown field in Nack", "lp_critical", "6417 FD032004FD032300 " FRAG_I),
    NDN("L23d", "two NackReasons", "lp_order", "641D FD03200AFD03210164FD03210196 " FRAG_I),
    NDN_LATER("L24", "Nack for a name that is not pending", "nack_no_match", NULL, 1,
              "6418 FD032005FD03210196 " FRAG_I),
    NDN_LATER("L26", "NextHopFaceId without local fields", "lp_local_field", NULL, 1, "6414 FD0330010A " FRAG_I),
    NDN("L26b", "NextHopFaceId before Data", "lp_invalid", "6419 FD0330010A " FRAG_D),
    NDN("L27", "IncomingFaceId from outside", "accept", "6414 FD032C010A " FRAG_I),
    NDN("L28", "CachePolicy before Interest", "lp_invalid", "6418 FD033405FD03350101 " FRAG_I),
    NDN_LATER("L28b", "CachePolicy before Data", "accept", PENDING, 1, "641D FD033405FD03350101 " FRAG_D),
    NDN("L28c", "empty CachePolicy", "lp_invalid", "6418 FD033400 " FRAG_D),
    NDN("L28d", "NonDiscovery before Data", "lp_invalid", "6418 FD034C00 " FRAG_D),
    NDN("L28e", "PrefixAnnouncement before Interest", "lp_invalid", "6425 FD035012 " DATA FRAG_I),
    NDN("L28f", "PrefixAnnouncement that is no Data", "lp_invalid", "6425 FD03500D " INTEREST FRAG_D),
    NDN("L28g", "CachePolicy before a Nack", "lp_invalid", "6421 FD032005FD03210164 FD033405FD03350101 " FRAG_I),
    NDN("L28h", "NonDiscovery with a value", "lp_invalid", "6414 FD034C0100 " FRAG_I),
    NDN("L30", "20 Acks without reliability", "accept", "64FD00FF [FD0344080000000000000001]20 " FRAG_I),
    NDN("L30b", "Ack of 4 octets", "lp_invalid", "6417 FD03440400000001 " FRAG_I),
    NDN("L30c", "TxSequence of 4 octets", "lp_invalid", "6417 FD03480400000001 " FRAG_I),
    NDN("L31", "FragCount before Sequence", "lp_order", "6418 530102 " SEQ_10 "520100 " CUT_I),
    NDN("L31b", "two PitTokens", "lp_order", "6415 620101 620102 " FRAG_I),
    NDN_LATER("L32", "PitToken that is not ours on Data", "token_bad",
              "PitTokens of 8 octets; a pending Interest for the name", 1, "641E 6208FFFFFFFFFFFFFFFF " FRAG_D),

    /* Ethernet, VLAN, IP, UDP */
    FRAME("E01", "frame of 1 octet", "l2_short", runt_1),
    FRAME("E01b", "frame of 13 octets", "l2_short", runt_13),
    FRAME("E02", "NDN frame without payload", "tlv_trunc", no_payload),
    FRAME("E03", "eight octets of ones, then the rest of an NDN frame", "l2_src", all_ones_header),
    FRAME_LATER("E04", "VLAN that no face uses", "l2_vlan", NULL, vlan_other),
    FRAME("E04b", "priority tag", "accept", vlan_priority),
    FRAME("E04c", "VID 4095", "l2_vlan", vlan_reserved),
    FRAME_LATER("E04d", "two tags", "l2_vlan", NULL, vlan_qinq),
    FRAME("E04e", "three tags", "l2_vlan", vlan_three),
    FRAME("E04f", "cut inside the second tag", "l2_short", vlan_cut),
    FRAME("E06", "multicast source MAC", "l2_src", src_multicast),
    FRAME("E06b", "broadcast source MAC", "l2_src", src_broadcast),
    FRAME("E06c", "zero source MAC", "l2_src", src_zero),
    FRAME_LATER("E07", "unicast to another MAC", "l2_unmatched", NULL, other_mac),
    FRAME("E07b", "ARP", "l2_type", arp),
    FRAME("E08", "IPv4 with version 6", "ip_version", ip4_version_6),
    FRAME("E08b", "IPv6 with version 4", "ip_version", ip6_version_4),
    FRAME("E10", "40 octets of IPv4 options", "ip_options", ip4_options),
    FRAME("E11", "IHL 4", "ip_len", ip4_ihl_small),
    FRAME("E11b", "IPv4 header longer than the total length", "ip_len", ip4_ihl_over_total),
    FRAME("E11c", "IPv4 total length beyond the frame", "ip_len", ip4_total_over_frame),
    FRAME("E11d", "IPv4 total length 27", "ip_len", ip4_total_small),
    FRAME("E12", "Ethernet padding behind the IPv4 packet", "accept", ip4_padded),
    FRAME("E13", "first fragment with a whole Interest", "ip_frag", ip4_first_fragment),
    FRAME("E14", "later fragment that looks like UDP", "ip_frag", ip4_later_fragment),
    FRAME("E15", "tiny overlapping fragment", "ip_frag", ip4_tiny_fragment),
    FRAME("E17", "source 0.0.0.0", "ip_src", ip4_src_zero),
    FRAME("E17b", "source 127.0.0.1", "ip_src", ip4_src_loopback),
    FRAME("E17c", "source multicast", "ip_src", ip4_src_multicast),
    FRAME("E17d", "source 255.255.255.255", "ip_src", ip4_src_broadcast),
    FRAME_LATER("E17e", "our own address as source", "ip_src", NULL, ip4_src_ours),
    FRAME("E17f", "IPv6 multicast source", "ip_src", ip6_src_multicast),
    FRAME("E18", "destination 255.255.255.255", "ip_dst", ip4_dst_broadcast),
    FRAME_LATER("E18b", "destination is the subnet's broadcast address", "ip_dst", "a port with a /24 prefix",
                ip4_dst_directed),
    FRAME("E18c", "destination ::1", "ip_dst", ip6_dst_loopback),
    FRAME("E19", "wrong IPv4 header checksum", "ip_csum", ip4_bad_csum),
    FRAME("E20", "TCP", "ip_proto", ip4_tcp),
    FRAME("E20b", "ICMP", "ip_proto", ip4_icmp),
    FRAME("E20c", "UDP-Lite", "ip_proto", ip4_udplite),
    FRAME("E22", "IPv6 atomic fragment", "ip_frag", ip6_fragment),
    FRAME("E22b", "IPv6 hop-by-hop options", "ip_options", ip6_hop_by_hop),
    FRAME("E23", "IPv6 payload length beyond the frame", "ip_len", ip6_payload_over_frame),
    FRAME("E24", "UDP length 0", "udp_len", udp4_len_0),
    FRAME("E24b", "UDP length 7", "udp_len", udp4_len_7),
    FRAME("E24c", "UDP length beyond the IP payload", "udp_len", udp4_len_over_ip),
    FRAME("E24d", "UDP length below the IP payload: cut", "accept", udp4_len_under_ip),
    FRAME("E24e", "UDP without payload", "tlv_trunc", udp4_empty),
    FRAME("E25", "wrong UDP checksum over IPv4", "udp_csum", udp4_bad_csum),
    FRAME("E25b", "no UDP checksum over IPv4", "accept", udp4_no_csum),
    FRAME("E25c", "wrong UDP checksum over IPv6", "udp_csum", udp6_bad_csum),
    FRAME("E25d", "no UDP checksum over IPv6", "udp_csum", udp6_no_csum),

    /* QUIC, load balancer role */
    QUIC("Q00", "v1 Initial", "accept", "C3 " V1 D8 S8 "00 4496 ~1200"),
    QUIC("Q00b", "v2 Initial", "accept", "D3 " V2 D8 S8 "00 4496 ~1200"),
    QUIC("Q01", "one octet", "quic_short", "40"),
    {.id = "Q02", .what = "fixed bit 0 where it is required", .outcome = "quic_fixed_bit", .carriers = BAD_QUIC,
     .fixed_bit = true, .n_packets = 1, .recipe = "00 8394C8F03E515708 [00]20 "},
    QUIC("Q02b", "fixed bit 0 with greasing allowed", "accept", "00 8394C8F03E515708 [00]20 "),
    QUIC("Q03", "long header cut in the version", "quic_short", "C0000000"),
    QUIC("Q04", "v1 DCID of 21 octets", "quic_cid_len", "C3 " V1 "15 [AA]21 00 ~1200"),
    QUIC("Q05", "unknown version with CIDs of 255 octets", "accept", "C3 1A2A3A4A FF[AA]255 FF[BB]255 ~1200"),
    QUIC("Q07", "v1 SCID of 21 octets", "quic_cid_len", "C3 " V1 D8 "15 [BB]21 00 4400 ~1200"),
    QUIC("Q07b", "v2 SCID of 21 octets", "quic_cid_len", "D3 " V2 D8 "15 [BB]21 00 4400 ~1200"),
    QUIC("Q08", "Version Negotiation to a server", "quic_vn_rx", "C0 00000000 " D8 S8 "00000001"),
    QUIC("Q10", "Initial in 1199 octets", "quic_dgram_small", "C3 " V1 D8 S8 "00 4495 ~1199"),
    QUIC("Q11", "token length 2^62-1", "quic_len", "C3 " V1 D8 S8 "FFFFFFFFFFFFFFFF ~1200"),
    QUIC("Q12", "Length beyond the datagram", "quic_len", "C3 " V1 D8 S8 "00 7FFF ~1200"),
    QUIC("Q12b", "Handshake cut in its SCID", "quic_short", "E3 " V1 D8 "08 01020304"),
    QUIC("Q12c", "Handshake without Length", "quic_short", "E3 " V1 D8 S8),
    QUIC_LATER("Q14", "client Initial with a DCID of 4 octets", "quic_cid_len", "no server issues such CIDs",
               "C3 " V1 "04 8394C8F0 " S8 "00 449A ~1200"),
    QUIC_LATER("Q15", "coalesced Initial and Handshake with different DCIDs", "quic_coalesced_cid", NULL,
               "C3 " V1 D8 S8 "00 4258 ~626 E3 " V1 "08 [BB]8 " S8 "4225 ~1200"),
    QUIC("Q17", "1500 coalesced Handshakes", "accept", "[E3 " V1 D8 S8 "4012 [00]18 ]1500 "),
    QUIC("Q18", "0-RTT without Initial", "accept", "D3 " V1 D8 S8 "4497 ~1200"),
    QUIC("Q19", "Retry to a server", "quic_type", "F3 " V1 D8 S8 "746F6B656E [AA]16 "),
    QUIC("Q19b", "v2 Retry to a server", "quic_type", "C3 " V2 D8 S8 "746F6B656E [AA]16 "),
    QUIC_LATER("Q20", "short header of a deployment with empty CIDs", "quic_unroutable", QUIC_LB "; no fallback",
               "40 [E7]30 "),
    QUIC("Q21", "short header packet of 20 octets", "quic_short", "40 8394C8F03E515708 [00]11 "),
    QUIC_LATER("Q23", "CID of an unknown configuration", "quic_unroutable", QUIC_LB "; no fallback",
               "40 C7 [AA]7 [00]20 "),
    QUIC_LATER("Q24", "server ID that no server has", "quic_unroutable", QUIC_LB "; no fallback",
               "40 07FFFFFF00000000 [00]20 "),
    QUIC_LATER("Q26", "DCID shorter than server ID and nonce", "quic_unroutable", QUIC_LB "; no fallback",
               "E3 " V1 "03 07C460 " S8 "4014 [00]20 "),
    QUIC_LATER("Q27", "routable CID", "accept", QUIC_LB, "40 07C4605E4504CC4F [00]20 "),
    QUIC_LATER("Q29", "Initial with a forged Retry token", "quic_token_bad", "Retry offload",
               "C3 " V1 D8 S8 "4064 [5A]100 4431 ~1200"),
    FRAME_LATER("Q31", "source port 0", "quic_src", NULL, quic_sport_0),
    FRAME_LATER("Q31b", "our own address as source", "quic_src", "our address is the service's", quic_from_ourselves),
    FRAME("Q33", "ICMP that quotes too little of a QUIC packet", "ip_proto", icmp_quoting_quic),
    QUIC("Q34", "what may be a Stateless Reset", "accept", "40 8394C8F03E515708 [5C]12 "),
};
// clang-format on

const size_t n_bad_inputs = sizeof bad_inputs / sizeof bad_inputs[0];

static uint8_t hex_digit(char c)
{
    return (uint8_t)(isdigit((unsigned char)c) ? c - '0' : toupper((unsigned char)c) - 'A' + 10);
}

/** Write what a recipe says up to its end, "|" or an unmatched "]". @return where it stopped */
static const char *expand(const char *s, uint32_t i, uint8_t *buf, size_t *len)
{
    while (*s != '\0' && *s != '|' && *s != ']') {
        char *end;
        if (*s == ' ') {
            s++;
        } else if (*s == '[') {
            size_t start = *len;
            s = expand(s + 1, i, buf, len);
            size_t once = *len - start, times = strtoul(s + 1, &end, 10);
            for (size_t n = 1; n < times; n++, *len += once)
                memcpy(buf + *len, buf + start, once);
            s = end;
        } else if (*s == '~') {
            size_t to = strtoul(s + 1, &end, 10);
            while (*len < to)
                buf[(*len)++] = 0;
            s = end;
        } else if (*s == '@') {
            for (size_t n = hex_digit(s[1]); n-- > 0;)
                buf[(*len)++] = n < sizeof i ? (uint8_t)(i >> 8 * n) : 0;
            s += 2;
        } else {
            if (!isxdigit((unsigned char)s[0]) || !isxdigit((unsigned char)s[1]))
                abort();
            buf[(*len)++] = (uint8_t)(hex_digit(s[0]) << 4 | hex_digit(s[1]));
            s += 2;
        }
        if (*len > BAD_INPUT_MAX)
            abort();
    }
    return s;
}

size_t bad_input_expand(const char *recipe, uint32_t i, uint8_t *buf)
{
    if (strchr(recipe, '|') != NULL) {
        for (uint32_t n = 0; n < i; n++)
            recipe = strchr(recipe, '|') + 1;
    }
    size_t len = 0;
    expand(recipe, i, buf, &len);
    return len;
}

const struct bad_input *bad_input_find(const char *id)
{
    for (size_t i = 0; i < n_bad_inputs; i++) {
        if (strcmp(bad_inputs[i].id, id) == 0)
            return &bad_inputs[i];
    }
    abort();
}

static size_t whole_frame(const struct bad_input *row, const struct bad_addrs *addrs, uint8_t *buf)
{
    struct frame_builder b = {.addrs = addrs, .frame = buf};
    row->build(&b);
    frame_build_checksums(&b);
    return b.len;
}

size_t bad_input_payload(const struct bad_input *row, uint32_t i, const struct bad_addrs *addrs, uint8_t *buf)
{
    return row->build != NULL ? whole_frame(row, addrs, buf) : bad_input_expand(row->recipe, i, buf);
}

size_t bad_input_frame(const struct bad_input *row, uint32_t i, enum bad_carrier carrier, const struct bad_addrs *addrs,
                       uint8_t *buf)
{
    if (row->build != NULL)
        return whole_frame(row, addrs, buf);
    uint8_t *payload = malloc(BAD_INPUT_MAX);
    if (payload == NULL)
        abort();
    size_t len = bad_input_expand(row->recipe, i, payload);
    struct frame_builder b = {.addrs = addrs, .frame = buf};
    if (carrier == BAD_ETHER)
        frame_build_ether(&b, payload, len);
    else if (carrier == BAD_UDP4)
        frame_build_udp4(&b, addrs->ndn_port, addrs->ndn_port, payload, len);
    else
        frame_build_udp4(&b, 50000, addrs->quic_port, payload, len);
    frame_build_checksums(&b);
    free(payload);
    return b.len;
}
