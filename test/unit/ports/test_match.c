// SPDX-License-Identifier: Apache-2.0
#include "ports/match.h"

#include <rte_rcu_qsbr.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t our_mac[6] = {0x02, 0, 0, 0, 0, 0x01}, group_mac[6] = {0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa};

struct bench {
    struct port port;
    struct face_table *faces;
};

static void setup_port(struct bench *bench)
{
    memset(bench, 0, sizeof *bench);
    memcpy(bench->port.mac, our_mac, 6);
    memcpy(bench->port.config.ip4, (const uint8_t[]){10, 0, 0, 1}, 4);
    bench->port.config.ip4_prefix_len = 24;
    memcpy(bench->port.config.ip6, (const uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 1}, 16);
    cr_assert_eq(port_match_init(&bench->port, NULL), 0);
    cr_assert_eq(face_table_create(&bench->faces, NULL), 0);
}

static void teardown_port(struct bench *bench)
{
    port_match_destroy(&bench->port);
    face_table_destroy(bench->faces);
}

/* Addresses numbered n. */
static void peer_mac(uint8_t mac[6], uint32_t n)
{
    memcpy(mac, (const uint8_t[]){0x02, 0x01, 0, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}, 6);
}

static void peer_ip(uint8_t ip[16], uint32_t n, bool v6)
{
    const uint8_t ip4[4] = {10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    const uint8_t ip6[16] = {0x20, 0x01, 0x0d, 0xb8, 1, [13] = (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    memcpy(ip, v6 ? ip6 : ip4, v6 ? 16 : 4);
}

static struct face_config config_of(uint8_t kind, uint32_t n, uint16_t vlan)
{
    struct face_config config = {.kind = kind, .vlan = vlan, .local_udp = 6363, .remote_udp = 6363};
    memcpy(config.local_mac, our_mac, 6);
    peer_mac(config.remote_mac, n);
    if (kind != FACE_ETHER) {
        bool v6 = kind == FACE_UDP6;
        memcpy(config.local_ip,
               v6 ? (const uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 1} : (const uint8_t[16]){10, 0, 0, 1}, 16);
        peer_ip(config.remote_ip, n, v6);
    }
    return config;
}

static uint32_t add_face(struct bench *bench, const struct face_config *config)
{
    uint32_t id = 0;
    cr_assert_eq(face_add(bench->faces, config, 1500, &id), 0);
    cr_assert_eq(port_face_add(&bench->port, face_get(bench->faces, id)), 0);
    return id;
}

static void remove_face(struct bench *bench, uint32_t id)
{
    cr_assert_eq(port_face_remove(&bench->port, face_get(bench->faces, id)), 0);
    cr_assert_eq(port_face_remove(&bench->port, face_get(bench->faces, id)), -ENOENT);
    cr_assert_eq(face_remove(bench->faces, id), 0);
}

/* A frame as frame_parse() leaves it. */
struct received {
    struct frame frame;
    uint8_t dst_mac[6], src_mac[6], src_ip[16], dst_ip[16];
};

static struct received *frame_from(struct received *rx, uint8_t kind, uint32_t n, uint16_t vlan)
{
    memset(rx, 0, sizeof *rx);
    rx->frame = (struct frame){.kind = kind == FACE_ETHER  ? FRAME_NDN
                                       : kind == FACE_UDP4 ? FRAME_UDP4
                                                           : FRAME_UDP6,
                               .n_tags = vlan != 0,
                               .vlan = vlan,
                               .sport = 6363,
                               .dport = 6363};
    const struct face_config config = config_of(kind, n, vlan);
    memcpy(rx->dst_mac, our_mac, 6);
    memcpy(rx->src_mac, config.remote_mac, 6);
    memcpy(rx->src_ip, config.remote_ip, 16);
    memcpy(rx->dst_ip, config.local_ip, 16);
    rx->frame.dst_mac = rx->dst_mac;
    rx->frame.src_mac = rx->src_mac;
    rx->frame.src_ip = rx->src_ip;
    rx->frame.dst_ip = rx->dst_ip;
    return rx;
}

static enum port_miss classify(struct bench *bench, struct received *rx, uint32_t *id, uint64_t *sender)
{
    rx->frame.multicast = (rx->dst_mac[0] & 1) != 0;
    *id = 0;
    *sender = 0;
    return port_classify(&bench->port, &rx->frame, id, sender);
}

static void expect(struct bench *bench, struct received *rx, enum port_miss miss, uint32_t id)
{
    uint32_t found;
    uint64_t sender;
    enum port_miss got = classify(bench, rx, &found, &sender);
    cr_assert_eq(got, miss, "got %d, expected %d", got, miss);
    cr_assert_eq(found, miss == PORT_MATCHED ? id : 0);
}

Test(match, without_faces_nothing_matches)
{
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    expect(&bench, frame_from(&rx, FACE_ETHER, 1, 0), PORT_MISS_VLAN, 0);
    cr_assert_eq(port_bare_face(&bench.port), 0);
    teardown_port(&bench);
}

Test(match, ethernet_unicast_is_source_mac_and_vlan)
{
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    struct face_config one = config_of(FACE_ETHER, 1, 0), two = config_of(FACE_ETHER, 2, 0);
    struct face_config tagged = config_of(FACE_ETHER, 1, 10), other = config_of(FACE_ETHER, 3, 20);
    uint32_t id1 = add_face(&bench, &one), id2 = add_face(&bench, &two);
    uint32_t id3 = add_face(&bench, &tagged);
    add_face(&bench, &other);
    expect(&bench, frame_from(&rx, FACE_ETHER, 1, 0), PORT_MATCHED, id1);
    expect(&bench, frame_from(&rx, FACE_ETHER, 2, 0), PORT_MATCHED, id2);
    expect(&bench, frame_from(&rx, FACE_ETHER, 1, 10), PORT_MATCHED, id3);
    expect(&bench, frame_from(&rx, FACE_ETHER, 9, 0), PORT_MISS_L2, 0);
    expect(&bench, frame_from(&rx, FACE_ETHER, 1, 11), PORT_MISS_VLAN, 0); /* a VLAN that nobody uses */
    expect(&bench, frame_from(&rx, FACE_ETHER, 2, 10), PORT_MISS_VLAN, 0); /* a VLAN of another face */
    frame_from(&rx, FACE_ETHER, 1, 0)->frame.n_tags = 1;                   /* priority-tagged, VID 0 */
    expect(&bench, &rx, PORT_MATCHED, id1);
    frame_from(&rx, FACE_ETHER, 1, 10)->frame.n_tags = 2;
    expect(&bench, &rx, PORT_MISS_VLAN, 0);
    frame_from(&rx, FACE_ETHER, 1, 0)->dst_mac[5] = 0x77; /* promiscuous port: for another host */
    expect(&bench, &rx, PORT_MISS_L2, 0);
    memcpy(frame_from(&rx, FACE_ETHER, 1, 0)->src_mac, our_mac, 6);
    expect(&bench, &rx, PORT_MISS_L2, 0);
    teardown_port(&bench);
}

Test(match, ethernet_group_tells_senders_apart)
{
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    struct face_config config = config_of(FACE_ETHER, 1, 0);
    memcpy(config.remote_mac, group_mac, 6);
    uint32_t id = add_face(&bench, &config), found;
    uint64_t a, b, again;
    memcpy(frame_from(&rx, FACE_ETHER, 1, 0)->dst_mac, group_mac, 6);
    cr_assert_eq(classify(&bench, &rx, &found, &a), PORT_MATCHED);
    cr_assert_eq(found, id);
    cr_assert_eq(classify(&bench, &rx, &found, &again), PORT_MATCHED);
    memcpy(frame_from(&rx, FACE_ETHER, 2, 0)->dst_mac, group_mac, 6);
    cr_assert_eq(classify(&bench, &rx, &found, &b), PORT_MATCHED);
    cr_assert_eq(a, again);
    cr_assert_neq(a, b);
    cr_assert_neq(a, 0);
    rx.dst_mac[5] = 0xab; /* another group */
    expect(&bench, &rx, PORT_MISS_L2, 0);
    teardown_port(&bench);
}

Test(match, udp_unicast_is_the_whole_tuple)
{
    for (int v6 = 0; v6 < 2; v6++) {
        uint8_t kind = v6 ? FACE_UDP6 : FACE_UDP4;
        struct bench bench;
        struct received rx;
        setup_port(&bench);
        struct face_config config = config_of(kind, 2, 0);
        uint32_t id = add_face(&bench, &config), found;
        uint64_t sender;
        cr_assert_eq(classify(&bench, frame_from(&rx, kind, 2, 0), &found, &sender), PORT_MATCHED);
        cr_assert_eq(found, id);
        cr_assert_eq(sender, 0);
        frame_from(&rx, kind, 2, 0)->frame.sport = 6364;
        expect(&bench, &rx, PORT_MISS_UDP, 0);
        frame_from(&rx, kind, 2, 0)->frame.dport = 6364;
        expect(&bench, &rx, PORT_MISS_UDP, 0);
        expect(&bench, frame_from(&rx, kind, 3, 0), PORT_MISS_UDP, 0);
        frame_from(&rx, kind, 2, 0)->src_mac[5] ^= 1; /* a router may send for the peer */
        expect(&bench, &rx, PORT_MATCHED, id);
        frame_from(&rx, kind, 2, 0)->dst_mac[5] ^= 2;
        expect(&bench, &rx, PORT_MISS_L2, 0);
        frame_from(&rx, kind, 2, 0)->dst_ip[v6 ? 15 : 3] = 99;
        expect(&bench, &rx, PORT_MISS_DST, 0);
        frame_from(&rx, kind, 2, 5);
        expect(&bench, &rx, PORT_MISS_VLAN, 0);
        memcpy(frame_from(&rx, kind, 2, 0)->src_ip, rx.dst_ip, 16);
        expect(&bench, &rx, PORT_MISS_SRC, 0);
        teardown_port(&bench);
    }
}

Test(match, broadcasts_are_no_destination_for_udp)
{
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    struct face_config config = config_of(FACE_UDP4, 2, 0);
    add_face(&bench, &config);
    frame_from(&rx, FACE_UDP4, 2, 0)->dst_ip[3] = 255; /* 10.0.0.255 on 10.0.0.1/24 */
    expect(&bench, &rx, PORT_MISS_DST, 0);
    memset(rx.dst_mac, 0xff, 6);
    expect(&bench, &rx, PORT_MISS_DST, 0);
    memset(frame_from(&rx, FACE_UDP4, 2, 0)->dst_ip, 255, 4);
    expect(&bench, &rx, PORT_MISS_DST, 0);
    frame_from(&rx, FACE_UDP4, 2, 0)->dst_ip[3] = 0; /* the old all-zeros broadcast */
    expect(&bench, &rx, PORT_MISS_DST, 0);
    memset(frame_from(&rx, FACE_UDP4, 2, 0)->dst_mac, 0xff, 6); /* our address in a link broadcast */
    expect(&bench, &rx, PORT_MISS_DST, 0);
    teardown_port(&bench);
}

Test(match, udp_group_is_address_and_port)
{
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    struct face_config config = config_of(FACE_UDP4, 0, 0);
    memcpy(config.remote_ip, (const uint8_t[]){224, 0, 23, 170}, 4);
    config.remote_udp = 56363;
    uint32_t id = add_face(&bench, &config), found;
    uint64_t a, b;
    for (uint32_t n = 2; n < 4; n++) {
        memcpy(frame_from(&rx, FACE_UDP4, n, 0)->dst_ip, config.remote_ip, 4);
        memcpy(rx.dst_mac, group_mac, 6);
        rx.frame.dport = 56363;
        rx.frame.sport = 12345;
        cr_assert_eq(classify(&bench, &rx, &found, n == 2 ? &a : &b), PORT_MATCHED);
        cr_assert_eq(found, id);
    }
    cr_assert_neq(a, b);
    rx.frame.dport = 6363;
    expect(&bench, &rx, PORT_MISS_UDP, 0);
    rx.frame.dport = 56363;
    rx.dst_ip[3]++;
    expect(&bench, &rx, PORT_MISS_DST, 0);
    rx.dst_ip[3]--;
    memcpy(rx.src_ip, (const uint8_t[]){10, 0, 0, 1}, 4);
    expect(&bench, &rx, PORT_MISS_SRC, 0);
    peer_ip(rx.src_ip, 2, false);
    memcpy(rx.dst_mac, our_mac, 6); /* a group packet sent to one host */
    expect(&bench, &rx, PORT_MISS_DST, 0);
    teardown_port(&bench);
}

Test(match, a_bare_port_has_one_face)
{
    struct bench bench;
    setup_port(&bench);
    struct face_config config = {.kind = FACE_BARE};
    uint32_t id = add_face(&bench, &config);
    cr_assert_eq(port_bare_face(&bench.port), id);
    struct face_config ether = config_of(FACE_ETHER, 1, 0);
    uint32_t other;
    cr_assert_eq(face_add(bench.faces, &ether, 1500, &other), 0);
    cr_assert_eq(port_face_add(&bench.port, face_get(bench.faces, other)), -EEXIST);
    remove_face(&bench, id);
    cr_assert_eq(port_bare_face(&bench.port), 0);
    cr_assert_eq(port_face_add(&bench.port, face_get(bench.faces, other)), 0);
    teardown_port(&bench);
}

Test(match, ten_thousand_faces_are_found_and_forgotten)
{
    enum { N = 10000 };
    static uint32_t id[N];
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    for (uint32_t i = 0; i < N; i++) {
        uint8_t kind = i % 3 == 0 ? FACE_ETHER : i % 3 == 1 ? FACE_UDP4 : FACE_UDP6;
        struct face_config config = config_of(kind, i + 2, i % 7);
        id[i] = add_face(&bench, &config);
        cr_assert_eq(port_face_add(&bench.port, face_get(bench.faces, id[i])), -EEXIST);
    }
    for (uint32_t i = 0; i < N; i++) {
        uint8_t kind = i % 3 == 0 ? FACE_ETHER : i % 3 == 1 ? FACE_UDP4 : FACE_UDP6;
        expect(&bench, frame_from(&rx, kind, i + 2, i % 7), PORT_MATCHED, id[i]);
        expect(&bench, frame_from(&rx, kind, i + 2, (i + 1) % 7), PORT_MISS_VLAN, 0);
    }
    for (uint32_t i = 0; i < N; i += 2) {
        remove_face(&bench, id[i]);
    }
    for (uint32_t i = 0; i < N; i++) {
        uint8_t kind = i % 3 == 0 ? FACE_ETHER : i % 3 == 1 ? FACE_UDP4 : FACE_UDP6;
        enum port_miss miss = i % 2 == 1 ? PORT_MATCHED : kind == FACE_ETHER ? PORT_MISS_L2 : PORT_MISS_UDP;
        expect(&bench, frame_from(&rx, kind, i + 2, i % 7), miss, id[i]);
    }
    for (uint32_t i = 1; i < N; i += 2) {
        remove_face(&bench, id[i]);
    }
    expect(&bench, frame_from(&rx, FACE_UDP4, 3, 1), PORT_MISS_VLAN, 0);
    teardown_port(&bench);
}

/* Random adding and removing among few faces, so that both forms of the match and the change between them are met. */
Test(match, agrees_with_a_list_of_faces)
{
    enum { N = 12 };
    uint32_t id[N] = {0}, state = 12345;
    struct bench bench;
    struct received rx;
    setup_port(&bench);
    for (int step = 0; step < 20000; step++) {
        state = state * 1664525 + 1013904223;
        uint32_t i = (state >> 16) % N;
        uint8_t kind = i % 2 ? FACE_UDP4 : FACE_UDP6;
        if (id[i] == 0) {
            struct face_config config = config_of(kind, i + 2, i % 3);
            id[i] = add_face(&bench, &config);
        } else {
            remove_face(&bench, id[i]);
            id[i] = 0;
        }
        for (uint32_t k = 0; k < N; k++) {
            uint32_t found;
            uint64_t sender;
            enum port_miss miss =
                classify(&bench, frame_from(&rx, k % 2 ? FACE_UDP4 : FACE_UDP6, k + 2, k % 3), &found, &sender);
            cr_assert_eq(miss == PORT_MATCHED, id[k] != 0);
            cr_assert_eq(found, id[k]);
        }
    }
    teardown_port(&bench);
}

struct reader {
    struct bench *bench;
    struct rte_rcu_qsbr *qsbr;
    uint32_t id; /* of a face that is there all the time */
    _Atomic bool stop;
    _Atomic uint32_t lookups, lost;
};

static void *read_all_the_time(void *arg)
{
    struct reader *reader = arg;
    struct received rx;
    frame_from(&rx, FACE_UDP4, 2, 0);
    rte_rcu_qsbr_thread_online(reader->qsbr, 0);
    while (!atomic_load_explicit(&reader->stop, memory_order_relaxed)) {
        uint32_t found = 0;
        uint64_t sender;
        if (port_classify(&reader->bench->port, &rx.frame, &found, &sender) != PORT_MATCHED || found != reader->id) {
            atomic_fetch_add_explicit(&reader->lost, 1, memory_order_relaxed);
        }
        rte_rcu_qsbr_quiescent(reader->qsbr, 0);
        atomic_fetch_add_explicit(&reader->lookups, 1, memory_order_relaxed);
    }
    rte_rcu_qsbr_thread_offline(reader->qsbr, 0);
    return NULL;
}

/* A worker never misses a face while others come and go, through every form of the match. */
Test(match, a_worker_sees_its_face_while_others_change)
{
    struct rte_rcu_qsbr *qsbr = NULL;
    cr_assert_eq(posix_memalign((void **)&qsbr, 64, rte_rcu_qsbr_get_memsize(1)), 0);
    cr_assert_eq(rte_rcu_qsbr_init(qsbr, 1), 0);
    cr_assert_eq(rte_rcu_qsbr_thread_register(qsbr, 0), 0);
    struct bench bench = {0};
    memcpy(bench.port.mac, our_mac, 6);
    cr_assert_eq(port_match_init(&bench.port, qsbr), 0);
    cr_assert_eq(face_table_create(&bench.faces, qsbr), 0);
    struct face_config config = config_of(FACE_UDP4, 2, 0);
    struct reader reader = {.bench = &bench, .qsbr = qsbr, .id = add_face(&bench, &config)};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, read_all_the_time, &reader), 0);
    uint32_t id[300];
    for (int round = 0; round < 20 || atomic_load(&reader.lookups) < 1000; round++) {
        for (uint32_t i = 0; i < 300; i++) {
            config = config_of(i % 2 ? FACE_ETHER : FACE_UDP4, 10 + i, i % 5);
            id[i] = add_face(&bench, &config);
        }
        for (uint32_t i = 0; i < 300; i++) {
            remove_face(&bench, id[i]);
        }
    }
    atomic_store(&reader.stop, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_eq(atomic_load(&reader.lost), 0);
    teardown_port(&bench);
    free(qsbr);
}
