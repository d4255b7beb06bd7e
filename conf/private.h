// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_PRIVATE_H
#define CONF_PRIVATE_H

#include "conf/conf.h"
#include "conf/faults.h"
#include "conf/schema.h"
#include "conf/stringpool.h"
#include "conf/text.h"

/** A key that the text sets. */
struct conf_set {
    const void *item;
    const struct schema_key *key;
    struct conf_at at;
};

/**
 * A struct conf with what its users do not see. While a text is loaded every position has a line of the merged text
 * (conf/text.h) and no file; at the end all of them are resolved.
 */
struct conf_private {
    struct conf conf; /**< first, so that a pointer to it is a pointer to this */
    struct stringpool strings;
    struct conf_set *set; /**< by item and key once all are read */
    size_t n_set, set_room;
};

/** Where a key of an item was set, NULL when it was not. */
const struct conf_set *conf_set_find(const struct conf_private *conf, const void *item, const char *key);

/**
 * Fill in defaults that depend on other settings, resolve references, and check what involves more than one key.
 *
 * @return 0 or -ENOMEM; what is wrong was added to @p faults
 */
int check_all(struct conf_private *conf, const struct text *text, struct faults *faults);

#endif
