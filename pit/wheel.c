// SPDX-License-Identifier: Apache-2.0
#include "pit/wheel.h"

#include <errno.h>

#include "pit/arena.h"

/*
 * The wheel's own tick lags behind the clock while nothing is due; this bounds by how much (69 s), so that a timer
 * set from the clock stays within reach of the wheel.
 */
#define WHEEL_MAX_LAG (1u << 16)

int wheel_create(struct wheel **wheel, void *base, uint32_t elem_size, uint32_t node_offset, uint64_t now_ns)
{
    struct wheel *w = arena_map(sizeof *w, ARENA_PAGES_SMALL);
    if (w == NULL)
        return -ENOMEM;
    w->nodes = (uint8_t *)base + node_offset;
    w->elem_size = elem_size;
    w->now = w->floor = wheel_tick(now_ns);
    w->due = w->now + WHEEL_MAX_LAG;
    wheel_forget(w);
    *wheel = w;
    return 0;
}

void wheel_destroy(struct wheel *wheel)
{
    arena_unmap(wheel, sizeof *wheel);
}

size_t wheel_memory(void)
{
    return arena_size(sizeof(struct wheel));
}

static unsigned level_octet(uint32_t tick, unsigned level)
{
    return (tick >> (level * 8)) & (WHEEL_SLOTS - 1);
}

static bool slot_used(const struct wheel *wheel, unsigned level, unsigned slot)
{
    return (wheel->used[level][slot / 64] >> (slot % 64) & 1) != 0;
}

/** First used slot of a level at or after @p from, WHEEL_SLOTS when there is none. */
static unsigned slot_find(const struct wheel *wheel, unsigned level, unsigned from)
{
    if (from >= WHEEL_SLOTS)
        return WHEEL_SLOTS;
    uint64_t bits = wheel->used[level][from / 64] & (UINT64_MAX << (from % 64));
    for (unsigned word = from / 64;;) {
        if (bits != 0)
            return word * 64 + (unsigned)__builtin_ctzll(bits);
        if (++word == WHEEL_SLOTS / 64)
            return WHEEL_SLOTS;
        bits = wheel->used[level][word];
    }
}

/**
 * Ticks from wheel->now to the first one with work: timers to fire, or a slot to move down.
 *
 * @return false when no timer is armed
 */
static bool next_work(const struct wheel *wheel, uint32_t *distance)
{
    // A slot above level 0 that holds timers for the present tick is one whose move a bound cut short.
    for (unsigned level = 1; level < WHEEL_LEVELS; level++) {
        if (slot_used(wheel, level, level_octet(wheel->now, level))) {
            *distance = 0;
            return true;
        }
    }
    // All of a level comes before all of the next; slots before the present one are empty but on the top level.
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        unsigned slot = slot_find(wheel, level, level_octet(wheel->now, level));
        if (slot == WHEEL_SLOTS && level == WHEEL_LEVELS - 1)
            slot = slot_find(wheel, level, 0);
        if (slot == WHEEL_SLOTS)
            continue;
        uint32_t above = level == WHEEL_LEVELS - 1 ? 0 : wheel->now & (UINT32_MAX << ((level + 1) * 8));
        *distance = (above | (uint32_t)slot << (level * 8)) - wheel->now;
        return true;
    }
    return false;
}

/** Move the timers of the present tick's slot of a level further down. @return false when @p moves ran out */
static bool move_down(struct wheel *wheel, unsigned level, uint64_t *moves)
{
    unsigned slot = level_octet(wheel->now, level);
    while (slot_used(wheel, level, slot)) {
        if (*moves == 0)
            return false;
        --*moves;
        uint32_t index = wheel->head[level * WHEEL_SLOTS + slot];
        struct wheel_node *node = wheel_node(wheel, index);
        if (node->next != 0)
            __builtin_prefetch(wheel_node(wheel, node->next), 1);
        wheel_unlink(wheel, node);
        wheel_link(wheel, node, index);
    }
    return true;
}

/** Fire the timers of the present tick. @return false when @p max or @p moves ran out */
static bool fire_present(struct wheel *wheel, uint32_t max, uint64_t *moves, uint32_t *n_fired, wheel_fire_t fire,
                         void *ctx)
{
    unsigned slot = level_octet(wheel->now, 0);
    while (slot_used(wheel, 0, slot)) {
        uint32_t index = wheel->head[slot];
        struct wheel_node *node = wheel_node(wheel, index);
        if (node->next != 0)
            __builtin_prefetch(wheel_node(wheel, node->next), 1);
        if (node->expiry != wheel->now) {
            // Put off since it was armed.
            if (*moves == 0)
                return false;
            --*moves;
            wheel_unlink(wheel, node);
            wheel_link(wheel, node, index);
            continue;
        }
        if (*n_fired == max)
            return false;
        ++*n_fired;
        wheel_unlink(wheel, node);
        wheel->n_armed--;
        wheel_forget(wheel);
        fire(ctx, index);
    }
    return true;
}

uint32_t wheel_advance(struct wheel *wheel, uint32_t tick, uint32_t max, wheel_fire_t fire, void *ctx)
{
    uint64_t moves = (uint64_t)max * 4;
    uint32_t n_fired = 0, distance;

    // What the callbacks arm lies after this poll, so that a timer that re-arms itself cannot keep it running.
    wheel->floor = tick + 1;
    for (;;) {
        if (!next_work(wheel, &distance) || distance > tick - wheel->now) {
            wheel->now = tick;
            break;
        }
        wheel->now += distance;
        bool done = true;
        for (unsigned level = WHEEL_LEVELS - 1; level > 0 && done; level--)
            done = move_down(wheel, level, &moves);
        if (!done || !fire_present(wheel, max, &moves, &n_fired, fire, ctx))
            break;
    }
    wheel->floor = wheel->now;
    wheel_forget(wheel);
    wheel->due = wheel->now + WHEEL_MAX_LAG;
    if (next_work(wheel, &distance) && distance < WHEEL_MAX_LAG)
        wheel->due = wheel->now + distance;
    return n_fired;
}

uint64_t wheel_next_ns(const struct wheel *wheel, uint64_t now_ns)
{
    uint32_t distance;
    if (!next_work(wheel, &distance))
        return UINT64_MAX;
    uint32_t passed = wheel_tick(now_ns) - wheel->now;
    if (distance <= passed)
        return 0;
    uint64_t part = now_ns & ((UINT64_C(1) << WHEEL_TICK_SHIFT) - 1);
    return ((uint64_t)(distance - passed) << WHEEL_TICK_SHIFT) - part;
}

/** Check one slot's list. @return timers in it, -1 when something is wrong */
static int64_t check_slot(const struct wheel *wheel, unsigned level, unsigned slot)
{
    uint32_t prev = 0;
    int64_t n = 0;
    for (uint32_t index = wheel->head[level * WHEEL_SLOTS + slot]; index != 0; n++) {
        const struct wheel_node *node = wheel_node(wheel, index);
        if (node->slot != level * WHEEL_SLOTS + slot + 1 || node->prev != prev || n > wheel->n_armed)
            return -1;
        // Its slot is due no later than itself, and neither is past.
        uint32_t above = level == WHEEL_LEVELS - 1 ? 0 : wheel->now & (UINT32_MAX << ((level + 1) * 8));
        uint32_t first = (above | (uint32_t)slot << (level * 8)) - wheel->now;
        if (node->expiry - wheel->now > WHEEL_MAX_TICKS + (WHEEL_MAX_TICKS >> 1) ||
            (slot != level_octet(wheel->now, level) && first > node->expiry - wheel->now))
            return -1;
        prev = index;
        index = node->next;
    }
    return (n != 0) == slot_used(wheel, level, slot) ? n : -1;
}

/** Check 64 slots with their word of the bitmap. @return timers in them, -1 when something is wrong */
static int64_t check_word(const struct wheel *wheel, unsigned level, unsigned word)
{
    uint32_t any = 0;
    for (unsigned i = 0; i < 64; i++)
        any |= wheel->head[level * WHEEL_SLOTS + word * 64 + i];
    if (any == 0 && wheel->used[level][word] == 0)
        return 0;
    int64_t n = 0;
    for (unsigned i = 0; i < 64; i++) {
        int64_t in_slot = check_slot(wheel, level, word * 64 + i);
        if (in_slot < 0)
            return -1;
        n += in_slot;
    }
    return n;
}

int wheel_check(const struct wheel *wheel)
{
    uint64_t n = 0;
    if (wheel->head[WHEEL_LEVELS * WHEEL_SLOTS] != 0)
        return -EINVAL;
    for (unsigned level = 0; level < WHEEL_LEVELS; level++) {
        for (unsigned word = 0; word < WHEEL_SLOTS / 64; word++) {
            int64_t in_word = check_word(wheel, level, word);
            if (in_word < 0)
                return -EINVAL;
            n += (uint64_t)in_word;
        }
    }
    uint32_t distance;
    bool any = next_work(wheel, &distance);
    bool due_in_time = !any || wheel->due - wheel->now <= distance;
    return n == wheel->n_armed && any == (n != 0) && due_in_time ? 0 : -EINVAL;
}
