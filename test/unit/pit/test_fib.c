// SPDX-License-Identifier: Apache-2.0
#include "pit/fib.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <string.h>

static const struct ndn_name_key key = {{1, 2, 3, 4}};

static struct fib *make(uint32_t capacity)
{
    struct fib *fib = NULL;
    ndn_name_hash_init();
    struct fib_config config = {.capacity = capacity, .pages = ARENA_PAGES_SMALL, .key = &key};
    cr_assert_eq(fib_create(&fib, &config), 0);
    return fib;
}

/** TLV-VALUE of an URI, in a static buffer. */
static const uint8_t *uri(const char *text, uint16_t *len)
{
    static uint8_t value[NDN_NAME_MAX];
    int n = ndn_name_from_uri(text, value, sizeof value);
    cr_assert_geq(n, 0, "%s", text);
    *len = (uint16_t)n;
    return value;
}

static const struct fib_entry *lookup(const struct fib *fib, const char *text)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    struct ndn_name name;
    cr_assert_eq(ndn_name_parse(value, len, false, &name), VERDICT_OK);
    ndn_name_hash(&name, &key);
    fib_prefetch(fib, &name);
    fib_prefetch_entry(fib, &name);
    return fib_lookup(fib, &name);
}

static int set(struct fib *fib, const char *text, uint32_t face, uint32_t cost)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_nexthop_set(fib, value, len, face, cost);
}

static int unset(struct fib *fib, const char *text, uint32_t face)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_nexthop_unset(fib, value, len, face);
}

static int strategy(struct fib *fib, const char *text, uint16_t number)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_strategy_set(fib, value, len, number);
}

static int no_strategy(struct fib *fib, const char *text)
{
    uint16_t len;
    const uint8_t *value = uri(text, &len);
    return fib_strategy_unset(fib, value, len);
}

Test(fib, longest_prefix_wins)
{
    struct fib *fib = make(16);
    cr_assert_null(lookup(fib, "/a/b"));
    cr_assert_eq(set(fib, "/a", 300, 1), 0);
    cr_assert_eq(set(fib, "/a/b/c", 301, 1), 0);
    cr_assert_eq(lookup(fib, "/a/b")->nexthop[0].face, 300);
    cr_assert_eq(lookup(fib, "/a/b")->depth, 1);
    cr_assert_eq(lookup(fib, "/a/b/c/d")->nexthop[0].face, 301);
    cr_assert_null(lookup(fib, "/b"));
    cr_assert_eq(set(fib, "/", 302, 1), 0);
    cr_assert_eq(lookup(fib, "/b")->nexthop[0].face, 302);
    cr_assert_eq(lookup(fib, "/b")->depth, 0);
    cr_assert_eq(unset(fib, "/a", 300), 0);
    cr_assert_eq(lookup(fib, "/a/b")->nexthop[0].face, 302);
    cr_assert_eq(unset(fib, "/a", 300), -ENOENT);
    cr_assert_eq(fib_count(fib), 2);
    fib_destroy(fib);
}

Test(fib, what_a_prefix_lacks_is_inherited)
{
    struct fib *fib = make(16);
    cr_assert_eq(set(fib, "/a/b", 300, 1), 0);
    cr_assert_eq(strategy(fib, "/", 7), 0);
    cr_assert_eq(lookup(fib, "/a/b")->strategy, 7);
    cr_assert_eq(strategy(fib, "/a", 8), 0);
    cr_assert_eq(lookup(fib, "/a/b")->strategy, 8);
    cr_assert_eq(lookup(fib, "/a/x")->n_nexthops, 0);
    cr_assert_eq(strategy(fib, "/a/b/c", 9), 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->nexthop[0].face, 300);
    cr_assert_eq(set(fib, "/a/b", 299, 1), 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->n_nexthops, 2);
    cr_assert_eq(lookup(fib, "/a/b/c")->nexthop[0].face, 299);
    cr_assert_eq(no_strategy(fib, "/a"), 0);
    cr_assert_eq(lookup(fib, "/a/b")->strategy, 7);
    cr_assert_eq(fib_face_remove(fib, 299), 1);
    cr_assert_eq(fib_face_remove(fib, 300), 1);
    cr_assert_eq(lookup(fib, "/a/b/c")->n_nexthops, 0);
    cr_assert_eq(lookup(fib, "/a/b/c")->strategy, 9);
    cr_assert_eq(lookup(fib, "/a/b")->depth, 0);
    fib_destroy(fib);
}
