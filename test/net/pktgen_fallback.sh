#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/run-pktgen without Pktgen-DPDK: trafgen sends what mkpcap makes through a pitlaned of the script's own, and
# between two interfaces that are given; the scripts and their results are the same.
source "$(dirname "$0")/lib.sh"
run=$here/../../scripts/run-pktgen
load() { # OPTION... : result in $summary
    # shellcheck disable=SC2016
    timeout 120 bash -c 'echo $$ >"$0"; exec "$@"' "$tmp/pid" "$run" --trafgen --build "$BUILD" --rate 1000 --duration 0.5 "$@" --output "$tmp/result.json" \
        >"$tmp/run.log" 2>&1 || fail "run-pktgen $*: $(cat "$tmp/run.log" "$tmp/result.json")"
    summary=$(cat "$tmp/result.json")
    ip netns list | grep -q "^pg$(cat "$tmp/pid")-" && fail "namespaces are left"
    say "$* $(jq -c '{trials, result, forwarder}' <<<"$summary")"
}
mkdir "$tmp/work"
export TMPDIR=$tmp/work

load --script ndn-interests --set trials=2
expect '.trials | length == 2 and all(.complete and .sent == 500 and .received == 500 and .loss == 0)'
expect '.forwarder | .received == 1000 and .sent == 1000 and .dropped == 0'
load --script ndn-exchange --comps 6 --payload 500
expect '.trials[0] | .sent == 500 and .received == 500 and .interests_forwarded == 500 and .data_sent == 500'
expect '.forwarder | .received == 1000 and .sent == 1000 and .ports.a.tx_frames == 500 and .ports.b.tx_frames == 500'
for lb in 0,plaintext,3,4 2,four-pass,8,10; do
    load --script quic --lb $lb --mix 90/4/5/1
    expect '.trials[0] | .sent == 500 and .received == 500'
    # Half for each server, all by connection ID.
    expect '.forwarder.quic | .packets == 500 and .by_cid == 500 and .servers.one == 250 and .servers.two == 250'
done
load --script sweep --traffic exchange --set rates=500,0.2% --duration 1
expect '[.trials[] | .offered_pps] == [500, 1000] and (.trials | all(.loss == 0))'
load --script rfc2544 --set min_rate=200 --set max_rate=800 --set resolution=200 --set accuracy=1 --set loss=0.5
expect '.result.rate_pps == 800 and .result.found and (.trials | length == 2)'

say "interfaces that are given"
make_namespaces
ip -n "$NS_P" link set p0 netns "$NS_C"
ip -n "$NS_C" link set p0 up
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[02:00:00:00:00:02]"; };
  producer: { port = "right"; remote = "ether://[02:00:00:00:01:02]"; };
};
route: ( { prefix = "/ndnbench"; face = "producer"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
# What the kernel of this namespace would say of its own.
in_c sysctl -qw net.ipv6.conf.all.disable_ipv6=1
in_f sysctl -qw net.ipv6.conf.all.disable_ipv6=1
in_c timeout 120 "$run" --netdev c0,p0 --mac $MAC_F0,$MAC_F1 --build "$BUILD" --script ndn-exchange --rate 1000 \
    --duration 0.5 >"$tmp/result.json" 2>"$tmp/run.log" || fail "$(cat "$tmp/run.log" "$tmp/result.json")"
summary=$(cat "$tmp/result.json")
expect '.trials[0] | .sent == 500 and .received == 500 and .loss == 0'
expect 'has("forwarder") | not'
check_quiet
stop_daemon

say "faults"
refused() { # TEXT OPTION...
    local text=$1
    shift
    "$run" --build "$BUILD" "$@" >"$tmp/out.log" 2>&1 && fail "$* is accepted"
    grep -qF -- "$text" "$tmp/out.log" || fail "$*: $(cat "$tmp/out.log")"
}
refused "there is no script nonsense" --trafgen --script nonsense
refused "there is no script common" --trafgen --script common
refused "latency needs Pktgen-DPDK" --trafgen --script latency
refused "need Pktgen-DPDK" --trafgen --pci 0000:01:00.0,0000:01:00.1 --mac $MAC_F0,$MAC_F1
refused "MAC addresses" --netdev c0,p0
refused "no program /nonexistent" --pktgen /nonexistent
refused "a rate is packets a second" --trafgen --rate fast
refused "usage" --nonsense
[ -z "$(ls "$tmp/work")" ] || fail "left behind: $(ls "$tmp/work")"
