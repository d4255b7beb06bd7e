#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Routes of applications on the local socket: they bring Interests, expire in time and go with who registered them; ten
# thousand of them through one connection in less than two seconds; and the routes of one forwarder's applications told
# to the next, its gateway.
source "$(dirname "$0")/lib.sh"
make_namespaces
gateway=$tmp/gateway
mkdir -p "$gateway"

# The site's forwarder, in namespace F, and the gateway's, in namespace C. The kernel keeps the link between them.
FIB_CAPACITY=65536 write_conf "$tmp/conf" <<CONF
rib: { auto-prefix-propagate = true; propagate-cost = 21; };
CONF
cat >"$tmp/gateway.conf" <<CONF
daemon: { runtime-dir = "$gateway"; };
unix: { path = "$gateway/nfd.sock"; };
tcp: { listen = true; };
udp: { listen = false; multicast = false; };
websocket: { listen = false; };
memory: { mbufs = 16384; };
pit: { capacity = 16384; dead-nonce-capacity = 65536; };
cs: { capacity = 0; };
rib: { localhop-security = "any"; };
CONF
start_daemon "$tmp/conf"
start gateway "$NS_C" "$pitlaned" -c "$tmp/gateway.conf"
wait_for 20 grep -qw ready "$tmp/gateway.log" || fail "the gateway is not ready"

at_site() { in_f env NDN_CLIENT_TRANSPORT="unix://$tmp/run/conf/nfd.sock" "$@"; }
at_gateway() { in_c env NDN_CLIENT_TRANSPORT="unix://$gateway/nfd.sock" "$@"; }
# Whether FORWARDER has a route of PREFIX, and with words given, whether its line has them.
has_route() { # FORWARDER PREFIX [WORDS]
    "at_$1" "$pitlane" route list | grep -E "^$2 " | grep -qE "${3:-}"
}
has_no_route() { ! has_route "$@"; }

say "an application registers, gets Interests, and is killed"
NDN_CLIENT_TRANSPORT="unix://$tmp/run/conf/nfd.sock" start app "$NS_F" "$pitlane" pingserver /app -q
app=$started
wait_for 5 has_route site /app || fail "no route of /app"
summary=$(at_site "$pitlane" ping /app -j -c 20 -i 10ms) || true
expect_no_loss 20
kill -KILL "$app"
wait_for 5 has_no_route site /app || fail "the route of /app outlives the application"
[ "$(at_site "$pitlane" face list | grep -c 'fd://')" = 1 ] || fail "the face of /app outlives the application"
summary=$(at_site "$pitlane" ping /app -j -c 3 -i 10ms) || true
expect '.nacked == 3'

say "a route expires"
at_site "$pitlane" route add /short 1 expires 700 >/dev/null
has_route site /short || fail "no route of /short"
wait_for 3 has_no_route site /short || fail "the route of /short does not expire"

say "ten thousand routes through one connection"
mkfifo "$tmp/hold"
in_f "$BUILD/test/load/register_many" "$tmp/run/conf/nfd.sock" /many 10000 <"$tmp/hold" >"$tmp/many.log" &
many=$!
pids+=("$many")
exec 9>"$tmp/hold"
wait_for 20 grep -q registered "$tmp/many.log" || fail "not all are registered"
say "$(cat "$tmp/many.log")"
grep -q '10000 registered, 10000 of them well' "$tmp/many.log" || fail "not all are registered well"
took=$(sed 's/.* in \(.*\) s$/\1/' "$tmp/many.log")
awk "BEGIN { exit !($took < 2) }" || fail "that took $took s"
[ "$(at_site "$pitlane" route list | grep -c '^/many/')" = 10000 ] || fail "not all are in the list"
exec 9>&-
wait "$many" || fail "register_many exits with $?"
no_many() { [ "$(at_site "$pitlane" route list | grep -c '^/many/')" = 0 ]; }
wait_for 5 no_many || fail "routes outlive the application"

say "the gateway is told of an application, until it goes"
at_site "$pitlane" face create tcp4://10.0.1.2:6363 >/dev/null
uplink=$(at_site "$pitlane" face list | awk '/tcp4:\/\/10.0.1.2:6363/ { print $1 }')
NDN_CLIENT_TRANSPORT="unix://$tmp/run/conf/nfd.sock" start app "$NS_F" "$pitlane" pingserver /site/app -q
app=$started
wait_for 5 has_route site /site/app || fail "no route of /site/app"
at_site "$pitlane" route add /localhop/nfd "$uplink" >/dev/null
wait_for 5 has_route gateway /site/app 'client +21 ' || fail "the gateway is not told"
summary=$(at_gateway "$pitlane" ping /site/app -j -c 20 -i 10ms) || true
expect_no_loss 20
kill -KILL "$app"
wait_for 5 has_no_route gateway /site/app || fail "the gateway is not told that /site/app is gone"

check_quiet
stop_daemon
