// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_TAKE_H
#define FWD_QUIC_TAKE_H

#include "fwd/quic/quic.h"

/* What datagrams and ICMP errors have in common when they are taken over. Internal to fwd/quic/. */

#define QUIC_IPV4_HEADER 20
#define QUIC_IPV6_HEADER 40

/** Why a frame to a virtual address is refused before its IP payload is looked at; DROP_NONE: it is not. */
enum drop quic_check_link(const struct quic_set *set, const struct port *port, const struct frame *frame, bool v6);
/**
 * The next place of fwd->quic->pkt has been filled from the frame at @p frame. A frame that lies in fwd->linear gets a
 * buffer of its own, and is worked on at once, before the next one overwrites its header.
 */
void quic_take_pkt(struct fwd *fwd, const uint8_t *frame);
/** quic_take_icmp(), also for what another worker has taken. */
bool quic_icmp(struct fwd *fwd, const struct port *port, struct rte_mbuf *mbuf, bool handed_over);

#endif
