#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How pitlaned does over AF_XDP at half of what it can: the saturated rate is found by a closed loop, then half of it is
# sent for a minute; nothing may be lost. pitlaned's worker has the first CPU and pitlane-load the last. Needs root.
# usage: half_rate.sh [pitlane-load options]   e.g. --duration 10 --saturate 0.8 --payload 1000
set -euo pipefail
source "$(dirname "$0")/../net/lib-load.sh"
make_load_namespaces
last=$(($(nproc) - 1))
MBUFS=32768 ether_conf "$tmp/conf" /A "lcores = [ 0 ];"
start_daemon "$tmp/conf"
status=0
in_c "$pitlane_load" --lcores="0@$last" --no-huge -m 512 --no-pci --no-telemetry --no-shconf --file-prefix="half$$" \
    $xdp_devices -- --prefix /A $xdp_ends --saturate 0.5 --window 256 --trial 5 --warm-up 1 --duration 60 --max-loss 0 \
    --json "$tmp/report.json" "$@" || status=$?
jq '{commandline: (.arguments | join(" ")), saturated_pps: .search.saturated_pps, rate_pps: .load.rate_pps, seconds, sent,
    received, lost, late, unsent, duplicates, reordered, corrupted, unexpected, loss_ratio, latency_us, ports, faults}' "$tmp/report.json"
say "ports of pitlaned: $(ask port list | jq -c .)"
say "drops of pitlaned: $(ask drops -a | jq -c '[.drops[] | select(.count > 0) | {(.reason): .count}] | add // {}')"
check_quiet
stop_daemon
exit $status
