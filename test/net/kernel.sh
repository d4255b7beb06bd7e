#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The NIC is shared: while packets are forwarded, the kernel answers ping over both ports, IPv4 and IPv6, resolves
# ARP, and carries a TCP connection; not one packet of it is lost.
source "$(dirname "$0")/lib.sh"
make_namespaces
ether_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 1000

start ping4 "$NS_C" ping -q -i 0.01 -c 300 10.0.1.1
ping4=$started
start ping6 "$NS_P" ping -6 -q -i 0.01 -c 300 fd00:2::1
ping6=$started
cat >"$tmp/server.py" <<'EOP'
import socket
s = socket.create_server(("10.0.1.1", 2222))
print("ready", flush=True)
c, _ = s.accept()
n = 0
while data := c.recv(65536):
    n += len(data)
print("octets", n, flush=True)
EOP
start tcp "$NS_F" python3 "$tmp/server.py"
tcp=$started
wait_for 5 grep -q ready "$tmp/tcp.log" || fail "TCP server"
in_c python3 -c '
import socket
c = socket.create_connection(("10.0.1.1", 2222))
c.sendall(b"x" * 3000000)
' || fail "TCP connection"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 2500 -i 1ms -s 1000 -t 8
expect_no_loss 2500
wait "$tcp" || fail "TCP server failed"
grep -q 'octets 3000000' "$tmp/tcp.log" || fail "TCP lost octets"
wait "$ping4" || true
wait "$ping6" || true
grep -q '300 packets transmitted, 300 received' "$tmp/ping4.log" || fail "$(cat "$tmp/ping4.log")"
grep -q '300 packets transmitted, 300 received' "$tmp/ping6.log" || fail "$(cat "$tmp/ping6.log")"
check_quiet
stop_daemon
