// SPDX-License-Identifier: Apache-2.0
#include "conf/conf.h"
#include "conf/number.h"
#include "conf/private.h"
#include "conf/scan.h"
#include "conf/take.h"
#include "conf/text.h"

#include <libconfig.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATH_LEN 200

struct loader {
    struct conf_private *conf;
    struct faults *faults;
    const struct text *text;
    bool no_memory;
};

static void set_defaults(struct loader *loader, const struct schema_section *section, void *item)
{
    for (unsigned i = 0; i < section->n_keys; i++) {
        const struct schema_key *key = &section->keys[i];
        char why[TAKE_WHY_MAX];
        struct take_value value = {.text = key->def};
        if (key->def != NULL && !take_value(&loader->conf->strings, &loader->no_memory, key, item, &value, why))
            faults_add(loader->faults, 1, "%s.%s: the default %s", section->name, key->name, why);
    }
}

static void mark_set(struct loader *loader, const void *item, const struct schema_key *key, unsigned line)
{
    struct conf_private *conf = loader->conf;
    if (conf->n_set == conf->set_room) {
        size_t room = conf->set_room > 0 ? conf->set_room * 2 : 64;
        struct conf_set *set = realloc(conf->set, room * sizeof *set);
        if (set == NULL) {
            loader->no_memory = true;
            return;
        }
        conf->set = set;
        conf->set_room = room;
    }
    conf->set[conf->n_set++] = (struct conf_set){.item = item, .key = key, .at = {NULL, line}};
}

static const char *key_name(const void *keys, size_t i)
{
    return ((const struct schema_key *)keys)[i].name;
}

static const char *section_name(const void *sections, size_t i)
{
    return ((const struct schema_section *)sections)[i].name;
}

static void unknown_key(struct loader *loader, const struct schema_section *section, const char *path, const char *name,
                        unsigned line)
{
    const char *near = faults_nearest(name, key_name, section->keys, section->n_keys);
    if (near != NULL) {
        faults_add(loader->faults, line, "%s: unknown key '%s'; did you mean '%s'?", path, name, near);
        return;
    }
    char known[300] = "";
    size_t len = 0;
    for (unsigned i = 0; i < section->n_keys && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", section->keys[i].name);
    const char *owner = NULL;
    for (unsigned i = 0; i < schema_n_sections && owner == NULL; i++)
        if (schema_find_key(&schema_sections[i], name) != NULL)
            owner = schema_sections[i].name;
    faults_add(loader->faults, line, "%s: unknown key '%s'%s%s; known are %s", path, name,
               owner != NULL ? ", which belongs to " : "", owner != NULL ? owner : "", known);
}

/* Read one group into its item, which has its defaults. */
static void load_item(struct loader *loader, const struct schema_section *section, const config_setting_t *group,
                      void *item, const char *path)
{
    uint64_t seen = 0;
    unsigned item_line = config_setting_source_line(group);
    int n = config_setting_length(group);
    for (int i = 0; i < n; i++) {
        const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(setting);
        unsigned line = config_setting_source_line(setting);
        const struct schema_key *key = schema_find_key(section, name);
        if (key == NULL) {
            unknown_key(loader, section, path, name, line);
            continue;
        }
        seen |= UINT64_C(1) << (key - section->keys);
        mark_set(loader, item, key, line);
        bool is_text = config_setting_type(setting) == CONFIG_TYPE_STRING;
        struct take_value value = {.setting = setting, .text = is_text ? config_setting_get_string(setting) : NULL};
        char why[TAKE_WHY_MAX];
        if (!take_value(&loader->conf->strings, &loader->no_memory, key, item, &value, why))
            faults_add(loader->faults, line, "%s.%s: %s", path, name, why);
    }
    for (unsigned i = 0; i < section->n_keys; i++) {
        const struct schema_key *key = &section->keys[i];
        // What the scanner blanked is not missing.
        if (key->required && (seen & UINT64_C(1) << i) == 0 && !text_group_is_faulty(loader->text, item_line))
            faults_add(loader->faults, item_line, "%s: %s is missing; %s = \"%s\" is needed", path, key->name,
                       key->name, key->form != NULL ? key->form : key->choices[0].name);
    }
}

static void load_items(struct loader *loader, const struct schema_section *section, const config_setting_t *setting)
{
    unsigned n = (unsigned)config_setting_length(setting);
    unsigned line = config_setting_source_line(setting);
    if (n > section->max_items) {
        faults_add(loader->faults, line, "%s: has %u items; at most %u are allowed", section->name, n,
                   section->max_items);
        return;
    }
    char *items = calloc(n > 0 ? n : 1, section->item_size);
    char *model = calloc(1, section->item_size);
    if (items == NULL || model == NULL) {
        loader->no_memory = true;
        free(items);
        free(model);
        return;
    }
    memcpy((char *)&loader->conf->conf + section->offset, &items, sizeof items);
    memcpy((char *)&loader->conf->conf + section->count_offset, &n, sizeof n);
    set_defaults(loader, section, model);
    for (unsigned i = 0; i < n; i++) {
        const config_setting_t *group = config_setting_get_elem(setting, i);
        struct schema_item *item = (void *)(items + (size_t)i * section->item_size);
        const char *name = config_setting_name(group);
        char path[PATH_LEN];
        memcpy(item, model, section->item_size);
        item->at.line = config_setting_source_line(group);
        if (section->kind == SCHEMA_NAMED) {
            item->name = stringpool_keep(&loader->conf->strings, name, strlen(name));
            loader->no_memory |= item->name == NULL;
            snprintf(path, sizeof path, "%s.%s", section->name, name);
        } else {
            snprintf(path, sizeof path, "%s", section->name);
        }
        if (config_setting_is_group(group))
            load_item(loader, section, group, item, path);
        else
            faults_add(loader->faults, item->at.line, "%s: is %s; a group of settings { } is needed", path,
                       take_type_name(group));
    }
    free(model);
}

static void load_section(struct loader *loader, const config_setting_t *setting)
{
    const char *name = config_setting_name(setting);
    unsigned line = config_setting_source_line(setting);
    const struct schema_section *section = schema_find(name);
    if (section == NULL) {
        const char *near = faults_nearest(name, section_name, schema_sections, schema_n_sections);
        char known[300] = "";
        size_t len = 0;
        for (unsigned i = 0; i < schema_n_sections && len < sizeof known; i++)
            len +=
                (size_t)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", schema_sections[i].name);
        faults_add(loader->faults, line,
                   near != NULL ? "unknown section '%s'; did you mean '%s'?" : "unknown section '%s'; known are %s",
                   name, near != NULL ? near : known);
        return;
    }
    bool right = section->kind == SCHEMA_LIST ? config_setting_is_list(setting) : config_setting_is_group(setting);
    if (!right) {
        static const char *const forms[] = {"%s: { key = value; };", "%s: { NAME: { key = value; }; };",
                                            "%s = ( { key = value; }, { key = value; } );"};
        char form[100];
        snprintf(form, sizeof form,
                 section->kind == SCHEMA_ONE     ? forms[0]
                 : section->kind == SCHEMA_NAMED ? forms[1]
                                                 : forms[2],
                 name);
        faults_add(loader->faults, line, "%s: is %s; %s is needed", name, take_type_name(setting), form);
        return;
    }
    if (section->kind != SCHEMA_ONE) {
        load_items(loader, section, setting);
        return;
    }
    struct schema_item *item = (void *)((char *)&loader->conf->conf + section->offset);
    item->at.line = line;
    load_item(loader, section, setting, item, name);
}

static int by_item(const void *a, const void *b)
{
    const struct conf_set *x = a, *y = b;
    if (x->item != y->item)
        return (uintptr_t)x->item < (uintptr_t)y->item ? -1 : 1;
    return (uintptr_t)x->key < (uintptr_t)y->key ? -1 : (uintptr_t)x->key > (uintptr_t)y->key;
}

static int load_settings(struct loader *loader, struct text *text)
{
    struct conf_private *conf = loader->conf;
    config_t config;
    config_init(&config);
    if (config_read_string(&config, text->octets) != CONFIG_TRUE) {
        faults_add(loader->faults, (unsigned)config_error_line(&config), "%s", config_error_text(&config));
        config_destroy(&config);
        return -EINVAL;
    }
    for (unsigned i = 0; i < schema_n_sections; i++)
        if (schema_sections[i].kind == SCHEMA_ONE)
            set_defaults(loader, &schema_sections[i], (char *)&conf->conf + schema_sections[i].offset);
    const config_setting_t *root = config_root_setting(&config);
    for (int i = 0; i < config_setting_length(root); i++)
        load_section(loader, config_setting_get_elem(root, (unsigned)i));
    config_destroy(&config);
    if (loader->no_memory)
        return -ENOMEM;
    if (conf->n_set > 1)
        qsort(conf->set, conf->n_set, sizeof conf->set[0], by_item);
    return check_all(conf, text, loader->faults);
}

/* Turn lines of the merged text into files and lines. */
static void resolve_positions(struct conf_private *conf, const struct text *text)
{
    for (unsigned s = 0; s < schema_n_sections; s++) {
        unsigned n;
        char *items = schema_items(&schema_sections[s], &conf->conf, &n);
        for (unsigned i = 0; i < n; i++) {
            struct schema_item *item = (void *)(items + (size_t)i * schema_sections[s].item_size);
            item->at = item->at.line > 0 ? text_at(text, item->at.line) : (struct conf_at){"", 0};
        }
    }
    for (size_t i = 0; i < conf->n_set; i++)
        conf->set[i].at = text_at(text, conf->set[i].at.line);
}

static int load(struct conf_private *conf, struct text *text, struct faults *faults, int error)
{
    if (error == 0)
        error = scan(text, faults);
    struct loader loader = {.conf = conf, .faults = faults, .text = text};
    if (error == 0)
        error = load_settings(&loader, text);
    if (error == 0 && text->world_writable && conf->conf.daemon.strict_perms)
        faults_add(faults, conf_set_find(conf, &conf->conf.daemon, "strict-perms")->at.line,
                   "daemon.strict-perms: the configuration may be written by everyone; chmod o-w is needed");
    if (error == 0 && faults->n_errors > 0)
        error = -EINVAL;
    return faults->no_memory && error == 0 ? -ENOMEM : error;
}

/* What both ways of loading do once there is a text, or none. */
static int finish(struct conf_private *priv, struct text *text, struct faults *faults, int error, struct conf **conf,
                  FILE *err)
{
    error = load(priv, text, faults, error);
    faults->no_memory |= error == -ENOMEM;
    faults_print(faults, text, err);
    faults_free(faults);
    if (error == 0) {
        resolve_positions(priv, text);
        *conf = &priv->conf;
    } else {
        conf_free(&priv->conf);
    }
    text_free(text);
    return error;
}

int conf_load(const char *path, struct conf **conf, FILE *err)
{
    struct conf_private *priv = calloc(1, sizeof *priv);
    if (priv == NULL)
        return -ENOMEM;
    struct text text = {0};
    struct faults faults = {0};
    int error = text_load(&text, path, &priv->strings, &faults);
    return finish(priv, &text, &faults, error, conf, err);
}

int conf_load_text(const char *name, const char *octets, size_t len, struct conf **conf, FILE *err)
{
    struct conf_private *priv = calloc(1, sizeof *priv);
    if (priv == NULL)
        return -ENOMEM;
    struct text text = {0};
    struct faults faults = {0};
    int error = text_load_memory(&text, name, octets, len, &priv->strings, &faults);
    return finish(priv, &text, &faults, error, conf, err);
}

void conf_free(struct conf *conf)
{
    if (conf == NULL)
        return;
    struct conf_private *priv = (struct conf_private *)conf;
    free(conf->port);
    free(conf->face);
    free(conf->route);
    free(conf->strategy);
    free(conf->authorization);
    free(conf->quic);
    free(conf->quic_config);
    free(conf->quic_scheme);
    free(conf->quic_server);
    free(priv->set);
    stringpool_free(&priv->strings);
    free(priv);
}

const struct conf_set *conf_set_find(const struct conf_private *conf, const void *item, const char *key)
{
    size_t low = 0, high = conf->n_set;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)conf->set[middle].item < (uintptr_t)item)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < conf->n_set && conf->set[low].item == item; low++)
        if (strcmp(conf->set[low].key->name, key) == 0)
            return &conf->set[low];
    return NULL;
}

struct conf_at conf_key_at(const struct conf *conf, const void *item, const char *key)
{
    const struct conf_set *set = conf_set_find((const struct conf_private *)conf, item, key);
    return set != NULL ? set->at : ((const struct schema_item *)item)->at;
}
