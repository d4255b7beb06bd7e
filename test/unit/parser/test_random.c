// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <string.h>

#include "parser/random.h"

Test(random, octets_differ_until_they_are_fixed)
{
    uint8_t one[16] = {0}, other[16] = {0};
    cr_assert_eq(random_octets(one, sizeof one), 0);
    cr_assert_eq(random_octets(other, sizeof other), 0);
    cr_expect_neq(memcmp(one, other, sizeof one), 0);
}

Test(random, fixed_octets_are_those_of_splitmix64)
{
    // The first numbers of its reference implementation for this seed, lowest octet first.
    static const uint64_t want[] = {6457827717110365317, 3203168211198807973};
    uint8_t octets[16];
    random_fix(1234567);
    cr_assert_eq(random_octets(octets, sizeof octets), 0);
    for (unsigned i = 0; i < sizeof octets; i++)
        cr_expect_eq(octets[i], (uint8_t)(want[i / 8] >> 8 * (i % 8)));
    random_fix(1234567);
    uint8_t again[16];
    cr_assert_eq(random_octets(again, 3), 0);
    cr_expect_eq(memcmp(again, octets, 3), 0, "a number begun is a number used");
    cr_assert_eq(random_octets(again, 8), 0);
    cr_expect_eq(memcmp(again, octets + 8, 8), 0);
    cr_expect_eq(random_octets(again, 0), 0);
}
