// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_MANAGE_PRIV_H
#define FWD_CLIENT_MANAGE_PRIV_H

#include <jansson.h>
#include <stdbool.h>

#include "fwd/client/command.h"
#include "fwd/client/manager.h"
#include "fwd/client/text_table.h"

/* What the commands of the management protocol share. */

/**
 * The link to management, opened by the options of the command, or the one that the session has open with the same
 * ones. @p quiet: no complaint when nobody is there. @return enum command_exit
 */
int manage_open(const struct command_line *line, bool quiet, struct manager **manager);

/** Complain: "Error CODE when DOING: TEXT". @return COMMAND_FAILED */
int manage_fail(const struct command_line *line, const struct manager_answer *answer, const char *doing);

/**
 * Print the result of a change: { "result": WORD, KEY: VALUE, ... } as WORD KEY=VALUE ..., or with -j as it is.
 * Takes @p result over. @return COMMAND_OK
 */
int manage_result(const struct command_line *line, json_t *result);

/** Print rows as a table, or with -j as { NAME: rows }. Takes @p rows over. @return COMMAND_OK */

int manage_rows(const struct command_line *line, const char *name, const struct text_column *columns, json_t *rows);
/** Print an object as a list, or with -j as it is. Takes @p object over. @return COMMAND_OK */
int manage_object(const struct command_line *line, const struct text_column *columns, json_t *object);

/** A number of 64 bits; what JSON of this library cannot hold becomes its largest. */
json_t *manage_number(uint64_t number);
json_t *manage_name(struct mgmt_octets name);
json_t *manage_octets(struct mgmt_octets octets);

/** Name of an argument into @p octets, as a view. Complains. @return 0, -EINVAL */
int manage_arg_name(const struct command_line *line, const char *arg, uint8_t *octets, size_t size,
                    struct mgmt_octets *name);
/** on or off of an argument. Complains. @return 1 and *on, 0 when it was not given, -EINVAL */
int manage_arg_on_off(const struct command_line *line, const char *arg, bool *on);

/** Faces of faces/query, or with @p filter NULL of faces/list. */
struct face_set {
    struct manager_dataset dataset;
    struct mgmt_face_status *face; /**< views into the dataset */
    size_t n;
};
/** @return enum command_exit, after a complaint when not COMMAND_OK */
int face_set_fetch(const struct command_line *line, struct manager *manager, const struct mgmt_face_filter *filter,
                   struct face_set *set);
void face_set_free(struct face_set *set);

/**
 * Faces that a FaceId or FaceUri means: @p many: more than one may match, else that is a fault. No face at all is a
 * fault but when @p none_ok. @return enum command_exit, after a complaint when not COMMAND_OK
 */
int face_find(const struct command_line *line, struct manager *manager, const char *text, bool many, bool none_ok,
              struct face_set *set);

/** Canonical FaceUri of what a user wrote. Complains. @return 0, -EINVAL, -ENOENT */
int face_canonize(const struct command_line *line, const char *text, const char *which, char uri[256]);

/** Create a face with this canonical FaceUri for a route. @return enum command_exit and *face_id */
int face_create_for_route(const struct command_line *line, struct manager *manager, const char *uri, uint64_t *face_id);

/* Lists as rows for JSON and tables. @return enum command_exit, after a complaint when not COMMAND_OK */
int face_rows(const struct command_line *line, struct manager *manager, json_t **rows);
int channel_rows(const struct command_line *line, struct manager *manager, json_t **rows);
int fib_rows(const struct command_line *line, struct manager *manager, json_t **rows);
int route_rows(const struct command_line *line, struct manager *manager, json_t **rows);
int strategy_rows(const struct command_line *line, struct manager *manager, json_t **rows);
int cs_object(const struct command_line *line, struct manager *manager, json_t **object);
int status_object(const struct command_line *line, struct manager *manager, json_t **object);

extern const struct text_column face_columns[], channel_columns[], fib_columns[], route_columns[], strategy_columns[],
    cs_columns[];

#endif
