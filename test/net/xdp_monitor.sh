#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faces follow the machine: next hops are resolved by the kernel (on the link, behind a gateway, on a VLAN, IPv4 and
# IPv6, without privileges too) and followed when their MAC addresses change; carrier, MTU, deletion and return of the
# interface are noticed within a second.
source "$(dirname "$0")/lib.sh"
probe=$BUILD/test/net/xdp_probe
make_namespaces
in_c ethtool -K c0 txvlan off >/dev/null
in_f ip route add 192.0.2.0/24 via 10.0.1.2
vlan=
if in_f ip link add link f0 name f0.10 type vlan id 10 2>/dev/null; then
    vlan=watch=10.10.0.2,10
    in_f ip addr add 10.10.0.1/24 dev f0.10
    in_f ip link set f0.10 up
    in_c ip link add link c0 name c0.10 address 02:00:00:00:10:02 type vlan id 10
    in_c ip addr add 10.10.0.2/24 dev c0.10
    in_c ip link set c0.10 up
else
    say "this kernel has no VLAN interfaces: next hops on a VLAN are not tried"
fi

log=
start_probe() { # NAME OPTION...
    log=$tmp/$1.log
    start "$1" "$NS_F" "$probe" receive f0 "${@:2}"
    wait_for 10 grep -q ^ready "$log" || fail "the port does not open"
}
told() { # SECONDS REGEX: a line that came since the last mark
    wait_for "$1" sh -c "tail -n +$mark '$log' | grep -q '$2'" || fail "not told within $1 s: $2; $(tail -n +$mark "$log")"
}
set_mark() { mark=$(($(wc -l <"$log") + 1)); }
mark=1

say "next hops"
start_probe hops watch=10.0.1.2 watch=192.0.2.77 watch=fd00:1::2 $vlan watch=10.0.1.99
told 3 "face-up udp4://10.0.1.2:6363 mac $MAC_C0 down 0 mtu 1472"
told 3 "face-up udp4://192.0.2.77:6363 mac $MAC_C0 down 0"
told 3 "face-up udp6://\[fd00:1::2\]:6363 mac $MAC_C0 down 0 mtu 1452"
[ -z "$vlan" ] || told 5 "face-up udp4://10.10.0.2:6363 mac 02:00:00:00:10:02 down 0"
if grep -q 'face-up udp4://10.0.1.99' "$log"; then fail "nobody has 10.0.1.99"; fi

say "a next hop with another MAC address"
set_mark
in_c ip link set c0 address 02:00:00:00:01:77
in_c ping -q -c 1 10.0.1.1 >/dev/null
in_f ip neigh replace 10.0.1.2 dev f0 lladdr 02:00:00:00:01:77 nud reachable
told 2 "face-up udp4://10.0.1.2:6363 mac 02:00:00:00:01:77 down 0"

say "a neighbour that appears late"
set_mark
in_c ip addr add 10.0.1.99/24 dev c0
told 20 "face-up udp4://10.0.1.99:6363"

say "a route that changes"
set_mark
in_c ip addr add 10.0.1.3/24 dev c0
in_f ip neigh replace 10.0.1.3 dev f0 lladdr 02:00:00:00:01:03 nud permanent
in_f ip route replace 192.0.2.0/24 via 10.0.1.3
told 2 "face-up udp4://192.0.2.77:6363 mac 02:00:00:00:01:03 down 0"

say "carrier"
set_mark
in_c ip link set c0 down
told 1 'event link-down'
in_c ip link set c0 up
told 1 'event link-up'
in_c ip route replace default via 10.0.1.1

say "MTU"
set_mark
in_f ip link set f0 mtu 1300
told 1 'event mtu 1300'

say "the interface is deleted, made again, and used again"
set_mark
descriptors() { find "/proc/$started/fd" -type l -printf '%l\n' | sed 's/[0-9]*\]//' | sort | uniq -c; }
before=$(descriptors)
in_f ip link del f0
told 1 'event gone'
link_pair "$NS_C" c0 $MAC_C0 "$NS_F" f0 02:00:00:00:01:aa
addresses "$NS_F" f0 1 1
addresses "$NS_C" c0 1 2
told 2 'event returned'
told 2 'reopened'
told 1 '^left 0 twice 0$'
after=$(descriptors)
[ "$before" = "$after" ] || fail "descriptors before: $before after: $after"
told 5 "face-up udp4://10.0.1.2:6363 mac $MAC_C0 down 0 mtu 1472"
in_c "$probe" send c0 02:00:00:00:01:aa 100 ether
sleep 0.3
finish "$started" || fail "the probe fails at its end"
if grep -q af_xdp "$log"; then fail "net_af_xdp complains: $(grep af_xdp "$log")"; fi
grep -q 'received 100 sent 100 redirected 100' "$log" || fail "$(tail -n 1 "$log")"

say "without privileges"
mark=1
in_f ip neigh flush dev f0
start_probe unprivileged unprivileged watch=10.0.1.2 watch=fd00:1::2
told 5 "face-up udp4://10.0.1.2:6363 mac $MAC_C0 down 0"
told 5 "face-up udp6://\[fd00:1::2\]:6363 mac $MAC_C0 down 0"
set_mark
in_c ip link set c0 down
told 1 'event link-down'
finish "$started" || fail "the probe fails at its end"
