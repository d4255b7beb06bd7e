#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# vhost-user ports: peers in processes of their own (virtio_user) come late, go without a word and come again; the
# daemon is killed and finds its old sockets; frames whose checksum a peer left unfinished; what is refused.
source "$(dirname "$0")/lib.sh"
make_namespaces
mkdir "$tmp/run"

# The forwarder: nothing but vhost, its peers at both sides.
vhost_conf() {
    write_conf "$tmp/conf" <<CONF
port: {
  left: { device = "net_vhost0,iface=$tmp/run/l.sock,queues=1"; address4 = "10.3.0.1/24"; };
  right: { device = "net_vhost1,iface=$tmp/run/r.sock,queues=1"; };
};
face: {
  consumer: { port = "left"; remote = "ether://[02:00:00:00:0a:01]"; };
  consumer-udp: { port = "left"; remote = "udp4://10.3.0.2:6363"; mac = "02:00:00:00:0a:01"; };
  producer: { port = "right"; remote = "ether://[02:00:00:00:0a:02]"; };
};
route: ( { prefix = "/A"; face = "producer"; }, { prefix = "/ndnbench"; face = "producer"; } );
CONF
}
vhost_conf
start_daemon "$tmp/conf"
link_is() { ask port list | jq -e ".ports[] | select(.name == \"$1\") | .link == \"$2\""; } # PORT STATE
link_is left down && link_is right down || fail "$(show port list)"
mac_of() { ask port list | jq -r ".ports[] | select(.name == \"$1\") | .mac"; }

# A peer: a forwarder between a netdev and the vhost.
peer() { # NAME SOCKET MAC NETDEV MAC-OF-HOST MAC-OF-VHOST TOWARDS
    write_conf "$tmp/$1.conf" <<CONF
port: {
  link: { netdev = "$4"; };
  virtio: { device = "net_virtio_user0,path=$tmp/run/$2.sock,mac=$3,queues=1"; };
};
face: {
  link: { port = "link"; remote = "ether://[$5]"; };
  virtio: { port = "virtio"; remote = "ether://[$6]"; };
};
route: ( { prefix = "/A"; face = "$7"; } );
CONF
    sed -i "s|^daemon: {|daemon: { file-prefix = \"$1\";|" "$tmp/$1.conf"
    start "$1" "$NS_F" "$pitlaned" -c "$tmp/$1.conf"
    wait_for 20 grep -qw ready "$tmp/$1.log" || fail "$1 is not ready"
}
start_consumer() {
    peer consumer l 02:00:00:00:0a:01 f0 $MAC_C0 "$(mac_of left)" virtio
    consumer=$started
    wait_for 5 link_is left up || fail "no link: $(show port list)"
}
start_peers() {
    start_consumer
    peer producer r 02:00:00:00:0a:02 f1 $MAC_P0 "$(mac_of right)" link
    producer=$started
    wait_for 5 link_is right up || fail "no link: $(show port list)"
}
exchange() { # SIZE
    start_producer "server" /A --ether p0 --remote $MAC_F1 -s "$1"
    ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 2ms -w 4 -s "$1" -t 8
    expect_no_loss 100
    finish "$started" || fail "pingserver"
}
end_hard() { # PID
    kill -KILL "$1"
    wait "$1" 2>/dev/null || true
}

say "peers come late"
start_peers
exchange 100
exchange 5000
say "a peer goes without a word, and comes again"
end_hard $consumer
wait_for 2 link_is left down || fail "$(show port list)"
start_consumer
exchange 100
POOL_SLACK=2048 check_quiet

say "the forwarder is killed"
end_hard $daemon_pid
[ -S "$tmp/run/l.sock" ] && [ -S "$tmp/run/r.sock" ] || fail "a killed daemon leaves its sockets: $(ls "$tmp/run")"
for pid in $consumer $producer; do finish "$pid" || fail "exit $?"; done
start_daemon "$tmp/conf"
start_peers
exchange 100
finish $consumer || fail "exit $?"
wait_for 2 link_is left down || fail "$(show port list)"

say "checksums that are left to hardware"
# testpmd takes Interests from a capture, and leaves the UDP checksum to the device.
"$BUILD/test/load/mkpcap" interest -n 256 --from 02:00:00:00:0a:01,10.3.0.2,6363 --to "$(mac_of left),10.3.0.1,6363" \
    -o "$tmp/in.pcap"
cat >"$tmp/commands" <<'CONF'
port stop 1
csum set ip sw 1
csum set udp hw 1
port config 1 tx_offload udp_cksum on
port config 1 tx_offload ipv4_cksum off
port start 1
set fwd csum
start
CONF
udp_before=$(face_value consumer-udp in_interests)
# It ends with its input.
mkfifo "$tmp/input"
sleep 60 >"$tmp/input" &
pids+=($!)
# shellcheck disable=SC2016
start testpmd "$NS_F" bash -c 'input=$1; shift; exec "$@" <"$input"' testpmd "$tmp/input" dpdk-testpmd --no-huge -m 256 \
    --no-pci --no-shconf --no-telemetry --iova-mode=va --file-prefix testpmd --lcores=0@0,1@0 --main-lcore=0 \
    --vdev="net_pcap0,rx_pcap=$tmp/in.pcap,tx_pcap=$tmp/out.pcap" \
    --vdev="net_virtio_user0,path=$tmp/run/l.sock,mac=02:00:00:00:0a:01,queues=1" -- --port-topology=paired \
    --total-num-mbufs=4096 --eth-peer=1,"$(mac_of left)" --no-lsc-interrupt --no-flush-rx -i --cmdline-file="$tmp/commands"
some_came() { [ $(($(face_value consumer-udp in_interests) - udp_before + $(drop_count udp_csum))) -ge 32 ]; }
wait_for 20 some_came || fail "$(show port list; show drops -a; cat "$tmp/testpmd.log")"
[ "$(drop_count udp_csum)" = 0 ] || fail "unfinished checksums: $(show drops)"
kill "$started" 2>/dev/null || true

say "what is refused"
refused() { # TEXT SOCKET-PATH
    sed "s|$tmp/run/l.sock|$2|; s|daemon: {|daemon: { file-prefix = \"other\";|; s|/nfd.sock|/other.sock|" "$tmp/conf" >"$tmp/other.conf"
    in_f timeout 20 "$pitlaned" -c "$tmp/other.conf" >"$tmp/other.log" 2>&1 && fail "$2 is taken"
    grep -qF -- "$1" "$tmp/other.log" || fail "$2: $(cat "$tmp/other.log")"
}
refused "socket $tmp/run/l.sock belongs to a program that runs" "$tmp/run/l.sock"
refused "$tmp/conf is there, and is no socket" "$tmp/conf"
refused "folder $tmp/nowhere/: No such file" "$tmp/nowhere/l.sock"
refused "a socket's path has at most 107 octets" "$tmp/$(printf '%0100d' 1)"
[ -S "$tmp/run/l.sock" ] || fail "another's socket was taken away"

say "the forwarder stops, peers or not"
stop_daemon
[ -z "$(find "$tmp/run" -name '*.sock' -maxdepth 1)" ] || fail "sockets are left: $(ls "$tmp/run")"
finish $producer || fail "exit $?"
