// SPDX-License-Identifier: Apache-2.0
/* From configurations to the sets that workers read, and files with keys. */
#include "fwd/quic/build.h"
#include "fwd/quic/key_file.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pitlane-test-XXXXXX";
static char key_path[64];

static void write_file(const char *path, const char *text, unsigned mode)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
    cr_assert_eq(chmod(path, mode), 0);
}

static void set_up(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(key_path, sizeof key_path, "%s/key", folder);
    write_file(key_path, "# QUIC-LB\n8f95f09245765f80256934e50c66207f # since May\n", 0600);
    quic_lb_decode_init();
}

static void tear_down(void)
{
    unlink(key_path);
    rmdir(folder);
}

TestSuite(quic_build, .init = set_up, .fini = tear_down);

#define PORT "port: { lan: { netdev = \"lan\"; }; };\n"

static struct conf *load(const char *text)
{
    struct conf *conf = NULL;
    char *faults = NULL;
    size_t size;
    FILE *err = open_memstream(&faults, &size);
    int rc = conf_load_text("text", text, strlen(text), &conf, err);
    fclose(err);
    cr_assert_eq(rc, 0, "%s", faults);
    free(faults);
    return conf;
}

static struct quic_set *build(const char *text, const struct quic_set *old)
{
    struct conf *conf = load(text);
    struct quic_set *set = NULL;
    cr_assert_eq(quic_set_build(&set, conf, old, 1000, stderr), 0);
    conf_free(conf);
    return set;
}

static const struct quic_server *by_cid(const struct quic_service *service, const char *cid)
{
    uint8_t octets[20];
    struct quic_lb_id id;
    size_t len = strlen(cid) / 2;
    cr_assert(conf_hex(cid, octets, len));
    return quic_lb_decode(service->lb, octets, len, &id) == QUIC_LB_OK ? quic_service_server(service, &id) : NULL;
}

Test(quic_build, connection_ids_lead_to_the_servers_of_the_configuration)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        PORT
        "quic: { web: { vip = [ \"203.0.113.10:443\", \"[2001:db8::10]:8443\" ]; }; };\n"
        "quic-config: ( { service = \"web\"; id = 0; server-id-length = 3; nonce-length = 4; key-file = \"%s\"; },"
        "{ service = \"web\"; id = 2; server-id-length = 8; nonce-length = 8; key-file = \"%s\"; } );\n"
        "quic-scheme: ( { service = \"web\"; mask = \"0xe0\"; value = \"0xc0\"; bits = 20; } );\n"
        "quic-server: { a: { service = \"web\"; id = [ \"ed793a\", \"ed793a51d49b8f5f\" ]; address = \"10.0.0.1\"; };"
        "b: { service = \"web\"; id = [ \"0abcde\" ]; address = \"fd00::2\"; }; };\n",
        key_path, key_path);
    struct quic_set *set = build(text, NULL);
    const struct quic_service *web = &set->service[0];
    cr_assert_not_null(by_cid(web, "0720b1d07b359d3c"));
    cr_expect_str_eq(by_cid(web, "0720b1d07b359d3c")->name, "a");
    cr_assert_not_null(by_cid(web, "504dd2d05a7b0de9b2b9907afb5ecf8cc3"));
    cr_expect_str_eq(by_cid(web, "504dd2d05a7b0de9b2b9907afb5ecf8cc3")->name, "a");
    cr_assert_not_null(by_cid(web, "c0abcdef"));
    cr_expect_str_eq(by_cid(web, "c0abcdef")->name, "b");
    cr_expect_null(by_cid(web, "e1abcdef00"));
    const uint8_t v4[16] = {203, 0, 113, 10}, v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 0x10};
    cr_expect_eq(quic_set_find(set, v4, false, __builtin_bswap16(443)), web);
    cr_expect_eq(quic_set_find(set, v6, true, __builtin_bswap16(8443)), web);
    cr_expect_null(quic_set_find(set, v4, false, __builtin_bswap16(8443)));
    quic_set_destroy(set);
}

#define SERVER(name, more) #name ": { service = \"web\"; address = \"10.0.0.1\"; " more " }; "

static void servers(char *text, size_t size, const char *list)
{
    snprintf(text, size, PORT "quic: { web: { vip = \"203.0.113.10:443\"; }; };\nquic-server: { %s };\n", list);
}

static unsigned share(const struct quic_service *service, const char *name)
{
    if (service->maglev == NULL)
        return 0;
    for (unsigned i = 0; i < service->maglev->n_backends; i++)
        if (strcmp(service->server[service->maglev_server[i]].name, name) == 0)
            return maglev_slots(service->maglev, (uint16_t)i);
    return 0;
}

static struct quic_server *server(struct quic_set *set, const char *name)
{
    struct quic_service *service = &set->service[0];
    for (unsigned i = 0; i < service->n_servers; i++)
        if (strcmp(service->server[i].name, name) == 0)
            return &service->server[i];
    return NULL;
}

Test(quic_build, places_and_ways_stay_over_a_reload)
{
    char text[1024];
    servers(text, sizeof text, SERVER(a, "") SERVER(b, "") SERVER(c, "mac = \"02:00:00:00:00:03\";"));
    struct quic_set *old = build(text, NULL);
    uint16_t slot_b = server(old, "b")->slot, slot_c = server(old, "c")->slot, slot_a = server(old, "a")->slot;
    server(old, "b")->mac = 0x060504030202;
    server(old, "b")->unhealthy = true;
    servers(text, sizeof text, SERVER(d, "") SERVER(c, "mac = \"02:00:00:00:00:04\";") SERVER(b, ""));
    struct quic_set *set = build(text, old);
    cr_expect_eq(server(set, "b")->slot, slot_b);
    cr_expect_eq(server(set, "c")->slot, slot_c);
    cr_expect_neq(server(set, "d")->slot, slot_a, "what is under way to a removed server is not counted as another's");
    cr_expect_eq(server(set, "b")->mac, 0x060504030202);
    cr_expect(server(set, "b")->unhealthy);
    uint64_t mac = server(set, "c")->mac;
    cr_expect_eq(memcmp(&mac, "\x02\x00\x00\x00\x00\x04", 6), 0);
    cr_expect_eq(memcmp(&set->service[0].hash_key, &old->service[0].hash_key, sizeof(struct flow_hash_key)), 0,
                 "4-tuples go where they went");
    quic_set_destroy(old);
    quic_set_destroy(set);
}

Test(quic_build, new_connections_go_to_servers_that_are_up_and_healthy)
{
    char text[1024];
    servers(text, sizeof text,
            SERVER(a, "") SERVER(b, "weight = 3;") SERVER(c, "state = \"drain\";") SERVER(d, "state = \"down\";"));
    struct quic_set *set = build(text, NULL), *again;
    double part = (double)share(&set->service[0], "b") / share(&set->service[0], "a");
    cr_expect(part > 2.9 && part < 3.1, "%f", part);
    cr_expect_eq(share(&set->service[0], "c"), 0);
    cr_expect_eq(share(&set->service[0], "d"), 0);
    server(set, "b")->unhealthy = true;
    cr_assert_eq(quic_set_again(&again, set), 0);
    quic_set_destroy(set);
    cr_expect_eq(share(&again->service[0], "a"), again->service[0].maglev->size);
    cr_expect(server(again, "b")->unhealthy);
    server(again, "a")->unhealthy = true;
    cr_assert_eq(quic_set_again(&set, again), 0);
    quic_set_destroy(again);
    cr_expect_gt(share(&set->service[0], "a"), 0, "none is healthy: probes may be wrong");
    cr_expect_gt(share(&set->service[0], "b"), 0);
    cr_expect_eq(share(&set->service[0], "c"), 0);
    quic_set_destroy(set);
    servers(text, sizeof text, SERVER(a, "state = \"drain\";"));
    set = build(text, NULL);
    cr_expect_null(set->service[0].maglev);
    quic_set_destroy(set);
}

/* Flow tables are made when workers start. */
Test(quic_build, flow_table_stays_as_it_is_over_a_reload)
{
    static const char with[] = PORT "quic: { web: { vip = \"203.0.113.10:443\"; flow-table = 64; }; };\n";
    static const char without[] = PORT "quic: { web: { vip = \"203.0.113.10:443\"; }; };\n";
    struct quic_set *old = build(with, NULL), *set = build(without, old);
    cr_expect(old->service[0].flow_table);
    cr_expect(set->service[0].flow_table, "flows that it knows still go where they went");
    quic_set_destroy(old);
    quic_set_destroy(set);
    old = build(without, NULL);
    set = build(with, old);
    cr_expect(!set->service[0].flow_table, "there is none to be used");
    quic_set_destroy(old);
    quic_set_destroy(set);
}

/* Nothing can be sent to a server before its MAC address is known: those of before go on alone until then. */
Test(quic_build, server_that_joins_gets_connections_once_the_way_to_it_is_known)
{
    char text[1024];
    servers(text, sizeof text, SERVER(a, "") SERVER(b, ""));
    struct quic_set *old = build(text, NULL), *again;
    cr_expect_gt(share(&old->service[0], "a"), 0, "at the start nothing is better known");
    cr_expect_gt(share(&old->service[0], "b"), 0);
    servers(text, sizeof text, SERVER(a, "") SERVER(b, "") SERVER(c, "") SERVER(d, "mac = \"02:00:00:00:00:04\";"));
    struct quic_set *set = build(text, old);
    cr_expect_eq(share(&set->service[0], "c"), 0);
    cr_expect_gt(share(&set->service[0], "d"), 0, "its address is configured");
    cr_expect_gt(share(&set->service[0], "a"), 0, "whose way was lost keeps what it had");
    quic_set_destroy(old);
    old = build(text, set);
    cr_expect_eq(share(&old->service[0], "c"), 0, "another reload does not make it known");
    quic_set_destroy(set);
    cr_assert(server(old, "c")->joining);
    server(old, "c")->joining = false;
    cr_assert_eq(quic_set_again(&again, old), 0);
    quic_set_destroy(old);
    cr_expect_gt(share(&again->service[0], "c"), 0);
    quic_set_destroy(again);
}

Test(quic_build, forwarders_with_one_hash_key_choose_alike)
{
    char one[1024], two[1024];
    const char *quic =
        "quic: { web: { vip = \"203.0.113.10:443\"; hash-key = \"000102030405060708090a0b0c0d0e0f\"; }; };";
    snprintf(one, sizeof one, PORT "%s quic-server: { " SERVER(a, "") SERVER(b, "") "};", quic);
    snprintf(two, sizeof two, PORT "%s quic-server: { " SERVER(b, "") SERVER(a, "") "};", quic);
    struct quic_set *x = build(one, NULL), *y = build(two, NULL);
    const struct quic_service *s = &x->service[0], *t = &y->service[0];
    for (uint32_t i = 0; i < 1000; i++) {
        struct flow_key key;
        const uint8_t src[4] = {192, 0, 2, (uint8_t)i}, dst[4] = {203, 0, 113, 10},
                      ports[4] = {(uint8_t)(i >> 8), 1, 1, 187};
        flow_key_tuple(&key, src, dst, 4, ports);
        uint16_t at_s = maglev_pick(s->maglev, flow_key_hash(&key, &s->hash_key));
        uint16_t at_t = maglev_pick(t->maglev, flow_key_hash(&key, &t->hash_key));
        cr_assert_str_eq(s->server[s->maglev_server[at_s]].name, t->server[t->maglev_server[at_t]].name);
    }
    quic_set_destroy(x);
    quic_set_destroy(y);
}

/* Operators count their servers: IDs that differ in their last octet alone must not all lead to one place. */
Test(quic_build, server_ids_that_are_counted_are_found_at_once)
{
    size_t size;
    char *text;
    FILE *out = open_memstream(&text, &size);
    fputs(PORT "quic: { web: { vip = \"203.0.113.10:443\"; }; };\nquic-server: {", out);
    for (unsigned i = 0; i < 250; i++)
        fprintf(out, "s%u: { service = \"web\"; address = \"10.0.0.%u\"; id = \"%016x\"; }; ", i, i + 1, i + 1);
    fputs("};\n", out);
    fclose(out);
    struct quic_set *set = build(text, NULL);
    const struct quic_service *web = &set->service[0];
    unsigned run = 0, longest = 0;
    for (uint32_t i = 0; i <= web->id_mask; i++) {
        run = web->id_slot[i] != 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    cr_expect_lt(longest, 12, "%u places in a row are taken", longest);
    for (unsigned i = 0; i < 250; i++) {
        struct quic_lb_id id = {.octets = {[7] = (uint8_t)(i + 1)}, .len = 8};
        cr_assert_eq(quic_service_server(web, &id), &web->server[i]);
    }
    quic_set_destroy(set);
    free(text);
}

Test(quic_build, nothing_configured_is_no_set)
{
    struct quic_set *set = build(PORT, NULL);
    cr_expect_null(set);
}

Test(quic_build, retry_is_switched_on_when_it_was_off)
{
    static const char keys[] = "1 000102030405060708090a0b0c0d0e0f 000102030405060708090a0b\n"
                               "\n# the one before\n127 8f95f09245765f80256934e50c66207f ffffffffffffffffffffffff\n";
    char text[1024];
    write_file(key_path, keys, 0600);
    snprintf(text, sizeof text,
             PORT "quic: { web: { vip = \"203.0.113.10:443\"; retry = \"on\"; retry-keys = \"%s\"; retry-lifetime = "
                  "\"1500ms\"; }; };\nquic-config: ( { service = \"web\"; id = 0; server-id-length = 3; nonce-length = "
                  "4; } );\n",
             key_path);
    struct quic_set *old = build(text, NULL);
    cr_expect_eq(old->service[0].retry_on_ns, 1000);
    cr_expect_eq(old->service[0].retry_lifetime_s, 2);
    cr_assert_eq(old->service[0].n_retry_keys, 2);
    cr_expect_eq(old->service[0].retry_key[0].sequence, 1);
    cr_expect_eq(old->service[0].retry_key[1].sequence, 127);
    cr_expect_eq(old->service[0].retry_key[1].key[0], 0x8f);
    cr_expect_eq(old->service[0].retry_key[1].iv[11], 0xff);
    old->service[0].retry_on_ns = 7;
    struct quic_set *set = build(text, old);
    cr_expect_eq(set->service[0].retry_on_ns, 7);
    quic_set_destroy(old);
    quic_set_destroy(set);
}

Test(quic_build, faulty_key_files_are_refused_with_their_line)
{
    static const struct {
        const char *text;
        unsigned mode;
        bool retry;
        const char *why;
    } cases[] = {
        {"8f95f09245765f80256934e50c66207f\n", 0640, false,
         ":1: may be used by its group or others (mode 0640); chmod 600"},
        {"8f95f09245765f80256934e50c66207f\n", 0604, false, ":1: may be used by its group or others (mode 0604)"},
        {"", 0600, false, ":1: has no key"},
        {"# nothing\n\n", 0600, false, ":1: has no key"},
        {"\n8f95f09245765f80256934e50c6620\n", 0600, false, ":2: is no key"},
        {"8f95f09245765f80256934e50c66207g\n", 0600, false, ":1: is no key"},
        {"8f95f09245765f80256934e50c66207f 1\n", 0600, false, ":1: is no key"},
        {"8f95f09245765f80256934e50c66207f\n\n00\n", 0600, false, ":3: is more than one key"},
        {"8f95f09245765f80256934e50c66207f\n", 0600, true, ":1: is no key"},
        {"128 000102030405060708090a0b0c0d0e0f 000102030405060708090a0b\n", 0600, true, ":1: is no key"},
        {"1 000102030405060708090a0b0c0d0e0f 00010203040506070809\n", 0600, true, ":1: is no key"},
        {"1 000102030405060708090a0b0c0d0e0f 000102030405060708090a0b\n"
         "1 000102030405060708090a0b0c0d0e0f 000102030405060708090a0b\n",
         0600, true, ":2: has sequence 1 a second time"},
        {"1 000102030405060708090a0b0c0d0e0f 000102030405060708090a0b\n"
         "2 000102030405060708090a0b0c0d0e0f ffffffffffffffffffffffff\n",
         0600, true, ":2: has the key of sequence 1; another is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct quic_retry_key keys[QUIC_RETRY_KEYS_MAX];
        uint8_t key[16] = {0};
        char err[KEY_FILE_ERR_MAX] = "";
        write_file(key_path, cases[i].text, cases[i].mode);
        int rc = cases[i].retry ? key_file_read_retry(key_path, keys, err) : key_file_read(key_path, key, err);
        cr_expect_eq(rc, -EINVAL, "%zu", i);
        cr_expect_eq(strncmp(err, key_path, strlen(key_path)), 0, "%s", err);
        cr_expect_not_null(strstr(err, cases[i].why), "%s", err);
        cr_expect_eq(key[0], 0);
    }
    char err[KEY_FILE_ERR_MAX];
    uint8_t key[16];
    cr_expect_eq(key_file_read(folder, key, err), -EINVAL);
    cr_expect_not_null(strstr(err, "is no file"), "%s", err);
    cr_expect_eq(key_file_read("/nowhere/key", key, err), -ENOENT);
    char *junk = malloc(8192);
    memset(junk, 'a', 8191);
    junk[8191] = '\0';
    write_file(key_path, junk, 0600);
    free(junk);
    cr_expect_eq(key_file_read(key_path, key, err), -EINVAL);
    cr_expect_not_null(strstr(err, "is too long"), "%s", err);
}

Test(quic_build, faults_of_key_files_name_the_line_of_the_configuration)
{
    char text[1024], *faults = NULL;
    size_t size;
    snprintf(text, sizeof text,
             PORT "quic: { web: { vip = \"203.0.113.10:443\";\nhash-key = \"%s\"; }; };\nquic-config: ( { service = "
                  "\"web\"; id = 0; server-id-length = 3; nonce-length = 4;\nkey-file = \"%s\"; } );\n",
             key_path, key_path);
    write_file(key_path, "no key\n", 0600);
    struct conf *conf = load(text);
    FILE *err = open_memstream(&faults, &size);
    struct quic_set *set = NULL;
    cr_expect_eq(quic_set_build(&set, conf, NULL, 0, err), -EINVAL);
    fclose(err);
    cr_expect_null(set);
    cr_expect_not_null(strstr(faults, "text:3: quic.web.hash-key: "), "%s", faults);
    cr_expect_not_null(strstr(faults, "text:5: quic-config.key-file: "), "%s", faults);
    free(faults);
    conf_free(conf);
}
