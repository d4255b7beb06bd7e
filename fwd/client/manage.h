// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_MANAGE_H
#define FWD_CLIENT_MANAGE_H

struct command_line;

/*
 * Commands of the NFD management protocol. Each writes its result to line->out as nfdc does (one line of KEY=VALUE for
 * a change, an aligned table for a list), or with -j as one JSON document, and complaints to line->err.
 *
 * @return enum command_exit
 */
int face_show(const struct command_line *line);
int face_create(const struct command_line *line);
int face_update(const struct command_line *line);
int face_destroy(const struct command_line *line);
int channel_list(const struct command_line *line);
int route_show(const struct command_line *line);
int route_add(const struct command_line *line);
int route_remove(const struct command_line *line);
int fib_list(const struct command_line *line);
int cs_config(const struct command_line *line);
int cs_erase(const struct command_line *line);
int strategy_show(const struct command_line *line);
int strategy_set(const struct command_line *line);
int strategy_unset(const struct command_line *line);
int status_report(const struct command_line *line);

/*
 * Commands that ask both management, for what every NFD tells, and the telemetry socket, for what only pitlaned has.
 * One of the two is enough.
 */
int status_show(const struct command_line *line);
int face_list(const struct command_line *line);
int route_list(const struct command_line *line);
int strategy_list(const struct command_line *line);
int cs_info(const struct command_line *line);

#endif
