#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Independent peers: NDNts consumer and producer over UDP through two AF_XDP ports, 1000 exchanges each of 100, 1000 and
# 8000 octets with none lost, while ping of the kernel's address goes on; then the same Data from the Content Store.
source "$(dirname "$0")/lib.sh"
make_namespaces
peers=$here/ndnts
node=node
if [ -x "$peers/node_modules/.bin/node" ]; then node=$peers/node_modules/.bin/node; fi
[ -d "$peers/node_modules" ] || fail "NDNts is not installed: run scripts/setup"
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "udp4://10.0.1.2:6363"; };
  producer: { port = "right"; remote = "udp4://10.0.2.2:6363"; };
};
route: ( { prefix = "/ndnts"; face = "producer"; } );
CONF
} | CS_CAPACITY=2048 MBUFS=32768 write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start producer "$NS_P" "$node" "$peers/producer.mjs" --remote 10.0.2.1 --local 10.0.2.2
wait_for 15 grep -q ready "$tmp/producer.log" || fail "the NDNts producer is not ready"
start kernel "$NS_C" ping -q -i 0.02 10.0.1.1
kernel=$started

consume() { in_c "$node" "$peers/consumer.mjs" --remote 10.0.1.1 --local 10.0.1.2 "$@"; }
for size in 100 1000 8000; do
    result=$(consume --size $size --count 1000 --run "$size") || fail "size $size: $result"
    say "size $size: $result"
done
say "again, from the Content Store"
hits=$(ask cs info | jq '[.cs[].hits] | add')
result=$(consume --size 8000 --count 1000 --run 8000 --cached) || fail "cached: $result"
say "cached: $result"
hits=$(($(ask cs info | jq '[.cs[].hits] | add') - hits))
[ $hits = 1000 ] || fail "$hits of 1000 came from the Content Store"

kill -INT "$kernel"
wait "$kernel" || true
grep -q ' 0% packet loss' "$tmp/kernel.log" || fail "kernel ping: $(cat "$tmp/kernel.log")"
say "$(grep transmitted "$tmp/kernel.log")"
# The Content Store keeps the buffers of its Data.
POOL_SLACK=$((256 + 8 * 2048))
check_quiet
stop_daemon
