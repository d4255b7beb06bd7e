// SPDX-License-Identifier: Apache-2.0
/*
 * A stream of operations on QUIC services through the whole pipeline, Ethernet to Ethernet, on a clock of its own: four
 * services (L2, IPIP, GUE, and one without routable connection IDs), all encodings, private layouts, flow tables,
 * Retry, Version Negotiation, limits; datagrams and ICMP errors from templates and raw octets, whole and split; what
 * was sent before, sent back; servers that lose their way, sets of services that replace each other, devices that take
 * nothing, a pool that runs out. One worker or three.
 *
 * After every operation: the conservation law and the invariants of the tables. Each sent frame is judged by code of
 * its own: it is a received packet, octet by octet but for its hops, in the tunnel of a server that there is, or an
 * answer with sound checksums that is smaller than what it answers. A packet that comes in at another worker goes to
 * the same server. At the end no mbuf is out of the pool.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "fwd/chain.h"
#include "fwd/quic/build.h"
#include "test/fuzz/quic_frame.h"

enum { N_SETS = 3, N_KEPT = 8, MAX_MBUFS = 500, N_HELD = MAX_MBUFS, IN_MAX = 24, FLOW_IDLE_MS = 500 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A packet that was given to the forwarder, or came from it. */
struct kept {
    uint16_t len;
    uint8_t mac[6]; /* it came from */
    uint8_t octets[1600];
};

struct fuzz {
    struct bed *bed;
    struct quic_set *sets[N_SETS];
    struct kept sent[N_KEPT];
    unsigned n_sent;
    struct kept in[IN_MAX]; /* since the last look at what was sent */
    unsigned n_in;
    struct rte_mbuf *held[N_HELD];
    unsigned n_held;
    struct rte_mbuf *burst[FWD_BURST_MAX];
    unsigned n_burst;
    uint16_t burst_worker;
    int went_to;        /* port of the last frame sent; -1: none was */
    uint8_t to_mac[6];  /* its destination */
    uint64_t delivered; /* frames seen on servers' ports */
    const uint8_t *p, *end;
};

static struct fuzz fuzz[2];

/* Port 0 has the clients, 1 and 2 the servers; the last one sends no chains, and has no IPv6 address. */
static const char conf_head[] =
    "port: { c: { device = \"net_null0\"; address4 = \"10.0.0.1/24\"; address6 = \"fd00::1/64\"; };\n"
    "  a: { device = \"net_null1\"; address4 = \"10.0.1.1/24\"; address6 = \"fd00:1::1/64\"; };\n"
    "  b: { device = \"net_null2\"; address4 = \"10.0.2.1/24\"; }; };\n";
static const char conf_services[] =
    "quic: {\n"
    " l2: { vip = [ \"192.0.2.80:443\", \"[2001:db8::80]:443\" ]; version-negotiation = true; retry = \"on\";\n"
    "   retry-keys = \"%s/retry\"; retry-config = 2; hash-key = \"000102030405060708090a0b0c0d0e0f\"; edge-rate = 4; "
    "};\n"
    " ipip: { vip = [ \"192.0.2.81:443\", \"[2001:db8::81]:443\" ]; delivery = \"ipip\"; flow-table = 64;\n"
    "   flow-idle-timeout = \"1s\"; flow-keep-time = \"300ms\"; initial-rate = 6; drop-small-initials = false;\n"
    "   hash-key = \"000102030405060708090a0b0c0d0e0f\"; };\n"
    " gue: { vip = [ \"192.0.2.82:443\", \"[2001:db8::82]:443\" ]; delivery = \"gue\"; drop-unroutable = true;\n"
    "   require-fixed-bit = true; hash-key = \"000102030405060708090a0b0c0d0e0f\"; };\n"
    " %s: { vip = [ \"192.0.2.80:444\", \"[2001:db8::80]:444\" ]; flow-table = 64; flow-idle-timeout = \"1s\";\n"
    "   flow-keep-time = \"300ms\"; retry = \"transition\"; retry-keys = \"%s/retry\"; retry-config = 0;\n"
    "   version-negotiation = true; hash-key = \"000102030405060708090a0b0c0d0e0f\"; };\n"
    "};\n"
    "quic-config: (\n"
    " { service = \"l2\"; id = 0; server-id-length = 3; nonce-length = 4; },\n"
    " { service = \"l2\"; id = 1; server-id-length = 8; nonce-length = 8; key-file = \"%s/key\"; },\n"
    " { service = \"l2\"; id = 2; server-id-length = 4; nonce-length = 5; key-file = \"%s/key\"; },\n"
    " { service = \"l2\"; id = 3; server-id-length = 10; nonce-length = 9; key-file = \"%s/key\"; },\n"
    " { service = \"ipip\"; id = 5; server-id-length = 3; nonce-length = 4; key-file = \"%s/key\"; },\n"
    " { service = \"gue\"; id = 0; server-id-length = 3; nonce-length = 4; },\n"
    " { service = \"%s\"; id = 0; server-id-length = 3; nonce-length = 16; }\n"
    ");\n"
    "quic-scheme: (\n"
    " { service = \"l2\"; mask = 224; value = 192; offset-bits = 10; bits = 16; },\n"
    " { service = \"gue\"; mask = 255; value = 32; offset-bits = 8; bits = 64; }\n"
    ");\n";
#define IDS(first) "\"" #first "0000\", \"" #first "a1a2a3a4a5a6a7\", \"" #first "a1a2a3\""
#define IDS_MORE   ", \"a0a1a2a3a4a5a6a7a8a9\""
/* Service, name, state in each set, address, its port, last octet of its MAC address. */
static const struct {
    const char *service, *name, *states[N_SETS], *ids, *address, *port, *extra;
    uint8_t mac;
} servers[] = {
    {"l2", "l0", {"up", "drain", "down"}, IDS(a0) IDS_MORE, "10.0.1.10", "a", "", 10},
    {"l2", "l1", {"up", "up", "up"}, IDS(b0) ", \"b0a1\"", "10.0.1.11", "a", " weight = 7;", 11},
    {"l2", "l2", {"drain", "up", "down"}, "\"a20000\"", "fd00:1::12", "b", " vlan = 5;", 12},
    {"ipip", "i0", {"up", "up", "down"}, "\"a00000\"", "10.0.1.20", "a", "", 20},
    {"ipip", "i1", {"up", "down", "down"}, "\"a10000\"", "fd00:1::21", "a", " vlan = 7;", 21},
    {"ipip", "i2", {"up", "up", "drain"}, "\"a20000\"", "10.0.2.22", "b", "", 22},
    {"gue", "g0", {"up", "up", "up"}, "\"a00000\", \"a0a1a2a3a4a5a6a7\"", "10.0.1.30", "a", " vlan = 9;", 30},
    {"gue", "g1", {"up", "drain", "up"}, "\"a10000\", \"a1a1a2a3a4a5a6a7\"", "fd00:1::31", "a", "", 31},
    {"gue", "g2", {"up", "up", "drain"}, "\"a20000\"", "10.0.2.32", "b", "", 32},
    {"", "s0", {"up", "up", "up"}, "\"a00000\"", "10.0.1.40", "a", "", 40},
    {"", "s1", {"up", "up", "up"}, "\"a10000\"", "10.0.2.41", "b", "", 41},
};

static uint8_t octet(struct fuzz *f)
{
    return f->p < f->end ? *f->p++ : 0;
}

static const struct quic_set *now_set(const struct fuzz *f)
{
    return atomic_load(&f->bed->shared.quic);
}

/* ---- start ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, 0600) == 0);
}

static struct quic_set *make_set(const char *folder, unsigned number, const struct quic_set *old)
{
    static char text[16384];
    struct conf *conf;
    struct quic_set *set;
    // The last one has a service of another name at the same address, and other servers.
    const char *stock = number == 2 ? "other" : "stock";
    size_t len = (size_t)snprintf(text, sizeof text, "%s", conf_head);
    len += (size_t)snprintf(text + len, sizeof text - len, conf_services, folder, stock, folder, folder, folder, folder,
                            folder, stock);
    len += (size_t)snprintf(text + len, sizeof text - len, "quic-server: {\n");
    for (unsigned i = 0; i < RTE_DIM(servers); i++)
        len += (size_t)snprintf(
            text + len, sizeof text - len,
            " %s: { service = \"%s\"; state = \"%s\"; id = [ %s ]; address = \"%s\"; port = \"%s\"; "
            "mac = \"02:00:00:00:%02x:02\";%s };\n",
            servers[i].name, servers[i].service[0] == '\0' ? stock : servers[i].service, servers[i].states[number],
            servers[i].ids, servers[i].address, servers[i].port, servers[i].mac, servers[i].extra);
    len += (size_t)snprintf(text + len, sizeof text - len, "};\n");
    CHECK(conf_load_text("text", text, len, &conf, stderr) == 0);
    CHECK(quic_set_build(&set, conf, old, 1000000000, stderr) == 0);
    conf_free(conf);
    return set;
}

static void start(struct fuzz *f, uint16_t n_workers)
{
    struct bed_config config = {
        .n_workers = n_workers,
        .n_mbufs = MAX_MBUFS,
        .mbuf_size = n_workers > 1 ? 512 + RTE_PKTMBUF_HEADROOM : 2048 + RTE_PKTMBUF_HEADROOM,
        .quic = true,
        .pages = ARENA_PAGES_SMALL,
    };
    for (unsigned i = 0; i < QUIC_SERVICES_MAX; i++)
        if (i == 1 || i == 3 || i == 4)
            config.quic_flow[i] = (struct flow_config){
                .capacity = 24, .idle_ms = FLOW_IDLE_MS, .keep_ms = 300, .pages = ARENA_PAGES_SMALL};
    f->bed = bed_create(&config);
    for (unsigned i = 0; i < 3; i++) {
        struct port *port = bed_port(f->bed);
        port->mtu = i == 2 ? 1400 : 1500;
        port->tx_multi_seg = i != 2;
    }
    memset(f->bed->port[2].config.ip6, 0, 16);
    char folder[] = "/tmp/fuzz-quic-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    write_file(folder, "key", "8f95f09245765f80256934e50c66207f\n");
    write_file(folder, "retry", "5 000102030405060708090a0b0c0d0e0f 101112131415161718191a1b\n");
    for (unsigned i = 0; i < N_SETS; i++)
        f->sets[i] = make_set(folder, i, i > 0 ? f->sets[i - 1] : NULL);
    char path[64];
    snprintf(path, sizeof path, "%s/key", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/retry", folder);
    unlink(path);
    rmdir(folder);
    atomic_store(&f->bed->shared.quic, f->sets[0]);
    atomic_store(&f->bed->shared.posix_ns, UINT64_C(1800000000) * 1000000000);
}

/* What tables in mappings point to would else be taken for lost. */
static void stop(void)
{
    for (unsigned i = 0; i < RTE_DIM(fuzz); i++) {
        bed_destroy(fuzz[i].bed);
        for (unsigned k = 0; k < N_SETS; k++)
            quic_set_destroy(fuzz[i].sets[k]);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    quic_lb_decode_init();
    start(&fuzz[0], 1);
    start(&fuzz[1], 3);
    CHECK(atexit(stop) == 0);
    return 0;
}

/* ---- what was sent ---- */

/* One of the packets received, but for its hops: those that are left of it at most. */
static bool is_received(const struct fuzz *f, const uint8_t *ip, size_t len)
{
    bool v6 = ip[0] >> 4 == 6;
    for (unsigned i = 0; i < f->n_in; i++) {
        const uint8_t *in = f->in[i].octets;
        if (f->in[i].len < len || in[0] != ip[0])
            continue;
        uint8_t want[sizeof f->in[i].octets];
        memcpy(want, in, len);
        want[v6 ? 7 : 8]--;
        if (!v6)
            memcpy(want + 10, ip + 10, 2);
        // One bit of difference is a bug, be it in the last octet.
        if (memcmp(want, ip, len) == 0)
            return true;
    }
    return false;
}

static const struct quic_server *server_with_mac(const struct quic_set *set, const uint8_t *mac,
                                                 const struct quic_service **service)
{
    for (unsigned i = 0; i < set->n_services; i++)
        for (unsigned k = 0; k < set->service[i].n_servers; k++) {
            const struct quic_server *server = &set->service[i].server[k];
            uint64_t known = atomic_load(&server->mac);
            if (memcmp(&known, mac, 6) != 0)
                continue;
            *service = &set->service[i];
            return server;
        }
    return NULL;
}

static void judge_delivered(struct fuzz *f, const struct port *port, const uint8_t *p, size_t len)
{
    const struct quic_service *service = NULL;
    const struct quic_server *server = server_with_mac(now_set(f), p, &service);
    CHECK(server != NULL);
    CHECK(server->state != QUIC_DOWN);
    CHECK(server->port == port->index);
    CHECK(memcmp(p + 6, port->mac, 6) == 0);
    static uint8_t untagged[4096];
    struct quic_sent sent;
    uint16_t vlan = (uint16_t)(server->mac >> 48);
    if (vlan != 0) {
        CHECK(scene_get16(p + 12) == 0x8100 && scene_get16(p + 14) == vlan);
        memcpy(untagged, p, 12);
        memcpy(untagged + 12, p + 16, len - 16);
        p = untagged;
        len -= 4;
    }
    quic_sent_read(p, len, service, server, port, &sent);
    uint16_t mtu = server->mtu != 0 ? RTE_MIN(server->mtu, port->mtu) : port->mtu;
    CHECK(sent.l3_len <= mtu);
    CHECK(is_received(f, sent.inner, sent.inner_len));
    bool known = false;
    const struct quic_set *set = now_set(f);
    for (unsigned i = 0; i < set->n_vips; i++)
        known |= &set->service[set->vip[i].service] == service && set->vip[i].v6 == sent.inner_v6 &&
                 memcmp(set->vip[i].ip, sent.inner + (sent.inner_v6 ? 24 : 16), sent.inner_v6 ? 16 : 4) == 0;
    CHECK(known);
    f->delivered++;
}

static void judge_answer(struct fuzz *f, const struct port *port, const uint8_t *p, size_t len)
{
    CHECK((p[6] & 1) == 0 && memcmp(p + 6, port->mac, 6) == 0);
    uint16_t size;
    bool v6;
    const uint8_t *to = quic_answer_read(p, len, now_set(f), &size, &v6);
    // Not larger than what came from there but for the headers of ICMP, and never anywhere else.
    bool found = false;
    for (unsigned i = 0; i < f->n_in; i++) {
        const uint8_t *in = f->in[i].octets;
        found |=
            in[0] >> 4 == (v6 ? 6 : 4) && memcmp(in + (v6 ? 8 : 12), to, v6 ? 16 : 4) == 0 && size <= f->in[i].len + 48;
    }
    CHECK(found);
}

static void take_sent(struct fuzz *f)
{
    struct bed *bed = f->bed;
    static uint8_t octets[4096];
    f->went_to = -1;
    for (unsigned i = 0; i < bed->n_sent; i++) {
        struct rte_mbuf *mbuf = bed->sent[i].mbuf;
        const struct port *port = &bed->port[bed->sent[i].port];
        uint32_t len = mbuf->pkt_len;
        CHECK(len >= 60 && len <= sizeof octets);
        CHECK(mbuf->nb_segs == 1 || port->tx_multi_seg);
        chain_read(mbuf, 0, octets, len);
        if (port->index == 0)
            judge_answer(f, port, octets, len);
        else
            judge_delivered(f, port, octets, len);
        f->went_to = port->index;
        memcpy(f->to_mac, octets, 6);
        struct kept *kept = &f->sent[f->n_sent++ % N_KEPT];
        kept->len = (uint16_t)RTE_MIN(len, sizeof kept->octets);
        memcpy(kept->octets, octets, kept->len);
    }
    bed_drop_sent(bed);
    if (f->n_burst == 0)
        f->n_in = 0;
}

static void deliver(struct fuzz *f)
{
    if (f->n_burst == 0)
        return;
    uint16_t n = (uint16_t)f->n_burst;
    f->n_burst = 0;
    bed_receive_at(f->bed, f->burst_worker, &f->bed->port[0], f->burst, n);
    take_sent(f);
    CHECK(bed_check(f->bed) == 0);
}

static bool has_buffers(const struct fuzz *f)
{
    return rte_mempool_avail_count(f->bed->pool) >= 32;
}

static struct rte_mbuf *frame_of(struct fuzz *f, const uint8_t *frame, size_t len, uint32_t split)
{
    struct rte_mbuf *mbuf = bed_raw(f->bed, frame, len);
    return split > 0 && split < len ? bed_split(f->bed, mbuf, split) : mbuf;
}

/*
 * @p how: bit 0: wait for more; bits 1..2: worker; bits 3..7: where to split. What is received alone is received at
 * another worker again: if a server gets it both times, it is the same.
 */
static void receive(struct fuzz *f, const uint8_t *frame, size_t len, uint8_t how)
{
    uint16_t n_workers = f->bed->shared.n_workers, worker = (how >> 1 & 3) % n_workers;
    uint32_t split = (how >> 3) * 7u;
    if (!has_buffers(f))
        return;
    if (f->n_burst > 0 && (f->burst_worker != worker || f->n_in == IN_MAX))
        deliver(f);
    bool alone = f->n_burst == 0 && !(how & 1);
    struct kept *in = &f->in[f->n_in++];
    size_t off = len >= 18 ? quic_l3(frame) : len;
    in->len = (uint16_t)RTE_MIN(len - off, sizeof in->octets);
    memcpy(in->octets, frame + off, in->len);
    if (len >= 12)
        memcpy(in->mac, frame + 6, 6);
    f->burst_worker = worker;
    f->burst[f->n_burst++] = frame_of(f, frame, len, split);
    if (!(how & 1) || f->n_burst == FWD_BURST_MAX)
        deliver(f);
    if (!alone || f->went_to <= 0 || !has_buffers(f))
        return;
    uint8_t mac[6];
    int port = f->went_to;
    memcpy(mac, f->to_mac, 6);
    f->n_in = 1;
    f->burst_worker = (uint16_t)((worker + 1) % n_workers);
    f->burst[f->n_burst++] = frame_of(f, frame, len, 0);
    deliver(f);
    CHECK(f->went_to <= 0 || (f->went_to == port && memcmp(mac, f->to_mac, 6) == 0));
}

/* ---- operations ---- */

static struct quic_from client_of(struct fuzz *f)
{
    uint8_t what = octet(f), more = octet(f);
    return (struct quic_from){.v6 = what & 1,
                              .host = (uint8_t)(what >> 1 & 3),
                              .sport = (uint16_t)(50000 + (what >> 3 & 7)),
                              .vip = (uint8_t)(what >> 6),
                              .ttl = more & 1 ? (uint8_t)(more >> 1 & 3) : 64,
                              .tag = more >> 3 & 3 ? 0 : (uint8_t)(more >> 5 & 1),
                              .no_csum = more >> 6 & 1};
}

/* A connection ID in one of the ways of the service, whole or cut. @return octets */
static uint8_t make_cid(struct fuzz *f, const struct quic_from *from, uint8_t cid[255])
{
    const struct quic_service *service = quic_from_service(now_set(f), from);
    uint8_t what = octet(f), which = octet(f), nonce[32];
    memset(nonce, which, sizeof nonce);
    memset(cid, which ^ what, 255);
    if (service == NULL || service->n_servers == 0)
        return (uint8_t)(what % 24);
    const struct quic_server *server = &service->server[which % service->n_servers];
    int len = -1;
    if ((what & 7) < 7)
        for (unsigned i = 0; i < server->n_ids && len < 0; i++)
            len =
                quic_lb_encode(service->lb, (uint8_t)((what & 7) << 5 | (what >> 3 & 31)), &server->id[i], nonce, cid);
    if (len < 0) {
        // A private layout, an unroutable one, one of the client's, or more than 20 octets.
        static const uint8_t lengths[] = {0, 4, 8, 9, 16, 20, 21, 255};
        len = lengths[what >> 5];
        cid[0] = what & 8 ? 0xe0 | (uint8_t)(len - 1) : what & 16 ? 0xc0 : 0x20;
        if (server->n_ids > 1 && what & 16)
            memcpy(cid + 1, server->id[1].octets, 8);
    }
    if (octet(f) == 255 && len > 0)
        len--;
    return (uint8_t)len;
}

static void op_short(struct fuzz *f)
{
    struct quic_from from = client_of(f);
    uint8_t how = octet(f), first = octet(f), size = octet(f), cid[255];
    uint8_t frame[QUIC_FRAME_ROOM], datagram[1500];
    size_t cid_len = make_cid(f, &from, cid), len = size < 64 ? size : size < 128 ? 1100u + size : 1360u + size % 64;
    memset(datagram, size, sizeof datagram);
    datagram[0] = first & 0x7f;
    memcpy(datagram + 1, cid, RTE_MIN(cid_len, (size_t)20));
    receive(f, frame, quic_frame_put(frame, &f->bed->port[0], now_set(f), &from, datagram, len), how);
}

static size_t put_varint(uint8_t *p, uint64_t value, uint8_t form)
{
    unsigned size = 1u << (form & 3);
    for (unsigned i = 0; i < size; i++)
        p[i] = (uint8_t)(value >> 8 * (size - 1 - i));
    p[0] = (uint8_t)((p[0] & 0x3f) | (form & 3) << 6);
    return size;
}

/* The token of a Retry that was sent. */
static size_t kept_token(const struct fuzz *f, uint8_t which, uint8_t *token, uint8_t *cid, uint8_t *cid_len)
{
    const struct kept *kept = &f->sent[which % N_KEPT];
    struct quic_header header;
    size_t at = kept->len > 60 ? (kept->octets[12] == 0x86 ? 62 : 42) : 0;
    if (at == 0 || kept->len <= at ||
        quic_parse(kept->octets + at, kept->len - at, &(struct quic_opts){0}, &header) != VERDICT_OK ||
        header.type != QUIC_TYPE_RETRY || header.token_len > 300)
        return 0;
    memcpy(token, header.token, header.token_len);
    *cid_len = header.scid_len;
    memcpy(cid, header.scid, header.scid_len);
    return header.token_len;
}

static void op_long(struct fuzz *f)
{
    static const uint32_t versions[] = {1, 1, 0x6b3343cf, 0x1a2a3a4a, 0, 0x709a50c4, 1, 0x6b3343cf};
    static const uint16_t sizes[] = {1200, 1200, 1199, 1280, 1440, 1472, 60, 300};
    struct quic_from from = client_of(f);
    uint8_t how = octet(f), first = octet(f), what = octet(f), more = octet(f), scid_len = octet(f);
    uint8_t dcid[255], token[300], frame[QUIC_FRAME_ROOM], datagram[2800];
    uint32_t version = versions[what & 7];
    size_t len = sizes[what >> 3 & 7], token_len = 0;
    uint8_t dcid_len = make_cid(f, &from, dcid);
    memset(token, more, sizeof token);
    if ((more & 3) == 1)
        token_len = kept_token(f, more >> 2, token, dcid, &dcid_len);
    else if ((more & 3) == 2)
        token_len = more;
    scid_len = scid_len < 200 ? scid_len % 21 : scid_len;
    memset(datagram, 0x33, sizeof datagram);
    uint8_t *at = datagram;
    *at++ = first | 0x80;
    scene_put16(at, version >> 16);
    scene_put16(at + 2, version);
    at += 4;
    *at++ = dcid_len;
    memcpy(at, dcid, dcid_len);
    at += dcid_len;
    *at++ = scid_len;
    at += scid_len;
    bool initial = version == 1 ? (first >> 4 & 3) == 0 : version == 0x6b3343cf && (first >> 4 & 3) == 1;
    if (initial) {
        at += put_varint(at, token_len, token_len < 64 && !(what & 64) ? 0 : 1);
        memcpy(at, token, token_len);
        at += token_len;
    }
    size_t used = (size_t)(at - datagram) + 2, rest = len > used ? len - used : 0;
    if (what & 128)
        rest = more & 64 ? rest + 1 : rest / 2;
    put_varint(at, rest, 1);
    at += 2;
    len = RTE_MAX(len, used);
    if (what & 128 && !(more & 64) && rest > 64)
        memcpy(at + rest, datagram, RTE_MIN(rest, (size_t)40)); // coalesced
    receive(f, frame, quic_frame_put(frame, &f->bed->port[0], now_set(f), &from, datagram, len), how);
}

/* An error about something that a server has sent. */
static void op_icmp(struct fuzz *f)
{
    struct quic_from from = client_of(f);
    uint8_t how = octet(f), what = octet(f), quoted = octet(f), cid[255], frame[QUIC_FRAME_ROOM], datagram[600];
    uint8_t cid_len = RTE_MIN(make_cid(f, &from, cid), (uint8_t)20);
    memset(datagram, 0x44, sizeof datagram);
    datagram[0] = what & 1 ? 0xe0 : 0x40;
    memcpy(datagram + 1, "\0\0\0\1\4abcd", 9);
    datagram[10] = cid_len;
    memcpy(datagram + 11, cid, cid_len);
    size_t len = quic_error_put(frame, &f->bed->port[0], now_set(f), &from, what, datagram, quoted);
    receive(f, frame, len, how);
}

/* A template with some octets changed, its checksums mended or not. */
static void op_bent(struct fuzz *f)
{
    struct quic_from from = client_of(f);
    uint8_t how = octet(f), n = octet(f), cid[255], frame[QUIC_FRAME_ROOM], datagram[64];
    uint8_t cid_len = RTE_MIN(make_cid(f, &from, cid), (uint8_t)20);
    memset(datagram, 0x55, sizeof datagram);
    datagram[0] = 0x40;
    memcpy(datagram + 1, cid, cid_len);
    size_t len = quic_frame_put(frame, &f->bed->port[0], now_set(f), &from, datagram, 40);
    for (unsigned i = 0; i < (n & 7); i++) {
        uint8_t at = octet(f), value = octet(f);
        frame[at % len] ^= value;
    }
    if (n & 8)
        quic_frame_mend(frame, len);
    if (n & 16)
        len -= RTE_MIN((size_t)octet(f), len - 1);
    receive(f, frame, len, how);
}

static void op_raw(struct fuzz *f)
{
    uint8_t how = octet(f), kind = octet(f), frame[QUIC_FRAME_ROOM];
    size_t len = RTE_MIN((size_t)octet(f) + 1, (size_t)(f->end - f->p));
    struct quic_from from = {.v6 = kind & 1, .sport = 50000, .vip = (uint8_t)(kind >> 6), .ttl = 64};
    if (len == 0)
        return;
    if (kind & 2) {
        memcpy(frame, f->p, len);
        receive(f, frame, len, how);
    } else {
        receive(f, frame, quic_frame_put(frame, &f->bed->port[0], now_set(f), &from, f->p, len), how);
    }
    f->p += len;
}

/* Something that was sent comes in again, perhaps with changes. */
static void op_echo(struct fuzz *f)
{
    uint8_t how = octet(f), which = octet(f), twist = octet(f);
    struct kept kept = f->sent[which % N_KEPT];
    if (kept.len == 0)
        return;
    memcpy(kept.octets, f->bed->port[0].mac, 6);
    memcpy(kept.octets + 6, client_mac, 6);
    if (twist != 0)
        kept.octets[twist % kept.len] ^= which;
    receive(f, kept.octets, kept.len, how);
}

static void op_time(struct fuzz *f)
{
    static const uint32_t ms[] = {0, 1, 50, 200, 310, 510, 1000, 12000};
    deliver(f);
    bed_pass(f->bed, ms[octet(f) % RTE_DIM(ms)]);
    take_sent(f);
}

static void op_set(struct fuzz *f)
{
    deliver(f);
    atomic_store(&f->bed->shared.quic, f->sets[octet(f) % N_SETS]);
}

/* What the control thread writes while a set is published. */
static void op_way(struct fuzz *f)
{
    static const uint16_t mtus[] = {0, 1500, 1280, 100, 20, 60, 1300, 65535};
    struct quic_set *set = atomic_load(&f->bed->shared.quic);
    uint8_t which = octet(f), what = octet(f);
    deliver(f);
    struct quic_service *service = &set->service[which % set->n_services];
    struct quic_server *server = &service->server[(which >> 4) % service->n_servers];
    if (what & 8)
        server->mtu = mtus[what & 7];
    else if (what & 16)
        server->port = (uint16_t)(1 + (what & 1));
    else if (what & 32)
        server->unhealthy = what & 1;
    else
        server->mac = 0;
}

static void mend_ways(struct fuzz *f)
{
    for (unsigned s = 0; s < N_SETS; s++)
        for (unsigned i = 0; i < f->sets[s]->n_services; i++)
            for (unsigned k = 0; k < f->sets[s]->service[i].n_servers; k++) {
                struct quic_server *server = &f->sets[s]->service[i].server[k];
                for (unsigned n = 0; n < RTE_DIM(servers); n++)
                    if (strcmp(servers[n].name, server->name) == 0) {
                        const uint8_t mac[6] = {2, 0, 0, 0, servers[n].mac, 2};
                        const char *vlan = strchr(servers[n].extra, '=');
                        bool tagged = strncmp(servers[n].extra, " vlan", 5) == 0;
                        server->mac = quic_next_hop(mac, tagged ? (uint16_t)atoi(vlan + 1) : 0);
                        server->port = servers[n].port[0] == 'a' ? 1 : 2;
                        server->mtu = 0;
                        server->unhealthy = false;
                    }
            }
}

static void pool_release(struct fuzz *f)
{
    while (f->n_held > 0)
        rte_pktmbuf_free(f->held[--f->n_held]);
}

/* A datagram comes in while only a few buffers are left. */
static void op_pool(struct fuzz *f)
{
    uint8_t left = octet(f) & 7, frame[QUIC_FRAME_ROOM], datagram[1440];
    struct quic_from from = client_of(f);
    deliver(f);
    memset(datagram, 0, sizeof datagram);
    memcpy(datagram,
           "\xc0\0\0\0\1\x08"
           "abcdefgh\0\0\x44\xd0",
           18);
    size_t len = quic_frame_put(frame, &f->bed->port[0], now_set(f), &from, datagram, sizeof datagram);
    if (!has_buffers(f))
        return;
    struct kept *in = &f->in[f->n_in++];
    in->len = (uint16_t)(len - quic_l3(frame));
    memcpy(in->octets, frame + quic_l3(frame), in->len);
    memcpy(in->mac, frame + 6, 6);
    struct rte_mbuf *mbuf = frame_of(f, frame, len, 100);
    while (rte_mempool_avail_count(f->bed->pool) > left && f->n_held < N_HELD) {
        f->held[f->n_held] = rte_pktmbuf_alloc(f->bed->pool);
        if (f->held[f->n_held] == NULL)
            break;
        f->n_held++;
    }
    bed_receive_at(f->bed, 0, &f->bed->port[0], &mbuf, 1);
    take_sent(f);
    pool_release(f);
}

static uint64_t counted(const struct fuzz *f)
{
    uint64_t n = 0;
    for (uint16_t w = 0; w < f->bed->shared.n_workers; w++) {
        const struct quic_stats *stats = &f->bed->fwd[w]->quic->stats;
        for (unsigned i = 0; i < QUIC_SERVICES_MAX; i++) {
            n += stats->service[i].icmp_followed;
            for (unsigned k = 0; k < QUIC_SERVERS_MAX; k++)
                n += stats->server[i][k].packets;
        }
    }
    return n;
}

static void op_refuse(struct fuzz *f)
{
    deliver(f);
    CHECK(f->delivered == counted(f));
    f->bed->refuse_send = true;
    op_short(f);
    deliver(f);
    f->bed->refuse_send = false;
    // What the device did not take was counted.
    f->delivered = counted(f);
}

static void finish(struct fuzz *f)
{
    struct bed *bed = f->bed;
    deliver(f);
    pool_release(f);
    CHECK(f->delivered == counted(f));
    bed_pass(bed, 2000);
    for (unsigned i = 0; i < 8; i++)
        bed_pass(bed, FLOW_IDLE_MS);
    take_sent(f);
    CHECK(bed_check(bed) == 0);
    for (uint16_t w = 0; w < bed->shared.n_workers; w++) {
        CHECK(bed->fwd[w]->quic->n == 0);
        for (unsigned i = 0; i < QUIC_SERVICES_MAX; i++)
            if (bed->fwd[w]->quic->flow[i] != NULL) {
                struct flow_stats stats;
                flow_stats(bed->fwd[w]->quic->flow[i], &stats);
                CHECK(stats.n_flows == 0 && flow_check(bed->fwd[w]->quic->flow[i]) == 0);
            }
    }
    CHECK(bed_mbufs(bed) == 0);
    mend_ways(f);
    atomic_store(&bed->shared.quic, f->sets[0]);
    memset(f->sent, 0, sizeof f->sent);
    f->n_sent = f->n_in = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct fuzz *f = &fuzz[data[0] & 1];
    f->p = data + 1;
    f->end = data + size;
    while (f->p < f->end) {
        switch (octet(f) % 16) {
        case 0:
        case 1:
        case 2:
        case 3:
            op_short(f);
            break;
        case 4:
        case 5:
        case 6:
        case 7:
            op_long(f);
            break;
        case 8:
            op_icmp(f);
            break;
        case 9:
            op_bent(f);
            break;
        case 10:
            op_raw(f);
            break;
        case 11:
            op_echo(f);
            break;
        case 12:
            op_time(f);
            break;
        case 13:
            op_set(f);
            break;
        case 14:
            op_way(f);
            break;
        default:
            if (octet(f) & 1)
                op_pool(f);
            else
                op_refuse(f);
            break;
        }
        CHECK(bed_check(f->bed) == 0);
    }
    finish(f);
    return 0;
}
