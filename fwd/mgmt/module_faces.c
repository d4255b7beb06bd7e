// SPDX-License-Identifier: Apache-2.0
/* Management module faces: create, update, destroy; list, query, channels; events. */
#include "fwd/mgmt/module_faces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "fwd/mgmt/face_control_priv.h"
#include "fwd/mgmt/mgmt.h"

/* Octets of an item beside its URIs: 19 elements of at most 10, and the header. */
#define ITEM_MAX (2 * FACE_URI_MAX + 256)

/* What create and update answer with, and a 409 too. */
static void body_of(const struct mgmt_env *env, const struct face *face, bool with_uri, struct mgmt_params *body)
{
    struct mgmt_face_status status;
    face_control_status(env->faces, face, &status);
    *body = (struct mgmt_params){
        .has = MGMT_HAS_FACE_ID | MGMT_HAS_FLAGS | MGMT_HAS_FACE_PERSISTENCY | MGMT_HAS_MTU,
        .face_id = status.face_id,
        .uri = status.uri,
        .local_uri = status.local_uri,
        .flags = status.flags,
        .persistency = status.persistency,
        .congestion_interval_ns = status.congestion_interval_ns,
        .congestion_threshold = status.congestion_threshold,
        .mtu = status.mtu,
    };
    if (with_uri)
        body->has |= MGMT_HAS_URI | MGMT_HAS_LOCAL_URI;
    if (status.has_congestion_interval)
        body->has |= MGMT_HAS_CONGESTION_INTERVAL | MGMT_HAS_CONGESTION_THRESHOLD;
}

/* Flags and Mask come together; persistency is one that there is. */
static bool valid(const struct mgmt_params *params)
{
    bool flags = (params->has & MGMT_HAS_FLAGS) != 0, mask = (params->has & MGMT_HAS_MASK) != 0;
    return flags == mask && (!(params->has & MGMT_HAS_FACE_PERSISTENCY) || params->persistency <= FACE_PERMANENT);
}

static bool valid_destroy(const struct mgmt_params *params)
{
    return params->face_id != 0;
}

struct made {
    struct mgmt_held *held;
    struct mgmt_env env;
};

static void on_made(void *ctx, unsigned code, const char *text, const struct face *face)
{
    struct made *made = ctx;
    struct mgmt_params body;
    if (face != NULL)
        body_of(&made->env, face, true, &body);
    mgmt_answer_held(made->held, code, text, face != NULL ? &body : NULL);
    free(made);
}

static void create(struct mgmt_request *request)
{
    const struct mgmt_params *params = &request->params;
    struct made *made = request->env->faces != NULL ? malloc(sizeof *made) : NULL;
    struct mgmt_held *held = made != NULL ? mgmt_hold(request) : NULL;
    if (held == NULL) {
        free(made);
        mgmt_answer(request, 500, "Faces cannot be made now", NULL);
        return;
    }
    *made = (struct made){held, *request->env};
    const struct face_request wanted = {
        .uri = params->uri,
        .local_uri = params->has & MGMT_HAS_LOCAL_URI ? params->local_uri : (struct mgmt_octets){NULL, 0},
        .has_mtu = (params->has & MGMT_HAS_MTU) != 0,
        .has_congestion_interval = (params->has & MGMT_HAS_CONGESTION_INTERVAL) != 0,
        .has_congestion_threshold = (params->has & MGMT_HAS_CONGESTION_THRESHOLD) != 0,
        .persistency = params->has & MGMT_HAS_FACE_PERSISTENCY ? (uint8_t)params->persistency : FACE_PERSISTENT,
        .flags = params->has & MGMT_HAS_FLAGS ? (uint8_t)params->flags : 0,
        .mask = params->has & MGMT_HAS_MASK ? (uint8_t)params->mask : 0,
        .mtu = params->mtu,
        .congestion_interval_ns = params->congestion_interval_ns,
        .congestion_threshold = params->congestion_threshold,
    };
    face_control_make(request->env->faces, &wanted, on_made, made);
}

static const struct face *find(const struct mgmt_env *env, uint64_t id)
{
    return id != 0 && id <= UINT32_MAX ? face_get(env->shared->faces, (uint32_t)id) : NULL;
}

/* The face a command means: FaceId 0 or none is the one it came by. NULL: it was answered. */
static const struct face *target(struct mgmt_request *request)
{
    const struct mgmt_params *params = &request->params;
    if (params->has & MGMT_HAS_FACE_ID && params->face_id != 0) {
        const struct face *face = find(request->env, params->face_id);
        if (face == NULL)
            mgmt_answer(request, 404, "Specified face does not exist", NULL);
        return face;
    }
    const struct face *face = find(request->env, request->face);
    // A bare port shares its memory with whoever is at the other end: it is set up by who owns it, by its id.
    if (face == NULL || face->kind == FACE_BARE) {
        mgmt_answer(request, 404, "No FaceId specified and IncomingFaceId not available", NULL);
        return NULL;
    }
    return face;
}

/* 409 names the fields that cannot be so, with the values that were asked for. */
static void refuse(struct mgmt_request *request, uint32_t wrong)
{
    struct mgmt_params body = request->params;
    body.has = wrong & request->params.has;
    mgmt_answer(request, 409, "Invalid properties specified", &body);
}

static void update(struct mgmt_request *request)
{
    const struct mgmt_params *params = &request->params;
    if (request->env->faces == NULL) {
        mgmt_answer(request, 500, "Faces cannot be changed now", NULL);
        return;
    }
    const struct face *face = target(request);
    if (face == NULL)
        return;
    uint8_t mask = (uint8_t)(params->mask & (FACE_LOCAL_FIELDS | FACE_RELIABILITY | FACE_CONGESTION_MARKING));
    uint64_t mtu = params->mtu < UINT16_MAX ? params->mtu : 0;
    const struct face_update wanted = {
        .has_persistency = (params->has & MGMT_HAS_FACE_PERSISTENCY) != 0,
        .has_flags = (params->has & MGMT_HAS_FLAGS) != 0,
        .has_congestion_interval = (params->has & MGMT_HAS_CONGESTION_INTERVAL) != 0,
        .has_congestion_threshold = (params->has & MGMT_HAS_CONGESTION_THRESHOLD) != 0,
        .has_mtu = (params->has & MGMT_HAS_MTU) != 0,
        .persistency = (uint8_t)params->persistency,
        .flags = (uint8_t)((face->flags & ~mask) | (params->flags & mask)),
        .congestion_interval_ns = params->congestion_interval_ns,
        .congestion_threshold = params->congestion_threshold,
        .mtu = (uint16_t)mtu,
    };
    uint32_t wrong = 0, id = face->id;
    struct mgmt_params body;
    switch (face_control_change(request->env->faces, id, &wanted, &wrong)) {
    case 0:
        body_of(request->env, face_get(request->env->shared->faces, id), false, &body);
        mgmt_answer(request, 200, "OK", &body);
        return;
    case -EINVAL:
        refuse(request, wrong);
        return;
    case -ENOENT:
        mgmt_answer(request, 404, "Specified face does not exist", NULL);
        return;
    default:
        mgmt_answer(request, 500, "Out of memory", NULL);
        return;
    }
}

static void destroy(struct mgmt_request *request)
{
    const struct mgmt_env *env = request->env;
    const struct face *face = find(env, request->params.face_id);
    const struct mgmt_params body = {.has = MGMT_HAS_FACE_ID, .face_id = request->params.face_id};
    uint32_t id = face != NULL ? face->id : 0;
    // Answered first: it may be the face that the answer goes to. Gone is gone, whether it was there or not.
    mgmt_answer(request, 200, "OK", &body);
    if (face != NULL && env->faces != NULL)
        face_control_remove(env->faces, id);
}

static void put_status(const struct mgmt_env *env, const struct face *face, struct mgmt_dataset *dataset)
{
    struct mgmt_face_status status;
    uint8_t *room = mgmt_dataset_room(dataset, ITEM_MAX);
    if (room == NULL)
        return;
    face_control_status(env->faces, face, &status);
    mgmt_dataset_put(dataset, mgmt_face_status_encode(room, ITEM_MAX, &status));
}

static int by_id(const void *a, const void *b)
{
    const struct face *x = *(const struct face *const *)a, *y = *(const struct face *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool is_octets(const struct mgmt_octets *octets, const char *text)
{
    return octets->len == strlen(text) && memcmp(octets->p, text, octets->len) == 0;
}

static bool is_scheme(const struct mgmt_octets *scheme, const char *uri)
{
    return strncmp(uri + scheme->len, "://", 3) == 0 && memcmp(uri, scheme->p, scheme->len) == 0;
}

static bool passes(const struct mgmt_face_filter *filter, const struct face *face)
{
    const char *uri = face->remote_uri, *local = face->local_uri;
    size_t shortest = RTE_MIN(strlen(uri), strlen(local));
    return (!filter->has_face_id || filter->face_id == face->id) &&
           (!filter->has_scope || filter->scope == face->scope) &&
           (!filter->has_persistency || filter->persistency == face->persistency) &&
           (!filter->has_link_type || filter->link_type == face->link_type) &&
           (filter->scheme.len == 0 || (filter->scheme.len < shortest &&
                                        (is_scheme(&filter->scheme, uri) || is_scheme(&filter->scheme, local)))) &&
           (filter->uri.len == 0 || is_octets(&filter->uri, uri)) &&
           (filter->local_uri.len == 0 || is_octets(&filter->local_uri, local));
}

/* The faces that pass, by rising FaceId. */
static void write_faces(const struct mgmt_env *env, const struct mgmt_face_filter *filter, struct mgmt_dataset *dataset)
{
    const struct face_table *table = env->shared->faces;
    const struct face **sorted = env->faces != NULL ? malloc(FACE_SLOTS * sizeof *sorted) : NULL;
    size_t n = 0;
    if (sorted == NULL) {
        mgmt_dataset_reject(dataset, 500, "Faces cannot be listed now");
        return;
    }
    for (uint32_t slot = 0; slot < FACE_SLOTS; slot++) {
        const struct face *face = atomic_load_explicit(&table->slot[slot], memory_order_relaxed);
        if (face != NULL && passes(filter, face))
            sorted[n++] = face;
    }
    qsort(sorted, n, sizeof *sorted, by_id);
    for (size_t i = 0; i < n; i++)
        put_status(env, sorted[i], dataset);
    free(sorted);
}

static void list(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                 struct mgmt_dataset *dataset)
{
    (void)mgmt, (void)query, (void)now_ns;
    const struct mgmt_face_filter every = {0};
    write_faces(env, &every, dataset);
}

static void query(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets question, uint64_t now_ns,
                  struct mgmt_dataset *dataset)
{
    (void)mgmt, (void)now_ns;
    struct mgmt_face_filter filter;
    if (mgmt_face_filter_decode(question.p, question.len, &filter) != 0) {
        mgmt_dataset_reject(dataset, 400, "Malformed filter");
        return;
    }
    write_faces(env, &filter, dataset);
}

static void put_channel(struct mgmt_dataset *dataset, const char *uri)
{
    uint8_t *room = mgmt_dataset_room(dataset, ITEM_MAX);
    if (room != NULL)
        mgmt_dataset_put(dataset, mgmt_channel_encode(room, ITEM_MAX, uri));
}

static void put_udp_channel(struct mgmt_dataset *dataset, int family, const uint8_t *ip, uint16_t udp_port)
{
    static const uint8_t none[16];
    char text[INET6_ADDRSTRLEN], uri[FACE_URI_MAX];
    if (memcmp(ip, none, family == AF_INET ? 4 : 16) == 0 || inet_ntop(family, ip, text, sizeof text) == NULL)
        return;
    snprintf(uri, sizeof uri, family == AF_INET ? "udp4://%s:%u" : "udp6://[%s]:%u", text, udp_port);
    put_channel(dataset, uri);
}

/* What a port hears: Ethernet, and UDP peers that have no face yet. */
static void put_port_channels(struct mgmt_dataset *dataset, const struct port *port)
{
    char dev[64], uri[FACE_URI_MAX];
    if (port->bare || port->thread != NULL)
        return;
    for (unsigned i = 0; i < PORT_UDP_MAX && port->config.udp_on_demand > 0 && port->config.udp_ports[i] != 0; i++) {
        put_udp_channel(dataset, AF_INET, port->config.ip4, port->config.udp_ports[i]);
        put_udp_channel(dataset, AF_INET6, port->config.ip6, port->config.udp_ports[i]);
    }
    face_control_dev(port, dev);
    snprintf(uri, sizeof uri, "dev://%s", dev);
    put_channel(dataset, uri);
}

static void channels(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets none, uint64_t now_ns,
                     struct mgmt_dataset *dataset)
{
    (void)mgmt, (void)none, (void)now_ns;
    if (env->faces == NULL) {
        mgmt_dataset_reject(dataset, 500, "Channels cannot be listed now");
        return;
    }
    const struct face_control_config *config = &env->faces->config;
    for (uint16_t p = 0; p < config->n_ports; p++)
        put_port_channels(dataset, &config->port[p]);
    const char *const *uris = NULL;
    unsigned n = config->sock != NULL ? sock_channels(config->sock, &uris) : 0;
    for (unsigned i = 0; i < n; i++)
        put_channel(dataset, uris[i]);
}

static void on_event(void *ctx, enum mgmt_face_event event, const struct face *face)
{
    const struct mgmt_face_notification notification = {
        .kind = event,
        .face_id = face->id,
        .uri = {(const uint8_t *)face->remote_uri, (uint16_t)strlen(face->remote_uri)},
        .local_uri = {(const uint8_t *)face->local_uri, (uint16_t)strlen(face->local_uri)},
        .scope = face->scope,
        .persistency = face->persistency,
        .link_type = face->link_type,
        .flags = face->flags,
    };
    uint8_t content[ITEM_MAX];
    size_t len = mgmt_face_notification_encode(content, sizeof content, &notification);
    mgmt_notify(ctx, "faces", "events", content, len, worker_now_ns());
}

int mgmt_faces_listen(struct mgmt *mgmt, struct face_control *faces)
{
    return face_control_listen(faces, on_event, mgmt);
}

#define OPTIONS                                                                                  \
    (MGMT_HAS_FLAGS | MGMT_HAS_MASK | MGMT_HAS_FACE_PERSISTENCY | MGMT_HAS_CONGESTION_INTERVAL | \
     MGMT_HAS_CONGESTION_THRESHOLD | MGMT_HAS_MTU)

static const struct mgmt_verb verbs[] = {
    {.name = "create",
     .required = MGMT_HAS_URI,
     .optional = MGMT_HAS_LOCAL_URI | OPTIONS,
     .valid = valid,
     .run = create},
    {.name = "update", .optional = MGMT_HAS_FACE_ID | OPTIONS, .valid = valid, .run = update},
    {.name = "destroy", .required = MGMT_HAS_FACE_ID, .valid = valid_destroy, .run = destroy},
    {.name = NULL},
};

static const struct mgmt_list lists[] = {
    {.name = "list", .write = list},
    {.name = "query", .with_query = true, .write = query},
    {.name = "channels", .write = channels},
    {.name = NULL},
};

const struct mgmt_module mgmt_faces = {.name = "faces", .verbs = verbs, .lists = lists};
