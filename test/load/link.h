// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_LINK_H
#define TEST_LOAD_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "test/load/device.h"
#include "test/load/options.h"

/** Most octets before a packet: Ethernet, a VLAN tag, IPv6, UDP. */
#define LINK_HEADER_MAX (14 + 4 + 40 + 8)

/* What stands before the packets that a role sends, and what it takes of the frames that come. */
struct link {
    uint8_t kind; /**< enum options_link, never LINK_AUTO */
    uint8_t family;
    uint8_t header_len;
    uint8_t ip_off;       /* in header */
    uint16_t local_udp;   /* host byte order; of frames that come */
    uint16_t payload_max; /**< octets that a frame takes behind the header */
    uint8_t header[LINK_HEADER_MAX];
};

/** Says on stderr what is wrong. @return 0 or -EINVAL */
int link_create(struct link *link, const struct options_end *end, const struct device *device);

/** Write the header before a packet of @p len octets, its lengths and checksums set. @return the frame's first octet */
uint8_t *link_wrap(const struct link *link, uint8_t *packet, size_t len);

/** Header checksums and lengths of a frame that has the header already, with another packet in it. */
void link_finish(const struct link *link, uint8_t *frame, size_t packet_len);

/** Find the packet in a frame. @return 0, or -ENOENT for a frame that is not for us (ARP, and whatever else there is)
 */
int link_unwrap(const struct link *link, const uint8_t *frame, size_t len, const uint8_t **packet, size_t *packet_len);

#endif
