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
