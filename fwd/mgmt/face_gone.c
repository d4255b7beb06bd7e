// SPDX-License-Identifier: Apache-2.0
/*
 * What follows the removal of faces, for many at once: a thousand applications may leave in one turn. Next hops to
 * them go out of the FIB in one walk, and each worker forgets their partial messages in one call. Until then workers
 * find no face under the id, which is not given again soon.
 */
#include <errno.h>
#include <stdlib.h>

#include "fwd/mgmt/face_control_priv.h"

/* Faces that a worker forgets in one call: some microseconds. */
#define GONE_BURST 128
/* A worker that did not answer for a second is not asked again for this long. */
#define GONE_RETRY_NS UINT64_C(10000000000)
/* The FIB's walks take at most this part of the time. */
#define GONE_FIB_SHARE 20

struct gone_call {
    const uint32_t *id;
    uint32_t n;
};

static void forget(struct fwd *fwd, void *arg)
{
    const struct gone_call *call = arg;
    for (uint32_t i = 0; i < call->n; i++)
        fwd_face_removed(fwd, call->id[i]);
}

/* On the worker's own thread, or here when none runs. */
static int run_on(struct worker *worker, struct gone_call *call)
{
    if (atomic_load_explicit(&worker->ready, memory_order_acquire))
        return worker_run(worker, forget, call);
    if (worker->fwd != NULL)
        forget(worker->fwd, call);
    return 0;
}

static void tell_worker(struct face_control *control, uint16_t w)
{
    struct face_gone *gone = &control->gone;
    while (gone->told[w] < gone->n && control->now_ns >= gone->not_before[w]) {
        struct gone_call call = {&gone->id[gone->told[w]], RTE_MIN(gone->n - gone->told[w], (uint32_t)GONE_BURST)};
        if (run_on(&control->config.worker[w], &call) != 0)
            gone->not_before[w] = control->now_ns + GONE_RETRY_NS;
        else
            gone->told[w] += call.n;
    }
}

static bool is_gone(void *ctx, uint32_t face)
{
    return face_get(ctx, face) == NULL;
}

static uint64_t fib_poll(struct face_control *control)
{
    struct face_gone *gone = &control->gone;
    if (!gone->fib_due || control->config.shared->fib == NULL)
        return UINT64_MAX;
    if (control->now_ns < gone->fib_not_before)
        return gone->fib_not_before - control->now_ns;
    uint64_t start = worker_now_ns();
    fib_faces_remove(control->config.shared->fib, is_gone, face_control_table(control));
    gone->fib_not_before = control->now_ns + (worker_now_ns() - start) * GONE_FIB_SHARE;
    gone->fib_due = false;
    return UINT64_MAX;
}

int face_gone_add(struct face_control *control, uint32_t id)
{
    struct face_gone *gone = &control->gone;
    gone->fib_due = true;
    if (gone->n == gone->room) {
        uint32_t room = gone->room != 0 ? 2 * gone->room : 64;
        uint32_t *more = realloc(gone->id, room * sizeof *more);
        // Partial messages of a face that is not noted here lapse by themselves in half a second.
        if (more == NULL)
            return 0;
        gone->id = more;
        gone->room = room;
    }
    gone->id[gone->n++] = id;
    return 0;
}

uint64_t face_gone_poll(struct face_control *control)
{
    struct face_gone *gone = &control->gone;
    uint64_t next_ns = fib_poll(control);
    if (gone->n == 0)
        return next_ns;
    bool all = true;
    for (uint16_t w = 0; w < control->config.n_workers; w++) {
        tell_worker(control, w);
        all = all && gone->told[w] == gone->n;
    }
    if (!all) {
        // Ids of a worker that is stuck for long are not kept for ever: their messages have lapsed by then.
        if (gone->n < 4 * FACE_SLOTS)
            return RTE_MIN(next_ns, GONE_RETRY_NS);
    }
    gone->n = 0;
    memset(gone->told, 0, sizeof gone->told);
    return next_ns;
}
