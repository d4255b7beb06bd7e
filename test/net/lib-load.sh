# SPDX-License-Identifier: Apache-2.0
# What the tests with pitlane-load share, on top of lib.sh: both ends of the forwarder, c0 and p0, in one namespace, so
# that one process has them as AF_XDP ports.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pitlane_load=$BUILD/test/load/pitlane-load
[ -x "$pitlane_load" ] || fail "$pitlane_load is not there"

make_load_namespaces() {
    make_namespaces
    ip -n "$NS_P" link set p0 netns "$NS_C"
    ip -n "$NS_C" addr flush dev p0
    ip -n "$NS_C" link set p0 up
}

# EAL arguments: one lcore unless LCORES says more, its files apart from those of others.
load_eal() { # NAME
    echo "${LCORES:---lcores=0@0-$(($(nproc) - 1))} --no-huge -m 256 --no-pci --no-telemetry --no-shconf --file-prefix=$1$$"
}
xdp_devices="--vdev=net_af_xdp0,iface=c0 --vdev=net_af_xdp1,iface=p0"
xdp_ends="--consumer=0,to=$MAC_F0 --producer=1,to=$MAC_F1"

# Run it to its end; the report is in $report, the exit code in $load_status. On a busy machine it must leave the CPU to
# the forwarder, hence --sleep, and answers may be slow, hence --timeout.
report= load_status=
load() { # OPTION...
    load_status=0
    # shellcheck disable=SC2046,SC2086
    in_c timeout 60 "$pitlane_load" $(load_eal load) ${DEVICES-$xdp_devices} -- --prefix /A --sleep 50 --mbufs 8191 \
        --timeout 3 --json "$tmp/load.json" "$@" >"$tmp/load.log" 2>&1 || load_status=$?
    [ -s "$tmp/load.json" ] || fail "pitlane-load exits with $load_status and without a report"
    report=$(cat "$tmp/load.json")
    rm "$tmp/load.json"
    say "load $*: $(jq -c '[.sent, .received, .aggregated, .lost, .nacks, .corrupted] as [$s, $r, $a, $l, $n, $c] |
        {sent: $s, received: $r, aggregated: $a, lost: $l, nacks: $n, corrupted: $c, p50: .latency_us.p50,
        p99: .latency_us["p99"], faults}' <<<"$report")"
}
expect_load() { # JQ-EXPRESSION
    [ "$(jq "$1" <<<"$report")" = true ] || fail "not so: $1 in $report"
}
