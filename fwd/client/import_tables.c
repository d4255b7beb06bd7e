// SPDX-License-Identifier: Apache-2.0
/* Sections general, log, forwarder and tables of nfd.conf. */
#include "fwd/client/import_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/accept.h"

#define CS_CAPACITY_MAX (1 << 24)

/* A setting that is a string. */
static void take_string(struct import *import, const struct info_node *node, const char *path, const char *key)
{
    char *quoted = import_has_value(import, node, path) ? import_quote(import, node, node->value) : NULL;
    if (quoted != NULL)
        import_take(import, node, path, key, quoted);
    free(quoted);
}

static void take_user(struct import *import, const struct info_node *node, const char *path)
{
    char why[200] = "";
    if (node->value[0] != '\0' && !accept_user(NULL, node->value, why, sizeof why))
        import_error(import, node, "%s: \"%.40s\" %s", path, node->value, why);
    else
        take_string(import, node, path, "daemon.user");
}

void import_general(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"user", IMPORT_GROUP, .take = take_user},
        {"group", IMPORT_NONE, .why = "the groups of the account are taken"},
        {0},
    };
    import_walk(import, node, path, keys);
}

static const char *find_level(const char *level)
{
    static const struct {
        const char *name, *ours;
    } levels[] = {{"NONE", "\"error\""},  {"ERROR", "\"error\""}, {"WARN", "\"warning\""}, {"INFO", "\"info\""},
                  {"DEBUG", "\"debug\""}, {"TRACE", "\"debug\""}, {"ALL", "\"debug\""}};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(levels[i].name, level) == 0)
            return levels[i].ours;
    return NULL;
}

/* Any other key is the name of a module of NFD. */
void import_log(struct import *import, const struct info_node *node, const char *path)
{
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        char joined[IMPORT_PATH_MAX];
        import_join(joined, path, child->key);
        if (!import_has_value(import, child, joined))
            continue;
        const char *level = find_level(child->value);
        if (level == NULL)
            import_error(import, child,
                         "%s: \"%.40s\" is no level; NONE, ERROR, WARN, INFO, DEBUG, TRACE and ALL are "
                         "allowed",
                         joined, child->value);
        else if (import_child(node, child->key) != child)
            import_error(import, child, "%s: is there a second time; first at line %u", joined,
                         import_child(node, child->key)->line);
        else if (strcmp(child->key, "default_level") == 0)
            import_take(import, child, joined, "daemon.log-level", level);
        else
            import_no_effect(import, child, joined, "all parts of pitlaned log at the level daemon.log-level");
    }
}

void import_forwarder(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"default_hop_limit", IMPORT_COUNT, .to = "forwarding.default-hop-limit", .max = 255, .strict = true},
        {0},
    };
    import_walk(import, node, path, keys);
}

static void take_policy(struct import *import, const struct info_node *node, const char *path)
{
    if (strcmp(node->value, "lru") == 0)
        import_take(import, node, path, "cs.policy", "\"lru\"");
    else if (strcmp(node->value, "priority_fifo") == 0)
        import_take(import, node, path, "cs.policy", "\"priority-fifo\"");
    else
        import_error(import, node, "%s: \"%.40s\" is no policy; lru and priority_fifo are allowed", path, node->value);
}

static void take_unsolicited(struct import *import, const struct info_node *node, const char *path)
{
    static const char *const policies[] = {"drop-all", "admit-local", "admit-network", "admit-all"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(policies[i], node->value) == 0) {
            take_string(import, node, path, "cs.unsolicited");
            return;
        }
    import_error(import, node,
                 "%s: \"%.40s\" is no policy; drop-all, admit-local, admit-network and admit-all are allowed", path,
                 node->value);
}

static void take_strategy(struct import *import, const struct info_node *node, const char *path)
{
    char why[300] = "", *item = NULL;
    if (!import_has_value(import, node, path))
        return;
    if (!accept_name(NULL, node->key, why, sizeof why)) {
        import_error(import, node, "%s: the prefix %s", path, why);
        return;
    }
    if (!accept_strategy(NULL, node->value, why, sizeof why)) {
        import_error(import, node, "%s: \"%.100s\" %s", path, node->value, why);
        return;
    }
    char *prefix = import_quote(import, node, node->key), *strategy = import_quote(import, node, node->value);
    if (prefix != NULL && strategy != NULL && asprintf(&item, "{ prefix = %s; strategy = %s; }", prefix, strategy) >= 0)
        import_take(import, node, path, "strategy", item);
    free(prefix);
    free(strategy);
    free(item);
}

static void take_strategies(struct import *import, const struct info_node *node, const char *path)
{
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        char joined[IMPORT_PATH_MAX];
        import_join(joined, path, child->key);
        if (import_child(node, child->key) != child)
            import_error(import, child, "%s: is there a second time; first at line %u", joined,
                         import_child(node, child->key)->line);
        else
            take_strategy(import, child, joined);
    }
}

/* Names, each a key without a value. */
static void take_regions(struct import *import, const struct info_node *node, const char *path)
{
    char *list = NULL;
    size_t len;
    unsigned n = 0;
    FILE *out = open_memstream(&list, &len);
    if (out == NULL) {
        import->no_memory = true;
        return;
    }
    fputs("[", out);
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        char why[300] = "", *quoted = import_quote(import, child, child->key);
        if (!accept_name(NULL, child->key, why, sizeof why))
            import_error(import, child, "%s: \"%.100s\" %s", path, child->key, why);
        else if (child->value[0] != '\0' || child->child != NULL)
            import_error(import, child, "%s: %.100s is a name; nothing may follow it", path, child->key);
        else if (quoted != NULL && import_child(node, child->key) == child)
            fprintf(out, "%s %s", n++ > 0 ? "," : "", quoted);
        free(quoted);
    }
    fputs(" ]", out);
    import->no_memory |= fclose(out) != 0;
    if (list != NULL)
        import_take(import, node, path, "forwarding.region", list);
    free(list);
}

void import_tables(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"cs_max_packets", IMPORT_COUNT, .to = "cs.capacity", .max = CS_CAPACITY_MAX},
        {"cs_policy", IMPORT_GROUP, .take = take_policy},
        {"cs_unsolicited_policy", IMPORT_GROUP, .take = take_unsolicited},
        {"strategy_choice", IMPORT_GROUP, .take = take_strategies},
        {"network_region", IMPORT_GROUP, .take = take_regions},
        {0},
    };
    import_walk(import, node, path, keys);
}
