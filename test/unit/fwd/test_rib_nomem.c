// SPDX-License-Identifier: Apache-2.0
/* Memory runs out once, at every place in turn: what fails is undone, and what was not asked for comes later. */
#include "fwd/mgmt/rib.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "test/unit/fwd/announcement.h"
#include "test/unit/fwd/rib_fixture.h"

#define S UINT64_C(1000000000)

/** Allocations until one fails; negative: none does. */
static long left = -1;
static bool no_random;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
ssize_t __real_getrandom(void *p, size_t size, unsigned flags);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
ssize_t __wrap_getrandom(void *p, size_t size, unsigned flags);

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
    return fails() ? NULL : __real_reallocarray(p, n, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

ssize_t __wrap_getrandom(void *p, size_t size, unsigned flags)
{
    return no_random ? -1 : __real_getrandom(p, size, flags);
}

static struct rib_bed bed;
static unsigned n_refused;

static void attempt(const char *uri, uint32_t face, uint64_t cost, uint8_t flags, uint64_t expires_ns)
{
    struct mgmt_octets name = rib_name(uri);
    struct rib_route route = {.face = face, .cost = cost, .flags = flags, .expires_ns = expires_ns};
    uint32_t before = rib_count(bed.rib);
    int rc = rib_register(bed.rib, name, &route);
    if (rc == 0)
        return;
    cr_assert(rc == -ENOMEM || rc == -ENOSPC, "%d", rc);
    cr_assert_eq(rib_count(bed.rib), before);
    n_refused++;
    cr_assert_eq(rib_register(bed.rib, name, &route), 0, "memory is back");
}

/** Names and next hops so long that the FIB has memory of its own for each. */
#define LONG "/long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long-long"

static void scenario(void)
{
    uint8_t data[4096];
    struct rib_announcement announcement;
    struct announcement_form form = {
        .name = LONG "/n/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 1000000};
    attempt(LONG "/a/b", 300, 1, RIB_CHILD_INHERIT, 0);
    attempt(LONG "/a", 301, 1, RIB_CHILD_INHERIT, 500 * S);
    attempt(LONG "/a/b/c", 302, 1, 0, 0);
    attempt(LONG, 303, 1, RIB_CHILD_INHERIT, 0);
    attempt(LONG "/a", 304, 1, 0, 0);
    attempt(LONG "/a", 305, 2, 0, 0);
    attempt(LONG "/a", 303, 2, RIB_CHILD_INHERIT, 0);
    attempt(LONG "/a", 303, 4, RIB_CHILD_INHERIT, 0);
    cr_assert_eq(rib_unregister(bed.rib, rib_name(LONG "/a"), 304, 0), 0);
    size_t len = announcement_write(data, &form);
    cr_assert_eq(rib_announcement_decode(data, len, 306, 1, 0, &announcement), 0);
    int rc = rib_announce(bed.rib, &announcement, data, len, 1, UINT64_MAX);
    if (rc != 0) {
        cr_assert(rc == -ENOMEM || rc == -ENOSPC, "%d", rc);
        n_refused++;
        cr_assert_eq(rib_announce(bed.rib, &announcement, data, len, 1, UINT64_MAX), 0);
    }
}

Test(rib_nomem, nothing_is_lost_but_time)
{
    bool was_hit;
    unsigned n_places = 0;
    do {
        bed = rib_bed_make(64);
        left = (long)n_places;
        scenario();
        was_hit = left < 0;
        left = -1;
        n_places += was_hit;
        rib_poll(bed.rib, 1);
        rib_poll(bed.rib, 1 + S);
        expect_hops(&bed, LONG, "303:1");
        expect_hops(&bed, LONG "/a", "301:1 305:2 303:4");
        expect_hops(&bed, LONG "/a/b", "300:1 301:1 303:4");
        expect_hops(&bed, LONG "/a/b/c", "300:1 301:1 302:1 303:4");
        expect_hops(&bed, LONG "/n", "303:1 306:2048");
        cr_expect_eq(rib_poll(bed.rib, 2 * S), 498 * S, "nothing is left to be tried again");
        for (uint32_t face = 300; face < 310; face++)
            rib_face_remove(bed.rib, face);
        cr_expect_eq(rib_count(bed.rib), 0);
        cr_expect_eq(fib_count(bed.fib), 0);
        rib_bed_free(&bed);
    } while (was_hit && n_places < 1000);
    cr_expect_gt(n_places, 30);
    cr_expect_gt(n_refused, 10);
    cr_expect_lt(n_refused, n_places, "some are made good for later");
}

Test(rib_nomem, rib_is_not_made_without_memory_or_chance)
{
    struct rib *rib = NULL;
    left = 0;
    cr_expect_eq(rib_create(&rib, NULL), -ENOMEM);
    no_random = true;
    cr_expect_eq(rib_create(&rib, NULL), -EIO);
    cr_expect_null(rib);
    rib_destroy(NULL);
}

Test(rib_nomem, place_that_stays_taken_is_asked_for_ever_less_often)
{
    bed = rib_bed_make(64);
    struct mgmt_octets a = rib_name("/a");
    for (unsigned i = 0; i < 15; i++)
        cr_assert_eq(fib_nexthop_set(bed.fib, a.p, a.len, 400 + i, 1), 0);
    cr_assert_eq(rib_set(&bed, "/a", 256, 0, 1, 0), 0);
    cr_assert_eq(rib_set(&bed, "/a", 257, 0, 2, 0), 0);
    uint64_t now_ns = 5 * S, delay = 1;
    cr_expect_eq(rib_poll(bed.rib, now_ns), delay * S);
    for (unsigned i = 0; i < 14; i++) {
        now_ns += delay * S;
        delay = delay * 2 < 3600 ? delay * 2 : 3600;
        cr_expect_eq(rib_poll(bed.rib, now_ns), delay * S, "%u", i);
    }
    cr_assert_eq(fib_nexthop_unset(bed.fib, rib_name("/a").p, a.len, 400), 0);
    now_ns += delay * S;
    cr_expect_eq(rib_poll(bed.rib, now_ns), UINT64_MAX);
    cr_expect_neq(strstr(rib_hops(&bed, "/a"), "257:2"), NULL);
    rib_bed_free(&bed);
}
