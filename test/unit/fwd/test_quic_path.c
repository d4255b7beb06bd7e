// SPDX-License-Identifier: Apache-2.0
/* QUIC datagrams from the wire to their server. */
#include <criterion/criterion.h>

#include "test/unit/fwd/quic_scene.h"

static struct scene scene;

static void start(void)
{
    scene_start(&scene, &(struct bed_config){0}, 3);
}

static void stop(void)
{
    scene_stop(&scene);
}

TestSuite(quic_path, .init = start, .fini = stop);

/* What a frame that is forwarded by L2 rewrite must be: octet by octet. */
static void expect_rewritten(const uint8_t *frame, size_t len, bool v6, unsigned server)
{
    uint8_t want[SCENE_ROOM];
    memcpy(want, frame, len);
    memcpy(want, (const uint8_t[6]){2, 0, 0, 0, (uint8_t)(10 + server), 2}, 6);
    memcpy(want + 6, scene.server_port->mac, 6);
    uint8_t *ip = want + 14;
    ip[v6 ? 7 : 8]--;
    if (!v6) {
        scene_put16(ip + 10, 0);
        scene_put16(ip + 10, (uint16_t)~scene_csum(0, ip, 20));
    }
    cr_assert_eq(scene.bed->n_sent, 1);
    const struct rte_mbuf *mbuf = scene.bed->sent[0].mbuf;
    cr_assert_eq(scene.bed->sent[0].port, scene.server_port->index);
    cr_assert_eq(mbuf->pkt_len, len);
    cr_assert_arr_eq(rte_pktmbuf_mtod(mbuf, const uint8_t *), want, len);
}

Test(quic_path, connection_id_leads_to_its_server)
{
    uint8_t payload[1200], frame[SCENE_ROOM];
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (unsigned server = 0; server < 3; server++)
            for (unsigned ttl = 2; ttl < 256; ttl++) {
                const struct scene_frame with = {.v6 = v6 != 0, .ttl = (uint8_t)ttl, .sport = (uint16_t)(1024 + ttl)};
                size_t len = scene_short(payload, server, (uint8_t)ttl, 21 + ttl * 4);
                size_t frame_len = scene_frame(frame, &scene, &with, payload, len);
                struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, frame_len);
                bed_receive(scene.bed, scene.client, &mbuf, 1);
                expect_rewritten(frame, frame_len, v6 != 0, server);
                bed_drop_sent(scene.bed);
            }
    struct quic_stats_service stats = scene_stats(&scene);
    cr_assert_eq(stats.packets, 2 * 3 * 254);
    cr_assert_eq(stats.by_cid, 2 * 3 * 254);
    cr_assert_eq(scene.bed->fwd[0]->quic->stats.server[0][1].packets, 2 * 254);
}

Test(quic_path, link_padding_stays_behind)
{
    uint8_t payload[64], frame[SCENE_ROOM];
    size_t len = scene_frame(frame, &scene, &(struct scene_frame){0}, payload, scene_short(payload, 2, 1, 30));
    memset(frame + len, 0xee, 9);
    struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len + 9);
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    expect_rewritten(frame, len, false, 2);
}

Test(quic_path, split_frames_have_the_same_end)
{
    uint8_t payload[1200], frame[SCENE_ROOM];
    static const uint8_t scid[4] = {1, 2, 3, 4}, dcid[8] = {7, 0xa1, 0, 0, 1, 2, 3, 4};
    for (unsigned v6 = 0; v6 < 2; v6++) {
        size_t len = scene_long(payload, 0, dcid, 8, scid, 4, 1200);
        size_t frame_len = scene_frame(frame, &scene, &(struct scene_frame){.v6 = v6 != 0}, payload, len);
        for (uint32_t split = 1; split < frame_len; split += split < 120 ? 1 : 77) {
            struct rte_mbuf *mbuf = bed_split(scene.bed, bed_raw(scene.bed, frame, frame_len), split);
            bed_receive(scene.bed, scene.client, &mbuf, 1);
            expect_rewritten(frame, frame_len, v6 != 0, 1);
            bed_drop_sent(scene.bed);
        }
    }
}

Test(quic_path, time_to_live_ends)
{
    uint8_t payload[64];
    for (unsigned v6 = 0; v6 < 2; v6++) {
        size_t len = scene_short(payload, 0, 1, 40);
        scene_receive(&scene, &(struct scene_frame){.v6 = v6 != 0, .ttl = 1}, payload, len);
    }
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_TTL), 2);
    cr_assert_eq(scene.bed->n_sent, 0);
}
