// SPDX-License-Identifier: Apache-2.0
#include <criterion/criterion.h>

#include "pit/pit.h"
#include "test/unit/pit/names.h"

/*
 * Random operations on the PIT, compared with a plain array of everything that must be in it.
 */
#define MODEL_MAX   300
#define RECORDS_MAX 12

struct model_record {
    uint32_t face, nonce;
    uint8_t token_len, token[32];
};

struct model_entry {
    struct pit_entry *entry;
    uint16_t generation;
    uint8_t selectors;
    bool touched; /**< expired or matched in this step */
    uint32_t expiry;
    unsigned n_in, n_out;
    struct model_record in[RECORDS_MAX], out[RECORDS_MAX];
    struct test_name name;
};

static struct model {
    struct pit *pit;
    struct test_random random;
    uint32_t capacity, n_blocks, free_blocks;
    uint64_t now_ns;
    unsigned n, n_full, n_matched, n_digests, n_expired;
    struct model_entry entry[MODEL_MAX];
} model;

static uint32_t pick(uint32_t below)
{
    return test_random(&model.random, below);
}

/** Names from a narrow tree, so that they often are equal, prefixes, or siblings in hash. */
static void random_name(struct test_name *name)
{
    static const uint8_t filler[252];
    static const uint32_t depths[] = {3, 6, 36, 41};
    name->len = 0;
    unsigned n_comps = pick(depths[pick(4)]);
    bool wide = pick(4) == 0;
    for (unsigned i = 0; i < n_comps; i++) {
        uint8_t letter = i < 30 ? 'a' : (uint8_t)('a' + pick(2));
        if (pick(12) == 0)
            letter = (uint8_t)('b' + pick(2));
        test_name_append(name, NDN_GENERIC, &letter, 1);
        if (wide && i % 8 == 3)
            test_name_append(name, NDN_GENERIC, filler, (uint8_t)(i % 2 == 0 ? 200 : 30));
    }
    if (pick(6) == 0) {
        uint8_t digest[NDN_DIGEST_SIZE];
        test_digest(name->octets, name->len, digest);
        digest[0] ^= pick(3) == 0;
        test_name_append(name, NDN_IMPLICIT_DIGEST, digest, sizeof digest);
    }
    test_name_finish(name);
}

static unsigned name_blocks(const struct test_name *name, uint8_t selectors)
{
    unsigned n = name->len <= PIT_NAME_INLINE ? 0 : (name->len - PIT_NAME_INLINE + 55) / 56;
    return n + ((selectors & PIT_CAN_BE_PREFIX) != 0 && name->view.n_comps > NDN_NAME_DEPTH);
}

static bool same_name(const struct test_name *a, const struct test_name *b)
{
    return a->len == b->len && memcmp(a->octets, b->octets, a->len) == 0;
}

static struct model_entry *model_find(const struct test_name *name, uint8_t selectors)
{
    for (unsigned i = 0; i < model.n; i++) {
        if (model.entry[i].selectors == selectors && same_name(&model.entry[i].name, name))
            return &model.entry[i];
    }
    return NULL;
}

static struct model_entry *model_of(const struct pit_entry *entry)
{
    for (unsigned i = 0; i < model.n; i++) {
        if (model.entry[i].entry == entry)
            return &model.entry[i];
    }
    cr_assert_fail("an entry that nobody inserted");
    return NULL;
}

static void model_remove(struct model_entry *m)
{
    *m = model.entry[--model.n];
}

static void step_insert(void)
{
    static struct test_name name;
    random_name(&name);
    uint8_t selectors = (uint8_t)pick(4);
    uint32_t expiry = wheel_tick(model.now_ns) + pick(pick(8) == 0 ? 100000 : 40);
    struct model_entry *known = model_find(&name, selectors);
    struct pit_entry *entry = (void *)&model;
    uint32_t n_before = pit_count(model.pit);
    cr_assert_eq(pit_find(model.pit, &name.view, selectors), known != NULL ? known->entry : NULL);
    enum pit_insert_result result = pit_insert(model.pit, &name.view, selectors, expiry, &entry);
    if (known != NULL) {
        cr_assert_eq(result, PIT_FOUND);
        cr_assert_eq(entry, known->entry);
        return;
    }
    if (result == PIT_FULL) {
        cr_assert_null(entry);
        cr_assert_eq(pit_count(model.pit), n_before);
        cr_assert_null(pit_find(model.pit, &name.view, selectors));
        model.n_full++;
        cr_assert(model.n == model.capacity ||
                  name_blocks(&name, selectors) > model.pit->blocks.capacity - model.pit->blocks.n_used);
        return;
    }
    cr_assert_eq(result, PIT_NEW);
    cr_assert_lt(model.n, model.capacity);
    struct model_entry *m = &model.entry[model.n++];
    *m =
        (struct model_entry){.entry = entry, .generation = entry->generation, .selectors = selectors, .expiry = expiry};
    m->name = name;
    cr_assert_eq(entry->n_in, 0);
    cr_assert_eq(entry->n_out, 0);
    cr_assert_null(pit_in_next(model.pit, entry, NULL));
    cr_assert_null(pit_out_next(model.pit, entry, NULL));
    for (unsigned i = 0; i < model.n; i++) {
        if (model.entry[i].entry != entry && same_name(&model.entry[i].name, &name))
            cr_assert(model.entry[i].entry->flags & entry->flags & PIT_SIBLING);
    }
}

static void step_erase(void)
{
    struct model_entry *m = &model.entry[pick(model.n)];
    uint32_t slot = pit_slot(model.pit, m->entry);
    cr_assert_eq(pit_at(model.pit, slot, m->generation), m->entry);
    pit_erase(model.pit, m->entry);
    cr_assert_null(pit_at(model.pit, slot, m->generation));
    model_remove(m);
}

static void step_in(void)
{
    struct model_entry *m = &model.entry[pick(model.n)];
    uint32_t face = 1 + pick(16);
    unsigned i = 0;
    while (i < m->n_in && m->in[i].face != face)
        i++;
    struct pit_in *in = pit_in_find(model.pit, m->entry, face);
    cr_assert_eq(in != NULL, i < m->n_in);
    if (in == NULL) {
        if (m->n_in == RECORDS_MAX || (in = pit_in_add(model.pit, m->entry, face)) == NULL) {
            cr_assert(m->n_in == RECORDS_MAX || model.pit->blocks.n_used == model.pit->blocks.capacity);
            return;
        }
        cr_assert_eq(in->token_len, 0);
        in->nonce = pick(1000);
        m->in[m->n_in++] = (struct model_record){.face = face, .nonce = in->nonce};
    } else if (pick(2) == 0) {
        pit_in_remove(model.pit, m->entry, in);
        m->in[i] = m->in[--m->n_in];
        return;
    }
    struct model_record *r = &m->in[i];
    uint8_t token[32], len = (uint8_t)pick(33);
    for (unsigned k = 0; k < len; k++)
        token[k] = (uint8_t)pick(256);
    if (pit_in_set_token(model.pit, m->entry, in, token, len) != 0) {
        cr_assert_gt(len, PIT_TOKEN_INLINE);
        cr_assert_eq(model.pit->blocks.n_used, model.pit->blocks.capacity);
        return;
    }
    r->token_len = len;
    memcpy(r->token, token, len);
}

static void step_out(void)
{
    struct model_entry *m = &model.entry[pick(model.n)];
    uint32_t face = 1 + pick(16);
    unsigned i = 0;
    while (i < m->n_out && m->out[i].face != face)
        i++;
    struct pit_out *out = pit_out_find(model.pit, m->entry, face);
    cr_assert_eq(out != NULL, i < m->n_out);
    if (out != NULL) {
        pit_out_remove(model.pit, m->entry, out);
        m->out[i] = m->out[--m->n_out];
        return;
    }
    if (m->n_out == RECORDS_MAX || (out = pit_out_add(model.pit, m->entry, face)) == NULL) {
        cr_assert(m->n_out == RECORDS_MAX || model.pit->blocks.n_used == model.pit->blocks.capacity);
        return;
    }
    out->nonce = pick(1000);
    m->out[m->n_out++] = (struct model_record){.face = face, .nonce = out->nonce};
}

static void verify_entry(struct model_entry *m)
{
    unsigned n = 0;
    for (struct pit_in *in = NULL; (in = pit_in_next(model.pit, m->entry, in)) != NULL; n++) {
        unsigned i = 0;
        while (i < m->n_in && m->in[i].face != in->face)
            i++;
        cr_assert_lt(i, m->n_in);
        cr_assert_eq(in->nonce, m->in[i].nonce);
        cr_assert_eq(in->token_len, m->in[i].token_len);
        cr_assert_eq(memcmp(pit_in_token(model.pit, m->entry, in), m->in[i].token, in->token_len), 0);
    }
    cr_assert_eq(n, m->n_in);
    cr_assert_eq(m->entry->n_in, n);
    n = 0;
    for (struct pit_out *out = NULL; (out = pit_out_next(model.pit, m->entry, out)) != NULL; n++) {
        unsigned i = 0;
        while (i < m->n_out && m->out[i].face != out->face)
            i++;
        cr_assert_lt(i, m->n_out);
        cr_assert_eq(out->nonce, m->out[i].nonce);
    }
    cr_assert_eq(n, m->n_out);
    cr_assert_eq(m->entry->n_out, n);
    uint8_t name[NDN_NAME_MAX];
    cr_assert_eq(pit_name_copy(model.pit, m->entry, name), m->name.len);
    cr_assert_eq(memcmp(name, m->name.octets, m->name.len), 0);
    cr_assert(pit_name_matches(model.pit, m->entry, m->name.octets, m->name.len, false));
    cr_assert_eq(m->entry->generation, m->generation);
    cr_assert_eq(m->entry->hash, m->name.view.hash_full);
}

static const uint8_t *give_digest(void *ctx)
{
    static uint8_t digest[NDN_DIGEST_SIZE];
    const struct test_name *data = ctx;
    test_digest(data->octets, data->len, digest);
    model.n_digests++;
    return digest;
}

static bool model_satisfied(const struct model_entry *m, const struct test_name *data)
{
    if (same_name(&m->name, data))
        return true;
    if (m->name.len < data->len && (m->selectors & PIT_CAN_BE_PREFIX) != 0)
        return memcmp(m->name.octets, data->octets, m->name.len) == 0;
    if (!m->name.view.has_digest || m->name.len != data->len + NDN_DIGEST_COMP_SIZE ||
        memcmp(m->name.octets, data->octets, data->len) != 0)
        return false;
    uint8_t digest[NDN_DIGEST_SIZE];
    test_digest(data->octets, data->len, digest);
    return memcmp(m->name.octets + data->len + 2, digest, sizeof digest) == 0;
}

static void step_data(void)
{
    static struct test_name data;
    struct pit_entry *match[PIT_MATCHES_MAX];
    random_name(&data);
    if (pick(2) == 0 && model.n != 0) {
        // Mostly what somebody waits for, or what comes below it.
        data = model.entry[pick(model.n)].name;
        if (data.view.has_digest)
            data.len -= NDN_DIGEST_COMP_SIZE;
        else if (pick(2) == 0 && data.len < NDN_NAME_MAX - 10)
            test_name_append(&data, NDN_GENERIC, "segment", (uint8_t)pick(8));
        test_name_finish(&data);
    }
    unsigned n_digests = model.n_digests, expected = 0;
    bool exact_only = true;
    for (unsigned i = 0; i < model.n; i++) {
        model.entry[i].touched = false;
        if (model_satisfied(&model.entry[i], &data)) {
            expected++;
            exact_only = exact_only && same_name(&model.entry[i].name, &data);
        }
    }
    unsigned n = pit_match_data(model.pit, &data.view, &test_key, give_digest, &data, match);
    cr_assert_eq(n, expected, "%u entries found, %u expected", n, expected);
    for (unsigned i = 0; i < n; i++) {
        struct model_entry *m = model_of(match[i]);
        cr_assert(model_satisfied(m, &data));
        cr_assert(!m->touched, "found twice");
        m->touched = true;
    }
    cr_assert_leq(model.n_digests - n_digests, 1);
    if (pit_only_exact(model.pit, &data.view))
        cr_assert(exact_only);
    model.n_matched += n;
}

static void expired(void *ctx, struct pit_entry *entry)
{
    cr_assert_eq(ctx, &model);
    struct model_entry *m = model_of(entry);
    cr_assert_leq((int32_t)(m->expiry - wheel_tick(model.now_ns)), 0, "fired early");
    model.n_expired++;
    if (pick(4) == 0) {
        m->expiry = wheel_tick(model.now_ns) + 1 + pick(50);
        pit_arm(model.pit, entry, m->expiry);
        return;
    }
    pit_erase(model.pit, entry);
    model_remove(m);
}

static void step_time(void)
{
    model.now_ns += (uint64_t)pick(20) << (WHEEL_TICK_SHIFT - 2);
    pit_poll(model.pit, model.now_ns, UINT32_MAX, expired, &model);
    for (unsigned i = 0; i < model.n; i++)
        cr_assert_gt((int32_t)(model.entry[i].expiry - wheel_tick(model.now_ns)), 0, "late");
}

static void step_arm(void)
{
    struct model_entry *m = &model.entry[pick(model.n)];
    m->expiry = wheel_tick(model.now_ns) + 1 + pick(pick(2) == 0 ? 500 : 10);
    pit_arm(model.pit, m->entry, m->expiry);
}

static void run_model(uint64_t seed, uint32_t capacity, uint32_t n_blocks, unsigned n_steps)
{
    memset(&model, 0, sizeof model);
    model.random.state = seed;
    model.capacity = capacity;
    model.now_ns = UINT64_C(0xffffff00) << WHEEL_TICK_SHIFT;
    struct pit_config config = {.capacity = capacity, .ext_blocks = n_blocks, .pages = ARENA_PAGES_SMALL};
    cr_assert_eq(pit_create(&model.pit, &config, model.now_ns), 0);
    for (unsigned step = 0; step < n_steps; step++) {
        uint32_t op = pick(16);
        if (op < 5 || model.n == 0)
            step_insert();
        else if (op < 7)
            step_erase();
        else if (op < 9)
            step_in();
        else if (op < 11)
            step_out();
        else if (op < 13)
            step_data();
        else if (op < 15)
            step_arm();
        else if (pick(4) == 0)
            step_time();
        cr_assert_eq(pit_count(model.pit), model.n);
        if (step % 8 == 0)
            cr_assert_eq(pit_check(model.pit), 0, "step %u", step);
        if (step % 32 == 0 && model.n != 0)
            verify_entry(&model.entry[pick(model.n)]);
    }
    cr_assert_gt(model.n_matched, n_steps / 100);
    cr_assert_gt(model.n_digests, 0);
    cr_assert_gt(model.n_expired, 0);
    while (model.n != 0)
        step_erase();
    cr_assert_eq(pit_check(model.pit), 0);
    cr_assert_eq(model.pit->blocks.n_used, 0);
    cr_assert_eq(model.pit->prefix_depths, 0);
    cr_assert_eq(model.pit->n_digest, 0);
    pit_destroy(model.pit);
}

Test(pit_model, roomy)
{
    run_model(1, 200, 4000, 150000);
    cr_assert_eq(model.n_full, 0);
}

Test(pit_model, entries_run_out)
{
    run_model(2, 40, 4000, 150000);
    cr_assert_gt(model.n_full, 100);
}

Test(pit_model, blocks_run_out)
{
    run_model(3, 120, 40, 150000);
    cr_assert_gt(model.n_full, 100);
}

Test(pit_model, portable_hash)
{
    cr_assert_eq(ndn_name_hash_select("portable"), 0);
    run_model(4, 100, 400, 20000);
}

Test(pit_model, fastest_hash)
{
    ndn_name_hash_init();
    run_model(5, 100, 400, 20000);
}
