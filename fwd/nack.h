// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_NACK_H
#define FWD_NACK_H

#include "fwd/pkt.h"

/* Nacks that this forwarder sends (NDNLPv2). Worker only. */

/** Send the Interest back to where it came from; its frame is counted under @p drop. Takes the mbuf over. */
void nack_return(struct fwd *fwd, struct pkt *pkt, enum ndn_nack_reason reason, enum drop drop);

/** Refuse an Interest: with a Nack on a point-to-point face, silently on others. Takes the mbuf over. */
void nack_refuse(struct fwd *fwd, struct pkt *pkt, enum ndn_nack_reason reason, enum drop drop);

/** Nack an entry's downstream, whose Interest is encoded anew from the entry. */
void nack_downstream(struct fwd *fwd, const struct pit_entry *entry, const struct pit_in *in, uint32_t reason);

#endif
