#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# UDP over IPv4 and IPv6: one consumer on each, a producer on the other; next hops come from the kernel's neighbour
# table; the kernel accepts every checksum that we write.
source "$(dirname "$0")/lib.sh"
make_namespaces
{
    xdp_ports
    cat <<CONF
face: {
  consumer4: { port = "left"; remote = "udp4://10.0.1.2:6363"; };
  consumer6: { port = "left"; remote = "udp6://[fd00:1::2]:6363"; };
  producer4: { port = "right"; remote = "udp4://10.0.2.2:6363"; };
  producer6: { port = "right"; remote = "udp6://[fd00:2::2]:6366"; };
};
route: (
  { prefix = "/A"; face = "producer4"; },
  { prefix = "/B"; face = "producer6"; }
);
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server4 /A --local 10.0.2.2:6363 -s 1000
start_producer server6 /B --local '[fd00:2::2]:6366' -s 1000
wait_for 10 sh -c "! '$pitlane' face list -j -r '$tmp/run' | jq -e '.faces[] | select(.state != \"up\")'" ||
    fail "faces do not come up: $(show face list)"

for prefix in /A /B; do
    ping_from_consumer $prefix --udp 10.0.1.1 --local 10.0.1.2:6363 -c 1000 -i 500us -s 1000 -t 8
    expect_no_loss 1000
    ping_from_consumer $prefix --udp '[fd00:1::1]:6363' --local '[fd00:1::2]:6363' -c 1000 -i 500us -s 1000
    expect_no_loss 1000
done
in_p cat /proc/net/snmp /proc/net/snmp6 | awk '/^Udp: [0-9]/ && $4 > 0 {print; bad = 1}
    /^Udp6InErrors|^Udp6InCsumErrors/ && $2 > 0 {print; bad = 1} END {exit bad}' || fail "the kernel saw bad datagrams"

say "datagrams from endpoints that no face has"
ping_from_consumer /A --udp 10.0.1.1 --local 10.0.1.2:7777 -c 10 -i 1ms -W 200ms
expect '.sent == 10 and .received == 0'
[ "$(drop_count udp_unmatched)" = 10 ] || fail "udp_unmatched is $(drop_count udp_unmatched)"
check_quiet
stop_daemon
