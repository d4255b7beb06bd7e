#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two workers on one queue each: names are spread over both, and what arrives at the wrong one crosses the ring; Data
# with and without PIT token, whole and fragmented; Interests shorter than the dispatch prefix.
source "$(dirname "$0")/lib.sh"
make_namespaces
ether_conf "$tmp/conf" / "count = 2; dispatch-components = 2;"
start_daemon "$tmp/conf"
start_producer server / --ether p0 --remote $MAC_F1 -s 200
# One prefix for each of sixteen slots of the dispatch table.
for i in $(seq 16); do
    ping_from_consumer "/net$i/site$i" --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 200 -t 8
    expect_no_loss 100
done
[ "$(ask worker list | jq '.workers | length')" = 2 ] || fail "two workers are wanted"
ask worker list | jq -e '[.workers[].handed_over] | add > 0' >/dev/null || fail "nothing crossed the ring"
# Each port has one queue, and one worker sends on it; that one counts what the other gives it.
[ "$(ask worker list | jq -c '[.workers[].tx_frames] | sort')" = "$(ask port list | jq -c '[.ports[].tx_frames] | sort')" ] ||
    fail "frames sent by worker and by port: $(show worker list; show port list)"
ask worker list | jq -e '[.workers[].relayed] | min > 0' >/dev/null || fail "no worker sent for another"
finish "$started" || fail "pingserver"
start_producer server2 / --ether p0 --remote $MAC_F1 -s 5000
for i in $(seq 4); do
    ping_from_consumer "/net$i/site$i" --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 5000
    expect_no_loss 100
done
check_quiet
stop_daemon
