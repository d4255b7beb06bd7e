#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bad management commands: each has its answer, or none, and is counted where the telemetry socket shows it. Then what
# applications see on the socket: header fields, the switches of the Content Store, FaceIds.
source "$(dirname "$0")/lib.sh"
make_namespaces
xdp_ports | CS_CAPACITY=4096 MBUFS=32768 write_conf "$tmp/conf"
start_daemon "$tmp/conf"
telemetry=$(find "$tmp/run" -name 'dpdk_telemetry.v2' | head -n 1)
[ -n "$telemetry" ] || fail "no telemetry socket"
PYTHONDONTWRITEBYTECODE=1 "$here/management_rows.py" "$tmp/run/conf/nfd.sock" "$telemetry" >"$tmp/rows.log" ||
    fail "$(grep -v '^ok' "$tmp/rows.log")"
grep "^ok" "$tmp/rows.log" | sed "s/^ok/#/"
say "$(tail -n 1 "$tmp/rows.log")"
PYTHONDONTWRITEBYTECODE=1 "$here/application.py" "$tmp/run/conf/nfd.sock" >"$tmp/application.log" ||
    fail "$(grep -v '^ok' "$tmp/application.log")"
sed "s/^ok/#/" "$tmp/application.log"
check_quiet
