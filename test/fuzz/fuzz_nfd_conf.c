// SPDX-License-Identifier: Apache-2.0
/*
 * Any octets as an nfd.conf. What is read must be read the same when it is written again, each key and value in
 * quotes; what is imported must be a configuration; what is refused must say why.
 */
#include "fwd/client/import.h"
#include "fwd/client/import_info.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "broken: %s\n", what);
        abort();
    }
}

static FILE *memory(char **text, size_t *len)
{
    FILE *file = open_memstream(text, len);
    require(file != NULL, "memory");
    return file;
}

static void write_string(const char *text, FILE *out)
{
    static const char special[] = "\a\b\f\n\r\t\v\"\\", letters[] = "abfnrtv\"\\";
    putc('"', out);
    for (; *text != '\0'; text++) {
        const char *at = strchr(special, *text);
        if (at != NULL)
            fprintf(out, "\\%c", letters[at - special]);
        else
            putc(*text, out);
    }
    putc('"', out);
}

static void write_tree(const struct info_node *node, FILE *out)
{
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        write_string(child->key, out);
        putc(' ', out);
        write_string(child->value, out);
        fputs("\n{\n", out);
        write_tree(child, out);
        fputs("}\n", out);
    }
}

static char *rewrite(const struct info *info, size_t *len)
{
    char *text = NULL;
    FILE *out = memory(&text, len);
    write_tree(info_root(info), out);
    fclose(out);
    return text;
}

static void try_import(const char *text, size_t len)
{
    char *conf = NULL, *report = NULL, *faults = NULL;
    size_t conf_len, report_len, faults_len;
    FILE *out = memory(&conf, &conf_len), *said = memory(&report, &report_len), *err = memory(&faults, &faults_len);
    int error = import_nfd_conf_text("fuzz", text, len, out, said, err);
    fclose(out);
    fclose(said);
    fclose(err);
    require(error == 0 ? faults_len == 0 || strstr(faults, "warning") != NULL : faults_len > 0, "no word of a fault");
    require(error == 0 || conf_len == 0, "a configuration in spite of faults");
    struct conf *loaded;
    if (error == 0) {
        require(conf_load_text("new", conf, conf_len, &loaded, stderr) == 0, "what was imported is no configuration");
        conf_free(loaded);
    }
    free(conf);
    free(report);
    free(faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct info *info, *again;
    char *faults = NULL;
    size_t faults_len = 0, len, again_len;
    // Other files are not what is tried here.
    if (memmem(data, size, "include", 7) != NULL)
        return 0;
    FILE *err = memory(&faults, &faults_len);
    int error = info_load_text("fuzz", (const char *)data, size, &info, err);
    fclose(err);
    if (error != 0) {
        require(faults_len > 0 && strncmp(faults, "fuzz:", 5) == 0, "refused without a reason");
    } else {
        char *text = rewrite(info, &len);
        require(info_load_text("again", text, len, &again, stderr) == 0, "what was read is refused");
        char *again_text = rewrite(again, &again_len);
        require(len == again_len && memcmp(text, again_text, len) == 0, "what was read changes");
        free(text);
        free(again_text);
        info_free(info);
        info_free(again);
        try_import((const char *)data, size);
    }
    free(faults);
    return 0;
}
