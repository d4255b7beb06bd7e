#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# SIGTERM under load: exit 0 within 2 s, the eBPF program detached, the sockets gone; a start right after works, and
# so does one after kill -9.
source "$(dirname "$0")/lib.sh"
make_namespaces
ether_conf "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 1000
start_daemon "$tmp/conf"
start load "$NS_C" "$pitlane" ping /A --ether c0 --remote $MAC_F0 -q -i 20us -w 512 -W 1s
load=$started
sleep 1
kill -0 "$load" || fail "the load ended early"
stop_daemon
for dev in f0 f1; do
    if ip -n "$NS_F" link show $dev | grep -q xdp; then fail "an eBPF program is left on $dev"; fi
done
[ -z "$(find "$tmp/run" -type s)" ] || fail "sockets are left: $(find "$tmp/run" -type s)"

say "kill -9 and start again, under load"
start_daemon "$tmp/conf"
if in_f "$pitlaned" -c "$tmp/conf" >"$tmp/second.log" 2>&1; then fail "a second instance runs beside the first"; fi
grep -q "another pitlaned" "$tmp/second.log" || fail "$(cat "$tmp/second.log")"
sed 's|^daemon: {|daemon: { file-prefix = "other"; log-file = "'"$tmp"'/other.log";|' "$tmp/conf" >"$tmp/other.conf"
if in_f "$pitlaned" -c "$tmp/other.conf" >"$tmp/other.out" 2>&1; then fail "two instances share an interface"; fi
grep -q "in use by another pitlane" "$tmp/other.log" || fail "$(cat "$tmp/other.log")"
[ ! -s "$tmp/other.out" ] || fail "not in the log: $(cat "$tmp/other.out")"
for i in $(seq 5); do
    sleep 0.3
    kill -KILL "$daemon_pid"
    wait "$daemon_pid" || true
    from=$(date +%s%N)
    : >"$tmp/pitlaned.log"
    start_daemon "$tmp/conf"
    ms=$((($(date +%s%N) - from) / 1000000))
    say "ready $ms ms after kill -9 ($i)"
    [ $ms -le 4000 ] || fail "not forwarding $ms ms after kill -9"
done
finish "$load" || fail "the load got no answer at all"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 500 -i 1ms -s 1000 -t 8
expect_no_loss 500
check_quiet
stop_daemon

say "several workers, and a port that never runs dry"
write_conf "$tmp/conf" "count = 2;" <<CONF
port: { load: { device = "net_null0"; }; };
face: { load: { port = "load"; remote = "ether://[02:00:00:00:00:01]"; }; };
CONF
: >"$tmp/pitlaned.log"
start_daemon "$tmp/conf"
sleep 0.5
[ "$(drop_count l2_src)" -gt 10000 ] || fail "no load: $(show drops)"
stop_daemon
