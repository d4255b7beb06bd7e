// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/text_table.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#define TEXT_MAX     2048
#define TEXT_COLUMNS 32

static void format_duration(json_int_t ms, char *text, size_t size)
{
    long long s = ms / 1000;
    if (s < 10)
        snprintf(text, size, "%.1fs", (double)ms / 1000);
    else if (s < 3600)
        snprintf(text, size, "%lldm%02llds", s / 60, s % 60);
    else if (s < 86400)
        snprintf(text, size, "%lldh%02lldm", s / 3600, s / 60 % 60);
    else
        snprintf(text, size, "%lldd%02lldh", s / 86400, s / 3600 % 24);
}

static void format_time(json_int_t ms, char *text, size_t size)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL || strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        snprintf(text, size, "?");
}

void text_format(enum text_format format, const json_t *value, char *text, size_t size)
{
    if (value == NULL || json_is_null(value))
        snprintf(text, size, "-");
    else if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_boolean(value) && format == TEXT_ON_OFF)
        snprintf(text, size, "%s", json_is_true(value) ? "on" : "off");
    else if (json_is_boolean(value) || (format == TEXT_BOOL && json_is_integer(value)))
        snprintf(text, size, "%s", json_is_true(value) || json_integer_value(value) != 0 ? "yes" : "no");
    else if (json_is_integer(value) && format == TEXT_DURATION)
        format_duration(json_integer_value(value), text, size);
    else if (json_is_integer(value) && format == TEXT_TIME)
        format_time(json_integer_value(value), text, size);
    else if (json_is_integer(value))
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, size, "%.3f", json_real_value(value));
    else
        snprintf(text, size, "?");
}

static bool right_aligned(enum text_format format)
{
    return format == TEXT_NUMBER || format == TEXT_DURATION;
}

/** Has any row a value for this column? Without rows every column is shown. */
static bool column_used(const struct text_column *column, const json_t *rows)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (json_object_get(row, column->key) != NULL)
            return true;
    }
    return json_array_size(rows) == 0;
}

void text_table_print(const struct text_column *all, const json_t *rows, FILE *out)
{
    struct text_column columns[TEXT_COLUMNS];
    size_t width[TEXT_COLUMNS];
    char text[TEXT_MAX];
    size_t n = 0, i;
    const json_t *row;
    for (const struct text_column *c = all; c->key != NULL && n < TEXT_COLUMNS; c++) {
        if (!column_used(c, rows))
            continue;
        columns[n] = *c;
        width[n++] = strlen(c->title);
    }
    json_array_foreach(rows, i, row)
    {
        for (size_t c = 0; c < n; c++) {
            text_format(columns[c].format, json_object_get(row, columns[c].key), text, sizeof text);
            if (strlen(text) > width[c])
                width[c] = strlen(text);
        }
    }
    // Row 0 is the header.
    for (i = 0; i <= json_array_size(rows); i++) {
        for (size_t c = 0; c < n; c++) {
            if (i == 0)
                snprintf(text, sizeof text, "%s", columns[c].title);
            else
                text_format(columns[c].format, json_object_get(json_array_get(rows, i - 1), columns[c].key), text,
                            sizeof text);
            const char *gap = c > 0 ? "  " : "";
            if (right_aligned(columns[c].format))
                fprintf(out, "%s%*s", gap, (int)width[c], text);
            else if (c + 1 == n)
                fprintf(out, "%s%s", gap, text);
            else
                fprintf(out, "%s%-*s", gap, (int)width[c], text);
        }
        fputc('\n', out);
    }
}

void text_list_print(const struct text_column *columns, json_t *object, FILE *out)
{
    size_t width = 0;
    char text[TEXT_MAX];
    for (const struct text_column *c = columns; c->key != NULL; c++) {
        if (json_object_get(object, c->key) != NULL && strlen(c->title) > width)
            width = strlen(c->title);
    }
    for (const struct text_column *c = columns; c->key != NULL; c++) {
        const json_t *value = json_object_get(object, c->key);
        if (value == NULL)
            continue;
        text_format(c->format, value, text, sizeof text);
        fprintf(out, "%-*s  %s\n", (int)width, c->title, text);
    }
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool known = false;
        for (const struct text_column *c = columns; c->key != NULL && !known; c++)
            known = strcmp(c->key, key) == 0;
        if (known || json_is_object(value) || json_is_array(value))
            continue;
        text_format(TEXT_NUMBER, value, text, sizeof text);
        fprintf(out, "%-*s  %s\n", (int)width, key, text);
    }
}
