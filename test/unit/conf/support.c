// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int load_text(const char *text, struct conf **conf, char **faults)
{
    size_t len;
    FILE *err = open_memstream(faults, &len);
    cr_assert_not_null(err);
    int error = conf_load_text("text", text, strlen(text), conf, err);
    fclose(err);
    return error;
}

int load_file(const char *path, struct conf **conf, char **faults)
{
    size_t len;
    FILE *err = open_memstream(faults, &len);
    cr_assert_not_null(err);
    int error = conf_load(path, conf, err);
    fclose(err);
    return error;
}

struct conf *load_good(const char *text)
{
    struct conf *conf = NULL;
    char *faults = NULL;
    int error = load_text(text, &conf, &faults);
    cr_assert_eq(error, 0, "refused: %s", faults);
    cr_assert_str_empty(faults);
    free(faults);
    return conf;
}

char *effective(const struct conf *conf)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    cr_assert_not_null(out);
    conf_print_effective(conf, out);
    fclose(out);
    return text;
}

char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    cr_assert_not_null(file, "%s", path);
    size_t room = 1 << 20;
    char *octets = malloc(room);
    cr_assert_not_null(octets);
    *len = fread(octets, 1, room - 1, file);
    octets[*len] = '\0';
    fclose(file);
    return octets;
}

void write_file(char path[512], const char *folder, const char *name, const char *octets, size_t len)
{
    snprintf(path, 512, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file, "%s", path);
    cr_assert_eq(fwrite(octets, 1, len, file), len);
    fclose(file);
}

void make_folder(char path[256])
{
    const char *base = getenv("TMPDIR");
    int len = snprintf(path, 240, "%s/pitlane-conf-", base != NULL ? base : "/tmp");
    cr_assert_lt(len, 240);
    memset(path + len, 'X', 6);
    path[len + 6] = '\0';
    cr_assert_not_null(mkdtemp(path));
}

void remove_folder(const char *path)
{
    DIR *dir = opendir(path);
    cr_assert_not_null(dir);
    struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        char name[600];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            cr_assert_eq(remove(name), 0);
    }
    closedir(dir);
    cr_assert_eq(rmdir(path), 0);
}
