#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two AF_XDP ports, Ethernet unicast faces: Interests go out, Data comes back, each counted at both faces; an Interest
# without a route is answered with a Nack.
source "$(dirname "$0")/lib.sh"
make_namespaces
ether_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 1000

ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 2000 -i 500us -s 1000 -t 8
expect_no_loss 2000
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 1000 -t 32
expect_no_loss 100
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 1000
expect_no_loss 100

say "Interests without a route"
ping_from_consumer /B --ether c0 --remote $MAC_F0 -c 50 -i 1ms -t 4
expect '.sent == 50 and .nacked == 50'
[ "$(drop_count no_route)" = 50 ] || fail "no_route is $(drop_count no_route)"

[ "$(face_value consumer in_interests)" = 2250 ] || fail "consumer in_interests"
[ "$(face_value consumer out_data)" = 2200 ] || fail "consumer out_data"
[ "$(face_value consumer out_nacks)" = 50 ] || fail "consumer out_nacks"
[ "$(face_value producer out_interests)" = 2200 ] || fail "producer out_interests"
[ "$(face_value producer in_data)" = 2200 ] || fail "producer in_data"
check_quiet
stop_daemon
