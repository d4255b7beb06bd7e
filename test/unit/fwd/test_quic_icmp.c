// SPDX-License-Identifier: Apache-2.0
/* ICMP errors about what servers have sent find the server that sent it, or their end. */
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

TestSuite(quic_icmp, .init = start, .fini = stop);

struct error {
    bool v6;
    uint8_t type, code, word;
    uint16_t sport; /* of the client; 0: 50000 */
    size_t quoted;  /* octets of the quoted UDP payload */
};

/* An error from a router about a server's datagram. @return octets of the frame */
static size_t make_error(uint8_t *frame, const struct error *error, const uint8_t *payload, size_t payload_len)
{
    bool v6 = error->v6;
    size_t l3 = v6 ? 40 : 20, icmp_len = 8 + l3 + 8 + error->quoted;
    uint8_t *ip = frame + 14, *icmp = ip + l3, *quote = icmp + 8, *udp = quote + l3;
    static const uint8_t router4[4] = {203, 0, 113, 1}, router6[16] = {0x20, 1, 0xd, 0xb8, 9, [15] = 1};
    memset(frame, 0, 14 + l3 + icmp_len);
    memcpy(frame, scene.client->mac, 6);
    memcpy(frame + 6, scene_client_mac, 6);
    scene_put16(frame + 12, v6 ? 0x86dd : 0x0800);
    icmp[0] = error->type;
    icmp[1] = error->code;
    icmp[7] = error->word;
    if (v6) {
        ip[0] = quote[0] = 0x60;
        scene_put16(ip + 4, (uint32_t)icmp_len);
        ip[6] = 58;
        ip[7] = 63;
        memcpy(ip + 8, router6, 16);
        memcpy(ip + 24, scene_vip6, 16);
        scene_put16(quote + 4, (uint32_t)(8 + payload_len));
        quote[6] = 17;
        quote[7] = 3;
        memcpy(quote + 8, scene_vip6, 16);
        memcpy(quote + 24, scene_client6, 16);
    } else {
        ip[0] = quote[0] = 0x45;
        scene_put16(ip + 2, (uint32_t)(20 + icmp_len));
        ip[8] = 63;
        ip[9] = 1;
        memcpy(ip + 12, router4, 4);
        memcpy(ip + 16, scene_vip4, 4);
        scene_put16(ip + 10, (uint16_t)~scene_csum(0, ip, 20));
        scene_put16(quote + 2, (uint32_t)(28 + payload_len));
        quote[9] = 17;
        memcpy(quote + 12, scene_vip4, 4);
        memcpy(quote + 16, scene_client4, 4);
    }
    scene_put16(udp, 443);
    scene_put16(udp + 2, error->sport != 0 ? error->sport : 50000);
    scene_put16(udp + 4, (uint32_t)(8 + payload_len));
    memcpy(udp + 8, payload, error->quoted);
    uint16_t sum = v6 ? scene_l4_sum(ip, true, 58, icmp, icmp_len) : scene_csum(0, icmp, icmp_len);
    scene_put16(icmp + 2, (uint16_t)~sum);
    return 14 + l3 + icmp_len;
}

static void receive(const uint8_t *frame, size_t len)
{
    bed_drop_sent(scene.bed);
    struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len);
    bed_receive(scene.bed, scene.client, &mbuf, 1);
}

/* A server's Handshake packet; its SCID names the server. */
static size_t from_server(uint8_t *p, unsigned server)
{
    const uint8_t dcid[5] = {1, 2, 3, 4, 5}, scid[8] = {7, (uint8_t)(0xa0 + server), 0, 0, 1, 2, 3, 4};
    return scene_long(p, 2, dcid, sizeof dcid, scid, sizeof scid, 600);
}

static const struct error kinds[] = {
    {false, 3, 4, 200, 0, 0}, {false, 3, 3, 0, 0, 0},  {false, 11, 0, 0, 0, 0}, {false, 12, 0, 0, 0, 0},
    {true, 1, 4, 0, 0, 0},    {true, 2, 0, 200, 0, 0}, {true, 3, 0, 0, 0, 0},   {true, 4, 1, 0, 0, 0},
};

Test(quic_icmp, error_follows_the_quoted_source_connection_id)
{
    uint8_t payload[600], frame[SCENE_ROOM];
    uint64_t n = 0;
    for (unsigned k = 0; k < RTE_DIM(kinds); k++)
        for (unsigned server = 0; server < 3; server++) {
            struct error error = kinds[k];
            size_t len = from_server(payload, server);
            error.quoted = 100;
            size_t frame_len = make_error(frame, &error, payload, len);
            receive(frame, frame_len);
            cr_assert_eq(scene_went_to(&scene, 0), (int)server, "kind %u", k);
            const uint8_t *out = rte_pktmbuf_mtod(scene.bed->sent[0].mbuf, const uint8_t *);
            cr_assert_eq(scene.bed->sent[0].mbuf->pkt_len, frame_len);
            // The message is as it was; in front of it is one less to live.
            size_t l3 = error.v6 ? 40 : 20;
            cr_assert_arr_eq(out + 14 + l3, frame + 14 + l3, frame_len - 14 - l3);
            cr_assert_eq(out[14 + (error.v6 ? 7 : 8)], 62);
            if (!error.v6)
                cr_assert_eq(scene_csum(0, out + 14, 20), 0xffff);
            cr_assert_eq(scene_stats(&scene).icmp_followed, ++n);
        }
    cr_assert_eq(scene_stats(&scene).packets, 0, "no datagrams");
}

/* What is cut before the connection ID ends tells too little, whatever becomes of other unroutable ones. */
Test(quic_icmp, quote_that_ends_before_the_connection_id_is_refused)
{
    uint8_t payload[600], frame[SCENE_ROOM];
    uint64_t refused = 0;
    size_t len = from_server(payload, 1);
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (unsigned unroutable = 0; unroutable < 2; unroutable++)
            // First octet, version, DCID length, 5 octets, SCID length, 8 octets: whole from 20 on.
            for (size_t quoted = 0; quoted <= 20; quoted++) {
                const struct error error = {.v6 = v6 != 0, .type = v6 ? 2 : 3, .code = v6 ? 0 : 4, .quoted = quoted};
                scene.service->drop_unroutable = unroutable != 0;
                receive(frame, make_error(frame, &error, payload, len));
                cr_assert_eq(scene_went_to(&scene, 0), quoted < 20 ? -1 : 1, "%zu octets", quoted);
                refused += quoted < 20;
                cr_assert_eq(bed_drops(scene.bed, DROP_ICMP), refused);
            }
}

/* Packets of 1-RTT have no connection ID of the server: their errors go where the client's go that do not name one. */
Test(quic_icmp, quoted_short_header_follows_the_four_tuple)
{
    uint8_t payload[600], frame[SCENE_ROOM], initial[1200];
    static const uint8_t dcid[8] = {0xff, 1, 2, 3, 4, 5, 6, 7};
    size_t len = scene_short(payload, 1, 9, sizeof payload);
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (uint16_t sport = 40000; sport < 40050; sport++) {
            bed_drop_sent(scene.bed);
            scene_receive(&scene, &(struct scene_frame){.v6 = v6 != 0, .sport = sport}, initial,
                          scene_long(initial, 0, dcid, 8, NULL, 0, sizeof initial));
            int server = scene_went_to(&scene, 0);
            cr_assert_geq(server, 0);
            for (size_t quoted = 1; quoted <= 20; quoted++) {
                const struct error error = {
                    .v6 = v6 != 0, .type = v6 ? 2 : 3, .code = v6 ? 0 : 4, .sport = sport, .quoted = quoted};
                receive(frame, make_error(frame, &error, payload, len));
                cr_assert_eq(scene_went_to(&scene, 0), server, "%zu octets", quoted);
            }
        }
    scene.service->drop_unroutable = true;
    const struct error error = {.type = 3, .code = 4, .quoted = 20};
    receive(frame, make_error(frame, &error, payload, len));
    cr_assert_eq(scene.bed->n_sent, 0);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_UNROUTABLE), 1, "the hash does not decide");
}

/* Cut everywhere, split everywhere, every octet changed: an end with a name, and never a wrong server by a damaged CID.
 */
Test(quic_icmp, damaged_errors_have_an_end)
{
    uint8_t payload[600], frame[SCENE_ROOM];
    for (unsigned k = 0; k < RTE_DIM(kinds); k++) {
        struct error error = kinds[k];
        error.quoted = 40;
        size_t len = make_error(frame, &error, payload, from_server(payload, 2));
        for (size_t cut = 0; cut < len; cut++) {
            uint8_t *copy = malloc(cut + 1);
            memcpy(copy, frame, cut);
            receive(copy, RTE_MAX(cut, (size_t)1));
            free(copy);
            cr_assert_eq(scene.bed->n_sent, 0, "cut at %zu", cut);
        }
        for (size_t at = 14; at < len; at++) {
            frame[at] ^= 0x10;
            receive(frame, len);
            frame[at] ^= 0x10;
            cr_assert(scene.bed->n_sent == 0 || at < 14 + 40, "octet %zu", at);
        }
        for (uint32_t split = 1; split < len; split++) {
            bed_drop_sent(scene.bed);
            struct rte_mbuf *mbuf = bed_split(scene.bed, bed_raw(scene.bed, frame, len), split);
            bed_receive(scene.bed, scene.client, &mbuf, 1);
            cr_assert_eq(scene_went_to(&scene, 0), 2, "split at %u", split);
        }
    }
}

Test(quic_icmp, what_is_not_ours_to_follow)
{
    uint8_t payload[600], frame[SCENE_ROOM];
    size_t len = from_server(payload, 0);
    struct error error = {.type = 8, .quoted = 40};
    receive(frame, make_error(frame, &error, payload, len));
    cr_assert_eq(bed_drops(scene.bed, DROP_IP_PROTO), 1, "an echo request is no error");
    error.type = 3;
    size_t frame_len = make_error(frame, &error, payload, len);
    frame[14 + 20 + 2] ^= 1;
    receive(frame, frame_len);
    cr_assert_eq(bed_drops(scene.bed, DROP_ICMP), 1, "its checksum is wrong");
    frame_len = make_error(frame, &error, payload, len);
    scene_put16(frame + 34 + 8 + 20, 444);
    scene_put16(frame + 34 + 2, 0);
    scene_put16(frame + 34 + 2, (uint16_t)~scene_csum(0, frame + 34, frame_len - 34));
    receive(frame, frame_len);
    cr_assert_eq(bed_drops(scene.bed, DROP_ICMP), 2, "no service there");
    frame_len = make_error(frame, &error, payload, len);
    frame[34 + 8 + 12] ^= 1;
    scene_put16(frame + 34 + 2, 0);
    scene_put16(frame + 34 + 2, (uint16_t)~scene_csum(0, frame + 34, frame_len - 34));
    receive(frame, frame_len);
    cr_assert_eq(bed_drops(scene.bed, DROP_ICMP), 3, "quotes what somebody else sent");
    frame_len = make_error(frame, &error, payload, len);
    memcpy(frame, (const uint8_t[6]){2, 0, 0, 0, 0, 99}, 6);
    receive(frame, frame_len);
    cr_assert_eq(bed_drops(scene.bed, DROP_L2_UNMATCHED), 1, "another host's MAC address");
    cr_assert_eq(scene_stats(&scene).icmp_followed, 0);
}

/* RFC 4884: extensions stand behind a quote of a stated size, and are none of it. */
Test(quic_icmp, extensions_are_not_part_of_the_quote)
{
    uint8_t payload[600], frame[SCENE_ROOM];
    size_t len = from_server(payload, 1);
    const struct error error = {.type = 11, .quoted = 40};
    for (unsigned said = 20 + 8; said <= 20 + 8 + 24; said += 4) {
        size_t frame_len = make_error(frame, &error, payload, len);
        frame[34 + 5] = (uint8_t)(said / 4);
        scene_put16(frame + 34 + 2, 0);
        scene_put16(frame + 34 + 2, (uint16_t)~scene_csum(0, frame + 34, frame_len - 34));
        receive(frame, frame_len);
        cr_assert_eq(scene_went_to(&scene, 0), said < 20 + 8 + 20 ? -1 : 1, "%u octets", said);
    }
    cr_assert_eq(bed_drops(scene.bed, DROP_ICMP), 5);
}

Test(quic_icmp, error_that_is_too_big_ends_in_silence)
{
    uint8_t payload[600], frame[SCENE_ROOM];
    scene.server[0].mtu = 100;
    const struct error error = {.type = 3, .code = 4, .quoted = 200};
    receive(frame, make_error(frame, &error, payload, from_server(payload, 0)));
    cr_assert_eq(scene.bed->n_sent, 0);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_MTU), 1);
}
