#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Changes under load lose no connection: a server that drains keeps its connections and gets no new ones, a server that
# is added gets some, and the configuration is read again twenty times meanwhile.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 3
conf_with() { # FILE SERVERS...
    local file=$1
    shift
    quic_conf "$file" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; key-file = "$tmp/cid.key"; } );
quic-server: { $* };
CONF
}
# Files are replaced as a whole, as an operator's tools do.
reload_with() { # SERVERS...
    mkdir -p "$tmp/new"
    conf_with "$tmp/new/conf" "$@"
    mv "$tmp/new/conf" "$tmp/conf"
    kill -HUP "$daemon_pid"
}
reloaded() { [ "$(grep -c ' reloaded: ' "$tmp/pitlaned.log")" = "$1" ]; } # TIMES
for i in 1 2 3; do start_server $i -i "$(id_of $i 3)" -l 0 -n 5 -e $KEY; done
conf_with "$tmp/conf" "$(conf_server 1 up 3)" "$(conf_server 2 up 3)"
start_daemon "$tmp/conf"

say "load on two servers"
upload_begin -n 16 -g 20 -o 2000000 -r 400000 -b 1 -m 1 -f 15 $VIP
sleep 1
[ "$(server_count 1 connections)" -gt 0 ] || fail "server 1 has no connections"
[ "$(server_count 2 connections)" -gt 0 ] || fail "server 2 has no connections"
[ "$(server_count 3 connections)" = 0 ] || fail "server 3 has connections before it is configured"

say "server 2 drains, server 3 joins"
reload_with "$(conf_server 1 up 3)" "$(conf_server 2 drain 3)" "$(conf_server 3 up 3)"
wait_for 5 reloaded 1 || fail "the configuration is not read again"
sleep 0.3
drained=$(server_count 2 connections)
unfinished=$((drained - $(server_count 2 completed)))
[ $unfinished -gt 0 ] || fail "server 2 has no connection left that could be lost"
sleep 6
[ "$(server_count 2 connections)" = "$drained" ] || fail "a draining server got new connections"
[ "$(server_count 3 connections)" -gt 0 ] || fail "the new server gets no connections"

say "twenty reloads"
for i in $(seq 10); do
    reload_with "$(conf_server 1 up 3)" "$(conf_server 2 drain 3)" "$(conf_server 3 up 3)"
    sleep 0.2
    reload_with "$(conf_server 1 up 3)" "$(conf_server 2 up 3)" "$(conf_server 3 up 3)"
    sleep 0.2
done
wait_for 5 reloaded 21 || fail "$(grep -c reloaded "$tmp/pitlaned.log") reloads"
upload_end
expect '.failed == 0 and .resets == 0 and .ok > 40'
expect '.servers | length == 3'
upload -n 40 -o 1000 $VIP
expect '.servers | length == 3'

say "a server joins whose address nobody has: no connection is lost on it"
reload_with "$(conf_server 1 up 3)" "$(conf_server 2 up 3)" "$(conf_server 3 up 3)" \
    "ghost: { service = \"web\"; address = \"10.0.2.99\"; };"
wait_for 5 reloaded 22 || fail "the configuration is not read again"
upload -n 40 -o 1000 $VIP
kill -0 "$daemon_pid" || fail "pitlaned is gone"
stop_servers 1 2 3
check_drops
check_quiet
stop_daemon
