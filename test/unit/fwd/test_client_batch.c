// SPDX-License-Identifier: Apache-2.0
/* Batches of commands: how their lines are split, and that they stop at the first that fails. */
#include "fwd/client/batch.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "test/unit/fwd/fake_nfd.h"

/** Write a batch and run it. */
static int run_batch(const char *text, char **out, char **err)
{
    char path[] = "/tmp/pitlane-test-XXXXXX", line[64];
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    snprintf(line, sizeof line, "-f %s", path);
    int status = run_line(line, out, err);
    unlink(path);
    return status;
}

Test(client_batch, a_batch_runs_line_by_line_over_one_connection_until_one_fails)
{
    static const struct fake_rule rules[] = {
        {.path = "strategy-choice/unset", .code = 200, .text = "OK"},
        {.path = "strategy-choice/set", .code = 404, .text = "Strategy not registered"},
        {.path = "cs/erase", .code = 200, .text = "OK", .body = {.has = MGMT_HAS_COUNT, .count = 0}},
        {0},
    };
    struct fake_nfd fake;
    char *out, *err;
    fake_nfd_start(&fake, rules);
    cr_expect_eq(run_batch("   # a comment\n\n  \"strategy\" unset '/x'\ncs \\\n  erase \"/a b\"\n"
                           "strategy set /A /s\ncs erase /never\n",
                           &out, &err),
                 COMMAND_FAILED);
    fake_nfd_stop(&fake);
    cr_expect_str_eq(out, "strategy-unset prefix=/x\ncs-erased prefix=/a%20b count=0 has-more=no\n");
    cr_expect_not_null(strstr(err, "Error 404 when setting strategy"), "%s", err);
    cr_expect_not_null(strstr(err, ":6: the command failed"), "%s", err);
    cr_expect_null(strstr(fake.log, "never"));
    free(out);
    free(err);
}

Test(client_batch, batches_that_cannot_be_read_are_told)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {{"", COMMAND_OK},
                 {"# only a comment", COMMAND_OK},
                 {"version 'without its end\n", COMMAND_USAGE},
                 {"frobnicate\n", COMMAND_USAGE},
                 {"-f other\n", COMMAND_USAGE},
                 {"completion", COMMAND_OK}};
    char *out, *err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(run_batch(cases[i].text, &out, &err), cases[i].status, "row %zu: %s", i, err);
        cr_expect_eq(err[0] == '\0', cases[i].status == COMMAND_OK, "row %zu: %s", i, err);
        free(out);
        free(err);
    }
    static char long_line[BATCH_LINE_MAX + 2];
    memset(long_line, 'a', sizeof long_line - 1);
    cr_expect_eq(run_batch(long_line, &out, &err), COMMAND_USAGE);
    free(out);
    free(err);
    cr_expect_eq(run_line("-f /nonexistent/batch", &out, &err), COMMAND_FAILED);
    free(out);
    free(err);
}

Test(client_batch, words_of_a_batch_are_split_as_in_a_shell)
{
    static const struct {
        const char *line;
        int n;
        const char *words[4];
    } cases[] = {
        {"a b\tc\n", 3, {"a", "b", "c"}},
        {"  'a b' \"c d\"e", 2, {"a b", "c de"}},
        {"a\\ b '\\' \"\\\"\"", 3, {"a b", "\\", "\""}},
        {"a # b", 1, {"a"}},
        {"a#b ''", 2, {"a#b", ""}},
        {"", 0, {0}},
        {"'a", -EINVAL, {0}},
        {"a b c d e", -EINVAL, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64], *words[4];
        strcpy(line, cases[i].line);
        int n = batch_split(line, words, 4);
        cr_expect_eq(n, cases[i].n, "row %zu: %d", i, n);
        for (int k = 0; k < n; k++)
            cr_expect_str_eq(words[k], cases[i].words[k], "row %zu", i);
    }
}
