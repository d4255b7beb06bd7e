// SPDX-License-Identifier: Apache-2.0
#include "test/load/histogram.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

uint64_t histogram_bucket_end(uint32_t bucket)
{
    if (bucket < 2 * HISTOGRAM_HALF)
        return bucket;
    unsigned shift = bucket / HISTOGRAM_HALF - 1;
    uint64_t within = bucket % HISTOGRAM_HALF + HISTOGRAM_HALF;
    return ((within + 1) << shift) - 1;
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
    if (histogram->n == 0)
        return 0;
    double exact = ceil(percent / 100 * (double)histogram->n);
    uint64_t rank = exact < 1 ? 1 : (uint64_t)exact;
    if (rank > histogram->n)
        rank = histogram->n;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->count[i];
        if (seen >= rank) {
            uint64_t end = histogram_bucket_end(i);
            return end < histogram->max ? end : histogram->max;
        }
    }
    assert(0);
    return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->n > 0 ? histogram->sum / (double)histogram->n : 0;
}

void histogram_correct(const struct histogram *histogram, uint64_t interval, struct histogram *out)
{
    *out = *histogram;
    if (interval == 0)
        return;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t n = histogram->count[i];
        if (n == 0)
            continue;
        // A bucket stands for the middle of it, but nothing is made up beyond the largest value.
        uint64_t end = histogram_bucket_end(i), width = i < 2 * HISTOGRAM_HALF ? 1 : end - histogram_bucket_end(i - 1);
        uint64_t value = end - width / 2;
        if (value > histogram->max)
            value = histogram->max;
        while (value >= 2 * interval) {
            value -= interval;
            histogram_record_n(out, value, n);
        }
    }
}
