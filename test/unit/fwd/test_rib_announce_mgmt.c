// SPDX-License-Identifier: Apache-2.0
/* rib/announce through the dispatcher: what is answered to whom. */
#include "test/unit/fwd/announcement.h"
#include "test/unit/fwd/mgmt_fixture.h"

static enum auth_result command_verdict, data_verdict;
static struct scene scene;

enum auth_result auth_command(struct auth *auth, enum auth_privilege privilege, const uint8_t *interest, size_t len,
                              uint64_t wall_ms)
{
    (void)auth, (void)interest, (void)len, (void)wall_ms;
    cr_assert_eq(privilege, AUTH_RIB_LOCALHOST);
    return command_verdict;
}

enum auth_result auth_data(struct auth *auth, enum auth_privilege privilege, const uint8_t *data, size_t len,
                           uint64_t wall_ms)
{
    (void)auth, (void)wall_ms;
    cr_assert_eq(privilege, AUTH_ANNOUNCEMENT);
    cr_assert_eq(data[0], NDN_TYPE_DATA);
    cr_assert_gt(len, 2);
    return data_verdict;
}

static void setup(void)
{
    const struct mgmt_env env = {.auth = (struct auth *)&command_verdict};
    command_verdict = data_verdict = AUTH_ACCEPTED;
    scene_open(&scene, &env);
}

static void teardown(void)
{
    scene_close(&scene);
}

TestSuite(rib_announce_mgmt, .init = setup, .fini = teardown);

/** rib/announce with these ApplicationParameters. @return the status code, 0: no answer */
static unsigned announce(const uint8_t *params, size_t len)
{
    uint8_t name[256], inside[4096], packet[NDN_PACKET_MAX];
    size_t name_len = scene_name("/localhost/nfd/rib/announce", name, sizeof name);
    name[name_len++] = NDN_PARAMS_DIGEST;
    name[name_len++] = 32;
    memset(name + name_len, 0x5a, 32);
    uint8_t *p = announcement_tlv(inside, 7, name, name_len + 32);
    p = announcement_tlv(p, 10, "\1\2\3\4", 4);
    p = announcement_tlv(p, 36, params, len);
    size_t n = (size_t)(announcement_tlv(packet, 5, inside, (size_t)(p - inside)) - packet);
    scene_forget(&scene);
    scene_receive_from(&scene, SCENE_APP, packet, n);
    if (scene.n_sent == 0)
        return 0;
    struct mgmt_response response;
    struct scene_data data = scene_read(&scene, 0);
    cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
    return response.code;
}

Test(rib_announce_mgmt, announcement_is_answered_and_listed)
{
    uint8_t data[4096];
    struct announcement_form form = {.name = "/m/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    size_t len = announcement_write(data, &form);
    cr_expect_eq(announce(data, len), 200);
    cr_expect_eq(rib_count(scene.env.rib), 1);
    data_verdict = AUTH_REFUSED;
    cr_expect_eq(announce(data, len), 403);
    command_verdict = AUTH_REFUSED;
    cr_expect_eq(announce(data, len), 403);
    uint8_t *list = scene_fetch(&scene, "/localhost/nfd/rib/list", &len);
    struct mgmt_octets name, rest;
    struct mgmt_route route;
    cr_assert_eq(mgmt_entry_decode(list, len, &name, &rest), 0);
    cr_expect_str_eq(scene_uri(name), "/m");
    cr_assert_eq(mgmt_route_take(&rest, &route), 1);
    cr_expect_eq(route.face_id, SCENE_APP);
    cr_expect_eq(route.origin, 129);
    cr_expect_eq(route.expiration_ms, 5000);
    free(list);
}

Test(rib_announce_mgmt, rubbish_gets_no_answer_whoever_sends_it)
{
    static const enum auth_result verdicts[] = {AUTH_ACCEPTED, AUTH_REFUSED};
    uint8_t data[4096];
    struct announcement_form form = {.name = "/m/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    size_t len = announcement_write(data, &form);
    for (unsigned i = 0; i < 2; i++) {
        command_verdict = verdicts[i];
        uint64_t before = mgmt_counters(scene.mgmt)->malformed;
        cr_expect_eq(announce(data, len - 1), 0);
        cr_expect_eq(announce((const uint8_t *)"rubbish", 7), 0);
        cr_expect_eq(announce(NULL, 0), 0);
        cr_expect_eq(mgmt_counters(scene.mgmt)->malformed, before + 3);
    }
    cr_expect_eq(rib_count(scene.env.rib), 0);
}
