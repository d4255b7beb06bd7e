#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Services that come and go by reload, forty times, each under a name, a port, or an address of its own: what is sent to a
# new virtual address reaches pitlaned, what is sent to one that is gone, or to another port, is the kernel's again, and
# each service counts from 0, though places of counters are few. A service with a flow table keeps having one.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 1
VIP2=10.0.9.2
in_f sysctl -qw net.ipv4.icmp_ratelimit=0
ip -n "$NS_F" addr add $VIP2/32 dev lo
ip -n "$NS_C" route add $VIP2/32 via 10.0.1.1 src 10.0.1.2
vips_conf() { # FILE NAME VIP
    {
        xdp_ports
        cat <<CONF
quic: { kept: { vip = "$VIP:$VPORT"; }; $2: { vip = "$3"; flow-table = 1024; }; };
quic-config: (
  { service = "kept"; id = 0; server-id-length = 3; nonce-length = 5; },
  { service = "$2"; id = 0; server-id-length = 3; nonce-length = 5; }
);
quic-server: {
  k: { service = "kept"; address = "10.0.2.11"; id = [ "$(id_of 1 3)" ]; };
  $2-1: { service = "$2"; address = "10.0.2.11"; id = [ "$(id_of 1 3)" ]; };
};
CONF
    } | write_conf "$1"
}
# Datagrams with a connection ID of the server: COUNT to an address; prints "refused" when the kernel refuses the last.
cat >"$tmp/datagrams.py" <<'PYTHON'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(float(sys.argv[5]))
s.connect((sys.argv[1], int(sys.argv[2])))
packet = b'\x40\x08' + bytes.fromhex(sys.argv[4]) + bytes(40)
for i in range(int(sys.argv[3])):
    try:
        s.send(packet)
    except ConnectionRefusedError:
        pass
try:
    s.recv(1)
except ConnectionRefusedError:
    print('refused')
except socket.timeout:
    pass
PYTHON
datagrams() { in_c timeout 20 python3 "$tmp/datagrams.py" "$1" "$2" "$3" "$(id_of 1 3)" "$4"; } # ADDRESS PORT COUNT SECONDS
reloaded() { [ "$(grep -c ' reloaded: ' "$tmp/pitlaned.log")" = "$1" ]; } # TIMES

vips_conf "$tmp/conf" s0 $VIP2:5000
start_daemon "$tmp/conf"
start_server 1 -i "$(id_of 1 3)" -l 0 -n 5
ip -n "$(ns_of 1)" addr add $VIP2/32 dev lo
sink 1 $VIP:5001-5040 $VIP2:5000-5040
upload_begin -n 4 -g 8 -o 300000 -r 300000 -b 1 -f 300 $VIP
last_address=$VIP2 last_port=5000
for i in $(seq 40); do
    [ $((i % 3)) = 0 ] && address=$VIP2 || address=$VIP
    port=$((5000 + i))
    # Before: the kernel's.
    [ "$(datagrams $address $port 1 3)" = refused ] || fail "$address:$port is not the kernel's before it is configured"
    mkdir -p "$tmp/new"
    vips_conf "$tmp/new/conf" s$i $address:$port
    mv "$tmp/new/conf" "$tmp/conf"
    kill -HUP "$daemon_pid"
    wait_for 20 reloaded $i || fail "reload $i"
    known() { ask quic show s$i | jq -e '.servers[0].mac != ""'; }
    wait_for 20 known || fail "the way to the server of s$i is not known: $(ask quic show s$i)"
    [ -z "$(datagrams $address $port 3 0.1)" ] || fail "$address:$port is the kernel's after it is configured"
    counted() { ask quic show s$i | jq -e '.packets == 3 and .by_cid == 3 and .servers[0].packets == 3'; }
    wait_for 10 counted || fail "service s$i: $(ask quic show s$i | jq -c '{slot, packets, by_cid, servers: [.servers[] | {slot, packets}]}')"
    [ "$(datagrams $last_address $last_port 1 3)" = refused ] || fail "$last_address:$last_port is not the kernel's again"
    last_address=$address last_port=$port
done
grep -q 'restart needed' "$tmp/pitlaned.log" && fail "$(grep 'restart needed' "$tmp/pitlaned.log" | head -3)"
for vip in $VIP $VIP2; do
    in_c ping -c 5 -i 0.05 -W 3 $vip >"$tmp/ping.log" 2>&1 || fail "ping $vip"
done
upload_stop
expect '.ok >= 8 and .failed == 0 and .resets == 0'
[ "$(ask quic list | jq '[.services[].name] | sort == ["kept", "s40"]')" = true ] || fail "$(ask quic list)"
finish "${server_pid[1]}" || fail "server"
check_drops
check_quiet
stop_daemon
