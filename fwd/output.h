// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_OUTPUT_H
#define FWD_OUTPUT_H

#include "fwd/pkt.h"
#include "fwd/token.h"
#include "parser/ndn_encode.h"

/*
 * From a network packet to frames in a port's send buffer: LP header, fragmentation, link header. Worker only.
 */

/** Least room before a packet for the headers of the short way, see struct fwd. */
#define OUTPUT_SHORT_ROOM (NDN_LP_TOKEN_HEADER_MAX + FACE_HDR_MAX)

enum output_kind { OUTPUT_INTEREST, OUTPUT_DATA, OUTPUT_NACK };

/**
 * Send the network packet in @p mbuf (a chain, cut to it) to @p face with those of the header @p fields that the face
 * takes, bare when there are none: IncomingFaceId only with local fields, no token of ours to local applications.
 * Takes the mbuf over; headers go into its headroom. Counts the packet, or the drop.
 */
void output_send(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, const struct ndn_lp_out *fields,
                 enum output_kind kind);

/** Send a link-layer packet, with room for the face's link header before it, as it is. Takes the mbuf over. */
void output_link(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf);

/**
 * A second frame from the same octets: @p len octets at @p off of chain @p mbuf, copied, or referenced when they are
 * many and the face's port can send chains. Counted as originated.
 *
 * @return the new packet, NULL (counted as tx_no_mbuf) when there is no buffer
 */
struct rte_mbuf *output_copy(struct fwd *fwd, const struct face *face, struct rte_mbuf *mbuf, uint32_t off,
                             uint32_t len);

/** Send what waits for one port. */
void output_flush(struct fwd *fwd, uint16_t port);

#endif
