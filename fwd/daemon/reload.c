// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"
#include "fwd/quic/build.h"

/* The service manager waits for READY=1 (sd_notify(3)). */
static void tell_reloading(void)
{
    char state[64];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
             (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
    notify(state);
}

/* Servers name ports of the new file: find them among those that are open. @return number of those that are not */
static unsigned find_ports(const struct daemon *daemon, struct conf *wanted, FILE *faults)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < wanted->n_quic_servers; i++) {
        struct conf_quic_server *server = &wanted->quic_server[i];
        unsigned p = 0;
        if (server->port_name == NULL)
            continue;
        while (p < daemon->conf->n_ports && strcmp(daemon->conf->port[p].name, server->port_name) != 0)
            p++;
        if (p < daemon->conf->n_ports) {
            server->port = p;
            continue;
        }
        struct conf_at at = conf_key_at(wanted, server, "port");
        fprintf(faults, "%s:%u: quic-server.%s.port: port %s is not open; restart needed to open it\n", at.file,
                at.line, server->name, server->port_name);
        missing++;
    }
    return missing;
}

/* Has a place of counters the flow table that a service is configured with, or neither any? */
static bool flows_fit(const struct conf_quic *quic, const struct flow_config *flow)
{
    return quic->flow_table == flow->capacity &&
           (flow->capacity == 0 || (quic->flow_idle_ms == flow->idle_ms && quic->flow_keep_ms == flow->keep_ms));
}

static bool has_place(const struct quic_set *set, uint16_t slot)
{
    for (unsigned i = 0; set != NULL && i < set->n_services; i++)
        if (set->service[i].slot == slot)
            return true;
    return false;
}

static bool has_service(const struct quic_set *set, const char *name)
{
    for (unsigned i = 0; set != NULL && i < set->n_services; i++)
        if (strcmp(set->service[i].name, name) == 0)
            return true;
    return false;
}

/*
 * Flow tables belong to places, and were made at start: a service that is new takes one of those that fit it, rather
 * one that no service had before.
 */
static void find_places(const struct daemon *daemon, const struct conf *wanted, struct quic_set *set)
{
    const struct quic_set *old = atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
    const struct flow_config *flows = daemon->worker[0].config.fwd.quic_flow;
    for (unsigned i = 0; set != NULL && i < set->n_services; i++) {
        struct quic_service *service = &set->service[i];
        if (has_service(old, service->name) || flows_fit(&wanted->quic[i], &flows[service->slot]))
            continue;
        int found = -1;
        for (int slot = QUIC_SERVICES_MAX - 1; slot >= 0; slot--) {
            bool fits = flows_fit(&wanted->quic[i], &flows[slot]) && !has_place(set, (uint16_t)slot);
            if (fits && (found < 0 || !has_place(old, (uint16_t)slot)))
                found = slot;
        }
        if (found >= 0)
            service->slot = (uint16_t)found;
    }
}

/* A service that is new has no flow table, unless its place of counters had one. */
static void find_flow_tables(const struct daemon *daemon, struct quic_set *set)
{
    for (unsigned i = 0; set != NULL && i < set->n_services; i++)
        set->service[i].flow_table &= daemon->worker[0].config.fwd.quic_flow[set->service[i].slot].capacity != 0;
}

/* What stays as it was at start. @return number of settings */
static unsigned needs_restart(const struct daemon *daemon, const struct conf *wanted, const struct quic_set *set,
                              const char *path, FILE *out)
{
    static const char *const sections[] = {"face", "strategy"};
    unsigned n = conf_restart_needed(daemon->conf, wanted, out);
    for (unsigned i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (!conf_section_differs(daemon->conf, wanted, sections[i]))
            continue;
        fprintf(out, "%s:1: %s: restart needed to change what is configured\n", path, sections[i]);
        n++;
    }
    const struct flow_config *flows = daemon->worker[0].config.fwd.quic_flow;
    for (unsigned i = 0; set != NULL && i < set->n_services; i++) {
        const struct conf_quic *quic = &wanted->quic[i];
        const struct flow_config *flow = &flows[set->service[i].slot];
        if (flows_fit(quic, flow))
            continue;
        struct conf_at at = conf_key_at(wanted, quic, "flow-table");
        fprintf(out, "%s:%u: quic.%s.flow-table: restart needed to change it\n", at.file, at.line, quic->name);
        n++;
    }
    return n;
}

static int apply(struct daemon *daemon, struct conf *wanted, struct quic_set *set)
{
    pthread_mutex_lock(&daemon->lock);
    int rc = daemon_quic_replace(daemon, wanted, set);
    if (rc == 0) {
        // A port that refuses is told of; others have the new addresses.
        daemon_quic_ports(daemon);
        const struct conf *before = daemon->reloaded != NULL ? daemon->reloaded : daemon->conf;
        // A FIB that is full is told of, too.
        if (daemon_reload_routes(daemon, before, wanted) == -ENOMEM)
            log_error("no memory for routes\n");
        log_set_level(wanted->daemon.log_level);
        conf_free(daemon->reloaded);
        daemon->reloaded = wanted;
    }
    pthread_mutex_unlock(&daemon->lock);
    return rc;
}

int daemon_reload(struct daemon *daemon, const char *path)
{
    struct conf *wanted = NULL;
    struct quic_set *set = NULL;
    char *faults = NULL, *restart = NULL;
    size_t size, restart_size;
    FILE *out = open_memstream(&faults, &size), *restart_out = open_memstream(&restart, &restart_size);
    tell_reloading();
    int rc = out == NULL || restart_out == NULL ? -ENOMEM : conf_load(path, &wanted, out);
    if (rc == 0 && (daemon_check(wanted, out) != 0 || find_ports(daemon, wanted, out) != 0))
        rc = -EINVAL;
    unsigned n_restart = 0;
    if (rc == 0) {
        const struct quic_set *old = atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
        rc = quic_set_build(&set, wanted, old, worker_now_ns(), out);
        if (rc == 0) {
            find_places(daemon, wanted, set);
            find_flow_tables(daemon, set);
            n_restart = needs_restart(daemon, wanted, set, path, restart_out);
        }
    }
    if (rc == 0)
        rc = apply(daemon, wanted, set);
    if (out != NULL)
        fclose(out);
    if (restart_out != NULL)
        fclose(restart_out);
    if (faults != NULL)
        log_lines(faults, rc != 0);
    if (rc != 0) {
        conf_free(wanted);
        log_error("%s: not reloaded, the configuration stays as it was: %s\n", path,
                  rc == -EINVAL ? "it has faults" : strerror(-rc));
    } else {
        log_lines(restart, false);
        log_info("%s: reloaded: %u QUIC services with %u servers%s\n", path, wanted->n_quics, wanted->n_quic_servers,
                 n_restart > 0 ? "; other changes need a restart" : "");
    }
    free(faults);
    free(restart);
    notify("READY=1");
    return rc != 0 ? -1 : 0;
}
