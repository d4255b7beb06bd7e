// SPDX-License-Identifier: Apache-2.0
#include "conf/lex.h"
#include "conf/scan.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHOWN_MAX  40
#define BEFORE_MAX 60

void lex_fault(struct lex *lex, const struct lex_token *token, const char *format, ...)
{
    if (lex->quiet || faults_count_only(lex->faults))
        return;
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    // Of a long line the part before the token is left out.
    size_t start = token->off;
    while (start > 0 && lex->octets[start - 1] != '\n' && token->off - start < BEFORE_MAX)
        start--;
    while (start < token->off && (lex->octets[start] & 0xC0) == 0x80)
        start++;
    faults_syntax(lex->faults, token->line, lex->octets + start, "%s", message);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}

static void skip_space(struct lex *lex)
{
    for (;;) {
        const char *s = lex->octets + lex->off;
        if (*s == '\n') {
            lex->line++;
            lex->off++;
        } else if (*s == ' ' || *s == '\t' || *s == '\r') {
            lex->off++;
        } else if (*s == '#' || (*s == '/' && s[1] == '/')) {
            lex->off += strcspn(s, "\n");
        } else if (*s == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            size_t len = end != NULL ? (size_t)(end + 2 - s) : strlen(s);
            for (size_t i = 0; i < len; i++)
                lex->line += s[i] == '\n';
            lex->off += len;
        } else {
            return;
        }
    }
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void lex_string(struct lex *lex, struct lex_token *token)
{
    const char *s = lex->octets + token->off, *p = s + 1;
    token->kind = LEX_STRING;
    const char *escape = NULL;
    while (*p != '"' && *p != '\n' && *p != '\0') {
        if (*p != '\\') {
            p++;
            continue;
        }
        const char *at = p++;
        if (*p != '\0' && strchr("\\\"ntfr", *p) != NULL) {
            p++;
        } else if (*p == 'x' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0 &&
                   hex_digit(p[1]) * 16 + hex_digit(p[2]) >= 0x20 && hex_digit(p[1]) * 16 + hex_digit(p[2]) < 0x7F) {
            p += 3;
        } else if (escape == NULL) {
            escape = at;
        }
    }
    token->len = (size_t)(p - s);
    if (*p != '"') {
        token->kind = LEX_BAD;
        lex_fault(lex, token, "the string is never closed; '\"' is missing at its end");
        return;
    }
    token->len++;
    if (token->len - 2 > SCAN_STRING_MAX) {
        token->kind = LEX_BAD;
        lex_fault(lex, token, "a string of %zu octets is too long; at most %d", token->len - 2, SCAN_STRING_MAX);
    } else if (escape != NULL) {
        token->kind = LEX_BAD;
        lex_fault(lex, token,
                  "unknown escape '%.2s' in a string; known are \\\\ \\\" \\n \\t \\f \\r and \\x20 to \\x7e", escape);
    }
}

/* Digits, point and exponent at @p s; false when the whole of @p len octets is no number. */
static bool is_float(const char *s, size_t len)
{
    size_t i = *s == '+' || *s == '-', digits = 0;
    for (; i < len && is_digit(s[i]); i++)
        digits++;
    if (i < len && s[i] == '.')
        for (i++; i < len && is_digit(s[i]); i++)
            digits++;
    if (digits == 0)
        return false;
    if (i < len && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        if (i < len && (s[i] == '+' || s[i] == '-'))
            i++;
        size_t start = i;
        while (i < len && is_digit(s[i]))
            i++;
        if (i == start)
            return false;
    }
    return i == len;
}

static void lex_number(struct lex *lex, struct lex_token *token)
{
    const char *s = lex->octets + token->off;
    size_t len = *s == '+' || *s == '-';
    while (is_word(s[len]) || s[len] == '.' || s[len] == '%' ||
           (s[len] == '+' && (s[len - 1] == 'e' || s[len - 1] == 'E')))
        len++;
    token->len = len;
    bool negative = *s == '-';
    size_t i = *s == '+' || *s == '-', start = i;
    uint64_t value = 0;
    bool overflow = false;
    for (; i < len && is_digit(s[i]); i++)
        overflow |= __builtin_mul_overflow(value, (uint64_t)10, &value) ||
                    __builtin_add_overflow(value, (uint64_t)(s[i] - '0'), &value);
    size_t suffix = len - i;
    int shown = len > SHOWN_MAX ? SHOWN_MAX : (int)len;
    if (i > start && (suffix == 0 || (suffix <= 2 && s[i] == 'L' && s[len - 1] == 'L'))) {
        token->kind = suffix > 0 || value > (uint64_t)INT32_MAX + negative ? LEX_INT64 : LEX_INT;
        if (overflow || value > INT64_MAX) {
            token->kind = LEX_BAD;
            lex_fault(lex, token, "number %.*s is too large; at most 9223372036854775807", shown, s);
        }
    } else if (is_float(s, len)) {
        token->kind = LEX_FLOAT;
    } else {
        token->kind = LEX_BAD;
        if (len - start > 2 && s[start] == '0' && (s[start + 1] | 0x20) == 'x')
            lex_fault(lex, token, "%.*s: hexadecimal numbers are not used here; write it in decimal", shown, s);
        else
            lex_fault(lex, token, "%.*s is not a number; a value with a unit and an address are strings: \"%.*s\"",
                      shown, s, shown, s);
    }
}

static void lex_word(struct lex *lex, struct lex_token *token)
{
    const char *s = lex->octets + token->off;
    while (is_word(s[token->len]))
        token->len++;
    if ((token->len == 4 && strncasecmp(s, "true", 4) == 0) || (token->len == 5 && strncasecmp(s, "false", 5) == 0))
        token->kind = LEX_BOOL;
    else
        token->kind = LEX_NAME;
}

static void lex_other(struct lex *lex, struct lex_token *token)
{
    static const char punctuation[] = "=:,;{([})]";
    static const enum lex_kind kinds[] = {LEX_EQUALS, LEX_EQUALS, LEX_COMMA, LEX_SEMICOLON, LEX_OPEN,
                                          LEX_OPEN,   LEX_OPEN,   LEX_CLOSE, LEX_CLOSE,     LEX_CLOSE};
    const char *s = lex->octets + token->off, *p = strchr(punctuation, *s);
    token->len = 1;
    if (p != NULL) {
        token->kind = kinds[p - punctuation];
        return;
    }
    token->kind = LEX_BAD;
    // The rest of a character of several octets goes with it.
    while (((unsigned char)s[token->len] & 0xC0) == 0x80)
        token->len++;
    if (*s == '@')
        lex_fault(lex, token, "'@' is not allowed here; @include \"FILE\" stands in a line of its own");
    else
        lex_fault(lex, token, "'%.*s' is not allowed outside of strings and comments", (int)token->len, s);
}

const struct lex_token *lex_peek(struct lex *lex)
{
    if (lex->has_token)
        return &lex->token;
    skip_space(lex);
    char c = lex->octets[lex->off];
    struct lex_token *token = &lex->token;
    *token = (struct lex_token){.off = lex->off, .line = lex->line};
    if (c == '\0')
        token->kind = LEX_END;
    else if (c == '"')
        lex_string(lex, token);
    else if (is_digit(c) || c == '+' || c == '-' || c == '.')
        lex_number(lex, token);
    else if (is_letter(c))
        lex_word(lex, token);
    else
        lex_other(lex, token);
    lex->has_token = true;
    return token;
}

void lex_next(struct lex *lex)
{
    const struct lex_token *token = lex_peek(lex);
    lex->off = token->off + token->len;
    lex->has_token = false;
}
