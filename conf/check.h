// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_CHECK_H
#define CONF_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/private.h"

/* What the checks of several sections share; the way in is check_all() of conf/private.h. */

struct check {
    struct conf_private *priv;
    struct conf *conf;
    const struct text *text;
    struct faults *faults;
};

/** Names of items, sorted, to resolve references. */
struct check_name {
    const char *name;
    unsigned index;
};
struct check_names {
    struct check_name *list;
    unsigned n;
};

/** Merged line of a key, or of its item when the key is not set. */
unsigned check_line(const struct check *check, const void *item, const char *key);
/** True when the text sets the key, false when it has its default. */
bool check_is_set(const struct check *check, const void *item, const char *key);

/** Add a fault at a key of an item. */
#define CHECK_FAULT(check, item, key, ...) faults_add((check)->faults, check_line(check, item, key), __VA_ARGS__)

/** Find the index of the item called @p name; false when there is none, which is a fault at key @p what of @p item. */
bool check_resolve(struct check *check, const struct check_names *names, const char *what, const char *name,
                   unsigned *index, const void *item, const char *path);

/** Check every face against its port and the other faces. @return 0 or -ENOMEM */
int check_faces(struct check *check, const struct check_names *ports);
/** Check QUIC services with what belongs to them. */
void check_quic(struct check *check, const struct check_names *ports);

#endif
