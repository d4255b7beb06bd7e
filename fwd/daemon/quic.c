// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/quic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_rcu_qsbr.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/daemon/quic_count.h"
#include "fwd/daemon/replay.h"
#include "fwd/quic/build.h"

static struct quic_set *published(const struct daemon *daemon)
{
    return atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
}

/* Publish a set; the old one goes after a grace period. */
static int publish(struct daemon *daemon, struct quic_set *set)
{
    struct quic_set *old = published(daemon);
    struct daemon_quic_retired *retired = NULL;
    if (old != NULL) {
        retired = malloc(sizeof *retired);
        if (retired == NULL)
            return -ENOMEM;
    }
    // Pairs with the workers' load: who sees the set sees all of it.
    atomic_store_explicit(&daemon->shared.quic, set, memory_order_release);
    if (retired != NULL) {
        *retired = (struct daemon_quic_retired){
            .next = daemon->quic.retired, .set = old, .token = rte_rcu_qsbr_start(daemon->qsbr)};
        daemon->quic.retired = retired;
    }
    return 0;
}

static void reclaim(struct daemon *daemon)
{
    struct daemon_quic_retired **at = &daemon->quic.retired;
    while (*at != NULL) {
        struct daemon_quic_retired *retired = *at;
        if (rte_rcu_qsbr_check(daemon->qsbr, retired->token, false) != 1) {
            at = &retired->next;
            continue;
        }
        *at = retired->next;
        quic_set_destroy(retired->set);
        free(retired);
    }
}

/* ---- ways and health ---- */

static struct quic_server *server_of(struct quic_set *set, const struct daemon_quic_server *server)
{
    return &set->service[server->service].server[server->server];
}

/* What is known of the way goes into the set. @return true when other servers are to get new connections */
static bool take_way(struct quic_set *set, const struct daemon_quic_server *from, bool silent)
{
    struct quic_server *server = server_of(set, from);
    const struct monitor_hop *hop = from->hop;
    uint64_t mac = 0;
    if (hop->port != NULL) {
        atomic_store_explicit(&server->port, hop->port->index, memory_order_relaxed);
        atomic_store_explicit(&server->mtu, hop->port->mtu, memory_order_relaxed);
        static const uint8_t unknown[6];
        if (memcmp(hop->mac, unknown, sizeof unknown) != 0)
            mac = quic_next_hop(hop->mac, hop->vlan);
    }
    // The last address known stays when there is no answer: only ARP may have been lost.
    if (mac != 0 || hop->port == NULL)
        atomic_store_explicit(&server->mac, mac, memory_order_relaxed);
    bool unhealthy = hop->failed || silent, joined = server->joining && mac != 0;
    server->joining &= mac == 0;
    if (unhealthy == server->unhealthy)
        return joined;
    atomic_store_explicit(&server->unhealthy, unhealthy, memory_order_relaxed);
    const char *service = set->service[from->service].name;
    if (unhealthy)
        log_warning("quic %s: server %s gets no new connections: %s\n", service, server->name,
                    hop->port == NULL ? "there is no way to it by a port"
                    : hop->failed     ? "its next hop does not answer"
                                      : "it does not answer probes");
    else
        log_info("quic %s: server %s is healthy\n", service, server->name);
    return true;
}

static bool take_ways(struct daemon_quic *quic, struct quic_set *set)
{
    bool changed = false;
    for (unsigned i = 0; set != NULL && i < quic->n_servers; i++)
        changed |= take_way(set, &quic->server[i], quic->target[i].silent);
    return changed;
}

static int hop_add(struct daemon *daemon, const struct monitor_hop_config *config, const struct monitor_hop **hop)
{
    return daemon->replay != NULL ? replay_hop_add(daemon, config, hop) : monitor_hop_add(daemon->monitor, config, hop);
}

static void hop_remove(struct daemon *daemon, const struct monitor_hop *hop)
{
    if (daemon->replay != NULL)
        replay_hop_remove(hop);
    else
        monitor_hop_remove(daemon->monitor, hop);
}

static void forget_servers(struct daemon *daemon, struct daemon_quic_server *servers, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        hop_remove(daemon, servers[i].hop);
    free(servers);
}

/* Begin to watch the servers of a configuration. @return 0, negative errno */
static int watch_servers(struct daemon *daemon, const struct conf *conf, struct daemon_quic_server **out)
{
    uint16_t n_of[QUIC_SERVICES_MAX] = {0};
    struct daemon_quic_server *servers = calloc(conf->n_quic_servers + 1u, sizeof *servers);
    if (servers == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < conf->n_quic_servers; i++) {
        const struct conf_quic_server *from = &conf->quic_server[i];
        struct monitor_hop_config config = {
            .family = from->v6 ? AF_INET6 : AF_INET,
            .port = from->port_name != NULL ? &daemon->port[from->port] : NULL,
            .vlan = (uint16_t)from->vlan,
            .mac_static = from->mac_text != NULL,
        };
        memcpy(config.ip, from->ip, sizeof config.ip);
        memcpy(config.mac, from->mac, sizeof config.mac);
        servers[i].service = (uint16_t)from->service;
        servers[i].server = n_of[from->service]++;
        int rc = hop_add(daemon, &config, &servers[i].hop);
        if (rc != 0) {
            forget_servers(daemon, servers, i);
            return rc;
        }
    }
    *out = servers;
    return 0;
}

/* UDP port that servers of a service listen at: that of its first virtual address. */
static uint16_t port_of(const struct conf_quic *quic)
{
    uint8_t ip[16];
    bool v6;
    uint16_t port = 0;
    conf_quic_vip(quic->vip[0], ip, &v6, &port);
    return port;
}

/* What a server answered, or did not, before the configuration was read again. */
static void keep_answers(const struct daemon *daemon, const char *service_name, const char *name,
                         struct quic_probe_target *target)
{
    const struct quic_set *old = published(daemon);
    for (unsigned k = 0; old != NULL && k < daemon->quic.n_servers; k++) {
        const struct daemon_quic_server *from = &daemon->quic.server[k];
        const struct quic_service *service = &old->service[from->service];
        const struct quic_probe_target *before = &daemon->quic.target[k];
        if (strcmp(service->server[from->server].name, name) != 0 || strcmp(service->name, service_name) != 0 ||
            before->interval_ms == 0 || memcmp(before->ip, target->ip, sizeof target->ip) != 0)
            continue;
        target->silent = before->silent;
        target->failures = before->failures;
    }
}

static struct quic_probe_target *make_targets(const struct daemon *daemon, const struct conf *conf)
{
    struct quic_probe_target *targets = calloc(conf->n_quic_servers + 1u, sizeof *targets);
    for (unsigned i = 0; targets != NULL && i < conf->n_quic_servers; i++) {
        const struct conf_quic_server *from = &conf->quic_server[i];
        const struct conf_quic *quic = &conf->quic[from->service];
        targets[i] = (struct quic_probe_target){
            .v6 = from->v6,
            .port = port_of(quic),
            .interval_ms = from->state != CONF_QUIC_DOWN ? quic->probe_interval_ms : 0,
            .timeout_ms = quic->probe_timeout_ms,
            .failures_max = quic->probe_failures,
        };
        memcpy(targets[i].ip, from->ip, sizeof targets[i].ip);
        if (targets[i].interval_ms != 0)
            keep_answers(daemon, quic->name, from->name, &targets[i]);
    }
    return targets;
}

/* ---- virtual addresses ---- */

int daemon_quic_port(const struct daemon *daemon, struct port *port)
{
    const struct quic_set *set = published(daemon);
    struct port_vip vips[QUIC_VIPS_MAX];
    unsigned n = set != NULL ? set->n_vips : 0;
    _Static_assert(QUIC_VIPS_MAX <= PORT_VIPS_MAX, "all of them");
    memset(vips, 0, sizeof vips);
    for (unsigned i = 0; i < n; i++) {
        memcpy(vips[i].ip, set->vip[i].ip, sizeof vips[i].ip);
        vips[i].v6 = set->vip[i].v6;
        vips[i].port_be = set->vip[i].port_be;
    }
    int rc = port_quic_vips(port, vips, n);
    if (rc != 0)
        log_error("port %s: cannot take packets for virtual addresses: %s\n", port->config.name, strerror(-rc));
    return rc;
}

int daemon_quic_ports(const struct daemon *daemon)
{
    int rc = 0;
    for (uint16_t p = 0; p < daemon->n_ports; p++)
        if (!(daemon->closed & 1ull << p)) {
            int failed = daemon_quic_port(daemon, daemon->shared.port[p]);
            rc = rc == 0 ? failed : rc;
        }
    return rc;
}

/* ---- publication ---- */

int daemon_quic_replace(struct daemon *daemon, const struct conf *conf, struct quic_set *set)
{
    struct daemon_quic *quic = &daemon->quic;
    struct daemon_quic fresh = {.n_servers = conf->n_quic_servers};
    fresh.target = make_targets(daemon, conf);
    int rc = fresh.target != NULL ? watch_servers(daemon, conf, &fresh.server) : -ENOMEM;
    if (rc != 0) {
        free(fresh.target);
        quic_set_destroy(set);
        return rc;
    }
    struct quic_set *again = NULL;
    fresh.behind = take_ways(&fresh, set);
    if (fresh.behind && quic_set_again(&again, set) == 0) {
        quic_set_destroy(set);
        set = again;
        fresh.behind = false;
    }
    quic_count_begin(daemon, set);
    rc = publish(daemon, set);
    if (rc != 0) {
        forget_servers(daemon, fresh.server, fresh.n_servers);
        free(fresh.target);
        quic_set_destroy(set);
        return rc;
    }
    forget_servers(daemon, quic->server, quic->n_servers);
    free(quic->target);
    quic->server = fresh.server;
    quic->target = fresh.target;
    quic->n_servers = fresh.n_servers;
    quic->behind = fresh.behind;
    return 0;
}

void daemon_quic_follow(struct daemon *daemon)
{
    struct daemon_quic *quic = &daemon->quic;
    struct quic_set *set = published(daemon), *again;
    reclaim(daemon);
    quic_probe_round(&quic->probe, quic->target, quic->n_servers, worker_now_ns() / 1000000);
    bool was_behind = quic->behind;
    quic->behind |= take_ways(quic, set);
    if (!quic->behind)
        return;
    int rc = quic_set_again(&again, set);
    if (rc == 0 && (rc = publish(daemon, again)) != 0)
        quic_set_destroy(again);
    quic->behind = rc != 0;
    if (quic->behind && !was_behind)
        log_error("quic: no memory to leave out servers that are not healthy; tried again\n");
}

/* ---- start and stop ---- */

int daemon_quic_start(struct daemon *daemon)
{
    struct quic_set *set;
    quic_lb_decode_init();
    if (daemon->replay == NULL)
        quic_probe_open(&daemon->quic.probe);
    daemon->quic.started = true;
    int rc = quic_count_create(daemon);
    if (rc == 0)
        rc = quic_set_build(&set, daemon->conf, NULL, worker_now_ns(), stderr);
    if (rc == 0 && set != NULL)
        rc = daemon_quic_replace(daemon, daemon->conf, set);
    if (rc == 0 && set != NULL)
        rc = daemon_quic_ports(daemon);
    if (rc != 0)
        log_error("QUIC services cannot be made: %s\n", strerror(-rc));
    return rc != 0 ? -1 : 0;
}

void daemon_quic_stop(struct daemon *daemon)
{
    struct daemon_quic *quic = &daemon->quic;
    if (!quic->started)
        return;
    if (daemon->replay == NULL)
        quic_probe_close(&quic->probe);
    free(quic->target);
    forget_servers(daemon, quic->server, quic->n_servers);
    while (quic->retired != NULL) {
        struct daemon_quic_retired *retired = quic->retired;
        quic->retired = retired->next;
        quic_set_destroy(retired->set);
        free(retired);
    }
    quic_set_destroy(published(daemon));
    quic_count_destroy(daemon);
}
