#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Limits per source: one that sends more Initials, or asks for more Version Negotiation, than it may is limited, and after
# a while may again; others, who send at the same time, are not. All that is refused is counted. Sources of IPv6 are /64s.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 1
for host in 3 4 5; do
    ip -n "$NS_C" addr add 10.0.1.$host/24 dev c0
    ip -n "$NS_C" addr add fd00:1::$host/64 dev c0 nodad
    ip -n "$NS_C" addr add fd00:7:$host::2/128 dev lo nodad
done
SERVICE='initial-rate = 8; edge-rate = 4; version-negotiation = true;'
quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; } );
quic-server: { $(conf_server 1 up 3) };
CONF
start_daemon "$tmp/conf"
sink 1 $VIP:$VPORT-$VPORT $VIP6:$VPORT-$VPORT
known() { ask quic show web | jq -e '.servers[0].mac != ""'; }
wait_for 20 known || fail "$(ask quic show web)"
# COUNT datagrams of 1200 octets from each SOURCE, in turns; VERSION 1 makes Initials.
flood() { # VIP VERSION COUNT SOURCE...
    in_c timeout 20 python3 - $VPORT "$@" <<'PYTHON' || fail "datagrams"
import os, socket, struct, sys
port, vip, version, count, sources = int(sys.argv[1]), sys.argv[2], int(sys.argv[3], 0), int(sys.argv[4]), sys.argv[5:]
sockets = []
for source in sources:
    s = socket.socket(socket.AF_INET6 if ':' in vip else socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((source, 0))
    s.connect((vip, port))
    sockets.append(s)
for i in range(count):
    for s in sockets:
        head = b'\xc3' + struct.pack('>I', version) + b'\x08' + os.urandom(8) + b'\x04abcd' + b'\0'
        packet = head + struct.pack('>H', 0x4000 | 1200 - len(head) - 2)
        s.send(packet + bytes(1200 - len(packet)))
PYTHON
}
# How many of those sent since the last call were let through, by a counter of the service.
passed() { # COUNTER SENT
    local state limited
    state=$(ask quic show web)
    now=$(jq ".$1" <<<"$state")
    limited=$(drop_count quic_limited)
    [ $((now - ${before:-0} + limited - ${before_limited:-0})) = "$2" ] || fail "$2 datagrams: $1 $before -> $now, limited $before_limited -> $limited"
    pass=$((now - before))
    before=$now before_limited=$limited
}
begin() { before=$(ask quic show web | jq ".$1"); before_limited=$(drop_count quic_limited); sleep 1.2; } # COUNTER
# A bucket is a second deep; it fills again while the datagrams are sent, which may take its time on a busy machine.
timed() { local from=$(date +%s%N); "$@"; took=$((($(date +%s%N) - from) / 1000000)); }
limit() { echo $(($1 + $1 * took / 1000 + 1)); } # RATE

for vip in $VIP $VIP6; do
    [ $vip = $VIP ] && one=10.0.1.2 two=10.0.1.3 three=10.0.1.4 || { one=fd00:1::2 two=fd00:7:3::2 three=fd00:7:4::2; }
    say "Initials to $vip"
    begin by_hash
    timed flood $vip 1 60 $one
    passed by_hash 60
    say "one source: $pass of 60 in $took ms"
    [ $pass -ge 8 ] && [ $pass -le "$(limit 8)" ] || fail "a source of 60 Initials gets $pass through"
    flood $vip 1 8 $two $three
    passed by_hash 16
    [ $pass = 16 ] || fail "others are limited: $pass of 16"
    sleep 1.2
    flood $vip 1 8 $one
    passed by_hash 8
    [ $pass = 8 ] || fail "a source that was limited gets $pass of 8 through later"
    if [ $vip = $VIP6 ]; then
        begin by_hash
        timed flood $vip 1 20 fd00:1::3 fd00:1::4 fd00:1::5
        passed by_hash 60
        [ $pass -le "$(limit 8)" ] || fail "hosts of one /64 get $pass through"
    fi

    say "Version Negotiation of $vip"
    begin version_negotiations
    timed flood $vip 0x1a2a3a4a 30 $one
    passed version_negotiations 30
    say "one source: $pass of 30 in $took ms"
    [ $pass -ge 4 ] && [ $pass -le "$(limit 4)" ] || fail "a source of 30 gets $pass answers"
    flood $vip 0x1a2a3a4a 4 $two $three
    passed version_negotiations 8
    [ $pass = 8 ] || fail "others are limited: $pass of 8"
    # What one may ask for besides is another bucket.
    begin by_hash
    flood $vip 1 8 $one
    passed by_hash 8
    [ $pass = 8 ] || fail "Initials are limited by answers: $pass of 8"
done
check_drops quic_limited quic_answered
check_quiet
stop_daemon
