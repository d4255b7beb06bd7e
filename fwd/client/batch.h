// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_BATCH_H
#define FWD_CLIENT_BATCH_H

#include <stdio.h>

struct command_session;

/** Most octets of a line and most words on it, with the lines that continue it. */
#define BATCH_LINE_MAX  16384
#define BATCH_WORDS_MAX 128

/**
 * Run the commands of a file, one a line, until one fails; "-" is stdin. A line is written as for a shell: words in
 * single or double quotes, a backslash before a character or at the end of a line that goes on, # for a comment.
 *
 * @return enum command_exit: of the command that failed, COMMAND_USAGE for a line that cannot be read
 */
int batch_run(const char *path, FILE *out, FILE *err, struct command_session *session);

/**
 * Split a line into words, in place. @return their number, or -EINVAL for a quote that does not end or more than
 * @p max words
 */
int batch_split(char *line, char **words, int max);

#endif
