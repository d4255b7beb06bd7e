#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Client and server of ngtcp2 as Debian has them: connection IDs are random, so that the 4-tuple decides, which is
# counted; downloads and uploads are whole, over IPv4 and IPv6. A version that nobody has is answered by pitlaned.
source "$(dirname "$0")/lib-quic.sh"
command -v gtlsclient >/dev/null && command -v gtlsserver >/dev/null || fail "no gtlsclient, gtlsserver"
make_quic_namespaces 3
SERVICE='version-negotiation = true;'
quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 8; nonce-length = 5; key-file = "$tmp/cid.key"; } );
quic-server: { $(conf_server 1 up 8) $(conf_server 2 up 8) $(conf_server 3 up 8) };
CONF
start_daemon "$tmp/conf"
mkdir "$tmp/htdocs" "$tmp/got"
head -c 3000000 /dev/urandom >"$tmp/htdocs/file"
head -c 134217728 /dev/urandom >"$tmp/htdocs/large"
for i in 1 2 3; do
    start "stock4-$i" "$(ns_of $i)" gtlsserver -q --no-quic-dump --no-http-dump -d "$tmp/htdocs" $VIP $VPORT \
        "$tmp/key.pem" "$tmp/cert.pem"
    start "stock6-$i" "$(ns_of $i)" gtlsserver -q --no-quic-dump --no-http-dump -d "$tmp/htdocs" $VIP6 $VPORT \
        "$tmp/key.pem" "$tmp/cert.pem"
done
for i in 1 2 3; do
    wait_for 5 in_s $i sh -c "[ \$(grep -c ':$(printf %04X $VPORT) ' /proc/net/udp /proc/net/udp6 | awk -F: '{n += \$2} END {print n}') = 2 ]" ||
        fail "gtlsserver does not listen"
done
fetch() { # FILE ADDRESS OPTION...
    local file=$1 address=$2
    shift 2
    rm -f "$tmp/got/$file"
    in_c timeout 60 gtlsclient -q --no-quic-dump --no-http-dump --exit-on-all-streams-close --download="$tmp/got" \
        "$@" "$address" $VPORT "https://localhost:$VPORT/$file" >"$tmp/gtlsclient.log" 2>&1 || fail "gtlsclient"
    cmp "$tmp/htdocs/$file" "$tmp/got/$file" || fail "$file is not whole"
}
for i in $(seq 8); do
    fetch file $VIP
    fetch file $VIP6
done
say "short and long client-chosen connection IDs"
fetch file $VIP --dcid=0011223344556677 --scid=
fetch file $VIP6 --dcid=00112233445566778899aabbccddeeff0011 --scid=00112233
fetch large $VIP
say "upload"
in_c timeout 60 gtlsclient -q --no-quic-dump --no-http-dump --exit-on-all-streams-close -m POST -d "$tmp/htdocs/file" \
    $VIP $VPORT "https://localhost:$VPORT/file" >"$tmp/gtlsclient.log" 2>&1 || fail "gtlsclient"

say "version negotiation"
for vip in $VIP $VIP6; do
    in_c timeout 10 gtlsclient -q --no-quic-dump --no-http-dump -v 0x1a2a3a4a $vip $VPORT \
        "https://localhost:$VPORT/file" >"$tmp/gtlsclient.log" 2>&1 || true
    grep -q ERR_RECV_VERSION_NEGOTIATION "$tmp/gtlsclient.log" || fail "no version negotiation"
done
summary=$(ask quic show web)
say "$(jq -c 'del(.servers)' <<<"$summary")"
expect '.version_negotiations == 2 and .by_cid == 0 and .by_hash == .packets - 2'
expect '.unroutable_config + .unroutable_server > 1000'
expect '[.servers[].packets] | min > 0'
check_drops quic_answered
check_quiet
stop_daemon
