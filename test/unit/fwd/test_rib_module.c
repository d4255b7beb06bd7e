// SPDX-License-Identifier: Apache-2.0
/* Commands and dataset of the module rib, as the dispatcher calls them. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/mgmt.h"
#include "test/unit/fwd/announcement.h"
#include "test/unit/fwd/rib_fixture.h"

#define MS UINT64_C(1000000)

static struct rib_bed bed;
static struct mgmt_env env;
static struct mgmt_params answer;
static unsigned n_answers, code;
static char text[128];
static bool has_body;
static uint8_t dataset[1 << 16];
static size_t dataset_len;
static enum auth_result verdict;

/* What the dispatcher and the authorizations do here. */

void mgmt_answer(struct mgmt_request *request, unsigned answer_code, const char *answer_text,
                 const struct mgmt_params *body)
{
    (void)request;
    n_answers++;
    code = answer_code;
    snprintf(text, sizeof text, "%s", answer_text);
    has_body = body != NULL;
    if (has_body)
        answer = *body;
}

uint8_t *mgmt_dataset_room(struct mgmt_dataset *into, size_t size)
{
    (void)into;
    return size <= sizeof dataset - dataset_len ? dataset + dataset_len : NULL;
}

void mgmt_dataset_put(struct mgmt_dataset *into, size_t len)
{
    (void)into;
    dataset_len += len;
}

void mgmt_dataset_reject(struct mgmt_dataset *into, unsigned reject_code, const char *reject_text)
{
    (void)into;
    (void)reject_text;
    code = reject_code;
}

enum auth_result auth_data(struct auth *auth, enum auth_privilege privilege, const uint8_t *data, size_t len,
                           uint64_t wall_ms)
{
    (void)auth, (void)data, (void)len, (void)wall_ms;
    cr_assert_eq(privilege, AUTH_ANNOUNCEMENT);
    return verdict;
}

static void setup(void)
{
    bed = rib_bed_make(1024);
    env = (struct mgmt_env){.rib = bed.rib};
    n_answers = 0;
    dataset_len = 0;
}

static void teardown(void)
{
    rib_bed_free(&bed);
}

TestSuite(rib_module, .init = setup, .fini = teardown);

static const struct mgmt_verb *verb_of(const char *name)
{
    const struct mgmt_verb *verb = mgmt_rib.verbs;
    while (verb->name != NULL && strcmp(verb->name, name) != 0)
        verb++;
    cr_assert_not_null(verb->name);
    return verb;
}

static void command(const char *verb, uint32_t face, const struct mgmt_params *params)
{
    struct mgmt_request request = {.env = &env, .face = face, .params = *params, .now_ns = 1000 * MS};
    n_answers = 0;
    verb_of(verb)->run(&request);
}

static void announce(uint32_t face, const uint8_t *data, size_t len)
{
    struct mgmt_request request = {
        .env = &env, .face = face, .app_params = {data, (uint16_t)len}, .now_ns = 1000 * MS, .wall_ms = 1000};
    n_answers = 0;
    verb_of("announce")->run(&request);
}

#define expect_answer(want_code, want_text)                   \
    do {                                                      \
        cr_expect_eq(n_answers, 1);                           \
        cr_expect_eq(code, (want_code), "%u %s", code, text); \
        cr_expect_str_eq(text, (want_text));                  \
    } while (0)

Test(rib_module, register_fills_in_what_is_left_out)
{
    struct mgmt_params params = {.has = MGMT_HAS_NAME, .name = rib_name("/m")};
    command("register", 258, &params);
    expect_answer(200, "OK");
    cr_expect_eq(answer.has, MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS);
    cr_expect_eq(answer.face_id, 258);
    cr_expect_eq(answer.origin, 0);
    cr_expect_eq(answer.cost, 0);
    cr_expect_eq(answer.flags, RIB_CHILD_INHERIT);
    expect_hops(&bed, "/m", "258:0");
}

Test(rib_module, register_takes_what_is_given)
{
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS |
               MGMT_HAS_EXPIRATION_PERIOD,
        .name = rib_name("/m"),
        .face_id = 300,
        .origin = 128,
        .cost = 7,
        .flags = RIB_CAPTURE,
        .expiration_ms = 5000,
    };
    command("register", 258, &params);
    expect_answer(200, "OK");
    cr_expect_eq(answer.has, params.has);
    cr_expect_eq(answer.face_id, 300);
    cr_expect_eq(answer.origin, 128);
    cr_expect_eq(answer.cost, 7);
    cr_expect_eq(answer.flags, RIB_CAPTURE);
    cr_expect_eq(answer.expiration_ms, 5000);
    expect_hops(&bed, "/m", "300:7");
    cr_expect_eq(rib_poll(bed.rib, 1000 * MS), 5000 * MS);
}

Test(rib_module, register_with_face_0_means_the_face_it_came_by)
{
    struct mgmt_params params = {.has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID, .name = rib_name("/m")};
    command("register", 258, &params);
    cr_expect_eq(answer.face_id, 258);
    expect_hops(&bed, "/m", "258:0");
    command("unregister", 258, &params);
    expect_answer(200, "OK");
    cr_expect_eq(answer.has, MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN);
    cr_expect_eq(answer.face_id, 258);
    expect_hops(&bed, "/m", "none");
}

Test(rib_module, longest_expiration_periods_mean_for_ever)
{
    static const uint64_t forever[] = {INT64_MAX, UINT64_MAX};
    for (unsigned i = 0; i < 2; i++) {
        struct mgmt_params params = {
            .has = MGMT_HAS_NAME | MGMT_HAS_EXPIRATION_PERIOD, .name = rib_name("/m"), .expiration_ms = forever[i]};
        command("register", 258, &params);
        cr_expect_eq(rib_poll(bed.rib, 1000 * MS), UINT64_MAX);
    }
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_EXPIRATION_PERIOD, .name = rib_name("/m"), .expiration_ms = INT64_MAX - 1};
    command("register", 258, &params);
    cr_expect_eq(rib_poll(bed.rib, 1000 * MS), UINT64_MAX - 1000 * MS, "as long as there is time");
    params.expiration_ms = 0;
    command("register", 258, &params);
    rib_poll(bed.rib, 1000 * MS);
    cr_expect_eq(rib_count(bed.rib), 0, "over at once");
}

Test(rib_module, unregister_of_no_route_is_200)
{
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID, .name = rib_name("/m"), .face_id = UINT64_MAX};
    command("unregister", 258, &params);
    expect_answer(200, "OK");
    cr_expect_eq(answer.face_id, UINT64_MAX);
}

Test(rib_module, face_that_is_not_there_gets_200_and_no_route)
{
    struct fwd_shared shared = {0};
    struct face_config config = {
        .kind = FACE_THREAD, .scope = FACE_SCOPE_LOCAL, .local_uri = "unix:///a", .remote_uri = "fd://9"};
    uint32_t id;
    cr_assert_eq(face_table_create(&shared.faces, NULL), 0);
    cr_assert_eq(face_add(shared.faces, &config, 8800, &id), 0);
    env.shared = &shared;
    struct mgmt_params params = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID, .name = rib_name("/m"), .face_id = UINT64_C(1) << 32 | id};
    command("register", id, &params);
    expect_answer(200, "OK");
    cr_expect_eq(answer.face_id, params.face_id);
    params.face_id = id + 1;
    command("register", id, &params);
    expect_answer(200, "OK");
    cr_expect_eq(rib_count(bed.rib), 0);
    params.face_id = id;
    command("register", id, &params);
    cr_expect_eq(rib_count(bed.rib), 1);
    face_table_destroy(shared.faces);
}

Test(rib_module, prefix_of_33_components_is_414)
{
    char uri[128] = "";
    for (unsigned i = 0; i < 33; i++)
        strcat(uri, "/a");
    struct mgmt_params params = {.has = MGMT_HAS_NAME, .name = rib_name(uri)};
    command("register", 258, &params);
    expect_answer(414, "Route prefix cannot exceed 32 components");
    cr_expect_not(has_body);
    uint8_t data[4096];
    strcat(uri, "/32=PA/54=%01/50=%00");
    struct announcement_form form = {.name = uri, .content_type = 5, .expiration_ms = 5000};
    announce(258, data, announcement_write(data, &form));
    expect_answer(414, "Route prefix cannot exceed 32 components");
}

Test(rib_module, full_fib_is_500)
{
    struct rib_bed small = rib_bed_make(1);
    env.rib = small.rib;
    struct mgmt_params params = {.has = MGMT_HAS_NAME, .name = rib_name("/m")};
    command("register", 258, &params);
    expect_answer(200, "OK");
    params.name = rib_name("/n");
    command("register", 258, &params);
    expect_answer(500, "FIB is full");
    rib_bed_free(&small);
}

Test(rib_module, origin_beyond_16_bits_is_not_valid)
{
    struct mgmt_params params = {.has = MGMT_HAS_NAME | MGMT_HAS_ORIGIN, .name = rib_name("/m"), .origin = 65535};
    cr_expect(verb_of("register")->valid(&params));
    params.origin = 65536;
    cr_expect_not(verb_of("register")->valid(&params));
    cr_expect_not(verb_of("unregister")->valid(&params));
}

Test(rib_module, announcement_becomes_a_route_of_the_sender)
{
    uint8_t data[4096];
    struct announcement_form form = {.name = "/m/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    size_t len = announcement_write(data, &form);
    announce(258, data, len);
    expect_answer(200, "OK");
    cr_expect_eq(answer.has, MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS |
                                 MGMT_HAS_EXPIRATION_PERIOD);
    cr_expect_eq(answer.name.len, rib_name("/m").len);
    cr_expect_eq(answer.face_id, 258);
    cr_expect_eq(answer.origin, 129);
    cr_expect_eq(answer.cost, 2048);
    cr_expect_eq(answer.flags, RIB_CHILD_INHERIT);
    cr_expect_eq(answer.expiration_ms, 5000);
    expect_hops(&bed, "/m", "258:2048");
    struct mgmt_octets whole = {data, (uint16_t)len}, cut = {data, (uint16_t)(len - 1)}, none = {NULL, 0};
    cr_expect(verb_of("announce")->decodes(whole));
    cr_expect_not(verb_of("announce")->decodes(cut), "rubbish gets no answer");
    cr_expect_not(verb_of("announce")->decodes(none));
}

Test(rib_module, announcement_that_is_not_trusted_is_403)
{
    uint8_t data[4096];
    struct announcement_form form = {.name = "/m/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    env.auth = (struct auth *)(void *)&env;
    verdict = AUTH_REFUSED;
    announce(258, data, announcement_write(data, &form));
    expect_answer(403, "authorization rejected");
    cr_expect_eq(rib_count(bed.rib), 0);
    verdict = AUTH_ACCEPTED;
    announce(258, data, announcement_write(data, &form));
    expect_answer(200, "OK");
}

Test(rib_module, list_has_every_name_with_its_routes)
{
    struct rib_route route = {.face = 258, .origin = 65, .cost = 3, .flags = 2, .expires_ns = 6000 * MS + 1};
    rib_set(&bed, "/m", 259, 0, UINT64_MAX, 1);
    cr_assert_eq(rib_register(bed.rib, rib_name("/a"), &route), 0);
    route.face = 260;
    route.expires_ns = 1;
    cr_assert_eq(rib_register(bed.rib, rib_name("/a"), &route), 0);
    cr_assert_str_eq(mgmt_rib.lists[0].name, "list");
    mgmt_rib.lists[0].write(NULL, &env, (struct mgmt_octets){0}, 1000 * MS, NULL);

    static const uint8_t want[] = {
        128, 42, 7,   3, 8, 1, 'a',                                                                  // /a
        129, 17, 105, 2, 1, 2, 111, 1, 65, 106, 1, 3,   108, 1,   2,   109, 2,   0x13, 0x88,         // 258, 5 s to go
        129, 16, 105, 2, 1, 4, 111, 1, 65, 106, 1, 3,   108, 1,   2,   109, 1,   0,                  // 260, any moment
        128, 27, 7,   3, 8, 1, 'm',                                                                  // /m
        129, 20, 105, 2, 1, 3, 111, 1, 0,  106, 8, 255, 255, 255, 255, 255, 255, 255,  255,  108, 1, // 259
        1,
    };
    cr_assert_eq(dataset_len, sizeof want, "%zu", dataset_len);
    for (size_t i = 0; i < sizeof want; i++)
        cr_expect_eq(dataset[i], want[i], "octet %zu: %u", i, dataset[i]);
}

Test(rib_module, without_a_rib_everything_is_500)
{
    uint8_t data[4096];
    struct announcement_form form = {.name = "/m/32=PA/54=%01/50=%00", .content_type = 5, .expiration_ms = 5000};
    struct mgmt_params params = {.has = MGMT_HAS_NAME, .name = rib_name("/m")};
    env.rib = NULL;
    command("register", 258, &params);
    expect_answer(500, "No RIB");
    command("unregister", 258, &params);
    expect_answer(500, "No RIB");
    announce(258, data, announcement_write(data, &form));
    expect_answer(500, "No RIB");
    code = 0;
    mgmt_rib.lists[0].write(NULL, &env, (struct mgmt_octets){0}, 0, NULL);
    cr_expect_eq(code, 500);
}
