// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_QUIC_H
#define FWD_CLIENT_QUIC_H

struct command_line;

/* `pitlane quic ...`: what the daemon tells of QUIC services. @return enum command_exit */
int quic_list(const struct command_line *line);
int quic_show(const struct command_line *line);
/** Decisions of the daemon for a datagram. */
int quic_explain_run(const struct command_line *line);
/** Make a connection ID, or take one apart, by a configuration file or options alone. */
int quic_cid_run(const struct command_line *line);

#endif
