// SPDX-License-Identifier: Apache-2.0
/* What the import says and writes. */
#include "fwd/client/import_impl.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf/schema.h"

/* A line of what somebody else wrote must not end, nor move the cursor, by itself. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

void import_error(struct import *import, const struct info_node *node, const char *format, ...)
{
    va_list args;
    import->n_errors++;
    fprintf(import->err, "%s:%u: ", node->file != NULL ? node->file : import->path, node->line);
    char text[1000];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    make_printable(text);
    fprintf(import->err, "%s\n", text);
}

/* "nfd.conf:3: tables.cs_policy lru: " */
static void print_key(FILE *out, const struct info_node *node, const char *path)
{
    char text[IMPORT_PATH_MAX + 80];
    bool has_value = node->value[0] != '\0';
    snprintf(text, sizeof text, "%s%s%.60s%s", path, has_value ? " " : "", node->value,
             strlen(node->value) > 60 ? "..." : "");
    make_printable(text);
    fprintf(out, "%s:%u: %s: ", node->file, node->line, text);
}

/* Every setting that is written is one that there is. */
static bool is_known(const char *key)
{
    char section[40];
    const char *dot = strchr(key, '.');
    snprintf(section, sizeof section, "%.*s", dot != NULL ? (int)(dot - key) : 39, key);
    const struct schema_section *found = schema_find(section);
    return found != NULL && (dot == NULL ? found->kind == SCHEMA_LIST : schema_find_key(found, dot + 1) != NULL);
}

/* Write a setting down without a word. */
static void import_set(struct import *import, const char *key, const char *value)
{
    if (!is_known(key)) {
        import->n_errors++;
        fprintf(import->err, "%s: no setting %s\n", import->path, key);
        return;
    }
    if (import->n_settings == import->room) {
        size_t room = import->room > 0 ? import->room * 2 : 32;
        struct import_setting *setting = realloc(import->setting, room * sizeof *setting);
        if (setting == NULL) {
            import->no_memory = true;
            return;
        }
        import->setting = setting;
        import->room = room;
    }
    struct import_setting *setting = &import->setting[import->n_settings++];
    *setting = (struct import_setting){strdup(key), strdup(value)};
    import->no_memory |= setting->key == NULL || setting->value == NULL;
}

void import_take(struct import *import, const struct info_node *node, const char *path, const char *key,
                 const char *value)
{
    print_key(import->report, node, path);
    fprintf(import->report, "taken as %s = %.120s%s\n", key, value, strlen(value) > 120 ? "..." : "");
    import_set(import, key, value);
}

void import_taken(struct import *import, const struct info_node *node, const char *path, const char *how)
{
    print_key(import->report, node, path);
    fprintf(import->report, "taken: %s\n", how);
}

void import_no_effect(struct import *import, const struct info_node *node, const char *path, const char *because)
{
    print_key(import->report, node, path);
    fprintf(import->report, "no effect: %s\n", because);
}

void import_by_hand(struct import *import, const struct info_node *node, const char *path, const char *what)
{
    char *remark = NULL;
    print_key(import->report, node, path);
    fputs("by hand: ", import->report);
    char **by_hand = realloc(import->by_hand, (import->n_by_hand + 1) * sizeof *by_hand);
    if (by_hand != NULL)
        import->by_hand = by_hand;
    if (by_hand == NULL || asprintf(&remark, "%s, line %u: %s", path, node->line, what) < 0)
        import->no_memory = true;
    else
        make_printable(by_hand[import->n_by_hand++] = remark);
    fprintf(import->report, "%s\n", remark != NULL ? strstr(remark, ": ") + 2 : "");
}

void import_absent(struct import *import, const char *path, const char *key, const char *value)
{
    fprintf(import->report, "%s: %s is not there: taken as %s = %s\n", import->path, path, key, value);
    import_set(import, key, value);
}

char *import_quote(struct import *import, const struct info_node *node, const char *text)
{
    char *quoted = malloc(2 * strlen(text) + 3), *to = quoted;
    if (quoted == NULL) {
        import->no_memory = true;
        return NULL;
    }
    *to++ = '"';
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            import_error(import, node, "%s: has a control character", node->key);
            free(quoted);
            return NULL;
        }
        if (*text == '"' || *text == '\\')
            *to++ = '\\';
        *to++ = *text;
    }
    *to++ = '"';
    *to = '\0';
    return quoted;
}

char *import_file(struct import *import, const char *name)
{
    char folder[PATH_MAX], *absolute = NULL, *joined = NULL;
    const char *slash = strrchr(import->path, '/');
    if (name[0] == '/')
        absolute = strdup(name);
    else if (asprintf(&joined, "%.*s.", slash != NULL ? (int)(slash + 1 - import->path) : 0, import->path) >= 0 &&
             (realpath(joined, folder) == NULL || asprintf(&absolute, "%s/%s", folder, name) < 0))
        absolute = NULL;
    free(joined);
    import->no_memory |= absolute == NULL;
    return absolute;
}

static bool is_in(const char *key, const char *section)
{
    size_t len = strlen(section);
    return strncmp(key, section, len) == 0 && (key[len] == '.' || key[len] == '\0');
}

static void write_section(const struct import *import, const struct schema_section *section, FILE *out)
{
    bool is_list = section->kind == SCHEMA_LIST;
    unsigned n = 0;
    for (size_t i = 0; i < import->n_settings; i++) {
        const struct import_setting *s = &import->setting[i];
        if (!is_in(s->key, section->name))
            continue;
        if (n++ == 0)
            fprintf(out, is_list ? "\n%s = (\n" : "\n%s: {\n", section->name);
        else if (is_list)
            fputs(",\n", out);
        if (is_list)
            fprintf(out, "    %s", s->value);
        else
            fprintf(out, "    %s = %s;\n", s->key + strlen(section->name) + 1, s->value);
    }
    if (n > 0)
        fputs(is_list ? "\n);\n" : "};\n", out);
}

void import_write(const struct import *import, FILE *out)
{
    fputs("# Configuration of pitlaned, made from NFD's by `pitlane import-nfd-conf`. The manual: pitlaned -m\n", out);
    if (import->n_by_hand > 0)
        fputs("#\n# To be done by hand:\n", out);
    for (size_t i = 0; i < import->n_by_hand; i++)
        fprintf(out, "# - %s\n", import->by_hand[i]);
    for (unsigned i = 0; i < schema_n_sections; i++)
        write_section(import, &schema_sections[i], out);
}

void import_clear(struct import *import)
{
    for (size_t i = 0; i < import->n_settings; i++) {
        free(import->setting[i].key);
        free(import->setting[i].value);
    }
    for (size_t i = 0; i < import->n_by_hand; i++)
        free(import->by_hand[i]);
    free(import->setting);
    free(import->by_hand);
}
