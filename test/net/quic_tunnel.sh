#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Delivery in IPIP and GUE to servers by their IPv4 and IPv6 addresses, of IPv4 and IPv6 packets: transfers with changes
# of port are whole, and what does not fit with the outer headers is answered with "too big". The server's end of the
# tunnel is a program of ours, since not every kernel has one; it judges the headers.
source "$(dirname "$0")/lib-quic.sh"
make_quic_namespaces 2
decapsulate=$BUILD/test/net/decapsulate
# The address of server 2 is IPv6.
tunnel_conf() { # DELIVERY
    SERVICE="delivery = \"$1\"; gue-port = 6081;"
    quic_conf "$tmp/conf" <<CONF
quic-config: ( { service = "web"; id = 0; server-id-length = 3; nonce-length = 5; key-file = "$tmp/cid.key"; } );
quic-server: {
  one: { service = "web"; address = "10.0.2.11"; id = [ "$(id_of 1 3)" ]; };
  two: { service = "web"; address = "fd00:2::12"; id = [ "$(id_of 2 3)" ]; };
};
CONF
}
for delivery in ipip gue; do
    say "delivery $delivery"
    tunnel_conf $delivery
    start_daemon "$tmp/conf"
    for i in 1 2; do
        start_server $i -i "$(id_of $i 3)" -l 0 -n 5 -e $KEY
        start "decapsulate$i" "$(ns_of $i)" "$decapsulate" 6081
        tunnel_pid[i]=$started
        wait_for 5 grep -q ready "$tmp/decapsulate$i.log" || fail "decapsulate"
    done
    for vip in $VIP $VIP6; do
        upload -n 10 -o 1000000 -r 2000000 -b 1 -m 1 $vip
        expect '.ok == 10 and .moves == 20 and .resets == 0 and (.servers | length == 2)'
    done
    in_c timeout 20 python3 "$here/quic_mtu.py" $VPORT $VIP $([ $delivery = ipip ] && echo 1480 1460 || echo 1472 1452) ||
        fail "path size of IPv4"
    in_c timeout 20 python3 "$here/quic_mtu.py" $VPORT $VIP6 $([ $delivery = ipip ] && echo 1480 1460 || echo 1472 1452) ||
        fail "path size of IPv6"
    for i in 1 2; do
        finish "${tunnel_pid[$i]}" || fail "decapsulate"
        counts=$(tail -n 1 "$tmp/decapsulate$i.log")
        say "server $i: $counts"
        other=$([ $delivery = ipip ] && echo gue || echo ipip)
        jq -e ".$delivery > 1000 and .$other == 0 and .outer_bad + .inner_bad + .refused == 0" <<<"$counts" >/dev/null ||
            fail "packets out of the tunnel: $counts"
    done
    stop_servers 1 2
    check_drops quic_mtu
    check_quiet
    stop_daemon
done
