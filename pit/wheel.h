// SPDX-License-Identifier: Apache-2.0
#ifndef PIT_WHEEL_H
#define PIT_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Hierarchical timer wheel: 4 levels of 256 slots with occupancy bitmaps. A tick is 2^20 ns (1.05 ms); ticks are 32 bit
 * and wrap, and a timer may lie up to 2^31 - 1 ticks (26 days) ahead. Timers are intrusive and named by index, so that
 * entries of any size-aligned pool can be timed: no allocation, no division, no scan of empty slots. One owner thread.
 *
 * A timer stands on the level of the highest octet in which its tick differs from the wheel's, in the slot of that
 * octet's value. When the wheel reaches the first tick of a slot above level 0, the slot's timers move down.
 */
#define WHEEL_TICK_SHIFT 20
#define WHEEL_MAX_TICKS  0x7fffffffu
#define WHEEL_LEVELS     4
#define WHEEL_SLOTS      256

/** Part of each timed element. All zero: not armed. */
struct wheel_node {
    uint32_t next;   /**< index of the next element in the slot, 0: none */
    uint32_t prev;   /**< index of the previous element, 0: first */
    uint32_t expiry; /**< tick at which it fires; of an armed one never before wheel->now */
    uint16_t slot;   /**< slot number + 1; 0: not armed */
    uint16_t owner;  /**< two octets that belong to the element's owner; the wheel leaves them alone */
};
_Static_assert(sizeof(struct wheel_node) == 16, "a quarter of a cache line");

/** Open for the inline functions below; callers leave the fields alone. */
struct wheel {
    uint32_t due;   /**< no timer fires, and no slot has to move, before this tick */
    uint32_t now;   /**< ticks before this one are done with */
    uint32_t floor; /**< first tick that a timer can be armed for: now, or what follows the poll that is running */
    uint32_t n_armed;
    uint8_t *nodes; /**< address of the node of element 0 */
    uint32_t elem_size;
    uint32_t last_tick, last_expiry, last_slot;    /**< what wheel_start() last came to; see wheel_forget() */
    uint64_t used[WHEEL_LEVELS][WHEEL_SLOTS / 64]; /**< bit: the slot has timers */
    uint32_t head[WHEEL_LEVELS * WHEEL_SLOTS + 1]; /**< first element of each slot; the last is none and stays 0 */
};

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
/** Octets mapped for the wheel itself. */
size_t wheel_memory(void);

static inline struct wheel_node *wheel_node(const struct wheel *wheel, uint32_t index)
{
    return (struct wheel_node *)(void *)(wheel->nodes + (size_t)index * wheel->elem_size);
}

/**
 * Ticks from the earliest allowed one to @p tick; 0 when it is past. Whatever is further ahead than a timer may be,
 * with room for a poll that comes late by as much again, counts as past.
 */
static inline uint32_t wheel_ahead(const struct wheel *wheel, uint32_t tick)
{
    uint32_t ahead = tick - wheel->floor;
    return ahead <= WHEEL_MAX_TICKS + (WHEEL_MAX_TICKS >> 1) ? ahead : 0;
}

/** Put an unlinked node into the slot of its expiry. Part of wheel_arm(). */
static inline void wheel_link(struct wheel *wheel, struct wheel_node *node, uint32_t index)
{
    uint32_t tick = node->expiry;
    uint32_t differ = tick ^ wheel->now;
    unsigned level = (31u - (unsigned)__builtin_clz(differ | 1)) >> 3;
    uint32_t first = tick & (UINT32_MAX << (level * 8));
    unsigned slot = level * WHEEL_SLOTS + ((tick >> (level * 8)) & (WHEEL_SLOTS - 1));
    uint32_t next = wheel->head[slot];

    node->next = next;
    node->prev = 0;
    node->slot = (uint16_t)(slot + 1);
    if (next != 0)
        wheel_node(wheel, next)->prev = index;
    else
        wheel->used[level][(slot & (WHEEL_SLOTS - 1)) / 64] |= UINT64_C(1) << (slot % 64);
    wheel->head[slot] = index;
    if (first - wheel->now < wheel->due - wheel->now)
        wheel->due = first;
}

/** Take an armed node out of its slot. Part of wheel_arm() and wheel_cancel(). */
static inline void wheel_unlink(struct wheel *wheel, struct wheel_node *node)
{
    unsigned slot = node->slot - 1u;
    if (node->next != 0)
        wheel_node(wheel, node->next)->prev = node->prev;
    if (node->prev != 0) {
        wheel_node(wheel, node->prev)->next = node->next;
    } else {
        wheel->head[slot] = node->next;
        if (node->next == 0)
            wheel->used[slot / WHEEL_SLOTS][(slot & (WHEEL_SLOTS - 1)) / 64] &= ~(UINT64_C(1) << (slot % 64));
    }
    node->slot = 0;
}

/** A tick's slot is no longer where it was: now or floor changes. */
static inline void wheel_forget(struct wheel *wheel)
{
    wheel->last_slot = WHEEL_LEVELS * WHEEL_SLOTS;
}

/**
 * Arm element @p index, whose @p node is known not to be armed, for @p tick. O(1). Timers of one millisecond mostly
 * have few different lifetimes: the slot of the last one, when that has timers, serves the next of the same tick.
 */
static inline void wheel_start(struct wheel *wheel, struct wheel_node *node, uint32_t index, uint32_t tick)
{
    uint32_t slot = wheel->last_slot, next = wheel->head[slot];
    wheel->n_armed++;
    if (__builtin_expect(tick == wheel->last_tick && next != 0, 1)) {
        node->next = next;
        node->prev = 0;
        node->expiry = wheel->last_expiry;
        node->slot = (uint16_t)(slot + 1);
        wheel_node(wheel, next)->prev = index;
        wheel->head[slot] = index;
        return;
    }
    node->expiry = wheel->floor + wheel_ahead(wheel, tick);
    wheel_link(wheel, node, index);
    wheel->last_tick = tick;
    wheel->last_expiry = node->expiry;
    wheel->last_slot = node->slot - 1u;
}

/**
 * Arm element @p index for @p tick (a past tick fires at the next poll); re-arms when it is armed. O(1). A timer
 * that is put off stays in its slot and moves when the slot is due, so that this touches the node alone.
 */
static inline void wheel_arm(struct wheel *wheel, uint32_t index, uint32_t tick)
{
    struct wheel_node *node = wheel_node(wheel, index);
    uint32_t ahead = wheel_ahead(wheel, tick);
    if (node->slot != 0) {
        if (ahead >= wheel_ahead(wheel, node->expiry)) {
            node->expiry = wheel->floor + ahead;
            return;
        }
        wheel_unlink(wheel, node);
    } else {
        wheel->n_armed++;
    }
    node->expiry = wheel->floor + ahead;
    wheel_link(wheel, node, index);
}

/** Disarm the element of @p node; no effect when it is not armed. O(1). */
static inline void wheel_stop(struct wheel *wheel, struct wheel_node *node)
{
    if (node->slot == 0)
        return;
    wheel_unlink(wheel, node);
    wheel->n_armed--;
}

/** The same by index. */
static inline void wheel_cancel(struct wheel *wheel, uint32_t index)
{
    wheel_stop(wheel, wheel_node(wheel, index));
}

/** True while element @p index is armed. */
static inline bool wheel_armed(const struct wheel *wheel, uint32_t index)
{
    return wheel_node(wheel, index)->slot != 0;
}

/** Elements armed now. */
static inline uint32_t wheel_count(const struct wheel *wheel)
{
    return wheel->n_armed;
}

/**
 * Called for each fired timer, already disarmed; may arm, cancel or free any element of the wheel. What it arms
 * for a tick that is past fires at a later poll.
 */
typedef void (*wheel_fire_t)(void *ctx, uint32_t index);

/** wheel_poll() when something may be due. */
uint32_t wheel_advance(struct wheel *wheel, uint32_t tick, uint32_t max, wheel_fire_t fire, void *ctx);

/**
 * Advance to @p now_ns and fire what is due, at most @p max timers; the rest fires at the next poll. Timers that
 * move down a level are bounded too, by four times @p max. When nothing is due this costs a compare.
 *
 * @return timers fired
 */
static inline uint32_t wheel_poll(struct wheel *wheel, uint64_t now_ns, uint32_t max, wheel_fire_t fire, void *ctx)
{
    uint32_t tick = wheel_tick(now_ns);
    if ((int32_t)(tick - wheel->due) < 0)
        return 0;
    return wheel_advance(wheel, tick, max, fire, ctx);
}

/** Nanoseconds until the next timer may fire (a lower bound), UINT64_MAX when none is armed. For idle sleep. */
uint64_t wheel_next_ns(const struct wheel *wheel, uint64_t now_ns);

/** Check every invariant of the armed timers. Tests and fuzzers. @return 0 or -EINVAL */
int wheel_check(const struct wheel *wheel);

#endif
