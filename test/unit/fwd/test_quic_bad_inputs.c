// SPDX-License-Identifier: Apache-2.0
/* Every QUIC row of test/cases as frames to a service: contiguous, and split at every octet of its headers. */
#include <criterion/criterion.h>

#include "test/cases/bad_inputs.h"
#include "test/unit/fwd/quic_scene.h"

static struct scene scene;
static struct bad_addrs addrs;
static uint8_t frame[BAD_INPUT_MAX + 128];

static void start(void)
{
    scene_start(&scene, &(struct bed_config){0}, 3);
    addrs = bad_addrs_default;
    memcpy(addrs.our_mac, scene.client->mac, 6);
    memcpy(addrs.our_ip4, scene_vip4, 4);
    memcpy(addrs.our_ip6, scene_vip6, 16);
    memcpy(addrs.peer_ip4, scene_client4, 4);
    memcpy(addrs.peer_ip6, scene_client6, 16);
    addrs.quic_port = 443;
    // A jumbo frame is for the parser to judge, not for the way to the server.
    for (unsigned i = 0; i < 3; i++)
        scene.server[i].mtu = 9000;
    scene.server_port->mtu = 9000;
}

/* What a service without a fallback, and with these rules, makes of a row; NULL: not the data path's. */
static const char *outcome_of(const struct bad_input *row, size_t len)
{
    if (strcmp(row->id, "Q29") == 0)
        return NULL;
    if (strcmp(row->id, "Q15") == 0)
        return "accept";
    if (strcmp(row->id, "Q33") == 0)
        return "icmp";
    if (strcmp(row->id, "Q17") == 0)
        return len > 9000 ? "segments" : "accept";
    return row->outcome;
}

static void expect(const struct bad_input *row, struct rte_mbuf *mbuf, const char *outcome, uint32_t split)
{
    struct stats_worker before = bed_stats(scene.bed);
    bed_drop_sent(scene.bed);
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    struct stats_worker after = bed_stats(scene.bed);
    for (unsigned i = 1; i < DROP_COUNT; i++) {
        uint64_t want = strcmp(drop_info[i].name, outcome) == 0;
        cr_assert_eq(after.drops[i] - before.drops[i], want, "%s (%s) split at %u: %s rises by %ju, not %ju", row->id,
                     row->what, split, drop_info[i].name, (uintmax_t)(after.drops[i] - before.drops[i]),
                     (uintmax_t)want);
    }
    cr_assert_eq(scene.bed->n_sent, strcmp(outcome, "accept") == 0);
    bed_drop_sent(scene.bed);
    cr_assert_eq(stats_unaccounted(&after), 0);
    cr_assert_eq(bed_mbufs(scene.bed), 0);
}

Test(quic_bad_inputs, every_row_has_its_end)
{
    start();
    unsigned n = 0;
    for (size_t i = 0; i < n_bad_inputs; i++) {
        const struct bad_input *row = &bad_inputs[i];
        if (row->id[0] != 'Q' || (row->carriers & (BAD_QUIC | BAD_FRAME)) == 0)
            continue;
        enum bad_carrier carrier = (row->carriers & BAD_QUIC) != 0 ? BAD_QUIC : BAD_FRAME;
        size_t len = bad_input_frame(row, 0, carrier, &addrs, frame);
        const char *outcome = outcome_of(row, len);
        if (outcome == NULL)
            continue;
        n++;
        scene.service->require_fixed_bit = row->fixed_bit;
        scene.service->drop_unroutable = strcmp(outcome, "quic_unroutable") == 0;
        if (len > 9000) {
            expect(row, bed_raw(scene.bed, frame, RTE_MIN(len, (size_t)65535)), outcome, 0);
            continue;
        }
        expect(row, bed_raw(scene.bed, frame, len), outcome, 0);
        for (uint32_t split = 1; split < RTE_MIN(len, (size_t)90); split++)
            expect(row, bed_split(scene.bed, bed_raw(scene.bed, frame, len), split), outcome, split);
    }
    cr_assert_gt(n, 30);
    cr_assert_eq(scene_stats(&scene).coalesced_cid, 90);
    scene_stop(&scene);
}
