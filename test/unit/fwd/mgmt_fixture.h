// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_MGMT_FIXTURE_H
#define TEST_UNIT_FWD_MGMT_FIXTURE_H

/* Management over real tables, without daemon, threads and sockets: packets go in by hand, answers are caught. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/sha.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/mgmt/rib.h"
#include "fwd/strategy_set.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_tlv.h"
#include "test/unit/fwd/hex.h"

#define SCENE_SENT_MAX 4096
#define SCENE_WALL_MS  UINT64_C(1700000000000)
/** The face that commands come in by, of this id: the first. */
#define SCENE_APP FACE_ID_FIRST

struct scene_packet {
    uint8_t *octets;
    size_t len;
};

struct scene {
    struct fwd_shared shared;
    struct mgmt_env env;
    struct mgmt *mgmt;
    uint64_t now_ns, wall_ms;
    unsigned n_sent;
    struct scene_packet sent[SCENE_SENT_MAX];
};

/** What Data says, pointers into the packet that was caught. */
struct scene_data {
    struct mgmt_octets name, content, final_block;
    uint64_t content_type, freshness_ms;
    struct ndn_lp lp;
    const uint8_t *octets; /**< the Data itself */
    size_t len;
};

static inline void scene_send(void *ctx, const uint8_t *packet, size_t len)
{
    struct scene *scene = ctx;
    cr_assert_lt(scene->n_sent, SCENE_SENT_MAX);
    cr_assert_leq(len, NDN_PACKET_MAX);
    uint8_t *copy = malloc(len);
    memcpy(copy, packet, len);
    scene->sent[scene->n_sent++] = (struct scene_packet){copy, len};
}

static inline void scene_forget(struct scene *scene)
{
    for (unsigned i = 0; i < scene->n_sent; i++)
        free(scene->sent[i].octets);
    scene->n_sent = 0;
}

/** A face of an application. @return its id */
static inline uint32_t scene_face(struct scene *scene, const char *uri)
{
    const struct face_config config = {.kind = FACE_THREAD,
                                       .scope = FACE_SCOPE_LOCAL,
                                       .persistency = FACE_ON_DEMAND,
                                       .local_uri = "unix:///run/nfd/nfd.sock",
                                       .remote_uri = uri};
    uint32_t id;
    cr_assert_eq(face_add(scene->shared.faces, &config, UINT16_MAX, &id), 0);
    return id;
}

/** @p env: what is to differ from the default */
static inline void scene_open(struct scene *scene, const struct mgmt_env *env)
{
    memset(scene, 0, sizeof *scene);
    ndn_name_hash_init();
    memset(scene->shared.name_key.octets, 7, sizeof scene->shared.name_key.octets);
    const struct fib_config fib = {.capacity = 4096, .pages = ARENA_PAGES_SMALL, .key = &scene->shared.name_key};
    cr_assert_eq(fib_create(&scene->shared.fib, &fib), 0);
    cr_assert_eq(face_table_create(&scene->shared.faces, NULL), 0);
    scene->env = env != NULL ? *env : (struct mgmt_env){0};
    scene->env.shared = &scene->shared;
    scene->env.version = "24.07-test";
    scene->env.send = scene_send;
    scene->env.ctx = scene;
    cr_assert_eq(strategy_set_create(&scene->env.strategies), 0);
    cr_assert_eq(rib_create(&scene->env.rib, scene->shared.fib), 0);
    scene->now_ns = 1000000000;
    scene->wall_ms = SCENE_WALL_MS;
    cr_assert_eq(mgmt_create(&scene->mgmt, &scene->env), 0);
    cr_assert_eq(scene_face(scene, "fd://20"), SCENE_APP);
}

static inline void scene_close(struct scene *scene)
{
    mgmt_destroy(scene->mgmt);
    rib_destroy(scene->env.rib);
    strategy_set_destroy(scene->env.strategies);
    face_table_destroy(scene->shared.faces);
    fib_destroy(scene->shared.fib);
    scene_forget(scene);
}

/** Let management have a packet as it is. */
static inline void scene_receive(struct scene *scene, const uint8_t *packet, size_t len)
{
    mgmt_receive(scene->mgmt, packet, len, scene->now_ns, scene->wall_ms);
}

static inline void scene_pass(struct scene *scene, uint64_t ms)
{
    scene->now_ns += ms * 1000000;
    scene->wall_ms += ms;
    mgmt_poll(scene->mgmt, scene->now_ns);
}

/** An Interest or Data in an LpPacket with IncomingFaceId and a PIT token, as the forwarder sends them. */
static inline void scene_receive_from(struct scene *scene, uint32_t face, const uint8_t *packet, size_t len)
{
    uint8_t buf[NDN_LP_HEADER_MAX + NDN_PACKET_MAX];
    const struct ndn_lp_out lp = {.has_incoming_face = face != 0,
                                  .incoming_face = face,
                                  .token = (const uint8_t *)"\1\2\3\4\5\6\7\x8",
                                  .token_len = 8};
    memcpy(buf + NDN_LP_HEADER_MAX, packet, len);
    size_t header = ndn_lp_prepend(buf + NDN_LP_HEADER_MAX, len, &lp);
    scene_receive(scene, buf + NDN_LP_HEADER_MAX - header, header + len);
}

/** A name by its URI. @return octets */
static inline size_t scene_name(const char *uri, uint8_t *p, size_t size)
{
    int len = ndn_name_from_uri(uri, p, size);
    cr_assert_geq(len, 0, "%s", uri);
    return (size_t)len;
}

/** Ask for a dataset, a segment or a notification. */
static inline void scene_ask(struct scene *scene, const uint8_t *name, size_t len, bool prefix, uint32_t lifetime_ms)
{
    uint8_t packet[NDN_PACKET_MAX];
    const struct ndn_interest_out out = {.name = name,
                                         .name_len = (uint16_t)len,
                                         .can_be_prefix = prefix,
                                         .must_be_fresh = true,
                                         .nonce = 7,
                                         .lifetime_ms = lifetime_ms};
    size_t n = ndn_interest_encode(packet, sizeof packet, &out);
    cr_assert_gt(n, 0);
    scene_receive_from(scene, SCENE_APP, packet, n);
}

static inline void scene_ask_uri(struct scene *scene, const char *uri, bool prefix)
{
    uint8_t name[NDN_NAME_MAX];
    scene_ask(scene, name, scene_name(uri, name, sizeof name), prefix, 4000);
}

/** Read sent packet @p i, whose signature must be right. */
static inline struct scene_data scene_read(const struct scene *scene, unsigned i)
{
    cr_assert_lt(i, scene->n_sent, "%u packets were sent", scene->n_sent);
    const struct ndn_parse_opts opts = {0};
    struct ndn_packet pkt;
    cr_assert_eq(ndn_packet_parse(scene->sent[i].octets, scene->sent[i].len, &opts, &pkt), VERDICT_OK);
    cr_assert_eq(pkt.type, NDN_TYPE_DATA);
    struct scene_data data = {.lp = pkt.lp, .octets = pkt.net, .len = pkt.net_len};
    struct cursor outer = cursor_make(pkt.net, pkt.net_len);
    struct tlv tlv = {0}, inside = {0};
    cr_assert_eq(tlv_read(&outer, false, &tlv), VERDICT_OK);
    struct cursor c = cursor_make(tlv.value, tlv.len);
    const uint8_t *covered = c.p, *covered_end = NULL;
    while (cursor_left(&c) > 0) {
        cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
        const struct mgmt_octets value = {tlv.value, (uint16_t)tlv.len};
        if (tlv.type == NDN_TLV_NAME)
            data.name = value;
        if (tlv.type == NDN_TLV_CONTENT)
            data.content = value;
        if (tlv.type == NDN_TLV_SIGNATURE_INFO) {
            cr_assert_arr_eq(tlv.value, "\x1b\x01\x00", 3);
            covered_end = c.p;
        }
        if (tlv.type == NDN_TLV_SIGNATURE_VALUE) {
            uint8_t digest[32];
            SHA256(covered, (size_t)(covered_end - covered), digest);
            cr_assert_eq(tlv.len, 32);
            cr_assert_arr_eq(tlv.value, digest, 32);
        }
        if (tlv.type != NDN_TLV_META_INFO)
            continue;
        struct cursor meta = cursor_make(tlv.value, tlv.len);
        while (cursor_left(&meta) > 0) {
            cr_assert_eq(tlv_read(&meta, false, &inside), VERDICT_OK);
            if (inside.type == NDN_TLV_CONTENT_TYPE)
                cr_assert(tlv_nni(&inside, &data.content_type));
            if (inside.type == NDN_TLV_FRESHNESS)
                cr_assert(tlv_nni(&inside, &data.freshness_ms));
            if (inside.type == NDN_TLV_FINAL_BLOCK_ID)
                data.final_block = (struct mgmt_octets){inside.value, (uint16_t)inside.len};
        }
    }
    cr_assert_not_null(covered_end, "unsigned");
    cr_assert_eq(data.freshness_ms, 1000);
    cr_assert_eq(data.lp.token_len, scene->sent[i].octets[0] == NDN_LP_PACKET ? data.lp.token_len : 0);
    cr_assert((data.lp.has & LP_HAS_CACHE_POLICY) != 0 && data.lp.cache_policy == 1, "answers are not to be cached");
    return data;
}

static inline const char *scene_uri(struct mgmt_octets name)
{
    static char uri[4096];
    ndn_name_to_uri(name.p, name.len, uri, sizeof uri);
    return uri;
}

enum scene_format { SCENE_UNSIGNED, SCENE_V03, SCENE_V02 };

/** Name of a command. @return octets */
static inline size_t scene_command_name(uint8_t *p, const char *verb, const uint8_t *params, size_t len,
                                        enum scene_format format)
{
    char uri[128];
    snprintf(uri, sizeof uri, verb[0] == '/' ? "%s" : "/localhost/nfd/%s", verb);
    size_t n = scene_name(uri, p, 128);
    n += ndn_tlv_put_var(p + n, NDN_GENERIC);
    n += ndn_tlv_put_var(p + n, len);
    memcpy(p + n, params, len);
    n += len;
    if (format == SCENE_V03) {
        p[n++] = NDN_PARAMS_DIGEST;
        p[n++] = 32;
        memset(p + n, 0x5a, 32);
        n += 32;
    }
    if (format == SCENE_V02)
        n += hex_octets("0808000001a22d217dfb"
                        "08080102030405060708"
                        "08051603"
                        "1b0100"
                        "0803"
                        "170100",
                        p + n, 64);
    return n;
}

static inline void scene_command_raw(struct scene *scene, uint32_t face, const char *verb, const uint8_t *params,
                                     size_t len, enum scene_format format)
{
    uint8_t name[NDN_PACKET_MAX], packet[NDN_PACKET_MAX];
    size_t n = scene_command_name(name, verb, params, len, format);
    const struct ndn_interest_out out = {.name = name, .name_len = (uint16_t)n, .nonce = 9};
    n = ndn_interest_encode(packet, sizeof packet, &out);
    cr_assert_gt(n, 0);
    scene_receive_from(scene, face, packet, n);
}

/** Command and answer. @p body may be NULL. @return the status code, 0 without an answer */
static inline unsigned scene_command(struct scene *scene, const char *verb, const struct mgmt_params *params,
                                     struct mgmt_params *body)
{
    uint8_t octets[NDN_NAME_MAX];
    size_t len = mgmt_params_encode(octets, sizeof octets, params);
    cr_assert_gt(len, 0);
    scene_forget(scene);
    scene_command_raw(scene, SCENE_APP, verb, octets, len, SCENE_V03);
    for (unsigned i = 0; scene->n_sent == 0 && mgmt_poll(scene->mgmt, scene->now_ns) == 0; i++)
        cr_assert_lt(i, 100000);
    if (scene->n_sent == 0)
        return 0;
    cr_assert_eq(scene->n_sent, 1);
    struct scene_data data = scene_read(scene, 0);
    struct mgmt_response response;
    cr_assert_eq(data.content_type, 0);
    cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
    if (body != NULL) {
        memset(body, 0, sizeof *body);
        if (response.body.len > 0) {
            struct cursor c = cursor_make(response.body.p, response.body.len);
            struct tlv tlv = {0};
            cr_assert_eq(tlv_read(&c, false, &tlv), VERDICT_OK);
            cr_assert_eq(tlv.type, MGMT_CONTROL_PARAMETERS);
            cr_assert_eq(mgmt_params_decode(tlv.value, tlv.len, body), 0);
        }
    }
    return response.code;
}

/** Text of the answer to the last command. */
static inline const char *scene_text(const struct scene *scene)
{
    static char text[256];
    struct scene_data data = scene_read(scene, 0);
    struct mgmt_response response;
    cr_assert_eq(mgmt_response_decode(data.content.p, data.content.len, &response), 0);
    snprintf(text, sizeof text, "%.*s", response.text.len, response.text.p);
    return text;
}

/** Parameters with a name. */
static inline struct mgmt_params scene_params(const char *uri)
{
    static uint8_t name[NDN_NAME_MAX];
    size_t len = scene_name(uri, name, sizeof name);
    return (struct mgmt_params){.has = MGMT_HAS_NAME, .name = {name, (uint16_t)len}};
}

/** Fetch a whole dataset, segment by segment. @return its octets, to be freed */
static inline uint8_t *scene_fetch(struct scene *scene, const char *uri, size_t *len)
{
    uint8_t *octets = NULL;
    *len = 0;
    scene_forget(scene);
    scene_ask_uri(scene, uri, true);
    for (unsigned segment = 0;; segment++) {
        cr_assert_eq(scene->n_sent, 1, "segment %u", segment);
        struct scene_data data = scene_read(scene, 0);
        octets = realloc(octets, *len + data.content.len + 1);
        memcpy(octets + *len, data.content.p, data.content.len);
        *len += data.content.len;
        if (data.final_block.len > 0)
            break;
        uint8_t name[NDN_NAME_MAX];
        size_t n = data.name.len;
        memcpy(name, data.name.p, n);
        size_t back = segment < 256 ? 3 : 4;
        cr_assert_eq(name[n - back], 50, "ends in a segment number");
        n -= back;
        name[n++] = 50;
        name[n] = (uint8_t)ndn_tlv_put_nni(name + n + 1, segment + 1);
        n += 1u + name[n];
        scene_forget(scene);
        scene_ask(scene, name, n, false, 4000);
    }
    scene_forget(scene);
    return octets;
}

#endif
