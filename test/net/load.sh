#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pitlane-load against pitlaned over AF_XDP: nothing is lost at a low rate, and what is lost, changed or refused is seen.
source "$(dirname "$0")/lib-load.sh"
make_load_namespaces
ether_conf "$tmp/conf"
start_daemon "$tmp/conf"

say "constant arrivals: nothing lost, latencies there and in order"
# shellcheck disable=SC2086
load $xdp_ends --rate 1000 --duration 3
expect_load '.ok and .sent == 3000 and .received == 3000 and .lost == 0 and .duplicates == 0 and .reordered == 0'
expect_load '.latency_us | .count == 3000 and .min > 0 and .min <= .p50 and .p50 <= .p90 and .p90 <= .p99 and
    .p99 <= .["p99.9"] and .["p99.9"] <= .["p99.99"] and .["p99.99"] <= .max and .max < 3000000'
expect_load '.rate_sent_pps > 990 and .rate_sent_pps < 1010 and .producer.data == 3000 and .producer.tokens == 3000'

say "random arrivals, long names of several flows"
load $xdp_ends --rate 1000 --arrivals poisson --duration 2 --components 8 --flows 100
expect_load '.ok and .lost == 0 and .sent > 1700 and .sent < 2300'

say "closed loop, and a producer that returns no tokens"
load $xdp_ends --window 16 --count 5000 --token off
expect_load '.ok and .sent == 5000 and .received == 5000 and .expected_interval_us > 0 and
    .latency_us.count >= .latency_uncorrected_us.count'

say "names that repeat, prefixes of Data, a consumer without tokens"
load $xdp_ends --window 32 --count 5000 --names zipf:100:1 --can-be-prefix --consumer-token off
expect_load '.ok and .sent == .received + .aggregated and .aggregated > 0'
load $xdp_ends --window 32 --count 5000 --names cycle:7
expect_load '.ok and .sent == .received + .aggregated and .aggregated > 0'

say "fragments"
load $xdp_ends --window 8 --count 1000 --payload 8000 --fragments
expect_load '.ok and .received == 1000 and .producer.frames == 6000'

say "what the producer leaves out is lost"
load $xdp_ends --rate 1000 --count 1000 --inject drop:50 --max-loss 0.02
expect_load '.ok and .lost == 20 and .received == 980 and .producer.dropped == 20 and .loss_ratio == 0.02'
[ $load_status = 0 ] || fail "exit $load_status with loss that is allowed"
load $xdp_ends --rate 1000 --count 1000 --inject drop:50 --max-loss 0.019
expect_load '.ok == false and .lost == 20'
[ $load_status = 1 ] || fail "exit $load_status with loss above the limit"

say "a link that is down for a while: lost, or refused"
rm "$tmp/load.log" # the one of the run before
(wait_for 20 grep -q " sent " "$tmp/load.log" && ip -n "$NS_C" link set p0 down && sleep 0.2 &&
    ip -n "$NS_C" link set p0 up) &
load $xdp_ends --rate 1000 --duration 3
expect_load '.ok and .lost + .nacks > 100 and .lost + .nacks < 2000 and .sent == .received + .lost + .nacks'

say "an octet that is changed, and Nacks"
load $xdp_ends --rate 1000 --count 1000 --inject corrupt:100,nack:30
# Those that are numbered by both get the Nack.
expect_load '.ok == false and .corrupted == 7 and .lost == 7 and .nacks == 33 and .received == 960'
[ $load_status = 1 ] || fail "exit $load_status with Data that are corrupted"
check_quiet
stop_daemon
