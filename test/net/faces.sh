#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faces made and destroyed by management while packets flow: a UDP remote that the kernel's routes lead to over a port
# becomes a face of that port; peers that nobody configured get on-demand faces by their first datagram.
source "$(dirname "$0")/lib.sh"
make_namespaces
cat <<CONF | write_conf "$tmp/conf"
port: {
  left: { netdev = "f0"; address4 = "10.0.1.1/24"; address6 = "fd00:1::1/64"; udp-on-demand = 4;
          udp-idle-timeout = "2s"; };
  right: { netdev = "f1"; address4 = "10.0.2.1/24"; address6 = "fd00:2::1/64"; };
};
CONF
start_daemon "$tmp/conf"
export NDN_CLIENT_TRANSPORT="unix://$tmp/run/conf/nfd.sock"
manage() { "$pitlane" "$@"; }
on_demand() { manage face list -j | jq '[.faces[] | select(.remote | test("^udp[46]://(10.0.1.2|.fd00:1::2)"))] | length'; }
has_face() { manage face list | grep -qF "$1"; }

say "a neighbour over UDP"
manage face create udp4://10.0.2.2:6363 | tee "$tmp/created"
grep -q 'local=udp4://10.0.2.1:6363' "$tmp/created" || fail "not a face of the port"
manage face create udp4://10.0.2.2:6363 | tee "$tmp/again"
[ "$(grep -o 'id=[0-9]*' "$tmp/created")" = "$(grep -o 'id=[0-9]*' "$tmp/again")" ] || fail "made twice"
manage route add /A udp4://10.0.2.2:6363
start_producer server4 /A --local 10.0.2.2:6363 -s 1000

say "a consumer that nobody configured: its first Interest is answered too"
ping_from_consumer /A --udp 10.0.1.1 --local 10.0.1.2:7777 -c 500 -i 500us -s 1000
expect_no_loss 500
has_face udp4://10.0.1.2:7777 || fail "no on-demand face"
ping_from_consumer /A --udp '[fd00:1::1]:6363' --local '[fd00:1::2]:7778' -c 100 -i 500us -s 1000
expect_no_loss 100
has_face 'udp6://[fd00:1::2]:7778' || fail "no on-demand face over IPv6"
[ "$(on_demand)" = 2 ] || fail "on-demand faces: $(on_demand)"
[ "$(drop_count unknown_peer)" -ge 2 ] || fail "unknown_peer is $(drop_count unknown_peer)"

say "no more of them than may be"
for port in 8001 8002 8003 8004 8005; do
    ping_from_consumer /A --udp 10.0.1.1 --local 10.0.1.2:$port -c 2 -i 1ms -W 100ms
    [ "$(on_demand)" -le 4 ] || fail "too many: $(manage face list)"
done
[ "$(on_demand)" -le 4 ] || fail "too many: $(manage face list)"

say "idle ones go"
none_left() { [ "$(on_demand)" = 0 ]; }
wait_for 10 none_left || fail "still there: $(manage face list)"

say "a neighbour over Ethernet"
manage face create "ether://[$MAC_P0]" local dev://f1
has_face "ether://[$MAC_P0]" || fail "no Ethernet face"

say "a remote behind a gateway, one on the link alone, and one on a VLAN"
ip -n "$NS_P" addr add 10.0.9.9/32 dev lo
ip -n "$NS_F" route add 10.0.9.0/24 via 10.0.2.2
manage face create udp4://10.0.9.9:6363 | tee "$tmp/created"
grep -q 'local=udp4://10.0.2.1:6363' "$tmp/created" || fail "not a face of the port"
manage route add /G udp4://10.0.9.9:6363
start_producer serverG /G --local 10.0.9.9:6363
wait_for 10 grep -q 'face udp4://10.0.9.9:6363: next hop found' "$tmp/pitlaned.log" || fail "no next hop"
ping_from_consumer /G --udp 10.0.1.1 --local 10.0.1.2:7777 -c 100 -i 1ms
expect_no_loss 100
manage face create 'udp6://[fe80::ff:fe00:202%f1]:6363' | tee "$tmp/created"
grep -qF 'local=udp6://[fe80::ff:fe00:201%f1]:6363' "$tmp/created" || fail "not from the link's address"
wait_for 10 grep -qF 'face udp6://[fe80::ff:fe00:202%f1]:6363: next hop found' "$tmp/pitlaned.log" || fail "no next hop"
if ip -n "$NS_F" link add link f1 name f1.5 type vlan id 5 2>"$tmp/vlan"; then
    ip -n "$NS_F" addr add 10.0.5.1/24 dev f1.5
    ip -n "$NS_F" link set f1.5 up
    manage face create udp4://10.0.5.2:6363 | tee "$tmp/created"
    grep -q 'local=udp4://10.0.5.1:6363' "$tmp/created" || fail "not from the VLAN's address"
else
    say "no VLAN interfaces here: $(cat "$tmp/vlan")"
fi

say "remotes that no port leads to go by the kernel"
start peer "$NS_F" python3 -c 'import socket
peers = []
server = socket.create_server(("127.0.0.1", 7000))
print("ready", flush=True)
while True: peers.append(server.accept())'
wait_for 5 grep -q ready "$tmp/peer.log" || fail "no TCP peer"
manage face create tcp4://127.0.0.1:7000 | tee "$tmp/created"
grep -q 'face-created .*remote=tcp4://127.0.0.1:7000' "$tmp/created" || fail "no TCP face"
manage face create udp4://127.0.0.1:7001 | tee "$tmp/created"
grep -q 'face-created .*remote=udp4://127.0.0.1:7001' "$tmp/created" || fail "no UDP face"
manage face create tcp4://127.0.0.1:7002 && fail "connected to nobody"

say "destroyed while packets flow"
in_c "$pitlane" ping /A --udp 10.0.1.1 --local 10.0.1.2:7777 -c 400 -i 5ms -W 200ms -j >"$tmp/flow.json" &
flow=$!
sleep 0.7
manage face destroy udp4://10.0.2.2:6363
has_face udp4://10.0.2.2:6363 && fail "the face is still there"
wait $flow || true
summary=$(cat "$tmp/flow.json")
say "$(jq -c '{sent, received, nacked, timeouts}' <<<"$summary")"
expect '.received > 50 and .received < .sent'
manage route list | grep -q '^prefix=/A ' && fail "its route is still there"
check_quiet
stop_daemon
