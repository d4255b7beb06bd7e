// SPDX-License-Identifier: Apache-2.0
#include "test/bed/edge_bed.h"

#include <stdlib.h>
#include <string.h>

#include <rte_ip.h>

#include "parser/cursor.h"

size_t edge_put_long(uint8_t *p, uint8_t first, uint32_t version, uint8_t dcid_len, uint8_t scid_len)
{
    p[0] = first;
    version = htobe32(version);
    memcpy(p + 1, &version, 4);
    p[5] = dcid_len;
    for (unsigned i = 0; i < dcid_len; i++)
        p[6 + i] = (uint8_t)(0xd0 + i);
    p[6 + dcid_len] = scid_len;
    for (unsigned i = 0; i < scid_len; i++)
        p[7 + dcid_len + i] = (uint8_t)(0x50 + i);
    return 7u + dcid_len + scid_len;
}

static size_t put_varint(uint8_t *p, size_t n)
{
    uint32_t long_be = htobe32((uint32_t)n | 0x80000000);
    uint16_t short_be = htobe16((uint16_t)(n | 0x4000));
    if (n < 0x4000)
        memcpy(p, &short_be, 2);
    else
        memcpy(p, &long_be, 4);
    return n < 0x4000 ? 2 : 4;
}

size_t edge_put_initial(uint8_t *p, const struct edge_initial *initial)
{
    size_t len = initial->len != 0 ? initial->len : 1200;
    memset(p, 0, len);
    size_t at = edge_put_long(p, initial->version == QUIC_VERSION_2 ? 0xd0 : 0xc0, initial->version, initial->dcid_len,
                              initial->scid_len);
    if (initial->dcid != NULL)
        memcpy(p + 6, initial->dcid, initial->dcid_len);
    at += put_varint(p + at, initial->token_len);
    if (initial->token_len > 0)
        memcpy(p + at, initial->token, initial->token_len);
    at += initial->token_len;
    size_t rest = len - at - (len - at < 0x4002 ? 2 : 4);
    put_varint(p + at, rest);
    return len;
}

struct edge_bed *edge_bed_create(void)
{
    static const uint8_t seed[32] = "a seed that does not change here";
    struct edge_bed *edge = aligned_alloc(64, (sizeof *edge + 63) & ~(size_t)63);
    size_t size = (sizeof *edge->quic + 63) & ~(size_t)63;
    struct quic_worker *quic = aligned_alloc(64, size);
    struct bed_config config = {.n_mbufs = 1023, .pages = ARENA_PAGES_SMALL};
    struct quic_edge_config edge_config = {.worker = 3, .sources = 1024, .seed = seed, .pages = ARENA_PAGES_SMALL};
    if (edge == NULL || quic == NULL)
        abort();
    memset(edge, 0, sizeof *edge);
    memset(quic, 0, size);
    edge->bed = bed_create(&config);
    edge->port = bed_port(edge->bed);
    edge->quic = quic;
    if (quic_edge_create(&quic->edge, &edge_config) != 0)
        abort();
    edge->host[3] = 2;
    edge->client_port = 50000;
    edge->service.slot = 5;
    return edge;
}

void edge_bed_destroy(struct edge_bed *edge)
{
    bed_destroy(edge->bed);
    maglev_destroy(edge->service.maglev);
    free(edge->service.lb);
    free(edge->service.id_slot);
    free(edge->service.maglev_server);
    quic_edge_destroy(edge->quic->edge);
    free(edge->quic);
    free(edge);
}

static void add_config(struct quic_lb *lb, uint8_t id, uint8_t server_id_len, uint8_t nonce_len, bool encrypted)
{
    struct quic_lb_config config = {
        .server_id_len = server_id_len, .nonce_len = nonce_len, .encrypted = encrypted, .key = "sixteen octets."};
    if (quic_lb_add_config(lb, id, &config) != 0)
        abort();
}

void edge_bed_servers(struct edge_bed *edge)
{
    static const uint8_t id_len[EDGE_CONFIGS] = {3, 4, 8};
    struct quic_service *service = &edge->service;
    struct maglev_backend backends[EDGE_SERVERS];
    size_t size = (sizeof *service->lb + 63) & ~(size_t)63;
    service->lb = aligned_alloc(64, size);
    service->id_slot = calloc(64, sizeof *service->id_slot);
    service->maglev_server = calloc(EDGE_SERVERS, sizeof *service->maglev_server);
    if (service->lb == NULL || service->id_slot == NULL || service->maglev_server == NULL)
        abort();
    memset(service->lb, 0, size);
    add_config(service->lb, EDGE_PLAIN, 3, 4, false);
    add_config(service->lb, EDGE_FOUR_PASS, 4, 5, true);
    add_config(service->lb, EDGE_SINGLE_PASS, 8, 8, true);
    service->server = edge->server;
    service->n_servers = EDGE_SERVERS;
    service->id_mask = 63;
    for (uint16_t i = 0; i < EDGE_SERVERS; i++) {
        struct quic_server *server = &edge->server[i];
        server->slot = i;
        server->n_ids = EDGE_CONFIGS;
        backends[i] = (struct maglev_backend){.id = 100u + i, .weight = 1};
        service->maglev_server[i] = (uint16_t)(EDGE_SERVERS - 1 - i);
        for (unsigned c = 0; c < EDGE_CONFIGS; c++) {
            server->id[c].len = id_len[c];
            memset(server->id[c].octets, (int)(0x10 * c + i + 1), id_len[c]);
            if (!quic_service_add_id(service, &server->id[c], i))
                abort();
        }
    }
    if (maglev_create(&service->maglev, 251, backends, EDGE_SERVERS, ARENA_PAGES_SMALL) != 0)
        abort();
    service->hash_key = (struct flow_hash_key){11, 12};
    service->retry_mode = QUIC_RETRY_ON;
    service->retry_lifetime_s = EDGE_LIFETIME_S;
    service->retry_config = EDGE_FOUR_PASS;
    service->n_retry_keys = 2;
    service->retry_key[0] = (struct quic_retry_key){.sequence = 77, .key = "the key of 77 ..", .iv = "its iv is.."};
    service->retry_key[1] = (struct quic_retry_key){.sequence = 3, .key = "the key of 3 ...", .iv = "another iv."};
    edge->bed->shared.posix_ns = EDGE_POSIX_S * UINT64_C(1000000000) - edge->bed->now_ns;
}

size_t edge_frame(const struct edge_bed *edge, uint8_t *frame, const uint8_t *payload, size_t len)
{
    uint8_t *p = frame;
    memcpy(p, edge->group ? (const uint8_t[6]){0x01, 0x00, 0x5e, 0, 0, 1} : edge->port->mac, 6);
    memcpy(p + 6, (uint8_t[6]){2, 0, 0, 0, 9, 9}, 6);
    p += 12;
    if (edge->vlan) {
        memcpy(p, "\x81\x00\x00\x07", 4);
        p += 4;
    }
    memcpy(p, edge->v6 ? "\x86\xdd" : "\x08\x00", 2);
    p += 2;
    struct rte_udp_hdr *udp;
    if (edge->v6) {
        struct rte_ipv6_hdr *ip = (struct rte_ipv6_hdr *)p;
        *ip = (struct rte_ipv6_hdr){.vtc_flow = htobe32(0x6ab12345),
                                    .payload_len = htobe16((uint16_t)(len + 8)),
                                    .proto = 17,
                                    .hop_limits = 55,
                                    .src_addr = {0xfd, [7] = 0},
                                    .dst_addr = {0xfd, [15] = 1}};
        memcpy(ip->src_addr + 4, edge->host, 4); // the /64 depends on the client
        ip->src_addr[15] = 2;
        udp = (struct rte_udp_hdr *)(ip + 1);
    } else {
        struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)p;
        *ip = (struct rte_ipv4_hdr){.version_ihl = 0x45,
                                    .type_of_service = 3,
                                    .total_length = htobe16((uint16_t)(len + 28)),
                                    .packet_id = htobe16(7),
                                    .time_to_live = 55,
                                    .next_proto_id = 17};
        memcpy(&ip->src_addr, edge->host, 4);
        *(uint8_t *)&ip->src_addr = 10;
        memcpy(&ip->dst_addr, (uint8_t[4]){10, 0, 0, 1}, 4);
        ip->hdr_checksum = rte_ipv4_cksum(ip);
        udp = (struct rte_udp_hdr *)(ip + 1);
    }
    udp->src_port = htobe16(edge->client_port);
    udp->dst_port = htobe16(443);
    udp->dgram_len = htobe16((uint16_t)(len + 8));
    udp->dgram_cksum = 1; // not looked at here, but over IPv6 there must be one
    memcpy(udp + 1, payload, len);
    return (size_t)((uint8_t *)(udp + 1) + len - frame);
}

enum edge_end edge_datagram(struct edge_bed *edge, const uint8_t *payload, size_t len, bool from_client)
{
    static uint8_t frame_octets[65536 + 128]; // headers and the longest datagram
    struct fwd *fwd = edge->bed->fwd[0];
    size_t frame_len = edge_frame(edge, frame_octets, payload, len);
    struct rte_mbuf *mbuf = bed_raw(edge->bed, frame_octets, frame_len);
    struct frame frame;
    struct frame_opts frame_opts = {.skip_udp_csum = true};
    struct quic_opts opts = {.from_client = from_client, .short_dcid_len = 20};
    if (frame_parse(frame_octets, frame_len, &frame_opts, &frame) != VERDICT_OK)
        abort();
    if (edge->split != 0 && edge->split < frame_len)
        mbuf = bed_split(edge->bed, mbuf, edge->split);
    edge->pkt = (struct quic_pkt){
        .mbuf = mbuf,
        .port = edge->port,
        .service = &edge->service,
        .v6 = edge->v6,
        .l3_off = (uint16_t)(edge->vlan ? 18 : 14),
        .l3_len = (uint16_t)(frame_len - (edge->vlan ? 18 : 14)),
        .payload_off = frame.payload_off,
        .payload_len = frame.payload_len,
    };
    // In one segment the header is where it will be overwritten; else in a copy.
    const uint8_t *p = mbuf->next == NULL ? rte_pktmbuf_mtod(mbuf, uint8_t *) : frame_octets;
    if (quic_parse(p + frame.payload_off, len, &opts, &edge->pkt.header) != VERDICT_OK)
        abort();
    fwd->quic = edge->quic;
    fwd->now_ns = edge->bed->now_ns;
    fwd->stats.rx_frames++;
    uint64_t answered = fwd->stats.drops[DROP_QUIC_ANSWERED], originated = fwd->stats.originated;
    bool gone = quic_edge(fwd, &edge->pkt);
    fwd->quic = NULL;
    fwd_flush(fwd);
    if (!gone) {
        fwd->stats.rx_frames--;
        rte_pktmbuf_free(edge->pkt.mbuf);
        edge->pkt.mbuf = NULL;
        return fwd->stats.originated > originated ? EDGE_BOTH : EDGE_PASSED;
    }
    return fwd->stats.drops[DROP_QUIC_ANSWERED] > answered ? EDGE_ANSWERED : EDGE_DROPPED;
}

struct edge_sent edge_parse_sent(const struct edge_bed *edge, unsigned i)
{
    struct edge_sent sent;
    static const struct frame_opts strict;
    const struct bed_sent *s = &edge->bed->sent[i];
    const uint8_t *p = rte_pktmbuf_mtod(s->mbuf, const uint8_t *);
    if (i >= edge->bed->n_sent || s->port != edge->port->index || s->mbuf->next != NULL || s->mbuf->nb_segs != 1 ||
        s->mbuf->pkt_len != s->mbuf->data_len || s->mbuf->pkt_len < 60)
        abort();
    if (frame_parse(p, s->mbuf->pkt_len, &strict, &sent.frame) != VERDICT_OK)
        abort();
    const struct frame *f = &sent.frame;
    if (memcmp(f->src_mac, edge->port->mac, 6) != 0 || memcmp(f->dst_mac, (uint8_t[6]){2, 0, 0, 0, 9, 9}, 6) != 0 ||
        f->sport != 443 || f->dport != edge->client_port || f->kind != (edge->v6 ? FRAME_UDP6 : FRAME_UDP4) ||
        f->vlan != (edge->vlan ? 7 : 0))
        abort();
    const uint8_t *ip = p + (edge->vlan ? 18 : 14);
    if (edge->v6) {
        if (f->src_ip[15] != 1 || memcmp(f->dst_ip + 4, edge->host, 4) != 0 || f->dst_ip[15] != 2 || ip[7] != 64 ||
            memcmp(ip, "\x60\0\0\0", 4) != 0)
            abort();
    } else {
        if (memcmp(f->src_ip, (uint8_t[4]){10, 0, 0, 1}, 4) != 0 || memcmp(f->dst_ip + 1, edge->host + 1, 3) != 0 ||
            ip[8] != 64 || ip[1] != 0 || load_be16(ip + 6) != 0x4000)
            abort();
    }
    sent.ip_id = edge->v6 ? 0 : load_be16(ip + 4);
    sent.payload = p + f->payload_off;
    sent.len = f->payload_len;
    return sent;
}
