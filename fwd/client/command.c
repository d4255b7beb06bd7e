// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/client/batch.h"
#include "fwd/client/manager.h"

const struct command *command_find(const char *noun, const char *verb)
{
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        if (strcmp(c->noun, noun) != 0)
            continue;
        if (c->verb == NULL || (verb != NULL ? strcmp(c->verb, verb) == 0 : c->by_default))
            return c;
    }
    return NULL;
}

void command_option_lists(const struct command *command, const struct command_option *lists[COMMAND_OPTION_LISTS])
{
    lists[0] = command->options;
    lists[1] = command->peers != PEER_NONE ? command_json_options : NULL;
    lists[2] = (command->peers & PEER_MANAGEMENT) != 0 ? command_management_options : NULL;
    lists[3] = (command->peers & PEER_TELEMETRY) != 0 ? command_telemetry_options : NULL;
    lists[4] = command_common_options;
}

static const struct command_option *find_option(const struct command *command, char letter, const char *name,
                                                size_t len)
{
    const struct command_option *lists[COMMAND_OPTION_LISTS];
    command_option_lists(command, lists);
    for (size_t i = 0; i < COMMAND_OPTION_LISTS; i++) {
        for (const struct command_option *o = lists[i]; o != NULL && o->name != NULL; o++) {
            if (letter != 0 ? o->letter == letter : strlen(o->name) == len && memcmp(o->name, name, len) == 0)
                return o;
        }
    }
    return NULL;
}

/** Take the option that argv[*i] begins with, and its argument. */
static int parse_option(struct command_line *line, int argc, char **argv, int *i)
{
    const char *arg = argv[*i];
    const char *value = NULL;
    const struct command_option *option;
    if (arg[1] == '-') {
        size_t len = strcspn(arg + 2, "=");
        option = find_option(line->command, 0, arg + 2, len);
        if (option != NULL && arg[2 + len] == '=')
            value = arg + 2 + len + 1;
    } else {
        option = find_option(line->command, arg[1], NULL, 0);
        if (option != NULL && arg[2] != '\0')
            value = arg + 2;
    }
    if (option == NULL) {
        fprintf(line->err, "pitlane: unknown option %s\n", arg);
        return -EINVAL;
    }
    if (option->arg == NULL && value != NULL) {
        fprintf(line->err, "pitlane: option %s: takes no argument (options are not joined)\n", arg);
        return -EINVAL;
    }
    if (option->arg != NULL && value == NULL) {
        if (*i + 1 >= argc) {
            fprintf(line->err, "pitlane: option %s needs %s\n", arg, option->arg);
            return -EINVAL;
        }
        value = argv[++*i];
    }
    if (line->n_options == sizeof line->option / sizeof *line->option) {
        fprintf(line->err, "pitlane: too many options\n");
        return -EINVAL;
    }
    line->option[line->n_options] = option;
    line->value[line->n_options++] = value != NULL ? value : "";
    return 0;
}

/** Take a word that is no option: an argument's name with its value behind it, or the value of the next positional. */
static int parse_word(struct command_line *line, int argc, char **argv, int *i)
{
    const struct command *c = line->command;
    const char *word = argv[*i];
    if (c->operand != NULL && line->operand == NULL) {
        line->operand = word;
        return 0;
    }
    for (unsigned k = 0; c->args != NULL && c->args[k].name != NULL; k++) {
        if (strcmp(c->args[k].name, word) != 0 || line->arg[k] != NULL)
            continue;
        if (c->args[k].value == NULL) {
            line->arg[k] = "";
            return 0;
        }
        if (*i + 1 >= argc) {
            fprintf(line->err, "pitlane: %s needs %s\n", word, c->args[k].value);
            return -EINVAL;
        }
        line->arg[k] = argv[++*i];
        return 0;
    }
    for (unsigned k = 0; c->args != NULL && c->args[k].name != NULL; k++) {
        if ((c->args[k].use & ARG_POSITIONAL) != 0 && line->arg[k] == NULL) {
            line->arg[k] = word;
            return 0;
        }
    }
    if (c->run == command_run_help)
        return 0; // "help face list": help is of all that a noun has
    fprintf(line->err, "pitlane: unexpected '%s'\n", word);
    return -EINVAL;
}

/** Is all there that the command must have? */
static int check_complete(const struct command_line *line)
{
    const struct command *c = line->command;
    const char *missing = NULL;
    if (c->operand != NULL && c->operand[0] != '[' && line->operand == NULL)
        missing = c->operand;
    for (unsigned k = 0; c->args != NULL && c->args[k].name != NULL && missing == NULL; k++) {
        if ((c->args[k].use & ARG_REQUIRED) != 0 && line->arg[k] == NULL)
            missing = c->args[k].value;
    }
    if (missing == NULL)
        return 0;
    fprintf(line->err, "pitlane: %s%s%s needs %s\n", c->noun, c->verb != NULL ? " " : "",
            c->verb != NULL ? c->verb : "", missing);
    return -EINVAL;
}

/** Words that are no whole command: what is there. */
static int incomplete(const char *noun, const char *word, FILE *err)
{
    unsigned n = 0;
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        if (strcmp(c->noun, noun) != 0)
            continue;
        if (n++ == 0 && word != NULL)
            fprintf(err, "pitlane: unknown command '%s %s'; what is there is:", noun, word);
        else if (n == 1)
            fprintf(err, "pitlane: what is there is:");
        fprintf(err, "%s %s %s", n > 1 ? "," : "", noun, c->verb);
    }
    if (n == 0)
        fprintf(err, "pitlane: unknown command '%s'; pitlane help lists all", noun);
    fprintf(err, "\n");
    return COMMAND_USAGE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

int command_run(int argc, char **argv, FILE *out, FILE *err, struct command_session *session)
{
    struct command_line line = {.out = out, .err = err, .session = session};
    const char *verb = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    line.command = command_find(argv[0], verb);
    if (argc > 1 && is_help(argv[1]) && (line.command == NULL || line.command->verb != NULL)) {
        line.command = command_find("help", NULL);
        line.operand = argv[0];
        return command_run_help(&line);
    }
    if (line.command == NULL)
        return incomplete(argv[0], verb, err);
    bool options_end = false;
    for (int i = line.command->verb != NULL && verb != NULL ? 2 : 1; i < argc; i++) {
        int ret;
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
            continue;
        }
        if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0')
            ret = parse_option(&line, argc, argv, &i);
        else
            ret = parse_word(&line, argc, argv, &i);
        if (ret != 0)
            return COMMAND_USAGE;
    }
    if (command_has(&line, "help")) {
        command_print_usage(line.command, out);
        return COMMAND_OK;
    }
    if (check_complete(&line) != 0)
        return COMMAND_USAGE;
    return line.command->run(&line);
}

int command_main(int argc, char **argv, FILE *out, FILE *err)
{
    if (argc > 1 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0)) {
        fprintf(out, "pitlane %s\n", PITLANE_VERSION);
        return COMMAND_OK;
    }
    if (argc < 2 || is_help(argv[1])) {
        const struct command_line line = {
            .command = command_find("help", NULL), .out = argc < 2 ? err : out, .err = err};
        command_run_help(&line);
        return argc < 2 ? COMMAND_USAGE : COMMAND_OK;
    }
    struct command_session session = {0};
    int status;
    if (strcmp(argv[1], "-f") == 0 || strcmp(argv[1], "--batch") == 0) {
        if (argc != 3) {
            fprintf(err, "pitlane: %s needs one FILE and nothing else\n", argv[1]);
            return COMMAND_USAGE;
        }
        status = batch_run(argv[2], out, err, &session);
    } else {
        status = command_run(argc - 1, argv + 1, out, err, &session);
    }
    manager_close(session.manager);
    return status;
}

const char *command_value(const struct command_line *line, const char *name)
{
    for (unsigned i = line->n_options; i > 0; i--) {
        if (strcmp(line->option[i - 1]->name, name) == 0)
            return line->value[i - 1];
    }
    return NULL;
}

const char *command_arg(const struct command_line *line, const char *name)
{
    const struct command_arg *args = line->command->args;
    for (unsigned k = 0; args != NULL && args[k].name != NULL; k++) {
        if (strcmp(args[k].name, name) == 0)
            return line->arg[k];
    }
    return NULL;
}

static int parse_number(const char *dashes, const char *name, const char *text, uint64_t min, uint64_t max,
                        uint64_t *number, FILE *err)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] < '0' || text[0] > '9' || n < min || n > max) {
        fprintf(err, "pitlane: %s%s %s: a number from %llu to %llu is allowed\n", dashes, name, text,
                (unsigned long long)min, (unsigned long long)max);
        return -EINVAL;
    }
    *number = n;
    return 0;
}

int command_number(const struct command_line *line, const char *name, uint64_t min, uint64_t max, uint64_t value,
                   uint64_t *number)
{
    const char *text = command_value(line, name);
    if (text != NULL)
        return parse_number("--", name, text, min, max, number, stderr);
    *number = value;
    return 0;
}

int command_arg_number(const struct command_line *line, const char *name, uint64_t min, uint64_t max, uint64_t value,
                       uint64_t *number)
{
    const char *text = command_arg(line, name);
    if (text != NULL)
        return parse_number("", name, text, min, max, number, line->err);
    *number = value;
    return 0;
}

int command_time(const struct command_line *line, const char *name, uint64_t min_ns, uint64_t max_ns, uint64_t value_ns,
                 uint64_t *time_ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e6}};
    const char *text = command_value(line, name);
    if (text == NULL) {
        *time_ns = value_ns;
        return 0;
    }
    char *end;
    double number = strtod(text, &end);
    if (end != text && number >= 0) {
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            double ns = number * units[i].ns;
            if (strcmp(end, units[i].name) == 0 && ns >= (double)min_ns && ns <= (double)max_ns) {
                *time_ns = (uint64_t)ns;
                return 0;
            }
        }
    }
    fprintf(stderr, "pitlane: --%s %s: a time from %gms to %gms is allowed, as 250us, 10ms or 4s\n", name, text,
            (double)min_ns / 1e6, (double)max_ns / 1e6);
    return -EINVAL;
}
