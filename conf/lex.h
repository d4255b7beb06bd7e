// SPDX-License-Identifier: Apache-2.0
#ifndef CONF_LEX_H
#define CONF_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "conf/faults.h"

enum lex_kind {
    LEX_END,
    LEX_NAME,
    LEX_BOOL,
    LEX_INT,
    LEX_INT64, /**< does not fit 32 bits: the library keeps it as another type */
    LEX_FLOAT,
    LEX_STRING,
    LEX_EQUALS,
    LEX_COMMA,
    LEX_SEMICOLON,
    LEX_OPEN,  /**< one of { ( [ */
    LEX_CLOSE, /**< one of } ) ] */
    LEX_BAD,   /**< a fault was added */
};

struct lex_token {
    enum lex_kind kind;
    size_t off, len;
    unsigned line;
};

/** Tokens of libconfig's grammar, at most one token ahead. */
struct lex {
    const char *octets; /**< ended by NUL */
    size_t off;
    unsigned line;
    bool quiet; /**< add no faults */
    struct faults *faults;
    struct lex_token token; /**< the token looked at */
    bool has_token;
};

const struct lex_token *lex_peek(struct lex *lex);
void lex_next(struct lex *lex);
/** Add a fault of syntax at a token, with its source line. */
void lex_fault(struct lex *lex, const struct lex_token *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
