// SPDX-License-Identifier: Apache-2.0
/*
 * Cost of the parsers per packet: Interest and Data as the pipeline gets them (LpPacket with an 8-octet PitToken, 4
 * and 8 components), parsed only and parsed and hashed, hot (one burst that stays in the cache) and cold (more
 * packets than the caches hold, each visited once per round); frames and QUIC headers; reads through the cursor.
 */
#include "test/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parser/cursor.h"
#include "parser/frame.h"
#include "parser/ndn_encode.h"
#include "parser/ndn_packet.h"
#include "parser/quic.h"

#define BURST       64
#define CHUNK       1024
#define N_COLD      (256 * 1024)
#define SLOT_SMALL  128
#define SLOT_MIDDLE 256
#define SLOT_LARGE  1280

/** How a chunk goes through its packets. */
enum order {
    HOT,        /**< the same burst over and over */
    BARE,       /**< the same without LpPacket */
    COLD,       /**< from packet to packet at a stride that no prefetcher follows */
    COLD_AHEAD, /**< the same, asking for the packet's lines eight packets ahead as a worker does */
};

struct packets {
    uint8_t *slots;
    size_t slot; /**< octets of a slot */
    uint32_t n, stride, next;
    uint16_t len;
    enum order order;
    bool hash;
};

static struct ndn_name_key key;

static size_t make_name(uint8_t *p, unsigned n_comps, uint32_t sequence)
{
    uint8_t *start = p;
    for (unsigned i = 0; i < n_comps; i++) {
        char text[16] = "aaaaaaaa";
        if (i == 0)
            memcpy(text, "ndnbench", 8);
        else if (i == 1)
            snprintf(text, sizeof text, "flow%04u", sequence % 10000);
        else if (i == n_comps - 1)
            snprintf(text, sizeof text, "%08x", sequence);
        *p++ = NDN_GENERIC;
        *p++ = 8;
        memcpy(p, text, 8);
        p += 8;
    }
    return (size_t)(p - start);
}

/** One packet, in an LpPacket with a token unless @p bare. @return its size */
static size_t make_packet(uint8_t *slot, bool data, bool bare, unsigned n_comps, size_t content_len, uint32_t sequence)
{
    uint8_t name[128], content[1024] = {0}, packet[2048], buf[NDN_LP_HEADER_MAX + 2048];
    size_t name_len = make_name(name, n_comps, sequence), len;
    if (data) {
        struct ndn_data_out out = {.name = name,
                                   .name_len = (uint16_t)name_len,
                                   .freshness_ms = 10000,
                                   .content = content,
                                   .content_len = (uint16_t)content_len};
        len = ndn_data_encode(packet, sizeof packet, &out, NULL, NULL);
    } else {
        struct ndn_interest_out out = {
            .name = name, .name_len = (uint16_t)name_len, .nonce = sequence * 2654435761u, .lifetime_ms = 60000};
        len = ndn_interest_encode(packet, sizeof packet, &out);
    }
    if (bare) {
        memcpy(slot, packet, len);
        return len;
    }
    uint8_t token[8];
    memcpy(token, &sequence, 4);
    memcpy(token + 4, &sequence, 4);
    struct ndn_lp_out lp = {.token = token, .token_len = sizeof token};
    uint8_t *fragment = buf + NDN_LP_HEADER_MAX;
    memcpy(fragment, packet, len);
    size_t header = ndn_lp_prepend(fragment, len, &lp);
    memcpy(slot, fragment - header, header + len);
    return header + len;
}

static const uint8_t *slot_at(const struct packets *ctx, uint32_t i)
{
    return ctx->slots + (size_t)(i & (ctx->n - 1)) * ctx->slot;
}

/** Parse a chunk as a worker does: burst by burst, into an array of views. */
static void run_packets(void *arg)
{
    static struct ndn_packet pkts[BURST];
    static const struct ndn_parse_opts opts = {.allow_trailing = true};
    struct packets *ctx = arg;
    uint32_t next = ctx->next, good = 0;
    for (unsigned i = 0; i < CHUNK; i++, next += ctx->stride) {
        struct ndn_packet *pkt = &pkts[i % BURST];
        if (ctx->order == COLD_AHEAD) {
            const uint8_t *ahead = slot_at(ctx, next + 8 * ctx->stride);
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + 64);
        }
        if (ndn_packet_parse(slot_at(ctx, next), ctx->len, &opts, pkt) == VERDICT_OK)
            good++;
        if (ctx->hash)
            ndn_name_hash(&pkt->name, &key);
    }
    ctx->next = next;
    if (good != CHUNK)
        abort();
    bench_use(pkts[0].name.hash_full);
}

static void add_packets(const char *name, bool data, unsigned n_comps, size_t content_len, enum order order, bool hash)
{
    struct packets *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        abort();
    ctx->slot = content_len > 500 ? SLOT_LARGE : content_len > 0 ? SLOT_MIDDLE : SLOT_SMALL;
    ctx->n = order <= BARE ? BURST : bench_quick() ? 4 * CHUNK : N_COLD;
    ctx->stride = order <= BARE ? 1 : 7919;
    ctx->order = order;
    ctx->hash = hash;
    ctx->slots = aligned_alloc(64, ctx->n * ctx->slot);
    if (ctx->slots == NULL)
        abort();
    for (uint32_t i = 0; i < ctx->n; i++)
        ctx->len = (uint16_t)make_packet(ctx->slots + i * ctx->slot, data, order == BARE, n_comps, content_len, i);
    bench_add(&(struct bench_case){.name = name, .n_ops = CHUNK, .run = run_packets, .ctx = ctx});
}

/* Frames and QUIC headers: one packet each, always in the cache. */

struct fixed {
    uint8_t packet[2048];
    size_t len;
};

static void run_frame(void *arg)
{
    static const struct frame_opts opts;
    const struct fixed *ctx = arg;
    struct frame frame = {0};
    for (unsigned i = 0; i < CHUNK; i++) {
        if (frame_parse(ctx->packet, ctx->len, &opts, &frame) != VERDICT_OK)
            abort();
        bench_use(frame.payload_off);
    }
}

static void run_quic(void *arg)
{
    static const struct quic_opts opts = {.from_client = true, .short_dcid_len = 8};
    const struct fixed *ctx = arg;
    struct quic_header header = {0};
    for (unsigned i = 0; i < CHUNK; i++) {
        if (quic_parse(ctx->packet, ctx->len, &opts, &header) != VERDICT_OK)
            abort();
        bench_use((uint64_t)(uintptr_t)header.dcid + header.scid_len);
    }
}

static struct fixed *fixed(const uint8_t *head, size_t head_len, size_t len)
{
    struct fixed *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        abort();
    if (head_len > 0)
        memcpy(ctx->packet, head, head_len);
    ctx->len = len;
    return ctx;
}

static void add_fixed(void)
{
    static const uint8_t ether[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0x24};
    // 192.0.2.2 to 192.0.2.1, port 6363 both, without a UDP checksum.
    static const uint8_t udp[] = {2,    0, 0,   0,  0, 1, 2,    0,    0,    0,    0,    2,    8,   0,
                                  0x45, 0, 0,   96, 0, 0, 0,    0,    64,   17,   0xf6, 0x89, 192, 0,
                                  2,    2, 192, 0,  2, 1, 0x18, 0xdb, 0x18, 0xdb, 0,    76,   0,   0};
    static const uint8_t one_rtt[] = {0x40, 7, 0x20, 0xb1, 0xd0, 0x7b, 0x35, 0x9d, 0x3c};
    static const uint8_t initial[] = {0xc3, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6,    7,
                                      8,    8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x44, 0x96};
    static const uint8_t handshake[] = {0xe3, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5,    6,   7,
                                        8,    8, 1, 2, 3, 4, 5, 6, 7, 8, 0x44, 0x97};
    bench_add(&(struct bench_case){"frame ndn", CHUNK, NULL, run_frame, fixed(ether, sizeof ether, 82)});
    bench_add(&(struct bench_case){"frame udp4", CHUNK, NULL, run_frame, fixed(udp, sizeof udp, 110)});
    bench_add(&(struct bench_case){"quic short", CHUNK, NULL, run_quic, fixed(one_rtt, sizeof one_rtt, 1200)});
    bench_add(&(struct bench_case){"quic initial", CHUNK, NULL, run_quic, fixed(initial, sizeof initial, 1200)});
    bench_add(&(struct bench_case){"quic handshake", CHUNK, NULL, run_quic, fixed(handshake, sizeof handshake, 1200)});
}

/** Records of u8, u16, u32, u64, u8 read one after the other. */
static void run_cursor(void *arg)
{
    const struct fixed *ctx = arg;
    uint64_t sum = 0;
    for (unsigned i = 0; i < CHUNK;) {
        struct cursor c = cursor_make(ctx->packet, sizeof ctx->packet);
        uint8_t a, e;
        uint16_t b;
        uint32_t d;
        uint64_t f;
        for (; i < CHUNK && cursor_u8(&c, &a) && cursor_u16(&c, &b) && cursor_u32(&c, &d) && cursor_u64(&c, &f) &&
               cursor_u8(&c, &e);
             i++)
            sum += a + b + d + f + e;
    }
    bench_use(sum);
}

int main(int argc, char **argv)
{
    bench_init("parse", &argc, argv);
    for (size_t i = 0; i < sizeof key.octets; i++)
        key.octets[i] = (uint8_t)(i * 31 + 7);
    ndn_name_hash_init();
    add_packets("interest 4 parse", false, 4, 0, HOT, false);
    add_packets("interest 4 parse+hash", false, 4, 0, HOT, true);
    add_packets("interest 8 parse", false, 8, 0, HOT, false);
    add_packets("interest 8 parse+hash", false, 8, 0, HOT, true);
    add_packets("interest 4 parse+hash cold", false, 4, 0, COLD, true);
    add_packets("interest 4 parse+hash cold, prefetched", false, 4, 0, COLD_AHEAD, true);
    add_packets("interest 4 bare parse+hash", false, 4, 0, BARE, true);
    add_packets("data 4 100 parse", true, 4, 100, HOT, false);
    add_packets("data 4 100 parse+hash", true, 4, 100, HOT, true);
    add_packets("data 8 100 parse+hash", true, 8, 100, HOT, true);
    add_packets("data 4 1000 parse+hash", true, 4, 1000, HOT, true);
    add_packets("data 4 100 parse+hash cold", true, 4, 100, COLD, true);
    add_packets("data 4 100 parse+hash cold, prefetched", true, 4, 100, COLD_AHEAD, true);
    add_fixed();
    bench_add(&(struct bench_case){"cursor u8 u16 u32 u64 u8", CHUNK, NULL, run_cursor, fixed(NULL, 0, 2048)});
    return bench_run();
}
