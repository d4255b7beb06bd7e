// SPDX-License-Identifier: Apache-2.0
#include "conf/faults.h"
#include "conf/text.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX 600
#define SOURCE_MAX  100
#define WORD_MAX    64

static char *printable(const char *text, size_t max)
{
    size_t len = strnlen(text, max);
    char *copy = malloc(len + 1);
    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        copy[i] = c == '\t' ? ' ' : c < 0x20 || c == 0x7f ? '?' : (char)c;
    }
    // A character cut in half at the limit would be invalid UTF-8.
    while (len == max && len > 0 && ((unsigned char)copy[len - 1] & 0x80) != 0)
        len--;
    copy[len] = '\0';
    return copy;
}

bool faults_count_only(struct faults *faults)
{
    if (faults->n < FAULTS_MAX)
        return false;
    faults->n_errors++;
    faults->n_hidden++;
    return true;
}

static void add(struct faults *faults, unsigned line, bool warning, const char *source, const char *format,
                va_list args) __attribute__((format(printf, 5, 0)));
static void add(struct faults *faults, unsigned line, bool warning, const char *source, const char *format,
                va_list args)
{
    if (!warning && faults_count_only(faults))
        return;
    faults->n_errors += !warning;
    if (faults->n == FAULTS_MAX)
        return;
    if (faults->n == faults->room) {
        size_t room = faults->room > 0 ? faults->room * 2 : 16;
        struct fault *list = realloc(faults->list, room * sizeof *list);
        if (list == NULL) {
            faults->no_memory = true;
            return;
        }
        faults->list = list;
        faults->room = room;
    }
    char message[MESSAGE_MAX];
    vsnprintf(message, sizeof message, format, args);
    struct fault *fault = &faults->list[faults->n];
    *fault = (struct fault){.line = line, .order = (unsigned)faults->n, .warning = warning};
    fault->message = printable(message, sizeof message);
    if (source != NULL) {
        char excerpt[SOURCE_MAX + 1];
        // A line may be megabytes long.
        size_t len = 0;
        while (len < SOURCE_MAX && source[len] != '\0' && source[len] != '\r' && source[len] != '\n')
            len++;
        memcpy(excerpt, source, len);
        excerpt[len] = '\0';
        fault->source = printable(excerpt, SOURCE_MAX);
    }
    if (fault->message == NULL || (source != NULL && fault->source == NULL))
        faults->no_memory = true;
    faults->n++;
}

void faults_add(struct faults *faults, unsigned line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(faults, line, false, NULL, format, args);
    va_end(args);
}

void faults_warn(struct faults *faults, unsigned line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(faults, line, true, NULL, format, args);
    va_end(args);
}

void faults_syntax(struct faults *faults, unsigned line, const char *source, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add(faults, line, false, source, format, args);
    va_end(args);
}

void faults_relate(struct faults *faults, const char *relation, unsigned other)
{
    // Of hidden faults none has been kept.
    if (faults->n == 0 || faults->n_hidden > 0)
        return;
    faults->list[faults->n - 1].relation = relation;
    faults->list[faults->n - 1].other = other;
}

static int by_line(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void faults_print(struct faults *faults, const struct text *text, FILE *err)
{
    if (err == NULL)
        return;
    if (faults->n > 1)
        qsort(faults->list, faults->n, sizeof faults->list[0], by_line);
    for (size_t i = 0; i < faults->n; i++) {
        const struct fault *fault = &faults->list[i];
        struct conf_at at = text_at(text, fault->line);
        fprintf(err, "%s:%u: %s%s", at.file, at.line, fault->warning ? "warning: " : "",
                fault->message != NULL ? fault->message : "out of memory");
        if (fault->other > 0) {
            struct conf_at other = text_at(text, fault->other);
            fprintf(err, "; %s %s:%u", fault->relation, other.file, other.line);
        }
        putc('\n', err);
        if (fault->source != NULL && fault->source[0] != '\0')
            fprintf(err, "    %s\n", fault->source);
    }
    if (faults->n_hidden > 0)
        fprintf(err, "%s:1: %u more faults are not shown\n", text_at(text, 1).file, faults->n_hidden);
    if (faults->no_memory)
        fprintf(err, "%s:1: out of memory\n", text_at(text, 1).file);
}

void faults_free(struct faults *faults)
{
    for (size_t i = 0; i < faults->n; i++) {
        free(faults->list[i].message);
        free(faults->list[i].source);
    }
    free(faults->list);
    *faults = (struct faults){0};
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned min = a < b ? a : b;
    return min < c ? min : c;
}

/* Edit distance where swapping two neighbours counts as one edit (optimal string alignment). */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned row[3][WORD_MAX + 1];
    for (unsigned j = 0; j <= b_len; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return row[a_len % 3][b_len];
}

const char *faults_nearest(const char *word, const char *(*name)(const void *ctx, size_t i), const void *ctx, size_t n)
{
    size_t len = strlen(word);
    if (len == 0 || len > WORD_MAX)
        return NULL;
    const char *nearest = NULL;
    unsigned best = 1 + (unsigned)(len < 6 ? 2 : len < 15 ? len / 3 : 5);
    // A word of two letters is two edits away from any other.
    if (best > len)
        best = (unsigned)len;
    for (size_t i = 0; i < n; i++) {
        const char *candidate = name(ctx, i);
        size_t candidate_len = strlen(candidate);
        if (candidate_len > WORD_MAX)
            continue;
        unsigned edits = distance(word, len, candidate, candidate_len);
        if (edits < best) {
            best = edits;
            nearest = candidate;
        }
    }
    return nearest;
}
