// SPDX-License-Identifier: Apache-2.0
/* Management module rib: register, unregister, announce, list (NFD RIB management). */
#include <errno.h>
#include <stdlib.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/auth.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/mgmt/rib.h"

#define NS_PER_MS UINT64_C(1000000)
/** Octets of a Route at most: header, five fields of a NonNegativeInteger, none of which is longer than 2 + 8. */
#define ROUTE_SIZE_MAX 64
#define STR(x)         STR_(x)
#define STR_(x)        #x
#define TOO_LONG       "Route prefix cannot exceed " STR(NDN_NAME_DEPTH) " components"

static bool face_exists(const struct mgmt_request *request, uint64_t face)
{
    const struct fwd_shared *shared = request->env->shared;
    if (face > UINT32_MAX)
        return false;
    return shared == NULL || shared->faces == NULL || face_get(shared->faces, (uint32_t)face) != NULL;
}

/** Fill in what a command without them means. */
static void fill_in(struct mgmt_params *params, uint32_t self)
{
    if ((params->has & MGMT_HAS_FACE_ID) == 0 || params->face_id == 0)
        params->face_id = self;
    if ((params->has & MGMT_HAS_ORIGIN) == 0)
        params->origin = RIB_ORIGIN_APP;
    params->has |= MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN;
}

/** Components of a name. */
static unsigned depth_of(struct mgmt_octets name)
{
    static const uint8_t none;
    struct ndn_name view;
    return ndn_name_parse(name.len > 0 ? name.p : &none, name.len, true, &view) == VERDICT_OK ? view.n_comps
                                                                                              : UINT16_MAX;
}

static bool origin_fits(const struct mgmt_params *params)
{
    return (params->has & MGMT_HAS_ORIGIN) == 0 || params->origin <= UINT16_MAX;
}

static void answer_failed(struct mgmt_request *request, int rc)
{
    mgmt_answer(request, 500, rc == -ENOSPC ? "FIB is full" : "Out of memory", NULL);
}

static uint64_t expires_ns_of(const struct mgmt_params *params, uint64_t now_ns)
{
    // The longest period is what the reference forwarder's clients write for a route that stays.
    if ((params->has & MGMT_HAS_EXPIRATION_PERIOD) == 0 || params->expiration_ms >= INT64_MAX)
        return 0;
    if (params->expiration_ms >= (UINT64_MAX - now_ns) / NS_PER_MS)
        return UINT64_MAX;
    uint64_t at_ns = now_ns + params->expiration_ms * NS_PER_MS;
    return at_ns > 0 ? at_ns : 1;
}

static void run_register(struct mgmt_request *request)
{
    struct mgmt_params body = request->params;
    if (request->env->rib == NULL) {
        mgmt_answer(request, 500, "No RIB", NULL);
        return;
    }
    if (depth_of(body.name) > NDN_NAME_DEPTH) {
        mgmt_answer(request, 414, TOO_LONG, NULL);
        return;
    }
    fill_in(&body, request->face);
    if ((body.has & MGMT_HAS_COST) == 0)
        body.cost = 0;
    if ((body.has & MGMT_HAS_FLAGS) == 0)
        body.flags = RIB_CHILD_INHERIT;
    body.has |= MGMT_HAS_COST | MGMT_HAS_FLAGS;
    // As in the reference forwarder a face that is not there is no error: the route goes at once as faces' routes do.
    if (face_exists(request, body.face_id)) {
        struct rib_route route = {
            .face = (uint32_t)body.face_id,
            .origin = (uint16_t)body.origin,
            .flags = (uint8_t)body.flags,
            .cost = body.cost,
            .expires_ns = expires_ns_of(&body, request->now_ns),
        };
        int rc = rib_register(request->env->rib, body.name, &route);
        if (rc != 0) {
            answer_failed(request, rc);
            return;
        }
    }
    mgmt_answer(request, 200, "OK", &body);
}

static void run_unregister(struct mgmt_request *request)
{
    struct mgmt_params body = request->params;
    if (request->env->rib == NULL) {
        mgmt_answer(request, 500, "No RIB", NULL);
        return;
    }
    fill_in(&body, request->face);
    if (body.face_id <= UINT32_MAX)
        rib_unregister(request->env->rib, body.name, (uint32_t)body.face_id, (uint16_t)body.origin);
    mgmt_answer(request, 200, "OK", &body);
}

static bool is_announcement(struct mgmt_octets app_params)
{
    struct rib_announcement announcement;
    return rib_announcement_decode(app_params.p, app_params.len, 0, 0, 0, &announcement) == 0;
}

static void run_announce(struct mgmt_request *request)
{
    const struct mgmt_env *env = request->env;
    const uint8_t *data = request->app_params.p;
    size_t len = request->app_params.len;
    struct rib_announcement announcement;
    if (rib_announcement_decode(data, len, request->face, request->now_ns, request->wall_ms, &announcement) != 0)
        return;
    if (env->rib == NULL) {
        mgmt_answer(request, 500, "No RIB", NULL);
        return;
    }
    if (depth_of(announcement.name) > NDN_NAME_DEPTH) {
        mgmt_answer(request, 414, TOO_LONG, NULL);
        return;
    }
    if (env->auth != NULL && auth_data(env->auth, AUTH_ANNOUNCEMENT, data, len, request->wall_ms) != AUTH_ACCEPTED) {
        mgmt_answer(request, 403, "authorization rejected", NULL);
        return;
    }
    const struct rib_route *route = &announcement.route;
    if (face_exists(request, request->face)) {
        int rc = rib_announce(env->rib, &announcement, data, len, request->now_ns, UINT64_MAX);
        if (rc != 0 && rc != -ETIME) {
            answer_failed(request, rc);
            return;
        }
    }
    struct mgmt_params body = {
        .has = MGMT_HAS_NAME | MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS |
               MGMT_HAS_EXPIRATION_PERIOD,
        .name = announcement.name,
        .face_id = route->face,
        .origin = route->origin,
        .cost = route->cost,
        .flags = route->flags,
        .expiration_ms = (route->expires_ns - request->now_ns) / NS_PER_MS,
    };
    mgmt_answer(request, 200, "OK", &body);
}

struct listing {
    struct mgmt_dataset *dataset;
    uint64_t now_ns;
    struct mgmt_route *routes;
    size_t size; /**< of routes */
    bool failed;
};

static void list_entry(void *ctx, struct mgmt_octets name, const struct rib_route *routes, size_t n)
{
    struct listing *listing = ctx;
    if (listing->failed)
        return;
    if (n > listing->size) {
        struct mgmt_route *more = reallocarray(listing->routes, n * 2, sizeof more[0]);
        listing->failed = more == NULL;
        if (listing->failed)
            return;
        listing->routes = more;
        listing->size = n * 2;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t expires_ns = routes[i].expires_ns;
        listing->routes[i] = (struct mgmt_route){
            .face_id = routes[i].face,
            .origin = routes[i].origin,
            .cost = routes[i].cost,
            .flags = routes[i].flags,
            .has_expiration = expires_ns != 0,
            .expiration_ms = expires_ns > listing->now_ns ? (expires_ns - listing->now_ns) / NS_PER_MS : 0,
        };
    }
    size_t size = name.len + n * ROUTE_SIZE_MAX + ROUTE_SIZE_MAX;
    uint8_t *room = mgmt_dataset_room(listing->dataset, size);
    listing->failed = room == NULL;
    if (room != NULL)
        mgmt_dataset_put(listing->dataset, mgmt_rib_entry_encode(room, size, name, listing->routes, n));
}

static void write_list(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                       struct mgmt_dataset *dataset)
{
    (void)mgmt;
    (void)query;
    struct listing listing = {.dataset = dataset, .now_ns = now_ns};
    if (env->rib == NULL) {
        mgmt_dataset_reject(dataset, 500, "No RIB");
        return;
    }
    rib_foreach(env->rib, list_entry, &listing);
    free(listing.routes);
    if (listing.failed)
        mgmt_dataset_reject(dataset, 500, "Out of memory");
}

static const struct mgmt_verb verbs[] = {
    {
        .name = "register",
        .required = MGMT_HAS_NAME,
        .optional = MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN | MGMT_HAS_COST | MGMT_HAS_FLAGS | MGMT_HAS_EXPIRATION_PERIOD,
        .valid = origin_fits,
        .run = run_register,
    },
    {
        .name = "unregister",
        .required = MGMT_HAS_NAME,
        .optional = MGMT_HAS_FACE_ID | MGMT_HAS_ORIGIN,
        .valid = origin_fits,
        .run = run_unregister,
    },
    {.name = "announce", .raw = true, .decodes = is_announcement, .run = run_announce},
    {.name = NULL},
};

static const struct mgmt_list lists[] = {{.name = "list", .write = write_list}, {.name = NULL}};

const struct mgmt_module mgmt_rib = {.name = "rib", .verbs = verbs, .lists = lists, .localhop = true};
