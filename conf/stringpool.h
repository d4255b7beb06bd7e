// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_STRINGPOOL_H
#define CONF_STRINGPOOL_H

#include <stddef.h>

/** Strings that live as long as a configuration: kept in blocks, freed together. */
struct stringpool_block;
struct stringpool {
    struct stringpool_block *first;
};

/** Keep a copy of @p len octets at @p text, ended by NUL. @return NULL when memory ran out */
const char *stringpool_keep(struct stringpool *strings, const char *text, size_t len);
void stringpool_free(struct stringpool *strings);

#endif
