// SPDX-License-Identifier: Apache-2.0
/*
 * A stream of operations through the whole pipeline on a clock of its own, with tables so small that they are full
 * most of the time: packets from templates and raw octets, whole, split and in fragments; what was sent before, sent
 * back; time, faces that go down and away, devices that take nothing, a pool that runs out. One worker or two.
 *
 * After every operation: the conservation law, every invariant of every table ("no entry without a timer" is one),
 * and each sent frame must be one that its receiver accepts. At the end, when all has expired: nothing pending, no
 * share of the PIT held, no mbuf out of the pool.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/chain.h"
#include "fwd/token.h"
#include "parser/ndn_encode.h"
#include "fwd/reliability.h"
#include "test/bed/bed.h"

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "fuzz_fwd: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                  \
        }                                                                             \
    } while (0)

enum {
    N_FACES = 9,
    N_REMOVABLE = 8,
    N_NAMES = 12,
    N_KEPT = 8,
    N_GONE = 16,
    MAX_MBUFS = 600,
    LIFETIME_MAX = 30000,
    MEASURED_MS = 301000
};

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A packet that a forwarder sent, to be sent back, or to take its token from. */
struct kept {
    uint16_t len;
    bool has_tx;
    uint64_t tx; /* TxSequence */
    uint8_t token[TOKEN_SIZE];
    uint8_t octets[600];
};

struct fuzz {
    struct bed *bed;
    uint32_t face[N_FACES];
    uint32_t gone[N_GONE]; /* faces removed during this input */
    unsigned n_gone;
    struct kept kept[N_KEPT];
    unsigned n_kept;
    struct rte_mbuf *held[MAX_MBUFS]; /* taken out of the pool */
    unsigned n_held;
    struct rte_mbuf *burst[FWD_BURST_MAX];
    unsigned n_burst;
    uint16_t burst_port, burst_worker;
    const uint8_t *p, *end;
};

static struct fuzz fuzz[2];

/* Strategies at the start of each input; more prefixes than one of each see the same Interests. */
static const struct {
    const char *prefix, *name;
} strategies[] = {
    {"/", "best-route"},
    {"/m", "multicast/retx-suppression-initial~1"},
    {"/a", "asf/probing-interval~1000/max-timeouts~1"},
    {"/a/b", "access"},
    {"/b", "random"},
    {"/x", "self-learning"},
};

#define N30         "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define Z32         "00000000000000000000000000000000"
#define LONG_NAME   ("/long/" N30 N30 N30 N30)
#define DIGEST_NAME ("/a/sha256digest=" Z32 Z32)
static const char *const names[N_NAMES] = {
    "/a",     "/a/b",   "/a/b/c",  "/a/b/c/d",     "/b",          "/m/1",
    "/m/1/2", "/x/y/z", LONG_NAME, "/localhost/x", "/localhop/x", DIGEST_NAME,
};

static uint8_t octet(struct fuzz *f)
{
    return f->p < f->end ? *f->p++ : 0;
}

/*
 * Face number @p i of a bed: three Ethernet ones, UDP over IPv4 and IPv6, a local one, a group, an ad-hoc one, the
 * internal one.
 */
static void add_face(struct fuzz *f, unsigned i)
{
    struct bed *bed = f->bed;
    struct port *port = &bed->port[i];
    if (i < 3) {
        f->face[i] = bed_ether(bed, port, 2);
    } else if (i == 3) {
        f->face[i] = bed_udp4(bed, port, 2);
    } else if (i == 4) {
        f->face[i] = bed_udp6(bed, port, 2);
    } else if (i == 5) {
        struct face_config config = {
            .port = port->index, .kind = FACE_BARE, .scope = FACE_SCOPE_LOCAL, .flags = FACE_LOCAL_FIELDS};
        f->face[i] = bed_face(bed, &config);
    } else if (i == 6) {
        f->face[i] = bed_ether_multicast(bed, port);
    } else if (i == 8) {
        bed_internal(bed);
        f->face[i] = FACE_ID_INTERNAL;
    } else {
        struct face_config config = {.port = port->index, .kind = FACE_ETHER, .link_type = FACE_LINK_AD_HOC};
        memcpy(config.local_mac, port->mac, 6);
        memcpy(config.remote_mac, (uint8_t[6]){0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa}, 6);
        f->face[i] = bed_face(bed, &config);
    }
}

/* Three faces, of which two find room, may be reliable, and mark congestion. */
static void set_flags(struct fuzz *f, unsigned i, bool on)
{
    struct face_update update = {.has_flags = true, .flags = on ? FACE_RELIABILITY | FACE_CONGESTION_MARKING : 0};
    if (i == 1 || i == 3 || i == 4)
        CHECK(face_change(f->bed->shared.faces, f->face[i], &update) == 0);
}

static void add_routes(struct fuzz *f, unsigned i)
{
    static const char *const prefixes[] = {"/a", "/a/b", "/", "/m", "/localhop"};
    for (unsigned r = 0; r < RTE_DIM(prefixes); r++)
        if ((i + r) % 3 != 0 || i == 5)
            bed_route(f->bed, prefixes[r], f->face[i], i * 7 % 5);
}

static void start(struct fuzz *f, uint16_t n_workers)
{
    struct bed_config config = {
        .n_workers = n_workers,
        .pit_capacity = 16,
        .pit_blocks = 24,
        .cs_capacity = 4,
        .cs_policy = n_workers > 1 ? CS_PRIORITY_FIFO : CS_LRU,
        .fib_capacity = 32,
        .dnl_capacity = 16,
        .measurements = 3,
        .n_mbufs = MAX_MBUFS,
        .mbuf_size = n_workers > 1 ? 1024 : 2048 + RTE_PKTMBUF_HEADROOM,
        .face_share = 6,
        .max_fragments = 16,
        .max_messages = 4,
        .max_per_face = 2,
        .reass_bytes = 24000,
        .max_lifetime_ms = LIFETIME_MAX,
        .lenient = n_workers > 1,
        .reliable_faces = 2,
        .reliable_packets = 24,
        .pages = ARENA_PAGES_SMALL,
    };
    f->bed = bed_create(&config);
    for (unsigned i = 0; i < N_FACES; i++) {
        // The internal face makes a port of its own.
        struct port *port = i == 5 ? bed_bare_port(f->bed) : i < 8 ? bed_port(f->bed) : &f->bed->port[i];
        port->mtu = i == 1 ? 200 : i == 2 ? 9000 : 1500;
        port->tx_multi_seg = (i & 1) == 0;
        add_face(f, i);
        set_flags(f, i, true);
    }
    for (unsigned i = 0; i < N_REMOVABLE; i++)
        add_routes(f, i);
    for (unsigned i = 0; i < RTE_DIM(strategies); i++)
        bed_strategy_named(f->bed, strategies[i].prefix, strategies[i].name);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    start(&fuzz[0], 1);
    start(&fuzz[1], 2);
    return 0;
}

/* What came out must be what a receiver accepts; some of it is kept. */
static void take_sent(struct fuzz *f)
{
    struct bed *bed = f->bed;
    for (unsigned i = 0; i < bed->n_sent; i++) {
        uint32_t face;
        struct ndn_packet pkt = bed_parse_sent(bed, i, &face);
        const struct face *to = face_get(bed->shared.faces, face);
        CHECK(pkt.type == 0 || to->scope == FACE_SCOPE_LOCAL ||
              !memmem(pkt.name.value, RTE_MIN(pkt.name.len, 11), "localhost", 9));
        CHECK(bed->sent[i].mbuf->nb_segs == 1 || bed->port[to->port].tx_multi_seg);
        uint32_t size = bed->sent[i].mbuf->pkt_len - to->hdr_len;
        CHECK(to->kind == FACE_ETHER || size <= to->mtu);
        struct kept *kept = &f->kept[f->n_kept++ % N_KEPT];
        kept->len = (uint16_t)RTE_MIN(size, sizeof kept->octets);
        chain_read(bed->sent[i].mbuf, to->hdr_len, kept->octets, kept->len);
        kept->has_tx = (pkt.lp.has & LP_HAS_TX_SEQUENCE) != 0;
        kept->tx = pkt.lp.tx_sequence;
        CHECK(!kept->has_tx || to->flags & FACE_RELIABILITY);
        memset(kept->token, 0, TOKEN_SIZE);
        if (pkt.lp.token_len == TOKEN_SIZE)
            memcpy(kept->token, pkt.lp.token, TOKEN_SIZE);
    }
    bed_drop_sent(bed);
}

static void deliver(struct fuzz *f)
{
    if (f->n_burst == 0)
        return;
    uint16_t n = (uint16_t)f->n_burst;
    f->n_burst = 0;
    bed_receive_at(f->bed, f->burst_worker, &f->bed->port[f->burst_port], f->burst, n);
    take_sent(f);
}

/* @p how: bit 0: wait for more; bit 1: at the second worker; bits 2..: where to split. */
static void receive(struct fuzz *f, uint16_t port, struct rte_mbuf *mbuf, uint8_t how)
{
    uint16_t worker = (how >> 1 & 1) % f->bed->shared.n_workers;
    if (f->n_burst > 0 && (f->burst_port != port || f->burst_worker != worker))
        deliver(f);
    uint32_t split = how >> 2;
    if (split > 0 && split * 2 < mbuf->pkt_len && rte_mempool_avail_count(f->bed->pool) > 24)
        mbuf = bed_split(f->bed, mbuf, split * 2);
    f->burst_port = port;
    f->burst_worker = worker;
    f->burst[f->n_burst++] = mbuf;
    if (!(how & 1) || f->n_burst == FWD_BURST_MAX)
        deliver(f);
}

static void packet(struct fuzz *f, unsigned face, const uint8_t *octets, size_t len, uint8_t how)
{
    // Making frames takes buffers too, which is not what is tested.
    if (rte_mempool_avail_count(f->bed->pool) < 24)
        return;
    receive(f, f->bed->port[face].index, bed_frame(f->bed, f->face[face], octets, len), how);
}

static void op_interest(struct fuzz *f)
{
    static const uint32_t lifetimes[] = {0, 1, 20, 500, 4000, 100000};
    uint8_t face = octet(f) % N_FACES, name = octet(f) % N_NAMES, what = octet(f), more = octet(f), how = octet(f);
    uint8_t token[NDN_LP_TOKEN_MAX], buf[1024];
    memset(token, 0xa0 + (more & 3), sizeof token);
    struct bed_fields fields = {
        .nonce = 1 + (what & 7),
        .can_be_prefix = what & 8,
        .must_be_fresh = what & 16,
        .hop_limit = (uint8_t)(what >> 5 & 3),
        .lifetime_ms = lifetimes[(more >> 2 & 7) % RTE_DIM(lifetimes)],
        .token = token,
        .token_len = (uint8_t)((more >> 5) * 32 / 7),
        .non_discovery = (what & 0x81) == 0x81,
    };
    packet(f, face, buf, bed_interest(buf, sizeof buf, names[name], &fields), how);
}

/* Interests that the templates do not cover: no Nonce, hints, local fields, marks, parameters. */
static void op_odd_interest(struct fuzz *f)
{
    static const char *const odd[] = {
        "\x05\x05\x07\x03\x08\x01"
        "a",
        "\x05\x08\x07\x03\x08\x01"
        "a\x22\x01\x05",
        "\x64\x0e\x62\x03tok\x50\x07\x05\x05\x07\x03\x08\x01"
        "b",
        "\x05\x12\x07\x03\x08\x01q\x1e\x05\x07\x03\x08\x01"
        "a\x0a\x04nnnn",
        "\x64\x14\xfd\x03\x40\x01\x01\x50\x0d\x05\x0b\x07\x03\x08\x01"
        "a\x0a\x04nnnm",
        "\x05\x10\x07\x03\x08\x01"
        "a\x0a\x04nnoo\x24\x03xyz",
        "\x64\x14\xfd\x03\x30\x01\x01\x50\x0d\x05\x0b\x07\x03\x08\x01"
        "a\x0a\x04nnnp",
    };
    uint8_t face = octet(f) % N_FACES, which = octet(f) % RTE_DIM(odd), twist = octet(f), how = octet(f);
    uint8_t buf[64];
    size_t len = 2u + (uint8_t)odd[which][1];
    memcpy(buf, odd[which], len);
    buf[len - 1] ^= twist & 3;
    if (which == 6) {
        // NextHopFaceId of a face of ours.
        uint8_t two[] = {0x64, 0x15, 0xfd, 0x03, 0x30, 0x02, 0, 0};
        uint32_t id = f->face[twist % N_FACES];
        two[6] = (uint8_t)(id >> 8);
        two[7] = (uint8_t)id;
        memmove(buf + 8, buf + 7, len - 7);
        memcpy(buf, two, 8);
        len++;
    }
    packet(f, face, buf, len, how);
}

static void op_data(struct fuzz *f)
{
    static const uint16_t payloads[] = {0, 10, 600, 1300, 3000, 8000};
    uint8_t face = octet(f) % N_FACES, name = octet(f) % N_NAMES, what = octet(f), more = octet(f), how = octet(f);
    static uint8_t buf[NDN_PACKET_MAX + 1024];
    uint8_t token[TOKEN_SIZE];
    memcpy(token, f->kept[more % N_KEPT].token, sizeof token);
    if (more & 8)
        token[more >> 5] ^= 1u << (what >> 5);
    char uri[200];
    snprintf(uri, sizeof uri, "%s%s", names[name], what & 8 ? "/more" : "");
    struct bed_fields fields = {
        .payload = payloads[(what & 7) % RTE_DIM(payloads)],
        .freshness_ms = what & 16 ? 100 : 0,
        .no_cache = more & 16,
        .token = token,
        .token_len = more & 64 ? TOKEN_SIZE : 0,
        .fill = more,
        .announcement = "\x06\x0a\x07\x08\x08\x03net\x08\x01x",
        .announcement_len = more & 32 ? 12 : 0,
    };
    size_t len = bed_data(buf, sizeof buf, uri, &fields);
    uint32_t mtu = f->bed->port[face].mtu;
    if (len + 40 > mtu && len < 8900)
        mtu = 9000; // jumbo frames arrive on any port
    packet(f, face, buf, len, how);
}

static void op_nack(struct fuzz *f)
{
    static const uint16_t reasons[] = {50, 100, 150, 1, 200, 300};
    uint8_t face = octet(f) % N_FACES, name = octet(f) % N_NAMES, what = octet(f), more = octet(f), how = octet(f);
    uint8_t buf[1024];
    struct bed_fields fields = {
        .nonce = 1 + (what & 7),
        .can_be_prefix = what & 8,
        .must_be_fresh = what & 16,
        .nack = reasons[(what >> 5) % RTE_DIM(reasons)],
        .token = f->kept[more % N_KEPT].token,
        .token_len = more & 64 ? TOKEN_SIZE : 0,
    };
    packet(f, face, buf, bed_interest(buf, sizeof buf, names[name], &fields), how);
}

/* A Data or Interest cut into fragments, of which some arrive, in some order. */
static void op_fragments(struct fuzz *f)
{
    uint8_t face = octet(f) % N_FACES, name = octet(f) % N_NAMES, what = octet(f), order = octet(f), how = octet(f);
    static uint8_t net[NDN_PACKET_MAX + 1024];
    static uint8_t frag[NDN_PACKET_MAX + 1024];
    struct bed_fields fields = {.payload = (uint16_t)((what & 7) * 300), .nonce = 1 + (what & 3)};
    size_t len = what & 8 ? bed_interest(net, sizeof net, names[name], &fields)
                          : bed_data(net, sizeof net, names[name], &fields);
    unsigned count = 1 + (what >> 4);
    size_t room = (len + count - 1) / count;
    for (unsigned i = 0; i < count; i++) {
        unsigned index = (i + order) % count;
        if (order & 8 && i == (order & 7u))
            continue;
        if (order & 16)
            index = count - 1 - index;
        size_t off = index * room, n = off < len ? RTE_MIN(room, len - off) : 1;
        struct ndn_lp_out lp = {
            .has_sequence = true,
            .sequence = 1000u * (order >> 5) + index,
            .frag_index = (uint16_t)index,
            .frag_count = (uint16_t)count,
            .token = f->kept[order % N_KEPT].token,
            .token_len = index == 0 && what & 8 ? TOKEN_SIZE : 0,
        };
        memcpy(frag + NDN_LP_HEADER_MAX, net + (off < len ? off : 0), n);
        size_t header = ndn_lp_prepend(frag + NDN_LP_HEADER_MAX, n, &lp);
        packet(f, face, frag + NDN_LP_HEADER_MAX - header, header + n, how);
    }
}

static void op_raw(struct fuzz *f)
{
    uint8_t face = octet(f) % N_FACES, kind = octet(f), how = octet(f);
    size_t len = RTE_MIN((size_t)octet(f) + 1, (size_t)(f->end - f->p));
    if (len == 0 || rte_mempool_avail_count(f->bed->pool) < 24)
        return;
    if (kind & 1)
        receive(f, f->bed->port[face].index, bed_raw(f->bed, f->p, len), how);
    else
        packet(f, face, f->p, len, how);
    f->p += len;
}

/* Something that was sent comes back, maybe by another face, maybe changed. */
static void op_echo(struct fuzz *f)
{
    uint8_t face = octet(f) % N_FACES, slot = octet(f), twist = octet(f), how = octet(f);
    struct kept kept = f->kept[slot % N_KEPT];
    if (kept.len == 0)
        return;
    if (twist != 0)
        kept.octets[twist % kept.len] ^= slot | 1;
    packet(f, face, kept.octets, kept.len, how);
}

/* Acks of what was sent, the last first or last, with a packet or alone, on some face: maybe the right one. */
static void op_acks(struct fuzz *f, uint8_t how)
{
    static const uint8_t faces[] = {1, 3, 4, 0};
    uint8_t net[600], buf[600 + NDN_LP_HEADER_MAX + N_KEPT * NDN_LP_ACK_SIZE];
    uint8_t which = octet(f), twist = octet(f);
    uint64_t acks[N_KEPT];
    struct ndn_lp_out lp = {.acks = acks, .sequence = twist & 15, .frag_count = 1, .tx_sequence = twist};
    for (unsigned i = 0; i < N_KEPT; i++) {
        const struct kept *kept = &f->kept[how & 4 ? N_KEPT - 1 - i : i];
        if (kept->has_tx && which >> i & 1)
            acks[lp.n_acks++] = kept->tx ^ (twist == 255 ? UINT64_C(1) << 56 : 0);
    }
    size_t len = 0;
    if (twist & 16) {
        struct bed_fields fields = {.nonce = 1 + (twist & 3), .payload = twist};
        len = twist & 32 ? bed_data(net, sizeof net, names[twist & 7], &fields)
                         : bed_interest(net, sizeof net, names[twist & 7], &fields);
        lp.has_sequence = lp.has_tx_sequence = true;
    }
    uint8_t *at = buf + sizeof buf - len;
    memcpy(at, net, len);
    size_t header = ndn_lp_prepend(at, len, &lp);
    packet(f, faces[how >> 3 & 3], at - header, header + len, how >> 5);
}

static void op_time(struct fuzz *f)
{
    static const uint32_t ms[] = {0, 1, 5, 11, 50, 300, 600, 7000};
    deliver(f);
    bed_pass(f->bed, ms[octet(f) % RTE_DIM(ms)]);
    take_sent(f);
}

static void op_face(struct fuzz *f)
{
    uint8_t what = octet(f), i = (what & 7) % N_REMOVABLE;
    deliver(f);
    if (what & 8 && f->n_gone < N_GONE) {
        f->gone[f->n_gone++] = f->face[i];
        bed_face_remove(f->bed, f->face[i]);
        add_face(f, i);
        set_flags(f, i, true);
        add_routes(f, i);
    } else if (what & 32) {
        set_flags(f, i, what & 16);
    } else {
        face_set_down(f->bed->shared.faces, f->face[i], FACE_DOWN_LINK, what & 16);
    }
}

/* Another strategy under a prefix, or another next hop, while Interests of it are pending. */
static void op_strategy(struct fuzz *f)
{
    uint8_t what = octet(f);
    if (what & 2)
        bed_strategy_named(f->bed, strategies[(what >> 2) % RTE_DIM(strategies)].prefix,
                           strategies[(what >> 5) % RTE_DIM(strategies)].name);
    else
        bed_route(f->bed, "/m/1", f->face[(what >> 5) % N_REMOVABLE], what >> 3 & 3);
}

static void op_other(struct fuzz *f, uint8_t how)
{
    if (how & 2)
        op_acks(f, how);
    else if (how & 4)
        op_strategy(f);
    else
        f->bed->refuse_send = how & 1;
}

static void pool_release(struct fuzz *f)
{
    while (f->n_held > 0)
        rte_pktmbuf_free(f->held[--f->n_held]);
}

/* What arrives next finds only a few buffers left. */
static void op_pool(struct fuzz *f)
{
    uint8_t left = octet(f);
    deliver(f);
    pool_release(f);
    if (left & 0x80)
        return;
    // A packet is made first, for there will be no buffers for it.
    struct rte_mbuf *mbuf = NULL;
    uint8_t face = octet(f) % N_FACES, name = octet(f) % N_NAMES, what = octet(f);
    static uint8_t buf[NDN_PACKET_MAX + 1024];
    struct bed_fields fields = {.payload = (uint16_t)((what & 7) * 500), .nonce = 1 + (what & 7)};
    size_t len = what & 8 ? bed_interest(buf, sizeof buf, names[name], &fields)
                          : bed_data(buf, sizeof buf, names[name], &fields);
    if (rte_mempool_avail_count(f->bed->pool) >= 24)
        mbuf = bed_frame(f->bed, f->face[face], buf, len);
    while (rte_mempool_avail_count(f->bed->pool) > (left & 31u)) {
        f->held[f->n_held] = rte_pktmbuf_alloc(f->bed->pool);
        if (f->held[f->n_held] == NULL)
            break;
        f->n_held++;
    }
    if (mbuf != NULL)
        receive(f, f->bed->port[face].index, mbuf, 0);
    bed_pass(f->bed, left & 32 ? 20 : 0);
    take_sent(f);
    pool_release(f);
}

static void finish(struct fuzz *f)
{
    struct bed *bed = f->bed;
    deliver(f);
    pool_release(f);
    bed->refuse_send = false;
    for (unsigned i = 0; i < RTE_DIM(strategies); i++)
        bed_strategy_named(bed, strategies[i].prefix, strategies[i].name);
    for (unsigned i = 0; i < N_FACES; i++)
        face_set_down(bed->shared.faces, f->face[i], FACE_DOWN_LINK, false);
    bed_pass(bed, LIFETIME_MAX + 10);
    // What one input has measured, or routed, is not for the next.
    bed_pass(bed, MEASURED_MS);
    uint8_t name[16];
    uint16_t len = (uint16_t)ndn_name_from_uri("/m/1", name, sizeof name);
    for (unsigned i = 0; i < N_REMOVABLE; i++)
        (void)fib_nexthop_unset(bed->shared.fib, name, len, f->face[i]);
    bed_pass(bed, DNL_LIFETIME_MS + 10);
    take_sent(f);
    // Every retransmission, and the end of them.
    for (unsigned i = 0; i <= RELIABILITY_RETRIES; i++) {
        bed_pass(bed, RELIABILITY_RTO_MAX_MS + 10);
        take_sent(f);
    }
    CHECK(bed_check(bed) == 0);
    for (uint16_t w = 0; w < bed->shared.n_workers; w++) {
        struct fwd *fwd = bed->fwd[w];
        CHECK(pit_count(fwd->pit) == 0);
        CHECK(fwd->stats.held == 0);
        struct reliability_stats reliable;
        reliability_stats(fwd->reliability, &reliable);
        CHECK(reliable.n_packets == 0);
        for (unsigned i = 0; i < N_FACES + f->n_gone; i++) {
            uint32_t id = i < N_FACES ? f->face[i] : f->gone[i - N_FACES];
            const struct stats_face *stats = &fwd->face_stats[id % FACE_SLOTS];
            CHECK(stats->face != id || stats->pending == 0);
            // The next input finds none of this one's Sequences.
            reliability_face_removed(fwd->reliability, id);
        }
        cs_resize(fwd->cs, 0);
        cs_poll(fwd->cs, bed->now_ns);
        cs_resize(fwd->cs, 4);
    }
    CHECK(bed_mbufs(bed) == 0);
    memset(f->kept, 0, sizeof f->kept);
    f->n_kept = f->n_gone = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct fuzz *f = &fuzz[data[0] & 1];
    // The same input, the same nonces.
    for (uint16_t w = 0; w < f->bed->shared.n_workers; w++)
        f->bed->fwd[w]->random = w;
    f->p = data + 1;
    f->end = data + size;
    while (f->p < f->end) {
        switch (octet(f) % 16) {
        case 0:
        case 1:
        case 2:
            op_interest(f);
            break;
        case 3:
            op_odd_interest(f);
            break;
        case 4:
        case 5:
        case 6:
            op_data(f);
            break;
        case 7:
            op_nack(f);
            break;
        case 8:
            op_fragments(f);
            break;
        case 9:
            op_raw(f);
            break;
        case 10:
        case 11:
            op_echo(f);
            break;
        case 12:
            op_time(f);
            break;
        case 13:
            op_face(f);
            break;
        case 14:
            op_pool(f);
            break;
        default:
            deliver(f);
            op_other(f, octet(f));
            break;
        }
        CHECK(bed_check(f->bed) == 0);
    }
    finish(f);
    return 0;
}
