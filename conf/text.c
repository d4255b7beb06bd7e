// SPDX-License-Identifier: Apache-2.0
#include "conf/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Files one configuration may consist of. */
#define FILES_MAX 64

/** The files that are being read, innermost first; a file that is in here already includes itself. */
struct open_file {
    const struct open_file *outer;
    const char *path;
    dev_t device;
    ino_t inode;
    unsigned depth;
};

struct merge {
    struct text *text;
    struct stringpool *strings;
    struct faults *faults;
};

static int merge_octets(struct merge *merge, const char *name, const struct open_file *file, const char *octets,
                        size_t len, unsigned at_line);

static int append(struct text *text, const char *octets, size_t len)
{
    if (text->room - text->len <= len) {
        size_t room = text->room > 0 ? text->room : 4096;
        while (room - text->len <= len)
            room *= 2;
        char *grown = realloc(text->octets, room);
        if (grown == NULL)
            return -ENOMEM;
        text->octets = grown;
        text->room = room;
    }
    memcpy(text->octets + text->len, octets, len);
    text->len += len;
    text->octets[text->len] = '\0';
    return 0;
}

static int start_run(struct text *text, const char *file, unsigned file_line)
{
    if ((text->n_runs & (text->n_runs - 1)) == 0) {
        size_t room = text->n_runs > 0 ? text->n_runs * 2 : 1;
        struct text_run *run = realloc(text->run, room * sizeof *run);
        if (run == NULL)
            return -ENOMEM;
        text->run = run;
    }
    text->run[text->n_runs++] = (struct text_run){.line = text->n_lines, .at = {file, file_line}};
    return 0;
}

/* Octets of the well-formed UTF-8 character at @p s (RFC 3629), 0 when there is none. */
static size_t utf8_len(const unsigned char *s, size_t len)
{
    static const struct {
        unsigned char first, last, second_min, second_max, len;
    } forms[] = {
        {0x00, 0x7F, 0x00, 0xFF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last)
            continue;
        if (forms[i].len > len)
            return 0;
        if (forms[i].len > 1 && (s[1] < forms[i].second_min || s[1] > forms[i].second_max))
            return 0;
        for (size_t k = 2; k < forms[i].len; k++)
            if ((s[k] & 0xC0) != 0x80)
                return 0;
        return forms[i].len;
    }
    return 0;
}

/* The first octet that is not text, NULL when all is text. */
static const char *find_junk(const char *octets, size_t len, unsigned *line, const char **why)
{
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)octets[i];
        size_t n = utf8_len((const unsigned char *)octets + i, len - i);
        if (n == 0) {
            *why = "is not valid UTF-8";
            return octets + i;
        }
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F) {
            *why = c == 0 ? "is a NUL" : "is a control character";
            return octets + i;
        }
        *line += c == '\n';
        i += n;
    }
    return NULL;
}

static int read_all(int fd, char **octets, size_t *len)
{
    size_t room = 64 << 10, used = 0;
    char *buf = malloc(room);
    if (buf == NULL)
        return -ENOMEM;
    for (;;) {
        ssize_t n = read(fd, buf + used, room - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int error = -errno;
            free(buf);
            return error;
        }
        if (n == 0)
            break;
        used += (size_t)n;
        if (used > CONF_TEXT_MAX)
            break;
        if (used == room) {
            char *grown = realloc(buf, room * 2);
            if (grown == NULL) {
                free(buf);
                return -ENOMEM;
            }
            buf = grown;
            room *= 2;
        }
    }
    *octets = buf;
    *len = used;
    return 0;
}

static bool folder_is_world_writable(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    if (len >= sizeof folder)
        return false;
    memcpy(folder, len > 0 ? path : ".", len > 0 ? len : 1);
    folder[len > 0 ? len : 1] = '\0';
    struct stat st;
    return stat(folder, &st) == 0 && (st.st_mode & S_IWOTH) != 0 && (st.st_mode & S_ISVTX) == 0;
}

/* Read and merge one file that @p at_line names (line 1 for the first file). */
static int merge_file(struct merge *merge, const char *path, const struct open_file *outer, unsigned at_line)
{
    struct faults *faults = merge->faults;
    // The first file is named by the position already.
    const char *who = outer != NULL ? path : "", *colon = outer != NULL ? ": " : "";
    if (merge->text->n_files == FILES_MAX) {
        faults_add(faults, at_line, "%s: is one file too many; at most %d files may be included", path, FILES_MAX - 1);
        return -E2BIG;
    }
    merge->text->n_files++;
    // O_NONBLOCK: a FIFO without a writer must not hang the start.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        int error = -errno;
        faults_add(faults, at_line, "%s%scannot be opened: %s", who, colon, strerror(-error));
        return outer == NULL ? error : -EINVAL;
    }
    struct stat st;
    struct open_file file = {.outer = outer, .path = path, .depth = outer != NULL ? outer->depth + 1 : 1};
    char *octets = NULL;
    size_t len = 0;
    int error = fstat(fd, &st) < 0 ? -errno : 0;
    if (error == 0 && !S_ISREG(st.st_mode)) {
        faults_add(faults, at_line, "%s%sis %s; a regular file is needed", who, colon,
                   S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
        error = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
        goto close_fd;
    }
    if (error == 0 && st.st_size > CONF_TEXT_MAX)
        len = CONF_TEXT_MAX + 1;
    else if (error == 0)
        error = read_all(fd, &octets, &len);
    if (error != 0) {
        faults_add(faults, at_line, "%s%scannot be read: %s", who, colon, strerror(-error));
        goto close_fd;
    }
    file.device = st.st_dev;
    file.inode = st.st_ino;
    error = -EINVAL;
    for (const struct open_file *f = outer; f != NULL; f = f->outer)
        if (f->device == file.device && f->inode == file.inode) {
            faults_add(faults, at_line, "%s: includes itself; a file may not include what includes it", path);
            goto free_octets;
        }
    if ((st.st_mode & S_IWOTH) != 0 || folder_is_world_writable(path)) {
        merge->text->world_writable = true;
        faults_warn(faults, at_line, "%s%smay be written by everyone, or its folder may; chmod o-w is advised", who,
                    colon);
    }
    if (len > CONF_TEXT_MAX)
        faults_add(faults, at_line, "%s%sis larger than %u MB; at most that is read", who, colon, CONF_TEXT_MAX >> 20);
    else
        error = merge_octets(merge, path, &file, octets, len, at_line);
free_octets:
    free(octets);
close_fd:
    close(fd);
    // One file too many ends it all; other faults of an included file leave the rest to be looked at.
    if (outer == NULL)
        return error == -E2BIG ? -EINVAL : error;
    return error == 0 || error == -ENOMEM || error == -E2BIG ? error : -EINVAL;
}

/* Where the scanner of lines is. Strings end in their line, comments may not. */
enum place { PLACE_CODE, PLACE_COMMENT };

/* Follow comments and strings through one line. */
static enum place follow_line(enum place place, const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = line[i], next = i + 1 < len ? line[i + 1] : '\0';
        if (place == PLACE_COMMENT) {
            if (c == '*' && next == '/') {
                place = PLACE_CODE;
                i++;
            }
        } else if (c == '#' || (c == '/' && next == '/')) {
            return place;
        } else if (c == '/' && next == '*') {
            place = PLACE_COMMENT;
            i++;
        } else if (c == '"') {
            for (i++; i < len && line[i] != '"'; i++)
                if (line[i] == '\\')
                    i++;
        }
    }
    return place;
}

static size_t skip_blank(const char *line, size_t len, size_t i)
{
    while (i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
        i++;
    return i;
}

/* The path of an @include line, or false when the line is none. *path_len 0: the line is malformed. */
static bool is_include(const char *line, size_t len, const char **path, size_t *path_len)
{
    static const char word[] = "@include";
    size_t i = skip_blank(line, len, 0);
    if (len - i < sizeof word - 1 || memcmp(line + i, word, sizeof word - 1) != 0)
        return false;
    *path_len = 0;
    *path = line;
    i = skip_blank(line, len, i + sizeof word - 1);
    if (i == len || line[i] != '"')
        return true;
    const char *start = line + i + 1, *end = memchr(start, '"', len - i - 1);
    if (end == NULL)
        return true;
    size_t after = skip_blank(line, len, (size_t)(end + 1 - line));
    if (after < len && line[after] != '#' && (line[after] != '/' || after + 1 == len || line[after + 1] != '/'))
        return true;
    *path = start;
    *path_len = (size_t)(end - start);
    return true;
}

static int merge_include(struct merge *merge, const struct open_file *file, const char *path, size_t path_len)
{
    unsigned line = merge->text->n_lines;
    if (path_len == 0 || path_len >= PATH_MAX) {
        faults_add(merge->faults, line, "@include is malformed; write @include \"FILE\" in a line of its own");
        return -EINVAL;
    }
    if (file == NULL) {
        faults_add(merge->faults, line, "@include is not allowed here; only files may include files");
        return -EINVAL;
    }
    if (file->depth == CONF_INCLUDE_DEPTH) {
        faults_add(merge->faults, line, "files include one another too deeply; at most %d deep", CONF_INCLUDE_DEPTH);
        return -EINVAL;
    }
    const char *slash = strrchr(file->path, '/');
    int folder_len = path[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - file->path);
    char full[2 * PATH_MAX];
    int full_len = snprintf(full, sizeof full, "%.*s%.*s", folder_len, file->path, (int)path_len, path);
    if (full_len >= PATH_MAX) {
        faults_add(merge->faults, line, "the path of the included file is too long; at most %d octets", PATH_MAX - 1);
        return -EINVAL;
    }
    const char *kept = stringpool_keep(merge->strings, full, (size_t)full_len);
    return kept != NULL ? merge_file(merge, kept, file, line) : -ENOMEM;
}

static int merge_lines(struct merge *merge, const char *name, const struct open_file *file, const char *octets,
                       size_t len)
{
    struct text *text = merge->text;
    int result = 0;
    enum place place = PLACE_CODE;
    unsigned line = 1, comment_line = 0;
    for (size_t i = 0; i < len; line++) {
        const char *start = octets + i, *end = memchr(start, '\n', len - i);
        size_t line_len = end != NULL ? (size_t)(end - start) : len - i;
        const char *path = NULL;
        size_t path_len = 0;
        int error = 0;
        if (place == PLACE_CODE && is_include(start, line_len, &path, &path_len)) {
            error = merge_include(merge, file, path, path_len);
            if (error == 0 || error == -EINVAL) {
                result = error != 0 ? error : result;
                error = append(text, "\n", 1);
            }
            text->n_lines++;
            if (error == 0)
                error = start_run(text, name, line + 1);
        } else {
            enum place before = place;
            place = follow_line(place, start, line_len);
            if (before == PLACE_CODE && place == PLACE_COMMENT)
                comment_line = text->n_lines;
            error = append(text, start, line_len);
            if (error == 0)
                error = append(text, "\n", 1);
            text->n_lines++;
        }
        if (error != 0)
            return error;
        if (text->len > CONF_TEXT_MAX + FILES_MAX) {
            faults_add(merge->faults, text->n_lines, "all files together are larger than %u MB; at most that is read",
                       CONF_TEXT_MAX >> 20);
            return -EINVAL;
        }
        i += line_len + 1;
    }
    if (place == PLACE_COMMENT) {
        faults_add(merge->faults, comment_line, "the comment is never closed; \"*/\" is missing");
        return -EINVAL;
    }
    return result;
}

static int merge_octets(struct merge *merge, const char *name, const struct open_file *file, const char *octets,
                        size_t len, unsigned at_line)
{
    if (len == 0) {
        bool first = file == NULL || file->outer == NULL;
        faults_add(merge->faults, at_line, "%s%sis empty; settings are needed", first ? "" : name, first ? "" : ": ");
        return -EINVAL;
    }
    if (len >= 3 && memcmp(octets, "\xEF\xBB\xBF", 3) == 0) {
        octets += 3;
        len -= 3;
    }
    int error = start_run(merge->text, name, 1);
    if (error != 0)
        return error;
    unsigned line = 0;
    const char *why = NULL, *junk = find_junk(octets, len, &line, &why);
    if (junk != NULL) {
        faults_add(merge->faults, merge->text->n_lines + line, "octet 0x%02x %s; text in UTF-8 is needed",
                   (unsigned char)*junk, why);
        // The run that at_line stands in goes on, so that the fault keeps its line.
        merge->text->n_lines += line + 1;
        return -EINVAL;
    }
    return merge_lines(merge, name, file, octets, len);
}

static int start(struct text *text, const char *name)
{
    *text = (struct text){.name = name, .n_lines = 1};
    return append(text, "", 0);
}

int text_load(struct text *text, const char *path, struct stringpool *strings, struct faults *faults)
{
    struct merge merge = {.text = text, .strings = strings, .faults = faults};
    const char *kept = stringpool_keep(strings, path, strlen(path));
    if (kept == NULL)
        return -ENOMEM;
    int error = start(text, kept);
    return error != 0 ? error : merge_file(&merge, kept, NULL, 1);
}

int text_load_memory(struct text *text, const char *name, const char *octets, size_t len, struct stringpool *strings,
                     struct faults *faults)
{
    struct merge merge = {.text = text, .strings = strings, .faults = faults};
    const char *kept = stringpool_keep(strings, name, strlen(name));
    if (kept == NULL)
        return -ENOMEM;
    int error = start(text, kept);
    if (error == 0 && len > CONF_TEXT_MAX) {
        faults_add(faults, 1, "is larger than %u MB; at most that is read", CONF_TEXT_MAX >> 20);
        return -EINVAL;
    }
    return error != 0 ? error : merge_octets(&merge, kept, NULL, octets, len, 1);
}

void text_free(struct text *text)
{
    free(text->octets);
    free(text->run);
    free(text->faulty);
    text->octets = NULL;
    text->run = NULL;
    text->faulty = NULL;
}

int text_mark_faulty(struct text *text, unsigned line)
{
    // Beyond that faults are not shown either.
    if (text->n_faulty == FAULTS_MAX)
        return 0;
    if (text->faulty == NULL)
        text->faulty = malloc(FAULTS_MAX * sizeof *text->faulty);
    if (text->faulty == NULL)
        return -ENOMEM;
    text->faulty[text->n_faulty++] = line;
    return 0;
}

bool text_group_is_faulty(const struct text *text, unsigned line)
{
    for (size_t i = 0; i < text->n_faulty; i++)
        if (text->faulty[i] == line)
            return true;
    return false;
}

struct conf_at text_at(const struct text *text, unsigned line)
{
    for (size_t i = text->n_runs; i > 0; i--) {
        const struct text_run *run = &text->run[i - 1];
        if (run->line <= line)
            return (struct conf_at){run->at.file, run->at.line + (line - run->line)};
    }
    return (struct conf_at){text->name != NULL ? text->name : "", line};
}
