// SPDX-License-Identifier: Apache-2.0
/*
 * Data whose name is not read as long as the entry that its PIT token leads to has the same one: what must not depend
 * on that. Everything is tried with a packet alone and in the middle of a burst.
 */
#include "test/unit/fwd/scene.h"

#define UNUSED "/the/first/of/a/burst"

static struct rte_mbuf *burst[FWD_BURST_MAX];
static uint16_t n_burst;

static void add(enum scene_face face, const uint8_t *buf, size_t len)
{
    burst[n_burst++] = bed_frame(bed, face_id[face], buf, len);
}

static void add_data(enum scene_face face, const char *uri, const uint8_t token[TOKEN_SIZE])
{
    uint8_t buf[512];
    struct bed_fields fields = {.token = token, .token_len = TOKEN_SIZE, .payload = 20, .freshness_ms = 1000};
    add(face, buf, bed_data(buf, sizeof buf, uri, &fields));
}

static void add_interest(enum scene_face face, const char *uri, struct bed_fields fields)
{
    uint8_t buf[512];
    fields.token = "downstrm";
    fields.token_len = 8;
    fields.lifetime_ms = 4000;
    add(face, buf, bed_interest(buf, sizeof buf, uri, &fields));
}

/** Receive what was added, as one burst. */
static void receive(enum scene_face face)
{
    bed_receive(bed, bed->shared.port[face_get(bed->shared.faces, face_id[face])->port], burst, n_burst);
    n_burst = 0;
}

/** An Interest from @p face goes to @p upstream. @p token: ours, that its Data is to bring back */
static void ask_by(enum scene_face upstream, enum scene_face face, const char *uri, uint8_t token[TOKEN_SIZE],
                   struct bed_fields fields)
{
    static uint32_t nonce;
    fields.nonce = ++nonce;
    add_interest(face, uri, fields);
    receive(face);
    memcpy(token, sent_interest(bed->n_sent - 1, upstream).lp.token, TOKEN_SIZE);
    bed_drop_sent(bed);
}

static void ask(enum scene_face face, const char *uri, uint8_t token[TOKEN_SIZE], struct bed_fields fields)
{
    ask_by(E, face, uri, token, fields);
}

/** What is added next is alone in its burst, or stands behind Data that nobody asked for. */
static void begin(bool alone)
{
    if (!alone)
        add_data(E, UNUSED, (const uint8_t *)"nonsense");
}

#define ALONE_AND_NOT(alone) for (int alone = 1; alone >= 0; alone--)

Test(data_token, answers_its_interest_and_goes_into_the_content_store)
{
    SCENE(.cs_capacity = 4);
    route("/", E, 0);
    ALONE_AND_NOT(alone)
    {
        uint8_t token[TOKEN_SIZE];
        char uri[32];
        // More than the store holds, so that one makes room for the next.
        for (unsigned i = 0; i < 10; i++) {
            snprintf(uri, sizeof uri, "/a/%u/%d", i, alone);
            ask(A, uri, token, (struct bed_fields){0});
            begin(alone);
            add_data(E, uri, token);
            receive(E);
            struct ndn_packet pkt = sent_data(0, A);
            cr_assert(name_is(&pkt, uri) && memcmp(pkt.lp.token, "downstrm", 8) == 0);
            sent_all(1);
        }
        interest(B, uri, FIELDS(.nonce = 77));
        sent_data(0, B);
        sent_all(1);
    }
    cr_assert_eq(bed_stats(bed).token_hits, 20);
    finish();
}

Test(data_token, is_indexed_at_the_lengths_that_interests_ask_the_store_for)
{
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    uint8_t token[TOKEN_SIZE];
    // From here on the store knows its Data by two components, too.
    ask(A, "/p/q", token, (struct bed_fields){.can_be_prefix = true});
    data(E, "/p/q/1", NULL);
    sent_all(1);
    ALONE_AND_NOT(alone)
    {
        ask(A, "/p/r/2", token, (struct bed_fields){0});
        begin(alone);
        add_data(E, "/p/r/2", token);
        receive(E);
        sent_all(1);
        interest(B, "/p/r", FIELDS(.nonce = 1 + (uint32_t)alone, .can_be_prefix = true));
        struct ndn_packet pkt = sent_data(0, B);
        cr_assert(name_is(&pkt, "/p/r/2"));
        sent_all(1);
        cs_resize(bed->fwd[0]->cs, 0);
        cs_poll(bed->fwd[0]->cs, bed->now_ns);
        cs_resize(bed->fwd[0]->cs, 8);
    }
    finish();
}

Test(data_token, of_another_name_proves_nothing)
{
    SCENE(.cs_capacity = 0);
    route("/", E, 0);
    ALONE_AND_NOT(alone)
    {
        uint8_t of_a[TOKEN_SIZE], of_b[TOKEN_SIZE];
        ask(A, "/a/x", of_a, (struct bed_fields){0});
        ask(B, "/b/x", of_b, (struct bed_fields){0});
        uint64_t unwanted = drops(DROP_UNSOLICITED_DATA);
        begin(alone);
        add_data(E, "/a/x", of_b); // found by its name
        add_data(E, "/c/x", of_b); // has no entry
        receive(E);
        struct ndn_packet pkt = sent_data(0, A);
        cr_assert(name_is(&pkt, "/a/x"));
        sent_all(1);
        cr_assert_eq(drops(DROP_UNSOLICITED_DATA), unwanted + 1 + !alone);
        cr_assert_eq(pending(), 1);
        begin(alone);
        add_data(E, "/b/x", of_b);
        receive(E);
        sent_data(0, B);
        sent_all(1);
    }
    finish();
}

Test(data_token, with_a_broken_name_is_refused_for_that)
{
    SCENE(.cs_capacity = 0);
    route("/", E, 0);
    uint8_t token[TOKEN_SIZE], buf[256];
    ask(A, "/a/xyz", token, (struct bed_fields){0});
    struct bed_fields fields = {.token = token, .token_len = TOKEN_SIZE, .payload = 20};
    size_t len = bed_data(buf, sizeof buf, "/a/xyz", &fields);
    uint8_t *last = memmem(buf, len, "\x08\x03xyz", 5);
    ALONE_AND_NOT(alone)
    {
        last[1] = 4; // a component that ends behind the name
        begin(alone);
        add(E, buf, len);
        add(E, buf, len);
        receive(E);
        last[1] = 3;
        last[0] = 0; // no type of a component
        begin(alone);
        add(E, buf, len);
        receive(E);
        last[0] = 8;
    }
    cr_assert_eq(drops((enum drop)VERDICT_TLV_LEN), 4);
    cr_assert_eq(drops((enum drop)VERDICT_TLV_TYPE0), 2);
    cr_assert_eq(bed->fwd[0]->face_stats[face_id[E] % FACE_SLOTS].in_drops, 6 + drops(DROP_UNSOLICITED_DATA));
    cr_assert_eq(pending(), 1, "the Interest waits on");
    add(E, buf, len);
    receive(E);
    sent_data(0, A);
    sent_all(1);
    finish();
}

Test(data_token, twice_in_a_burst_answers_once)
{
    SCENE(.cs_capacity = 0);
    route("/", E, 0);
    uint8_t token[TOKEN_SIZE];
    ask(A, "/a/x", token, (struct bed_fields){0});
    for (unsigned i = 0; i < 3; i++)
        add_data(E, "/a/x", token);
    receive(E);
    sent_data(0, A);
    sent_all(1);
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 2);
    finish();
}

/* On an ad hoc face an Interest may go back to where it came from, so that one burst has both sides of an exchange. */

/* The entry that a token led to goes, and its slot is given to another Interest, within the burst. */
Test(data_token, does_not_lead_to_what_took_its_slot_in_the_burst)
{
    SCENE(.cs_capacity = 0);
    route("/", AD_HOC, 0);
    uint8_t token[TOKEN_SIZE];
    ask_by(AD_HOC, A, "/a/x", token, (struct bed_fields){0});
    add_data(AD_HOC, "/a/x", token);
    add_interest(AD_HOC, "/b/x", (struct bed_fields){.nonce = 900});
    add_data(AD_HOC, "/a/x", token);
    receive(AD_HOC);
    sent_data(0, A);
    struct ndn_packet pkt = sent_interest(1, AD_HOC);
    cr_assert(name_is(&pkt, "/b/x"));
    cr_assert_eq((pkt.lp.token[0] ^ token[0]) | (pkt.lp.token[1] ^ token[1]), 0, "the slot is another");
    sent_all(2);
    cr_assert_eq(drops(DROP_UNSOLICITED_DATA), 1);
    cr_assert_eq(pending(), 1);
    finish();
}

/* An Interest of the same burst makes an entry that wants the Data, too. */
Test(data_token, answers_entries_that_were_made_in_its_burst)
{
    SCENE(.cs_capacity = 0);
    route("/", AD_HOC, 0);
    static const struct {
        const char *uri;
        struct bed_fields fields;
    } also[] = {
        {"/a", {.nonce = 901, .can_be_prefix = true}},
        {"/a/x", {.nonce = 902, .must_be_fresh = true}},
        {"/a/x", {.nonce = 903, .can_be_prefix = true}},
    };
    for (unsigned i = 0; i < RTE_DIM(also); i++) {
        uint8_t token[TOKEN_SIZE];
        ask_by(AD_HOC, A, "/a/x", token, (struct bed_fields){0});
        add_interest(AD_HOC, also[i].uri, also[i].fields);
        add_data(AD_HOC, "/a/x", token);
        receive(AD_HOC);
        // Frames leave port by port: the Data of A, then the Interest and its Data.
        cr_assert_eq(bed->n_sent, 3, "case %u: %u frames", i, bed->n_sent);
        sent_data(0, A);
        sent_interest(1, AD_HOC);
        sent_data(2, AD_HOC);
        sent_all(3);
        cr_assert_eq(pending(), 0, "case %u", i);
    }
    finish();
}

Test(data_token, of_entries_with_the_longest_names)
{
    SCENE(.cs_capacity = 8);
    route("/", E, 0);
    for (unsigned comps = NDN_NAME_DEPTH - 1; comps <= NDN_NAME_DEPTH + 1; comps++) {
        char uri[256] = "";
        for (unsigned i = 0; i < comps; i++)
            snprintf(uri + strlen(uri), 3, "/%c", 'a' + (int)(i % 26));
        ALONE_AND_NOT(alone)
        {
            uint8_t token[TOKEN_SIZE];
            ask(A, uri, token, (struct bed_fields){.must_be_fresh = true});
            begin(alone);
            add_data(E, uri, token);
            receive(E);
            struct ndn_packet pkt = sent_data(0, A);
            cr_assert(name_is(&pkt, uri));
            sent_all(1);
            bed_pass(bed, 2000);
        }
    }
    finish();
}

Test(data_token, finds_its_worker_and_shorter_interests_at_others)
{
    SCENE(.n_workers = 3, .cs_capacity = 30);
    route("/", E, 0);
    for (unsigned i = 0; i < 40; i++) {
        char uri[32], longer[48];
        uint8_t token[TOKEN_SIZE];
        snprintf(uri, sizeof uri, "/w%u", i);
        snprintf(longer, sizeof longer, "/w%u/x/y", i);
        interest(B, uri, FIELDS(.nonce = 10000 + i, .can_be_prefix = true));
        sent_all(1);
        ask(A, longer, token, (struct bed_fields){0});
        add_data(E, longer, token);
        receive(E);
        cr_assert_eq(bed->n_sent, 2, "%s: %u", uri, bed->n_sent);
        sent_all(2);
        cr_assert_eq(pending(), 0);
    }
    finish();
}
