// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_WHEEL_H
#define PIT_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Hierarchical timer wheel: 4 levels of 256 slots with occupancy bitmaps. A tick is 2^20 ns (1.05 ms); ticks are 32 bit and wrap, and a
 * timer may lie up to 2^31 - 1 ticks (26 days) ahead. Timers are intrusive and named by index, so that entries of
 * any size-aligned pool can be timed: no allocation, no division, no scan of empty slots. One owner thread.
 */
#define WHEEL_TICK_SHIFT 20
#define WHEEL_MAX_TICKS  0x7fffffffu

/** Part of each timed element. All zero: not armed. */
struct wheel_node {
    uint32_t next;   /**< index of the next element in the slot, 0: none */
    uint32_t prev;   /**< index of the previous element, 0: first */
    uint32_t expiry; /**< tick at which it fires */
    uint16_t slot;   /**< slot number + 1; 0: not armed */
    uint16_t owner;  /**< two octets that belong to the element's owner; the wheel leaves them alone */
};
_Static_assert(sizeof(struct wheel_node) == 16, "a quarter of a cache line");

struct wheel;

/** Tick of a time in nanoseconds, rounded down. */
static inline uint32_t wheel_tick(uint64_t now_ns)
{
    return (uint32_t)(now_ns >> WHEEL_TICK_SHIFT);
}

/** First tick that is not before @p now_ns + @p ms: a timer never fires early. */
static inline uint32_t wheel_tick_after_ms(uint64_t now_ns, uint32_t ms)
{
    return (uint32_t)((now_ns + (uint64_t)ms * 1000000 + (1u << WHEEL_TICK_SHIFT) - 1) >> WHEEL_TICK_SHIFT);
}

/**
 * @param base        address of element 0 of the pool whose elements are timed
 * @param elem_size   octets from one element to the next
 * @param node_offset of the struct wheel_node in an element
 * @return 0, or -ENOMEM
 */
int wheel_create(struct wheel **wheel, void *base, uint32_t elem_size, uint32_t node_offset, uint64_t now_ns);
void wheel_destroy(struct wheel *wheel);

/** Arm element @p index for @p tick (a past tick fires at the next poll); re-arms when it is armed. O(1). */
void wheel_arm(struct wheel *wheel, uint32_t index, uint32_t tick);
/** Disarm; no effect on an element that is not armed. O(1). */
void wheel_cancel(struct wheel *wheel, uint32_t index);
/** True while element @p index is armed. */
bool wheel_armed(const struct wheel *wheel, uint32_t index);
/** Elements armed now. */
uint32_t wheel_count(const struct wheel *wheel);

/** Called for each fired timer, already disarmed; may arm, cancel or free any element of the wheel. */
typedef void (*wheel_fire_t)(void *ctx, uint32_t index);

/**
 * Advance to @p now_ns and fire what is due, at most @p max timers; the rest fires at the next poll. When nothing is due this costs a
 * compare (the inline part must be that cheap).
 *
 * @return timers fired
 */
static inline uint32_t wheel_poll(struct wheel *wheel, uint64_t now_ns, uint32_t max, wheel_fire_t fire, void *ctx);

/** Nanoseconds until the next timer may fire (a lower bound), UINT64_MAX when none is armed. For idle sleep. */
uint64_t wheel_next_ns(const struct wheel *wheel, uint64_t now_ns);

#endif
