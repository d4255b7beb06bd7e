// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_SHOW_H
#define FWD_CLIENT_SHOW_H

struct command_line;

/*
 * Commands that read the daemon's state over its telemetry socket. Each prints an aligned table, or with -j one JSON
 * document. @return enum command_exit
 */
int show_status(const struct command_line *line);
int show_ports(const struct command_line *line);
int show_faces(const struct command_line *line);
int show_routes(const struct command_line *line);
int show_strategies(const struct command_line *line);
int show_workers(const struct command_line *line);
int show_drops(const struct command_line *line);
int show_pit(const struct command_line *line);
int show_cs(const struct command_line *line);

#endif
