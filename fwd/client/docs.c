// SPDX-License-Identifier: Apache-2.0
/* Help, completion and manual page, all made from the table of commands. */
#include "fwd/client/command.h"

#include <string.h>

static void print_option(const struct command_option *o, FILE *out)
{
    char left[64];
    snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter != 0 ? '-' : ' ', o->letter != 0 ? o->letter : ' ',
             o->letter != 0 ? ", " : "  ", o->name, o->arg != NULL ? " " : "", o->arg != NULL ? o->arg : "");
    fprintf(out, "  %-28s %s\n", left, o->help);
}

static void print_options(const struct command_option *list, FILE *out)
{
    for (const struct command_option *o = list; o != NULL && o->name != NULL; o++)
        print_option(o, out);
}

void command_print_usage(const struct command *c, FILE *out)
{
    fprintf(out, "usage: pitlane %s%s%s [OPTION...]%s%s\n", c->noun, c->verb != NULL ? " " : "",
            c->verb != NULL ? c->verb : "", c->operand != NULL ? " " : "", c->operand != NULL ? c->operand : "");
    fprintf(out, "%s\n", c->help);
    if (c->text != NULL)
        fprintf(out, "%s\n", c->text);
    fprintf(out, "\n");
    print_options(c->options, out);
    if (!c->local)
        print_options(command_daemon_options, out);
    print_options(command_common_options, out);
}

int command_run_help(const struct command_line *line)
{
    if (line->operand != NULL) {
        unsigned n = 0;
        for (const struct command *c = command_table; c->noun != NULL; c++) {
            if (strcmp(c->noun, line->operand) == 0) {
                command_print_usage(c, line->out);
                n++;
            }
        }
        if (n == 0) {
            fprintf(stderr, "pitlane: no command '%s'\n", line->operand);
            return COMMAND_USAGE;
        }
        return COMMAND_OK;
    }
    fprintf(line->out, "usage: pitlane COMMAND [OPTION...]\n\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "",
                 c->operand != NULL ? " " : "", c->operand != NULL ? c->operand : "");
        fprintf(line->out, "  %-20s %s\n", left, c->help);
    }
    fprintf(line->out, "\npitlane COMMAND -h shows the options of a command, pitlane -V the version.\n");
    return COMMAND_OK;
}

static void completion_words(const struct command_option *list, FILE *out)
{
    for (const struct command_option *o = list; o != NULL && o->name != NULL; o++)
        fprintf(out, " --%s", o->name);
}

int command_run_completion(const struct command_line *line)
{
    FILE *out = line->out;
    fprintf(out, "# bash completion of pitlane\n_pitlane() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
                 "    if [ \"$COMP_CWORD\" = 1 ]; then\n        words=\"");
    const char *last = "";
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        if (strcmp(c->noun, last) != 0)
            fprintf(out, "%s%s", last[0] != '\0' ? " " : "", c->noun);
        last = c->noun;
    }
    fprintf(out, "\"\n    else\n        case ${COMP_WORDS[1]} in\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        fprintf(out, "        %s) words=\"%s", c->noun, c->verb != NULL ? c->verb : "");
        completion_words(c->options, out);
        if (!c->local)
            completion_words(command_daemon_options, out);
        completion_words(command_common_options, out);
        fprintf(out, "\" ;;\n");
    }
    fprintf(out, "        esac\n    fi\n    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\n"
                 "complete -F _pitlane pitlane\n");
    return COMMAND_OK;
}

static void man_options(const struct command_option *list, FILE *out)
{
    for (const struct command_option *o = list; o != NULL && o->name != NULL; o++) {
        fprintf(out, ".TP\n");
        if (o->letter != 0)
            fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
        fprintf(out, "\\fB\\-\\-%s\\fR", o->name);
        if (o->arg != NULL)
            fprintf(out, " \\fI%s\\fR", o->arg);
        fprintf(out, "\n%s\n", o->help);
    }
}

int command_run_man(const struct command_line *line)
{
    FILE *out = line->out;
    fprintf(out, ".TH PITLANE 1 \"\" \"pitlane\" \"User Commands\"\n.SH NAME\n"
                 "pitlane \\- show and try the NDN forwarder pitlaned\n.SH SYNOPSIS\n"
                 "\\fBpitlane\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...]\n.SH COMMANDS\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        fprintf(out, ".SS \"%s%s%s%s%s\"\n%s.\n", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "",
                c->operand != NULL ? " " : "", c->operand != NULL ? c->operand : "", c->help);
        if (c->text != NULL)
            fprintf(out, "%s\n", c->text);
        man_options(c->options, out);
    }
    fprintf(out, ".SH OPTIONS OF COMMANDS THAT ASK THE DAEMON\n");
    man_options(command_daemon_options, out);
    fprintf(out, ".SH OPTIONS OF ALL COMMANDS\n");
    man_options(command_common_options, out);
    fprintf(out, ".SH ENVIRONMENT\n.TP\n\\fBPITLANE_SOCKET\\fR\ntelemetry socket of pitlaned, as \\fB\\-s\\fR\n"
                 ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage\n"
                 ".SH SEE ALSO\n\\fBpitlaned\\fR(8)\n");
    return COMMAND_OK;
}
