// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/service.h"

#include <string.h>

/*
 * Server IDs are the operator's, but which of them is asked for is a client's choice. Those that are counted differ in
 * their last octet, which is the highest of a word: a product alone would leave it there, above what is used.
 */
static uint32_t id_hash(const struct quic_lb_id *id)
{
    uint64_t half[2];
    _Static_assert(sizeof *id == sizeof half, "the length is hashed too");
    memcpy(half, id, sizeof half);
    uint64_t h = half[0] ^ half[1] * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

static bool id_equal(const struct quic_lb_id *a, const struct quic_lb_id *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool server_has(const struct quic_server *server, const struct quic_lb_id *id)
{
    for (unsigned i = 0; i < server->n_ids; i++)
        if (id_equal(&server->id[i], id))
            return true;
    return false;
}

const struct quic_server *quic_service_server(const struct quic_service *service, const struct quic_lb_id *id)
{
    uint32_t at = id_hash(id);
    if (service->id_slot == NULL)
        return NULL;
    // At least half of the places are free, so that the walk is short.
    for (uint32_t i = 0; i <= service->id_mask; i++) {
        uint16_t index = service->id_slot[(at + i) & service->id_mask];
        if (index == 0)
            return NULL;
        if (server_has(&service->server[index - 1], id))
            return &service->server[index - 1];
    }
    return NULL;
}

bool quic_service_add_id(struct quic_service *service, const struct quic_lb_id *id, uint16_t server)
{
    uint32_t at = id_hash(id);
    for (uint32_t i = 0; i <= service->id_mask; i++) {
        uint16_t *slot = &service->id_slot[(at + i) & service->id_mask];
        if (*slot == 0) {
            *slot = (uint16_t)(server + 1);
            return true;
        }
        if (server_has(&service->server[*slot - 1], id))
            return false;
    }
    return false;
}

const struct quic_service *quic_set_find(const struct quic_set *set, const uint8_t *ip, bool v6, uint16_t port_be)
{
    for (unsigned i = 0; i < set->n_vips; i++) {
        const struct quic_vip *vip = &set->vip[i];
        if (vip->port_be == port_be && vip->v6 == v6 && quic_ip_equal(vip->ip, ip, v6))
            return &set->service[vip->service];
    }
    return NULL;
}
