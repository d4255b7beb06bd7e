#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faces on VLANs: Ethernet on one, UDP on another, both on one port; untagged frames and other tags are not theirs.
source "$(dirname "$0")/lib.sh"
make_namespaces
# Tags stand in the frame, not beside it.
in_c ethtool -K c0 txvlan off rxvlan off >/dev/null 2>&1 || true
in_f ethtool -K f0 txvlan off rxvlan off >/dev/null 2>&1 || true
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

ping_from_consumer /A --ether c0 --vlan 7 --remote $MAC_F0 -c 500 -i 1ms -s 500 -t 8
expect_no_loss 500
[ "$(face_value tagged out_data)" = 500 ] || fail "tagged out_data"

say "UDP below a tag"
start capture "$NS_C" tcpdump -U -n -i c0 -Q in -w "$tmp/c.pcap" vlan 9
wait_for 5 grep -q listening "$tmp/capture.log" || fail "tcpdump"
for i in 1 2 3 4 5; do
    # Interest /A/<i>
    in_c python3 "$here/send.py" c0 $MAC_F0 $MAC_C0 1 udp "050E07060801410801${i/#/3}0A0401020304" vlan=9
done
wait_for 2 sh -c "[ \"\$(tcpdump -n -r '$tmp/c.pcap' 2>/dev/null | wc -l)\" = 5 ]" || fail "answers: $(tcpdump -e -n -r "$tmp/c.pcap")"
[ "$(face_value tagged-udp in_interests)" = 5 ] || fail "tagged-udp in_interests"
[ "$(face_value tagged-udp out_data)" = 5 ] || fail "tagged-udp out_data"
tcpdump -n -vv -r "$tmp/c.pcap" 'vlan 9 and udp port 6363' 2>/dev/null | grep -c 'udp sum ok' | grep -qx 5 || fail "checksums below the tag"

say "a tag that no face has, and no tag"
before=$(drop_count l2_vlan)
ping_from_consumer /A --ether c0 --vlan 11 --remote $MAC_F0 -c 10 -i 1ms -W 200ms
expect '.sent == 10 and .received == 0'
[ $(($(drop_count l2_vlan) - before)) = 10 ] || fail "l2_vlan is $(drop_count l2_vlan)"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 10 -i 1ms -W 200ms
expect '.sent == 10 and .received == 0'
check_quiet
stop_daemon
