// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/batch.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "fwd/client/command.h"

int batch_split(char *line, char **words, int max)
{
    int n = 0;
    const char *in = line;
    char *out = line;
    for (;;) {
        in += strspn(in, " \t\r\n");
        if (*in == '\0' || *in == '#')
            return n;
        if (n == max)
            return -EINVAL;
        char *word = out;
        char quote = '\0';
        for (; *in != '\0' && (quote != '\0' || strchr(" \t\r\n", *in) == NULL); in++) {
            if (*in == quote) {
                quote = '\0';
            } else if (quote == '\0' && (*in == '\'' || *in == '"')) {
                quote = *in;
            } else {
                // In single quotes a backslash is a character like any other.
                if (*in == '\\' && quote != '\'' && in[1] != '\0')
                    in++;
                *out++ = *in;
            }
        }
        if (quote != '\0')
            return -EINVAL;
        // The blank behind the word is where its end is written: step over it first.
        if (*in != '\0')
            in++;
        *out++ = '\0';
        words[n++] = word;
    }
}

/** Read a line with those that continue it. @return true when there is one; *ok false when it is too long */
static bool read_line(FILE *file, char *line, size_t size, unsigned *number, bool *ok)
{
    size_t len = 0;
    *ok = true;
    while (fgets(line + len, (int)(size - len), file) != NULL) {
        len += strlen(line + len);
        bool whole = len > 0 && line[len - 1] == '\n';
        if (whole)
            ++*number;
        if (!whole && !feof(file)) {
            *ok = false;
            return true;
        }
        if (!whole || len < 2 || line[len - 2] != '\\')
            return true;
        len -= 2;
        line[len] = '\0';
    }
    return len > 0;
}

int batch_run(const char *path, FILE *out, FILE *err, struct command_session *session)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "r");
    if (file == NULL) {
        fprintf(err, "pitlane: %s: %s\n", path, strerror(errno));
        return COMMAND_FAILED;
    }
    char line[BATCH_LINE_MAX];
    char *words[BATCH_WORDS_MAX];
    unsigned number = 0;
    int status = COMMAND_OK;
    bool ok;
    while (status == COMMAND_OK && read_line(file, line, sizeof line, &number, &ok)) {
        int n = ok ? batch_split(line, words, BATCH_WORDS_MAX) : -EINVAL;
        if (n < 0) {
            fprintf(err, "pitlane: %s:%u: a quote without its end, or too long a line\n", path, number);
            status = COMMAND_USAGE;
        } else if (n > 0) {
            status = command_run(n, words, out, err, session);
            if (status != COMMAND_OK)
                fprintf(err, "pitlane: %s:%u: the command failed; what follows was not run\n", path, number);
        }
    }
    if (!is_stdin)
        fclose(file);
    return status;
}
