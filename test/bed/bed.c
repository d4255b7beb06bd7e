// SPDX-License-Identifier: Apache-2.0
#include "test/bed/bed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_errno.h>

#include "fwd/chain.h"
#include "parser/frame.h"
#include "parser/ndn_encode.h"
#include "ports/face_tx.h"
#include "ports/match.h"
#include "ports/mbuf_pool.h"

#define BED_CHECK(condition)                                                     \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "bed: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                             \
        }                                                                        \
    } while (0)

static struct bed *bed_of(struct fwd *fwd)
{
    return fwd->send_ctx;
}

static uint16_t bed_send(struct fwd *fwd, uint16_t port, struct rte_mbuf **mbufs, uint16_t n)
{
    struct bed *bed = bed_of(fwd);
    if (bed->refuse_send) {
        rte_pktmbuf_free_bulk(mbufs, n);
        return 0;
    }
    if (bed->free_sent) {
        rte_pktmbuf_free_bulk(mbufs, n);
        return n;
    }
    BED_CHECK(bed->n_sent + n <= BED_SENT_MAX);
    for (uint16_t i = 0; i < n; i++)
        bed->sent[bed->n_sent++] = (struct bed_sent){.port = port, .worker = fwd->worker, .mbuf = mbufs[i]};
    return n;
}

static void bed_eal(uint32_t n_mbufs, uint32_t mbuf_size)
{
    static bool started;
    if (started)
        return;
    started = true;
    char args[][16] = {"bed",   "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-l", "0", "--log-level",
                       "error", "-m",        ""};
    char *argv[RTE_DIM(args) + 1] = {0};
    for (unsigned i = 0; i < RTE_DIM(args); i++)
        argv[i] = args[i];
    unsigned megabytes = 64 + (unsigned)((uint64_t)n_mbufs * (mbuf_size + 256) >> 20);
    snprintf(args[RTE_DIM(args) - 1], sizeof args[0], "%u", megabytes);
    BED_CHECK(rte_eal_init(RTE_DIM(args), argv) >= 0);
}

struct bed *bed_create(const struct bed_config *config)
{
    uint32_t n_mbufs = config->n_mbufs != 0 ? config->n_mbufs : 4095;
    uint32_t mbuf_size = config->mbuf_size != 0 ? config->mbuf_size : RTE_MBUF_DEFAULT_BUF_SIZE;
    uint16_t n_workers = config->n_workers != 0 ? config->n_workers : 1;
    bed_eal(n_mbufs, mbuf_size);
    struct bed *bed = aligned_alloc(64, (sizeof *bed + 63) & ~(size_t)63);
    BED_CHECK(bed != NULL && n_workers <= BED_WORKERS_MAX);
    memset(bed, 0, sizeof *bed);
    static unsigned n_beds;
    char name[16];
    snprintf(name, sizeof name, "bed%u", n_beds++);
    bed->pool = mbuf_pool_create(name, n_mbufs, (uint16_t)mbuf_size, false);
    BED_CHECK(bed->pool != NULL);
    bed->free_sent = config->free_sent;
    bed->now_ns = 1000000000;
    uint16_t number;
    char why[128];
    BED_CHECK(strategy_set_create(&bed->strategies) == 0);
    BED_CHECK(strategy_set_instance_uri(bed->strategies, "multicast", &number, why) == 0 && number == 1);

    struct fwd_shared *shared = &bed->shared;
    ndn_name_hash_init();
    for (unsigned i = 0; i < sizeof shared->name_key.octets; i++)
        shared->name_key.octets[i] = (uint8_t)(i * 37 + 11);
    shared->token_key[0] = 0x0123456789abcdef;
    shared->token_key[1] = 0xfedcba9876543211;
    shared->strategies = strategy_set_list(bed->strategies);
    shared->n_workers = n_workers;
    shared->lenient = config->lenient;
    shared->max_lifetime_ms = config->max_lifetime_ms != 0 ? config->max_lifetime_ms : NDN_LIFETIME_MAX_MS;
    shared->face_share = config->face_share != 0 ? config->face_share : UINT32_MAX;
    struct fib_config fib = {.capacity = config->fib_capacity != 0 ? config->fib_capacity : 1024,
                             .pages = config->pages,
                             .key = &shared->name_key};
    BED_CHECK(fib_create(&shared->fib, &fib) == 0);
    BED_CHECK(face_table_create(&shared->faces, NULL) == 0);
    if (n_workers > 1)
        BED_CHECK(dispatch_create(&shared->dispatch, n_workers, 2) == 0);

    for (uint16_t w = 0; w < n_workers; w++) {
        struct fwd_config fwd = {
            .shared = shared,
            .worker = w,
            .pit = {.capacity = config->pit_capacity != 0 ? config->pit_capacity : 1024,
                    .ext_blocks = config->pit_blocks,
                    .pages = config->pages},
            .cs = {.capacity = config->cs_capacity,
                   .capacity_max = config->cs_capacity,
                   .policy = config->cs_policy,
                   .pages = config->pages},
            .reass = {.max_messages = config->max_messages != 0 ? config->max_messages : 64,
                      .max_per_face = config->max_per_face != 0 ? config->max_per_face : 16,
                      .max_bytes = config->reass_bytes != 0 ? config->reass_bytes : 1 << 20,
                      .max_fragments = (uint16_t)(config->max_fragments != 0 ? config->max_fragments : 32),
                      .timeout_ms = 500,
                      .pages = config->pages},
            .dnl_capacity = config->dnl_capacity != 0 ? config->dnl_capacity : 4096,
            .reliable_faces = config->reliable_faces,
            .reliable_packets = config->reliable_packets != 0 ? config->reliable_packets : 512,
            .measurements = config->measurements,
            .pages = config->pages,
            .pool = bed->pool,
            .send = bed_send,
            .quic = config->quic,
            .send_ctx = bed,
            .seed = 42u + w,
            .now_ns = bed->now_ns,
        };
        memcpy(fwd.quic_flow, config->quic_flow, sizeof fwd.quic_flow);
        BED_CHECK(fwd_create(&bed->fwd[w], &fwd) == 0);
    }
    for (unsigned p = 0; p < PORT_MAX; p++)
        bed->port[p].tx_multi_seg = config->tx_multi_seg;
    return bed;
}

void bed_destroy(struct bed *bed)
{
    bed_drop_sent(bed);
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        fwd_destroy(bed->fwd[w]);
    for (uint16_t p = 0; p < bed->n_ports; p++)
        port_match_destroy(&bed->port[p]);
    dispatch_destroy(bed->shared.dispatch);
    face_table_destroy(bed->shared.faces);
    fib_destroy(bed->shared.fib);
    strategy_set_destroy(bed->strategies);
    BED_CHECK(bed_mbufs(bed) == 0);
    rte_mempool_free(bed->pool);
    free(bed);
}

struct port *bed_port(struct bed *bed)
{
    uint8_t index = (uint8_t)bed->n_ports++;
    struct port *port = &bed->port[index];
    port->index = index;
    port->mtu = 1500;
    port->n_queues = 1;
    port->burst_max = 64;
    memcpy(port->mac, (uint8_t[6]){2, 0, 0, 0, 0, (uint8_t)(index + 1)}, 6);
    memcpy(port->config.ip4, (uint8_t[4]){10, 0, index, 1}, 4);
    port->config.ip4_prefix_len = 24;
    memcpy(port->config.ip6, (uint8_t[16]){0xfd, 0, [3] = index, [15] = 1}, 16);
    port->link_up = true;
    BED_CHECK(port_match_init(port, NULL) == 0);
    bed->shared.port[index] = port;
    return port;
}

struct port *bed_bare_port(struct bed *bed)
{
    struct port *port = bed_port(bed);
    port->bare = true;
    return port;
}

uint32_t bed_face(struct bed *bed, const struct face_config *config)
{
    uint32_t id;
    struct port *port = &bed->port[config->port];
    BED_CHECK(face_add(bed->shared.faces, config, port->mtu, &id) == 0);
    BED_CHECK(port_face_add(port, face_get(bed->shared.faces, id)) == 0);
    BED_CHECK(bed->n_faces < BED_FACES_MAX);
    bed->face[bed->n_faces++] = id;
    return id;
}

void bed_face_remove(struct bed *bed, uint32_t id)
{
    const struct face *face = face_get(bed->shared.faces, id);
    BED_CHECK(face != NULL && port_face_remove(&bed->port[face->port], face) == 0);
    fib_face_remove(bed->shared.fib, id);
    BED_CHECK(face_remove(bed->shared.faces, id) == 0);
    unsigned i = 0;
    while (bed->face[i] != id)
        i++;
    bed->face[i] = bed->face[--bed->n_faces];
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        fwd_face_removed(bed->fwd[w], id);
}

static struct face_config bed_peer(const struct port *port, uint8_t kind, uint8_t host)
{
    struct face_config config = {.port = port->index, .kind = kind, .mac_static = true};
    memcpy(config.local_mac, port->mac, 6);
    memcpy(config.remote_mac, (uint8_t[6]){2, 0, 0, 0, host, (uint8_t)(port->index + 1)}, 6);
    return config;
}

uint32_t bed_ether(struct bed *bed, struct port *port, uint8_t host)
{
    struct face_config config = bed_peer(port, FACE_ETHER, host);
    return bed_face(bed, &config);
}

uint32_t bed_ether_multicast(struct bed *bed, struct port *port)
{
    struct face_config config = bed_peer(port, FACE_ETHER, 0);
    config.link_type = FACE_LINK_MULTI_ACCESS;
    memcpy(config.remote_mac, (uint8_t[6]){0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa}, 6);
    return bed_face(bed, &config);
}

uint32_t bed_udp4(struct bed *bed, struct port *port, uint8_t host)
{
    struct face_config config = bed_peer(port, FACE_UDP4, host);
    memcpy(config.local_ip, (uint8_t[4]){10, 0, (uint8_t)port->index, 1}, 4);
    memcpy(config.remote_ip, (uint8_t[4]){10, 0, (uint8_t)port->index, host}, 4);
    config.local_udp = config.remote_udp = 6363;
    return bed_face(bed, &config);
}

uint32_t bed_udp6(struct bed *bed, struct port *port, uint8_t host)
{
    struct face_config config = bed_peer(port, FACE_UDP6, host);
    memcpy(config.local_ip, (uint8_t[16]){0xfd, 0, [3] = (uint8_t)port->index, [15] = 1}, 16);
    memcpy(config.remote_ip, (uint8_t[16]){0xfd, 0, [3] = (uint8_t)port->index, [15] = host}, 16);
    config.local_udp = config.remote_udp = 6363;
    return bed_face(bed, &config);
}

uint32_t bed_bare(struct bed *bed, struct port *port)
{
    struct face_config config = {.port = port->index, .kind = FACE_BARE};
    return bed_face(bed, &config);
}

void bed_internal(struct bed *bed)
{
    struct port *port = bed_bare_port(bed);
    struct face_config config = {.port = port->index,
                                 .kind = FACE_THREAD,
                                 .scope = FACE_SCOPE_LOCAL,
                                 .flags = FACE_LOCAL_FIELDS,
                                 .local_uri = "internal://",
                                 .remote_uri = "internal://"};
    BED_CHECK(face_add_reserved(bed->shared.faces, &config, FACE_ID_INTERNAL) == 0);
    // To its port it is the one face that has no link header.
    struct face bare = *face_get(bed->shared.faces, FACE_ID_INTERNAL);
    bare.kind = FACE_BARE;
    BED_CHECK(port_face_add(port, &bare) == 0 && bed->n_faces < BED_FACES_MAX);
    bed->face[bed->n_faces++] = FACE_ID_INTERNAL;
}

void bed_route(struct bed *bed, const char *prefix, uint32_t face, uint32_t cost)
{
    uint8_t name[NDN_NAME_MAX];
    int len = ndn_name_from_uri(prefix, name, sizeof name);
    BED_CHECK(len >= 0 && fib_nexthop_set(bed->shared.fib, name, (uint16_t)len, face, cost) == 0);
}

void bed_strategy(struct bed *bed, const char *prefix, uint16_t strategy)
{
    uint8_t name[NDN_NAME_MAX];
    int len = ndn_name_from_uri(prefix, name, sizeof name);
    BED_CHECK(len >= 0 && fib_strategy_set(bed->shared.fib, name, (uint16_t)len, strategy) == 0);
}

const struct strategy *bed_strategy_named(struct bed *bed, const char *prefix, const char *strategy)
{
    uint16_t number;
    char why[128];
    BED_CHECK(strategy_set_instance_uri(bed->strategies, strategy, &number, why) == 0);
    bed_strategy(bed, prefix, number);
    return bed->shared.strategies[number];
}

struct rte_mbuf *bed_raw(struct bed *bed, const void *octets, size_t len)
{
    struct rte_mbuf *mbuf = chain_from_octets(bed->pool, octets, (uint32_t)len);
    BED_CHECK(mbuf != NULL);
    return mbuf;
}

struct rte_mbuf *bed_frame(struct bed *bed, uint32_t id, const void *packet, size_t len)
{
    const struct face *face = face_get(bed->shared.faces, id);
    BED_CHECK(face != NULL && face->hdr_len + len <= 65535);
    // What the peer sends is what we would send, with the ends exchanged.
    struct face peer = *face;
    uint8_t *hdr = peer.hdr;
    if (face->hdr_len != 0) {
        bool group = hdr[0] & 1;
        if (!group)
            memcpy(hdr, face->hdr + 6, 6);
        memcpy(hdr + 6, group ? (const uint8_t[6]){2, 0, 0, 0, 9, 9} : face->hdr, 6);
        unsigned size = face->kind == FACE_UDP4 ? 4 : 16, at = face->l3_off + (face->kind == FACE_UDP4 ? 12u : 8u);
        if (face->l3_off != 0) {
            memcpy(hdr + at, face->hdr + at + size, size);
            memcpy(hdr + at + size, face->hdr + at, size);
            unsigned udp = face->hdr_len - 8u;
            memcpy(hdr + udp, face->hdr + udp + 2, 2);
            memcpy(hdr + udp + 2, face->hdr + udp, 2);
        }
    }
    uint8_t *octets = malloc(FACE_HDR_MAX + len);
    BED_CHECK(octets != NULL);
    memcpy(octets + FACE_HDR_MAX, packet, len);
    face_header_write(&peer, octets + FACE_HDR_MAX, len);
    struct rte_mbuf *mbuf = bed_raw(bed, octets + FACE_HDR_MAX - face->hdr_len, face->hdr_len + len);
    free(octets);
    return mbuf;
}

struct rte_mbuf *bed_split(struct bed *bed, struct rte_mbuf *mbuf, uint32_t split)
{
    uint8_t octets[FACE_HDR_MAX + NDN_PACKET_MAX + 1024];
    uint32_t len = mbuf->pkt_len;
    BED_CHECK(len <= sizeof octets && split > 0 && split < len);
    chain_read(mbuf, 0, octets, len);
    rte_pktmbuf_free(mbuf);
    struct rte_mbuf *head = bed_raw(bed, octets, split);
    chain_append(head, bed_raw(bed, octets + split, len - split));
    return head;
}

/* Until no worker has anything for another. */
static void bed_settle(struct bed *bed)
{
    struct rte_mbuf *mbufs[FWD_BURST_MAX];
    bool busy = bed->shared.dispatch != NULL;
    while (busy) {
        busy = false;
        for (uint16_t to = 0; to < bed->shared.n_workers; to++) {
            for (uint16_t from = 0; from < bed->shared.n_workers; from++) {
                if (from == to)
                    continue;
                uint16_t n = dispatch_receive(bed->fwd[to], from, mbufs);
                if (n > 0)
                    fwd_input_handed_over(bed->fwd[to], mbufs, n, bed->now_ns);
                busy |= n > 0;
            }
        }
    }
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        fwd_flush(bed->fwd[w]);
}

void bed_receive_at(struct bed *bed, uint16_t worker, const struct port *port, struct rte_mbuf **mbufs, uint16_t n)
{
    fwd_input(bed->fwd[worker], port, mbufs, n, bed->now_ns);
    bed_settle(bed);
}

void bed_receive(struct bed *bed, const struct port *port, struct rte_mbuf **mbufs, uint16_t n)
{
    bed_receive_at(bed, 0, port, mbufs, n);
}

void bed_packet(struct bed *bed, uint32_t face, const void *packet, size_t len)
{
    struct rte_mbuf *mbuf = bed_frame(bed, face, packet, len);
    bed_receive(bed, &bed->port[face_get(bed->shared.faces, face)->port], &mbuf, 1);
}

void bed_pass(struct bed *bed, uint64_t ms)
{
    bed->now_ns += ms * 1000000;
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        fwd_poll(bed->fwd[w], bed->now_ns, UINT32_MAX);
    bed_settle(bed);
}

/* Put LP header fields, if there are any, before a packet that lies at buf + NDN_LP_HEADER_MAX. @return octets, moved
 * to buf */
static size_t bed_wrap(uint8_t *buf, size_t len, const struct bed_fields *fields)
{
    struct ndn_lp_out lp = {
        .token_len = fields->token_len,
        .token = fields->token,
        .nack_reason = fields->nack,
        .has_cache_policy = fields->no_cache,
        .cache_policy = 1,
        .non_discovery = fields->non_discovery,
        .announcement = fields->announcement,
        .announcement_len = fields->announcement_len,
    };
    uint8_t *packet = buf + NDN_LP_HEADER_MAX;
    if (lp.announcement_len > 0) {
        memmove(packet + lp.announcement_len, packet, len);
        packet += lp.announcement_len;
    }
    size_t header = ndn_lp_out_empty(&lp) ? 0 : ndn_lp_prepend(packet, len, &lp);
    memmove(buf, packet - header, header + len);
    return header + len;
}

size_t bed_interest(uint8_t *buf, size_t size, const char *uri, const struct bed_fields *fields)
{
    static const struct bed_fields none;
    uint8_t name[NDN_NAME_MAX];
    int name_len = ndn_name_from_uri(uri, name, sizeof name);
    BED_CHECK(name_len >= 0 && size > NDN_LP_HEADER_MAX);
    fields = fields != NULL ? fields : &none;
    struct ndn_interest_out out = {
        .name = name,
        .name_len = (uint16_t)name_len,
        .can_be_prefix = fields->can_be_prefix,
        .must_be_fresh = fields->must_be_fresh,
        .nonce = fields->nonce != 0 ? fields->nonce : 0x01020304,
        .lifetime_ms = fields->lifetime_ms,
        .hop_limit = fields->hop_limit,
    };
    size_t len = ndn_interest_encode(buf + NDN_LP_HEADER_MAX, size - NDN_LP_HEADER_MAX, &out);
    BED_CHECK(len > 0);
    return bed_wrap(buf, len, fields);
}

size_t bed_data(uint8_t *buf, size_t size, const char *uri, const struct bed_fields *fields)
{
    static const struct bed_fields none;
    uint8_t name[NDN_NAME_MAX], content[NDN_PACKET_MAX];
    int name_len = ndn_name_from_uri(uri, name, sizeof name);
    fields = fields != NULL ? fields : &none;
    BED_CHECK(name_len >= 0 && size > NDN_LP_HEADER_MAX && fields->payload <= sizeof content);
    memset(content, fields->fill, fields->payload);
    struct ndn_data_out out = {
        .name = name,
        .name_len = (uint16_t)name_len,
        .freshness_ms = fields->freshness_ms,
        .content = content,
        .content_len = fields->payload,
    };
    size_t len = ndn_data_encode(buf + NDN_LP_HEADER_MAX, size - NDN_LP_HEADER_MAX, &out, NULL, NULL);
    BED_CHECK(len > 0);
    return bed_wrap(buf, len, fields);
}

void bed_send_interest(struct bed *bed, uint32_t face, const char *uri, const struct bed_fields *fields)
{
    uint8_t buf[NDN_PACKET_MAX + 1024];
    bed_packet(bed, face, buf, bed_interest(buf, sizeof buf, uri, fields));
}

void bed_send_data(struct bed *bed, uint32_t face, const char *uri, const struct bed_fields *fields)
{
    uint8_t buf[NDN_PACKET_MAX + 1024];
    bed_packet(bed, face, buf, bed_data(buf, sizeof buf, uri, fields));
}

/* Octets of the sent frames, kept so that parsed views stay valid; one frame at a time. */
static uint8_t bed_octets[65536];

struct ndn_packet bed_parse_sent(struct bed *bed, unsigned i, uint32_t *out_face)
{
    BED_CHECK(i < bed->n_sent);
    const struct bed_sent *sent = &bed->sent[i];
    uint32_t len = sent->mbuf->pkt_len;
    chain_read(sent->mbuf, 0, bed_octets, len);
    const struct face *to = NULL;
    for (unsigned f = 0; f < bed->n_faces && to == NULL; f++) {
        const struct face *face = face_get(bed->shared.faces, bed->face[f]);
        bool udp = face != NULL && face->l3_off != 0;
        // Up to the addresses, and the UDP ports, the header is the template's.
        if (face != NULL && face->port == sent->port && memcmp(face->hdr, bed_octets, udp ? 14 : face->hdr_len) == 0 &&
            (!udp || memcmp(face->hdr + face->hdr_len - 16, bed_octets + face->hdr_len - 16, 12) == 0))
            to = face;
    }
    BED_CHECK(to != NULL);
    if (out_face != NULL)
        *out_face = to->id;
    size_t payload_len = len - to->hdr_len;
    if (to->l3_off != 0) {
        struct frame frame;
        struct frame_opts strict = {0};
        BED_CHECK(frame_parse(bed_octets, len, &strict, &frame) == VERDICT_OK);
        BED_CHECK(frame.payload_off == to->hdr_len);
        payload_len = frame.payload_len;
    }
    struct ndn_packet packet;
    struct ndn_parse_opts opts = {.lenient = bed->shared.lenient, .allow_trailing = to->kind == FACE_ETHER};
    BED_CHECK(ndn_packet_parse(bed_octets + to->hdr_len, payload_len, &opts, &packet) == VERDICT_OK);
    return packet;
}

void bed_drop_sent(struct bed *bed)
{
    for (unsigned i = 0; i < bed->n_sent; i++)
        rte_pktmbuf_free(bed->sent[i].mbuf);
    bed->n_sent = 0;
}

struct stats_worker bed_stats(const struct bed *bed)
{
    struct stats_worker sum = {0};
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        stats_worker_add(&sum, &bed->fwd[w]->stats);
    return sum;
}

uint64_t bed_drops(const struct bed *bed, enum drop drop)
{
    return bed_stats(bed).drops[drop];
}

const char *bed_only_drop(const struct bed *bed)
{
    const struct stats_worker sum = bed_stats(bed);
    const char *name = "";
    for (unsigned i = 1; i < DROP_COUNT; i++) {
        if (sum.drops[i] == 0)
            continue;
        if (name[0] != '\0' || sum.drops[i] > 1)
            return "several";
        name = drop_info[i].name;
    }
    return name;
}

int bed_check(const struct bed *bed)
{
    const struct stats_worker sum = bed_stats(bed);
    if (stats_unaccounted(&sum) != 0)
        return -EINVAL;
    for (uint16_t w = 0; w < bed->shared.n_workers; w++) {
        int rc = fwd_check(bed->fwd[w]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

unsigned bed_mbufs(const struct bed *bed)
{
    return rte_mempool_in_use_count(bed->pool);
}
