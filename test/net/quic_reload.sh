#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SIGHUP: good files are applied as a whole, faulty, empty and missing ones change nothing, what needs a restart is told,
# and packets go on through all of it.
source "$(dirname "$0")/lib.sh"
make_namespaces

key=$tmp/lb.key
echo 8f95f09245765f80256934e50c66207f >"$key"
chmod 600 "$key"
conf=$tmp/reload.conf

services() { # SERVERS-STATE [more]
    {
        xdp_ports
        cat <<CONF
face: { producer: { port = "right"; remote = "ether://[$MAC_P0]"; }; consumer: { port = "left"; remote = "ether://[$MAC_C0]"; }; };
route: ( { prefix = "/A"; face = "producer"; } );
quic: { web: { vip = [ "192.0.2.10:443" ]; }; };
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 4; key-file = "$key"; } );
quic-server: {
  one: { service = "web"; id = "c4605e"; address = "10.0.2.2"; };
  two: { service = "web"; id = "c4605f"; address = "10.0.2.3"; state = "$1"; mac = "02:00:00:00:02:03"; };
  far: { service = "web"; id = "c46060"; address = "198.51.100.9"; };
  six: { service = "web"; id = "c46061"; address = "fd00:2::2"; };
  mute: { service = "web"; id = "c46062"; address = "10.0.2.99"; };
};
${2:-}
CONF
    } | write_conf "$conf"
}
reloads() { grep -c "reloaded: " "$tmp/pitlaned.log" || true; }
refusals() { grep -c "not reloaded" "$tmp/pitlaned.log" || true; }
reload() { # COUNTER
    local before
    before=$($1)
    kill -HUP "$daemon_pid"
    wait_for 5 more_than "$before" "$1" || fail "SIGHUP has no effect: $1 stays $before"
}
more_than() { [ "$($2)" -gt "$1" ]; }
state_of() { ask quic show web | jq -r ".servers[] | select(.name == \"$1\") | .state"; }

services up
start_daemon "$conf"
start_producer server /A --ether p0 --remote $MAC_F1

[ "$(state_of two)" = up ] || fail "server two is $(state_of two)"
known_mac() { ask quic show web | jq -e '.servers[] | select(.name == "one") | .mac == "'$MAC_P0'" and .port == "right"'; }
wait_for 10 known_mac || fail "the way to server one is not found: $(ask quic show web)"

say "servers without a way, and without an answer to ARP, get no new connections"
health() { ask quic show web | jq -e ".servers[] | select(.name == \"$1\") | .health == \"$2\""; }
wait_for 10 health far bad || fail "there is no way to far: $(ask quic show web)"
wait_for 10 health mute bad || fail "nobody is mute: $(ask quic show web)"
health six good && health one good && health two good || fail "$(show quic show web)"
[ "$(grep -c 'server mute gets no new connections' "$tmp/pitlaned.log")" = 1 ] || fail "told more than once"
ask quic show web | jq -e '[.servers[] | select(.health == "bad") | .share] == ["0.0%", "0.0%"]' || fail "$(show quic show web)"
# A route makes a way, and a new address in place of the silent one an answer.
ip -n "$NS_F" route add 198.51.100.9 via 10.0.2.2
wait_for 10 health far good || fail "a route is there and not seen"
ip -n "$NS_P" addr add 10.0.2.99/24 dev p0
wait_for 20 health mute good || fail "mute answers and is not seen"

# Packets that go on through all that follows.
start ping "$NS_C" "$pitlane" ping /A --ether c0 --remote $MAC_F0 -j -c 1000 -i 5ms
ping_pid=$started

say "decisions for datagrams"
explain() { ask quic explain "$@" --service web; }
cid=$("$pitlane" quic cid encode c4605e --config "$conf" --service web -j | jq -r .cid)
[ "$("$pitlane" quic cid decode "$cid" --config "$conf" --service web -j | jq -r .server_id)" = c4605e ] ||
    fail "$cid does not decode"
explain "40${cid}0102030405060708090a0b0c0d0e0f" | jq -e '.server == "one" and any(.steps[]; test("routable: server one"))' ||
    fail "a routable connection ID is not: $(explain "40$cid")"
initial=c00000000108e394c8f03e515708000041
explain $initial --length 1200 --from 10.0.1.2:4433 | jq -e '.server != ""' ||
    fail "the hash leads nowhere: $(explain $initial --length 1200 --from 10.0.1.2:4433)"
explain $initial --length 1100 | jq -e '.server == "" and any(.steps[]; test("below 1200: dropped"))' ||
    fail "a small Initial is taken: $(explain $initial --length 1100)"
explain $initial --length 1473 --from 10.0.1.2:4433 | jq -e 'any(.steps[]; test("1501 octets and 0 around them are too many"))' ||
    fail "a datagram is too big and goes: $(explain $initial --length 1473 --from 10.0.1.2:4433)"
zero_rtt=d00000000108e394c8f03e51570800021122
explain "${zero_rtt}$initial" --length 1100 | jq -e '.server == "" and any(.steps[]; test("behind that packet")) and
    any(.steps[]; test("below 1200: dropped"))' || fail "an Initial behind 0-RTT is not seen: $(explain "${zero_rtt}$initial" --length 1100)"
explain zz 2>/dev/null && fail "no hexadecimal digits, no complaint"
"$pitlane" quic explain 40 --service nobody -r "$tmp/run" 2>"$tmp/nobody" && fail "there is no such service"
grep -q "no QUIC service has this name" "$tmp/nobody" || fail "$(cat "$tmp/nobody")"
show quic show web | grep -q "two .*up" || fail "$(show quic show web)"

say "a good file is applied"
routes() { ask route list | jq -r '[.routes[] | .prefix | select(test("^/[AB]"))] | unique | join(" ")'; }
sed -i 's|^route: (|route: ( { prefix = "/B/1"; face = "consumer"; }, |' "$conf"
reload reloads
[ "$(routes)" = "/A /B/1" ] || fail "routes are $(routes): $(ask route list)"
services drain
reload reloads
[ "$(routes)" = "/A" ] || fail "routes are $(routes): $(ask route list)"
[ "$(state_of two)" = drain ] || fail "server two is $(state_of two)"
known_mac || fail "the way to server one was forgotten"

say "faulty files change nothing"
before=$(ask quic show web | jq -S '{servers: [.servers[] | {name, state, slot}]}')
for faulty in 'quic: { web: { vip = "nowhere"; }; };' 'no = braces {' "$(printf 'quic-config: ( { service = "web"; id = 9; } );')"; do
    echo "$faulty" >"$conf"
    reload refusals
done
grep -q "$conf:1: " "$tmp/pitlaned.log" || fail "faults have no line"
services up
chmod 644 "$key"
reload refusals
grep -q "$key:1: may be used by its group or others" "$tmp/pitlaned.log" || fail "the key file's mode is not told"
chmod 600 "$key"
mv "$conf" "$conf.away"
reload refusals
mv "$conf.away" "$conf"
after=$(ask quic show web | jq -S '{servers: [.servers[] | {name, state, slot}]}')
[ "$before" = "$after" ] || fail "a faulty file changed something: $after"

say "what needs a restart is told, the rest is applied"
services down 'forwarding: { default-hop-limit = 7; };'
reload reloads
grep -q "forwarding.default-hop-limit: restart needed" "$tmp/pitlaned.log" || fail "the restart is not told"
[ "$(state_of two)" = down ] || fail "server two is $(state_of two)"

say "an emptied file changes nothing; services can be removed, and come back"
cp "$conf" "$conf.kept"
: >"$conf"
reload refusals
[ "$(state_of two)" = down ] || fail "server two is $(state_of two)"
grep -v '^quic' "$conf.kept" | grep -v '^  \(one\|two\|far\|six\|mute\): ' | sed '/producer/,$ { /^};$/d }' >"$conf"
reload reloads
[ "$(ask quic list | jq '.services | length')" = 0 ] || fail "services are left"
cp "$conf.kept" "$conf"
reload reloads
[ "$(state_of two)" = down ] || fail "server two is $(state_of two)"

say "a storm of signals"
services up
for _ in $(seq 50); do kill -HUP "$daemon_pid"; done
up() { [ "$(state_of two)" = up ]; }
wait_for 10 up || fail "server two is $(state_of two)"

status=0
wait "$ping_pid" || status=$?
summary=$(cat "$tmp/ping.log")
expect_no_loss 1000
check_quiet
stop_daemon
