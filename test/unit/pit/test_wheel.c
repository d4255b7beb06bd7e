// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>

#include "pit/wheel.h"
#include "test/unit/pit/names.h"

#define TICK  (UINT64_C(1) << WHEEL_TICK_SHIFT)
#define N_MAX 2000

/** A timed element, its node not at the start. */
struct elem {
    uint64_t before;
    struct wheel_node node;
    uint32_t want; /**< tick at which the model lets it fire first */
    bool armed;
};

static struct elem elem[N_MAX + 1];
static struct wheel *wheel;
static uint64_t now_ns;
static unsigned n_fired;
static struct test_random rng;

static void setup(uint32_t start_tick)
{
    memset(elem, 0, sizeof elem);
    now_ns = (uint64_t)start_tick << WHEEL_TICK_SHIFT;
    n_fired = 0;
    cr_assert_eq(wheel_create(&wheel, elem, sizeof elem[0], offsetof(struct elem, node), now_ns), 0);
}

static void arm(uint32_t index, uint32_t tick)
{
    elem[index].armed = true;
    elem[index].want = tick;
    wheel_arm(wheel, index, tick);
}

static void fire(void *ctx, uint32_t index)
{
    cr_assert_eq(ctx, &wheel);
    cr_assert(elem[index].armed, "fired, but not armed");
    cr_assert(!wheel_armed(wheel, index));
    cr_assert_leq((int32_t)(elem[index].want - wheel_tick(now_ns)), 0, "fired early");
    elem[index].armed = false;
    n_fired++;
}

static unsigned poll_all(void)
{
    return wheel_poll(wheel, now_ns, UINT32_MAX, fire, &wheel);
}

Test(wheel, tick_never_comes_before_its_time)
{
    cr_assert_eq(wheel_tick(TICK - 1), 0);
    cr_assert_eq(wheel_tick(TICK), 1);
    cr_assert_eq(wheel_tick_after_ms(0, 0), 0);
    cr_assert_eq(wheel_tick_after_ms(1, 0), 1);
    cr_assert_eq(wheel_tick_after_ms(0, 1), 1);
    for (uint64_t now = 0; now < 5 * TICK; now += 99991) {
        uint64_t due = (uint64_t)wheel_tick_after_ms(now, 4000) << WHEEL_TICK_SHIFT;
        cr_assert_geq(due, now + UINT64_C(4000000000));
        cr_assert_lt(due, now + UINT64_C(4000000000) + TICK);
    }
}

Test(wheel, fires_at_its_tick_and_once)
{
    static const uint32_t starts[] = {0, 200, 0xfffffff0u, 0x00ffff00u, 0x7ffffff0u};
    static const uint32_t delays[] = {1, 2, 55, 56, 255, 256, 257, 4095, 65535, 65536, 65537, 70000, 300000};
    for (unsigned s = 0; s < sizeof starts / sizeof *starts; s++) {
        for (unsigned d = 0; d < sizeof delays / sizeof *delays; d++) {
            setup(starts[s]);
            elem[1].node.owner = 0xbeef;
            arm(1, starts[s] + delays[d]);
            cr_assert(wheel_armed(wheel, 1));
            cr_assert_eq(wheel_count(wheel), 1);
            for (uint32_t t = 1; t < delays[d]; t++) {
                now_ns += TICK;
                cr_assert_eq(poll_all(), 0);
            }
            now_ns += TICK - 1;
            cr_assert_eq(poll_all(), 0, "fired before its tick began");
            cr_assert_eq(wheel_check(wheel), 0);
            now_ns += 1;
            cr_assert_eq(poll_all(), 1);
            cr_assert_eq(wheel_count(wheel), 0);
            now_ns += 100000 * TICK;
            cr_assert_eq(poll_all(), 0);
            cr_assert_eq(elem[1].node.owner, 0xbeef);
            cr_assert_eq(wheel_check(wheel), 0);
            wheel_destroy(wheel);
        }
    }
}

Test(wheel, farthest_timer_fires_in_26_days)
{
    setup(0x80000123u);
    arm(1, 0x80000123u + WHEEL_MAX_TICKS);
    arm(2, 0x80000123u + WHEEL_MAX_TICKS - 1);
    now_ns += TICK * (WHEEL_MAX_TICKS - 2);
    cr_assert_eq(poll_all(), 0);
    now_ns += TICK;
    cr_assert_eq(poll_all(), 1);
    now_ns += TICK;
    cr_assert_eq(poll_all(), 1);
    wheel_destroy(wheel);
}

/** While nothing is due the wheel's own tick lags behind; the farthest timer must still not look past. */
Test(wheel, farthest_timer_may_be_armed_long_after_the_last_poll)
{
    setup(5);
    now_ns += UINT64_C(3600) * 1000000000 * 24;
    uint32_t tick = wheel_tick(now_ns) + WHEEL_MAX_TICKS;
    arm(1, tick);
    cr_assert_eq(poll_all(), 0);
    now_ns += TICK * (WHEEL_MAX_TICKS - 1);
    cr_assert_eq(poll_all(), 0);
    now_ns += TICK;
    cr_assert_eq(poll_all(), 1);
    wheel_destroy(wheel);
}

Test(wheel, past_tick_fires_at_the_next_poll)
{
    setup(1000);
    arm(1, 999);
    arm(2, 1000);
    arm(3, 1000 - 100000);
    cr_assert_eq(wheel_next_ns(wheel, now_ns), 0);
    cr_assert_eq(poll_all(), 3);
    wheel_destroy(wheel);
}

Test(wheel, cancelled_timer_does_not_fire)
{
    setup(77);
    for (uint32_t i = 1; i <= 5; i++)
        arm(i, 100);
    wheel_cancel(wheel, 3); // from the middle, the head and the tail of a slot
    wheel_cancel(wheel, 5);
    wheel_cancel(wheel, 1);
    wheel_cancel(wheel, 1);
    cr_assert_eq(wheel_count(wheel), 2);
    cr_assert(!wheel_armed(wheel, 3));
    cr_assert_eq(wheel_check(wheel), 0);
    now_ns += 100 * TICK;
    cr_assert_eq(poll_all(), 2);
    cr_assert(elem[1].armed && elem[3].armed && elem[5].armed);
    wheel_destroy(wheel);
}

Test(wheel, rearming_moves_the_timer_both_ways)
{
    setup(0);
    arm(1, 1000);
    arm(1, 5000); // put off: stays in its slot until that is due
    now_ns = 1000 * TICK;
    cr_assert_eq(poll_all(), 0);
    now_ns = 4999 * TICK;
    cr_assert_eq(poll_all(), 0);
    arm(2, 9000);
    arm(2, 5001); // brought forward
    now_ns = 5000 * TICK;
    cr_assert_eq(poll_all(), 1);
    now_ns = 5001 * TICK;
    cr_assert_eq(poll_all(), 1);
    arm(1, 5003);
    arm(1, 5004);
    arm(1, 5003 + 300);
    now_ns = 5302 * TICK;
    cr_assert_eq(poll_all(), 0);
    now_ns = 5303 * TICK;
    cr_assert_eq(poll_all(), 1);
    wheel_destroy(wheel);
}

Test(wheel, poll_fires_no_more_than_it_was_allowed)
{
    setup(10);
    for (uint32_t i = 1; i <= 100; i++)
        arm(i, 1010 + i % 3);
    now_ns += 5000 * TICK;
    unsigned n = 0, polls = 0;
    while (n < 100) {
        unsigned fired = wheel_poll(wheel, now_ns, 7, fire, &wheel);
        cr_assert_leq(fired, 7);
        cr_assert_eq(wheel_next_ns(wheel, now_ns), n + fired == 100 ? UINT64_MAX : 0);
        cr_assert_eq(wheel_check(wheel), 0);
        n += fired;
        cr_assert_leq(++polls, 100 / 7 + 8, "moving down takes few polls");
    }
    cr_assert_eq(wheel_poll(wheel, now_ns, 0, fire, &wheel), 0);
    wheel_destroy(wheel);
}

/** A slot with many timers above level 0 moves down in bounded pieces, and nothing is lost or early meanwhile. */
Test(wheel, moving_down_is_bounded)
{
    setup(1);
    for (uint32_t i = 1; i <= N_MAX; i++)
        arm(i, 70000 + i % 500);
    now_ns = (uint64_t)69900 << WHEEL_TICK_SHIFT;
    unsigned polls = 0;
    for (; n_fired < N_MAX && polls < 5000; polls++) {
        wheel_poll(wheel, now_ns, 4, fire, &wheel);
        cr_assert_eq(wheel_check(wheel), 0);
        if (polls > 2000)
            now_ns += TICK;
        if (polls == 3)
            arm(1, wheel_tick(now_ns) - 1);
    }
    cr_assert_eq(n_fired, N_MAX);
    wheel_destroy(wheel);
}

static void rearm_self(void *ctx, uint32_t index)
{
    fire(ctx, index);
    elem[index].armed = true;
    elem[index].want = wheel_tick(now_ns);
    wheel_arm(wheel, index, elem[index].want - 3);
}

Test(wheel, timer_that_rearms_itself_for_the_past_does_not_hold_the_poll)
{
    setup(50);
    arm(1, 51);
    for (unsigned i = 1; i <= 20; i++) {
        now_ns += 7 * TICK;
        cr_assert_eq(wheel_poll(wheel, now_ns, UINT32_MAX, rearm_self, &wheel), 1);
        cr_assert_eq(wheel_check(wheel), 0);
    }
    wheel_destroy(wheel);
}

static void cancel_others(void *ctx, uint32_t index)
{
    fire(ctx, index);
    for (uint32_t i = 1; i <= 10; i++) {
        if (i != index) {
            wheel_cancel(wheel, i);
            elem[i].armed = false;
        }
    }
}

Test(wheel, callback_may_cancel_timers_that_are_due_as_well)
{
    setup(50);
    for (uint32_t i = 1; i <= 10; i++)
        arm(i, 60);
    now_ns += 20 * TICK;
    cr_assert_eq(wheel_poll(wheel, now_ns, UINT32_MAX, cancel_others, &wheel), 1);
    cr_assert_eq(wheel_count(wheel), 0);
    cr_assert_eq(wheel_check(wheel), 0);
    wheel_destroy(wheel);
}

Test(wheel, next_is_a_lower_bound_that_leads_there)
{
    static const uint32_t delays[] = {1, 5, 300, 70000, 20000000};
    for (unsigned d = 0; d < sizeof delays / sizeof *delays; d++) {
        setup(0xfffffff0u);
        now_ns += 12345;
        cr_assert_eq(wheel_next_ns(wheel, now_ns), UINT64_MAX);
        arm(1, 0xfffffff0u + delays[d]);
        uint64_t due_ns = (now_ns & ~(TICK - 1)) + delays[d] * TICK;
        unsigned wakes = 0;
        while (n_fired == 0) {
            uint64_t wait = wheel_next_ns(wheel, now_ns);
            cr_assert_leq(now_ns + wait, due_ns);
            cr_assert_leq(++wakes, 5, "one wake for each level is enough");
            now_ns += wait;
            poll_all();
        }
        cr_assert_eq(now_ns, due_ns);
        wheel_destroy(wheel);
    }
}

Test(wheel, clock_that_steps_back_fires_nothing)
{
    setup(1000);
    arm(1, 1010);
    now_ns -= 500 * TICK;
    cr_assert_eq(poll_all(), 0);
    now_ns += 505 * TICK;
    cr_assert_eq(poll_all(), 0);
    now_ns += 5 * TICK;
    cr_assert_eq(poll_all(), 1);
    wheel_destroy(wheel);
}

static void random_fire(void *ctx, uint32_t index)
{
    fire(ctx, index);
    uint32_t other = 1 + test_random(&rng, N_MAX);
    switch (test_random(&rng, 8)) {
    case 0: {
        uint32_t now = wheel_tick(now_ns), tick = now + test_random(&rng, 3000) - 5;
        wheel_arm(wheel, other, tick);
        elem[other].armed = true;
        elem[other].want = (int32_t)(tick - now) <= 0 ? now + 1 : tick;
        break;
    }
    case 1:
        wheel_cancel(wheel, other);
        elem[other].armed = false;
        break;
    }
}

static uint32_t random_delay(void)
{
    switch (test_random(&rng, 8)) {
    case 0:
        return test_random(&rng, WHEEL_MAX_TICKS);
    case 1:
        return test_random(&rng, 100000);
    default:
        return test_random(&rng, 600);
    }
}

/** Every step against the model: nothing early, nothing late, nothing twice, nothing lost. */
static void run_model(uint64_t seed, uint32_t start_tick, unsigned n_steps)
{
    setup(start_tick);
    rng.state = seed;
    for (unsigned step = 0; step < n_steps; step++) {
        uint32_t index = 1 + test_random(&rng, N_MAX), op = test_random(&rng, 8);
        if (op < 4) {
            arm(index, wheel_tick(now_ns) + random_delay() - test_random(&rng, 3));
        } else if (op == 4) {
            wheel_cancel(wheel, index);
            elem[index].armed = false;
        } else if (op == 5) {
            wheel_poll(wheel, now_ns, test_random(&rng, 9), random_fire, &wheel);
        } else {
            uint32_t far = test_random(&rng, 1000);
            now_ns += far == 0   ? TICK * test_random(&rng, 20000000)
                      : far < 20 ? TICK * test_random(&rng, 70000)
                                 : test_random(&rng, 8 * TICK);
            uint32_t wait_bound = wheel_next_ns(wheel, now_ns) == 0;
            unsigned n = wheel_poll(wheel, now_ns, UINT32_MAX, random_fire, &wheel);
            cr_assert(n == 0 || wait_bound);
            unsigned n_armed = 0;
            for (uint32_t i = 1; i <= N_MAX && step % 16 == 0; i++) {
                cr_assert_eq(elem[i].armed, wheel_armed(wheel, i));
                n_armed += elem[i].armed;
                if (elem[i].armed)
                    cr_assert_gt((int32_t)(elem[i].want - wheel_tick(now_ns)), 0, "late");
            }
            if (step % 16 == 0)
                cr_assert_eq(wheel_count(wheel), n_armed);
        }
        if (step % 64 == 0)
            cr_assert_eq(wheel_check(wheel), 0);
    }
    cr_assert_gt(n_fired, n_steps / 10);
    wheel_destroy(wheel);
}

Test(wheel, model)
{
    run_model(1, 12345, 200000);
}

Test(wheel, model_over_the_wrap_of_ticks)
{
    for (uint32_t i = 0; i < 20; i++)
        run_model(100 + i, 0u - 3000 * i - 10, 10000);
}

Test(wheel, check_finds_damage)
{
    setup(1);
    arm(1, 10);
    arm(2, 10);
    arm(3, 1000);
    cr_assert_eq(wheel_check(wheel), 0);
    elem[1].node.prev = 3;
    cr_assert_eq(wheel_check(wheel), -EINVAL);
    elem[1].node.prev = 2;
    elem[3].node.expiry = 5;
    cr_assert_eq(wheel_check(wheel), -EINVAL);
    elem[3].node.expiry = 1000;
    wheel->n_armed++;
    cr_assert_eq(wheel_check(wheel), -EINVAL);
    wheel->n_armed--;
    wheel->used[3][0] = 1;
    cr_assert_eq(wheel_check(wheel), -EINVAL);
    wheel->used[3][0] = 0;
    wheel->due = 100;
    cr_assert_eq(wheel_check(wheel), -EINVAL);
    wheel->due = 1;
    cr_assert_eq(wheel_check(wheel), 0);
    wheel_destroy(wheel);
}
