// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_QUIC_EDGE_H
#define FWD_QUIC_EDGE_H

#include "fwd/quic/limit.h"
#include "fwd/quic/quic.h"

/*
 * What one worker needs to answer or refuse datagrams itself (fwd/quic/edge.c): limits per source, and how Retry
 * tokens are made. quic_worker_create() makes it as part of struct quic_worker.
 */
struct quic_edge;

struct quic_edge_config {
    uint16_t worker;     /**< its number: no two workers may make the same Retry tokens */
    uint32_t sources;    /**< remembered for limits; 0: QUIC_LIMIT_SOURCES */
    const uint8_t *seed; /**< 32 octets that nobody knows, for tests; NULL: from random_octets() */
    enum arena_pages pages;
};

/** All memory that the edge ever needs. Control thread or worker. @return 0, -EINVAL, or -ENOMEM */
int quic_edge_create(struct quic_edge **edge, const struct quic_edge_config *config);
/** Wipes the keys; NULL is allowed. */
void quic_edge_destroy(struct quic_edge *edge);

/**
 * The Initial of a datagram of @p len octets that begins with the long header @p first: that one, or one behind it.
 * Senders order the packets of a datagram as they like (RFC 9000 12.2), and 0-RTT in front must not lead an Initial
 * past limits and Retry. Servers ignore an Initial of another DCID. Any thread.
 *
 * @return false when there is none; *initial is undefined then
 */
bool quic_edge_initial(const struct quic_header *first, size_t len, struct quic_header *initial);
/** True when the service offers a version. Any thread. */
bool quic_version_offered(const struct quic_service *service, uint32_t version);

#endif
