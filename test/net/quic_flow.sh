#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Servers whose connection IDs say that they cannot be routed (0b111, with their length), with a flow table: the connection
# ID that a client goes on with from another port is remembered, so that NAT rebindings cost no connection.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 3
SERVICE='flow-table = 4096;'
quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 4; nonce-length = 13; key-file = "$tmp/cid.key"; } );
quic-server: { $(conf_server 1 up 4) $(conf_server 2 up 4) $(conf_server 3 up 4) };
CONF
start_daemon "$tmp/conf"
for i in 1 2 3; do start_server $i -i "$(id_of $i 4)" -u; done
for vip in $VIP $VIP6; do
    upload -n 30 -o 500000 -r 500000 -b 1 $vip
    expect '.connections == 30 and .ok == 30 and .moves == 30 and .resets == 0'
done
stop_servers 1 2 3
summary=$(ask quic show web)
say "$(jq -c 'del(.servers)' <<<"$summary")"
expect '.by_cid == 0 and .by_dcid > 1000 and .flow_full == 0 and .flows > 100 and .flows_evicted == 0'
check_drops
check_quiet
stop_daemon
