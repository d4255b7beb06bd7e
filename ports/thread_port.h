// SPDX-License-Identifier: Apache-2.0
#ifndef PORTS_THREAD_PORT_H
#define PORTS_THREAD_PORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>

/*
 * A port whose other end is a thread of this process: the I/O thread with its sockets, or the control thread with
 * management. Workers poll it and send on it like on a device. Its frames are link-layer packets (bare, or LpPackets)
 * without a link header; which face a frame came by or goes to, the mbuf itself says.
 *
 * Each worker has a single-producer single-consumer ring of its own in each direction. A worker that has sent wakes
 * the thread by an eventfd, and only when the thread said that it sleeps.
 */
#define THREAD_PORT_RING   4096
#define THREAD_PORT_QUEUES 64

struct thread_port {
    uint16_t n_queues; /**< one a worker */
    uint16_t next;     /**< thread: queue to take from first */
    int wake_fd;       /**< eventfd; readable when the thread shall look at its rings */
    struct rte_ring *to_worker[THREAD_PORT_QUEUES];
    struct rte_ring *to_thread[THREAD_PORT_QUEUES];
    _Atomic bool asleep __attribute__((aligned(64)));
};

/** @return 0, -ENOMEM, or the errno of eventfd(2). Control thread, after rte_eal_init() */
int thread_port_create(struct thread_port **thread, const char *name, uint16_t n_queues);
/** Frees the frames left in the rings. After workers and the thread left. */
void thread_port_destroy(struct thread_port *thread);

/** Face that a frame of such a port came by or goes to. */
static inline uint32_t thread_port_face(const struct rte_mbuf *mbuf)
{
    return mbuf->hash.usr;
}

static inline void thread_port_set_face(struct rte_mbuf *mbuf, uint32_t face)
{
    mbuf->hash.usr = face;
    mbuf->hash.fdir.hi = 0;
}

/** Tells apart the senders of a multi-access face that a frame came by; 0 otherwise. After thread_port_set_face(). */
static inline void thread_port_set_sender(struct rte_mbuf *mbuf, uint32_t sender)
{
    mbuf->hash.fdir.hi = sender;
}

static inline uint32_t thread_port_sender(const struct rte_mbuf *mbuf)
{
    return mbuf->hash.fdir.hi;
}

/* The workers' end. */

/** Frames from the thread. Worker of the queue. @return frames written to @p mbufs */
static inline uint16_t thread_port_rx(struct thread_port *thread, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
    return (uint16_t)rte_ring_sc_dequeue_burst(thread->to_worker[queue], (void **)mbufs, n, NULL);
}

/** Frames to the thread. Worker of the queue. @return frames taken, the first of them; the rest stays the caller's */
uint16_t thread_port_tx(struct thread_port *thread, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);

/* The thread's end. */

/** Frames that workers sent, from all of them in turn. @return frames written to @p mbufs, the caller's now */
uint16_t thread_port_receive(struct thread_port *thread, struct rte_mbuf **mbufs, uint16_t n);
/**
 * Give a worker frames whose faces are set. Frames of one face go to one worker, so that they stay in order; the
 * caller chooses, for instance by FaceId modulo n_queues.
 *
 * @return frames taken, the first of them; the rest stays the caller's
 */
uint16_t thread_port_send(struct thread_port *thread, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
/** Frames that thread_port_send() takes for sure. */
static inline uint32_t thread_port_room(const struct thread_port *thread, uint16_t queue)
{
    return rte_ring_free_count(thread->to_worker[queue]);
}
/**
 * Say that the thread is about to block on wake_fd. @return false when there are frames: then it must not block, and
 * counts as awake
 */
bool thread_port_sleep(struct thread_port *thread);
/** The thread has woken up, for whatever reason; empties wake_fd. */
void thread_port_wake(struct thread_port *thread);
/** The same without the system call, for a thread that knows that wake_fd was not what woke it up. */
static inline void thread_port_awake(struct thread_port *thread)
{
    atomic_store_explicit(&thread->asleep, false, memory_order_relaxed);
}

#endif
