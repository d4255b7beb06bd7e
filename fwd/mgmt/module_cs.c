// SPDX-License-Identifier: Apache-2.0
/* cs/config, cs/erase, cs/info: one Content Store for whoever asks, though each worker has its own. */
#include <stdlib.h>
#include <string.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/mgmt_impl.h"
#include "fwd/worker.h"

/* Data that one cs/erase erases at most. */
#define ERASE_LIMIT 256
/* Entries that a worker looks at between two bursts, and how often it is asked to in one mgmt_poll(). */
#define ERASE_ENTRIES 1024
#define ERASE_STEPS   8
#define ERASURES_MAX  256

/* cs/erase under way. */
struct mgmt_erasure {
    struct mgmt_erasure *next;
    struct mgmt_held *held;
    struct ndn_name name; /**< points at octets */
    uint64_t count;       /**< asked for */
    uint16_t worker;      /**< whose CS it is at */
    struct cs_erasure step;
    uint8_t octets[];
};

struct erase_call {
    struct cs_erasure *step;
};

static void erase_run(struct fwd *fwd, void *arg)
{
    const struct erase_call *call = arg;
    cs_erase_step(fwd->cs, call->step, ERASE_ENTRIES);
}

static void erase_finish(struct mgmt *mgmt, unsigned code, const char *text)
{
    struct mgmt_erasure *erasure = mgmt->erasures;
    struct mgmt_params body = {
        .has = MGMT_HAS_NAME | MGMT_HAS_COUNT,
        .name = {erasure->octets, erasure->name.len},
        .count = erasure->step.erased,
    };
    if (erasure->step.more && erasure->count > ERASE_LIMIT) {
        body.has |= MGMT_HAS_CAPACITY;
        body.capacity = ERASE_LIMIT;
    }
    mgmt->erasures = erasure->next;
    if (mgmt->erasures == NULL)
        mgmt->erasures_end = &mgmt->erasures;
    mgmt->n_erasures--;
    mgmt_answer_held(erasure->held, code, text, code == 200 ? &body : NULL);
    free(erasure);
}

/* One step of the first erasure. */
static void erase_step(struct mgmt *mgmt)
{
    struct mgmt_erasure *erasure = mgmt->erasures;
    struct cs_erasure *step = &erasure->step;
    struct erase_call call = {step};
    if (erasure->worker < mgmt->env.n_workers &&
        mgmt_worker_run(&mgmt->env.worker[erasure->worker], erase_run, &call) != 0) {
        erase_finish(mgmt, 500, "Worker does not answer");
        return;
    }
    // A worker without tables has nothing to look at.
    if (step->next > 0 && !step->done)
        return;
    bool enough = step->erased == step->max && erasure->count <= ERASE_LIMIT;
    if (step->more || enough || erasure->worker + 1 >= mgmt->env.n_workers) {
        erase_finish(mgmt, 200, "OK");
        return;
    }
    erasure->worker++;
    step->next = 0;
    step->done = false;
}

uint64_t mgmt_cs_poll(struct mgmt *mgmt)
{
    for (unsigned i = 0; i < ERASE_STEPS && mgmt->erasures != NULL; i++)
        erase_step(mgmt);
    return mgmt->erasures != NULL ? 0 : UINT64_MAX;
}

void mgmt_cs_fini(struct mgmt *mgmt)
{
    while (mgmt->erasures != NULL) {
        struct mgmt_erasure *next = mgmt->erasures->next;
        free(mgmt->erasures);
        mgmt->erasures = next;
    }
}

static bool erase_valid(const struct mgmt_params *params)
{
    return (params->has & MGMT_HAS_COUNT) == 0 || params->count > 0;
}

static void erase(struct mgmt_request *request)
{
    struct mgmt *mgmt = request->mgmt;
    const struct mgmt_octets name = request->params.name;
    if (mgmt->n_erasures == ERASURES_MAX) {
        mgmt_answer(request, 503, "Too many erasures", NULL);
        return;
    }
    struct mgmt_erasure *erasure = calloc(1, sizeof *erasure + name.len);
    struct mgmt_held *held = erasure != NULL ? mgmt_hold(request) : NULL;
    if (held == NULL) {
        free(erasure);
        mgmt_answer(request, 500, "Out of memory", NULL);
        return;
    }
    if (name.len > 0)
        memcpy(erasure->octets, name.p, name.len);
    ndn_name_parse(erasure->octets, name.len, true, &erasure->name);
    erasure->held = held;
    erasure->count = (request->params.has & MGMT_HAS_COUNT) != 0 ? request->params.count : UINT64_MAX;
    erasure->step.prefix = &erasure->name;
    erasure->step.max = erasure->count < ERASE_LIMIT ? (uint32_t)erasure->count : ERASE_LIMIT;
    *mgmt->erasures_end = erasure;
    mgmt->erasures_end = &erasure->next;
    mgmt->n_erasures++;
    mgmt_cs_poll(mgmt);
}

/* What one worker is to have, and what it has then. */
struct config_call {
    bool set;
    uint32_t capacity;
    uint64_t flags; /**< enum mgmt_cs_flags */
    struct cs_info info;
};

static void config_run(struct fwd *fwd, void *arg)
{
    struct config_call *call = arg;
    cs_info(fwd->cs, &call->info);
    if (!call->set)
        return;
    uint32_t capacity = call->capacity < call->info.capacity_max ? call->capacity : call->info.capacity_max;
    fwd_cs_set(fwd, capacity, (call->flags & MGMT_CS_ADMIT) != 0, (call->flags & MGMT_CS_SERVE) != 0);
    call->info.capacity = capacity;
}

/* Sum over the workers. @return false when one does not answer */
static bool ask_workers(const struct mgmt *mgmt, struct mgmt_cs_info *sum)
{
    *sum = (struct mgmt_cs_info){.flags = mgmt->cs_flags};
    for (uint16_t w = 0; w < mgmt->env.n_workers; w++) {
        struct config_call call = {0};
        if (mgmt_worker_run(&mgmt->env.worker[w], config_run, &call) != 0)
            return false;
        sum->capacity += call.info.capacity;
        sum->n_entries += call.info.n_entries;
        sum->n_hits += call.info.n_hits;
        sum->n_misses += call.info.n_misses;
    }
    return true;
}

/* Divide the capacity between the workers. */
static bool configure(const struct mgmt *mgmt, uint64_t capacity)
{
    uint16_t n = mgmt->env.n_workers;
    capacity = capacity < mgmt->env.cs_capacity_max ? capacity : mgmt->env.cs_capacity_max;
    for (uint16_t w = 0; w < n; w++) {
        struct config_call call = {
            .set = true,
            .capacity = (uint32_t)(capacity / n + (w < capacity % n ? 1 : 0)),
            .flags = mgmt->cs_flags,
        };
        if (mgmt_worker_run(&mgmt->env.worker[w], config_run, &call) != 0)
            return false;
    }
    return true;
}

static void config(struct mgmt_request *request)
{
    struct mgmt *mgmt = request->mgmt;
    const struct mgmt_params *params = &request->params;
    struct mgmt_cs_info now;
    bool ok = ask_workers(mgmt, &now);
    if (ok && params->has != 0) {
        if ((params->has & MGMT_HAS_FLAGS) != 0) {
            uint64_t mask = params->mask & (MGMT_CS_ADMIT | MGMT_CS_SERVE);
            mgmt->cs_flags = (mgmt->cs_flags & ~mask) | (params->flags & mask);
        }
        ok = configure(mgmt, (params->has & MGMT_HAS_CAPACITY) != 0 ? params->capacity : now.capacity) &&
             ask_workers(mgmt, &now);
    }
    const struct mgmt_params body = {
        .has = MGMT_HAS_CAPACITY | MGMT_HAS_FLAGS,
        .capacity = now.capacity,
        .flags = mgmt->cs_flags,
    };
    if (ok)
        mgmt_answer(request, 200, "OK", &body);
    else
        mgmt_answer(request, 500, "Worker does not answer", NULL);
}

static void write_info(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                       struct mgmt_dataset *dataset)
{
    (void)env;
    (void)query;
    (void)now_ns;
    struct mgmt_cs_info info;
    if (!ask_workers(mgmt, &info)) {
        mgmt_dataset_reject(dataset, 500, "Worker does not answer");
        return;
    }
    uint8_t *room = mgmt_dataset_room(dataset, 64);
    if (room != NULL)
        mgmt_dataset_put(dataset, mgmt_cs_info_encode(room, 64, &info));
}

static const struct mgmt_verb verbs[] = {
    {.name = "config", .optional = MGMT_HAS_CAPACITY | MGMT_HAS_FLAGS | MGMT_HAS_MASK, .run = config},
    {.name = "erase", .required = MGMT_HAS_NAME, .optional = MGMT_HAS_COUNT, .valid = erase_valid, .run = erase},
    {.name = NULL},
};

static const struct mgmt_list lists[] = {{.name = "info", .write = write_info}, {.name = NULL}};

const struct mgmt_module mgmt_cs = {.name = "cs", .verbs = verbs, .lists = lists};
