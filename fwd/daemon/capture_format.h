// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_CAPTURE_FORMAT_H
#define FWD_DAEMON_CAPTURE_FORMAT_H

/* Numbers of capture files: draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng. Sizes are in octets. */

#define CAPTURE_LINK_ETHERNET 1u

#define PCAP_MAGIC_NS      0xa1b23c4du
#define PCAP_VERSION_MAJOR 2u
#define PCAP_VERSION_MINOR 4u
#define PCAP_HEADER_SIZE   24u
#define PCAP_RECORD_SIZE   16u

#define PCAPNG_SECTION         0x0a0d0d0au
#define PCAPNG_INTERFACE       1u
#define PCAPNG_OLD_PACKET      2u
#define PCAPNG_SIMPLE_PACKET   3u
#define PCAPNG_NAMES           4u
#define PCAPNG_STATISTICS      5u
#define PCAPNG_ENHANCED_PACKET 6u
#define PCAPNG_BYTE_ORDER      0x1a2b3c4du
#define PCAPNG_VERSION_MAJOR   1u

/* Type, length, and length again. */
#define PCAPNG_BLOCK_MIN 12u
/* The same with the fields of the block. */
#define PCAPNG_SECTION_SIZE   28u
#define PCAPNG_INTERFACE_SIZE 20u
#define PCAPNG_PACKET_SIZE    32u
#define PCAPNG_SIMPLE_SIZE    16u

#define PCAPNG_END_OF_OPTIONS 0u
#define PCAPNG_IF_NAME        2u
#define PCAPNG_IF_TSRESOL     9u
#define PCAPNG_IF_TSOFFSET    14u

#endif
