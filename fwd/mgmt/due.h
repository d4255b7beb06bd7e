// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_DUE_H
#define FWD_MGMT_DUE_H

#include <stdint.h>

/*
 * What is to happen when, soonest first: a binary heap of entries that are part of the objects they are about. Adding,
 * moving and removing are O(log n). Control thread.
 */

/** Part of an object; zeroed with place DUE_NOWHERE it is in no queue. */
struct due {
    uint64_t at_ns;
    uint32_t place;
};
#define DUE_NOWHERE UINT32_MAX

/** Zeroed: empty. */
struct due_queue {
    struct due **heap;
    uint32_t n, size;
};

/** Have room for one entry more. @return 0, -ENOMEM */
int due_reserve(struct due_queue *queue);
/** Put an entry where @p at_ns belongs, whether it is queued already or not; then there must be room. */
void due_set(struct due_queue *queue, struct due *due, uint64_t at_ns);
/** Take an entry out; one that is not in is left alone. */
void due_remove(struct due_queue *queue, struct due *due);
/** The soonest; NULL: none. */
static inline struct due *due_first(const struct due_queue *queue)
{
    return queue->n > 0 ? queue->heap[0] : (struct due *)0;
}
/** Free the queue; the entries are their owners'. */
void due_free(struct due_queue *queue);

#endif
