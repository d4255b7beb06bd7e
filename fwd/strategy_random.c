// SPDX-License-Identifier: Apache-2.0
/*
 * random (NFD v1): every Interest, a retransmission too, goes to one of the eligible next hops, each as likely as the
 * others.
 */
#include "fwd/strategy.h"

static void random_interest(struct fwd *fwd, const struct strategy *strategy, struct strategy_choice *choice)
{
    (void)strategy;
    const struct face *face;
    unsigned n = 0;
    if (choice->fib == NULL)
        return;
    for (unsigned i = 0; i < choice->fib->n_nexthops; i++) {
        enum drop reason = strategy_eligible(fwd, choice, choice->fib->nexthop[i].face, &face);
        if (reason == DROP_NONE)
            choice->out[n++] = face;
        else
            strategy_note(choice, reason);
    }
    if (n == 0)
        return;
    choice->out[0] = choice->out[(pkt_random(fwd) >> 32) * n >> 32];
    choice->n_out = 1;
}

const struct strategy_type strategy_random = {
    .name = "random",
    .version = 1,
    .nack_no_route = true,
    .nack_on_loop = true,
    .handles_nack = true,
    .interest = random_interest,
};
