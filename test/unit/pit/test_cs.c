// SPDX-License-Identifier: Apache-2.0
#include "pit/cs.h"

#include <criterion/criterion.h>

#include "test/unit/pit/fake_mbuf.h"

static const struct ndn_name_key key = {{1, 2, 3, 4}};

static struct cs *make(uint32_t capacity, enum cs_policy policy)
{
    struct cs *cs = NULL;
    ndn_name_hash_init();
    struct cs_config config = {
        .capacity = capacity, .capacity_max = capacity, .policy = policy, .pages = ARENA_PAGES_SMALL};
    cr_assert_eq(cs_create(&cs, &config, 0), 0);
    return cs;
}

static void parse(const char *text, uint8_t *value, struct ndn_name *name)
{
    int n = ndn_name_from_uri(text, value, NDN_NAME_MAX);
    cr_assert_geq(n, 0, "%s", text);
    cr_assert_eq(ndn_name_parse(value, (size_t)n, false, name), VERDICT_OK);
    ndn_name_hash(name, &key);
}

static void insert(struct cs *cs, const char *text, uint32_t freshness_ms, uint64_t now_ns, unsigned id)
{
    uint8_t value[NDN_NAME_MAX], data[NDN_NAME_MAX + 64];
    struct ndn_name name;
    parse(text, value, &name);
    cr_assert_lt(name.len, 240);
    data[0] = 6;
    data[1] = (uint8_t)(name.len + 2);
    data[2] = 7;
    data[3] = (uint8_t)name.len;
    memcpy(data + 4, value, name.len);
    struct rte_mbuf *mbuf = fake_segment(data, (uint16_t)(name.len + 4), id);
    cs_insert(cs, &name, mbuf, 0, name.len + 4u, freshness_ms, false, now_ns);
    rte_pktmbuf_free(mbuf);
    cr_assert_eq(cs_check(cs), 0);
}

/** Id of the Data found, 0: none. */
static unsigned find(struct cs *cs, const char *text, bool can_be_prefix, bool must_be_fresh, uint64_t now_ns)
{
    uint8_t value[NDN_NAME_MAX];
    struct ndn_name name;
    struct cs_hit hit;
    parse(text, value, &name);
    bool found = cs_find(cs, &name, &key, can_be_prefix, must_be_fresh, now_ns, &hit);
    cr_assert_eq(cs_check(cs), 0);
    return found ? hit.mbuf->dynfield1[0] : 0;
}

Test(cs, finds_exact_and_prefix)
{
    struct cs *cs = make(4, CS_LRU);
    insert(cs, "/a/b/c", 10, 1000, 1);
    insert(cs, "/a/b/d", 0, 1000, 2);
    cr_assert_eq(find(cs, "/a/b/c", false, false, 1000), 1);
    cr_assert_eq(find(cs, "/a/b", false, false, 1000), 0);
    cr_assert_eq(find(cs, "/a/b", true, false, 1000), 2);
    cr_assert_eq(find(cs, "/a/b", true, true, 1000), 1);
    cr_assert_eq(find(cs, "/a/b", true, true, 10001001), 0);
    cs_destroy(cs);
    cr_assert_eq(fake_n_live, 0);
}
