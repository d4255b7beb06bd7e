// SPDX-License-Identifier: Apache-2.0
#include "test/unit/fwd/mgmt_fixture.h"

/* What auth says, chosen by each test; only asked when the environment has one. */
static enum auth_result verdict;
static enum auth_privilege asked;

enum auth_result auth_command(struct auth *auth, enum auth_privilege privilege, const uint8_t *interest, size_t len,
                              uint64_t wall_ms)
{
    (void)auth;
    cr_assert_eq(interest[0], NDN_TYPE_INTEREST);
    cr_assert_gt(len, 2);
    cr_assert_eq(wall_ms, SCENE_WALL_MS);
    asked = privilege;
    return verdict;
}

enum auth_result auth_data(struct auth *auth, enum auth_privilege privilege, const uint8_t *data, size_t len,
                           uint64_t wall_ms)
{
    (void)auth;
    (void)privilege;
    (void)data;
    (void)len;
    (void)wall_ms;
    return verdict;
}

static struct scene scene;

static void setup(void)
{
    scene_open(&scene, NULL);
}

static void setup_auth(void)
{
    const struct mgmt_env env = {.auth = (struct auth *)&verdict, .localhop = true};
    verdict = AUTH_ACCEPTED;
    scene_open(&scene, &env);
}

static void teardown(void)
{
    scene_close(&scene);
}

TestSuite(mgmt, .init = setup, .fini = teardown);
TestSuite(mgmt_auth, .init = setup_auth, .fini = teardown);

/* Requests and answers of a session with the reference forwarder. */
static const struct {
    const char *request, *answer;
} transcript[] = {
    // strategy-choice/set
    {"05bf077a08096c6f63616c686f737408036e6664080f73747261746567792d63686f69636508037365740830682e07030801786b27072508"
     "096c6f63616c686f737408036e66640808737472617465677908096d756c74696361737402204aec986de8f4eb08d9a78c2a9cac71447e2c"
     "f2b55af6ee42797137a4d42e816a0a049683182a24002c171b01002608092ad2c8717797bd2808000001a22d2169a12e20da665b4b6cd81a"
     "34e8d660c2d5b2e71d2c71756891ab77f37a20c26bddd04a40",
     "06e7077a08096c6f63616c686f737408036e6664080f73747261746567792d63686f69636508037365740830682e07030801786b27072508"
     "096c6f63616c686f737408036e66640808737472617465677908096d756c74696361737402204aec986de8f4eb08d9a78c2a9cac71447e2c"
     "f2b55af6ee42797137a4d42e816a1404190203e8153c653a6601c867024f4b683107030801786b2a072808096c6f63616c686f737408036e"
     "66640808737472617465677908096d756c74696361737436010516031b0100172018c3bb32a975020ad068d0d20454ed5a7b73edd1a82654"
     "fb912f0fd45b5f67a3"},
    // unknown strategy
    {"05ba077508096c6f63616c686f737408036e6664080f73747261746567792d63686f6963650803736574082b682907030801786b22072008"
     "096c6f63616c686f737408036e66640808737472617465677908046e6f706502207d01449c94e2714d8dbe4d354686be0a1bbe3a1b29f737"
     "065c430d2cfdd4d7400a04cb88f93c24002c171b01002608b62d22276eb84ec72808000001a22d216e832e20c1f611665f1b9f178759edb4"
     "ff45e91accf065d59d0b0d6bb2d9307a9c364560",
     "06c5077508096c6f63616c686f737408036e6664080f73747261746567792d63686f6963650803736574082b682907030801786b22072008"
     "096c6f63616c686f737408036e66640808737472617465677908046e6f706502207d01449c94e2714d8dbe4d354686be0a1bbe3a1b29f737"
     "065c430d2cfdd4d7401404190203e8151f651d6602019467175374726174656779206e6f74207265676973746572656416031b01001720a2"
     "f955aad4b044a2cc567353158f28b6e737bfed6d845e068b5701054050e2c4"},
    // strategy-choice/unset
    {"0598075308096c6f63616c686f737408036e6664080f73747261746567792d63686f6963650805756e736574080768050703080178022"
     "01b4f910f42b4affce7ddfc32b2998cc9c861ffd9a260474a08eda30fb207c4250a04a4790b6a24002c171b010026081ff60c7de18f401f"
     "2808000001a22d21705f2e20c6e8fc62f912c4057efaa00a6e8e5708888f1456a264cf1816eb60c72c263b17",
     "0694075308096c6f63616c686f737408036e6664080f73747261746567792d63686f6963650805756e736574080768050703080178022"
     "01b4f910f42b4affce7ddfc32b2998cc9c861ffd9a260474a08eda30fb207c4251404190203e81510650e6601c867024f4b68050703080178"
     "16031b01001720897bf46a88fb7cc76e19978ae9ed6d5f8635460841a19b715c81273356861fe9"},
    // cs/erase
    {"058b074608096c6f63616c686f737408036e666408026373080565726173650807680507030801780220e827d6160412def6b915e35f961e"
     "2fbd60003df4e0ea4ffe6dadea3272b3ee960a0412b37bc524002c171b010026080ad7830a3fb590322808000001a22d2172512e2070e6d4"
     "9f7d6e0228f79e63f8c7a3505969a5bc423f0ddd4123e2daf3e75d9f8b",
     "068a074608096c6f63616c686f737408036e666408026373080565726173650807680507030801780220e827d6160412def6b915e35f961e"
     "2fbd60003df4e0ea4ffe6dadea3272b3ee961404190203e8151365116601c867024f4b6808070308017884010016031b01001720a5e408d2"
     "1654e4e439583af824a20d5020e2e3540da7b1dc19f2b19fd09b50b2"},
};

Test(mgmt, answers_are_octet_for_octet_those_of_the_reference_forwarder)
{
    for (size_t i = 0; i < sizeof transcript / sizeof *transcript; i++) {
        uint8_t request[1024], answer[1024];
        size_t n = hex_octets(transcript[i].request, request, sizeof request);
        size_t len = hex_octets(transcript[i].answer, answer, sizeof answer);
        scene_forget(&scene);
        scene_receive_from(&scene, SCENE_APP, request, n);
        struct scene_data data = scene_read(&scene, 0);
        cr_assert_eq(data.len, len, "%zu", i);
        cr_assert_arr_eq(data.octets, answer, len, "%zu", i);
        cr_assert_eq(data.lp.token_len, 8);
        cr_assert_arr_eq(data.lp.token, "\1\2\3\4\5\6\7\x8", 8, "the token comes back");
    }
}

Test(mgmt, all_formats_of_a_command_are_understood)
{
    struct mgmt_params params = scene_params("/a"), body;
    uint8_t octets[128];
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    for (enum scene_format format = SCENE_UNSIGNED; format <= SCENE_V02; format++) {
        scene_forget(&scene);
        scene_command_raw(&scene, SCENE_APP, "rib/register", octets, len, format);
        struct scene_data data = scene_read(&scene, 0);
        struct mgmt_response response;
        cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
        cr_assert_eq(response.code, 200, "format %d", format);
        cr_assert_eq(mgmt_params_decode(response.body.p + 2, response.body.len - 2, &body), 0);
        cr_assert_eq(body.face_id, SCENE_APP, "no FaceId: the face it came in by");
    }
    cr_assert_eq(mgmt_counters(scene.mgmt)->commands, 3);
}

Test(mgmt, names_that_nothing_serves_are_not_answered)
{
    const char *const uris[] = {
        "/localhost/nfd/rib/nosuchverb",
        "/localhost/nfd/nosuchmodule/list",
        "/localhost/nfd/fib",
        "/localhost/nfd",
        "/localhost",
        "/localhost/other/fib/list",
        "/localhop/nfd/rib/list", // not enabled
        "/localhop/nfd/fib/list",
        "/localhost/nfd/8=rib/54=list",
        "/a/b/c/d",
        "/localhost/nfd/faces/nothing",
        "/a/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/33",
    };
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++)
        scene_ask_uri(&scene, uris[i], true);
    cr_assert_eq(scene.n_sent, 0);
    cr_assert_eq(mgmt_counters(scene.mgmt)->ignored, sizeof uris / sizeof *uris);
}

/* Row M01 of the bad inputs. */
Test(mgmt, undecodable_parameters_are_not_answered_but_counted)
{
    const char *const cases[] = {
        "68ff",             // cut
        "68",               //
        "",                 // nothing
        "6800ff",           // octets behind
        "690101",           // no ControlParameters
        "68066a0100690101", // wrong order
        "6803690301",       // cut inside
        "68056903000001",   // no NonNegativeInteger
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t octets[64];
        size_t len = hex_octets(cases[i], octets, sizeof octets);
        scene_command_raw(&scene, SCENE_APP, "rib/register", octets, len, SCENE_V03);
        cr_assert_eq(scene.n_sent, 0, "%s", cases[i]);
        cr_assert_eq(mgmt_counters(scene.mgmt)->malformed, i + 1, "%s", cases[i]);
    }
    scene_ask_uri(&scene, "/localhost/nfd/rib/register", false);
    cr_assert_eq(mgmt_counters(scene.mgmt)->malformed, sizeof cases / sizeof *cases + 1);
    cr_assert_eq(mgmt_counters(scene.mgmt)->commands, 0);
}

/* rib/announce has a prefix announcement in its ApplicationParameters. */
static void announce(const char *app_params)
{
    uint8_t name[128], interest[256], *p = interest + 2;
    size_t n = scene_name("/localhost/nfd/rib/announce", name, sizeof name);
    name[n++] = NDN_PARAMS_DIGEST;
    name[n++] = 32;
    memset(name + n, 0xab, 32);
    n += 32;
    p += ndn_tlv_put_var(p, NDN_TLV_NAME);
    p += ndn_tlv_put_var(p, n);
    memcpy(p, name, n);
    p += n;
    p += hex_octets("0a0401020304", p, 6);
    p += hex_octets(app_params, p, 64);
    interest[0] = NDN_TYPE_INTEREST;
    interest[1] = (uint8_t)(p - interest - 2);
    scene_receive_from(&scene, SCENE_APP, interest, (size_t)(p - interest));
}

Test(mgmt, rubbish_in_application_parameters_is_not_answered_but_counted)
{
    announce("2403060102");
    announce("2400");
    announce("");
    cr_assert_eq(scene.n_sent, 0);
    cr_assert_eq(mgmt_counters(scene.mgmt)->malformed, 3);
    cr_assert_eq(mgmt_counters(scene.mgmt)->commands, 0);
}

Test(mgmt, packets_that_are_none_are_counted)
{
    scene_receive(&scene, (const uint8_t *)"\x05\x02\x07", 3);
    scene_receive(&scene, (const uint8_t *)"", 0);
    scene_receive(&scene, (const uint8_t *)"\x64\x00", 2); // IDLE
    cr_assert_eq(mgmt_counters(scene.mgmt)->malformed, 3);
    cr_assert_eq(scene.n_sent, 0);
}

/* Row M02. */
Test(mgmt, fields_that_are_missing_or_forbidden_give_400)
{
    const struct {
        const char *verb;
        struct mgmt_params params;
    } cases[] = {
        {"rib/register", {.has = 0}},
        {"rib/register", {.has = MGMT_HAS_NAME | MGMT_HAS_URI}},
        {"fib/add-nexthop", {.has = MGMT_HAS_FACE_ID}},
        {"fib/add-nexthop", {.has = MGMT_HAS_NAME | MGMT_HAS_FLAGS}},
        {"fib/remove-nexthop", {.has = MGMT_HAS_NAME | MGMT_HAS_COST}},
        {"cs/config", {.has = MGMT_HAS_NAME}},
        {"cs/config", {.has = MGMT_HAS_FLAGS}}, // without Mask
        {"cs/config", {.has = MGMT_HAS_MASK}},
        {"cs/erase", {.has = MGMT_HAS_COUNT, .count = 1}},
        {"cs/erase", {.has = MGMT_HAS_NAME | MGMT_HAS_COUNT, .count = 0}},
        {"strategy-choice/set", {.has = MGMT_HAS_NAME}},
        {"strategy-choice/set", {.has = MGMT_HAS_STRATEGY}},
        {"strategy-choice/unset", {.has = 0}},
        {"strategy-choice/unset", {.has = MGMT_HAS_NAME}}, // row M22: of the root
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mgmt_params body;
        cr_assert_eq(scene_command(&scene, cases[i].verb, &cases[i].params, &body), 400, "%zu", i);
        cr_assert_eq(body.has, 0);
        cr_assert_str_eq(scene_text(&scene), "failed in validating parameters");
    }
}

Test(mgmt, answers_have_the_name_of_the_command)
{
    struct mgmt_params params = scene_params("/a/b");
    uint8_t octets[128], name[NDN_NAME_MAX];
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    scene_command_raw(&scene, SCENE_APP, "rib/register", octets, len, SCENE_V02);
    size_t n = scene_command_name(name, "rib/register", octets, len, SCENE_V02);
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_eq(data.name.len, n);
    cr_assert_arr_eq(data.name.p, name, n);
    cr_assert_eq(data.final_block.len, 0);
}

Test(mgmt, registrations_are_quick)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < 4000; i++) {
        char uri[32];
        snprintf(uri, sizeof uri, "/app/%u", i);
        struct mgmt_params params = scene_params(uri);
        cr_assert_eq(scene_command(&scene, "rib/register", &params, NULL), 200);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double s = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    cr_assert_lt(s, 2.0, "%f s for 4000: no time may be spent per entry that is there", s);
    cr_assert_eq(rib_count(scene.env.rib), 4000);
}

static const struct {
    const char *verb;
    enum auth_privilege privilege;
} privileges[] = {
    {"fib/add-nexthop", AUTH_FIB},
    {"cs/erase", AUTH_CS},
    {"strategy-choice/unset", AUTH_STRATEGY_CHOICE},
    {"rib/register", AUTH_RIB_LOCALHOST},
    {"/localhop/nfd/rib/register", AUTH_RIB_LOCALHOP},
};

Test(mgmt_auth, each_module_has_its_privilege)
{
    for (size_t i = 0; i < sizeof privileges / sizeof *privileges; i++) {
        struct mgmt_params params = scene_params("/a");
        asked = 0;
        cr_assert_eq(scene_command(&scene, privileges[i].verb, &params, NULL), 200, "%s", privileges[i].verb);
        cr_assert_eq(asked, privileges[i].privilege, "%s", privileges[i].verb);
    }
}

/* Rows M05 to M07 and M10, as far as they are decided elsewhere. */
Test(mgmt_auth, refused_and_replayed_commands_get_403_and_do_nothing)
{
    struct mgmt_params params = scene_params("/a"), body;
    for (size_t i = 0; i < sizeof privileges / sizeof *privileges; i++) {
        verdict = AUTH_REFUSED;
        cr_assert_eq(scene_command(&scene, privileges[i].verb, &params, &body), 403);
        cr_assert_str_eq(scene_text(&scene), "authorization rejected");
        cr_assert_eq(body.has, 0);
        verdict = AUTH_REPLAYED;
        cr_assert_eq(scene_command(&scene, privileges[i].verb, &params, &body), 403);
        cr_assert_str_eq(scene_text(&scene), "authorization rejected");
    }
    cr_assert_eq(mgmt_counters(scene.mgmt)->unauthorized, 5);
    cr_assert_eq(mgmt_counters(scene.mgmt)->replayed, 5);
    cr_assert_eq(fib_count(scene.shared.fib), 0);
    cr_assert_eq(rib_count(scene.env.rib), 0);
}

/* Row M04. */
Test(mgmt_auth, malformed_signatures_are_not_answered)
{
    struct mgmt_params params = scene_params("/a");
    verdict = AUTH_MALFORMED;
    cr_assert_eq(scene_command(&scene, "rib/register", &params, NULL), 0);
    cr_assert_eq(mgmt_counters(scene.mgmt)->malformed, 1);
    cr_assert_eq(rib_count(scene.env.rib), 0);
}

Test(mgmt_auth, permission_is_asked_before_fields_are_checked)
{
    const struct mgmt_params params = {.has = MGMT_HAS_URI};
    verdict = AUTH_REFUSED;
    cr_assert_eq(scene_command(&scene, "rib/register", &params, NULL), 403);
    verdict = AUTH_ACCEPTED;
    cr_assert_eq(scene_command(&scene, "rib/register", &params, NULL), 400);
}

Test(mgmt_auth, only_the_rib_is_served_under_localhop)
{
    struct mgmt_params params = scene_params("/a");
    cr_assert_eq(scene_command(&scene, "/localhop/nfd/rib/register", &params, NULL), 200);
    cr_assert_eq(scene_command(&scene, "/localhop/nfd/fib/add-nexthop", &params, NULL), 0);
    cr_assert_eq(scene_command(&scene, "/localhop/nfd/strategy-choice/unset", &params, NULL), 0);
    cr_assert_eq(mgmt_counters(scene.mgmt)->ignored, 2);
}

Test(mgmt_auth, datasets_need_no_permission)
{
    verdict = AUTH_REFUSED;
    scene_ask_uri(&scene, "/localhost/nfd/fib/list", true);
    cr_assert_eq(scene.n_sent, 1);
}
