#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NDNts as management client and as applications: every dataset and command of its nfdmgmt package over the Unix
# socket; producers and consumers over Unix, TCP, UDP and WebSocket; commands signed with a key of its keychain under a
# real trust anchor, and a stranger's, which are refused.
source "$(dirname "$0")/lib.sh"
make_namespaces
peers=$here/ndnts
node=node
if [ -x "$peers/node_modules/.bin/node" ]; then node=$peers/node_modules/.bin/node; fi
[ -d "$peers/node_modules" ] || fail "NDNts is not installed: run scripts/setup"
socket=$tmp/run/conf/nfd.sock

ndnts() { # NAME SCRIPT ARGUMENTS...
    local name=$1
    shift
    in_f timeout 120 "$node" "$peers/$@" >"$tmp/$name.log" 2>&1 || fail "$name: $(grep -v '^ok' "$tmp/$name.log")"
    say "$name: $(tail -n 1 "$tmp/$name.log")"
}

{
    xdp_ports
    echo 'rib: { localhop-security = [ "any" ]; };'
} | SOCKETS= CS_CAPACITY=4096 MBUFS=32768 write_conf "$tmp/conf"
start_daemon "$tmp/conf"
ndnts management management.mjs --uri "unix://$socket"
for uri in "unix://$socket" tcp://127.0.0.1:6363 udp://127.0.0.1:6363 ws://127.0.0.1:9696/; do
    name=${uri%%:*}
    ndnts "$name" transports.mjs --uri "$uri" --consumer "unix://$socket" --prefix "/ndnts/$name"
done
stop_daemon

in_f "$node" "$peers/signed.mjs" --make "$tmp/anchor.cert" || fail "no certificate"
{
    xdp_ports
    cat <<CONF
rib: { localhost-security = [ "$tmp/anchor.cert" ]; };
authorizations: ( { certfile = "$tmp/anchor.cert"; privileges = [ "faces", "fib", "cs", "strategy-choice" ]; } );
CONF
} | SOCKETS= CS_CAPACITY=4096 MBUFS=32768 write_conf "$tmp/conf"
start_daemon "$tmp/conf"
ndnts "the operator's key" signed.mjs --uri "unix://$socket" --key "$tmp/anchor.cert.key"
ndnts "a stranger's key" signed.mjs --uri "unix://$socket" --expect 403
ndnts "a digest" signed.mjs --uri "unix://$socket" --expect digest
stop_daemon
