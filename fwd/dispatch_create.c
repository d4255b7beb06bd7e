// SPDX-License-Identifier: Apache-2.0
/* What the control thread does for the hand-over between workers, apart from what runs for packets. */
#include "fwd/dispatch.h"

#include <rte_ring.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int dispatch_create(struct dispatch **out, uint16_t n_workers, uint8_t depth)
{
    if (n_workers < 2 || n_workers > FWD_WORKERS_MAX || depth < 1 || depth > DISPATCH_DEPTH_MAX)
        return -EINVAL;
    struct dispatch *dispatch = aligned_alloc(64, sizeof *dispatch);
    if (dispatch == NULL)
        return -ENOMEM;
    *dispatch = (struct dispatch){.n_workers = n_workers, .depth = depth};
    for (unsigned i = 0; i < DISPATCH_SLOTS; i++)
        dispatch->owner[i] = (uint8_t)(i % n_workers);
    for (uint16_t from = 0; from < n_workers; from++) {
        for (uint16_t to = 0; to < n_workers; to++) {
            if (from == to)
                continue;
            char name[RTE_RING_NAMESIZE];
            snprintf(name, sizeof name, "handover_%u_%u", from, to);
            dispatch->ring[from][to] =
                rte_ring_create(name, DISPATCH_RING_SIZE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
            if (dispatch->ring[from][to] == NULL) {
                dispatch_destroy(dispatch);
                return -ENOMEM;
            }
        }
    }
    *out = dispatch;
    return 0;
}

void dispatch_destroy(struct dispatch *dispatch)
{
    if (dispatch == NULL)
        return;
    for (uint16_t from = 0; from < dispatch->n_workers; from++) {
        for (uint16_t to = 0; to < dispatch->n_workers; to++) {
            struct rte_mbuf *mbuf;
            if (dispatch->ring[from][to] == NULL)
                continue;
            while (rte_ring_sc_dequeue(dispatch->ring[from][to], (void **)&mbuf) == 0)
                rte_pktmbuf_free(mbuf);
            rte_ring_free(dispatch->ring[from][to]);
        }
    }
    free(dispatch);
}
