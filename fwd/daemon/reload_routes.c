// SPDX-License-Identifier: Apache-2.0
/* Routes of the configuration, when it is read again: new ones come before old ones go, so that no prefix is without.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/mgmt/rib.h"
#include "parser/ndn_name.h"

/* A route as the RIB knows it. */
struct key {
    uint32_t face;
    uint16_t len;
    uint8_t *name;
};

static int by_key(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->face != y->face)
        return x->face < y->face ? -1 : 1;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    return memcmp(x->name, y->name, x->len);
}

struct named {
    const char *name;
    uint32_t id;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* FaceIds of the faces that a configuration names, 0: there is none. NULL: no memory */
static uint32_t *face_ids(const struct daemon *daemon, const struct conf *conf)
{
    unsigned n = daemon->conf->n_faces;
    struct named *running = calloc(n + 1u, sizeof *running);
    uint32_t *ids = calloc(conf->n_faces + 1u, sizeof *ids);
    if (running == NULL || ids == NULL) {
        free(running);
        free(ids);
        return NULL;
    }
    for (unsigned i = 0; i < n; i++)
        running[i] = (struct named){daemon->conf->face[i].name, daemon->face_id[i]};
    qsort(running, n, sizeof *running, by_name);
    for (unsigned i = 0; i < conf->n_faces; i++) {
        const struct named wanted = {.name = conf->face[i].name};
        const struct named *found = bsearch(&wanted, running, n, sizeof *running, by_name);
        // Management may have destroyed it.
        if (found != NULL && face_get(daemon->shared.faces, found->id) != NULL)
            ids[i] = found->id;
    }
    free(running);
    return ids;
}

static void free_keys(struct key *keys, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        free(keys[i].name);
    free(keys);
}

/* Keys of the routes of a configuration, sorted; those whose face is not there are left out. NULL: no memory */
static struct key *keys_of(const struct conf *conf, const uint32_t *ids, unsigned *n)
{
    struct key *keys = calloc(conf->n_routes + 1u, sizeof *keys);
    *n = 0;
    for (unsigned i = 0; keys != NULL && i < conf->n_routes; i++) {
        uint8_t name[NDN_NAME_MAX];
        uint32_t face = ids[conf->route[i].face];
        int len = ndn_name_from_uri(conf->route[i].prefix, name, sizeof name);
        if (face == 0 || len < 0)
            continue;
        uint8_t *copy = malloc((size_t)len + 1);
        if (copy == NULL) {
            free_keys(keys, *n);
            return NULL;
        }
        memcpy(copy, name, (size_t)len);
        keys[(*n)++] = (struct key){.face = face, .len = (uint16_t)len, .name = copy};
    }
    if (keys != NULL)
        qsort(keys, *n, sizeof *keys, by_key);
    return keys;
}

int daemon_reload_routes(struct daemon *daemon, const struct conf *before, const struct conf *wanted)
{
    unsigned n_old = 0, n_new = 0, failed;
    uint32_t *old_ids = face_ids(daemon, before), *ids = face_ids(daemon, wanted);
    struct key *old = old_ids != NULL ? keys_of(before, old_ids, &n_old) : NULL;
    struct key *fresh = ids != NULL ? keys_of(wanted, ids, &n_new) : NULL;
    int rc = old == NULL || fresh == NULL ? -ENOMEM : 0;
    if (rc == 0 && (rc = rib_add_configured(daemon->manage.rib, wanted, ids, &failed)) != 0) {
        struct conf_at at = conf_key_at(wanted, &wanted->route[failed], "prefix");
        log_error("%s:%u: route %s: %s\n", at.file, at.line, wanted->route[failed].prefix,
                  rc == -ENOSPC ? "the FIB holds no more prefixes" : strerror(-rc));
    }
    for (unsigned i = 0; old != NULL && fresh != NULL && i < n_old; i++)
        if (bsearch(&old[i], fresh, n_new, sizeof *fresh, by_key) == NULL)
            rib_unregister(daemon->manage.rib, (struct mgmt_octets){old[i].name, old[i].len}, old[i].face,
                           RIB_ORIGIN_STATIC);
    free_keys(old, old != NULL ? n_old : 0);
    free_keys(fresh, fresh != NULL ? n_new : 0);
    free(old_ids);
    free(ids);
    return rc;
}
