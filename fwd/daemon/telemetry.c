// SPDX-License-Identifier: Apache-2.0
/*
 * State for the telemetry socket. Callbacks run in threads of the telemetry library, one for each client; they take
 * the control lock, under which neither faces nor the FIB change, read counters with relaxed loads, and ask a worker
 * itself for what only its owner may read.
 */
#include "fwd/daemon/telemetry.h"

#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <rte_telemetry.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fwd/daemon/daemon.h"
#include "fwd/fwd.h"
#include "fwd/daemon/telemetry_explain.h"
#include "fwd/daemon/telemetry_page.h"
#include "fwd/daemon/telemetry_prefix.h"
#include "fwd/daemon/telemetry_quic.h"
#include "fwd/mgmt/mgmt.h"
#include "fwd/worker.h"
#include "ports/sock/sock.h"

/** The callbacks get no context; NULL while nobody answers. */
static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;
static struct daemon *source;
static struct prefix_list route_list, strategy_list = {.strategies = true};

/** What a worker tells of itself, collected by the worker between two bursts. */
struct tables {
    uint32_t pit_entries, pit_capacity;
    size_t pit_memory, cs_memory;
    struct cs_info cs;
    struct reass_stats reass;
};

static void collect_tables(struct fwd *fwd, void *arg)
{
    struct tables *tables = arg;
    tables->pit_entries = pit_count(fwd->pit);
    tables->pit_capacity = pit_capacity(fwd->pit);
    tables->pit_memory = pit_memory(fwd->pit);
    tables->cs_memory = cs_memory(fwd->cs);
    cs_info(fwd->cs, &tables->cs);
    reass_stats(fwd->reass, &tables->reass);
}

static void count_frames(const struct stats_worker *stats, uint64_t *dropped, uint64_t *consumed)
{
    *dropped = *consumed = 0;
    for (unsigned i = 1; i < DROP_COUNT; i++)
        *(drop_is_consumed((enum drop)i) ? consumed : dropped) += stats_read(&stats->drops[i]);
}

/** The forwarder of a worker, NULL when it does not run yet. Pairs with the release when it became ready. */
static const struct fwd *fwd_of(const struct worker *worker)
{
    return atomic_load_explicit(&worker->ready, memory_order_acquire) ? worker->fwd : NULL;
}

static bool add_worker(struct stats_worker *sum, const struct worker *worker)
{
    const struct fwd *fwd = fwd_of(worker);
    if (fwd != NULL)
        stats_worker_add(sum, &fwd->stats);
    return fwd != NULL;
}

static uint64_t uptime_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)((now.tv_sec - source->started.tv_sec) * 1000 + (now.tv_nsec - source->started.tv_nsec) / 1000000);
}

static uint64_t count_ports(void)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < PORT_MAX; i++)
        n += source->shared.port[i] != NULL && source->shared.port[i]->thread == NULL;
    return n;
}

static int answer_status(struct rte_tel_data *d, uint64_t start)
{
    (void)start;
    struct stats_worker sum = {0};
    struct tables total = {0};
    uint64_t dropped, consumed;
    for (unsigned i = 0; i < source->n_workers; i++) {
        struct tables tables;
        if (!add_worker(&sum, &source->worker[i]) || worker_run(&source->worker[i], collect_tables, &tables) != 0)
            continue;
        total.pit_entries += tables.pit_entries;
        total.cs.n_entries += tables.cs.n_entries;
        total.cs.n_hits += tables.cs.n_hits;
    }
    count_frames(&sum, &dropped, &consumed);
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_string(d, "version", PITLANE_VERSION);
    rte_tel_data_add_dict_u64(d, "pid", (uint64_t)getpid());
    rte_tel_data_add_dict_u64(d, "uptime_ms", uptime_ms());
    rte_tel_data_add_dict_u64(d, "workers", source->n_workers);
    rte_tel_data_add_dict_u64(d, "ports", count_ports());
    rte_tel_data_add_dict_u64(d, "faces", source->shared.faces->n_faces);
    rte_tel_data_add_dict_u64(d, "prefixes", fib_count(source->shared.fib));
    rte_tel_data_add_dict_u64(d, "received", sum.rx_frames);
    rte_tel_data_add_dict_u64(d, "originated", sum.originated);
    rte_tel_data_add_dict_u64(d, "sent", sum.tx_frames);
    rte_tel_data_add_dict_u64(d, "held", sum.held);
    rte_tel_data_add_dict_u64(d, "consumed", consumed);
    rte_tel_data_add_dict_u64(d, "dropped", dropped);
    rte_tel_data_add_dict_int(d, "error", (int)stats_unaccounted(&sum));
    rte_tel_data_add_dict_u64(d, "in_interests", sum.in_interests);
    rte_tel_data_add_dict_u64(d, "in_data", sum.in_data);
    rte_tel_data_add_dict_u64(d, "in_nacks", sum.in_nacks);
    rte_tel_data_add_dict_u64(d, "out_interests", sum.out_interests);
    rte_tel_data_add_dict_u64(d, "out_data", sum.out_data);
    rte_tel_data_add_dict_u64(d, "out_nacks", sum.out_nacks);
    rte_tel_data_add_dict_u64(d, "pit_entries", total.pit_entries);
    rte_tel_data_add_dict_u64(d, "cs_entries", total.cs.n_entries);
    rte_tel_data_add_dict_u64(d, "cs_hits", total.cs.n_hits);
    rte_tel_data_add_dict_u64(d, "pool_size", source->pool->size);
    rte_tel_data_add_dict_u64(d, "pool_in_use", rte_mempool_in_use_count(source->pool));
    return 0;
}

static int answer_ports(struct rte_tel_data *d, uint64_t start)
{
    struct page page;
    page_begin(&page);
    for (uint64_t i = start; i < PORT_MAX; i++) {
        const struct port *port = source->shared.port[i];
        if (port == NULL || port->thread != NULL)
            continue;
        struct rte_tel_data *row = page_row(&page, i, 1500);
        if (row == NULL)
            break;
        struct rte_eth_stats stats = {0};
        struct port_losses losses = {0};
        char text[32];
        // Of a port that is closed, and of the strings it had, only the configuration is left.
        const struct conf_port *conf = &source->conf->port[i];
        bool xdp = conf->netdev != NULL;
        if (!(source->closed & 1ull << i)) {
            rte_eth_stats_get(port->dpdk_id, &stats);
            port_losses(port, &losses);
        }
        snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", port->mac[0], port->mac[1], port->mac[2],
                 port->mac[3], port->mac[4], port->mac[5]);
        page_text(row, "name", conf->name);
        page_text(row, "device", xdp ? conf->netdev : conf->device);
        page_text(row, "kind", xdp ? "af_xdp" : "dpdk");
        page_text(row, "link", port->gone ? "gone" : port->link_up ? "up" : "down");
        page_text(row, "mac", text);
        rte_tel_data_add_dict_u64(row, "mtu", port->mtu);
        rte_tel_data_add_dict_u64(row, "queues", port->n_queues);
        rte_tel_data_add_dict_u64(row, "rx_frames", stats.ipackets);
        rte_tel_data_add_dict_u64(row, "rx_bytes", stats.ibytes);
        rte_tel_data_add_dict_u64(row, "tx_frames", stats.opackets);
        rte_tel_data_add_dict_u64(row, "tx_bytes", stats.obytes);
        rte_tel_data_add_dict_u64(row, "tx_lost", losses.tx_errors);
        // What AF_XDP says through DPDK misleads: its own statistics tell.
        rte_tel_data_add_dict_u64(row, "rx_lost",
                                  xdp ? losses.xsk_rx_dropped + losses.xsk_rx_ring_full + losses.xsk_fill_ring_empty
                                      : losses.rx_missed + losses.rx_nombuf + losses.rx_errors);
        rte_tel_data_add_dict_u64(row, "xsk_rx_dropped", losses.xsk_rx_dropped);
        rte_tel_data_add_dict_u64(row, "xsk_rx_ring_full", losses.xsk_rx_ring_full);
        rte_tel_data_add_dict_u64(row, "xsk_fill_ring_empty", losses.xsk_fill_ring_empty);
        rte_tel_data_add_dict_u64(row, "xsk_rx_invalid", losses.xsk_rx_invalid);
        rte_tel_data_add_dict_u64(row, "xdp_redirected", losses.xdp_redirected);
        rte_tel_data_add_dict_u64(row, "xdp_passed", losses.xdp_passed);
        rte_tel_data_add_dict_u64(row, "xdp_dropped", losses.xdp_dropped);
    }
    return page_end(&page, d);
}

static void add_face_counters(struct rte_tel_data *row, uint32_t id)
{
    for (const struct stats_desc *desc = stats_face_desc; desc->name != NULL; desc++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < source->n_workers; i++) {
            const struct fwd *fwd = fwd_of(&source->worker[i]);
            if (fwd == NULL)
                continue;
            const struct stats_face *stats = &fwd->face_stats[id % FACE_SLOTS];
            if (__atomic_load_n(&stats->face, __ATOMIC_RELAXED) == id)
                sum += stats_read((const uint64_t *)((uintptr_t)stats + desc->offset));
        }
        rte_tel_data_add_dict_u64(row, desc->name, sum);
    }
}

static int answer_faces(struct rte_tel_data *d, uint64_t start)
{
    static const char *const down_text[] = {"up", "link down", "no neighbour", "link down"};
    struct page page;
    page_begin(&page);
    for (uint64_t slot = start; slot < FACE_SLOTS; slot++) {
        const struct face *face = atomic_load_explicit(&source->shared.faces->slot[slot], memory_order_acquire);
        if (face == NULL)
            continue;
        struct rte_tel_data *row = page_row(&page, slot, 800);
        if (row == NULL)
            break;
        unsigned down = atomic_load_explicit(&face->down, memory_order_relaxed) & ~FACE_DOWN_NULL;
        rte_tel_data_add_dict_u64(row, "id", face->id);
        page_text(row, "name", face->name);
        page_text(row, "state", down == 0 ? "up" : "down");
        if (down != 0)
            page_text(row, "reason", down_text[down & 3]);
        page_text(row, "remote", face->remote_uri);
        page_text(row, "local", face->local_uri);
        rte_tel_data_add_dict_u64(row, "port", face->port);
        rte_tel_data_add_dict_u64(row, "mtu", face->mtu);
        rte_tel_data_add_dict_u64(row, "vlan", face->config.vlan);
        add_face_counters(row, face->id);
    }
    return page_end(&page, d);
}

static int answer_drops(struct rte_tel_data *d, uint64_t start)
{
    struct stats_worker sum = {0};
    struct page page;
    for (unsigned i = 0; i < source->n_workers; i++)
        add_worker(&sum, &source->worker[i]);
    page_begin(&page);
    for (uint64_t i = start > 0 ? start : 1; i < DROP_COUNT; i++) {
        struct rte_tel_data *row = page_row(&page, i, 250);
        if (row == NULL)
            break;
        page_text(row, "reason", drop_info[i].name);
        rte_tel_data_add_dict_u64(row, "count", sum.drops[i]);
        page_text(row, "kind", drop_is_consumed((enum drop)i) ? "consumed" : "dropped");
        page_text(row, "text", drop_info[i].text);
    }
    return page_end(&page, d);
}

/* What sockets have accepted, refused and lost: beside the frames of workers, which sent or never got them. */
static int answer_sockets(struct rte_tel_data *d, uint64_t start)
{
    struct sock_counters counters = {0};
    struct page page;
    if (source->manage.sock != NULL)
        sock_counters(source->manage.sock, &counters);
    page_begin(&page);
    for (uint64_t i = 0; sock_counter_descs[i].name != NULL; i++) {
        const struct sock_counter_desc *desc = &sock_counter_descs[i];
        struct rte_tel_data *row = i < start ? NULL : page_row(&page, i, 250);
        if (row == NULL && i >= start)
            break;
        if (row == NULL)
            continue;
        uint64_t count;
        memcpy(&count, (const char *)&counters + desc->offset, sizeof count);
        page_text(row, "counter", desc->name);
        rte_tel_data_add_dict_u64(row, "count", count);
        page_text(row, "text", desc->text);
    }
    return page_end(&page, d);
}

/** What a row says of a worker. @param tables NULL when the worker does not answer */
typedef void (*fill_row_t)(struct rte_tel_data *row, const struct worker *worker, const struct tables *tables);

/** A row for each worker that has begun. */
static int answer_each_worker(struct rte_tel_data *d, uint64_t start, size_t octets, fill_row_t fill)
{
    struct page page;
    page_begin(&page);
    for (uint64_t i = start; i < source->n_workers; i++) {
        struct worker *worker = &source->worker[i];
        if (fwd_of(worker) == NULL)
            continue;
        struct rte_tel_data *row = page_row(&page, i, octets);
        if (row == NULL)
            break;
        struct tables tables;
        rte_tel_data_add_dict_u64(row, "worker", i);
        fill(row, worker, worker_run(worker, collect_tables, &tables) == 0 ? &tables : NULL);
    }
    return page_end(&page, d);
}

static void fill_worker(struct rte_tel_data *row, const struct worker *worker, const struct tables *tables)
{
    struct stats_worker stats = {0};
    uint64_t dropped, consumed;
    add_worker(&stats, worker);
    count_frames(&stats, &dropped, &consumed);
    rte_tel_data_add_dict_u64(row, "lcore", worker->config.lcore);
    rte_tel_data_add_dict_u64(row, "dropped", dropped);
    rte_tel_data_add_dict_u64(row, "consumed", consumed);
    for (const struct stats_desc *desc = stats_worker_desc; desc->name != NULL; desc++)
        rte_tel_data_add_dict_u64(row, desc->name, *(const uint64_t *)((uintptr_t)&stats + desc->offset));
    if (stats.polls > 0)
        rte_tel_data_add_dict_u64(row, "busy_permille", (stats.polls - stats.polls_idle) * 1000 / stats.polls);
    page_text(row, "state", tables != NULL ? "running" : "stuck");
    if (tables == NULL)
        return;
    rte_tel_data_add_dict_u64(row, "pit_entries", tables->pit_entries);
    rte_tel_data_add_dict_u64(row, "cs_entries", tables->cs.n_entries);
    rte_tel_data_add_dict_u64(row, "partial_packets", tables->reass.n_messages);
    rte_tel_data_add_dict_u64(row, "partial_bytes", tables->reass.n_bytes);
}

static int answer_workers(struct rte_tel_data *d, uint64_t start)
{
    return answer_each_worker(d, start, 1200, fill_worker);
}

static void fill_pit(struct rte_tel_data *row, const struct worker *worker, const struct tables *tables)
{
    const struct stats_worker *stats = &worker->fwd->stats;
    rte_tel_data_add_dict_u64(row, "satisfied", stats_read(&stats->satisfied));
    rte_tel_data_add_dict_u64(row, "unsatisfied", stats_read(&stats->unsatisfied));
    rte_tel_data_add_dict_u64(row, "aggregated", stats_read(&stats->drops[DROP_AGGREGATED]));
    rte_tel_data_add_dict_u64(row, "retransmitted", stats_read(&stats->retransmitted));
    rte_tel_data_add_dict_u64(row, "token_hits", stats_read(&stats->token_hits));
    rte_tel_data_add_dict_u64(row, "token_bad", stats_read(&stats->token_bad));
    if (tables == NULL)
        return;
    rte_tel_data_add_dict_u64(row, "entries", tables->pit_entries);
    rte_tel_data_add_dict_u64(row, "capacity", tables->pit_capacity);
    rte_tel_data_add_dict_u64(row, "memory_bytes", tables->pit_memory);
}

static int answer_pit(struct rte_tel_data *d, uint64_t start)
{
    return answer_each_worker(d, start, 300, fill_pit);
}

static void fill_cs(struct rte_tel_data *row, const struct worker *worker, const struct tables *tables)
{
    page_text(row, "policy", worker->config.fwd.cs.policy == CS_LRU ? "lru" : "priority-fifo");
    if (tables == NULL)
        return;
    rte_tel_data_add_dict_u64(row, "entries", tables->cs.n_entries);
    rte_tel_data_add_dict_u64(row, "capacity", tables->cs.capacity);
    rte_tel_data_add_dict_u64(row, "hits", tables->cs.n_hits);
    rte_tel_data_add_dict_u64(row, "misses", tables->cs.n_misses);
    rte_tel_data_add_dict_u64(row, "inserted", tables->cs.n_inserts);
    rte_tel_data_add_dict_u64(row, "evicted", tables->cs.n_evictions);
    rte_tel_data_add_dict_u64(row, "memory_bytes", tables->cs_memory);
}

static int answer_cs(struct rte_tel_data *d, uint64_t start)
{
    return answer_each_worker(d, start, 300, fill_cs);
}

static int answer_routes(struct rte_tel_data *d, uint64_t start)
{
    return prefix_list_answer(&route_list, &source->shared, source->strategies, d, start);
}

static int answer_strategies(struct rte_tel_data *d, uint64_t start)
{
    return prefix_list_answer(&strategy_list, &source->shared, source->strategies, d, start);
}

static int answer_management(struct rte_tel_data *d, uint64_t start)
{
    (void)start;
    const struct mgmt_counters *counters = mgmt_counters(source->manage.mgmt);
    rte_tel_data_start_dict(d);
    rte_tel_data_add_dict_u64(d, "commands", counters->commands);
    rte_tel_data_add_dict_u64(d, "datasets", counters->datasets);
    rte_tel_data_add_dict_u64(d, "notifications", counters->notifications);
    rte_tel_data_add_dict_u64(d, "mgmt_malformed", counters->malformed);
    rte_tel_data_add_dict_u64(d, "mgmt_unauthorized", counters->unauthorized);
    rte_tel_data_add_dict_u64(d, "mgmt_replay", counters->replayed);
    rte_tel_data_add_dict_u64(d, "mgmt_ignored", counters->ignored);
    return 0;
}

static int answer_quic(struct rte_tel_data *d, uint64_t start)
{
    return telemetry_quic_services(source, d, start);
}

static int answer_quic_servers(struct rte_tel_data *d, uint64_t start)
{
    return telemetry_quic_servers(source, d, start);
}

static const struct {
    const char *command;
    int (*answer)(struct rte_tel_data *d, uint64_t start);
    const char *help;
} commands[] = {
    {"/pitlane/status", answer_status, "State and totals of the forwarder"},
    {"/pitlane/ports", answer_ports, "Ports; parameter: first row"},
    {"/pitlane/faces", answer_faces, "Faces; parameter: first row"},
    {"/pitlane/routes", answer_routes, "Routes; parameter: first row, from \"next\""},
    {"/pitlane/strategies", answer_strategies, "Strategy choices; parameter: first row, from \"next\""},
    {"/pitlane/drops", answer_drops, "Frames dropped or consumed, by reason; parameter: first row"},
    {"/pitlane/sockets", answer_sockets, "What sockets accepted, refused and lost; parameter: first row"},
    {"/pitlane/workers", answer_workers, "Workers and their counters; parameter: first row"},
    {"/pitlane/pit", answer_pit, "Pending Interest Tables; parameter: first row"},
    {"/pitlane/cs", answer_cs, "Content Stores; parameter: first row"},
    {"/pitlane/quic", answer_quic, "QUIC services and their counters; parameter: first row"},
    {"/pitlane/quic_servers", answer_quic_servers, "Servers of QUIC services; parameter: first row"},
    {"/pitlane/management", answer_management, "Commands, datasets and what management refused"},
};

/** Every command: the number after the comma is where the page begins. */
static int answer(const char *cmd, const char *params, struct rte_tel_data *d)
{
    uint64_t start = 0;
    if (params != NULL) {
        char *end;
        start = strtoull(params, &end, 10);
        if (end == params || *end != '\0')
            return -1;
    }
    int ret = -1;
    pthread_mutex_lock(&source_lock);
    if (source != NULL) {
        pthread_mutex_lock(&source->lock);
        for (size_t i = 0; i < RTE_DIM(commands); i++)
            if (strcmp(cmd, commands[i].command) == 0)
                ret = commands[i].answer(d, start);
        pthread_mutex_unlock(&source->lock);
    }
    pthread_mutex_unlock(&source_lock);
    return ret;
}

static int answer_explain(const char *cmd, const char *params, struct rte_tel_data *d)
{
    int ret = -1;
    (void)cmd;
    pthread_mutex_lock(&source_lock);
    if (source != NULL) {
        pthread_mutex_lock(&source->lock);
        ret = telemetry_quic_explain(source, d, params);
        pthread_mutex_unlock(&source->lock);
    }
    pthread_mutex_unlock(&source_lock);
    return ret;
}

int telemetry_start(struct daemon *daemon)
{
    static bool registered;
    pthread_mutex_lock(&source_lock);
    source = daemon;
    pthread_mutex_unlock(&source_lock);
    // The library has no way to unregister: commands stay for the life of the process.
    for (size_t i = 0; !registered && i < RTE_DIM(commands); i++) {
        int ret = rte_telemetry_register_cmd(commands[i].command, answer, commands[i].help);
        if (ret != 0)
            return ret;
    }
    if (!registered)
        rte_telemetry_register_cmd("/pitlane/quic_explain", answer_explain,
                                   "Decisions for a datagram; parameters: SERVICE,FROM or -,LENGTH,HEX");
    registered = true;
    return 0;
}

void telemetry_stop(void)
{
    pthread_mutex_lock(&source_lock);
    source = NULL;
    prefix_list_clear(&route_list);
    prefix_list_clear(&strategy_list);
    pthread_mutex_unlock(&source_lock);
}
