#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NDN and QUIC side by side on the same ports and in the same worker: no Interest is lost while transfers with changes of
# port go on, and the other way round.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 3
quic_conf "$tmp/conf" <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  producer: { port = "right"; remote = "ether://[$(mac_of 3)]"; };
};
route: ( { prefix = "/A"; face = "producer"; } );
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; } );
quic-server: { $(conf_server 1 up 3) $(conf_server 2 up 3) };
CONF
start_daemon "$tmp/conf"
for i in 1 2; do start_server $i -i "$(id_of $i 3)" -l 0 -n 5; done
start pingserver "$(ns_of 3)" "$pitlane" pingserver /A -q --ether e0 --remote $MAC_F1 -s 1000
wait_for 5 grep -q ready "$tmp/pingserver.log" || fail "pingserver is not ready"
upload_begin -n 12 -o 500000 -r 500000 -b 1 -m 1 -f 60 $VIP
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 4000 -i 1ms -s 1000 -t 8
expect_no_loss 4000
upload_stop
expect '.ok >= 12 and .failed == 0 and .moves == 2 * .ok and .resets == 0'
stop_servers 1 2
check_drops
check_quiet
stop_daemon
