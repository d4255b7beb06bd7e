// SPDX-License-Identifier: Apache-2.0
#include "test/load/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "test/load/options_read.h"

/* What a value is, and so how it is read. */
enum kind {
    FLAG,
    REAL,
    NUMBER32,
    NUMBER16,
    NUMBER8,
    SPECIAL, /* read by its own code, below */
    HEADING, /* no option: a line of the help */
};

enum special {
    OPT_HELP = 1,
    OPT_MODE,
    OPT_CONSUMER,
    OPT_PRODUCER,
    OPT_ARRIVALS,
    OPT_COUNT,
    OPT_SEARCH,
    OPT_PREFIX,
    OPT_NAMES,
    OPT_FIRST,
    OPT_TOKEN,
    OPT_CONSUMER_TOKEN,
    OPT_INJECT,
    OPT_QUIC_CONFIG,
    OPT_QUIC_SERVER,
    OPT_SEED,
    OPT_JSON,
};

struct row {
    const char *name;
    const char *argument; /* NULL: a flag */
    const char *help;
    uint8_t kind;    /* enum kind */
    uint8_t special; /* enum special */
    double min, max;
    size_t offset; /* in struct options */
};

#define AT(field) offsetof(struct options, field)
/* clang-format off */
static const struct row rows[] = {
    {.kind = HEADING, .help = "Ports (numbers of DPDK, in the order of its --vdev and --allow)"},
    {"consumer", "PORT[,KEY=VALUE]...", "where Interests, or QUIC clients' datagrams, are sent", SPECIAL, OPT_CONSUMER, 0, 0, 0},
    {"producer", "PORT[,KEY=VALUE]...", "where they come out: may be the same port. Keys of both:\n"
        "link=auto|ether|udp|bare (auto: bare on memif, else ether), mac=MAC (default: the device's),\n"
        "to=MAC (default 01:00:5e:00:17:aa), vlan=ID, and with udp: ip=ADDRESS, to-ip=ADDRESS, udp=PORT,\n"
        "to-udp=PORT (default 6363). With --mode quic the consumer's to-ip and to-udp are the virtual address", SPECIAL, OPT_PRODUCER, 0, 0, 0},
    {"mtu", "OCTETS", "of both ports, which is set on the device (default: what it has)", NUMBER16, 0, 256, 9600, AT(mtu)},
    {.kind = HEADING, .help = "Load"},
    {"mode", "ndn|quic", "default ndn", SPECIAL, OPT_MODE, 0, 0, 0},
    {"rate", "PPS", "open loop: packets a second, sent whether answers come or not", REAL, 0, 1e-3, 1e9, AT(rate)},
    {"arrivals", "constant|poisson", "of the open loop (default constant)", SPECIAL, OPT_ARRIVALS, 0, 0, 0},
    {"window", "N", "closed loop: so many are outstanding at any time (default 64, without --rate)", NUMBER32, 0, 1, 1 << 22, AT(window)},
    {"duration", "SECONDS", "of sending (default 10 without --count)", REAL, 0, 1e-3, 1e7, AT(duration_s)},
    {"count", "N", "packets to send", SPECIAL, OPT_COUNT, 1, 1e15, 0},
    {"warm-up", "SECONDS", "sent before all, and not counted (default 0)", REAL, 0, 0, 3600, AT(warm_up_s)},
    {"timeout", "SECONDS", "without an answer: lost (default 1)", REAL, 0, 1e-3, 60, AT(timeout_s)},
    {"outstanding", "N", "requests remembered, a power of two (default: by rate and timeout)", NUMBER32, 0, 1024, 1 << 26, AT(outstanding)},
    {.kind = HEADING, .help = "Rates to be found"},
    {"saturate", "SHARE", "find the saturated rate in closed loop first, then run at this share of it, as 0.5", REAL, 0, 1e-3, 2, AT(saturate)},
    {"search", NULL, "find the highest rate with a loss ratio of at most --max-loss (RFC 2544, 26.1): bisection\n"
        "between 0 and --rate, or what the closed loop reaches; then report a run of --duration at that rate", SPECIAL, OPT_SEARCH, 0, 0, 0},
    {"trial", "SECONDS", "of each step of the two above (default 2)", REAL, 0, 1e-2, 3600, AT(trial_s)},
    {"resolution", "SHARE", "where the search ends (default 0.01)", REAL, 0, 1e-4, 0.5, AT(resolution)},
    {"max-loss", "RATIO", "exit with 1 above it (default of --search: 0)", REAL, 0, 0, 1, AT(max_loss)},
    {.kind = HEADING, .help = "NDN packets"},
    {"prefix", "URI", "of all names (default /ndnbench)", SPECIAL, OPT_PREFIX, 0, 0, 0},
    {"names", "distinct|cycle:N|zipf:N:S", "default distinct; S is the exponent", SPECIAL, OPT_NAMES, 0, 0, 0},
    {"components", "N", "of a name, the prefix included (default 4); eight octets each", NUMBER32, 0, 2, 32, AT(components)},
    {"flows", "N", "values of the component after the prefix, flow0000 and on (default 1)", NUMBER32, 0, 1, 10000, AT(flows)},
    {"first", "N|random", "number of the first name (default: random with distinct names, so that caches know none)", SPECIAL, OPT_FIRST, 0, UINT32_MAX, 0},
    {"payload", "OCTETS", "of Content (default 100), or of a datagram's QUIC packet", NUMBER32, 0, 0, 8192, AT(payload)},
    {"can-be-prefix", NULL, "Interests with CanBePrefix, for Data with one component more", FLAG, 0, 0, 0, AT(can_be_prefix)},
    {"must-be-fresh", NULL, "Interests with MustBeFresh", FLAG, 0, 0, 0, AT(must_be_fresh)},
    {"lifetime", "MS", "InterestLifetime (default 4000)", NUMBER32, 0, 1, 864000000, AT(lifetime_ms)},
    {"freshness", "MS", "FreshnessPeriod (default 10000; 0: none)", NUMBER32, 0, 0, 864000000, AT(freshness_ms)},
    {"hop-limit", "N", "HopLimit (default: none)", NUMBER8, 0, 1, 255, AT(hop_limit)},
    {"token", "echo|off", "whether the producer puts an Interest's PIT token on its Data (default echo)", SPECIAL, OPT_TOKEN, 0, 0, 0},
    {"consumer-token", "on|off", "whether Interests have a PIT token, and Data must bring it back (default on)", SPECIAL, OPT_CONSUMER_TOKEN, 0, 0, 0},
    {"fragments", NULL, "Data above the MTU go in NDNLPv2 fragments", FLAG, 0, 0, 0, AT(fragments)},
    {"inject", "drop:N,corrupt:N,nack:N", "do this to each Nth answer, to see that it is noticed", SPECIAL, OPT_INJECT, 0, 0, 0},
    {.kind = HEADING, .help = "QUIC datagrams"},
    {"quic-config", "ID:SERVER-ID-LENGTH:NONCE-LENGTH[:KEY]", "QUIC-LB configuration, key in hexadecimal", SPECIAL, OPT_QUIC_CONFIG, 0, 0, 0},
    {"quic-server", "SERVER-ID[=MAC]", "one of the servers; with MAC its packets must come there, without: always to one and the same", SPECIAL, OPT_QUIC_SERVER, 0, 0, 0},
    {"quic-flows", "N", "connections (default 100)", NUMBER32, 0, 1, 1 << 20, AT(quic.flows)},
    {"quic-initials", "SHARE", "of Initials, which have connection IDs of the client (default 0.05)", REAL, 0, 0, 1, AT(quic.initials)},
    {"quic-rebind", "K", "a flow's source port changes every K packets (default 0: never)", NUMBER32, 0, 0, UINT32_MAX, AT(quic.rebind)},
    {"quic-port", "PORT", "source ports begin here (default 10000)", NUMBER16, 0, 1024, 60000, AT(quic.first_sport)},
    {.kind = HEADING, .help = "Program"},
    {"seed", "N", "of contents, arrivals and choices (default 1): runs repeat, and both ends must have the same", SPECIAL, OPT_SEED, 0, 9e15, 0},
    {"mbufs", "N", "packet buffers (default 32767)", NUMBER32, 0, 4096, 1 << 22, AT(mbufs)},
    {"mbuf-size", "OCTETS", "of each, headroom included (default 2176)", NUMBER32, 0, 1024, 16384, AT(mbuf_size)},
    {"descriptors", "N", "of each queue (default 2048)", NUMBER32, 0, 64, 32768, AT(descriptors)},
    {"sleep", "US", "when there is nothing to do (default 0: busy)", NUMBER32, 0, 0, 10000, AT(sleep_us)},
    {"quiet", NULL, "no line a second on standard error", FLAG, 0, 0, 0, AT(quiet)},
    {"json", "FILE", "report to a file instead of standard output", SPECIAL, OPT_JSON, 0, 0, 0},
    {"help", NULL, "this text", SPECIAL, OPT_HELP, 0, 0, 0},
};
/* clang-format on */
#define N_ROWS (sizeof rows / sizeof rows[0])

static void help(void)
{
    puts("usage: pitlane-load [EAL arguments] -- [options]\n\n"
         "Sends Interests from the consumer's port and answers them at the producer's, through whatever forwards\n"
         "between them; checks each Data, and reports counts and latency as one JSON document. Numbers take k, M, G.");
    for (unsigned i = 0; i < N_ROWS; i++) {
        const struct row *row = &rows[i];
        if (row->kind == HEADING) {
            printf("\n%s:\n", row->help);
            continue;
        }
        printf("  --%s%s%s\n", row->name, row->argument != NULL ? " " : "", row->argument != NULL ? row->argument : "");
        fputs("        ", stdout);
        for (const char *p = row->help; *p != '\0'; p++) {
            putchar(*p);
            if (*p == '\n')
                fputs("        ", stdout);
        }
        putchar('\n');
    }
    puts("\nExit code: 0 when every packet that came was right and no loss was above --max-loss, 1 otherwise, 2 for\n"
         "wrong usage. SIGINT and SIGTERM end the run early, with the report of it.");
}

static bool choice(const char *text, const char *yes, const char *no, bool *value)
{
    *value = strcmp(text, yes) == 0;
    return *value || strcmp(text, no) == 0;
}

static bool read_first(const char *text, struct options *options)
{
    uint64_t number;
    if (strcmp(text, "random") == 0)
        return getrandom(&options->first, sizeof options->first, 0) == (ssize_t)sizeof options->first;
    if (!options_read_number(text, 0, UINT32_MAX, &number))
        return false;
    options->first = (uint32_t)number;
    return true;
}

static bool read_special(const struct row *row, const char *text, struct options *options)
{
    bool flag;
    switch (row->special) {
    case OPT_MODE:
        if (!choice(text, "quic", "ndn", &flag))
            return false;
        options->mode = flag ? MODE_QUIC : MODE_NDN;
        return true;
    case OPT_CONSUMER:
        return options_read_end(text, &options->consumer);
    case OPT_PRODUCER:
        return options_read_end(text, &options->producer);
    case OPT_ARRIVALS:
        return choice(text, "poisson", "constant", &options->poisson);
    case OPT_COUNT:
        return options_read_number(text, (uint64_t)row->min, (uint64_t)row->max, &options->count);
    case OPT_SEARCH:
        return options->search = true;
    case OPT_PREFIX:
        snprintf(options->prefix, sizeof options->prefix, "%s", text);
        return strlen(text) < sizeof options->prefix;
    case OPT_NAMES:
        return options_read_names(text, options);
    case OPT_FIRST:
        return options->has_first = read_first(text, options);
    case OPT_TOKEN:
        return choice(text, "echo", "off", &options->token_echo);
    case OPT_CONSUMER_TOKEN:
        return choice(text, "on", "off", &options->consumer_token);
    case OPT_INJECT:
        return options_read_inject(text, &options->inject);
    case OPT_QUIC_CONFIG:
        return options_read_quic_config(text, &options->quic);
    case OPT_QUIC_SERVER:
        return options_read_quic_server(text, &options->quic);
    case OPT_SEED:
        return options_read_number(text, 0, (uint64_t)row->max, &options->seed);
    case OPT_JSON:
        options->json = text;
        return true;
    }
    return false;
}

static bool read_value(const struct row *row, const char *text, struct options *options)
{
    char *field = (char *)options + row->offset;
    uint64_t number;
    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        return true;
    case REAL:
        return options_read_real(text, row->min, row->max, (double *)field);
    case SPECIAL:
        return read_special(row, text, options);
    }
    if (!options_read_number(text, (uint64_t)row->min, (uint64_t)row->max, &number))
        return false;
    if (row->kind == NUMBER32)
        *(uint32_t *)field = (uint32_t)number;
    else if (row->kind == NUMBER16)
        *(uint16_t *)field = (uint16_t)number;
    else
        *(uint8_t *)field = (uint8_t)number;
    return true;
}

static const char *check_udp(const struct options_end *end)
{
    static const uint8_t none[16];
    if (end->present && end->link == LINK_UDP &&
        (memcmp(end->local_ip, none, 16) == 0 || memcmp(end->remote_ip, none, 16) == 0 || !end->has_remote_mac))
        return "link=udp needs ip=, to-ip= and to=";
    return NULL;
}

static const char *check_quic(struct options *options)
{
    struct options_quic *quic = &options->quic;
    if (options->consumer.present && options->consumer.link != LINK_UDP)
        return "--mode quic needs link=udp of the consumer";
    if (!quic->has_config || quic->n_servers == 0)
        return "--mode quic needs --quic-config and --quic-server";
    for (unsigned i = 0; i < quic->n_servers; i++) {
        if (quic->server[i].len != quic->config.server_id_len)
            return "a --quic-server has not the length that --quic-config says";
    }
    if (!options->consumer.present || !options->producer.present || options->consumer.port == options->producer.port)
        return "--mode quic needs --consumer and --producer, two ports";
    return NULL;
}

/* What one option does not show by itself. NULL: fine. */
static const char *check(struct options *options)
{
    if (!options->consumer.present && !options->producer.present)
        return "neither --consumer nor --producer";
    if (options->rate > 0 && options->window > 0 && !options->search)
        return "--rate is an open loop, --window a closed one: one of them";
    if (options->search && options->saturate > 0)
        return "one of --search and --saturate";
    if ((options->search || options->saturate > 0) && options->count > 0)
        return "--search and --saturate go by --duration, not by --count";
    if (options->outstanding != 0 && (options->outstanding & (options->outstanding - 1)) != 0)
        return "--outstanding is no power of two";
    const char *wrong = check_udp(&options->consumer);
    if (wrong == NULL)
        wrong = check_udp(&options->producer);
    if (wrong == NULL && options->mode == MODE_QUIC)
        wrong = check_quic(options);
    return wrong;
}

static void defaults(struct options *options)
{
    if (options->window == 0)
        options->window = 64;
    if (options->duration_s <= 0 && options->count == 0)
        options->duration_s = options->consumer.present ? 10 : 0;
    if (options->search && options->max_loss < 0)
        options->max_loss = 0;
    if (!options->has_first && options->names == NAMES_DISTINCT)
        read_first("random", options);
}

int options_parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){.timeout_s = 1,
                                .trial_s = 2,
                                .resolution = 0.01,
                                .max_loss = -1,
                                .prefix = "/ndnbench",
                                .components = 4,
                                .flows = 1,
                                .payload = 100,
                                .lifetime_ms = 4000,
                                .freshness_ms = 10000,
                                .token_echo = true,
                                .consumer_token = true,
                                .quic = {.flows = 100, .initials = 0.05, .first_sport = 10000},
                                .seed = 1,
                                .mbufs = 32767,
                                .mbuf_size = 2176,
                                .descriptors = 2048};
    struct option known[N_ROWS + 1] = {{0}};
    unsigned row_of[N_ROWS], n = 0;
    for (unsigned i = 0; i < N_ROWS; i++) {
        if (rows[i].kind == HEADING)
            continue;
        known[n] = (struct option){rows[i].name, rows[i].argument != NULL, NULL, 1};
        row_of[n++] = i;
    }
    optind = 1;
    int code, at;
    while ((code = getopt_long(argc, argv, "", known, &at)) != -1) {
        if (code != 1)
            return -EINVAL;
        const struct row *row = &rows[row_of[at]];
        if (row->special == OPT_HELP) {
            help();
            return 1;
        }
        if (!read_value(row, optarg, options)) {
            fprintf(stderr, "pitlane-load: --%s %s is not %s", row->name, optarg, row->argument);
            if (row->max > 0)
                fprintf(stderr, " from %g to %g", row->min, row->max);
            fputc('\n', stderr);
            return -EINVAL;
        }
    }
    const char *wrong = optind < argc ? "arguments behind the options" : check(options);
    if (wrong != NULL) {
        fprintf(stderr, "pitlane-load: %s (see pitlane-load -- --help)\n", wrong);
        return -EINVAL;
    }
    defaults(options);
    return 0;
}
