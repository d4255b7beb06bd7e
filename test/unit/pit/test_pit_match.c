// SPDX-License-Identifier: Apache-2.0
/* Which entries Data satisfies. */
#include <criterion/criterion.h>

#include "test/unit/pit/pit_fixture.h"

Test(pit_match, prefix_entries_match_what_is_below_them)
{
    make(16, 0);
    struct pit_entry *root = insert("/", PIT_CAN_BE_PREFIX), *a = insert("/a", PIT_CAN_BE_PREFIX),
                     *ab = insert("/a/b", PIT_CAN_BE_PREFIX | PIT_MUST_BE_FRESH), *exact = insert("/a/b", 0),
                     *other = insert("/b", PIT_CAN_BE_PREFIX), *found[PIT_MATCHES_MAX];
    unsigned n = match("/a/b/c", found);
    cr_assert_eq(n, 3);
    cr_assert(has(found, n, root) && has(found, n, a) && has(found, n, ab));
    n = match("/a/b", found);
    cr_assert_eq(n, 4);
    cr_assert(has(found, n, exact));
    n = match("/b/x", found);
    cr_assert_eq(n, 2);
    cr_assert(has(found, n, root) && has(found, n, other));
    cr_assert_eq(match("/", found), 1);
    cr_assert_eq(pit_prefix_count(pit, 0), 1);
    cr_assert_eq(pit_prefix_count(pit, 1), 2);
    cr_assert_eq(pit_prefix_count(pit, 2), 1);
    cr_assert_eq(pit_prefix_count(pit, 33), 0);
    pit_destroy(pit);
}

Test(pit_match, only_exact_tells_whether_a_second_look_is_needed)
{
    make(16, 0);
    struct test_name name, digest_name, other;
    test_name_uri(&name, "/a/b/c");
    test_name_uri(&other, "/a/b/d");
    cr_assert(pit_only_exact(pit, &name.view));
    struct pit_entry *deeper = insert("/a/b/c", PIT_CAN_BE_PREFIX);
    cr_assert(pit_only_exact(pit, &name.view), "an entry of the same length is found with the exact ones");
    struct pit_entry *shorter = insert("/z", PIT_CAN_BE_PREFIX);
    cr_assert(!pit_only_exact(pit, &name.view));
    pit_erase(pit, shorter);
    cr_assert(pit_only_exact(pit, &name.view));
    struct pit_entry *digest = insert_name(with_digest(&digest_name, &name, true), 0);
    cr_assert(!pit_only_exact(pit, &name.view));
    cr_assert(pit_only_exact(pit, &other.view), "no digest entry ends like this name");
    pit_erase(pit, digest);
    cr_assert(pit_only_exact(pit, &name.view));
    pit_erase(pit, deeper);
    pit_destroy(pit);
}

Test(pit_match, digest_entry_matches_that_data_only)
{
    make(16, 0);
    struct test_name data, right, wrong, other;
    struct pit_entry *found[PIT_MATCHES_MAX];
    test_name_uri(&data, "/a/b");
    test_name_uri(&other, "/a/c");
    n_digests = 0;
    struct pit_entry *plain = insert("/a/b", 0);
    cr_assert_eq(match_name(&data, found), 1);
    cr_assert_eq(n_digests, 0, "no digest entry, no digest");
    for (uint8_t selectors = 0; selectors < 4; selectors++) {
        struct pit_entry *entry = insert_name(with_digest(&right, &data, true), selectors);
        struct pit_entry *miss = insert_name(with_digest(&wrong, &data, false), selectors);
        n_digests = 0;
        unsigned n = match_name(&data, found);
        cr_assert_eq(n, 2);
        cr_assert_eq(n_digests, 1);
        cr_assert(has(found, n, entry) && has(found, n, plain) && !has(found, n, miss));
        cr_assert_eq(match_name(&other, found), 0);
        cr_assert_eq(n_digests, 1, "nobody waits for a digest of this name");
        cr_assert_eq(pit_match_data(pit, &data.view, &test_key, NULL, NULL, found), 1);
        pit_erase(pit, entry);
        pit_erase(pit, miss);
    }
    pit_destroy(pit);
}

static const uint8_t *no_digest(void *ctx)
{
    ++*(unsigned *)ctx;
    return NULL;
}

Test(pit_match, digest_that_cannot_be_had_matches_nothing)
{
    make(16, 0);
    struct test_name data, name;
    struct pit_entry *found[PIT_MATCHES_MAX];
    unsigned n_asked = 0;
    letters(&data, 35, 'd');
    insert_name(with_digest(&name, &data, true), 0);
    insert_name(&name, PIT_CAN_BE_PREFIX);
    cr_assert_eq(pit_match_data(pit, &data.view, &test_key, no_digest, &n_asked, found), 0);
    cr_assert_eq(n_asked, 1);
    pit_destroy(pit);
}

/** Data may carry such a component in its own name; then it is a component like any other. */
Test(pit_match, digest_component_in_the_middle_is_a_plain_component)
{
    make(16, 0);
    struct test_name data, name;
    struct pit_entry *found[PIT_MATCHES_MAX];
    test_name_uri(&data, "/a");
    with_digest(&name, &data, false);
    struct pit_entry *entry = insert_name(&name, PIT_CAN_BE_PREFIX);
    cr_assert_eq(match_name(&name, found), 1);
    test_name_append(&name, NDN_GENERIC, "x", 1);
    test_name_finish(&name);
    cr_assert_eq(match_name(&name, found), 1);
    cr_assert_eq(found[0], entry);
    pit_destroy(pit);
}

Test(pit_match, names_beyond_the_depth_limit)
{
    make(64, 0);
    struct test_name name32, name33, name40, data, digest_name;
    struct pit_entry *found[PIT_MATCHES_MAX];
    letters(&name32, 32, 'p');
    letters(&name33, 33, 'q');
    letters(&name40, 40, 'r');
    struct pit_entry *exact40 = insert_name(&name40, 0), *prefix40 = insert_name(&name40, PIT_CAN_BE_PREFIX),
                     *prefix33 = insert_name(letters(&name33, 33, 'x'), PIT_CAN_BE_PREFIX),
                     *miss = insert_name(letters(&data, 33, 'y'), PIT_CAN_BE_PREFIX),
                     *prefix32 = insert_name(letters(&name32, 32, 'x'), PIT_CAN_BE_PREFIX);
    cr_assert_eq(prefix40->flags & PIT_DEEP, PIT_DEEP);
    cr_assert_eq(prefix32->flags & PIT_DEEP, 0);
    cr_assert_eq(exact40->flags & prefix40->flags & PIT_SIBLING, PIT_SIBLING, "siblings under different hashes");
    cr_assert_eq(prefix40->depth, NDN_NAME_DEPTH);
    cr_assert_eq(prefix40->hash, name40.view.hash_full);
    cr_assert_eq(pit_find(pit, &name40.view, PIT_CAN_BE_PREFIX), prefix40);
    cr_assert_eq(pit_find(pit, &name40.view, 0), exact40);
    cr_assert_eq(pit_prefix_count(pit, NDN_NAME_DEPTH), 4);

    unsigned n = match_name(&name40, found);
    cr_assert_eq(n, 4);
    cr_assert(has(found, n, exact40) && has(found, n, prefix40) && has(found, n, prefix33) && has(found, n, prefix32));
    n = match_name(letters(&data, 33, 'x'), found);
    cr_assert_eq(n, 2);
    cr_assert(has(found, n, prefix33) && has(found, n, prefix32));
    n = match_name(letters(&data, 32, 'x'), found);
    cr_assert_eq(n, 1);
    cr_assert(!has(found, n, miss));
    cr_assert(!pit_only_exact(pit, &name40.view));

    // Digest of Data with 32 and with 40 components, with and without CanBePrefix.
    for (unsigned n_comps = 32; n_comps <= 40; n_comps += 8) {
        letters(&data, n_comps, 'd');
        for (uint8_t selectors = 0; selectors < 4; selectors++) {
            struct pit_entry *entry = insert_name(with_digest(&digest_name, &data, true), selectors);
            n = match_name(&data, found);
            cr_assert(has(found, n, entry));
            pit_erase(pit, entry);
        }
    }
    pit_erase(pit, prefix40);
    pit_erase(pit, exact40);
    pit_erase(pit, prefix33);
    cr_assert_eq(pit_check(pit), 0);
    pit_destroy(pit);
}

/** All entries of one deep prefix share a hash: their number is bounded, and so is what one Data can satisfy. */
Test(pit_match, entries_of_one_deep_prefix_are_bounded)
{
    make(1000, 0);
    struct test_name name;
    struct pit_entry *entry, *found[PIT_MATCHES_MAX];
    unsigned n = 0;
    for (unsigned n_comps = 33; n_comps < 200; n_comps++) {
        enum pit_insert_result result =
            pit_insert(pit, &letters(&name, n_comps, 'x')->view, PIT_CAN_BE_PREFIX, 9, &entry);
        cr_assert_eq(result, n < TABLE_PROBES * TABLE_BUCKET_SLOTS ? PIT_NEW : PIT_FULL);
        n += result == PIT_NEW;
        cr_assert_eq(pit_count(pit), n);
    }
    cr_assert_eq(pit_check(pit), 0);
    for (unsigned n_comps = 1; n_comps < 32; n_comps++)
        cr_assert_eq(pit_insert(pit, &letters(&name, n_comps, 'x')->view, PIT_CAN_BE_PREFIX, 9, &entry), PIT_NEW);
    cr_assert_eq(match_name(letters(&name, 250, 'x'), found), PIT_MATCHES_MAX);
    pit_destroy(pit);
}

/** The index tells hashes apart by 16 bits and the bucket: an entry that two lookups come upon is found by one. */
Test(pit_match, colliding_tags_do_not_match_twice)
{
    make(16, 0);
    struct test_name name;
    struct pit_entry *entry = insert("/x", PIT_CAN_BE_PREFIX), *found[PIT_MATCHES_MAX];
    bool collides = false;
    for (uint32_t i = 0; i < 20000000 && !collides; i++) {
        name.len = 0;
        test_name_append(&name, NDN_GENERIC, "x", 1);
        test_name_append(&name, NDN_GENERIC, &i, sizeof i);
        test_name_finish(&name);
        collides = table_tag(name.view.hash_full) == table_tag(entry->hash) &&
                   table_home(&pit->table, name.view.hash_full) == table_home(&pit->table, entry->hash);
    }
    cr_assert(collides);
    cr_assert_eq(match_name(&name, found), 1);
    cr_assert_eq(found[0], entry);
    pit_destroy(pit);
}
