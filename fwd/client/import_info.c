// SPDX-License-Identifier: Apache-2.0
#include "fwd/client/import_info.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct info {
    struct info_node root;
    char **file; /* names, which nodes point to */
    size_t n_files;
    size_t octets; /* of all files */
    FILE *err;
};

/* What may come next in a line: a key, its value, or the rest of a value that the line before has begun. */
enum expect { EXPECT_KEY, EXPECT_VALUE, EXPECT_MORE };

/* One file. */
struct reader {
    struct info *info;
    const char *file;
    unsigned line, include_depth;
    const char *p, *end; /* in the line */
    enum expect expect;
    struct info_node *last;                 /* the node that a value or brace would belong to; NULL: none */
    struct info_node *open[INFO_DEPTH_MAX]; /* groups that are open */
    unsigned open_line[INFO_DEPTH_MAX];
    unsigned n_open;
};

static int read_text(struct info *info, struct info_node *into, const char *name, const char *text, size_t len,
                     unsigned include_depth);

__attribute__((format(printf, 2, 3))) static int fault(const struct reader *r, const char *format, ...)
{
    va_list args;
    fprintf(r->info->err, "%s:%u: ", r->file, r->line);
    va_start(args, format);
    vfprintf(r->info->err, format, args);
    va_end(args);
    putc('\n', r->info->err);
    return -EINVAL;
}

static int no_memory(const struct reader *r)
{
    fault(r, "out of memory");
    return -ENOMEM;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && is_blank(*r->p))
        r->p++;
}

static bool at_end(const struct reader *r)
{
    return r->p == r->end || *r->p == ';';
}

/* What stands between two places, escapes resolved, to be freed. */
static int unescape(const struct reader *r, const char *from, const char *to, char **text)
{
    static const char letters[] = "0abfnrtv\"'\\", meant[] = "\0\a\b\f\n\r\t\v\"'\\";
    char *out = malloc((size_t)(to - from) + 1);
    size_t n = 0;
    if (out == NULL)
        return no_memory(r);
    for (; from < to; from++) {
        if (*from != '\\') {
            out[n++] = *from;
            continue;
        }
        const char *letter = ++from < to && *from != '\0' ? strchr(letters, *from) : NULL;
        if (letter == NULL || letter == letters) {
            free(out);
            return letter != NULL ? fault(r, "\"\\0\" has no place in a setting")
                                  : fault(r, "'\\' is not followed by one of a b f n r t v \" ' \\");
        }
        out[n++] = meant[letter - letters];
    }
    out[n] = '\0';
    *text = out;
    return 0;
}

static int read_word(struct reader *r, char **text)
{
    const char *from = r->p;
    while (!at_end(r) && !is_blank(*r->p))
        r->p++;
    return unescape(r, from, r->p, text);
}

/* A string in quotes. @p more NULL: it ends in this line; else whether '\' says that it goes on in the next. */
static int read_string(struct reader *r, char **text, bool *more)
{
    const char *from = ++r->p;
    while (r->p < r->end && *r->p != '"')
        r->p += *r->p == '\\' && r->end - r->p > 1 ? 2 : 1;
    if (r->p == r->end)
        return fault(r, "a string is not closed; '\"' is missing");
    int error = unescape(r, from, r->p++, text);
    if (error != 0)
        return error;
    skip_blanks(r);
    bool goes_on = r->p < r->end && *r->p == '\\';
    if (more != NULL)
        *more = goes_on;
    if (!goes_on)
        return 0;
    r->p++;
    skip_blanks(r);
    if (more != NULL && at_end(r))
        return 0;
    free(*text);
    *text = NULL;
    return fault(r, more == NULL ? "'\\' may follow a value only" : "'\\' after a string must end the line");
}

static int read_key(struct reader *r)
{
    struct info_node *parent = r->open[r->n_open - 1], *node = calloc(1, sizeof *node);
    if (node == NULL)
        return no_memory(r);
    node->file = r->file;
    node->line = r->line;
    if (parent->last_child != NULL)
        parent->last_child->next = node;
    else
        parent->child = node;
    parent->last_child = r->last = node;
    r->expect = EXPECT_VALUE;
    int error = *r->p == '"' ? read_string(r, &node->key, NULL) : read_word(r, &node->key);
    if (error == 0 && (node->value = strdup("")) == NULL)
        error = no_memory(r);
    return error;
}

static int read_value(struct reader *r)
{
    char *text;
    bool more = false;
    if (r->expect == EXPECT_MORE && *r->p != '"')
        return fault(r, "a string is missing: the line before ends in '\\'");
    int error = *r->p == '"' ? read_string(r, &text, &more) : read_word(r, &text);
    if (error != 0)
        return error;
    size_t len = strlen(r->last->value);
    char *value = realloc(r->last->value, len + strlen(text) + 1);
    if (value == NULL) {
        free(text);
        return no_memory(r);
    }
    strcpy(value + len, text);
    free(text);
    r->last->value = value;
    r->expect = more ? EXPECT_MORE : EXPECT_KEY;
    return 0;
}

static int open_group(struct reader *r)
{
    if (r->last == NULL)
        return fault(r, "'{' follows no key");
    if (r->n_open == INFO_DEPTH_MAX)
        return fault(r, "groups are nested too deeply; at most %d deep", INFO_DEPTH_MAX - 1);
    r->open_line[r->n_open] = r->line;
    r->open[r->n_open++] = r->last;
    r->last = NULL;
    r->expect = EXPECT_KEY;
    r->p++;
    return 0;
}

static int close_group(struct reader *r)
{
    if (r->n_open == 1)
        return fault(r, "'}' closes nothing; remove it");
    r->n_open--;
    r->last = NULL;
    r->expect = EXPECT_KEY;
    r->p++;
    return 0;
}

static char *beside(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    char *path = NULL;
    if (name[0] == '/' || slash == NULL)
        return strdup(name);
    return asprintf(&path, "%.*s%s", (int)(slash + 1 - file), file, name) < 0 ? NULL : path;
}

/* The whole of a file, to be freed, with its length. */
static int read_file(const char *path, size_t max, char **text, size_t *len)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -errno;
    size_t room = 4096, n = 0;
    char *octets = malloc(room);
    int error = octets != NULL ? 0 : -ENOMEM;
    while (error == 0 && (n += fread(octets + n, 1, room - n, file)) == room) {
        char *larger = room <= max ? realloc(octets, room * 2) : NULL;
        if (larger == NULL)
            error = room <= max ? -ENOMEM : -EFBIG;
        else
            octets = larger;
        room *= 2;
    }
    if (error == 0 && ferror(file))
        error = -errno;
    fclose(file);
    if (error != 0) {
        free(octets);
        return error;
    }
    *text = octets;
    *len = n;
    return 0;
}

static int include(struct reader *r)
{
    char *name, *path, *text;
    size_t len;
    r->p++;
    if ((size_t)(r->end - r->p) < 7 || memcmp(r->p, "include", 7) != 0 || (r->end - r->p > 7 && !is_blank(r->p[7])))
        return fault(r, "'#' does not begin '#include \"FILE\"'; comments begin with ';'");
    r->p += 7;
    skip_blanks(r);
    if (at_end(r) || *r->p != '"')
        return fault(r, "the file to include is missing; #include \"FILE\" is needed");
    int error = read_string(r, &name, NULL);
    if (error != 0)
        return error;
    if (r->p < r->end) {
        free(name);
        return fault(r, "#include \"FILE\" must end the line");
    }
    if (r->include_depth == INFO_INCLUDE_MAX) {
        free(name);
        return fault(r, "files include one another more than %d deep", INFO_INCLUDE_MAX);
    }
    path = beside(r->file, name);
    free(name);
    if (path == NULL)
        return no_memory(r);
    error = read_file(path, INFO_OCTETS_MAX, &text, &len);
    if (error != 0)
        fault(r, "cannot read %s: %s", path, strerror(-error));
    if (error == 0) {
        error = read_text(r->info, r->open[r->n_open - 1], path, text, len, r->include_depth + 1);
        free(text);
    }
    free(path);
    return error != 0 ? -EINVAL : 0;
}

static int read_line(struct reader *r)
{
    skip_blanks(r);
    if (r->p < r->end && *r->p == '#')
        return include(r);
    for (;;) {
        int error;
        skip_blanks(r);
        if (at_end(r)) {
            if (r->expect == EXPECT_VALUE)
                r->expect = EXPECT_KEY;
            return 0;
        }
        if (r->expect != EXPECT_MORE && *r->p == '{')
            error = open_group(r);
        else if (r->expect != EXPECT_MORE && *r->p == '}')
            error = close_group(r);
        else if (r->expect == EXPECT_KEY)
            error = read_key(r);
        else
            error = read_value(r);
        if (error != 0)
            return error;
    }
}

static int keep_file(struct info *info, const char *name, const char **kept)
{
    char **file = realloc(info->file, (info->n_files + 1) * sizeof *file);
    if (file == NULL)
        return -ENOMEM;
    info->file = file;
    file[info->n_files] = strdup(name);
    *kept = file[info->n_files];
    return file[info->n_files++] != NULL ? 0 : -ENOMEM;
}

static int read_text(struct info *info, struct info_node *into, const char *name, const char *text, size_t len,
                     unsigned include_depth)
{
    struct reader *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -ENOMEM;
    *r = (struct reader){.info = info, .include_depth = include_depth, .open = {into}, .n_open = 1};
    int error = keep_file(info, name, &r->file);
    info->octets += len;
    if (error == 0 && info->octets > INFO_OCTETS_MAX)
        error = fault(r, "the files have more than %u octets", INFO_OCTETS_MAX);
    // Some editors begin a file with a mark of its encoding.
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        len -= 3;
    }
    for (size_t at = 0; error == 0 && at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        r->line++;
        r->p = text + at;
        r->end = end != NULL ? end : text + len;
        at = (size_t)(r->end - text) + 1;
        if (memchr(r->p, '\0', (size_t)(r->end - r->p)) != NULL)
            error = fault(r, "has a NUL; this is no text");
        else
            error = read_line(r);
    }
    if (error == 0 && r->n_open > 1) {
        r->line = r->open_line[r->n_open - 1];
        error = fault(r, "'{' of \"%s\" is never closed; '}' is missing", r->open[r->n_open - 1]->key);
    }
    if (error == 0 && r->expect == EXPECT_MORE)
        error = fault(r, "a string is missing: the line ends in '\\'");
    free(r);
    return error;
}

int info_load_text(const char *name, const char *text, size_t len, struct info **loaded, FILE *err)
{
    struct info *info = calloc(1, sizeof *info);
    if (info == NULL)
        return -ENOMEM;
    info->err = err;
    int error = read_text(info, &info->root, name, text, len, 0);
    if (error != 0)
        info_free(info);
    else
        *loaded = info;
    return error;
}

int info_load(const char *path, struct info **info, FILE *err)
{
    char *text;
    size_t len;
    int error = read_file(path, INFO_OCTETS_MAX, &text, &len);
    if (error != 0) {
        fprintf(err, "%s: cannot be read: %s\n", path, strerror(-error));
        return error;
    }
    error = info_load_text(path, text, len, info, err);
    free(text);
    return error;
}

/* Depth is bounded by INFO_DEPTH_MAX for each of INFO_INCLUDE_MAX files. */
static void free_children(struct info_node *node)
{
    for (struct info_node *child = node->child, *next; child != NULL; child = next) {
        next = child->next;
        free_children(child);
        free(child->key);
        free(child->value);
        free(child);
    }
}

void info_free(struct info *info)
{
    if (info == NULL)
        return;
    free_children(&info->root);
    for (size_t i = 0; i < info->n_files; i++)
        free(info->file[i]);
    free(info->file);
    free(info);
}

const struct info_node *info_root(const struct info *info)
{
    return &info->root;
}
