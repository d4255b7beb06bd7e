// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_SCHEMA_KEYS_H
#define CONF_SCHEMA_KEYS_H

#include "conf/schema.h"

/* How tables of keys are written, and those that have a file of their own. */

#define FIELD(type, field) .offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)
#define ELEMENTS(type, field, count)                                                      \
    .offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field[0]), \
    .count_offset = offsetof(struct type, count),                                         \
    .max_count = sizeof(((struct type *)0)->field) / sizeof(((struct type *)0)->field[0])

extern const struct schema_key schema_quic_keys[21];
extern const struct schema_key schema_quic_config_keys[5];
extern const struct schema_key schema_quic_scheme_keys[5];
extern const struct schema_key schema_quic_server_keys[8];

#endif
