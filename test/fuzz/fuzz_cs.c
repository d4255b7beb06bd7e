// SPDX-License-Identifier: Apache-2.0
/*
 * Content Store under an op stream: what is found was inserted under that name, is fresh when it must be, and its
 * octets are those of the newest Data of the name; every mbuf comes back.
 */
#include "pit/cs.h"

#include <stdio.h>
#include <stdlib.h>

#include "test/unit/pit/fake_mbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
            abort();                                           \
        }                                                      \
    } while (0)

#define NAMES 256
#define MS    UINT64_C(1000000)

static const struct ndn_name_key key = {{3, 1, 4}};

struct input {
    const uint8_t *p, *end;
};

static uint8_t next(struct input *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

/** Newest Data of each name. */
struct newest {
    uint32_t id;
    uint64_t fresh_until;
};

struct run {
    struct cs *cs;
    uint64_t now_ns;
    uint32_t next_id;
    struct newest newest[NAMES];
};

/** Name number @p n: up to four components of two bits each; component 3 is too long to stand in an entry. */
static void name_make(uint8_t n, uint8_t *value, struct ndn_name *name)
{
    size_t len = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t comp = (n >> (2 * i)) & 3;
        if (comp == 0)
            break;
        uint8_t size = comp == 3 ? 90 : comp;
        value[len] = 8;
        value[len + 1] = size;
        memset(value + len + 2, 'a' + comp, size);
        len += 2u + size;
    }
    CHECK(ndn_name_parse(value, len, false, name) == VERDICT_OK);
    ndn_name_hash(name, &key);
}

/** The same number for all octets that name_make() makes the same name of. */
static uint8_t canonical(uint8_t n)
{
    unsigned i = 0;
    while (i < 4 && ((n >> (2 * i)) & 3) != 0)
        i++;
    return i == 4 ? n : (uint8_t)(n & ((1u << (2 * i)) - 1));
}

static void insert(struct run *r, struct input *in)
{
    uint8_t n = next(in), shape = next(in), value[512], packet[600];
    struct ndn_name name;
    name_make(n, value, &name);
    uint32_t id = r->next_id++ % FAKE_IDS, off = shape & 15;
    memset(packet, 0, off);
    uint8_t *p = packet + off;
    static const uint8_t header[] = {6, 0xfd, 0, 0, 7, 0xfd, 0, 0};
    memcpy(p, header, sizeof header);
    p[2] = (uint8_t)((name.len + 8u) >> 8);
    p[3] = (uint8_t)(name.len + 8u);
    p[6] = (uint8_t)(name.len >> 8);
    p[7] = (uint8_t)name.len;
    memcpy(p + 8, value, name.len);
    memcpy(p + 8 + name.len, &id, 4);
    uint32_t len = name.len + 12u;
    struct rte_mbuf *mbuf = fake_chain(packet, (uint16_t)(off + len), (uint16_t)(16 + shape), id);
    uint32_t freshness_ms = (shape & 7) * 3u;
    if (mbuf->next == NULL)
        name.value = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, off + 8);
    cs_insert(r->cs, &name, mbuf, off, len, freshness_ms, (shape & 16) != 0, r->now_ns);
    rte_pktmbuf_free(mbuf);
    r->newest[canonical(n)] = (struct newest){id, freshness_ms == 0 ? 0 : r->now_ns + freshness_ms * MS};
}

static void find(struct run *r, struct input *in, bool digest)
{
    uint8_t n = next(in), how = next(in), value[512];
    struct ndn_name name;
    name_make(n, value, &name);
    bool can_be_prefix = (how & 1) != 0, must_be_fresh = (how & 2) != 0;
    if (digest) {
        memset(value + name.len, how, NDN_DIGEST_COMP_SIZE);
        value[name.len] = NDN_IMPLICIT_DIGEST;
        value[name.len + 1] = NDN_DIGEST_SIZE;
        CHECK(ndn_name_parse(value, name.len + (size_t)NDN_DIGEST_COMP_SIZE, false, &name) == VERDICT_OK);
        ndn_name_hash(&name, &key);
    }
    cs_prefetch_entry(r->cs, name.hash_full);
    struct cs_hit hit;
    if (!cs_find(r->cs, &name, &key, can_be_prefix, must_be_fresh, r->now_ns, &hit))
        return;
    CHECK(!digest);
    uint8_t packet[600];
    CHECK(hit.len < sizeof packet && fake_read(hit.mbuf, hit.off, hit.len, packet) == hit.len);
    uint32_t len = hit.len - 12, id;
    CHECK(can_be_prefix ? len >= name.len : len == name.len);
    CHECK(memcmp(packet + 8, name.value, name.len) == 0);
    memcpy(&id, packet + 8 + len, 4);
    for (unsigned i = 0; i < NAMES; i++)
        if (r->newest[i].id == id)
            CHECK(!must_be_fresh || r->newest[i].fresh_until >= r->now_ns);
    if (len == name.len)
        CHECK(r->newest[canonical(n)].id == id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    struct run r = {.next_id = 1};
    ndn_name_hash_init();
    uint8_t kind = next(&in);
    struct cs_config config = {
        .capacity = kind & 31,
        .capacity_max = 32,
        .policy = (kind & 32) != 0 ? CS_PRIORITY_FIFO : CS_LRU,
        .pages = ARENA_PAGES_SMALL,
    };
    CHECK(cs_create(&r.cs, &config, 0) == 0);
    while (in.p < in.end) {
        uint8_t op = next(&in);
        if (op < 110) {
            insert(&r, &in);
        } else if (op < 200) {
            find(&r, &in, op < 120);
        } else if (op < 230) {
            r.now_ns += next(&in) * MS / 4;
            cs_poll(r.cs, r.now_ns);
        } else if (op < 240) {
            r.now_ns += next(&in) * 1000 * MS;
            cs_poll(r.cs, r.now_ns);
        } else if (op < 248) {
            CHECK(cs_resize(r.cs, next(&in) & 31) == 0);
        } else {
            uint8_t value[512];
            struct ndn_name name;
            name_make(next(&in), value, &name);
            cs_erase(r.cs, &name, op & 3);
        }
        // Every fourth time is enough to tell which op broke it.
        if ((op & 3) == 0)
            CHECK(cs_check(r.cs) == 0);
        struct cs_info info;
        cs_info(r.cs, &info);
        CHECK(info.n_entries <= 32);
    }
    CHECK(cs_check(r.cs) == 0);
    cs_destroy(r.cs);
    CHECK(fake_n_live == 0);
    return 0;
}
