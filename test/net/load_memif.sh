#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pitlane-load as both applications of the shipped example, on memif: bare packets, one and two lcores, fragments, and
# the search for the highest rate.
source "$(dirname "$0")/lib-load.sh"
make_namespaces
mkdir "$tmp/run"
sed "s|/run/pitlane|$tmp/run|; s|file-prefix|runtime-dir = \"$tmp/run\"; file-prefix|; s|= \"pitlane-demo\"|= \"demo$$\"|" \
    "$here/../../conf/examples/demo.conf" >"$tmp/demo.conf"
start demo "$NS_F" "$pitlaned" -c "$tmp/demo.conf"
demo=$started
wait_for 20 grep -qw ready "$tmp/demo.log" || fail "the example is not ready"

memif() { echo "--vdev=net_memif$1,role=client,id=0,socket=$tmp/run/$2.sock,socket-abstract=no"; }
DEVICES="$(memif 0 consumer) $(memif 1 producer)"
# Frames are lost while the server of a memif has not seen yet that the link is up.
ends="--consumer=0 --producer=1 --prefix /demo --warm-up 0.5"

say "open loop, Poisson"
# shellcheck disable=SC2086
load $ends --rate 2000 --arrivals poisson --duration 3
expect_load '.ok and .lost == 0 and .duplicates == 0 and .reordered == 0 and .sent == .received'
expect_load '.latency_us | .count > 5000 and .min > 0 and .min <= .p50 and .p50 <= .p90 and .p90 <= .p99 and
    .p99 <= .["p99.9"] and .["p99.9"] <= .max'
expect_load '[.ports[].driver] == ["net_memif", "net_memif"] and .lcores == 1'

say "closed loop on two lcores, large Data in fragments"
LCORES="--lcores=0@0-$(($(nproc) - 1)),1@0-$(($(nproc) - 1))"
# shellcheck disable=SC2086
load $ends --window 16 --count 20000 --payload 4000 --fragments
expect_load '.ok and .lcores == 2 and .received == 20000 and .lost == 0'

say "a share of the saturated rate, and the search"
# shellcheck disable=SC2086
load $ends --saturate 0.2 --trial 0.5 --duration 1 --max-loss 0.5
expect_load '.ok and .search.saturated_pps > 1000 and (.load.rate_pps / .search.saturated_pps * 1000 | round) == 200'
# shellcheck disable=SC2086
load $ends --search --rate 4000 --max-loss 0.5 --resolution 0.3 --trial 0.5 --duration 1
expect_load '.search.trials | length >= 1 and all(.[]; .rate_pps <= 4000)'
expect_load '.search as $s | ($s.rate_pps > 0) == ([$s.trials[] | select(.good)] | length > 0) and
    ($s.rate_pps == ([$s.trials[] | select(.good) | .rate_pps] | max // 0))'

say "consumer and producer in two processes"
# shellcheck disable=SC2046,SC2086
start producer "$NS_P" "$pitlane_load" $(load_eal producer) "$(memif 0 producer)" -- --producer 0 --prefix /demo \
    --payload 500 --sleep 50 --mbufs 8191 --json "$tmp/producer.json"
producer=$started
both=$DEVICES
DEVICES=$(memif 0 consumer)
load --consumer 0 --prefix /demo --payload 500 --rate 1000 --count 2000 --warm-up 0.5
DEVICES=$both
expect_load '.ok and .received == 2000 and .lost == 0 and (.ports | length == 1) and (has("producer") | not)'
kill -INT $producer
wait $producer || fail "the producer exits with $?"
report=$(cat "$tmp/producer.json")
expect_load '.ok and .producer.data >= 2000 and (has("sent") | not)'

say "what is not a run"
bad() { # WORDS OPTION...
    local words=$1
    shift
    # shellcheck disable=SC2046,SC2086
    in_c timeout 60 "$pitlane_load" $(load_eal bad) -- "$@" >"$tmp/bad.log" 2>&1 && fail "accepted: $*"
    grep -qF -- "$words" "$tmp/bad.log" || fail "no \"$words\" in: $(cat "$tmp/bad.log")"
}
bad "neither --consumer nor --producer" --rate 5
bad "no such port of DPDK" --consumer 3
bad "one of them" --consumer 0 --rate 5 --window 5
bad "--rate 0 is not PPS" --consumer 0 --rate 0
in_c timeout 60 "$pitlane_load" --help >"$tmp/help.log" || fail "no help"
grep -q -- --arrivals "$tmp/help.log" || fail "no help about --arrivals"

say "an early end by SIGINT, with the report"
# shellcheck disable=SC2046,SC2086
start early "$NS_C" "$pitlane_load" $(load_eal early) $DEVICES -- $ends --rate 1000 --duration 60 --sleep 50 \
    --mbufs 8191 --json "$tmp/early.json"
wait_for 20 grep -q " sent " "$tmp/early.log" || fail "no progress"
kill -INT "$started"
wait "$started" || fail "exit $? after SIGINT"
report=$(cat "$tmp/early.json")
expect_load '.ok and .stopped and .sent > 100 and .sent < 60000 and .sent == .received'
finish $demo || fail "exit $?"
