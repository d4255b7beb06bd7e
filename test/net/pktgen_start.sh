#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How scripts/run-pktgen starts Pktgen-DPDK, with a program in its place that keeps what it is given: the terminal, the
# arguments for vhost and for network cards, captures that it can read, settings, and a pitlaned at the other ends.
source "$(dirname "$0")/lib.sh"
run=$here/../../scripts/run-pktgen
mkdir "$tmp/work"
export TMPDIR=$tmp/work KEPT=$tmp/kept
# As Pktgen it needs a terminal, and the captures that -s names; it looks at the sockets that --vdev names.
cat >"$tmp/pktgen" <<'PKTGEN'
#!/bin/bash
[ -t 0 ] || exit 3
mkdir -p "$KEPT"
printf '%s\n' "$@" >"$KEPT/arguments"
env | grep ^PITLANE_ | sort >"$KEPT/settings"
while [ $# -gt 0 ]; do
    case $1 in
    --vdev=*path=*) path=${1#*path=}; path=${path%%,*}; [ -S "$path" ] && echo "$path" >>"$KEPT/sockets" ;;
    -s) cp "${2#*:}" "$KEPT/port${2%%:*}.pcap"; shift ;;
    -f) [ -f "$2" ] || exit 4; shift ;;
    esac
    shift
done
[ -z "$FAIL" ] || { echo "it fails"; exit 5; }
echo '{"script": "stand-in", "trials": [{"loss": 0}], "settings": {}}' >"$PITLANE_OUTPUT"
PKTGEN
chmod +x "$tmp/pktgen"
load() {
    rm -rf "$KEPT"
    timeout 60 "$run" --build "$BUILD" --pktgen "$tmp/pktgen" --packets 300 "$@" >"$tmp/result.json" 2>"$tmp/run.log" ||
        fail "run-pktgen $*: $(cat "$tmp/run.log")"
    summary=$(cat "$tmp/result.json")
}
argument() { grep -qxF -- "$1" "$KEPT/arguments" || fail "no argument $1 in: $(cat "$KEPT/arguments")"; }
setting() { grep -qxF -- "PITLANE_$1" "$KEPT/settings" || fail "no $1 in: $(cat "$KEPT/settings")"; }
frames() { tshark -r "$1" -T fields -e eth.src -e eth.dst -e frame.len 2>/dev/null; }
magic() { od -An -N4 -tx4 "$1" | tr -d ' '; }

say "a pitlaned of its own"
load --script rfc2544 --traffic exchange --rate 5% --duration 3 --set loss=0.25 --payload 500 --comps 6
[ "$(wc -l <"$KEPT/sockets")" = 2 ] || fail "sockets of vhost: $(cat "$KEPT/arguments")"
argument 1.[0-1]
argument --main-lcore=0
for value in TRAFFIC=exchange RATE=5% DURATION=3 LOSS=0.25; do setting $value; done
# Pktgen reads microseconds only.
for port in 0 1; do
    [ "$(magic "$KEPT/port$port.pcap")" = a1b2c3d4 ] || fail "$(magic "$KEPT/port$port.pcap")"
    [ "$(frames "$KEPT/port$port.pcap" | wc -l)" = 300 ] || fail "300 packets are wanted"
done
[ "$(frames "$KEPT/port1.pcap" | awk '{ print $3 }' | sort -u | head -n 1)" -gt 500 ] || fail "payload"
expect '.trials[0].loss == 0 and .forwarder.received == 0 and (.forwarder.ports | keys == ["a", "b"])'
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"

say "two workers, a QUIC service with a key"
load --script quic --lb 3,four-pass,4,6 --size 200 --mix 50/50/0/0 --workers 2
[ ! -f "$KEPT/port1.pcap" ] || fail "servers send nothing"
[ "$(tshark -r "$KEPT/port0.pcap" -Y 'udp.dstport == 443' 2>/dev/null | wc -l)" = 300 ] || fail "datagrams for the service"
expect '.forwarder.quic.packets == 0'

say "network cards"
load --pci 0000:8a:00.0,0000:8a:00.1 --mac 02:00:00:00:00:11,02:00:00:00:01:11 --script ndn-exchange
argument 0000:8a:00.0
argument 0000:8a:00.1
grep -q vdev "$KEPT/arguments" && fail "no virtual devices are wanted"
[ "$(frames "$KEPT/port0.pcap" | cut -f 1,2 | sort -u)" = $'02:00:00:00:00:02\t02:00:00:00:00:11' ] ||
    fail "$(frames "$KEPT/port0.pcap" | head -n 1)"
[ "$(frames "$KEPT/port1.pcap" | cut -f 1,2 | sort -u)" = $'02:00:00:00:01:02\t02:00:00:00:01:11' ] ||
    fail "$(frames "$KEPT/port1.pcap" | head -n 1)"
expect 'has("forwarder") | not'

say "a Pktgen that fails"
FAIL=1 timeout 60 "$run" --build "$BUILD" --pktgen "$tmp/pktgen" --packets 300 >"$tmp/out.log" 2>&1 && fail "exit 0"
grep -q "no result" "$tmp/out.log" && grep -q "it fails" "$tmp/out.log" || fail "$(cat "$tmp/out.log")"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
