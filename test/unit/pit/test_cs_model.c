// SPDX-License-Identifier: Apache-2.0
/* Random runs of the Content Store against a plain list. */
#include "pit/cs.h"

#include <criterion/criterion.h>

#include "pit/cs_impl.h"
#include "test/unit/pit/cs_data.h"

#define MS        UINT64_C(1000000)
#define CAPACITY  24
#define NAMES_MAX 400
#define ITEMS_MAX (CAPACITY + 1)

enum { UNSOLICITED, STALE, MAIN };

struct item {
    const struct ndn_name *name;
    uint32_t id;
    uint64_t inserted; /**< order of insertion */
    uint64_t order;    /**< order in its queue: of use, of insertion, of becoming stale */
    uint64_t fresh_until;
    uint32_t stale_tick;
    int queue;
};

struct model {
    struct item item[ITEMS_MAX];
    unsigned n_items, capacity;
    bool lru;
    uint64_t counter;
};

static struct data_name names[NAMES_MAX];
static unsigned n_names;
static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % below;
}

/** All names of up to four components of a few kinds, one of them too long for an entry. */
static void names_make(void)
{
    static const char long_comp[] = "/a-component-of-more-octets-than-an-entry-has-for-the-whole-name-"
                                    "so-that-it-has-to-be-read-from-the-data";
    static const char *const comp[] = {"/a", "/bb", long_comp};
    for (unsigned depth = 1; depth <= 4; depth++) {
        unsigned n = 1;
        for (unsigned i = 0; i < depth; i++)
            n *= 3;
        for (unsigned code = 0; code < n; code++) {
            char uri[1024] = "";
            unsigned c = code;
            for (unsigned i = 0; i < depth; i++, c /= 3)
                strcat(uri, comp[c % 3]);
            data_name(&names[n_names++], uri);
        }
    }
}

static bool is_prefix(const struct ndn_name *prefix, const struct ndn_name *name)
{
    return prefix->len <= name->len && memcmp(prefix->value, name->value, prefix->len) == 0;
}

static bool is_fresh(const struct item *item, uint64_t now_ns)
{
    return item->fresh_until != 0 && item->fresh_until >= now_ns;
}

static struct item *model_exact(struct model *m, const struct ndn_name *name)
{
    for (unsigned i = 0; i < m->n_items; i++)
        if (m->item[i].name == name)
            return &m->item[i];
    return NULL;
}

static uint32_t model_find(struct model *m, const struct ndn_name *name, bool can_be_prefix, bool must_be_fresh,
                           uint64_t now_ns)
{
    struct item *found = model_exact(m, name);
    if (m->capacity == 0)
        return 0;
    if (found != NULL && must_be_fresh && !is_fresh(found, now_ns))
        found = NULL;
    for (unsigned i = 0; can_be_prefix && i < m->n_items; i++) {
        struct item *item = &m->item[i];
        if (found != NULL && found->name == name)
            break;
        if (is_prefix(name, item->name) && (!must_be_fresh || is_fresh(item, now_ns)) &&
            (found == NULL || found->inserted < item->inserted))
            found = item;
    }
    if (found == NULL)
        return 0;
    if (m->lru)
        found->order = ++m->counter;
    return found->id;
}

/** Take out what the CS must have evicted. Of several that became stale at one tick any may have gone. */
static void model_evict(struct model *m)
{
    struct item *first = NULL;
    for (unsigned i = 0; i < m->n_items; i++) {
        struct item *item = &m->item[i];
        if (first == NULL || item->queue < first->queue || (item->queue == first->queue && item->order < first->order))
            first = item;
    }
    struct item *gone = NULL;
    for (unsigned i = 0; i < m->n_items; i++) {
        struct item *item = &m->item[i];
        if (item->queue == first->queue && item->order == first->order && fake_live[item->id] == 0)
            gone = item;
    }
    cr_assert_not_null(gone);
    *gone = m->item[--m->n_items];
}

static void model_insert(struct model *m, const struct ndn_name *name, uint32_t id, uint32_t freshness_ms,
                         bool unsolicited, uint64_t now_ns)
{
    if (m->capacity == 0)
        return;
    struct item *item = model_exact(m, name);
    if (item != NULL)
        unsolicited = unsolicited && item->queue == UNSOLICITED;
    else if (m->n_items == m->capacity)
        model_evict(m);
    if (item == NULL)
        item = &m->item[m->n_items++];
    *item = (struct item){.name = name, .id = id, .inserted = ++m->counter, .order = m->counter, .queue = MAIN};
    item->fresh_until = freshness_ms == 0 ? 0 : now_ns + freshness_ms * MS;
    item->stale_tick = wheel_tick_after_ms(now_ns, freshness_ms);
    if (!m->lru)
        item->queue = unsolicited ? UNSOLICITED : freshness_ms == 0 ? STALE : MAIN;
}

static void model_poll(struct model *m, uint64_t now_ns)
{
    if (m->lru)
        return;
    // In the order of ticks; those of one tick get the same place.
    for (;;) {
        uint32_t tick = 0;
        bool due = false;
        for (unsigned i = 0; i < m->n_items; i++) {
            const struct item *item = &m->item[i];
            if (item->queue == MAIN && item->stale_tick <= wheel_tick(now_ns) && (!due || item->stale_tick < tick)) {
                tick = item->stale_tick;
                due = true;
            }
        }
        if (!due)
            return;
        m->counter++;
        for (unsigned i = 0; i < m->n_items; i++) {
            struct item *item = &m->item[i];
            if (item->queue == MAIN && item->stale_tick == tick) {
                item->queue = STALE;
                item->order = m->counter;
            }
        }
    }
}

static unsigned model_erase(struct model *m, const struct ndn_name *prefix)
{
    unsigned n = 0;
    for (unsigned i = 0; i < m->n_items;) {
        if (is_prefix(prefix, m->item[i].name)) {
            m->item[i] = m->item[--m->n_items];
            n++;
        } else {
            i++;
        }
    }
    return n;
}

static void same_content(const struct cs *cs, const struct model *m)
{
    cr_assert_eq(cs_check(cs), 0);
    struct cs_info info;
    cs_info(cs, &info);
    cr_assert_eq(info.n_entries, m->n_items);
    for (unsigned i = 0; i < m->n_items; i++)
        cr_assert_neq(fake_live[m->item[i].id], 0, "Data %u is missing", m->item[i].id);
}

static void run(enum cs_policy policy, uint64_t seed, unsigned n_ops)
{
    struct model m = {.capacity = CAPACITY, .lru = policy == CS_LRU};
    struct cs *cs = data_cs(CAPACITY, CAPACITY, policy);
    uint64_t now_ns = 0;
    uint32_t next_id = 1;
    unsigned hits = 0;
    random_state = seed;
    for (unsigned op = 0; op < n_ops; op++) {
        // Few enough names that many are in the CS.
        const struct ndn_name *name = &names[draw(draw(2) == 0 ? 40 : n_names)].name;
        uint32_t kind = draw(100);
        if (kind < 40) {
            static const uint32_t freshness[] = {0, 3, 20, 300};
            uint32_t ms = freshness[draw(4)];
            bool unsolicited = draw(4) == 0;
            uint32_t id = next_id++;
            data_insert(cs, name, id, (uint16_t)draw(20), (uint16_t)(1 + draw(200)), ms, unsolicited, now_ns);
            model_insert(&m, name, id, ms, unsolicited, now_ns);
        } else if (kind < 75) {
            bool can_be_prefix = draw(2) == 0, must_be_fresh = draw(2) == 0;
            uint32_t id = data_find(cs, name, can_be_prefix, must_be_fresh, now_ns);
            cr_assert_eq(id, model_find(&m, name, can_be_prefix, must_be_fresh, now_ns));
            hits += id != 0;
        } else if (kind < 85 && m.n_items > 0) {
            const struct item *item = &m.item[draw(m.n_items)];
            struct data_name digest;
            bool right = draw(2) == 0, must_be_fresh = draw(2) == 0;
            data_digest_name(&digest, item->name, right ? item->id : item->id + 1);
            uint32_t id = data_find(cs, &digest.name, draw(2) == 0, must_be_fresh, now_ns);
            bool found = right && m.capacity > 0 && (!must_be_fresh || is_fresh(item, now_ns));
            cr_assert_eq(id, found ? model_find(&m, item->name, false, false, now_ns) : 0);
        } else if (kind < 97) {
            now_ns += draw(10 * (uint32_t)MS);
            cs_poll(cs, now_ns);
            model_poll(&m, now_ns);
        } else if (kind == 97) {
            cr_assert_eq(cs_erase(cs, name, 100), model_erase(&m, name));
        } else {
            m.capacity = draw(8) == 0 ? 0 : 1 + draw(CAPACITY);
            cr_assert_eq(cs_resize(cs, m.capacity), 0);
            while (m.n_items > m.capacity)
                model_evict(&m);
        }
        same_content(cs, &m);
    }
    cr_assert_gt(hits, n_ops / 50);
    cs_destroy(cs);
    cr_assert_eq(fake_n_live, 0);
}

Test(cs_model, lru_does_what_a_plain_list_does)
{
    ndn_name_hash_init();
    names_make();
    for (uint64_t seed = 1; seed <= 4; seed++)
        run(CS_LRU, seed, 10000);
}

Test(cs_model, priority_fifo_does_what_a_plain_list_does)
{
    ndn_name_hash_init();
    names_make();
    for (uint64_t seed = 11; seed <= 14; seed++)
        run(CS_PRIORITY_FIFO, seed, 10000);
}

/** Sixteen hashes for all names. */
static void weak_hash(struct ndn_name *name, const struct ndn_name_key *key)
{
    (void)key;
    for (unsigned i = 0; i <= name->depth; i++)
        name->hash[i] = name->end[i] % 16;
    name->hash_full = name->len % 16;
}

Test(cs_model, equal_hashes_change_nothing)
{
    ndn_name_hash_init();
    ndn_name_hash = weak_hash;
    names_make();
    random_state = 1;
    struct model m = {.capacity = 16, .lru = true};
    struct cs *cs = data_cs(16, 16, CS_LRU);
    ndn_name_hash = weak_hash;
    for (uint32_t id = 1; id < 10000; id++) {
        const struct ndn_name *name = &names[draw(60)].name;
        if (draw(2) == 0) {
            data_insert(cs, name, id, 0, 100, 0, false, 0);
            model_insert(&m, name, id, 0, false, 0);
        } else {
            bool can_be_prefix = draw(2) == 0;
            cr_assert_eq(data_find(cs, name, can_be_prefix, false, 0), model_find(&m, name, can_be_prefix, false, 0));
        }
        same_content(cs, &m);
    }
    cs_destroy(cs);
    cr_assert_eq(fake_n_live, 0);
}
