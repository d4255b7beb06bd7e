// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_SOCK_MARK_H
#define PORTS_SOCK_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Congestion marking (NDNLPv2): packets are marked while the send queue stays above a threshold. */

/** Octets that a mark adds at most to a packet, its LpPacket and Fragment headers included. */
#define MARK_SIZE_MAX 16

/** Of a congestion incident. Zeroed: there is none. */
struct mark {
    uint64_t next_ns; /**< when the next packet is to be marked; 0: no incident */
    uint32_t n;       /**< packets marked in it */
};

/**
 * Shall a packet be marked that is sent at @p now_ns? The first is when the queue has been above the threshold for
 * @p interval_ns, the next one interval/sqrt(n + 1) after n were. At the threshold or below it the incident ends.
 */
bool mark_due(struct mark *mark, bool above, uint64_t now_ns, uint64_t interval_ns);

/**
 * Copy a packet with a CongestionMark of 1: a bare packet is put into an LpPacket, an LpPacket gets the field in its
 * place. @p len octets are one TLV; @p size is at least @p len + MARK_SIZE_MAX.
 *
 * @return octets written; 0: it has a mark already, or is no packet: send it as it is
 */
size_t mark_packet(uint8_t *out, size_t size, const uint8_t *packet, size_t len);

#endif
