// SPDX-License-Identifier: Apache-2.0
/* Sections authorizations and rib of nfd.conf. */
#include "fwd/client/import_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/accept.h"

#define ONE_RULE                                                                                                 \
    "a key counts when its certificate is an anchor, or a chain of rib.certificates leads from it to one, each " \
    "issued "                                                                                                    \
    "by an identity that is a prefix of its own; anchors that are narrow enough do what this rule does"

/* ---- authorizations ---- */

/* A file or folder of nfd.conf, made absolute, to be freed. */
static char *find_file(struct import *import, const struct info_node *node, const char *path)
{
    char *file = import_file(import, node->value);
    if (file != NULL && access(file, R_OK) != 0) {
        char what[300];
        snprintf(what, sizeof what, "%.200s cannot be read here: %s", file, strerror(errno));
        import_by_hand(import, node, path, what);
    }
    return file;
}

/* "[ "faces", "cs" ]" of keys without values, to be freed; NULL after a fault. */
static char *read_privileges(struct import *import, const struct info_node *node, const char *path)
{
    static const char *const known[] = {"faces", "fib", "cs", "strategy-choice"};
    unsigned n_errors = import->n_errors, n = 0;
    char *list = NULL;
    size_t len;
    FILE *out = open_memstream(&list, &len);
    if (out == NULL) {
        import->no_memory = true;
        return NULL;
    }
    fputs("[", out);
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known |= strcmp(known[i], child->key) == 0;
        if (!is_known)
            import_error(import, child, "%s: \"%.40s\" is no privilege; faces, fib, cs and strategy-choice are allowed",
                         path, child->key);
        else if (child->value[0] != '\0' || child->child != NULL)
            import_error(import, child, "%s: %s is a privilege; nothing may follow it in its line", path, child->key);
        else if (import_child(node, child->key) == child)
            fprintf(out, "%s \"%s\"", n++ > 0 ? "," : "", child->key);
    }
    fputs(" ]", out);
    import->no_memory |= fclose(out) != 0;
    if (import->n_errors == n_errors)
        return list;
    free(list);
    return NULL;
}

/* "any" or the quoted path of a file, to be freed. */
static char *read_certfile(struct import *import, const struct info_node *node, const char *path)
{
    if (!import_has_value(import, node, path))
        return NULL;
    if (strcmp(node->value, "any") == 0)
        return strdup("\"any\"");
    char *file = find_file(import, node, path);
    char *quoted = file != NULL ? import_quote(import, node, file) : NULL;
    free(file);
    return quoted;
}

static void take_authorize(struct import *import, const struct info_node *node, const char *path)
{
    const struct info_node *certfile = NULL, *privileges = NULL;
    char *item = NULL;
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        const struct info_node **one = strcmp(child->key, "certfile") == 0     ? &certfile
                                       : strcmp(child->key, "privileges") == 0 ? &privileges
                                                                               : NULL;
        if (one == NULL)
            import_error(import, child, "%s.%s: unknown; known are certfile, privileges", path, child->key);
        else if (*one != NULL)
            import_error(import, child, "%s.%s: is there a second time; first at line %u", path, child->key,
                         (*one)->line);
        else
            *one = child;
    }
    if (certfile == NULL || privileges == NULL) {
        import_error(import, node, "%s: %s is missing", path, certfile == NULL ? "certfile" : "privileges");
        return;
    }
    char joined[IMPORT_PATH_MAX];
    import_join(joined, path, "certfile");
    char *file = read_certfile(import, certfile, joined);
    import_join(joined, path, "privileges");
    char *list = read_privileges(import, privileges, joined);
    if (file != NULL && list != NULL && asprintf(&item, "{ certfile = %s; privileges = %s; }", file, list) >= 0)
        import_take(import, node, path, "authorizations", item);
    free(item);
    free(list);
    free(file);
}

void import_authorizations(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"authorize", IMPORT_GROUP, .many = true, .take = take_authorize},
        {0},
    };
    if (node->child == NULL)
        import_error(import, node, "%s: authorize { } is missing", path);
    import_walk(import, node, path, keys);
}

/* ---- validators of the RIB ---- */

/* Anchors of one validator, as they are written. */
struct anchors {
    char *list;
    size_t len;
    FILE *out;
    unsigned n;
};

static bool check_names(struct import *import, const struct info_node *node, const char *path,
                        const char *const known[])
{
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        unsigned i = 0;
        while (known[i] != NULL && strcmp(known[i], child->key) != 0)
            i++;
        if (known[i] == NULL) {
            import_error(import, child, "%s.%s: unknown", path, child->key);
            return false;
        }
    }
    return true;
}

static void take_rule(struct import *import, const struct info_node *node, const char *path)
{
    static const char *const known[] = {"id", "for", "filter", "checker", NULL};
    static const char *const filter[] = {"type", "name", "regex", "relation", NULL};
    static const char *const checker[] = {"type", "sig-type", "key-locator", "signer", NULL};
    const struct info_node *id = import_child(node, "id"), *is_for = import_child(node, "for");
    char what[700], joined[IMPORT_PATH_MAX];
    bool good = check_names(import, node, path, known);
    for (const struct info_node *child = node->child; good && child != NULL; child = child->next) {
        import_join(joined, path, child->key);
        if (child->child != NULL)
            good = check_names(import, child, joined, strcmp(child->key, "filter") == 0 ? filter : checker);
    }
    if (!good)
        return;
    if (id == NULL || is_for == NULL ||
        (strcmp(is_for->value, "data") != 0 && strcmp(is_for->value, "interest") != 0)) {
        import_error(import, node, "%s: %s is missing", path, id == NULL ? "id" : "for data or for interest");
        return;
    }
    snprintf(what, sizeof what, "rule \"%.100s\" is left out: " ONE_RULE, id->value);
    import_by_hand(import, node, path, what);
}

/* "1h", "10m", "30s". */
static bool read_refresh(const char *text, uint64_t *seconds)
{
    char *end;
    if (text[0] < '0' || text[0] > '9')
        return false;
    uint64_t number = strtoull(text, &end, 10);
    uint64_t unit = strcmp(end, "h") == 0 ? 3600 : strcmp(end, "m") == 0 ? 60 : strcmp(end, "s") == 0 ? 1 : 0;
    *seconds = number <= UINT32_MAX ? number * unit : UINT64_MAX;
    return unit != 0;
}

static const struct info_node *need(struct import *import, const struct info_node *node, const char *path,
                                    const char *key)
{
    const struct info_node *child = import_child(node, key);
    char joined[IMPORT_PATH_MAX];
    import_join(joined, path, key);
    if (child == NULL)
        import_error(import, node, "%s: %s is missing", path, key);
    return child != NULL && import_has_value(import, child, joined) ? child : NULL;
}

static void add_anchor(struct import *import, struct anchors *anchors, const struct info_node *node, const char *path,
                       const char *text)
{
    char *quoted = import_quote(import, node, text), how[200];
    if (quoted == NULL)
        return;
    fprintf(anchors->out, "%s %s", anchors->n++ > 0 ? "," : "", quoted);
    snprintf(how, sizeof how, "%.150s%s", quoted, strlen(quoted) > 150 ? "..." : "");
    import_taken(import, node, path, how);
    free(quoted);
}

static void take_folder(struct import *import, struct anchors *anchors, const struct info_node *node, const char *path)
{
    const struct info_node *dir = need(import, node, path, "dir"), *refresh = import_child(node, "refresh");
    uint64_t seconds = 0;
    if (refresh != NULL && !read_refresh(refresh->value, &seconds)) {
        import_error(import, refresh, "%s.refresh: \"%.40s\" is no time, as \"1h\", \"10m\" or \"30s\"", path,
                     refresh->value);
        return;
    }
    char *file = dir != NULL ? find_file(import, dir, path) : NULL;
    if (file != NULL)
        add_anchor(import, anchors, node, path, file);
    free(file);
    if (seconds > 0 && (import->refresh_s == 0 || seconds < import->refresh_s))
        import->refresh_s = seconds;
}

static void take_base64(struct import *import, struct anchors *anchors, const struct info_node *node, const char *path)
{
    const struct info_node *string = need(import, node, path, "base64-string");
    char *text = NULL, why[200] = "";
    if (string == NULL || asprintf(&text, "base64:%s", string->value) < 0)
        return;
    // Blanks may be in it there.
    size_t n = 0;
    for (const char *p = text; *p != '\0'; p++)
        if (strchr(" \t\r\n", *p) == NULL)
            text[n++] = *p;
    text[n] = '\0';
    if (n > 4096)
        import_by_hand(import, node, path, "put the certificate into a file and name that: the text is too long");
    else if (!accept_anchor(NULL, text, why, sizeof why))
        import_error(import, string, "%s.base64-string: %s", path, why);
    else
        add_anchor(import, anchors, node, path, text);
    free(text);
}

static void take_anchor(struct import *import, struct anchors *anchors, const struct info_node *node, const char *path)
{
    static const char *const known[] = {"type", "file-name", "dir", "refresh", "base64-string", NULL};
    const struct info_node *type = need(import, node, path, "type"), *name;
    if (type == NULL || !check_names(import, node, path, known))
        return;
    if (strcmp(type->value, "any") == 0) {
        add_anchor(import, anchors, node, path, "any");
    } else if (strcmp(type->value, "file") == 0) {
        name = need(import, node, path, "file-name");
        char *file = name != NULL ? find_file(import, name, path) : NULL;
        if (file != NULL)
            add_anchor(import, anchors, node, path, file);
        free(file);
    } else if (strcmp(type->value, "dir") == 0) {
        take_folder(import, anchors, node, path);
    } else if (strcmp(type->value, "base64") == 0) {
        take_base64(import, anchors, node, path);
    } else {
        import_error(import, type, "%s.type: \"%.40s\" is unknown; known are any, file, dir, base64", path,
                     type->value);
    }
}

static void take_validator(struct import *import, const struct info_node *node, const char *path, const char *key)
{
    struct anchors anchors = {0};
    bool any = false;
    anchors.out = open_memstream(&anchors.list, &anchors.len);
    if (anchors.out == NULL) {
        import->no_memory = true;
        return;
    }
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        const struct info_node *type = strcmp(child->key, "trust-anchor") == 0 ? import_child(child, "type") : NULL;
        any |= type != NULL && strcmp(type->value, "any") == 0;
    }
    fputs("[", anchors.out);
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        char joined[IMPORT_PATH_MAX];
        import_join(joined, path, child->key);
        if (strcmp(child->key, "trust-anchor") == 0)
            take_anchor(import, &anchors, child, joined);
        else if (strcmp(child->key, "rule") != 0)
            import_error(import, child, "%s: unknown; known are rule, trust-anchor", joined);
        else if (any)
            import_no_effect(import, child, joined, "trust-anchor any lets everybody");
        else
            take_rule(import, child, joined);
    }
    fputs(" ]", anchors.out);
    import->no_memory |= fclose(anchors.out) != 0;
    if (anchors.list != NULL)
        import_take(import, node, path, key, anchors.list);
    if (anchors.n > 0 && !any)
        import_by_hand(import, node, path,
                       "pitlaned fetches no certificates: name those that the anchors have signed in rib.certificates");
    free(anchors.list);
}

static void take_localhost(struct import *import, const struct info_node *node, const char *path)
{
    take_validator(import, node, path, "rib.localhost-security");
}

static void take_localhop(struct import *import, const struct info_node *node, const char *path)
{
    take_validator(import, node, path, "rib.localhop-security");
}

static void take_announcement(struct import *import, const struct info_node *node, const char *path)
{
    take_validator(import, node, path, "rib.prefix-announcement-validation");
}

static void take_propagate(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"cost", IMPORT_COUNT, .to = "rib.propagate-cost", .max = UINT32_MAX},
        {"timeout", IMPORT_MS, .to = "rib.propagate-timeout", .min = 100, .max = 600000},
        {"refresh_interval", IMPORT_SECONDS, .to = "rib.propagate-refresh-interval", .min = 1, .max = 86400},
        {"base_retry_wait", IMPORT_SECONDS, .to = "rib.propagate-base-retry-wait", .min = 1, .max = 86400},
        {"max_retry_wait", IMPORT_SECONDS, .to = "rib.propagate-max-retry-wait", .min = 1, .max = 86400},
        {0},
    };
    import_take(import, node, path, "rib.auto-prefix-propagate", "true");
    import_by_hand(import, node, path,
                   "NFD signs with the keys of its key chain; name a certificate and its key in "
                   "rib.propagate-certificate and rib.propagate-key");
    import_walk(import, node, path, keys);
}

void import_rib(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"localhost_security", IMPORT_GROUP, .take = take_localhost},
        {"localhop_security", IMPORT_GROUP, .take = take_localhop},
        {"prefix_announcement_validation", IMPORT_GROUP, .take = take_announcement},
        {"auto_prefix_propagate", IMPORT_GROUP, .take = take_propagate},
        {"readvertise_nlsr", IMPORT_BOOL, .to = "rib.readvertise-nlsr"},
        {0},
    };
    import_walk(import, node, path, keys);
    const struct info_node *localhop = import_child(node, "localhop_security"),
                           *propagate = import_child(node, "auto_prefix_propagate");
    if (localhop != NULL && propagate != NULL)
        import_error(
            import, propagate,
            "%s.auto_prefix_propagate: not together with localhop_security (line %u): what neighbours register "
            "would be registered with the gateway",
            path, localhop->line);
    char seconds[40];
    uint64_t refresh = import->refresh_s < 86400 ? import->refresh_s : 86400;
    snprintf(seconds, sizeof seconds, "\"%" PRIu64 "s\"", refresh);
    if (refresh > 0)
        import_take(import, node, path, "rib.anchor-refresh", seconds);
}

/* Without these sections NFD lets nobody. */
void import_security_absent(struct import *import, const struct info_node *authorizations, const struct info_node *rib)
{
    if (authorizations == NULL)
        import_absent(import, "authorizations", "authorizations", "{ certfile = \"any\"; privileges = [ ]; }");
    if (import_child(rib, "localhost_security") == NULL)
        import_absent(import, "rib.localhost_security", "rib.localhost-security", "[ ]");
    if (import_child(rib, "prefix_announcement_validation") == NULL)
        import_absent(import, "rib.prefix_announcement_validation", "rib.prefix-announcement-validation", "[ ]");
}
