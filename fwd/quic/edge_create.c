// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "fwd/quic/edge_priv.h"
#include "parser/random.h"

/* What comes out of the seed: both keys are used for nothing else. */
struct edge_seed {
    struct flow_hash_key limit, random;
};
_Static_assert(sizeof(struct edge_seed) == 32, "as documented");

/* All that libcrypto will ever need. */
static int create_contexts(struct quic_edge *edge)
{
    int rc = retry_tags_create(&edge->tags);
    for (unsigned i = 0; i < QUIC_SERVICES_MAX && rc == 0; i++)
        for (unsigned j = 0; j < QUIC_RETRY_KEYS_MAX && rc == 0; j++)
            rc = gcm_create(&edge->key[i][j].gcm);
    return rc;
}

int quic_edge_create(struct quic_edge **out, const struct quic_edge_config *config)
{
    struct edge_seed seed;
    if (config->worker >= FWD_WORKERS_MAX)
        return -EINVAL;
    if (config->seed != NULL)
        memcpy(&seed, config->seed, sizeof seed);
    else if (random_octets(&seed, sizeof seed) != 0)
        return -EIO;
    struct quic_edge *edge = arena_map(sizeof *edge, config->pages);
    if (edge == NULL)
        return -ENOMEM;
    edge->random_key = seed.random;
    int rc = quic_limit_create(&edge->limit, config->sources != 0 ? config->sources : QUIC_LIMIT_SOURCES, &seed.limit,
                               config->pages);
    explicit_bzero(&seed, sizeof seed);
    if (rc == 0)
        rc = create_contexts(edge);
    if (rc != 0) {
        quic_edge_destroy(edge);
        return rc;
    }
    edge->ip_id = (uint16_t)quic_edge_random(edge);
    uint64_t random = quic_edge_random(edge);
    memcpy(edge->number, &random, sizeof edge->number);
    edge->number[0] = (uint8_t)config->worker;
    *out = edge;
    return 0;
}

void quic_edge_destroy(struct quic_edge *edge)
{
    if (edge == NULL)
        return;
    for (unsigned i = 0; i < QUIC_SERVICES_MAX; i++)
        for (unsigned j = 0; j < QUIC_RETRY_KEYS_MAX; j++)
            gcm_destroy(&edge->key[i][j].gcm);
    retry_tags_destroy(&edge->tags);
    quic_limit_destroy(edge->limit);
    explicit_bzero(edge, sizeof *edge);
    arena_unmap(edge, sizeof *edge);
}
