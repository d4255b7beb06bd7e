// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_IMPORT_H
#define FWD_CLIENT_IMPORT_H

#include <stdio.h>

#include "fwd/client/command.h"

/*
 * `pitlane import-nfd-conf`: turns the configuration of NFD into one of pitlaned, and says for each key what became of
 * it: taken, no effect, or to be done by hand.
 */

extern const struct command_option import_options[];
int import_run(const struct command_line *line);

/**
 * Import @p path: the configuration goes to @p out, what became of each key to @p report, faults to @p err as
 * "FILE:LINE: reason". Nothing is written to @p out when there is a fault.
 *
 * @return 0; -EINVAL with a fault; another negative errno when the file cannot be read
 */
int import_nfd_conf(const char *path, FILE *out, FILE *report, FILE *err);
/** The same of @p len octets that messages call @p name. */
int import_nfd_conf_text(const char *name, const char *text, size_t len, FILE *out, FILE *report, FILE *err);

#endif
