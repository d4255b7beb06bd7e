#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the virtual address has besides QUIC stays the kernel's: ping and other UDP ports. A datagram that does not fit on
# the way to its server is answered with "too big", and the client's kernel learns the size.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 1
ip -n "$NS_F" link set f1 mtu 1400
quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; } );
quic-server: { $(conf_server 1 up 3) };
CONF
start_daemon "$tmp/conf"
start_server 1 -i "$(id_of 1 3)" -l 0 -n 5
upload -o 4000000 -r 2000000 -b 1 $VIP
expect '.ok == 1 and .moves == 1'
for vip in $VIP $VIP6; do
    in_c ping -c 20 -i 0.05 -W 1 $vip >"$tmp/ping.log" 2>&1 || fail "ping $vip"
    grep -q ' 0% packet loss' "$tmp/ping.log" || fail "ping $vip loses packets"
done
for vip in $VIP $VIP6; do
    in_c timeout 20 python3 "$here/quic_mtu.py" $VPORT $vip 1400 || fail "the client does not learn the path's size"
    in_c timeout 10 python3 - $vip <<'PYTHON' || fail "no answer of the kernel at another port of $vip"
import socket, sys
s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(3)
s.connect((sys.argv[1], 9))
s.send(b'x')
try:
    s.recv(1)
    sys.exit(1)
except ConnectionRefusedError:
    pass
PYTHON
done
stop_servers 1
check_drops quic_mtu
check_quiet
stop_daemon
