// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_TAKE_H
#define CONF_TAKE_H

#include <stdbool.h>

#include <libconfig.h>

#include "conf/schema.h"
#include "conf/stringpool.h"

/** Octets of a reason, NUL counted in. */
#define TAKE_WHY_MAX 300

/** A value of the text, or of the schema's default. */
struct take_value {
    const config_setting_t *setting; /**< NULL: a default */
    const char *text;                /**< of a string, else NULL */
};

/** What a setting is, as messages call it. */
const char *take_type_name(const config_setting_t *setting);

/**
 * Check a value against its key and store it in @p item; strings go to @p strings. On failure @p why says what is
 * allowed, in at most TAKE_WHY_MAX octets. When memory ran out *no_memory is set and true returned.
 */
bool take_value(struct stringpool *strings, bool *no_memory, const struct schema_key *key, void *item,
                const struct take_value *value, char *why);

#endif
