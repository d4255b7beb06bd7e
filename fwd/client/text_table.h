// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_TEXT_TABLE_H
#define FWD_CLIENT_TEXT_TABLE_H

#include <jansson.h>
#include <stdio.h>

/** How a value of JSON is written in a table. */
enum text_format {
    TEXT_STRING = 0, /**< as it is, left-aligned */
    TEXT_NUMBER,     /**< whole number, right-aligned */
    TEXT_DURATION,   /**< milliseconds, as 3d04h, 2h05m, 7m30s or 1.5s */
    TEXT_TIME,       /**< milliseconds since 1970, as 2026-01-31T12:00:00Z */
    TEXT_BOOL,       /**< yes or no */
    TEXT_ON_OFF,     /**< on or off */
};

struct text_column {
    const char *key;   /**< in the row's object; NULL ends the list */
    const char *title; /**< of the header row, with the unit when there is one */
    enum text_format format;
};

/**
 * Print an array of objects as an aligned table with a header row. A value that is absent shows as "-", a column that
 * no row has a value for is left out.
 */
void text_table_print(const struct text_column *columns, const json_t *rows, FILE *out);

/** Print one object as a list of titles and values. Keys without a column follow under their own name. */
void text_list_print(const struct text_column *columns, json_t *object, FILE *out);

/** Write a value. Always terminated, cut at @p size. */
void text_format(enum text_format format, const json_t *value, char *text, size_t size);

#endif
