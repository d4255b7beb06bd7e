// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/queue.h"

#include <stdlib.h>
#include <string.h>

/* Smallest allocation. */
#define QUEUE_MIN 4096

uint8_t *queue_room(struct sock_queue *queue, size_t n)
{
    if (queue->size - queue->head - queue->len >= n) {
        return queue->data + queue->head + queue->len;
    }
    /* Moved only when at least as much has been taken as is moved: each octet moves once, in the mean. */
    if (queue->head >= queue->len && queue->size - queue->len >= n) {
        memcpy(queue->data, queue->data + queue->head, queue->len);
        queue->head = 0;
        return queue->data + queue->len;
    }
    size_t size = queue->size > 0 ? queue->size : QUEUE_MIN;
    while (size - queue->len < n) {
        size *= 2;
    }
    uint8_t *data = malloc(size);
    if (data == NULL) {
        return NULL;
    }
    if (queue->len > 0) {
        memcpy(data, queue_first(queue), queue->len);
    }
    free(queue->data);
    queue->data = data;
    queue->head = 0;
    queue->size = size;
    return data + queue->len;
}

void queue_take(struct sock_queue *queue, size_t n)
{
    if (n >= queue->len) {
        queue_clear(queue);
        return;
    }
    queue->head += n;
    queue->len -= n;
}

bool queue_set(struct sock_queue *queue, const uint8_t *p, size_t n)
{
    queue->head = 0;
    queue->len = 0;
    if (n == 0) {
        queue_clear(queue);
        return true;
    }
    uint8_t *room = queue_room(queue, n);
    if (room == NULL) {
        return false;
    }
    memmove(room, p, n);
    queue->len = n;
    return true;
}

void queue_clear(struct sock_queue *queue)
{
    free(queue->data);
    *queue = (struct sock_queue){0};
}
