// SPDX-License-Identifier: Apache-2.0
/* Texts that are too large, too deep or too many, generated here; each must be refused quickly. */
#include "conf/faults.h"
#include "conf/number.h"
#include "conf/text.h"
#include "support.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A text that is built up piece by piece. */
struct builder {
    char *text;
    size_t len;
    FILE *out;
};

static void start(struct builder *b)
{
    b->out = open_memstream(&b->text, &b->len);
    cr_assert_not_null(b->out);
}

static int finish(struct builder *b, struct conf **conf, char **faults)
{
    size_t len;
    fclose(b->out);
    FILE *err = open_memstream(faults, &len);
    cr_assert_not_null(err);
    int error = conf_load_text("text", b->text, b->len, conf, err);
    fclose(err);
    free(b->text);
    return error;
}

static void expect_refused(struct builder *b, const char *reason)
{
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(finish(b, &conf, &faults), -EINVAL, "%s", reason);
    cr_expect_null(conf);
    cr_expect_not_null(strstr(faults, reason), "\"%s\" is not in: %.500s", reason, faults);
    free(faults);
}

static void repeat(struct builder *b, const char *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fputs(text, b->out);
}

Test(conf_limits, token_of_megabytes_is_refused)
{
    static const char *const starts[] = {"daemon: { user = \"", "pit: { capacity = ", "", "a = "};
    static const char *const reasons[] = {"is too long; at most 4096", "is too large", "is too long; at most 64",
                                          "is not a value"};
    static const char fill[] = "x1yz";
    for (size_t i = 0; i < 4; i++) {
        struct builder b;
        start(&b);
        fputs(starts[i], b.out);
        for (unsigned k = 0; k < 4 << 20; k++)
            putc(i == 1 ? '9' : fill[0], b.out);
        fputs(i == 0 ? "\"; };" : i == 1 ? "; };" : " = 1;", b.out);
        expect_refused(&b, reasons[i]);
    }
}

Test(conf_limits, text_over_the_limit_is_refused)
{
    struct builder b;
    start(&b);
    repeat(&b, "# a comment that fills the file with nothing at all, line after line\n", CONF_TEXT_MAX / 64);
    expect_refused(&b, "is larger than 16 MB");
}

Test(conf_limits, file_over_the_limit_is_refused)
{
    char folder[256], path[512], big[512];
    make_folder(folder);
    char *octets = malloc(CONF_TEXT_MAX);
    cr_assert_not_null(octets);
    memset(octets, ' ', CONF_TEXT_MAX);
    write_file(big, folder, "big.conf", octets, CONF_TEXT_MAX);
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(load_file(big, &conf, &faults), -EINVAL);
    cr_expect_not_null(strstr(faults, "has no settings"), "%s", faults);
    free(faults);
    // Together they are too large.
    const char outer[] = "@include \"big.conf\"\n@include \"big.conf\"\npit: { };\n";
    write_file(path, folder, "outer.conf", outer, strlen(outer));
    cr_expect_eq(load_file(path, &conf, &faults), -EINVAL);
    cr_expect_not_null(strstr(faults, "all files together are larger than 16 MB"), "%s", faults);
    free(faults);
    FILE *file = fopen(big, "ab");
    fputs("more", file);
    fclose(file);
    cr_expect_eq(load_file(big, &conf, &faults), -EINVAL);
    cr_expect_not_null(strstr(faults, "big.conf:1: is larger than 16 MB"), "%s", faults);
    free(faults);
    free(octets);
    remove_folder(folder);
}

Test(conf_limits, line_of_a_megabyte_is_read)
{
    struct builder b;
    start(&b);
    fputs("pit: { ", b.out);
    repeat(&b, "/* one long line */ ", 60000);
    fputs("capacity = 4096; }; # ", b.out);
    repeat(&b, "and on", 1000);
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_assert_eq(finish(&b, &conf, &faults), 0, "%s", faults);
    cr_expect_eq(conf->pit.capacity, 4096);
    conf_free(conf);
    free(faults);
}

Test(conf_limits, ten_thousand_braces_are_refused)
{
    static const char *const opens[] = {"a: { ", "( ", "[ ", "{ "};
    for (size_t i = 0; i < 4; i++) {
        struct builder b;
        start(&b);
        if (i > 0)
            fputs("a = ", b.out);
        repeat(&b, opens[i], 10000);
        expect_refused(&b, i == 2   ? "is not allowed in an array"
                           : i == 3 ? "the name of a setting is missing"
                                    : "nested too deeply; at most 8 deep");
    }
}

Test(conf_limits, includes_of_depth_100_are_refused)
{
    char folder[256], path[512] = "";
    make_folder(folder);
    for (int i = 100; i >= 0; i--) {
        char name[20], text[60];
        snprintf(name, sizeof name, "%d.conf", i);
        snprintf(text, sizeof text, "@include \"%d.conf\"\nd%d: { };\n", i + 1, i);
        write_file(path, folder, name, text, strlen(text));
    }
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(load_file(path, &conf, &faults), -EINVAL);
    cr_expect_not_null(strstr(faults, "/7.conf:1: files include one another too deeply; at most 8 deep"), "%s", faults);
    free(faults);
    // Many beside one another are refused too, for opening files is what takes long.
    struct builder b;
    start(&b);
    repeat(&b, "@include \"101.conf\"\n", 100);
    fclose(b.out);
    write_file(path, folder, "101.conf", "# nothing\n", 10);
    write_file(path, folder, "many.conf", b.text, b.len);
    free(b.text);
    cr_expect_eq(load_file(path, &conf, &faults), -EINVAL);
    cr_expect_not_null(strstr(faults, "many.conf:64: "), "%s", faults);
    cr_expect_not_null(strstr(faults, "is one file too many; at most 63 files may be included"), "%s", faults);
    free(faults);
    remove_folder(folder);
}

Test(conf_limits, path_of_an_include_is_bounded)
{
    char folder[256], path[512];
    make_folder(folder);
    for (unsigned len = 4090; len <= 4096; len += 6) {
        struct builder b;
        start(&b);
        fputs("@include \"", b.out);
        repeat(&b, "x", len);
        fputs("\"\npit: { };\n", b.out);
        fclose(b.out);
        write_file(path, folder, "a.conf", b.text, b.len);
        free(b.text);
        struct conf *conf = NULL;
        char *faults = NULL;
        cr_expect_eq(load_file(path, &conf, &faults), -EINVAL);
        cr_expect_not_null(strstr(faults, len == 4090 ? "path of the included file is too long" : "is malformed"),
                           "%.200s", faults);
        free(faults);
    }
    remove_folder(folder);
}

Test(conf_limits, sixteen_thousand_faces_load)
{
    struct builder b;
    start(&b);
    fputs("port: { e: { netdev = \"e\"; }; };\nface: {\n", b.out);
    for (unsigned i = 0; i < CONF_FACES_MAX; i++)
        fprintf(b.out, "f%u: { port = \"e\"; remote = \"ether://[02:00:00:00:%02x:%02x]\"; };\n", i, i >> 8, i & 0xFF);
    fputs("};\nroute = (\n", b.out);
    for (unsigned i = 0; i < 50000; i++)
        fprintf(b.out, "{ prefix = \"/r/%u\"; face = \"f%u\"; },\n", i, i % CONF_FACES_MAX);
    fputs(");\n", b.out);
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_assert_eq(finish(&b, &conf, &faults), 0, "%.500s", faults);
    cr_expect_eq(conf->n_faces, CONF_FACES_MAX);
    cr_expect_eq(conf->n_routes, 50000);
    cr_expect_eq(conf->route[49999].face, 49999 % CONF_FACES_MAX);
    conf_free(conf);
    free(faults);
}

Test(conf_limits, too_many_settings_are_refused)
{
    struct builder b;
    start(&b);
    fputs("face: {\n", b.out);
    for (unsigned i = 0; i < CONF_FACES_MAX + 1; i++)
        fprintf(b.out, "f%u: { };\n", i);
    fputs("};\n", b.out);
    expect_refused(&b, "too many settings in one group; at most 16000");
    start(&b);
    fputs("pit: {\n", b.out);
    for (unsigned i = 0; i < 129; i++)
        fprintf(b.out, "k%u = 1;\n", i);
    fputs("};\n", b.out);
    expect_refused(&b, "text:130: too many settings in one group; at most 128");
    start(&b);
    fputs("port: {\n", b.out);
    for (unsigned i = 0; i < CONF_PORTS_MAX + 1; i++)
        fprintf(b.out, "p%u: { netdev = \"e%u\"; };\n", i, i);
    fputs("};\n", b.out);
    expect_refused(&b, "port: has 63 items; at most 62 are allowed");
    start(&b);
    fputs("a = [\n", b.out);
    repeat(&b, "1,", 1000001);
    fputs("1 ];\n", b.out);
    expect_refused(&b, "too many elements in one list; at most 1000000");
}

Test(conf_limits, thousands_of_faults_are_counted)
{
    struct builder b;
    start(&b);
    fputs("port: { e: { netdev = \"e\"; }; };\nroute = (\n", b.out);
    repeat(&b, "{ prefix = \"/a\"; face = \"nobody\"; },\n", 3000);
    fputs(");\n", b.out);
    struct conf *conf = NULL;
    char *faults = NULL;
    cr_expect_eq(finish(&b, &conf, &faults), -EINVAL);
    cr_expect_not_null(strstr(faults, "text:1: 2000 more faults are not shown\n"));
    unsigned lines = 0;
    for (const char *p = faults; *p != '\0'; p++)
        lines += *p == '\n';
    cr_expect_eq(lines, FAULTS_MAX + 1);
    free(faults);
    start(&b);
    repeat(&b, "pit: { };\n", 120);
    for (unsigned i = 0; i < 1200; i++)
        fprintf(b.out, "a b;\n");
    expect_refused(&b, "more faults are not shown");
}

Test(conf_limits, flood_of_faults_in_one_line_is_refused)
{
    struct builder b;
    start(&b);
    repeat(&b, ";", 1 << 20);
    expect_refused(&b, "text:1: 1047576 more faults are not shown\n");
}

Test(conf_limits, tables_larger_than_the_host_are_refused)
{
    struct builder b;
    start(&b);
    fputs("workers: { count = 64; };\n\npit: {\n    capacity = \"16m\"; dead-nonce-capacity = \"64m\"; };\n"
          "cs: { capacity = \"16m\"; };\n",
          b.out);
    expect_refused(&b, "text:4: pit.capacity: tables of 64 workers and packet buffers take at least ");
}

Test(conf_limits, random_damage_to_a_good_file_is_survived)
{
    size_t len;
    char *good = read_file(SHIPPED_FOLDER "/examples/pci.conf", &len), *damaged = malloc(len);
    cr_assert_not_null(damaged);
    uint64_t random = 42;
    for (unsigned i = 0; i < 3000; i++) {
        memcpy(damaged, good, len);
        for (unsigned k = 0; k < 1 + i % 5; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            damaged[(random >> 33) % len] = " {}()[];,=\"\\#/*@0a-.\n"[(random >> 20) % 22];
        }
        struct conf *conf = NULL;
        char *faults = NULL;
        size_t faults_len;
        FILE *err = open_memstream(&faults, &faults_len);
        int error = conf_load_text("text", damaged, len - (i % 7), &conf, err);
        fclose(err);
        cr_expect_eq(error == 0, conf != NULL);
        cr_expect(error == 0 || (error == -EINVAL && strncmp(faults, "text:", 5) == 0), "%s", faults);
        conf_free(conf);
        free(faults);
    }
    free(good);
    free(damaged);
}

Test(conf_limits, numbers_are_written_as_they_are_read)
{
    static const struct {
        enum schema_type type;
        const char *text, *written;
        int64_t value;
    } numbers[] = {
        {SCHEMA_COUNT, "64k", "65536", 65536},
        {SCHEMA_COUNT, "2 MiB", "2097152", 2 << 20},
        {SCHEMA_SIZE, "64k", "64k", 65536},
        {SCHEMA_SIZE, "1025", "1025", 1025},
        {SCHEMA_SIZE, "3g", "3g", INT64_C(3) << 30},
        {SCHEMA_SIZE, "0", "0", 0},
        {SCHEMA_TIME_US, "50us", "50us", 50},
        {SCHEMA_TIME_US, "10000us", "10ms", 10000},
        {SCHEMA_TIME_US, "0", "0us", 0},
        {SCHEMA_TIME_MS, "4s", "4s", 4000},
        {SCHEMA_TIME_MS, "2min", "2min", 120000},
        {SCHEMA_TIME_MS, "1500ms", "1500ms", 1500},
        {SCHEMA_REAL, "25%", "0.25", 250000},
        {SCHEMA_REAL, "0.5%", "0.005", 5000},
        {SCHEMA_REAL, "1.000001", "1.000001", 1000001},
        {SCHEMA_REAL, "2.00000049999999999", "2.0", 2000000},
        {SCHEMA_REAL, "-1.5", "-1.5", -1500000},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int64_t value = 0;
        char why[200], text[NUMBER_MAX];
        bool good = number_parse(numbers[i].type, numbers[i].text, &value, why, sizeof why);
        // The sign belongs to the whole number, fractions of negative numbers are not used.
        cr_expect(good, "%s: %s", numbers[i].text, why);
        if (numbers[i].value >= 0)
            cr_expect_eq(value, numbers[i].value, "%s", numbers[i].text);
        number_format(numbers[i].type, numbers[i].value, text);
        cr_expect_str_eq(text, numbers[i].written);
    }
    static const char *const bad[] = {"", "k", "-", "1 2", "1kk", "1.5", "0x10", " 1", "1e3", "++1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value = 7;
        char why[200];
        cr_expect_not(number_parse(SCHEMA_SIZE, bad[i], &value, why, sizeof why), "%s", bad[i]);
        cr_expect_eq(value, 7);
    }
}

static const char *word_at(const void *words, size_t i)
{
    return ((const char *const *)words)[i];
}

Test(conf_limits, nearest_word_is_the_likely_one)
{
    static const char *const words[] = {"capacity", "capacity-max", "policy", "mtu", "a"};
    static const struct {
        const char *word, *near;
    } cases[] = {{"capcity", "capacity"},
                 {"cpaacity", "capacity"},
                 {"capacitymax", "capacity-max"},
                 {"polcy", "policy"},
                 {"mtuu", "mtu"},
                 {"tmu", "mtu"},
                 {"xyz", NULL},
                 {"", NULL},
                 {"something-else", NULL},
                 {"b", NULL},
                 {"capacity", "capacity"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *near = faults_nearest(cases[i].word, word_at, words, 5);
        if (cases[i].near == NULL)
            cr_expect_null(near, "%s: %s", cases[i].word, near);
        else
            cr_expect_str_eq(near != NULL ? near : "", cases[i].near, "%s", cases[i].word);
    }
}
