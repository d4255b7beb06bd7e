// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_MKPCAP_PLAN_H
#define TEST_LOAD_MKPCAP_PLAN_H

#include <stdint.h>

#include "test/load/mkpcap_frame.h"
#include "test/load/mkpcap_ndn.h"
#include "test/load/mkpcap_out.h"
#include "test/load/mkpcap_quic.h"

/** Interfaces of a capture: consumers and QUIC clients are at the first, producers at the second. */
#define MKPCAP_CONSUMER   0
#define MKPCAP_PRODUCER   1
#define MKPCAP_INTERFACES 2

enum mkpcap_kind {
    MKPCAP_INTEREST, /**< Interests with different names */
    MKPCAP_DATA,     /**< the Data that satisfy these, in the same order */
    MKPCAP_EXCHANGE, /**< both: bursts of Interests, and of the Data for those sent longest ago */
    MKPCAP_QUIC,     /**< QUIC datagrams */
    MKPCAP_MIX,      /**< exchanges, and QUIC datagrams between them */
};

/** What goes into a file. Numbers of packets are count, of which exchanges have two. */
struct mkpcap_plan {
    enum mkpcap_kind kind;
    uint64_t count; /**< Interests, Data, exchanges or datagrams */
    uint64_t first; /**< number of the first of them */
    uint64_t seed;
    uint64_t gap_ns;     /**< between frames */
    uint32_t live;       /**< exchanges: pending Interests, once there are so many */
    uint32_t burst;      /**< exchanges: Interests, and Data, in a row */
    unsigned quic_share; /**< mix: frames of a hundred that are QUIC's, 1..99 */
    struct mkpcap_ndn ndn;
    struct mkpcap_quic quic;
    struct mkpcap_way interest_way, data_way, quic_way;
};

/** Defaults: those of the benchmark of the pipeline, and addresses 02:00:00:00:0p:0h, of host 1 (the forwarder) and 2.
 */
void mkpcap_plan_init(struct mkpcap_plan *plan);

/** Check everything that does not stand alone, and prepare. @return NULL, or what is wrong */
const char *mkpcap_plan_check(struct mkpcap_plan *plan);

/** Write all frames; the plan is checked. The same plan gives the same octets. */
void mkpcap_plan_write(const struct mkpcap_plan *plan, struct mkpcap_out *out);

#endif
