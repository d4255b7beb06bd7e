// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_REGION_H
#define FWD_REGION_H

#include "fwd/pkt.h"

/**
 * A name of the network region that this forwarder is in. An Interest whose ForwardingHint has a delegation that is a
 * prefix of such a name has reached the producer's region: it is forwarded by its own name, without the hint.
 */
struct region {
    const uint8_t *name; /**< TLV-VALUE */
    uint16_t len;
};

/** Take the ForwardingHint out of an Interest that has reached its region. Worker. @return true when it did */
bool region_strip_hint(struct fwd *fwd, struct pkt *pkt);

#endif
