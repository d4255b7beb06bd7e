// SPDX-License-Identifier: Apache-2.0
/* Captures that mkpcap makes, read back by libpcap and by the parsers of the forwarder. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parser/frame.h"
#include "parser/ndn_packet.h"
#include "parser/quic.h"
#include "test/load/mkpcap_plan.h"

#define FRAMES_MAX 4096

/** A capture, read back. */
struct capture {
    unsigned n;
    struct {
        uint8_t *octets;
        size_t len;
        uint64_t time_ns;
    } frame[FRAMES_MAX];
};

static struct capture capture;
static struct mkpcap_plan plan;

static char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "/tmp/pitlane-mkpcap-XXXXXX");
    int fd = mkstemp(name);
    cr_assert_geq(fd, 0);
    close(fd);
    return name;
}

static uint8_t *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    fseek(file, 0, SEEK_END);
    *len = (size_t)ftell(file);
    rewind(file);
    uint8_t *octets = malloc(*len + 1);
    cr_assert_eq(fread(octets, 1, *len, file), *len);
    fclose(file);
    octets[*len] = 0;
    return octets;
}

/* The octets of the plan's file. */
static uint8_t *make(enum mkpcap_format format, size_t *len)
{
    char err[512];
    const char *wrong = mkpcap_plan_check(&plan);
    cr_assert_null(wrong, "%s", wrong);
    char *path = file_name();
    struct mkpcap_out *out = mkpcap_out_open(path, format, MKPCAP_INTERFACES, err, sizeof err);
    cr_assert_not_null(out, "%s", err);
    mkpcap_plan_write(&plan, out);
    cr_assert_eq(mkpcap_out_close(out), 0);
    uint8_t *octets = read_file(path, len);
    unlink(path);
    return octets;
}

static void drop_capture(void)
{
    while (capture.n > 0)
        free(capture.frame[--capture.n].octets);
}

/* Make the plan's file and read it by libpcap. */
static void make_and_read(enum mkpcap_format format)
{
    char err[PCAP_ERRBUF_SIZE];
    size_t len;
    uint8_t *octets = make(format, &len);
    FILE *file = fmemopen(octets, len, "r");
    pcap_t *pcap = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, err);
    cr_assert_not_null(pcap, "%s", err);
    cr_assert_eq(pcap_datalink(pcap), DLT_EN10MB);
    struct pcap_pkthdr *header;
    const u_char *frame;
    int rc;
    drop_capture();
    while ((rc = pcap_next_ex(pcap, &header, &frame)) == 1) {
        cr_assert_lt(capture.n, FRAMES_MAX);
        cr_assert_eq(header->caplen, header->len);
        uint8_t *copy = malloc(header->len);
        memcpy(copy, frame, header->len);
        capture.frame[capture.n].octets = copy;
        capture.frame[capture.n].len = header->len;
        capture.frame[capture.n].time_ns = (uint64_t)header->ts.tv_sec * 1000000000 + (uint64_t)header->ts.tv_usec;
        capture.n++;
    }
    cr_assert_eq(rc, PCAP_ERROR_BREAK, "%s", pcap_geterr(pcap));
    pcap_close(pcap);
    free(octets);
}

static struct frame frame_of(unsigned i)
{
    struct frame frame;
    struct frame_opts opts = {0};
    cr_assert_eq(frame_parse(capture.frame[i].octets, capture.frame[i].len, &opts, &frame), VERDICT_OK, "frame %u", i);
    return frame;
}

static struct ndn_packet ndn_of(unsigned i)
{
    struct ndn_packet packet;
    struct ndn_parse_opts opts = {0};
    struct frame frame = frame_of(i);
    cr_assert_eq(ndn_packet_parse(capture.frame[i].octets + frame.payload_off, frame.payload_len, &opts, &packet),
                 VERDICT_OK, "packet %u", i);
    return packet;
}

static const char *uri_of(const struct ndn_packet *packet)
{
    static char uri[4096];
    cr_assert_gt(ndn_name_to_uri(packet->name.value, packet->name.len, uri, sizeof uri), 0);
    return uri;
}

static bool towards(unsigned i, const struct mkpcap_way *way)
{
    return memcmp(capture.frame[i].octets, way->to.mac, 6) == 0 &&
           memcmp(capture.frame[i].octets + 6, way->from.mac, 6) == 0;
}

static void init(void)
{
    mkpcap_plan_init(&plan);
}
TestSuite(mkpcap, .init = init, .fini = drop_capture);

Test(mkpcap, interests_have_the_benchmarks_shape)
{
    make_and_read(MKPCAP_PCAP_NS);
    cr_assert_eq(capture.n, 1000);
    for (unsigned i = 0; i < capture.n; i++) {
        struct ndn_packet packet = ndn_of(i);
        char want[64];
        snprintf(want, sizeof want, "/ndnbench/flow%04u/aaaaaaaa/%08x", i, i);
        cr_assert_str_eq(uri_of(&packet), want);
        cr_assert_eq(packet.type, NDN_TYPE_INTEREST);
        cr_assert_eq(packet.interest.lifetime_ms, 60000);
        cr_assert_eq(packet.lp.token_len, 8);
        cr_assert_eq(capture.frame[i].len, 14 + 68);
        cr_assert(towards(i, &plan.interest_way));
        cr_assert_eq(capture.frame[i].time_ns - capture.frame[0].time_ns, i * 1000);
    }
}

Test(mkpcap, nonces_and_tokens_differ)
{
    make_and_read(MKPCAP_PCAP_NS);
    for (unsigned i = 0; i < capture.n; i++) {
        struct ndn_packet a = ndn_of(i);
        for (unsigned j = 0; j < i; j += 37) {
            struct ndn_packet b = ndn_of(j);
            cr_assert_neq(a.interest.nonce, b.interest.nonce, "%u and %u", i, j);
            cr_assert_neq(memcmp(a.lp.token, b.lp.token, 8), 0, "%u and %u", i, j);
        }
    }
}

Test(mkpcap, data_answers_interests_in_order)
{
    static char interests[1000][64];
    plan.first = 0xfffffff0u - 999;
    make_and_read(MKPCAP_PCAP_NS);
    for (unsigned i = 0; i < capture.n; i++) {
        struct ndn_packet packet = ndn_of(i);
        snprintf(interests[i], sizeof interests[i], "%s", uri_of(&packet));
    }
    plan.kind = MKPCAP_DATA;
    plan.ndn.data_token = 8;
    make_and_read(MKPCAP_PCAP_NS);
    cr_assert_eq(capture.n, 1000);
    for (unsigned i = 0; i < capture.n; i++) {
        struct ndn_packet packet = ndn_of(i);
        cr_assert_eq(packet.type, NDN_TYPE_DATA);
        cr_assert_str_eq(uri_of(&packet), interests[i]);
        cr_assert_eq(packet.data.freshness_ms, 10000);
        cr_assert_eq(packet.lp.token_len, 8);
        cr_assert_eq(packet.lp.token[7], (uint8_t)(plan.first + i));
        cr_assert(towards(i, &plan.data_way));
    }
}

Test(mkpcap, shape_follows_options)
{
    cr_assert_eq(mkpcap_ndn_prefix(&plan.ndn, "/a/bc"), 0);
    plan.kind = MKPCAP_DATA;
    plan.count = 3;
    plan.ndn.comps = 8;
    plan.ndn.flows = 2;
    plan.ndn.payload = 1000;
    plan.ndn.freshness_ms = 0;
    make_and_read(MKPCAP_PCAP_NS);
    cr_assert_eq(capture.n, 3);
    struct ndn_packet packet = ndn_of(2);
    cr_assert_str_eq(uri_of(&packet), "/a/bc/flow0000/aaaaaaaa/aaaaaaaa/aaaaaaaa/aaaaaaaa/00000002");
    cr_assert_eq(packet.lp.token_len, 0);
    cr_assert_eq(packet.data.freshness_ms, 0);
    cr_assert_gt(packet.net_len, 1000);
    plan.kind = MKPCAP_INTEREST;
    plan.ndn.token = 0;
    plan.ndn.lifetime_ms = 0;
    make_and_read(MKPCAP_PCAP_NS);
    packet = ndn_of(1);
    cr_assert_eq(packet.lp.token_len, 0);
    cr_assert_eq(packet.interest.lifetime_ms, NDN_LIFETIME_DEFAULT_MS);
    cr_assert_str_eq(uri_of(&packet), "/a/bc/flow0001/aaaaaaaa/aaaaaaaa/aaaaaaaa/aaaaaaaa/00000001");
}

Test(mkpcap, every_udp_frame_is_valid)
{
    static const char *const ends[2][2] = {{"02:00:00:00:00:22,10.1.2.3,7000", "02:00:00:00:00:11,10.1.2.4,6363"},
                                           {"02:00:00:00:00:22,2001:db8::1", "02:00:00:00:00:11,2001:db8::2"}};
    for (unsigned v = 0; v < 2; v++) {
        // Checksums of many lengths.
        for (unsigned payload = 0; payload < 64; payload++) {
            mkpcap_plan_init(&plan);
            plan.kind = MKPCAP_DATA;
            plan.count = 8;
            plan.seed = payload;
            plan.ndn.payload = (uint16_t)payload;
            cr_assert_eq(mkpcap_end_parse(ends[v][0], &plan.data_way.from), 0);
            cr_assert_eq(mkpcap_end_parse(ends[v][1], &plan.data_way.to), 0);
            make_and_read(MKPCAP_PCAP_US);
            cr_assert_eq(capture.n, 8);
            for (unsigned i = 0; i < capture.n; i++) {
                struct frame frame = frame_of(i);
                cr_assert_eq(frame.kind, v == 0 ? FRAME_UDP4 : FRAME_UDP6);
                cr_assert_eq(frame.sport, v == 0 ? 7000 : 6363);
                cr_assert_eq(frame.dport, 6363);
                cr_assert_eq(memcmp(frame.dst_ip, plan.data_way.to.ip, plan.data_way.to.ip_len), 0);
                struct ndn_packet packet = ndn_of(i);
                cr_assert_eq(packet.type, NDN_TYPE_DATA);
            }
        }
    }
}

Test(mkpcap, exchanges_keep_as_many_pending)
{
    static const struct {
        uint64_t count;
        uint32_t live, burst;
    } cases[] = {{1000, 64, 64}, {1000, 256, 32}, {100, 1000, 8}, {7, 1, 3}, {1, 1, 1}};
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        mkpcap_plan_init(&plan);
        plan.kind = MKPCAP_EXCHANGE;
        plan.count = cases[c].count;
        plan.live = cases[c].live;
        plan.burst = cases[c].burst;
        make_and_read(MKPCAP_PCAP_NS);
        cr_assert_eq(capture.n, 2 * plan.count);
        unsigned asked = 0, answered = 0, most = 0;
        for (unsigned i = 0; i < capture.n; i++) {
            struct ndn_packet packet = ndn_of(i);
            const char *uri = uri_of(&packet);
            unsigned number = (unsigned)strtoul(strrchr(uri, '/') + 1, NULL, 16);
            if (packet.type == NDN_TYPE_INTEREST) {
                cr_assert_eq(number, asked++);
                cr_assert(towards(i, &plan.interest_way));
            } else {
                cr_assert_eq(number, answered++);
                cr_assert_leq(answered, asked);
                cr_assert(towards(i, &plan.data_way));
            }
            most = asked - answered > most ? asked - answered : most;
        }
        cr_assert_eq(asked, plan.count);
        cr_assert_eq(answered, plan.count);
        uint64_t bound = (uint64_t)plan.live + plan.burst;
        cr_assert_eq(most, bound < plan.count ? bound : plan.count, "case %u: %u pending", c, most);
    }
}

/* Connection IDs lead to the servers, in each encoding. */
static const char *const encodings[] = {"0,plaintext,3,4", "1,single-pass,8,8", "2,four-pass,3,4", "6,four-pass,8,10",
                                        "3,four-pass,4,7"};
ParameterizedTestParameters(mkpcap, quic_datagrams_lead_to_their_servers)
{
    static unsigned index[] = {0, 1, 2, 3, 4};
    return cr_make_param_array(unsigned, index, sizeof index / sizeof *index);
}
ParameterizedTest(unsigned *index, mkpcap, quic_datagrams_lead_to_their_servers)
{
    unsigned id_len;
    char servers[128];
    mkpcap_plan_init(&plan);
    plan.kind = MKPCAP_QUIC;
    plan.quic.connections = 30;
    plan.quic.size = 100;
    sscanf(encodings[*index], "%*u,%*[a-z-],%u", &id_len);
    snprintf(servers, sizeof servers, "%0*x,%0*x,%0*x", 2 * (int)id_len, 0x1234, 2 * (int)id_len, 0x42, 2 * (int)id_len,
             0xabcdef);
    cr_assert_eq(mkpcap_quic_config(&plan.quic, encodings[*index]), 0);
    cr_assert_eq(mkpcap_quic_key(&plan.quic, "8f95f09245765f80256934e50c66207f"), 0);
    cr_assert_eq(mkpcap_quic_servers(&plan.quic, servers), 0);
    make_and_read(MKPCAP_PCAP_NS);
    cr_assert_eq(capture.n, 1000);
    unsigned kinds[8] = {0};
    struct quic_opts opts = {.from_client = true, .require_fixed_bit = true, .short_dcid_len = QUIC_LB_CID_MAX};
    uint8_t seen[30][QUIC_LB_CID_MAX] = {{0}};
    for (unsigned i = 0; i < capture.n; i++) {
        struct frame frame = frame_of(i);
        struct quic_header header;
        cr_assert_eq(frame.dport, 443);
        cr_assert_eq(frame.sport, 49152 + i % 30);
        cr_assert_eq(quic_parse(capture.frame[i].octets + frame.payload_off, frame.payload_len, &opts, &header),
                     VERDICT_OK, "datagram %u", i);
        kinds[header.type]++;
        cr_assert_eq(frame.payload_len, header.type == QUIC_TYPE_INITIAL ? 1200 : 100);
        cr_assert_eq(header.packet_len, frame.payload_len);
        struct quic_lb_id id;
        uint8_t nonce[QUIC_LB_NONCE_MAX];
        cr_assert_gt(quic_lb_open(&plan.quic.lb, header.dcid, header.dcid_len, &id, nonce), 0);
        cr_assert_eq(memcmp(&id, &plan.quic.server[i % 30 % 3], sizeof id), 0, "datagram %u", i);
        // A connection keeps its CID.
        size_t cid_len = 1u + plan.quic.config.server_id_len + plan.quic.config.nonce_len;
        if (header.type != QUIC_TYPE_SHORT)
            cr_assert_eq(header.dcid_len, cid_len);
        if (seen[i % 30][0] != 0)
            cr_assert_eq(memcmp(seen[i % 30], header.dcid, cid_len), 0);
        memcpy(seen[i % 30], header.dcid, cid_len);
    }
    cr_assert(kinds[QUIC_TYPE_SHORT] > 850 && kinds[QUIC_TYPE_SHORT] < 950);
    cr_assert(kinds[QUIC_TYPE_INITIAL] > 15 && kinds[QUIC_TYPE_INITIAL] < 70);
    cr_assert(kinds[QUIC_TYPE_HANDSHAKE] > 25 && kinds[QUIC_TYPE_HANDSHAKE] < 80);
    cr_assert(kinds[QUIC_TYPE_0RTT] > 0 && kinds[QUIC_TYPE_0RTT] < 30);
}

Test(mkpcap, rebinding_changes_ports_and_not_connection_ids)
{
    plan.kind = MKPCAP_QUIC;
    plan.count = 500;
    plan.quic.connections = 1;
    plan.quic.rebind = true;
    cr_assert_eq(mkpcap_quic_mix(&plan.quic, "100/0/0/0"), 0);
    make_and_read(MKPCAP_PCAP_NS);
    unsigned same = 0;
    for (unsigned i = 1; i < capture.n; i++) {
        struct frame a = frame_of(i - 1), b = frame_of(i);
        same += a.sport == b.sport;
        cr_assert_geq(b.sport, 49152);
        cr_assert_eq(
            memcmp(capture.frame[i].octets + b.payload_off + 1, capture.frame[0].octets + b.payload_off + 1, 8), 0);
    }
    cr_assert_lt(same, 10);
}

Test(mkpcap, clients_draw_connection_ids_of_initials)
{
    plan.kind = MKPCAP_QUIC;
    plan.count = 100;
    plan.quic.client_initials = true;
    cr_assert_eq(mkpcap_quic_mix(&plan.quic, "0/100/0/0"), 0);
    make_and_read(MKPCAP_PCAP_NS);
    struct quic_opts opts = {.from_client = true};
    for (unsigned i = 0; i < capture.n; i++) {
        struct frame frame = frame_of(i);
        struct quic_header header;
        cr_assert_eq(quic_parse(capture.frame[i].octets + frame.payload_off, frame.payload_len, &opts, &header),
                     VERDICT_OK);
        cr_assert_eq(header.type, QUIC_TYPE_INITIAL);
        cr_assert_eq(header.dcid_len, 8);
    }
}

Test(mkpcap, mix_has_all)
{
    plan.kind = MKPCAP_MIX;
    plan.count = 500;
    plan.quic_share = 30;
    plan.quic.size = 100;
    make_and_read(MKPCAP_PCAPNG);
    unsigned ndn = 0, quic = 0;
    for (unsigned i = 0; i < capture.n; i++) {
        struct frame frame = frame_of(i);
        if (frame.kind == FRAME_NDN)
            ndn++;
        else
            quic++;
    }
    cr_assert_eq(ndn, 1000);
    cr_assert(quic > 350 && quic < 510, "%u datagrams", quic); // 30 % of the whole: 429 expected
}

Test(mkpcap, same_plan_same_octets)
{
    static const enum mkpcap_format formats[] = {MKPCAP_PCAP_NS, MKPCAP_PCAP_US, MKPCAP_PCAPNG, MKPCAP_TRAFGEN};
    for (unsigned f = 0; f < 4; f++) {
        size_t len[3];
        uint8_t *octets[3];
        for (unsigned i = 0; i < 3; i++) {
            mkpcap_plan_init(&plan);
            plan.kind = MKPCAP_MIX;
            plan.count = 100;
            plan.seed = i < 2 ? 7 : 8;
            octets[i] = make(formats[f], &len[i]);
        }
        cr_assert_eq(len[0], len[1]);
        cr_assert_eq(memcmp(octets[0], octets[1], len[0]), 0);
        cr_assert(len[0] != len[2] || memcmp(octets[0], octets[2], len[0]) != 0, "the seed has no effect");
        for (unsigned i = 0; i < 3; i++)
            free(octets[i]);
    }
}

static uint32_t ng32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

Test(mkpcap, pcapng_tells_interface_and_nanosecond)
{
    plan.kind = MKPCAP_EXCHANGE;
    plan.count = 200;
    plan.gap_ns = 333;
    make_and_read(MKPCAP_PCAPNG);
    size_t len, at = 0;
    uint8_t *octets = make(MKPCAP_PCAPNG, &len);
    unsigned interfaces = 0, frames = 0;
    while (at < len) {
        uint32_t type = ng32(octets + at), size = ng32(octets + at + 4);
        cr_assert_eq(size % 4, 0);
        cr_assert_leq(at + size, len);
        cr_assert_eq(ng32(octets + at + size - 4), size);
        interfaces += type == 1;
        if (type == 6) {
            cr_assert_lt(frames, capture.n);
            bool data = towards(frames, &plan.data_way);
            cr_assert_eq(ng32(octets + at + 8), data ? MKPCAP_PRODUCER : MKPCAP_CONSUMER);
            uint64_t time_ns = (uint64_t)ng32(octets + at + 12) << 32 | ng32(octets + at + 16);
            cr_assert_eq(time_ns, capture.frame[frames].time_ns);
            cr_assert_eq(time_ns - capture.frame[0].time_ns, frames * 333);
            cr_assert_eq(memcmp(octets + at + 28, capture.frame[frames].octets, capture.frame[frames].len), 0);
            frames++;
        }
        at += size;
    }
    free(octets);
    cr_assert_eq(interfaces, 2);
    cr_assert_eq(frames, 400);
}

Test(mkpcap, pktgen_gets_the_only_magic_it_reads)
{
    size_t len;
    plan.count = 1;
    uint8_t *us = make(MKPCAP_PCAP_US, &len);
    cr_assert_eq(ng32(us), 0xa1b2c3d4);
    uint8_t *ns = make(MKPCAP_PCAP_NS, &len);
    cr_assert_eq(ng32(ns), 0xa1b23c4d);
    free(us);
    free(ns);
}

Test(mkpcap, trafgen_packets_are_the_same_frames)
{
    plan.count = 3;
    make_and_read(MKPCAP_PCAP_NS);
    size_t len;
    char *text = (char *)make(MKPCAP_TRAFGEN, &len), *p = text;
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(strncmp(p, "{\n", 2), 0);
        p += 2;
        for (size_t o = 0; o < capture.frame[i].len; o++) {
            char *next;
            cr_assert_eq(strtoul(p, &next, 16), capture.frame[i].octets[o]);
            cr_assert_eq(*next, ',');
            p = next + 2;
        }
        cr_assert_eq(strncmp(p, "}\n", 2), 0);
        p += 2;
    }
    cr_assert_eq(*p, '\0');
    free(text);
}

Test(mkpcap, bad_plans_are_refused)
{
    cr_assert_null(mkpcap_plan_check(&plan));
    plan.count = 0;
    cr_assert_not_null(mkpcap_plan_check(&plan));
    init();
    plan.first = UINT32_MAX;
    plan.count = 2;
    cr_assert_not_null(mkpcap_plan_check(&plan));
    init();
    plan.ndn.comps = 2;
    cr_assert_not_null(mkpcap_plan_check(&plan));
    init();
    plan.ndn.payload = 8700;
    cr_assert_not_null(mkpcap_plan_check(&plan));
    init();
    plan.ndn.token = 33;
    cr_assert_not_null(mkpcap_plan_check(&plan));
    init();
    cr_assert_eq(mkpcap_end_parse("02:00:00:00:00:01,10.0.0.1", &plan.data_way.to), 0);
    cr_assert_not_null(mkpcap_plan_check(&plan));
    init();
    plan.kind = MKPCAP_QUIC;
    cr_assert_eq(mkpcap_quic_servers(&plan.quic, "0001"), 0);
    cr_assert_not_null(mkpcap_plan_check(&plan), "its server IDs are of three octets");
}

Test(mkpcap, bad_words_are_refused)
{
    struct mkpcap_end end = {.port = 9};
    static const char *const ends[] = {"",
                                       "02:00:00:00:00",
                                       "02:00:00:00:00:01,",
                                       "02:00:00:00:00:01,10.0.0",
                                       "02:00:00:00:00:01,10.0.0.1,",
                                       "02:00:00:00:00:01,10.0.0.1,0",
                                       "02:00:00:00:00:01,10.0.0.1,65536",
                                       "02:00:00:00:00:01 10.0.0.1",
                                       "02:00:00:00:00:01,::1,9x"};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        cr_assert_eq(mkpcap_end_parse(ends[i], &end), -EINVAL, "%s", ends[i]);
    cr_assert_eq(end.port, 9);
    static const char *const configs[] = {"",
                                          "0",
                                          "7,plaintext,3,4",
                                          "0,plain,3,4",
                                          "0,four-pass,8,8",
                                          "0,single-pass,3,4",
                                          "0,plaintext,0,4",
                                          "0,plaintext,3,3",
                                          "0,plaintext,15,5",
                                          "0,plaintext,3,4,"};
    for (unsigned i = 0; i < sizeof configs / sizeof *configs; i++)
        cr_assert_eq(mkpcap_quic_config(&plan.quic, configs[i]), -EINVAL, "%s", configs[i]);
    static const char *const keys[] = {"", "00", "8f95f09245765f80256934e50c66207", "8f95f09245765f80256934e50c66207g",
                                       "8f95f09245765f80256934e50c66207f00"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        cr_assert_eq(mkpcap_quic_key(&plan.quic, keys[i]), -EINVAL, "%s", keys[i]);
    static const char *const servers[] = {"", ",", "01,", "1", "0x01", "01,,02", "00112233445566778899aabbccddeeff"};
    for (unsigned i = 0; i < sizeof servers / sizeof *servers; i++)
        cr_assert_eq(mkpcap_quic_servers(&plan.quic, servers[i]), -EINVAL, "%s", servers[i]);
    static const char *const mixes[] = {"", "100", "90/4/5/2", "90/4/5", "90/4/5/1/0", "-1/1/50/50"};
    for (unsigned i = 0; i < sizeof mixes / sizeof *mixes; i++)
        cr_assert_eq(mkpcap_quic_mix(&plan.quic, mixes[i]), -EINVAL, "%s", mixes[i]);
}

/* The program itself. */
static int run(const char *arguments)
{
    char command[1024];
    const char *mkpcap = getenv("MKPCAP");
    cr_assert_not_null(mkpcap, "MKPCAP names the program");
    snprintf(command, sizeof command, "%s %s 2>/dev/null", mkpcap, arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(mkpcap, program_writes_what_the_plan_says)
{
    char arguments[256];
    char path[64];
    snprintf(path, sizeof path, "%s", file_name());
    snprintf(arguments, sizeof arguments, "exchange -n 100 --seed 9 --live 32 --rate 2000000 -f pcapng -o %s", path);
    cr_assert_eq(run(arguments), 0);
    plan.kind = MKPCAP_EXCHANGE;
    plan.count = 100;
    plan.seed = 9;
    plan.live = 32;
    plan.gap_ns = 500;
    size_t len[2];
    uint8_t *octets[2] = {read_file(path, &len[0]), make(MKPCAP_PCAPNG, &len[1])};
    unlink(path);
    cr_assert_eq(len[0], len[1]);
    cr_assert_eq(memcmp(octets[0], octets[1], len[0]), 0);
    free(octets[0]);
    free(octets[1]);
}

Test(mkpcap, program_tells_wrong_use_and_failure_apart)
{
    cr_assert_eq(run("--help >/dev/null"), 0);
    cr_assert_eq(run(""), 2);
    cr_assert_eq(run("interest"), 2);
    cr_assert_eq(run("nonsense -o -"), 2);
    cr_assert_eq(run("interest -n x -o /dev/null"), 2);
    cr_assert_eq(run("interest -n -1 -o /dev/null"), 2);
    cr_assert_eq(run("interest --nonsense -o /dev/null"), 2);
    cr_assert_eq(run("interest --rate 0 -o /dev/null"), 2);
    cr_assert_eq(run("interest --comps 1 -o /dev/null"), 2);
    cr_assert_eq(run("interest -f gzip -o /dev/null"), 2);
    cr_assert_eq(run("interest -o /nonexistent/file"), 1);
    cr_assert_eq(run("interest -o /dev/full"), 1);
    cr_assert_eq(run("data -f pcapng -o /dev/full"), 1);
}
