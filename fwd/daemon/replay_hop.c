// SPDX-License-Identifier: Apache-2.0
/* What the daemon has the kernel for: ways to neighbours. */
#include "fwd/daemon/replay_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"

static bool is_udp_unicast(const struct face *face)
{
    return (face->kind == FACE_UDP4 && (face->config.remote_ip[0] & 0xf0) != 0xe0) ||
           (face->kind == FACE_UDP6 && face->config.remote_ip[0] != 0xff);
}

int replay_face_add(struct daemon *daemon, uint32_t id)
{
    static const uint8_t none[16];
    const struct replay *replay = daemon->replay;
    const struct face *face = face_get(daemon->shared.faces, id);
    const struct face_config *config = &face->config;
    if (is_udp_unicast(face) && !config->mac_static) {
        bool v6 = face->kind == FACE_UDP6;
        uint8_t mac[6];
        bool known = (memcmp(config->next_hop, none, sizeof none) != 0 &&
                      ways_neighbour(replay->ways, face->port, config->next_hop, v6, mac)) ||
                     ways_neighbour(replay->ways, face->port, config->remote_ip, v6, mac);
        int rc = known ? face_set_remote_mac(daemon->shared.faces, id, mac) : 0;
        if (rc != 0)
            return rc;
        if (!known)
            log_warning("face %s: no frame tells the MAC address of its next hop: it stays down (give it with mac)\n",
                        face->name);
        face = face_get(daemon->shared.faces, id);
    }
    return ways_face(replay->ways, face);
}

int replay_hop_add(struct daemon *daemon, const struct monitor_hop_config *config, const struct monitor_hop **out)
{
    const struct replay *replay = daemon->replay;
    struct monitor_hop *hop = calloc(1, sizeof *hop);
    if (hop == NULL)
        return -ENOMEM;
    bool v6 = config->family == AF_INET6;
    hop->config = *config;
    hop->port = config->port;
    hop->vlan = config->vlan;
    if (hop->port == NULL) {
        int index = ways_port_to(replay->ways, config->ip, v6);
        hop->port = index >= 0 ? &daemon->port[index] : NULL;
    }
    memcpy(hop->mac, config->mac, sizeof hop->mac);
    hop->known = hop->port != NULL &&
                 (config->mac_static || ways_neighbour(replay->ways, hop->port->index, config->ip, v6, hop->mac));
    hop->failed = !hop->known;
    *out = hop;
    return 0;
}

void replay_hop_remove(const struct monitor_hop *hop)
{
    free((void *)(uintptr_t)hop);
}
