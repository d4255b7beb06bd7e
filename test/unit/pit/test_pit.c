// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "test/unit/pit/no_memory.h"
#include "test/unit/pit/pit_fixture.h"

#define TICK (UINT64_C(1) << WHEEL_TICK_SHIFT)

Test(pit, refuses_sizes_that_cannot_be)
{
    struct pit *none = NULL;
    struct pit_config config = {.capacity = 0};
    cr_assert_eq(pit_create(&none, &config, 0), -EINVAL);
    config.capacity = UINT32_MAX;
    cr_assert_neq(pit_create(&none, &config, 0), 0);
    cr_assert_null(none);
    pit_destroy(NULL);
}

/** Memory runs out at the entries, at the blocks, at the small structures. */
Test(pit, lack_of_memory_is_an_error)
{
    struct pit *none = NULL;
    struct pit_config config = {.capacity = 65536, .pages = ARENA_PAGES_AUTO};
    cr_assert_eq(refuse_to_populate(8 << 20, ENOMEM), 0);
    cr_assert_eq(pit_create(&none, &config, 0), -ENOMEM);
    config = (struct pit_config){.capacity = 64, .ext_blocks = 1 << 20};
    cr_assert_eq(pit_create(&none, &config, 0), -ENOMEM);
    cr_assert_eq(refuse_to_populate(0, ENOMEM), 0);
    cr_assert_eq(pit_create(&none, &config, 0), -ENOMEM);
    struct wheel *wheel = NULL;
    cr_assert_eq(wheel_create(&wheel, &config, 64, 0, 0), -ENOMEM);
    struct table table = {0};
    cr_assert_eq(table_init(&table, 10, ARENA_PAGES_AUTO), -ENOMEM);
    cr_assert_null(none);
}

Test(pit, selectors_are_part_of_the_key)
{
    make(16, 0);
    struct test_name name;
    test_name_uri(&name, "/a/b");
    struct pit_entry *entry[4];
    for (uint8_t selectors = 0; selectors < 4; selectors++) {
        cr_assert_null(pit_find(pit, &name.view, selectors));
        entry[selectors] = insert_name(&name, selectors);
        cr_assert_eq(entry[selectors]->flags & PIT_SELECTORS, selectors);
        cr_assert_eq((entry[selectors]->flags & PIT_SIBLING) != 0, selectors > 0);
    }
    for (uint8_t selectors = 0; selectors < 4; selectors++) {
        struct pit_entry *found;
        cr_assert_eq(pit_insert(pit, &name.view, selectors, 5, &found), PIT_FOUND);
        cr_assert_eq(found, entry[selectors]);
        cr_assert_eq(pit_find(pit, &name.view, selectors), found);
        cr_assert_neq(found->flags & PIT_SIBLING, 0);
    }
    struct pit_entry *found[PIT_MATCHES_MAX];
    cr_assert_eq(match("/a/b", found), 4);
    cr_assert_eq(match("/a", found), 0);
    unsigned n = match("/a/b/c", found);
    cr_assert_eq(n, 2);
    cr_assert(has(found, n, entry[1]) && has(found, n, entry[3]));
    pit_destroy(pit);
}

Test(pit, new_entry_is_blank_and_armed)
{
    make(4, 0);
    struct test_name name;
    test_name_uri(&name, "/a");
    struct pit_entry *entry;
    for (unsigned round = 0; round < 3; round++) {
        cr_assert_eq(pit_insert(pit, &name.view, PIT_MUST_BE_FRESH, 77, &entry), PIT_NEW);
        cr_assert_eq(entry->hash, name.view.hash_full);
        cr_assert_eq(entry->node.expiry, 77);
        cr_assert_neq(entry->node.slot, 0);
        cr_assert_eq(entry->n_in + entry->n_out + entry->suppress + entry->sent, 0);
        cr_assert_eq(entry->depth, 1);
        cr_assert_null(pit_in_next(pit, entry, NULL));
        cr_assert_null(pit_out_next(pit, entry, NULL));
        // What the last user leaves must not be seen by the next.
        pit_in_set_token(pit, entry, pit_in_add(pit, entry, 5), (const uint8_t *)"0123456789", 10);
        pit_out_add(pit, entry, 6);
        pit_out_add(pit, entry, 7)->suppress = 9;
        entry->suppress = 1;
        entry->sent = 2;
        pit_erase(pit, entry);
        cr_assert_eq(pit_check(pit), 0);
    }
    pit_destroy(pit);
}

Test(pit, stale_or_wild_tokens_find_nothing)
{
    make(8, 0);
    struct pit_entry *entry = insert("/a", 0);
    uint32_t slot = pit_slot(pit, entry);
    uint16_t generation = entry->generation;
    cr_assert_eq(pit_at(pit, slot, generation), entry);
    cr_assert_null(pit_at(pit, slot, (uint16_t)(generation + 1)));
    pit_erase(pit, entry);
    cr_assert_null(pit_at(pit, slot, generation));
    struct pit_entry *next = insert("/b", 0);
    cr_assert_eq(next, entry, "the slot is used again at once");
    cr_assert_null(pit_at(pit, slot, generation));
    static const uint32_t wild[] = {0, 9, 10, 1000, 0x7fffffff, 0xffffffff};
    for (unsigned i = 0; i < sizeof wild / sizeof *wild; i++) {
        for (uint32_t g = 0; g < 4; g++)
            cr_assert_null(pit_at(pit, wild[i], (uint16_t)g));
        pit_prefetch_slot(pit, wild[i]);
    }
    pit_destroy(pit);
}

/** Every length around the borders of lines, blocks and vectors, and a difference in every octet. */
Test(pit, names_are_compared_to_the_last_octet)
{
    make(8, 100);
    struct test_name name;
    for (unsigned len = 2; len <= 400; len += len < 180 ? 1 : 13) {
        name.len = 0;
        while (name.len < len) {
            uint8_t filler[250] = {0}, left = (uint8_t)(len - name.len > 252 ? 200 : len - name.len - 2);
            if (len - name.len - 2 - left == 1)
                left--;
            test_name_append(&name, NDN_GENERIC, filler, left);
        }
        if (name.len != len)
            continue;
        test_name_finish(&name);
        struct pit_entry *entry = insert_name(&name, PIT_CAN_BE_PREFIX);
        cr_assert_eq(entry->ext != 0, len > PIT_NAME_INLINE);
        uint8_t copy[NDN_NAME_MAX];
        cr_assert_eq(pit_name_copy(pit, entry, copy), len);
        cr_assert_eq(memcmp(copy, name.octets, len), 0);
        cr_assert(pit_name_matches(pit, entry, name.octets, (uint16_t)len, false));
        cr_assert(pit_name_matches(pit, entry, name.octets, (uint16_t)(len + 1), true));
        cr_assert(!pit_name_matches(pit, entry, name.octets, (uint16_t)(len + 1), false));
        cr_assert(!pit_name_matches(pit, entry, name.octets, (uint16_t)(len - 1), true));
        for (unsigned i = 0; i < len; i++) {
            copy[i] ^= 1;
            cr_assert(!pit_name_matches(pit, entry, copy, (uint16_t)len, false), "octet %u of %u", i, len);
            cr_assert(!pit_name_matches(pit, entry, copy, (uint16_t)(len + 1), true));
            copy[i] ^= 1;
        }
        pit_erase(pit, entry);
    }
    cr_assert_eq(pit_check(pit), 0);
    pit_destroy(pit);
}

Test(pit, longest_name_fits)
{
    make(4, 100);
    struct test_name name;
    uint8_t filler[250];
    memset(filler, 7, sizeof filler);
    name.len = 0;
    for (unsigned i = 0; i < 8; i++)
        test_name_append(&name, NDN_GENERIC, filler, 250);
    test_name_append(&name, NDN_GENERIC, filler, NDN_NAME_MAX - 8 * 252 - 2);
    test_name_finish(&name);
    struct pit_entry *entry = insert_name(&name, 0);
    cr_assert_eq(pit_find(pit, &name.view, 0), entry);
    struct pit_entry *found[PIT_MATCHES_MAX];
    cr_assert_eq(match_name(&name, found), 1);
    pit_erase(pit, entry);
    cr_assert_eq(pit->blocks.n_used, 0);
    pit_destroy(pit);
}

Test(pit, full_pit_refuses_and_recovers)
{
    make(3, 0);
    struct test_name name;
    struct pit_entry *entry, *a = insert("/a", 0);
    insert("/b", 0);
    insert("/c", 0);
    cr_assert_eq(pit_capacity(pit), 3);
    cr_assert_eq(pit_insert(pit, &test_name_uri(&name, "/d")->view, 0, 9, &entry), PIT_FULL);
    cr_assert_null(entry);
    cr_assert_eq(pit_insert(pit, &test_name_uri(&name, "/a")->view, 0, 9, &entry), PIT_FOUND);
    cr_assert_eq(pit_count(pit), 3);
    cr_assert_eq(pit_check(pit), 0);
    pit_erase(pit, a);
    insert("/d", 0);
    pit_destroy(pit);
}

/** Blocks run out at each possible place of a long deep name, of records and of tokens: nothing is left behind. */
Test(pit, lack_of_blocks_leaves_no_trace)
{
    struct test_name name;
    uint8_t token[32] = {1, 2, 3};
    letters(&name, 100, 'z'); // 300 octets: 4 blocks, and one for the deep hash
    for (uint32_t n_blocks = 1; n_blocks <= 9; n_blocks++) {
        make(8, n_blocks);
        struct pit_entry *entry;
        enum pit_insert_result result = pit_insert(pit, &name.view, PIT_CAN_BE_PREFIX, 9, &entry);
        cr_assert_eq(result, n_blocks < 5 ? PIT_FULL : PIT_NEW);
        cr_assert_eq(pit_check(pit), 0);
        cr_assert_eq(pit_count(pit), n_blocks >= 5);
        cr_assert_eq(pit_prefix_count(pit, 32), n_blocks >= 5);
        if (result == PIT_FULL) {
            cr_assert_eq(pit->blocks.n_used, 0);
            cr_assert_null(pit_find(pit, &name.view, PIT_CAN_BE_PREFIX));
            pit_destroy(pit);
            continue;
        }
        // In this order: a token, a second and third in-record, a second out-record.
        struct pit_in *in = pit_in_add(pit, entry, 1);
        cr_assert_eq(pit_in_set_token(pit, entry, in, token, 4), 0);
        cr_assert_eq(pit_in_set_token(pit, entry, in, token, 9), n_blocks >= 6 ? 0 : -ENOSPC);
        cr_assert_eq(in->token_len, n_blocks >= 6 ? 9 : 4);
        cr_assert_eq(memcmp(pit_in_token(pit, entry, in), token, in->token_len), 0);
        cr_assert_eq(pit_in_add(pit, entry, 2) != NULL, n_blocks >= 7);
        cr_assert_eq(pit_in_add(pit, entry, 3) != NULL, n_blocks >= 7);
        cr_assert_eq(entry->n_in, n_blocks >= 7 ? 3 : 1);
        cr_assert_not_null(pit_out_add(pit, entry, 1));
        cr_assert_eq(pit_out_add(pit, entry, 2) != NULL, n_blocks >= 8);
        cr_assert_eq(entry->n_out, n_blocks >= 8 ? 2 : 1);
        cr_assert_eq(pit_check(pit), 0);
        pit_erase(pit, entry);
        cr_assert_eq(pit->blocks.n_used, 0);
        cr_assert_eq(pit_check(pit), 0);
        pit_destroy(pit);
    }
}

Test(pit, records_up_to_their_limit)
{
    make(4, 1000);
    struct pit_entry *entry = insert("/a", 0);
    for (uint32_t face = 1; face <= PIT_RECORDS_MAX; face++) {
        cr_assert_null(pit_in_find(pit, entry, face));
        cr_assert_null(pit_out_find(pit, entry, face));
        struct pit_in *in = pit_in_add(pit, entry, face);
        struct pit_out *out = pit_out_add(pit, entry, face);
        cr_assert(in != NULL && out != NULL);
        cr_assert_eq(in->nonce + in->expiry + in->token_len, 0);
        cr_assert_eq(out->nonce + out->expiry + out->sent + out->nack + out->suppress, 0);
        in->nonce = face * 3;
        out->nonce = face * 5;
    }
    cr_assert_null(pit_in_add(pit, entry, 1000));
    cr_assert_null(pit_out_add(pit, entry, 1000));
    cr_assert_eq(pit_check(pit), 0);
    for (uint32_t face = 1; face <= PIT_RECORDS_MAX; face++) {
        cr_assert_eq(pit_in_find(pit, entry, face)->nonce, face * 3);
        cr_assert_eq(pit_out_find(pit, entry, face)->nonce, face * 5);
    }
    // Every other one goes, the inline ones with them; the others stay, and holes are filled first.
    for (uint32_t face = 1; face <= PIT_RECORDS_MAX; face += 2) {
        pit_in_remove(pit, entry, pit_in_find(pit, entry, face));
        pit_out_remove(pit, entry, pit_out_find(pit, entry, face));
        cr_assert_null(pit_in_find(pit, entry, face));
        cr_assert_eq(pit_check(pit), 0);
    }
    unsigned n = 0;
    for (struct pit_in *in = NULL; (in = pit_in_next(pit, entry, in)) != NULL; n++)
        cr_assert_eq(in->face % 2, 0);
    cr_assert_eq(n, 127);
    n = 0;
    for (struct pit_out *out = NULL; (out = pit_out_next(pit, entry, out)) != NULL; n++)
        cr_assert_eq(out->face % 2, 0);
    cr_assert_eq(n, 127);
    uint32_t n_used = pit->blocks.n_used;
    for (uint32_t face = 1001; face <= 1100; face++)
        cr_assert_not_null(pit_in_add(pit, entry, face));
    cr_assert_eq(pit->blocks.n_used, n_used);
    for (uint32_t face = 2; face <= PIT_RECORDS_MAX; face += 2) {
        pit_in_remove(pit, entry, pit_in_find(pit, entry, face));
        pit_out_remove(pit, entry, pit_out_find(pit, entry, face));
    }
    for (uint32_t face = 1001; face <= 1100; face++)
        pit_in_remove(pit, entry, pit_in_find(pit, entry, face));
    cr_assert_eq(pit->blocks.n_used, 0);
    cr_assert_eq(entry->n_in + entry->n_out, 0);
    cr_assert_null(pit_in_next(pit, entry, NULL));
    pit_destroy(pit);
}

Test(pit, tokens_of_every_length)
{
    make(4, 8);
    uint8_t token[33];
    struct pit_entry *entry = insert("/a", 0);
    pit_in_add(pit, entry, 1);
    struct pit_in *in = pit_in_add(pit, entry, 2);
    for (unsigned step = 0; step < 33 * 33; step++) {
        uint8_t len = (uint8_t)(step * 7 % 33);
        memset(token, (int)step, sizeof token);
        cr_assert_eq(pit_in_set_token(pit, entry, in, token, len), 0);
        cr_assert_eq(in->token_len, len);
        cr_assert_eq(memcmp(pit_in_token(pit, entry, in), token, len), 0);
        cr_assert_eq(pit->blocks.n_used, 1 + (len > PIT_TOKEN_INLINE));
        cr_assert_eq(pit_check(pit), 0);
    }
    cr_assert_eq(pit_in_set_token(pit, entry, in, token, 33), -EINVAL);
    cr_assert_eq(pit_in_set_token(pit, entry, in, token, 32), 0);
    cr_assert_eq(pit_in_set_token(pit, entry, &entry->in, token, 32), 0);
    pit_in_remove(pit, entry, in);
    cr_assert_eq(pit->blocks.n_used, 1);
    pit_erase(pit, entry);
    cr_assert_eq(pit->blocks.n_used, 0);
    pit_destroy(pit);
}

static unsigned n_expired;

static void erase_expired(void *ctx, struct pit_entry *entry)
{
    cr_assert_eq(ctx, &n_expired);
    n_expired++;
    pit_erase(pit, entry);
}

static void rearm_expired(void *ctx, struct pit_entry *entry)
{
    (void)ctx;
    n_expired++;
    pit_arm(pit, entry, entry->node.expiry + 10);
}

Test(pit, entries_expire_at_their_tick)
{
    make(64, 0);
    struct test_name name;
    struct pit_entry *entry;
    cr_assert_eq(pit_next_ns(pit, 0), UINT64_MAX);
    for (unsigned i = 0; i < 30; i++)
        pit_insert(pit, &letters(&name, 1 + i, 'e')->view, 0, 10 + i / 3, &entry);
    cr_assert_eq(pit_next_ns(pit, 0), 10 * TICK);
    cr_assert_eq(pit_poll(pit, 10 * TICK - 1, 100, erase_expired, &n_expired), 0);
    cr_assert_eq(pit_poll(pit, 10 * TICK, 2, erase_expired, &n_expired), 2);
    cr_assert_eq(pit_poll(pit, 10 * TICK, 100, erase_expired, &n_expired), 1);
    cr_assert_eq(pit_poll(pit, 11 * TICK, 100, rearm_expired, &n_expired), 3);
    cr_assert_eq(pit_count(pit), 27);
    cr_assert_eq(pit_poll(pit, 19 * TICK, 100, erase_expired, &n_expired), 24);
    cr_assert_eq(pit_poll(pit, 21 * TICK - 1, 100, erase_expired, &n_expired), 0);
    cr_assert_eq(pit_poll(pit, 21 * TICK, 100, erase_expired, &n_expired), 3);
    cr_assert_eq(pit_count(pit), 0);
    cr_assert_eq(pit_check(pit), 0);
    pit_destroy(pit);
}

Test(pit, scan_visits_every_entry_once)
{
    make(32, 0);
    struct test_name name;
    struct pit_entry *entry[10];
    uint32_t slot = 0;
    cr_assert_null(pit_scan(pit, &slot));
    for (unsigned i = 0; i < 10; i++)
        entry[i] = insert_name(letters(&name, 1 + i, 's'), 0);
    for (unsigned i = 0; i < 10; i += 3)
        pit_erase(pit, entry[i]);
    unsigned n = 0;
    slot = 0;
    for (struct pit_entry *e; (e = pit_scan(pit, &slot)) != NULL; n++) {
        cr_assert(pit_at(pit, pit_slot(pit, e), e->generation) == e);
        pit_erase(pit, e); // a scan may remove what it finds
    }
    cr_assert_eq(n, 6);
    cr_assert_null(pit_scan(pit, &slot));
    cr_assert_eq(pit_count(pit), 0);
    pit_destroy(pit);
}

/** With nothing pending and with much, a prefetch is only a hint. */
Test(pit, prefetch_changes_nothing)
{
    make(32, 0);
    struct test_name name;
    test_name_uri(&name, "/a/b");
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t hash = 0; hash < 100; hash++) {
            pit_prefetch_bucket(pit, hash << 40 ^ hash);
            pit_prefetch_entry(pit, hash << 40 ^ hash);
        }
        pit_prefetch_entry(pit, name.view.hash_full);
        if (round == 0)
            insert_name(&name, 0);
    }
    cr_assert_eq(pit_check(pit), 0);
    pit_destroy(pit);
}

Test(pit, pending_interest_with_an_80_octet_name_takes_256_octets_at_most)
{
    enum { N = 1000000 };
    struct test_name name;
    struct pit_config config = {.capacity = N};
    cr_assert_eq(pit_create(&pit, &config, 0), 0);
    for (uint32_t i = 0; i < N; i++) {
        struct pit_entry *entry;
        name.len = 0;
        for (unsigned k = 0; k < 7; k++)
            test_name_append(&name, NDN_GENERIC, "aaaaaaaa", 8);
        uint64_t last = i;
        test_name_append(&name, NDN_GENERIC, &last, 8);
        test_name_finish(&name);
        cr_assert_eq(name.len, 80);
        cr_assert_eq(pit_insert(pit, &name.view, 0, 5000, &entry), PIT_NEW);
        struct pit_in *in = pit_in_add(pit, entry, 256);
        cr_assert_eq(pit_in_set_token(pit, entry, in, (const uint8_t *)"12345678", 8), 0);
        cr_assert_not_null(pit_out_add(pit, entry, 257));
    }
    double each = (double)pit_memory(pit) / N;
    printf("# memory per pending Interest, 80 octet name, 1 M entries: %.1f octets\n", each);
    fflush(stdout);
    cr_assert_leq(each, 256.0);
    cr_assert_eq(pit->blocks.n_used, 0);
    pit_destroy(pit);
}

/** Each kind of damage that pit_check() is there to find. */
Test(pit, check_finds_damage)
{
    make(16, 0);
    struct test_name name, data;
    struct pit_entry *entry = insert_name(letters(&name, 60, 'c'), PIT_CAN_BE_PREFIX);
    struct pit_entry *digest = insert_name(with_digest(&data, test_name_uri(&name, "/d"), true), 0);
    insert("/e", 0);
    struct pit_entry *sibling = insert("/e", PIT_MUST_BE_FRESH);
    for (uint32_t face = 1; face <= 5; face++) {
        pit_in_add(pit, entry, face);
        pit_out_add(pit, entry, face);
    }
    pit_in_set_token(pit, entry, pit_in_find(pit, entry, 4), name.octets, 20);
    cr_assert_eq(pit_check(pit), 0);

#define DAMAGE(place, value)                           \
    do {                                               \
        __typeof__(place) kept = place;                \
        place = (value);                               \
        cr_assert_eq(pit_check(pit), -EINVAL, #place); \
        place = kept;                                  \
        cr_assert_eq(pit_check(pit), 0);               \
    } while (0)
    DAMAGE(entry->n_in, 4);
    DAMAGE(entry->n_out, 6);
    DAMAGE(entry->ext, 1000);
    DAMAGE(entry->flags, entry->flags | PIT_SATISFIED);
    DAMAGE(entry->flags, entry->flags & ~PIT_IN_USE);
    DAMAGE(entry->depth, 33);
    DAMAGE(entry->depth, 31);
    DAMAGE(entry->node.slot, 0);
    DAMAGE(sibling->flags, sibling->flags & ~PIT_SIBLING);
    DAMAGE(sibling->flags, sibling->flags & ~PIT_SELECTORS);
    DAMAGE(sibling->hash, sibling->hash + 1);
    DAMAGE(digest->node.owner, 20);
    DAMAGE(digest->name[2], 0xff);
    DAMAGE(digest->flags, digest->flags & ~PIT_DIGEST);
    DAMAGE(sibling->flags, sibling->flags | PIT_DIGEST);
    DAMAGE(pit->n_digest, 2);
    DAMAGE(pit->n_entries, 5);
    DAMAGE(pit->prefix_depths, 1);
    DAMAGE(pit->blocks.n_used, 3);
    DAMAGE(pit->blocks.n_fresh, 2);
    uint8_t *block = (uint8_t *)pool_at(&pit->blocks, entry->ext);
    DAMAGE(block[4], 3);
#undef DAMAGE
    pit_destroy(pit);
}
