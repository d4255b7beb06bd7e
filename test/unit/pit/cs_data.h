// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_PIT_CS_DATA_H
#define TEST_UNIT_PIT_CS_DATA_H

/* Names and Data for the tests of the Content Store. Include after Criterion, from one file of a program. */
#include <openssl/sha.h>

#include <stdio.h>

#include "pit/cs.h"
#include "test/unit/pit/fake_mbuf.h"

#define DATA_MAX (NDN_NAME_MAX + 128)

static const struct ndn_name_key data_key = {{1, 2, 3, 4}};

/** A Name with the octets it views. */
struct data_name {
    struct ndn_name name;
    uint8_t value[NDN_NAME_MAX];
};

static inline void data_name_parse(struct data_name *n, size_t len)
{
    cr_assert_eq(ndn_name_parse(n->value, len, false, &n->name), VERDICT_OK);
    ndn_name_hash(&n->name, &data_key);
}

static inline void data_name(struct data_name *n, const char *uri)
{
    int len = ndn_name_from_uri(uri, n->value, sizeof n->value);
    cr_assert_geq(len, 0, "%s", uri);
    data_name_parse(n, (size_t)len);
}

static inline uint8_t *data_tlv(uint8_t *p, uint8_t type, size_t len)
{
    *p++ = type;
    if (len < 253) {
        *p++ = (uint8_t)len;
    } else {
        *p++ = 0xfd;
        *p++ = (uint8_t)(len >> 8);
        *p++ = (uint8_t)len;
    }
    return p;
}

/** Data with a name and four octets that tell it from others. @return octets */
static inline uint16_t data_make(uint8_t *buf, const struct ndn_name *name, uint32_t id)
{
    size_t name_tlv = name->len + (name->len < 253 ? 2u : 4u);
    uint8_t *p = data_tlv(buf, 6, name_tlv + 6);
    p = data_tlv(p, 7, name->len);
    memcpy(p, name->value, name->len);
    p = data_tlv(p + name->len, 21, 4);
    memcpy(p, &id, 4);
    return (uint16_t)(p + 4 - buf);
}

/** Insert Data named @p id in segments of @p seg_len, behind @p off octets of headers, and let go of it. */
static inline void data_insert(struct cs *cs, const struct ndn_name *name, uint32_t id, uint16_t off, uint16_t seg_len,
                               uint32_t freshness_ms, bool unsolicited, uint64_t now_ns)
{
    static uint8_t frame[DATA_MAX];
    memset(frame, 0xee, off);
    uint16_t len = data_make(frame + off, name, id);
    frame[off + len] = 0x77;
    struct rte_mbuf *mbuf = fake_chain(frame, (uint16_t)(off + len + 1), seg_len, id);
    struct ndn_name view = *name;
    // Of Data in one buffer the parsed name lies there; of a chain it lies in a copy.
    if (mbuf->next == NULL)
        view.value = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, off + len - 6 - name->len);
    cs_insert(cs, &view, mbuf, off, len, freshness_ms, unsolicited, now_ns);
    rte_pktmbuf_free(mbuf);
}

/** Make @p n the name @p of with the implicit digest of the Data that data_make() gives it for @p id. */
static inline void data_digest_name(struct data_name *n, const struct ndn_name *of, uint32_t id)
{
    uint8_t data[DATA_MAX];
    uint16_t len = data_make(data, of, id);
    memcpy(n->value, of->value, of->len);
    n->value[of->len] = NDN_IMPLICIT_DIGEST;
    n->value[of->len + 1] = NDN_DIGEST_SIZE;
    SHA256(data, len, n->value + of->len + 2);
    data_name_parse(n, (size_t)of->len + NDN_DIGEST_COMP_SIZE);
}

/** Find Data and check that its octets are those it was made of. @return its id, 0: none */
static inline uint32_t data_find(struct cs *cs, const struct ndn_name *name, bool can_be_prefix, bool must_be_fresh,
                                 uint64_t now_ns)
{
    struct cs_hit hit;
    if (!cs_find(cs, name, &data_key, can_be_prefix, must_be_fresh, now_ns, &hit))
        return 0;
    uint8_t octets[DATA_MAX];
    cr_assert_eq(fake_read(hit.mbuf, hit.off, hit.len, octets), hit.len);
    cr_assert_eq(octets[0], 6);
    uint32_t id;
    memcpy(&id, octets + hit.len - 4, 4);
    cr_assert_eq(id, hit.mbuf->dynfield1[0]);
    return id;
}

static inline struct cs *data_cs(uint32_t capacity, uint32_t capacity_max, enum cs_policy policy)
{
    struct cs *cs = NULL;
    ndn_name_hash_init();
    struct cs_config config = {
        .capacity = capacity, .capacity_max = capacity_max, .policy = policy, .pages = ARENA_PAGES_SMALL};
    cr_assert_eq(cs_create(&cs, &config, 0), 0);
    return cs;
}

#endif
