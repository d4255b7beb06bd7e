#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The QUIC test programs alone, without pitlaned: transfers with changes of port are whole; and a datagram on a wrong way
# shows: a kernel route that moves to another server in mid-transfer makes Stateless Resets.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 2
for family in "" -6; do
    [ -n "$family" ] && vip=$VIP6 prefix=128 via=fd00:2::11 || { vip=$VIP prefix=32 via=10.0.2.11; }
    ip -n "$NS_F" addr del $vip/$prefix dev lo
    ip -n "$NS_F" $family route add $vip/$prefix via $via
done
for form in "-l 0" "-l 1 -e $KEY" "-f 5a" "-u" ""; do
    start_server 1 -i "$(id_of 1 4)" -n 6 $form
    upload -o 4000000 -n 4 -r 8000000 -m 1 -b 1 $VIP
    expect '.ok == 4 and .moves == 8 and .resets == 0'
    upload -o 4000000 -b 2 $VIP6
    [ "$(server_count 1 moves)" -ge 8 ] || fail "the server saw no change of port"
    stop_servers 1
done

start_server 1 -i "$(id_of 1 4)" -l 0
start_server 2 -i "$(id_of 2 4)" -l 0
upload_begin -o 4000000 -n 4 -r 1000000 $VIP
sleep 1
ip -n "$NS_F" route replace $VIP/32 via 10.0.2.12
status=0
wait "$upload_pid" || status=$?
[ $status = 1 ] || fail "client exits with $status where all its connections break"
[ "$(grep -c '"result": "Stateless Reset"' "$tmp/client.log")" = 4 ] || fail "connections end by other reasons"
[ "$(server_count 2 resets)" -ge 4 ] || fail "the other server sent no Stateless Resets"
