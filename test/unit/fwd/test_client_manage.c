// SPDX-License-Identifier: Apache-2.0
/* The commands of the management protocol: what they ask a fake forwarder, and what they print. */
#include "fwd/client/manage.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>

#include "fwd/client/command.h"
#include "test/unit/fwd/fake_nfd.h"

/** Items as the reference forwarder sends them. */
#define FACE_272                                                                                                   \
    "8068690201107216756470343a2f2f3139382e31382e322e373a363336338116756470343a2f2f3139382e31382e322e313a36333633" \
    "840100850100860100870405f5e100880400010000890205789001009101009701009201009301009801009401009501006c0102"
#define RIB                                                                                                            \
    "801807030801788111690201116f01ff6a01076c01016d02e9768015070408026265810d690201066f01806a01006c01038021071008096c" \
    "6f"                                                                                                               \
    "63616c686f737408036e6664810d690201006f01006a01006c0101"
#define FIB "80180704080262758107690201036a01008107690201106a0105800f0704080262658107690201066a0100"
#define STRATEGIES                                                                                                     \
    "802f07006b2b072908096c6f63616c686f737408036e666408087374726174656779080a626573742d726f7574653601058039070b08096c" \
    "6f"                                                                                                               \
    "63616c686f73746b2a072808096c6f63616c686f737408036e66640808737472617465677908096d756c7469636173743601058043070308" \
    "01"                                                                                                               \
    "786b3c073a08096c6f63616c686f737408036e6664080873747261746567790803617366360105081670726f62696e672d696e7465727661" \
    "6c"                                                                                                               \
    "7e3330303030"
#define CS "80128304000100006c010387010881010082012c"
#define STATUS                                                                                  \
    "800532342e3037810800000"                                                                   \
    "1a22d215a8d8208000001a22d215b3a8301098401028501028601008701029001069101059701009201069301" \
    "049801009901049a0100"
#define CHANNELS "82158113756470343a2f2f302e302e302e303a36333633820b81096465763a2f2f766663"

/** Body of a face, as faces/create answers. */
#define FACE_BODY                                                                                                     \
    {                                                                                                                 \
        .has = MGMT_HAS_FACE_ID | MGMT_HAS_URI | MGMT_HAS_LOCAL_URI | MGMT_HAS_FLAGS | MGMT_HAS_FACE_PERSISTENCY |    \
               MGMT_HAS_CONGESTION_INTERVAL | MGMT_HAS_CONGESTION_THRESHOLD | MGMT_HAS_MTU,                           \
        .face_id = 308, .uri = {(const uint8_t *)"udp4://192.0.2.1:6363", 21},                                        \
        .local_uri = {(const uint8_t *)"udp4://192.0.2.9:6363", 21}, .flags = 4, .congestion_interval_ns = 100000000, \
        .congestion_threshold = 65536, .mtu = 8800                                                                    \
    }
#define FACE_TEXT                                                                                             \
    "id=308 local=udp4://192.0.2.9:6363 remote=udp4://192.0.2.1:6363 persistency=persistent reliability=off " \
    "congestion-marking=on congestion-marking-interval=100ms default-congestion-threshold=65536B mtu=8800\n"

/** Run one command against rules and compare all that can be seen. NULL: not compared. */
static void expect(const char *line, const struct fake_rule *rules, int status, const char *out, const char *err,
                   const char *log)
{
    struct fake_nfd fake;
    char *got_out, *got_err;
    fake_nfd_start(&fake, rules);
    int got = run_line(line, &got_out, &got_err);
    fake_nfd_stop(&fake);
    cr_expect_eq(got, status, "%s: exit %d: %s", line, got, got_err);
    if (out != NULL)
        cr_expect_str_eq(got_out, out, "%s: %s", line, got_out);
    if (err != NULL)
        cr_expect_str_eq(got_err, err, "%s: %s", line, got_err);
    if (log != NULL)
        cr_expect_str_eq(fake.log, log, "%s: %s", line, fake.log);
    free(got_out);
    free(got_err);
}

Test(client_manage, a_face_is_created_by_any_form_of_the_words)
{
    static const struct fake_rule rules[] = {{.path = "faces/create", .code = 200, .text = "OK", .body = FACE_BODY},
                                             {0}};
    static const char *const lines[][2] = {
        {"face create udp://192.0.2.1", "persistency=0"},
        {"face create remote udp4://192.0.2.1:6363", "persistency=0"},
        {"face create udp4://192.0.2.1:6363 persistency permanent", "persistency=2"},
        {"face create udp4://192.0.2.1 permanent", "persistency=2"},
        {"face create persistency permanent remote udp4://192.0.2.1", "persistency=2"},
        {"face create udp4://192.0.2.1:6363 reliability on congestion-marking off", "flags=2 mask=6 persistency=0"},
        {"face create udp4://192.0.2.1 permanent congestion-marking-interval 20 default-congestion-threshold 1000 "
         "mtu 1400",
         "persistency=2 interval=20000000 threshold=1000 mtu=1400"},
        {"face create udp4://192.0.2.1 mtu auto", "persistency=0 mtu=18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char log[256];
        snprintf(log, sizeof log, "faces/create uri=udp4://192.0.2.1:6363 %s\n", lines[i][1]);
        expect(lines[i][0], rules, COMMAND_OK, "face-created " FACE_TEXT, "", log);
    }
    expect("face create ether://[02:00:00:00:00:01] local dev://eth9", rules, COMMAND_OK, NULL, "",
           "faces/create uri=ether://[02:00:00:00:00:01] local=dev://eth9 persistency=0\n");
}

Test(client_manage, a_face_that_exists_is_shown_or_brought_to_what_is_wanted)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/create", .code = 409, .text = "Face with remote URI already exists", .body = FACE_BODY},
        {.path = "faces/update",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_FACE_ID | MGMT_HAS_FACE_PERSISTENCY, .face_id = 308, .persistency = 2}},
        {0},
    };
    expect("face create udp://192.0.2.1", rules, COMMAND_OK, "face-exists " FACE_TEXT, "", NULL);
    expect("face create udp://192.0.2.1 reliability off congestion-marking on mtu 8800", rules, COMMAND_OK,
           "face-exists " FACE_TEXT, "", NULL);
    expect("face create udp://192.0.2.1 permanent", rules, COMMAND_OK,
           "face-updated id=308 local=udp4://192.0.2.9:6363 remote=udp4://192.0.2.1:6363 persistency=permanent "
           "reliability=off congestion-marking=on congestion-marking-interval=100ms "
           "default-congestion-threshold=65536B mtu=8800\n",
           "", "faces/create uri=udp4://192.0.2.1:6363 persistency=2\nfaces/update face=308 persistency=2\n");
    expect("face create udp://192.0.2.1 reliability on mtu 1400", rules, COMMAND_OK, NULL, "",
           "faces/create uri=udp4://192.0.2.1:6363 flags=2 mask=2 persistency=0 mtu=1400\n"
           "faces/update face=308 flags=2 mask=2 mtu=1400\n");
    static struct fake_rule permanent[] = {{.path = "faces/create", .code = 409, .text = "exists", .body = FACE_BODY},
                                           {0}};
    permanent[0].body.persistency = 2;
    expect("face create udp://192.0.2.1", permanent, COMMAND_OK, NULL, "",
           "faces/create uri=udp4://192.0.2.1:6363 persistency=0\n");
    // A conflict with some other face is no success.
    expect("face create udp://192.0.2.2", rules, COMMAND_FAILED, "",
           "Error 409 when creating face: Face with remote URI already exists\n", NULL);
}

Test(client_manage, refusals_are_exit_1_with_the_code_and_the_words)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/create", .code = 406, .text = "Cannot create multicast UDP faces"},
        {.path = "faces/query", .hex = FACE_272},
        {.path = "faces/update", .code = 409, .text = "Invalid persistency"},
        {.path = "faces/destroy", .code = 403, .text = "authorization rejected"},
        {.path = "rib/register", .code = 414, .text = "too long"},
        {.path = "rib/unregister", .code = 403, .text = "authorization rejected"},
        {.path = "strategy-choice/set", .code = 404, .text = "Strategy not registered"},
        {.path = "strategy-choice/unset", .code = 400, .text = "failed in validating parameters"},
        {.path = "cs/config", .code = 500, .text = "no memory"},
        {.path = "cs/erase", .code = 400, .text = "failed in validating parameters"},
        {.path = "faces/channels", .act = FAKE_REJECT, .code = 501, .text = "not here"},
        {0},
    };
    static const char *const lines[][2] = {
        {"face create udp://224.0.23.170", "Error 406 when creating face: Cannot create multicast UDP faces\n"},
        {"face update 273 permanent", "Error 409 when updating face: Invalid persistency\n"},
        {"face destroy 273", "Error 403 when destroying face: authorization rejected\n"},
        {"route add /A 273", "Error 414 when adding route: too long\n"},
        {"route remove /A 273", "Error 403 when removing route: authorization rejected\n"},
        {"strategy set /A /nope", "Error 404 when setting strategy: Strategy not registered\n"},
        {"strategy unset /A", "Error 400 when unsetting strategy: failed in validating parameters\n"},
        {"cs config capacity 5", "Error 500 when updating CS config: no memory\n"},
        {"cs erase /A", "Error 400 when erasing cached Data: failed in validating parameters\n"},
        {"channel list", "Error 501 when fetching channel dataset: not here\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(lines[i][0], rules, COMMAND_FAILED, "", lines[i][1], NULL);
}

Test(client_manage, no_answer_is_exit_1_after_the_time_given)
{
    static const struct fake_rule rules[] = {{0}};
    expect("route list --timeout 50ms", rules, COMMAND_FAILED, "",
           "Error 10060 when fetching RIB dataset: request timed out\n", "rib/list\n");
    expect("strategy set /A /s --timeout 50ms", rules, COMMAND_FAILED, "",
           "Error 10060 when setting strategy: request timed out\n", NULL);
}

Test(client_manage, nobody_at_the_socket_is_exit_1)
{
    static const char *const lines[] = {"face create udp://192.0.2.1",
                                        "face destroy 300",
                                        "route add /A 300",
                                        "fib list",
                                        "channel",
                                        "status",
                                        "strategy set /A /s",
                                        "cs erase /A",
                                        "route"};
    setenv("NDN_CLIENT_TRANSPORT", "unix:///nonexistent/nfd.sock", 1);
    unsetenv("PITLANE_SOCKET");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *out, *err;
        cr_expect_eq(run_line(lines[i], &out, &err), COMMAND_FAILED, "%s", lines[i]);
        cr_expect_str_empty(out);
        cr_expect_not_null(strstr(err, "/nonexistent/nfd.sock: No such file or directory"), "%s: %s", lines[i], err);
        free(out);
        free(err);
    }
}

Test(client_manage, faces_are_found_by_number_or_uri)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/query", .hex = FACE_272},
        {.path = "faces/destroy", .code = 200, .text = "OK"},
        {.path = "faces/update",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_FACE_ID | MGMT_HAS_MTU, .face_id = 272, .mtu = 1300}},
        {0},
    };
    static const char destroyed[] = "face-destroyed id=272 local=udp4://198.18.2.1:6363 remote=udp4://198.18.2.7:6363 "
                                    "persistency=persistent reliability=on congestion-marking=off\n";
    expect("face destroy 272", rules, COMMAND_OK, destroyed, "", "faces/query\nfaces/destroy face=272\n");
    expect("face destroy face udp://198.18.2.7", rules, COMMAND_OK, destroyed, "", NULL);
    expect("face update 272 mtu 1300", rules, COMMAND_OK,
           "face-updated id=272 local=udp4://198.18.2.1:6363 remote=udp4://198.18.2.7:6363 persistency=persistent "
           "reliability=on congestion-marking=off congestion-marking-interval=100ms "
           "default-congestion-threshold=65536B mtu=1300\n",
           "", NULL);
    static const struct fake_rule none[] = {{.path = "faces/query", .hex = ""}, {0}};
    expect("face destroy 272", none, COMMAND_FAILED, "", "Face not found\n", NULL);
    expect("face show 272", none, COMMAND_FAILED, "", "Face not found\n", NULL);
    expect("route remove /A udp://198.18.2.7", none, COMMAND_FAILED, "", "Face not found\n", NULL);
    static const struct fake_rule two[] = {
        {.path = "faces/query", .hex = FACE_272 FACE_272}, {.path = "rib/unregister", .code = 200, .text = "OK"}, {0}};
    expect("route add /A udp://198.18.2.7", two, COMMAND_FAILED, "",
           "Multiple faces match specified remote FaceUri. Re-run the command with a FaceId: 272 "
           "(local=udp4://198.18.2.1:6363), 272 (local=udp4://198.18.2.1:6363)\n",
           NULL);
    expect("route remove /A udp://198.18.2.7 origin nlsr", two, COMMAND_OK,
           "route-removed prefix=/A nexthop=272 origin=nlsr\nroute-removed prefix=/A nexthop=272 origin=nlsr\n", "",
           NULL);
    expect("face destroy udp6://192.0.2.1", rules, COMMAND_FAILED, "",
           "Error during remote FaceUri canonization: udp6://192.0.2.1: the address is of another IP version than the "
           "scheme\n",
           "");
    expect("face destroy nonsense", rules, COMMAND_FAILED, "", NULL, "");
}

Test(client_manage, routes_are_added_with_the_defaults_of_nfdc)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/query", .hex = FACE_272},
        {.path = "rib/register",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS,
                  .name = {(const uint8_t *)"\x08\x01x", 3},
                  .face_id = 272,
                  .origin = 255,
                  .cost = 7,
                  .flags = 1}},
        {0},
    };
    static const char accepted[] =
        "route-add-accepted prefix=/x nexthop=272 origin=static cost=7 flags=child-inherit expires=never\n";
    static const char *const lines[] = {
        "route add /x 272 cost 7",
        "route add prefix /x nexthop 272 cost 7",
        "route add x udp4://198.18.2.7:6363 cost 7",
        "route add cost 7 /x udp://198.18.2.7",
        "route add nexthop 272 prefix ndn:/x cost 7",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        expect(lines[i], rules, COMMAND_OK, accepted, "",
               "faces/query\nrib/register name=/x face=272 origin=255 cost=7 flags=1\n");
    expect("route add /x 272 origin nlsr no-inherit capture expires 60000", rules, COMMAND_OK, accepted, "",
           "faces/query\nrib/register name=/x face=272 origin=128 cost=0 flags=2 expires=60000\n");
    expect("route add '/a b/%00/v=5/...' 272", rules, COMMAND_OK, accepted, "",
           "faces/query\nrib/register name=/a%20b/%00/v=5/... face=272 origin=255 cost=0 flags=1\n");
    static const struct fake_rule expiring[] = {
        {.path = "faces/query", .hex = FACE_272},
        {.path = "rib/register",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_FLAGS | MGMT_HAS_EXPIRATION_PERIOD, .flags = 3, .expiration_ms = 59999}},
        {0},
    };
    expect(
        "route add /x 272 expires 60000", expiring, COMMAND_OK,
        "route-add-accepted prefix=/x nexthop=272 origin=static cost=0 flags=child-inherit|capture expires=59999ms\n",
        "", NULL);
}

Test(client_manage, a_route_to_a_faceuri_that_no_face_has_makes_the_face)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/query", .hex = ""},
        {.path = "faces/create", .code = 200, .text = "OK", .body = FACE_BODY},
        {.path = "rib/register", .code = 200, .text = "OK"},
        {0},
    };
    expect("route add /A udp://192.0.2.1", rules, COMMAND_OK,
           "route-add-accepted prefix=/A nexthop=308 origin=static cost=0 flags=child-inherit expires=never\n", "",
           "faces/query\nfaces/create uri=udp4://192.0.2.1:6363\n"
           "rib/register name=/A face=308 origin=255 cost=0 flags=1\n");
    expect("route add /A 308", rules, COMMAND_FAILED, "", "Face not found\n", "faces/query\n");
}

Test(client_manage, strategies_and_the_content_store_are_changed)
{
    static const struct fake_rule rules[] = {
        {.path = "strategy-choice/set",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_NAME | MGMT_HAS_STRATEGY,
                  .name = {(const uint8_t *)"\x08\x01x", 3},
                  .strategy = {(const uint8_t *)"\x08\x01s\x36\x01\x05", 6}}},
        {.path = "strategy-choice/unset", .code = 200, .text = "OK"},
        {.path = "cs/config",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_CAPACITY | MGMT_HAS_FLAGS, .capacity = 1000, .flags = 1}},
        {.path = "cs/erase", .code = 200, .text = "OK", .body = {.has = MGMT_HAS_COUNT, .count = 3}},
        {0},
    };
    expect("strategy set /x /s", rules, COMMAND_OK, "strategy-set prefix=/x strategy=/s/v=5\n", "",
           "strategy-choice/set name=/x strategy=/s\n");
    expect("strategy set prefix /x strategy /s/v=5/probing-interval~30000", rules, COMMAND_OK, NULL, "",
           "strategy-choice/set name=/x strategy=/s/v=5/probing-interval~30000\n");
    expect("strategy unset prefix /x", rules, COMMAND_OK, "strategy-unset prefix=/x\n", "",
           "strategy-choice/unset name=/x\n");
    expect("strategy unset /", rules, COMMAND_USAGE, "", "Unsetting default strategy is prohibited\n", "");
    expect("cs config capacity 1000 admit on serve off", rules, COMMAND_OK,
           "cs-config-updated capacity=1000 admit=on serve=off\n", "", "cs/config capacity=1000 flags=1 mask=3\n");
    expect("cs config", rules, COMMAND_OK, "cs-config-updated capacity=1000 admit=on serve=off\n", "", "cs/config\n");
    expect("cs erase /x", rules, COMMAND_OK, "cs-erased prefix=/x count=3 has-more=no\n", "", "cs/erase name=/x\n");
    expect("cs erase prefix /x count 3", rules, COMMAND_OK, NULL, "", "cs/erase name=/x count=3\n");
    static const struct fake_rule more[] = {
        {.path = "cs/erase",
         .code = 200,
         .text = "OK",
         .body = {.has = MGMT_HAS_CAPACITY | MGMT_HAS_COUNT, .capacity = 256, .count = 256}},
        {0},
    };
    expect("cs erase /", more, COMMAND_OK, "cs-erased prefix=/ count=256 has-more=yes\n", "", NULL);
}

Test(client_manage, lists_are_tables_from_what_the_reference_forwarder_sends)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/list", .hex = FACE_272, .segment = 50},
        {.path = "faces/query", .hex = FACE_272},
        {.path = "faces/channels", .hex = CHANNELS},
        {.path = "rib/list", .hex = RIB},
        {.path = "fib/list", .hex = FIB},
        {.path = "strategy-choice/list", .hex = STRATEGIES},
        {.path = "cs/info", .hex = CS},
        {0},
    };
    static const char face_list[] =
        "FACE  REMOTE                  LOCAL                    MTU  IN INT  IN DATA  IN NACK  IN BYTES  OUT INT  "
        "OUT DATA  OUT NACK  OUT BYTES  FLAGS\n"
        " 272  udp4://198.18.2.7:6363  udp4://198.18.2.1:6363  1400       0        0        0         0        0  "
        "       0         0          0  non-local persistent point-to-point reliability\n";
    expect("face list", rules, COMMAND_OK, face_list, "", NULL);
    expect("face", rules, COMMAND_OK, face_list, "", NULL);
    expect("face list scheme udp4", rules, COMMAND_OK, face_list, "", "faces/query\n");
    expect("face list remote udp://198.18.2.7 local udp4://198.18.2.1:6363", rules, COMMAND_OK, face_list, "",
           "faces/query\n");
    expect("channel list", rules, COMMAND_OK, "LOCAL\nudp4://0.0.0.0:6363\ndev://vfc\n", "", NULL);
    expect("route list", rules, COMMAND_OK,
           "PREFIX          FACE  ORIGIN  COST  FLAGS                  EXPIRES\n"
           "/x               273  static     7  child-inherit            0m59s\n"
           "/be              262  nlsr       0  child-inherit|capture        -\n"
           "/localhost/nfd   256  app        0  child-inherit                -\n",
           "", "rib/list\n");
    expect("route list origin nlsr", rules, COMMAND_OK,
           "PREFIX  FACE  ORIGIN  COST  FLAGS\n/be      262  nlsr       0  child-inherit|capture\n", "", NULL);
    expect("route list 272", rules, COMMAND_FAILED, "", "Route not found\n", "faces/query\nrib/list\n");
    expect("route show /be", rules, COMMAND_OK,
           "PREFIX  FACE  ORIGIN  COST  FLAGS\n/be      262  nlsr       0  child-inherit|capture\n", "", NULL);
    expect("route show be/c", rules, COMMAND_FAILED, "", "Route not found\n", NULL);
    expect("fib list", rules, COMMAND_OK,
           "PREFIX  NEXTHOPS\n/bu     259 (cost 0), 272 (cost 5)\n/be     262 (cost 0)\n", "", NULL);
    expect("strategy list", rules, COMMAND_OK,
           "PREFIX      STRATEGY\n"
           "/           /localhost/nfd/strategy/best-route/v=5\n"
           "/localhost  /localhost/nfd/strategy/multicast/v=5\n"
           "/x          /localhost/nfd/strategy/asf/v=5/probing-interval~30000\n",
           "", NULL);
    expect("strategy show /x/y", rules, COMMAND_OK,
           "prefix    /x\nstrategy  /localhost/nfd/strategy/asf/v=5/probing-interval~30000\n", "", NULL);
    expect("strategy show /xy", rules, COMMAND_OK, "prefix    /\nstrategy  /localhost/nfd/strategy/best-route/v=5\n",
           "", NULL);
    expect("cs info", rules, COMMAND_OK,
           "capacity  65536\nadmit     on\nserve     on\nentries   8\nhits      0\nmisses    44\n", "", NULL);
}

Test(client_manage, status_is_shown_in_words)
{
    static const struct fake_rule rules[] = {{.path = "status/general", .hex = STATUS}, {0}};
    char *out, *err;
    struct fake_nfd fake;
    fake_nfd_start(&fake, rules);
    cr_expect_eq(run_line("status", &out, &err), COMMAND_OK, "%s", err);
    fake_nfd_stop(&fake);
    cr_expect_eq(strncmp(out, "version                24.07\n", 29), 0, "%s", out);
    cr_expect_not_null(strstr(out, "started                20"), "%s", out);
    cr_expect_not_null(strstr(out, "\nInterests satisfied    4\n"), "%s", out);
    free(out);
    free(err);
}

Test(client_manage, a_report_has_every_list)
{
    static const struct fake_rule rules[] = {
        {.path = "status/general", .hex = STATUS},
        {.path = "faces/channels", .hex = CHANNELS},
        {.path = "faces/list", .hex = FACE_272},
        {.path = "fib/list", .hex = FIB},
        {.path = "rib/list", .hex = RIB},
        {.path = "cs/info", .hex = CS},
        {.path = "strategy-choice/list", .hex = STRATEGIES},
        {0},
    };
    static const char *const parts[] = {"General status:\nversion ",
                                        "\nChannels:\nLOCAL\n",
                                        "\nFaces:\nFACE  ",
                                        "\nFIB:\nPREFIX ",
                                        "\nRIB:\nPREFIX ",
                                        "\nCS:\ncapacity ",
                                        "\nStrategy choices:\nPREFIX "};
    struct fake_nfd fake;
    char *out, *err;
    fake_nfd_start(&fake, rules);
    cr_expect_eq(run_line("status report", &out, &err), COMMAND_OK, "%s", err);
    fake_nfd_stop(&fake);
    const char *at = out;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(at, parts[i]);
        cr_assert_not_null(found, "%s: %s", parts[i], out);
        at = found;
    }
    free(out);
    free(err);
    expect("status report --timeout 1s", (const struct fake_rule[]){{.path = "status/general", .hex = STATUS}, {0}},
           COMMAND_FAILED, "", "Error 10060 when fetching channel dataset: request timed out\n", NULL);
}

Test(client_manage, every_list_and_result_is_one_json_document)
{
    static const struct fake_rule rules[] = {
        {.path = "faces/create", .code = 200, .text = "OK", .body = FACE_BODY},
        {.path = "faces/list", .hex = FACE_272},
        {.path = "faces/query", .hex = FACE_272},
        {.path = "faces/destroy", .code = 200, .text = "OK"},
        {.path = "faces/channels", .hex = CHANNELS},
        {.path = "rib/list", .hex = RIB},
        {.path = "rib/register", .code = 200, .text = "OK"},
        {.path = "fib/list", .hex = FIB},
        {.path = "strategy-choice/list", .hex = STRATEGIES},
        {.path = "cs/info", .hex = CS},
        {.path = "status/general", .hex = STATUS},
        {0},
    };
    static const struct {
        const char *line, *key;
        json_int_t number; /**< -1: a string; -2: an array */
    } cases[] = {
        {"face create udp://192.0.2.1 -j", "id", 308},
        {"face list -j", "faces", -2},
        {"face show 272 -j", "mtu", 1400},
        {"face destroy 272 -j", "id", 272},
        {"channel list -j", "channels", -2},
        {"route list -j", "routes", -2},
        {"route show /x -j", "routes", -2},
        {"route add /x 272 -j", "nexthop", 272},
        {"fib list -j", "fib", -2},
        {"strategy list -j", "strategies", -2},
        {"strategy show /x -j", "strategy", -1},
        {"cs info -j", "capacity", 65536},
        {"status -j", "satisfied", 4},
        {"status report -j", "fib", -2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake_nfd fake;
        char *out, *err;
        fake_nfd_start(&fake, rules);
        cr_expect_eq(run_line(cases[i].line, &out, &err), COMMAND_OK, "%s: %s", cases[i].line, err);
        fake_nfd_stop(&fake);
        json_t *document = json_loads(out, 0, NULL);
        cr_assert_not_null(document, "%s: %s", cases[i].line, out);
        const json_t *value = json_object_get(document, cases[i].key);
        if (cases[i].number >= 0)
            cr_expect_eq(json_integer_value(value), cases[i].number, "%s", cases[i].line);
        else
            cr_expect(cases[i].number == -1 ? json_is_string(value) : json_array_size(value) > 0, "%s", cases[i].line);
        json_decref(document);
        free(out);
        free(err);
    }
}

Test(client_manage, datasets_with_rubbish_in_them_are_exit_1)
{
    static const char *const lines[][2] = {
        {"face list", "faces/list"},  {"channel", "faces/channels"},        {"route", "rib/list"},
        {"fib", "fib/list"},          {"strategy", "strategy-choice/list"}, {"cs info", "cs/info"},
        {"status", "status/general"},
    };
    static const char *const rubbish[] = {"80", "8002", "80016f", "07010a", "8003690101ff", "80ffffffffffffffffff00"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t k = 0; k < sizeof rubbish / sizeof *rubbish; k++) {
            const struct fake_rule rules[] = {{.path = lines[i][1], .hex = rubbish[k]}, {0}};
            char what[64];
            snprintf(what, sizeof what, "%s", lines[i][0]);
            expect(what, rules, COMMAND_FAILED, "", NULL, NULL);
        }
    }
}
