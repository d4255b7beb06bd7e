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

#endif
