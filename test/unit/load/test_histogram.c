// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/load/histogram.h"
#include "test/load/random.h"

static struct histogram histogram, other;

Test(histogram, each_value_is_in_its_bucket_and_buckets_do_not_overlap)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t first = i == 0 ? 0 : end + 1;
        end = histogram_bucket_end(i);
        cr_assert_geq(end, first, "bucket %u", i);
        cr_assert_eq(histogram_bucket(first), i, "first of bucket %u", i);
        cr_assert_eq(histogram_bucket(end), i, "last of bucket %u", i);
        cr_assert_leq((end - first) * 128, first, "bucket %u is wider than one part in 128", i);
    }
    cr_assert_eq(end, HISTOGRAM_MAX);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#define SAMPLES 100000

/* Values of every order of magnitude, as latencies have. */
Test(histogram, percentiles_are_those_of_the_sorted_samples)
{
    static uint64_t samples[SAMPLES];
    uint64_t random = random_seed(7);
    double sum = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        samples[i] = random_next(&random) >> (24 + random_next(&random) % 36);
        sum += (double)samples[i];
        histogram_record(&histogram, samples[i]);
    }
    qsort(samples, SAMPLES, sizeof samples[0], by_size);
    static const double percents[] = {0, 0.001, 1, 10, 50, 75, 90, 99, 99.9, 99.99, 99.999, 100};
    for (unsigned i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        double rank = ceil(percents[i] / 100 * SAMPLES);
        uint64_t exact = samples[rank < 1 ? 0 : (size_t)rank - 1];
        uint64_t got = histogram_percentile(&histogram, percents[i]);
        cr_expect_geq(got, exact, "p%g", percents[i]);
        cr_expect_leq(got - exact, exact / 128, "p%g: %lu for %lu", percents[i], got, exact);
    }
    cr_expect_eq(histogram.n, SAMPLES);
    cr_expect_eq(histogram.min, samples[0]);
    cr_expect_eq(histogram.max, samples[SAMPLES - 1]);
    cr_expect_eq(histogram_percentile(&histogram, 100), samples[SAMPLES - 1]);
    cr_expect_float_eq(histogram_mean(&histogram), sum / SAMPLES, sum / SAMPLES * 1e-9);
}

Test(histogram, small_values_are_exact)
{
    for (uint64_t i = 1; i <= 200; i++)
        histogram_record_n(&histogram, i, 5);
    cr_expect_eq(histogram_percentile(&histogram, 50), 100);
    cr_expect_eq(histogram_percentile(&histogram, 99), 198);
    cr_expect_eq(histogram_percentile(&histogram, 100), 200);
    cr_expect_eq(histogram.n, 1000);
}

Test(histogram, empty_and_beyond_the_largest)
{
    cr_expect_eq(histogram_percentile(&histogram, 99), 0);
    cr_expect_eq(histogram_mean(&histogram), 0);
    histogram_record(&histogram, UINT64_MAX);
    cr_expect_eq(histogram_percentile(&histogram, 50), HISTOGRAM_MAX);
    histogram_clear(&histogram);
    cr_expect_eq(histogram.n, 0);
    cr_expect_eq(histogram_percentile(&histogram, 50), 0);
}

/*
 * A service that takes 1 tick but stands still for 1000 once. A sender that waits for each answer, one each 10 ticks,
 * sees one long wait in a hundred: p99 says 1 tick. In truth 100 requests would have been due meanwhile.
 */
Test(histogram, a_stall_that_kept_requests_from_being_sent_is_added_back)
{
    histogram_record_n(&histogram, 1, 9900);
    histogram_record(&histogram, 1000);
    cr_expect_eq(histogram_percentile(&histogram, 99), 1);
    histogram_correct(&histogram, 10, &other);
    cr_expect_eq(other.n, 9901 + 99, "%lu", other.n); // 990, 980, ... 10
    cr_expect_eq(other.max, 1000);
    cr_expect_eq(other.min, 1);
    // Of 10000, 100 waited: 10, 20, ... 1000. The 95th of them is p99.95.
    uint64_t got = histogram_percentile(&other, 99.95);
    cr_expect(got >= 945 && got <= 958, "%lu", got);
    cr_expect_eq(histogram_percentile(&other, 98.9), 1);
    // The sum of all that: 9900 + 10 + 20 + ... + 1000.
    cr_expect_float_eq(other.sum, 9900 + 50500, 500);
}

Test(histogram, nothing_is_added_below_the_interval)
{
    for (uint64_t i = 0; i < 20; i++)
        histogram_record(&histogram, i);
    histogram_correct(&histogram, 10, &other);
    cr_expect_eq(other.n, 20);
    histogram_record(&histogram, 20);
    histogram_correct(&histogram, 10, &other);
    cr_expect_eq(other.n, 22);
    cr_expect_eq(other.count[10], 2);
    histogram_correct(&histogram, 0, &other);
    cr_expect_eq(other.n, 21);
}
