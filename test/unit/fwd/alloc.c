// SPDX-License-Identifier: Apache-2.0
/*
 * No packet asks for memory: exchanges of every kind go through the pipeline of one worker while each function that
 * asks the C library or the kernel for memory counts its calls. Stops after 10 million exchanges or the seconds given
 * (15); exit 1 when there was a single call.
 */
#include "test/unit/fwd/alloc.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fwd/chain.h"
#include "parser/ndn_encode.h"
#include "test/bed/bed.h"

/* A frame whose name and nonce change with each use. */
struct frame_of {
    struct port *port;
    size_t len, seq_off, nonce_off;
    uint8_t octets[6000];
};

enum { KINDS = 12, STEPS = 4, EXCHANGES_MAX = 10000000 };
static struct frame_of *script[KINDS][STEPS];
static struct bed *bed;

static void add(unsigned kind, unsigned step, uint32_t face, const uint8_t *packet, size_t len)
{
    struct frame_of *f = calloc(1, sizeof *f);
    struct rte_mbuf *mbuf = bed_frame(bed, face, packet, len);
    f->port = &bed->port[face_get(bed->shared.faces, face)->port];
    f->len = mbuf->pkt_len;
    chain_read(mbuf, 0, f->octets, mbuf->pkt_len);
    rte_pktmbuf_free(mbuf);
    uint8_t *at = memmem(f->octets, f->len, "00000000", 8);
    f->seq_off = at != NULL ? (size_t)(at - f->octets) : 0;
    at = memmem(f->octets, f->len, "\x0a\x04\x5a\x5b\x5c\x5d", 6);
    f->nonce_off = at != NULL ? (size_t)(at - f->octets) + 2 : 0;
    script[kind][step] = f;
}

static uint8_t packet[9200];

static void add_interest(unsigned kind, unsigned step, uint32_t face, const char *uri, struct bed_fields fields)
{
    fields.nonce = 0x5a5b5c5d;
    fields.lifetime_ms = 2000;
    add(kind, step, face, packet, bed_interest(packet, sizeof packet, uri, &fields));
}

static void add_data(unsigned kind, unsigned step, uint32_t face, const char *uri, struct bed_fields fields)
{
    add(kind, step, face, packet, bed_data(packet, sizeof packet, uri, &fields));
}

static void write_script(void)
{
    struct bed_config config = {.n_mbufs = 16383, .pit_capacity = 8192, .cs_capacity = 512, .pages = ARENA_PAGES_SMALL};
    bed = bed_create(&config);
    uint32_t a = bed_ether(bed, bed_port(bed), 2), b = bed_udp4(bed, bed_port(bed), 2);
    uint32_t c = bed_udp6(bed, bed_port(bed), 2), up = bed_ether(bed, bed_port(bed), 2);
    struct port *wide = bed_port(bed);
    wide->mtu = 9000;
    uint32_t jumbo = bed_ether(bed, wide, 2);
    bed_route(bed, "/a", up, 0);
    bed_route(bed, "/j", jumbo, 0);
    bed_route(bed, "/m", up, 0);
    bed_route(bed, "/m", jumbo, 0);
    bed_strategy(bed, "/m", 1);

    struct bed_fields plain = {0}, token8 = {.token = "tokentok", .token_len = 8};
    struct bed_fields token20 = {.token = "twentyoctetsoftokens", .token_len = 20}, prefix = {.can_be_prefix = true};
    struct bed_fields small = {.payload = 100, .freshness_ms = 1000}, large = {.payload = 1000},
                      huge = {.payload = 5000};
    add_interest(0, 0, a, "/a/plain/00000000", token8);
    add_data(0, 1, up, "/a/plain/00000000", small);
    add_interest(1, 0, a, "/a/joined/00000000", token8);
    add_interest(1, 1, b, "/a/joined/00000000", token20);
    add_interest(1, 2, c, "/a/joined/00000000", plain);
    add_data(1, 3, up, "/a/joined/00000000", large);
    add_interest(2, 0, b, "/a/prefix/00000000", prefix);
    add_data(2, 1, up, "/a/prefix/00000000/more", small);
    add_interest(3, 0, c, "/a/nack/00000000", plain);
    add_interest(3, 1, up, "/a/nack/00000000", (struct bed_fields){.nack = NDN_NACK_CONGESTION});
    add_interest(4, 0, a, "/none/00000000", token8);
    add_interest(5, 0, a, "/j/huge/00000000", token8);
    add_data(5, 1, jumbo, "/j/huge/00000000", huge);
    add_interest(6, 0, a, "/a/hit/00000000", plain);
    add_data(6, 1, up, "/a/hit/00000000", small);
    add_interest(6, 2, b, "/a/hit/00000000", token20);
    add_interest(6, 3, c, "/a/hit", prefix);
    add_data(7, 0, up, "/a/unasked/00000000", large);
    add(7, 1, a, (const uint8_t *)"\x05\x05\x07\x03\x08\x01q", 7);
    add(7, 2, a, (const uint8_t *)"\x05\x20garbage", 9);
    add_interest(8, 0, a, "/m/cast/00000000", token8);
    add_data(8, 1, jumbo, "/m/cast/00000000", large);
    add_data(8, 2, up, "/m/cast/00000000", large);
    add_interest(9, 0, a, "/a/expires/00000000", token20);
    add_interest(9, 1, a, "/a/expires/00000000", token20);
    add_interest(10, 0, b, "/a/loop/00000000", plain);
    add_interest(10, 1, c, "/a/loop/00000000", plain);
    // Data in two fragments.
    add_interest(11, 0, a, "/a/frag/00000000", token8);
    size_t len = bed_data(packet + 200, sizeof packet - 200, "/a/frag/00000000", &large);
    for (uint16_t i = 0; i < 2; i++) {
        size_t n = i == 0 ? 600 : len - 600;
        memmove(packet + 200, packet + 200 + (i == 0 ? 0 : 600), n);
        struct ndn_lp_out lp = {.has_sequence = true, .sequence = 5u + i, .frag_index = i, .frag_count = 2};
        uint8_t copy[1200];
        memcpy(copy, packet + 200, 1000);
        size_t header = ndn_lp_prepend(packet + 200, n, &lp);
        add(11, 1u + i, up, packet + 200 - header, header + n);
        if (i == 0)
            bed_data(packet + 200, sizeof packet - 200, "/a/frag/00000000", &large);
    }
}

static void play(const struct frame_of *f, uint64_t number)
{
    struct rte_mbuf *mbuf;
    uint8_t octets[6000];
    memcpy(octets, f->octets, f->len);
    for (unsigned i = 0; f->seq_off != 0 && i < 8; i++)
        octets[f->seq_off + i] = (uint8_t) "0123456789abcdef"[number >> (28 - 4 * i) & 15];
    if (f->nonce_off != 0)
        memcpy(octets + f->nonce_off, &(uint32_t){(uint32_t)number * 2654435761u}, 4);
    mbuf = chain_from_octets(bed->pool, octets, (uint32_t)f->len);
    if (mbuf == NULL)
        abort();
    fwd_input(bed->fwd[0], f->port, &mbuf, 1, bed->now_ns);
    fwd_flush(bed->fwd[0]);
    bed_drop_sent(bed);
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 15;
    write_script();
    // UDP checksums do not fit what play() changes.
    for (unsigned p = 0; p < bed->n_ports; p++)
        bed->port[p].frame_opts.skip_udp_csum = true;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    uint64_t n = 0;
    counting = true;
    // Calls that other libraries make must count too.
    free(strdup("counted"));
    if (n_calls != 2) {
        printf("calls are not counted\n");
        return 1;
    }
    n_calls = 0;
    do {
        for (unsigned i = 0; i < 12000; i++, n++) {
            unsigned kind = (unsigned)(n % KINDS);
            for (unsigned step = 0; step < STEPS && script[kind][step] != NULL; step++)
                play(script[kind][step], n);
            if (n % 64 == 0) {
                bed->now_ns += 1000000;
                fwd_poll(bed->fwd[0], bed->now_ns, 256);
                fwd_flush(bed->fwd[0]);
                bed_drop_sent(bed);
            }
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (n < EXCHANGES_MAX && now.tv_sec - start.tv_sec < seconds);
    counting = false;
    const struct stats_worker stats = bed_stats(bed);
    printf("%llu exchanges, %llu frames received, %llu sent: %llu allocations\n", (unsigned long long)n,
           (unsigned long long)stats.rx_frames, (unsigned long long)stats.tx_frames, (unsigned long long)n_calls);
    // Every kind of end that the script is about must have been met, or the count proves nothing.
    static const enum drop ends[] = {DROP_AGGREGATED, DROP_CS_HIT,         DROP_REASSEMBLED,      DROP_NACK_TAKEN,
                                     DROP_NO_ROUTE,   DROP_LOOP_DUP_NONCE, DROP_UNSOLICITED_DATA, DROP_TLV_TRUNC};
    for (unsigned i = 0; i < RTE_DIM(ends); i++) {
        if (stats.drops[ends[i]] == 0) {
            printf("no frame ended as %s\n", drop_info[ends[i]].name);
            return 1;
        }
    }
    if (stats.out_data < n / 4 || stats.out_interests < n / 4 || stats.unsatisfied == 0 || bed_check(bed) != 0) {
        printf("too little was forwarded\n");
        return 1;
    }
    return n_calls == 0 ? 0 : 1;
}
