// SPDX-License-Identifier: Apache-2.0
/*
 * multicast (NFD v5): an Interest goes to every eligible next hop; a retransmission to those whose own suppression
 * interval is over, and to next hops that come while it is pending. No Nacks, neither for loops nor for missing routes.
 */
#include "fwd/strategy.h"

static void multicast_interest(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    strategy_want_next_hops(fwd, choice->entry);
    if (choice->fib == NULL)
        return;
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        uint32_t id = choice->fib->nexthop[i].face;
        enum drop reason = strategy_eligible(fwd, choice, id, &face);
        if (reason != DROP_NONE) {
            strategy_note(choice, reason);
            continue;
        }
        struct pit_out *out = choice->entry->n_out == 0 ? NULL : pit_out_find(fwd->pit, choice->entry, id);
        if (out != NULL && strategy_suppress_out(fwd, strategy, out) == STRATEGY_SUPPRESS)
            choice->suppressed = true;
        else
            choice->out[choice->n_out++] = face;
    }
}

/* Next hops that were not asked yet. */
static void multicast_new_next_hop(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    (void)strategy;
    for (unsigned i = 0; choice->fib != NULL && i < choice->fib->n_nexthops; i++) {
        const struct face *face;
        uint32_t id = choice->fib->nexthop[i].face;
        if (pit_out_find(fwd->pit, choice->entry, id) == NULL && strategy_eligible(fwd, choice, id, &face) == DROP_NONE)
            choice->out[choice->n_out++] = face;
    }
}

const struct strategy_type strategy_multicast = {
    .name = "multicast",
    .version = 5,
    .suppresses = true,
    .interest = multicast_interest,
    .new_next_hop = multicast_new_next_hop,
};
