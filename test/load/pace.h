// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_PACE_H
#define TEST_LOAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* One stretch of sending. */
struct plan {
    double rate; /**< packets a second, open loop; 0: closed loop */
    bool poisson;
    uint32_t window;
    double seconds; /**< 0: until count or a stop */
    uint64_t count; /**< 0: until the time is over or a stop */
};

/*
 * When the packets of a stretch are due. In the open loop that is fixed beforehand, and a packet that could not be sent
 * in time still counts from then; in the closed loop one is due whenever fewer than the window are outstanding. Time is
 * a parameter, in ticks of @p hz a second.
 */
struct pace {
    bool open, poisson;
    uint32_t window;
    double interval; /* ticks between packets */
    double next;     /* of the next packet, ticks since start */
    uint64_t start, end, left;
    uint64_t random;
    uint64_t taken;
};

void pace_start(struct pace *pace, const struct plan *plan, uint64_t seed, double hz, uint64_t now);

/** Take the next packet that is due. @return false when there is none by now */
bool pace_take(struct pace *pace, uint64_t now, uint32_t outstanding, uint64_t *due);

/** Whether pace_take() would find one. */
bool pace_ready(const struct pace *pace, uint64_t now, uint32_t outstanding);

/** Nothing will be due from now on. */
bool pace_over(const struct pace *pace, uint64_t now);

/** Nothing more is due after @p now. */
void pace_stop(struct pace *pace, uint64_t now);

/** Take all that was due but not sent. @return how many */
uint64_t pace_rest(struct pace *pace);

#endif
