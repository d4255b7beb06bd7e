// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_LOAD_REPORT_H
#define TEST_LOAD_REPORT_H

#include <stdbool.h>

#include "test/load/run.h"
#include "test/load/search.h"

/**
 * Write the report of the last stretch as one JSON object, to options->json or standard output. Main thread.
 *
 * @return 0 when all is well, 1 when something is not (the report says what), -errno when it cannot be written
 */
int report_write(const struct run *run, const struct plan *plan, const struct search *search, char *const *arguments);

/** The line a second: what happened since the last one. Any one thread. */
struct report_progress {
    uint64_t sent, received, data;
    double seconds;
};
void report_progress(const struct run *run, struct report_progress *last, double seconds);

#endif
