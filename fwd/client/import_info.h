// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_IMPORT_INFO_H
#define FWD_CLIENT_IMPORT_INFO_H

#include <stddef.h>
#include <stdio.h>

/*
 * Reader of the INFO format of nfd.conf: `key value`, groups in braces, comments after ';', strings in double quotes
 * with escapes, `#include "FILE"`. Single-threaded.
 */

/** Groups in one another, files that include one another, octets of all files together. */
#define INFO_DEPTH_MAX   64
#define INFO_INCLUDE_MAX 16
#define INFO_OCTETS_MAX  (4u << 20)

struct info_node {
    char *key;
    char *value;      /**< "" when there is none */
    const char *file; /**< lives as long as the tree */
    unsigned line;
    struct info_node *child, *last_child; /**< in the order of the file */
    struct info_node *next;
};

struct info;

/**
 * Read a file with those that it includes, which are relative to the folder of the file that names them. The first
 * fault is written to @p err as "FILE:LINE: reason".
 *
 * @return 0; -EINVAL with a fault; another negative errno when the file cannot be read (written to @p err, too)
 */
int info_load(const char *path, struct info **info, FILE *err);
/** The same from @p len octets that messages call @p name; it may include files. */
int info_load_text(const char *name, const char *text, size_t len, struct info **info, FILE *err);
void info_free(struct info *info);

/** The root: its children are the sections of the file. */
const struct info_node *info_root(const struct info *info);

#endif
