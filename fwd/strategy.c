// SPDX-License-Identifier: Apache-2.0
#include "fwd/strategy.h"

/* 10 ms and 250 ms in ticks of 2^20 ns, rounded up. */
const struct strategy strategy_default = {
    .type = &strategy_best_route,
    .suppression = {.initial_ticks = 10, .max_ticks = 239, .multiplier = 2},
    .probing_interval_ms = 60000,
    .max_timeouts = 3,
    .measurements_lifetime_ms = 300000,
};

static uint16_t strategy_ticks(uint32_t ms)
{
    uint32_t ticks = wheel_tick_after_ms(0, ms);
    return (uint16_t)(ticks == 0 ? 1 : ticks > UINT16_MAX ? UINT16_MAX : ticks);
}

struct strategy_suppression strategy_suppression(uint32_t initial_ms, uint32_t max_ms, double multiplier)
{
    return (struct strategy_suppression){.initial_ticks = strategy_ticks(initial_ms),
                                         .max_ticks = strategy_ticks(max_ms),
                                         .multiplier = (float)multiplier};
}

static uint16_t strategy_grow(const struct strategy_suppression *suppression, uint16_t interval)
{
    float grown = (float)interval * suppression->multiplier;
    return grown < suppression->max_ticks ? (uint16_t)grown : suppression->max_ticks;
}

static enum strategy_retx strategy_suppress(struct fwd *fwd, const struct strategy *strategy, uint32_t sent,
                                            uint16_t *interval)
{
    if (*interval == 0)
        *interval = strategy->suppression.initial_ticks;
    if (wheel_tick(fwd->now_ns) - sent < *interval)
        return STRATEGY_SUPPRESS;
    *interval = strategy_grow(&strategy->suppression, *interval);
    return STRATEGY_FORWARD;
}

bool strategy_is_waiting(struct fwd *fwd, struct pit_entry *entry)
{
    uint32_t now = wheel_tick(fwd->now_ns);
    for (struct pit_out *out = entry->n_out == 0 ? NULL : pit_out_next(fwd->pit, entry, NULL); out != NULL;
         out = pit_out_next(fwd->pit, entry, out))
        if (out->nack == 0 && (int32_t)(out->expiry - now) >= 0)
            return true;
    return false;
}

enum strategy_retx strategy_suppress_entry(struct fwd *fwd, const struct strategy *strategy, struct pit_entry *entry)
{
    if (unlikely(entry->flags & PIT_WATCHED)) {
        // The prefix has had another strategy, whose number this is.
        entry->flags &= (uint8_t)~PIT_WATCHED;
        entry->suppress = 0;
    }
    if (!strategy_is_waiting(fwd, entry)) {
        entry->suppress = 0;
        return STRATEGY_NEW;
    }
    return strategy_suppress(fwd, strategy, entry->sent, &entry->suppress);
}

enum strategy_retx strategy_suppress_out(struct fwd *fwd, const struct strategy *strategy, struct pit_out *out)
{
    return strategy_suppress(fwd, strategy, out->sent, &out->suppress);
}

void strategy_wake_at(struct fwd *fwd, struct pit_entry *entry, uint32_t ms)
{
    uint32_t tick = wheel_tick_after_ms(fwd->now_ns, ms);
    // Past the end of the entry there is nothing to wake up for.
    if ((int32_t)(tick - entry->node.expiry) < 0)
        pit_arm(fwd->pit, entry, tick);
}

unsigned strategy_depth(struct fwd *fwd, const struct strategy_choice *choice)
{
    const struct fib_entry *fib = choice->fib;
    if (unlikely(choice->pkt->ndn.interest.n_hints > 0))
        fib = fib_lookup(fwd->shared->fib, &choice->pkt->ndn.name);
    return fib != NULL ? fib->depth : 0;
}
