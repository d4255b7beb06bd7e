// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_COMMAND_H
#define FWD_CLIENT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The commands of `pitlane`, one table: it drives the parsing of the command line, the help, the completion of the
 * shell and the manual page. Single-threaded.
 */

/** Exit codes, as for every command of the house. */
enum command_exit { COMMAND_OK = 0, COMMAND_FAILED = 1, COMMAND_USAGE = 2 };

#define COMMAND_OPTIONS_MAX 16

struct command_option {
    char letter;      /**< 0: has a long form only */
    const char *name; /**< without dashes; NULL ends a list */
    const char *arg;  /**< name of its argument; NULL: a switch */
    const char *help;
};

struct command_line;

struct command {
    const char *noun;
    const char *verb;    /**< NULL: the noun alone */
    const char *operand; /**< name of its one operand; NULL: none; in brackets: optional */
    const char *help;    /**< one line */
    const char *text;    /**< paragraph for the manual page, NULL: none */
    bool local;          /**< does not talk to the daemon: has no --socket and the like */
    const struct command_option *options;
    int (*run)(const struct command_line *line);
};

/** A parsed command line. Strings are argv's. */
struct command_line {
    const struct command *command;
    const char *operand;
    const struct command_option *option[2 * COMMAND_OPTIONS_MAX]; /**< as given, in order */
    const char *value[2 * COMMAND_OPTIONS_MAX];                   /**< argument, "" for a switch */
    unsigned n_options;
    FILE *out;
};

/** All commands; the one with a NULL noun ends the table. */
extern const struct command command_table[];

/**
 * Parse a command line and run what it says. Output goes to @p out, complaints to @p err.
 *
 * @return enum command_exit
 */
int command_main(int argc, char **argv, FILE *out, FILE *err);

/** Argument of an option by long name, the last one given; NULL when it was not given. */
const char *command_value(const struct command_line *line, const char *name);
static inline bool command_has(const struct command_line *line, const char *name)
{
    return command_value(line, name) != NULL;
}

/**
 * Argument of an option as a whole number between @p min and @p max, or @p value when it was not given. Complains on
 * stderr. @return 0 or -EINVAL, *number then untouched
 */
int command_number(const struct command_line *line, const char *name, uint64_t min, uint64_t max, uint64_t value,
                   uint64_t *number);

/** As command_number() for a time: a number with us, ms or s; a bare number is milliseconds. In nanoseconds. */
int command_time(const struct command_line *line, const char *name, uint64_t min_ns, uint64_t max_ns, uint64_t value_ns,
                 uint64_t *time_ns);

/** Run functions of the help commands, made from the table. */
int command_run_help(const struct command_line *line);
int command_run_completion(const struct command_line *line);
int command_run_man(const struct command_line *line);

/** Options that every command has, and those of commands that ask the daemon. */
extern const struct command_option command_common_options[];
extern const struct command_option command_daemon_options[];

/** The command of one or two words; NULL when there is none. */
const struct command *command_find(const char *noun, const char *verb);

/** Usage line and options of one command. */
void command_print_usage(const struct command *command, FILE *out);

#endif
