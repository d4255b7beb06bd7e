// SPDX-License-Identifier: Apache-2.0
/* status/general. */
#include <string.h>

#include "fwd/fwd.h"
#include "fwd/mgmt/mgmt_impl.h"
#include "fwd/stats.h"
#include "fwd/worker.h"

/* Entries in the tables of one worker. */
struct tables_call {
    uint64_t n_pit, n_cs, n_measurements;
};

static void tables_run(struct fwd *fwd, void *arg)
{
    struct tables_call *call = arg;
    struct cs_info cs;
    cs_info(fwd->cs, &cs);
    call->n_pit = pit_count(fwd->pit);
    call->n_cs = cs.n_entries;
    call->n_measurements = measurements_count(fwd->measurements);
}

static bool add_worker(struct mgmt_general_status *status, struct stats_worker *sum, struct worker *worker)
{
    struct tables_call call = {0};
    if (worker->fwd == NULL)
        return true;
    if (mgmt_worker_run(worker, tables_run, &call) != 0)
        return false;
    stats_worker_add(sum, &worker->fwd->stats);
    status->n_pit += call.n_pit;
    status->n_cs += call.n_cs;
    status->n_measurements += call.n_measurements;
    return true;
}

static void write_general(struct mgmt *mgmt, const struct mgmt_env *env, struct mgmt_octets query, uint64_t now_ns,
                          struct mgmt_dataset *dataset)
{
    (void)query;
    (void)now_ns;
    const char *version = env->version != NULL ? env->version : "";
    struct mgmt_general_status status = {
        .version = {(const uint8_t *)version, (uint16_t)strlen(version)},
        .start_ms = mgmt->start_ms,
        .current_ms = mgmt->wall_ms,
        .n_fib = env->shared != NULL ? fib_count(env->shared->fib) : 0,
    };
    struct stats_worker sum = {0};
    for (uint16_t w = 0; w < env->n_workers; w++) {
        if (!add_worker(&status, &sum, &env->worker[w])) {
            mgmt_dataset_reject(dataset, 500, "Worker does not answer");
            return;
        }
    }
    // There is no name tree here; its size would be that of what hangs on it.
    status.n_name_tree = status.n_fib + status.n_pit + status.n_measurements;
    status.in_interests = sum.in_interests;
    status.in_data = sum.in_data;
    status.in_nacks = sum.in_nacks;
    status.out_interests = sum.out_interests;
    status.out_data = sum.out_data;
    status.out_nacks = sum.out_nacks;
    status.satisfied = sum.satisfied;
    status.unsatisfied = sum.unsatisfied;
    size_t size = (size_t)status.version.len + 256;
    uint8_t *room = mgmt_dataset_room(dataset, size);
    if (room != NULL)
        mgmt_dataset_put(dataset, mgmt_general_status_encode(room, size, &status));
}

static const struct mgmt_list lists[] = {{.name = "general", .write = write_general}, {.name = NULL}};

const struct mgmt_module mgmt_status = {.name = "status", .lists = lists};
