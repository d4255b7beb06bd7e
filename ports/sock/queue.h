// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_SOCK_QUEUE_H
#define PORTS_SOCK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Octets in the order they came, on the heap; no memory while it is empty. Zeroed: empty. I/O thread. */
struct sock_queue {
    uint8_t *data;
    size_t head; /**< first octet */
    size_t len;
    size_t size;
};

/** @return room for @p n octets behind the last; they count when queue_added() says so. NULL: out of memory */
uint8_t *queue_room(struct sock_queue *queue, size_t n);

static inline void queue_added(struct sock_queue *queue, size_t n)
{
    queue->len += n;
}

static inline const uint8_t *queue_first(const struct sock_queue *queue)
{
    return queue->data + queue->head;
}

/** Take @p n octets, at most those there are, from the front. */
void queue_take(struct sock_queue *queue, size_t n);

/** Replace what is in it by @p n octets. @return false: out of memory, it is empty now */
bool queue_set(struct sock_queue *queue, const uint8_t *p, size_t n);

/** Empty it and free its memory. */
void queue_clear(struct sock_queue *queue);

#endif
