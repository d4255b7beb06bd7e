// SPDX-License-Identifier: Apache-2.0
/*
 * A stream of operations on the tables: PIT with its timers, shared index, wheel, Dead Nonce List, Content Store; small
 * ones, so that they fill up. Each is compared with a plain model and its invariants are checked after each operation.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pit/cs.h"
#include "pit/dnl.h"
#include "pit/pit.h"
#include "test/unit/pit/fake_mbuf.h"
#include "test/unit/pit/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)  \
    do {                  \
        if (!(condition)) \
            abort();      \
    } while (0)

#define TICK        (UINT64_C(1) << WHEEL_TICK_SHIFT)
#define OPS_MAX     400
#define NAMES_MAX   96
#define CAPACITY    24
#define BLOCKS      20
#define FACES       8
#define TIMERS      32
#define INDICES     96
#define CS_CAPACITY 6

static struct test_name names[NAMES_MAX];
static unsigned n_names;

/** What is left of the input. */
static struct {
    const uint8_t *p;
    size_t left;
} in;

static uint8_t next(void)
{
    if (in.left == 0)
        return 0;
    in.left--;
    return *in.p++;
}

/* Names. */

static void add_name(const struct test_name *name)
{
    CHECK(n_names < NAMES_MAX);
    names[n_names] = *name;
    test_name_finish(&names[n_names++]);
}

/** Names that are prefixes of each other, around every limit; each also with a right or a wrong implicit digest. */
static void make_names(void)
{
    static const uint8_t depths[] = {0, 1, 2, 3, 8, 31, 32, 33, 34, 40};
    static const uint8_t widths[] = {1, 20, 42, 98};
    struct test_name name;
    uint8_t value[100] = {0};
    ndn_name_hash_init();
    for (unsigned d = 0; d < sizeof depths; d++) {
        for (unsigned w = 0; w < sizeof widths; w++) {
            if (depths[d] > 3 && w > 1)
                continue;
            name.len = 0;
            for (unsigned i = 0; i < depths[d]; i++) {
                value[0] = (uint8_t)(i + 1 == depths[d] ? w : 0);
                test_name_append(&name, NDN_GENERIC, value, widths[w]);
            }
            add_name(&name);
            if (depths[d] == 0)
                break;
            uint8_t digest[NDN_DIGEST_SIZE];
            test_digest(name.octets, name.len, digest);
            digest[3] ^= (uint8_t)((d + w) % 3 == 0);
            test_name_append(&name, NDN_IMPLICIT_DIGEST, digest, sizeof digest);
            add_name(&name);
        }
    }
}

static bool begins(const struct test_name *name, const struct test_name *prefix)
{
    return prefix->len <= name->len && memcmp(prefix->octets, name->octets, prefix->len) == 0;
}

/* PIT. */

struct pending {
    struct pit_entry *entry;
    const struct test_name *name;
    uint32_t expiry;
    uint16_t generation;
    uint8_t selectors;
    bool in[FACES + 1], out[FACES + 1];
    uint8_t token_len[FACES + 1], token[FACES + 1];
};

static struct pit *pit;
static struct pending pending[CAPACITY];
static unsigned n_pending;
static uint64_t now_ns;

static struct pending *pending_find(const struct test_name *name, uint8_t selectors)
{
    for (unsigned i = 0; i < n_pending; i++) {
        if (pending[i].name == name && pending[i].selectors == selectors)
            return &pending[i];
    }
    return NULL;
}

static struct pending *pending_of(const struct pit_entry *entry)
{
    for (unsigned i = 0; i < n_pending; i++) {
        if (pending[i].entry == entry)
            return &pending[i];
    }
    abort();
}

static bool blocks_left(void)
{
    return pit->blocks.n_used < pit->blocks.capacity;
}

static void op_insert(void)
{
    const struct test_name *name = &names[next() % n_names];
    uint8_t selectors = next() & PIT_SELECTORS;
    uint32_t expiry = wheel_tick(now_ns) + next();
    struct pending *known = pending_find(name, selectors);
    struct pit_entry *entry;
    pit_prefetch_bucket(pit, name->view.hash_full);
    pit_prefetch_entry(pit, name->view.hash_full);
    CHECK(pit_find(pit, &name->view, selectors) == (known != NULL ? known->entry : NULL));
    uint32_t n_blocks = pit->blocks.n_used;
    switch (pit_insert(pit, &name->view, selectors, expiry, &entry)) {
    case PIT_FOUND:
        CHECK(known != NULL && entry == known->entry);
        break;
    case PIT_NEW:
        CHECK(known == NULL && n_pending < CAPACITY);
        pending[n_pending++] = (struct pending){
            .entry = entry, .name = name, .expiry = expiry, .generation = entry->generation, .selectors = selectors};
        break;
    case PIT_FULL:
        CHECK(known == NULL && entry == NULL && pit->blocks.n_used == n_blocks);
        CHECK(n_pending == CAPACITY || name->len > PIT_NAME_INLINE || name->view.n_comps > NDN_NAME_DEPTH);
        break;
    }
}

static void op_erase(struct pending *p)
{
    uint32_t slot = pit_slot(pit, p->entry);
    CHECK(pit_at(pit, slot, p->generation) == p->entry);
    pit_erase(pit, p->entry);
    CHECK(pit_at(pit, slot, p->generation) == NULL);
    *p = pending[--n_pending];
}

static void op_in(struct pending *p)
{
    uint8_t token[32], face = (uint8_t)(1 + next() % FACES), arg = next();
    struct pit_in *record = pit_in_find(pit, p->entry, face);
    CHECK((record != NULL) == p->in[face]);
    if (record == NULL) {
        bool had_room = blocks_left();
        record = pit_in_add(pit, p->entry, face);
        CHECK(record != NULL || !had_room);
        if (record == NULL)
            return;
        p->in[face] = true;
        p->token_len[face] = 0;
    }
    if (arg >= 128) {
        pit_in_remove(pit, p->entry, record);
        p->in[face] = false;
        return;
    }
    uint8_t len = arg % 33;
    memset(token, arg, sizeof token);
    bool had_room = blocks_left();
    if (pit_in_set_token(pit, p->entry, record, token, len) != 0) {
        CHECK(len > PIT_TOKEN_INLINE && !had_room);
        return;
    }
    p->token_len[face] = len;
    p->token[face] = arg;
}

static void op_out(struct pending *p)
{
    uint8_t face = (uint8_t)(1 + next() % FACES);
    struct pit_out *record = pit_out_find(pit, p->entry, face);
    CHECK((record != NULL) == p->out[face]);
    if (record != NULL) {
        pit_out_remove(pit, p->entry, record);
        p->out[face] = false;
        return;
    }
    bool had_room = blocks_left();
    record = pit_out_add(pit, p->entry, face);
    CHECK(record != NULL || !had_room);
    p->out[face] = record != NULL;
}

/** All that is known about an entry must be in it, and nothing else. */
static void check_entry(const struct pending *p)
{
    unsigned n = 0;
    for (struct pit_in *r = NULL; (r = pit_in_next(pit, p->entry, r)) != NULL; n++) {
        CHECK(r->face <= FACES && p->in[r->face] && r->token_len == p->token_len[r->face]);
        const uint8_t *token = pit_in_token(pit, p->entry, r);
        for (unsigned i = 0; i < r->token_len; i++)
            CHECK(token[i] == p->token[r->face]);
    }
    for (unsigned face = 1; face <= FACES; face++)
        n -= p->in[face];
    CHECK(n == 0);
    for (struct pit_out *r = NULL; (r = pit_out_next(pit, p->entry, r)) != NULL; n++)
        CHECK(r->face <= FACES && p->out[r->face]);
    for (unsigned face = 1; face <= FACES; face++)
        n -= p->out[face];
    CHECK(n == 0);
    uint8_t name[NDN_NAME_MAX];
    CHECK(pit_name_copy(pit, p->entry, name) == p->name->len && memcmp(name, p->name->octets, p->name->len) == 0);
}

static const uint8_t *digest_of(void *ctx)
{
    static uint8_t digest[NDN_DIGEST_SIZE];
    const struct test_name *name = ctx;
    test_digest(name->octets, name->len, digest);
    return digest;
}

static bool satisfied(const struct pending *p, const struct test_name *data)
{
    if (p->name == data)
        return true;
    if (p->name->len < data->len)
        return (p->selectors & PIT_CAN_BE_PREFIX) != 0 && begins(data, p->name);
    uint8_t digest[NDN_DIGEST_SIZE];
    test_digest(data->octets, data->len, digest);
    return p->name->view.has_digest && p->name->len == data->len + NDN_DIGEST_COMP_SIZE && begins(p->name, data) &&
           memcmp(p->name->octets + data->len + 2, digest, sizeof digest) == 0;
}

static void op_data(void)
{
    struct test_name *data = &names[next() % n_names];
    struct pit_entry *match[PIT_MATCHES_MAX];
    unsigned n = pit_match_data(pit, &data->view, &test_key, digest_of, data, match), expected = 0;
    bool exact_only = true;
    for (unsigned i = 0; i < n_pending; i++) {
        if (satisfied(&pending[i], data)) {
            expected++;
            exact_only = exact_only && pending[i].name == data;
        }
    }
    CHECK(n == expected);
    CHECK(exact_only || !pit_only_exact(pit, &data->view));
    for (unsigned i = 0; i < n; i++) {
        CHECK(satisfied(pending_of(match[i]), data));
        for (unsigned k = 0; k < i; k++)
            CHECK(match[k] != match[i]);
    }
}

static void expired(void *ctx, struct pit_entry *entry)
{
    struct pending *p = pending_of(entry);
    CHECK(ctx == &pit && (int32_t)(p->expiry - wheel_tick(now_ns)) <= 0);
    if (next() % 4 == 0) {
        p->expiry = wheel_tick(now_ns) + 1 + next();
        pit_arm(pit, entry, p->expiry);
    } else {
        pit_erase(pit, entry);
        *p = pending[--n_pending];
    }
}

static void op_arm(struct pending *p)
{
    p->expiry = wheel_tick(now_ns) + 1 + ((uint32_t)next() << next() % 12);
    pit_arm(pit, p->entry, p->expiry);
}

/* Wheel on its own, with far ticks. */

static struct timer {
    struct wheel_node node;
    uint32_t want;
    bool armed;
} timer[TIMERS + 1];
static struct wheel *wheel;

static void fired(void *ctx, uint32_t index)
{
    CHECK(ctx == &wheel && index >= 1 && index <= TIMERS && timer[index].armed);
    CHECK((int32_t)(timer[index].want - wheel_tick(now_ns)) <= 0);
    timer[index].armed = false;
}

static void op_timer(void)
{
    uint32_t index = 1 + next() % TIMERS, ahead = (uint32_t)next() << next() % 24;
    if (ahead == 0) {
        wheel_cancel(wheel, index);
        timer[index].armed = false;
        return;
    }
    timer[index].want = wheel_tick(now_ns) + (ahead < WHEEL_MAX_TICKS ? ahead : WHEEL_MAX_TICKS) - 3;
    timer[index].armed = true;
    wheel_arm(wheel, index, timer[index].want);
}

static void op_time(void)
{
    uint8_t far = next();
    now_ns += ((uint64_t)next() << (far % 16)) * (TICK / 8);
    uint32_t max = far >= 128 ? UINT32_MAX : far % 4;
    pit_poll(pit, now_ns, max, expired, &pit);
    wheel_poll(wheel, now_ns, max, fired, &wheel);
    if (max != UINT32_MAX)
        return;
    for (unsigned i = 0; i < n_pending; i++)
        CHECK((int32_t)(pending[i].expiry - wheel_tick(now_ns)) > 0);
    for (unsigned i = 1; i <= TIMERS; i++)
        CHECK(!timer[i].armed || (int32_t)(timer[i].want - wheel_tick(now_ns)) > 0);
}

/* Shared index on its own, with few hashes. */

static struct table table;
static uint64_t index_hash[INDICES + 1]; /* 0: not in the index */

static void op_index(void)
{
    uint32_t index = 1 + next() % INDICES;
    uint8_t choice = next();
    uint64_t hash = (uint64_t)(1 + choice % 3) << 48 | (choice >> 4) % 3;
    if (index_hash[index] == 0) {
        if (table_insert(&table, hash, index) == 0)
            index_hash[index] = hash;
        else
            CHECK(table.n_entries >= TABLE_PROBES * TABLE_BUCKET_SLOTS - 2 * TABLE_BUCKET_SLOTS);
        return;
    }
    struct table_iter iter;
    unsigned n = 0;
    for (uint32_t i = table_first(&table, index_hash[index], &iter); i != 0; i = table_next(&table, &iter))
        n += i == index;
    CHECK(n == 1);
    CHECK(table_remove(&table, index_hash[index], index) == 0);
    CHECK(table_remove(&table, index_hash[index], index) != 0);
    index_hash[index] = 0;
}

/* Dead Nonce List. */

#define NONCES 4
static struct dnl *dnl;
static uint64_t dead_ns[NAMES_MAX][NONCES]; /* when added, plus one; 0: never */

static void op_nonce(void)
{
    uint8_t name = next() % n_names, arg = next();
    uint32_t nonce = arg % NONCES;
    uint64_t hash = names[name].view.hash_full, age_ns = now_ns + 1 - dead_ns[name][nonce];
    dnl_prefetch(dnl, hash, nonce);
    bool has = dnl_has(dnl, hash, nonce, now_ns);
    bool ever = dead_ns[name][nonce] != 0;
    CHECK(!has || (ever && age_ns <= (DNL_LIFETIME_MS + 3) * UINT64_C(1000000)));
    CHECK(has || !ever || age_ns > DNL_LIFETIME_MS * UINT64_C(1000000) || dnl_overruns(dnl) > 0);
    if (arg >= 128) {
        dnl_add(dnl, hash, nonce, now_ns);
        dead_ns[name][nonce] = now_ns + 1;
        CHECK(dnl_has(dnl, hash, nonce, now_ns));
    }
}

/* Content Store. */

static struct cs *cs;
static struct {
    uint32_t id; /* of the newest Data of this name, 0: none */
    uint64_t fresh_until_ns;
} stored[NAMES_MAX];
static uint32_t last_id;

static uint8_t *put_tlv(uint8_t *p, uint8_t type, size_t len)
{
    *p++ = type;
    if (len >= 253) {
        *p++ = 0xfd;
        *p++ = (uint8_t)(len >> 8);
    }
    *p++ = (uint8_t)len;
    return p;
}

static void op_cs_insert(void)
{
    static uint8_t frame[NDN_NAME_MAX + 64];
    uint8_t which = next() % n_names, arg = next();
    const struct test_name *name = &names[which];
    uint32_t off = arg % 8, freshness_ms = (uint32_t)next() * 10, id = ++last_id;
    uint8_t *p = put_tlv(frame + off, 6, name->len + (name->len < 253 ? 2u : 4u) + 6);
    p = put_tlv(p, 7, name->len);
    memcpy(p, name->octets, name->len);
    p = put_tlv(p + name->len, 21, 4);
    memcpy(p, &id, 4);
    uint32_t len = (uint32_t)(p + 4 - frame) - off;
    struct rte_mbuf *mbuf = fake_chain(frame, (uint16_t)(off + len), (uint16_t)(arg >= 128 ? 2000 : 1 + arg / 8), id);
    struct ndn_name view = name->view;
    if (mbuf->next == NULL)
        view.value = rte_pktmbuf_mtod_offset(mbuf, const uint8_t *, off + len - 6 - name->len);
    cs_insert(cs, &view, mbuf, off, len, freshness_ms, arg % 3 == 0, now_ns);
    rte_pktmbuf_free(mbuf);
    stored[which].id = id;
    stored[which].fresh_until_ns = freshness_ms == 0 ? 0 : now_ns + (uint64_t)freshness_ms * 1000000;
}

static void op_cs_find(void)
{
    const struct test_name *name = &names[next() % n_names];
    uint8_t arg = next();
    bool can_be_prefix = (arg & 1) != 0, must_be_fresh = (arg & 2) != 0;
    struct cs_hit hit;
    cs_prefetch_bucket(cs, name->view.hash_full);
    cs_prefetch_entry(cs, name->view.hash_full);
    if (!cs_find(cs, &name->view, &test_key, can_be_prefix, must_be_fresh, now_ns, &hit))
        return;
    uint8_t octets[NDN_NAME_MAX + 64];
    uint32_t id;
    CHECK(hit.len >= 4 && hit.len <= sizeof octets && fake_read(hit.mbuf, hit.off, hit.len, octets) == hit.len);
    memcpy(&id, octets + hit.len - 4, 4);
    unsigned i = 0;
    while (i < n_names && stored[i].id != id)
        i++;
    CHECK(i < n_names);
    CHECK(can_be_prefix ? begins(&names[i], name) : &names[i] == name);
    CHECK(!must_be_fresh || stored[i].fresh_until_ns >= now_ns);
}

static void op_cs_control(void)
{
    uint8_t arg = next();
    if (arg < 64)
        CHECK((cs_resize(cs, arg % (CS_CAPACITY + 3)) == 0) == (arg % (CS_CAPACITY + 3) <= CS_CAPACITY));
    else if (arg < 128)
        cs_erase(cs, &names[next() % n_names].view, arg % 4);
    else
        cs_poll(cs, now_ns);
}

static void start(void)
{
    if (n_names == 0)
        make_names();
    // Near the wrap of the tick number.
    now_ns = UINT64_C(0xfffffe00) << WHEEL_TICK_SHIFT;
    n_pending = 0;
    memset(timer, 0, sizeof timer);
    memset(index_hash, 0, sizeof index_hash);
    memset(dead_ns, 0, sizeof dead_ns);
    memset(stored, 0, sizeof stored);
    last_id = 0;
    struct pit_config pit_config = {.capacity = CAPACITY, .ext_blocks = BLOCKS, .pages = ARENA_PAGES_SMALL};
    struct cs_config cs_config = {.capacity = CS_CAPACITY,
                                  .capacity_max = CS_CAPACITY,
                                  .policy = next() % 2 == 0 ? CS_LRU : CS_PRIORITY_FIFO,
                                  .pages = ARENA_PAGES_SMALL};
    CHECK(pit_create(&pit, &pit_config, now_ns) == 0);
    CHECK(wheel_create(&wheel, timer, sizeof timer[0], offsetof(struct timer, node), now_ns) == 0);
    CHECK(table_init(&table, 32, ARENA_PAGES_SMALL) == 0);
    CHECK(dnl_create(&dnl, 64, ARENA_PAGES_SMALL) == 0);
    CHECK(cs_create(&cs, &cs_config, now_ns) == 0);
}

static void finish(void)
{
    while (n_pending != 0)
        op_erase(&pending[n_pending - 1]);
    CHECK(pit_check(pit) == 0 && pit->blocks.n_used == 0 && pit_count(pit) == 0);
    pit_destroy(pit);
    wheel_destroy(wheel);
    table_fini(&table);
    dnl_destroy(dnl);
    cs_destroy(cs);
    CHECK(fake_n_live == 0);
}

static void op(uint8_t code)
{
    struct pending *p = n_pending != 0 && code >= 3 && code <= 6 ? &pending[next() % n_pending] : NULL;
    switch (code) {
    case 3:
        if (p != NULL)
            op_erase(p);
        break;
    case 4:
        if (p != NULL)
            op_in(p);
        break;
    case 5:
        if (p != NULL)
            op_out(p);
        break;
    case 6:
        if (p != NULL)
            op_arm(p);
        break;
    case 7:
    case 8:
        op_data();
        break;
    case 9:
        op_time();
        break;
    case 10:
        op_timer();
        break;
    case 11:
        op_index();
        break;
    case 12:
        op_nonce();
        break;
    case 13:
        op_cs_insert();
        break;
    case 14:
        op_cs_find();
        break;
    case 15:
        op_cs_control();
        break;
    default:
        op_insert();
        break;
    }
}

/** The invariants of what the operation can have touched. */
static void check_after(uint8_t code, unsigned n)
{
    if (code < 10) {
        CHECK(pit_count(pit) == n_pending && pit_check(pit) == 0);
        if (n_pending != 0)
            check_entry(&pending[n % n_pending]);
    }
    if (code == 9 || code == 10)
        CHECK(wheel_check(wheel) == 0);
    if (code >= 13)
        CHECK(cs_check(cs) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    in.p = data;
    in.left = size;
    start();
    for (unsigned n = 0; in.left != 0 && n < OPS_MAX; n++) {
        uint8_t code = next() % 16;
        op(code);
        check_after(code, n);
    }
    finish();
    return 0;
}
