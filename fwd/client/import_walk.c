// SPDX-License-Identifier: Apache-2.0
/* Tables of keys against the tree of a file. */
#include "fwd/client/import_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void import_join(char joined[IMPORT_PATH_MAX], const char *path, const char *key)
{
    snprintf(joined, IMPORT_PATH_MAX, "%.99s%s%.99s", path, path[0] != '\0' ? "." : "", key);
}

const struct info_node *import_child(const struct info_node *node, const char *key)
{
    for (const struct info_node *child = node != NULL ? node->child : NULL; child != NULL; child = child->next)
        if (strcmp(child->key, key) == 0)
            return child;
    return NULL;
}

bool import_has_value(struct import *import, const struct info_node *node, const char *path)
{
    if (node->value[0] != '\0' && node->child == NULL)
        return true;
    import_error(import, node, node->child != NULL ? "%s: is a group; a value is needed" : "%s: the value is missing",
                 path);
    return false;
}

bool import_yes_no(struct import *import, const struct info_node *node, const char *path, bool *yes)
{
    if (!import_has_value(import, node, path))
        return false;
    *yes = strcmp(node->value, "yes") == 0;
    if (*yes || strcmp(node->value, "no") == 0)
        return true;
    import_error(import, node, "%s: \"%.40s\" is neither yes nor no", path, node->value);
    return false;
}

/* Read a decimal number; anything else is a fault. */
static bool import_number(struct import *import, const struct info_node *node, const char *path, uint64_t *number)
{
    if (!import_has_value(import, node, path))
        return false;
    errno = 0;
    *number = strtoull(node->value, NULL, 10);
    if (node->value[strspn(node->value, "0123456789")] == '\0' && errno == 0)
        return true;
    import_error(import, node, "%s: \"%.40s\" is not a number", path, node->value);
    return false;
}

static void take_bool(struct import *import, const struct info_node *node, const char *path,
                      const struct import_key *key)
{
    bool yes;
    if (import_yes_no(import, node, path, &yes))
        import_take(import, node, path, key->to, yes ? "true" : "false");
}

static void take_number(struct import *import, const struct info_node *node, const char *path,
                        const struct import_key *key)
{
    static const char *const units[] = {[IMPORT_COUNT] = "", [IMPORT_SECONDS] = "s", [IMPORT_MS] = "ms"};
    uint64_t number;
    char value[40];
    if (!import_number(import, node, path, &number))
        return;
    uint64_t nearest = number < key->min ? key->min : number > key->max ? key->max : number;
    if (nearest != number && key->strict) {
        import_error(import, node, "%s: %s is out of range; %" PRIu64 " to %" PRIu64 " is allowed", path, node->value,
                     key->min, key->max);
        return;
    }
    const char *quote = key->kind == IMPORT_COUNT ? "" : "\"";
    snprintf(value, sizeof value, "%s%" PRIu64 "%s%s", quote, nearest, units[key->kind], quote);
    import_take(import, node, path, key->to, value);
    if (nearest == number)
        return;
    char what[200];
    snprintf(what, sizeof what, "%s is more or less than %s may be; %s is what comes nearest", node->value, key->to,
             value);
    import_by_hand(import, node, path, what);
}

static void take_key(struct import *import, const struct info_node *node, const char *path,
                     const struct import_key *key)
{
    switch (key->kind) {
    case IMPORT_BOOL:
        take_bool(import, node, path, key);
        break;
    case IMPORT_COUNT:
    case IMPORT_SECONDS:
    case IMPORT_MS:
        take_number(import, node, path, key);
        break;
    case IMPORT_GROUP:
        key->take(import, node, path);
        break;
    case IMPORT_NONE:
        if (import_has_value(import, node, path))
            import_no_effect(import, node, path, key->why);
        break;
    default:
        if (!import_has_value(import, node, path))
            break;
        if (strcasecmp(node->value, key->def) == 0)
            import_taken(import, node, path, "so it is here");
        else
            import_by_hand(import, node, path, key->why);
    }
}

static bool is_second(const struct info_node *parent, const struct info_node *node)
{
    return import_child(parent, node->key) != node;
}

static void unknown(struct import *import, const struct info_node *node, const char *path,
                    const struct import_key *keys)
{
    size_t len = strlen(node->key);
    if (len > 1 && node->key[len - 1] == '{') {
        import_error(import, node, "%s: unknown; a blank is needed before '{'", path);
        return;
    }
    char known[300] = "";
    size_t n = 0;
    for (; keys->name != NULL && n < sizeof known; keys++)
        n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n > 0 ? ", " : "", keys->name);
    import_error(import, node, "%s: unknown; known are %s", path, known);
}

void import_walk(struct import *import, const struct info_node *node, const char *path, const struct import_key *keys)
{
    if (node->key != NULL && node->value[0] != '\0')
        import_error(import, node, "%s: \"%.40s\" is not expected; a group { } is needed", path, node->value);
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        char joined[IMPORT_PATH_MAX];
        const struct import_key *key = keys;
        import_join(joined, path, child->key);
        while (key->name != NULL && strcmp(key->name, child->key) != 0)
            key++;
        if (key->name == NULL)
            unknown(import, child, joined, keys);
        else if (!key->many && is_second(node, child))
            import_error(import, child, "%s: is there a second time; first at line %u", joined,
                         import_child(node, child->key)->line);
        else
            take_key(import, child, joined, key);
    }
}
