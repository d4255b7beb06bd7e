#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Commands signed with a private key: pitlaned takes those whose certificate it trusts, for what that one may do, and
# refuses a stranger's and those that have only a digest.
source "$(dirname "$0")/lib.sh"
make_namespaces
certificate=$BUILD/test/net/certificate
"$certificate" EC /operator "$tmp/operator"
"$certificate" ED25519 /routes "$tmp/routes"
"$certificate" RSA /operator "$tmp/stranger"
{
    xdp_ports
    cat <<CONF
authorizations = (
  { certfile = "$tmp/operator.ndncert"; privileges = [ "faces", "cs", "strategy-choice" ]; }
);
rib: { localhost-security = [ "$tmp/routes.ndncert" ]; };
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
export NDN_CLIENT_TRANSPORT=unix://$tmp/run/conf/nfd.sock
operator=(--key "$tmp/operator.pem" --certificate /operator/KEY/1/self/v=1)
routes=(--key "$tmp/routes.pem" --certificate /routes/KEY/1/self/v=1)
stranger=(--key "$tmp/stranger.pem" --certificate /operator/KEY/1/self/v=1)

accepted() { # COMMAND...
    in_f "$pitlane" "$@" >"$tmp/out" 2>&1 || fail "pitlane $*: $(cat "$tmp/out")"
}
refused() { # COMMAND...
    local status=0
    in_f "$pitlane" "$@" >"$tmp/out" 2>&1 || status=$?
    [ $status = 1 ] || fail "pitlane $*: exit $status: $(cat "$tmp/out")"
    grep -q '^Error 403 when .*authorization rejected' "$tmp/out" || fail "pitlane $*: $(cat "$tmp/out")"
}

accepted face create udp4://10.0.2.2:7000 "${operator[@]}"
accepted strategy set /A /localhost/nfd/strategy/multicast "${operator[@]}"
accepted cs config capacity 100 "${operator[@]}"
accepted route add /A udp4://10.0.2.2:7000 "${routes[@]}"
refused route add /B udp4://10.0.2.2:7000 "${operator[@]}"
refused face create udp4://10.0.2.2:7001 "${routes[@]}"
for who in "" stranger; do
    signature=()
    [ -z "$who" ] || signature=("${stranger[@]}")
    refused face create udp4://10.0.2.2:7001 "${signature[@]}"
    refused face destroy udp4://10.0.2.2:7000 "${signature[@]}"
    refused strategy unset /A "${signature[@]}"
    refused cs erase / "${signature[@]}"
    refused route add /B udp4://10.0.2.2:7000 "${signature[@]}"
    refused route remove /A udp4://10.0.2.2:7000 "${signature[@]}"
done
# Everyone may read.
accepted route show /A
accepted face list

say "an application registers with a key"
in_f "$pitlane" pingserver /app -q >"$tmp/out" 2>&1 && fail "registered without a key"
grep -q '^Error 403 when registering /app: authorization rejected' "$tmp/out" || fail "$(cat "$tmp/out")"
start_producer app /app "${routes[@]}"
ping_from_consumer /app -c 50 -i 1ms
expect_no_loss 50

say "a batch of commands with one key, in quick succession"
seq 200 | sed "s|.*|route add /many/& udp4://10.0.2.2:7000 ${routes[*]}|" >"$tmp/batch"
accepted -f "$tmp/batch"
[ "$(grep -c '^route-add-accepted' "$tmp/out")" = 200 ] || fail "$(tail -n 3 "$tmp/out")"
check_quiet
stop_daemon
