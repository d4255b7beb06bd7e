// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_SCHEMA_H
#define CONF_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/conf.h"

/*
 * The one table of settings: what may be configured, of which type and range, with which default, and what it means.
 * Checks, defaults, effective configuration and manual all read it.
 */

/** Octets of a default, NUL counted in. */
#define SCHEMA_DEFAULT_MAX 128

enum schema_type {
    SCHEMA_BOOL,    /**< true, false, also "yes" and "no"; bool */
    SCHEMA_COUNT,   /**< number, also "64k"; unsigned or uint64_t by @p size */
    SCHEMA_SIZE,    /**< octets: number, also "64k", "16m", "1g"; as SCHEMA_COUNT */
    SCHEMA_TIME_US, /**< "50us", "10ms", "4s", kept in microseconds; uint32_t */
    SCHEMA_TIME_MS, /**< the same, kept in milliseconds */
    SCHEMA_REAL,    /**< number with a fraction, also "25%"; bounds and value in millionths; double */
    SCHEMA_CHOICE,  /**< one of a set of words; int */
    SCHEMA_TEXT,    /**< string; const char * */
    SCHEMA_COUNTS,  /**< numbers: [ 1, 2 ], elements as SCHEMA_COUNT */
    SCHEMA_TEXTS,   /**< strings: [ "a", "b" ], also "a" alone or none: [ ]; elements as SCHEMA_TEXT */
};

struct schema_choice {
    const char *name;
    int value; /**< of several names with one value the first is the usual one */
};

/** Check the text of a setting and store what it says in its item. On failure @p why says what is allowed. */
typedef bool (*schema_accept_t)(void *item, const char *text, char *why, size_t why_size);

struct schema_key {
    const char *name;
    enum schema_type type;
    size_t offset, size; /**< of the field (of one element for SCHEMA_COUNTS) in the item */
    size_t count_offset; /**< SCHEMA_COUNTS, SCHEMA_TEXTS: of the unsigned that counts elements */
    unsigned max_count;  /**< SCHEMA_COUNTS, SCHEMA_TEXTS */
    int64_t min, max;    /**< of numbers; of the length of strings */
    const char *zero;    /**< what 0 means, when it is allowed although it is below @p min */
    /** Default as it would be written, without quotes; of SCHEMA_TEXTS "a, b"; NULL: none. */
    const char *def;
    const char *def_note; /**< what takes the place of a default that depends on other settings */
    bool required;
    bool live; /**< a change needs no restart although that of other keys of its section does */
    schema_accept_t
        accept; /**< SCHEMA_TEXT; SCHEMA_TEXTS: called for each element, also of a default that is replaced */
    const struct schema_choice *choices; /**< SCHEMA_CHOICE, ended by a NULL name */
    const char *form;                    /**< how a string looks, for messages and the manual */
    const char *meaning;
};

enum schema_kind {
    SCHEMA_ONE,   /**< name: { key = value; }; */
    SCHEMA_NAMED, /**< name: { item: { key = value; }; }; */
    SCHEMA_LIST,  /**< name = ( { key = value; }, { key = value; } ); */
};

struct schema_section {
    const char *name;
    enum schema_kind kind;
    size_t offset;       /**< in struct conf: of the struct, or of the pointer to the first item */
    size_t count_offset; /**< in struct conf: of the number of items */
    size_t item_size;
    unsigned max_items;
    bool restart; /**< a change needs a restart of the daemon */
    const struct schema_key *keys;
    unsigned n_keys;
    const char *meaning;
};

extern const struct schema_section schema_sections[];
extern const unsigned schema_n_sections;

/** Every item of a section starts with this; name is there for SCHEMA_NAMED only. */
struct schema_item {
    struct conf_at at;
    const char *name;
};

const struct schema_section *schema_find(const char *name);
const struct schema_key *schema_find_key(const struct schema_section *section, const char *name);

/** Items of a section, and their number. */
void *schema_items(const struct schema_section *section, const struct conf *conf, unsigned *n);

#endif
