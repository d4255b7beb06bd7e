#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The systemd unit: systemd understands it, its exposure stays within what is promised, and pitlaned starts and ends
# with the account and the capabilities that the unit gives it.
source "$(dirname "$0")/lib.sh"
unit=$tmp/pitlaned.service
sed "s#@sbindir@#$BUILD#" "$here/../../conf/pitlaned.service" >"$unit"
exposure_max=2.5

if command -v systemd-analyze >/dev/null; then
    say "systemd-analyze"
    systemd-analyze verify "$unit" >"$tmp/verify.out" 2>&1 || fail "$(cat "$tmp/verify.out")"
    [ ! -s "$tmp/verify.out" ] || fail "$(cat "$tmp/verify.out")"
    systemd-analyze security --no-pager --offline=true "$unit" >"$tmp/security.out"
    exposure=$(sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p' "$tmp/security.out")
    [ -n "$exposure" ] || fail "no exposure in: $(tail -n 3 "$tmp/security.out")"
    awk -v is="$exposure" -v max=$exposure_max 'BEGIN { exit !(is <= max) }' || fail "exposure $exposure, at most $exposure_max"
    say "exposure $exposure"
fi

say "with the unit's capabilities"
caps=$(sed -n 's/^AmbientCapabilities=//p' "$unit" | tr '[:upper:]' '[:lower:]' | sed 's/cap_/+/g; s/ /,/g')
[ -n "$caps" ] || fail "the unit gives no capabilities"
[ "$caps" = "$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr '[:upper:]' '[:lower:]' | sed 's/cap_/+/g; s/ /,/g')" ] ||
    fail "the unit bounds other capabilities than it gives"
make_namespaces
{
    xdp_ports
    echo 'face: { a: { port = "left"; remote = "ether://[02:00:00:00:01:02]"; }; };'
} | write_conf "$tmp/service.conf"
mkdir "$tmp/run"
chmod 0711 "$tmp"
chown nobody "$tmp/run"
start service "$NS_F" setpriv --reuid nobody --regid nogroup --clear-groups --no-new-privs \
    --bounding-set "-all,$caps" --inh-caps "-all,$caps" --ambient-caps "-all,$caps" "$pitlaned" -c "$tmp/service.conf"
daemon=$started
wait_for 20 grep -q 'ready' "$tmp/service.log" || fail "not ready: $(cat "$tmp/service.log")"
grep -q '^Uid:[[:space:]]*0[[:space:]]' "/proc/$daemon/status" && fail "it runs as root"
grep -q '^NoNewPrivs:[[:space:]]*1$' "/proc/$daemon/status" || fail "it may gain privileges"
finish "$daemon" || fail "exit $?"
in_f ip -d link show dev f0 | grep -q prog/xdp && fail "the XDP program is still there"
say "ok"
