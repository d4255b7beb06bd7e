#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the client shows of a large configuration: 3000 faces, 10,000 routes, names longer than the telemetry library
# takes in one piece, all of them listed; each read gives a table and one JSON document; the daemon's own errors.
source "$(dirname "$0")/lib.sh"
make_namespaces
python3 - >"$tmp/tail" <<'EOP'
print('port: { left: { netdev = "f0"; }; right: { netdev = "f1"; }; };')
print("face: {")
for i in range(3000):
    print(f'  f{i}: {{ port = "{"left" if i % 2 else "right"}"; remote = "ether://[02:01:00:00:{i >> 8:02x}:{i & 255:02x}]"; }};')
print("};\nroute: (")
print(",\n".join(f'  {{ prefix = "/{"long-component-" * (i % 40)}x/{i}"; face = "f{i % 3000}"; cost = {i % 7}; }}' for i in range(10000)))
print(');\nstrategy: ( { prefix = "/m"; strategy = "multicast"; } );')
EOP
write_conf "$tmp/conf" <"$tmp/tail"
sed -i 's/fib: { capacity = 1024; };/fib: { capacity = 32768; };/' "$tmp/conf"
start_daemon "$tmp/conf"

from=$(date +%s%N)
ask face list >"$tmp/faces.json"
say "3000 faces, and three of the forwarder's own, in $((($(date +%s%N) - from) / 1000000)) ms"
jq -e '(.faces | length) == 3003 and ([.faces[].id] | unique | length) == 3003 and
    ([.faces[] | select(.id >= 256) | .name] | unique | length) == 3000' \
    "$tmp/faces.json" >/dev/null || fail "$(jq '.faces | length' "$tmp/faces.json") faces"
jq -e '.faces[] | select(.name == "f258") | .remote == "ether://[02:01:00:00:01:02]"' "$tmp/faces.json" >/dev/null || fail "f258"

from=$(date +%s%N)
ask route list >"$tmp/routes.json"
say "10000 routes in $((($(date +%s%N) - from) / 1000000)) ms"
jq -r '.routes[].prefix' "$tmp/routes.json" | sort >"$tmp/listed"
# And the prefixes of management, which the forwarder has itself.
grep -o 'prefix = "[^"]*"; face' "$tmp/tail" | cut -d'"' -f2 >"$tmp/configured"
{ cat "$tmp/configured"; printf '%s\n' /localhost/nfd /localhost/nfd/rib; } | sort >"$tmp/wanted"
cmp "$tmp/listed" "$tmp/wanted" || fail "prefixes differ: $(diff "$tmp/listed" "$tmp/wanted" | head -3)"
[ "$(jq '[.routes[].cost] | add' "$tmp/routes.json")" = "$(seq 0 9999 | awk '{n += $1 % 7} END {print n}')" ] || fail "costs"

say "two listings at a time do not mix"
ask route list >"$tmp/a.json" 2>/dev/null &
one=$!
ask route list >"$tmp/b.json" 2>/dev/null &
two=$!
ok=0
for pid in $one $two; do if wait $pid; then ok=$((ok + 1)); fi; done
[ $ok -ge 1 ] || fail "both listings failed"
for file in "$tmp/a.json" "$tmp/b.json"; do
    if [ -s "$file" ]; then
        jq -r '.routes[].prefix' "$file" | sort | cmp - "$tmp/wanted" || fail "a mixed listing"
    fi
done

say "every read, as a table and as JSON"
for what in "status" "port list" "face list" "route list" "strategy list" "worker list" "drops -a" "pit info" "cs info"; do
    # shellcheck disable=SC2086
    ask $what | jq -e 'type == "object" and length > 0' >/dev/null || fail "$what -j"
    # shellcheck disable=SC2086
    show $what >"$tmp/table" || fail "$what"
    [ "$(wc -l <"$tmp/table")" -ge 2 ] || fail "$what: $(cat "$tmp/table")"
    if grep -q '?' "$tmp/table"; then fail "$what: a value of an unknown kind"; fi
done
[ "$(ask strategy list | jq -r '.strategies[] | select(.prefix == "/m") | .strategy')" = /localhost/nfd/strategy/multicast/v=5 ] ||
    fail "strategy of /m: $(ask strategy list)"
[ "$(status_value faces)" = 3003 ] || fail "faces in status"

say "the same by the management protocol, in many segments"
export NDN_CLIENT_TRANSPORT=unix://$tmp/run/conf/nfd.sock
from=$(date +%s%N)
"$pitlane" route list -j >"$tmp/a.json" || fail "route list"
say "10000 routes in $((($(date +%s%N) - from) / 1000000)) ms"
{ cat "$tmp/configured"; echo /localhost/nfd; } | sort >"$tmp/rib"
jq -r '.routes[].prefix' "$tmp/a.json" | sort | cmp - "$tmp/rib" || fail "the RIB has other prefixes"
"$pitlane" fib list -j | jq -r '.fib[].prefix' | sort | cmp - "$tmp/wanted" || fail "the FIB has other prefixes"
[ "$("$pitlane" face list -j | jq '[.faces[] | select(.remote | startswith("ether://"))] | length')" = 3000 ] || fail "faces"
"$pitlane" face list -j -r "$tmp/run" | jq -e '[.faces[] | select(.name == "f258")] == [.faces[] | select(.remote == "ether://[02:01:00:00:01:02]")]' \
    >/dev/null || fail "names of faces"
unset NDN_CLIENT_TRANSPORT

stop_daemon
if ask status 2>"$tmp/word"; then fail "a daemon that is gone cannot answer"; fi
grep -q 'is pitlaned running' "$tmp/word" || fail "$(cat "$tmp/word")"
