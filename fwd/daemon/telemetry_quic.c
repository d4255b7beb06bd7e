// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/telemetry_quic.h"

#include <rte_telemetry.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/quic_count.h"
#include "fwd/daemon/telemetry_page.h"
#include "fwd/quic/quic.h"

/* Estimates of octets in the answer: a row of a service, its virtual addresses left out; each of them; a server's row.
 */
#define SERVICE_OCTETS 1500
#define VIP_OCTETS     56
#define SERVER_OCTETS  700

static const struct quic_set *published(const struct daemon *daemon)
{
    return atomic_load_explicit(&daemon->shared.quic, memory_order_relaxed);
}

static void vip_text(const struct quic_vip *vip, char *text, size_t size)
{
    char address[INET6_ADDRSTRLEN];
    inet_ntop(vip->v6 ? AF_INET6 : AF_INET, vip->ip, address, sizeof address);
    snprintf(text, size, vip->v6 ? "[%s]:%u" : "%s:%u", address, ntohs(vip->port_be));
}

static void fill_vips(struct rte_tel_data *row, const struct quic_set *set, unsigned service)
{
    // Of all services there are at most QUIC_VIPS_MAX.
    char text[QUIC_VIPS_MAX * VIP_OCTETS] = "";
    size_t len = 0;
    for (unsigned i = 0; i < set->n_vips; i++) {
        char vip[VIP_OCTETS];
        if (set->vip[i].service != service)
            continue;
        vip_text(&set->vip[i], vip, sizeof vip);
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? " " : "", vip);
    }
    page_text(row, "vip", text);
}

static const char *const delivery_text[] = {"l2", "ipip", "gue"};
static const char *const retry_text[] = {"off", "on", "transition"};
static const char *const state_text[] = {"up", "drain", "down"};

static void fill_service(struct rte_tel_data *row, const struct daemon *daemon, const struct quic_set *set, unsigned i)
{
    const struct quic_service *service = &set->service[i];
    struct quic_stats_service sum;
    quic_count_service(daemon, service->slot, &sum);
    page_text(row, "name", service->name);
    fill_vips(row, set, i);
    page_text(row, "delivery", delivery_text[service->delivery]);
    page_text(row, "retry", retry_text[service->retry_mode]);
    rte_tel_data_add_dict_u64(row, "slot", service->slot);
    rte_tel_data_add_dict_u64(row, "servers", service->n_servers);
#define STAT(field, name, text) rte_tel_data_add_dict_u64(row, name, sum.field);
    STATS_QUIC(STAT)
#undef STAT
}

int telemetry_quic_services(const struct daemon *daemon, struct rte_tel_data *d, uint64_t start)
{
    struct page page;
    const struct quic_set *set = published(daemon);
    page_begin(&page);
    for (uint64_t i = start; set != NULL && i < set->n_services; i++) {
        size_t octets = SERVICE_OCTETS;
        for (unsigned k = 0; k < set->n_vips; k++)
            octets += set->vip[k].service == i ? VIP_OCTETS : 0;
        struct rte_tel_data *row = page_row(&page, i, octets);
        if (row == NULL)
            break;
        fill_service(row, daemon, set, (unsigned)i);
    }
    return page_end(&page, d);
}

static void fill_way(struct rte_tel_data *row, const struct daemon *daemon, const struct quic_server *server)
{
    uint64_t mac = atomic_load_explicit(&server->mac, memory_order_relaxed);
    uint16_t port = atomic_load_explicit(&server->port, memory_order_relaxed);
    uint8_t octets[8];
    char text[24] = "";
    memcpy(octets, &mac, sizeof octets);
    if (mac != 0)
        snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", octets[0], octets[1], octets[2], octets[3],
                 octets[4], octets[5]);
    page_text(row, "mac", text);
    page_text(row, "port", mac != 0 && port < daemon->n_ports ? daemon->port[port].config.name : "");
    rte_tel_data_add_dict_u64(row, "vlan", mac >> 48);
    rte_tel_data_add_dict_u64(row, "mtu", atomic_load_explicit(&server->mtu, memory_order_relaxed));
}

static void fill_ids(struct rte_tel_data *row, const struct quic_server *server)
{
    char text[QUIC_SERVER_IDS_MAX * 32] = "";
    size_t len = 0;
    for (unsigned k = 0; k < server->n_ids; k++) {
        if (k > 0)
            text[len++] = ' ';
        for (unsigned i = 0; i < server->id[k].len; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%02x", server->id[k].octets[i]);
    }
    page_text(row, "id", text);
}

/* Part of new connections that its place in the hash table gives a server, in millionths. */
static uint64_t share_of(const struct quic_service *service, unsigned index)
{
    if (service->maglev == NULL)
        return 0;
    for (unsigned backend = 0; backend < service->maglev->n_backends; backend++)
        if (service->maglev_server[backend] == index)
            return (uint64_t)maglev_slots(service->maglev, (uint16_t)backend) * 1000000 / service->maglev->size;
    return 0;
}

static void fill_server(struct rte_tel_data *row, const struct daemon *daemon, const struct quic_service *service,
                        unsigned index)
{
    const struct quic_server *server = &service->server[index];
    struct quic_stats_server sum;
    quic_count_server(daemon, service->slot, server->slot, &sum);
    char address[INET6_ADDRSTRLEN];
    inet_ntop(server->v6 ? AF_INET6 : AF_INET, server->ip, address, sizeof address);
    page_text(row, "service", service->name);
    page_text(row, "name", server->name);
    page_text(row, "address", address);
    page_text(row, "state", state_text[server->state]);
    page_text(row, "health", atomic_load_explicit(&server->unhealthy, memory_order_relaxed) ? "bad" : "good");
    fill_way(row, daemon, server);
    fill_ids(row, server);
    rte_tel_data_add_dict_u64(row, "slot", server->slot);
    rte_tel_data_add_dict_u64(row, "weight", server->weight);
    rte_tel_data_add_dict_u64(row, "share_millionths", share_of(service, index));
    rte_tel_data_add_dict_u64(row, "packets", sum.packets);
    rte_tel_data_add_dict_u64(row, "bytes", sum.bytes);
    rte_tel_data_add_dict_u64(row, "initials", sum.initials);
}

int telemetry_quic_servers(const struct daemon *daemon, struct rte_tel_data *d, uint64_t start)
{
    struct page page;
    const struct quic_set *set = published(daemon);
    uint64_t number = 0;
    page_begin(&page);
    for (unsigned i = 0; set != NULL && i < set->n_services && !page.full; i++)
        for (unsigned k = 0; k < set->service[i].n_servers; k++, number++) {
            if (number < start)
                continue;
            struct rte_tel_data *row = page_row(&page, number, SERVER_OCTETS);
            if (row == NULL)
                break;
            fill_server(row, daemon, &set->service[i], k);
        }
    return page_end(&page, d);
}
