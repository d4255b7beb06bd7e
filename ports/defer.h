// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_DEFER_H
#define PORTS_DEFER_H

#include <stdint.h>

struct rte_rcu_qsbr;

/** Memory that was unpublished and waits until no worker can hold a pointer to it. Owned by the control thread. */
struct defer {
    struct rte_rcu_qsbr *qsbr; /**< NULL: there are no readers, memory is freed at once */
    struct defer_item *first, **last;
};

void defer_init(struct defer *defer, struct rte_rcu_qsbr *qsbr);
/** free(@p memory) after a grace period, at a later call for this list; NULL is ignored. Never waits. */
void defer_free(struct defer *defer, void *memory);
/** Free what is due without waiting. */
void defer_reclaim(struct defer *defer);
/** Free everything. Only when no worker reads any more. */
void defer_flush(struct defer *defer);

#endif
