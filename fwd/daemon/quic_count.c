// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/quic_count.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/daemon/daemon.h"

int quic_count_create(struct daemon *daemon)
{
    daemon->quic.before = calloc(1, sizeof *daemon->quic.before);
    return daemon->quic.before != NULL ? 0 : -ENOMEM;
}

void quic_count_destroy(struct daemon *daemon)
{
    free(daemon->quic.before);
    daemon->quic.before = NULL;
}

/* Counters of a worker, NULL when it does not run yet. Pairs with the release when it became ready. */
static const struct quic_stats *stats_of(const struct worker *worker)
{
    if (!atomic_load_explicit(&worker->ready, memory_order_acquire) || worker->fwd == NULL || worker->fwd->quic == NULL)
        return NULL;
    return &worker->fwd->quic->stats;
}

static void sum_service(const struct daemon *daemon, uint16_t slot, struct quic_stats_service *sum)
{
    *sum = (struct quic_stats_service){0};
    for (unsigned w = 0; w < daemon->n_workers; w++) {
        const struct quic_stats *stats = stats_of(&daemon->worker[w]);
        if (stats == NULL)
            continue;
#define STAT(field, name, text) sum->field += stats_read(&stats->service[slot].field);
        STATS_QUIC(STAT)
#undef STAT
    }
}

static void sum_server(const struct daemon *daemon, uint16_t slot, uint16_t server, struct quic_stats_server *sum)
{
    *sum = (struct quic_stats_server){0};
    for (unsigned w = 0; w < daemon->n_workers; w++) {
        const struct quic_stats *stats = stats_of(&daemon->worker[w]);
        if (stats == NULL)
            continue;
        sum->packets += stats_read(&stats->server[slot][server].packets);
        sum->bytes += stats_read(&stats->server[slot][server].bytes);
        sum->initials += stats_read(&stats->server[slot][server].initials);
    }
}

static const struct quic_service *same_service(const struct quic_set *set, const struct quic_service *service)
{
    for (unsigned i = 0; set != NULL && i < set->n_services; i++)
        if (set->service[i].slot == service->slot && strcmp(set->service[i].name, service->name) == 0)
            return &set->service[i];
    return NULL;
}

static bool has_server(const struct quic_service *service, const struct quic_server *server)
{
    for (unsigned i = 0; service != NULL && i < service->n_servers; i++)
        if (service->server[i].slot == server->slot && strcmp(service->server[i].name, server->name) == 0)
            return true;
    return false;
}

void quic_count_begin(struct daemon *daemon, const struct quic_set *set)
{
    const struct quic_set *old = atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
    struct quic_stats *before = daemon->quic.before;
    for (unsigned i = 0; set != NULL && i < set->n_services; i++) {
        const struct quic_service *service = &set->service[i], *same = same_service(old, service);
        if (same == NULL)
            sum_service(daemon, service->slot, &before->service[service->slot]);
        for (unsigned k = 0; k < service->n_servers; k++) {
            const struct quic_server *server = &service->server[k];
            if (!has_server(same, server))
                sum_server(daemon, service->slot, server->slot, &before->server[service->slot][server->slot]);
        }
    }
}

void quic_count_service(const struct daemon *daemon, uint16_t slot, struct quic_stats_service *sum)
{
    const struct quic_stats_service *before = &daemon->quic.before->service[slot];
    sum_service(daemon, slot, sum);
#define STAT(field, name, text) sum->field -= before->field;
    STATS_QUIC(STAT)
#undef STAT
}

void quic_count_server(const struct daemon *daemon, uint16_t slot, uint16_t server, struct quic_stats_server *sum)
{
    const struct quic_stats_server *before = &daemon->quic.before->server[slot][server];
    sum_server(daemon, slot, server, sum);
    sum->packets -= before->packets;
    sum->bytes -= before->bytes;
    sum->initials -= before->initials;
}
