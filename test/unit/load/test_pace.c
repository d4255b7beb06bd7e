// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <math.h>

#include "test/load/histogram.h"
#include "test/load/pace.h"

#define HZ 1e9

static struct pace pace;

Test(pace, constant_arrivals_do_not_drift)
{
    struct plan plan = {.rate = 3e6, .seconds = 10};
    pace_start(&pace, &plan, 1, HZ, 5000);
    uint64_t due, n = 0, last = 0;
    while (pace_take(&pace, UINT64_MAX, 0, &due)) {
        cr_assert_float_eq((double)due - 5000, (double)n * 1000 / 3, 1.01, "packet %lu", n);
        n++;
        last = due;
    }
    cr_expect_eq(n, 30000000);
    cr_expect_lt(last, 5000 + 10 * (uint64_t)HZ);
    cr_expect(pace_over(&pace, 5000));
}

Test(pace, nothing_is_due_before_its_time)
{
    struct plan plan = {.rate = 1e6, .count = 3};
    uint64_t due;
    pace_start(&pace, &plan, 1, HZ, 100);
    cr_expect(pace_take(&pace, 100, 0, &due));
    cr_expect_not(pace_ready(&pace, 1099, 0));
    cr_expect_not(pace_take(&pace, 1099, 0, &due));
    cr_expect(pace_take(&pace, 5000, 0, &due));
    cr_expect_eq(due, 1100);
    cr_expect_not(pace_over(&pace, 5000));
    cr_expect(pace_take(&pace, 5000, 0, &due));
    cr_expect_eq(due, 2100);
    cr_expect(pace_over(&pace, 5000));
    cr_expect_not(pace_take(&pace, 9000, 0, &due));
}

Test(pace, random_arrivals_are_poisson)
{
    struct plan plan = {.rate = 1e6, .poisson = true, .count = 1000000};
    pace_start(&pace, &plan, 42, HZ, 0);
    uint64_t due, before = 0, n = 0, in_slot = 0, slot = 0;
    double sum = 0, squares = 0, counts = 0, count_squares = 0;
    uint64_t long_gaps = 0;
    while (pace_take(&pace, UINT64_MAX, 0, &due)) {
        double gap = (double)(due - before);
        if (n > 0) {
            sum += gap;
            squares += gap * gap;
            long_gaps += gap > 3000;
        }
        // How many fall into each 10 us: mean and variance are both 10.
        for (; due / 10000 > slot; slot++) {
            counts += (double)in_slot;
            count_squares += (double)(in_slot * in_slot);
            in_slot = 0;
        }
        in_slot++;
        before = due;
        n++;
    }
    double mean = sum / (double)(n - 1), variance = squares / (double)(n - 1) - mean * mean;
    cr_expect_float_eq(mean, 1000, 5);
    cr_expect_float_eq(sqrt(variance), 1000, 10);
    cr_expect_float_eq((double)long_gaps / (double)n, exp(-3), 0.002);
    double slot_mean = counts / (double)slot, slot_variance = count_squares / (double)slot - slot_mean * slot_mean;
    cr_expect_float_eq(slot_mean, 10, 0.1);
    cr_expect_float_eq(slot_variance, 10, 0.3);
}

Test(pace, runs_repeat_with_their_seed)
{
    struct plan plan = {.rate = 1e6, .poisson = true, .count = 100};
    struct pace same, other;
    uint64_t a, b, c, differ = 0;
    pace_start(&pace, &plan, 1, HZ, 0);
    pace_start(&same, &plan, 1, HZ, 0);
    pace_start(&other, &plan, 2, HZ, 0);
    for (unsigned i = 0; i < 100; i++) {
        cr_assert(pace_take(&pace, UINT64_MAX, 0, &a) && pace_take(&same, UINT64_MAX, 0, &b) &&
                  pace_take(&other, UINT64_MAX, 0, &c));
        cr_assert_eq(a, b);
        differ += a != c;
    }
    cr_expect_gt(differ, 90);
}

Test(pace, closed_loop_keeps_the_window_full)
{
    struct plan plan = {.window = 4, .seconds = 1};
    uint64_t due;
    pace_start(&pace, &plan, 1, HZ, 0);
    for (uint32_t out = 0; out < 4; out++) {
        cr_expect(pace_take(&pace, 77, out, &due));
        cr_expect_eq(due, 77);
    }
    cr_expect_not(pace_take(&pace, 78, 4, &due));
    cr_expect(pace_take(&pace, 79, 3, &due));
    cr_expect_not(pace_over(&pace, 999999999));
    cr_expect_not(pace_take(&pace, 1000000000, 0, &due));
    cr_expect(pace_over(&pace, 1000000000));
    cr_expect_eq(pace_rest(&pace), 0);
}

Test(pace, what_is_stopped_is_over_and_what_was_due_is_known)
{
    struct plan plan = {.rate = 1e6, .seconds = 1};
    uint64_t due;
    pace_start(&pace, &plan, 1, HZ, 0);
    cr_expect(pace_take(&pace, 0, 0, &due));
    pace_stop(&pace, 10500);
    cr_expect_not(pace_over(&pace, 20000));
    cr_expect_eq(pace_rest(&pace), 10);
    cr_expect(pace_over(&pace, 20000));
}

/*
 * A service of one at a time, 100 ns each, which stands still for 1 ms. Offered 1 packet in 1 us, the packets that
 * became due meanwhile wait, and the open loop says so although none of them was sent before it went on.
 */
Test(pace, a_stall_is_seen_by_all_that_were_due_in_it)
{
    static struct histogram from_due, from_sent;
    struct plan plan = {.rate = 1e6, .count = 10000};
    pace_start(&pace, &plan, 1, HZ, 0);
    uint64_t now = 0, due;
    for (uint64_t n = 0; n < 10000;) {
        if (!pace_take(&pace, now, 0, &due)) {
            now += 10;
            continue;
        }
        uint64_t sent = now;
        now += ++n == 5000 ? 1000000 : 100;
        histogram_record(&from_due, now - due);
        histogram_record(&from_sent, now - sent);
    }
    cr_expect_leq(histogram_percentile(&from_sent, 99.9), 110, "the long one is one in 10000");
    // 1000 became due in the stall and 111 more until it was made up for: one in nine packets was late.
    cr_expect_leq(histogram_percentile(&from_due, 88), 120);
    cr_expect_gt(histogram_percentile(&from_due, 90), 50000);
    cr_expect_gt(histogram_percentile(&from_due, 99), 850000);
    cr_expect_gt(from_due.max, 990000);
}
