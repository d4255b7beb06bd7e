// SPDX-License-Identifier: Apache-2.0
/* Help, completion and manual page, all made from the table of commands. */
#include "fwd/client/command.h"

#include <string.h>

static void print_entry(const char *left, const char *help, FILE *out)
{
    fprintf(out, "  %-28s %s\n", left, help);
}

static void print_options(const struct command_option *list, FILE *out)
{
    for (const struct command_option *o = list; o != NULL && o->name != NULL; o++) {
        char left[64];
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter != 0 ? '-' : ' ', o->letter != 0 ? o->letter : ' ',
                 o->letter != 0 ? ", " : "  ", o->name, o->arg != NULL ? " " : "", o->arg != NULL ? o->arg : "");
        print_entry(left, o->help, out);
    }
}

/** "[prefix] PREFIX", "[cost COST]", "[capture]": names that may be left out, arguments that may be. */
static void write_arg(const struct command_arg *a, char *text, size_t size)
{
    bool positional = (a->use & ARG_POSITIONAL) != 0, required = (a->use & ARG_REQUIRED) != 0;
    snprintf(text, size, "%s%s%s%s%s%s%s", required ? "" : "[", positional ? "[" : "", a->name, positional ? "]" : "",
             a->value != NULL ? " " : "", a->value != NULL ? a->value : "", required ? "" : "]");
}

static void print_words(const struct command *c, FILE *out)
{
    fprintf(out, "%s%s%s", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "");
    if (c->operand != NULL)
        fprintf(out, " %s", c->operand);
    for (const struct command_arg *a = c->args; a != NULL && a->name != NULL; a++) {
        char text[96];
        write_arg(a, text, sizeof text);
        fprintf(out, " %s", text);
    }
}

void command_print_usage(const struct command *c, FILE *out)
{
    const struct command_option *lists[COMMAND_OPTION_LISTS];
    fprintf(out, "usage: pitlane ");
    print_words(c, out);
    fprintf(out, " [OPTION...]\n%s\n", c->help);
    if (c->by_default)
        fprintf(out, "The same as: pitlane %s\n", c->noun);
    if (c->text != NULL)
        fprintf(out, "%s\n", c->text);
    fprintf(out, "\n");
    for (const struct command_arg *a = c->args; a != NULL && a->name != NULL; a++) {
        char left[96];
        snprintf(left, sizeof left, "%s%s%s", a->name, a->value != NULL ? " " : "", a->value != NULL ? a->value : "");
        print_entry(left, a->help, out);
    }
    command_option_lists(c, lists);
    for (size_t i = 0; i < COMMAND_OPTION_LISTS; i++)
        print_options(lists[i], out);
}

int command_run_help(const struct command_line *line)
{
    if (line->operand != NULL) {
        unsigned n = 0;
        for (const struct command *c = command_table; c->noun != NULL; c++) {
            if (strcmp(c->noun, line->operand) == 0) {
                if (n++ > 0)
                    fprintf(line->out, "\n");
                command_print_usage(c, line->out);
            }
        }
        if (n == 0) {
            fprintf(line->err, "pitlane: no command '%s'\n", line->operand);
            return COMMAND_USAGE;
        }
        return COMMAND_OK;
    }
    fprintf(line->out, "usage: pitlane COMMAND [ARGUMENT...] [OPTION...]\n"
                       "       pitlane -f FILE              run the commands of a file, one a line; - is stdin\n\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s%s%s", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "",
                 c->operand != NULL ? " " : "", c->operand != NULL ? c->operand : "");
        fprintf(line->out, "  %-20s %s\n", left, c->help);
    }
    fprintf(line->out, "\npitlane COMMAND -h shows the arguments and options of a command, pitlane -V the version.\n");
    return COMMAND_OK;
}

/** Is this the first command of its noun? */
static bool is_first(const struct command *command)
{
    const struct command *c = command_table;
    while (strcmp(c->noun, command->noun) != 0)
        c++;
    return c == command;
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
                 "    local cur=${COMP_WORDS[COMP_CWORD]} words= verbs=\n"
                 "    case ${COMP_WORDS[1]} in\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        if (c->verb == NULL || !is_first(c))
            continue;
        fprintf(out, "    %s) verbs=\"", c->noun);
        for (const struct command *v = command_table; v->noun != NULL; v++) {
            if (strcmp(v->noun, c->noun) == 0)
                fprintf(out, "%s%s", v != c ? " " : "", v->verb);
        }
        fprintf(out, "\" ;;\n");
    }
    fprintf(out, "    esac\n    if [ \"$COMP_CWORD\" = 1 ]; then\n        words=\"");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        if (is_first(c))
            fprintf(out, "%s ", c->noun);
    }
    fprintf(out, "--help --version -f\"\n    elif [ \"$COMP_CWORD\" = 2 ] && [ -n \"$verbs\" ]; then\n"
                 "        words=$verbs\n    else\n        case \"${COMP_WORDS[1]} ${verbs:+${COMP_WORDS[2]}}\" in\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        const struct command_option *lists[COMMAND_OPTION_LISTS];
        fprintf(out, "        \"%s %s\") words=\"", c->noun, c->verb != NULL ? c->verb : "");
        for (const struct command_arg *a = c->args; a != NULL && a->name != NULL; a++)
            fprintf(out, "%s ", a->name);
        command_option_lists(c, lists);
        for (size_t i = 0; i < COMMAND_OPTION_LISTS; i++)
            completion_words(lists[i], out);
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

static void man_args(const struct command_arg *args, FILE *out)
{
    for (const struct command_arg *a = args; a != NULL && a->name != NULL; a++) {
        fprintf(out, ".TP\n%s\\fB%s\\fR%s", (a->use & ARG_POSITIONAL) != 0 ? "[" : "", a->name,
                (a->use & ARG_POSITIONAL) != 0 ? "]" : "");
        if (a->value != NULL)
            fprintf(out, " \\fI%s\\fR", a->value);
        fprintf(out, "\n%s\n", a->help);
    }
}

static const char man_end[] =
    ".SH ARGUMENTS\n"
    "Arguments are words as those of nfdc: the name of an argument and its value behind it. A name in brackets may be "
    "left out when the values stand in the order shown: \\fBroute add /a 308 cost 10\\fR is "
    "\\fBroute add prefix /a nexthop 308 cost 10\\fR.\n"
    ".PP\n"
    "A FaceUri may have a host name and no port: udp://router.example is completed before it is sent.\n"
    ".SH BATCHES\n"
    "\\fBpitlane \\-f\\fR \\fIFILE\\fR runs the commands of a file (\\- is stdin), one a line, over one connection, "
    "and "
    "stops at the first that fails. Words are quoted as in a shell, a backslash at its end continues a line, # begins "
    "a "
    "comment.\n"
    ".SH FOR USERS OF NFDC\n"
    "The commands face, channel, route, fib, cs, strategy and status take nfdc's arguments and print its result lines, "
    "as "
    "\\fBface\\-created id=308 local=... remote=...\\fR. Where pitlane differs: lists are tables with a header, and "
    "with \\fB\\-j\\fR JSON; the exit status is 1 where nfdc has 3 to 7; \\fBface update\\fR changes a face without "
    "naming its FaceUri. Every NFD can be managed, not pitlaned alone.\n"
    ".SH TRANSPORT\n"
    "Commands of the management protocol, ping and pingserver connect to \\fB\\-\\-transport\\fR, else "
    "\\fBNDN_CLIENT_TRANSPORT\\fR, else \\fItransport\\fR in the first of ~/.ndn/client.conf, "
    "/usr/local/etc/ndn/client.conf and /etc/ndn/client.conf that is there, else unix:///run/nfd/nfd.sock. To a "
    "forwarder "
    "that is not on this host, /localhop/nfd is used in place of /localhost/nfd.\n"
    ".PP\n"
    "status, face list, route list, strategy list and cs info ask management, and the telemetry socket for what only "
    "pitlaned has. When options or variables name one of the two and not the other, only that one is asked.\n"
    ".SH ENVIRONMENT\n.TP\n\\fBNDN_CLIENT_TRANSPORT\\fR\nsocket of the forwarder, as \\fB\\-\\-transport\\fR\n"
    ".TP\n\\fBPITLANE_SOCKET\\fR\ntelemetry socket of pitlaned, as \\fB\\-s\\fR\n"
    ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage. When the forwarder refuses, stderr says "
    "\\fBError\\fR \\fICODE\\fR \\fBwhen\\fR ..., with 10060 for no answer in time.\n"
    ".SH SEE ALSO\n\\fBpitlaned\\fR(8)\n";

int command_run_man(const struct command_line *line)
{
    FILE *out = line->out;
    fprintf(out, ".TH PITLANE 1 \"\" \"pitlane\" \"User Commands\"\n.SH NAME\n"
                 "pitlane \\- manage, show and try the NDN forwarder pitlaned\n.SH SYNOPSIS\n"
                 "\\fBpitlane\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]\n.br\n"
                 "\\fBpitlane \\-f\\fR \\fIFILE\\fR\n.SH COMMANDS\n");
    for (const struct command *c = command_table; c->noun != NULL; c++) {
        fprintf(out, ".SS \"");
        fprintf(out, "%s%s%s%s%s\"\n%s.\n", c->noun, c->verb != NULL ? " " : "", c->verb != NULL ? c->verb : "",
                c->operand != NULL ? " " : "", c->operand != NULL ? c->operand : "", c->help);
        if (c->by_default)
            fprintf(out, "\\fB%s\\fR alone is the same.\n", c->noun);
        if (c->text != NULL)
            fprintf(out, "%s\n", c->text);
        man_args(c->args, out);
        man_options(c->options, out);
    }
    fprintf(out, ".SH OPTIONS OF COMMANDS OF THE MANAGEMENT PROTOCOL\n");
    man_options(command_management_options, out);
    fprintf(out, ".SH OPTIONS OF COMMANDS THAT ASK THE TELEMETRY SOCKET\n");
    man_options(command_telemetry_options, out);
    fprintf(out, ".SH OPTIONS OF ALL COMMANDS\n");
    man_options(command_json_options, out);
    man_options(command_common_options, out);
    fputs(man_end, out);
    return COMMAND_OK;
}
