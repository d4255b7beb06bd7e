// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_LOG_H
#define FWD_DAEMON_LOG_H

#include <stdbool.h>

#include <rte_log.h>

/*
 * The daemon's log: DPDK's, under a type of its own, on stderr or a file. Control threads only; workers never log.
 */
extern int log_type;

#define log_error(...)   rte_log(RTE_LOG_ERR, (uint32_t)log_type, "pitlaned: error: " __VA_ARGS__)
#define log_warning(...) rte_log(RTE_LOG_WARNING, (uint32_t)log_type, "pitlaned: warning: " __VA_ARGS__)
#define log_info(...)    rte_log(RTE_LOG_INFO, (uint32_t)log_type, "pitlaned: " __VA_ARGS__)

/**
 * Begin logging: DPDK's own messages follow the same level. @p file NULL: stderr.
 *
 * @param level 0 error, 1 warning, 2 info, 3 debug
 * @return 0, or a negative errno when the file cannot be opened
 */
int log_open(const char *file, int level);
/** Change the level, and that of DPDK's messages with it. */
void log_set_level(int level);
/** Log the lines of a text, each as an error, or as a warning. */
void log_lines(char *text, bool error);

#endif
