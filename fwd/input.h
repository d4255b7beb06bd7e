// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_INPUT_H
#define FWD_INPUT_H

#include "fwd/pkt.h"

/* Largest frame with an NDN packet: NDN_PACKET_MAX octets with all headers around it. */
#define INPUT_NDN_SIZE (NDN_PACKET_MAX + 512)
/* Largest frame that is copied to be parsed: no QUIC datagram is larger. */
#define INPUT_LINEAR_SIZE UINT16_MAX
/* Octets kept free before fwd->linear, so that a Nonce can be put into an Interest there. */
#define INPUT_LINEAR_SLACK 64

#define NDN_TYPE_NONCE         10
#define NDN_NONCE_TLV_SIZE     6
#define NDN_HOP_LIMIT_TLV_SIZE 3

/**
 * Put a random Nonce into the Interest at @p net, which has none (NDN packet spec: a forwarder adds it). The front of
 * the packet moves left, a PIT token in front of it with it: 16 octets and the token's size before it must be free.
 *
 * @return how many octets the packet now begins earlier
 */
unsigned input_put_nonce(struct fwd *fwd, uint8_t *net, struct ndn_packet *ndn);

/**
 * Put a HopLimit into the Interest at @p net, which has none: one more than @p hop_limit, as the pipeline takes one
 * off. As input_put_nonce(), with 8 octets and the token's size before it free.
 */
unsigned input_put_hop_limit(uint8_t *net, struct ndn_packet *ndn, uint8_t hop_limit);

/** Put what the Interest at @p net lacks into it. @return how many octets it now begins earlier */
unsigned input_complete(struct fwd *fwd, uint8_t *net, struct ndn_packet *ndn);

/** Parse pkt->mbuf, a link-layer packet from another worker that has passed all checks of the link there. */
bool input_handed_over(struct fwd *fwd, struct pkt *pkt, bool *linear);

#endif
