#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Connection IDs of every form name their server, while clients change ports: QUIC-LB in plaintext, single-pass and
# four-pass, and a private layout; two servers, IPv4 and IPv6. All forms are configured at the same time.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 2
quic_conf "$tmp/conf" <<CONF
quic-config: (
  { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; },
  { service = "web"; id = 1; server-id-length = 8; nonce-length = 8; key-file = "$tmp/cid.key"; },
  { service = "web"; id = 2; server-id-length = 4; nonce-length = 6; key-file = "$tmp/cid.key"; },
  { service = "web"; id = 3; server-id-length = 10; nonce-length = 5; key-file = "$tmp/cid.key"; }
);
quic-scheme: ( { service = "web"; mask = 255; value = 215; offset-bits = 8; bits = 16; } );
quic-server: { $(conf_server 1 up 2 3 8 4) $(conf_server 2 up 2 3 8 10) };
CONF
start_daemon "$tmp/conf"
round() { # NAME OPTION... : of both servers
    local name=$1
    shift
    say "$name"
    start_server 1 -i "$(id_of 1 "$length")" "$@"
    start_server 2 -i "$(id_of 2 "$length")" "$@"
    upload -n 8 -o 1000000 -r 2000000 -m 1 -b 1 -d 8 $VIP
    expect '.ok == 8 and .moves == 16 and .resets == 0'
    upload -n 8 -o 1000000 -r 2000000 -m 1 -b 1 -d 20 $VIP6
    expect '.ok == 8 and .moves == 16 and .resets == 0'
    stop_servers 1 2
}
length=3 round plaintext -l 0 -n 5
length=3 round "plaintext, random length bits" -l 0 -n 5 -r
length=8 round single-pass -l 1 -n 8 -e $KEY
length=2 round "private layout" -f d7 -n 9
# Server 2 has no ID of four octets and server 1 none of ten: configurations of one server each.
say four-pass
start_server 1 -i "$(id_of 1 4)" -l 2 -n 6 -e $KEY
start_server 2 -i "$(id_of 2 10)" -l 3 -n 5 -e $KEY -r
upload -n 8 -o 1000000 -r 2000000 -m 1 -b 1 $VIP
expect '.ok == 8 and .moves == 16 and .resets == 0'
upload -n 8 -o 1000000 -r 2000000 -m 1 -b 1 $VIP6
expect '.ok == 8 and .moves == 16 and .resets == 0'
stop_servers 1 2
summary=$(ask quic show web)
say "$(jq -c 'del(.servers)' <<<"$summary")"
# All but what clients began with is steered by connection ID.
expect '.by_cid > 20 * .by_hash and .unroutable_server == 0 and .unroutable_short == 0'
check_drops
check_quiet
stop_daemon
