// SPDX-License-Identifier: Apache-2.0
/* What workers report of self-learning: routes learnt, announcements found, routes that lead nowhere. */
#include "test/unit/fwd/announcement.h"
#include "test/unit/fwd/mgmt_fixture.h"

static struct scene scene;

static void start(void)
{
    scene_open(&scene, NULL);
}

static void stop(void)
{
    scene_close(&scene);
}

TestSuite(mgmt_learn, .init = start, .fini = stop);

static uint8_t announced[4096];

static size_t announce(const char *prefix, uint64_t ms)
{
    char name[200];
    snprintf(name, sizeof name, "%s/32=PA/54=%%01/50=%%00", prefix);
    const struct announcement_form form = {.name = name, .content_type = 5, .expiration_ms = ms};
    return announcement_write(announced, &form);
}

/* Data of this name and size arrives from the internal face, as a worker sends it. */
static void report(const char *uri, uint16_t content_len, uint32_t face, size_t announcement_len, uint16_t nack)
{
    static uint8_t buf[4 * NDN_PACKET_MAX], content[NDN_PACKET_MAX];
    uint8_t name[NDN_NAME_MAX];
    int name_len = ndn_name_from_uri(uri, name, sizeof name);
    cr_assert_geq(name_len, 0);
    const struct ndn_lp_out lp = {.has_incoming_face = face != 0,
                                  .incoming_face = face,
                                  .announcement = announced,
                                  .announcement_len = (uint16_t)announcement_len,
                                  .nack_reason = nack};
    const struct ndn_data_out data = {
        .name = name, .name_len = (uint16_t)name_len, .content = content, .content_len = content_len};
    const struct ndn_interest_out interest = {.name = name, .name_len = (uint16_t)name_len, .nonce = 1};
    uint8_t *net = buf + NDN_PACKET_MAX;
    size_t len = nack != 0 ? ndn_interest_encode(net, NDN_PACKET_MAX, &interest)
                           : ndn_data_encode(net, NDN_PACKET_MAX, &data, NULL, NULL);
    cr_assert_gt(len, 0);
    size_t header = ndn_lp_prepend(net, len, &lp);
    scene_receive(&scene, net - header, header + len);
}

static const struct fib_entry *route_of(const char *uri)
{
    uint8_t value[NDN_NAME_MAX];
    struct ndn_name name;
    int len = ndn_name_from_uri(uri, value, sizeof value);
    cr_assert(len >= 0 && ndn_name_parse(value, (size_t)len, false, &name) == VERDICT_OK);
    ndn_name_hash(&name, &scene.shared.name_key);
    return fib_lookup(scene.shared.fib, &name);
}

static void let_time_pass(uint64_t ms)
{
    scene_pass(&scene, ms);
    rib_poll(scene.env.rib, scene.now_ns);
}

Test(mgmt_learn, announced_route_is_learnt_and_lasts_ten_minutes_at_most)
{
    report("/net/a/1", 10, SCENE_APP, announce("/net", 3600000), 0);
    const struct fib_entry *fib = route_of("/net/b");
    cr_assert_not_null(fib);
    cr_assert_eq(fib->n_nexthops, 1);
    cr_assert_eq(fib->nexthop[0].face, SCENE_APP);
    cr_assert_eq(fib->nexthop[0].cost, RIB_COST_PREFIXANN);
    cr_assert_eq(scene.n_sent, 0);
    let_time_pass(599000);
    cr_assert_not_null(route_of("/net/b"));
    let_time_pass(2000);
    cr_assert_null(route_of("/net/b"));
    // One that is announced for less lasts for less.
    report("/net/a/1", 10, SCENE_APP, announce("/net", 5000), 0);
    let_time_pass(4000);
    cr_assert_not_null(route_of("/net/b"));
    let_time_pass(2000);
    cr_assert_null(route_of("/net/b"));
}

Test(mgmt_learn, what_is_no_announcement_or_comes_from_nowhere_makes_no_route)
{
    size_t len = announce("/net", 3600000);
    report("/net/a/1", 10, 0, len, 0);
    report("/net/a/1", 10, SCENE_APP + 77, len, 0);
    const struct announcement_form form = {.name = "/net", .content_type = 0};
    report("/net/a/1", 10, SCENE_APP, announcement_write(announced, &form), 0);
    cr_assert_null(route_of("/net/a"));
    cr_assert_eq(mgmt_counters(scene.mgmt)->malformed, 1);
    cr_assert_eq(scene.n_sent, 0);
}

static struct ndn_packet answer(void)
{
    struct ndn_packet pkt;
    const struct ndn_parse_opts opts = {0};
    cr_assert_eq(scene.n_sent, 1);
    cr_assert_eq(ndn_packet_parse(scene.sent[0].octets, scene.sent[0].len, &opts, &pkt), VERDICT_OK);
    cr_assert_eq(pkt.type, NDN_TYPE_DATA);
    return pkt;
}

Test(mgmt_learn, data_without_announcement_goes_back_with_the_one_there_is)
{
    size_t len = announce("/net", 3600000);
    report("/net/a/1", 10, SCENE_APP, len, 0);
    report("/net/a/2", 100, SCENE_APP, 0, 0);
    struct ndn_packet pkt = answer();
    cr_assert_eq(pkt.lp.announcement_len, len);
    cr_assert_arr_eq(pkt.lp.announcement, announced, len);
    uint8_t name[100];
    cr_assert_eq(ndn_name_from_uri("/net/a/2", name, sizeof name), pkt.name.len);
    cr_assert_arr_eq(name, pkt.name.value, pkt.name.len);
    scene_forget(&scene);
    // No route: it goes back as it is.
    report("/other", 100, SCENE_APP, 0, 0);
    pkt = answer();
    cr_assert_eq(pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0);
    scene_forget(&scene);
    // No room for both.
    report("/net/a/3", 8720, SCENE_APP, 0, 0);
    pkt = answer();
    cr_assert_eq(pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0);
    cr_assert_gt(pkt.net_len, 8720);
    scene_forget(&scene);
    report("/net/a/4", 8400, SCENE_APP, 0, 0);
    pkt = answer();
    cr_assert_neq(pkt.lp.has & LP_HAS_PREFIX_ANNOUNCEMENT, 0);
}

Test(mgmt_learn, registered_prefix_is_announced_too)
{
    uint8_t name[100];
    const struct rib_route route = {.face = SCENE_APP, .origin = RIB_ORIGIN_APP, .flags = RIB_CHILD_INHERIT};
    uint16_t len = (uint16_t)ndn_name_from_uri("/app", name, sizeof name);
    cr_assert_eq(rib_register(scene.env.rib, (struct mgmt_octets){name, len}, &route), 0);
    report("/app/1", 100, SCENE_APP, 0, 0);
    struct ndn_packet pkt = answer();
    struct rib_announcement announcement;
    cr_assert_eq(rib_announcement_decode(pkt.lp.announcement, pkt.lp.announcement_len, 300, scene.now_ns, scene.wall_ms,
                                         &announcement),
                 0);
    cr_assert_eq(announcement.name.len, len);
    cr_assert_arr_eq(announcement.name.p, name, len);
}

Test(mgmt_learn, nack_no_route_ends_the_learnt_route_of_its_face)
{
    report("/net/a/1", 10, SCENE_APP, announce("/net", 3600000), 0);
    uint32_t other = scene_face(&scene, "fd://21");
    report("/net/a/1", 10, other, announce("/net", 3600000), 0);
    cr_assert_eq(route_of("/net/a")->n_nexthops, 2);
    report("/net/a/1", 0, SCENE_APP, 0, NDN_NACK_CONGESTION);
    cr_assert_eq(route_of("/net/a")->n_nexthops, 2);
    report("/net/a/1", 0, SCENE_APP, 0, NDN_NACK_NO_ROUTE);
    cr_assert_eq(route_of("/net/a")->n_nexthops, 1);
    cr_assert_eq(route_of("/net/a")->nexthop[0].face, other);
    cr_assert_eq(scene.n_sent, 0);
}
