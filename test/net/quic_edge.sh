#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What pitlaned answers itself: Version Negotiation and Retry, judged octet by octet and by an independent dissector,
# which finds IP, UDP and QUIC of every answer sound, checksums and Retry Integrity Tag included. Clients and servers
# with Retry by the forwarder; Initials of version 2 reach a server.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 2
RPORT=4434
(umask 077 && echo "5 000102030405060708090a0b0c0d0e0f 101112131415161718191a1b" >"$tmp/retry.keys")
{
    xdp_ports
    cat <<CONF
quic: {
  web: { vip = [ "$VIP:$VPORT", "[$VIP6]:$VPORT" ]; version-negotiation = true; };
  retried: { vip = [ "$VIP:$RPORT", "[$VIP6]:$RPORT" ]; retry = "on"; retry-keys = "$tmp/retry.keys"; retry-config = 0; };
};
quic-config: (
  { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; },
  { service = "retried"; id = 0; server-id-length = 3; nonce-length = 9; }
);
quic-server: {
  web1: { service = "web"; address = "10.0.2.11"; id = [ "$(id_of 1 3)" ]; };
  web2: { service = "web"; address = "10.0.2.12"; id = [ "$(id_of 2 3)" ]; };
  retried1: { service = "retried"; address = "10.0.2.11"; id = [ "$(id_of 1 3)" ]; };
  retried2: { service = "retried"; address = "10.0.2.12"; id = [ "$(id_of 2 3)" ]; };
};
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"

capture() { # NAME NAMESPACE INTERFACE PORT
    start "$1" "$2" tcpdump -Z root -U --immediate-mode -w "$tmp/$1.pcap" -i "$3" udp port "$4"
    capture_pid=$started
    wait_for 5 grep -q listening "$tmp/$1.log" || fail "tcpdump"
}
capture_end() { sleep 0.3; finish "$capture_pid" || true; }
# Fields of the QUIC packets of a capture, one line each. IP and UDP checksums are verified.
dissect() { # FILE FILTER FIELD...
    local file=$1 filter=$2 field fields=()
    shift 2
    for field in "$@"; do fields+=(-e "$field"); done
    tshark -r "$file" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -d udp.port==$VPORT,quic \
        -d udp.port==$RPORT,quic -Y "$filter" -T fields "${fields[@]}" 2>/dev/null
}
no_faults() { # FILE
    local faults
    faults=$(dissect "$1" "udp.srcport in {$VPORT, $RPORT} && (_ws.malformed || ip.checksum.status == 0 ||
        udp.checksum.status == 0 || quic.bad_retry || !quic)" frame.number)
    [ -z "$faults" ] || fail "the dissector finds faults in $1, frames $faults"
}

say "version negotiation"
capture versions "$NS_C" c0 $VPORT
for vip in $VIP $VIP6; do
    in_c timeout 30 python3 "$here/quic_edge.py" versions $vip $VPORT || fail "Version Negotiation"
done
capture_end
no_faults "$tmp/versions.pcap"
seen=$(dissect "$tmp/versions.pcap" "udp.srcport == $VPORT && quic.version == 0" quic.supported_version)
[ "$(wc -l <<<"$seen")" = 10 ] || fail "Version Negotiation packets: $seen"
[ "$(grep -c 0x00000001 <<<"$seen")" = 10 ] && [ "$(grep -c 0x6b3343cf <<<"$seen")" = 10 ] || fail "versions: $seen"

say "retry"
capture retry "$NS_C" c0 $RPORT
for vip in $VIP $VIP6; do
    in_c timeout 30 python3 "$here/quic_edge.py" retry $vip $RPORT "$(id_of 1 3)" "$(id_of 2 3)" || fail "Retry"
done
capture_end
no_faults "$tmp/retry.pcap"
[ "$(dissect "$tmp/retry.pcap" "udp.srcport == $RPORT && quic.retry_integrity_tag" frame.number | wc -l)" -ge 6 ] ||
    fail "Retry packets"
python3 "$here/quic_edge.py" tamper "$tmp/retry.pcap" "$tmp/tampered.pcap"
[ -n "$(dissect "$tmp/tampered.pcap" quic.bad_retry frame.number)" ] || fail "the dissector does not verify tags"

say "version 2"
for i in 1 2; do
    start_server $i -i "$(id_of $i 3)" -l 0 -n 5
    capture "version2-$i" "$(ns_of $i)" e0 $VPORT
    captures[i]=$capture_pid
done
in_c timeout 30 python3 "$here/quic_edge.py" pass $VIP $VPORT || fail "Initials"
sleep 0.5
for i in 1 2; do finish "${captures[$i]}" || true; done
for version in 0x00000001 0x6b3343cf; do
    seen=$(for i in 1 2; do
        dissect "$tmp/version2-$i.pcap" "udp.dstport == $VPORT && quic.version == $version && ip.checksum.status == 1 &&
            udp.checksum.status == 1 && (quic.long.packet_type == 0 || quic.long.packet_type_v2 == 1)" ip.ttl
    done)
    [ "$seen" = 63 ] || fail "Initial of version $version at the servers, TTL: $seen"
done
for i in 1 2; do finish "${server_pid[$i]}" || fail "server $i"; done

say "retry between client and server"
VPORT=$RPORT
for i in 1 2; do start_server $i -i "$(id_of $i 3)" -l 0 -n 9 -t "$tmp/retry.keys"; done
for vip in $VIP $VIP6; do
    upload -n 10 -o 500000 -r 1000000 -m 1 -b 1 $vip
    expect '.ok == 10 and .moves == 20 and .resets == 0'
done
for i in 1 2; do
    [ "$(server_count $i retried)" = "$(server_count $i connections)" ] || fail "connections without Retry"
    [ "$(server_count $i bad_tokens)" = 0 ] || fail "bad tokens"
done
stop_servers 1 2
say "$(ask quic show retried | jq -c 'del(.servers)')"
check_drops quic_answered quic_token_bad quic_dgram_small quic_vn_rx quic_short
for count in quic_token_bad=12 quic_dgram_small=4 quic_vn_rx=2 quic_short=2; do
    [ "$(drop_count ${count%=*})" = ${count#*=} ] || fail "${count%=*} is $(drop_count ${count%=*}), not ${count#*=}"
done
check_quiet
stop_daemon
