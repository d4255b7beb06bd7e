// SPDX-License-Identifier: Apache-2.0
/* The edge in the pipeline: from frames received to frames sent, at two workers. */
#include "test/unit/fwd/quic_scene.h"

#include <criterion/criterion.h>

#include "test/bed/edge_bed.h"

static struct scene scene;
static uint8_t datagram[1500];

static void start(void)
{
    struct bed_config config = {.n_workers = 2, .pages = ARENA_PAGES_SMALL};
    scene_start(&scene, &config, 3);
    scene.service->n_versions = 2;
    scene.service->version[0] = QUIC_VERSION_1;
    scene.service->version[1] = QUIC_VERSION_2;
    scene.service->version_negotiation = true;
    scene.service->retry_mode = QUIC_RETRY_ON;
    scene.service->retry_lifetime_s = 10;
    scene.service->n_retry_keys = 1;
    scene.service->retry_key[0] =
        (struct quic_retry_key){.sequence = 1, .key = "a key for a test", .iv = "and an iv.."};
}

static void stop(void)
{
    scene_stop(&scene);
}

TestSuite(quic_edge_path, .init = start, .fini = stop);

/* The only frame sent is to the client, sound, out of the port it is behind. @return its payload */
static const uint8_t *answer(bool v6, size_t *len)
{
    const struct bed_sent *sent = &scene.bed->sent[0];
    static const struct frame_opts strict;
    struct frame frame;
    cr_assert_eq(scene.bed->n_sent, 1);
    cr_assert_eq(sent->port, scene.client->index);
    const uint8_t *p = rte_pktmbuf_mtod(sent->mbuf, const uint8_t *);
    cr_assert_eq(frame_parse(p, sent->mbuf->data_len, &strict, &frame), VERDICT_OK);
    cr_assert_arr_eq(frame.dst_mac, scene_client_mac, 6);
    cr_assert_arr_eq(frame.src_mac, scene.client->mac, 6);
    cr_assert_arr_eq(frame.src_ip, v6 ? scene_vip6 : scene_vip4, v6 ? 16 : 4);
    cr_assert_arr_eq(frame.dst_ip, v6 ? scene_client6 : scene_client4, v6 ? 16 : 4);
    *len = frame.payload_len;
    return p + frame.payload_off;
}

Test(quic_edge_path, initial_comes_back_with_its_token_at_another_worker_and_goes_to_its_server)
{
    for (unsigned i = 0; i < 40; i++) {
        uint32_t version = i & 2 ? QUIC_VERSION_2 : QUIC_VERSION_1;
        struct scene_frame from = {.v6 = i & 1, .sport = (uint16_t)(40000 + i)};
        struct edge_initial fields = {.version = version, .dcid_len = 8, .scid_len = 8};
        struct quic_header header;
        size_t len;
        scene_receive_at(&scene, 0, &from, datagram, edge_put_initial(datagram, &fields));
        const uint8_t *retry = answer(from.v6, &len);
        cr_assert_eq(quic_parse(retry, len, &(struct quic_opts){0}, &header), VERDICT_OK);
        cr_assert_eq(header.type, QUIC_TYPE_RETRY);
        fields.dcid = header.scid;
        fields.dcid_len = header.scid_len;
        fields.token = header.token;
        fields.token_len = header.token_len;
        size_t again = edge_put_initial(datagram, &fields);
        unsigned server = header.scid[1] - 0xa0u;
        bed_drop_sent(scene.bed);
        scene_receive_at(&scene, 1, &from, datagram, again);
        cr_assert_eq(scene.bed->n_sent, 1);
        cr_assert_eq(scene_went_to(&scene, 0), (int)server);
        bed_drop_sent(scene.bed);
        datagram[40] ^= 1;
        scene_receive_at(&scene, 1, &from, datagram, again);
        cr_assert_eq(scene.bed->n_sent, 0);
    }
    const struct quic_stats_service stats = scene_stats(&scene);
    cr_assert_eq(stats.retries, 40);
    cr_assert_eq(stats.tokens_good, 40);
    cr_assert_eq(stats.tokens_bad, 40);
    cr_assert_eq(stats.by_cid, 40);
    cr_assert_eq(stats.initials, 120);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_ANSWERED), 40);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_TOKEN_BAD), 40);
}

Test(quic_edge_path, datagrams_of_a_burst_have_each_its_own_end)
{
    // To a server, answered, to a server: what is taken out leaves no gap.
    struct rte_mbuf *mbufs[3];
    uint8_t frame[SCENE_ROOM];
    struct scene_frame from = {.v6 = false};
    mbufs[0] = bed_raw(scene.bed, frame, scene_frame(frame, &scene, &from, datagram, scene_short(datagram, 1, 1, 100)));
    memset(datagram, 0x77, 1200);
    edge_put_long(datagram, 0xc0, 0x1a2a3a4a, 30, 200);
    mbufs[1] = bed_raw(scene.bed, frame, scene_frame(frame, &scene, &from, datagram, 1200));
    mbufs[2] = bed_raw(scene.bed, frame, scene_frame(frame, &scene, &from, datagram, scene_short(datagram, 2, 2, 100)));
    bed_receive(scene.bed, scene.client, mbufs, 3);
    cr_assert_eq(scene.bed->n_sent, 3);
    unsigned seen = 0;
    for (unsigned i = 0; i < 3; i++) {
        int server = scene_went_to(&scene, i);
        seen |= 1u << (server < 0 ? 0 : server);
    }
    cr_assert_eq(seen, 7);
    cr_assert_eq(scene_stats(&scene).version_negotiations, 1);
    cr_assert_eq(scene_stats(&scene).by_cid, 2);
}

Test(quic_edge_path, version_negotiation_of_a_split_datagram)
{
    for (unsigned v6 = 0; v6 < 2; v6++) {
        static const uint32_t splits[] = {70, 100, 400, 700, 1100};
        for (unsigned i = 0; i < RTE_DIM(splits); i++) {
            uint8_t frame[SCENE_ROOM];
            struct scene_frame from = {.v6 = v6};
            size_t len;
            memset(datagram, 0x77, 1200);
            edge_put_long(datagram, 0xc0, 0x1a2a3a4a, 255, 255);
            struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, scene_frame(frame, &scene, &from, datagram, 1200));
            mbuf = bed_split(scene.bed, mbuf, splits[i]);
            bed_receive(scene.bed, scene.client, &mbuf, 1);
            const uint8_t *p = answer(v6, &len);
            cr_assert_eq(len, 7 + 255 + 255 + 12);
            cr_assert_arr_eq(p + 6, datagram + 6 + 255 + 1, 255);
            cr_assert_arr_eq(p + 6 + 255 + 1, datagram + 6, 255);
            bed_drop_sent(scene.bed);
        }
    }
}
