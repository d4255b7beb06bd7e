// SPDX-License-Identifier: Apache-2.0
/*
 * The timer wheel: polls that find nothing, re-arming among many timers, firing of what is due. The timed elements are
 * as large as PIT entries (192 octets), picked at random, and not prefetched.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pit/arena.h"
#include "pit/wheel.h"
#include "test/bench/bench.h"

#define TICK_NS   (UINT64_C(1) << WHEEL_TICK_SHIFT)
#define N_SLOTS   16384 /* ticks that the only timer of the poll cases lies ahead */
#define CHUNK     1024
#define DRAIN     8
#define ELEM_SIZE 192

struct timers {
    struct wheel *wheel;
    uint8_t *elems;
    uint32_t n;
    uint64_t now_ns, random, n_fired;
    uint32_t index[CHUNK], tick[CHUNK];
};

static void fail(const char *what)
{
    fprintf(stderr, "bench_wheel: %s\n", what);
    exit(1);
}

static void fired(void *ctx, uint32_t index)
{
    struct timers *t = ctx;
    t->n_fired += index != 0;
}

static struct timers *make_timers(uint32_t n)
{
    struct timers *t = calloc(1, sizeof *t);
    if (t == NULL)
        fail("memory");
    t->n = n;
    t->random = 4711;
    t->now_ns = 12345 * TICK_NS;
    t->elems = arena_map(((size_t)n + 1) * ELEM_SIZE, ARENA_PAGES_AUTO);
    if (t->elems == NULL || wheel_create(&t->wheel, t->elems, ELEM_SIZE, 8, t->now_ns) != 0)
        fail("memory");
    return t;
}

/** An expiry between 2 and 8 s from now, as those of Interests. */
static uint32_t random_tick(struct timers *t)
{
    return wheel_tick(t->now_ns) + 2000 + (uint32_t)(bench_random(&t->random) % 6000);
}

static void poll_idle(void *ctx)
{
    struct timers *t = ctx;
    for (unsigned i = 0; i < N_SLOTS; i++) {
        uint64_t now_ns = t->now_ns + i;
        bench_use(now_ns);
        if (wheel_poll(t->wheel, now_ns, UINT32_MAX, fired, t) != 0)
            fail("fired early");
    }
}

static void arm_one(void *ctx)
{
    struct timers *t = ctx;
    t->n_fired = 0;
    wheel_arm(t->wheel, 1, wheel_tick(t->now_ns) + N_SLOTS);
}

/** A poll in each of 16,384 ticks; the last fires the only timer. */
static void poll_ticks(void *ctx)
{
    struct timers *t = ctx;
    for (unsigned i = 0; i < N_SLOTS; i++) {
        t->now_ns += TICK_NS;
        wheel_poll(t->wheel, t->now_ns, UINT32_MAX, fired, t);
    }
    if (t->n_fired != 1)
        fail("did not fire");
}

static void choose(void *ctx)
{
    struct timers *t = ctx;
    for (unsigned i = 0; i < CHUNK; i++) {
        t->index[i] = 1 + (uint32_t)(bench_random(&t->random) % t->n);
        t->tick[i] = random_tick(t);
    }
}

static void rearm(void *ctx)
{
    struct timers *t = ctx;
    for (unsigned i = 0; i < CHUNK; i++)
        wheel_arm(t->wheel, t->index[i], t->tick[i]);
}

static void cancel_and_arm(void *ctx)
{
    struct timers *t = ctx;
    for (unsigned i = 0; i < CHUNK; i++) {
        wheel_cancel(t->wheel, t->index[i]);
        wheel_arm(t->wheel, t->index[i], t->tick[i]);
    }
}

static void arm_for_drain(void *ctx)
{
    struct timers *t = ctx;
    t->n_fired = 0;
    for (uint32_t i = 0; i < CHUNK; i++)
        wheel_arm(t->wheel, 1 + i, wheel_tick(t->now_ns) + 1 + i / DRAIN);
}

static void drain(void *ctx)
{
    struct timers *t = ctx;
    for (unsigned i = 0; i < CHUNK / DRAIN; i++) {
        t->now_ns += TICK_NS;
        wheel_poll(t->wheel, t->now_ns, UINT32_MAX, fired, t);
    }
    if (t->n_fired != CHUNK)
        fail("drain");
}

int main(int argc, char **argv)
{
    bench_init("wheel", &argc, argv);
    if (argc > 1)
        fail("unknown option");
    struct timers *one = make_timers(1);
    bench_add(&(struct bench_case){"poll, nothing due, 1 of 16384 slots used", N_SLOTS, arm_one, poll_idle, one});
    bench_add(&(struct bench_case){"poll in each of 16384 ticks, 1 timer", N_SLOTS, arm_one, poll_ticks, one});
    bench_add(&(struct bench_case){"drain of 8", CHUNK / DRAIN, arm_for_drain, drain, make_timers(CHUNK)});

    static const struct {
        const char *rearm, *again;
        uint32_t n;
    } sizes[] = {
        {"re-arm at 1k", "cancel and arm at 1k", 1000},
        {"re-arm at 100k", "cancel and arm at 100k", 100000},
        {"re-arm at 1M", "cancel and arm at 1M", 1000000},
    };
    for (unsigned i = 0; i < (bench_quick() ? 2 : 3); i++) {
        struct timers *t = make_timers(sizes[i].n);
        for (uint32_t index = 1; index <= t->n; index++)
            wheel_arm(t->wheel, index, random_tick(t));
        bench_group();
        bench_add(&(struct bench_case){sizes[i].rearm, CHUNK, choose, rearm, t});
        bench_add(&(struct bench_case){sizes[i].again, CHUNK, choose, cancel_and_arm, t});
    }
    return bench_run();
}
