// SPDX-License-Identifier: Apache-2.0
#include "test/unit/fwd/mgmt_fixture.h"

static struct scene scene;

static void setup(void)
{
    scene_open(&scene, NULL);
}

static void teardown(void)
{
    scene_close(&scene);
}

TestSuite(mgmt_notify, .init = setup, .fini = teardown);
TestSuite(mgmt_express, .init = setup, .fini = teardown);

#define EVENTS "/localhost/nfd/faces/events"

static void publish(const char *content)
{
    mgmt_notify(scene.mgmt, "faces", "events", (const uint8_t *)content, strlen(content), scene.now_ns);
}

static void subscribe(const char *suffix, bool prefix, uint32_t lifetime_ms)
{
    char uri[128];
    uint8_t name[256];
    snprintf(uri, sizeof uri, EVENTS "%s", suffix);
    scene_ask(&scene, name, scene_name(uri, name, sizeof name), prefix, lifetime_ms);
}

static void expect_notification(unsigned i, const char *suffix, const char *content)
{
    char want[128];
    struct scene_data data = scene_read(&scene, i);
    snprintf(want, sizeof want, EVENTS "%s", suffix);
    cr_assert_str_eq(scene_uri(data.name), want);
    cr_assert_eq(data.content.len, strlen(content));
    cr_assert_arr_eq(data.content.p, content, strlen(content));
}

Test(mgmt_notify, the_first_interest_waits_for_what_comes_next)
{
    publish("unheard");
    subscribe("", true, 60000);
    cr_assert_eq(scene.n_sent, 0);
    scene_pass(&scene, 59000);
    publish("one");
    expect_notification(0, "/58=%01", "one");
    publish("two");
    cr_assert_eq(scene.n_sent, 1, "an Interest is answered once");
}

Test(mgmt_notify, numbers_begin_at_0_and_one_follows_the_other)
{
    subscribe("", true, 60000);
    publish("zero");
    expect_notification(0, "/58=%00", "zero");
    subscribe("/58=%01", false, 60000);
    cr_assert_eq(scene.n_sent, 1);
    publish("one");
    expect_notification(1, "/58=%01", "one");
    publish("two");
    publish("three");
    subscribe("/58=%02", false, 60000);
    expect_notification(2, "/58=%02", "two");
    cr_assert_eq(scene_read(&scene, 2).lp.token_len, 8);
    subscribe("/58=%03", false, 60000);
    expect_notification(3, "/58=%03", "three");
}

Test(mgmt_notify, an_interest_waits_no_longer_than_it_lives)
{
    subscribe("", true, 1000);
    subscribe("/58=%00", false, 1000);
    scene_pass(&scene, 1000);
    publish("late");
    cr_assert_eq(scene.n_sent, 0);
}

Test(mgmt_notify, an_interest_again_waits_longer)
{
    subscribe("", true, 1000);
    scene_pass(&scene, 900);
    subscribe("", true, 1000);
    scene_pass(&scene, 900);
    publish("in time");
    cr_assert_eq(scene.n_sent, 1);
}

Test(mgmt_notify, all_who_wait_get_one_data)
{
    subscribe("", true, 4000);
    subscribe("/58=%00", false, 4000);
    subscribe("/58=%01", false, 4000);
    publish("zero");
    cr_assert_eq(scene.n_sent, 1, "the forwarder gives it to all whose Interest it matches");
    publish("one");
    cr_assert_eq(scene.n_sent, 2);
    publish("two");
    cr_assert_eq(scene.n_sent, 2);
}

Test(mgmt_notify, what_is_no_sequence_number_is_not_answered)
{
    publish("zero");
    subscribe("/zero", true, 4000);
    subscribe("/58=%00/x", true, 4000);
    subscribe("/58=abc", true, 4000);
    subscribe("/54=%00", true, 4000);
    subscribe("", false, 4000); // cannot match
    subscribe("/58=%FF%FF%FF%FF%FF%FF%FF%FF", false, 4000);
    publish("one");
    cr_assert_eq(scene.n_sent, 0);
}

Test(mgmt_notify, the_last_thousand_are_kept)
{
    for (unsigned i = 0; i < 1100; i++) {
        char content[16];
        snprintf(content, sizeof content, "%u", i);
        publish(content);
    }
    subscribe("/58=%00", false, 4000);
    subscribe("/58=%4B", false, 4000); // 75
    cr_assert_eq(scene.n_sent, 0);
    subscribe("/58=%4C", false, 4000); // 76 = 1100 - 1024
    expect_notification(0, "/58=L", "76");
}

Test(mgmt_notify, so_many_may_wait_and_no_more)
{
    for (unsigned i = 0; i < 300; i++) {
        char suffix[32];
        snprintf(suffix, sizeof suffix, "/58=%%%02X%%%02X", 1 + i / 256, i % 256);
        subscribe(suffix, false, 1000);
    }
    subscribe("", true, 4000);
    publish("unheard");
    cr_assert_eq(scene.n_sent, 0);
    // Those who gave up make room.
    scene_pass(&scene, 1000);
    subscribe("", true, 4000);
    publish("heard");
    cr_assert_eq(scene.n_sent, 1);
}

Test(mgmt_notify, there_is_no_other_stream)
{
    mgmt_notify(scene.mgmt, "fib", "events", (const uint8_t *)"x", 1, scene.now_ns);
    scene_ask_uri(&scene, "/localhost/nfd/fib/events", true);
    mgmt_notify(scene.mgmt, "fib", "events", (const uint8_t *)"x", 1, scene.now_ns);
    cr_assert_eq(scene.n_sent, 0);
    cr_assert_eq(mgmt_counters(scene.mgmt)->ignored, 1);
}

/* What an expressed Interest came to. */
struct outcome {
    unsigned calls;
    bool data;
    char content[64];
    struct mgmt *again; /**< express the same Interest once more */
};

static uint8_t asked[128];
static size_t asked_len;

static void done(void *ctx, const uint8_t *content, size_t len)
{
    struct outcome *outcome = ctx;
    outcome->calls++;
    outcome->data = content != NULL;
    snprintf(outcome->content, sizeof outcome->content, "%.*s", (int)len, content != NULL ? (const char *)content : "");
    struct mgmt *again = outcome->again;
    outcome->again = NULL;
    if (again != NULL)
        cr_assert_eq(mgmt_express(again, asked, asked_len, 1000000, done, outcome), 0);
}

static int express(const char *uri, bool prefix, uint64_t timeout_ms, struct outcome *outcome)
{
    uint8_t name[64];
    const struct ndn_interest_out out = {
        .name = name, .name_len = (uint16_t)scene_name(uri, name, sizeof name), .can_be_prefix = prefix, .nonce = 1};
    asked_len = ndn_interest_encode(asked, sizeof asked, &out);
    int rc = mgmt_express(scene.mgmt, asked, asked_len, timeout_ms * 1000000, done, outcome);
    mgmt_poll(scene.mgmt, scene.now_ns);
    return rc;
}

static void receive_data(const char *uri, const char *content)
{
    uint8_t name[64], packet[256];
    const struct ndn_data_out out = {.name = name,
                                     .name_len = (uint16_t)scene_name(uri, name, sizeof name),
                                     .content = (const uint8_t *)content,
                                     .content_len = (uint16_t)strlen(content)};
    scene_receive_from(&scene, SCENE_APP, packet, ndn_data_encode(packet, sizeof packet, &out, NULL, NULL));
}

Test(mgmt_express, data_ends_an_interest)
{
    struct outcome outcome = {0};
    cr_assert_eq(express("/a", false, 1000, &outcome), 0);
    cr_assert_eq(scene.n_sent, 1);
    cr_assert_eq(scene.sent[0].len, asked_len);
    cr_assert_arr_eq(scene.sent[0].octets, asked, asked_len);
    receive_data("/a/b", "no prefix");
    receive_data("/b", "another");
    cr_assert_eq(outcome.calls, 0);
    receive_data("/a", "yes");
    cr_assert_eq(outcome.calls, 1);
    cr_assert_str_eq(outcome.content, "yes");
    receive_data("/a", "again");
    scene_pass(&scene, 5000);
    cr_assert_eq(outcome.calls, 1);
}

Test(mgmt_express, prefixes_match_what_is_below)
{
    struct outcome prefix = {0}, exact = {0};
    express("/a", true, 1000, &prefix);
    express("/a/b", false, 1000, &exact);
    receive_data("/a/b", "");
    cr_assert_eq(prefix.calls, 1);
    cr_assert_eq(exact.calls, 1);
    cr_assert(prefix.data && exact.data, "Data without octets is Data");
}

Test(mgmt_express, nack_and_time_end_an_interest)
{
    struct outcome nack = {0}, late = {0}, later = {0};
    express("/later", false, 2000, &later);
    express("/late", false, 1000, &late);
    express("/nack", false, 5000, &nack);
    uint8_t packet[256];
    memcpy(packet + NDN_LP_HEADER_MAX, asked, asked_len);
    const struct ndn_lp_out lp = {.nack_reason = NDN_NACK_NO_ROUTE};
    size_t header = ndn_lp_prepend(packet + NDN_LP_HEADER_MAX, asked_len, &lp);
    scene_receive(&scene, packet + NDN_LP_HEADER_MAX - header, header + asked_len);
    cr_assert(nack.calls == 1 && !nack.data);
    cr_assert_eq(mgmt_poll(scene.mgmt, scene.now_ns + 400000000), 600000000);
    scene_pass(&scene, 1000);
    cr_assert(late.calls == 1 && !late.data);
    cr_assert_eq(later.calls, 0);
    scene_pass(&scene, 1000);
    cr_assert(later.calls == 1 && !later.data);
    cr_assert_eq(mgmt_poll(scene.mgmt, scene.now_ns), UINT64_MAX);
}

Test(mgmt_express, an_outcome_may_express_the_next)
{
    struct outcome outcome = {.again = scene.mgmt};
    express("/a", false, 1000, &outcome);
    scene_pass(&scene, 1000);
    cr_assert_eq(outcome.calls, 1);
    cr_assert_eq(scene.n_sent, 2);
    receive_data("/a", "second time");
    cr_assert_eq(outcome.calls, 2);
    cr_assert(outcome.data);
}

Test(mgmt_express, what_is_no_interest_is_refused)
{
    struct outcome outcome = {0};
    cr_assert_neq(mgmt_express(scene.mgmt, (const uint8_t *)"\x06\x00", 2, 1, done, &outcome), 0);
    cr_assert_eq(scene.n_sent, 0);
    express("/open", false, 1000, &outcome); // open when management ends
}
