// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/client/ping.h"
#include "fwd/client/show.h"

const struct command_option command_common_options[] = {
    {'h', "help", NULL, "show the usage of the command"},
    {0},
};

const struct command_option command_daemon_options[] = {
    {'j', "json", NULL, "print one JSON document"},
    {'s', "socket", "PATH", "telemetry socket of pitlaned; default from the two options below"},
    {'r', "runtime-dir", "DIR", "runtime directory of pitlaned (daemon.runtime-dir); default /run/pitlane"},
    {'p', "prefix", "NAME", "file prefix of pitlaned (daemon.file-prefix); default pitlane"},
    {0},
};

static const struct command_option drops_options[] = {
    {'a', "all", NULL, "show reasons that never occurred, too"},
    {0},
};

// clang-format off
#define LINK_OPTIONS \
    {0, "udp", "ADDRESS[:PORT]", "peer or group to talk to over UDP (port 6363)"}, \
    {0, "local", "[ADDRESS]:PORT", "own address over UDP"}, \
    {0, "ether", "IFACE", "talk over Ethernet frames of EtherType 0x8624"}, \
    {0, "remote", "MAC", "peer over Ethernet; default the NDN group 01:00:5e:00:17:aa"}, \
    {0, "vlan", "ID", "VLAN tag of the Ethernet frames"}, \
    {0, "mtu", "OCTETS", "largest packet on the link; larger ones are fragmented (NDNLPv2)"}
// clang-format on

static const struct command_option ping_options[] = {
    LINK_OPTIONS,
    {'c', "count", "N", "Interests to send; default without end"},
    {'i', "interval", "TIME", "time between Interests; default 1s"},
    {'W', "lifetime", "TIME", "InterestLifetime and time-out; default 4s"},
    {'w', "window", "N", "most Interests pending at once; default 1024"},
    {'s', "size", "OCTETS", "check that the Content is what pingserver sends for this size"},
    {'t', "token", "OCTETS", "send PIT tokens of this length (1..32) and check that they come back"},
    {'q', "quiet", NULL, "print the summary only"},
    {'j', "json", NULL, "print the summary as one JSON document"},
    {0},
};

static const struct command_option pingserver_options[] = {
    LINK_OPTIONS,
    {'s', "size", "OCTETS", "octets of Content; default 100"},
    {'f', "freshness", "TIME", "FreshnessPeriod; default none"},
    {'c', "count", "N", "stop after this many answers; default never"},
    {'q', "quiet", NULL, "do not print each Interest"},
    {'j', "json", NULL, "print the counts as one JSON document"},
    {0},
};

const struct command command_table[] = {
    {"status", NULL, NULL, "show the state of the forwarder", NULL, false, NULL, show_status},
    {"port", "list", NULL, "list ports with their counters", NULL, false, NULL, show_ports},
    {"face", "list", NULL, "list faces with their counters", NULL, false, NULL, show_faces},
    {"route", "list", NULL, "list routes", NULL, false, NULL, show_routes},
    {"strategy", "list", NULL, "list strategy choices", NULL, false, NULL, show_strategies},
    {"worker", "list", NULL, "list workers with their counters", NULL, false, NULL, show_workers},
    {"drops", NULL, NULL, "show frames dropped or consumed, by reason", NULL, false, drops_options, show_drops},
    {"pit", "info", NULL, "show the Pending Interest Tables", NULL, false, NULL, show_pit},
    {"cs", "info", NULL, "show the Content Stores", NULL, false, NULL, show_cs},
    {"ping", NULL, "PREFIX", "measure round trips to an NDN producer",
     "Sends Interests named PREFIX/ping/RANDOM/SEQUENCE and measures the time to Data. Exits with 1 when nothing came "
     "back.",
     true, ping_options, ping_run},
    {"pingserver", NULL, "PREFIX", "answer the Interests of ping",
     "Answers every Interest below PREFIX with Data signed with DigestSha256. Stops at SIGINT or SIGTERM and prints "
     "counts.",
     true, pingserver_options, pingserver_run},
    {"help", NULL, "[COMMAND]", "show all commands, or the usage of one", NULL, true, NULL, command_run_help},
    {"completion", NULL, NULL, "print a completion script for bash", "Use it by: source <(pitlane completion)", true,
     NULL, command_run_completion},
    {"man", NULL, NULL, "print the manual page (roff)", NULL, true, NULL, command_run_man},
    {0},
};

const struct command *command_find(const char *noun, const char *verb)
{
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        if (strcmp(c->noun, noun) != 0)
            continue;
        if (c->verb == NULL || (verb != NULL && strcmp(c->verb, verb) == 0))
            return c;
    }
    return NULL;
}

static const struct command_option *find_option(const struct command *command, char letter, const char *name,
                                                size_t len)
{
    const struct command_option *lists[] = {
        command_common_options,
        command->local ? NULL : command_daemon_options,
        command->options,
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const struct command_option *o = lists[i]; o != NULL && o->name != NULL; o++) {
            if (letter != 0 ? o->letter == letter : strlen(o->name) == len && memcmp(o->name, name, len) == 0)
                return o;
        }
    }
    return NULL;
}

/** Take the option that argv[*i] begins with, and its argument. */
static int parse_option(struct command_line *line, int argc, char **argv, int *i, FILE *err)
{
    const char *arg = argv[*i];
    const char *value = NULL;
    const struct command_option *option;
    if (arg[1] == '-') {
        size_t len = strcspn(arg + 2, "=");
        option = find_option(line->command, 0, arg + 2, len);
        if (option != NULL && arg[2 + len] == '=')
            value = arg + 2 + len + 1;
    } else {
        option = find_option(line->command, arg[1], NULL, 0);
        if (option != NULL && arg[2] != '\0')
            value = arg + 2;
    }
    if (option == NULL) {
        fprintf(err, "pitlane: unknown option %s\n", arg);
        return -EINVAL;
    }
    if (option->arg == NULL && value != NULL) {
        fprintf(err, "pitlane: option %s: takes no argument (options are not joined)\n", arg);
        return -EINVAL;
    }
    if (option->arg != NULL && value == NULL) {
        if (*i + 1 >= argc) {
            fprintf(err, "pitlane: option %s needs %s\n", arg, option->arg);
            return -EINVAL;
        }
        value = argv[++*i];
    }
    if (line->n_options == sizeof line->option / sizeof *line->option) {
        fprintf(err, "pitlane: too many options\n");
        return -EINVAL;
    }
    line->option[line->n_options] = option;
    line->value[line->n_options++] = value != NULL ? value : "";
    return 0;
}

/** A first word that is no whole command: help when that is asked for, else what is missing. */
static int incomplete(const char *noun, const char *word, FILE *out, FILE *err)
{
    const char *verbs[8];
    unsigned n = 0;
    for (const struct command *c = command_table; c->noun != NULL && n < sizeof verbs / sizeof *verbs; c++)
        if (strcmp(c->noun, noun) == 0)
            verbs[n++] = c->verb;
    if (n == 0) {
        fprintf(err, "pitlane: unknown command '%s'; pitlane help lists all\n", noun);
        return COMMAND_USAGE;
    }
    if (word != NULL && (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)) {
        const struct command_line line = {.command = command_find("help", NULL), .operand = noun, .out = out};
        return command_run_help(&line);
    }
    if (word != NULL)
        fprintf(err, "pitlane: unknown command '%s %s'; ", noun, word);
    else
        fprintf(err, "pitlane: ");
    fprintf(err, "what is there is:");
    for (unsigned i = 0; i < n; i++)
        fprintf(err, "%s %s %s", i > 0 ? "," : "", noun, verbs[i]);
    fprintf(err, "\n");
    return COMMAND_USAGE;
}

int command_main(int argc, char **argv, FILE *out, FILE *err)
{
    if (argc > 1 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
        fprintf(out, "pitlane %s\n", PITLANE_VERSION);
        return COMMAND_OK;
    }
    if (argc < 2 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        const struct command_line line = {.command = command_find("help", NULL), .out = argc < 2 ? err : out};
        command_run_help(&line);
        return argc < 2 ? COMMAND_USAGE : COMMAND_OK;
    }
    struct command_line line = {.out = out};
    line.command = command_find(argv[1], argc > 2 ? argv[2] : NULL);
    if (line.command == NULL)
        return incomplete(argv[1], argc > 2 ? argv[2] : NULL, out, err);
    bool options_end = false;
    for (int i = line.command->verb != NULL ? 3 : 2; i < argc; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (parse_option(&line, argc, argv, &i, err) != 0)
                return COMMAND_USAGE;
        } else if (line.command->operand != NULL && line.operand == NULL) {
            line.operand = argv[i];
        } else if (line.command->run == command_run_help) {
            continue; // "help face list": help is of all that a noun has
        } else {
            fprintf(err, "pitlane: unexpected '%s'\n", argv[i]);
            return COMMAND_USAGE;
        }
    }
    if (command_has(&line, "help")) {
        command_print_usage(line.command, out);
        return COMMAND_OK;
    }
    if (line.command->operand != NULL && line.command->operand[0] != '[' && line.operand == NULL) {
        fprintf(err, "pitlane: %s needs %s\n", line.command->noun, line.command->operand);
        return COMMAND_USAGE;
    }
    return line.command->run(&line);
}

const char *command_value(const struct command_line *line, const char *name)
{
    for (unsigned i = line->n_options; i > 0; i--) {
        if (strcmp(line->option[i - 1]->name, name) == 0)
            return line->value[i - 1];
    }
    return NULL;
}

int command_number(const struct command_line *line, const char *name, uint64_t min, uint64_t max, uint64_t value,
                   uint64_t *number)
{
    const char *text = command_value(line, name);
    if (text == NULL) {
        *number = value;
        return 0;
    }
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || n < min || n > max) {
        fprintf(stderr, "pitlane: --%s %s: a number from %llu to %llu is allowed\n", name, text,
                (unsigned long long)min, (unsigned long long)max);
        return -EINVAL;
    }
    *number = n;
    return 0;
}

int command_time(const struct command_line *line, const char *name, uint64_t min_ns, uint64_t max_ns, uint64_t value_ns,
                 uint64_t *time_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e6}};
    const char *text = command_value(line, name);
    if (text == NULL) {
        *time_ns = value_ns;
        return 0;
    }
    char *end;
    double number = strtod(text, &end);
    if (end != text && number >= 0) {
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            double ns = number * units[i].ns;
            if (strcmp(end, units[i].name) == 0 && ns >= (double)min_ns && ns <= (double)max_ns) {
                *time_ns = (uint64_t)ns;
                return 0;
            }
        }
    }
    fprintf(stderr, "pitlane: --%s %s: a time from %gms to %gms is allowed, as 250us, 10ms or 4s\n", name, text,
            (double)min_ns / 1e6, (double)max_ns / 1e6);
    return -EINVAL;
}
