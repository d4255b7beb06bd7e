// SPDX-License-Identifier: Apache-2.0
/* Every key of the schema: default, range, type, effective output and manual. */
#include "conf/number.h"
#include "conf/schema.h"
#include "support.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PORTS                                                                                       \
    "port: { eth0: { netdev = \"eth0\"; address4 = \"10.0.0.1/24\"; address6 = \"fd00::1/64\"; }; " \
    "pci0: { device = \"0000:8a:00.0\"; }; mem0: { device = \"net_memif0\"; }; };\n"
#define FACES "face: { f: { port = \"eth0\"; remote = \"udp4://10.0.0.2\"; }; };\n"
#define QUIC  "quic: { q: { vip = [ \"203.0.113.1:443\" ]; }; };\n"
/* In one line. */
#define QUIC_PORTS "port: { eth0: { netdev = \"eth0\"; }; }; " QUIC

/* A configuration in which the item under test has @p line beside what it needs. Its item is on line 3. */
static void compose(char *text, size_t size, const struct schema_section *section, const char *key, const char *line)
{
#define NEED(name, value) (strcmp(key, name) == 0 ? "" : name " = " value "; ")
    if (strcmp(section->name, "port") == 0)
        snprintf(text, size, "\n\nport: { p: { %s%s\n }; };\n",
                 strcmp(key, "device") == 0 || strcmp(key, "netdev") == 0 ? "" : "device = \"0000:8a:00.1\"; ", line);
    else if (strcmp(section->name, "face") == 0 && strcmp(key, "local-fields") == 0)
        snprintf(text, size, PORTS "\nface: { x: { port = \"mem0\"; remote = \"bare\"; scope = \"local\"; %s\n }; };\n",
                 line);
    else if (strcmp(section->name, "face") == 0)
        snprintf(text, size, PORTS "\nface: { x: { %s%s%s\n }; };\n", NEED("port", "\"eth0\""),
                 NEED("remote", "\"udp4://10.0.0.9\""), line);
    else if (strcmp(section->name, "route") == 0)
        snprintf(text, size, PORTS FACES "route = ( { %s%s%s\n } );\n", NEED("prefix", "\"/a\""), NEED("face", "\"f\""),
                 line);
    else if (strcmp(section->name, "strategy") == 0)
        snprintf(text, size, "\n\nstrategy = ( { %s%s%s\n } );\n", NEED("prefix", "\"/a\""),
                 NEED("strategy", "\"multicast\""), line);
    else if (strcmp(section->name, "authorizations") == 0)
        snprintf(text, size, "\n\nauthorizations = ( { %s%s%s\n } );\n", NEED("certfile", "\"any\""),
                 NEED("privileges", "\"cs\""), line);
    else if (strcmp(section->name, "rib") == 0)
        snprintf(text, size, "\n\nrib: { %s%s%s\n };\n",
                 strcmp(key, "propagate-certificate") == 0 ? "propagate-key = \"/k\"; " : "",
                 strcmp(key, "propagate-key") == 0 ? "propagate-certificate = \"/a\"; " : "", line);
    else if (strcmp(section->name, "quic") == 0)
        snprintf(text, size, "\n\nquic: { q: { %s%s\n }; };\n", NEED("vip", "\"203.0.113.1:443\""), line);
    else if (strcmp(section->name, "quic-config") == 0)
        snprintf(text, size, QUIC "\nquic-config = ( { %s%s%s%s%s\n } );\n", NEED("service", "\"q\""), NEED("id", "1"),
                 NEED("server-id-length", "1"), NEED("nonce-length", "4"), line);
    else if (strcmp(section->name, "quic-scheme") == 0)
        snprintf(text, size, QUIC "\nquic-scheme = ( { %s%s%s%s\n } );\n", NEED("service", "\"q\""),
                 strcmp(key, "offset-bits") == 0 ? "bits = 1; " : NEED("bits", "64"),
                 strcmp(key, "value") == 0 ? "mask = 255; " : "", line);
    else if (strcmp(section->name, "quic-server") == 0)
        snprintf(text, size, QUIC_PORTS "\nquic-server: { s: { %s%s%s%s\n }; };\n", NEED("service", "\"q\""),
                 NEED("address", "\"10.0.0.9\""), strcmp(key, "vlan") == 0 ? "port = \"eth0\"; " : "", line);
    else
        snprintf(text, size, "\n\n%s: { %s\n };\n", section->name, line);
}

static const void *only_item(const struct schema_section *section, const struct conf *conf)
{
    unsigned n;
    return schema_items(section, conf, &n);
}

/* The field of a number key, in the unit it is kept in; reals in millionths. */
static int64_t number_of(const struct schema_key *key, const void *item)
{
    const char *field = (const char *)item + key->offset;
    if (key->type == SCHEMA_REAL) {
        double real;
        memcpy(&real, field, sizeof real);
        return llround(real * 1e6);
    }
    uint64_t value = 0;
    memcpy(&value, field, key->size);
    return (int64_t)value;
}

static void expect_refused(const struct schema_section *section, const struct schema_key *key, const char *value,
                           const char *reason)
{
    char text[2048], line[256];
    snprintf(line, sizeof line, "%s = %s;", key->name, value);
    compose(text, sizeof text, section, key->name, line);
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(load_text(text, &conf, &faults), -EINVAL, "%s.%s = %s is accepted", section->name, key->name, value);
    cr_expect_null(conf);
    cr_expect_eq(strncmp(faults, "text:3: ", 8), 0, "%s", faults);
    cr_expect_not_null(strstr(faults, reason), "%s = %s: \"%s\" is not in: %s", key->name, value, reason, faults);
    free(faults);
}

static bool zero_is_another_setting(const struct schema_key *key)
{
    return strcmp(key->name, "capacity-max") == 0 || strcmp(key->name, "flow-keep-time") == 0;
}

/* A value that other settings of compose() allow. */
static bool is_allowed_alone(const struct schema_key *key, int64_t value)
{
    return !(strcmp(key->name, "queues") == 0 && value > 1) && !(strcmp(key->name, "mbufs") == 0 && value < 2048) &&
           !(strcmp(key->name, "udp-on-demand") == 0 && value > 0) &&
           !(strcmp(key->name, "per-face") == 0 && value > 1024) &&
           !(strcmp(key->name, "messages") == 0 && value < 64) &&
           !(strcmp(key->name, "capacity-max") == 0 && value < 65536) &&
           !(strcmp(key->name, "retx-suppression-initial") == 0 && value > 250) &&
           !(strcmp(key->name, "retx-suppression-max") == 0 && value < 10) &&
           !(strcmp(key->name, "flow-keep-time") == 0 && value > 60000) &&
           !(strcmp(key->name, "probe-interval") == 0 && value > 0 && value < 1000) &&
           !(strcmp(key->name, "propagate-max-retry-wait") == 0 && value < 50000) && value < 1 << 24;
}

#define FOR_EACH_KEY(section, key)                                                                              \
    for (const struct schema_section *section = schema_sections; section < schema_sections + schema_n_sections; \
         section++)                                                                                             \
        for (const struct schema_key *key = section->keys; key < section->keys + section->n_keys; key++)

static bool is_number(const struct schema_key *key)
{
    return key->type == SCHEMA_COUNT || key->type == SCHEMA_SIZE || key->type == SCHEMA_TIME_US ||
           key->type == SCHEMA_TIME_MS || key->type == SCHEMA_REAL;
}

Test(conf_keys, numbers_are_accepted_at_both_ends_of_their_range)
{
    FOR_EACH_KEY(section, key)
    {
        if (!is_number(key))
            continue;
        const int64_t ends[] = {key->min, key->max, 0};
        for (size_t i = 0; i < (key->zero != NULL ? 3 : 2); i++) {
            char number[NUMBER_MAX], line[100], text[2048];
            number_format(key->type, ends[i], number);
            snprintf(line, sizeof line, "%s = \"%s\";", key->name, number);
            compose(text, sizeof text, section, key->name, line);
            if (!is_allowed_alone(key, ends[i]))
                continue;
            struct conf *conf = load_good(text);
            if (ends[i] != 0 || !zero_is_another_setting(key))
                cr_expect_eq(number_of(key, only_item(section, conf)), ends[i], "%s.%s = %s", section->name, key->name,
                             number);
            cr_expect_eq(conf_key_at(conf, only_item(section, conf), key->name).line, 3);
            conf_free(conf);
        }
    }
}

Test(conf_keys, numbers_outside_of_their_range_are_refused)
{
    FOR_EACH_KEY(section, key)
    {
        if (!is_number(key))
            continue;
        char number[NUMBER_MAX], value[NUMBER_MAX + 2], reason[100];
        snprintf(reason, sizeof reason, "%s: ", key->name);
        number_format(key->type, key->max + 1, number);
        snprintf(value, sizeof value, "\"%s\"", number);
        expect_refused(section, key, value, "out of range");
        expect_refused(section, key, value, reason);
        if (key->min - 1 != 0 || key->zero == NULL) {
            number_format(key->type, key->min - 1, number);
            snprintf(value, sizeof value, "\"%s\"", number);
            expect_refused(section, key, value, "out of range");
        }
        expect_refused(section, key, "99999999999999999999", "too large");
        expect_refused(section, key, "\"99999999999999999999g\"", "allowed");
        expect_refused(section, key, "\"many\"", "not understood");
        expect_refused(section, key, "true", "is true or false");
        expect_refused(section, key, "( )", "is a list");
        expect_refused(section, key, "{ }", "is a group");
    }
}

Test(conf_keys, defaults_are_what_the_schema_says)
{
    FOR_EACH_KEY(section, key)
    {
        char text[2048];
        compose(text, sizeof text, section, "", "");
        struct conf *conf = load_good(text);
        const char *item = only_item(section, conf);
        int64_t number = 0;
        char why[300];
        // Defaults that other settings decide have a note.
        if (is_number(key) && !key->required && !zero_is_another_setting(key)) {
            cr_assert_not_null(key->def, "%s", key->name);
            cr_assert(number_parse(key->type, key->def, &number, why, sizeof why), "%s", why);
            cr_expect_eq(number_of(key, item), number, "%s.%s", section->name, key->name);
        }
        if (key->type == SCHEMA_TEXT && !key->required && !(strcmp(key->name, "device") == 0)) {
            const char *value;
            memcpy(&value, item + key->offset, sizeof value);
            if (key->def == NULL)
                cr_expect_null(value, "%s", key->name);
            else
                cr_expect_str_eq(value, key->def);
        }
        cr_expect_eq(conf_key_at(conf, item, key->name).line, 3, "%s", key->name);
        conf_free(conf);
    }
}

Test(conf_keys, switches_take_true_and_yes)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {{"true", true},    {"FALSE", false}, {"\"yes\"", true},
                 {"\"no\"", false}, {"\"on\"", true}, {"\"off\"", false}};
    FOR_EACH_KEY(section, key)
    {
        if (key->type != SCHEMA_BOOL)
            continue;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            char line[100], text[2048];
            snprintf(line, sizeof line, "%s = %s;", key->name, words[i].text);
            compose(text, sizeof text, section, key->name, line);
            struct conf *conf = load_good(text);
            bool value;
            memcpy(&value, (const char *)only_item(section, conf) + key->offset, sizeof value);
            cr_expect_eq(value, words[i].value, "%s", line);
            conf_free(conf);
        }
        expect_refused(section, key, "\"perhaps\"", "neither yes nor no");
        expect_refused(section, key, "1", "is a whole number");
    }
}

Test(conf_keys, choices_take_each_of_their_words)
{
    FOR_EACH_KEY(section, key)
    {
        if (key->type != SCHEMA_CHOICE)
            continue;
        for (const struct schema_choice *choice = key->choices; choice->name != NULL; choice++) {
            char line[200], text[2048];
            // Two of these need another remote to be allowed.
            const char *need = strcmp(key->name, "scope") == 0 && choice->value == CONF_SCOPE_LOCAL
                                   ? "port = \"mem0\"; remote = \"bare\"; "
                               : strcmp(key->name, "link-type") == 0 && choice->value != CONF_LINK_P2P
                                   ? "port = \"eth0\"; remote = \"ether://[01:00:5e:00:17:aa]\"; "
                                   : NULL;
            snprintf(line, sizeof line, "%s = \"%s\";", key->name, choice->name);
            compose(text, sizeof text, section, key->name, line);
            // And one needs keys and a configuration.
            if (strcmp(key->name, "retry") == 0)
                snprintf(
                    text, sizeof text,
                    "quic: { q: { vip = \"192.0.2.1:443\"; retry-keys = \"/k\"; %s }; }; quic-config = ( { service "
                    "= \"q\"; id = 0; server-id-length = 1; nonce-length = 4; } );",
                    line);
            if (need != NULL)
                snprintf(text, sizeof text, PORTS "face: { x: { %s%s }; };", need, line);
            struct conf *conf = load_good(text);
            int value;
            memcpy(&value, (const char *)only_item(section, conf) + key->offset, sizeof value);
            cr_expect_eq(value, choice->value, "%s", line);
            conf_free(conf);
        }
        expect_refused(section, key, "\"nonsense-word\"", "is not known");
        expect_refused(section, key, "5", "is a whole number");
    }
}

Test(conf_keys, texts_refuse_what_is_no_text)
{
    FOR_EACH_KEY(section, key)
    {
        if (key->type != SCHEMA_TEXT && key->type != SCHEMA_TEXTS)
            continue;
        cr_expect_gt(key->max, 0);
        cr_expect_not_null(key->form);
        char value[5000], text[8000], line[6000];
        expect_refused(section, key, "5", "is a whole number");
        expect_refused(section, key, "\"\"", "is empty");
        expect_refused(section, key, "\"/\\n\"", "control character");
        value[0] = '/';
        size_t len = (size_t)key->max + 1 < 4096 ? (size_t)key->max + 1 : 4096;
        memset(value + 1, 'a', len - 1);
        value[len] = '\0';
        snprintf(line, sizeof line, "%s = \"%s\";", key->name, value);
        compose(text, sizeof text, section, key->name, line);
        struct conf *conf = NULL;
        char *faults = NULL;
        int error = load_text(text, &conf, &faults);
        if (len > (size_t)key->max)
            cr_expect_not_null(strstr(faults, "octets long; at most"), "%s: %s", key->name, faults);
        else
            cr_expect_eq(error, 0, "%s: %s", key->name, faults);
        conf_free(error == 0 ? conf : NULL);
        free(faults);
    }
}

Test(conf_keys, lists_take_an_array_a_list_or_one_number)
{
    struct conf *conf = load_good("workers: { lcores = [ 3, 1, 0 ]; };");
    cr_expect_eq(conf->workers.count, 3);
    cr_expect_eq(conf->workers.n_lcores, 3);
    cr_expect_eq(conf->workers.lcores[0], 3);
    cr_expect_eq(conf->workers.lcores[2], 0);
    conf_free(conf);
    conf = load_good("workers: { lcores = ( 3, \"1\" ); count = 2; };");
    cr_expect_eq(conf->workers.lcores[1], 1);
    conf_free(conf);
    conf = load_good("workers: { lcores = 5; };\nport: { p: { netdev = \"p\"; udp-ports = [ 1, 65535 ]; }; };");
    cr_expect_eq(conf->workers.count, 1);
    cr_expect_eq(conf->workers.lcores[0], 5);
    cr_expect_eq(conf->port[0].n_udp_ports, 2);
    cr_expect_eq(conf->port[0].udp_ports[1], 65535);
    cr_expect_eq(conf->port[0].udp_ports[2], 0);
    conf_free(conf);
}

Test(conf_keys, texts_take_an_array_a_list_one_string_or_none)
{
    struct conf *conf = load_good("rib: { localhost-security = [ \"/a\", \"b\" ]; };");
    cr_expect_eq(conf->rib.n_localhost_security, 2);
    cr_expect_str_eq(conf->rib.localhost_security[0], "/a");
    cr_expect_str_eq(conf->rib.localhost_security[1], "b");
    cr_expect_null(conf->rib.localhost_security[2]);
    cr_expect_eq(conf->rib.n_announcement_validation, 1);
    cr_expect_str_eq(conf->rib.announcement_validation[0], "any");
    cr_expect_eq(conf->rib.n_localhop_security, 0);
    conf_free(conf);
    conf = load_good("rib: { localhost-security = ( \"a\" ); localhop-security = \"any\"; };");
    cr_expect_eq(conf->rib.n_localhost_security, 1);
    cr_expect_str_eq(conf->rib.localhost_security[0], "a");
    cr_expect_eq(conf->rib.n_localhop_security, 1);
    conf_free(conf);
    // None, where the default is something, stays none when it is written and read again.
    conf = load_good("rib: { localhost-security = [ ]; };");
    char *effective = NULL;
    size_t len;
    FILE *out = open_memstream(&effective, &len);
    conf_print_effective(conf, out);
    fclose(out);
    struct conf *again = load_good(effective);
    cr_expect_eq(conf->rib.n_localhost_security, 0);
    cr_expect_eq(again->rib.n_localhost_security, 0);
    cr_expect_eq(again->rib.n_announcement_validation, 1);
    cr_expect_eq(conf_restart_needed(conf, again, NULL), 0);
    conf_free(again);
    again = load_good("rib: { localhost-security = [ \"any\", \"c\" ]; };");
    cr_expect_eq(conf_restart_needed(conf, again, NULL), 1);
    conf_free(again);
    conf_free(conf);
    free(effective);
}

Test(conf_keys, manual_names_every_key_with_its_meaning)
{
    char *manual = NULL;
    size_t len;
    FILE *out = open_memstream(&manual, &len);
    conf_print_manual(out);
    fclose(out);
    const char *at = manual;
    // In the order of the schema: sections, and keys within them.
    FOR_EACH_KEY(section, key)
    {
        char heading[100];
        if (key == section->keys) {
            snprintf(heading, sizeof heading, "\n%s%s", section->name, section->kind == SCHEMA_LIST ? " = (" : ": {");
            at = strstr(at, heading);
            cr_assert_not_null(at, "section %s", section->name);
        }
        snprintf(heading, sizeof heading, "\n    %s\n", key->name);
        at = strstr(at, heading);
        cr_assert_not_null(at, "%s.%s", section->name, key->name);
        cr_expect_gt(strlen(key->meaning), 10);
        cr_expect_eq(key->meaning[strlen(key->meaning) - 1], '.', "%s", key->meaning);
        cr_expect(key->required || key->def != NULL || key->def_note != NULL, "%s has no default", key->name);
    }
    const char *line = manual;
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        cr_expect_leq(end - line, 140, "%.*s", (int)(end - line), line);
    free(manual);
}

Test(conf_keys, schema_is_sound)
{
    FOR_EACH_KEY(section, key)
    {
        cr_expect_lt(section->n_keys, 64);
        cr_expect_leq(strlen(key->name), 40);
        cr_expect_eq(schema_find_key(section, key->name), key, "%s.%s is there twice", section->name, key->name);
        cr_expect_eq(schema_find(section->name), section);
        cr_expect_lt(key->offset + key->size, section->item_size + 1);
        if (is_number(key))
            cr_expect_lt(key->min, key->max);
        cr_expect_eq(key->type == SCHEMA_TEXT || key->type == SCHEMA_TEXTS, key->accept != NULL, "%s", key->name);
        cr_expect_eq(key->type == SCHEMA_CHOICE, key->choices != NULL, "%s", key->name);
    }
}

Test(conf_keys, ports_with_an_address_may_hear_unknown_udp_peers)
{
    struct conf *conf = load_good("port: { p: { netdev = \"p\"; address6 = \"fd00::1/64\"; udp-on-demand = 100; "
                                  "udp-idle-timeout = \"5s\"; }; q: { netdev = \"q\"; }; };");
    cr_expect_eq(conf->port[0].udp_on_demand, 100);
    cr_expect_eq(conf->port[0].udp_idle_ms, 5000);
    cr_expect_eq(conf->port[1].udp_on_demand, 0);
    cr_expect_eq(conf->port[1].udp_idle_ms, 600000);
    conf_free(conf);
}
