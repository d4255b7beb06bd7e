// SPDX-License-Identifier: Apache-2.0
/*
 * Commands for which management and the telemetry socket both have something to say. A source that is named by an
 * option or a variable is asked; when none is named, both are, each at its usual place, and one is enough. Where both
 * know a value, management's counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/client/manage.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/nfd_text.h"
#include "fwd/client/show.h"
#include "fwd/client/tel.h"
#include "fwd/client/text_table.h"

/** Answers of the two sources; NULL: not asked, or nobody there. */
struct answers {
    json_t *managed, *told;
};

static bool variable_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

/**
 * Ask the sources. @p needs_management: the arguments make sense to it alone.
 *
 * @return enum command_exit, after a complaint when not COMMAND_OK; else at least one answer
 */
static int gather(const struct command_line *line,
                  int (*manage)(const struct command_line *line, struct manager *manager, json_t **answer),
                  const char *tel_command, bool rows, bool needs_management, struct answers *answers)
{
    bool telemetry_named = command_has(line, "socket") || command_has(line, "runtime-dir") ||
                           command_has(line, "prefix") || variable_set("PITLANE_SOCKET");
    bool management_named = command_has(line, "transport") || command_has(line, "key") ||
                            variable_set("NDN_CLIENT_TRANSPORT") || needs_management;
    bool ask_telemetry = !needs_management && (telemetry_named || !management_named);
    bool ask_management = management_named || !telemetry_named;
    struct manager *manager;
    char err[TEL_ERR] = "";
    *answers = (struct answers){0};
    if (ask_management) {
        int status = manage_open(line, ask_telemetry && !management_named, &manager);
        if (status == COMMAND_OK)
            status = manage(line, manager, &answers->managed);
        else if (status == COMMAND_FAILED && !management_named)
            status = COMMAND_OK; // nobody there: telemetry may know
        if (status != COMMAND_OK)
            return status;
    }
    if (!ask_telemetry)
        return COMMAND_OK;
    answers->told = show_ask(line, tel_command, rows, err);
    if (answers->told != NULL || (answers->managed != NULL && !telemetry_named))
        return COMMAND_OK;
    if (answers->managed == NULL && ask_management)
        manage_open(line, false, &manager); // says why
    fprintf(line->err, "pitlane: %s\n", err);
    json_decref(answers->managed);
    return COMMAND_FAILED;
}

/** What management tells, and in rows with the same key what telemetry alone knows. Takes both over. */
static json_t *merge_rows(struct answers *answers, const char *key)
{
    if (answers->managed == NULL)
        return answers->told;
    size_t i, k;
    json_t *row, *other;
    json_array_foreach(answers->managed, i, row)
    {
        json_array_foreach(answers->told, k, other)
        {
            if (key != NULL && json_equal(json_object_get(row, key), json_object_get(other, key)))
                json_object_update_missing(row, other);
        }
    }
    json_decref(answers->told);
    return answers->managed;
}

int face_list(const struct command_line *line)
{
    struct answers answers;
    bool filtered = false;
    for (unsigned i = 0; i < COMMAND_ARGS_MAX; i++)
        filtered = filtered || line->arg[i] != NULL;
    int status = gather(line, face_rows, "/pitlane/faces", true, filtered, &answers);
    return status == COMMAND_OK ? manage_rows(line, "faces", face_columns, merge_rows(&answers, "id")) : status;
}

int route_list(const struct command_line *line)
{
    struct answers answers;
    bool filtered = command_arg(line, "nexthop") != NULL || command_arg(line, "origin") != NULL;
    int status = gather(line, route_rows, "/pitlane/routes", true, filtered, &answers);
    return status == COMMAND_OK ? manage_rows(line, "routes", route_columns, merge_rows(&answers, NULL)) : status;
}

int strategy_list(const struct command_line *line)
{
    struct answers answers;
    int status = gather(line, strategy_rows, "/pitlane/strategies", true, false, &answers);
    return status == COMMAND_OK ? manage_rows(line, "strategies", strategy_columns, merge_rows(&answers, NULL))
                                : status;
}

/** An item of a dataset that has only one, decoded by @p decode. @return enum command_exit, after a complaint */
static int fetch_one(const struct command_line *line, struct manager *manager, const char *module, const char *list,
                     const char *doing, int (*decode)(const uint8_t *p, size_t len, json_t **object), json_t **object)
{
    struct manager_dataset dataset;
    struct manager_answer answer;
    if (manager_dataset(manager, module, list, NULL, 0, &dataset, &answer) != MANAGER_OK)
        return manage_fail(line, &answer, doing);
    int ret = decode(dataset.p, dataset.len, object);
    manager_dataset_free(&dataset);
    if (ret == 0)
        return COMMAND_OK;
    fprintf(line->err, "pitlane: the forwarder's answer does not decode when %s\n", doing);
    return COMMAND_FAILED;
}

static int decode_cs(const uint8_t *p, size_t len, json_t **object)
{
    struct mgmt_cs_info info;
    if (mgmt_cs_info_decode(p, len, &info) != 0)
        return -EINVAL;
    *object = json_pack("{so sb sb so so so}", "capacity", manage_number(info.capacity), "admit",
                        (info.flags & NFD_CS_ADMIT) != 0, "serve", (info.flags & NFD_CS_SERVE) != 0, "entries",
                        manage_number(info.n_entries), "hits", manage_number(info.n_hits), "misses",
                        manage_number(info.n_misses));
    return 0;
}

int cs_object(const struct command_line *line, struct manager *manager, json_t **object)
{
    return fetch_one(line, manager, "cs", "info", "fetching CS information", decode_cs, object);
}

const struct text_column cs_columns[] = {
    {"capacity", "capacity", TEXT_NUMBER},
    {"admit", "admit", TEXT_ON_OFF},
    {"serve", "serve", TEXT_ON_OFF},
    {"entries", "entries", TEXT_NUMBER},
    {"hits", "hits", TEXT_NUMBER},
    {"misses", "misses", TEXT_NUMBER},
    {0},
};

int cs_info(const struct command_line *line)
{
    struct answers answers;
    int status = gather(line, cs_object, "/pitlane/cs", true, false, &answers);
    if (status != COMMAND_OK)
        return status;
    if (command_has(line, "json")) {
        json_t *document = answers.managed != NULL ? answers.managed : json_object();
        if (answers.told != NULL)
            json_object_set_new(document, "cs", answers.told);
        return manage_object(line, cs_columns, document);
    }
    if (answers.managed != NULL)
        manage_object(line, cs_columns, answers.managed);
    if (answers.told != NULL)
        manage_rows(line, "cs", show_cs_columns, answers.told);
    return COMMAND_OK;
}

static int decode_status(const uint8_t *p, size_t len, json_t **object)
{
    struct mgmt_general_status s;
    if (mgmt_general_status_decode(p, len, &s) != 0)
        return -EINVAL;
    *object = json_pack("{so so so so so so so so so so so so so so so so so}", "version", manage_octets(s.version),
                        "start_ms", manage_number(s.start_ms), "current_ms", manage_number(s.current_ms), "uptime_ms",
                        manage_number(s.current_ms > s.start_ms ? s.current_ms - s.start_ms : 0), "name_tree_entries",
                        manage_number(s.n_name_tree), "fib_entries", manage_number(s.n_fib), "pit_entries",
                        manage_number(s.n_pit), "measurements_entries", manage_number(s.n_measurements), "cs_entries",
                        manage_number(s.n_cs), "in_interests", manage_number(s.in_interests), "in_data",
                        manage_number(s.in_data), "in_nacks", manage_number(s.in_nacks), "out_interests",
                        manage_number(s.out_interests), "out_data", manage_number(s.out_data), "out_nacks",
                        manage_number(s.out_nacks), "satisfied", manage_number(s.satisfied), "unsatisfied",
                        manage_number(s.unsatisfied));
    return 0;
}

int status_object(const struct command_line *line, struct manager *manager, json_t **object)
{
    return fetch_one(line, manager, "status", "general", "fetching general status", decode_status, object);
}

int status_show(const struct command_line *line)
{
    struct answers answers;
    int status = gather(line, status_object, "/pitlane/status", false, false, &answers);
    if (status != COMMAND_OK)
        return status;
    json_t *object = answers.managed != NULL ? answers.managed : json_object();
    if (answers.told != NULL)
        json_object_update_missing(object, answers.told);
    json_decref(answers.told);
    return manage_object(line, show_status_columns, object);
}

int status_report(const struct command_line *line)
{
    static const struct {
        const char *title, *key;
        int (*fetch)(const struct command_line *line, struct manager *manager, json_t **answer);
        const struct text_column *columns;
        bool rows;
    } parts[] = {
        {"General status", "status", status_object, show_status_columns, false},
        {"Channels", "channels", channel_rows, channel_columns, true},
        {"Faces", "faces", face_rows, face_columns, true},
        {"FIB", "fib", fib_rows, fib_columns, true},
        {"RIB", "routes", route_rows, route_columns, true},
        {"CS", "cs", cs_object, cs_columns, false},
        {"Strategy choices", "strategies", strategy_rows, strategy_columns, true},
    };
    struct manager *manager;
    json_t *document = json_object();
    int status = manage_open(line, false, &manager);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == COMMAND_OK; i++) {
        json_t *answer;
        status = parts[i].fetch(line, manager, &answer);
        if (status == COMMAND_OK)
            json_object_set_new(document, parts[i].key, answer);
    }
    if (status != COMMAND_OK) {
        json_decref(document);
        return status;
    }
    if (command_has(line, "json"))
        return manage_object(line, NULL, document);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        json_t *answer = json_object_get(document, parts[i].key);
        fprintf(line->out, "%s%s:\n", i > 0 ? "\n" : "", parts[i].title);
        if (parts[i].rows)
            text_table_print(parts[i].columns, answer, line->out);
        else
            text_list_print(parts[i].columns, answer, line->out);
    }
    json_decref(document);
    return COMMAND_OK;
}
