// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_TELEMETRY_QUIC_H
#define FWD_DAEMON_TELEMETRY_QUIC_H

#include <stdint.h>

struct daemon;
struct rte_tel_data;

/* Pages of QUIC services and of their servers for the telemetry socket. Under the daemon's lock. @return 0, -1 */
int telemetry_quic_services(const struct daemon *daemon, struct rte_tel_data *d, uint64_t start);
int telemetry_quic_servers(const struct daemon *daemon, struct rte_tel_data *d, uint64_t start);

#endif
