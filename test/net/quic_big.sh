#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 128 MiB through pitlaned and directly, over the same veth pairs, in interleaved pairs: all octets are right, and the
# median of the ratios of their times is printed. On a busy machine the bound only finds what is badly wrong.
#   QUIC_PAIRS   pairs (default 3)
#   QUIC_RATIO   largest median of the ratios (default 3.0); 1.10 is for a quiet machine
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 1
quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; key-file = "$tmp/cid.key"; } );
quic-server: { $(conf_server 1 up 3) };
CONF
start_daemon "$tmp/conf"
start_server 1 -i "$(id_of 1 3)" -l 0 -n 5 -e $KEY
octets=$((128 << 20))
seconds() { # ADDRESS
    upload -o $octets "$1"
    expect ".octets == $octets"
    took=$(jq .seconds <<<"$summary")
}
ratios=()
for pair in $(seq "${QUIC_PAIRS:-3}"); do
    # Who is first changes from pair to pair.
    if [ $((pair % 2)) = 1 ]; then
        seconds 10.0.2.11; direct=$took
        seconds $VIP; through=$took
    else
        seconds $VIP; through=$took
        seconds 10.0.2.11; direct=$took
    fi
    ratios+=("$(jq -n "$through / $direct")")
done
upload -o $octets -b 2 $VIP6
expect ".octets == $octets and .moves == 2"
median=$(printf '%s\n' "${ratios[@]}" | jq -s 'sort | .[length / 2 | floor]')
say "through pitlaned / directly: ${ratios[*]}, median $median"
jq -ne "$median <= ${QUIC_RATIO:-3.0}" >/dev/null || fail "median of the ratios is $median"
stop_servers 1
check_drops
check_quiet
stop_daemon
