// SPDX-License-Identifier: Apache-2.0
/* `pitlane strategy ...` and what `pitlane cs ...` changes. */
#include <errno.h>
#include <string.h>

#include "fwd/client/manage.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/nfd_text.h"
#include "fwd/client/text_table.h"
#include "parser/ndn_name.h"

const struct text_column strategy_columns[] = {
    {"prefix", "PREFIX", TEXT_STRING},
    {"strategy", "STRATEGY", TEXT_STRING},
    {0},
};

/** Is @p prefix the beginning of @p name, component for component? */
static bool is_prefix(struct mgmt_octets prefix, struct mgmt_octets name)
{
    // Both are whole components, and a component says its own length.
    return prefix.len <= name.len && (prefix.len == 0 || memcmp(prefix.p, name.p, prefix.len) == 0);
}

/**
 * Strategy choices as rows; with @p name the one that governs this name alone. @return enum command_exit, after a
 * complaint when not COMMAND_OK
 */
static int fetch_choices(const struct command_line *line, struct manager *manager, const struct mgmt_octets *name,
                         json_t **rows)
{
    struct manager_dataset dataset;
    struct manager_answer answer;
    if (manager_dataset(manager, "strategy-choice", "list", NULL, 0, &dataset, &answer) != MANAGER_OK)
        return manage_fail(line, &answer, "fetching strategy choice dataset");
    *rows = json_array();
    struct mgmt_strategy_choice best = {0};
    bool found = false;
    const uint8_t *item;
    size_t off = 0;
    int len;
    while ((len = manager_dataset_next(&dataset, &off, &item)) > 0) {
        struct mgmt_strategy_choice choice;
        if (mgmt_strategy_choice_decode(item, (size_t)len, &choice) != 0) {
            len = -EINVAL;
            break;
        }
        if (name == NULL) {
            json_array_append_new(*rows, json_pack("{so so}", "prefix", manage_name(choice.name), "strategy",
                                                   manage_name(choice.strategy)));
        } else if (is_prefix(choice.name, *name) && (!found || choice.name.len > best.name.len)) {
            best = choice;
            found = true;
        }
    }
    if (len == 0 && found)
        json_array_append_new(
            *rows, json_pack("{so so}", "prefix", manage_name(best.name), "strategy", manage_name(best.strategy)));
    manager_dataset_free(&dataset);
    if (len == 0)
        return COMMAND_OK;
    json_decref(*rows);
    fprintf(line->err, "pitlane: the forwarder's list of strategy choices does not decode\n");
    return COMMAND_FAILED;
}

int strategy_rows(const struct command_line *line, struct manager *manager, json_t **rows)
{
    return fetch_choices(line, manager, NULL, rows);
}

int strategy_show(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"prefix", "prefix", TEXT_STRING}, {"strategy", "strategy", TEXT_STRING}, {0}};
    uint8_t octets[NDN_NAME_MAX];
    struct mgmt_octets name;
    struct manager *manager;
    json_t *rows;
    if (manage_arg_name(line, "prefix", octets, sizeof octets, &name) != 0)
        return COMMAND_USAGE;
    int status = manage_open(line, false, &manager);
    if (status == COMMAND_OK)
        status = fetch_choices(line, manager, &name, &rows);
    if (status != COMMAND_OK)
        return status;
    json_t *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    if (row == NULL) {
        fprintf(line->err, "Strategy not found\n");
        return COMMAND_FAILED;
    }
    return manage_object(line, columns, row);
}

int strategy_set(const struct command_line *line)
{
    uint8_t prefix[NDN_NAME_MAX], strategy[NDN_NAME_MAX];
    struct mgmt_params params = {.has = MGMT_HAS_NAME | MGMT_HAS_STRATEGY};
    struct manager_answer answer;
    struct manager *manager;
    if (manage_arg_name(line, "prefix", prefix, sizeof prefix, &params.name) != 0 ||
        manage_arg_name(line, "strategy", strategy, sizeof strategy, &params.strategy) != 0)
        return COMMAND_USAGE;
    int status = manage_open(line, false, &manager);
    if (status != COMMAND_OK)
        return status;
    if (manager_command(manager, "strategy-choice", "set", &params, &answer) != 200)
        return manage_fail(line, &answer, "setting strategy");
    const struct mgmt_params *got = &answer.params;
    return manage_result(line,
                         json_pack("{ss so so}", "result", "strategy-set", "prefix",
                                   manage_name((got->has & MGMT_HAS_NAME) != 0 ? got->name : params.name), "strategy",
                                   manage_name((got->has & MGMT_HAS_STRATEGY) != 0 ? got->strategy : params.strategy)));
}

int strategy_unset(const struct command_line *line)
{
    uint8_t prefix[NDN_NAME_MAX];
    struct mgmt_params params = {.has = MGMT_HAS_NAME};
    struct manager_answer answer;
    struct manager *manager;
    if (manage_arg_name(line, "prefix", prefix, sizeof prefix, &params.name) != 0)
        return COMMAND_USAGE;
    if (params.name.len == 0) {
        fprintf(line->err, "Unsetting default strategy is prohibited\n");
        return COMMAND_USAGE;
    }
    int status = manage_open(line, false, &manager);
    if (status != COMMAND_OK)
        return status;
    if (manager_command(manager, "strategy-choice", "unset", &params, &answer) != 200)
        return manage_fail(line, &answer, "unsetting strategy");
    return manage_result(line, json_pack("{ss so}", "result", "strategy-unset", "prefix", manage_name(params.name)));
}

int cs_config(const struct command_line *line)
{
    static const struct {
        const char *arg;
        uint64_t bit;
    } switches[] = {{"admit", NFD_CS_ADMIT}, {"serve", NFD_CS_SERVE}};
    struct mgmt_params params = {0};
    struct manager_answer answer;
    struct manager *manager;
    if (command_arg_number(line, "capacity", 0, UINT64_MAX, 0, &params.capacity) != 0)
        return COMMAND_USAGE;
    if (command_arg(line, "capacity") != NULL)
        params.has |= MGMT_HAS_CAPACITY;
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        bool on;
        int ret = manage_arg_on_off(line, switches[i].arg, &on);
        if (ret < 0)
            return COMMAND_USAGE;
        if (ret == 0)
            continue;
        params.has |= MGMT_HAS_FLAGS | MGMT_HAS_MASK;
        params.mask |= switches[i].bit;
        params.flags |= on ? switches[i].bit : 0;
    }
    int status = manage_open(line, false, &manager);
    if (status != COMMAND_OK)
        return status;
    if (manager_command(manager, "cs", "config", &params, &answer) != 200)
        return manage_fail(line, &answer, "updating CS config");
    const struct mgmt_params *got = &answer.params;
    return manage_result(line, json_pack("{ss so sb sb}", "result", "cs-config-updated", "capacity",
                                         manage_number(got->capacity), "admit", (got->flags & NFD_CS_ADMIT) != 0,
                                         "serve", (got->flags & NFD_CS_SERVE) != 0));
}

int cs_erase(const struct command_line *line)
{
    uint8_t prefix[NDN_NAME_MAX];
    struct mgmt_params params = {.has = MGMT_HAS_NAME};
    struct manager_answer answer;
    struct manager *manager;
    if (manage_arg_name(line, "prefix", prefix, sizeof prefix, &params.name) != 0 ||
        command_arg_number(line, "count", 1, UINT64_MAX, 0, &params.count) != 0)
        return COMMAND_USAGE;
    if (command_arg(line, "count") != NULL)
        params.has |= MGMT_HAS_COUNT;
    int status = manage_open(line, false, &manager);
    if (status != COMMAND_OK)
        return status;
    if (manager_command(manager, "cs", "erase", &params, &answer) != 200)
        return manage_fail(line, &answer, "erasing cached Data");
    return manage_result(line, json_pack("{ss so so sb}", "result", "cs-erased", "prefix", manage_name(params.name),
                                         "count", manage_number(answer.params.count), "has-more",
                                         (answer.params.has & MGMT_HAS_CAPACITY) != 0));
}
