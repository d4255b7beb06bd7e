// SPDX-License-Identifier: Apache-2.0
/* Files, what they come to, and what is told about them. */
#include "support.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const shipped[] = {SHIPPED_FOLDER "/pitlane.conf", SHIPPED_FOLDER "/examples/demo.conf",
                                      SHIPPED_FOLDER "/examples/af-xdp.conf", SHIPPED_FOLDER "/examples/pci.conf",
                                      SHIPPED_FOLDER "/examples/quic.conf"};
#define N_SHIPPED (sizeof shipped / sizeof shipped[0])

static void expect_file_refused(const char *path, int expected, const char *reason)
{
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(load_file(path, &conf, &faults), expected, "%s: %s", path, faults);
    cr_expect_null(conf);
    cr_expect_not_null(strstr(faults, reason), "\"%s\" is not in: %s", reason, faults);
    free(faults);
}

static void expect_text_refused(const char *text, const char *reason)
{
    struct conf *conf = NULL;
    char *faults = NULL;
    size_t faults_len;
    FILE *err = open_memstream(&faults, &faults_len);
    cr_expect_eq(conf_load_text("text", text, strlen(text), &conf, err), -EINVAL, "%s", reason);
    fclose(err);
    cr_expect_not_null(strstr(faults, reason), "\"%s\" is not in: %.500s", reason, faults);
    free(faults);
}

Test(conf_load, shipped_files_are_accepted_without_a_warning)
{
    for (size_t i = 0; i < N_SHIPPED; i++) {
        struct conf *conf = NULL;
        char *faults = NULL;
        cr_expect_eq(load_file(shipped[i], &conf, &faults), 0, "%s", faults);
        // Of a folder that everyone may write the tree may be part; that alone is warned of.
        cr_expect(*faults == '\0' || strstr(faults, "may be written by everyone") != NULL, "%s", faults);
        conf_free(conf);
        free(faults);
    }
}

Test(conf_load, shipped_configuration_shows_the_defaults)
{
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_assert_eq(load_file(shipped[0], &conf, &faults), 0);
    free(faults);
    struct conf *defaults = load_good("strategy = ( { prefix = \"/\"; strategy = \"best-route\"; } );");
    char *a = effective(conf), *b = effective(defaults);
    cr_expect_str_eq(a, b);
    free(a);
    free(b);
    conf_free(conf);
    conf_free(defaults);
}

Test(conf_load, shipped_configuration_mentions_every_key)
{
    size_t len;
    char *text = read_file(shipped[0], &len);
    char *manual = NULL;
    size_t manual_len;
    FILE *out = open_memstream(&manual, &manual_len);
    conf_print_manual(out);
    fclose(out);
    unsigned n = 0;
    char *save = NULL;
    for (char *line = strtok_r(manual, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
        char key[100];
        if (strncmp(line, "    ", 4) != 0 || line[4] == ' ' || strpbrk(line + 4, " .:,\"") != NULL)
            continue;
        snprintf(key, sizeof key, "%s = ", line + 4);
        cr_expect_not_null(strstr(text, key), "%s", key);
        n++;
    }
    cr_expect_geq(n, 50);
    free(manual);
    free(text);
}

Test(conf_load, effective_configuration_loads_to_itself)
{
    for (size_t i = 0; i < N_SHIPPED; i++) {
        struct conf *conf = NULL;
        char *faults = NULL;
        cr_assert_eq(load_file(shipped[i], &conf, &faults), 0);
        free(faults);
        char *first = effective(conf);
        struct conf *again = load_good(first);
        char *second = effective(again);
        cr_expect_str_eq(second, first, "%s", shipped[i]);
        cr_expect_eq(conf_restart_needed(conf, again, stderr), 0);
        free(first);
        free(second);
        conf_free(conf);
        conf_free(again);
    }
}

Test(conf_load, strings_with_quotes_survive_the_effective_output)
{
    struct conf *conf = load_good("daemon: { log-file = \"/a \\\"b\\\" \\\\ \\x41\"; };");
    cr_expect_str_eq(conf->daemon.log_file, "/a \"b\" \\ A");
    char *text = effective(conf);
    struct conf *again = load_good(text);
    cr_expect_str_eq(again->daemon.log_file, conf->daemon.log_file);
    free(text);
    conf_free(conf);
    conf_free(again);
}

Test(conf_load, faces_and_routes_are_resolved)
{
    struct conf *conf =
        load_good("port: { b: { netdev = \"b\"; address4 = \"10.0.0.1/24\"; address6 = \"fd00::1/64\"; udp-ports = [ "
                  "7000, 56363 ]; };"
                  " a: { device = \"net_memif0\"; }; };\n"
                  "face: { u: { port = \"b\"; remote = \"udp4://10.0.0.2:6363\"; };\n"
                  " g: { port = \"b\"; remote = \"udp4://224.0.23.170\"; };\n"
                  " e: { port = \"b\"; remote = \"ether://[02:00:00:00:00:0a]\"; local = "
                  "\"ether://[02:00:00:00:00:0B]\"; vlan = 5; };\n"
                  " v: { port = \"b\"; remote = \"udp6://[fe80::2]\"; };\n"
                  " w: { port = \"b\"; remote = \"udp6://[2001:db8::2]:1\"; next-hop = \"fd00::fe\"; };\n"
                  " x: { port = \"b\"; remote = \"udp4://192.0.2.1\"; mac = \"02:00:00:00:00:0c\"; };\n"
                  " m: { port = \"a\"; remote = \"bare\"; scope = \"local\"; }; };\n"
                  "route = ( { prefix = \"/\"; face = \"m\"; cost = 4000000000; } );");
    const struct conf_face *u = &conf->face[0], *g = &conf->face[1], *e = &conf->face[2], *v = &conf->face[3],
                           *w = &conf->face[4], *x = &conf->face[5], *m = &conf->face[6];
    cr_expect_eq(u->port, 0);
    cr_expect_eq(u->kind, CONF_UDP4);
    cr_expect_eq(u->remote_udp, 6363);
    cr_expect_eq(u->local_udp, 7000);
    cr_expect_arr_eq(u->remote_ip, ((uint8_t[]){10, 0, 0, 2}), 4);
    cr_expect_arr_eq(u->local_ip, ((uint8_t[]){10, 0, 0, 1}), 4);
    cr_expect_eq(u->link_type, CONF_LINK_P2P);
    cr_expect_not(u->mac_static || u->multicast || u->has_next_hop);
    cr_expect(g->multicast);
    cr_expect_eq(g->remote_udp, 56363);
    cr_expect_eq(g->local_udp, 56363);
    cr_expect_eq(g->link_type, CONF_LINK_MULTI_ACCESS);
    cr_expect_eq(e->kind, CONF_ETHER);
    cr_expect(e->mac_static && e->has_local_mac);
    cr_expect_eq(e->remote_mac[5], 0x0A);
    cr_expect_eq(e->local_mac[5], 0x0B);
    cr_expect_eq(e->vlan, 5);
    cr_expect_eq(v->kind, CONF_UDP6);
    cr_expect_eq(v->remote_ip[0], 0xFE);
    cr_expect_eq(v->local_ip[15], 1);
    cr_expect(w->has_next_hop);
    cr_expect_eq(w->next_hop[15], 0xFE);
    cr_expect(x->mac_static);
    cr_expect_eq(x->remote_mac[5], 0x0C);
    cr_expect_eq(m->kind, CONF_BARE);
    cr_expect_eq(m->port, 1);
    cr_expect_eq(m->scope, CONF_SCOPE_LOCAL);
    cr_expect(conf->port[1].bare && !conf->port[0].bare);
    cr_expect_eq(conf->route[0].face, 6);
    cr_expect_eq(conf->route[0].cost, 4000000000);
    cr_expect_eq(conf->port[0].ip4_prefix_len, 24);
    conf_free(conf);
}

Test(conf_load, positions_of_keys_are_kept)
{
    struct conf *conf = load_good("# first\n\nport: {\n    eth0: {\n        mtu = 1500;\n        netdev = \"eth0\";\n"
                                  "    };\n};\ndaemon: {\n    log-level = \"debug\"; };\n");
    cr_expect_str_eq(conf->port[0].at.file, "text");
    cr_expect_eq(conf->port[0].at.line, 4);
    cr_expect_eq(conf_key_at(conf, &conf->port[0], "netdev").line, 6);
    cr_expect_eq(conf_key_at(conf, &conf->port[0], "mtu").line, 5);
    cr_expect_eq(conf_key_at(conf, &conf->port[0], "queues").line, 4);
    cr_expect_eq(conf_key_at(conf, &conf->daemon, "log-level").line, 10);
    cr_expect_eq(conf_key_at(conf, &conf->daemon, "user").line, 9);
    cr_expect_eq(conf->pit.at.line, 0);
    cr_expect_str_eq(conf->pit.at.file, "");
    cr_expect_eq(conf_key_at(conf, &conf->pit, "capacity").line, 0);
    conf_free(conf);
}

Test(conf_load, positions_name_the_included_file)
{
    char folder[256], path[512], inner[512];
    make_folder(folder);
    const char outer[] = "daemon: { };\nport: {\n@include \"ports.inc\" // shared\n    b: { netdev = \"b\"; };\n};\n";
    const char ports[] = "# ports\n    a: { netdev = \"a\"; };";
    write_file(inner, folder, "ports.inc", ports, strlen(ports));
    write_file(path, folder, "main.conf", outer, strlen(outer));
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_assert_eq(load_file(path, &conf, &faults), 0, "%s", faults);
    cr_expect_eq(conf->n_ports, 2);
    cr_expect_str_eq(conf->port[0].at.file, inner);
    cr_expect_eq(conf->port[0].at.line, 2);
    cr_expect_str_eq(conf->port[1].at.file, path);
    cr_expect_eq(conf->port[1].at.line, 4);
    conf_free(conf);
    free(faults);
    remove_folder(folder);
}

Test(conf_load, includes_inside_comments_and_strings_are_left_alone)
{
    struct conf *conf = load_good("/* a comment\n@include \"nowhere\"\n*/ // \"x\n# /*\n"
                                  "daemon: { log-file = \"/* @include \\\"\"; /* x */ };\n");
    cr_expect_str_eq(conf->daemon.log_file, "/* @include \"");
    conf_free(conf);
    expect_text_refused("@include \"/etc/passwd\"\npit: { };\n", "only files may include files");
    expect_text_refused("pit: { }; @include \"x\"\n", "@include \"FILE\" stands in a line of its own");
}

Test(conf_load, files_that_are_no_configuration_are_refused)
{
    char folder[256], path[512];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/missing.conf", folder);
    expect_file_refused(path, -ENOENT, "missing.conf:1: cannot be opened: No such file or directory");
    expect_file_refused(folder, -EISDIR, ":1: is a directory; a regular file is needed");
    expect_file_refused("/dev/null", -EINVAL, "is not a regular file");
    expect_file_refused("/dev/zero", -EINVAL, "is not a regular file");
    snprintf(path, sizeof path, "%s/fifo", folder);
    cr_assert_eq(mkfifo(path, 0600), 0);
    expect_file_refused(path, -EINVAL, "is not a regular file");
    remove_folder(folder);
}

Test(conf_load, unreadable_file_is_refused)
{
    char folder[256], path[512];
    make_folder(folder);
    write_file(path, folder, "secret.conf", "pit: { };", 9);
    cr_assert_eq(chmod(path, 0), 0);
    struct conf *conf = NULL;
    char *faults = NULL;
    int error = load_file(path, &conf, &faults);
    // Root reads it anyway.
    cr_expect_eq(error, geteuid() == 0 ? 0 : -EACCES, "%s", faults);
    conf_free(conf);
    free(faults);
    remove_folder(folder);
}

Test(conf_load, world_writable_file_is_warned_of_and_refused_when_strict)
{
    char folder[256], path[512];
    make_folder(folder);
    const char lax[] = "pit: { };\n", strict[] = "# x\ndaemon: { strict-perms = true; };\n";
    write_file(path, folder, "a.conf", lax, strlen(lax));
    cr_assert_eq(chmod(path, 0646), 0);
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(load_file(path, &conf, &faults), 0, "%s", faults);
    cr_expect_not_null(strstr(faults, "a.conf:1: warning: may be written by everyone"), "%s", faults);
    conf_free(conf);
    free(faults);
    write_file(path, folder, "a.conf", strict, strlen(strict));
    expect_file_refused(path, -EINVAL, "a.conf:2: daemon.strict-perms: the configuration may be written by everyone");
    cr_assert_eq(chmod(path, 0644), 0);
    cr_expect_eq(load_file(path, &conf, &faults), 0, "%s", faults);
    cr_expect_str_empty(faults);
    conf_free(conf);
    free(faults);
    cr_assert_eq(chmod(folder, 0777), 0);
    expect_file_refused(path, -EINVAL, "strict-perms");
    remove_folder(folder);
}

Test(conf_load, byte_order_mark_and_carriage_returns_are_accepted)
{
    struct conf *conf = load_good("\xEF\xBB\xBFpit: {\r\n    capacity = 4096; # caf\xC3\xA9\r\n};\r\n");
    cr_expect_eq(conf->pit.capacity, 4096);
    cr_expect_eq(conf_key_at(conf, &conf->pit, "capacity").line, 2);
    conf_free(conf);
}

Test(conf_load, settings_need_no_semicolon_at_the_end_of_a_line)
{
    struct conf *conf =
        load_good("pit = {\n    capacity : \"4\" \"k\"\n    max-lifetime = \"4s\",\n}\ncs: { capacity = 0 }\n"
                  "route = (\n);\nstrategy = ( { prefix = \"/\"; strategy = \"multicast\" }, )");
    cr_expect_eq(conf->pit.capacity, 4096);
    cr_expect_eq(conf->pit.max_lifetime_ms, 4000);
    cr_expect_eq(conf->cs.capacity, 0);
    cr_expect_eq(conf->cs.capacity_max, 0);
    cr_expect_eq(conf->n_routes, 0);
    cr_expect_str_eq(conf->strategy[0].strategy, "multicast");
    conf_free(conf);
}

Test(conf_load, restart_is_needed_for_what_start_fixed)
{
    struct conf *running = load_good("port: { a: { netdev = \"a\"; mtu = 1500; udp-ports = [ 1, 2 ]; address4 = "
                                     "\"10.0.0.1/8\"; };\n b: { netdev = \"b\"; }; };\npit: { capacity = 4096; };\n");
    struct conf *wanted = load_good("port: { a: { netdev = \"a\"; mtu = 1400; udp-ports = [ 1 ]; };\n"
                                    " c: { netdev = \"c\"; }; };\n\npit: {\n capacity = 8192; face-share = 0.5; };\n"
                                    "face: { f: { port = \"a\"; remote = \"ether://[02:00:00:00:00:01]\"; }; };\n"
                                    "route = ( { prefix = \"/\"; face = \"f\"; } );\n"
                                    "workers: { lcores = [ 1, 2 ]; };");
    char *text = NULL;
    size_t len;
    FILE *err = open_memstream(&text, &len);
    cr_expect_eq(conf_restart_needed(running, wanted, err), 9);
    fclose(err);
    cr_expect_not_null(strstr(text, "text:1: port.a.mtu: restart needed to change it from 1500 to 1400\n"), "%s", text);
    cr_expect_not_null(strstr(text, "text:1: port.a.udp-ports: restart needed to change it from [ 1, 2 ] to [ 1 ]\n"));
    cr_expect_not_null(strstr(text, "text:1: port.a.address4: restart needed to change it from \"10.0.0.1/8\"\n"));
    cr_expect_not_null(strstr(text, "text:2: port.c: restart needed to add it\n"));
    cr_expect_not_null(strstr(text, "text:2: port.b: restart needed to remove it\n"));
    cr_expect_not_null(strstr(text, "text:5: pit.capacity: restart needed to change it from 4096 to 8192\n"));
    cr_expect_not_null(strstr(text, "workers.lcores: restart needed to change it to [ 1, 2 ]\n"));
    cr_expect_not_null(strstr(text, "workers.count: restart needed to change it from 1 to 2\n"));
    cr_expect_eq(conf_restart_needed(running, wanted, NULL), 9);
    cr_expect_eq(conf_restart_needed(running, running, stderr), 0);
    free(text);
    // What went back to its default has no position of its own.
    struct conf *empty = load_good("cs: { };");
    err = open_memstream(&text, &len);
    cr_expect_eq(conf_restart_needed(running, empty, err), 3);
    fclose(err);
    cr_expect_not_null(strstr(text, "-:0: pit.capacity: restart needed to change it from 4096 to 131072\n"), "%s",
                       text);
    free(text);
    conf_free(running);
    conf_free(wanted);
    conf_free(empty);
}
