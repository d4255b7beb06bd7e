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

TestSuite(mgmt_fib, .init = setup, .fini = teardown);
TestSuite(mgmt_strategy_choice, .init = setup, .fini = teardown);
TestSuite(mgmt_status, .init = setup, .fini = teardown);

/* Components "a" to whatever number. */
static const char *deep(unsigned n)
{
    static char uri[256];
    uri[0] = 0;
    for (unsigned i = 0; i < n; i++)
        strcat(uri, "/a");
    return uri;
}

/* The list as "prefix face:cost face:cost" lines. */
static const char *fib_list(void)
{
    static char text[4096];
    size_t len, at = 0;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/fib/list", &len);
    struct cursor c = cursor_make(octets, len);
    text[0] = 0;
    while (cursor_left(&c) > 0) {
        const uint8_t *item = c.p;
        struct tlv tlv;
        struct mgmt_octets name, rest;
        struct mgmt_next_hop hop = {0};
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        cr_assert_eq(mgmt_entry_decode(item, (size_t)(c.p - item), &name, &rest), 0);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", scene_uri(name));
        while (mgmt_next_hop_take(&rest, &hop) == 1)
            at += (size_t)snprintf(text + at, sizeof text - at, " %lu:%lu", hop.face_id, hop.cost);
        at += (size_t)snprintf(text + at, sizeof text - at, "\n");
    }
    free(octets);
    return text;
}

Test(mgmt_fib, next_hops_come_and_go)
{
    uint32_t other = scene_face(&scene, "fd://21");
    struct mgmt_params params = scene_params("/a"), body;
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_COST, "defaults are filled in");
    cr_assert_eq(body.face_id, SCENE_APP);
    cr_assert_eq(body.cost, 0);
    params.has |= MGMT_HAS_FACE_ID | MGMT_HAS_COST;
    params.face_id = other;
    params.cost = 7;
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, &body), 200);
    cr_assert_eq(body.face_id, other);
    cr_assert_eq(body.cost, 7);
    cr_assert_str_eq(fib_list(), "/a 256:0 257:7\n");
    params.has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID;
    params.face_id = 0; // its own
    cr_assert_eq(scene_command(&scene, "fib/remove-nexthop", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_FACE_ID);
    cr_assert_eq(body.face_id, SCENE_APP);
    cr_assert_str_eq(fib_list(), "/a 257:7\n");
    cr_assert_eq(scene_command(&scene, "fib/remove-nexthop", &params, &body), 200, "there is none any more");
    params.face_id = UINT64_MAX;
    cr_assert_eq(scene_command(&scene, "fib/remove-nexthop", &params, &body), 200);
    params.face_id = other;
    cr_assert_eq(scene_command(&scene, "fib/remove-nexthop", &params, &body), 200);
    cr_assert_str_eq(fib_list(), "");
}

Test(mgmt_fib, a_cost_beyond_the_table_is_the_largest)
{
    struct mgmt_params params = scene_params("/a"), body;
    params.has |= MGMT_HAS_COST;
    params.cost = UINT64_MAX;
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, &body), 200);
    cr_assert_eq(body.cost, UINT32_MAX);
}

Test(mgmt_fib, unknown_faces_get_410)
{
    struct mgmt_params params = scene_params("/a");
    const uint64_t faces[] = {1, 255, 257, UINT32_MAX, (uint64_t)1 << 32 | SCENE_APP, UINT64_MAX};
    params.has |= MGMT_HAS_FACE_ID;
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++) {
        params.face_id = faces[i];
        cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, NULL), 410, "%lu", faces[i]);
        cr_assert_str_eq(scene_text(&scene), "Face not found");
    }
    cr_assert_eq(fib_count(scene.shared.fib), 0);
    // Itself, when the face it came in by is not known.
    uint8_t octets[64];
    params.has = MGMT_HAS_NAME;
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    scene_forget(&scene);
    scene_command_raw(&scene, 0, "fib/add-nexthop", octets, len, SCENE_V03);
    cr_assert_str_eq(scene_text(&scene), "Face not found");
}

/* Row M19 of the bad inputs. */
Test(mgmt_fib, prefixes_of_33_components_get_414)
{
    struct mgmt_params params = scene_params(deep(32));
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, NULL), 200);
    params = scene_params(deep(33));
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, NULL), 414);
    cr_assert_str_eq(scene_text(&scene), "FIB entry prefix cannot exceed 32 components");
    cr_assert_eq(scene_command(&scene, "fib/remove-nexthop", &params, NULL), 200);
    cr_assert_eq(fib_count(scene.shared.fib), 1);
}

Test(mgmt_fib, a_full_table_says_so)
{
    struct mgmt_params params = scene_params("/a");
    params.has |= MGMT_HAS_FACE_ID;
    for (unsigned i = 0; i < FIB_NEXTHOPS_MAX; i++) {
        char uri[32];
        snprintf(uri, sizeof uri, "fd://%u", 100 + i);
        params.face_id = scene_face(&scene, uri);
        cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, NULL), 200);
    }
    params.face_id = SCENE_APP;
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, NULL), 500);
}

Test(mgmt_fib, prefixes_with_a_strategy_alone_are_not_listed)
{
    struct mgmt_params params = scene_params("/");
    cr_assert_eq(fib_strategy_set(scene.shared.fib, params.name.p, 0, 0), 0);
    cr_assert_str_eq(fib_list(), "");
}

static struct mgmt_params choice(const char *prefix, const char *strategy)
{
    static uint8_t name[512];
    struct mgmt_params params = scene_params(prefix);
    params.has |= MGMT_HAS_STRATEGY;
    params.strategy = (struct mgmt_octets){name, (uint16_t)scene_name(strategy, name, sizeof name)};
    return params;
}

/* The list as "prefix strategy" lines. */
static const char *choice_list(void)
{
    static char text[4096];
    size_t len, at = 0;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/strategy-choice/list", &len);
    struct cursor c = cursor_make(octets, len);
    text[0] = 0;
    while (cursor_left(&c) > 0) {
        const uint8_t *item = c.p;
        struct tlv tlv;
        struct mgmt_strategy_choice got;
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        cr_assert_eq(mgmt_strategy_choice_decode(item, (size_t)(c.p - item), &got), 0);
        at += (size_t)snprintf(text + at, sizeof text - at, "%s ", scene_uri(got.name));
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", scene_uri(got.strategy));
    }
    free(octets);
    return text;
}

Test(mgmt_strategy_choice, choices_are_named_with_their_version)
{
    struct mgmt_params body;
    cr_assert_str_eq(choice_list(), "/ /localhost/nfd/strategy/best-route/54=%05\n", "the default, without being set");
    struct mgmt_params params = choice("/a", "/localhost/nfd/strategy/multicast");
    cr_assert_eq(scene_command(&scene, "strategy-choice/set", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME | MGMT_HAS_STRATEGY);
    cr_assert_str_eq(scene_uri(body.strategy), "/localhost/nfd/strategy/multicast/54=%05");
    params = choice("/", "/localhost/nfd/strategy/multicast/54=%05");
    cr_assert_eq(scene_command(&scene, "strategy-choice/set", &params, &body), 200);
    cr_assert_str_eq(choice_list(), "/ /localhost/nfd/strategy/multicast/54=%05\n"
                                    "/a /localhost/nfd/strategy/multicast/54=%05\n");
    params = scene_params("/a");
    cr_assert_eq(scene_command(&scene, "strategy-choice/unset", &params, &body), 200);
    cr_assert_eq(body.has, MGMT_HAS_NAME);
    cr_assert_str_eq(choice_list(), "/ /localhost/nfd/strategy/multicast/54=%05\n");
    cr_assert_eq(scene_command(&scene, "strategy-choice/unset", &params, &body), 200, "there is none any more");
}

/* Row M22. */
Test(mgmt_strategy_choice, unknown_strategies_get_404_and_impossible_ones_409)
{
    const struct {
        const char *name;
        unsigned code;
    } cases[] = {
        {"/localhost/nfd/strategy/nope", 404},
        {"/a", 404},
        {"/", 404},
        {"/localhost/nfd/strategy/multicast/54=%04", 409},
        {"/localhost/nfd/strategy/multicast/%FD%03", 409},
        {"/localhost/nfd/strategy/best-route/54=%05/nonsense", 409},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mgmt_params params = choice("/a", cases[i].name), body;
        cr_assert_eq(scene_command(&scene, "strategy-choice/set", &params, &body), cases[i].code, "%s", cases[i].name);
        cr_assert_eq(body.has, 0);
    }
    cr_assert_eq(fib_count(scene.shared.fib), 0);
}

Test(mgmt_strategy_choice, prefixes_of_33_components_get_414)
{
    struct mgmt_params params = choice(deep(33), "/localhost/nfd/strategy/multicast");
    cr_assert_eq(scene_command(&scene, "strategy-choice/set", &params, NULL), 414);
    params.has = MGMT_HAS_NAME;
    cr_assert_eq(scene_command(&scene, "strategy-choice/unset", &params, NULL), 200);
}

Test(mgmt_status, general_status_counts_what_there_is)
{
    struct mgmt_params params = scene_params("/a");
    cr_assert_eq(scene_command(&scene, "fib/add-nexthop", &params, NULL), 200);
    size_t len;
    scene.wall_ms += 5000;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/status/general", &len);
    struct mgmt_general_status status;
    cr_assert_eq(mgmt_general_status_decode(octets, len, &status), 0);
    cr_assert_eq(status.version.len, 10);
    cr_assert_arr_eq(status.version.p, "24.07-test", 10);
    cr_assert_eq(status.current_ms, SCENE_WALL_MS + 5000);
    cr_assert_gt(status.start_ms, 0);
    cr_assert_eq(status.n_fib, 1);
    cr_assert_eq(status.n_name_tree, 1);
    cr_assert_eq(status.n_pit, 0);
    free(octets);
}
