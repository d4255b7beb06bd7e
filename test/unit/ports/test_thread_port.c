// SPDX-License-Identifier: Apache-2.0
#include "ports/thread_port.h"

#include <rte_eal.h>

#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>

static struct rte_mempool *pool;
static struct thread_port *thread;

static void begin(void)
{
    char *argv[] = {(char[]){"test"},
                    (char[]){"--no-huge"},
                    (char[]){"--no-pci"},
                    (char[]){"--no-shconf"},
                    (char[]){"-m"},
                    (char[]){"64"},
                    (char[]){"--no-telemetry"},
                    (char[]){"-l"},
                    (char[]){"0"},
                    (char[]){"--log-level=*:1"},
                    NULL};
    cr_assert_geq(rte_eal_init((int)(sizeof argv / sizeof argv[0]) - 1, argv), 0);
    pool = rte_pktmbuf_pool_create("pool", 16383, 0, 0, 256, SOCKET_ID_ANY);
    cr_assert_not_null(pool);
    cr_assert_eq(thread_port_create(&thread, "test", 2), 0);
}

/* Frames that were left in the rings are freed with them. */
static void end(void)
{
    thread_port_destroy(thread);
    cr_assert_eq(rte_mempool_in_use_count(pool), 0);
}

TestSuite(thread_port, .init = begin, .fini = end, .timeout = 60);

static struct rte_mbuf *frame(uint32_t face)
{
    struct rte_mbuf *mbuf = rte_pktmbuf_alloc(pool);
    cr_assert_not_null(mbuf);
    thread_port_set_face(mbuf, face);
    return mbuf;
}

static bool readable(void)
{
    struct pollfd fd = {.fd = thread->wake_fd, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

Test(thread_port, frames_keep_their_face_and_sender)
{
    struct rte_mbuf *mbuf = frame(300), *back = NULL;
    cr_assert_eq(thread_port_sender(mbuf), 0);
    thread_port_set_sender(mbuf, 0xdeadbeef);
    cr_assert_eq(thread_port_send(thread, 1, &mbuf, 1), 1);
    cr_assert_eq(thread_port_rx(thread, 0, &back, 1), 0);
    cr_assert_eq(thread_port_rx(thread, 1, &back, 1), 1);
    cr_assert_eq(back, mbuf);
    cr_assert_eq(thread_port_face(back), 300);
    cr_assert_eq(thread_port_sender(back), 0xdeadbeef);
    thread_port_set_face(back, 301); /* a buffer that is used again has no old sender */
    cr_assert_eq(thread_port_sender(back), 0);
    rte_pktmbuf_free(back);
}

Test(thread_port, workers_are_heard_in_turn)
{
    struct rte_mbuf *got[4];
    for (uint32_t i = 0; i < 8; i++) {
        struct rte_mbuf *mbuf = frame(i);
        cr_assert_eq(thread_port_tx(thread, (uint16_t)(i / 4), &mbuf, 1), 1);
    }
    cr_assert_eq(thread_port_receive(thread, got, 2), 2);
    cr_assert_eq(thread_port_face(got[0]), 0);
    cr_assert_eq(thread_port_receive(thread, got + 2, 2), 2);
    cr_assert_eq(thread_port_face(got[2]), 4); /* the other one, although the first has more */
    rte_pktmbuf_free_bulk(got, 4);
}

Test(thread_port, room_is_what_the_ring_takes)
{
    struct rte_mbuf *mbuf;
    uint32_t room = thread_port_room(thread, 0);
    cr_assert_geq(room, THREAD_PORT_RING - 1);
    for (uint32_t i = 0; i < room; i++) {
        mbuf = frame(1);
        cr_assert_eq(thread_port_send(thread, 0, &mbuf, 1), 1);
        cr_assert_eq(thread_port_room(thread, 0), room - i - 1);
    }
    mbuf = frame(1);
    cr_assert_eq(thread_port_send(thread, 0, &mbuf, 1), 0);
    rte_pktmbuf_free(mbuf);
}

Test(thread_port, worker_wakes_the_thread_only_when_it_sleeps)
{
    struct rte_mbuf *mbuf = frame(1), *got[4];
    cr_assert_eq(thread_port_tx(thread, 0, &mbuf, 1), 1);
    cr_assert(!readable());
    cr_assert(!thread_port_sleep(thread)); /* there is a frame */
    cr_assert_eq(thread_port_receive(thread, got, 4), 1);
    rte_pktmbuf_free(got[0]);
    cr_assert(thread_port_sleep(thread));
    mbuf = frame(2);
    cr_assert_eq(thread_port_tx(thread, 1, &mbuf, 1), 1);
    cr_assert(readable());
    thread_port_wake(thread);
    cr_assert(!readable());
    cr_assert_eq(thread_port_receive(thread, got, 4), 1);
    rte_pktmbuf_free(got[0]);
    cr_assert(thread_port_sleep(thread));
    thread_port_awake(thread); /* something else woke it up */
    mbuf = frame(3);
    cr_assert_eq(thread_port_tx(thread, 0, &mbuf, 1), 1);
    cr_assert(!readable());
}

#define MANY 200000

static void *worker(void *arg)
{
    (void)arg;
    for (uint32_t i = 0; i < MANY; i++) {
        struct rte_mbuf *mbuf = NULL;
        while ((mbuf = rte_pktmbuf_alloc(pool)) == NULL || (thread_port_set_face(mbuf, i), false)) {
        }
        while (thread_port_tx(thread, 0, &mbuf, 1) == 0) {
        }
    }
    return NULL;
}

/* No wake-up is lost, whenever the thread falls asleep. */
Test(thread_port, sleeper_misses_nothing)
{
    pthread_t other;
    struct rte_mbuf *got[64];
    uint32_t next = 0;
    cr_assert_eq(pthread_create(&other, NULL, worker, NULL), 0);
    while (next < MANY) {
        if (thread_port_sleep(thread)) {
            struct pollfd fd = {.fd = thread->wake_fd, .events = POLLIN};
            cr_assert_eq(poll(&fd, 1, 10000), 1);
        }
        thread_port_wake(thread);
        uint16_t n = thread_port_receive(thread, got, 64);
        for (uint16_t i = 0; i < n; i++) {
            cr_assert_eq(thread_port_face(got[i]), next++);
        }
        rte_pktmbuf_free_bulk(got, n);
    }
    pthread_join(other, NULL);
}
