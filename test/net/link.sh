#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Carrier lost: faces go down within a second and come up within a second of its return. A link that is deleted takes
# its port out of use; the other port goes on. A link that is made anew brings it back, if not at the first attempt.
source "$(dirname "$0")/lib.sh"
make_namespaces
# A third leg, so that two are left when one goes.
link_pair "$NS_P" q0 02:00:00:00:03:02 "$NS_F" f2 02:00:00:00:03:01
ip -n "$NS_P" link set q0 up
ip -n "$NS_F" link set f2 up
{
    xdp_ports | sed 's|^};|  third: { netdev = "f2"; };\n};|'
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
  other: { port = "third"; remote = "ether://[02:00:00:00:03:02]"; };
};
route: ( { prefix = "/A"; face = "producer"; }, { prefix = "/B"; face = "other"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 100
server=$started
start_producer server2 /B --ether q0 --remote 02:00:00:00:03:01 -s 100
state_is() { [ "$(face_value "$1" state)" = "$2" ]; }

ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 100
expect_no_loss 100

say "carrier lost"
ip -n "$NS_P" link set p0 down
wait_for 1 state_is producer down || fail "the face is still up 1 s after the carrier was lost"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 10 -i 1ms -W 300ms
expect '.received == 0'
ping_from_consumer /B --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 100
expect_no_loss 100
ip -n "$NS_P" link set p0 up
wait_for 1 state_is producer up || fail "the face is still down 1 s after the carrier came back"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 100
expect_no_loss 100

say "link deleted"
ip -n "$NS_P" link del p0
wait_for 1 state_is producer down || fail "the face is still up 1 s after its link was deleted"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -W 300ms
expect '.received == 0'
ping_from_consumer /B --ether c0 --remote $MAC_F0 -c 500 -i 1ms -s 100
expect_no_loss 500
check_quiet

say "link made anew, with a peer that no XDP program can be attached beside"
finish "$server" || true
link_pair "$NS_P" p0 $MAC_P0 "$NS_F" f1 $MAC_F1
ip -n "$NS_P" link set p0 mtu 9000 up
ip -n "$NS_F" link set f1 up
wait_for 3 grep -q 'port right: f1 does not take an XDP program' "$tmp/pitlaned.log" || fail "no reason is given"
[ "$(ask port list | jq -r '.ports[] | select(.name == "right") | .link')" = gone ] || fail "$(show port list)"
say "the cause is removed"
ip -n "$NS_P" link set p0 mtu 1500
wait_for 10 state_is producer up || fail "the port does not come back"
start_producer server3 /A --ether p0 --remote $MAC_F1 -s 100
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 100
expect_no_loss 100
# The pool's baseline has the buffers of all ports again.
check_quiet
stop_daemon
