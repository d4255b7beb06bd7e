// SPDX-License-Identifier: Apache-2.0
#include "ports/sock/private.h"

#include <stdlib.h>
#include <sys/eventfd.h>

void sock_post_event(struct sock *sock, struct sock_event *event)
{
    event->next = NULL;
    pthread_mutex_lock(&sock->lock);
    *sock->events_end = event;
    sock->events_end = &event->next;
    pthread_mutex_unlock(&sock->lock);
    eventfd_write(sock->event_fd, 1);
}

void sock_post_order(struct sock *sock, struct sock_order *order)
{
    order->next = NULL;
    pthread_mutex_lock(&sock->lock);
    *sock->orders_end = order;
    sock->orders_end = &order->next;
    atomic_store_explicit(&sock->ordered, true, memory_order_release); /* pairs with on_check() */
    pthread_mutex_unlock(&sock->lock);
    uv_async_send(&sock->async);
}

struct sock_event *sock_take_events(struct sock *sock)
{
    eventfd_t count;
    eventfd_read(sock->event_fd, &count);
    pthread_mutex_lock(&sock->lock);
    struct sock_event *events = sock->events;
    sock->events = NULL;
    sock->events_end = &sock->events;
    pthread_mutex_unlock(&sock->lock);
    return events;
}

struct sock_order *sock_take_orders(struct sock *sock)
{
    pthread_mutex_lock(&sock->lock);
    struct sock_order *orders = sock->orders;
    sock->orders = NULL;
    sock->orders_end = &sock->orders;
    atomic_store_explicit(&sock->ordered, false, memory_order_relaxed);
    pthread_mutex_unlock(&sock->lock);
    return orders;
}
