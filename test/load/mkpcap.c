// SPDX-License-Identifier: Apache-2.0
/* Traffic for load generators and for replay: capture files of NDN and QUIC packets, the same octets every time. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/load/mkpcap_plan.h"

static const char usage[] =
    "usage: mkpcap KIND [OPTION]... -o FILE\n"
    "KIND: interest   Interests with different names\n"
    "      data       the Data that satisfy them, in the same order\n"
    "      exchange   both, interleaved\n"
    "      quic       QUIC datagrams\n"
    "      mix        exchanges and QUIC datagrams\n"
    "  -o, --output FILE      \"-\": standard output\n"
    "  -f, --format FORMAT    pcap (nanoseconds), pcap-us (microseconds: for Pktgen-DPDK), pcapng (with two "
    "interfaces:\n"
    "                         0 consumer and QUIC clients, 1 producer), trafgen (its packet language)     [pcap]\n"
    "  -n, --count N          Interests, Data, exchanges or datagrams                                     [1000]\n"
    "      --first N          number of the first one                                                     [0]\n"
    "      --seed N           what nonces, tokens, connection IDs and payload follow from                 [1]\n"
    "      --rate N           frames a second, in timestamps                                              [1000000]\n"
    "NDN: names are PREFIX/flowNNNN/aaaaaaaa/.../<number in 8 hex digits>\n"
    "      --prefix URI       [/ndnbench]\n"
    "      --comps N          components of a name                                                        [4]\n"
    "      --flows N          different flowNNNN                                                          [10000]\n"
    "      --payload N        octets of Content                                                           [100]\n"
    "      --token N          octets of the PitToken of Interests, 0: bare                                [8]\n"
    "      --data-token N     octets of it that Data brings back, 0: bare                                 [0]\n"
    "      --lifetime MS      of Interests, 0: absent                                                     [60000]\n"
    "      --freshness MS     of Data, 0: absent                                                          [10000]\n"
    "      --live N           exchange: Interests pending                                                 [64]\n"
    "      --burst N          exchange: Interests, then Data, in a row                                    [64]\n"
    "QUIC:\n"
    "      --lb ID,ENCODING,SERVER-ID-LENGTH,NONCE-LENGTH                                                 "
    "[0,plaintext,3,4]\n"
    "                         QUIC-LB; encoding: plaintext, single-pass (lengths together 16), four-pass (else)\n"
    "      --key HEX          of single-pass and four-pass                                                [zeros]\n"
    "      --servers HEX,...  server IDs                                                                  "
    "[000001,000002]\n"
    "      --connections N    connection IDs; the source port tells them apart, too                       [1024]\n"
    "      --rebind           each datagram from another source port\n"
    "      --mix S/I/H/Z      percent of short headers, Initials, Handshakes, 0-RTTs                      [90/4/5/1]\n"
    "      --client-initials  Initials and 0-RTTs have connection IDs that clients have drawn\n"
    "      --size N           octets of a datagram; Initials have 1200 at least                           [1200]\n"
    "      --quic-share N     mix: percent of frames that are QUIC's                                      [50]\n"
    "Addresses are MAC, or MAC,IP or MAC,IP,PORT for UDP:\n"
    "      --from A, --to A             of Interests        [02:00:00:00:00:02, 02:00:00:00:00:01; port 6363]\n"
    "      --data-from A, --data-to A   of Data             [02:00:00:00:01:02, 02:00:00:00:01:01; port 6363]\n"
    "      --quic-from A, --quic-to A   of QUIC datagrams   [...:00:02,198.51.100.2,49152, "
    "...:00:01,203.0.113.10,443]\n";

enum {
    OPT_FIRST = 256,
    OPT_SEED,
    OPT_RATE,
    OPT_PREFIX,
    OPT_COMPS,
    OPT_FLOWS,
    OPT_PAYLOAD,
    OPT_TOKEN,
    OPT_DATA_TOKEN,
    OPT_LIFETIME,
    OPT_FRESHNESS,
    OPT_LIVE,
    OPT_BURST,
    OPT_LB,
    OPT_KEY,
    OPT_SERVERS,
    OPT_CONNECTIONS,
    OPT_REBIND,
    OPT_MIX,
    OPT_CLIENT_INITIALS,
    OPT_SIZE,
    OPT_QUIC_SHARE,
    OPT_FROM,
    OPT_TO,
    OPT_DATA_FROM,
    OPT_DATA_TO,
    OPT_QUIC_FROM,
    OPT_QUIC_TO,
};

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'f'},
    {"count", required_argument, NULL, 'n'},
    {"first", required_argument, NULL, OPT_FIRST},
    {"seed", required_argument, NULL, OPT_SEED},
    {"rate", required_argument, NULL, OPT_RATE},
    {"prefix", required_argument, NULL, OPT_PREFIX},
    {"comps", required_argument, NULL, OPT_COMPS},
    {"flows", required_argument, NULL, OPT_FLOWS},
    {"payload", required_argument, NULL, OPT_PAYLOAD},
    {"token", required_argument, NULL, OPT_TOKEN},
    {"data-token", required_argument, NULL, OPT_DATA_TOKEN},
    {"lifetime", required_argument, NULL, OPT_LIFETIME},
    {"freshness", required_argument, NULL, OPT_FRESHNESS},
    {"live", required_argument, NULL, OPT_LIVE},
    {"burst", required_argument, NULL, OPT_BURST},
    {"lb", required_argument, NULL, OPT_LB},
    {"key", required_argument, NULL, OPT_KEY},
    {"servers", required_argument, NULL, OPT_SERVERS},
    {"connections", required_argument, NULL, OPT_CONNECTIONS},
    {"rebind", no_argument, NULL, OPT_REBIND},
    {"mix", required_argument, NULL, OPT_MIX},
    {"client-initials", no_argument, NULL, OPT_CLIENT_INITIALS},
    {"size", required_argument, NULL, OPT_SIZE},
    {"quic-share", required_argument, NULL, OPT_QUIC_SHARE},
    {"from", required_argument, NULL, OPT_FROM},
    {"to", required_argument, NULL, OPT_TO},
    {"data-from", required_argument, NULL, OPT_DATA_FROM},
    {"data-to", required_argument, NULL, OPT_DATA_TO},
    {"quic-from", required_argument, NULL, OPT_QUIC_FROM},
    {"quic-to", required_argument, NULL, OPT_QUIC_TO},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* @return 0, or -EINVAL when it is no number up to @p max */
static int number(const char *text, uint64_t max, uint64_t *value)
{
    char *rest;
    errno = 0;
    unsigned long long v = strtoull(text, &rest, 10);
    if (errno != 0 || rest == text || *rest != '\0' || strchr(text, '-') != NULL || v > max)
        return -EINVAL;
    *value = v;
    return 0;
}

static int set32(const char *text, uint32_t *to)
{
    uint64_t v;
    int rc = number(text, UINT32_MAX, &v);
    if (rc == 0)
        *to = (uint32_t)v;
    return rc;
}

static int set16(const char *text, uint16_t *to)
{
    uint64_t v;
    int rc = number(text, UINT16_MAX, &v);
    if (rc == 0)
        *to = (uint16_t)v;
    return rc;
}

static int set8(const char *text, uint8_t *to)
{
    uint64_t v;
    int rc = number(text, UINT8_MAX, &v);
    if (rc == 0)
        *to = (uint8_t)v;
    return rc;
}

static int set_rate(const char *text, uint64_t *gap_ns)
{
    uint64_t rate;
    if (number(text, 1000000000, &rate) != 0 || rate == 0)
        return -EINVAL;
    *gap_ns = 1000000000 / rate;
    return 0;
}

/* @return 0, or -EINVAL: the argument is not what the option wants */
static int set(struct mkpcap_plan *plan, int option, const char *arg)
{
    switch (option) {
    case 'n':
        return number(arg, UINT64_MAX, &plan->count);
    case OPT_FIRST:
        return number(arg, UINT64_MAX, &plan->first);
    case OPT_SEED:
        return number(arg, UINT64_MAX, &plan->seed);
    case OPT_RATE:
        return set_rate(arg, &plan->gap_ns);
    case OPT_PREFIX:
        return mkpcap_ndn_prefix(&plan->ndn, arg);
    case OPT_COMPS:
        return set16(arg, &plan->ndn.comps);
    case OPT_FLOWS:
        return set16(arg, &plan->ndn.flows);
    case OPT_PAYLOAD:
        return set16(arg, &plan->ndn.payload);
    case OPT_TOKEN:
        return set8(arg, &plan->ndn.token);
    case OPT_DATA_TOKEN:
        return set8(arg, &plan->ndn.data_token);
    case OPT_LIFETIME:
        return set32(arg, &plan->ndn.lifetime_ms);
    case OPT_FRESHNESS:
        return set32(arg, &plan->ndn.freshness_ms);
    case OPT_LIVE:
        return set32(arg, &plan->live);
    case OPT_BURST:
        return set32(arg, &plan->burst);
    case OPT_LB:
        return mkpcap_quic_config(&plan->quic, arg);
    case OPT_KEY:
        return mkpcap_quic_key(&plan->quic, arg);
    case OPT_SERVERS:
        return mkpcap_quic_servers(&plan->quic, arg);
    case OPT_CONNECTIONS:
        return set32(arg, &plan->quic.connections);
    case OPT_REBIND:
        plan->quic.rebind = true;
        return 0;
    case OPT_MIX:
        return mkpcap_quic_mix(&plan->quic, arg);
    case OPT_CLIENT_INITIALS:
        plan->quic.client_initials = true;
        return 0;
    case OPT_SIZE:
        return set16(arg, &plan->quic.size);
    case OPT_QUIC_SHARE:
        return set32(arg, &plan->quic_share);
    case OPT_FROM:
        return mkpcap_end_parse(arg, &plan->interest_way.from);
    case OPT_TO:
        return mkpcap_end_parse(arg, &plan->interest_way.to);
    case OPT_DATA_FROM:
        return mkpcap_end_parse(arg, &plan->data_way.from);
    case OPT_DATA_TO:
        return mkpcap_end_parse(arg, &plan->data_way.to);
    case OPT_QUIC_FROM:
        return mkpcap_end_parse(arg, &plan->quic_way.from);
    case OPT_QUIC_TO:
        return mkpcap_end_parse(arg, &plan->quic_way.to);
    default:
        return -EINVAL;
    }
}

static int kind_of(const char *text, enum mkpcap_kind *kind)
{
    static const char *const name[] = {"interest", "data", "exchange", "quic", "mix"};
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
        if (strcmp(text, name[i]) == 0) {
            *kind = (enum mkpcap_kind)i;
            return 0;
        }
    }
    return -EINVAL;
}

int main(int argc, char **argv)
{
    static struct mkpcap_plan plan;
    enum mkpcap_format format = MKPCAP_PCAP_NS;
    const char *path = NULL;
    mkpcap_plan_init(&plan);
    int option, index;
    while ((option = getopt_long(argc, argv, "o:f:n:h", options, &index)) != -1) {
        int rc = 0;
        if (option == 'h') {
            fputs(usage, stdout);
            return 0;
        }
        if (option == '?')
            return 2;
        if (option == 'o')
            path = optarg;
        else if (option == 'f')
            rc = mkpcap_format_parse(optarg, &format);
        else
            rc = set(&plan, option, optarg);
        if (rc != 0) {
            fprintf(stderr, "mkpcap: %s: not what this option takes; see mkpcap --help\n", optarg);
            return 2;
        }
    }
    if (optind + 1 != argc || path == NULL || kind_of(argv[optind], &plan.kind) != 0) {
        fputs(usage, stderr);
        return 2;
    }
    const char *wrong = mkpcap_plan_check(&plan);
    if (wrong != NULL) {
        fprintf(stderr, "mkpcap: %s\n", wrong);
        return 2;
    }
    char err[512];
    struct mkpcap_out *out = mkpcap_out_open(path, format, MKPCAP_INTERFACES, err, sizeof err);
    if (out == NULL) {
        fprintf(stderr, "mkpcap: %s\n", err);
        return 1;
    }
    mkpcap_plan_write(&plan, out);
    if (mkpcap_out_close(out) != 0) {
        fprintf(stderr, "mkpcap: %s: not everything could be written\n", path);
        return 1;
    }
    return 0;
}
