// SPDX-License-Identifier: Apache-2.0
/* nfd.conf into pitlane.conf: each key, and each fault. */
#include "fwd/client/import.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "fwd/client/import_info.h"

struct result {
    int error;
    char *conf, *report, *faults;
    size_t conf_len, report_len, faults_len;
};

static struct result import_path(const char *path)
{
    struct result r = {0};
    FILE *conf = open_memstream(&r.conf, &r.conf_len), *report = open_memstream(&r.report, &r.report_len),
         *faults = open_memstream(&r.faults, &r.faults_len);
    r.error = import_nfd_conf(path, conf, report, faults);
    fclose(conf);
    fclose(report);
    fclose(faults);
    return r;
}

static void result_free(struct result *r)
{
    free(r->conf);
    free(r->report);
    free(r->faults);
}

static char folder[128];

static void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    cr_assert_lt(snprintf(folder, sizeof folder, "%s/pitlane-import-XXXXXX", base != NULL ? base : "/tmp"), 128);
    cr_assert_not_null(mkdtemp(folder));
}

static void write_file(const char *name, const char *text, size_t len)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, 1, len, file), len);
    fclose(file);
}

static void remove_folder(void)
{
    static const char *const names[] = {"nfd.conf", "other.conf", "new.conf"};
    char path[200];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    cr_assert_eq(rmdir(folder), 0);
}

/* Import a text as the file nfd.conf of the folder. */
static struct result import_text(const char *text)
{
    char path[200];
    write_file("nfd.conf", text, strlen(text));
    snprintf(path, sizeof path, "%s/nfd.conf", folder);
    return import_path(path);
}

TestSuite(import, .init = make_folder, .fini = remove_folder);

/* ---- the INFO format ---- */

static char *dump(const struct info_node *node, char *to)
{
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        to += sprintf(to, "%u:%s=%s", child->line, child->key, child->value);
        if (child->child != NULL) {
            *to++ = '{';
            to = dump(child, to);
            *to++ = '}';
        }
        *to++ = ' ';
    }
    *to = '\0';
    return to;
}

Test(import, info_is_read_as_boost_reads_it)
{
    static const struct {
        const char *text, *tree;
    } cases[] = {
        {"", ""},
        {"; comment\n\n \t\r\n", ""},
        {"a", "1:a= "},
        {"a b", "1:a=b "},
        {"a b c d\n", "1:a=b 1:c=d "},
        {"a\nb\n", "1:a= 2:b= "},
        {"a b;c\n", "1:a=b "},
        {"a;b\nc", "1:a= 2:c= "},
        {"a\n{\n b c\n}\n", "1:a={3:b=c } "},
        {"a {\n b c\n}\n", "1:a={2:b=c } "},
        {"a v {\n b c\n}\n", "1:a=v{2:b=c } "},
        {"a v\n{\n}\n", "1:a=v "},
        {"a { b c } d e\n", "1:a={1:b=c } 1:d=e "},
        {"a { b }\n", "1:a={1:b= } "},
        {"a { b { c d } }", "1:a={1:b={1:c=d } } "},
        {"\"a b\" \"c ; d\"\n", "1:a b=c ; d "},
        {"a \"\\\"\\\\\\t\\n\\'\\a\\b\\f\\r\\v\"", "1:a=\"\\\t\n'\a\b\f\r\v "},
        {"a b\\nc\n", "1:a=b\nc "},
        {"a \"b\" \\\n  \"c\" \\ ; goes on\n \"d\"\ne f", "1:a=bcd 4:e=f "},
        {"a{ b\n", "1:a{=b "},
        {"\xEF\xBB\xBF"
         "a b\r\nc d\r\n",
         "1:a=b 2:c=d "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct info *info;
        char tree[500];
        cr_assert_eq(info_load_text("text", cases[i].text, strlen(cases[i].text), &info, stderr), 0, "%s",
                     cases[i].text);
        dump(info_root(info), tree);
        cr_expect_str_eq(tree, cases[i].tree, "%s", cases[i].text);
        info_free(info);
    }
}

Test(import, faults_of_info_are_told_with_their_line)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"a b\n{ c d\n", "text:2: '{' of \"a\" is never closed; '}' is missing"},
        {"a\n}\n", "text:2: '}' closes nothing; remove it"},
        {"a { }\n}\n", "text:2: '}' closes nothing; remove it"},
        {"\n{\n", "text:2: '{' follows no key"},
        {"a { } { }\n", "text:1: '{' follows no key"},
        {"a \"b\n", "text:1: a string is not closed; '\"' is missing"},
        {"a \"b\\\"\n", "text:1: a string is not closed; '\"' is missing"},
        {"a \"b\\", "text:1: a string is not closed; '\"' is missing"},
        {"\"a\n", "text:1: a string is not closed; '\"' is missing"},
        {"a \"\\x\"\n", "text:1: '\\' is not followed by one of a b f n r t v \" ' \\"},
        {"a b\\\n", "text:1: '\\' is not followed by one of a b f n r t v \" ' \\"},
        {"a b\\0\n", "text:1: \"\\0\" has no place in a setting"},
        {"\"a\" \\\n", "text:1: '\\' may follow a value only"},
        {"a \"b\" \\ c\n", "text:1: '\\' after a string must end the line"},
        {"a \"b\" \\\nc d\n", "text:2: a string is missing: the line before ends in '\\'"},
        {"a \"b\" \\\n", "text:1: a string is missing: the line ends in '\\'"},
        {"# comment\n", "text:1: '#' does not begin '#include \"FILE\"'; comments begin with ';'"},
        {"#includes \"x\"\n", "text:1: '#' does not begin '#include \"FILE\"'; comments begin with ';'"},
        {"#include\n", "text:1: the file to include is missing; #include \"FILE\" is needed"},
        {"#include other.conf\n", "text:1: the file to include is missing; #include \"FILE\" is needed"},
        {"#include \"x\" y\n", "text:1: #include \"FILE\" must end the line"},
        {"#include \"/nonexistent/x\"\n", "text:1: cannot read /nonexistent/x: No such file or directory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct info *info;
        char *faults = NULL, expected[300];
        size_t len;
        FILE *err = open_memstream(&faults, &len);
        cr_expect_eq(info_load_text("text", cases[i].text, strlen(cases[i].text), &info, err), -EINVAL, "%s",
                     cases[i].text);
        fclose(err);
        snprintf(expected, sizeof expected, "%s\n", cases[i].fault);
        cr_expect_str_eq(faults, expected, "%s", cases[i].text);
        free(faults);
    }
}

Test(import, texts_that_are_none_are_refused)
{
    static const char nul[] = "a b\n c\0d\n";
    struct info *info;
    char *faults = NULL, *deep = malloc(400), *large = malloc(INFO_OCTETS_MAX + 1);
    size_t len;
    FILE *err = open_memstream(&faults, &len);
    cr_assert_not_null(deep);
    cr_assert_not_null(large);
    for (size_t i = 0; i < 100; i++)
        memcpy(deep + 4 * i, "a {\n", 4);
    memset(large, 'a', INFO_OCTETS_MAX + 1);
    cr_expect_eq(info_load_text("nul", nul, sizeof nul - 1, &info, err), -EINVAL);
    cr_expect_eq(info_load_text("deep", deep, 400, &info, err), -EINVAL);
    cr_expect_eq(info_load_text("large", large, INFO_OCTETS_MAX + 1, &info, err), -EINVAL);
    fclose(err);
    cr_expect_str_eq(faults, "nul:2: has a NUL; this is no text\n"
                             "deep:64: groups are nested too deeply; at most 63 deep\n"
                             "large:0: the files have more than 4194304 octets\n");
    free(faults);
    free(deep);
    free(large);
}

Test(import, files_include_others_beside_them)
{
    static const char other[] = "  user ndn\n";
    write_file("other.conf", other, strlen(other));
    struct result r = import_text("general\n{\n#include \"other.conf\"\n}\n");
    cr_expect_eq(r.error, 0, "%s", r.faults);
    cr_expect_not_null(strstr(r.report, "/other.conf:1: general.user ndn: taken as daemon.user = \"ndn\"\n"));
    result_free(&r);
    // A fault is where it stands, and files that include one another come to an end.
    static const char bad[] = "}\n", again[] = "#include \"other.conf\"\n";
    write_file("other.conf", bad, strlen(bad));
    r = import_text("general\n{\n#include \"other.conf\"\n}\n");
    cr_expect_eq(r.error, -EINVAL);
    cr_expect_not_null(strstr(r.faults, "/other.conf:1: '}' closes nothing; remove it\n"), "%s", r.faults);
    result_free(&r);
    write_file("other.conf", again, strlen(again));
    r = import_text(again);
    cr_expect_eq(r.error, -EINVAL);
    cr_expect_not_null(strstr(r.faults, "/other.conf:1: files include one another more than 16 deep\n"), "%s",
                       r.faults);
    result_free(&r);
}

/* ---- keys ---- */

/* A text around a line that is on line 3. */
static struct result import_in(const char *before, const char *line, const char *after)
{
    char text[1000];
    snprintf(text, sizeof text, "%s\n%s\n%s", before, line, after);
    return import_text(text);
}

static void expect_said(const struct result *r, const char *said)
{
    char expected[700];
    snprintf(expected, sizeof expected, "%s/nfd.conf:3: %s\n", folder, said);
    cr_expect_not_null(strstr(r->report, expected), "%s is not in:\n%s", expected, r->report);
}

static void expect_fault(const struct result *r, const char *said)
{
    char expected[700];
    snprintf(expected, sizeof expected, "%s/nfd.conf:3: %s\n", folder, said);
    cr_expect_eq(r->error, -EINVAL, "%s", said);
    cr_expect_eq(r->conf_len, 0);
    cr_expect_str_eq(r->faults, expected);
}

#define ON_A_PORT "make a port of the interface (port: { NAME: { netdev = \"INTERFACE\"; }; };) and on it a face with "
#define BY_RULE                                                                                                        \
    "by hand: rule \"r\" is left out: a key counts when its certificate is an anchor, or a chain of rib.certificates " \
    "leads from it to one, each issued by an identity that is a prefix of its own; anchors that are narrow enough do " \
    "what this rule does"

Test(import, each_key_is_taken_or_said_why_not)
{
    static const struct {
        const char *in;   /* section */
        const char *line; /* of it */
        const char *said; /* of the line */
        const char *conf; /* what the new file has; NULL: nothing of it */
    } cases[] = {
        {"general", "user ndn", "general.user ndn: taken as daemon.user = \"ndn\"", "    user = \"ndn\";"},
        {"general", "group ndn", "general.group ndn: no effect: the groups of the account are taken", NULL},
        {"log", "default_level NONE", "log.default_level NONE: taken as daemon.log-level = \"error\"",
         "log-level = \"error\""},
        {"log", "default_level ERROR", "log.default_level ERROR: taken as daemon.log-level = \"error\"", NULL},
        {"log", "default_level WARN", "log.default_level WARN: taken as daemon.log-level = \"warning\"", NULL},
        {"log", "default_level INFO", "log.default_level INFO: taken as daemon.log-level = \"info\"", NULL},
        {"log", "default_level DEBUG", "log.default_level DEBUG: taken as daemon.log-level = \"debug\"", NULL},
        {"log", "default_level TRACE", "log.default_level TRACE: taken as daemon.log-level = \"debug\"", NULL},
        {"log", "default_level ALL", "log.default_level ALL: taken as daemon.log-level = \"debug\"", NULL},
        {"log", "Fib TRACE", "log.Fib TRACE: no effect: all parts of pitlaned log at the level daemon.log-level", NULL},
        {"forwarder", "default_hop_limit 0", "forwarder.default_hop_limit 0: taken as forwarding.default-hop-limit = 0",
         "    default-hop-limit = 0;"},
        {"forwarder", "default_hop_limit 255",
         "forwarder.default_hop_limit 255: taken as forwarding.default-hop-limit = 255", NULL},
        {"tables", "cs_unsolicited_policy drop-all",
         "tables.cs_unsolicited_policy drop-all: taken as cs.unsolicited = \"drop-all\"",
         "    unsolicited = \"drop-all\";"},
        {"tables", "cs_unsolicited_policy admit-local",
         "tables.cs_unsolicited_policy admit-local: taken as cs.unsolicited = \"admit-local\"", NULL},
        {"tables", "cs_unsolicited_policy admit-network",
         "tables.cs_unsolicited_policy admit-network: taken as cs.unsolicited = \"admit-network\"", NULL},
        {"tables", "cs_unsolicited_policy admit-all",
         "tables.cs_unsolicited_policy admit-all: taken as cs.unsolicited = \"admit-all\"", NULL},
        {"tables", "network_region {\n /a\n /b/c\n}",
         "tables.network_region: taken as forwarding.region = [ \"/a\", \"/b/c\" ]",
         "    region = [ \"/a\", \"/b/c\" ];"},
        {"tables", "cs_max_packets 0", "tables.cs_max_packets 0: taken as cs.capacity = 0", "    capacity = 0;"},
        {"tables", "cs_max_packets 1000", "tables.cs_max_packets 1000: taken as cs.capacity = 1000", NULL},
        {"tables", "cs_policy lru", "tables.cs_policy lru: taken as cs.policy = \"lru\"", "    policy = \"lru\";"},
        {"tables", "cs_policy priority_fifo", "tables.cs_policy priority_fifo: taken as cs.policy = \"priority-fifo\"",
         NULL},
        {"face_system { general", "enable_congestion_marking no",
         "face_system.general.enable_congestion_marking no: taken as sockets.congestion-marking = false",
         "    congestion-marking = false;"},
        {"face_system { unix", "path /run/x", "face_system.unix.path /run/x: taken as unix.path = \"/run/x\"",
         "unix: {\n    enabled = true;\n    mode = \"0666\";\n    path = \"/run/x\";\n}"},
        {"face_system { tcp", "listen no", "face_system.tcp.listen no: taken as tcp.listen = false", NULL},
        {"face_system { tcp", "port 6364", "face_system.tcp.port 6364: taken as tcp.port = 6364", "    port = 6364;"},
        {"face_system { tcp", "enable_v4 no", "face_system.tcp.enable_v4 no: taken as tcp.ipv4 = false", NULL},
        {"face_system { tcp", "enable_v6 no", "face_system.tcp.enable_v6 no: taken as tcp.ipv6 = false", NULL},
        {"face_system { tcp { local {", "whitelist { subnet 10.0.0.0/8 }",
         "face_system.tcp.local.whitelist: taken as tcp.local-whitelist = [ \"10.0.0.0/8\" ]", NULL},
        {"face_system { tcp { local {", "whitelist { * }",
         "face_system.tcp.local.whitelist: taken as tcp.local-whitelist = [ \"0.0.0.0/0\", \"::/0\" ]", NULL},
        {"face_system { tcp { local {", "blacklist { subnet fd00::/8 }",
         "face_system.tcp.local.blacklist: taken as tcp.local-blacklist = [ \"fd00::/8\" ]", NULL},
        {"face_system { udp", "listen no", "face_system.udp.listen no: taken as udp.listen = false", NULL},
        {"face_system { udp", "port 6364", "face_system.udp.port 6364: taken as udp.port = 6364", NULL},
        {"face_system { udp", "enable_v4 no", "face_system.udp.enable_v4 no: taken as udp.ipv4 = false", NULL},
        {"face_system { udp", "enable_v6 no", "face_system.udp.enable_v6 no: taken as udp.ipv6 = false", NULL},
        {"face_system { udp", "idle_timeout 30", "face_system.udp.idle_timeout 30: taken as udp.idle-timeout = \"30s\"",
         NULL},
        {"face_system { udp", "idle_timeout 100000",
         "face_system.udp.idle_timeout 100000: by hand: 100000 is more or less than udp.idle-timeout may be; "
         "\"86400s\" is what comes nearest",
         "idle-timeout = \"86400s\";"},
        {"face_system { udp", "unicast_mtu 1400", "face_system.udp.unicast_mtu 1400: taken as udp.mtu = 1400", NULL},
        {"face_system { udp", "keep_alive_interval 25",
         "face_system.udp.keep_alive_interval 25: no effect: NFD ignores it, too", NULL},
        {"face_system { udp", "mcast no", "face_system.udp.mcast no: taken as udp.multicast = false", NULL},
        {"face_system { udp", "mcast_group 224.0.23.170",
         "face_system.udp.mcast_group 224.0.23.170: taken: so it is here", NULL},
        {"face_system { udp", "mcast_group 224.0.23.171",
         "face_system.udp.mcast_group 224.0.23.171: by hand: set udp.multicast to false, " ON_A_PORT
         "this group as its remote",
         "# - face_system.udp.mcast_group, line 3: set udp.multicast to false, "},
        {"face_system { udp", "mcast_port 56363", "face_system.udp.mcast_port 56363: taken: so it is here", NULL},
        {"face_system { udp", "mcast_group_v6 FF02::1234",
         "face_system.udp.mcast_group_v6 FF02::1234: taken: so it is here", NULL},
        {"face_system { udp", "mcast_port_v6 56363", "face_system.udp.mcast_port_v6 56363: taken: so it is here", NULL},
        {"face_system { udp", "mcast_ad_hoc no", "face_system.udp.mcast_ad_hoc no: taken: so it is here", NULL},
        {"face_system { udp", "mcast_ad_hoc yes",
         "face_system.udp.mcast_ad_hoc yes: by hand: set udp.multicast to false, " ON_A_PORT
         "remote = \"udp4://224.0.23.170:56363\" and link-type = \"ad-hoc\"",
         NULL},
        {"face_system { udp", "whitelist { * }",
         "face_system.udp.whitelist: taken: udp.multicast makes a face on each interface", NULL},
        {"face_system { udp", "blacklist { }",
         "face_system.udp.blacklist: taken: udp.multicast makes a face on each interface", NULL},
        {"face_system { udp", "whitelist { ifname eth* }",
         "face_system.udp.whitelist: by hand: udp.multicast makes a face on each interface; to choose some, set it to "
         "false, " ON_A_PORT "remote = \"udp4://224.0.23.170:56363\"",
         NULL},
        {"face_system { ether", "listen yes mcast no",
         "face_system.ether.listen yes: by hand: for each neighbour, " ON_A_PORT "remote = \"ether://[MAC]\"", NULL},
        {"face_system { ether", "listen no mcast no", "face_system.ether.listen no: taken: so it is here", NULL},
        {"face_system { ether", "listen no mcast yes",
         "face_system.ether.mcast yes: by hand: " ON_A_PORT "remote = \"ether://[01:00:5e:00:17:aa]\"", NULL},
        {"face_system { ether", "idle_timeout 600",
         "face_system.ether.idle_timeout 600: no effect: there are no on-demand Ethernet faces", NULL},
        {"face_system { ether", "mcast_group 01:00:5e:00:17:aa",
         "face_system.ether.mcast_group 01:00:5e:00:17:aa: taken: so it is here", NULL},
        {"face_system { ether", "mcast_group 01:00:5e:00:17:ab",
         "face_system.ether.mcast_group 01:00:5e:00:17:ab: by hand: make this group the remote of that face", NULL},
        {"face_system { ether", "mcast_ad_hoc yes",
         "face_system.ether.mcast_ad_hoc yes: by hand: give that face link-type = \"ad-hoc\"", NULL},
        {"face_system { ether", "whitelist { ether 02:00:00:00:00:01 subnet 10.0.0.0/8 }",
         "face_system.ether.whitelist: no effect: Ethernet faces are on ports; an interface without a port has none",
         NULL},
        {"face_system { ether", "blacklist { }",
         "face_system.ether.blacklist: no effect: Ethernet faces are on ports; an interface without a port has none",
         NULL},
        {"face_system { websocket", "listen no", "face_system.websocket.listen no: taken as websocket.listen = false",
         NULL},
        {"face_system { websocket", "port 9697", "face_system.websocket.port 9697: taken as websocket.port = 9697",
         NULL},
        {"face_system { websocket", "enable_v4 no",
         "face_system.websocket.enable_v4 no: taken as websocket.ipv4 = false", NULL},
        {"face_system { websocket", "enable_v6 no",
         "face_system.websocket.enable_v6 no: taken as websocket.ipv6 = false", NULL},
        {"face_system { netdev_bound", "rule { remote udp4://192.0.2.1:6363 whitelist { ifname eth0 } }",
         "face_system.netdev_bound.rule.remote udp4://192.0.2.1:6363: by hand: " ON_A_PORT
         "remote = \"udp4://192.0.2.1:6363\" and persistency = \"permanent\"",
         NULL},
        {"authorizations", "authorize { certfile any privileges { faces } }",
         "authorizations.authorize: taken as authorizations = { certfile = \"any\"; privileges = [ \"faces\" ]; }",
         "authorizations = (\n    { certfile = \"any\"; privileges = [ \"faces\" ]; }\n);"},
        {"authorizations", "authorize { certfile /nonexistent privileges { } }",
         "authorizations.authorize.certfile /nonexistent: by hand: /nonexistent cannot be read here: No such file or "
         "directory",
         "    { certfile = \"/nonexistent\"; privileges = [ ]; }"},
        {"rib { localhost_security", "trust-anchor { type any }", "rib.localhost_security.trust-anchor: taken: \"any\"",
         "    localhost-security = [ \"any\" ];"},
        {"rib { localhop_security", "trust-anchor { type file file-name /dev/null }",
         "rib.localhop_security.trust-anchor: taken: \"/dev/null\"", "    localhop-security = [ \"/dev/null\" ];"},
        {"rib { localhop_security", "trust-anchor { type dir dir /dev refresh 10m }",
         "rib.localhop_security.trust-anchor: taken: \"/dev\"", "    anchor-refresh = \"600s\";"},
        {"rib { localhost_security", "trust-anchor { type base64 base64-string \"Bv 0A\" }",
         "rib.localhost_security.trust-anchor: taken: \"base64:Bv0A\"", NULL},
        {"rib { prefix_announcement_validation", "trust-anchor { type any }",
         "rib.prefix_announcement_validation.trust-anchor: taken: \"any\"",
         "    prefix-announcement-validation = [ \"any\" ];"},
        {"rib { localhop_security",
         "rule { id r for interest filter { type name name / relation is-prefix-of } checker { type customized "
         "sig-type ecdsa-sha256 key-locator { type name } } }",
         "rib.localhop_security.rule: " BY_RULE, "    localhop-security = [ ];"},
        {"rib {", "readvertise_nlsr yes", "rib.readvertise_nlsr yes: taken as rib.readvertise-nlsr = true",
         "    readvertise-nlsr = true;"},
        {"rib { auto_prefix_propagate", "cost 20",
         "rib.auto_prefix_propagate.cost 20: taken as rib.propagate-cost = 20", "    auto-prefix-propagate = true;"},
        {"rib { auto_prefix_propagate", "timeout 5000",
         "rib.auto_prefix_propagate.timeout 5000: taken as rib.propagate-timeout = \"5000ms\"", NULL},
        {"rib { auto_prefix_propagate", "refresh_interval 60",
         "rib.auto_prefix_propagate.refresh_interval 60: taken as rib.propagate-refresh-interval = \"60s\"", NULL},
        {"rib { auto_prefix_propagate", "base_retry_wait 5",
         "rib.auto_prefix_propagate.base_retry_wait 5: taken as rib.propagate-base-retry-wait = \"5s\"", NULL},
        {"rib { auto_prefix_propagate", "max_retry_wait 60",
         "rib.auto_prefix_propagate.max_retry_wait 60: taken as rib.propagate-max-retry-wait = \"60s\"", NULL},
        {"tables { strategy_choice", "/a /localhost/nfd/strategy/asf/v=5",
         "tables.strategy_choice./a /localhost/nfd/strategy/asf/v=5: taken as strategy = { prefix = \"/a\"; strategy = "
         "\"/localhost/nfd/strategy/asf/v=5\"; }",
         "strategy = (\n    { prefix = \"/a\"; strategy = \"/localhost/nfd/strategy/asf/v=5\"; }\n);"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char before[200], after[20] = "}\n";
        bool opened = cases[i].in[strlen(cases[i].in) - 1] == '{';
        snprintf(before, sizeof before, "%s%s", cases[i].in, opened ? "\n" : "\n{");
        for (const char *p = cases[i].in; *p != '\0'; p++)
            if (*p == '{' && !(opened && p[1] == '\0'))
                strcat(after, "}\n");
        struct result r = import_in(before, cases[i].line, after);
        cr_assert_eq(r.error, 0, "%s: %s", cases[i].line, r.faults);
        expect_said(&r, cases[i].said);
        if (cases[i].conf != NULL)
            cr_expect_not_null(strstr(r.conf, cases[i].conf), "%s is not in:\n%s", cases[i].conf, r.conf);
        result_free(&r);
    }
}

Test(import, faults_are_told_with_their_line)
{
    static const struct {
        const char *in, *line, *fault;
    } cases[] = {
        {"general", "usr x", "general.usr: unknown; known are user, group"},
        {"general", "user 1x",
         "general.user: \"1x\" is not the name of an account; letters, digits, '_', '-' and '.' are allowed"},
        {"general", "user", "general.user: the value is missing"},
        {"general", "user { }\nuser a", NULL},
        {"log", "default_level LOUD",
         "log.default_level: \"LOUD\" is no level; NONE, ERROR, WARN, INFO, DEBUG, TRACE and ALL are allowed"},
        {"log", "Fib 7", "log.Fib: \"7\" is no level; NONE, ERROR, WARN, INFO, DEBUG, TRACE and ALL are allowed"},
        {"forwarder", "default_hop_limit 256", "forwarder.default_hop_limit: 256 is out of range; 0 to 255 is allowed"},
        {"forwarder", "hop_limit 7", "forwarder.hop_limit: unknown; known are default_hop_limit"},
        {"tables", "cs_max_packets many", "tables.cs_max_packets: \"many\" is not a number"},
        {"tables", "cs_max_packets -1", "tables.cs_max_packets: \"-1\" is not a number"},
        {"tables", "cs_max_packets 99999999999999999999",
         "tables.cs_max_packets: \"99999999999999999999\" is not a number"},
        {"tables", "cs_policy fifo", "tables.cs_policy: \"fifo\" is no policy; lru and priority_fifo are allowed"},
        {"tables", "cs_unsolicited_policy admit",
         "tables.cs_unsolicited_policy: \"admit\" is no policy; drop-all, admit-local, admit-network and admit-all are "
         "allowed"},
        {"tables", "network_region { a }",
         "tables.network_region: \"a\" is not a name; it must start with '/', an example is \"/example/app\""},
        {"tables", "network_region { /a /b }", "tables.network_region: /a is a name; nothing may follow it"},
        {"tables { strategy_choice", "/ /localhost/nfd/strategy/ncc",
         "tables.strategy_choice./: \"/localhost/nfd/strategy/ncc\" is not known; \"access\", \"asf\", "
         "\"best-route\", \"multicast\", \"random\" and \"self-learning\" are allowed, also with a version and "
         "parameters as \"asf/v=5/max-timeouts~2\""},
        {"tables { strategy_choice", "a /localhost/nfd/strategy/asf",
         "tables.strategy_choice.a: the prefix is not a name; it must start with '/', an example is \"/example/app\""},
        {"tables { strategy_choice", "/a /localhost/nfd/strategy/asf /a /localhost/nfd/strategy/asf",
         "tables.strategy_choice./a: is there a second time; first at line 3"},
        {"face_system", "dccp { }",
         "face_system.dccp: unknown; known are general, unix, tcp, udp, ether, websocket, netdev_bound"},
        {"face_system", "udp yes", "face_system.udp: \"yes\" is not expected; a group { } is needed"},
        {"face_system { tcp", "listen true", "face_system.tcp.listen: \"true\" is neither yes nor no"},
        {"face_system { tcp", "port 0", "face_system.tcp.port: 0 is out of range; 1 to 65535 is allowed"},
        {"face_system { tcp", "port 65536", "face_system.tcp.port: 65536 is out of range; 1 to 65535 is allowed"},
        {"face_system { tcp", "port { }\n", "face_system.tcp.port: the value is missing"},
        {"face_system { tcp { local {", "whitelist { ifname eth0 }",
         "face_system.tcp.local.whitelist.ifname: unknown; known are *, subnet"},
        {"face_system { tcp { local {", "whitelist { subnet 10.0.0.0/33 }",
         "face_system.tcp.local.whitelist.subnet: \"10.0.0.0/33\" is no subnet, as in \"10.0.0.0/8\" or \"fd00::/8\""},
        {"face_system { unix", "path nfd.sock",
         "face_system.unix.path: \"nfd.sock\" is not an absolute path of at most 107 octets"},
        {"face_system { udp", "unicast_mtu 63",
         "face_system.udp.unicast_mtu: 63 is out of range; 64 to 8800 is allowed"},
        {"face_system { udp", "whitelist { device eth0 }",
         "face_system.udp.whitelist.device: unknown; known are *, ifname, ether, subnet"},
        {"face_system { udp", "whitelist { ifname }",
         "face_system.udp.whitelist.ifname: a value is missing, or is not expected"},
        {"face_system { netdev_bound", "rule { whitelist { * } }", "face_system.netdev_bound.rule: remote is missing"},
        {"authorizations", "authorise { }", "authorizations.authorise: unknown; known are authorize"},
        {"authorizations", "authorize { privileges { faces } }", "authorizations.authorize: certfile is missing"},
        {"authorizations", "authorize { certfile any }", "authorizations.authorize: privileges is missing"},
        {"authorizations", "authorize { certfile any privileges { rib } }",
         "authorizations.authorize.privileges: \"rib\" is no privilege; faces, fib, cs and strategy-choice are "
         "allowed"},
        {"authorizations", "authorize { certfile any privileges { faces fib } }",
         "authorizations.authorize.privileges: faces is a privilege; nothing may follow it in its line"},
        {"rib { localhost_security", "trust-anchor { type none }",
         "rib.localhost_security.trust-anchor.type: \"none\" is unknown; known are any, file, dir, base64"},
        {"rib { localhost_security", "trust-anchor { type file }",
         "rib.localhost_security.trust-anchor: file-name is missing"},
        {"rib { localhost_security", "trust-anchor { type dir dir /dev refresh soon }",
         "rib.localhost_security.trust-anchor.refresh: \"soon\" is no time, as \"1h\", \"10m\" or \"30s\""},
        {"rib { localhost_security", "trust-anchor { type base64 base64-string ! }",
         "rib.localhost_security.trust-anchor.base64-string: is not base64; letters, digits, '+', '/' and '=' at its "
         "end are allowed"},
        {"rib { localhost_security", "trust-anchor { type any name x }",
         "rib.localhost_security.trust-anchor.name: unknown"},
        {"rib { localhost_security", "rule { id r }",
         "rib.localhost_security.rule: for data or for interest is missing"},
        {"rib { localhost_security", "rule { id r for data filter { what x } }",
         "rib.localhost_security.rule.filter.what: unknown"},
        {"rib { localhost_security", "rules { }",
         "rib.localhost_security.rules: unknown; known are rule, trust-anchor"},
        {"rib {", "readvertise_nlsr maybe", "rib.readvertise_nlsr: \"maybe\" is neither yes nor no"},
        {"rib {", "remote_register { }",
         "rib.remote_register: unknown; known are localhost_security, localhop_security, "
         "prefix_announcement_validation, auto_prefix_propagate, readvertise_nlsr"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char before[200], after[20] = "}\n";
        bool opened = cases[i].in[strlen(cases[i].in) - 1] == '{';
        snprintf(before, sizeof before, "%s%s", cases[i].in, opened ? "\n" : "\n{");
        for (const char *p = cases[i].in; *p != '\0'; p++)
            if (*p == '{' && !(opened && p[1] == '\0'))
                strcat(after, "}\n");
        struct result r = import_in(before, cases[i].line, after);
        if (cases[i].fault != NULL)
            expect_fault(&r, cases[i].fault);
        else
            cr_expect_eq(r.error, -EINVAL);
        result_free(&r);
    }
    struct result r = import_text("\n\nsecurity { }\n");
    expect_fault(&r, "security: unknown; known are general, log, forwarder, tables, face_system, authorizations, rib");
    result_free(&r);
    r = import_text("\n\ngeneral{\n user x\n");
    cr_expect_not_null(strstr(r.faults, "nfd.conf:3: general{: unknown; a blank is needed before '{'\n"), "%s",
                       r.faults);
    result_free(&r);
    r = import_text("general { }\n\ngeneral { }\n");
    expect_fault(&r, "general: is there a second time; first at line 1");
    result_free(&r);
    r = import_text("\n\nauthorizations { }\n");
    expect_fault(&r, "authorizations: authorize { } is missing");
    result_free(&r);
}

/* Public report: both were accepted. */
Test(import, localhop_security_and_auto_prefix_propagate_exclude_each_other)
{
    struct result r = import_text("rib {\n localhop_security { }\n auto_prefix_propagate { }\n}\n");
    expect_fault(&r, "rib.auto_prefix_propagate: not together with localhop_security (line 2): what neighbours "
                     "register would be registered with the gateway");
    result_free(&r);
}

/* What NFD does without a section. */
Test(import, sections_that_are_not_there_turn_things_off)
{
    struct result r = import_text("; nothing\n");
    struct conf *conf;
    cr_assert_eq(r.error, 0, "%s", r.faults);
    cr_assert_eq(conf_load_text("new", r.conf, r.conf_len, &conf, stderr), 0);
    cr_expect_not(conf->unix_socket.enabled);
    cr_expect_not(conf->tcp.listen);
    cr_expect_not(conf->udp.listen);
    cr_expect_not(conf->udp.multicast);
    cr_expect_not(conf->websocket.listen);
    cr_expect_eq(conf->rib.n_localhost_security, 0);
    cr_expect_eq(conf->rib.n_localhop_security, 0);
    cr_expect_eq(conf->rib.n_announcement_validation, 0);
    cr_expect_eq(conf->n_authorizations, 1);
    cr_expect_eq(conf->authorization[0].privileges, 0);
    char expected[300];
    snprintf(expected, sizeof expected, "%s/nfd.conf: face_system.unix is not there: taken as unix.enabled = false\n",
             folder);
    cr_expect_not_null(strstr(r.report, expected), "%s", r.report);
    conf_free(conf);
    result_free(&r);
}

Test(import, what_others_wrote_makes_no_settings_and_no_lines)
{
    struct result r =
        import_text("face_system { netdev_bound { rule { remote \"x\\n}; daemon: { user = \\\"root\\\"\" } } }"
                    "\nlog { \"a\\nb\" INFO }\n");
    cr_assert_eq(r.error, 0, "%s", r.faults);
    cr_expect_null(strstr(r.conf, "\n}; daemon"), "%s", r.conf);
    cr_expect_not_null(strstr(r.report, "log.a?b INFO: no effect: "), "%s", r.report);
    result_free(&r);
    r = import_text("tables { strategy_choice { \"/a\\\"; x\" /localhost/nfd/strategy/asf } }\n");
    cr_assert_eq(r.error, 0, "%s", r.faults);
    cr_expect_not_null(strstr(r.conf, "prefix = \"/a\\\"; x\";"), "%s", r.conf);
    result_free(&r);
}

/* `pitlaned -t` is asked in test/net/import.sh. */
Test(import, a_complete_file_becomes_one_that_pitlaned_takes)
{
    struct result r = import_path(NFD_CONF "/complete.conf");
    struct conf *conf;
    cr_assert_eq(r.error, 0, "%s", r.faults);
    cr_expect_eq(r.faults_len, 0);
    write_file("new.conf", r.conf, r.conf_len);
    char path[200];
    snprintf(path, sizeof path, "%s/new.conf", folder);
    cr_assert_eq(conf_load(path, &conf, stderr), 0);
    cr_expect_eq(conf->n_strategies, 4);
    cr_expect_eq(conf->n_authorizations, 2);
    cr_expect(conf->rib.auto_prefix_propagate);
    // Every line with a key or a section is spoken of, but braces and what is within lists.
    FILE *file = fopen(NFD_CONF "/complete.conf", "r");
    cr_assert_not_null(file);
    char text[200], key[100], value[100], said[100];
    for (unsigned line = 1; fgets(text, sizeof text, file) != NULL; line++) {
        if (text[0] == ';' || sscanf(text, "%99s %99s", key, value) != 2 || value[0] == '{' || value[0] == ';')
            continue;
        if (strcmp(key, "subnet") == 0 || strcmp(key, "ifname") == 0 || strcmp(key, "type") == 0 ||
            strcmp(key, "certfile") == 0)
            continue;
        snprintf(said, sizeof said, "complete.conf:%u: ", line);
        cr_expect_not_null(strstr(r.report, said), "nothing is said of line %u: %s", line, text);
    }
    fclose(file);
    conf_free(conf);
    result_free(&r);
}

Test(import, a_file_that_cannot_be_read_is_told)
{
    struct result r = import_path("/nonexistent/nfd.conf");
    cr_expect_eq(r.error, -ENOENT);
    cr_expect_str_eq(r.faults, "/nonexistent/nfd.conf: cannot be read: No such file or directory\n");
    result_free(&r);
    r = import_path("/");
    cr_expect_eq(r.error, -EISDIR);
    result_free(&r);
}

Test(import, the_command_writes_a_file_and_says_why_it_does_not)
{
    char in[200], out[200], *said = NULL, *faults = NULL;
    size_t said_len, faults_len;
    snprintf(in, sizeof in, "%s/nfd.conf", folder);
    snprintf(out, sizeof out, "%s/new.conf", folder);
    write_file("nfd.conf", "general { user ndn }\n", 21);
    char *argv[] = {(char[]){"pitlane"}, (char[]){"import-nfd-conf"}, in, (char[]){"-o"}, out};
    FILE *to = open_memstream(&said, &said_len), *err = open_memstream(&faults, &faults_len);
    cr_expect_eq(command_main(5, argv, to, err), COMMAND_OK);
    fflush(to);
    fflush(err);
    cr_expect_not_null(strstr(said, "general.user ndn: taken as daemon.user = \"ndn\"\n"));
    cr_expect_eq(faults_len, 0, "%s", faults);
    cr_expect_eq(access(out, R_OK), 0);
    // Without -o the configuration goes to the output, what is said of it to the errors.
    cr_expect_eq(command_main(3, argv, to, err), COMMAND_OK);
    fflush(to);
    fflush(err);
    cr_expect_not_null(strstr(said, "daemon: {\n    user = \"ndn\";\n};\n"));
    cr_expect_not_null(strstr(faults, "general.user ndn: taken as daemon.user = \"ndn\"\n"));
    snprintf(out, sizeof out, "%s/none/new.conf", folder);
    cr_expect_eq(command_main(5, argv, to, err), COMMAND_FAILED);
    write_file("nfd.conf", "generally { }\n", 14);
    cr_expect_eq(command_main(3, argv, to, err), COMMAND_FAILED);
    cr_expect_eq(command_main(2, argv, to, err), COMMAND_USAGE);
    fclose(to);
    fclose(err);
    free(said);
    free(faults);
}
