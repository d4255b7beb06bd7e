// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_SOCK_CONFIG_H
#define FWD_DAEMON_SOCK_CONFIG_H

#include "conf/conf.h"
#include "ports/sock/sock.h"

/** Lists that a struct sock_config points to. */
struct sock_config_lists {
    const char *users[CONF_UNIX_USERS_MAX + 1];
    const char *netdevs[CONF_PORTS_MAX + 1];
};

/**
 * What the configuration says of sockets; port and pool are the caller's to fill in. Strings are the configuration's,
 * lists go to @p lists: both must stay until sock_stop(). Control thread.
 */
void sock_config_make(const struct conf *conf, struct sock_config *config, struct sock_config_lists *lists);

#endif
