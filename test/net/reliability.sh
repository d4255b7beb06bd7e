#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two forwarders in a row, and between them a relay that loses, duplicates and reorders a tenth of all frames. With
# NDNLPv2 reliability on that link, Ethernet or UDP, consumers that never ask twice get what they ask for, whole packets
# and packets in fragments; the same without it shows what the link is like. All buffers come back.
source "$(dirname "$0")/lib.sh"
make_namespaces
# consumer c0 -- f0 first m1 -- m2 relay m3 -- m4 second f1 -- p0 producer; the forwarders and the relay share a
# namespace, with ports of their own.
MAC_M1=02:00:00:00:06:01 MAC_M4=02:00:00:00:06:04
link_pair "$NS_F" m1 $MAC_M1 "$NS_F" m2 02:00:00:00:06:02
link_pair "$NS_F" m3 02:00:00:00:06:03 "$NS_F" m4 $MAC_M4
for dev in m1 m2 m3 m4; do ip -n "$NS_F" link set $dev up; done

# FILE PORT NEIGHBOUR-NETDEV NEIGHBOUR-MAC LINK-NETDEV LINK-HOST PEER-HOST PEER-MAC NEXT WORKERS
forwarder_conf() {
    local toward=neighbour
    [ "$9" = link ] && toward=link
    cat <<CONF | write_conf "$1" "count = ${10};"
port: {
  side: { netdev = "$3"; };
  link: { netdev = "$5"; address4 = "10.0.6.$6/24"; udp-ports = [ 6363, 6364 ]; };
};
face: {
  neighbour: { port = "side"; remote = "ether://[$4]"; };
  link-ether: { port = "link"; remote = "ether://[$8]"; reliability = true; };
  link-udp: { port = "link"; remote = "udp4://10.0.6.$7"; mac = "$8"; reliability = true; mtu = 1200; };
  link-plain: { port = "link"; remote = "udp4://10.0.6.$7:6364"; local = "udp4://10.0.6.$6:6364"; mac = "$8"; };
};
# Three retransmissions of a fragment take longer than the usual half second.
lp: { timeout = "2s"; };
route: (
  { prefix = "/ether"; face = "${toward/link/link-ether}"; },
  { prefix = "/udp"; face = "${toward/link/link-udp}"; },
  { prefix = "/plain"; face = "${toward/link/link-plain}"; }
);
CONF
}
forwarder_conf "$tmp/first" side f0 $MAC_C0 m1 1 4 $MAC_M4 link 1
forwarder_conf "$tmp/second" side f1 $MAC_P0 m4 4 1 $MAC_M1 neighbour 2
sed -i "s|runtime-dir = \"$tmp/run\"|runtime-dir = \"$tmp/run2\"|" "$tmp/second"
mkdir -p "$tmp/run2"
start second "$NS_F" "$pitlaned" -c "$tmp/second"
second=$started
start_daemon "$tmp/first"
wait_for 20 grep -qw ready "$tmp/second.log" || fail "second forwarder"
ask2() { "$pitlane" "$@" -j -r "$tmp/run2"; }
second_baseline=$(ask2 status | jq .pool_in_use)
start relay "$NS_F" python3 "$here/relay.py" --seed 11 --loss 0.1 --duplicate 0.1 --reorder 0.1 m2 m3
relay=$started
wait_for 5 grep -q ready "$tmp/relay.log" || fail "relay"
for prefix in ether udp plain; do
    start_producer "$prefix" /$prefix/small --ether p0 --remote $MAC_F1 -s 100
    start_producer "$prefix-large" /$prefix/large --ether p0 --remote $MAC_F1 -s 5000
done

# An Interest and its Data cross the link once each: of 2000 exchanges about 380 fail without repetition.
ping_from_consumer /plain/small --ether c0 --remote $MAC_F0 -c 1000 -i 2ms -W 4s -s 100 -t 4
expect '.sent == 1000 and .bad == 0 and .received > 600 and .received < 900'
# With three retransmissions a link-layer packet is lost with a chance of 0.0001.
for prefix in ether udp; do
    ping_from_consumer /$prefix/small --ether c0 --remote $MAC_F0 -c 2000 -i 2ms -W 6s -s 100 -t 4
    expect '.sent == 2000 and .bad == 0 and .received >= 1995'
    # Each Data in four or five fragments.
    ping_from_consumer /$prefix/large --ether c0 --remote $MAC_F0 -c 500 -i 4ms -W 6s -s 5000 -t 4
    expect '.sent == 500 and .bad == 0 and .received >= 495'
done
finish "$relay" || fail "relay"
tail -n 1 "$tmp/relay.log"

[ "$(drop_count lp_duplicate)" -gt 0 ] || fail "nothing came twice"
# Nothing is kept for ever: the last is acknowledged, or given up.
sleep 1
check_quiet
ok=
for _ in $(seq 40); do
    state=$(ask2 status)
    error=$(jq '.received + .originated - .sent - .consumed - .dropped - .held' <<<"$state")
    in_use=$(($(jq .pool_in_use <<<"$state") - second_baseline))
    if [ "$error" = 0 ] && [ "$in_use" -le "$POOL_SLACK" ]; then ok=1; break; fi
    sleep 0.1
done
[ -n "$ok" ] || fail "second forwarder: $error frames unaccounted for, $in_use buffers not back"
finish "$second" || fail "second forwarder"
stop_daemon
