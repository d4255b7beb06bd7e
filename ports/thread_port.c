// SPDX-License-Identifier: Apache-2.0
#include "ports/thread_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct rte_ring *make_ring(const char *name, const char *way, uint16_t queue)
{
    char full[RTE_RING_NAMESIZE];
    snprintf(full, sizeof full, "%.16s_%s_%u", name, way, queue);
    return rte_ring_create(full, THREAD_PORT_RING, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static void free_ring(struct rte_ring *ring)
{
    struct rte_mbuf *mbuf;
    if (ring == NULL) {
        return;
    }
    while (rte_ring_sc_dequeue(ring, (void **)&mbuf) == 0) {
        rte_pktmbuf_free(mbuf);
    }
    rte_ring_free(ring);
}

int thread_port_create(struct thread_port **thread, const char *name, uint16_t n_queues)
{
    struct thread_port *made = NULL;
    if (posix_memalign((void **)&made, RTE_CACHE_LINE_SIZE, sizeof *made) != 0) {
        return -ENOMEM;
    }
    memset(made, 0, sizeof *made);
    made->n_queues = n_queues;
    made->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (made->wake_fd < 0) {
        int rc = -errno;
        free(made);
        return rc;
    }
    for (uint16_t queue = 0; queue < n_queues; queue++) {
        made->to_worker[queue] = make_ring(name, "in", queue);
        made->to_thread[queue] = make_ring(name, "out", queue);
        if (made->to_worker[queue] == NULL || made->to_thread[queue] == NULL) {
            thread_port_destroy(made);
            return -ENOMEM;
        }
    }
    *thread = made;
    return 0;
}

void thread_port_destroy(struct thread_port *thread)
{
    if (thread == NULL) {
        return;
    }
    for (uint16_t queue = 0; queue < thread->n_queues; queue++) {
        free_ring(thread->to_worker[queue]);
        free_ring(thread->to_thread[queue]);
    }
    close(thread->wake_fd);
    free(thread);
}

uint16_t thread_port_tx(struct thread_port *thread, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
    uint16_t taken = (uint16_t)rte_ring_sp_enqueue_burst(thread->to_thread[queue], (void **)mbufs, n, NULL);
    /* Either the thread sees the frames after it said that it sleeps, or we see that it sleeps: each writes first. */
    atomic_thread_fence(memory_order_seq_cst);
    if (unlikely(atomic_load_explicit(&thread->asleep, memory_order_relaxed)) &&
        atomic_exchange_explicit(&thread->asleep, false, memory_order_relaxed)) {
        eventfd_write(thread->wake_fd, 1);
    }
    return taken;
}

uint16_t thread_port_receive(struct thread_port *thread, struct rte_mbuf **mbufs, uint16_t n)
{
    uint16_t got = 0;
    for (uint16_t i = 0; i < thread->n_queues && got < n; i++) {
        uint16_t queue = thread->next;
        thread->next = (uint16_t)((queue + 1) % thread->n_queues);
        got = (uint16_t)(got + rte_ring_sc_dequeue_burst(thread->to_thread[queue], (void **)(mbufs + got),
                                                         (unsigned)(n - got), NULL));
    }
    return got;
}

uint16_t thread_port_send(struct thread_port *thread, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
    return (uint16_t)rte_ring_sp_enqueue_burst(thread->to_worker[queue], (void **)mbufs, n, NULL);
}

bool thread_port_sleep(struct thread_port *thread)
{
    atomic_store_explicit(&thread->asleep, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with the fence in thread_port_tx() */
    for (uint16_t queue = 0; queue < thread->n_queues; queue++) {
        if (!rte_ring_empty(thread->to_thread[queue])) {
            atomic_store_explicit(&thread->asleep, false, memory_order_relaxed);
            return false;
        }
    }
    return true;
}

void thread_port_wake(struct thread_port *thread)
{
    eventfd_t count;
    atomic_store_explicit(&thread->asleep, false, memory_order_relaxed);
    eventfd_read(thread->wake_fd, &count);
}
