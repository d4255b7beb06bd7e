// SPDX-License-Identifier: Apache-2.0
#include "test/unit/fwd/mgmt_fixture.h"

#define N_ROUTES 2000

static struct scene scene;

static void setup(void)
{
    scene_open(&scene, NULL);
}

static void teardown(void)
{
    scene_close(&scene);
}

TestSuite(mgmt_dataset, .init = setup, .fini = teardown);

/* A FIB whose list takes several segments. */
static void fill_fib(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char uri[32];
        uint8_t name[64];
        snprintf(uri, sizeof uri, "/net/%u", i);
        size_t len = scene_name(uri, name, sizeof name);
        cr_assert_eq(fib_nexthop_set(scene.shared.fib, name, (uint16_t)len, 300, i), 0);
    }
}

static unsigned count_entries(const uint8_t *octets, size_t len, uint64_t *cost_sum)
{
    struct cursor c = cursor_make(octets, len);
    unsigned n = 0;
    *cost_sum = 0;
    while (cursor_left(&c) > 0) {
        const uint8_t *item = c.p;
        struct tlv tlv;
        struct mgmt_octets name, rest;
        struct mgmt_next_hop hop = {0};
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        cr_assert_eq(mgmt_entry_decode(item, (size_t)(c.p - item), &name, &rest), 0);
        cr_assert_eq(mgmt_next_hop_take(&rest, &hop), 1);
        *cost_sum += hop.cost;
        n++;
    }
    return n;
}

/* Public bug report: "Data Name has no segment number". */
Test(mgmt_dataset, datasets_have_version_and_segment)
{
    const char *const uris[] = {
        "/localhost/nfd/fib/list", "/localhost/nfd/rib/list",       "/localhost/nfd/strategy-choice/list",
        "/localhost/nfd/cs/info",  "/localhost/nfd/status/general",
    };
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        char want[128];
        scene_forget(&scene);
        scene_ask_uri(&scene, uris[i], true);
        struct scene_data data = scene_read(&scene, 0);
        snprintf(want, sizeof want, "%s/54=%%00%%00%%01%%8B%%CF", uris[i]);
        cr_assert_eq(strncmp(scene_uri(data.name), uris[i], strlen(uris[i])), 0);
        const uint8_t *end = data.name.p + data.name.len;
        cr_assert_eq(end[-13], 54, "%s", scene_uri(data.name));
        cr_assert_eq(end[-12], 8, "milliseconds since 1970");
        cr_assert_arr_eq(end - 3, "\x32\x01\x00", 3, "segment 0");
        cr_assert_eq(data.final_block.len, 3);
        cr_assert_arr_eq(data.final_block.p, "\x32\x01\x00", 3);
        cr_assert_eq(data.lp.token_len, 8);
        cr_assert_eq(data.content_type, 0);
    }
}

Test(mgmt_dataset, items_go_on_in_the_next_segment)
{
    fill_fib(N_ROUTES);
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_eq(data.content.len, 8000, "a full segment, whatever item it cuts");
    cr_assert_eq(data.final_block.len, 0, "FinalBlockId is on the last only");
    size_t len;
    uint64_t sum;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/fib/list", &len);
    cr_assert_gt(len, 5 * 8000);
    cr_assert_eq(count_entries(octets, len, &sum), N_ROUTES);
    cr_assert_eq(sum, N_ROUTES * (N_ROUTES - 1) / 2);
    free(octets);
}

Test(mgmt_dataset, an_empty_list_is_one_empty_segment)
{
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_eq(data.content.len, 0);
    cr_assert_eq(data.final_block.len, 3);
}

/* python-ndn asks for datasets by signed Interests. */
Test(mgmt_dataset, signed_interests_get_datasets_below_their_digest)
{
    uint8_t name[128], interest[256];
    size_t n = scene_name("/localhost/nfd/fib/list", name, sizeof name);
    name[n++] = NDN_PARAMS_DIGEST;
    name[n++] = 32;
    memset(name + n, 0xab, 32);
    n += 32;
    // Name, CanBePrefix, MustBeFresh, Nonce, empty ApplicationParameters, InterestSignatureInfo and -Value
    uint8_t *p = interest + 2;
    p += ndn_tlv_put_var(p, NDN_TLV_NAME);
    p += ndn_tlv_put_var(p, n);
    memcpy(p, name, n);
    p += n;
    p += hex_octets("210012000a0401020304"
                    "2400"
                    "2c031b0100"
                    "2e0100",
                    p, 64);
    interest[0] = NDN_TYPE_INTEREST;
    interest[1] = (uint8_t)(p - interest - 2);
    scene_receive_from(&scene, SCENE_APP, interest, (size_t)(p - interest));
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_gt(data.name.len, n);
    cr_assert_arr_eq(data.name.p, name, n);
    cr_assert_eq(data.name.p[n], 54);
}

Test(mgmt_dataset, versions_and_segments_that_are_not_stored_are_not_answered)
{
    const char *const uris[] = {
        "/localhost/nfd/fib/list/54=%01",
        "/localhost/nfd/fib/list/54=%01/50=%00",
        "/localhost/nfd/fib/list/50=%00",
        "/localhost/nfd/fib/list/54=%00%00%01%8B%CF%E5h%00/50=%00",
        "/localhost/nfd/fib/list/54=%00%00%01%8B%CF%E5h%00/50=%00/50=%00",
    };
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++)
        scene_ask_uri(&scene, uris[i], true);
    cr_assert_eq(scene.n_sent, 0);
}

/* Ask again for the name of what was sent first, with another segment number. */
static unsigned ask_segment(uint8_t segment)
{
    uint8_t name[NDN_NAME_MAX];
    struct scene_data data = scene_read(&scene, 0);
    memcpy(name, data.name.p, data.name.len);
    name[data.name.len - 1] = segment;
    unsigned before = scene.n_sent;
    scene_ask(&scene, name, data.name.len, false, 4000);
    return scene.n_sent - before;
}

Test(mgmt_dataset, segments_are_kept_for_a_second_since_they_were_asked_for)
{
    fill_fib(N_ROUTES);
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    cr_assert_eq(ask_segment(0), 1, "segment 0 as well, by its full name");
    cr_assert_eq(ask_segment(200), 0, "there is none");
    for (uint8_t segment = 1; segment < 4; segment++) {
        scene_pass(&scene, 900);
        cr_assert_eq(ask_segment(segment), 1);
    }
    scene_pass(&scene, 1000);
    cr_assert_eq(ask_segment(1), 0);
}

Test(mgmt_dataset, polling_says_when_a_dataset_goes)
{
    cr_assert_eq(mgmt_poll(scene.mgmt, scene.now_ns), UINT64_MAX);
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    cr_assert_eq(mgmt_poll(scene.mgmt, scene.now_ns + 400000000), 600000000);
    cr_assert_eq(mgmt_poll(scene.mgmt, scene.now_ns + 1000000000), UINT64_MAX);
}

Test(mgmt_dataset, a_version_alone_gives_its_first_segment)
{
    scene_ask_uri(&scene, "/localhost/nfd/status/general", true);
    struct scene_data data = scene_read(&scene, 0);
    uint8_t name[NDN_NAME_MAX];
    memcpy(name, data.name.p, data.name.len);
    scene_ask(&scene, name, data.name.len - 3u, true, 4000);
    struct scene_data again = scene_read(&scene, 1);
    cr_assert_eq(again.len, scene_read(&scene, 0).len);
    cr_assert_arr_eq(again.octets, scene_read(&scene, 0).octets, again.len);
}

Test(mgmt_dataset, no_two_datasets_have_the_same_version)
{
    uint8_t last[8] = {0};
    for (unsigned i = 0; i < 10; i++) {
        scene_forget(&scene);
        if (i == 5)
            scene.wall_ms -= 5000; // the clock was set back
        scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
        struct scene_data data = scene_read(&scene, 0);
        const uint8_t *version = data.name.p + data.name.len - 11;
        cr_assert_gt(memcmp(version, last, 8), 0);
        memcpy(last, version, 8);
    }
}

Test(mgmt_dataset, the_store_is_bounded_and_the_oldest_goes_first)
{
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    for (unsigned i = 0; i < 63; i++)
        scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    cr_assert_eq(ask_segment(0), 1);
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    cr_assert_eq(ask_segment(0), 0);
}

Test(mgmt_dataset, only_a_prefix_can_match_a_versioned_name)
{
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", false);
    cr_assert_eq(scene.n_sent, 0);
}

Test(mgmt_dataset, long_names_leave_room_in_a_segment)
{
    char uri[1800] = "/localhost/nfd/fib/list/";
    memset(uri + strlen(uri), 'x', 1700);
    uri[sizeof uri - 1] = 0;
    fill_fib(N_ROUTES);
    scene_ask_uri(&scene, uri, true);
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_eq(data.content.len, 5000);
}

Test(mgmt_dataset, rejections_are_nacks_of_the_name_that_was_asked_for)
{
    struct scene bare;
    scene_open(&bare, NULL);
    mgmt_destroy(bare.mgmt);
    struct mgmt_env env = bare.env;
    env.strategies = NULL;
    cr_assert_eq(mgmt_create(&bare.mgmt, &env), 0);
    scene_ask_uri(&bare, "/localhost/nfd/strategy-choice/list", true);
    struct scene_data data = scene_read(&bare, 0);
    struct mgmt_response response;
    cr_assert_eq(data.content_type, 3);
    cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
    cr_assert_eq(response.code, 500);
    cr_assert_str_eq(scene_uri(data.name), "/localhost/nfd/strategy-choice/list");
    scene_close(&bare);
}
