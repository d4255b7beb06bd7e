// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/rib.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "ports/face.h"
#include "test/unit/fwd/rib_fixture.h"

#define APP    RIB_ORIGIN_APP
#define CLIENT RIB_ORIGIN_CLIENT
#define NLSR   RIB_ORIGIN_NLSR
#define CI     RIB_CHILD_INHERIT
#define CAP    RIB_CAPTURE

static struct rib_bed bed;

static void setup(void)
{
    bed = rib_bed_make(1024);
}

static void teardown(void)
{
    rib_bed_free(&bed);
}

TestSuite(rib, .init = setup, .fini = teardown);

Test(rib, route_becomes_a_next_hop_and_goes_with_it)
{
    cr_expect_eq(rib_set(&bed, "/a", 256, APP, 10, CI), 0);
    expect_hops(&bed, "/a/x", "256:10");
    expect_hops(&bed, "/b", "none");
    cr_expect_eq(rib_count(bed.rib), 1);
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 256, CLIENT), -ENOENT, "another origin");
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 257, APP), -ENOENT, "another face");
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a/x"), 256, APP), -ENOENT, "another name");
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 256, APP), 0);
    expect_hops(&bed, "/a/x", "none");
    cr_expect_eq(rib_count(bed.rib), 0);
    cr_expect_eq(fib_count(bed.fib), 0);
}

Test(rib, cheapest_route_of_a_face_counts)
{
    rib_set(&bed, "/a", 256, APP, 30, CI);
    rib_set(&bed, "/a", 256, CLIENT, 20, CI);
    rib_set(&bed, "/a", 256, NLSR, 25, CI);
    expect_hops(&bed, "/a", "256:20");
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 256, CLIENT), 0);
    expect_hops(&bed, "/a", "256:25");
    rib_set(&bed, "/a", 256, NLSR, 40, CI);
    expect_hops(&bed, "/a", "256:30");
    cr_expect_eq(rib_count(bed.rib), 2, "a route that was renewed is no second one");
}

Test(rib, child_inherit_reaches_names_with_routes_below)
{
    rib_set(&bed, "/a/b/c", 258, APP, 5, 0);
    rib_set(&bed, "/a/b", 257, APP, 7, 0);
    rib_set(&bed, "/", 256, APP, 9, CI);
    expect_hops(&bed, "/", "256:9");
    expect_hops(&bed, "/a", "256:9");
    expect_hops(&bed, "/a/b", "257:7 256:9");
    expect_hops(&bed, "/a/b/c", "258:5 256:9");
    cr_expect_eq(fib_count(bed.fib), 3, "/a has no routes, hence no entry");
    rib_set(&bed, "/a/d", 259, APP, 1, CI);
    expect_hops(&bed, "/a/d", "259:1 256:9");
    rib_set(&bed, "/", 256, APP, 9, 0);
    expect_hops(&bed, "/a/b/c", "258:5");
    expect_hops(&bed, "/a/d", "259:1");
    expect_hops(&bed, "/", "256:9");
}

Test(rib, own_route_of_a_face_comes_before_an_inherited_one)
{
    rib_set(&bed, "/", 256, APP, 1, CI);
    rib_set(&bed, "/a", 256, APP, 50, CI);
    expect_hops(&bed, "/a", "256:50");
    rib_set(&bed, "/a/b", 257, APP, 3, CI);
    expect_hops(&bed, "/a/b", "257:3 256:50");
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 256, APP), 0);
    expect_hops(&bed, "/a/b", "256:1 257:3");
}

Test(rib, capture_stops_inheritance_for_the_name_and_all_below)
{
    rib_set(&bed, "/", 256, APP, 1, CI);
    rib_set(&bed, "/a", 257, APP, 2, CI);
    rib_set(&bed, "/a/b", 258, APP, 3, 0);
    expect_hops(&bed, "/a/b", "256:1 257:2 258:3");
    rib_set(&bed, "/a", 259, APP, 4, CAP);
    expect_hops(&bed, "/a", "257:2 259:4");
    expect_hops(&bed, "/a/b", "257:2 258:3");
    rib_set(&bed, "/", 260, APP, 0, CI);
    expect_hops(&bed, "/a/b", "257:2 258:3");
    cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 259, APP), 0);
    expect_hops(&bed, "/a", "260:0 256:1 257:2");
    expect_hops(&bed, "/a/b", "260:0 256:1 257:2 258:3");
    rib_set(&bed, "/a/b", 258, APP, 3, CAP | CI);
    expect_hops(&bed, "/a/b", "258:3");
}

Test(rib, sibling_with_a_common_start_of_octets_inherits_nothing)
{
    rib_set(&bed, "/a", 256, APP, 1, CI);
    rib_set(&bed, "/ab", 257, APP, 2, CI);
    rib_set(&bed, "/a/b", 258, APP, 3, CI);
    expect_hops(&bed, "/ab", "257:2");
    expect_hops(&bed, "/a/b", "256:1 258:3");
}

Test(rib, seventeenth_next_hop_waits_in_the_rib)
{
    char want[512] = "";
    for (unsigned i = 0; i < 20; i++)
        cr_expect_eq(rib_set(&bed, "/a", 300 + i, APP, 100 - i, CI), 0);
    cr_expect_eq(rib_count(bed.rib), 20);
    for (unsigned i = 0; i < 16; i++)
        snprintf(want + strlen(want), sizeof want - strlen(want), "%s%u:%u", i > 0 ? " " : "", 319 - i, 81 + i);
    expect_hops(&bed, "/a", want);
    for (unsigned i = 19; i >= 17; i--)
        cr_expect_eq(rib_unregister(bed.rib, rib_name("/a"), 300 + i, APP), 0);
    want[0] = 0;
    for (unsigned i = 0; i < 16; i++)
        snprintf(want + strlen(want), sizeof want - strlen(want), "%s%u:%u", i > 0 ? " " : "", 316 - i, 84 + i);
    expect_hops(&bed, "/a", want);
    for (unsigned i = 0; i < 17; i++)
        cr_expect_eq(rib_face_remove(bed.rib, 300 + i), 1);
    expect_hops(&bed, "/a", "none");
}

Test(rib, next_hops_added_to_the_fib_stay)
{
    struct mgmt_octets a = rib_name("/a");
    cr_assert_eq(fib_nexthop_set(bed.fib, a.p, a.len, 400, 1), 0);
    rib_set(&bed, "/a", 256, APP, 10, CI);
    expect_hops(&bed, "/a", "400:1 256:10");
    rib_set(&bed, "/a", 256, APP, 0, CI);
    expect_hops(&bed, "/a", "256:0 400:1");
    cr_expect_eq(rib_face_remove(bed.rib, 256), 1);
    expect_hops(&bed, "/a", "400:1");
}

Test(rib, next_hops_added_to_the_fib_take_their_places)
{
    struct mgmt_octets a = rib_name("/a");
    for (unsigned i = 0; i < 15; i++)
        cr_assert_eq(fib_nexthop_set(bed.fib, a.p, a.len, 400 + i, 1), 0);
    cr_expect_eq(rib_set(&bed, "/a", 256, APP, 20, CI), 0);
    cr_expect_eq(rib_set(&bed, "/a", 257, APP, 10, CI), 0);
    cr_assert_not_null(strstr(rib_hops(&bed, "/a"), "256:20"));
    cr_expect_eq(rib_count(bed.rib), 2);
    cr_expect_eq(rib_face_remove(bed.rib, 256), 1);
    cr_assert_not_null(strstr(rib_hops(&bed, "/a"), "257:10"));
    cr_expect_eq(rib_face_remove(bed.rib, 257), 1);
    cr_assert_eq(fib_nexthop_set(bed.fib, a.p, a.len, 415, 1), 0);
    cr_expect_eq(rib_set(&bed, "/a", 256, APP, 20, CI), -ENOSPC, "not one of it fits");
    cr_expect_eq(rib_count(bed.rib), 0);
}

Test(rib, face_takes_its_routes_along)
{
    rib_set(&bed, "/", 256, APP, 1, CI);
    rib_set(&bed, "/a", 256, APP, 1, CI);
    rib_set(&bed, "/a", 256, CLIENT, 1, CI);
    rib_set(&bed, "/a", 257, APP, 2, CI);
    rib_set(&bed, "/a/b", 256, APP, 1, CAP);
    cr_expect_eq(rib_face_remove(bed.rib, 256), 4);
    cr_expect_eq(rib_face_remove(bed.rib, 256), 0);
    expect_hops(&bed, "/", "none");
    expect_hops(&bed, "/a/b", "257:2");
    cr_expect_eq(rib_count(bed.rib), 1);
}

Test(rib, new_face_of_a_slot_ends_the_old_one)
{
    rib_set(&bed, "/a", 300, APP, 1, CI);
    rib_set(&bed, "/b", 300, APP, 1, CI);
    rib_set(&bed, "/c", 300 + FACE_SLOTS, APP, 1, CI);
    cr_expect_eq(rib_count(bed.rib), 1);
    expect_hops(&bed, "/a", "none");
}

Test(rib, cost_beyond_the_fib_s_is_its_largest)
{
    rib_set(&bed, "/a", 256, APP, UINT64_MAX, CI);
    expect_hops(&bed, "/a", "256:4294967295");
}

Test(rib, routes_expire_in_time)
{
    struct rib_route route = {.face = 256, .cost = 1, .flags = CI, .expires_ns = 1000};
    cr_expect_eq(rib_poll(bed.rib, 0), UINT64_MAX);
    cr_assert_eq(rib_register(bed.rib, rib_name("/a"), &route), 0);
    route.expires_ns = 500;
    cr_assert_eq(rib_register(bed.rib, rib_name("/b"), &route), 0);
    cr_expect_eq(rib_poll(bed.rib, 100), 400);
    cr_expect_eq(rib_poll(bed.rib, 499), 1);
    expect_hops(&bed, "/b", "256:1");
    cr_expect_eq(rib_poll(bed.rib, 500), 500);
    expect_hops(&bed, "/b", "none");
    expect_hops(&bed, "/a", "256:1");
    route.expires_ns = 3000;
    cr_assert_eq(rib_register(bed.rib, rib_name("/a"), &route), 0);
    cr_expect_eq(rib_poll(bed.rib, 1000), 2000, "renewed");
    route.expires_ns = 0;
    cr_assert_eq(rib_register(bed.rib, rib_name("/a"), &route), 0);
    cr_expect_eq(rib_poll(bed.rib, 1 << 30), UINT64_MAX, "never");
    expect_hops(&bed, "/a", "256:1");
}

Test(rib, many_expiries_come_in_order)
{
    uint64_t random = 1;
    char uri[32];
    for (unsigned i = 0; i < 900; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        struct rib_route route = {.face = 256, .flags = CI, .expires_ns = 1 + (random >> 40) % 10000};
        snprintf(uri, sizeof uri, "/e/%u", i);
        cr_assert_eq(rib_register(bed.rib, rib_name(uri), &route), 0);
        if (i % 3 == 0)
            cr_assert_eq(rib_unregister(bed.rib, rib_name(uri), 256, APP), 0);
    }
    cr_assert_eq(rib_count(bed.rib), 600);
    uint64_t now_ns = 0, left;
    while ((left = rib_poll(bed.rib, now_ns)) != UINT64_MAX) {
        cr_assert_gt(left, 0);
        now_ns += left;
    }
    cr_expect_leq(now_ns, 10000);
    cr_expect_eq(rib_count(bed.rib), 0);
    cr_expect_eq(fib_count(bed.fib), 0);
}

Test(rib, expiry_of_thousands_is_spread_over_calls)
{
    struct rib_bed big = rib_bed_make(4096);
    char uri[32];
    for (unsigned i = 0; i < 2000; i++) {
        struct rib_route route = {.face = 256, .expires_ns = 10};
        snprintf(uri, sizeof uri, "/e/%u", i);
        cr_assert_eq(rib_register(big.rib, rib_name(uri), &route), 0);
    }
    cr_expect_eq(rib_poll(big.rib, 10), 0, "there is more");
    cr_expect_gt(rib_count(big.rib), 0);
    cr_expect_eq(rib_poll(big.rib, 10), UINT64_MAX);
    cr_expect_eq(rib_count(big.rib), 0);
    rib_bed_free(&big);
}

Test(rib, name_of_33_components_is_too_long)
{
    char uri[128] = "";
    for (unsigned i = 0; i < 32; i++)
        strcat(uri, "/a");
    cr_expect_eq(rib_set(&bed, uri, 256, APP, 1, CI), 0);
    strcat(uri, "/a");
    cr_expect_eq(rib_set(&bed, uri, 256, APP, 1, CI), -E2BIG);
    uint8_t junk[] = {8, 200, 1};
    struct rib_route route = {.face = 256};
    cr_expect_eq(rib_register(bed.rib, (struct mgmt_octets){junk, 3}, &route), -EINVAL);
    cr_expect_eq(rib_count(bed.rib), 1);
}

Test(rib, full_fib_refuses_a_route_and_keeps_the_rest)
{
    struct rib_bed small = rib_bed_make(2);
    cr_expect_eq(rib_set(&small, "/a", 256, APP, 1, CI), 0);
    cr_expect_eq(rib_set(&small, "/b", 256, APP, 1, CI), 0);
    cr_expect_eq(rib_set(&small, "/c", 256, APP, 1, CI), -ENOSPC);
    cr_expect_eq(rib_set(&small, "/b", 257, APP, 2, CI), 0);
    cr_expect_eq(rib_count(small.rib), 3);
    expect_hops(&small, "/c", "none");
    expect_hops(&small, "/b", "256:1 257:2");
    rib_bed_free(&small);
}

static void note(void *ctx, struct mgmt_octets name, const struct rib_route *routes, size_t n)
{
    char *text = ctx, uri[64];
    ndn_name_to_uri(name.p, name.len, uri, sizeof uri);
    sprintf(text + strlen(text), "%s", uri);
    for (size_t i = 0; i < n; i++)
        sprintf(text + strlen(text), " %u/%u/%u/%u", routes[i].face, routes[i].origin, (unsigned)routes[i].cost,
                routes[i].flags);
    strcat(text, "\n");
}

Test(rib, lists_names_in_their_order)
{
    char text[512] = "";
    rib_set(&bed, "/b", 256, APP, 1, CI);
    rib_set(&bed, "/aa", 256, APP, 1, CI);
    rib_set(&bed, "/a/c", 257, NLSR, 3, CAP);
    rib_set(&bed, "/a/c", 256, CLIENT, 4, 0);
    rib_set(&bed, "/", 256, APP, 1, CI);
    rib_set(&bed, "/a", 256, APP, 1, CI);
    rib_foreach(bed.rib, note, text);
    cr_expect_str_eq(text, "/ 256/0/1/1\n/a 256/0/1/1\n/a/c 257/128/3/2 256/65/4/0\n/b 256/0/1/1\n/aa 256/0/1/1\n",
                     "%s", text);
    cr_expect(rib_serves(bed.rib, rib_name("/zz/y")));
    rib_unregister(bed.rib, rib_name("/"), 256, APP);
    cr_expect_not(rib_serves(bed.rib, rib_name("/zz/y")));
    cr_expect(rib_serves(bed.rib, rib_name("/b")));
    cr_expect(rib_serves(bed.rib, rib_name("/b/y")));
}

static void hear(void *ctx, bool added, struct mgmt_octets name, const struct rib_route *route)
{
    char *text = ctx, uri[64];
    ndn_name_to_uri(name.p, name.len, uri, sizeof uri);
    sprintf(text + strlen(text), "%c%s/%u/%u ", added ? '+' : '-', uri, route->face, route->origin);
}

Test(rib, listeners_hear_of_routes_but_not_of_renewals)
{
    char text[512] = "";
    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq(rib_listen(bed.rib, hear, text), 0);
    cr_expect_eq(rib_listen(bed.rib, hear, text), -ENOSPC);
    rib_bed_free(&bed);
    setup();
    cr_assert_eq(rib_listen(bed.rib, hear, text), 0);
    rib_set(&bed, "/a", 256, CLIENT, 1, CI);
    rib_set(&bed, "/a", 256, CLIENT, 2, CI);
    rib_set(&bed, "/a", 256, APP, 2, CI);
    rib_unregister(bed.rib, rib_name("/a"), 256, CLIENT);
    rib_face_remove(bed.rib, 256);
    cr_expect_str_eq(text, "+/a/256/65 +/a/256/0 -/a/256/65 -/a/256/0 ", "%s", text);
}

Test(rib, configured_routes_are_static_ones)
{
    static const char text[] = "port: { p: { device = \"net_null0\"; }; };\n"
                               "face: { f: { port = \"p\"; remote = \"ether://[02:00:00:00:00:02]\"; };\n"
                               "  g: { port = \"p\"; remote = \"ether://[02:00:00:00:00:03]\"; };\n"
                               "  none: { port = \"p\"; remote = \"ether://[02:00:00:00:00:04]\"; }; };\n"
                               "route = ( { prefix = \"/a\"; face = \"f\"; cost = 3; },\n"
                               "  { prefix = \"/a/b\"; face = \"g\"; child-inherit = false; },\n"
                               "  { prefix = \"/a/b/c\"; face = \"g\"; capture = true; },\n"
                               "  { prefix = \"/d\"; face = \"none\"; } );\n";
    static const uint32_t faces[] = {300, 301, 0};
    struct conf *conf;
    unsigned failed = 99;
    char list[512] = "";
    cr_assert_eq(conf_load_text("test", text, sizeof text - 1, &conf, stderr), 0);
    cr_expect_eq(rib_add_configured(bed.rib, conf, faces, &failed), 0);
    rib_foreach(bed.rib, note, list);
    cr_expect_str_eq(list, "/a 300/255/3/1\n/a/b 301/255/0/0\n/a/b/c 301/255/0/3\n", "%s", list);
    expect_hops(&bed, "/a/b", "301:0 300:3");
    struct rib_bed small = rib_bed_make(1);
    cr_expect_eq(rib_add_configured(small.rib, conf, faces, &failed), -ENOSPC);
    cr_expect_eq(failed, 1);
    rib_bed_free(&small);
    conf_free(conf);
}
