#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pitlane ping and pingserver understand each other without a forwarder: UDP over IPv4 and IPv6, UDP multicast,
# Ethernet group and unicast; whole, padded and fragmented packets; tokens come back; total loss is exit 1.
source "$(dirname "$0")/lib.sh"
make_namespaces

server() { # NAME OPTION...
    local name=$1
    shift
    start "$name" "$NS_F" "$pitlane" pingserver /A -q "$@"
    wait_for 5 grep -q ready "$tmp/$name.log" || fail "pingserver is not ready"
}

server udp --local :6363 -s 1000
ping_from_consumer /A --udp 10.0.1.1 -c 200 -i 1ms -s 1000 -t 32
expect_no_loss 200
ping_from_consumer /A --udp '[fd00:1::1]:6363' -c 200 -i 1ms -s 1000 -t 1
expect_no_loss 200

server fragments --local :6364 -s 8000 --mtu 500
ping_from_consumer /A --udp 10.0.1.1:6364 -c 200 -i 1ms -s 8000 -t 8
expect_no_loss 200

server group --udp 224.0.23.170:56363 --local 10.0.1.1 -s 100
ping_from_consumer /A --udp 224.0.23.170:56363 --local 10.0.1.2 -c 50 -i 1ms -s 100
expect_no_loss 50

server ether --ether f0 -s 4000
ether=$started
ping_from_consumer /A --ether c0 -c 200 -i 1ms -s 4000 -t 8
expect_no_loss 200
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 200 -i 1ms -s 4000
expect_no_loss 200

ping_from_consumer /A --ether c0 --vlan 5 -c 3 -i 1ms -W 200ms
expect '.received == 0'
server vlan --ether f0 --vlan 5 -s 700
ping_from_consumer /A --ether c0 --vlan 5 -c 200 -i 1ms -s 700 -t 8
expect_no_loss 200

say "nobody answers"
if in_c "$pitlane" ping /B --ether c0 -c 3 -i 1ms -W 100ms >"$tmp/loss.log"; then fail "total loss must exit with 1"; fi
grep -q '3 Interests sent, 0 Data received' "$tmp/loss.log" || fail "$(cat "$tmp/loss.log")"
[ "$(grep -c '^timeout from /B: seq=' "$tmp/loss.log")" = 3 ] || fail "each time-out is a line"
if in_c "$pitlane" ping /B --udp 10.0.1.1:9 -q -c 3 -i 1ms -W 100ms >"$tmp/loss.log"; then fail "total loss must exit with 1"; fi

say "a server that stops prints its counts"
finish "$ether" || fail "pingserver must exit with 0 at SIGTERM"
grep -q '400 Interests received, 400 answered, 0 failed' "$tmp/ether.log" || fail "$(cat "$tmp/ether.log")"
