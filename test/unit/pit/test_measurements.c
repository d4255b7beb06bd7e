// SPDX-License-Identifier: Apache-2.0
/* What strategies remember of prefixes: lookup, lifetimes, eviction, round-trip times. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pit/measurements.h"

static const struct ndn_name_key key = {{1, 2, 3}};
static struct measurements *m;
static uint64_t now_ns;

static void start(void)
{
    ndn_name_hash_init();
    now_ns = UINT64_C(5) << 40;
    cr_assert_eq(measurements_create(&m, 8, ARENA_PAGES_SMALL, now_ns), 0);
}

static void stop(void)
{
    cr_assert_eq(measurements_check(m), 0);
    measurements_destroy(m);
}

TestSuite(measurements, .init = start, .fini = stop);

/* A name in one of a few places, so that several can be held. */
static const struct ndn_name *name_of(const char *uri)
{
    static struct ndn_name name[8];
    static uint8_t octets[8][NDN_NAME_MAX];
    static unsigned next;
    unsigned i = next++ % 8;
    int len = ndn_name_from_uri(uri, octets[i], NDN_NAME_MAX);
    cr_assert(len >= 0 && ndn_name_parse(octets[i], (size_t)len, false, &name[i]) == VERDICT_OK);
    ndn_name_hash(&name[i], &key);
    return &name[i];
}

static struct measurements_entry *get(const char *uri, uint16_t strategy, uint32_t ms)
{
    const struct ndn_name *name = name_of(uri);
    struct measurements_entry *entry = measurements_get(m, name, name->depth, strategy, ms, now_ns);
    cr_assert_eq(measurements_check(m), 0);
    return entry;
}

static struct measurements_entry *find(const char *uri, uint16_t strategy)
{
    const struct ndn_name *name = name_of(uri);
    return measurements_find(m, name, name->depth, strategy);
}

static void pass(uint64_t ms)
{
    now_ns += ms * 1000000;
    measurements_poll(m, now_ns, UINT32_MAX);
    cr_assert_eq(measurements_check(m), 0);
}

Test(measurements, entries_belong_to_a_prefix_and_a_strategy)
{
    struct measurements_entry *root = get("/", 1, 1000), *a = get("/a", 1, 1000), *b = get("/a/b", 1, 1000);
    struct measurements_entry *other = get("/a", 2, 1000);
    cr_assert(root != a && a != b && a != other);
    cr_assert_eq(find("/a", 1), a);
    cr_assert_eq(find("/a", 2), other);
    cr_assert_null(find("/a", 3));
    cr_assert_null(find("/b", 1));
    cr_assert_eq(get("/a", 1, 1), a);
    cr_assert_eq(measurements_count(m), 4);
    cr_assert_eq(measurements_longest(m, name_of("/a/b/c/d"), 32, 1), b);
    cr_assert_eq(measurements_longest(m, name_of("/a/b/c/d"), 2, 1), b);
    cr_assert_eq(measurements_longest(m, name_of("/a/b/c/d"), 1, 1), a);
    cr_assert_eq(measurements_longest(m, name_of("/a/c"), 32, 1), a);
    cr_assert_eq(measurements_longest(m, name_of("/c"), 32, 1), root);
    cr_assert_eq(measurements_longest(m, name_of("/a/c"), 32, 2), other);
    cr_assert_null(measurements_longest(m, name_of("/c"), 32, 2));
    // Deeper than the name is, or than prefixes are kept.
    cr_assert_null(measurements_get(m, name_of("/a"), 2, 1, 1000, now_ns));
    cr_assert_null(measurements_find(m, name_of("/a"), 2, 1));
    cr_assert_not_null(measurements_get(m,
                                        name_of("/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7/8/9/0/1/2/3/4"),
                                        NDN_NAME_DEPTH, 1, 1000, now_ns));
}

Test(measurements, entry_lives_as_long_as_it_is_asked_to)
{
    struct measurements_entry *a = get("/a", 1, 1000);
    a->last_face = 7;
    get("/b", 1, 500);
    pass(498);
    cr_assert_eq(measurements_count(m), 2);
    pass(4);
    cr_assert_null(find("/b", 1));
    cr_assert_eq(find("/a", 1), a);
    get("/a", 1, 800); // 800 from now on, not less
    get("/a", 1, 100);
    pass(790);
    cr_assert_eq(find("/a", 1), a);
    cr_assert_eq(a->last_face, 7);
    pass(20);
    cr_assert_null(find("/a", 1));
    cr_assert_eq(measurements_count(m), 0);
    cr_assert_eq(get("/a", 1, 100)->last_face, 0, "a new one knows nothing");
}

Test(measurements, full_table_gives_the_place_of_one_that_was_not_asked_for)
{
    char uri[16];
    for (unsigned i = 0; i < 8; i++) {
        snprintf(uri, sizeof uri, "/%u", i);
        cr_assert_not_null(get(uri, 1, 100000));
    }
    // The first search passes every entry once; the second finds those that were not asked for since.
    cr_assert_not_null(get("/x", 1, 100000));
    cr_assert_eq(measurements_count(m), 8);
    unsigned kept = 0;
    for (unsigned round = 0; round < 3; round++) {
        cr_assert_not_null(find("/x", 1));
        snprintf(uri, sizeof uri, "/y%u", round);
        cr_assert_not_null(get(uri, 1, 100000));
    }
    cr_assert_not_null(find("/x", 1), "what is used stays");
    for (unsigned i = 0; i < 8; i++) {
        snprintf(uri, sizeof uri, "/%u", i);
        kept += find(uri, 1) != NULL;
    }
    cr_assert_eq(kept, 4);
    cr_assert_eq(measurements_count(m), 8);
}

Test(measurements, faces_of_a_prefix_expire_one_by_one_and_the_oldest_makes_room)
{
    struct measurements_entry *a = get("/a", 1, 100000);
    cr_assert_null(measurements_face(a, 256, now_ns));
    for (uint32_t f = 0; f < MEASUREMENTS_FACES_MAX; f++) {
        struct measurements_face *face = measurements_face_get(a, 256 + f, 1000 + f * 100, now_ns);
        cr_assert_eq(face->face, 256 + f);
        cr_assert_eq(face->state, MEASUREMENTS_NONE);
        face->state = MEASUREMENTS_RTT;
    }
    cr_assert_eq(measurements_face(a, 256, now_ns)->state, MEASUREMENTS_RTT);
    pass(1005);
    cr_assert_null(measurements_face(a, 256, now_ns));
    cr_assert_not_null(measurements_face(a, 257, now_ns));
    cr_assert_eq(measurements_face_get(a, 999, 5000, now_ns)->state, MEASUREMENTS_NONE);
    cr_assert_not_null(measurements_face(a, 257, now_ns), "the expired one made room");
    measurements_face_get(a, 1000, 5000, now_ns);
    cr_assert_null(measurements_face(a, 257, now_ns), "the one that would have expired first");
    cr_assert_not_null(measurements_face(a, 258, now_ns));
    // Asked for again: extended, and it keeps what it knows.
    cr_assert_eq(measurements_face_get(a, 258, 3000, now_ns)->state, MEASUREMENTS_RTT);
    pass(2900);
    cr_assert_not_null(measurements_face(a, 258, now_ns));
}

Test(measurements, round_trip_times_are_smoothed_and_the_timeout_is_bounded)
{
    struct measurements_rtt rtt = {0};
    cr_assert_eq(measurements_rto_ms(&rtt), 1000);
    measurements_rtt_add(&rtt, 0);
    cr_assert_neq(rtt.srtt, 0, "something was measured");
    cr_assert_eq(measurements_rto_ms(&rtt), 200);
    uint32_t second = (uint32_t)(1000000000u >> MEASUREMENTS_SHIFT);
    rtt = (struct measurements_rtt){0};
    measurements_rtt_add(&rtt, second);
    cr_assert_eq(rtt.srtt, second);
    cr_assert_eq(rtt.rttvar, second / 2);
    cr_assert(measurements_rto_ms(&rtt) >= 2998 && measurements_rto_ms(&rtt) <= 3000);
    for (unsigned i = 0; i < 100; i++)
        measurements_rtt_add(&rtt, second);
    cr_assert(measurements_rto_ms(&rtt) >= 990 && measurements_rto_ms(&rtt) <= 1010);
    measurements_rtt_add(&rtt, 3 * second);
    cr_assert(rtt.srtt > second && rtt.srtt < 2 * second);
    for (unsigned i = 0; i < 100; i++)
        measurements_rtt_add(&rtt, UINT32_MAX);
    cr_assert_eq(measurements_rto_ms(&rtt), 60000);
}

Test(measurements, nothing_is_made_of_nothing)
{
    struct measurements *none;
    cr_assert_eq(measurements_create(&none, 0, ARENA_PAGES_SMALL, 0), -EINVAL);
}

/* Random operations against a list. */
Test(measurements, random_operations_end_as_the_model_says)
{
    struct {
        bool used;
        uint32_t expiry, value;
    } model[7][2] = {0};
    static const char *const uris[] = {"/", "/a", "/a/b", "/a/b/c", "/b", "/b/c", "/c"};
    srandom(1);
    for (unsigned step = 0; step < 50000; step++) {
        long r = random();
        unsigned n = (unsigned)r % 7, s = (unsigned)(r >> 8) & 1;
        uint32_t ms = 1 + (uint32_t)(r >> 12) % 400;
        // No more than there is room for, so that nothing has to go: seven of one strategy and one of the other.
        if (s == 1 && n != 1)
            continue;
        struct measurements_entry *entry;
        switch (r >> 24 & 3) {
        case 0:
            entry = get(uris[n], (uint16_t)s, ms);
            cr_assert_not_null(entry);
            cr_assert_eq(entry->last_face, model[n][s].used ? model[n][s].value : 0, "step %u", step);
            entry->last_face = model[n][s].value = step + 1;
            uint32_t expiry = wheel_tick_after_ms(now_ns, ms);
            if (!model[n][s].used || expiry > model[n][s].expiry)
                model[n][s].expiry = expiry;
            model[n][s].used = true;
            break;
        case 1:
        case 2:
            entry = find(uris[n], (uint16_t)s);
            cr_assert_eq(entry != NULL, model[n][s].used, "step %u", step);
            if (entry != NULL)
                cr_assert_eq(entry->last_face, model[n][s].value);
            break;
        default:
            pass((uint64_t)(r >> 26) % 60);
            for (unsigned i = 0; i < 7; i++)
                for (unsigned j = 0; j < 2; j++)
                    model[i][j].used &= model[i][j].expiry > wheel_tick(now_ns);
            break;
        }
    }
}
