// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_HISTOGRAM_H
#define TEST_LOAD_HISTOGRAM_H

#include <stdint.h>

/*
 * How often each duration was seen, in buckets of fixed memory that grow with the value: below 2^HISTOGRAM_BITS each
 * value has a bucket of its own, above it each power of two is cut into 2^(HISTOGRAM_BITS - 1) equal ones, so that a
 * value is known within one part in 128. The unit is the caller's. One owner thread.
 */
#define HISTOGRAM_BITS    8
#define HISTOGRAM_HALF    (1u << (HISTOGRAM_BITS - 1))
#define HISTOGRAM_MAX     ((UINT64_C(1) << 44) - 1) /**< larger values are counted as this one */
#define HISTOGRAM_BUCKETS ((44 - HISTOGRAM_BITS + 2) * HISTOGRAM_HALF)

struct histogram {
    uint64_t n;        /**< values */
    uint64_t min, max; /**< exact; of none: 0 */
    double sum;
    uint64_t count[HISTOGRAM_BUCKETS];
};

void histogram_clear(struct histogram *histogram);

/** Bucket of a value, at most HISTOGRAM_MAX. */
static inline uint32_t histogram_bucket(uint64_t value)
{
    if (value < HISTOGRAM_HALF)
        return (uint32_t)value;
    unsigned shift = (unsigned)(63 - __builtin_clzll(value)) - (HISTOGRAM_BITS - 1);
    return shift * HISTOGRAM_HALF + (uint32_t)(value >> shift);
}

/** Largest value of a bucket. */
uint64_t histogram_bucket_end(uint32_t bucket);

/** Count @p n values. */
static inline void histogram_record_n(struct histogram *histogram, uint64_t value, uint64_t n)
{
    if (value > HISTOGRAM_MAX)
        value = HISTOGRAM_MAX;
    if (value > histogram->max)
        histogram->max = value;
    if (value < histogram->min || histogram->n == 0)
        histogram->min = value;
    histogram->n += n;
    histogram->sum += (double)value * (double)n;
    histogram->count[histogram_bucket(value)] += n;
}

static inline void histogram_record(struct histogram *histogram, uint64_t value)
{
    histogram_record_n(histogram, value, 1);
}

/**
 * The value that @p percent of all values do not exceed, of those seen the largest that may be it: the end of its
 * bucket, but never above the maximum. 0 when there are none.
 */
uint64_t histogram_percentile(const struct histogram *histogram, double percent);

double histogram_mean(const struct histogram *histogram);

/**
 * What a sender would have seen that begins every @p interval, whatever became of the request before (coordinated
 * omission): for each value above the interval, those of the requests that it kept from being sent are added to
 * @p out, value - interval, value - 2 * interval and so on, as long as they are not below the interval. 0: a plain
 * copy.
 */
void histogram_correct(const struct histogram *histogram, uint64_t interval, struct histogram *out);

#endif
