// SPDX-License-Identifier: Apache-2.0
/* fib/add-nexthop, fib/remove-nexthop, fib/list. */
#include <errno.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/mgmt_impl.h"

/* The face that a command means: its own when it names none. */
static uint64_t face_of(const struct mgmt_request *request)
{
    bool named = (request->params.has & MGMT_HAS_FACE_ID) != 0 && request->params.face_id != 0;
    return named ? request->params.face_id : request->face;
}

static bool face_exists(const struct fwd_shared *shared, uint64_t face)
{
    return face != 0 && face <= UINT32_MAX && face_get(shared->faces, (uint32_t)face) != NULL;
}

static void add_nexthop(struct mgmt_request *request)
{
    const struct fwd_shared *shared = request->env->shared;
    struct mgmt_params body = request->params;
    if (mgmt_name_depth(body.name) > NDN_NAME_DEPTH) {
        mgmt_answer(request, 414, "FIB entry prefix cannot exceed 32 components", NULL);
        return;
    }
    body.has |= MGMT_HAS_FACE_ID | MGMT_HAS_COST;
    body.face_id = face_of(request);
    body.cost = body.cost < UINT32_MAX ? body.cost : UINT32_MAX;
    if (!face_exists(shared, body.face_id)) {
        mgmt_answer(request, 410, "Face not found", NULL);
        return;
    }
    int rc = fib_nexthop_set(shared->fib, body.name.p, body.name.len, (uint32_t)body.face_id, (uint32_t)body.cost);
    if (rc == 0)
        mgmt_answer(request, 200, "OK", &body);
    else
        mgmt_answer(request, 500, rc == -ENOSPC ? "FIB is full" : "FIB entry cannot be made", NULL);
}

static void remove_nexthop(struct mgmt_request *request)
{
    const struct fwd_shared *shared = request->env->shared;
    struct mgmt_params body = request->params;
    body.has |= MGMT_HAS_FACE_ID;
    body.face_id = face_of(request);
    // That there is no such next hop is what was wanted.
    if (body.face_id <= UINT32_MAX && mgmt_name_depth(body.name) <= NDN_NAME_DEPTH)
        fib_nexthop_unset(shared->fib, body.name.p, body.name.len, (uint32_t)body.face_id);
    mgmt_answer(request, 200, "OK", &body);
}

static bool write_entry(void *ctx, const struct fib_item *item)
{
    struct mgmt_dataset *dataset = ctx;
    struct mgmt_next_hop hops[FIB_NEXTHOPS_MAX];
    if (!item->has_nexthops)
        return true;
    for (unsigned i = 0; i < item->entry->n_nexthops; i++)
        hops[i] = (struct mgmt_next_hop){item->entry->nexthop[i].face, item->entry->nexthop[i].cost};
    size_t size = (size_t)item->len + 16 + FIB_NEXTHOPS_MAX * 16;
    uint8_t *room = mgmt_dataset_room(dataset, size);
    if (room == NULL)
        return false;
    const struct mgmt_octets name = {item->prefix, item->len};
    mgmt_dataset_put(dataset, mgmt_fib_entry_encode(room, size, name, hops, item->entry->n_nexthops));
    return true;
}

static void write_list(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                       struct mgmt_dataset *dataset)
{
    (void)mgmt;
    (void)query;
    (void)now_ns;
    fib_foreach(env->shared->fib, write_entry, dataset);
}

static const struct mgmt_verb verbs[] = {
    {.name = "add-nexthop",
     .required = MGMT_HAS_NAME,
     .optional = MGMT_HAS_FACE_ID | MGMT_HAS_COST,
     .run = add_nexthop},
    {.name = "remove-nexthop", .required = MGMT_HAS_NAME, .optional = MGMT_HAS_FACE_ID, .run = remove_nexthop},
    {.name = NULL},
};

static const struct mgmt_list lists[] = {{.name = "list", .write = write_list}, {.name = NULL}};

const struct mgmt_module mgmt_fib = {.name = "fib", .verbs = verbs, .lists = lists};
