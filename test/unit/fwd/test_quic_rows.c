// SPDX-License-Identifier: Apache-2.0
/*
 * The QUIC rows of the list of bad inputs, one case or more for each, through the whole path: over IPv4 and IPv6, in
 * one buffer and split at every octet of the headers. Each has one end and rises exactly the counters that it names.
 */
#include <criterion/criterion.h>

#include "test/bed/edge_bed.h"
#include "test/cases/bad_inputs.h"
#include "test/cases/quic_lb_vectors.h"
#include "test/unit/fwd/quic_scene.h"

/* Recipes are those of test/cases/bad_inputs.c. */
#define D8 "08 8394C8F03E515708 "
#define S8 "08 0102030405060708 "
#define V1 "00000001 "
#define V2 "6B3343CF "

enum { TO_HASH = -1, TO_CLIENT = -2, TO_NOBODY = -3 };

struct row {
    const char *id;     /* of the list */
    const char *recipe; /* UDP payload */
    const char *drop;   /* counter that rises; "" none */
    int to;             /* server, or one of the above */
    const char *stats;  /* of the service, that rise besides packets and bytes */
    void (*set)(struct quic_service *service);
    size_t (*frame)(uint8_t *frame, bool v6); /* in place of a recipe */
};

static struct scene scene;
static uint8_t payload[BAD_INPUT_MAX], frame[BAD_INPUT_MAX + 128];
static int hash_server[2];

static void need_fixed_bit(struct quic_service *service)
{
    service->require_fixed_bit = true;
}

static void no_fallback(struct quic_service *service)
{
    service->drop_unroutable = true;
}

static void negotiate(struct quic_service *service)
{
    service->version_negotiation = true;
    service->n_versions = 2;
    service->version[0] = QUIC_VERSION_1;
    service->version[1] = QUIC_VERSION_2;
}

static void retry(struct quic_service *service)
{
    service->retry_mode = QUIC_RETRY_ON;
    service->retry_lifetime_s = 10;
    service->n_retry_keys = 1;
    service->retry_key[0] = (struct quic_retry_key){.sequence = 1, .key = "a key for a test", .iv = "and an iv.."};
}

/* ---- frames ---- */

static size_t plain(uint8_t *p, bool v6)
{
    return scene_frame(p, &scene, &(struct scene_frame){.v6 = v6}, payload, scene_short(payload, 1, 7, 60));
}

/* The checksums of a frame whose headers were changed. */
static void finish(uint8_t *p, size_t len, bool v6, uint8_t protocol)
{
    uint8_t *ip = p + 14, *l4 = ip + (v6 ? 40 : 20);
    size_t l4_len = len - 14 - (v6 ? 40 : 20), at = protocol == 17 ? 6 : 2;
    if (!v6) {
        scene_put16(ip + 10, 0);
        scene_put16(ip + 10, (uint16_t)~scene_csum(0, ip, 20));
    }
    scene_put16(l4 + at, 0);
    uint16_t sum = protocol == 1 ? scene_csum(0, l4, l4_len) : scene_l4_sum(ip, v6, protocol, l4, l4_len);
    scene_put16(l4 + at, (uint16_t)~sum);
}

static size_t from_port_0(uint8_t *p, bool v6)
{
    size_t len = plain(p, v6);
    scene_put16(p + (v6 ? 54 : 34), 0);
    finish(p, len, v6, 17);
    return len;
}

static size_t from(uint8_t *p, bool v6, const void *ip4, const void *ip6)
{
    size_t len = plain(p, v6);
    memcpy(p + (v6 ? 22 : 26), v6 ? ip6 : ip4, v6 ? 16 : 4);
    finish(p, len, v6, 17);
    return len;
}

static size_t from_vip(uint8_t *p, bool v6)
{
    return from(p, v6, scene_vip4, scene_vip6);
}

static size_t from_port(uint8_t *p, bool v6)
{
    return from(p, v6, scene.client->config.ip4, scene.client->config.ip6);
}

static size_t from_broadcast(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {10, 0, 0, 255}, ip6[16] = {0xfe, 0x80, [15] = 9};
    return from(p, v6, ip4, ip6);
}

static size_t from_network(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {10, 0, 0, 0}, ip6[16] = {0xfe, 0xbf, 0xff, [15] = 9};
    return from(p, v6, ip4, ip6);
}

static size_t from_link_local(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {169, 254, 1, 1}, ip6[16] = {0xfe, 0x80, [15] = 1};
    return from(p, v6, ip4, ip6);
}

static size_t from_loopback(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {127, 0, 0, 1}, ip6[16] = {[15] = 1};
    return from(p, v6, ip4, ip6);
}

static size_t from_nobody(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {0, 0, 0, 0}, ip6[16] = {0};
    return from(p, v6, ip4, ip6);
}

static size_t from_this_network(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {0, 1, 2, 3}, mapped[16] = {[10] = 0xff, 0xff, 198, 51, 100, 7};
    return from(p, v6, ip4, mapped);
}

static size_t from_group(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {224, 0, 0, 1}, ip6[16] = {0xff, 2, [15] = 1};
    return from(p, v6, ip4, ip6);
}

static size_t from_everybody(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {255, 255, 255, 255}, ip6[16] = {0xff, 0xfe, [15] = 1};
    return from(p, v6, ip4, ip6);
}

/* A host of the port's network is a client like others. */
static size_t from_neighbour(uint8_t *p, bool v6)
{
    static const uint8_t ip4[4] = {10, 0, 0, 254}, ip6[16] = {0xfd, [15] = 2};
    return from(p, v6, ip4, ip6);
}

/* An error about what a server has sent, of which @p quoted octets of UDP payload are there. */
static size_t error(uint8_t *p, bool v6, bool too_big, size_t quoted)
{
    static const uint8_t dcid[5] = {1, 2, 3, 4, 5}, scid[8] = {7, 0xa1, 0, 0, 1, 2, 3, 4};
    size_t l3 = v6 ? 40 : 20, len = scene_long(payload, 2, dcid, sizeof dcid, scid, sizeof scid, 600);
    size_t frame_len = scene_frame(p, &scene, &(struct scene_frame){.v6 = v6}, payload, l3 + 8 + quoted);
    uint8_t *ip = p + 14, *icmp = ip + l3, *quote = icmp + 8, *udp = quote + l3;
    memset(icmp, 0, 8);
    icmp[0] = v6 ? (too_big ? 2 : 1) : 3;
    icmp[1] = v6 ? (too_big ? 0 : 4) : too_big ? 4 : 3;
    memset(quote, 0, l3);
    quote[0] = v6 ? 0x60 : 0x45;
    quote[v6 ? 6 : 9] = 17;
    scene_put16(quote + (v6 ? 4 : 2), (uint32_t)(v6 ? 8 + len : 28 + len));
    memcpy(quote + (v6 ? 8 : 12), v6 ? scene_vip6 : scene_vip4, v6 ? 16 : 4);
    memcpy(quote + (v6 ? 24 : 16), v6 ? scene_client6 : scene_client4, v6 ? 16 : 4);
    scene_put16(udp, 443);
    scene_put16(udp + 2, 50000);
    scene_put16(udp + 4, (uint32_t)(8 + len));
    scene_put16(udp + 6, 0);
    memcpy(udp + 8, payload, quoted);
    ip[v6 ? 6 : 9] = v6 ? 58 : 1;
    finish(p, frame_len, v6, v6 ? 58 : 1);
    return frame_len;
}

static size_t too_big_cut_at_8(uint8_t *p, bool v6)
{
    return error(p, v6, true, 0);
}

static size_t unreachable_cut_at_8(uint8_t *p, bool v6)
{
    return error(p, v6, false, 0);
}

static size_t too_big_cut_in_cid(uint8_t *p, bool v6)
{
    return error(p, v6, true, 19);
}

static size_t too_big_with_cid(uint8_t *p, bool v6)
{
    return error(p, v6, true, 20);
}

static size_t unreachable_with_cid(uint8_t *p, bool v6)
{
    return error(p, v6, false, 40);
}

// clang-format off
static const struct row rows[] = {
    {"Q00", "C3 " V1 D8 S8 "00 4496 ~1200", "", TO_HASH, "initials by_hash", NULL, NULL},
    {"Q00", "D3 " V2 D8 S8 "00 4496 ~1200", "", TO_HASH, "initials by_hash", NULL, NULL},
    {"Q01", "40", "quic_short", TO_NOBODY, "", NULL, NULL},
    {"Q02", "00 8394C8F03E515708 [00]20", "quic_fixed_bit", TO_NOBODY, "", need_fixed_bit, NULL},
    {"Q02", "83 " V1 D8 S8 "00 4496 ~1200", "quic_fixed_bit", TO_NOBODY, "", need_fixed_bit, NULL},
    {"Q02", "00 07A1000001020304 [00]20", "", 1, "by_cid", NULL, NULL},
    {"Q02", "83 " V1 D8 S8 "00 4496 ~1200", "", TO_HASH, "initials by_hash", NULL, NULL},
    {"Q03", "C0000000", "quic_short", TO_NOBODY, "", NULL, NULL},
    {"Q04", "C3 " V1 "15 [AA]21 00 ~1200", "quic_cid_len", TO_NOBODY, "", NULL, NULL},
    {"Q04", "C3 " V1 "15 [AA]21 00 ~60", "quic_cid_len", TO_NOBODY, "", NULL, NULL},
    {"Q04", "D3 " V2 "15 [AA]21 00 ~1200", "quic_cid_len", TO_NOBODY, "", NULL, NULL},
    {"Q05", "C3 1A2A3A4A FF[AA]255 FF[BB]255 ~1200", "", TO_HASH, "by_hash unroutable_config", NULL, NULL},
    {"Q05", "C3 1A2A3A4A FF[AA]255 FF[BB]255 ~1200", "quic_answered", TO_CLIENT, "version_negotiations", negotiate, NULL},
    {"Q05", "C3 1A2A3A4A FF[AA]255 FF[BB]255 ~1199", "quic_dgram_small", TO_NOBODY, "", negotiate, NULL},
    {"Q07", "C3 " V1 D8 "15 [BB]21 00 4400 ~1200", "quic_cid_len", TO_NOBODY, "", NULL, NULL},
    {"Q07", "D3 " V2 D8 "15 [BB]21 00 4400 ~1200", "quic_cid_len", TO_NOBODY, "", NULL, NULL},
    {"Q08", "C0 00000000 " D8 S8 "00000001", "quic_vn_rx", TO_NOBODY, "", NULL, NULL},
    {"Q08", "C0 00000000 " D8 S8 "00000001 ~1200", "quic_vn_rx", TO_NOBODY, "", negotiate, NULL},
    {"Q10", "C3 " V1 D8 S8 "00 4495 ~1199", "quic_dgram_small", TO_NOBODY, "", NULL, NULL},
    {"Q11", "C3 " V1 D8 S8 "FFFFFFFFFFFFFFFF ~1200", "quic_len", TO_NOBODY, "", NULL, NULL},
    {"Q12", "C3 " V1 D8 S8 "00 7FFF ~1200", "quic_len", TO_NOBODY, "", NULL, NULL},
    {"Q12", "E3 " V1 D8 S8 "7FFF ~300", "quic_len", TO_NOBODY, "", NULL, NULL},
    {"Q12", "E3 " V1 D8 S8 "BFFFFFFF ~300", "quic_len", TO_NOBODY, "", NULL, NULL},
    {"Q14", "C3 " V1 "04 8394C8F0 " S8 "00 449A ~1200", "quic_cid_len", TO_NOBODY, "initials", no_fallback, NULL},
    {"Q14", "C3 " V1 "00 " S8 "00 449E ~1200", "quic_cid_len", TO_NOBODY, "initials", no_fallback, NULL},
    {"Q14", "C3 " V1 "04 8394C8F0 " S8 "00 449A ~1200", "quic_cid_len", TO_NOBODY, "initials", retry, NULL},
    {"Q14", "C3 " V1 "04 8394C8F0 " S8 "00 449A ~1200", "", TO_HASH, "initials by_hash", NULL, NULL},
    {"Q15", "C3 " V1 D8 S8 "00 4258 ~626 E3 " V1 "08 [BB]8 " S8 "4225 ~1200", "", TO_HASH,
     "initials by_hash coalesced_cid", NULL, NULL},
    {"Q15", "C3 " V1 D8 S8 "00 4258 ~626 E3 " V1 D8 S8 "7FFF ~1200", "", TO_HASH, "initials by_hash", NULL, NULL},
    {"Q17", "[E3 " V1 D8 S8 "4012 [00]18 ]1500", "", TO_HASH, "by_hash unroutable_config", NULL, NULL},
    {"Q18", "D3 " V1 D8 S8 "4497 ~1200", "", TO_HASH, "by_hash", NULL, NULL},
    {"Q19", "F3 " V1 D8 S8 "746F6B656E [AA]16", "quic_type", TO_NOBODY, "", NULL, NULL},
    {"Q19", "C3 " V2 D8 S8 "746F6B656E [AA]16", "quic_type", TO_NOBODY, "", NULL, NULL},
    {"Q20", "40 [E7]30", "", TO_HASH, "by_hash unroutable_config", NULL, NULL},
    {"Q20", "40 [E7]30", "quic_unroutable", TO_NOBODY, "unroutable_config", no_fallback, NULL},
    {"Q21", "40 8394C8F03E515708 [00]11", "quic_short", TO_NOBODY, "", NULL, NULL},
    {"Q21", "40 07A1000001020304 [00]11", "quic_short", TO_NOBODY, "", NULL, NULL},
    {"Q23", "40 C7 [AA]7 [00]20", "", TO_HASH, "by_hash unroutable_config", NULL, NULL},
    {"Q23", "40 C7 [AA]7 [00]20", "quic_unroutable", TO_NOBODY, "unroutable_config", no_fallback, NULL},
    {"Q24", "40 07FFFFFF00000000 [00]20", "", TO_HASH, "by_hash unroutable_server", NULL, NULL},
    {"Q24", "40 07FFFFFF00000000 [00]20", "quic_unroutable", TO_NOBODY, "unroutable_server", no_fallback, NULL},
    {"Q26", "E3 " V1 "03 07A100 " S8 "4014 [00]20", "", TO_HASH, "by_hash unroutable_short", NULL, NULL},
    {"Q26", "E3 " V1 "03 07A100 " S8 "4014 [00]20", "quic_unroutable", TO_NOBODY, "unroutable_short", no_fallback, NULL},
    {"Q26", "E3 " V1 "07 07A10000010203 " S8 "4014 [00]20", "quic_unroutable", TO_NOBODY, "unroutable_short", no_fallback, NULL},
    {"Q26", "E3 " V1 "00 00 4014 [00]20", "quic_unroutable", TO_NOBODY, "unroutable_short", no_fallback, NULL},
    {"Q27", "40 07A1000001020304 [00]20", "", 1, "by_cid", no_fallback, NULL},
    {"Q29", "C3 " V1 D8 S8 "4064 [5A]100 4431 ~1200", "quic_token_bad", TO_NOBODY, "initials tokens_bad", retry, NULL},
    {"Q29", "C3 " V1 D8 S8 "01 01 4495 ~1200", "quic_token_bad", TO_NOBODY, "initials tokens_bad", retry, NULL},
    {"Q29", "C3 " V1 D8 S8 "4480 01[5A]1151 4014 ~1198 0000", "quic_token_bad", TO_NOBODY, "initials tokens_bad", retry, NULL},
    {"Q29", "C3 " V1 D8 S8 "8000FF00 01[5A]65279 4014 [00]20", "quic_token_bad", TO_NOBODY, "initials tokens_bad", retry, NULL},
    {"Q29", "C3 " V1 D8 S8 "8000FFFF 01 ~1200", "quic_len", TO_NOBODY, "", retry, NULL},
    {"Q29", "C3 " V1 D8 S8 "00 4496 ~1200", "quic_answered", TO_CLIENT, "initials retries", retry, NULL},
    {"Q29", "C3 " V1 D8 S8 "4064 81[5A]99 4431 ~1200", "quic_answered", TO_CLIENT, "initials tokens_bad retries", retry, NULL},
    {"Q31", NULL, "quic_src", TO_NOBODY, "", NULL, from_port_0},
    {"Q31", NULL, "quic_src", TO_NOBODY, "", NULL, from_vip},
    {"Q31", NULL, "quic_src", TO_NOBODY, "", NULL, from_port},
    {"Q31", NULL, "quic_src", TO_NOBODY, "", NULL, from_broadcast},
    {"Q31", NULL, "quic_src", TO_NOBODY, "", NULL, from_network},
    {"Q31", NULL, "quic_src", TO_NOBODY, "", NULL, from_link_local},
    {"Q31", NULL, "ip_src", TO_NOBODY, "-", NULL, from_loopback},
    {"Q31", NULL, "ip_src", TO_NOBODY, "-", NULL, from_nobody},
    {"Q31", NULL, "ip_src", TO_NOBODY, "-", NULL, from_this_network},
    {"Q31", NULL, "ip_src", TO_NOBODY, "-", NULL, from_group},
    {"Q31", NULL, "ip_src", TO_NOBODY, "-", NULL, from_everybody},
    {"Q31", NULL, "", 1, "by_cid", NULL, from_neighbour},
    {"Q33", NULL, "icmp", TO_NOBODY, "-", NULL, too_big_cut_at_8},
    {"Q33", NULL, "icmp", TO_NOBODY, "-", NULL, unreachable_cut_at_8},
    {"Q33", NULL, "icmp", TO_NOBODY, "-", NULL, too_big_cut_in_cid},
    {"Q33", NULL, "", 1, "- icmp_followed", NULL, too_big_with_cid},
    {"Q33", NULL, "", 1, "- icmp_followed", NULL, unreachable_with_cid},
    {"Q34", "40 8394C8F03E515708 [5C]12", "", TO_HASH, "by_hash unroutable_config", NULL, NULL},
    {"Q34", "40 8394C8F03E515708 [5C]34", "", TO_HASH, "by_hash unroutable_config", NULL, NULL},
};
// clang-format on

/* Rows that are about more than one datagram have a test of their own below. */
static const char *const others[] = {"Q27", "Q28", "Q29", "Q30", "Q34"};
static const char *const listed[] = {"Q01", "Q02", "Q03", "Q04", "Q05", "Q07", "Q08", "Q10", "Q11",
                                     "Q12", "Q14", "Q15", "Q17", "Q18", "Q19", "Q20", "Q21", "Q23",
                                     "Q24", "Q26", "Q27", "Q28", "Q29", "Q30", "Q31", "Q33", "Q34"};

static void start(const struct bed_config *config)
{
    scene_start(&scene, config, 3);
    // What is a large datagram here is for the parser to judge, not for the way to the server.
    for (unsigned i = 0; i < 3; i++)
        scene.server[i].mtu = UINT16_MAX;
    scene.server_port->mtu = UINT16_MAX;
}

static size_t make(const struct row *row, bool v6)
{
    static uint8_t inner[BAD_INPUT_MAX];
    if (row->frame != NULL)
        return row->frame(frame, v6);
    size_t len = bad_input_expand(row->recipe, 0, inner);
    return scene_frame(frame, &scene, &(struct scene_frame){.v6 = v6}, inner, len);
}

/* Does a list of names have this one? */
static bool has(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

static void expect_counters(const struct row *row, const struct stats_worker *before,
                            const struct quic_stats_service *stats, uint64_t l3_len, unsigned number)
{
    struct stats_worker after = bed_stats(scene.bed);
    struct quic_stats_service now = scene_stats(&scene);
    for (unsigned i = 1; i < DROP_COUNT; i++)
        cr_assert_eq(after.drops[i] - before->drops[i], strcmp(drop_info[i].name, row->drop) == 0,
                     "%s, case %u: %s rises by %ju", row->id, number, drop_info[i].name,
                     (uintmax_t)(after.drops[i] - before->drops[i]));
    // A frame that is no datagram to a service is not one of its packets.
    bool counted = !has(row->stats, "-");
    cr_assert_eq(now.packets - stats->packets, counted);
    cr_assert_eq(now.bytes - stats->bytes, counted ? l3_len : 0);
    now.packets = stats->packets;
    now.bytes = stats->bytes;
#define STAT(field, name, text)                                                                    \
    cr_assert_eq(now.field - stats->field, has(row->stats, name) && !(has("packets bytes", name)), \
                 "%s, case %u: %s "                                                                \
                 "rises by %ju",                                                                   \
                 row->id, number, name, (uintmax_t)(now.field - stats->field));
    STATS_QUIC(STAT)
#undef STAT
    cr_assert_eq(stats_unaccounted(&after), 0);
}

static void expect(const struct row *row, struct rte_mbuf *mbuf, bool v6, unsigned number)
{
    struct stats_worker before = bed_stats(scene.bed);
    struct quic_stats_service stats = scene_stats(&scene);
    uint64_t l3_len = mbuf->pkt_len - 14;
    bed_receive(scene.bed, scene.client, &mbuf, 1);
    expect_counters(row, &before, &stats, l3_len, number);
    cr_assert_eq(scene.bed->n_sent, row->to != TO_NOBODY, "%s, case %u", row->id, number);
    if (row->to == TO_CLIENT)
        cr_assert_eq(scene.bed->sent[0].port, scene.client->index);
    else if (row->to != TO_NOBODY)
        cr_assert_eq(scene_went_to(&scene, 0), row->to == TO_HASH ? hash_server[v6] : row->to, "%s, case %u", row->id,
                     number);
    // No more than half of what came (Q05): nobody is reached by us as an amplifier.
    if (row->to == TO_CLIENT)
        cr_assert_leq(scene.bed->sent[0].mbuf->pkt_len * 2, l3_len + 14);
    bed_drop_sent(scene.bed);
    cr_assert_eq(bed_mbufs(scene.bed), 0);
}

static void run(const struct row *row, unsigned number)
{
    struct quic_service before = *scene.service;
    if (row->set != NULL)
        row->set(scene.service);
    for (unsigned v6 = 0; v6 < 2; v6++) {
        size_t len = make(row, v6 != 0);
        scene.server_port->tx_multi_seg = true;
        expect(row, bed_raw(scene.bed, frame, len), v6 != 0, number);
        for (uint32_t split = 1; split < len && len < 9000; split += split < 130 ? 1 : 211) {
            // A limit is not what is tested here.
            bed_pass(scene.bed, 1000);
            expect(row, bed_split(scene.bed, bed_raw(scene.bed, frame, len), split), v6 != 0, number);
        }
    }
    *scene.service = before;
}

Test(quic_rows, each_has_its_end_and_its_counters)
{
    start(&(struct bed_config){0});
    for (unsigned v6 = 0; v6 < 2; v6++) {
        size_t len = make(&rows[0], v6 != 0);
        struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len);
        bed_receive(scene.bed, scene.client, &mbuf, 1);
        hash_server[v6] = scene_went_to(&scene, 0);
        cr_assert_geq(hash_server[v6], 0);
        bed_drop_sent(scene.bed);
    }
    for (unsigned i = 0; i < RTE_DIM(rows); i++)
        run(&rows[i], i);
    scene_stop(&scene);
}

Test(quic_rows, all_of_the_list_are_here)
{
    for (unsigned i = 0; i < RTE_DIM(listed); i++) {
        bool found = false;
        for (unsigned k = 0; k < RTE_DIM(rows); k++)
            found |= strcmp(rows[k].id, listed[i]) == 0;
        for (unsigned k = 0; k < RTE_DIM(others); k++)
            found |= strcmp(others[k], listed[i]) == 0;
        cr_assert(found, "%s", listed[i]);
    }
}

/* ---- rows of more than one datagram ---- */

/* A server answers with a connection ID of its own making, as short as it likes: further Initials have it. */
Test(quic_rows, q14_later_initials_with_a_short_connection_id_of_the_server_follow_the_first)
{
    struct bed_config config = {.n_workers = 2};
    config.quic_flow[0] = (struct flow_config){.capacity = 64, .idle_ms = 30000, .keep_ms = 10000};
    start(&config);
    static const uint8_t scid[4] = {1, 2, 3, 4};
    for (uint16_t sport = 20000; sport < 20040; sport++) {
        // Four keys of each connection: the table is full then, and a connection that it does not know goes by the
        // hash.
        bool full = sport >= 20016;
        const uint8_t dcid[8] = {0xff, (uint8_t)sport, 1, 2, 3, 4, 5, 6};
        const uint8_t chosen[4] = {0xe4, 5, (uint8_t)sport, 7};
        const struct scene_frame with = {.sport = sport};
        bed_drop_sent(scene.bed);
        scene_receive_at(&scene, 1, &with, payload, scene_long(payload, 0, chosen, 4, scid, 4, 1200));
        cr_assert_eq(scene.bed->n_sent, full, "nobody begins with four octets");
        bed_drop_sent(scene.bed);
        scene_receive_at(&scene, 1, &with, payload, scene_long(payload, 0, dcid, 8, scid, 4, 1200));
        int first = scene_went_to(&scene, 0);
        cr_assert_geq(first, 0);
        bed_drop_sent(scene.bed);
        scene_receive_at(&scene, 0, &with, payload, scene_long(payload, 0, chosen, 4, scid, 4, 1200));
        cr_assert_eq(scene_went_to(&scene, 0), first);
        bed_drop_sent(scene.bed);
        scene_receive_at(&scene, 0, &with, payload, scene_long(payload, 0, NULL, 0, scid, 4, 1200));
        cr_assert_eq(scene_went_to(&scene, 0), first);
    }
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_CID_LEN), 16);
    scene_stop(&scene);
}

static size_t unhex(const char *text, uint8_t *out)
{
    return bad_input_expand(text, 0, out);
}

Test(quic_rows, q27_vectors_of_the_draft_lead_to_their_servers)
{
    start(&(struct bed_config){0});
    static struct quic_lb plain_lb;
    plain_lb = scene.lb;
    for (unsigned i = 0; i < RTE_DIM(quic_lb_vectors); i++) {
        const struct quic_lb_vector *vector = &quic_lb_vectors[i];
        struct quic_lb_config config = {.encrypted = vector->encrypted};
        struct quic_lb_id id = {.len = 0};
        uint8_t cid[32], nonce[32], key[32], id_octets[32] = {0};
        size_t cid_len = unhex(vector->cid, cid);
        config.server_id_len = (uint8_t)unhex(vector->server_id, id_octets);
        config.nonce_len = (uint8_t)unhex(vector->nonce, nonce);
        if (vector->encrypted)
            memcpy(config.key, key, unhex(vector->key, key));
        id.len = config.server_id_len;
        memcpy(id.octets, id_octets, id.len);
        memset(&scene.lb, 0, sizeof scene.lb);
        cr_assert_eq(quic_lb_add_config(&scene.lb, cid[0] >> 5, &config), 0);
        memset(scene.id_slot, 0, sizeof scene.id_slot);
        scene.server[2].id[0] = id;
        cr_assert(quic_service_add_id(scene.service, &id, 2));
        memset(payload, 0x55, 60);
        payload[0] = 0x40;
        memcpy(payload + 1, cid, cid_len);
        for (unsigned v6 = 0; v6 < 2; v6++) {
            bed_drop_sent(scene.bed);
            scene_receive(&scene, &(struct scene_frame){.v6 = v6 != 0}, payload, 60);
            cr_assert_eq(scene_went_to(&scene, 0), 2, "%s", vector->cid);
        }
    }
    cr_assert_eq(scene_stats(&scene).by_cid, 2 * RTE_DIM(quic_lb_vectors));
    scene.lb = plain_lb;
    scene_stop(&scene);
}

/* A flow that is in use stays, whatever comes from others; the table, and what is kept of sources, has an end. */
Test(quic_rows, q28_a_flood_of_initials_takes_no_more_than_its_share)
{
    struct bed_config config = {.free_sent = false};
    config.quic_flow[0] = (struct flow_config){.capacity = 64, .idle_ms = 30000, .keep_ms = 10000};
    start(&config);
    const uint8_t known[20] = {0xf3, 9};
    size_t known_len = scene_long(payload, 0, known, 20, known, 4, 1200);
    scene_receive(&scene, &(struct scene_frame){.sport = 7}, payload, known_len);
    int server = scene_went_to(&scene, 0);
    cr_assert_geq(server, 0);
    struct flow_stats flows;
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t dcid[8] = {0xff, (uint8_t)i, (uint8_t)(i >> 8)};
        size_t len = scene_frame(frame, &scene, &(struct scene_frame){.sport = (uint16_t)(1 + i)}, payload,
                                 scene_long(payload, 0, dcid, 8, dcid, 3, 1200));
        scene_put16(frame + 26, 11000 + i);
        finish(frame, len, false, 17);
        bed_drop_sent(scene.bed);
        struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, len);
        bed_receive(scene.bed, scene.client, &mbuf, 1);
        cr_assert_eq(scene.bed->n_sent, 1, "what finds no room goes where its hash leads");
        flow_stats(scene.bed->fwd[0]->quic->flow[0], &flows);
        cr_assert_leq(flows.n_flows, 64);
    }
    cr_assert_eq(flows.n_evicted, 0);
    cr_assert_gt(scene_stats(&scene).flow_full, 4000);
    // Its server drains: only the table knows it now.
    scene.server[server].state = QUIC_DRAIN;
    scene_maglev(&scene);
    bed_drop_sent(scene.bed);
    known_len = scene_long(payload, 0, known, 20, known, 4, 1200);
    scene_receive(&scene, &(struct scene_frame){.sport = 7}, payload, known_len);
    cr_assert_eq(scene_went_to(&scene, 0), server);
    scene_stop(&scene);
}

/* An Initial with a token; @return where it went, -1 when it was dropped */
static int with_token(const struct scene_frame *with, const struct quic_header *header, const uint8_t *token,
                      size_t len)
{
    static uint8_t datagram[1500];
    struct edge_initial fields = {.version = QUIC_VERSION_1,
                                  .dcid_len = header->scid_len,
                                  .dcid = header->scid,
                                  .scid_len = 8,
                                  .token = token,
                                  .token_len = len};
    bed_drop_sent(scene.bed);
    scene_receive(&scene, with, datagram, edge_put_initial(datagram, &fields));
    return scene.bed->n_sent > 0 && scene.bed->sent[0].port == scene.client->index ? TO_CLIENT
                                                                                   : scene_went_to(&scene, 0);
}

Test(quic_rows, q29_no_token_but_the_one_that_was_given_is_good)
{
    start(&(struct bed_config){0});
    retry(scene.service);
    const struct scene_frame client = {.sport = 40000};
    static uint8_t kept[1500];
    struct quic_header header;
    size_t len = scene_long(payload, 0, "\xd0\xd1\xd2\xd3\xd4\xd5\xd6\xd7", 8, NULL, 0, 1200);
    scene_receive(&scene, &client, payload, len);
    cr_assert_eq(scene.bed->n_sent, 1);
    const struct rte_mbuf *sent = scene.bed->sent[0].mbuf;
    memcpy(kept, rte_pktmbuf_mtod(sent, const uint8_t *), sent->pkt_len);
    cr_assert_eq(quic_parse(kept + 42, scene_get16(kept + 38) - 8u, &(struct quic_opts){0}, &header), VERDICT_OK);
    cr_assert_eq(header.type, QUIC_TYPE_RETRY);
    uint8_t token[256];
    size_t n = header.token_len;
    memcpy(token, header.token, n);
    int server = with_token(&client, &header, token, n);
    cr_assert_geq(server, 0);
    uint64_t bad = 0;
    for (size_t at = 0; at < n; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            token[at] ^= (uint8_t)(1u << bit);
            int to = with_token(&client, &header, token, n);
            bool is_new = (token[0] & 0x80) != 0;
            cr_assert_eq(to, is_new ? TO_CLIENT : -1, "octet %zu, bit %u", at, bit);
            bad += !is_new;
            token[at] ^= (uint8_t)(1u << bit);
            bed_pass(scene.bed, 2);
        }
    for (size_t cut = 1; cut < n; cut++, bad++)
        cr_assert_eq(with_token(&client, &header, token, cut), -1, "%zu octets", cut);
    cr_assert_eq(with_token(&(struct scene_frame){.sport = 40000, .host = 9}, &header, token, n), -1,
                 "another address");
    cr_assert_eq(with_token(&(struct scene_frame){.sport = 40001}, &header, token, n), -1, "another port");
    bad += 2;
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_TOKEN_BAD), bad);
    cr_assert_eq(with_token(&client, &header, token, n), server);
    // Made by a clock that is ahead of ours.
    uint64_t posix_ns = atomic_load(&scene.bed->shared.posix_ns);
    atomic_store(&scene.bed->shared.posix_ns, posix_ns - UINT64_C(5000000000));
    cr_assert_eq(with_token(&client, &header, token, n), -1, "from the future");
    atomic_store(&scene.bed->shared.posix_ns, posix_ns);
    bed_pass(scene.bed, 14000);
    cr_assert_eq(with_token(&client, &header, token, n), -1, "expired");
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_TOKEN_BAD), bad + 2);
    bed_drop_sent(scene.bed);
    scene_stop(&scene);
}

/* A migration, or an attacker: the same connection ID from elsewhere changes nothing for whom it belongs to. */
Test(quic_rows, q30_connection_id_from_elsewhere_goes_to_the_same_server_and_moves_nothing)
{
    struct bed_config config = {.n_workers = 2};
    config.quic_flow[0] = (struct flow_config){.capacity = 64, .idle_ms = 30000, .keep_ms = 10000};
    start(&config);
    static const uint8_t own[4] = {1, 1, 1, 1}, unroutable[20] = {0xf3, 1, 2, 3};
    struct flow_stats before, after;
    scene_receive(&scene, &(struct scene_frame){.sport = 1}, payload,
                  scene_long(payload, 0, unroutable, 20, own, 4, 1200));
    int owner = scene_went_to(&scene, 0);
    cr_assert_geq(owner, 0);
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &before);
    for (unsigned i = 0; i < 200; i++) {
        bed_drop_sent(scene.bed);
        scene_receive_at(&scene, (uint16_t)(i % 2),
                         &(struct scene_frame){.sport = (uint16_t)(1 + i), .host = (uint8_t)(7 + i % 50)}, payload,
                         scene_short(payload, i % 3, (uint8_t)i, 60));
        cr_assert_eq(scene_went_to(&scene, 0), (int)(i % 3));
    }
    flow_stats(scene.bed->fwd[0]->quic->flow[0], &after);
    cr_assert_eq(after.n_flows, before.n_flows);
    cr_assert_eq(after.n_added, before.n_added);
    bed_drop_sent(scene.bed);
    scene_receive_at(&scene, 1, &(struct scene_frame){.sport = 1}, payload,
                     scene_long(payload, 0, unroutable, 20, own, 4, 1200));
    cr_assert_eq(scene_went_to(&scene, 0), owner);
    scene_stop(&scene);
}

/* Two forwarders, each of which takes the other for a server: each turn costs a hop, and nobody answers. */
Test(quic_rows, q34_what_goes_round_ends_with_its_hops)
{
    start(&(struct bed_config){0});
    for (unsigned v6 = 0; v6 < 2; v6++)
        for (size_t len = 21; len <= 43; len++) {
            memset(payload, 0x5c, len);
            payload[0] = 0x41;
            size_t frame_len =
                scene_frame(frame, &scene, &(struct scene_frame){.v6 = v6 != 0, .ttl = 64}, payload, len);
            unsigned turns = 0;
            for (; turns < 300; turns++) {
                bed_drop_sent(scene.bed);
                struct rte_mbuf *mbuf = bed_raw(scene.bed, frame, frame_len);
                bed_receive(scene.bed, scene.client, &mbuf, 1);
                if (scene.bed->n_sent == 0)
                    break;
                cr_assert_eq(scene.bed->n_sent, 1);
                cr_assert_geq(scene_went_to(&scene, 0), 0);
                memcpy(frame + 14, rte_pktmbuf_mtod_offset(scene.bed->sent[0].mbuf, const uint8_t *, 14),
                       frame_len - 14);
            }
            cr_assert_eq(turns, 63);
        }
    cr_assert_eq(bed_drops(scene.bed, DROP_QUIC_TTL), 2 * 23);
    scene_stop(&scene);
}
