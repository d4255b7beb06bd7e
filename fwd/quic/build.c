// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/build.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/quic/key_file.h"
#include "parser/random.h"

struct build {
    const struct conf *conf;
    const struct quic_set *old;
    uint64_t now_ns;
    FILE *faults;
    unsigned n_faults;
};

static void fault(struct build *build, const void *item, const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void fault(struct build *build, const void *item, const char *key, const char *format, ...)
{
    build->n_faults++;
    if (build->faults == NULL)
        return;
    struct conf_at at = conf_key_at(build->conf, item, key);
    va_list args;
    va_start(args, format);
    fprintf(build->faults, "%s:%u: ", at.file, at.line);
    vfprintf(build->faults, format, args);
    putc('\n', build->faults);
    va_end(args);
}

/* ---- places of counters ---- */

static const struct quic_service *old_service(const struct quic_set *old, const char *name)
{
    for (unsigned i = 0; old != NULL && i < old->n_services; i++)
        if (strcmp(old->service[i].name, name) == 0)
            return &old->service[i];
    return NULL;
}

static const struct quic_server *old_server(const struct quic_service *old, const char *name)
{
    for (unsigned i = 0; old != NULL && i < old->n_servers; i++)
        if (strcmp(old->server[i].name, name) == 0)
            return &old->server[i];
    return NULL;
}

/* A place that none of @p taken has; rather one that none of @p before had either. There are enough of them. */
static uint16_t free_slot(const bool *taken, const bool *before, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!taken[i] && !before[i])
            return (uint16_t)i;
    unsigned i = 0;
    while (i + 1 < n && taken[i])
        i++;
    return (uint16_t)i;
}

static void service_slots(struct quic_set *set, const struct quic_set *old)
{
    bool taken[QUIC_SERVICES_MAX] = {0}, before[QUIC_SERVICES_MAX] = {0};
    for (unsigned i = 0; old != NULL && i < old->n_services; i++)
        before[old->service[i].slot] = true;
    for (unsigned i = 0; i < set->n_services; i++) {
        const struct quic_service *same = old_service(old, set->service[i].name);
        if (same != NULL)
            taken[set->service[i].slot = same->slot] = true;
    }
    for (unsigned i = 0; i < set->n_services; i++)
        if (old_service(old, set->service[i].name) == NULL) {
            set->service[i].slot = free_slot(taken, before, QUIC_SERVICES_MAX);
            taken[set->service[i].slot] = true;
        }
}

static void server_slots(struct quic_service *service, const struct quic_service *old)
{
    bool taken[QUIC_SERVERS_MAX] = {0}, before[QUIC_SERVERS_MAX] = {0};
    for (unsigned i = 0; old != NULL && i < old->n_servers; i++)
        before[old->server[i].slot] = true;
    for (unsigned i = 0; i < service->n_servers; i++) {
        const struct quic_server *same = old_server(old, service->server[i].name);
        if (same != NULL)
            taken[service->server[i].slot = same->slot] = true;
    }
    for (unsigned i = 0; i < service->n_servers; i++)
        if (old_server(old, service->server[i].name) == NULL) {
            service->server[i].slot = free_slot(taken, before, QUIC_SERVERS_MAX);
            taken[service->server[i].slot] = true;
        }
}

/* ---- rules of connection IDs ---- */

static void build_config(struct build *build, struct quic_lb *lb, const struct conf_quic_config *from)
{
    struct quic_lb_config config = {
        .server_id_len = (uint8_t)from->server_id_len,
        .nonce_len = (uint8_t)from->nonce_len,
        .encrypted = from->key_file != NULL,
    };
    char err[KEY_FILE_ERR_MAX];
    if (from->key_file != NULL && key_file_read(from->key_file, config.key, err) != 0)
        fault(build, from, "key-file", "quic-config.key-file: %s", err);
    else if (quic_lb_add_config(lb, (uint8_t)from->id, &config) != 0)
        fault(build, from, "id", "quic-config: cannot be used together with what is before it");
    explicit_bzero(&config, sizeof config);
}

static void build_rules(struct build *build, struct quic_lb *lb, unsigned service)
{
    const struct conf *conf = build->conf;
    for (unsigned i = 0; i < conf->n_quic_configs; i++)
        if (conf->quic_config[i].service == service)
            build_config(build, lb, &conf->quic_config[i]);
    for (unsigned i = 0; i < conf->n_quic_schemes; i++) {
        const struct conf_quic_scheme *from = &conf->quic_scheme[i];
        struct quic_lb_scheme scheme = {
            .mask = (uint8_t)from->mask,
            .value = (uint8_t)from->value,
            .offset_bits = (uint8_t)from->offset_bits,
            .bits = (uint8_t)from->bits,
        };
        if (from->service == service && quic_lb_add_scheme(lb, &scheme) != 0)
            fault(build, from, "value", "quic-scheme: cannot be used together with what is before it");
    }
}

/* ---- servers ---- */

/* Names a server for good, to every forwarder: FNV-1a. */
static uint64_t name_hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name != '\0'; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h;
}

/*
 * Servers of new connections: the healthy ones, when packets can be sent to them; all that are up when there are none,
 * for a probe may be wrong.
 */
static int build_maglev(struct quic_service *service)
{
    struct maglev_backend *backends = calloc(service->n_servers + 1u, sizeof *backends);
    service->maglev_server = calloc(service->n_servers + 1u, sizeof *service->maglev_server);
    int rc = backends == NULL || service->maglev_server == NULL ? -ENOMEM : 0;
    unsigned n = 0;
    for (int any = 0; rc == 0 && n == 0 && any < 2; any++)
        for (unsigned i = 0; i < service->n_servers; i++) {
            const struct quic_server *server = &service->server[i];
            if (server->state != QUIC_UP || ((server->unhealthy || server->joining) && !any))
                continue;
            backends[n] = (struct maglev_backend){.id = name_hash(server->name), .weight = server->weight};
            service->maglev_server[n++] = (uint16_t)i;
        }
    if (rc == 0 && n > 0)
        rc = maglev_create(&service->maglev, MAGLEV_SIZE_DEFAULT, backends, n, ARENA_PAGES_AUTO);
    free(backends);
    return rc;
}

static void build_server(struct quic_server *server, const struct conf_quic_server *from,
                         const struct quic_service *service_before)
{
    const struct quic_server *old = old_server(service_before, from->name);
    *server = (struct quic_server){.state = (uint8_t)from->state, .v6 = from->v6, .weight = from->weight};
    memcpy(server->ip, from->ip, sizeof server->ip);
    snprintf(server->name, sizeof server->name, "%s", from->name);
    bool same = old != NULL && old->v6 == server->v6 && memcmp(old->ip, server->ip, sizeof server->ip) == 0;
    uint64_t mac = 0;
    if (from->mac_text != NULL)
        mac = quic_next_hop(from->mac, (uint16_t)from->vlan);
    else if (same && (from->port_name == NULL || old->mac >> 48 == from->vlan))
        mac = old->mac;
    server->mac = mac;
    server->port = from->port_name != NULL ? (uint16_t)from->port : old != NULL ? old->port : 0;
    server->mtu = old != NULL ? old->mtu : 0;
    server->unhealthy = old != NULL && old->unhealthy;
    // At the start no way is known, which is no reason to prefer any server.
    server->joining = mac == 0 && (same ? old->joining : service_before != NULL);
}

static int build_ids(struct build *build, struct quic_service *service, const struct conf_quic_server *const from[])
{
    uint32_t places = 8;
    while (places < 2u * QUIC_SERVER_IDS_MAX * service->n_servers)
        places *= 2;
    service->id_slot = calloc(places, sizeof *service->id_slot);
    if (service->id_slot == NULL)
        return -ENOMEM;
    service->id_mask = places - 1;
    for (unsigned i = 0; i < service->n_servers; i++) {
        struct quic_server *server = &service->server[i];
        for (unsigned k = 0; k < from[i]->n_ids; k++) {
            uint8_t octets[16];
            struct quic_lb_id id = {.len = (uint8_t)conf_quic_id(from[i]->id[k], octets)};
            memcpy(id.octets, octets, sizeof id.octets);
            // The map looks at the IDs that servers have, of which this is none yet.
            if (id.len == 0 || !quic_service_add_id(service, &id, (uint16_t)i))
                fault(build, from[i], "id", "quic-server.%s.id: another server has this ID", from[i]->name);
            else
                server->id[server->n_ids++] = id;
        }
    }
    return 0;
}

static int build_servers(struct build *build, struct quic_service *service, unsigned index,
                         const struct quic_service *old)
{
    const struct conf *conf = build->conf;
    const struct conf_quic_server *from[QUIC_SERVERS_MAX];
    for (unsigned i = 0; i < conf->n_quic_servers && service->n_servers < QUIC_SERVERS_MAX; i++)
        if (conf->quic_server[i].service == index)
            from[service->n_servers++] = &conf->quic_server[i];
    service->server = calloc(service->n_servers + 1u, sizeof *service->server);
    if (service->server == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < service->n_servers; i++)
        build_server(&service->server[i], from[i], old);
    server_slots(service, old);
    int rc = build_ids(build, service, from);
    return rc == 0 ? build_maglev(service) : rc;
}

/* ---- services ---- */

static int build_hash_key(struct build *build, struct quic_service *service, const struct conf_quic *from,
                          const struct quic_service *old)
{
    uint8_t octets[16];
    char err[KEY_FILE_ERR_MAX];
    _Static_assert(sizeof octets == sizeof service->hash_key, "one key");
    if (from->hash_key == NULL && old != NULL) {
        service->hash_key = old->hash_key;
        return 0;
    }
    if (from->hash_key == NULL)
        return random_octets(&service->hash_key, sizeof service->hash_key);
    if (!conf_hex(from->hash_key, octets, sizeof octets) && key_file_read(from->hash_key, octets, err) != 0) {
        fault(build, from, "hash-key", "quic.%s.hash-key: %s", from->name, err);
        return 0;
    }
    memcpy(&service->hash_key, octets, sizeof octets);
    explicit_bzero(octets, sizeof octets);
    return 0;
}

static void build_retry(struct build *build, struct quic_service *service, const struct conf_quic *from,
                        const struct quic_service *old)
{
    char err[KEY_FILE_ERR_MAX];
    service->retry_mode = (uint8_t)from->retry;
    service->retry_lifetime_s = (from->retry_lifetime_ms + 999) / 1000;
    service->retry_config = (uint8_t)from->retry_config;
    if (from->retry == CONF_QUIC_RETRY_OFF)
        return;
    service->retry_on_ns = old != NULL && old->retry_mode != QUIC_RETRY_OFF ? old->retry_on_ns : build->now_ns;
    int n = from->retry_keys != NULL ? key_file_read_retry(from->retry_keys, service->retry_key, err) : 0;
    if (n < 0)
        fault(build, from, "retry-keys", "quic.%s.retry-keys: %s", from->name, err);
    else
        service->n_retry_keys = (uint8_t)n;
}

static int build_service(struct build *build, struct quic_service *service, unsigned index)
{
    const struct conf_quic *from = &build->conf->quic[index];
    const struct quic_service *old = old_service(build->old, from->name);
    service->delivery = (uint8_t)from->delivery;
    service->gue_port = (uint16_t)from->gue_port;
    service->require_fixed_bit = from->require_fixed_bit;
    service->drop_unroutable = from->drop_unroutable;
    service->drop_small_initials = from->drop_small_initials;
    service->version_negotiation = from->version_negotiation;
    service->n_versions = (uint8_t)from->n_versions;
    memcpy(service->version, from->versions, sizeof service->version);
    service->edge_rate = from->edge_rate;
    service->initial_rate = from->initial_rate;
    // Tables are made when workers start.
    service->flow_table = old != NULL ? old->flow_table : from->flow_table != 0;
    build_retry(build, service, from, old);
    // Its rules are aligned to cache lines.
    service->lb = aligned_alloc(64, (sizeof *service->lb + 63) & ~(size_t)63);
    if (service->lb == NULL)
        return -ENOMEM;
    memset(service->lb, 0, sizeof *service->lb);
    build_rules(build, service->lb, index);
    int rc = build_hash_key(build, service, from, old);
    return rc == 0 ? build_servers(build, service, index, old) : rc;
}

static void build_vips(struct quic_set *set, const struct conf *conf)
{
    for (unsigned i = 0; i < conf->n_quics; i++)
        for (unsigned k = 0; k < conf->quic[i].n_vips && set->n_vips < QUIC_VIPS_MAX; k++) {
            struct quic_vip vip = {.service = (uint16_t)i};
            uint16_t port = 0;
            conf_quic_vip(conf->quic[i].vip[k], vip.ip, &vip.v6, &port);
            vip.port_be = htons(port);
            quic_set_add_vip(set, &vip);
        }
}

static int set_create(struct quic_set **out, unsigned n_services)
{
    struct quic_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return -ENOMEM;
    set->service = calloc(n_services, sizeof *set->service);
    if (set->service == NULL) {
        free(set);
        return -ENOMEM;
    }
    set->n_services = (uint16_t)n_services;
    *out = set;
    return 0;
}

int quic_set_build(struct quic_set **out, const struct conf *conf, const struct quic_set *old, uint64_t now_ns,
                   FILE *faults)
{
    struct build build = {.conf = conf, .old = old, .now_ns = now_ns, .faults = faults};
    struct quic_set *set;
    if (conf->n_quics == 0) {
        *out = NULL;
        return 0;
    }
    int rc = set_create(&set, conf->n_quics);
    if (rc != 0)
        return rc;
    for (unsigned i = 0; i < conf->n_quics; i++)
        snprintf(set->service[i].name, sizeof set->service[i].name, "%s", conf->quic[i].name);
    service_slots(set, old);
    for (unsigned i = 0; rc == 0 && i < conf->n_quics; i++)
        rc = build_service(&build, &set->service[i], i);
    build_vips(set, conf);
    if (rc == 0 && build.n_faults > 0)
        rc = -EINVAL;
    if (rc != 0)
        quic_set_destroy(set);
    else
        *out = set;
    return rc;
}

static void *copy_of(const void *from, size_t size, bool *no_memory)
{
    void *copy = from != NULL ? malloc(size) : NULL;
    if (copy != NULL)
        memcpy(copy, from, size);
    *no_memory |= from != NULL && copy == NULL;
    return copy;
}

int quic_set_again(struct quic_set **out, const struct quic_set *old)
{
    struct quic_set *set;
    int rc = set_create(&set, old->n_services);
    if (rc != 0)
        return rc;
    for (unsigned i = 0; i < old->n_vips; i++)
        quic_set_add_vip(set, &old->vip[i]);
    for (unsigned i = 0; rc == 0 && i < old->n_services; i++) {
        struct quic_service *service = &set->service[i];
        const struct quic_service *from = &old->service[i];
        bool no_memory = false;
        *service = *from;
        service->maglev = NULL;
        service->maglev_server = NULL;
        service->lb = aligned_alloc(64, (sizeof *service->lb + 63) & ~(size_t)63);
        no_memory |= service->lb == NULL;
        if (service->lb != NULL)
            memcpy(service->lb, from->lb, sizeof *service->lb);
        // This thread alone writes what is atomic in a server.
        service->server = copy_of(from->server, (from->n_servers + 1u) * sizeof *from->server, &no_memory);
        service->id_slot = copy_of(from->id_slot, (from->id_mask + 1u) * sizeof *from->id_slot, &no_memory);
        rc = no_memory ? -ENOMEM : build_maglev(service);
    }
    if (rc != 0)
        quic_set_destroy(set);
    else
        *out = set;
    return rc;
}

void quic_set_destroy(struct quic_set *set)
{
    if (set == NULL)
        return;
    for (unsigned i = 0; i < set->n_services; i++) {
        struct quic_service *service = &set->service[i];
        if (service->lb != NULL)
            explicit_bzero(service->lb, sizeof *service->lb);
        free(service->lb);
        maglev_destroy(service->maglev);
        free(service->maglev_server);
        free(service->server);
        free(service->id_slot);
    }
    explicit_bzero(set->service, set->n_services * sizeof *set->service);
    free(set->service);
    free(set);
}
