#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MTU 9000: Data of 8500 octets crosses two ports in one frame each. AF_XDP ends at about 3300 octets and DPDK lets its
# af_packet driver go no further than 1500, so the ports are libpcap's. Its ring holds some thirty frames: a small window.
source "$(dirname "$0")/lib.sh"
make_namespaces
# Addresses that the driver gives its ports.
MAC_F0=02:70:63:61:70:00 MAC_F1=02:70:63:61:70:01
for pair in "$NS_C c0" "$NS_F f0" "$NS_F f1" "$NS_P p0"; do
    read -r ns dev <<<"$pair"
    ip -n "$ns" link set "$dev" mtu 9000
done
MBUF_SIZE=10240 MBUFS=8192 write_conf "$tmp/conf" <<CONF
port: {
  left: { device = "net_pcap0,rx_iface_in=f0,tx_iface=f0"; mtu = 9000; };
  right: { device = "net_pcap1,rx_iface_in=f1,tx_iface=f1"; mtu = 9000; };
};
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
};
route: ( { prefix = "/A"; face = "producer"; } );
CONF
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 8500

ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 500 -i 1ms -w 4 -s 8500 -t 8
expect_no_loss 500
[ "$(drop_count lp_reass_timeout)" = 0 ] || fail "there was something to reassemble"
[ "$(ask drops -a | jq '[.drops[] | select(.reason == "reassembled") | .count] | add')" = 0 ] ||
    fail "there was something to reassemble"
check_quiet
stop_daemon
