#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Servers on a VLAN of their port and one on none: transfers with changes of port by all of them, and every datagram comes
# tagged as it must be. The servers' end of the VLAN is a program of ours, since not every kernel has one. Where this one
# has, a route by a VLAN interface leads to a server, and the MAC address of another is found on the VLAN of its port.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 3
decapsulate=$BUILD/test/net/decapsulate
# Tags stand in the frame, not beside it.
in_f ethtool -K f1 txvlan off rxvlan off >/dev/null 2>&1 || true
vlan_server() { # SERVER ADDRESS MORE
    echo "server$1: { service = \"web\"; address = \"$2\"; id = [ \"$(id_of "$1" 3)\" ]; $3 };"
}
vlan_conf() { # SERVER...
    quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; } );
quic-server: { $* };
CONF
}
vlans() { ask quic show web | jq -c '[.servers[] | select(.mac != "") | .vlan]'; }

say "port and VLAN configured"
vlan_conf "$(vlan_server 1 10.0.7.11 "port = \"right\"; vlan = 7; mac = \"$(mac_of 1)\";")" \
    "$(vlan_server 2 10.0.8.12 "port = \"right\"; vlan = 4094; mac = \"$(mac_of 2)\";")" "$(conf_server 3 up 3)"
start_daemon "$tmp/conf"
known() { [ "$(vlans)" = '[7,4094,0]' ]; }
wait_for 20 known || fail "VLANs of servers: $(ask quic show web)"
for i in 1 2 3; do start_server $i -i "$(id_of $i 3)" -l 0 -n 5; done
start decapsulate1 "$(ns_of 1)" "$decapsulate" $VPORT e0 7
tunnel_pid[1]=$started
start decapsulate2 "$(ns_of 2)" "$decapsulate" $VPORT e0 4094
tunnel_pid[2]=$started
for i in 1 2; do wait_for 10 grep -q ready "$tmp/decapsulate$i.log" || fail "decapsulate"; done
for vip in $VIP $VIP6; do
    upload -n 24 -o 200000 -r 1000000 -b 1 -m 1 $vip
    expect '.ok == 24 and .moves == 48 and .resets == 0 and (.servers | length == 3)'
done
for i in 1 2; do
    finish "${tunnel_pid[$i]}" || fail "decapsulate"
    counts=$(tail -n 1 "$tmp/decapsulate$i.log")
    say "server $i: $counts"
    jq -e '.vlan > 500 and .untagged + .outer_bad + .inner_bad + .refused == 0' <<<"$counts" >/dev/null ||
        fail "frames of server $i: $counts"
done
ask quic explain "40$("$pitlane" quic cid encode "$(id_of 1 3)" --config "$tmp/conf" --service web -j | jq -r .cid)$(printf '00%.0s' $(seq 20))" \
    --service web | jq -e 'any(.steps[]; test("by port right, VLAN 7"))' >/dev/null || fail "explain does not tell the VLAN"

say "another VLAN by a reload"
vlan_conf "$(vlan_server 1 10.0.7.11 "port = \"right\"; vlan = 8; mac = \"$(mac_of 1)\";")" "$(conf_server 3 up 3)"
kill -HUP "$daemon_pid"
known() { [ "$(vlans)" = '[8,0]' ]; }
wait_for 20 known || fail "VLANs of servers: $(ask quic show web)"

if ip -n "$NS_F" link add link f1 name f1.7 type vlan id 7 2>"$tmp/vlan"; then
    say "VLAN found by the kernel's routes and neighbours"
    ip -n "$NS_F" addr add 10.0.7.1/24 dev f1.7
    ip -n "$NS_F" link set f1.7 up
    for i in 1 2; do
        in_s $i ethtool -K e0 txvlan off rxvlan off >/dev/null 2>&1 || true
        ip -n "$(ns_of $i)" link add link e0 name e0.7 type vlan id 7
        ip -n "$(ns_of $i)" addr add "10.0.7.$((10 + i))/24" dev e0.7
        ip -n "$(ns_of $i)" link set e0.7 up
        in_s $i sysctl -qw net.ipv4.conf.e0/7.rp_filter=0
    done
    vlan_conf "$(vlan_server 1 10.0.7.11 "")" "$(vlan_server 2 10.0.7.12 'port = "right"; vlan = 7;')" \
        "$(conf_server 3 up 3)"
    kill -HUP "$daemon_pid"
    known() { [ "$(vlans)" = '[7,7,0]' ]; }
    wait_for 30 known || fail "VLANs of servers: $(ask quic show web)"
    upload -n 24 -o 200000 -r 1000000 -b 1 -m 1 $VIP
    expect '.ok == 24 and .moves == 48 and .resets == 0 and (.servers | length == 3)'
else
    say "this kernel has no VLAN interfaces: $(cat "$tmp/vlan")"
fi
stop_servers 1 2 3
check_drops
check_quiet
stop_daemon
