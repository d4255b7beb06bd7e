// SPDX-License-Identifier: Apache-2.0
#include "conf/take.h"
#include "conf/faults.h"
#include "conf/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *take_type_name(const config_setting_t *setting)
{
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return "a whole number";
    case CONFIG_TYPE_FLOAT:
        return "a number with a fraction";
    case CONFIG_TYPE_BOOL:
        return "true or false";
    case CONFIG_TYPE_STRING:
        return "a string";
    case CONFIG_TYPE_GROUP:
        return "a group { }";
    case CONFIG_TYPE_ARRAY:
        return "an array [ ]";
    default:
        return "a list ( )";
    }
}

static void store_number(const struct schema_key *key, void *field, int64_t number)
{
    if (key->type == SCHEMA_REAL)
        memcpy(field, &(double){(double)number / 1e6}, sizeof(double));
    else if (key->size == sizeof(uint16_t))
        memcpy(field, &(uint16_t){(uint16_t)number}, sizeof(uint16_t));
    else if (key->size == sizeof(uint32_t))
        memcpy(field, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
    else
        memcpy(field, &(uint64_t){(uint64_t)number}, sizeof(uint64_t));
}

/* Read a number that is not a string, in the unit that the type is kept in; @p shown is how it is written. */
static bool read_number(const struct schema_key *key, const config_setting_t *setting, int64_t *number,
                        char shown[NUMBER_MAX], char *why)
{
    int type = config_setting_type(setting);
    bool is_time = key->type == SCHEMA_TIME_US || key->type == SCHEMA_TIME_MS;
    if (type == CONFIG_TYPE_FLOAT && key->type == SCHEMA_REAL) {
        double real = config_setting_get_float(setting);
        *number = fabs(real) < 1e12 ? llround(real * 1e6) : INT64_MAX;
        snprintf(shown, NUMBER_MAX, "%g", real);
        return true;
    }
    if (type != CONFIG_TYPE_INT && type != CONFIG_TYPE_INT64) {
        snprintf(why, TAKE_WHY_MAX, "is %s; %s is needed", take_type_name(setting),
                 is_time                    ? "a time in quotes, as \"10ms\","
                 : key->type == SCHEMA_REAL ? "a number"
                                            : "a whole number");
        return false;
    }
    *number = type == CONFIG_TYPE_INT ? config_setting_get_int(setting) : config_setting_get_int64(setting);
    snprintf(shown, NUMBER_MAX, "%" PRId64, *number);
    if (is_time && *number != 0) {
        snprintf(why, TAKE_WHY_MAX, "%s has no unit; a string as \"50us\", \"10ms\" or \"4s\" is allowed", shown);
        return false;
    }
    if (key->type == SCHEMA_REAL && __builtin_mul_overflow(*number, 1000000, number))
        *number = INT64_MAX;
    return true;
}

static bool take_number(const struct schema_key *key, void *field, const struct take_value *value, char *why)
{
    int64_t number = 0;
    char shown[NUMBER_MAX], min[NUMBER_MAX], max[NUMBER_MAX];
    if (value->text != NULL) {
        if (!number_parse(key->type, value->text, &number, why, TAKE_WHY_MAX))
            return false;
        number_format(key->type, number, shown);
    } else if (!read_number(key, value->setting, &number, shown, why)) {
        return false;
    }
    if ((number >= key->min && number <= key->max) || (number == 0 && key->zero != NULL)) {
        store_number(key, field, number);
        return true;
    }
    number_format(key->type, key->min, min);
    number_format(key->type, key->max, max);
    int len = snprintf(why, TAKE_WHY_MAX, "%s is out of range; %s to %s is allowed", shown, min, max);
    if (key->zero != NULL)
        snprintf(why + len, TAKE_WHY_MAX - (size_t)len, ", or 0 (%s)", key->zero);
    return false;
}

static bool take_bool(void *field, const struct take_value *value, char *why)
{
    static const struct {
        const char *name;
        bool value;
    } words[] = {{"yes", true}, {"no", false}, {"true", true}, {"false", false}, {"on", true}, {"off", false}};
    if (value->text == NULL && config_setting_type(value->setting) == CONFIG_TYPE_BOOL) {
        memcpy(field, &(bool){config_setting_get_bool(value->setting) != 0}, sizeof(bool));
        return true;
    }
    for (size_t i = 0; value->text != NULL && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(value->text, words[i].name) == 0) {
            memcpy(field, &words[i].value, sizeof(bool));
            return true;
        }
    if (value->text != NULL)
        snprintf(why, TAKE_WHY_MAX, "\"%.40s\" is neither yes nor no; true or false is allowed", value->text);
    else
        snprintf(why, TAKE_WHY_MAX, "is %s; true or false is allowed", take_type_name(value->setting));
    return false;
}

static const char *choice_name(const void *choices, size_t i)
{
    return ((const struct schema_choice *)choices)[i].name;
}

static bool take_choice(const struct schema_key *key, void *field, const struct take_value *value, char *why)
{
    size_t n = 0, len = 0;
    char allowed[TAKE_WHY_MAX / 2] = "";
    for (; key->choices[n].name != NULL; n++) {
        const struct schema_choice *choice = &key->choices[n];
        if (value->text != NULL && strcmp(choice->name, value->text) == 0) {
            memcpy(field, &choice->value, sizeof choice->value);
            return true;
        }
        if (choice->name[0] != '/' && len < sizeof allowed)
            len += (size_t)snprintf(allowed + len, sizeof allowed - len, "%s\"%s\"", n > 0 ? ", " : "", choice->name);
    }
    if (value->text == NULL) {
        snprintf(why, TAKE_WHY_MAX, "is %s; one of %s is allowed", take_type_name(value->setting), allowed);
        return false;
    }
    const char *near = faults_nearest(value->text, choice_name, key->choices, n);
    snprintf(why, TAKE_WHY_MAX, "\"%.40s\" is not known; %s%s%s%s is allowed", value->text,
             near != NULL ? "did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"? One of " : "one of ",
             allowed);
    return false;
}

/* Check one string, a whole value or an element, and keep it at @p field even when it is refused. */
static bool take_string(struct stringpool *strings, bool *no_memory, const struct schema_key *key, void *item,
                        void *field, const char *octets, char *why)
{
    size_t len = strlen(octets);
    const char *text = stringpool_keep(strings, octets, len);
    if (text == NULL) {
        *no_memory = true;
        return true;
    }
    // Kept even when it is refused, so that other checks do not take it for missing.
    memcpy(field, &text, sizeof text);
    if (len == 0) {
        snprintf(why, TAKE_WHY_MAX, "is empty; a string \"%s\" is needed", key->form);
        return false;
    }
    for (const char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7F) {
            snprintf(why, TAKE_WHY_MAX, "has a control character; printable characters are allowed");
            return false;
        }
    char detail[TAKE_WHY_MAX - 60];
    if (len > (size_t)key->max) {
        snprintf(why, TAKE_WHY_MAX, "is %zu octets long; at most %" PRId64 " are allowed", len, key->max);
        return false;
    }
    if (!key->accept(item, text, detail, sizeof detail)) {
        snprintf(why, TAKE_WHY_MAX, "\"%.50s%s\" %s", text, len > 50 ? "..." : "", detail);
        return false;
    }
    return true;
}

static bool take_text(struct stringpool *strings, bool *no_memory, const struct schema_key *key, void *item,
                      const struct take_value *value, char *why)
{
    if (value->text == NULL) {
        snprintf(why, TAKE_WHY_MAX, "is %s; a string \"%s\" is needed", take_type_name(value->setting), key->form);
        return false;
    }
    return take_string(strings, no_memory, key, item, (char *)item + key->offset, value->text, why);
}

static bool is_list(const struct take_value *value)
{
    return value->text == NULL && (config_setting_is_array(value->setting) || config_setting_is_list(value->setting));
}

static struct take_value element_of(const struct take_value *value, unsigned i)
{
    const config_setting_t *setting = config_setting_get_elem(value->setting, i);
    bool is_text = config_setting_type(setting) == CONFIG_TYPE_STRING;
    return (struct take_value){setting, is_text ? config_setting_get_string(setting) : NULL};
}

/* One more string of a list, which has none like it. */
static bool take_element(struct stringpool *strings, bool *no_memory, const struct schema_key *key, void *item,
                         unsigned n, const char *text, char *why)
{
    const char **list = (const char **)(void *)((char *)item + key->offset);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(list[i], text) == 0) {
            snprintf(why, TAKE_WHY_MAX, "has \"%.50s\" twice, as elements %u and %u; once is allowed", text, i + 1,
                     n + 1);
            return false;
        }
    return take_string(strings, no_memory, key, item, &list[n], text, why) && !*no_memory;
}

/* A default is one string, its elements apart by ", ". */
static unsigned default_elements(const char *def, char copy[SCHEMA_DEFAULT_MAX], const char *element[], unsigned max)
{
    unsigned n = 0;
    snprintf(copy, SCHEMA_DEFAULT_MAX, "%s", def);
    for (char *save, *word = strtok_r(copy, ", ", &save); word != NULL && n < max; word = strtok_r(NULL, ", ", &save))
        element[n++] = word;
    return n;
}

static bool take_texts(struct stringpool *strings, bool *no_memory, const struct schema_key *key, void *item,
                       const struct take_value *value, char *why)
{
    char copy[SCHEMA_DEFAULT_MAX];
    const char *single[SCHEMA_DEFAULT_MAX / 2] = {value->text};
    unsigned n = 1, taken = 0;
    bool listed = is_list(value), ok = true;
    if (value->setting == NULL)
        n = default_elements(value->text, copy, single, sizeof single / sizeof single[0]);
    else if (listed)
        n = (unsigned)config_setting_length(value->setting);
    if (n > key->max_count) {
        snprintf(why, TAKE_WHY_MAX, "has %u values; at most %u are allowed", n, key->max_count);
        return false;
    }
    for (; ok && taken < n; taken++) {
        struct take_value element =
            listed ? element_of(value, taken) : (struct take_value){value->setting, single[taken]};
        if (element.text == NULL) {
            snprintf(why, TAKE_WHY_MAX, "%s %s; strings \"%s\" are needed", listed ? "has" : "is",
                     take_type_name(element.setting), key->form);
            ok = false;
            break;
        }
        ok = take_element(strings, no_memory, key, item, taken, element.text, why) || *no_memory;
        if (*no_memory)
            break;
    }
    memset((char *)item + key->offset + taken * key->size, 0, (key->max_count - taken) * key->size);
    memcpy((char *)item + key->count_offset, &taken, sizeof taken);
    return ok;
}

static bool take_counts(const struct schema_key *key, void *item, const struct take_value *value, char *why)
{
    char *list = (char *)item + key->offset;
    unsigned n = 1;
    bool listed = is_list(value);
    if (listed)
        n = (unsigned)config_setting_length(value->setting);
    if (n == 0 || n > key->max_count) {
        snprintf(why, TAKE_WHY_MAX, "has %u values; 1 to %u are allowed", n, key->max_count);
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        struct take_value element = listed ? element_of(value, i) : *value;
        char *field = list + i * key->size;
        if (!take_number(key, field, &element, why))
            return false;
        for (unsigned k = 0; k < i; k++)
            if (memcmp(list + k * key->size, field, key->size) == 0) {
                snprintf(why, TAKE_WHY_MAX, "has the same value twice, as elements %u and %u; once is allowed", k + 1,
                         i + 1);
                return false;
            }
    }
    // A default may have been longer.
    memset(list + n * key->size, 0, (key->max_count - n) * key->size);
    memcpy((char *)item + key->count_offset, &n, sizeof n);
    return true;
}

bool take_value(struct stringpool *strings, bool *no_memory, const struct schema_key *key, void *item,
                const struct take_value *value, char *why)
{
    void *field = (char *)item + key->offset;
    switch (key->type) {
    case SCHEMA_BOOL:
        return take_bool(field, value, why);
    case SCHEMA_CHOICE:
        return take_choice(key, field, value, why);
    case SCHEMA_TEXT:
        return take_text(strings, no_memory, key, item, value, why);
    case SCHEMA_TEXTS:
        return take_texts(strings, no_memory, key, item, value, why);
    case SCHEMA_COUNTS:
        return take_counts(key, item, value, why);
    default:
        return take_number(key, field, value, why);
    }
}
