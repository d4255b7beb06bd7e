#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A port on AF_XDP with our eBPF program shares its interface with the kernel: NDN frames reach the port and come back,
# each counted, while ping through the same veth loses nothing; the program is gone however the process ends.
source "$(dirname "$0")/lib.sh"
probe=$BUILD/test/net/xdp_probe
make_namespaces
in_c ethtool -K c0 txvlan off >/dev/null # else a tag travels beside the frame, where XDP cannot see it

programs() { ip -n "$NS_F" -j link show dev f0 | jq -r '.[0].xdp.prog.name // "none"'; }
no_program() { [ "$(programs)" = none ]; }
start_probe() { # NAME OPTION...
    local name=$1
    shift
    start "$name" "$NS_F" "$probe" receive f0 "$@"
    wait_for 10 grep -q ^ready "$tmp/$name.log" || fail "the port does not open: $(cat "$tmp/$name.log")"
}
value() { # NAME KEY: of the line that a probe prints at its end
    grep ^received "$tmp/$1.log" | grep -o "\b$2 [0-9]*" | cut -d' ' -f2
}
kinds_redirected=(ether vlan qinq udp4 vlan-udp4 udp6)
kinds_passed=(udp4-other udp6-other udp4-options udp4-fragment udp6-hopopt tcp4 three-tags other)

say "frames are sorted while ping runs"
start_probe first
first=$started
[ "$(programs)" = pitlane_xdp ] || fail "the program is not attached"
start pings "$NS_C" ping -q -i 0.01 -c 200 10.0.1.1
pings=$started
before=$(in_c cat /sys/class/net/c0/statistics/rx_packets)
in_c "$probe" send c0 $MAC_F0 500 "${kinds_redirected[@]}"
in_c "$probe" send c0 $MAC_F0 500 "${kinds_passed[@]}"
wait "$pings" || fail "ping: $(cat "$tmp/pings.log")"
grep -q ' 0% packet loss' "$tmp/pings.log" || fail "ping lost packets: $(cat "$tmp/pings.log")"
in_c ping -q -c 1 fd00:1::1 >/dev/null || fail "IPv6 neighbour discovery does not pass"
after=$(in_c cat /sys/class/net/c0/statistics/rx_packets)
finish "$first" || fail "the probe fails at its end: $(cat "$tmp/first.log")"
say "$(grep ^received "$tmp/first.log")"
[ "$(value first redirected)" = 3000 ] || fail "3000 frames should have been redirected"
[ "$(value first received)" = 3000 ] || fail "3000 frames should have been received"
[ "$(value first sent)" = 3000 ] || fail "3000 frames should have been sent back"
[ "$(value first dropped)" = 0 ] || fail "nothing should have been dropped"
grep -q '^left 0 twice 0$' "$tmp/first.log" || fail "packet buffers are lost at the end: $(tail -n 1 "$tmp/first.log")"
[ "$(value first passed)" -ge 4200 ] || fail "4000 other frames and 200 pings should have passed"
[ $((after - before)) -ge 3200 ] || fail "what was sent back did not arrive: $((after - before)) frames"
wait_for 2 no_program || fail "the program stays after the end"

say "other UDP ports can be configured"
start_probe ports 6364 7000
in_c "$probe" send c0 $MAC_F0 100 udp4-other udp6-other udp4
finish "$started" || fail "the probe fails at its end"
[ "$(value ports redirected)" = 200 ] || fail "port 6364 and only it: $(grep ^received "$tmp/ports.log")"

say "without any privilege the end still detaches"
start_probe unprivileged unprivileged
in_c "$probe" send c0 $MAC_F0 100 ether
finish "$started" || fail "the probe fails at its end"
[ "$(value unprivileged received)" = 100 ] || fail "an unprivileged port must receive: $(cat "$tmp/unprivileged.log")"
grep -q '^left 0 twice 0$' "$tmp/unprivileged.log" || fail "packet buffers are lost at an unprivileged end"
wait_for 2 no_program || fail "the program stays after an unprivileged end"

say "a port closes and opens again on a live interface"
start_probe again
in_c "$probe" send c0 $MAC_F0 100 ether
descriptors() { find "/proc/$started/fd" -type l | wc -l; }
before=$(descriptors)
for round in 1 2 3; do
    kill -HUP "$started"
    wait_for 3 sh -c "[ \$(grep -c ^reopened '$tmp/again.log') = $round ]" || fail "the port does not open again"
done
[ "$(descriptors)" = "$before" ] || fail "$before descriptors before, $(descriptors) after"
in_c "$probe" send c0 $MAC_F0 100 ether
finish "$started" || fail "the probe fails at its end"
[ "$(value again received)" = 200 ] || fail "$(cat "$tmp/again.log")"
[ "$(grep -c '^left 0 twice 0$' "$tmp/again.log")" = 4 ] || fail "$(cat "$tmp/again.log")"

say "an end under a flood loses no packet buffer, whatever the rings hold"
for speed in slow fast; do
    start_probe "flood-$speed" $speed
    receiver=$started
    start flood "$NS_C" "$probe" send c0 $MAC_F0 10000000 ether udp4
    sleep 0.7
    finish "$receiver" || fail "the probe fails at its end"
    finish "$started" || true
    say "$speed: $(grep ^received "$tmp/flood-$speed.log")"
    grep -q '^left 0 twice 0$' "$tmp/flood-$speed.log" || fail "$(tail -n 1 "$tmp/flood-$speed.log")"
done
[ "$(value flood-slow xsk_rx_ring_full)" -gt 0 ] || fail "the slow end should have had a full ring"

say "frames that no packet buffer holds are the kernel's loss, and seen"
in_f ip link set f0 mtu 3000
in_c ip link set c0 mtu 3000
start_probe big
grep -q 'packet buffers hold [0-9]* octets, its MTU is 3000' "$tmp/big.log" || fail "no warning: $(cat "$tmp/big.log")"
in_c "$probe" send c0 $MAC_F0 100 big ether
finish "$started" || fail "the probe fails at its end"
say "$(grep ^received "$tmp/big.log")"
[ "$(value big received)" = 100 ] || fail "100 of 200 frames fit"
[ "$(value big xsk_rx_dropped)" = 100 ] || fail "100 frames do not fit"
in_f ip link set f0 mtu 1500
in_c ip link set c0 mtu 1500

say "queues that no socket serves are warned of, and their frames counted"
ip link add c2 netns "$NS_C" numtxqueues 2 numrxqueues 2 type veth peer name f2 netns "$NS_F" numtxqueues 2 numrxqueues 2
in_c ethtool -L c2 tx 2 >/dev/null
in_f ethtool -L f2 rx 2 >/dev/null
in_c ip link set c2 up
in_f ip link set f2 up
start queues "$NS_F" "$probe" receive f2
wait_for 10 grep -q ^ready "$tmp/queues.log" || fail "the port does not open: $(cat "$tmp/queues.log")"
grep -q 'f2 receives on 2 queues and 1 of them are used.*ethtool -L f2 rx 1' "$tmp/queues.log" || fail "$(cat "$tmp/queues.log")"
in_c "$probe" send c2 ff:ff:ff:ff:ff:ff 100 ether udp4 udp6 # the senders choice of a queue depends on the flow
finish "$started" || fail "the probe fails at its end"
say "$(grep ^received "$tmp/queues.log")"
[ $(($(value queues redirected) + $(value queues dropped))) = 300 ] || fail "300 frames were sent"
[ "$(value queues redirected)" = "$(value queues received)" ] || fail "what was redirected was not received"

say "kill -9 leaves no program, and the port opens again at once"
for round in 1 2 3; do
    start_probe "killed$round"
    kill -KILL "$started"
    start_probe "again$round"
    finish "$started" || fail "the probe fails at its end"
done
wait_for 2 no_program || fail "the program stays after kill -9"

say "a program left behind is cleared away, in either mode; a stranger's is not"
for mode in xdpdrv xdpgeneric; do
    in_f ip link set dev f0 $mode obj "$BUILD/ports/xdp/pitlane.bpf.o" sec xdp
    start_probe "stale-$mode"
    grep -q 'removed the XDP program' "$tmp/stale-$mode.log" || fail "$(cat "$tmp/stale-$mode.log")"
    in_c "$probe" send c0 $MAC_F0 100 ether
    finish "$started" || fail "the probe fails at its end"
    [ "$(value "stale-$mode" received)" = 100 ] || fail "after a stale program: $(cat "$tmp/stale-$mode.log")"
done
echo '__attribute__((section("xdp"))) int stranger(void *c) { return 2; }' |
    clang -target bpf -O2 -g -x c - -c -o "$tmp/stranger.o"
in_f ip link set dev f0 xdp obj "$tmp/stranger.o" sec xdp
if in_f "$probe" receive f0 >"$tmp/stranger.log" 2>&1; then fail "a stranger's program was ignored"; fi
grep -q 'already has XDP program "stranger".*ip link set dev f0 xdp off' "$tmp/stranger.log" ||
    fail "$(cat "$tmp/stranger.log")"
[ "$(programs)" = stranger ] || fail "the stranger's program was removed"
in_f ip link set dev f0 xdp off

say "a second pitlane on the interface is refused with the reason"
start_probe owner
owner=$started
if in_f "$probe" receive f0 >"$tmp/second.log" 2>&1; then fail "two ports on one interface"; fi
grep -q 'interface f0 is in use by another pitlane' "$tmp/second.log" || fail "$(cat "$tmp/second.log")"
[ "$(programs)" = pitlane_xdp ] || fail "the second took the program away"
finish "$owner" || fail "the probe fails at its end"

say "what stands in the way is named, with its cure"
in_f ip link set f0 down
if in_f "$probe" receive f0 >"$tmp/down.log" 2>&1; then fail "an interface that is down"; fi
grep -q 'ip link set dev f0 up' "$tmp/down.log" || fail "$(cat "$tmp/down.log")"
in_f ip link set f0 up
if in_f "$probe" receive none0 >"$tmp/none.log" 2>&1; then fail "an interface that does not exist"; fi
grep -q 'no network interface "none0"' "$tmp/none.log" || fail "$(cat "$tmp/none.log")"
in_f ip link set f0 mtu 9000
in_c ip link set c0 mtu 9000
if in_f "$probe" receive f0 >"$tmp/mtu.log" 2>&1; then fail "native XDP with an MTU of 9000"; fi
grep -q 'error: f0 does not take an XDP program.*9000' "$tmp/mtu.log" || fail "$(cat "$tmp/mtu.log")"
in_f ip link set f0 mtu 1500
in_c ip link set c0 mtu 1500
if in_f setpriv --bounding-set -all --inh-caps -all --no-new-privs "$probe" receive f0 >"$tmp/caps.log" 2>&1; then
    fail "no capability"
fi
grep -q 'needs.*CAP_NET_ADMIN' "$tmp/caps.log" || fail "$(cat "$tmp/caps.log")"
