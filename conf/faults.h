// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_FAULTS_H
#define CONF_FAULTS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct text;

/** Faults kept; of more only the number is told, so that junk cannot flood a log. */
#define FAULTS_MAX 1000

struct fault {
    unsigned line;  /**< of the merged text, see conf/text.h */
    unsigned order; /**< of finding, for a stable sort */
    bool warning;
    char *message;
    unsigned other;       /**< another line of the merged text that belongs to it, 0: none */
    const char *relation; /**< what that line is, static */
    char *source;         /**< the source line, to be shown under the message; NULL: not shown */
};

/** What is wrong with a configuration, collected so that all of it is told in one run, in the order of the text. */
struct faults {
    struct fault *list;
    size_t n, room;
    unsigned n_errors, n_hidden;
    bool no_memory;
};

/** True when no more faults are kept; a fault that is not worth making a message for has been counted then. */
bool faults_count_only(struct faults *faults);
/** Add a fault at a line of the merged text. */
void faults_add(struct faults *faults, unsigned line, const char *format, ...) __attribute__((format(printf, 3, 4)));
void faults_warn(struct faults *faults, unsigned line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Add a fault of syntax, which shows the source line (@p source, up to its line end or NUL) under the message. */
void faults_syntax(struct faults *faults, unsigned line, const char *source, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/** Append another position to the fault added last: "; RELATION FILE:LINE". @p relation is static. */
void faults_relate(struct faults *faults, const char *relation, unsigned other);
/** Write all as "FILE:LINE: message"; what is not printable is shown as "?". @p err may be NULL. */
void faults_print(struct faults *faults, const struct text *text, FILE *err);
void faults_free(struct faults *faults);

/** The one of @p n names that @p word is most likely a misspelling of, NULL when none is near. */
const char *faults_nearest(const char *word, const char *(*name)(const void *ctx, size_t i), const void *ctx, size_t n);

#endif
