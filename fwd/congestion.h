// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CONGESTION_H
#define FWD_CONGESTION_H

#include "fwd/pkt.h"
#include "parser/ndn_encode.h"

/*
 * CongestionMarks (NDNLPv2) on ports of devices. A device does not tell how long its queue is, only that it takes no
 * more: when that has gone on for 100 ms the next packet to the port is marked, if its face has
 * FACE_CONGESTION_MARKING, and then one each 100 ms / sqrt(n + 1), as the reference forwarder does for queues it can
 * measure. Costs nothing while devices take what they are given. Worker only.
 */
#define CONGESTION_INTERVAL_NS UINT64_C(100000000)

/** The device of a port refused frames. */
void congestion_refused(struct fwd *fwd, uint16_t port);
/** Mark the packet when it is the next on a port that is to have one. */
void congestion_mark(struct fwd *fwd, const struct face *face, struct ndn_lp_out *lp);

#endif
