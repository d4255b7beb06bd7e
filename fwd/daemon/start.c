// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_mempool.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/daemon/tables.h"
#include "fwd/daemon/telemetry.h"
#include "ports/mbuf_pool.h"

/* An AF_XDP queue keeps this many buffers in its fill ring, and as many again wait to be sent. */
#define XDP_RING 2048
/* Buffers in the rings to and from management and the sockets, of one worker. */
#define THREAD_MBUFS (4 * THREAD_PORT_RING)

/* The line a setting stands on, or would, as the start of a message. */
#define AT(conf, item, key) conf_key_at(conf, item, key).file, conf_key_at(conf, item, key).line

/* Buffers that cannot be short while every queue, cache and table is full. */
static uint32_t pool_size(const struct conf *conf)
{
    if (conf->memory.mbufs != 0)
        return conf->memory.mbufs;
    uint64_t n = 0;
    for (unsigned i = 0; i < conf->n_ports; i++) {
        const struct conf_port *port = &conf->port[i];
        unsigned queues = port->queues != 0 ? port->queues : conf->workers.count;
        n += (uint64_t)queues * (port->netdev != NULL ? 2 * XDP_RING : port->rx_desc + port->tx_desc);
    }
    n += tables_mbufs(conf, conf->workers.count) + (uint64_t)THREAD_MBUFS * conf->workers.count;
    return (uint32_t)RTE_MIN(n, UINT32_MAX / 2);
}

static int start_memory(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    uint32_t n_mbufs = pool_size(conf);
    uint64_t octets = mbuf_pool_memory(n_mbufs, (uint16_t)conf->memory.mbuf_size);
    if (daemon_eal(conf, octets, &daemon->hugepages) != 0)
        return -1;
    daemon->eal = true;
    worker_clock_init();
    daemon_clock(daemon);
    return tables_memory(daemon, n_mbufs);
}

int daemon_port_open(struct daemon *daemon, unsigned index, struct port *port)
{
    const struct conf *conf = daemon->conf;
    const struct conf_port *from = &conf->port[index];
    struct port_config config;
    tables_port_config(from, &config);
    char err[200] = "";
    int rc = port_open(port, (uint16_t)index, &config, daemon->n_workers, daemon->pool, daemon->qsbr, err);
    if (rc == 0)
        return 0;
    log_error("%s:%u: port %s: %s\n", AT(conf, from, from->netdev != NULL ? "netdev" : "device"), from->name,
              err[0] != '\0' ? err : strerror(-rc));
    return -1;
}

static int start_ports(struct daemon *daemon)
{
    for (unsigned i = 0; i < daemon->conf->n_ports; i++) {
        if (daemon_port_open(daemon, i, &daemon->port[i]) != 0)
            return -1;
        daemon->shared.port[i] = &daemon->port[i];
        daemon->n_ports++;
    }
    return 0;
}

static int start_workers(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct port *ports[PORT_MAX];
    uint16_t n_ports = 0;
    for (unsigned p = 0; p < PORT_MAX; p++)
        if (daemon->shared.port[p] != NULL)
            ports[n_ports++] = daemon->shared.port[p];
    if (worker_plan(daemon->worker, daemon->n_workers, ports, n_ports) != 0) {
        log_error("no memory for the rings between workers\n");
        return -1;
    }
    for (uint16_t w = 0; w < daemon->n_workers; w++) {
        struct worker_config *config = &daemon->worker[w].config;
        *config = (struct worker_config){
            .lcore = w,
            .burst = (uint16_t)conf->workers.burst,
            .busy_poll = conf->workers.busy_poll,
            .max_sleep_us = conf->workers.max_sleep_us,
            .qsbr = daemon->qsbr,
        };
        if (tables_fwd_config(daemon, w, &config->fwd) != 0)
            return -1;
        if (worker_start(&daemon->worker[w]) != 0) {
            log_error("%s:%u: no memory for the tables of worker %u\n", AT(conf, &conf->pit, "capacity"), w);
            return -1;
        }
    }
    return 0;
}

struct daemon *daemon_start(struct conf *conf)
{
    struct daemon *daemon = daemon_create(conf, (uint16_t)conf->workers.count);
    if (daemon == NULL)
        return NULL;
    // Privileges go before threads start: those give up theirs, and then cannot follow a change of account.
    if (start_memory(daemon) != 0 || tables_create(daemon) != 0 || start_ports(daemon) != 0 ||
        manage_open(daemon) != 0 || daemon_watch(daemon) != 0 || tables_faces(daemon) != 0 ||
        daemon_quic_start(daemon) != 0 || tables_strategies(daemon) != 0 || manage_start(daemon) != 0 ||
        tables_routes(daemon) != 0 || daemon_drop_privileges(conf) != 0 || manage_run(daemon) != 0 ||
        start_workers(daemon) != 0) {
        daemon_stop(daemon);
        return NULL;
    }
    daemon->pool_baseline = rte_mempool_in_use_count(daemon->pool);
    if (telemetry_start(daemon) != 0)
        log_warning("the telemetry socket has no commands of pitlane\n");
    return daemon;
}

void daemon_stop(struct daemon *daemon)
{
    telemetry_stop();
    manage_quiet(daemon);
    for (uint16_t w = 0; w < daemon->n_workers; w++)
        worker_ask_stop(&daemon->worker[w]);
    for (uint16_t w = 0; w < daemon->n_workers; w++)
        if (daemon->worker[w].ready)
            worker_stop(&daemon->worker[w]);
    worker_unplan(daemon->worker, daemon->n_workers);
    manage_stop(daemon);
    daemon_quic_stop(daemon);
    monitor_destroy(daemon->monitor);
    manage_close(daemon);
    for (uint16_t p = 0; p < daemon->n_ports; p++)
        if (!(daemon->closed & 1ull << p))
            port_close(&daemon->port[p]);
    tables_destroy(daemon);
    if (daemon->eal)
        rte_eal_cleanup();
    conf_free(daemon->reloaded);
    conf_free(daemon->conf);
    pthread_mutex_destroy(&daemon->lock);
    free(daemon);
}
