// SPDX-License-Identifier: Apache-2.0
#include "conf/conf.h"
#include "conf/number.h"
#include "conf/private.h"

#include <math.h>
#include <string.h>

/** Columns of the manual's text. */
#define COLUMNS 79

static int64_t read_number(const struct schema_key *key, const char *field)
{
    if (key->type == SCHEMA_REAL) {
        double real;
        memcpy(&real, field, sizeof real);
        return llround(real * 1e6);
    }
    uint64_t number = 0;
    // Little or big endian: the field is read in its own size.
    if (key->size == sizeof(uint16_t)) {
        uint16_t value;
        memcpy(&value, field, sizeof value);
        number = value;
    } else if (key->size == sizeof(uint32_t)) {
        uint32_t value;
        memcpy(&value, field, sizeof value);
        number = value;
    } else {
        memcpy(&number, field, sizeof number);
    }
    return (int64_t)number;
}

static void print_string(const char *text, FILE *out)
{
    putc('"', out);
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            putc('\\', out);
        putc(*p, out);
    }
    putc('"', out);
}

static void print_number(const struct schema_key *key, const char *field, FILE *out)
{
    char text[NUMBER_MAX];
    int64_t number = read_number(key, field);
    number_format(key->type, number, text);
    bool quoted = text[strspn(text, "0123456789.-")] != '\0';
    fprintf(out, quoted ? "\"%s\"" : "%s", text);
}

static const char *choice_of(const struct schema_key *key, const char *field)
{
    int value;
    memcpy(&value, field, sizeof value);
    const struct schema_choice *choice = key->choices;
    while (choice->name != NULL && choice->value != value)
        choice++;
    return choice->name != NULL ? choice->name : "";
}

static unsigned count_of(const struct schema_key *key, const void *item)
{
    unsigned n;
    memcpy(&n, (const char *)item + key->count_offset, sizeof n);
    return n;
}

static const char *text_of(const struct schema_key *key, const void *item)
{
    const char *text;
    memcpy(&text, (const char *)item + key->offset, sizeof text);
    return text;
}

/* Element of SCHEMA_TEXTS. */
static const char *element_of(const struct schema_key *key, const void *item, unsigned i)
{
    const char *text;
    memcpy(&text, (const char *)item + key->offset + i * sizeof text, sizeof text);
    return text;
}

static void print_value(const struct schema_key *key, const void *item, FILE *out)
{
    const char *field = (const char *)item + key->offset;
    bool flag;
    switch (key->type) {
    case SCHEMA_BOOL:
        memcpy(&flag, field, sizeof flag);
        fputs(flag ? "true" : "false", out);
        break;
    case SCHEMA_CHOICE:
        print_string(choice_of(key, field), out);
        break;
    case SCHEMA_TEXT:
        print_string(text_of(key, item), out);
        break;
    case SCHEMA_COUNTS:
        fputs("[ ", out);
        for (unsigned i = 0; i < count_of(key, item); i++) {
            fputs(i > 0 ? ", " : "", out);
            print_number(key, field + i * key->size, out);
        }
        fputs(" ]", out);
        break;
    case SCHEMA_TEXTS:
        fputs("[ ", out);
        for (unsigned i = 0; i < count_of(key, item); i++) {
            fputs(i > 0 ? ", " : "", out);
            print_string(element_of(key, item, i), out);
        }
        fputs(count_of(key, item) > 0 ? " ]" : "]", out);
        break;
    default:
        print_number(key, field, out);
    }
}

static bool has_value(const struct schema_key *key, const void *item)
{
    if (key->type == SCHEMA_COUNTS)
        return count_of(key, item) > 0;
    // None is a value only where it is not the default.
    if (key->type == SCHEMA_TEXTS)
        return count_of(key, item) > 0 || key->def != NULL;
    return key->type != SCHEMA_TEXT || text_of(key, item) != NULL;
}

static void print_keys(const struct schema_section *section, const void *item, const char *indent, FILE *out)
{
    for (unsigned i = 0; i < section->n_keys; i++) {
        const struct schema_key *key = &section->keys[i];
        if (!has_value(key, item)) {
            fprintf(out, "%s# %s: not set (%s)\n", indent, key->name, key->def_note);
            continue;
        }
        fprintf(out, "%s%s = ", indent, key->name);
        print_value(key, item, out);
        fputs(";\n", out);
    }
}

void conf_print_effective(const struct conf *conf, FILE *out)
{
    for (unsigned s = 0; s < schema_n_sections; s++) {
        const struct schema_section *section = &schema_sections[s];
        unsigned n;
        const char *items = schema_items(section, conf, &n);
        if (section->kind == SCHEMA_ONE) {
            fprintf(out, "%s: {\n", section->name);
            print_keys(section, items, "    ", out);
            fputs("};\n", out);
            continue;
        }
        if (n == 0)
            continue;
        bool is_list = section->kind == SCHEMA_LIST;
        fprintf(out, is_list ? "%s = (\n" : "%s: {\n", section->name);
        for (unsigned i = 0; i < n; i++) {
            const struct schema_item *item = (const void *)(items + (size_t)i * section->item_size);
            if (is_list)
                fputs("    {\n", out);
            else
                fprintf(out, "    %s: {\n", item->name);
            print_keys(section, item, "        ", out);
            fputs(!is_list ? "    };\n" : i + 1 < n ? "    },\n" : "    }\n", out);
        }
        fputs(is_list ? ");\n" : "};\n", out);
    }
}

/* ---- manual ---- */

/* Write text in lines of COLUMNS, each indented. */
static void print_wrapped(const char *text, unsigned indent, FILE *out)
{
    unsigned column = 0;
    while (*text != '\0') {
        unsigned len = (unsigned)strcspn(text, " ");
        if (column > 0 && column + 1 + len > COLUMNS) {
            putc('\n', out);
            column = 0;
        }
        if (column == 0)
            column = (unsigned)fprintf(out, "%*s", (int)indent, "");
        else
            column += (unsigned)fprintf(out, " ");
        column += (unsigned)fprintf(out, "%.*s", (int)len, text);
        text += len;
        text += strspn(text, " ");
    }
    putc('\n', out);
}

static void print_type(const struct schema_key *key, FILE *out)
{
    static const char *const names[] = {
        [SCHEMA_BOOL] = "true or false",     [SCHEMA_COUNT] = "number", [SCHEMA_SIZE] = "octets",
        [SCHEMA_TIME_US] = "time",           [SCHEMA_TIME_MS] = "time", [SCHEMA_REAL] = "number",
        [SCHEMA_CHOICE] = "one of",          [SCHEMA_TEXT] = "string",  [SCHEMA_COUNTS] = "array of numbers",
        [SCHEMA_TEXTS] = "array of strings",
    };
    fprintf(out, "        Type: %s", names[key->type]);
    bool is_text = key->type == SCHEMA_TEXT || key->type == SCHEMA_TEXTS;
    if (is_text)
        fprintf(out, " \"%s\"", key->form);
    for (const struct schema_choice *c = key->choices; c != NULL && c->name != NULL; c++)
        if (c->name[0] != '/')
            fprintf(out, "%s \"%s\"", c == key->choices ? "" : ",", c->name);
    if (key->type != SCHEMA_BOOL && !is_text && key->type != SCHEMA_CHOICE) {
        char min[NUMBER_MAX], max[NUMBER_MAX];
        number_format(key->type, key->min, min);
        number_format(key->type, key->max, max);
        fprintf(out, ", %s to %s", min, max);
        if (key->zero != NULL)
            fprintf(out, ", or 0: %s", key->zero);
    }
    if (key->type == SCHEMA_COUNTS || key->type == SCHEMA_TEXTS)
        fprintf(out, "; at most %u of them", key->max_count);
    putc('\n', out);
}

static void print_default(const struct schema_key *key, FILE *out)
{
    if (key->required)
        fputs("        Required.\n", out);
    else
        fprintf(out, "        Default: %s\n", key->def_note != NULL ? key->def_note : key->def);
}

void conf_print_manual(FILE *out)
{
    static const char *const forms[] = {
        [SCHEMA_ONE] = "%s: { KEY = VALUE; ... };\n\n",
        [SCHEMA_NAMED] = "%s: { NAME: { KEY = VALUE; ... }; ... };\n\n",
        [SCHEMA_LIST] = "%s = ( { KEY = VALUE; ... }, ... );\n\n",
    };
    fputs("CONFIGURATION\n\n", out);
    print_wrapped(
        "The file is in libconfig's syntax: groups { }, lists ( ), arrays [ ], strings in double quotes, "
        "comments after # or //. @include \"FILE\" in a line of its own reads another file in its place, "
        "relative to the file it stands in. Numbers of octets and items may be strings with k, m or g (1024 "
        "and its powers): \"64k\". Times are strings with us, ms, s or min: \"10ms\". Every section may be "
        "left out. SIGHUP has the file read again: changes of quic and of the sections that belong to it, of route "
        "and of daemon.log-level apply at once, others need a restart. A faulty file changes nothing.",
        4, out);
    for (unsigned s = 0; s < schema_n_sections; s++) {
        const struct schema_section *section = &schema_sections[s];
        fputs("\n", out);
        fprintf(out, forms[section->kind], section->name);
        print_wrapped(section->meaning, 4, out);
        if (section->kind != SCHEMA_ONE)
            fprintf(out, "    At most %u.\n", section->max_items);
        for (unsigned i = 0; i < section->n_keys; i++) {
            const struct schema_key *key = &section->keys[i];
            fprintf(out, "\n    %s\n", key->name);
            print_wrapped(key->meaning, 8, out);
            print_type(key, out);
            print_default(key, out);
        }
    }
}

/* ---- comparison ---- */

static bool same_value(const struct schema_key *key, const void *a, const void *b)
{
    const char *x = (const char *)a + key->offset, *y = (const char *)b + key->offset;
    if (key->type == SCHEMA_COUNTS) {
        unsigned n = count_of(key, a);
        return n == count_of(key, b) && memcmp(x, y, n * key->size) == 0;
    }
    if (key->type == SCHEMA_TEXTS) {
        unsigned n = count_of(key, a);
        bool same = n == count_of(key, b);
        for (unsigned i = 0; same && i < n; i++)
            same = strcmp(element_of(key, a, i), element_of(key, b, i)) == 0;
        return same;
    }
    if (key->type != SCHEMA_TEXT)
        return memcmp(x, y, key->size) == 0;
    const char *s = text_of(key, a), *t = text_of(key, b);
    return s == t || (s != NULL && t != NULL && strcmp(s, t) == 0);
}

static unsigned compare_items(const struct schema_section *section, const struct schema_item *running,
                              const struct schema_item *wanted, const struct conf *conf, FILE *err)
{
    unsigned n = 0;
    for (unsigned i = 0; i < section->n_keys; i++) {
        const struct schema_key *key = &section->keys[i];
        if (key->live || same_value(key, running, wanted))
            continue;
        n++;
        if (err == NULL)
            continue;
        struct conf_at at = conf_key_at(conf, wanted, key->name);
        bool named = section->kind == SCHEMA_NAMED;
        // Left out of the file: it goes back to its default.
        fprintf(err, "%s:%u: %s%s%s.%s: restart needed to change it", at.line > 0 ? at.file : "-", at.line,
                section->name, named ? "." : "", named ? wanted->name : "", key->name);
        if (has_value(key, running)) {
            fputs(" from ", err);
            print_value(key, running, err);
        }
        if (has_value(key, wanted)) {
            fputs(" to ", err);
            print_value(key, wanted, err);
        }
        putc('\n', err);
    }
    return n;
}

static const struct schema_item *item_named(const struct schema_section *section, const struct conf *conf,
                                            const char *name)
{
    unsigned n;
    const char *items = schema_items(section, conf, &n);
    for (unsigned i = 0; i < n; i++) {
        const struct schema_item *item = (const void *)(items + (size_t)i * section->item_size);
        if (strcmp(item->name, name) == 0)
            return item;
    }
    return NULL;
}

unsigned conf_restart_needed(const struct conf *running, const struct conf *wanted, FILE *err)
{
    unsigned differ = 0;
    for (unsigned s = 0; s < schema_n_sections; s++) {
        const struct schema_section *section = &schema_sections[s];
        unsigned n, n_running;
        const char *items = schema_items(section, wanted, &n);
        const char *old_items = schema_items(section, running, &n_running);
        if (!section->restart)
            continue;
        if (section->kind == SCHEMA_ONE) {
            differ += compare_items(section, (const void *)old_items, (const void *)items, wanted, err);
            continue;
        }
        for (unsigned i = 0; i < n; i++) {
            const struct schema_item *item = (const void *)(items + (size_t)i * section->item_size);
            const struct schema_item *old = item_named(section, running, item->name);
            if (old != NULL) {
                differ += compare_items(section, old, item, wanted, err);
                continue;
            }
            differ++;
            if (err != NULL)
                fprintf(err, "%s:%u: %s.%s: restart needed to add it\n", item->at.file, item->at.line, section->name,
                        item->name);
        }
        for (unsigned i = 0; i < n_running; i++) {
            const struct schema_item *item = (const void *)(old_items + (size_t)i * section->item_size);
            if (item_named(section, wanted, item->name) != NULL)
                continue;
            differ++;
            if (err != NULL)
                fprintf(err, "%s:%u: %s.%s: restart needed to remove it\n", item->at.file, item->at.line, section->name,
                        item->name);
        }
    }
    return differ;
}

bool conf_section_differs(const struct conf *a, const struct conf *b, const char *name)
{
    const struct schema_section *section = schema_find(name);
    unsigned n, n_b;
    const char *items = schema_items(section, a, &n), *items_b = schema_items(section, b, &n_b);
    if (n != n_b)
        return true;
    for (size_t i = 0; i < n; i++) {
        const struct schema_item *x = (const void *)(items + i * section->item_size);
        const struct schema_item *y = (const void *)(items_b + i * section->item_size);
        if (section->kind == SCHEMA_NAMED && strcmp(x->name, y->name) != 0)
            return true;
        for (unsigned k = 0; k < section->n_keys; k++)
            if (!same_value(&section->keys[k], x, y))
                return true;
    }
    return false;
}
