// SPDX-License-Identifier: Apache-2.0
/*
 * best-route (NFD v5): a new Interest goes to the eligible next hop of lowest cost; a retransmission, once its
 * suppression interval is over, to an unused one, or else to the one that was used the longest ago.
 */
#include "fwd/strategy.h"

static void choose(struct strategy_choice *choice, const struct face *face)
{
    choice->out[0] = face;
    choice->n_out = 1;
}

/* A retransmission: when it is not suppressed, an unused next hop, or else the one used the longest ago. */
static __rte_noinline void best_route_again(struct fwd *fwd, const struct strategy *strategy,
                                            struct strategy_choice *choice)
{
    enum strategy_retx retx = strategy_suppress_entry(fwd, strategy, choice->entry);
    if (retx == STRATEGY_SUPPRESS) {
        choice->suppressed = true;
        return;
    }
    if (choice->fib == NULL)
        return;
    const struct face *face, *earliest = NULL;
    uint32_t now = wheel_tick(fwd->now_ns), age = 0;
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        uint32_t id = choice->fib->nexthop[i].face;
        enum drop reason = strategy_eligible(fwd, choice, id, &face);
        if (reason != DROP_NONE) {
            strategy_note(choice, reason);
            continue;
        }
        struct pit_out *out = retx == STRATEGY_NEW ? NULL : pit_out_find(fwd->pit, choice->entry, id);
        if (out == NULL || (int32_t)(out->expiry - now) < 0) {
            choose(choice, face);
            return;
        }
        if (earliest == NULL || now - out->sent > age) {
            earliest = face;
            age = now - out->sent;
        }
    }
    if (earliest != NULL)
        choose(choice, earliest);
}

static void best_route_interest(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    if (unlikely(choice->entry->n_out != 0)) {
        best_route_again(fwd, strategy, choice);
        return;
    }
    const struct fib_entry *fib = choice->fib;
    if (fib == NULL)
        return;
    for (unsigned i = 0; i < fib->n_nexthops; i++) {
        const struct face *face;
        enum drop reason = strategy_eligible(fwd, choice, fib->nexthop[i].face, &face);
        if (likely(reason == DROP_NONE)) {
            choose(choice, face);
            return;
        }
        strategy_note(choice, reason);
    }
}

const struct strategy_type strategy_best_route = {
    .name = "best-route",
    .version = 5,
    .suppresses = true,
    .nack_no_route = true,
    .nack_on_loop = true,
    .handles_nack = true,
    .first_eligible = true,
    .interest = best_route_interest,
};
