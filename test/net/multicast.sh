#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Multicast faces: the NDN group over Ethernet, and over UDP; a multi-access face sends no Nack.
source "$(dirname "$0")/lib.sh"
make_namespaces
{
    xdp_ports | sed 's|"f0";|"f0"; udp-ports = [6363, 56363];|'
    cat <<CONF
face: {
  group: { port = "left"; remote = "ether://[01:00:5e:00:17:aa]"; };
  group4: { port = "left"; remote = "udp4://224.0.23.170:56363"; };
  producer: { port = "right"; remote = "ether://[01:00:5e:00:17:aa]"; };
};
route: ( { prefix = "/A"; face = "producer"; } );
strategy: ( { prefix = "/A"; strategy = "multicast"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 -s 300

ping_from_consumer /A --ether c0 -c 500 -i 1ms -s 300
expect_no_loss 500
ping_from_consumer /A --udp 224.0.23.170:56363 --local 10.0.1.2 -c 500 -i 1ms -s 300
expect_no_loss 500

say "no Nack on a multi-access face"
ping_from_consumer /B --ether c0 -c 10 -i 1ms -W 200ms
expect '.sent == 10 and .nacked == 0 and .timeouts == 10'
[ "$(face_value group out_nacks)" = 0 ] || fail "a Nack went to the group"
check_quiet
stop_daemon
