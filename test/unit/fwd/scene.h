// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_UNIT_FWD_SCENE_H
#define TEST_UNIT_FWD_SCENE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/token.h"
#include "parser/ndn_encode.h"
#include "test/bed/bed.h"
#include "test/cases/bad_inputs.h"

/*
 * The stage of the pipeline tests: one forwarder with faces A to E (point-to-point, one Ethernet port each), LOCAL
 * and LOCAL2 (bare ports of local scope, with local fields), MULTI (multi-access) and AD_HOC. Tests send packets from
 * faces and say what must come out, in order; each step ends with the conservation law.
 */
enum scene_face { A, B, C, D, E, LOCAL, LOCAL2, MULTI, AD_HOC, SCENE_FACES };

__attribute__((unused)) static const char *const scene_names[SCENE_FACES] = {"A",     "B",      "C",     "D",     "E",
                                                                             "LOCAL", "LOCAL2", "MULTI", "AD_HOC"};

static struct bed *bed;
static uint32_t face_id[SCENE_FACES];

static inline void scene_faces(void)
{
    for (int i = A; i <= E; i++)
        face_id[i] = bed_ether(bed, bed_port(bed), 2);
    for (int i = LOCAL; i <= LOCAL2; i++) {
        struct face_config config = {.port = bed_bare_port(bed)->index,
                                     .kind = FACE_BARE,
                                     .scope = FACE_SCOPE_LOCAL,
                                     .flags = FACE_LOCAL_FIELDS};
        face_id[i] = bed_face(bed, &config);
    }
    face_id[MULTI] = bed_ether_multicast(bed, bed_port(bed));
    struct port *port = bed_port(bed);
    struct face_config config = {.port = port->index, .kind = FACE_ETHER, .link_type = FACE_LINK_AD_HOC};
    memcpy(config.local_mac, port->mac, 6);
    memcpy(config.remote_mac, (uint8_t[6]){0x01, 0x00, 0x5e, 0x00, 0x17, 0xaa}, 6);
    face_id[AD_HOC] = bed_face(bed, &config);
}

static inline void scene(const struct bed_config *config)
{
    bed = bed_create(config);
    scene_faces();
}

/** Start with settings: SCENE(.cs_capacity = 10). */
#define SCENE(...) scene(&(struct bed_config){.pages = ARENA_PAGES_SMALL, __VA_ARGS__})

/** Let everything lapse, check that nothing is left, and free the bed. */
static inline void finish(void)
{
    bed_drop_sent(bed);
    bed->refuse_send = false;
    bed_pass(bed, 70000);
    bed_drop_sent(bed);
    cr_assert_eq(bed_check(bed), 0, "law or invariant broken at the end");
    for (uint16_t w = 0; w < bed->shared.n_workers; w++) {
        struct cs_info info;
        cs_info(bed->fwd[w]->cs, &info);
        cr_assert_eq(pit_count(bed->fwd[w]->pit), 0, "%u pending entries left", pit_count(bed->fwd[w]->pit));
        cr_assert_eq(bed->fwd[w]->stats.held, 0);
        for (int i = 0; i < SCENE_FACES; i++) {
            const struct stats_face *stats = &bed->fwd[w]->face_stats[face_id[i] % FACE_SLOTS];
            cr_assert_eq(stats->pending, 0, "face %s keeps %llu pending", scene_names[i],
                         (unsigned long long)stats->pending);
        }
        cs_resize(bed->fwd[w]->cs, 0);
        cs_poll(bed->fwd[w]->cs, bed->now_ns);
    }
    cr_assert_eq(bed_mbufs(bed), 0, "%u mbufs leaked", bed_mbufs(bed));
    bed_destroy(bed);
}

static inline void route(const char *prefix, enum scene_face face, uint32_t cost)
{
    bed_route(bed, prefix, face_id[face], cost);
}

#define FIELDS(...) (&(struct bed_fields){__VA_ARGS__})

static inline void interest(enum scene_face face, const char *uri, const struct bed_fields *fields)
{
    bed_send_interest(bed, face_id[face], uri, fields);
}

static inline void data(enum scene_face face, const char *uri, const struct bed_fields *fields)
{
    bed_send_data(bed, face_id[face], uri, fields);
}

/** A link-layer packet written as a recipe of test/cases. */
static inline void packet(enum scene_face face, const char *recipe)
{
    uint8_t *buf = malloc(BAD_INPUT_MAX);
    size_t len = bad_input_expand(recipe, 0, buf);
    bed_packet(bed, face_id[face], buf, len);
    free(buf);
}

/** Frame @p i went out to this face; its packet. */
static inline struct ndn_packet sent(unsigned i, enum scene_face face)
{
    uint32_t to;
    cr_assert_lt(i, bed->n_sent, "frame %u to %s was not sent (%u were)", i, scene_names[face], bed->n_sent);
    struct ndn_packet pkt = bed_parse_sent(bed, i, &to);
    cr_assert_eq(to, face_id[face], "frame %u went to face %u, not to %s", i, to, scene_names[face]);
    return pkt;
}

static inline struct ndn_packet sent_interest(unsigned i, enum scene_face face)
{
    struct ndn_packet pkt = sent(i, face);
    cr_assert(pkt.type == NDN_TYPE_INTEREST && !(pkt.lp.has & LP_HAS_NACK), "frame %u is no Interest", i);
    bool local = face == LOCAL || face == LOCAL2;
    cr_assert_eq(pkt.lp.token_len, local ? 0 : TOKEN_SIZE, "our token goes to all but local applications");
    return pkt;
}

static inline struct ndn_packet sent_data(unsigned i, enum scene_face face)
{
    struct ndn_packet pkt = sent(i, face);
    cr_assert(pkt.type == NDN_TYPE_DATA, "frame %u is no Data", i);
    return pkt;
}

static inline struct ndn_packet sent_nack(unsigned i, enum scene_face face, uint32_t reason)
{
    struct ndn_packet pkt = sent(i, face);
    cr_assert(pkt.type == NDN_TYPE_INTEREST && pkt.lp.has & LP_HAS_NACK, "frame %u is no Nack", i);
    cr_assert_eq(pkt.lp.nack_reason, reason, "Nack reason %u instead of %u", pkt.lp.nack_reason, reason);
    return pkt;
}

/** Exactly @p n frames came out; free them, and check the conservation law and the tables. */
static inline void sent_all(unsigned n)
{
    cr_assert_eq(bed->n_sent, n, "%u frames sent instead of %u", bed->n_sent, n);
    bed_drop_sent(bed);
    cr_assert_eq(bed_check(bed), 0, "law or invariant broken");
}

static inline bool name_is(const struct ndn_packet *pkt, const char *uri)
{
    uint8_t name[NDN_NAME_MAX];
    int len = ndn_name_from_uri(uri, name, sizeof name);
    return len == (int)pkt->name.len && memcmp(name, pkt->name.value, pkt->name.len) == 0;
}

static inline uint64_t drops(enum drop drop)
{
    return bed_drops(bed, drop);
}

static inline uint32_t pending(void)
{
    uint32_t n = 0;
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        n += pit_count(bed->fwd[w]->pit);
    return n;
}

static inline uint64_t face_pending(enum scene_face face)
{
    uint64_t n = 0;
    for (uint16_t w = 0; w < bed->shared.n_workers; w++)
        n += bed->fwd[w]->face_stats[face_id[face] % FACE_SLOTS].pending;
    return n;
}

static inline void face_down(enum scene_face face, bool down)
{
    cr_assert_eq(face_set_down(bed->shared.faces, face_id[face], FACE_DOWN_LINK, down), 0);
}

/** Take buffers out of the pool until only @p left remain. They come back with pool_give(). */
static struct rte_mbuf *pool_held[65536];
static unsigned pool_n_held;
static inline void pool_take(unsigned left)
{
    while (rte_mempool_avail_count(bed->pool) > left) {
        struct rte_mbuf *mbuf = rte_pktmbuf_alloc(bed->pool);
        if (mbuf == NULL)
            break;
        pool_held[pool_n_held++] = mbuf;
    }
}
static inline void pool_give(void)
{
    while (pool_n_held > 0)
        rte_pktmbuf_free(pool_held[--pool_n_held]);
}

#endif
