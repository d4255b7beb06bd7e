// SPDX-License-Identifier: Apache-2.0
#include "fwd/quic/service.h"

bool quic_service_add_id(struct quic_service *service, const struct quic_lb_id *id, uint16_t server)
{
    uint32_t at = quic_id_hash(id);
    for (uint32_t i = 0; i <= service->id_mask; i++) {
        uint16_t *slot = &service->id_slot[(at + i) & service->id_mask];
        if (*slot == 0) {
            *slot = (uint16_t)(server + 1);
            return true;
        }
        if (quic_server_has_id(&service->server[*slot - 1], id))
            return false;
    }
    return false;
}

void quic_set_add_vip(struct quic_set *set, const struct quic_vip *vip)
{
    uint32_t hash = quic_vip_hash(vip->ip, vip->v6);
    set->vip[set->n_vips++] = *vip;
    set->vip_bits[hash / 64] |= UINT64_C(1) << (hash % 64);
}

bool quic_set_has_vip(const struct quic_set *set, const uint8_t *ip, bool v6)
{
    for (unsigned i = 0; i < set->n_vips; i++)
        if (set->vip[i].v6 == v6 && quic_ip_equal(set->vip[i].ip, ip, v6))
            return true;
    return false;
}

const struct quic_vip *quic_set_find_vip(const struct quic_set *set, const uint8_t *ip, bool v6, uint16_t port_be)
{
    for (unsigned i = 0; i < set->n_vips; i++)
        if (quic_vip_is(&set->vip[i], ip, v6, port_be))
            return &set->vip[i];
    return NULL;
}

const struct quic_service *quic_set_find(const struct quic_set *set, const uint8_t *ip, bool v6, uint16_t port_be)
{
    const struct quic_vip *vip = quic_set_find_vip(set, ip, v6, port_be);
    return vip != NULL ? &set->service[vip->service] : NULL;
}
