#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every command of pitlane against a running pitlaned: faces, routes, strategies, the Content Store, batches, ping over
# the Unix socket and TCP; exit codes, JSON, and the help of each.
source "$(dirname "$0")/lib.sh"
make_namespaces
SOCKETS='tcp: { listen = true; }; udp: { listen = false; multicast = false; }; websocket: { listen = false; };'
CS_CAPACITY=1000 ether_conf "$tmp/conf"
start_daemon "$tmp/conf"
sock=$(sed -n 's/^unix: *{ *path = "\([^"]*\)".*/\1/p' "$tmp/conf")
export HOME=$tmp NDN_CLIENT_TRANSPORT=unix://$sock
unset PITLANE_SOCKET

# Run a command: its exit code must be STATUS, its output match the pattern.
out=
try() { # STATUS PATTERN COMMAND...
    local want=$1 pattern=$2 status=0
    shift 2
    out=$(in_f "$pitlane" "$@" 2>&1) || status=$?
    [ $status = "$want" ] || fail "pitlane $*: exit $status, not $want: $out"
    grep -qE -- "$pattern" <<<"$out" || fail "pitlane $*: no '$pattern' in: $out"
}
# One JSON document of which the expression is true.
try_json() { # EXPRESSION COMMAND...
    local expression=$1
    shift
    out=$(in_f "$pitlane" "$@" -j) || fail "pitlane $* -j: $out"
    [ "$(jq -s length <<<"$out")" = 1 ] || fail "pitlane $* -j: not one document: $out"
    [ "$(jq "$expression" <<<"$out")" = true ] || fail "pitlane $* -j: not so: $expression: $out"
}

say "faces"
try 0 '^face-created id=[0-9]+ local=udp4://[0-9.]+:6363 remote=udp4://10\.0\.2\.2:7000 persistency=persistent ' \
    face create udp://10.0.2.2:7000
id=$(sed 's/.* id=\([0-9]*\) .*/\1/' <<<"$out")
try 0 "^face-exists id=$id " face create remote udp4://10.0.2.2:7000
try 0 "^face-updated id=$id .* persistency=permanent reliability=on .* mtu=1400$" \
    face create udp4://10.0.2.2:7000 permanent reliability on mtu 1400
try 0 "^face-updated id=$id .* mtu=1300$" face update "$id" mtu 1300
try 0 "^mtu +1300" face show "$id"
try 0 "^ *$id  .*udp4://10.0.2.2:7000" face list
try 0 "^ *$id  .*udp4://10.0.2.2:7000" face
try 0 "udp4://10.0.2.2:7000" face list remote udp://10.0.2.2:7000
try_json ".faces | any(.id == $id and .remote == \"udp4://10.0.2.2:7000\" and .mtu == 1300)" face list
try_json '.faces | length > 0 and all(.scope == "local")' face list scheme internal
try_json ".id == $id and .persistency == \"permanent\"" face show "$id"
try_json '.result == "face-exists"' face create udp4://10.0.2.2:7000
try 0 'unix://' channel list
try_json '.channels | any(.local | startswith("unix://"))' channel list
try 1 'Error 4[0-9]+ when creating face: ' face create udp4://224.0.23.170:56363
try 1 'Error 4[0-9]+ when updating face: ' face update "$id" mtu 63
try 1 'Face not found' face destroy 99999
try 1 'canonization' face create udp4://no-such-host.invalid

say "routes"
try 0 "^route-add-accepted prefix=/r nexthop=$id origin=static cost=10 flags=child-inherit expires=never$" \
    route add prefix /r nexthop "$id" cost 10
try 0 "^route-add-accepted prefix=/r/s nexthop=$id origin=nlsr cost=0 flags=capture expires=60000ms$" \
    route add /r/s udp://10.0.2.2:7000 origin nlsr no-inherit capture expires 60000
try 0 "^/r +$id +static +10 +child-inherit" route list
try 0 "^/r/s +$id +nlsr +0 +capture +(1m00s|0m5)" route list nexthop "$id"
try 0 "^/r +$id +static" route show /r
try_json "(.routes | length) == 1 and .routes[0].origin == \"nlsr\"" route list "$id" origin nlsr
try_json ".routes[0].prefix == \"/r\" and .routes[0].cost == 10" route show prefix /r
try 1 'Route not found' route show /r/never
fib_has() { in_f "$pitlane" fib list | grep -qE "$1"; }
wait_for 5 fib_has "^/r +$id \(cost 10\)" || fail "the FIB lacks /r: $(in_f "$pitlane" fib list)"
try_json ".fib | any(.prefix == \"/r\" and .nexthops == [{\"face\": $id, \"cost\": 10}])" fib list
try 0 '^route-removed prefix=/r nexthop='"$id"' origin=static$' route remove /r "$id"
try 1 'Route not found' route show /r
try_json '.result == "route-add-accepted" and .expires == null' route add /r "$id"
try 1 'Error 414 when adding route' route add "$(printf '/c%.0s' $(seq 33))" "$id"
try 0 '^route-add-accepted prefix=/made nexthop=[0-9]+ ' route add /made udp4://10.0.2.2:7001
try_json '.faces | any(.remote == "udp4://10.0.2.2:7001")' face list

say "strategies"
try 0 '^strategy-set prefix=/s strategy=/localhost/nfd/strategy/multicast/v=5$' \
    strategy set prefix /s strategy /localhost/nfd/strategy/multicast
try 0 '^/s +/localhost/nfd/strategy/multicast/v=5$' strategy list
try 0 '^strategy +/localhost/nfd/strategy/multicast/v=5$' strategy show /s/t
try_json '.strategy == "/localhost/nfd/strategy/multicast/v=5"' strategy show /s
try_json '.strategies | any(.prefix == "/s")' strategy list
try 0 '^strategy-unset prefix=/s$' strategy unset /s
try_json '.strategies | all(.prefix != "/s")' strategy list
try 1 'Error 404 when setting strategy: ' strategy set /s /localhost/nfd/strategy/nope
try 1 'Error 409 when setting strategy: ' strategy set /s /localhost/nfd/strategy/multicast/v=3
try 2 'prohibited' strategy unset /

say "applications on the socket: register, exchange"
start_producer app /app -s 500
app=$started
try 0 '^/app +[0-9]+ +app +0 +child-inherit' route list
ping_from_consumer /app -c 300 -i 1ms -s 500 -t 8
expect_no_loss 300
summary=$(NDN_CLIENT_TRANSPORT=tcp://127.0.0.1 in_f "$pitlane" ping /app -j -c 300 -i 1ms -s 500)
expect_no_loss 300
# From afar: a request over Ethernet comes to the application.
ping_from_consumer /app --ether c0 --remote $MAC_F0 -c 300 -i 1ms -s 500
expect_no_loss 300

say "the Content Store"
try 0 '^cs-config-updated capacity=500 admit=on serve=on$' cs config capacity 500 admit on serve on
try 0 '^capacity +500$' cs info
try_json '.capacity == 500 and .admit and .entries > 0' cs info
try 0 '^cs-erased prefix=/app count=(256|[0-9]+) has-more=(yes|no)$' cs erase /app
while grep -q 'has-more=yes' <<<"$out"; do try 0 '^cs-erased' cs erase prefix /app; done
try_json '.result == "cs-erased" and .count == 0' cs erase /app
try_json '.entries == 0' cs info
try 0 '^cs-config-updated .*admit=off' cs config admit off

say "an application that goes takes its route with it"
finish "$app" || fail "pingserver must exit with 0 at SIGTERM"
gone() { ! in_f "$pitlane" route show /app; }
wait_for 5 gone || fail "the route of a closed face stays"

say "a batch, by name and on stdin, over one connection"
cat >"$tmp/batch" <<BATCH
# faces first
"face" create 'udp4://10.0.2.2:7002'

route add /batch \\
    udp4://10.0.2.2:7002 cost 3
strategy set /batch /localhost/nfd/strategy/asf
BATCH
try 0 '^face-created ' -f "$tmp/batch"
[ "$(wc -l <<<"$out")" = 3 ] || fail "three results: $out"
try_json '.routes[0].cost == 3' route show /batch
status=0
out=$(printf 'route remove /batch udp4://10.0.2.2:7002\nface destroy 99999\nstrategy unset /batch\n' |
    "$pitlane" --batch - 2>&1) || status=$?
[ $status = 1 ] || fail "a batch with a failure: exit $status"
grep -q -- '-:2: the command failed' <<<"$out" || fail "$out"
try 0 'asf' strategy show /batch
# A line each for 500 routes.
seq 500 | sed "s|.*|route add /many/& $id|" >"$tmp/many"
try 0 'prefix=/many/500' -f "$tmp/many"
try_json '.routes | map(select(.prefix | startswith("/many/"))) | length == 500' route list

say "both sources in one"
try_json '.faces | any(.name == "producer" and .state == "up" and .scope == "non-local")' face list -r "$tmp/run"
try_json '.received >= 0 and .version != null and .start_ms > 0' status -r "$tmp/run"
try_json '(.cs | length) == 1 and .capacity == 500' cs info -r "$tmp/run"
try 0 '^started +20' status
try 0 '^frames received' status -r "$tmp/run"
try_json '.routes | length > 500' route list -r "$tmp/run"
# A source that is named alone is asked alone.
unset NDN_CLIENT_TRANSPORT
try_json '.faces | all(.scope == null)' face list -r "$tmp/run"
for what in "port list" "worker list" "pit info" drops; do
    # shellcheck disable=SC2086
    try_json 'type == "object"' $what -r "$tmp/run"
done

say "the socket is found by client.conf"
mkdir "$tmp/.ndn"
echo "transport=unix://$sock" >"$tmp/.ndn/client.conf"
try 0 "^ *$id " face list
try 0 "^face-destroyed id=$id " face destroy udp4://10.0.2.2:7000
try 1 'No such file' face list --transport unix:///nonexistent

try 0 '^Strategy choices:' status report
try_json '(keys | length) == 7 and .cs.capacity == 500' status report

say "help and exit codes"
commands=$("$pitlane" help | sed -n 's/^  \([a-z-]*\)\( [a-z]\{1,\}\)\{0,1\}\( .*\)/\1\2/p')
[ "$(wc -l <<<"$commands")" -gt 25 ] || fail "help lists: $commands"
while read -r noun verb; do
    # shellcheck disable=SC2086
    try 0 "^usage: pitlane $noun" $noun $verb --help
done <<<"$commands"
try 2 'needs' route add
try 2 'unexpected' status show extra
try 2 'unknown command' face frobnicate
try 2 'unknown option' face list --colour
try 2 'on or off' cs config admit perhaps
bash -n <("$pitlane" completion) || fail "the completion script"
check_quiet
stop_daemon
