// SPDX-License-Identifier: Apache-2.0
/* Which port a frame came in by, and what is learnt of neighbours; ports and faces that exist on paper only. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"
#include "fwd/daemon/replay_ways.h"
#include "ports/port.h"

#define N_FACES 1000

static struct conf_port conf_ports[2] = {
    {.name = "west", .has_ip4 = true, .ip4 = {10, 0, 0, 1}, .ip4_prefix_len = 12},
    {.name = "east", .has_ip6 = true, .ip6 = {0x20, 1}, .ip6_prefix_len = 63},
};
static struct port ports[2];
static struct conf_face faces[N_FACES];
static struct conf_quic_server servers[2];
static struct conf conf;

/* Address i of peers: 02:00:00:01:XX:XX */
static const uint8_t *peer(unsigned i)
{
    static uint8_t mac[4][6];
    static unsigned n;
    uint8_t *to = mac[n++ % 4];
    memcpy(to, (const uint8_t[6]){2, 0, 0, 1, (uint8_t)(i >> 8), (uint8_t)i}, 6);
    return to;
}

static struct ways *make(void)
{
    struct ways *ways = NULL;
    conf = (struct conf){.port = conf_ports, .n_ports = 2, .face = faces, .quic_server = servers};
    for (unsigned p = 0; p < 2; p++) {
        ports[p].index = (uint16_t)p;
        ports[p].config.name = conf_ports[p].name;
        memcpy(ports[p].mac, (const uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)(p + 1)}, 6);
    }
    memset(faces, 0, sizeof faces);
    cr_assert_eq(ways_create(&ways, &conf, ports, 2), 0);
    return ways;
}

static void add_face(struct ways *ways, uint16_t port, const uint8_t *mac)
{
    static struct face face;
    face.port = port;
    memcpy(face.config.remote_mac, mac, 6);
    cr_assert_eq(ways_face(ways, &face), 0);
}

static struct capture_interface interface = {.user = -1};

static struct capture_frame frame_of(uint8_t *octets, const uint8_t *dst, const uint8_t *src, uint32_t len)
{
    memcpy(octets, dst, 6);
    memcpy(octets + 6, src, 6);
    return (struct capture_frame){.octets = octets, .len = len, .wire_len = len, .interface = &interface};
}

/* No capture is asked: its interface is known to tell nothing. */
static int ingress(struct ways *ways, const uint8_t *dst, const uint8_t *src)
{
    uint8_t octets[60] = {0};
    struct capture_frame frame = frame_of(octets, dst, src, sizeof octets);
    interface.user = -2;
    return ways_ingress(ways, NULL, &frame);
}

static const uint8_t group[6] = {1, 0, 0x5e, 0, 0x17, 0xaa}, all[6] = {255, 255, 255, 255, 255, 255};

Test(replay_ways, destination_then_source_then_group)
{
    struct ways *ways = make();
    add_face(ways, 0, peer(1));
    add_face(ways, 1, peer(2));
    cr_expect_eq(ingress(ways, ports[0].mac, peer(9)), 0);
    cr_expect_eq(ingress(ways, ports[1].mac, peer(1)), 1, "the source does not matter");
    cr_expect_eq(ingress(ways, peer(8), peer(1)), WAYS_NONE, "unicast to another host");
    cr_expect_eq(ingress(ways, group, peer(1)), 0);
    cr_expect_eq(ingress(ways, all, peer(2)), 1);
    cr_expect_eq(ingress(ways, group, peer(9)), WAYS_NONE);
    add_face(ways, 1, group);
    cr_expect_eq(ingress(ways, group, peer(9)), 1);
    cr_expect_eq(ingress(ways, group, peer(1)), 0, "the source comes first");
    add_face(ways, 1, peer(1));
    cr_expect_eq(ingress(ways, group, peer(1)), 1, "a source at two ports tells nothing");
    add_face(ways, 0, group);
    cr_expect_eq(ingress(ways, group, peer(9)), WAYS_NONE, "nor does a group");
    cr_expect_eq(ingress(ways, ports[0].mac, ports[1].mac), WAYS_OWN);
    uint8_t octets[13] = {0};
    struct capture_frame frame = frame_of(octets, ports[0].mac, peer(1), sizeof octets);
    cr_expect_eq(ways_ingress(ways, NULL, &frame), WAYS_NONE, "no header");
    ways_destroy(ways);
}

Test(replay_ways, thousands_of_peers_are_told_apart)
{
    struct ways *ways = make();
    for (unsigned i = 1; i <= 16000; i++)
        add_face(ways, i % 2, peer(i));
    for (unsigned i = 1; i <= 16000; i++)
        cr_assert_eq(ingress(ways, group, peer(i)), (int)(i % 2));
    cr_expect_eq(ingress(ways, group, peer(16001)), WAYS_NONE);
    ways_destroy(ways);
}

Test(replay_ways, only_port_has_what_no_other_can)
{
    struct ways *ways = NULL;
    struct ways *both = make();
    ways_destroy(both);
    cr_assert_eq(ways_create(&ways, &conf, ports, 1), 0);
    cr_expect_eq(ingress(ways, peer(8), peer(9)), 0);
    cr_expect_eq(ways_port_to(ways, (const uint8_t[4]){192, 0, 2, 1}, false), 0);
    ways_destroy(ways);
}

Test(replay_ways, network_of_an_address_is_a_ports)
{
    struct ways *ways = make();
    cr_expect_eq(ways_port_to(ways, (const uint8_t[4]){10, 15, 255, 1}, false), 0);
    cr_expect_eq(ways_port_to(ways, (const uint8_t[4]){10, 16, 0, 1}, false), WAYS_NONE);
    cr_expect_eq(ways_port_to(ways, (const uint8_t[16]){0x20, 1, [7] = 1, [15] = 9}, true), 1);
    cr_expect_eq(ways_port_to(ways, (const uint8_t[16]){0x20, 1, [7] = 2}, true), WAYS_NONE);
    ways_destroy(ways);
}

static void want_face(unsigned i, unsigned port, const uint8_t ip[4])
{
    faces[i] = (struct conf_face){.kind = CONF_UDP4, .port = port};
    memcpy(faces[i].remote_ip, ip, 4);
}

static void learn_ip4(struct ways *ways, const uint8_t *dst, const uint8_t *src, const uint8_t *from, unsigned tags)
{
    uint8_t octets[80] = {0};
    uint8_t *p = octets + 12;
    for (unsigned i = 0; i < tags; i++, p += 4)
        memcpy(p, (const uint8_t[4]){0x81, 0, 0, (uint8_t)(5 + i)}, 4);
    memcpy(p, (const uint8_t[2]){8, 0}, 2);
    memcpy(p + 2 + 12, from, 4);
    struct capture_frame frame = frame_of(octets, dst, src, sizeof octets);
    interface.user = -2;
    // Shorter frames must not be read beyond.
    for (frame.len = 0; frame.len < (uint32_t)(p + 2 + 20 - octets); frame.len++)
        ways_learn(ways, NULL, &frame);
    frame.len = sizeof octets;
    ways_learn(ways, NULL, &frame);
}

Test(replay_ways, neighbours_are_learnt_where_they_are)
{
    const uint8_t one[4] = {10, 0, 0, 2}, other[4] = {10, 0, 0, 3};
    uint8_t mac[6];
    struct ways *ways = make();
    cr_expect_not(ways_want(ways), "nothing is unknown");
    ways_destroy(ways);
    want_face(0, 0, one);
    want_face(1, 1, one);
    want_face(2, 0, other);
    conf.n_faces = 3;
    cr_assert_eq(ways_create(&ways, &conf, ports, 2), 0);
    cr_expect(ways_want(ways));
    cr_expect_not(ways_neighbour(ways, 0, one, false, mac));
    learn_ip4(ways, ports[0].mac, peer(1), one, 0);
    learn_ip4(ways, ports[0].mac, peer(7), one, 0);
    cr_expect(ways_neighbour(ways, 0, one, false, mac) && memcmp(mac, peer(1), 6) == 0, "the first one");
    cr_expect_not(ways_neighbour(ways, 1, one, false, mac), "the other port's is another");
    learn_ip4(ways, ports[1].mac, peer(2), one, 2);
    cr_expect(ways_neighbour(ways, 1, one, false, mac) && memcmp(mac, peer(2), 6) == 0);
    learn_ip4(ways, ports[0].mac, group, other, 0);
    learn_ip4(ways, ports[0].mac, peer(3), other, 3);
    cr_expect_not(ways_neighbour(ways, 0, other, false, mac), "no address of a host, and too many tags");
    cr_expect(ways_want(ways));
    learn_ip4(ways, group, peer(3), other, 0);
    cr_expect(ways_neighbour(ways, 0, other, false, mac) && memcmp(mac, peer(3), 6) == 0);
    cr_expect_not(ways_want(ways), "all are known");
    cr_expect_not(ways_neighbour(ways, 0, (const uint8_t[16]){10, 0, 0, 2}, true, mac),
                  "an IPv6 address that begins the same");
    ways_destroy(ways);
}
