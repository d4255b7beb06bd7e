// SPDX-License-Identifier: Apache-2.0
/* Which server a datagram goes to: the draft's order, servers that drain or are down, several workers, flow table. */
#include <criterion/criterion.h>

#include "test/unit/fwd/quic_scene.h"

#define WORKERS 3

static struct scene scene;
static uint8_t payload[1200];

static void start(uint32_t flows)
{
    struct bed_config config = {.n_workers = WORKERS};
    config.quic_flow[0] = (struct flow_config){.capacity = flows, .idle_ms = 30000, .keep_ms = 10000};
    scene_start(&scene, &config, 4);
}

/* Receive at a worker; the server that it went to, -1: none. */
static int at(uint16_t worker, uint16_t sport, size_t len)
{
    bed_drop_sent(scene.bed);
    scene_receive_at(&scene, worker, &(struct scene_frame){.sport = sport}, payload, len);
    return scene_went_to(&scene, 0);
}

static size_t initial(const void *dcid, uint8_t dcid_len, uint8_t scid)
{
    const uint8_t own[4] = {scid, 1, 1, 1};
    return scene_long(payload, 0, dcid, dcid_len, own, sizeof own, sizeof payload);
}

static const uint8_t unroutable[20] = {0xf3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};

Test(quic_steer, decision_does_not_depend_on_the_worker)
{
    start(0);
    static const uint8_t lengths[] = {8, 16, 20};
    for (uint16_t sport = 20000; sport < 20100; sport++)
        for (unsigned i = 0; i < sizeof lengths; i++) {
            int first = at(0, sport, initial(unroutable, lengths[i], 1));
            cr_assert_geq(first, 0);
            for (uint16_t w = 1; w < WORKERS; w++)
                cr_assert_eq(at(w, sport, initial(unroutable, lengths[i], 1)), first);
        }
    cr_assert_eq(scene_stats(&scene).handed_over, 0);
    scene_stop(&scene);
}

/* A rebinding: another port, another worker, another client address; no state is made or moved. */
Test(quic_steer, routable_ids_stay_with_their_server_and_are_never_handed_over)
{
    start(64);
    for (unsigned server = 0; server < 4; server++)
        for (uint16_t w = 0; w < WORKERS; w++)
            for (uint16_t sport = 30000; sport < 30050; sport++)
                cr_assert_eq(at(w, sport, scene_short(payload, server, (uint8_t)sport, 60)), (int)server);
    struct flow_stats stats;
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &stats);
    cr_assert_eq(stats.n_flows, 0);
    cr_assert_eq(scene_stats(&scene).handed_over, 0);
    cr_assert_eq(bed_stats(scene.bed).handed_over, 0);
    scene_stop(&scene);
}

Test(quic_steer, draining_servers_keep_their_connections_and_get_no_new_ones)
{
    start(0);
    scene.server[2].state = QUIC_DRAIN;
    atomic_store(&scene.server[3].unhealthy, true);
    scene_maglev(&scene);
    bool seen[4] = {false};
    for (uint16_t sport = 20000; sport < 20200; sport++)
        seen[at(0, sport, initial(unroutable, 8, 1))] = true;
    cr_assert(seen[0] && seen[1] && !seen[2] && !seen[3]);
    for (unsigned server = 0; server < 4; server++)
        cr_assert_eq(at(1, 5, scene_short(payload, server, 1, 60)), (int)server);
    scene_stop(&scene);
}

Test(quic_steer, ids_of_servers_that_are_down_are_unroutable)
{
    start(0);
    scene.server[1].state = QUIC_DOWN;
    scene_maglev(&scene);
    for (uint16_t sport = 20000; sport < 20100; sport++) {
        int to = at(0, sport, scene_short(payload, 1, 1, 60));
        cr_assert(to >= 0 && to != 1);
    }
    cr_assert_eq(scene_stats(&scene).unroutable_server, 100);
    for (unsigned i = 0; i < 4; i++)
        scene.server[i].state = QUIC_DOWN;
    scene_maglev(&scene);
    cr_assert_eq(at(0, 20000, scene_short(payload, 1, 1, 60)), -1);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_NO_SERVER), 1);
    scene_stop(&scene);
}

Test(quic_steer, each_kind_of_unroutable_is_counted)
{
    start(0);
    size_t len = scene_short(payload, 0, 1, 60);
    payload[1] = 0x40 | 7; // configuration 2, which there is not
    at(0, 1, len);
    payload[1] = 0xe7; // the reserved one
    at(0, 1, len);
    cr_assert_eq(scene_stats(&scene).unroutable_config, 2);
    payload[1] = 0x07;
    payload[2] = 0x77; // no such server
    at(0, 1, len);
    cr_assert_eq(scene_stats(&scene).unroutable_server, 1);
    static const uint8_t brief[5] = {7, 0xa0, 0, 0, 1};
    at(0, 1, scene_long(payload, 2, brief, sizeof brief, NULL, 0, 100));
    cr_assert_eq(scene_stats(&scene).unroutable_short, 1);
    cr_assert_eq(scene_stats(&scene).by_hash, 4);
    scene.service->drop_unroutable = true;
    at(0, 1, scene_short(payload, 7, 1, 60));
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_UNROUTABLE), 1);
    cr_assert_eq(at(0, 1, initial(brief, sizeof brief, 1)), -1);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_CID_LEN), 1, "a client's first DCID has 8 octets");
    scene_stop(&scene);
}

/* With a flow table one worker decides: the server stays the same wherever packets arrive and when servers come. */
Test(quic_steer, flow_table_keeps_flows_when_servers_change)
{
    start(1024);
    int before[100];
    for (uint16_t i = 0; i < 100; i++) {
        const uint8_t dcid[8] = {0xf7, (uint8_t)i, 1, 2, 3, 4, 5, 6};
        before[i] = at((uint16_t)(i % WORKERS), (uint16_t)(20000 + i), initial(dcid, 8, (uint8_t)i));
    }
    cr_assert_geq(scene_stats(&scene).handed_over, 60, "two of three workers have no table");
    scene.server[0].state = QUIC_DRAIN;
    scene_maglev(&scene);
    unsigned drained = 0;
    for (uint16_t i = 0; i < 100; i++) {
        // The server's own ID, unroutable: by its 4-tuple, then by itself from another port.
        size_t len = scene_short(payload, 0, (uint8_t)i, 60);
        payload[1] = 0xe7;
        payload[2] = (uint8_t)i;
        payload[3] = 0x55;
        cr_assert_eq(at((uint16_t)((i + 1) % WORKERS), (uint16_t)(20000 + i), len), before[i]);
        cr_assert_eq(at((uint16_t)((i + 2) % WORKERS), (uint16_t)(40000 + i), len), before[i], "another port");
        drained += before[i] == 0;
    }
    cr_assert_gt(drained, 0);
    cr_assert_eq(scene_stats(&scene).by_tuple, 100);
    cr_assert_eq(scene_stats(&scene).by_dcid, 100);
    struct flow_stats stats;
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &stats);
    cr_assert_eq(flow_check(scene.bed->fwd[0]->quic->flow[0]), 0);
    cr_assert_null(scene.bed->fwd[1]->quic->flow[0]);
    scene_stop(&scene);
}

/* Nobody else can move or remove a flow: routable IDs on its 4-tuple, its IDs from elsewhere, a flood of new flows. */
Test(quic_steer, spoofed_packets_do_not_move_flows)
{
    start(64);
    int server = at(0, 20000, initial(unroutable, 8, 1));
    struct flow_stats stats;
    for (unsigned other = 0; other < 4; other++)
        cr_assert_eq(at(1, 20000, scene_short(payload, other, 1, 60)), (int)other);
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &stats);
    cr_assert_eq(stats.n_removed, 0);
    scene.server[server].state = QUIC_DRAIN;
    scene_maglev(&scene);
    cr_assert_eq(at(2, 20000, initial(unroutable, 8, 1)), server);
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t dcid[8] = {0xf1, (uint8_t)i, (uint8_t)(i >> 8), 9};
        at((uint16_t)(i % WORKERS), (uint16_t)(1024 + i), initial(dcid, 8, (uint8_t)i));
    }
    cr_assert_gt(scene_stats(&scene).flow_full, 1000, "the table is bounded, and what is new gives way");
    cr_assert_eq(at(1, 20000, initial(unroutable, 8, 1)), server);
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &stats);
    cr_assert_leq(stats.n_flows, 64);
    cr_assert_eq(stats.n_evicted, 0);
    bed_pass(scene.bed, 1);
    cr_assert_eq(scene_stats(&scene).flows, stats.n_flows);
    cr_assert_eq(scene_stats(&scene).flows_evicted, 0);
    bed_pass(scene.bed, 31000);
    bed_pass(scene.bed, 31000);
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &stats);
    cr_assert_eq(stats.n_flows, 0, "what is not used goes");
    cr_assert_eq(scene_stats(&scene).flows, 0);
    // The least used of a table full of flows that were idle for keep_ms gives way.
    for (unsigned i = 0; i < 64; i++) {
        uint8_t dcid[8] = {0xf1, (uint8_t)i, 1, 9};
        at(0, (uint16_t)(1024 + i), initial(dcid, 8, (uint8_t)i));
    }
    bed_pass(scene.bed, 11000);
    at(0, 1023, initial(unroutable, 8, 1));
    bed_pass(scene.bed, 1);
    cr_assert_eq(scene_stats(&scene).flows_evicted, 3);
    scene_stop(&scene);
}

Test(quic_steer, service_that_is_gone_when_a_packet_arrives)
{
    start(64);
    // Handed over by worker 1 while the set is there, received by worker 0 when it is not.
    uint8_t frame[SCENE_ROOM];
    size_t len = initial(unroutable, 8, 1);
    struct rte_mbuf *mbuf =
        bed_raw(scene.bed, frame, scene_frame(frame, &scene, &(struct scene_frame){0}, payload, len));
    struct fwd *from = scene.bed->fwd[1], *to = scene.bed->fwd[0];
    fwd_input(from, scene.client, &mbuf, 1, scene.bed->now_ns);
    atomic_store(&scene.bed->shared.quic, NULL);
    struct rte_mbuf *arrived[FWD_BURST_MAX];
    uint16_t n = dispatch_receive(to, 1, arrived);
    cr_assert_eq(n, 1);
    fwd_input_handed_over(to, arrived, n, scene.bed->now_ns);
    cr_assert_eq(bed_drops(scene.bed, DROP_UDP_UNMATCHED), 1);
    scene_stop(&scene);
}
