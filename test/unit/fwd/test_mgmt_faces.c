// SPDX-License-Identifier: Apache-2.0
/* The management module faces, through the whole of management. */
#include "test/unit/fwd/mgmt_fixture.h"

#include "fwd/mgmt/face_control.h"
#include "fwd/worker.h"
#include "ports/match.h"
#include "ports/sock/sock.h"

static struct scene scene;
static struct face_control *control;
static struct port port;
static uint64_t connect_ticket;

/* The I/O thread is pretended. */
int sock_connect(struct sock *sock, const struct sock_remote *remote, uint64_t ticket)
{
    (void)sock, (void)remote;
    connect_ticket = ticket;
    return 0;
}

uint32_t sock_find(const struct sock *sock, bool stream, const struct sockaddr_storage *address)
{
    (void)sock, (void)stream, (void)address;
    return 0;
}

void sock_close(struct sock *sock, uint32_t face)
{
    (void)sock, (void)face;
}

void sock_changed(struct sock *sock, const struct face *face)
{
    (void)sock, (void)face;
}

unsigned sock_channels(const struct sock *sock, const char *const **uris)
{
    static const char *const channels[] = {"unix:///run/nfd/nfd.sock", "tcp4://0.0.0.0:6363"};
    (void)sock;
    *uris = channels;
    return 2;
}

int64_t sock_expires_ms(const struct sock *sock, uint32_t face)
{
    (void)sock, (void)face;
    return -1;
}

static void setup(void)
{
    scene_open(&scene, NULL);
    mgmt_destroy(scene.mgmt);
    memset(&port, 0, sizeof port);
    port.mtu = 1500;
    port.link_up = true;
    memcpy(port.mac, (uint8_t[6]){2, 0, 0, 0, 0, 1}, 6);
    port.config.netdev = "vfp";
    port.config.udp_ports[0] = 6363;
    memcpy(port.config.ip4, (uint8_t[4]){198, 18, 2, 1}, 4);
    port.config.ip4_prefix_len = 24;
    port.config.udp_on_demand = 0;
    cr_assert_eq(port_match_init(&port, NULL), 0);
    scene.shared.port[0] = &port;
    const struct face_config internal = {.kind = FACE_THREAD,
                                         .scope = FACE_SCOPE_LOCAL,
                                         .persistency = FACE_PERMANENT,
                                         .flags = FACE_LOCAL_FIELDS,
                                         .local_uri = "internal://",
                                         .remote_uri = "internal://"};
    cr_assert_eq(face_add_reserved(scene.shared.faces, &internal, FACE_ID_INTERNAL), 0);
    const struct face_control_config config = {.shared = &scene.shared,
                                               .port = &port,
                                               .n_ports = 1,
                                               .sock = (struct sock *)&scene,
                                               .congestion_marking = true};
    cr_assert_eq(face_control_create(&control, &config), 0);
    scene.env.faces = control;
    cr_assert_eq(mgmt_create(&scene.mgmt, &scene.env), 0);
}

static void teardown(void)
{
    face_control_destroy(control);
    scene_close(&scene);
    port_match_destroy(&port);
}

TestSuite(mgmt_faces, .init = setup, .fini = teardown);

static struct mgmt_octets text(const char *string)
{
    return (struct mgmt_octets){(const uint8_t *)string, (uint16_t)strlen(string)};
}

static bool is_text(struct mgmt_octets octets, const char *string)
{
    return octets.len == strlen(string) && memcmp(octets.p, string, octets.len) == 0;
}

static unsigned create(const char *uri, struct mgmt_params *body)
{
    const struct mgmt_params params = {.has = MGMT_HAS_URI, .uri = text(uri)};
    return scene_command(&scene, "faces/create", &params, body);
}

static const struct face *face_of(uint64_t id)
{
    return face_get(scene.shared.faces, (uint32_t)id);
}

/* What `nfdc face create udp4://198.18.2.7:6363 mtu 1400 reliability on congestion-marking off` asks for. */
static struct mgmt_params create_params(void)
{
    return (struct mgmt_params){.has = MGMT_HAS_URI | MGMT_HAS_FLAGS | MGMT_HAS_MASK | MGMT_HAS_FACE_PERSISTENCY |
                                       MGMT_HAS_MTU,
                                .uri = text("udp4://198.18.2.7:6363"),
                                .flags = 2,
                                .mask = 6,
                                .mtu = 1400};
}

Test(mgmt_faces, create_answers_with_the_whole_face_and_again_with_409)
{
    const uint32_t whole = MGMT_HAS_FACE_ID | MGMT_HAS_URI | MGMT_HAS_LOCAL_URI | MGMT_HAS_FLAGS |
                           MGMT_HAS_FACE_PERSISTENCY | MGMT_HAS_CONGESTION_INTERVAL | MGMT_HAS_CONGESTION_THRESHOLD |
                           MGMT_HAS_MTU;
    struct mgmt_params params = create_params(), body;
    uint64_t id = 0;
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(scene_command(&scene, "faces/create", &params, &body), i == 0 ? 200 : 409);
        cr_expect_str_eq(scene_text(&scene), i == 0 ? "OK" : "Face with remote URI already exists");
        cr_expect_eq(body.has, whole);
        cr_expect(is_text(body.uri, "udp4://198.18.2.7:6363") && is_text(body.local_uri, "udp4://198.18.2.1:6363"));
        cr_expect(body.flags == 2 && body.persistency == 0 && body.mtu == 1400);
        cr_expect(body.congestion_interval_ns == 100000000 && body.congestion_threshold == 65536);
        cr_expect(i == 0 || body.face_id == id);
        id = body.face_id;
    }
    cr_expect_not_null(face_of(id));
}

Test(mgmt_faces, create_without_options_has_the_defaults)
{
    struct mgmt_params body;
    cr_assert_eq(create("udp4://198.18.2.9:6363", &body), 200);
    cr_expect(body.flags == FACE_CONGESTION_MARKING && body.persistency == 0 && body.mtu == 1472);
    cr_expect_eq(create("udp4://198.18.2.9", &body), 400);
    cr_expect_str_eq(scene_text(&scene), "Non-canonical remote URI");
    cr_expect_eq(body.has, 0);
}

Test(mgmt_faces, create_over_a_connection_is_answered_when_it_stands)
{
    const struct mgmt_params params = {.has = MGMT_HAS_URI, .uri = text("tcp4://192.0.2.9:6363")};
    cr_assert_eq(scene_command(&scene, "faces/create", &params, NULL), 0);
    const struct face_config config = {.kind = FACE_THREAD,
                                       .flags = FACE_CONGESTION_MARKING,
                                       .local_uri = "tcp4://192.0.2.1:40000",
                                       .remote_uri = "tcp4://192.0.2.9:6363"};
    uint32_t id = face_control_connected(control, connect_ticket, 0, &config);
    cr_assert_neq(id, 0);
    cr_assert_eq(scene.n_sent, 1);
    cr_expect_str_eq(scene_text(&scene), "OK");
    // One that is still under way when the forwarder stops is answered too.
    const struct mgmt_params other = {.has = MGMT_HAS_URI, .uri = text("tcp4://192.0.2.10:6363")};
    cr_expect_eq(scene_command(&scene, "faces/create", &other, NULL), 0);
}

static const struct invalid {
    const char *verb;
    struct mgmt_params params;
} invalid[] = {
    {"faces/create", {.has = MGMT_HAS_MTU, .mtu = 1400}},
    {"faces/create", {.has = MGMT_HAS_URI | MGMT_HAS_FLAGS, .flags = 1}},
    {"faces/create", {.has = MGMT_HAS_URI | MGMT_HAS_MASK, .mask = 1}},
    {"faces/create", {.has = MGMT_HAS_URI | MGMT_HAS_FACE_PERSISTENCY, .persistency = 3}},
    {"faces/create", {.has = MGMT_HAS_URI | MGMT_HAS_FACE_ID, .face_id = 300}},
    {"faces/create", {.has = MGMT_HAS_URI | MGMT_HAS_COST, .cost = 1}},
    {"faces/update", {.has = MGMT_HAS_FLAGS, .flags = 1}},
    {"faces/update", {.has = MGMT_HAS_URI}},
    {"faces/update", {.has = MGMT_HAS_FACE_PERSISTENCY, .persistency = UINT64_MAX}},
    {"faces/destroy", {.has = MGMT_HAS_FACE_ID, .face_id = 0}},
    {"faces/destroy", {.has = MGMT_HAS_URI}},
    {"faces/destroy", {.has = MGMT_HAS_FACE_ID | MGMT_HAS_MTU, .face_id = 300}},
};

Test(mgmt_faces, fields_that_lack_or_do_not_belong_are_400)
{
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        struct mgmt_params params = invalid[i].params;
        params.uri = text("udp4://198.18.2.7:6363");
        cr_expect_eq(scene_command(&scene, invalid[i].verb, &params, NULL), 400, "row %zu", i);
        cr_expect_str_eq(scene_text(&scene), "failed in validating parameters", "row %zu", i);
    }
    cr_expect_eq(scene.shared.faces->n_faces, 4);
}

Test(mgmt_faces, update_without_face_id_is_about_the_requester)
{
    struct mgmt_params params = {.has = MGMT_HAS_FLAGS | MGMT_HAS_MASK, .flags = 1, .mask = 1}, body;
    cr_assert_eq(scene_command(&scene, "faces/update", &params, &body), 200);
    cr_expect_eq(body.has, MGMT_HAS_FACE_ID | MGMT_HAS_FLAGS | MGMT_HAS_FACE_PERSISTENCY |
                               MGMT_HAS_CONGESTION_INTERVAL | MGMT_HAS_CONGESTION_THRESHOLD | MGMT_HAS_MTU);
    cr_expect(body.face_id == SCENE_APP && body.flags == 1 && body.persistency == FACE_ON_DEMAND && body.mtu == 8800);
    cr_expect_eq(face_of(SCENE_APP)->flags, FACE_LOCAL_FIELDS);
    // Bits outside of the mask stay.
    params = (struct mgmt_params){
        .has = MGMT_HAS_FACE_ID | MGMT_HAS_FLAGS | MGMT_HAS_MASK, .face_id = 0, .flags = 4, .mask = 4};
    cr_assert_eq(scene_command(&scene, "faces/update", &params, &body), 200);
    cr_expect_eq(body.flags, FACE_LOCAL_FIELDS | FACE_CONGESTION_MARKING);
}

Test(mgmt_faces, update_of_faces_that_are_not_there_is_404)
{
    static const uint64_t ids[] = {4711, UINT32_MAX, UINT64_MAX, UINT64_C(0x100000100)};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const struct mgmt_params params = {.has = MGMT_HAS_FACE_ID, .face_id = ids[i]};
        cr_expect_eq(scene_command(&scene, "faces/update", &params, NULL), 404);
        cr_expect_str_eq(scene_text(&scene), "Specified face does not exist");
    }
}

/* From a face that management does not know, or that is a bare port's. */
static void update_self_from(uint32_t face)
{
    const struct mgmt_params params = {.has = MGMT_HAS_FACE_ID, .face_id = 0};
    uint8_t octets[64];
    size_t len = mgmt_params_encode(octets, sizeof octets, &params);
    scene_forget(&scene);
    scene_command_raw(&scene, face, "faces/update", octets, len, SCENE_V03);
    cr_assert_eq(scene.n_sent, 1);
    cr_expect_str_eq(scene_text(&scene), "No FaceId specified and IncomingFaceId not available");
}

Test(mgmt_faces, update_of_oneself_from_nowhere_or_from_a_bare_port_is_404)
{
    const struct face_config bare = {.port = 0, .kind = FACE_BARE, .scope = FACE_SCOPE_LOCAL};
    uint32_t id;
    cr_assert_eq(face_add(scene.shared.faces, &bare, 1500, &id), 0);
    update_self_from(0);
    update_self_from(4711);
    update_self_from(id);
}

Test(mgmt_faces, update_that_cannot_be_is_409_with_the_fields_to_blame)
{
    struct mgmt_params body, params;
    cr_assert_eq(create("udp4://198.18.2.9:6363", &body), 200);
    uint64_t id = body.face_id;
    params = (struct mgmt_params){.has = MGMT_HAS_FACE_ID | MGMT_HAS_FLAGS | MGMT_HAS_MASK | MGMT_HAS_FACE_PERSISTENCY,
                                  .face_id = id,
                                  .flags = 1,
                                  .mask = 1,
                                  .persistency = FACE_PERMANENT};
    cr_expect_eq(scene_command(&scene, "faces/update", &params, &body), 409);
    cr_expect_str_eq(scene_text(&scene), "Invalid properties specified");
    cr_expect(body.has == (MGMT_HAS_FLAGS | MGMT_HAS_MASK) && body.flags == 1 && body.mask == 1);
    cr_expect_eq(face_of(id)->persistency, FACE_PERSISTENT, "all of it or none");
    static const uint64_t mtus[] = {0, 63, 65536, UINT64_MAX};
    for (size_t i = 0; i < sizeof mtus / sizeof mtus[0]; i++) {
        params = (struct mgmt_params){.has = MGMT_HAS_FACE_ID | MGMT_HAS_MTU, .face_id = id, .mtu = mtus[i]};
        cr_expect_eq(scene_command(&scene, "faces/update", &params, &body), 409);
        cr_expect(body.has == MGMT_HAS_MTU && body.mtu == mtus[i]);
    }
    params.mtu = 9000;
    cr_expect_eq(scene_command(&scene, "faces/update", &params, &body), 200);
    cr_expect_eq(body.mtu, 1472);
    params = (struct mgmt_params){.has = MGMT_HAS_FACE_PERSISTENCY, .persistency = FACE_PERSISTENT};
    cr_expect_eq(scene_command(&scene, "faces/update", &params, &body), 409);
    cr_expect_eq(body.has, MGMT_HAS_FACE_PERSISTENCY);
}

Test(mgmt_faces, destroy_is_200_whether_the_face_was_there_or_not)
{
    struct mgmt_params body;
    cr_assert_eq(create("udp4://198.18.2.9:6363", &body), 200);
    const uint64_t ids[] = {body.face_id, body.face_id, 99999, UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        const struct mgmt_params params = {.has = MGMT_HAS_FACE_ID, .face_id = ids[i]};
        cr_expect_eq(scene_command(&scene, "faces/destroy", &params, &body), 200);
        cr_expect_str_eq(scene_text(&scene), "OK");
        cr_expect(body.has == MGMT_HAS_FACE_ID && body.face_id == ids[i]);
        cr_expect(ids[i] > UINT32_MAX || face_of(ids[i]) == NULL);
    }
    for (uint32_t id = FACE_ID_CONTENT_STORE; id <= FACE_ID_NULL; id++) {
        const struct mgmt_params params = {.has = MGMT_HAS_FACE_ID, .face_id = id};
        cr_expect_eq(scene_command(&scene, "faces/destroy", &params, &body), 200);
        cr_expect_not_null(face_of(id), "reserved faces stay");
    }
}

/* Read the items of a dataset. @return their number */
static unsigned read_statuses(const uint8_t *octets, size_t len, struct mgmt_face_status *statuses, unsigned max)
{
    unsigned n = 0;
    struct cursor c = cursor_make(octets, len);
    while (cursor_left(&c) > 0) {
        struct tlv tlv;
        const uint8_t *start = c.p;
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        cr_assert_lt(n, max);
        cr_assert_eq(mgmt_face_status_decode(start, (size_t)(c.p - start), &statuses[n]), 0);
        n++;
    }
    return n;
}

/* Octets of the elements that the reference forwarder's faces/list has for these faces, counters at 0. */
static const char internal_item[] =
    "8051690101720b696e7465726e616c3a2f2f810b696e7465726e616c3a2f2f840101850102860100870405f5e100"
    "88040001000089022260900100910100970100920100930100980100940100950100"
    "6c0101";
static const char store_item[] =
    "804d6901fe720f636f6e74656e7473746f72653a2f2f810f636f6e74656e7473746f72653a2f2f84010185010286"
    "0100890222609001009101009701009201009301009801009401009501006c0100";
static const char null_item[] =
    "803d6901ff72076e756c6c3a2f2f81076e756c6c3a2f2f840101850102860100890222609001009101009701009201"
    "009301009801009401009501006c0100";

Test(mgmt_faces, list_begins_with_the_reserved_faces_octet_by_octet)
{
    const char *const items[] = {internal_item, store_item, null_item};
    uint8_t expected[512];
    size_t n = 0, len;
    for (unsigned i = 0; i < 3; i++)
        n += hex_octets(items[i], expected + n, sizeof expected - n);
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/faces/list", &len);
    cr_assert_geq(len, n);
    cr_expect_arr_eq(octets, expected, n);
    free(octets);
}

Test(mgmt_faces, list_has_every_face_by_rising_id)
{
    static struct mgmt_face_status statuses[1100];
    struct mgmt_params body;
    char uri[64];
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(uri, sizeof uri, "udp4://198.18.2.9:%u", 10000 + i);
        cr_assert_eq(create(uri, &body), 200);
    }
    size_t len;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/faces/list", &len);
    unsigned n = read_statuses(octets, len, statuses, 1100);
    cr_expect_eq(n, 1004);
    for (unsigned i = 1; i < n; i++)
        cr_assert_lt(statuses[i - 1].face_id, statuses[i].face_id);
    cr_expect(is_text(statuses[n - 1].uri, "udp4://198.18.2.9:10999"));
    free(octets);
}

static const struct query_row {
    struct mgmt_face_filter filter;
    const char *scheme, *uri, *local_uri;
    unsigned n;
} queries[] = {
    {.n = 7},
    {.scheme = "udp4", .n = 1},
    {.scheme = "udp", .n = 0},
    {.scheme = "udp4://198.18.2.9:6363", .n = 0},
    {.scheme = "ether", .n = 2},
    {.scheme = "dev", .n = 2},
    {.scheme = "unix", .n = 1},
    {.scheme = "fd", .n = 1},
    {.scheme = "internal", .n = 1},
    {.filter = {.has_face_id = true, .face_id = 254}, .n = 1},
    {.filter = {.has_face_id = true, .face_id = UINT64_MAX}, .n = 0},
    {.filter = {.has_scope = true, .scope = FACE_SCOPE_NON_LOCAL}, .n = 3},
    {.filter = {.has_persistency = true, .persistency = FACE_ON_DEMAND}, .n = 1},
    {.filter = {.has_link_type = true, .link_type = FACE_LINK_MULTI_ACCESS}, .n = 1},
    {.uri = "udp4://198.18.2.9:6363", .n = 1},
    {.uri = "udp4://198.18.2.9:636", .n = 0},
    {.local_uri = "dev://vfp", .n = 1},
    {.local_uri = "dev://vfp", .scheme = "ether", .n = 1},
    {.scheme = "udp4", .filter = {.has_scope = true, .scope = FACE_SCOPE_LOCAL}, .n = 0},
};

Test(mgmt_faces, query_gives_the_faces_that_pass_its_filter)
{
    struct mgmt_params body;
    cr_assert_eq(create("udp4://198.18.2.9:6363", &body), 200);
    struct mgmt_params ether = {.has = MGMT_HAS_URI | MGMT_HAS_LOCAL_URI,
                                .uri = text("ether://[02:00:00:00:02:02]"),
                                .local_uri = text("dev://vfp")};
    // The port has no kernel interface here, so its dev:// name is asked as a device's.
    port.config.netdev = NULL;
    port.config.device = "vfp";
    cr_assert_eq(scene_command(&scene, "faces/create", &ether, &body), 200, "%s", scene_text(&scene));
    struct face_config group = {.kind = FACE_ETHER, .dev = "group", .local_mac = {2, 0, 0, 0, 0, 1}};
    memcpy(group.remote_mac, (uint8_t[6]){1, 0, 0x5e, 0, 0x17, 0xaa}, 6);
    uint32_t id;
    cr_assert_eq(face_add(scene.shared.faces, &group, 1500, &id), 0);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const struct query_row *row = &queries[i];
        static struct mgmt_face_status statuses[16];
        struct mgmt_face_filter filter = row->filter;
        uint8_t name[NDN_NAME_MAX], question[512];
        if (row->scheme != NULL)
            filter.scheme = text(row->scheme);
        if (row->uri != NULL)
            filter.uri = text(row->uri);
        if (row->local_uri != NULL)
            filter.local_uri = text(row->local_uri);
        size_t len = mgmt_face_filter_encode(question, sizeof question, &filter);
        size_t n = scene_command_name(name, "faces/query", question, len, SCENE_UNSIGNED);
        scene_forget(&scene);
        scene_ask(&scene, name, n, true, 4000);
        cr_assert_eq(scene.n_sent, 1, "row %zu", i);
        struct scene_data data = scene_read(&scene, 0);
        cr_expect_eq(read_statuses(data.content.p, data.content.len, statuses, 16), row->n, "row %zu", i);
    }
}

Test(mgmt_faces, query_with_a_malformed_filter_is_rejected)
{
    static const char *const filters[] = {"9603690102", "96", "680069", "9700", "960769010269010200"};
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        uint8_t name[NDN_NAME_MAX], question[64];
        size_t len = hex_octets(filters[i], question, sizeof question);
        if (i == 0)
            question[len++] = 0; // something behind the filter
        size_t n = scene_command_name(name, "faces/query", question, len, SCENE_UNSIGNED);
        scene_forget(&scene);
        scene_ask(&scene, name, n, true, 4000);
        cr_assert_eq(scene.n_sent, 1, "row %zu", i);
        struct scene_data data = scene_read(&scene, 0);
        struct mgmt_response response;
        cr_expect_eq(data.content_type, 3, "row %zu", i);
        cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
        cr_expect(response.code == 400 && is_text(response.text, "Malformed filter"), "row %zu", i);
    }
}

Test(mgmt_faces, channels_are_what_is_listened_on)
{
    static const char *const expected[] = {"udp4://198.18.2.1:6363", "dev://vfp", "unix:///run/nfd/nfd.sock",
                                           "tcp4://0.0.0.0:6363"};
    port.config.udp_on_demand = 10;
    size_t len;
    uint8_t *octets = scene_fetch(&scene, "/localhost/nfd/faces/channels", &len);
    struct cursor c = cursor_make(octets, len);
    for (unsigned i = 0; i < 4; i++) {
        struct tlv tlv;
        struct mgmt_octets uri;
        const uint8_t *start = c.p;
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        cr_assert_eq(mgmt_channel_decode(start, (size_t)(c.p - start), &uri), 0);
        cr_expect(is_text(uri, expected[i]), "%u: %.*s", i, uri.len, (const char *)uri.p);
    }
    cr_expect_eq(cursor_left(&c), 0);
    free(octets);
}

static void event_is(unsigned i, uint64_t kind, uint64_t face, const char *uri)
{
    struct mgmt_face_notification event;
    struct scene_data data = scene_read(&scene, i);
    cr_assert_eq(mgmt_face_notification_decode(data.content.p, data.content.len, &event), 0);
    cr_expect(event.kind == kind && event.face_id == face && is_text(event.uri, uri), "%llu %llu %.*s",
              (unsigned long long)event.kind, (unsigned long long)event.face_id, event.uri.len, event.uri.p);
}

static uint32_t accepted(const char *uri)
{
    uint32_t id = scene_face(&scene, uri);
    face_control_announce(control, id);
    return id;
}

Test(mgmt_faces, events_tell_of_faces_that_come_and_go)
{
    scene_ask_uri(&scene, "/localhost/nfd/faces/events", true);
    cr_assert_eq(scene.n_sent, 0);
    uint32_t id = accepted("fd://21");
    cr_assert_eq(scene.n_sent, 1);
    event_is(0, MGMT_FACE_CREATED, id, "fd://21");
    cr_expect_str_eq(scene_uri(scene_read(&scene, 0).name), "/localhost/nfd/faces/events/58=%00");
    scene_forget(&scene);
    scene_ask_uri(&scene, "/localhost/nfd/faces/events/58=%01", false);
    cr_expect_eq(scene.n_sent, 0);
    face_control_updown(control, id, false);
    cr_assert_eq(scene.n_sent, 1);
    event_is(0, MGMT_FACE_DOWN, id, "fd://21");
    scene_forget(&scene);
    scene_ask_uri(&scene, "/localhost/nfd/faces/events/58=%02", false);
    face_control_remove(control, id);
    cr_assert_eq(scene.n_sent, 1);
    event_is(0, MGMT_FACE_DESTROYED, id, "fd://21");
}

Test(mgmt_faces, without_authorizations_create_is_answered)
{
    cr_assert_null(scene.env.auth);
    struct mgmt_params body;
    cr_expect_eq(create("udp4://198.18.2.9:6363", &body), 200);
}
