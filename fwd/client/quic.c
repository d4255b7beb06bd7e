// SPDX-License-Identifier: Apache-2.0
/* `pitlane quic list` and `pitlane quic show`. */
#include "fwd/client/quic.h"

#include <stdio.h>
#include <string.h>

#include "fwd/client/command.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/show.h"

static const struct text_column service_columns[] = {
    {"name", "SERVICE", TEXT_STRING},      {"vip", "VIP", TEXT_STRING},
    {"delivery", "DELIVERY", TEXT_STRING}, {"servers", "SERVERS", TEXT_NUMBER},
    {"packets", "PACKETS", TEXT_NUMBER},   {"bytes", "BYTES", TEXT_NUMBER},
    {"initials", "INITIALS", TEXT_NUMBER}, {"by_cid", "BY CID", TEXT_NUMBER},
    {"by_hash", "BY HASH", TEXT_NUMBER},   {0},
};

static const struct text_column server_columns[] = {
    {"name", "SERVER", TEXT_STRING},
    {"address", "ADDRESS", TEXT_STRING},
    {"id", "ID", TEXT_STRING},
    {"state", "STATE", TEXT_STRING},
    {"health", "HEALTH", TEXT_STRING},
    {"port", "PORT", TEXT_STRING},
    {"mac", "MAC", TEXT_STRING},
    {"mtu", "MTU", TEXT_NUMBER},
    {"weight", "WEIGHT", TEXT_NUMBER},
    {"share", "SHARE", TEXT_STRING},
    {"packets", "PACKETS", TEXT_NUMBER},
    {"bytes", "BYTES", TEXT_NUMBER},
    {"initials", "INITIALS", TEXT_NUMBER},
    {0},
};

static json_t *ask(const struct command_line *line, const char *command)
{
    char err[TEL_ERR];
    json_t *answer = show_ask(line, command, true, err);
    if (answer == NULL)
        fprintf(line->err, "pitlane: %s\n", err);
    return answer;
}

int quic_list(const struct command_line *line)
{
    json_t *services = ask(line, "/pitlane/quic");
    return services != NULL ? manage_rows(line, "services", service_columns, services) : COMMAND_FAILED;
}

static bool is_called(const json_t *row, const char *key, const char *name)
{
    const char *value = json_string_value(json_object_get(row, key));
    return value != NULL && strcmp(value, name) == 0;
}

/* Rows of the service, with the share of new connections as a text; takes @p rows over. */
static json_t *servers_of(json_t *rows, const char *service)
{
    json_t *servers = json_array(), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (!is_called(row, "service", service))
            continue;
        char share[32];
        double millionths = (double)json_integer_value(json_object_get(row, "share_millionths"));
        snprintf(share, sizeof share, "%.1f%%", millionths / 1e4);
        json_object_set_new(row, "share", json_string(share));
        json_object_del(row, "share_millionths");
        json_array_append(servers, row);
    }
    json_decref(rows);
    return servers;
}

int quic_show(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"name", "service", TEXT_STRING},
        {"vip", "virtual addresses", TEXT_STRING},
        {"delivery", "delivery", TEXT_STRING},
        {"retry", "retry", TEXT_STRING},
        {"packets", "datagrams in", TEXT_NUMBER},
        {"bytes", "octets in", TEXT_NUMBER},
        {0},
    };
    json_t *services = ask(line, "/pitlane/quic"), *service = NULL, *row;
    if (services == NULL)
        return COMMAND_FAILED;
    size_t i;
    json_array_foreach(services, i, row) if (is_called(row, "name", line->operand)) service = json_incref(row);
    json_decref(services);
    if (service == NULL) {
        fprintf(line->err, "pitlane: no QUIC service is called '%s'\n", line->operand);
        return COMMAND_FAILED;
    }
    json_t *servers = ask(line, "/pitlane/quic_servers");
    if (servers == NULL) {
        json_decref(service);
        return COMMAND_FAILED;
    }
    servers = servers_of(servers, line->operand);
    if (command_has(line, "json")) {
        json_object_set_new(service, "servers", servers);
        return manage_object(line, columns, service);
    }
    json_object_del(service, "servers");
    json_object_del(service, "slot");
    manage_object(line, columns, service);
    return manage_rows(line, "servers", server_columns, servers);
}
