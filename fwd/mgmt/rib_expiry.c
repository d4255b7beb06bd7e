// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib_impl.h"

#include <errno.h>
#include <stdlib.h>

int rib_queue_reserve(struct rib *rib)
{
    if (rib->n_queued < rib->heap_size)
        return 0;
    uint32_t size = rib->heap_size > 0 ? rib->heap_size * 2 : 64;
    struct rib_held **heap = reallocarray(rib->heap, size, sizeof heap[0]);
    if (heap == NULL)
        return -ENOMEM;
    rib->heap = heap;
    rib->heap_size = size;
    return 0;
}

static void put(struct rib *rib, struct rib_held *held, uint32_t at)
{
    rib->heap[at] = held;
    held->queued = at;
}

/** Find the place of @p held, for which place @p at is free. */
static void settle(struct rib *rib, struct rib_held *held, uint32_t at)
{
    while (at > 0 && rib->heap[(at - 1) / 2]->route.expires_ns > held->route.expires_ns) {
        put(rib, rib->heap[(at - 1) / 2], at);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < rib->n_queued; child = 2 * at + 1) {
        if (child + 1 < rib->n_queued && rib->heap[child + 1]->route.expires_ns < rib->heap[child]->route.expires_ns)
            child++;
        if (rib->heap[child]->route.expires_ns >= held->route.expires_ns)
            break;
        put(rib, rib->heap[child], at);
        at = child;
    }
    put(rib, held, at);
}

void rib_queue_remove(struct rib *rib, struct rib_held *held)
{
    if (held->queued == RIB_NOT_QUEUED)
        return;
    uint32_t at = held->queued;
    struct rib_held *last = rib->heap[--rib->n_queued];
    held->queued = RIB_NOT_QUEUED;
    if (last != held)
        settle(rib, last, at);
}

void rib_queue_set(struct rib *rib, struct rib_held *held)
{
    if (held->route.expires_ns == 0)
        rib_queue_remove(rib, held);
    else if (held->queued != RIB_NOT_QUEUED)
        settle(rib, held, held->queued);
    else
        settle(rib, held, rib->n_queued++);
}
