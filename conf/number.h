// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_NUMBER_H
#define CONF_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/schema.h"

/** Octets that number_format() writes at most, NUL counted in. */
#define NUMBER_MAX 32

/**
 * Read a number as it is written in a string: with a unit of its type ("64k", "10ms", "25%"), counts also as "0xe0", in
 * the unit that the type is kept in (SCHEMA_REAL: millionths). On failure @p why says what is allowed.
 */
bool number_parse(enum schema_type type, const char *text, int64_t *value, char *why, size_t why_size);

/** Write a number so that number_parse() reads it: "64k" stays 65536 for counts, times and sizes get a unit. */
void number_format(enum schema_type type, int64_t value, char text[NUMBER_MAX]);

#endif
