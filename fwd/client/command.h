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
#define COMMAND_ARGS_MAX    12

struct command_option {
    char letter;      /**< 0: has a long form only */
    const char *name; /**< without dashes; NULL ends a list */
    const char *arg;  /**< name of its argument; NULL: a switch */
    const char *help;
};

/** How an argument is given. */
enum command_arg_use {
    ARG_NAMED = 0,           /**< after its name */
    ARG_POSITIONAL = 1 << 0, /**< its name may be left out */
    ARG_REQUIRED = 1 << 1,
};

/** An argument in the way of nfdc: a word, mostly with a value behind it, as in `route add prefix /a cost 10`. */
struct command_arg {
    const char *name;  /**< NULL ends a list */
    const char *value; /**< name of its value; NULL: a switch */
    unsigned use;      /**< enum command_arg_use */
    const char *help;
};

/** Whom a command talks to, and so which options it has. */
enum command_peer {
    PEER_NONE = 0,
    PEER_TELEMETRY = 1 << 0,  /**< the daemon's telemetry socket */
    PEER_MANAGEMENT = 1 << 1, /**< the NFD management protocol over the local socket */
    PEER_BOTH = PEER_TELEMETRY | PEER_MANAGEMENT,
};

struct command_line;

struct command {
    const char *noun;
    const char *verb;    /**< NULL: the noun alone */
    bool by_default;     /**< the noun without a verb means this one */
    unsigned peers;      /**< enum command_peer */
    const char *operand; /**< name of its one operand; NULL: none; in brackets: optional */
    const char *help;    /**< one line */
    const char *text;    /**< paragraph for the manual page, NULL: none */
    const struct command_arg *args;
    const struct command_option *options;
    int (*run)(const struct command_line *line);
};

struct manager;

/** What the commands of one process share: an open link to management. Zeroed at the start. */
struct command_session {
    struct manager *manager;
    char config[1024]; /**< the options it was opened with */
};

/** A parsed command line. Strings are argv's. */
struct command_line {
    const struct command *command;
    const char *operand;
    const char *arg[COMMAND_ARGS_MAX]; /**< value of each of command->args, "" for a switch, NULL when absent */
    const struct command_option *option[2 * COMMAND_OPTIONS_MAX]; /**< as given, in order */
    const char *value[2 * COMMAND_OPTIONS_MAX];                   /**< argument, "" for a switch */
    unsigned n_options;
    FILE *out, *err;
    struct command_session *session;
};

/** All commands; the one with a NULL noun ends the table. */
extern const struct command command_table[];

/**
 * Parse a command line and run what it says. Output goes to @p out, complaints to @p err.
 *
 * @return enum command_exit
 */
int command_main(int argc, char **argv, FILE *out, FILE *err);

/** The same for one command (argv[0] is its first word) among several that share @p session. */
int command_run(int argc, char **argv, FILE *out, FILE *err, struct command_session *session);

/** Argument of an option by long name, the last one given; NULL when it was not given. */
const char *command_value(const struct command_line *line, const char *name);
static inline bool command_has(const struct command_line *line, const char *name)
{
    return command_value(line, name) != NULL;
}

/** Value of an argument by name, "" for a switch; NULL when it was not given. */
const char *command_arg(const struct command_line *line, const char *name);

/**
 * Argument of an option as a whole number between @p min and @p max, or @p value when it was not given. Complains on
 * stderr. @return 0 or -EINVAL, *number then untouched
 */
int command_number(const struct command_line *line, const char *name, uint64_t min, uint64_t max, uint64_t value,
                   uint64_t *number);

/** As command_number() for an argument. Complains on line->err. */
int command_arg_number(const struct command_line *line, const char *name, uint64_t min, uint64_t max, uint64_t value,
                       uint64_t *number);

/** As command_number() for a time: a number with us, ms or s; a bare number is milliseconds. In nanoseconds. */
int command_time(const struct command_line *line, const char *name, uint64_t min_ns, uint64_t max_ns, uint64_t value_ns,
                 uint64_t *time_ns);

/** Run functions of the help commands, made from the table. */
int command_run_help(const struct command_line *line);
int command_run_completion(const struct command_line *line);
int command_run_man(const struct command_line *line);

/** Options that every command has, and those of commands that talk to somebody (enum command_peer). */
extern const struct command_option command_common_options[];
extern const struct command_option command_json_options[];
extern const struct command_option command_telemetry_options[];
extern const struct command_option command_management_options[];

#define COMMAND_OPTION_LISTS 5
/** The lists of options that a command has; absent ones are NULL. */
void command_option_lists(const struct command *command, const struct command_option *lists[COMMAND_OPTION_LISTS]);

/** The command of these words; @p verb NULL: the one that the noun alone means. NULL when there is none. */
const struct command *command_find(const char *noun, const char *verb);

/** Usage line and options of one command. */
void command_print_usage(const struct command *command, FILE *out);

#endif
