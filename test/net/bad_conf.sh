#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faulty configurations: exit 1, each fault as FILE:LINE, no crash; good ones pass. What only the start can find (a
# device that cannot be opened) names its line, too.
source "$(dirname "$0")/lib.sh"
make_namespaces

check() { # NAME WANTED-LINES... ; the configuration on stdin
    local name=$1 file=$tmp/$1.conf status=0 line
    shift
    cat >"$file"
    "$pitlaned" -t -c "$file" >"$tmp/$name.out" 2>&1 || status=$?
    [ $status = 1 ] || fail "$name: exit $status: $(cat "$tmp/$name.out")"
    for line in "$@"; do
        grep -q "^$file:$line: " "$tmp/$name.out" || fail "$name: no complaint at line $line: $(cat "$tmp/$name.out")"
    done
}
good='port: { left: { netdev = "f0"; }; };
face: { consumer: { port = "left"; remote = "ether://[02:00:00:00:01:02]"; }; };
route: ( { prefix = "/A"; face = "consumer"; } );'
printf '%s\n' "$good" >"$tmp/good.conf"
"$pitlaned" -t -c "$tmp/good.conf" || fail "a good configuration is refused"
# Names as strategy list shows them.
echo "$good strategy: ( { prefix = \"/A\"; strategy = \"/localhost/nfd/strategy/multicast/v=5\"; } );" >"$tmp/named.conf"
"$pitlaned" -t -c "$tmp/named.conf" || fail "NFD's name of a strategy is refused"

check unknown-key 1 <<<'port: { left: { netdef = "f0"; }; };'
grep -q netdev "$tmp/unknown-key.out" || fail "the nearest known key is not named"
check unknown-group 1 <<<'ports: { left: { netdev = "f0"; }; };'
check bad-number 4 <<<"$good
workers: { count = 0; };"
check bad-unit 1 <<<'pit: { max-lifetime = "10 parsecs"; };'
check missing-brace <<<'port: { left: { netdev = "f0"; };'
check duplicate 3 <<<'port: { left: { netdev = "f0"; }; };

port: { right: { netdev = "f1"; }; };'
check no-such-port 1 <<<'face: { a: { port = "nowhere"; remote = "ether://[02:00:00:00:01:02]"; }; };'
check no-such-face 1 <<<'route: ( { prefix = "/A"; face = "nobody"; } );'
check bad-mac 2 <<<'port: { left: { netdev = "f0"; }; };
face: { a: { port = "left"; remote = "ether://[02:00:00:00:01]"; }; };'
check bad-type 1 <<<'workers: { count = "two"; };'
check bad-name 3 <<<'port: { left: { netdev = "f0"; }; };
face: { a: { port = "left"; remote = "ether://[02:00:00:00:01:02]"; }; };
route: ( { prefix = "/A/%zz"; face = "a"; } );'
check long-name 3 <<<"port: { left: { netdev = \"f0\"; }; };
face: { a: { port = \"left\"; remote = \"ether://[02:00:00:00:01:02]\"; }; };
route: ( { prefix = \"/$(printf 'a%.0s' $(seq 2045))\"; face = \"a\"; } );"
check bad-component 3 4 <<<'port: { left: { netdev = "f0"; }; };
face: { a: { port = "left"; remote = "ether://[02:00:00:00:01:02]"; }; };
route: ( { prefix = "/A/sha256digest=1234"; face = "a"; } );
strategy: ( { prefix = "/70000=A"; strategy = "multicast"; } );'
check strategies 5 6 7 8 <<<"$good
strategy: (
{ prefix = \"/A\"; strategy = \"multicast/v=3\"; },
{ prefix = \"/B\"; strategy = \"best-route/v=5/max-timeouts~2\"; },
{ prefix = \"/C\"; strategy = \"/localhost/nfd/strategy/multicast/v=5/retx-suppression-max~1s\"; },
{ prefix = \"/D\"; strategy = \"multicast/x/v=5\"; },
{ prefix = \"/E\"; strategy = \"multicast\"; retx-suppression-max = \"1s\"; } );"
check overflow 1 <<<'pit: { capacity = 99999999999999999999; };'
check two-faults 1 2 <<<'pit: { capacity = -1; };
cs: { policy = "random"; };'
check both-devices 1 <<<'port: { left: { netdev = "f0"; device = "net_null0"; }; };'
check vlan-range 2 <<<'port: { left: { netdev = "f0"; }; };
face: { a: { port = "left"; vlan = 4095; remote = "ether://[02:00:00:00:01:02]"; }; };'
check syntax 2 <<<'port: { left: { netdev = "f0"; }; };
= = ='
check not-text <<<"$(head -c 2000 "$pitlane" | tr -d '\0')"
echo rubbish >"$tmp/rubbish"
check no-certificate 2 <<<'
authorizations = ( { certfile = "nowhere.ndncert"; privileges = [ "faces" ]; } );'
check not-a-certificate 2 <<<'rib: {
  localhop-security = [ "rubbish" ];
};'
check no-device 1 <<<'port: { left: { mtu = 1500; }; };'
check no-remote 2 <<<'port: { left: { netdev = "f0"; }; };
face: { a: { port = "left"; }; };'
for odd in "$tmp" "$tmp/no-such-file" /dev/null; do
    status=0
    "$pitlaned" -t -c "$odd" >"$tmp/odd.out" 2>&1 || status=$?
    [ $status = 1 ] || fail "$odd: exit $status"
    [ -s "$tmp/odd.out" ] || fail "$odd: no word"
done

say "faults that only the start finds"
write_conf "$tmp/start.conf" <<'CONF'
port: {
  left: { netdev = "no-such-if"; };
};
CONF
line=$(grep -n no-such-if "$tmp/start.conf" | cut -d: -f1)
status=0
timeout 20 ip netns exec "$NS_F" "$pitlaned" -c "$tmp/start.conf" >"$tmp/start.out" 2>&1 || status=$?
[ $status = 1 ] || fail "start: exit $status: $(cat "$tmp/start.out")"
grep -q "$tmp/start.conf:$line: " "$tmp/start.out" || fail "the device's line is not named: $(cat "$tmp/start.out")"

start_fault() { # NAME SETTINGS; the configuration is one line, which must be named
    echo "$2 daemon: { runtime-dir = \"$tmp/run\"; ${3:-} }; unix: { path = \"$tmp/run/nfd.sock\"; }; memory: { mbufs = 4096; }; cs: { capacity = 0; };" >"$tmp/$1.conf"
    status=0
    timeout 20 ip netns exec "$NS_F" "$pitlaned" -c "$tmp/$1.conf" >"$tmp/$1.out" 2>&1 || status=$?
    [ $status = 1 ] || fail "$1: exit $status: $(cat "$tmp/$1.out")"
    grep -q "$tmp/$1.conf:1: " "$tmp/$1.out" || fail "$1: no line: $(cat "$tmp/$1.out")"
}
start_fault no-such-cpu 'workers: { lcores = [ 1023 ]; };'
grep -q Usage "$tmp/no-such-cpu.out" && fail "EAL shows its usage"
start_fault no-such-account '' 'user = "no-such-account";'
start_fault no-such-folder '' "log-file = \"$tmp/nowhere/log\";"

say "usage"
for args in "-c" "--frobnicate" "-c $tmp/good.conf extra"; do
    status=0
    # shellcheck disable=SC2086
    timeout 5 "$pitlaned" $args >/dev/null 2>&1 || status=$?
    [ $status = 2 ] || fail "pitlaned $args: exit $status"
done
"$pitlaned" -V | grep -q pitlane || fail "-V"
