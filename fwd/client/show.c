// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/show.h"

#include <stdio.h>

#include "fwd/client/command.h"
#include "fwd/client/manage_priv.h"
#include "fwd/client/tel.h"
#include "fwd/client/text_table.h"

/** What a command asks and how it shows the answer, which is a list. */
struct view {
    const char *command; /**< of the telemetry socket */
    const char *name;    /**< of the list in the JSON document */
    const struct text_column *columns;
};

json_t *show_ask(const struct command_line *line, const char *command, bool rows, char err[TEL_ERR])
{
    char path[512];
    struct tel *tel;
    if (tel_path(path, sizeof path, command_value(line, "socket"), command_value(line, "runtime-dir"),
                 command_value(line, "prefix")) != 0) {
        snprintf(err, TEL_ERR, "path of the socket is too long");
        return NULL;
    }
    if (tel_open(&tel, path, err) != 0)
        return NULL;
    json_t *answer = rows ? tel_query_rows(tel, command, err) : tel_query(tel, command, NULL, err);
    tel_close(tel);
    return answer;
}

/** Rows of what a view shows. NULL after a complaint. */
static json_t *ask(const struct command_line *line, const struct view *view)
{
    char err[TEL_ERR];
    json_t *answer = show_ask(line, view->command, true, err);
    if (answer == NULL)
        fprintf(line->err, "pitlane: %s\n", err);
    return answer;
}

static int show(const struct command_line *line, const struct view *view)
{
    json_t *answer = ask(line, view);
    return answer != NULL ? manage_rows(line, view->name, view->columns, answer) : COMMAND_FAILED;
}

const struct text_column show_status_columns[] = {
    {"version", "version", TEXT_STRING},
    {"pid", "process", TEXT_NUMBER},
    {"uptime_ms", "running for", TEXT_DURATION},
    {"start_ms", "started", TEXT_TIME},
    {"current_ms", "now", TEXT_TIME},
    {"workers", "workers", TEXT_NUMBER},
    {"ports", "ports", TEXT_NUMBER},
    {"faces", "faces", TEXT_NUMBER},
    {"prefixes", "prefixes", TEXT_NUMBER},
    {"received", "frames received", TEXT_NUMBER},
    {"originated", "frames made here", TEXT_NUMBER},
    {"sent", "frames sent", TEXT_NUMBER},
    {"consumed", "frames consumed", TEXT_NUMBER},
    {"dropped", "frames dropped", TEXT_NUMBER},
    {"held", "frames held", TEXT_NUMBER},
    {"error", "frames unaccounted for", TEXT_NUMBER},
    {"in_interests", "Interests in", TEXT_NUMBER},
    {"in_data", "Data in", TEXT_NUMBER},
    {"in_nacks", "Nacks in", TEXT_NUMBER},
    {"out_interests", "Interests out", TEXT_NUMBER},
    {"out_data", "Data out", TEXT_NUMBER},
    {"out_nacks", "Nacks out", TEXT_NUMBER},
    {"satisfied", "Interests satisfied", TEXT_NUMBER},
    {"unsatisfied", "Interests unsatisfied", TEXT_NUMBER},
    {"fib_entries", "FIB entries", TEXT_NUMBER},
    {"name_tree_entries", "name tree entries", TEXT_NUMBER},
    {"measurements_entries", "measurements", TEXT_NUMBER},
    {"pit_entries", "PIT entries", TEXT_NUMBER},
    {"cs_entries", "CS entries", TEXT_NUMBER},
    {"cs_hits", "CS hits", TEXT_NUMBER},
    {"pool_size", "packet buffers", TEXT_NUMBER},
    {"pool_in_use", "packet buffers in use", TEXT_NUMBER},
    {0},
};

int show_ports(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"name", "PORT", TEXT_STRING},
        {"device", "DEVICE", TEXT_STRING},
        {"link", "LINK", TEXT_STRING},
        {"mac", "MAC", TEXT_STRING},
        {"mtu", "MTU", TEXT_NUMBER},
        {"queues", "QUEUES", TEXT_NUMBER},
        {"rx_frames", "RX FRAMES", TEXT_NUMBER},
        {"tx_frames", "TX FRAMES", TEXT_NUMBER},
        {"rx_bytes", "RX BYTES", TEXT_NUMBER},
        {"tx_bytes", "TX BYTES", TEXT_NUMBER},
        {"rx_lost", "RX LOST", TEXT_NUMBER},
        {"tx_lost", "TX LOST", TEXT_NUMBER},
        {0},
    };
    static const struct view view = {"/pitlane/ports", "ports", columns};
    return show(line, &view);
}

int show_workers(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"worker", "WORKER", TEXT_NUMBER},
        {"lcore", "LCORE", TEXT_NUMBER},
        {"state", "STATE", TEXT_STRING},
        {"rx_frames", "RECEIVED", TEXT_NUMBER},
        {"originated", "MADE HERE", TEXT_NUMBER},
        {"tx_frames", "SENT", TEXT_NUMBER},
        {"consumed", "CONSUMED", TEXT_NUMBER},
        {"dropped", "DROPPED", TEXT_NUMBER},
        {"handed_over", "HANDED OVER", TEXT_NUMBER},
        {"pit_entries", "PIT", TEXT_NUMBER},
        {"cs_entries", "CS", TEXT_NUMBER},
        {"busy_permille", "BUSY 1/1000", TEXT_NUMBER},
        {0},
    };
    static const struct view view = {"/pitlane/workers", "workers", columns};
    return show(line, &view);
}

int show_pit(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"worker", "WORKER", TEXT_NUMBER},
        {"entries", "ENTRIES", TEXT_NUMBER},
        {"capacity", "CAPACITY", TEXT_NUMBER},
        {"satisfied", "SATISFIED", TEXT_NUMBER},
        {"unsatisfied", "UNSATISFIED", TEXT_NUMBER},
        {"aggregated", "AGGREGATED", TEXT_NUMBER},
        {"retransmitted", "RETRANSMITTED", TEXT_NUMBER},
        {"token_hits", "TOKEN HITS", TEXT_NUMBER},
        {"memory_bytes", "MEMORY BYTES", TEXT_NUMBER},
        {0},
    };
    static const struct view view = {"/pitlane/pit", "pit", columns};
    return show(line, &view);
}

const struct text_column show_cs_columns[] = {
    {"worker", "WORKER", TEXT_NUMBER},
    {"policy", "POLICY", TEXT_STRING},
    {"entries", "ENTRIES", TEXT_NUMBER},
    {"capacity", "CAPACITY", TEXT_NUMBER},
    {"hits", "HITS", TEXT_NUMBER},
    {"misses", "MISSES", TEXT_NUMBER},
    {"inserted", "INSERTED", TEXT_NUMBER},
    {"evicted", "EVICTED", TEXT_NUMBER},
    {"memory_bytes", "MEMORY BYTES", TEXT_NUMBER},
    {0},
};

/* Rows without those of which nothing has been counted, unless all are wanted. */
static void drop_zeros(const struct command_line *line, json_t *rows)
{
    if (command_has(line, "all"))
        return;
    for (size_t i = json_array_size(rows); i > 0; i--)
        if (json_integer_value(json_object_get(json_array_get(rows, i - 1), "count")) == 0)
            json_array_remove(rows, i - 1);
}

int show_sockets(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"counter", "COUNTER", TEXT_STRING},
        {"count", "COUNT", TEXT_NUMBER},
        {"text", "MEANING", TEXT_STRING},
        {0},
    };
    static const struct view view = {"/pitlane/sockets", "sockets", columns};
    json_t *rows = ask(line, &view);
    if (rows == NULL)
        return COMMAND_FAILED;
    drop_zeros(line, rows);
    return manage_rows(line, view.name, columns, rows);
}

int show_drops(const struct command_line *line)
{
    static const struct text_column columns[] = {
        {"reason", "REASON", TEXT_STRING},
        {"count", "FRAMES", TEXT_NUMBER},
        {"kind", "KIND", TEXT_STRING},
        {"text", "MEANING", TEXT_STRING},
        {0},
    };
    static const struct view view = {"/pitlane/drops", "drops", columns};
    json_t *rows = ask(line, &view);
    if (rows == NULL)
        return COMMAND_FAILED;
    drop_zeros(line, rows);
    return manage_rows(line, view.name, columns, rows);
}
