// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_MKPCAP_FRAME_H
#define TEST_LOAD_MKPCAP_FRAME_H

#include <stddef.h>
#include <stdint.h>

/** Octets of the longest headers that mkpcap_frame() writes: Ethernet, IPv6, UDP. */
#define MKPCAP_HEADERS_MAX (14 + 40 + 8)

/** One end of a link: MAC address, and for UDP an IP address and a port. */
struct mkpcap_end {
    uint8_t mac[6];
    uint8_t ip_len; /**< 0: none, 4 or 16 */
    uint8_t ip[16];
    uint16_t port;
};

/** A direction of packets. */
struct mkpcap_way {
    struct mkpcap_end from, to;
};

/**
 * Parse "MAC", "MAC,IP" or "MAC,IP,PORT"; what is not given stays as it is in @p end.
 *
 * @return 0, or -EINVAL with *end untouched
 */
int mkpcap_end_parse(const char *text, struct mkpcap_end *end);

/** Are both ends without IP address, or both of one IP version? */
int mkpcap_way_check(const struct mkpcap_way *way);

/**
 * Write the headers of @p way right before @p payload, with lengths and full checksums: Ethernet (EtherType 0x8624)
 * without IP addresses, else Ethernet, IPv4 or IPv6, UDP. There are MKPCAP_HEADERS_MAX octets before @p payload, and
 * @p len is at most 65000.
 *
 * @return octets written; the frame begins at payload - return value
 */
size_t mkpcap_frame(const struct mkpcap_way *way, uint8_t *payload, size_t len);

#endif
