// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/tables.h"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/daemon/replay.h"
#include "fwd/dispatch.h"
#include "fwd/mgmt/rib.h"
#include "fwd/region.h"
#include "parser/random.h"
#include "ports/mbuf_pool.h"

/* Buffers for bursts under way, copies, fragments and answers of one worker. */
#define WORKER_MBUFS 4096

/* The line a setting stands on, or would, as the start of a message. */
#define AT(conf, item, key) conf_key_at(conf, item, key).file, conf_key_at(conf, item, key).line

static int no_memory(void)
{
    log_error("out of memory\n");
    return -1;
}

static int no_random(int rc)
{
    log_error("no random numbers: %s\n", strerror(-rc));
    return -1;
}

struct daemon *daemon_create(struct conf *conf, uint16_t n_workers)
{
    struct daemon *daemon = aligned_alloc(64, (sizeof *daemon + 63) & ~(size_t)63);
    if (daemon == NULL) {
        no_memory();
        conf_free(conf);
        return NULL;
    }
    memset(daemon, 0, sizeof *daemon);
    daemon->conf = conf;
    daemon->n_workers = n_workers;
    pthread_mutex_init(&daemon->lock, NULL);
    clock_gettime(CLOCK_MONOTONIC, &daemon->started);
    return daemon;
}

uint64_t tables_mbufs(const struct conf *conf, unsigned n_workers)
{
    uint64_t held = (uint64_t)conf->cs.capacity + conf->lp.budget / conf->memory.mbuf_size + WORKER_MBUFS;
    held += conf->lp.reliable_faces > 0 ? conf->lp.unacknowledged : 0;
    return held * n_workers;
}

int tables_memory(struct daemon *daemon, uint32_t n_mbufs)
{
    const struct conf *conf = daemon->conf;
    daemon->pool = mbuf_pool_create("packets", n_mbufs, (uint16_t)conf->memory.mbuf_size, daemon->hugepages);
    if (daemon->pool == NULL) {
        uint64_t octets = mbuf_pool_memory(n_mbufs, (uint16_t)conf->memory.mbuf_size);
        log_error("%s:%u: no memory for %u packet buffers (%llu MB): %s\n", AT(conf, &conf->memory, "mbufs"), n_mbufs,
                  (unsigned long long)octets >> 20, rte_strerror(rte_errno));
        return -1;
    }
    size_t size = rte_rcu_qsbr_get_memsize(FWD_WORKERS_MAX);
    daemon->qsbr = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(size, RTE_CACHE_LINE_SIZE));
    if (daemon->qsbr == NULL || rte_rcu_qsbr_init(daemon->qsbr, FWD_WORKERS_MAX) != 0)
        return no_memory();
    return 0;
}

/* A prefix of the configuration, which daemon_check() has seen, as TLV-VALUE. @return its length */
static uint16_t prefix_octets(const char *uri, uint8_t name[NDN_NAME_MAX])
{
    int len = ndn_name_from_uri(uri, name, NDN_NAME_MAX);
    return len > 0 ? (uint16_t)len : 0;
}

/* Network region table, of names that daemon_check() has seen. @return 0, -ENOMEM */
static int start_regions(struct daemon *daemon)
{
    const struct conf_forwarding *from = &daemon->conf->forwarding;
    if (from->n_regions == 0)
        return 0;
    daemon->regions = calloc(from->n_regions, sizeof *daemon->regions);
    if (daemon->regions == NULL)
        return -ENOMEM;
    daemon->shared.regions = daemon->regions;
    for (unsigned i = 0; i < from->n_regions; i++) {
        uint8_t name[NDN_NAME_MAX];
        uint16_t len = prefix_octets(from->region[i], name);
        uint8_t *copy = malloc(len + 1u);
        if (copy == NULL)
            return -ENOMEM;
        memcpy(copy, name, len);
        daemon->regions[daemon->shared.n_regions++] = (struct region){.name = copy, .len = len};
    }
    return 0;
}

static void stop_regions(struct daemon *daemon)
{
    for (unsigned i = 0; i < daemon->shared.n_regions; i++)
        free((uint8_t *)(uintptr_t)daemon->regions[i].name);
    free(daemon->regions);
}

int tables_create(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    struct fwd_shared *shared = &daemon->shared;
    ndn_name_hash_init();
    int rc = random_octets(&shared->name_key, sizeof shared->name_key);
    if (rc == 0)
        rc = random_octets(shared->token_key, sizeof shared->token_key);
    if (rc != 0)
        return no_random(rc);
    shared->n_workers = daemon->n_workers;
    shared->lenient = conf->daemon.tlv_lenient;
    shared->max_lifetime_ms = conf->pit.max_lifetime_ms;
    shared->default_hop_limit = (uint8_t)conf->forwarding.default_hop_limit;
    shared->unsolicited = (uint8_t)conf->cs.unsolicited;
    shared->face_share = (uint32_t)RTE_MAX(1.0, conf->pit.face_share * conf->pit.capacity);
    struct fib_config fib = {.capacity = conf->fib.capacity, .key = &shared->name_key, .qsbr = daemon->qsbr};
    rc = fib_create(&shared->fib, &fib);
    if (rc == 0)
        rc = start_regions(daemon);
    if (rc == 0)
        rc = face_table_create(&shared->faces, daemon->qsbr);
    if (rc == 0 && daemon->n_workers > 1)
        rc = dispatch_create(&shared->dispatch, daemon->n_workers, (uint8_t)conf->workers.dispatch_components);
    if (rc != 0)
        log_error("no memory for the tables: %s\n", strerror(-rc));
    return rc != 0 ? -1 : 0;
}

void tables_destroy(struct daemon *daemon)
{
    dispatch_destroy(daemon->shared.dispatch);
    if (daemon->shared.faces != NULL)
        face_table_destroy(daemon->shared.faces);
    if (daemon->shared.fib != NULL)
        fib_destroy(daemon->shared.fib);
    strategy_set_destroy(daemon->strategies);
    stop_regions(daemon);
    free(daemon->face_id);
    rte_mempool_free(daemon->pool);
    free(daemon->qsbr);
}

void tables_port_config(const struct conf_port *from, struct port_config *config)
{
    *config = (struct port_config){
        .name = from->name,
        .device = from->device,
        .netdev = from->netdev,
        .mtu = (uint16_t)from->mtu,
        .n_queues = (uint16_t)from->queues,
        .rx_desc = (uint16_t)from->rx_desc,
        .tx_desc = (uint16_t)from->tx_desc,
        .bare = from->bare,
        .promiscuous = from->promiscuous,
        .rx_csum = from->checksum == CONF_CHECKSUM_VERIFY,
        .udp_on_demand = from->udp_on_demand,
        .udp_idle_ms = from->udp_idle_ms,
        .ip4_prefix_len = from->ip4_prefix_len,
    };
    memcpy(config->udp_ports, from->udp_ports, sizeof config->udp_ports);
    memcpy(config->ip4, from->ip4, sizeof config->ip4);
    memcpy(config->ip6, from->ip6, sizeof config->ip6);
}

static int start_face(struct daemon *daemon, unsigned i)
{
    const struct conf *conf = daemon->conf;
    const struct conf_face *from = &conf->face[i];
    struct port *port = &daemon->port[from->port];
    // Of a DPDK device the name, without its arguments.
    char dev[64];
    const char *device = port->config.netdev != NULL ? port->config.netdev : port->config.device;
    snprintf(dev, sizeof dev, "%.*s", (int)strcspn(device, ","), device);
    struct face_config config = {
        .name = from->name,
        .dev = dev,
        .port = port->index,
        .kind = (uint8_t)from->kind,
        .scope = (uint8_t)from->scope,
        .link_type = (uint8_t)from->link_type,
        .persistency = (uint8_t)from->persistency,
        .flags = (uint8_t)((from->local_fields ? FACE_LOCAL_FIELDS : 0) | (from->reliability ? FACE_RELIABILITY : 0) |
                           (from->congestion_marking ? FACE_CONGESTION_MARKING : 0)),
        .mac_static = from->mac_static,
        .vlan = (uint16_t)from->vlan,
        .mtu = (uint16_t)from->mtu,
        .local_udp = from->local_udp,
        .remote_udp = from->remote_udp,
    };
    memcpy(config.local_mac, from->has_local_mac ? from->local_mac : port->mac, 6);
    memcpy(config.remote_mac, from->remote_mac, 6);
    memcpy(config.local_ip, from->local_ip, 16);
    memcpy(config.remote_ip, from->remote_ip, 16);
    memcpy(config.next_hop, from->next_hop, 16);
    uint32_t id;
    int rc = face_add(daemon->shared.faces, &config, port->mtu, &id);
    if (rc == 0)
        rc = port_face_add(port, face_get(daemon->shared.faces, id));
    if (rc == 0)
        rc = daemon->replay != NULL ? replay_face_add(daemon, id) : monitor_face_add(daemon->monitor, id);
    if (rc != 0) {
        log_error("%s:%u: face %s: %s\n", AT(conf, from, "remote"), from->name,
                  rc == -ENOTSUP ? "this port has no kernel neighbours: give the next hop's address with mac"
                                 : strerror(-rc));
        return -1;
    }
    daemon->face_id[i] = id;
    return 0;
}

int tables_faces(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    daemon->face_id = calloc(conf->n_faces + 1, sizeof *daemon->face_id);
    if (daemon->face_id == NULL)
        return no_memory();
    for (unsigned i = 0; i < conf->n_faces; i++)
        if (start_face(daemon, i) != 0)
            return -1;
    return 0;
}

/* Choices that NFD's configuration comes with; those of ours take their place. @return 0, negative errno */
static int usual_strategies(struct daemon *daemon)
{
    static const char *const usual[][2] = {
        {"/", "best-route"}, {"/localhost", "multicast"}, {"/localhost/nfd", "best-route"}};
    for (unsigned i = 0; i < RTE_DIM(usual); i++) {
        char uri[64], why[128];
        uint8_t prefix[64], name[64];
        uint16_t number;
        snprintf(uri, sizeof uri, "/localhost/nfd/strategy/%s", usual[i][1]);
        int prefix_len = ndn_name_from_uri(usual[i][0], prefix, sizeof prefix);
        int len = ndn_name_from_uri(uri, name, sizeof name);
        int rc = strategy_set_instance(daemon->strategies, name, (uint16_t)len, &number, why);
        if (rc == 0)
            rc = fib_strategy_set(daemon->shared.fib, prefix, (uint16_t)prefix_len, number);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int tables_strategies(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    if (strategy_set_create(&daemon->strategies) != 0 || usual_strategies(daemon) != 0)
        return no_memory();
    daemon->shared.strategies = strategy_set_list(daemon->strategies);
    for (unsigned i = 0; i < conf->n_strategies; i++) {
        const struct conf_strategy *from = &conf->strategy[i];
        uint16_t number;
        char why[128];
        uint8_t name[NDN_NAME_MAX];
        uint16_t len = prefix_octets(from->prefix, name);
        int rc = strategy_set_instance_conf(daemon->strategies, from, &number, why);
        if (rc == 0 && (rc = fib_strategy_set(daemon->shared.fib, name, len, number)) != 0)
            snprintf(why, sizeof why, "%s", strerror(-rc));
        if (rc != 0) {
            log_error("%s:%u: strategy of %s: %s\n", AT(conf, from, "prefix"), from->prefix, why);
            return -1;
        }
    }
    return 0;
}

int tables_routes(struct daemon *daemon)
{
    const struct conf *conf = daemon->conf;
    unsigned failed;
    int rc = rib_add_configured(daemon->manage.rib, conf, daemon->face_id, &failed);
    if (rc == 0)
        return 0;
    const struct conf_route *from = &conf->route[failed];
    log_error("%s:%u: route %s: %s\n", AT(conf, from, "prefix"), from->prefix,
              rc == -ENOSPC ? "the FIB holds no more prefixes" : strerror(-rc));
    return -1;
}

/* Flow tables of QUIC services, by their slot. */
static void quic_flows(const struct daemon *daemon, struct flow_config flows[QUIC_SERVICES_MAX])
{
    const struct conf *conf = daemon->conf;
    const struct quic_set *set = atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
    for (unsigned i = 0; set != NULL && i < set->n_services; i++)
        flows[set->service[i].slot] = (struct flow_config){.capacity = conf->quic[i].flow_table,
                                                           .idle_ms = conf->quic[i].flow_idle_ms,
                                                           .keep_ms = conf->quic[i].flow_keep_ms};
}

int tables_fwd_config(const struct daemon *daemon, uint16_t w, struct fwd_config *config)
{
    const struct conf *conf = daemon->conf;
    enum arena_pages pages = conf->memory.hugepages == CONF_HUGEPAGES_NO ? ARENA_PAGES_SMALL : ARENA_PAGES_AUTO;
    uint64_t seed;
    int rc = random_octets(&seed, sizeof seed);
    if (rc != 0)
        return no_random(rc);
    *config = (struct fwd_config){
        .shared = &daemon->shared,
        .worker = w,
        .pit = {.capacity = conf->pit.capacity, .pages = pages},
        .cs = {.capacity = conf->cs.capacity,
               .capacity_max = conf->cs.capacity_max,
               .policy = conf->cs.policy == CONF_CS_LRU ? CS_LRU : CS_PRIORITY_FIFO,
               .pages = pages},
        .reass = {.max_messages = conf->lp.messages,
                  .max_per_face = conf->lp.per_face,
                  .max_bytes = (uint32_t)conf->lp.budget,
                  .max_fragments = (uint16_t)conf->lp.max_fragments,
                  .timeout_ms = conf->lp.timeout_ms,
                  .pages = pages},
        .dnl_capacity = conf->pit.dead_nonce_capacity,
        .reliable_faces = conf->lp.reliable_faces,
        .reliable_packets = conf->lp.unacknowledged,
        .pages = pages,
        .pool = daemon->pool,
        // A reload may add services.
        .quic = true,
        .seed = seed,
    };
    quic_flows(daemon, config->quic_flow);
    return 0;
}
