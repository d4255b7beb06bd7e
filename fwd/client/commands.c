// SPDX-License-Identifier: Apache-2.0
/* The table of commands. */
#include "fwd/client/command.h"
#include "fwd/client/import.h"
#include "fwd/client/manage.h"
#include "fwd/client/ping.h"
#include "fwd/client/quic.h"
#include "fwd/client/show.h"

const struct command_option command_common_options[] = {
    {'h', "help", NULL, "show the usage of the command"},
    {0},
};

const struct command_option command_json_options[] = {
    {'j', "json", NULL, "print one JSON document"},
    {0},
};

const struct command_option command_telemetry_options[] = {
    {'s', "socket", "PATH", "telemetry socket of pitlaned; default from the two options below"},
    {'r', "runtime-dir", "DIR", "runtime directory of pitlaned (daemon.runtime-dir); default /run/pitlane"},
    {'p', "prefix", "NAME", "file prefix of pitlaned (daemon.file-prefix); default pitlane"},
    {0},
};

#define TRANSPORT_OPTION                                                                    \
    {                                                                                       \
        0, "transport", "URI", "socket of the forwarder: unix:///PATH or tcp://HOST[:PORT]" \
    }

const struct command_option command_management_options[] = {
    TRANSPORT_OPTION,
    {0, "key", "FILE", "sign commands with this private key (PEM) instead of a digest"},
    {0, "certificate", "NAME", "name of that key's certificate"},
    {0, "timeout", "TIME", "how long to wait for each answer; default 10s for a command, 4s for a list"},
    {0},
};

static const struct command_option drops_options[] = {
    {'a', "all", NULL, "show reasons that never occurred, too"},
    {0},
};

// clang-format off
#define LINK_OPTIONS \
    TRANSPORT_OPTION, \
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
    {0, "key", "FILE", "sign the registration with this private key (PEM) instead of a digest"},
    {0, "certificate", "NAME", "name of that key's certificate"},
    {'s', "size", "OCTETS", "octets of Content; default 100"},
    {'f', "freshness", "TIME", "FreshnessPeriod; default none"},
    {'c', "count", "N", "stop after this many answers; default never"},
    {'q', "quiet", NULL, "do not print each Interest"},
    {'j', "json", NULL, "print the counts as one JSON document"},
    {0},
};

static const struct command_option explain_options[] = {
    {0, "service", "NAME", "the QUIC service (needed)"},
    {0, "from", "ADDRESS:PORT", "the client, for what the 4-tuple decides"},
    {0, "length", "OCTETS", "of the datagram, when HEX is only its beginning"},
    {0},
};

// clang-format off
#define CID_OPTIONS \
    {0, "config", "FILE", "configuration of pitlaned to take configurations from"}, \
    {0, "service", "NAME", "the QUIC service of that file"}, \
    {0, "server-id-length", "OCTETS", "without a file: octets of server IDs; default 8"}, \
    {0, "nonce-length", "OCTETS", "without a file: octets of nonces; default 8"}, \
    {0, "key-file", "PATH", "without a file: the key, in a file that only its owner may read"}, \
    {0, "key", "HEX", "the key itself, which other users of this host can see; for tests"}
// clang-format on

static const struct command_option cid_options[] = {
    CID_OPTIONS,
    {0, "id", "N", "encode: config ID 0 to 6; default 0"},
    {0, "nonce", "HEX", "encode: the nonce; default random"},
    {'j', "json", NULL, "print one JSON document"},
    {0},
};

#define ARG_MUST (ARG_POSITIONAL | ARG_REQUIRED)

static const struct command_arg cid_args[] = {
    {"octets", "HEX", ARG_MUST, "encode: the server ID; decode: the connection ID"},
    {0},
};

static const struct command_arg face_list_args[] = {
    {"remote", "FACEURI", ARG_NAMED, "only faces with this remote FaceUri"},
    {"local", "FACEURI", ARG_NAMED, "only faces with this local FaceUri"},
    {"scheme", "SCHEME", ARG_NAMED, "only faces whose remote FaceUri has this scheme"},
    {0},
};

static const struct command_arg face_show_args[] = {
    {"id", "FACEID", ARG_MUST, "the face"},
    {0},
};

#define FACE_PROPERTY_ARGS                                                                           \
    {"persistency", "PERSISTENCY", ARG_POSITIONAL, "persistent (the default) or permanent"},         \
        {"reliability", "on|off", ARG_NAMED, "NDNLPv2 reliability"},                                 \
        {"congestion-marking", "on|off", ARG_NAMED, "marks when the send queue is long"},            \
        {"congestion-marking-interval", "MS", ARG_NAMED, "base marking interval, in milliseconds"},  \
        {"default-congestion-threshold", "OCTETS", ARG_NAMED, "length of the queue that is marked"}, \
    {                                                                                                \
        "mtu", "OCTETS", ARG_NAMED, "largest packet sent on the link, or auto"                       \
    }

static const struct command_arg face_create_args[] = {
    {"remote", "FACEURI", ARG_MUST, "whom to reach: udp://HOST[:PORT], tcp://HOST[:PORT], ether://[MAC]"},
    FACE_PROPERTY_ARGS,
    {"local", "FACEURI", ARG_NAMED, "from where: dev://IFACE for ether"},
    {0},
};

static const struct command_arg face_update_args[] = {
    {"face", "FACEID|FACEURI", ARG_MUST, "the face"},
    FACE_PROPERTY_ARGS,
    {0},
};

static const struct command_arg face_destroy_args[] = {
    {"face", "FACEID|FACEURI", ARG_MUST, "the face"},
    {0},
};

static const struct command_arg route_list_args[] = {
    {"nexthop", "FACEID|FACEURI", ARG_POSITIONAL, "only routes to this face"},
    {"origin", "ORIGIN", ARG_NAMED, "only routes of this origin"},
    {0},
};

static const struct command_arg prefix_args[] = {
    {"prefix", "PREFIX", ARG_MUST, "the name prefix"},
    {0},
};

static const struct command_arg route_add_args[] = {
    {"prefix", "PREFIX", ARG_MUST, "the name prefix"},
    {"nexthop", "FACEID|FACEURI", ARG_MUST, "the face; made when there is none with this FaceUri"},
    {"origin", "ORIGIN", ARG_NAMED,
     "app, autoreg, client, autoconf, nlsr, prefixann, static (the default) or a number"},
    {"cost", "COST", ARG_NAMED, "cost of the route; default 0"},
    {"no-inherit", NULL, ARG_NAMED, "not for longer prefixes that have routes of their own"},
    {"capture", NULL, ARG_NAMED, "routes of shorter prefixes do not count here"},
    {"expires", "MS", ARG_NAMED, "remove the route after so many milliseconds; default never"},
    {0},
};

static const struct command_arg route_remove_args[] = {
    {"prefix", "PREFIX", ARG_MUST, "the name prefix"},
    {"nexthop", "FACEID|FACEURI", ARG_MUST, "the face, or every face with this FaceUri"},
    {"origin", "ORIGIN", ARG_NAMED, "origin of the route; default static"},
    {0},
};

static const struct command_arg cs_config_args[] = {
    {"capacity", "PACKETS", ARG_NAMED, "most packets it keeps"},
    {"admit", "on|off", ARG_NAMED, "take in Data"},
    {"serve", "on|off", ARG_NAMED, "answer Interests"},
    {0},
};

static const struct command_arg cs_erase_args[] = {
    {"prefix", "PREFIX", ARG_MUST, "the name prefix"},
    {"count", "N", ARG_NAMED, "erase at most so many packets"},
    {0},
};

static const struct command_arg strategy_set_args[] = {
    {"prefix", "PREFIX", ARG_MUST, "the name prefix"},
    {"strategy", "NAME", ARG_MUST, "name of the strategy, as /localhost/nfd/strategy/multicast"},
    {0},
};

// clang-format off
const struct command command_table[] = {
    {.noun = "status", .verb = "show", .by_default = true, .peers = PEER_BOTH,
     .help = "show the state of the forwarder", .run = status_show},
    {.noun = "status", .verb = "report", .peers = PEER_MANAGEMENT,
     .help = "show all that management tells, list by list", .run = status_report},
    {.noun = "port", .verb = "list", .by_default = true, .peers = PEER_TELEMETRY,
     .help = "list ports with their counters", .run = show_ports},
    {.noun = "face", .verb = "list", .by_default = true, .peers = PEER_BOTH, .args = face_list_args,
     .help = "list faces with their counters", .run = face_list},
    {.noun = "face", .verb = "show", .peers = PEER_MANAGEMENT, .args = face_show_args,
     .help = "show one face", .run = face_show},
    {.noun = "face", .verb = "create", .peers = PEER_MANAGEMENT, .args = face_create_args,
     .help = "create a face, or change the one that is there",
     .text = "A face with these FaceUris that exists is updated where an argument says otherwise; a permanent face does "
             "not become persistent. Prints face-created, face-updated or face-exists.",
     .run = face_create},
    {.noun = "face", .verb = "update", .peers = PEER_MANAGEMENT, .args = face_update_args,
     .help = "change a face", .run = face_update},
    {.noun = "face", .verb = "destroy", .peers = PEER_MANAGEMENT, .args = face_destroy_args,
     .help = "destroy a face", .run = face_destroy},
    {.noun = "channel", .verb = "list", .by_default = true, .peers = PEER_MANAGEMENT,
     .help = "list the sockets that make faces", .run = channel_list},
    {.noun = "route", .verb = "list", .by_default = true, .peers = PEER_BOTH, .args = route_list_args,
     .help = "list routes", .run = route_list},
    {.noun = "route", .verb = "show", .peers = PEER_MANAGEMENT, .args = prefix_args,
     .help = "show the routes of a prefix", .run = route_show},
    {.noun = "route", .verb = "add", .peers = PEER_MANAGEMENT, .args = route_add_args,
     .help = "add a route, or change the one that is there", .run = route_add},
    {.noun = "route", .verb = "remove", .peers = PEER_MANAGEMENT, .args = route_remove_args,
     .help = "remove a route", .run = route_remove},
    {.noun = "fib", .verb = "list", .by_default = true, .peers = PEER_MANAGEMENT,
     .help = "list the next hops that routes give", .run = fib_list},
    {.noun = "strategy", .verb = "list", .by_default = true, .peers = PEER_BOTH,
     .help = "list strategy choices", .run = strategy_list},
    {.noun = "strategy", .verb = "show", .peers = PEER_MANAGEMENT, .args = prefix_args,
     .help = "show the strategy of a prefix", .run = strategy_show},
    {.noun = "strategy", .verb = "set", .peers = PEER_MANAGEMENT, .args = strategy_set_args,
     .help = "choose the strategy of a prefix", .run = strategy_set},
    {.noun = "strategy", .verb = "unset", .peers = PEER_MANAGEMENT, .args = prefix_args,
     .help = "clear the strategy choice of a prefix", .run = strategy_unset},
    {.noun = "cs", .verb = "info", .by_default = true, .peers = PEER_BOTH,
     .help = "show the Content Stores", .run = cs_info},
    {.noun = "cs", .verb = "config", .peers = PEER_MANAGEMENT, .args = cs_config_args,
     .help = "change the Content Store", .run = cs_config},
    {.noun = "cs", .verb = "erase", .peers = PEER_MANAGEMENT, .args = cs_erase_args,
     .help = "erase Data below a prefix from the Content Store", .run = cs_erase},
    {.noun = "worker", .verb = "list", .by_default = true, .peers = PEER_TELEMETRY,
     .help = "list workers with their counters", .run = show_workers},
    {.noun = "drops", .peers = PEER_TELEMETRY, .options = drops_options,
     .help = "show frames dropped or consumed, by reason", .run = show_drops},
    {.noun = "sockets", .peers = PEER_TELEMETRY, .options = drops_options,
     .help = "show what sockets accepted, refused and lost", .run = show_sockets},
    {.noun = "pit", .verb = "info", .by_default = true, .peers = PEER_TELEMETRY,
     .help = "show the Pending Interest Tables", .run = show_pit},
    {.noun = "quic", .verb = "list", .by_default = true, .peers = PEER_TELEMETRY,
     .help = "list QUIC services with their counters", .run = quic_list},
    {.noun = "quic", .verb = "show", .peers = PEER_TELEMETRY, .operand = "NAME",
     .help = "show a QUIC service and its servers", .run = quic_show},
    {.noun = "quic", .verb = "explain", .peers = PEER_TELEMETRY, .operand = "HEX", .options = explain_options,
     .help = "show each decision for a datagram",
     .text = "HEX is the UDP payload, or its beginning together with --length. Nothing is sent, counted or remembered; "
             "the flow table is not asked.",
     .run = quic_explain_run},
    {.noun = "quic", .verb = "cid", .operand = "encode|decode", .args = cid_args, .options = cid_options,
     .help = "make a QUIC-LB connection ID, or take one apart",
     .text = "By a service of a configuration file, or by options that describe one configuration. No daemon is asked.",
     .run = quic_cid_run},
    {.noun = "ping", .operand = "PREFIX", .options = ping_options,
     .help = "measure round trips to an NDN producer",
     .text = "Sends Interests named PREFIX/ping/RANDOM/SEQUENCE and measures the time to Data. Exits with 1 when nothing "
             "came back.",
     .run = ping_run},
    {.noun = "pingserver", .operand = "PREFIX", .options = pingserver_options,
     .help = "answer the Interests of ping",
     .text = "Answers every Interest below PREFIX with Data signed with DigestSha256. Over the forwarder's socket it "
             "registers PREFIX first. Stops at SIGINT or SIGTERM and prints counts.",
     .run = pingserver_run},
    {.noun = "import-nfd-conf", .operand = "FILE", .options = import_options,
     .help = "turn an nfd.conf into a pitlane.conf, and say what became of each key",
     .text = "A key is taken as a setting of pitlaned, has no effect, or leaves something to be done by hand; what is to "
             "be done is also written at the head of the new file. A key that NFD does not know is a fault, as there.",
     .run = import_run},
    {.noun = "help", .operand = "[COMMAND]", .help = "show all commands, or the usage of one", .run = command_run_help},
    {.noun = "completion", .help = "print a completion script for bash", .text = "Use it by: source <(pitlane completion)",
     .run = command_run_completion},
    {.noun = "man", .help = "print the manual page (roff)", .run = command_run_man},
    {0},
};
// clang-format on
