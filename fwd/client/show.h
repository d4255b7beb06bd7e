// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_SHOW_H
#define FWD_CLIENT_SHOW_H

#include <jansson.h>
#include <stdbool.h>

#include "fwd/client/tel.h"
#include "fwd/client/text_table.h"

struct command_line;

/*
 * Commands that read the daemon's state over its telemetry socket. Each prints an aligned table, or with -j one JSON
 * document. @return enum command_exit
 */
int show_ports(const struct command_line *line);
int show_workers(const struct command_line *line);
int show_drops(const struct command_line *line);
int show_sockets(const struct command_line *line);
int show_pit(const struct command_line *line);

/** Ask the telemetry socket, an object or, with @p rows, an array. @return NULL with the reason in @p err */
json_t *show_ask(const struct command_line *line, const char *command, bool rows, char err[TEL_ERR]);

/** How the lists are shown that management has a part in, too. */
extern const struct text_column show_status_columns[], show_cs_columns[];

#endif
