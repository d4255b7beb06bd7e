// SPDX-License-Identifier: Apache-2.0
/* UDP payloads too short for QUIC, and lengths that lie: none gets further than it must (RFC 768, RFC 9000). */
#include <criterion/criterion.h>

#include "test/unit/fwd/quic_scene.h"

static struct scene scene;
static uint8_t payload[1500], frame[SCENE_ROOM];

static void start(void)
{
    scene_start(&scene, &(struct bed_config){0}, 3);
}

static void stop(void)
{
    scene_stop(&scene);
}

TestSuite(quic_lengths, .init = start, .fini = stop);

static size_t plain(bool v6)
{
    return scene_frame(frame, &scene, &(struct scene_frame){.v6 = v6}, payload, scene_short(payload, 1, 7, 60));
}

/* @return name of the one counter that rises, "sent" when the frame is delivered */
static const char *end_of(const uint8_t *octets, size_t len)
{
    struct stats_worker before = bed_stats(scene.bed);
    struct rte_mbuf *mbuf = bed_raw(scene.bed, octets, len);
    bed_drop_sent(scene.bed);
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    struct stats_worker after = bed_stats(scene.bed);
    const char *end = scene.bed->n_sent == 1 ? "sent" : NULL;
    for (unsigned i = 1; i < DROP_COUNT; i++)
        if (after.drops[i] != before.drops[i]) {
            cr_assert(end == NULL && after.drops[i] - before.drops[i] == 1, "more than one end");
            end = drop_info[i].name;
        }
    cr_assert_not_null(end);
    return end;
}

Test(quic_lengths, udp_payloads_too_short_for_quic_are_refused)
{
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (unsigned first = 0; first < 256; first += 17)
            for (size_t len = 0; len <= 20; len++) {
                memset(payload, 0, sizeof payload);
                payload[0] = (uint8_t)first;
                size_t frame_len = scene_frame(frame, &scene, &(struct scene_frame){.v6 = v6 != 0}, payload, len);
                const char *end = end_of(frame, frame_len);
                // Version 0 is Version Negotiation, as soon as it is a whole header.
                const char *want = (first & 0x80) != 0 && len >= 7 ? "quic_vn_rx" : "quic_short";
                cr_assert_str_eq(end, want, "%zu octets, first 0x%02x: %s", len, first, end);
            }
}

Test(quic_lengths, long_headers_cut_anywhere_are_refused)
{
    for (unsigned type = 0; type < 3; type++)
        for (size_t len = 0; len < 1200; len += len < 80 ? 1 : 97) {
            static const uint8_t dcid[8] = {7, 0xa1, 0, 0, 1, 2, 3, 4};
            scene_long(payload, (uint8_t)type, dcid, 8, dcid, 8, 1200);
            size_t frame_len = scene_frame(frame, &scene, &(struct scene_frame){0}, payload, len);
            const char *end = end_of(frame, frame_len);
            bool named = strcmp(end, "quic_short") == 0 || strcmp(end, "quic_len") == 0 ||
                         (type == 0 && strcmp(end, "quic_dgram_small") == 0);
            cr_assert(named, "%zu octets: %s", len, end);
        }
}

Test(quic_lengths, udp_and_ip_lengths_that_lie_are_refused)
{
    for (unsigned v6 = 0; v6 < 2; v6++) {
        size_t l3 = v6 ? 40 : 20, len = plain(v6 != 0), udp_len = len - 14 - l3;
        uint8_t *ip = frame + 14, *udp = ip + l3;
        for (uint32_t said = 0; said < 300; said++) {
            plain(v6 != 0);
            scene_put16(udp + 4, said);
            if (said >= 8 && said <= udp_len) {
                scene_put16(udp + 6, 0);
                scene_put16(udp + 6, (uint16_t)~scene_l4_sum(ip, v6 != 0, 17, udp, said));
            }
            const char *end = end_of(frame, len);
            // What is behind the datagram is not part of it, and goes along.
            const char *want = said < 8 || said > udp_len ? "udp_len" : said < 8 + 21 ? "quic_short" : "sent";
            cr_assert_str_eq(end, want, "UDP length %u: %s", said, end);
        }
        for (uint32_t said = 0; said < 300; said++) {
            plain(v6 != 0);
            scene_put16(ip + (v6 ? 4 : 2), said);
            if (!v6) {
                scene_put16(ip + 10, 0);
                scene_put16(ip + 10, (uint16_t)~scene_csum(0, ip, 20));
            }
            uint32_t all = (uint32_t)(v6 ? udp_len : l3 + udp_len), least = v6 ? 8 : 28;
            const char *end = end_of(frame, len);
            const char *want = said < least || said > all ? "ip_len" : said < all ? "udp_len" : "sent";
            cr_assert_str_eq(end, want, "IP length %u: %s", said, end);
        }
    }
}
