// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "pit/dnl.h"
#include "test/unit/pit/names.h"
#include "test/unit/pit/no_memory.h"

#define MS UINT64_C(1000000)

static struct dnl *make(uint32_t capacity)
{
    struct dnl *dnl;
    cr_assert_eq(dnl_create(&dnl, capacity, ARENA_PAGES_SMALL), 0);
    return dnl;
}

Test(dnl, new_list_has_nothing)
{
    struct dnl *dnl = make(100);
    dnl_prefetch(dnl, 1, 2);
    cr_assert(!dnl_has(dnl, 1, 2, 0));
    cr_assert(!dnl_has(dnl, 0, 0, 0));
    dnl_destroy(dnl);
    dnl_destroy(NULL);
}

Test(dnl, lack_of_memory_is_an_error)
{
    struct dnl *dnl = NULL;
    cr_assert_eq(refuse_to_populate(1 << 20, ENOMEM), 0);
    cr_assert_eq(dnl_create(&dnl, 1 << 20, ARENA_PAGES_AUTO), -ENOMEM);
    cr_assert_eq(refuse_to_populate(0, ENOMEM), 0);
    cr_assert_eq(dnl_create(&dnl, 1, ARENA_PAGES_AUTO), -ENOMEM);
    cr_assert_null(dnl);
}

Test(dnl, remembers_name_and_nonce_together)
{
    struct dnl *dnl = make(100);
    dnl_add(dnl, 0x1234, 77, 5 * MS);
    dnl_prefetch(dnl, 0x1234, 77);
    cr_assert(dnl_has(dnl, 0x1234, 77, 5 * MS));
    cr_assert(!dnl_has(dnl, 0x1234, 78, 5 * MS));
    cr_assert(!dnl_has(dnl, 0x1235, 77, 5 * MS));
    cr_assert(!dnl_has(dnl, 0, 0, 5 * MS));
    dnl_destroy(dnl);
}

Test(dnl, remembers_for_its_lifetime_and_hardly_longer)
{
    struct dnl *dnl = make(100);
    for (uint64_t start = 0; start < 3 * MS; start += 123457) {
        uint32_t nonce = (uint32_t)start;
        dnl_add(dnl, 42, nonce, start);
        cr_assert(dnl_has(dnl, 42, nonce, start + DNL_LIFETIME_MS * MS));
        cr_assert(!dnl_has(dnl, 42, nonce, start + (DNL_LIFETIME_MS + 3) * MS));
    }
    // The list as a whole is still young here, so that the time of the entry itself is looked at.
    dnl_add(dnl, 1, 1, 10000 * MS);
    dnl_add(dnl, 2, 2, 16000 * MS);
    cr_assert(!dnl_has(dnl, 1, 1, 16003 * MS));
    cr_assert(dnl_has(dnl, 2, 2, 16003 * MS));
    dnl_destroy(dnl);
}

Test(dnl, adding_again_renews)
{
    struct dnl *dnl = make(100);
    dnl_add(dnl, 9, 9, 0);
    dnl_add(dnl, 9, 9, 5000 * MS);
    cr_assert(dnl_has(dnl, 9, 9, 11000 * MS));
    cr_assert_eq(dnl_overruns(dnl), 0);
    dnl_destroy(dnl);
}

Test(dnl, full_bucket_forgets_its_oldest)
{
    struct dnl *dnl = make(1); // one bucket of eight
    for (uint32_t i = 0; i < 8; i++)
        dnl_add(dnl, i, 5, (10 + 10 * i) * MS);
    cr_assert_eq(dnl_overruns(dnl), 0);
    dnl_add(dnl, 0, 5, 100 * MS); // renewed: no longer the oldest
    dnl_add(dnl, 100, 5, 110 * MS);
    cr_assert_eq(dnl_overruns(dnl), 1);
    cr_assert(!dnl_has(dnl, 1, 5, 120 * MS));
    cr_assert(dnl_has(dnl, 0, 5, 120 * MS));
    cr_assert(dnl_has(dnl, 100, 5, 120 * MS));
    for (uint32_t i = 2; i < 8; i++)
        cr_assert(dnl_has(dnl, i, 5, 120 * MS));
    // What is over its time may go without being missed.
    dnl_add(dnl, 200, 5, 20000 * MS);
    cr_assert_eq(dnl_overruns(dnl), 1);
    dnl_destroy(dnl);
}

Test(dnl, one_name_with_many_nonces_spreads)
{
    struct dnl *dnl = make(8192);
    for (uint32_t nonce = 0; nonce < 2048; nonce++)
        dnl_add(dnl, 0xfeedface, nonce * 65536, 0);
    cr_assert_lt(dnl_overruns(dnl), 2);
    unsigned n = 0;
    for (uint32_t nonce = 0; nonce < 2048; nonce++)
        n += dnl_has(dnl, 0xfeedface, nonce * 65536, 0);
    cr_assert_geq(n, 2047);
    dnl_destroy(dnl);
}

/** Random adds and lookups: what was added in time is there, unless overruns say otherwise. */
Test(dnl, agrees_with_a_plain_array)
{
    enum { N = 400 };
    struct {
        uint64_t added_ns;
        bool added;
    } model[N] = {{0, false}};
    struct test_random random = {3};
    struct dnl *dnl = make(8 * N);
    uint64_t now = 0;
    unsigned n_lost = 0, n_found = 0;
    for (unsigned step = 0; step < 100000; step++) {
        uint32_t i = test_random(&random, N);
        uint64_t name_hash = i * UINT64_C(0x9E3779B97F4A7C15);
        now += test_random(&random, 400) * MS / 10;
        if (test_random(&random, 8) == 0) {
            dnl_add(dnl, name_hash, i, now);
            model[i].added = true;
            model[i].added_ns = now;
        }
        bool has = dnl_has(dnl, name_hash, i, now);
        if (model[i].added && now - model[i].added_ns <= DNL_LIFETIME_MS * MS)
            n_lost += !has;
        else if (!model[i].added || now - model[i].added_ns > (DNL_LIFETIME_MS + 3) * MS)
            cr_assert(!has);
        n_found += has;
    }
    cr_assert_leq(n_lost, dnl_overruns(dnl) * 50);
    cr_assert_gt(n_found, 1000);
    dnl_destroy(dnl);
}
