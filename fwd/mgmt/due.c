// SPDX-License-Identifier: Apache-2.0
#include "fwd/mgmt/due.h"

#include <errno.h>
#include <stdlib.h>

int due_reserve(struct due_queue *queue)
{
    if (queue->n < queue->size)
        return 0;
    uint32_t size = queue->size > 0 ? queue->size * 2 : 64;
    struct due **heap = reallocarray(queue->heap, size, sizeof heap[0]);
    if (heap == NULL)
        return -ENOMEM;
    queue->heap = heap;
    queue->size = size;
    return 0;
}

static void put(struct due_queue *queue, struct due *due, uint32_t place)
{
    queue->heap[place] = due;
    due->place = place;
}

/** Find the place of @p due, for which @p place is free. */
static void settle(struct due_queue *queue, struct due *due, uint32_t place)
{
    struct due **heap = queue->heap;
    while (place > 0 && heap[(place - 1) / 2]->at_ns > due->at_ns) {
        put(queue, heap[(place - 1) / 2], place);
        place = (place - 1) / 2;
    }
    for (uint32_t child = 2 * place + 1; child < queue->n; child = 2 * place + 1) {
        if (child + 1 < queue->n && heap[child + 1]->at_ns < heap[child]->at_ns)
            child++;
        if (heap[child]->at_ns >= due->at_ns)
            break;
        put(queue, heap[child], place);
        place = child;
    }
    put(queue, due, place);
}

void due_remove(struct due_queue *queue, struct due *due)
{
    if (due->place == DUE_NOWHERE)
        return;
    uint32_t place = due->place;
    struct due *last = queue->heap[--queue->n];
    due->place = DUE_NOWHERE;
    if (last != due)
        settle(queue, last, place);
}

void due_set(struct due_queue *queue, struct due *due, uint64_t at_ns)
{
    due->at_ns = at_ns;
    settle(queue, due, due->place != DUE_NOWHERE ? due->place : queue->n++);
}

void due_free(struct due_queue *queue)
{
    free(queue->heap);
}
