// SPDX-License-Identifier: Apache-2.0
#include "fwd/daemon/sock_config.h"

#include <assert.h>

/* The configuration has been checked: each of them is a subnet. */
static unsigned subnets(struct sock_subnet *to, const char *const *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        conf_subnet(from[i], to[i].ip, &to[i].prefix_len);
    return n;
}

void sock_config_make(const struct conf *conf, struct sock_config *config, struct sock_config_lists *lists)
{
    static_assert(SOCK_SUBNETS_MAX == CONF_SUBNETS_MAX, "every configured subnet has its place");
    const struct conf_unix *local = &conf->unix_socket;
    unsigned n_netdevs = 0;
    *config = (struct sock_config){
        .account = conf->daemon.user,
        .unix_path = local->enabled ? local->path : NULL,
        .unix_mode = local->mode,
        .unix_group = local->group,
        .unix_users = local->n_users > 0 ? lists->users : NULL,
        .tcp_listen = conf->tcp.listen,
        .tcp_v4 = conf->tcp.ipv4,
        .tcp_v6 = conf->tcp.ipv6,
        .tcp_port = (uint16_t)conf->tcp.port,
        .udp_listen = conf->udp.listen,
        .udp_v4 = conf->udp.ipv4,
        .udp_v6 = conf->udp.ipv6,
        .udp_port = (uint16_t)conf->udp.port,
        .udp_mtu = (uint16_t)conf->udp.mtu,
        .udp_idle_s = conf->udp.idle_timeout_ms / 1000,
        .udp_multicast = conf->udp.multicast,
        .netdevs = lists->netdevs,
        .ws_listen = conf->websocket.listen,
        .ws_v4 = conf->websocket.ipv4,
        .ws_v6 = conf->websocket.ipv6,
        .ws_port = (uint16_t)conf->websocket.port,
        .faces_max = conf->sockets.faces,
        .queue_max = conf->sockets.queue,
        .stall_ms = conf->sockets.stall_ms,
        .congestion_marking = conf->sockets.congestion_marking,
    };
    config->n_local_white = subnets(config->local_white, conf->tcp.local_whitelist, conf->tcp.n_local_whitelist);
    config->n_local_black = subnets(config->local_black, conf->tcp.local_blacklist, conf->tcp.n_local_blacklist);
    for (unsigned i = 0; i < local->n_users; i++)
        lists->users[i] = local->users[i];
    lists->users[local->n_users] = NULL;
    for (unsigned i = 0; i < conf->n_ports; i++)
        if (conf->port[i].netdev != NULL)
            lists->netdevs[n_netdevs++] = conf->port[i].netdev;
    lists->netdevs[n_netdevs] = NULL;
}
