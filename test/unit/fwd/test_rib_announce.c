// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>

#include "fwd/mgmt/rib.h"
#include "test/unit/fwd/announcement.h"
#include "test/unit/fwd/rib_fixture.h"

#define MS UINT64_C(1000000)
/** 2026-01-01 00:00:00 */
#define WALL_MS UINT64_C(1767225600000)

static struct rib_bed bed;
static uint8_t data[4096], more[256];

static void setup(void)
{
    bed = rib_bed_make(1024);
}

static void teardown(void)
{
    rib_bed_free(&bed);
}

TestSuite(rib_announce, .init = setup, .fini = teardown);

static int decode(const struct announcement_form *form, struct rib_announcement *got)
{
    size_t len = announcement_write(data, form);
    // Of exactly its size, so that a sanitizer sees reads beyond it.
    uint8_t *exact = malloc(len);
    memcpy(exact, data, len);
    int rc = rib_announcement_decode(exact, len, 256, 1000 * MS, WALL_MS, got);
    if (rc == 0)
        got->name.p = data + (got->name.p - exact);
    free(exact);
    return rc;
}

Test(rib_announce, route_is_what_the_announcement_says)
{
    struct rib_announcement got;
    struct announcement_form form = {.name = "/net/a/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    cr_assert_eq(decode(&form, &got), 0);
    struct mgmt_octets want = rib_name("/net/a");
    cr_expect_eq(got.name.len, want.len);
    cr_expect_eq(memcmp(got.name.p, want.p, want.len), 0);
    cr_expect_eq(got.route.face, 256);
    cr_expect_eq(got.route.origin, RIB_ORIGIN_PREFIXANN);
    cr_expect_eq(got.route.cost, 2048);
    cr_expect_eq(got.route.flags, RIB_CHILD_INHERIT);
    cr_expect_eq(got.route.expires_ns, 6000 * MS);
}

Test(rib_announce, root_may_be_announced)
{
    struct rib_announcement got;
    struct announcement_form form = {.name = "/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 1};
    cr_assert_eq(decode(&form, &got), 0);
    cr_expect_eq(got.name.len, 0);
}

Test(rib_announce, validity_period_cuts_the_life)
{
    static const struct {
        const char *from, *to;
        int rc;
        uint64_t left_ms;
    } cases[] = {
        {"20251231T235959", "20260101T000003", 0, 3000},     {"20251231T235959", "20270101T000000", 0, 5000},
        {"20260101T000001", "20270101T000000", 0, 0},        {"20250101T000000", "20251231T235959", 0, 0},
        {"19600101T000000", "20270101T000000", 0, 5000},     {"20260101T000000", "20261301T000000", -EBADMSG, 0},
        {"20260101T000000", "2026-101T000000", -EBADMSG, 0}, {"20260101 000000", "20270101T000000", -EBADMSG, 0},
        {"20260101T00000", "20270101T000000", -EBADMSG, 0},  {"20260101T250000", "20270101T000000", -EBADMSG, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rib_announcement got;
        struct announcement_form form = {
            .name = "/a/32=PA/54=%01/50=%00",
            .content_type = 5,
            .expiration_ms = 5000,
            .more = more,
            .more_len = announcement_validity(more, cases[i].from, cases[i].to),
        };
        cr_assert_eq(decode(&form, &got), cases[i].rc, "%zu", i);
        if (cases[i].rc == 0)
            cr_expect_eq(got.route.expires_ns, (1000 + cases[i].left_ms) * MS, "%zu", i);
    }
}

Test(rib_announce, rubbish_is_no_announcement)
{
    static const uint8_t critical[] = {0x1d, 1, 0}, ignored[] = {0xfd, 0x03, 0x20, 0}, cut[] = {0xfd, 0x03};
    const struct announcement_form bad[] = {
        {.name = "/a/8=PA/54=%01/50=%00", .content_type = 5},
        {.name = "/a/32=PB/54=%01/50=%00", .content_type = 5},
        {.name = "/a/32=PA/50=%01/50=%00", .content_type = 5},
        {.name = "/a/32=PA/54=%01/54=%00", .content_type = 5},
        {.name = "/a/32=PA/54=abc/50=%00", .content_type = 5},
        {.name = "/32=PA/54=%01", .content_type = 5},
        {.name = "/54=%01/50=%00", .content_type = 5},
        {.name = "/a/32=PA/54=%01/50=%00", .content_type = 0},
        {.name = "/a/32=PA/54=%01/50=%00", .content_type = -1},
        {.name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .no_expiration = true},
        {.name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .more = critical, .more_len = sizeof critical},
        {.name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .more = cut, .more_len = sizeof cut},
    };
    struct rib_announcement got;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(decode(&bad[i], &got), -EBADMSG, "%zu", i);
    struct announcement_form fine = {
        .name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .more = ignored, .more_len = sizeof ignored};
    cr_expect_eq(decode(&fine, &got), 0, "what is not critical is ignored");
    cr_expect_eq(rib_announcement_decode(data, 0, 256, 0, 0, &got), -EBADMSG);
    size_t len = announcement_write(data, &fine);
    for (size_t i = 0; i < len; i++) {
        uint8_t *part = malloc(i > 0 ? i : 1);
        memcpy(part, data, i);
        cr_expect_eq(rib_announcement_decode(part, i, 256, 0, 0, &got), -EBADMSG, "%zu octets of it", i);
        free(part);
    }
    data[0] = 5;
    cr_expect_eq(rib_announcement_decode(data, len, 256, 0, 0, &got), -EBADMSG, "an Interest");
}

Test(rib_announce, endless_period_does_not_overflow)
{
    struct rib_announcement got;
    struct announcement_form form = {.name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = UINT64_MAX};
    cr_assert_eq(decode(&form, &got), 0);
    cr_expect_gt(got.route.expires_ns, UINT64_MAX / 2);
}

Test(rib_announce, announced_route_lives_as_long_as_it_is_renewed)
{
    struct rib_announcement got;
    struct announcement_form form = {.name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    cr_assert_eq(decode(&form, &got), 0);
    size_t len = announcement_write(data, &form);
    cr_assert_eq(rib_announce(bed.rib, &got, data, len, 1000 * MS, 2000 * MS), 0);
    expect_hops(&bed, "/a/b", "256:2048");
    cr_expect_eq(rib_poll(bed.rib, 1000 * MS), 2000 * MS);
    cr_expect_eq(rib_announcement_renew(bed.rib, rib_name("/a/b/c"), 257, 2000 * MS, 2000 * MS), -ENOENT);
    cr_expect_eq(rib_announcement_renew(bed.rib, rib_name("/b"), 256, 2000 * MS, 2000 * MS), -ENOENT);
    cr_expect_eq(rib_announcement_renew(bed.rib, rib_name("/a/b/c"), 256, 2000 * MS, 2000 * MS), 0);
    cr_expect_eq(rib_poll(bed.rib, 2000 * MS), 2000 * MS);
    cr_expect_eq(rib_announcement_renew(bed.rib, rib_name("/a/b/c"), 256, 3500 * MS, 60000 * MS), 0);
    cr_expect_eq(rib_poll(bed.rib, 3500 * MS), 2500 * MS, "no longer than it was announced for");
    cr_expect_eq(rib_announcement_renew(bed.rib, rib_name("/a"), 256, 6000 * MS, 2000 * MS), -ETIME);
    expect_hops(&bed, "/a/b", "none");
    cr_expect_eq(rib_announce(bed.rib, &got, data, len, 6000 * MS, UINT64_MAX), -ETIME, "expired when it came");
    cr_expect_eq(rib_count(bed.rib), 0);
}

Test(rib_announce, route_that_was_registered_is_not_renewed)
{
    rib_set(&bed, "/a", 256, RIB_ORIGIN_PREFIXANN, 1, RIB_CHILD_INHERIT);
    cr_expect_eq(rib_announcement_renew(bed.rib, rib_name("/a"), 256, 1, 1), -ENOENT);
}

Test(rib_announce, announcement_is_found_again_for_names_below)
{
    uint8_t found[4096];
    struct rib_announcement got;
    struct announcement_form form = {.name = "/a/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    cr_assert_eq(decode(&form, &got), 0);
    size_t len = announcement_write(data, &form);
    cr_assert_eq(rib_announce(bed.rib, &got, data, len, 1000 * MS, UINT64_MAX), 0);
    rib_set(&bed, "/a", 257, RIB_ORIGIN_APP, 1, 0);
    cr_expect_eq(rib_announcement_find(bed.rib, rib_name("/a/x"), 1000 * MS, WALL_MS, found, sizeof found), len);
    cr_expect_eq(memcmp(found, data, len), 0);
    cr_expect_eq(rib_announcement_find(bed.rib, rib_name("/a/x"), 1000 * MS, WALL_MS, found, len - 1), 0);
    cr_expect_eq(rib_announcement_find(bed.rib, rib_name("/b"), 1000 * MS, WALL_MS, found, sizeof found), 0);
}

Test(rib_announce, announcement_is_made_for_routes_that_were_registered)
{
    uint8_t found[4096];
    struct rib_announcement got;
    struct rib_route route = {.face = 257, .expires_ns = 9000 * MS};
    cr_assert_eq(rib_register(bed.rib, rib_name("/a/b"), &route), 0);
    size_t len = rib_announcement_find(bed.rib, rib_name("/a/b/c"), 1000 * MS, WALL_MS, found, sizeof found);
    cr_assert_gt(len, 0);
    cr_assert_eq(rib_announcement_decode(found, len, 300, 500 * MS, WALL_MS, &got), 0);
    struct mgmt_octets want = rib_name("/a/b");
    cr_expect_eq(got.name.len, want.len);
    cr_expect_eq(memcmp(got.name.p, want.p, want.len), 0);
    cr_expect_eq(got.route.expires_ns, 8500 * MS);
    rib_set(&bed, "/a/b", 258, RIB_ORIGIN_APP, 1, 0);
    len = rib_announcement_find(bed.rib, rib_name("/a/b/c"), 1000 * MS, WALL_MS, found, sizeof found);
    cr_assert_eq(rib_announcement_decode(found, len, 300, 0, WALL_MS, &got), 0);
    cr_expect_eq(got.route.expires_ns, 24 * 3600 * 1000 * MS, "a day at most");
    for (size_t size = 0; size < len; size++)
        cr_expect_eq(rib_announcement_find(bed.rib, rib_name("/a/b"), 1000 * MS, WALL_MS, found, size), 0);
}
