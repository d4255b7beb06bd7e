// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_DAEMON_TELEMETRY_EXPLAIN_H
#define FWD_DAEMON_TELEMETRY_EXPLAIN_H

struct daemon;
struct rte_tel_data;

/** Octets of a datagram that a question may have: more than any header that decides. */
#define EXPLAIN_OCTETS_MAX 400

/**
 * Tell each decision for a datagram: @p params is "SERVICE,FROM,LENGTH,HEX" with the client's "ADDRESS:PORT" or "-",
 * the octets of the UDP payload, and as many of them from its beginning as there is room for. The answer is {"steps":
 * [...], "server": NAME}, or {"error": TEXT}. Nothing is counted or remembered. Under the daemon's lock. @return 0, -1
 */
int telemetry_quic_explain(const struct daemon *daemon, struct rte_tel_data *d, const char *params);

#endif
