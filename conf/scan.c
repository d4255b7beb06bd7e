// SPDX-License-Identifier: Apache-2.0
#include "conf/scan.h"
#include "conf/lex.h"
#include "conf/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 40

/* What a value turned out to be. */
enum verdict_scan {
    SCAN_OK,
    SCAN_SKIP,  /* a fault was added; the setting is to be skipped */
    SCAN_FATAL, /* braces do not match, or memory ran out: nothing after this has a meaning */
};

struct scan {
    struct lex lex;
    const char *octets; /* as they were written */
    char *rest;         /* the same text, faulty settings overwritten */
    struct text *text;
    struct faults *faults;
    bool no_memory;
};

/* A setting that was read, kept until its group ends. */
struct member {
    const char *name;
    size_t name_len, off, end;
    unsigned line;
};

struct members {
    struct member *list;
    size_t n, room;
};

static enum verdict_scan scan_value(struct scan *scan, unsigned depth, size_t members_max);

static void blank(struct scan *scan, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (scan->rest[i] != '\n')
            scan->rest[i] = ' ';
}

static char token_char(const struct scan *scan, const struct lex_token *token)
{
    return token->kind == LEX_END ? '\0' : scan->octets[token->off];
}

static int token_shown(const struct lex_token *token)
{
    return token->len > SHOWN_MAX ? SHOWN_MAX : (int)token->len;
}

/* "expected WHAT but found TOKEN", unless the token is a fault by itself. */
static void unexpected(struct scan *scan, const struct lex_token *token, const char *expected)
{
    if (token->kind == LEX_END)
        lex_fault(&scan->lex, token, "%s is missing at the end of the file", expected);
    else if (token->kind != LEX_BAD)
        lex_fault(&scan->lex, token, "%s is missing before '%.*s'", expected, token_shown(token),
                  scan->octets + token->off);
}

/*
 * Skip to the end of a faulty setting that starts at token @p from: past its ';', or before a brace that closes its
 * group, or before the next line that starts like a setting. What was skipped is blanked.
 */
static void skip_setting(struct scan *scan, const struct lex_token *from)
{
    struct lex *lex = &scan->lex;
    unsigned open = 0;
    size_t to = from->off;
    lex->quiet = true;
    for (;;) {
        struct lex_token token = *lex_peek(lex);
        to = token.off;
        if (token.kind == LEX_END || (token.kind == LEX_CLOSE && open == 0))
            break;
        if (token.kind == LEX_NAME && open == 0 && token.line > from->line) {
            struct lex before = *lex;
            lex_next(lex);
            bool is_setting = lex_peek(lex)->kind == LEX_EQUALS;
            if (is_setting) {
                *lex = before;
                break;
            }
        } else {
            lex_next(lex);
        }
        open += token.kind == LEX_OPEN;
        open -= token.kind == LEX_CLOSE;
        if (token.kind == LEX_SEMICOLON && open == 0) {
            to = token.off + token.len;
            break;
        }
    }
    lex->quiet = false;
    blank(scan, from->off, to);
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    size_t len = x->name_len < y->name_len ? x->name_len : y->name_len;
    int order = memcmp(x->name, y->name, len);
    if (order != 0)
        return order;
    if (x->name_len != y->name_len)
        return x->name_len < y->name_len ? -1 : 1;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* Report every setting whose name was there before, and blank it. */
static void find_duplicates(struct scan *scan, struct members *members)
{
    if (members->n > 1)
        qsort(members->list, members->n, sizeof members->list[0], by_name);
    const struct member *first = members->list;
    for (size_t i = 1; i < members->n; i++) {
        const struct member *m = &members->list[i];
        if (m->name_len != first->name_len || memcmp(m->name, first->name, m->name_len) != 0) {
            first = m;
            continue;
        }
        struct lex_token token = {.off = m->off, .len = m->name_len, .line = m->line};
        lex_fault(&scan->lex, &token, "'%.*s' is set a second time; once is allowed", token_shown(&token), m->name);
        faults_relate(scan->faults, "first at", first->line);
        blank(scan, m->off, m->end);
    }
}

static bool keep_member(struct scan *scan, struct members *members, const struct member *member)
{
    if (members->n == members->room) {
        size_t room = members->room > 0 ? members->room * 2 : 16;
        struct member *list = realloc(members->list, room * sizeof *list);
        if (list == NULL) {
            scan->no_memory = true;
            return false;
        }
        members->list = list;
        members->room = room;
    }
    members->list[members->n++] = *member;
    return true;
}

/* One "name = value;". */
static enum verdict_scan scan_setting(struct scan *scan, unsigned depth, struct members *members)
{
    struct lex *lex = &scan->lex;
    struct lex_token name = *lex_peek(lex);
    lex_next(lex);
    if (name.len > SCAN_NAME_MAX) {
        lex_fault(lex, &name, "a name of %zu octets is too long; at most %d", name.len, SCAN_NAME_MAX);
        skip_setting(scan, &name);
        return SCAN_OK;
    }
    if (lex_peek(lex)->kind != LEX_EQUALS) {
        struct lex_token token = *lex_peek(lex);
        if (token.kind != LEX_BAD)
            lex_fault(lex, &name, "'=' is missing after '%.*s'", token_shown(&name), scan->octets + name.off);
        skip_setting(scan, &name);
        return SCAN_OK;
    }
    lex_next(lex);
    char text[SCAN_NAME_MAX + 1];
    memcpy(text, scan->octets + name.off, name.len);
    text[name.len] = '\0';
    size_t members_max = SCAN_MEMBERS_MAX;
    const struct schema_section *section = depth == 1 ? schema_find(text) : NULL;
    if (section != NULL && section->kind == SCHEMA_NAMED && section->max_items > members_max)
        members_max = section->max_items;
    enum verdict_scan verdict = scan_value(scan, depth, members_max);
    if (verdict == SCAN_FATAL)
        return SCAN_FATAL;
    if (verdict == SCAN_SKIP) {
        skip_setting(scan, &name);
        return SCAN_OK;
    }
    const struct lex_token *token = lex_peek(lex);
    // Two settings in one line without ';' are more likely a forgotten quote or brace than meant.
    if (token->kind == LEX_SEMICOLON || token->kind == LEX_COMMA) {
        lex_next(lex);
    } else if (token->kind != LEX_CLOSE && token->kind != LEX_END && token->line == name.line) {
        unexpected(scan, token, "';'");
        skip_setting(scan, &name);
        return SCAN_OK;
    }
    struct member member = {scan->octets + name.off, name.len, name.off, lex->off, name.line};
    return keep_member(scan, members, &member) ? SCAN_OK : SCAN_FATAL;
}

/* Settings up to the brace that closes the group, which stays; @p open is the brace that opened it, NULL at the top. */
static enum verdict_scan scan_settings(struct scan *scan, unsigned depth, size_t members_max,
                                       const struct lex_token *open)
{
    struct lex *lex = &scan->lex;
    struct members members = {0};
    unsigned n_errors = scan->faults->n_errors;
    enum verdict_scan verdict = SCAN_FATAL;
    for (;;) {
        struct lex_token token = *lex_peek(lex);
        if (token.kind == LEX_END && open != NULL) {
            lex_fault(lex, open, "'{' is never closed; '}' is missing");
            break;
        }
        if (token.kind == LEX_END || (token.kind == LEX_CLOSE && open != NULL && token_char(scan, &token) == '}')) {
            find_duplicates(scan, &members);
            if (open != NULL && scan->faults->n_errors > n_errors)
                scan->no_memory |= text_mark_faulty(scan->text, open->line) != 0;
            verdict = SCAN_OK;
            break;
        }
        if (token.kind == LEX_CLOSE) {
            if (open == NULL)
                lex_fault(lex, &token, "'%c' closes nothing; remove it", token_char(scan, &token));
            else {
                lex_fault(lex, &token, "'%c' does not close '{'; '}' is missing", token_char(scan, &token));
                faults_relate(scan->faults, "opened at", open->line);
            }
            break;
        }
        if (members.n == members_max) {
            lex_fault(lex, &token, "too many settings in one group; at most %zu", members_max);
            break;
        }
        if (token.kind == LEX_NAME) {
            if (scan_setting(scan, depth, &members) == SCAN_FATAL)
                break;
            continue;
        }
        unexpected(scan, &token, "the name of a setting");
        if (token.kind == LEX_SEMICOLON || token.kind == LEX_COMMA) {
            lex_next(lex);
            blank(scan, token.off, token.off + token.len);
        } else {
            lex_next(lex);
            skip_setting(scan, &token);
        }
    }
    free(members.list);
    return verdict;
}

/* Skip the rest of a faulty element, up to the comma or brace that ends it. */
static void skip_element(struct scan *scan)
{
    struct lex *lex = &scan->lex;
    lex->quiet = true;
    for (unsigned open = 0;; lex_next(lex)) {
        enum lex_kind kind = lex_peek(lex)->kind;
        if (kind == LEX_END || (open == 0 && (kind == LEX_CLOSE || kind == LEX_COMMA)))
            break;
        open += kind == LEX_OPEN;
        open -= kind == LEX_CLOSE;
    }
    lex->quiet = false;
}

static bool is_scalar(enum lex_kind kind)
{
    return kind >= LEX_BOOL && kind <= LEX_STRING;
}

static enum verdict_scan scan_element(struct scan *scan, unsigned depth, char opened, enum lex_kind first)
{
    struct lex *lex = &scan->lex;
    const struct lex_token *token = lex_peek(lex);
    if (opened == '[' && token->kind == LEX_OPEN) {
        lex_fault(lex, token, "'%c' is not allowed in an array; \"[ ]\" holds plain values, \"( )\" holds groups",
                  token_char(scan, token));
        return SCAN_SKIP;
    }
    bool mixed = opened == '[' && token->kind != first && is_scalar(token->kind) && is_scalar(first);
    if (mixed)
        lex_fault(lex, token, "the values of an array \"[ ]\" differ in type; they must be of one type");
    enum verdict_scan verdict = scan_value(scan, depth, SCAN_MEMBERS_MAX);
    return mixed && verdict == SCAN_OK ? SCAN_SKIP : verdict;
}

/* Elements of a list "( )" or array "[ ]" up to its closing brace, which stays. */
static enum verdict_scan scan_elements(struct scan *scan, unsigned depth, const struct lex_token *open)
{
    struct lex *lex = &scan->lex;
    char opened = token_char(scan, open), close = opened == '(' ? ')' : ']';
    enum lex_kind first = lex_peek(lex)->kind;
    enum verdict_scan result = SCAN_OK;
    for (size_t n = 0;; n++) {
        struct lex_token token = *lex_peek(lex);
        if (token.kind == LEX_END || token.kind == LEX_CLOSE) {
            if (token_char(scan, &token) == close)
                return result;
            lex_fault(lex, token.kind == LEX_END ? open : &token, "'%c' is not closed; '%c' is missing", opened, close);
            if (token.kind == LEX_CLOSE)
                faults_relate(scan->faults, "opened at", open->line);
            return SCAN_FATAL;
        }
        if (n == SCAN_ELEMENTS_MAX) {
            lex_fault(lex, &token, "too many elements in one list; at most %d", SCAN_ELEMENTS_MAX);
            return SCAN_FATAL;
        }
        enum verdict_scan verdict = scan_element(scan, depth, opened, first);
        if (verdict == SCAN_FATAL)
            return SCAN_FATAL;
        token = *lex_peek(lex);
        if (verdict == SCAN_OK && token.kind != LEX_COMMA && token.kind != LEX_CLOSE && token.kind != LEX_END) {
            unexpected(scan, &token, "','");
            verdict = SCAN_SKIP;
        }
        if (verdict == SCAN_SKIP) {
            result = SCAN_SKIP;
            skip_element(scan);
            token = *lex_peek(lex);
        }
        if (token.kind != LEX_COMMA)
            continue;
        lex_next(lex);
        // A comma after the last element is usual, but not known to every version of the library.
        if (lex_peek(lex)->kind == LEX_CLOSE)
            blank(scan, token.off, token.off + 1);
    }
}

static enum verdict_scan scan_aggregate(struct scan *scan, unsigned depth, size_t members_max)
{
    struct lex *lex = &scan->lex;
    struct lex_token open = *lex_peek(lex);
    if (depth == SCAN_DEPTH_MAX) {
        lex_fault(lex, &open, "braces are nested too deeply; at most %d deep", SCAN_DEPTH_MAX);
        return SCAN_FATAL;
    }
    lex_next(lex);
    enum verdict_scan verdict = token_char(scan, &open) == '{' ? scan_settings(scan, depth + 1, members_max, &open)
                                                               : scan_elements(scan, depth + 1, &open);
    if (verdict != SCAN_FATAL)
        lex_next(lex);
    return verdict;
}

static enum verdict_scan scan_value(struct scan *scan, unsigned depth, size_t members_max)
{
    struct lex *lex = &scan->lex;
    struct lex_token token = *lex_peek(lex);
    switch (token.kind) {
    case LEX_BOOL:
    case LEX_INT:
    case LEX_INT64:
    case LEX_FLOAT:
        lex_next(lex);
        return SCAN_OK;
    case LEX_STRING: {
        // Strings that follow one another are one string.
        size_t len = 0;
        while (lex_peek(lex)->kind == LEX_STRING) {
            len += lex_peek(lex)->len - 2;
            lex_next(lex);
        }
        if (len <= SCAN_STRING_MAX)
            return SCAN_OK;
        lex_fault(lex, &token, "a string of %zu octets is too long; at most %d", len, SCAN_STRING_MAX);
        return SCAN_SKIP;
    }
    case LEX_OPEN:
        return scan_aggregate(scan, depth, members_max);
    case LEX_NAME:
        lex_fault(lex, &token, "'%.*s' is not a value; write true, false, a number or a string in quotes: \"%.*s\"",
                  token_shown(&token), scan->octets + token.off, token_shown(&token), scan->octets + token.off);
        return SCAN_SKIP;
    default:
        unexpected(scan, &token, "a value");
        return SCAN_SKIP;
    }
}

/* Offset past the next number of more than 32 bits that is not marked with "L", 0 when there is none. */
static size_t next_long_number(struct lex *lex)
{
    for (;;) {
        struct lex_token token = *lex_peek(lex);
        if (token.kind == LEX_END)
            return 0;
        lex_next(lex);
        if (token.kind == LEX_INT64 && lex->octets[lex->off - 1] != 'L')
            return lex->off;
    }
}

/* Mark numbers of more than 32 bits with "L": without it the library cuts them to 32. Lines stay what they are. */
static int mark_long_numbers(struct text *text)
{
    const struct lex start = {.octets = text->octets, .line = 1, .quiet = true};
    struct lex lex = start;
    size_t n = 0, from = 0, to = 0, end;
    while (next_long_number(&lex) > 0)
        n++;
    if (n == 0)
        return 0;
    char *marked = malloc(text->len + n + 1);
    if (marked == NULL)
        return -ENOMEM;
    lex = start;
    while ((end = next_long_number(&lex)) > 0) {
        memcpy(marked + to, text->octets + from, end - from);
        to += end - from;
        marked[to++] = 'L';
        from = end;
    }
    memcpy(marked + to, text->octets + from, text->len + 1 - from);
    free(text->octets);
    text->octets = marked;
    text->len += n;
    text->room = text->len + 1;
    return 0;
}

int scan(struct text *text, struct faults *faults)
{
    char *octets = malloc(text->len + 1);
    if (octets == NULL)
        return -ENOMEM;
    memcpy(octets, text->octets, text->len + 1);
    struct scan scan = {.octets = octets, .rest = text->octets, .text = text, .faults = faults};
    scan.lex = (struct lex){.octets = octets, .line = 1, .faults = faults};
    enum verdict_scan verdict = SCAN_FATAL;
    if (lex_peek(&scan.lex)->kind == LEX_END)
        faults_add(faults, 1, "has no settings; comments alone are not a configuration");
    else
        verdict = scan_settings(&scan, 1, SCAN_MEMBERS_MAX, NULL);
    free(octets);
    if (scan.no_memory)
        return -ENOMEM;
    return verdict == SCAN_OK ? mark_long_numbers(text) : -EINVAL;
}
