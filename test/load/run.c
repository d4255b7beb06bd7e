// SPDX-License-Identifier: Apache-2.0
#include "test/load/run.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ports/mbuf_pool.h"

static struct device *device_of(struct run *run, const struct options_end *end)
{
    for (unsigned i = 0; i < run->n_devices; i++) {
        if (run->device[i].port == end->port)
            return &run->device[i];
    }
    return NULL;
}

static int open_device(struct run *run, const struct options_end *end)
{
    if (!end->present || device_of(run, end) != NULL)
        return 0;
    int rc = device_open(&run->device[run->n_devices], end->port, run->options, run->pool);
    if (rc == 0)
        run->n_devices++;
    return rc;
}

/* Answer what came for the producer, and send what did not go before. @return frames taken */
static unsigned poll_producer(struct run *run)
{
    struct producer *producer = run->producer;
    producer_work(producer);
    struct rte_mbuf *mbufs[DEVICE_BURST];
    uint16_t n = 0;
    if (producer_room(producer) >= DEVICE_BURST)
        n = rte_eth_rx_burst(producer->tx.port, 0, mbufs, DEVICE_BURST);
    for (uint16_t i = 0; i < n; i++)
        producer_receive(producer, mbufs[i]);
    if (n > 0)
        producer_work(producer);
    return n;
}

static void sleep_a_little(const struct run *run, unsigned done)
{
    if (done == 0 && run->options->sleep_us > 0)
        rte_delay_us_sleep(run->options->sleep_us);
}

static int producer_main(void *arg)
{
    struct run *run = arg;
    while (!run_stopped(run))
        sleep_a_little(run, poll_producer(run));
    return 0;
}

static unsigned poll_consumer(struct run *run, uint64_t now)
{
    struct consumer *consumer = run->consumer;
    struct rte_mbuf *mbufs[DEVICE_BURST];
    uint16_t n = 0;
    if (!run->same_port || producer_room(run->producer) >= DEVICE_BURST)
        n = rte_eth_rx_burst(consumer->tx.port, 0, mbufs, DEVICE_BURST);
    if (n > 0)
        now = rte_rdtsc();
    for (uint16_t i = 0; i < n; i++) {
        if (consumer_receive(consumer, mbufs[i], now))
            continue;
        if (run->same_port) {
            producer_receive(run->producer, mbufs[i]);
        } else {
            consumer->tally.unexpected++;
            rte_pktmbuf_free(mbufs[i]);
        }
    }
    return n + consumer_work(consumer, now);
}

void run_stretch(struct run *run, const struct plan *plan)
{
    uint64_t now = rte_rdtsc();
    bool produce_here = run->producer != NULL && run->worker == RTE_MAX_LCORE;
    if (run->consumer == NULL) {
        uint64_t end = plan->seconds > 0 ? now + (uint64_t)(plan->seconds * run->hz) : UINT64_MAX;
        while (!run_stopped(run) && rte_rdtsc() < end)
            sleep_a_little(run, produce_here ? poll_producer(run) : 0);
        return;
    }
    consumer_start(run->consumer, plan, now);
    while (!consumer_done(run->consumer, now)) {
        unsigned done = poll_consumer(run, now);
        if (produce_here && run->same_port)
            producer_work(run->producer);
        else if (produce_here)
            done += poll_producer(run);
        sleep_a_little(run, done);
        now = rte_rdtsc();
        if (run_stopped(run))
            consumer_stop(run->consumer, now);
    }
}

static int make_roles(struct run *run)
{
    const struct options *options = run->options;
    int rc = 0;
    if (options->consumer.present) {
        run->consumer = malloc(sizeof *run->consumer);
        rc = run->consumer == NULL
                 ? -ENOMEM
                 : consumer_create(run->consumer, options, device_of(run, &options->consumer), run->pool, run->hz);
        if (rc != 0) {
            free(run->consumer);
            run->consumer = NULL;
            return rc;
        }
        run->tally = &run->consumer->tally;
    }
    if (options->producer.present) {
        run->producer = malloc(sizeof *run->producer);
        rc = run->producer == NULL
                 ? -ENOMEM
                 : producer_create(run->producer, options, device_of(run, &options->producer), run->pool);
        if (rc != 0) {
            free(run->producer);
            run->producer = NULL;
        }
    }
    return rc;
}

int run_create(struct run *run, const struct options *options)
{
    *run = (struct run){.options = options, .hz = (double)rte_get_tsc_hz(), .worker = RTE_MAX_LCORE};
    run->same_port =
        options->consumer.present && options->producer.present && options->consumer.port == options->producer.port;
    run->pool = mbuf_pool_create("load", options->mbufs, (uint16_t)options->mbuf_size, rte_eal_has_hugepages() != 0);
    if (run->pool == NULL) {
        fprintf(stderr, "pitlane-load: no memory for %u packet buffers: more to EAL by -m\n", options->mbufs);
        return -ENOMEM;
    }
    int rc = open_device(run, &options->consumer);
    if (rc == 0)
        rc = open_device(run, &options->producer);
    if (rc == 0)
        rc = make_roles(run);
    if (rc != 0) {
        run_destroy(run);
        return rc;
    }
    if (run->producer != NULL && !run->same_port && rte_lcore_count() > 1) {
        run->worker = rte_get_next_lcore(rte_lcore_id(), 1, 0);
        rte_eal_remote_launch(producer_main, run, run->worker);
    }
    return 0;
}

void run_destroy(struct run *run)
{
    run_stop(run);
    if (run->worker != RTE_MAX_LCORE)
        rte_eal_wait_lcore(run->worker);
    for (unsigned i = 0; i < run->n_devices; i++)
        device_close(&run->device[i]);
    if (run->consumer != NULL)
        consumer_destroy(run->consumer);
    if (run->producer != NULL)
        producer_destroy(run->producer);
    free(run->consumer);
    free(run->producer);
    rte_mempool_free(run->pool);
}
