// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_PIT_PIT_FIXTURE_H
#define TEST_UNIT_PIT_PIT_FIXTURE_H

/* A small PIT and short ways to fill it and to match Data. Include after Criterion, from one file of a program. */
#include "pit/pit.h"
#include "test/unit/pit/names.h"

static struct pit *pit;

static inline void make(uint32_t capacity, uint32_t ext_blocks)
{
    struct pit_config config = {.capacity = capacity, .ext_blocks = ext_blocks, .pages = ARENA_PAGES_SMALL};
    cr_assert_eq(pit_create(&pit, &config, 0), 0);
}

static inline struct pit_entry *insert_name(const struct test_name *name, uint8_t selectors)
{
    struct pit_entry *entry;
    cr_assert_eq(pit_insert(pit, &name->view, selectors, 1000, &entry), PIT_NEW);
    cr_assert_eq(pit_check(pit), 0);
    return entry;
}

static inline struct pit_entry *insert(const char *uri, uint8_t selectors)
{
    struct test_name name;
    return insert_name(test_name_uri(&name, uri), selectors);
}

/** A name of @p n_comps one-letter components, the last of which is @p last. */
static inline struct test_name *letters(struct test_name *name, unsigned n_comps, char last)
{
    name->len = 0;
    for (unsigned i = 1; i <= n_comps; i++)
        test_name_append(name, NDN_GENERIC, i == n_comps ? &last : "x", 1);
    test_name_finish(name);
    return name;
}

static unsigned n_digests;

static inline const uint8_t *digest_of_name(void *ctx)
{
    static uint8_t digest[NDN_DIGEST_SIZE];
    const struct test_name *data = ctx;
    test_digest(data->octets, data->len, digest);
    n_digests++;
    return digest;
}

static inline unsigned match_name(struct test_name *data, struct pit_entry *match[PIT_MATCHES_MAX])
{
    return pit_match_data(pit, &data->view, &test_key, digest_of_name, data, match);
}

static inline unsigned match(const char *uri, struct pit_entry *found[PIT_MATCHES_MAX])
{
    struct test_name data;
    return match_name(test_name_uri(&data, uri), found);
}

static inline bool has(struct pit_entry *const *found, unsigned n, const struct pit_entry *entry)
{
    unsigned times = 0;
    for (unsigned i = 0; i < n; i++)
        times += found[i] == entry;
    cr_assert_leq(times, 1);
    return times == 1;
}

/** The Interest for exactly this Data: its name and its digest. */
static inline struct test_name *with_digest(struct test_name *name, const struct test_name *data, bool right)
{
    uint8_t digest[NDN_DIGEST_SIZE];
    *name = *data;
    test_digest(data->octets, data->len, digest);
    digest[31] ^= !right;
    test_name_append(name, NDN_IMPLICIT_DIGEST, digest, sizeof digest);
    test_name_finish(name);
    return name;
}

#endif
