#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pitlane-load as clients and servers of QUIC, with a pitlaned between them that balances by connection ID: whatever a
# client's address is, its datagrams come to its server; Initials always to one, while the address stays.
source "$(dirname "$0")/lib-load.sh"
VIP=10.0.9.1 VIP6=fd00:9::1 VPORT=4433
KEY=8f95f09245765f80256934e50c66207f
make_load_namespaces
for i in 1 2 3; do
    ip -n "$NS_F" neigh add "10.0.2.1$i" lladdr "02:00:00:00:03:0$i" dev f1 nud permanent
done
(umask 077 && echo $KEY >"$tmp/cid.key")
{
    xdp_ports
    cat <<CONF
quic: { web: { vip = [ "$VIP:$VPORT", "[$VIP6]:$VPORT" ]; }; };
quic-config: (
  { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; },
  { service = "web"; id = 1; server-id-length = 4; nonce-length = 5; key-file = "$tmp/cid.key"; }
);
quic-server: {
  one: { service = "web"; address = "10.0.2.11"; id = [ "c46101", "c4610100" ]; };
  two: { service = "web"; address = "10.0.2.12"; id = [ "c46102", "c4610200" ]; };
  three: { service = "web"; address = "10.0.2.13"; id = [ "c46103", "c4610300" ]; };
};
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"

end4="--consumer=0,link=udp,to=$MAC_F0,ip=10.0.1.2,to-ip=$VIP,to-udp=$VPORT --producer=1"
end6="--consumer=0,link=udp,to=$MAC_F0,ip=fd00:1::2,to-ip=$VIP6,to-udp=$VPORT --producer=1"
plain="--mode quic --quic-config 0:3:5 --quic-server c46101=02:00:00:00:03:01 --quic-server c46102=02:00:00:00:03:02
    --quic-server c46103=02:00:00:00:03:03"
encrypted="--mode quic --quic-config 1:4:5:$KEY --quic-server c4610100 --quic-server c4610200 --quic-server c4610300"

say "plaintext connection IDs, each server's address known"
# shellcheck disable=SC2086
load $end4 $plain --rate 1000 --count 3000 --quic-flows 30 --quic-rebind 10 --payload 200
expect_load '.ok and .received == 3000 and .lost == 0 and .duplicates == 0 and .reordered == 0 and .misrouted == 0'
expect_load '.quic.rebinds == 270 and .quic.initials > 50 and ([.quic.servers[].short_headers] | min > 500)'
expect_load '.latency_us | .count == 3000 and .min > 0 and .p50 <= .p99 and .p99 <= .max'

say "encrypted ones, IPv6, closed loop"
# shellcheck disable=SC2086
load $end6 $encrypted --window 16 --count 3000 --quic-flows 30 --quic-rebind 10 --quic-initials 0.1
expect_load '.ok and .received == 3000 and .lost == 0 and .misrouted == 0 and
    ([.quic.servers[].mac] | unique | length == 3)'

say "a server whose address is another than the forwarder knows"
# shellcheck disable=SC2086
load $end4 ${plain/03:03/03:09} --rate 1000 --count 300 --quic-flows 30 --quic-initials 0
expect_load '.ok == false and .misrouted == 100 and .received == 200'
[ $load_status = 1 ] || fail "exit $load_status with datagrams at the wrong server"

say "a server that moves meanwhile"
rm "$tmp/load.log" # the one of the run before
(wait_for 20 grep -q " sent " "$tmp/load.log" &&
    ip -n "$NS_F" neigh replace 10.0.2.12 lladdr 02:00:00:00:03:0a dev f1 nud permanent) &
# shellcheck disable=SC2086
load $end4 $encrypted --rate 1000 --count 3000 --quic-initials 0
expect_load '.ok == false and .misrouted > 100 and .received == 3000 - .misrouted'
check_quiet
stop_daemon
