// SPDX-License-Identifier: Apache-2.0
#include "conf/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEX_DIGITS "0123456789abcdefABCDEF"

struct unit {
    const char *name;
    int64_t factor;
};

/* Largest first, so that formatting takes the largest that fits. */
static const struct unit count_units[] = {{"g", 1 << 30},   {"m", 1 << 20},   {"k", 1 << 10},   {"G", 1 << 30},
                                          {"M", 1 << 20},   {"K", 1 << 10},   {"GiB", 1 << 30}, {"MiB", 1 << 20},
                                          {"KiB", 1 << 10}, {"kiB", 1 << 10}, {"", 1},          {NULL, 0}};
static const struct unit us_units[] = {{"s", 1000000}, {"ms", 1000}, {"us", 1}, {NULL, 0}};
static const struct unit ms_units[] = {{"min", 60000}, {"s", 1000}, {"ms", 1}, {NULL, 0}};
static const struct unit real_units[] = {{"%", 10000}, {"", 1000000}, {NULL, 0}};

static const struct unit *units_of(enum schema_type type)
{
    switch (type) {
    case SCHEMA_TIME_US:
        return us_units;
    case SCHEMA_TIME_MS:
        return ms_units;
    case SCHEMA_REAL:
        return real_units;
    default:
        return count_units;
    }
}

static const char *allowed_of(enum schema_type type)
{
    switch (type) {
    case SCHEMA_TIME_US:
        return "a whole number with us, ms or s, as in \"50us\"";
    case SCHEMA_TIME_MS:
        return "a whole number with ms, s or min, as in \"10ms\"";
    case SCHEMA_REAL:
        return "a number as 0.25 or \"25%\"";
    default:
        return "a whole number, with k, m or g (1024 and its powers) or without, as in \"64k\"";
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "0xe0", up to 32 bits. */
static bool parse_hex(const char *text, int64_t *value)
{
    size_t n = strlen(text);
    if (n < 3 || n > 10 || text[0] != '0' || text[1] != 'x' || text[2 + strspn(text + 2, HEX_DIGITS)] != '\0')
        return false;
    *value = (int64_t)strtoul(text, NULL, 16);
    return true;
}

bool number_parse(enum schema_type type, const char *text, int64_t *value, char *why, size_t why_size)
{
    if ((type == SCHEMA_COUNT || type == SCHEMA_COUNTS) && parse_hex(text, value))
        return true;
    const char *p = text;
    bool negative = *p == '-', overflow = false;
    p += negative;
    const char *digits = p;
    int64_t whole = 0, fraction = 0, scale = 1;
    for (; is_digit(*p); p++)
        overflow |= __builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *p - '0', &whole);
    bool is_number = p > digits;
    if (type == SCHEMA_REAL && *p == '.' && is_number) {
        p++;
        is_number = is_digit(*p);
        for (; is_digit(*p); p++)
            if (scale < 1000000000) {
                scale *= 10;
                fraction = fraction * 10 + (*p - '0');
            }
    }
    while (*p == ' ')
        p++;
    const struct unit *unit = units_of(type);
    while (unit->name != NULL && strcmp(unit->name, p) != 0)
        unit++;
    bool zero = whole == 0 && fraction == 0 && *p == '\0';
    if (!is_number || (unit->name == NULL && !zero)) {
        snprintf(why, why_size, "\"%.40s\" is not understood; allowed is %s", text, allowed_of(type));
        return false;
    }
    int64_t factor = unit->name != NULL ? unit->factor : 1, result;
    overflow |= __builtin_mul_overflow(whole, factor, &result) ||
                __builtin_add_overflow(result, fraction * factor / scale, &result);
    if (overflow) {
        snprintf(why, why_size, "\"%.40s\" is too large; allowed is %s", text, allowed_of(type));
        return false;
    }
    *value = negative ? -result : result;
    return true;
}

void number_format(enum schema_type type, int64_t value, char text[NUMBER_MAX])
{
    if (type == SCHEMA_COUNT || type == SCHEMA_COUNTS) {
        snprintf(text, NUMBER_MAX, "%" PRId64, value);
        return;
    }
    if (type == SCHEMA_REAL) {
        uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
        int n = snprintf(text, NUMBER_MAX, "%s%" PRIu64 ".%06" PRIu64, value < 0 ? "-" : "", size / 1000000,
                         size % 1000000);
        // One digit stays after the point, for the library tells numbers apart by it.
        while (n > 2 && text[n - 1] == '0' && text[n - 2] != '.')
            text[--n] = '\0';
        return;
    }
    const struct unit *unit = units_of(type);
    while (unit[1].name != NULL && (value == 0 || value % unit->factor != 0))
        unit++;
    snprintf(text, NUMBER_MAX, "%" PRId64 "%s", value / unit->factor, unit->name);
}
