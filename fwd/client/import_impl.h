// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_CLIENT_IMPORT_IMPL_H
#define FWD_CLIENT_IMPORT_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fwd/client/import_info.h"

/* What the parts of the import share. */

struct import_setting {
    char *key;   /**< "tcp.port"; of an item of a list: "strategy" */
    char *value; /**< as it is written; of an item: its settings in braces */
};

struct import {
    const char *path; /**< of nfd.conf */
    FILE *report, *err;
    unsigned n_errors;
    bool no_memory;
    struct import_setting *setting;
    size_t n_settings, room;
    char **by_hand; /**< remarks that go into the new file, too */
    size_t n_by_hand;
    uint64_t refresh_s; /**< shortest refresh of a folder of trust anchors; 0: none */
};

#define IMPORT_PATH_MAX 200

/** A fault at a node: nothing is written then. */
void import_error(struct import *import, const struct info_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* What became of a key. @p path: "face_system.tcp.port". */

/** It is taken as a setting, which is written down. @p value as it is written: "6363", "\"lru\"". */
void import_take(struct import *import, const struct info_node *node, const char *path, const char *key,
                 const char *value);
/** It is what is done in any case, or has been said otherwise. */
void import_taken(struct import *import, const struct info_node *node, const char *path, const char *how);
void import_no_effect(struct import *import, const struct info_node *node, const char *path, const char *because);
void import_by_hand(struct import *import, const struct info_node *node, const char *path, const char *what);
/** A section that is not there means something, too. */
void import_absent(struct import *import, const char *path, const char *key, const char *value);

/** A string as it is written, to be freed; NULL after a fault or without memory. */
char *import_quote(struct import *import, const struct info_node *node, const char *text);
/** All settings as a configuration. */
void import_write(const struct import *import, FILE *out);
void import_clear(struct import *import);

enum import_kind {
    IMPORT_BOOL,    /**< yes or no */
    IMPORT_COUNT,   /**< number */
    IMPORT_SECONDS, /**< number, written with "s" */
    IMPORT_MS,      /**< number, written with "ms" */
    IMPORT_GROUP,   /**< what @p take makes of it */
    IMPORT_NONE,    /**< no effect, because of @p why */
    IMPORT_FIXED,   /**< @p def is what is done in any case; else to be done by hand as @p why says */
};

struct import_key {
    const char *name;
    enum import_kind kind;
    bool many;         /**< may be there more than once */
    const char *to;    /**< setting */
    uint64_t min, max; /**< of a number; out of it: the nearest is taken, unless it is strict */
    bool strict;       /**< out of range is a fault, as in NFD */
    const char *def;   /**< IMPORT_FIXED */
    const char *why;   /**< IMPORT_NONE, IMPORT_FIXED */
    void (*take)(struct import *import, const struct info_node *node, const char *path);
};

/** Go through the children of a node by a table that ends with a NULL name; what is not in it is a fault. */
void import_walk(struct import *import, const struct info_node *node, const char *path, const struct import_key *keys);

/** Child of this key, the first; NULL when there is none. */
const struct info_node *import_child(const struct info_node *node, const char *key);
/** Read "yes" or "no"; anything else is a fault. */
bool import_yes_no(struct import *import, const struct info_node *node, const char *path, bool *yes);
/** A value must be there; none is a fault. */
bool import_has_value(struct import *import, const struct info_node *node, const char *path);
/** "PATH.KEY" */
void import_join(char joined[IMPORT_PATH_MAX], const char *path, const char *key);
/** A path that is relative is so to the folder of nfd.conf; made absolute, to be freed; NULL without memory. */
char *import_file(struct import *import, const char *name);

/* The sections. */
void import_general(struct import *import, const struct info_node *node, const char *path);
void import_log(struct import *import, const struct info_node *node, const char *path);
void import_forwarder(struct import *import, const struct info_node *node, const char *path);
void import_tables(struct import *import, const struct info_node *node, const char *path);
void import_face_system(struct import *import, const struct info_node *node, const char *path);
void import_authorizations(struct import *import, const struct info_node *node, const char *path);
void import_rib(struct import *import, const struct info_node *node, const char *path);
/** What sections mean that are not there at all. */
void import_face_system_absent(struct import *import, const struct info_node *section);
void import_security_absent(struct import *import, const struct info_node *authorizations, const struct info_node *rib);

#endif
