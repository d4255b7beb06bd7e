// SPDX-License-Identifier: Apache-2.0
#include "fwd/stats.h"

const struct stats_desc stats_worker_desc[] = {
#define STAT(field, name, text) {name, text, offsetof(struct stats_worker, field)},
    STATS_WORKER(STAT)
#undef STAT
        {NULL, NULL, 0},
};

const struct stats_desc stats_face_desc[] = {
#define STAT(field, name, text) {name, text, offsetof(struct stats_face, field)},
    STATS_FACE(STAT)
#undef STAT
        {NULL, NULL, 0},
};

void stats_worker_add(struct stats_worker *sum, const struct stats_worker *from)
{
#define STAT(field, name, text) sum->field += stats_read(&from->field);
    STATS_WORKER(STAT)
#undef STAT
    for (unsigned i = 0; i < DROP_COUNT; i++)
        sum->drops[i] += stats_read(&from->drops[i]);
}

int64_t stats_unaccounted(const struct stats_worker *sum)
{
    uint64_t ended = sum->tx_frames + sum->held;
    for (unsigned i = 0; i < DROP_COUNT; i++)
        ended += sum->drops[i];
    return (int64_t)(sum->rx_frames + sum->originated - ended);
}
