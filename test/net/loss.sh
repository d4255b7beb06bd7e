#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A link that loses, duplicates and reorders frames, between consumer and forwarder: what arrives is right, nothing is
# counted twice, incomplete packets are given up, and all buffers come back.
source "$(dirname "$0")/lib.sh"
make_namespaces
# consumer c0 -- r0 relay r1 -- f0: the relay stands in the consumer's namespace, with veth pairs of its own.
link_pair "$NS_C" c1 02:00:00:00:05:02 "$NS_C" r0 02:00:00:00:05:01
for dev in c1 r0; do ip -n "$NS_C" link set $dev up; done
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[02:00:00:00:05:02]"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
};
route: ( { prefix = "/A"; face = "producer"; }, { prefix = "/B"; face = "producer"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start relay "$NS_C" python3 "$here/relay.py" --seed 7 --loss 0.05 --duplicate 0.05 --reorder 0.05 r0 c0
relay=$started
wait_for 5 grep -q ready "$tmp/relay.log" || fail "relay"
start_producer server /A --ether p0 --remote $MAC_F1 -s 100
start_producer server2 /B --ether p0 --remote $MAC_F1 -s 8000

# Whole packets: each is lost with a chance of about 1 - 0.95^2.
ping_from_consumer /A --ether c1 --remote $MAC_F0 -c 2000 -i 1ms -W 1s -s 100 -t 8
expect '.sent == 2000 and .bad == 0 and .received > 1650 and .received < 1950'
# Six fragments: about 0.95^7.
ping_from_consumer /B --ether c1 --remote $MAC_F0 -c 500 -i 2ms -W 1s -s 8000 -t 8
expect '.sent == 500 and .bad == 0 and .received > 250 and .received < 450'
finish "$relay" || fail "relay"
tail -n 1 "$tmp/relay.log"
check_quiet
stop_daemon
