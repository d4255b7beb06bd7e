// SPDX-License-Identifier: Apache-2.0
#include "test/load/pace.h"

#include <math.h>

#include "test/load/random.h"

void pace_start(struct pace *pace, const struct plan *plan, uint64_t seed, double hz, uint64_t now)
{
    *pace = (struct pace){.open = plan->rate > 0,
                          .poisson = plan->poisson,
                          .window = plan->window,
                          .interval = plan->rate > 0 ? hz / plan->rate : 0,
                          .start = now,
                          .end = plan->seconds > 0 ? now + (uint64_t)(plan->seconds * hz) : UINT64_MAX,
                          .left = plan->count > 0 ? plan->count : UINT64_MAX,
                          .random = random_seed(seed)};
}

/* Time to the next arrival: exponential, by inversion. */
static double gap(struct pace *pace)
{
    if (!pace->poisson)
        return pace->interval;
    double uniform = (double)((random_next(&pace->random) >> 11) + 1) * 0x1p-53; // above 0, at most 1
    return -log(uniform) * pace->interval;
}

/* When the next packet is due, if there is one. */
static uint64_t next_due(const struct pace *pace, uint64_t now)
{
    return pace->open ? pace->start + (uint64_t)pace->next : now;
}

bool pace_ready(const struct pace *pace, uint64_t now, uint32_t outstanding)
{
    uint64_t due = next_due(pace, now);
    return pace->left > 0 && due <= now && due < pace->end && (pace->open || outstanding < pace->window);
}

bool pace_take(struct pace *pace, uint64_t now, uint32_t outstanding, uint64_t *due)
{
    if (!pace_ready(pace, now, outstanding))
        return false;
    *due = next_due(pace, now);
    pace->taken++;
    pace->left--;
    // Multiplied, not summed, so that no error of rounding adds up.
    pace->next = pace->poisson ? pace->next + gap(pace) : (double)pace->taken * pace->interval;
    return true;
}

bool pace_over(const struct pace *pace, uint64_t now)
{
    if (pace->left == 0)
        return true;
    return next_due(pace, now) >= pace->end;
}

void pace_stop(struct pace *pace, uint64_t now)
{
    if (now < pace->end)
        pace->end = now;
}

uint64_t pace_rest(struct pace *pace)
{
    uint64_t n = 0, due;
    if (pace->open) {
        while (pace_take(pace, pace->end, 0, &due))
            n++;
    }
    pace->left = 0;
    return n;
}
