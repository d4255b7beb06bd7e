#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The shipped example without a network card: two applications on memif, bare NDN packets, whole and in fragments. The
# applications are pitlaned, too: each gives its peer of the network tests a memif.
source "$(dirname "$0")/lib.sh"
make_namespaces
mkdir "$tmp/run"
sed "s|/run/pitlane|$tmp/run|; s|file-prefix|runtime-dir = \"$tmp/run\"; file-prefix|" \
    "$here/../../conf/examples/demo.conf" >"$tmp/demo.conf"
start demo "$NS_F" "$pitlaned" -c "$tmp/demo.conf"
demo=$started
wait_for 20 grep -qw ready "$tmp/demo.log" || fail "the example is not ready"

# A forwarder between a port and the memif of the same role.
application() { # ROLE NETDEV MAC TOWARDS
    write_conf "$tmp/$1.conf" <<CONF
port: {
  link: { netdev = "$2"; };
  memif: { device = "net_memif0,role=client,id=0,socket=$tmp/run/$1.sock,socket-abstract=no"; };
};
face: {
  link: { port = "link"; remote = "ether://[$3]"; };
  memif: { port = "memif"; remote = "bare"; };
};
route: ( { prefix = "/demo"; face = "$4"; } );
CONF
    sed -i "s|^daemon: {|daemon: { file-prefix = \"$1\";|" "$tmp/$1.conf"
    start "$1" "$NS_F" "$pitlaned" -c "$tmp/$1.conf"
    wait_for 20 grep -qw ready "$tmp/$1.log" || fail "$1 is not ready"
}
application consumer f0 $MAC_C0 memif
consumer=$started
application producer f1 $MAC_P0 link
producer=$started
demo_up() { show face list -p pitlane-demo -j | jq -e '[.faces[] | select(.state == "up" and .id >= 256)] | length == 2'; }
wait_for 5 demo_up || fail "no link: $(show face list -p pitlane-demo)"

for size in 100 5000; do
    start_producer "server$size" "/demo/$size" --ether p0 --remote $MAC_F1 -s $size
    ping_from_consumer "/demo/$size" --ether c0 --remote $MAC_F0 -c 200 -i 2ms -w 4 -s $size -t 8
    expect_no_loss 200
done
show face list -p pitlane-demo -j | jq -e '.faces[] | select(.name == "consumer") |
    .in_interests == 400 and .out_data == 400 and .local == "dev://net_memif0"' >/dev/null ||
    fail "$(show face list -p pitlane-demo)"
error=$(show status -p pitlane-demo -j | jq '.received + .originated - .sent - .consumed - .dropped - .held')
[ "$error" = 0 ] || fail "$error frames are unaccounted for"
for pid in $consumer $producer $demo; do finish "$pid" || fail "exit $?"; done
[ -z "$(find "$tmp/run" -type s)" ] || fail "sockets are left: $(find "$tmp/run" -type s)"
