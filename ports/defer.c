// SPDX-License-Identifier: Apache-2.0
#include "ports/defer.h"

#include <rte_rcu_qsbr.h>

#include <stdlib.h>

struct defer_item {
    struct defer_item *next;
    void *memory;
    uint64_t token;
};

void defer_init(struct defer *defer, struct rte_rcu_qsbr *qsbr)
{
    defer->qsbr = qsbr;
    defer->first = NULL;
    defer->last = &defer->first;
}

static void free_first(struct defer *defer)
{
    struct defer_item *item = defer->first;
    defer->first = item->next;
    if (defer->first == NULL) {
        defer->last = &defer->first;
    }
    free(item->memory);
    free(item);
}

void defer_reclaim(struct defer *defer)
{
    while (defer->first != NULL && rte_rcu_qsbr_check(defer->qsbr, defer->first->token, false) == 1) {
        free_first(defer);
    }
}

void defer_free(struct defer *defer, void *memory)
{
    if (memory == NULL) {
        return;
    }
    if (defer->qsbr == NULL) {
        free(memory);
        return;
    }
    defer_reclaim(defer);
    struct defer_item *item = malloc(sizeof *item);
    if (item == NULL) {
        /* Without room to remember it, wait for the workers here: rare, and better than a leak. */
        rte_rcu_qsbr_synchronize(defer->qsbr, RTE_QSBR_THRID_INVALID);
        free(memory);
        return;
    }
    *item = (struct defer_item){.memory = memory, .token = rte_rcu_qsbr_start(defer->qsbr)};
    *defer->last = item;
    defer->last = &item->next;
}

void defer_flush(struct defer *defer)
{
    while (defer->first != NULL) {
        free_first(defer);
    }
}
