// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_QUIC_SCENE_H
#define TEST_UNIT_FWD_QUIC_SCENE_H

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/quic/quic.h"
#include "test/bed/bed.h"

/*
 * A forwarder with one QUIC service at 192.0.2.80 and 2001:db8::80, port 443: clients behind port 0, servers s0, s1..
 * behind port 1 with server IDs 0xa0, 0xa1.. under plaintext configuration 0 (3 octets of server ID, 4 of nonce).
 * Frames are made, and what comes out is judged, by code of its own.
 */

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "scene: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                               \
        }                                                                          \
    } while (0)

#define SCENE_SERVERS_MAX 8
#define SCENE_PAYLOAD_MAX 9000
#define SCENE_ROOM        (14 + 8 + 40 + 8 + SCENE_PAYLOAD_MAX)

struct scene {
    struct bed *bed;
    struct port *client, *server_port;
    struct quic_set *set;
    struct quic_service *service;
    struct quic_server server[SCENE_SERVERS_MAX];
    struct quic_lb lb;
    uint16_t id_slot[64];
    uint16_t maglev_server[SCENE_SERVERS_MAX];
};

static const uint8_t scene_vip4[4] = {192, 0, 2, 80};
static const uint8_t scene_vip6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x80};
static const uint8_t scene_client4[4] = {198, 51, 100, 7};
static const uint8_t scene_client6[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 1, [15] = 7};
static const uint8_t scene_client_mac[6] = {2, 0, 0, 0, 9, 1};

/* Servers that take new connections into the table, as a reload does. */
static inline void scene_maglev(struct scene *scene)
{
    struct maglev_backend backend[SCENE_SERVERS_MAX];
    unsigned n = 0;
    for (uint16_t i = 0; i < scene->service->n_servers; i++) {
        const struct quic_server *server = &scene->server[i];
        if (server->state != QUIC_UP || server->unhealthy || server->weight == 0)
            continue;
        backend[n] = (struct maglev_backend){.id = 1000u + i, .weight = server->weight};
        scene->maglev_server[n++] = i;
    }
    maglev_destroy(scene->service->maglev);
    scene->service->maglev = NULL;
    if (n > 0)
        CHECK(maglev_create(&scene->service->maglev, 251, backend, n, ARENA_PAGES_SMALL) == 0);
}

static inline void scene_start(struct scene *scene, const struct bed_config *config, unsigned n_servers)
{
    struct bed_config with = *config;
    with.quic = true;
    memset(scene, 0, sizeof *scene);
    quic_lb_decode_init();
    scene->bed = bed_create(&with);
    scene->client = bed_port(scene->bed);
    scene->server_port = bed_port(scene->bed);
    const struct quic_lb_config plain = {.server_id_len = 3, .nonce_len = 4};
    CHECK(quic_lb_add_config(&scene->lb, 0, &plain) == 0);
    scene->set = calloc(1, sizeof *scene->set);
    scene->service = calloc(1, sizeof *scene->service);
    CHECK(scene->set != NULL && scene->service != NULL);
    *scene->service = (struct quic_service){.name = "web",
                                            .n_servers = (uint16_t)n_servers,
                                            .lb = &scene->lb,
                                            .maglev_server = scene->maglev_server,
                                            .server = scene->server,
                                            .id_slot = scene->id_slot,
                                            .id_mask = RTE_DIM(scene->id_slot) - 1,
                                            .hash_key = {1, 2},
                                            .gue_port = 6080,
                                            .flow_table = with.quic_flow[0].capacity > 0,
                                            .drop_small_initials = true};
    for (unsigned i = 0; i < n_servers; i++) {
        struct quic_server *server = &scene->server[i];
        *server =
            (struct quic_server){.slot = (uint16_t)i, .ip = {10, 0, 1, (uint8_t)(10 + i)}, .weight = 1, .n_ids = 1};
        server->id[0] = (struct quic_lb_id){.octets = {(uint8_t)(0xa0 + i)}, .len = 3};
        server->port = scene->server_port->index;
        server->mtu = 1500;
        uint8_t mac[8] = {2, 0, 0, 0, (uint8_t)(10 + i), 2};
        uint64_t word;
        memcpy(&word, mac, sizeof word);
        server->mac = word;
        CHECK(quic_service_add_id(scene->service, &server->id[0], (uint16_t)i));
    }
    scene_maglev(scene);
    scene->set->n_services = 1;
    scene->set->service = scene->service;
    struct quic_vip vip4 = {.port_be = htobe16(443)}, vip6 = {.v6 = true, .port_be = htobe16(443)};
    memcpy(vip4.ip, scene_vip4, 4);
    memcpy(vip6.ip, scene_vip6, 16);
    quic_set_add_vip(scene->set, &vip4);
    quic_set_add_vip(scene->set, &vip6);
    atomic_store(&scene->bed->shared.quic, scene->set);
}

static inline void scene_stop(struct scene *scene)
{
    CHECK(bed_check(scene->bed) == 0);
    bed_drop_sent(scene->bed);
    bed_destroy(scene->bed);
    maglev_destroy(scene->service->maglev);
    free(scene->service);
    free(scene->set);
}

/* Internet checksum, octet by octet: not the code under test. */
static inline uint16_t scene_csum(uint32_t sum, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
    while (sum > 0xffff)
        sum = (sum >> 16) + (sum & 0xffff);
    return (uint16_t)sum;
}

static inline void scene_put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 8);
    p[1] = (uint8_t)v;
}

static inline uint16_t scene_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

/** Sum over UDP or ICMPv6 and its pseudo-header: all ones when the checksum is good. */
static inline uint16_t scene_l4_sum(const uint8_t *ip, bool v6, uint8_t protocol, const uint8_t *l4, size_t len)
{
    uint8_t pseudo[40] = {0};
    size_t n = v6 ? 32 : 8;
    memcpy(pseudo, ip + (v6 ? 8 : 12), n);
    scene_put16(pseudo + n, (uint32_t)len);
    pseudo[n + 3] = protocol;
    return scene_csum(scene_csum(0, pseudo, n + 4), l4, len);
}

/** A datagram from a client. */
struct scene_frame {
    bool v6;
    uint16_t sport; /**< 0: 50000 */
    uint8_t ttl;    /**< 0: 64 */
    uint8_t host;   /**< last octet of the client's address; 0: 7 */
};

/** A frame with these octets as UDP payload. @return octets of the frame */
static inline size_t scene_frame(uint8_t *frame, const struct scene *scene, const struct scene_frame *with,
                                 const void *payload, size_t len)
{
    size_t l3 = with->v6 ? 40 : 20, udp_len = 8 + len;
    uint8_t *ip = frame + 14, *udp = ip + l3;
    memcpy(frame, scene->client->mac, 6);
    memcpy(frame + 6, scene_client_mac, 6);
    scene_put16(frame + 12, with->v6 ? 0x86dd : 0x0800);
    memset(ip, 0, l3);
    if (with->v6) {
        ip[0] = 0x60;
        scene_put16(ip + 4, (uint32_t)udp_len);
        ip[6] = 17;
        ip[7] = with->ttl != 0 ? with->ttl : 64;
        memcpy(ip + 8, scene_client6, 16);
        memcpy(ip + 24, scene_vip6, 16);
        ip[23] = with->host != 0 ? with->host : ip[23];
    } else {
        ip[0] = 0x45;
        ip[1] = 0x02;
        scene_put16(ip + 2, (uint32_t)(20 + udp_len));
        scene_put16(ip + 6, 0x4000);
        ip[8] = with->ttl != 0 ? with->ttl : 64;
        ip[9] = 17;
        memcpy(ip + 12, scene_client4, 4);
        memcpy(ip + 16, scene_vip4, 4);
        ip[15] = with->host != 0 ? with->host : ip[15];
        scene_put16(ip + 10, (uint16_t)~scene_csum(0, ip, 20));
    }
    scene_put16(udp, with->sport != 0 ? with->sport : 50000);
    scene_put16(udp + 2, 443);
    scene_put16(udp + 4, (uint32_t)udp_len);
    scene_put16(udp + 6, 0);
    memcpy(udp + 8, payload, len);
    scene_put16(udp + 6, (uint16_t)~scene_l4_sum(ip, with->v6, 17, udp, udp_len));
    return 14 + l3 + udp_len;
}

/** One datagram received at a worker. */
static inline void scene_receive_at(struct scene *scene, uint16_t worker, const struct scene_frame *with,
                                    const void *payload, size_t len)
{
    uint8_t frame[SCENE_ROOM];
    struct rte_mbuf *mbuf = bed_raw(scene->bed, frame, scene_frame(frame, scene, with, payload, len));
    bed_receive_at(scene->bed, worker, scene->client, &mbuf, 1);
}

static inline void scene_receive(struct scene *scene, const struct scene_frame *with, const void *payload, size_t len)
{
    scene_receive_at(scene, 0, with, payload, len);
}

/** A short header whose connection ID names server @p server under configuration 0. @return octets */
static inline size_t scene_short(uint8_t *p, unsigned server, uint8_t nonce, size_t len)
{
    const uint8_t head[9] = {0x40, 0x07, (uint8_t)(0xa0 + server), 0, 0, nonce, 1, 2, 3};
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)(i * 7 + nonce);
    memcpy(p, head, sizeof head);
    return len;
}

/** A long header of version 1. @return octets, the rest of @p len being filled */
static inline size_t scene_long(uint8_t *p, uint8_t type, const void *dcid, uint8_t dcid_len, const void *scid,
                                uint8_t scid_len, size_t len)
{
    uint8_t *at = p;
    *at++ = (uint8_t)(0xc3 | type << 4);
    memcpy(at, "\0\0\0\1", 4);
    at += 4;
    *at++ = dcid_len;
    if (dcid_len > 0)
        memcpy(at, dcid, dcid_len);
    at += dcid_len;
    *at++ = scid_len;
    if (scid_len > 0)
        memcpy(at, scid, scid_len);
    at += scid_len;
    if (type == 0)
        *at++ = 0;
    scene_put16(at, 0x4000 | (uint32_t)(len - (size_t)(at + 2 - p)));
    at += 2;
    memset(at, 0x5a, len - (size_t)(at - p));
    return len;
}

/** Index of the server that sent frame @p i went to, by its MAC address; -1 when it went elsewhere. */
static inline int scene_went_to(const struct scene *scene, unsigned i)
{
    const struct bed_sent *sent = &scene->bed->sent[i];
    if (i >= scene->bed->n_sent || sent->port != scene->server_port->index)
        return -1;
    const uint8_t *p = rte_pktmbuf_mtod(sent->mbuf, const uint8_t *);
    return p[5] == 2 && p[4] >= 10 ? p[4] - 10 : -1;
}

static inline struct quic_stats_service scene_stats(const struct scene *scene)
{
    struct quic_stats_service sum = {0};
    for (uint16_t w = 0; w < scene->bed->shared.n_workers; w++) {
        const struct quic_stats_service *stats = &scene->bed->fwd[w]->quic->stats.service[0];
#define STAT(field, name, text) sum.field += stats->field;
        STATS_QUIC(STAT)
#undef STAT
    }
    return sum;
}

#endif
