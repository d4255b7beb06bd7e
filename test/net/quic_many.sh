#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Thirty concurrent transfers to three servers, each with a change of port: thirty of thirty finish, by one worker and by
# two, with NAT rebindings and with migrations, and no server sends a Stateless Reset.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 3
for workers in 1 2; do
    quic_conf "$tmp/conf" "count = $workers;" <<CONF
quic-config: ( { service = "web"; id = 2; server-id-length = 4; nonce-length = 7; key-file = "$tmp/cid.key"; } );
quic-server: { $(conf_server 1 up 4) $(conf_server 2 up 4) $(conf_server 3 up 4) };
CONF
    start_daemon "$tmp/conf"
    for i in 1 2 3; do start_server $i -i "$(id_of $i 4)" -l 2 -n 7 -e $KEY; done
    upload -n 30 -o 2000000 -r 1000000 -b 1 $VIP
    expect '.connections == 30 and .ok == 30 and .moves == 30 and .resets == 0'
    expect '.servers | length == 3'
    upload -n 30 -o 1000000 -r 1000000 -m 1 $VIP6
    expect '.connections == 30 and .ok == 30 and .moves == 30 and .resets == 0'
    stop_servers 1 2 3
    check_drops
    check_quiet
    stop_daemon
done
