#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faces on VLANs: Ethernet on one, UDP on another, both on one port; untagged frames and other tags are not theirs.
source "$(dirname "$0")/lib.sh"
make_namespaces
# The kernel's VLAN interfaces, checksums finished, tags in the frame and not beside it.
ip -n "$NS_C" link add link c0 name c0.7 type vlan id 7
ip -n "$NS_C" link add link c0 name c0.9 type vlan id 9
ip -n "$NS_C" link add link c0 name c0.11 type vlan id 11
in_c ethtool -K c0 txvlan off rxvlan off >/dev/null
in_f ethtool -K f0 txvlan off rxvlan off >/dev/null
for dev in c0.7 c0.9 c0.11; do
    in_c ethtool -K $dev tx off >/dev/null 2>&1 || true
    ip -n "$NS_C" link set $dev up
done
ip -n "$NS_C" addr flush dev c0
ip -n "$NS_C" addr add 10.0.1.2/24 dev c0.9
ip -n "$NS_C" neigh replace 10.0.1.1 lladdr $MAC_F0 dev c0.9
{
    xdp_ports
    cat <<CONF
face: {
  tagged: { port = "left"; vlan = 7; remote = "ether://[$MAC_C0]"; };
  tagged-udp: { port = "left"; vlan = 9; remote = "udp4://10.0.1.2:6363"; mac = "$MAC_C0"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
};
route: ( { prefix = "/A"; face = "producer"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 500

ping_from_consumer /A --ether c0.7 --remote $MAC_F0 -c 500 -i 1ms -s 500 -t 8
expect_no_loss 500
ping_from_consumer /A --udp 10.0.1.1 --local 10.0.1.2:6363 -c 500 -i 1ms -s 500
expect_no_loss 500

say "a tag that no face has, and no tag"
before=$(drop_count l2_vlan)
ping_from_consumer /A --ether c0.11 --remote $MAC_F0 -c 10 -i 1ms -W 200ms
expect '.sent == 10 and .received == 0'
[ $(($(drop_count l2_vlan) - before)) = 10 ] || fail "l2_vlan is $(drop_count l2_vlan)"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 10 -i 1ms -W 200ms
expect '.sent == 10 and .received == 0'
check_quiet
stop_daemon
