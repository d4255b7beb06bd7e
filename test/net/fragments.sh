#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NDNLPv2 fragmentation at MTU 1500: Data of 8000 octets crosses Ethernet and UDP in six fragments, both ways through
# reassembly; packets that need no fragmentation have none of its fields.
source "$(dirname "$0")/lib.sh"
make_namespaces
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  consumer4: { port = "left"; remote = "udp4://10.0.1.2:6363"; mac = "$MAC_C0"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
  producer6: { port = "right"; remote = "udp6://[fd00:2::2]:6363"; mac = "$MAC_P0"; };
};
route: ( { prefix = "/A"; face = "producer"; }, { prefix = "/B"; face = "producer6"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 8000
start_producer server6 /B --local '[fd00:2::2]:6363' -s 8000

for prefix in /A /B; do
    ping_from_consumer $prefix --ether c0 --remote $MAC_F0 -c 500 -i 1ms -s 8000 -t 8
    expect_no_loss 500
    ping_from_consumer $prefix --udp 10.0.1.1 --local 10.0.1.2:6363 -c 500 -i 1ms -s 8000
    expect_no_loss 500
done
check_quiet
stop_daemon
