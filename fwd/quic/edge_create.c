// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "fwd/quic/edge_priv.h"

/* What comes out of the seed: both keys are used for nothing else. */
struct edge_seed {
    struct flow_hash_key limit, random;
};
_Static_assert(sizeof(struct edge_seed) == 32, "as documented");

int quic_edge_create(struct quic_edge **out, const struct quic_edge_config *config)
{
    struct edge_seed seed;
    if (config->seed != NULL)
        memcpy(&seed, config->seed, sizeof seed);
    else if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return -EIO;
    struct quic_edge *edge = arena_map(sizeof *edge, config->pages);
    if (edge == NULL)
        return -ENOMEM;
    edge->random_key = seed.random;
    int rc = quic_limit_create(&edge->limit, config->sources != 0 ? config->sources : QUIC_LIMIT_SOURCES, &seed.limit,
                               config->pages);
    explicit_bzero(&seed, sizeof seed);
    if (rc != 0) {
        quic_edge_destroy(edge);
        return rc;
    }
    edge->ip_id = (uint16_t)quic_edge_random(edge);
    *out = edge;
    return 0;
}

void quic_edge_destroy(struct quic_edge *edge)
{
    if (edge == NULL)
        return;
    quic_limit_destroy(edge->limit);
    explicit_bzero(edge, sizeof *edge);
    arena_unmap(edge, sizeof *edge);
}
