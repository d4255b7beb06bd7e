// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_PIT_NAMES_H
#define TEST_UNIT_PIT_NAMES_H

/* Names and reproducible random numbers for the tests of the tables. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "parser/ndn_name.h"

static const struct ndn_name_key test_key = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}};

/** A name that owns its octets. */
struct test_name {
    uint8_t octets[NDN_NAME_MAX];
    uint16_t len;
    struct ndn_name view;
};

struct test_random {
    uint64_t state;
};

static inline uint32_t test_random(struct test_random *r, uint32_t below)
{
    r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((r->state >> 33) % below);
}

/** Parse and hash what stands in @p name->octets. */
static inline void test_name_finish(struct test_name *name)
{
    if (ndn_name_parse(name->octets, name->len, false, &name->view) != VERDICT_OK)
        abort();
    ndn_name_hash(&name->view, &test_key);
}

/** Append a component of at most 252 octets. */
static inline void test_name_append(struct test_name *name, uint8_t type, const void *value, uint8_t len)
{
    if (name->len + 2u + len > sizeof name->octets)
        abort();
    name->octets[name->len] = type;
    name->octets[name->len + 1] = len;
    memcpy(name->octets + name->len + 2, value, len);
    name->len = (uint16_t)(name->len + 2 + len);
}

/** Name of an NDN URI. */
static inline struct test_name *test_name_uri(struct test_name *name, const char *uri)
{
    int len = ndn_name_from_uri(uri, name->octets, sizeof name->octets);
    if (len < 0)
        abort();
    name->len = (uint16_t)len;
    test_name_finish(name);
    return name;
}

/** The implicit digest that tests give the Data of a name: any function of the name does. */
static inline void test_digest(const uint8_t *value, uint16_t len, uint8_t digest[NDN_DIGEST_SIZE])
{
    uint64_t x = 88172645463325252u;
    for (uint16_t i = 0; i < len; i++)
        x = (x ^ value[i]) * 1099511628211u;
    for (unsigned i = 0; i < NDN_DIGEST_SIZE; i++)
        digest[i] = (uint8_t)((x = x * 6364136223846793005u + 1) >> 56);
}

#endif
