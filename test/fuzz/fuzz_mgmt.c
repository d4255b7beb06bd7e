// SPDX-License-Identifier: Apache-2.0
/*
 * A stream of operations at management, over real tables and a worker that runs nowhere else: raw packets, commands
 * of every module with parameters that decode and parameters that do not, datasets fetched in any order, events,
 * expressed Interests and what comes back, time. And the wire decoders on raw octets.
 *
 * What is sent must parse as its receiver parses it; what a decoder accepts must come back from its encoder and decode
 * to the same octets again; nothing is left when management ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/mgmt/face_control_priv.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/mgmt/rib.h"
#include "fwd/strategy_set.h"
#include "fwd/worker.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"
#include "test/bed/bed.h"

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            fprintf(stderr, "fuzz_mgmt: %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                   \
        }                                                                              \
    } while (0)

enum { N_FACES = 4, OPS_MAX = 200 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bed *bed;
static struct worker worker;
/* Made anew only when an input has changed the faces: looking at all their places takes long. */
static struct face_control *control;
static uint32_t next_id, n_faces;
static const struct face *faces[N_FACES];

struct fuzz {
    struct mgmt *mgmt;
    struct mgmt_env env;
    uint64_t now_ns, wall_ms;
    const uint8_t *p, *end;
    uint8_t last_name[NDN_PACKET_MAX]; /* of the last Data that was sent */
    uint16_t last_len;
    unsigned n_sent;
};

static uint8_t octet(struct fuzz *f)
{
    return f->p < f->end ? *f->p++ : 0;
}

/* A run of octets, its length first. */
static struct mgmt_octets run_of(struct fuzz *f, unsigned max)
{
    size_t left = (size_t)(f->end - f->p), len = octet(f) % (max + 1);
    left = left > 0 ? left - 1 : 0;
    const struct mgmt_octets run = {f->p, (uint16_t)(len < left ? len : left)};
    f->p += run.len;
    return run;
}

/* The value of a Name of a few short components, now and then of very many. */
static struct mgmt_octets name_of(struct fuzz *f, uint8_t *buf, size_t size)
{
    unsigned n = octet(f);
    n = n < 8 ? n % 4 : n < 240 ? 1 + n % 6 : n - 208;
    size_t len = 0;
    for (unsigned i = 0; i < n && len + 8 < size; i++) {
        uint8_t what = octet(f);
        buf[len++] = what % 16 == 0 ? 54 : NDN_GENERIC;
        buf[len++] = 1 + what % 2;
        buf[len++] = (uint8_t)('a' + what % 5);
        if (what % 2 == 1)
            buf[len++] = 'x';
    }
    return (struct mgmt_octets){buf, (uint16_t)len};
}

/* Everything that leaves management must be what its receiver accepts. */
static void caught(void *ctx, const uint8_t *packet, size_t len)
{
    struct fuzz *f = ctx;
    const struct ndn_parse_opts opts = {0};
    struct ndn_packet pkt;
    CHECK(len <= NDN_PACKET_MAX);
    CHECK(ndn_packet_parse(packet, len, &opts, &pkt) == VERDICT_OK);
    f->n_sent++;
    if (pkt.type != NDN_TYPE_DATA)
        return;
    CHECK(pkt.data.freshness_ms == 1000);
    CHECK(pkt.name.len <= sizeof f->last_name);
    memcpy(f->last_name, pkt.name.value, pkt.name.len);
    f->last_len = pkt.name.len;
}

static void receive(struct fuzz *f, const uint8_t *octets, size_t len)
{
    // A block of the exact size, so that a sanitizer sees the first octet read past the end.
    uint8_t *copy = malloc(len > 0 ? len : 1);
    CHECK(copy != NULL);
    if (len > 0)
        memcpy(copy, octets, len);
    mgmt_receive(f->mgmt, copy, len, f->now_ns, f->wall_ms);
    free(copy);
}

/* An Interest in an LpPacket, as the forwarder would hand it over. */
static void ask(struct fuzz *f, const uint8_t *name, size_t len, bool prefix)
{
    uint8_t buf[NDN_LP_HEADER_MAX + NDN_PACKET_MAX], *packet = buf + NDN_LP_HEADER_MAX;
    const struct ndn_interest_out out = {.name = name,
                                         .name_len = (uint16_t)len,
                                         .can_be_prefix = prefix,
                                         .must_be_fresh = prefix,
                                         .nonce = 1,
                                         .lifetime_ms = 1000};
    size_t n = ndn_interest_encode(packet, NDN_PACKET_MAX, &out);
    if (n == 0)
        return;
    uint8_t how = octet(f);
    const struct ndn_lp_out lp = {.has_incoming_face = (how & 1) != 0,
                                  .incoming_face = (how & 2) != 0 ? bed->face[how % N_FACES] : how,
                                  .token = (const uint8_t *)"12345678",
                                  .token_len = (how & 4) != 0 ? 8 : 0};
    size_t header = ndn_lp_prepend(packet, n, &lp);
    receive(f, packet - header, header + n);
}

static const char *const commands[] = {
    "/localhost/nfd/faces/create",    "/localhost/nfd/faces/update",        "/localhost/nfd/faces/destroy",
    "/localhost/nfd/fib/add-nexthop", "/localhost/nfd/fib/remove-nexthop",  "/localhost/nfd/rib/register",
    "/localhost/nfd/rib/unregister",  "/localhost/nfd/rib/announce",        "/localhost/nfd/cs/config",
    "/localhost/nfd/cs/erase",        "/localhost/nfd/strategy-choice/set", "/localhost/nfd/strategy-choice/unset",
    "/localhop/nfd/rib/register",     "/localhop/nfd/rib/announce",         "/localhop/nfd/fib/add-nexthop",
    "/localhost/nfd/rib/nosuchverb",
};
static const char *const datasets[] = {
    "/localhost/nfd/faces/list", "/localhost/nfd/faces/query",    "/localhost/nfd/faces/channels",
    "/localhost/nfd/fib/list",   "/localhost/nfd/rib/list",       "/localhost/nfd/strategy-choice/list",
    "/localhost/nfd/cs/info",    "/localhost/nfd/status/general", "/localhost/nfd/faces/events",
    "/localhop/nfd/rib/list",
};
static const char *const uris[] = {
    "udp4://10.0.0.7:6363",
    "ether://[02:00:00:00:00:09]",
    "udp6://[fd00::7]:6363",
    "tcp4://1.2.3.4:6363",
    "udp4://999.1.1.1:1",
    "dev://a",
    "",
    "udp4://224.0.23.170:56363",
};
static const char *const strategies[] = {
    "/localhost/nfd/strategy/multicast",
    "/localhost/nfd/strategy/best-route/54=%05",
    "/localhost/nfd/strategy/best-route/54=%05/retx-suppression-initial~20",
    "/localhost/nfd/strategy/multicast/54=%04",
    "/localhost/nfd/strategy/nope",
};
#define N_OF(list) (sizeof(list) / sizeof *(list))

static size_t uri_name(const char *uri, uint8_t *p, size_t size)
{
    int len = ndn_name_from_uri(uri, p, size);
    CHECK(len >= 0);
    return (size_t)len;
}

static uint64_t number(struct fuzz *f)
{
    static const uint64_t edges[] = {0, 1, 2, 255, 256, 257, 63, 64, 1400, 8800, UINT16_MAX, UINT32_MAX, UINT64_MAX};
    uint8_t which = octet(f);
    return which < N_OF(edges) ? edges[which] : which < 128 ? which : bed->face[which % N_FACES];
}

static struct mgmt_octets text_of(struct fuzz *f)
{
    uint8_t which = octet(f);
    if (which >= N_OF(uris))
        return run_of(f, 40);
    return (struct mgmt_octets){(const uint8_t *)uris[which], (uint16_t)strlen(uris[which])};
}

/* ControlParameters of any fields. @return octets */
static size_t params_of(struct fuzz *f, uint8_t *out, size_t size)
{
    uint8_t name[700], strategy[700];
    struct mgmt_params params = {.has = octet(f)};
    params.has |= (uint32_t)octet(f) << 8;
    if (params.has & MGMT_HAS_NAME)
        params.name = name_of(f, name, sizeof name);
    if (params.has & MGMT_HAS_URI)
        params.uri = text_of(f);
    if (params.has & MGMT_HAS_LOCAL_URI)
        params.local_uri = text_of(f);
    if (params.has & MGMT_HAS_STRATEGY) {
        uint8_t which = octet(f);
        params.strategy =
            which < N_OF(strategies)
                ? (struct mgmt_octets){strategy, (uint16_t)uri_name(strategies[which], strategy, sizeof strategy)}
                : name_of(f, strategy, sizeof strategy);
    }
    uint64_t *const numbers[] = {&params.face_id,     &params.origin,
                                 &params.cost,        &params.capacity,
                                 &params.count,       &params.flags,
                                 &params.mask,        &params.expiration_ms,
                                 &params.persistency, &params.congestion_interval_ns,
                                 &params.mtu,         &params.congestion_threshold};
    static const uint32_t bits[] = {MGMT_HAS_FACE_ID,
                                    MGMT_HAS_ORIGIN,
                                    MGMT_HAS_COST,
                                    MGMT_HAS_CAPACITY,
                                    MGMT_HAS_COUNT,
                                    MGMT_HAS_FLAGS,
                                    MGMT_HAS_MASK,
                                    MGMT_HAS_EXPIRATION_PERIOD,
                                    MGMT_HAS_FACE_PERSISTENCY,
                                    MGMT_HAS_CONGESTION_INTERVAL,
                                    MGMT_HAS_MTU,
                                    MGMT_HAS_CONGESTION_THRESHOLD};
    for (size_t i = 0; i < N_OF(numbers); i++)
        if (params.has & bits[i])
            *numbers[i] = number(f);
    return mgmt_params_encode(out, size, &params);
}

static size_t put_component(uint8_t *p, const uint8_t *value, size_t len)
{
    size_t n = ndn_tlv_put_var(p, NDN_GENERIC);
    n += ndn_tlv_put_var(p + n, len);
    if (len > 0)
        memcpy(p + n, value, len);
    return n + len;
}

static void command(struct fuzz *f)
{
    uint8_t name[NDN_PACKET_MAX], params[2048];
    size_t n = uri_name(commands[octet(f) % N_OF(commands)], name, sizeof name), len;
    uint8_t how = octet(f);
    if (how % 4 == 0) {
        const struct mgmt_octets raw = run_of(f, 200);
        len = raw.len;
        if (len > 0)
            memcpy(params, raw.p, len);
    } else {
        len = params_of(f, params, sizeof params);
    }
    n += put_component(name + n, params, len);
    if ((how & 8) != 0) {
        name[n++] = NDN_PARAMS_DIGEST;
        name[n++] = NDN_DIGEST_SIZE;
        memset(name + n, how, NDN_DIGEST_SIZE);
        n += NDN_DIGEST_SIZE;
    }
    ask(f, name, n, (how & 16) != 0);
}

static void dataset(struct fuzz *f)
{
    uint8_t name[NDN_PACKET_MAX], how = octet(f);
    size_t n = uri_name(datasets[octet(f) % N_OF(datasets)], name, sizeof name);
    switch (how % 4) {
    case 0: // what was sent last, as it is or with another last octet
        n = f->last_len;
        memcpy(name, f->last_name, n);
        if ((how & 16) != 0 && n > 3)
            name[n - 1] = octet(f);
        if ((how & 32) != 0 && n > 3)
            n -= 3;
        break;
    case 1: {
        const struct mgmt_octets query = run_of(f, 80);
        n += put_component(name + n, query.p, query.len);
        break;
    }
    case 2:
        name[n++] = (uint8_t)(50 + octet(f) % 10);
        name[n++] = 1;
        name[n++] = octet(f);
        break;
    default:
        break;
    }
    ask(f, name, n, (how & 8) == 0);
}

static void expressed(void *ctx, const uint8_t *content, size_t len)
{
    struct fuzz *f = ctx;
    f->n_sent += content != NULL && len > 0 ? content[0] & 1 : 0;
}

static void express(struct fuzz *f)
{
    uint8_t name[700], packet[1024];
    const struct mgmt_octets value = name_of(f, name, sizeof name);
    uint8_t how = octet(f);
    const struct ndn_interest_out interest = {.name = value.p, .name_len = value.len, .can_be_prefix = (how & 1) != 0};
    const struct ndn_data_out data = {.name = value.p, .name_len = value.len, .content = name, .content_len = how % 9};
    if ((how & 6) == 0) {
        size_t len = ndn_data_encode(packet, sizeof packet, &data, NULL, NULL);
        receive(f, packet, len);
        return;
    }
    size_t len = ndn_interest_encode(packet + 64, sizeof packet - 64, &interest);
    if ((how & 6) == 2) {
        mgmt_express(f->mgmt, packet + 64, len, (uint64_t)how * 10000000, expressed, f);
        return;
    }
    const struct ndn_lp_out lp = {.nack_reason = 100};
    size_t header = ndn_lp_prepend(packet + 64, len, &lp);
    receive(f, packet + 64 - header, header + len);
}

/* What a decoder accepts, its encoder writes, so that it decodes to the same again. */
#define ROUND_TRIP(type, decode, encode)                             \
    do {                                                             \
        struct type got, again;                                      \
        if (decode(raw.p, raw.len, &got) == 0) {                     \
            size_t n = encode(out, sizeof out, &got);                \
            CHECK(n > 0 || raw.len == 0);                            \
            CHECK(decode(out, n, &again) == 0);                      \
            CHECK(encode(out_again, sizeof out_again, &again) == n); \
            CHECK(memcmp(out, out_again, n) == 0);                   \
        }                                                            \
    } while (0)

static size_t params_value_encode(uint8_t *p, size_t size, const struct mgmt_params *params)
{
    size_t n = mgmt_params_encode(p, size, params);
    struct cursor c = cursor_make(p, n);
    struct tlv tlv;
    CHECK(n > 0 && tlv_read(&c, false, &tlv) == VERDICT_OK && tlv.type == MGMT_CONTROL_PARAMETERS);
    memmove(p, tlv.value, tlv.len);
    return tlv.len;
}

static void decode(struct fuzz *f)
{
    static uint8_t out[1024], out_again[1024];
    const struct mgmt_octets raw = run_of(f, 255);
    struct mgmt_response response;
    struct mgmt_octets name, rest, uri;
    struct mgmt_next_hop hop;
    struct mgmt_route route;
    struct mgmt_params any;
    if (mgmt_params_decode(raw.p, raw.len, &any) == 0 && any.has != 0)
        ROUND_TRIP(mgmt_params, mgmt_params_decode, params_value_encode);
    ROUND_TRIP(mgmt_face_status, mgmt_face_status_decode, mgmt_face_status_encode);
    ROUND_TRIP(mgmt_face_notification, mgmt_face_notification_decode, mgmt_face_notification_encode);
    ROUND_TRIP(mgmt_cs_info, mgmt_cs_info_decode, mgmt_cs_info_encode);
    ROUND_TRIP(mgmt_strategy_choice, mgmt_strategy_choice_decode, mgmt_strategy_choice_encode);
    ROUND_TRIP(mgmt_general_status, mgmt_general_status_decode, mgmt_general_status_encode);
    ROUND_TRIP(mgmt_face_filter, mgmt_face_filter_decode, mgmt_face_filter_encode);
    if (mgmt_response_decode(raw.p, raw.len, &response) == 0)
        CHECK(response.text.len + response.body.len <= raw.len);
    if (mgmt_channel_decode(raw.p, raw.len, &uri) == 0)
        CHECK(uri.len <= raw.len);
    if (mgmt_entry_decode(raw.p, raw.len, &name, &rest) == 0) {
        struct mgmt_octets routes = rest;
        unsigned n = 0;
        while (mgmt_next_hop_take(&rest, &hop) == 1)
            CHECK(++n <= raw.len);
        while (mgmt_route_take(&routes, &route) == 1)
            CHECK(++n <= 2u * raw.len);
    }
}

static void operate(struct fuzz *f)
{
    switch (octet(f) % 10) {
    case 0: {
        const struct mgmt_octets raw = run_of(f, 255);
        receive(f, raw.p, raw.len);
        break;
    }
    case 1:
    case 2:
    case 3:
        command(f);
        break;
    case 4:
    case 5:
        dataset(f);
        break;
    case 6: {
        uint64_t ms = (uint64_t)octet(f) * 10;
        f->now_ns += ms * 1000000;
        f->wall_ms += ms;
        rib_poll(f->env.rib, f->now_ns);
        mgmt_poll(f->mgmt, f->now_ns);
        break;
    }
    case 7: {
        const struct mgmt_octets content = run_of(f, 255);
        mgmt_notify(f->mgmt, "faces", "events", content.p, content.len, f->now_ns);
        break;
    }
    case 8:
        express(f);
        break;
    default:
        decode(f);
        break;
    }
}

static void make_tables(void)
{
    struct fwd_shared *shared = &bed->shared;
    const struct fib_config config = {.capacity = 64, .pages = ARENA_PAGES_SMALL, .key = &shared->name_key};
    fib_destroy(shared->fib);
    CHECK(fib_create(&shared->fib, &config) == 0);
}

/* A few Data, so that cs/erase finds some. */
static void fill_cs(void)
{
    static uint32_t nonce;
    static const char *const names[] = {"/a/x", "/ax/b", "/c", "/b/b/b"};
    bed_route(bed, "/", bed->face[1], 0);
    for (size_t i = 0; i < N_OF(names); i++) {
        const struct bed_fields interest = {.nonce = ++nonce}, data = {.freshness_ms = 1000};
        bed_send_interest(bed, bed->face[0], names[i], &interest);
        bed_send_data(bed, bed->face[1], names[i], &data);
    }
}

static void make_control(void)
{
    const struct face_control_config config = {
        .shared = &bed->shared, .worker = &worker, .n_workers = 1, .port = bed->port, .n_ports = 1};
    bed->n_faces = 0;
    for (uint8_t i = 0; i < N_FACES; i++)
        bed->face[i] = bed_ether(bed, &bed->port[0], (uint8_t)(2 + i));
    CHECK(face_control_create(&control, &config) == 0);
    next_id = bed->shared.faces->next_id;
    n_faces = bed->shared.faces->n_faces;
    for (unsigned i = 0; i < N_FACES; i++)
        faces[i] = face_get(bed->shared.faces, bed->face[i]);
}

static bool faces_changed(void)
{
    const struct face_table *table = bed->shared.faces;
    bool changed = table->next_id != next_id || table->n_faces != n_faces;
    for (unsigned i = 0; i < N_FACES; i++)
        changed = changed || face_get(table, bed->face[i]) != faces[i];
    return changed;
}

/* Those that commands have made go, those that they have taken away come back. */
static void restore_faces(void)
{
    control->n_listeners = 0;
    if (!faces_changed())
        return;
    for (unsigned slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = bed->shared.faces->slot[slot];
        if (face != NULL && face->id >= FACE_ID_FIRST)
            port_face_remove(&bed->port[face->port], face);
    }
    face_control_destroy(control);
    face_table_destroy(bed->shared.faces);
    CHECK(face_table_create(&bed->shared.faces, NULL) == 0);
    make_control();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const struct bed_config config = {.cs_capacity = 16, .free_sent = true, .n_mbufs = 511, .pages = ARENA_PAGES_SMALL};
    bed = bed_create(&config);
    bed_port(bed);
    worker.fwd = bed->fwd[0];
    make_control();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fuzz fuzz;
    struct fuzz *f = &fuzz;
    *f = (struct fuzz){.p = data, .end = data + size, .now_ns = 1000000000, .wall_ms = 1700000000000};
    make_tables();
    fill_cs();
    f->env = (struct mgmt_env){
        .shared = &bed->shared,
        .worker = &worker,
        .n_workers = 1,
        .version = "fuzz",
        .cs_capacity_max = 16,
        .localhop = size % 2 == 0,
        .send = caught,
        .ctx = f,
    };
    f->env.faces = control;
    CHECK(strategy_set_create(&f->env.strategies) == 0);
    CHECK(rib_create(&f->env.rib, bed->shared.fib) == 0);
    CHECK(mgmt_create(&f->mgmt, &f->env) == 0);
    for (unsigned ops = 0; f->p < f->end && ops < OPS_MAX; ops++)
        operate(f);
    while (mgmt_poll(f->mgmt, f->now_ns) == 0)
        ;
    CHECK(bed_check(bed) == 0);
    mgmt_destroy(f->mgmt);
    rib_destroy(f->env.rib);
    strategy_set_destroy(f->env.strategies);
    restore_faces();
    return 0;
}
