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

static unsigned poll_server(struct run *run)
{
    struct rte_mbuf *mbufs[DEVICE_BURST];
    quic_server_work(run->server);
    uint16_t n = rte_eth_rx_burst(run->server->port, 0, mbufs, DEVICE_BURST);
    uint64_t now = rte_rdtsc();
    for (uint16_t i = 0; i < n; i++)
        quic_server_receive(run->server, mbufs[i], now);
    return n;
}

/* The role that answers. */
static unsigned poll_far_end(struct run *run)
{
    if (run->server != NULL)
        return poll_server(run);
    return run->producer != NULL ? poll_producer(run) : 0;
}

static void sleep_a_little(const struct run *run, unsigned done)
{
    if (done == 0 && run->options->sleep_us > 0)
        rte_delay_us_sleep(run->options->sleep_us);
}

static int far_end_main(void *arg)
{
    struct run *run = arg;
    while (!__atomic_load_n(&run->quit, __ATOMIC_RELAXED))
        sleep_a_little(run, poll_far_end(run));
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
    if (run->same_port)
        producer_work(run->producer);
    return n + consumer_work(consumer, now);
}

static unsigned poll_client(struct run *run, uint64_t now)
{
    struct rte_mbuf *mbufs[DEVICE_BURST];
    uint16_t n = rte_eth_rx_burst(run->client->tx.port, 0, mbufs, DEVICE_BURST);
    for (uint16_t i = 0; i < n; i++)
        quic_client_receive(run->client, mbufs[i]);
    return n + quic_client_work(run->client, now);
}

/* The role that asks. */
static unsigned poll_near_end(struct run *run, uint64_t now)
{
    return run->client != NULL ? poll_client(run, now) : poll_consumer(run, now);
}

static bool near_end_done(struct run *run, uint64_t now)
{
    return run->client != NULL ? quic_client_done(run->client, now) : consumer_done(run->consumer, now);
}

static void near_end_stop(struct run *run, uint64_t now)
{
    if (run->client != NULL)
        quic_client_stop(run->client, now);
    else
        consumer_stop(run->consumer, now);
}

/* The server ends what it counted. */
static void turn(struct run *run)
{
    run->n_turns++;
    while (!quic_server_turn(run->server, run->n_turns)) {
        if (run->worker == RTE_MAX_LCORE)
            quic_server_work(run->server);
    }
}

void run_stretch(struct run *run, const struct plan *plan)
{
    bool far_end_here = run->worker == RTE_MAX_LCORE && !run->same_port;
    uint64_t now = rte_rdtsc();
    if (run->tally == NULL) {
        uint64_t end = plan->seconds > 0 ? now + (uint64_t)(plan->seconds * run->hz) : UINT64_MAX;
        while (!run_stopped(run) && rte_rdtsc() < end)
            sleep_a_little(run, far_end_here ? poll_far_end(run) : 0);
        return;
    }
    if (run->client != NULL) {
        turn(run);
        now = rte_rdtsc();
        quic_client_start(run->client, plan, now);
    } else {
        consumer_start(run->consumer, plan, now);
    }
    while (!near_end_done(run, now)) {
        unsigned done = poll_near_end(run, now);
        if (far_end_here)
            done += poll_far_end(run);
        sleep_a_little(run, done);
        now = rte_rdtsc();
        if (run_stopped(run))
            near_end_stop(run, now);
    }
    if (run->client != NULL) {
        turn(run);
        quic_client_take(run->client, &run->server->last);
    }
}

static int make_quic(struct run *run)
{
    const struct options *options = run->options;
    int rc = quic_flows_create(&run->flows, options);
    if (rc != 0)
        return rc;
    run->server = calloc(1, sizeof *run->server);
    run->client = calloc(1, sizeof *run->client);
    if (run->server == NULL || run->client == NULL)
        return -ENOMEM;
    rc = quic_server_create(run->server, options, device_of(run, &options->producer), &run->flows);
    if (rc == 0)
        rc = quic_client_create(run->client, options, device_of(run, &options->consumer), &run->flows, run->server,
                                run->pool, run->hz);
    run->tally = &run->client->tally;
    run->tx = &run->client->tx;
    return rc;
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
        run->tx = &run->consumer->tx;
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
    // A signal may have come by now.
    *run = (struct run){
        .options = options, .hz = (double)rte_get_tsc_hz(), .worker = RTE_MAX_LCORE, .stop = run_stopped(run)};
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
        rc = options->mode == MODE_QUIC ? make_quic(run) : make_roles(run);
    if (rc != 0) {
        run_destroy(run);
        return rc;
    }
    if (options->producer.present && !run->same_port && rte_lcore_count() > 1) {
        run->worker = rte_get_next_lcore(rte_lcore_id(), 1, 0);
        rte_eal_remote_launch(far_end_main, run, run->worker);
    }
    return 0;
}

void run_destroy(struct run *run)
{
    __atomic_store_n(&run->quit, true, __ATOMIC_RELAXED);
    if (run->worker != RTE_MAX_LCORE)
        rte_eal_wait_lcore(run->worker);
    for (unsigned i = 0; i < run->n_devices; i++)
        device_close(&run->device[i]);
    if (run->consumer != NULL)
        consumer_destroy(run->consumer);
    if (run->producer != NULL)
        producer_destroy(run->producer);
    if (run->client != NULL)
        quic_client_destroy(run->client);
    if (run->server != NULL)
        quic_server_destroy(run->server);
    quic_flows_destroy(&run->flows);
    free(run->consumer);
    free(run->producer);
    free(run->client);
    free(run->server);
    rte_mempool_free(run->pool);
}
