// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_QUIC_FLOWS_H
#define TEST_LOAD_QUIC_FLOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parser/quic_lb.h"
#include "test/load/options.h"

/*
 * QUIC connections as a balancer sees them: each belongs to a server, whose ID is in the connection ID of its short
 * headers. Initials have a connection ID that the client made up, for each address of it another. What a datagram is
 * stands in its payload, which in earnest would be encrypted; the rest of that follows from seed and number.
 */
struct quic_flows {
    uint32_t n;
    uint16_t n_servers; /* flow i is of server i % n_servers */
    uint8_t cid_len;
    uint16_t short_len, initial_len; /* octets of datagrams */
    uint16_t first_sport;
    uint32_t rebind; /* packets of a flow until its port changes; 0: never */
    uint64_t seed;
    uint8_t (*cid)[QUIC_LB_CID_MAX];
};

/** What stands in a datagram. */
struct quic_stamp {
    uint32_t flow;
    uint32_t flow_number; /**< of the datagram in its flow, from 0 */
    uint64_t number;      /**< in all flows, from 0 */
    uint64_t due;         /**< ticks */
    uint32_t lag;         /**< ticks from due to sent */
    bool initial;
};

enum quic_read {
    QUIC_READ_OK,
    QUIC_READ_STRANGE, /**< no datagram of this run */
    QUIC_READ_CORRUPT, /**< one, but not as it was sent */
};

/** Says on stderr what is wrong. @return 0 or -errno */
int quic_flows_create(struct quic_flows *flows, const struct options *options);
void quic_flows_destroy(struct quic_flows *flows);

/** How often the flow has changed its address when it sends a datagram. */
static inline uint32_t quic_flows_generation(const struct quic_flows *flows, uint32_t flow_number)
{
    return flows->rebind > 0 ? flow_number / flows->rebind : 0;
}

/** Source port of a flow then. */
uint16_t quic_flows_sport(const struct quic_flows *flows, uint32_t flow, uint32_t generation);

/** Write a datagram of short_len or initial_len octets. @return which */
size_t quic_flows_write(const struct quic_flows *flows, const struct quic_stamp *stamp, uint8_t *p);

/** Read one, and compare each octet. *stamp is filled with QUIC_READ_OK and may be with QUIC_READ_CORRUPT. */
enum quic_read quic_flows_read(const struct quic_flows *flows, const uint8_t *p, size_t len, struct quic_stamp *stamp);

#endif
