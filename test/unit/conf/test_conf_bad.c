// SPDX-License-Identifier: Apache-2.0
/* Faulty files as data: bad/NAME.cfg must be refused with exactly the messages of bad/NAME.err. */
#include "support.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_faulty(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 4 && strcmp(entry->d_name + len - 4, ".cfg") == 0;
}

/* The messages with the folder of the file taken out, and of the files it includes. */
static char *without_folder(const char *faults)
{
    char *plain = calloc(1, strlen(faults) + 1), *to = plain;
    cr_assert_not_null(plain);
    size_t len = strlen(BAD_FOLDER "/");
    while (*faults != '\0') {
        if (strncmp(faults, BAD_FOLDER "/", len) == 0)
            faults += len;
        else
            *to++ = *faults++;
    }
    return plain;
}

Test(conf_bad, every_faulty_file_is_refused_with_its_messages)
{
    struct dirent **entries;
    int n = scandir(BAD_FOLDER, &entries, is_faulty, alphasort);
    cr_assert_geq(n, 60);
    for (int i = 0; i < n; i++) {
        char path[600], expected_path[600];
        snprintf(path, sizeof path, "%s/%s", BAD_FOLDER, entries[i]->d_name);
        snprintf(expected_path, sizeof expected_path, "%.*s.err", (int)strlen(path) - 4, path);
        size_t len;
        char *expected = read_file(expected_path, &len), *faults = NULL;
        struct conf untouched, *conf = &untouched;
        int error = load_file(path, &conf, &faults);
        char *plain = without_folder(faults);
        cr_expect_eq(error, -EINVAL, "%s: %d", path, error);
        cr_expect_eq(conf, &untouched, "%s: the result was written", path);
        cr_expect_str_eq(plain, expected, "%s", path);
        cr_expect_gt(len, 0, "%s says nothing", expected_path);
        free(plain);
        free(faults);
        free(expected);
        free(entries[i]);
    }
    free(entries);
}

/* Every line is "FILE:LINE: text", or the source line under it. */
Test(conf_bad, every_message_names_file_and_line)
{
    struct dirent **entries;
    int n = scandir(BAD_FOLDER, &entries, is_faulty, alphasort);
    cr_assert_geq(n, 60);
    for (int i = 0; i < n; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", BAD_FOLDER, entries[i]->d_name);
        char *faults = NULL;
        struct conf *conf = NULL;
        cr_assert_neq(load_file(path, &conf, &faults), 0);
        char *save = NULL;
        for (char *line = strtok_r(faults, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save)) {
            if (strncmp(line, "    ", 4) == 0)
                continue;
            char *end = NULL;
            const char *colon = strchr(line, ':');
            cr_assert_not_null(colon, "%s", line);
            cr_expect_eq(strncmp(line, BAD_FOLDER "/", strlen(BAD_FOLDER "/")), 0, "%s", line);
            cr_expect_gt(strtoul(colon + 1, &end, 10), 0, "%s", line);
            cr_expect_eq(strncmp(end, ": ", 2), 0, "%s", line);
        }
        free(faults);
        free(entries[i]);
    }
    free(entries);
}

Test(conf_bad, faults_are_not_written_without_a_file)
{
    struct conf *conf = NULL;
    cr_expect_eq(conf_load(BAD_FOLDER "/many-faults.cfg", &conf, NULL), -EINVAL);
    cr_expect_null(conf);
}
