// SPDX-License-Identifier: Apache-2.0
/* What a worker has for QUIC: made and freed with its struct fwd. */
#include <errno.h>

#include "fwd/quic/edge.h"
#include "fwd/quic/quic.h"
#include "pit/arena.h"

int quic_worker_create(struct quic_worker **out, const struct fwd_config *config)
{
    struct quic_worker *quic = arena_map(sizeof *quic, config->pages);
    if (quic == NULL)
        return -ENOMEM;
    const struct quic_edge_config edge = {.worker = config->worker, .pages = config->pages};
    int rc = quic_edge_create(&quic->edge, &edge);
    for (uint16_t slot = 0; slot < QUIC_SERVICES_MAX && rc == 0; slot++) {
        if (config->quic_flow[slot].capacity == 0 || quic_owner(slot, config->shared->n_workers) != config->worker)
            continue;
        rc = flow_create(&quic->flow[slot], &config->quic_flow[slot], config->now_ns);
    }
    if (rc != 0) {
        quic_worker_destroy(quic);
        return rc;
    }
    *out = quic;
    return 0;
}

void quic_worker_destroy(struct quic_worker *quic)
{
    if (quic == NULL)
        return;
    for (unsigned i = 0; i < quic->n; i++)
        rte_pktmbuf_free(quic->pkt[i].mbuf);
    for (unsigned slot = 0; slot < QUIC_SERVICES_MAX; slot++)
        if (quic->flow[slot] != NULL)
            flow_destroy(quic->flow[slot]);
    quic_edge_destroy(quic->edge);
    arena_unmap(quic, sizeof *quic);
}

void quic_worker_poll(struct fwd *fwd, uint32_t max)
{
    struct quic_worker *quic = fwd->quic;
    for (unsigned slot = 0; slot < QUIC_SERVICES_MAX; slot++) {
        struct flow_stats stats;
        if (quic->flow[slot] == NULL)
            continue;
        flow_poll(quic->flow[slot], fwd->now_ns, max);
        flow_stats(quic->flow[slot], &stats);
        quic->stats.service[slot].flows = stats.n_flows;
        quic->stats.service[slot].flows_evicted = stats.n_evicted;
    }
}
