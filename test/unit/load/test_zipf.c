// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "test/load/random.h"
#include "test/load/zipf.h"

#define N     1000
#define DRAWS 4000000

/* Pearson's test: the sum of (seen - expected)^2 / expected over all numbers, with n - 1 degrees of freedom. */
static double chi_square(double s, uint64_t seed)
{
    static uint64_t seen[N];
    struct zipf zipf;
    cr_assert_eq(zipf_create(&zipf, N, s), 0);
    uint64_t random = random_seed(seed);
    for (unsigned i = 0; i < N; i++)
        seen[i] = 0;
    for (unsigned i = 0; i < DRAWS; i++) {
        uint32_t number = zipf_draw(&zipf, &random);
        cr_assert_lt(number, N);
        seen[number]++;
    }
    zipf_destroy(&zipf);
    double sum = 0, chi = 0;
    for (unsigned i = 0; i < N; i++)
        sum += pow(i + 1.0, -s);
    for (unsigned i = 0; i < N; i++) {
        double expected = DRAWS * pow(i + 1.0, -s) / sum;
        chi += (seen[i] - expected) * (seen[i] - expected) / expected;
    }
    return chi;
}

/* 999 degrees of freedom: mean 999, standard deviation 44.7. Five of these on both sides. */
Test(zipf, numbers_come_as_often_as_they_should)
{
    static const double exponents[] = {0, 0.5, 0.8, 1, 1.2};
    for (unsigned i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        double chi = chi_square(exponents[i], i + 1);
        cr_expect(chi > 999 - 224 && chi < 999 + 224, "s=%g: chi square %g", exponents[i], chi);
    }
}

/* The table itself: what the slots give to each number adds up to its probability, whatever is drawn. */
Test(zipf, table_has_the_exact_probabilities)
{
    static const struct {
        uint32_t n;
        double s;
    } cases[] = {{1, 1}, {2, 1}, {3, 0}, {7, 3}, {1000, 0.99}, {65536, 1.1}};
    for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        uint32_t n = cases[k].n;
        struct zipf zipf;
        cr_assert_eq(zipf_create(&zipf, n, cases[k].s), 0);
        double *share = calloc(n, sizeof *share), sum = 0;
        for (uint32_t i = 0; i < n; i++) {
            double own = zipf.slot[i].threshold / 0x1p32;
            cr_assert_lt(zipf.slot[i].alias, n);
            share[i] += own / n;
            share[zipf.slot[i].alias] += (1 - own) / n;
            sum += pow(i + 1.0, -cases[k].s);
        }
        for (uint32_t i = 0; i < n; i++) {
            double expected = pow(i + 1.0, -cases[k].s) / sum;
            cr_assert_float_eq(share[i], expected, 1e-9 / n + 1e-9 * expected, "n=%u s=%g: number %u", n, cases[k].s,
                               i);
        }
        free(share);
        zipf_destroy(&zipf);
    }
}

Test(zipf, bad_parameters)
{
    struct zipf zipf;
    cr_expect_eq(zipf_create(&zipf, 0, 1), -EINVAL);
    cr_expect_eq(zipf_create(&zipf, 10, -1), -EINVAL);
    cr_expect_eq(zipf_create(&zipf, 10, NAN), -EINVAL);
}
