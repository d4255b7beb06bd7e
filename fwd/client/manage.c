// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/manage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/client/manage_priv.h"
#include "fwd/client/nfd_text.h"
#include "fwd/client/text_table.h"

int manage_open(const struct command_line *line, bool quiet, struct manager **manager)
{
    char config_text[sizeof line->session->config], err[LINK_ERR];
    uint64_t timeout_ns;
    if (command_time(line, "timeout", 1000000, 600000000000, 0, &timeout_ns) != 0)
        return COMMAND_USAGE;
    const struct manager_config config = {
        .transport = command_value(line, "transport"),
        .key_file = command_value(line, "key"),
        .certificate = command_value(line, "certificate"),
        .timeout_ns = timeout_ns,
    };
    if ((config.key_file != NULL) != (config.certificate != NULL)) {
        fprintf(line->err, "pitlane: --key and --certificate go together\n");
        return COMMAND_USAGE;
    }
    snprintf(config_text, sizeof config_text, "%s|%s|%s|%llu", config.transport != NULL ? config.transport : "",
             config.key_file != NULL ? config.key_file : "", config.certificate != NULL ? config.certificate : "",
             (unsigned long long)timeout_ns);
    struct command_session *session = line->session;
    if (session->manager != NULL && strcmp(session->config, config_text) != 0) {
        manager_close(session->manager);
        session->manager = NULL;
    }
    if (session->manager == NULL) {
        if (manager_open(&session->manager, &config, err) != 0) {
            if (!quiet)
                fprintf(line->err, "pitlane: %s\n", err);
            return COMMAND_FAILED;
        }
        strcpy(session->config, config_text);
    }
    *manager = session->manager;
    return COMMAND_OK;
}

int manage_fail(const struct command_line *line, const struct manager_answer *answer, const char *doing)
{
    fprintf(line->err, "Error %u when %s: %s\n", answer->code, doing, answer->text);
    return COMMAND_FAILED;
}

static void print_json(json_t *document, FILE *out)
{
    json_dumpf(document, out, JSON_INDENT(2));
    fputc('\n', out);
}

/** Values of results that have a unit in text. */
static const char *unit(const char *key)
{
    if (strcmp(key, "expires") == 0 || strcmp(key, "congestion-marking-interval") == 0)
        return "ms";
    return strcmp(key, "default-congestion-threshold") == 0 ? "B" : "";
}

int manage_result(const struct command_line *line, json_t *result)
{
    const char *key;
    json_t *value;
    if (command_has(line, "json")) {
        print_json(result, line->out);
        json_decref(result);
        return COMMAND_OK;
    }
    fprintf(line->out, "%s", json_string_value(json_object_get(result, "result")));
    json_object_foreach(result, key, value)
    {
        if (strcmp(key, "result") == 0)
            continue;
        if (json_is_string(value))
            fprintf(line->out, " %s=%s", key, json_string_value(value));
        else if (json_is_integer(value))
            fprintf(line->out, " %s=%" JSON_INTEGER_FORMAT "%s", key, json_integer_value(value), unit(key));
        else if (json_is_boolean(value))
            fprintf(line->out, " %s=%s", key,
                    strcmp(key, "has-more") == 0 ? (json_is_true(value) ? "yes" : "no")
                                                 : (json_is_true(value) ? "on" : "off"));
        else
            fprintf(line->out, " %s=never", key);
    }
    fputc('\n', line->out);
    json_decref(result);
    return COMMAND_OK;
}

int manage_rows(const struct command_line *line, const char *name, const struct text_column *columns, json_t *rows)
{
    if (command_has(line, "json")) {
        json_t *document = json_pack("{so}", name, rows);
        print_json(document, line->out);
        json_decref(document);
        return COMMAND_OK;
    }
    text_table_print(columns, rows, line->out);
    json_decref(rows);
    return COMMAND_OK;
}

int manage_object(const struct command_line *line, const struct text_column *columns, json_t *object)
{
    if (command_has(line, "json"))
        print_json(object, line->out);
    else
        text_list_print(columns, object, line->out);
    json_decref(object);
    return COMMAND_OK;
}

json_t *manage_number(uint64_t number)
{
    return json_integer(number < INT64_MAX ? (json_int_t)number : INT64_MAX);
}

json_t *manage_name(struct mgmt_octets name)
{
    char text[NFD_NAME_TEXT_MAX];
    nfd_name_text(name, text, sizeof text);
    return json_string(text);
}

json_t *manage_octets(struct mgmt_octets octets)
{
    char text[NFD_NAME_TEXT_MAX];
    nfd_octets_text(octets, text, sizeof text);
    return json_string(text);
}

int manage_arg_name(const struct command_line *line, const char *arg, uint8_t *octets, size_t size,
                    struct mgmt_octets *name)
{
    const char *text = command_arg(line, arg);
    int len = nfd_name_parse(text, octets, size);
    if (len < 0) {
        fprintf(line->err, "pitlane: %s %s: not an NDN name\n", arg, text);
        return -EINVAL;
    }
    *name = (struct mgmt_octets){octets, (uint16_t)len};
    return 0;
}

int manage_arg_on_off(const struct command_line *line, const char *arg, bool *on)
{
    const char *text = command_arg(line, arg);
    if (text == NULL)
        return 0;
    *on = strcmp(text, "on") == 0;
    if (*on || strcmp(text, "off") == 0)
        return 1;
    fprintf(line->err, "pitlane: %s %s: on or off is allowed\n", arg, text);
    return -EINVAL;
}
