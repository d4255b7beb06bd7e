// SPDX-License-Identifier: Apache-2.0
/* What goes to the server, and what the client is told when it cannot: octet by octet, judged by code of its own. */
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

TestSuite(quic_deliver, .init = start, .fini = stop);

static const uint8_t server6[16] = {0xfd, 0, 0, 1, [15] = 0x20};

/* A client's frame, received; the one sent frame. */
struct exchange {
    uint8_t in[SCENE_ROOM];
    size_t in_len;
    const uint8_t *out;
    size_t out_len;
};

static struct exchange *exchange(const struct scene_frame *with, size_t payload_len)
{
    static struct exchange ex;
    uint8_t payload[SCENE_PAYLOAD_MAX];
    bed_drop_sent(scene.bed);
    ex.in_len = scene_frame(ex.in, &scene, with, payload, scene_short(payload, 0, 9, payload_len));
    struct rte_mbuf *mbuf = bed_raw(scene.bed, ex.in, ex.in_len);
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    ex.out = NULL;
    ex.out_len = 0;
    if (scene.bed->n_sent == 1) {
        ex.out = rte_pktmbuf_mtod(scene.bed->sent[0].mbuf, const uint8_t *);
        ex.out_len = scene.bed->sent[0].mbuf->pkt_len;
        cr_assert_eq(scene.bed->sent[0].mbuf->data_len, ex.out_len);
    }
    return &ex;
}

/* The inner packet is the client's with one less to live. */
static void expect_inner(const struct exchange *ex, const uint8_t *inner, size_t len, bool v6)
{
    uint8_t want[SCENE_ROOM];
    cr_assert_eq(len, ex->in_len - 14);
    memcpy(want, ex->in + 14, len);
    want[v6 ? 7 : 8]--;
    if (!v6) {
        scene_put16(want + 10, 0);
        scene_put16(want + 10, (uint16_t)~scene_csum(0, want, 20));
    }
    cr_assert_arr_eq(inner, want, len);
}

/* An outer IP header with everything as the specifications say. @return what follows it */
static const uint8_t *expect_outer(const struct exchange *ex, bool v6, uint8_t protocol, uint8_t traffic_class)
{
    const uint8_t *ip = ex->out + 14;
    cr_assert_eq(scene.bed->sent[0].port, scene.server_port->index);
    cr_assert_arr_eq(ex->out, ((const uint8_t[6]){2, 0, 0, 0, 10, 2}), 6);
    cr_assert_arr_eq(ex->out + 6, scene.server_port->mac, 6);
    cr_assert_eq(scene_get16(ex->out + 12), v6 ? 0x86dd : 0x0800);
    if (v6) {
        cr_assert_eq(ip[0] >> 4, 6);
        cr_assert_eq((scene_get16(ip) >> 4 & 0xff), traffic_class);
        cr_assert_eq(scene_get16(ip + 4), ex->out_len - 54);
        cr_assert_eq(ip[6], protocol);
        cr_assert_eq(ip[7], 64);
        cr_assert_arr_eq(ip + 8, scene.server_port->config.ip6, 16);
        cr_assert_arr_eq(ip + 24, server6, 16);
        return ip + 40;
    }
    cr_assert_eq(ip[0], 0x45);
    cr_assert_eq(ip[1], traffic_class);
    cr_assert_eq(scene_get16(ip + 2), ex->out_len - 14);
    cr_assert_eq(scene_get16(ip + 4), 0, "an atomic datagram needs no ID (RFC 6864)");
    cr_assert_eq(scene_get16(ip + 6), 0x4000, "DF, no fragment");
    cr_assert_eq(ip[8], 64);
    cr_assert_eq(ip[9], protocol);
    cr_assert_eq(scene_csum(0, ip, 20), 0xffff);
    cr_assert_arr_eq(ip + 12, scene.server_port->config.ip4, 4);
    cr_assert_arr_eq(ip + 16, scene.server[0].ip, 4);
    return ip + 20;
}

static void set_server(bool v6)
{
    scene.server[0].v6 = v6;
    if (v6)
        memcpy(scene.server[0].ip, server6, 16);
    else
        memcpy(scene.server[0].ip, (const uint8_t[4]){10, 0, 1, 10}, 4);
}

Test(quic_deliver, ip_in_ip_in_all_four_forms)
{
    scene.service->delivery = QUIC_DELIVER_IPIP;
    for (unsigned form = 0; form < 4; form++) {
        bool inner6 = (form & 1) != 0, outer6 = (form & 2) != 0;
        set_server(outer6);
        for (size_t len = 21; len < 1400; len += 97) {
            const struct exchange *ex = exchange(&(struct scene_frame){.v6 = inner6}, len);
            cr_assert_eq(scene.bed->n_sent, 1);
            const uint8_t *inner = expect_outer(ex, outer6, inner6 ? 41 : 4, inner6 ? 0 : 2);
            expect_inner(ex, inner, (size_t)(ex->out + ex->out_len - inner), inner6);
        }
    }
}

Test(quic_deliver, gue_in_all_four_forms)
{
    scene.service->delivery = QUIC_DELIVER_GUE;
    unsigned ports = 0;
    uint16_t last = 0;
    for (unsigned form = 0; form < 4; form++) {
        bool inner6 = (form & 1) != 0, outer6 = (form & 2) != 0;
        set_server(outer6);
        for (size_t len = 21; len < 1400; len += 96 + len % 2) {
            const struct scene_frame with = {.v6 = inner6, .sport = (uint16_t)(2000 + len)};
            const struct exchange *ex = exchange(&with, len);
            cr_assert_eq(scene.bed->n_sent, 1);
            const uint8_t *udp = expect_outer(ex, outer6, 17, inner6 ? 0 : 2);
            size_t udp_len = (size_t)(ex->out + ex->out_len - udp);
            cr_assert_geq(scene_get16(udp), 0xc000);
            ports += scene_get16(udp) != last;
            last = scene_get16(udp);
            cr_assert_eq(scene_get16(udp + 2), 6080);
            cr_assert_eq(scene_get16(udp + 4), udp_len);
            if (outer6)
                cr_assert_eq(scene_l4_sum(ex->out + 14, true, 17, udp, udp_len), 0xffff);
            else
                cr_assert_eq(scene_get16(udp + 6), 0, "none over IPv4");
            cr_assert(outer6 == (scene_get16(udp + 6) != 0));
            cr_assert_eq(udp[8] >> 4, inner6 ? 6 : 4, "variant 1");
            expect_inner(ex, udp + 8, udp_len - 8, inner6);
            uint16_t port = last;
            ex = exchange(&with, len);
            cr_assert_eq(scene_get16(ex->out + (outer6 ? 54 : 34)), port, "a flow keeps its source port");
        }
    }
    cr_assert_gt(ports, 40, "flows have different ones");
}

/* A tag in front of what would be sent without one, also where the buffer has no room for it. */
Test(quic_deliver, server_on_a_vlan)
{
    static const uint8_t deliveries[] = {QUIC_DELIVER_L2, QUIC_DELIVER_IPIP, QUIC_DELIVER_GUE};
    static uint8_t plain[SCENE_ROOM];
    const uint64_t mac = scene.server[0].mac;
    for (unsigned i = 0; i < RTE_DIM(deliveries) * 8; i++) {
        const struct scene_frame with = {.v6 = i & 1};
        scene.service->delivery = deliveries[i / 8];
        set_server((i & 2) != 0);
        scene.server[0].mac = mac;
        const struct exchange *ex = exchange(&with, 300);
        size_t plain_len = ex->out_len;
        memcpy(plain, ex->out, plain_len);
        scene.server[0].mac = quic_next_hop((const uint8_t *)&mac, 0xabc);
        bed_drop_sent(scene.bed);
        struct rte_mbuf *mbuf = rte_pktmbuf_alloc(scene.bed->pool);
        mbuf->data_off = i & 4 ? 0 : mbuf->data_off;
        memcpy(rte_pktmbuf_append(mbuf, (uint16_t)ex->in_len), ex->in, ex->in_len);
        bed_receive(scene.bed, scene.client, &mbuf, 1);
        cr_assert_eq(scene.bed->n_sent, 1);
        const uint8_t *out = rte_pktmbuf_mtod(scene.bed->sent[0].mbuf, const uint8_t *);
        cr_assert_eq(scene.bed->sent[0].mbuf->pkt_len, plain_len + 4);
        cr_assert_arr_eq(out, plain, 12);
        cr_assert_eq(scene_get16(out + 12), 0x8100);
        cr_assert_eq(scene_get16(out + 14), 0xabc);
        cr_assert_arr_eq(out + 16, plain + 12, plain_len - 12);
    }
}

Test(quic_deliver, tunnel_without_an_own_address)
{
    scene.service->delivery = QUIC_DELIVER_IPIP;
    memset(scene.server_port->config.ip4, 0, 4);
    exchange(&(struct scene_frame){0}, 100);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_NO_NEIGHBOUR), 1);
}

Test(quic_deliver, buffer_without_room_for_outer_headers)
{
    scene.service->delivery = QUIC_DELIVER_GUE;
    set_server(true);
    uint8_t payload[1200], frame[SCENE_ROOM];
    size_t len = scene_frame(frame, &scene, &(struct scene_frame){0}, payload, scene_short(payload, 0, 1, 1200));
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(scene.bed->pool);
    mbuf->data_off = 0;
    memcpy(rte_pktmbuf_append(mbuf, (uint16_t)len), frame, len);
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    cr_assert_eq(scene.bed->n_sent, 1);
    const uint8_t *out = rte_pktmbuf_mtod(scene.bed->sent[0].mbuf, const uint8_t *);
    cr_assert_eq(scene.bed->sent[0].mbuf->pkt_len, len + 48);
    cr_assert_eq(scene_l4_sum(out + 14, true, 17, out + 54, len + 48 - 54), 0xffff);
}

Test(quic_deliver, server_without_neighbour_or_port)
{
    scene.server[0].mac = 0;
    exchange(&(struct scene_frame){0}, 100);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_NO_NEIGHBOUR), 1);
    scene.server[0].mac = 1;
    scene.server[0].port = 40;
    exchange(&(struct scene_frame){0}, 100);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_NO_NEIGHBOUR), 2);
}

/* Every largest IP packet that fits, and one octet more, for each delivery. */
Test(quic_deliver, too_big_is_told_with_the_right_size)
{
    static const struct {
        uint8_t delivery;
        bool outer6;
        uint16_t overhead;
    } rows[] = {{QUIC_DELIVER_L2, false, 0},
                {QUIC_DELIVER_IPIP, false, 20},
                {QUIC_DELIVER_IPIP, true, 40},
                {QUIC_DELIVER_GUE, false, 28},
                {QUIC_DELIVER_GUE, true, 48}};
    uint64_t told = 0;
    for (unsigned i = 0; i < RTE_DIM(rows); i++)
        for (unsigned v6 = 0; v6 < 2; v6++) {
            bed_pass(scene.bed, 1000);
            scene.service->delivery = rows[i].delivery;
            scene.server[0].mtu = 1450;
            set_server(rows[i].outer6);
            size_t l3 = v6 ? 40 : 20, fits = 1450u - rows[i].overhead, payload = fits - l3 - 8;
            const struct exchange *ex = exchange(&(struct scene_frame){.v6 = v6 != 0}, payload);
            cr_assert_eq(scene.bed->n_sent, 1);
            cr_assert_eq(ex->out_len, 14 + 1450);
            ex = exchange(&(struct scene_frame){.v6 = v6 != 0}, payload + 1);
            cr_assert_eq(scene.bed->n_sent, 1);
            cr_assert_eq(++told, bed_drops(scene.bed, DROP_QUIC_MTU));
            cr_assert_eq(scene.bed->sent[0].port, scene.client->index, "back where it came from");
            cr_assert_arr_eq(ex->out, scene_client_mac, 6);
            cr_assert_arr_eq(ex->out + 6, scene.client->mac, 6);
            const uint8_t *ip = ex->out + 14, *icmp = ip + l3;
            size_t icmp_len = ex->out_len - 14 - l3;
            if (v6) {
                cr_assert_eq(ex->out_len, 14 + 1280);
                cr_assert_eq(scene_get16(ex->out + 12), 0x86dd);
                cr_assert_eq(scene_get16(ip + 4), icmp_len);
                cr_assert_eq(ip[6], 58);
                cr_assert_arr_eq(ip + 8, scene_vip6, 16);
                cr_assert_arr_eq(ip + 24, scene_client6, 16);
                cr_assert_eq(scene_l4_sum(ip, true, 58, icmp, icmp_len), 0xffff);
                cr_assert_eq(icmp[0], 2);
                cr_assert_eq(icmp[1], 0);
                cr_assert_eq(scene_get16(icmp + 4), 0);
            } else {
                cr_assert_eq(ex->out_len, 14 + 576);
                cr_assert_eq(scene_get16(ex->out + 12), 0x0800);
                cr_assert_eq(ip[0], 0x45);
                cr_assert_eq(scene_get16(ip + 2), ex->out_len - 14);
                cr_assert_eq(scene_get16(ip + 6), 0x4000);
                cr_assert_eq(ip[9], 1);
                cr_assert_eq(scene_csum(0, ip, 20), 0xffff);
                cr_assert_arr_eq(ip + 12, scene_vip4, 4);
                cr_assert_arr_eq(ip + 16, scene_client4, 4);
                cr_assert_eq(scene_csum(0, icmp, icmp_len), 0xffff);
                cr_assert_eq(icmp[0], 3);
                cr_assert_eq(icmp[1], 4);
                cr_assert_eq(scene_get16(icmp + 4), 0);
            }
            cr_assert_eq(scene_get16(icmp + 6), fits);
            cr_assert_arr_eq(icmp + 8, ex->in + 14, icmp_len - 8, "the client's packet as it came");
        }
    cr_assert_eq(scene_stats(&scene).too_big, told);
}

Test(quic_deliver, sizes_that_hosts_would_not_believe_are_not_told)
{
    scene.server[0].mtu = 60;
    const struct exchange *ex = exchange(&(struct scene_frame){0}, 100);
    cr_assert_eq(scene_get16(ex->out + 34 + 6), 68);
    ex = exchange(&(struct scene_frame){.v6 = true}, 100);
    cr_assert_eq(scene_get16(ex->out + 54 + 6), 1280);
}

Test(quic_deliver, messages_are_limited_per_source_and_in_all)
{
    scene.server[0].mtu = 100;
    for (unsigned i = 0; i < 100; i++)
        exchange(&(struct scene_frame){0}, 200);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_MTU), 100);
    cr_assert_leq(scene_stats(&scene).too_big, 11);
    cr_assert_geq(scene_stats(&scene).too_big, 10);
    uint64_t before = scene_stats(&scene).too_big;
    exchange(&(struct scene_frame){.host = 8}, 200);
    cr_assert_eq(scene_stats(&scene).too_big, before + 1, "another source is still told");
    // Many sources: what the worker sends in all is bounded.
    for (unsigned i = 0; i < 3000; i++) {
        uint8_t payload[200], frame[SCENE_ROOM];
        size_t len = scene_frame(frame, &scene, &(struct scene_frame){0}, payload, scene_short(payload, 0, 9, 200));
        scene_put16(frame + 14 + 12, 11000 + i);
        scene_put16(frame + 14 + 10, 0);
        scene_put16(frame + 14 + 10, (uint16_t)~scene_csum(0, frame + 14, 20));
        scene_put16(frame + 34 + 6, 0);
        struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len);
        bed_receive(scene.bed, scene.client, &mbuf, 1);
        bed_drop_sent(scene.bed);
    }
    cr_assert_leq(scene_stats(&scene).too_big, 1001);
    cr_assert_geq(scene_stats(&scene).too_big, 990);
}

/* Some buffers are all there are: none is left for a message, and nothing is lost or counted twice. */
Test(quic_deliver, no_buffer_for_a_message)
{
    scene.server[0].mtu = 100;
    uint8_t payload[200], frame[SCENE_ROOM];
    size_t len = scene_frame(frame, &scene, &(struct scene_frame){0}, payload, scene_short(payload, 0, 9, 200));
    struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len), *all[4096];
    unsigned n = 0;
    while (n < RTE_DIM(all) && (all[n] = rte_pktmbuf_alloc(scene.bed->pool)) != NULL)
        n++;
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    rte_pktmbuf_free_bulk(all, n);
    cr_assert_eq(bed_drops(scene.bed, DROP_TX_NO_MBUF), 1);
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_MTU), 1);
}

/* A sender on a veth leaves the checksum to a device; where that is expected it is finished here, and only there. */
Test(quic_deliver, unfinished_checksums_are_finished)
{
    for (unsigned off = 0; off < 2; off++)
        for (unsigned v6 = 0; v6 < 2; v6++) {
            uint8_t payload[333], frame[SCENE_ROOM];
            scene.client->frame_opts.skip_udp_csum = off != 0;
            bed_drop_sent(scene.bed);
            size_t len = scene_frame(frame, &scene, &(struct scene_frame){.v6 = v6 != 0}, payload,
                                     scene_short(payload, 0, 9, sizeof payload));
            uint8_t *ip = frame + 14, *udp = ip + (v6 ? 40 : 20);
            uint16_t good = scene_get16(udp + 6);
            uint8_t zeros[8] = {0};
            scene_put16(udp + 6, scene_l4_sum(ip, v6 != 0, 17, zeros, 0) + 341u);
            uint16_t pseudo = scene_csum(scene_get16(udp + 6), zeros, 0);
            cr_assert_neq(pseudo, good);
            struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len);
            bed_receive(scene.bed, scene.client, &mbuf, 1);
            cr_assert_eq(scene.bed->n_sent, off);
            if (off) {
                const uint8_t *out = rte_pktmbuf_mtod(scene.bed->sent[0].mbuf, const uint8_t *);
                cr_assert_eq(scene_get16(out + (udp + 6 - frame)), good);
            }
        }
    cr_assert_eq(bed_drops(scene.bed, DROP_UDP_CSUM), 2);
}
