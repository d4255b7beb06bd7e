#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uploads of 128 MiB, client by server by path, one of each in turn: a JSON line {"client", "server", "path", "seconds"}
# for each, the time being that of the whole client process. Everything else is on stderr.
# usage: quic_transfers.sh [OCTETS]
#
# Paths: "direct" through the forwarder's kernel, over the same veth pairs; "cid" through pitlaned by connection ID;
# "tuple" through pitlaned by the 4-tuple, with a server whose connection IDs cannot be routed. Uploads, because answers
# of servers never pass the forwarder. Our programs speak HTTP/3 with those of ngtcp2, among themselves a bare stream.
exec 4>&1 >&2
source "$(dirname "$0")/../net/lib-quic.sh"
octets=${1:-134217728}
CID=4433 TUPLE=4434 STOCK=4435 # ports: services, each with one server
make_quic_namespaces 1
stock=false
if command -v gtlsclient >/dev/null && command -v gtlsserver >/dev/null; then stock=true; fi

service() { # NAME PORT
    echo "$1: { vip = [ \"$VIP:$2\" ]; };"
}
config() { # NAME
    echo "{ service = \"$1\"; id = 0; server-id-length = 3; nonce-length = 5; key-file = \"$tmp/cid.key\"; }"
}
server() { # NAME
    echo "$1: { service = \"$1\"; address = \"10.0.2.11\"; id = \"$(id_of 1 3)\"; };"
}
{
    xdp_ports
    cat <<CONF
quic: { $(service cid $CID) $(service tuple $TUPLE) $(service stock $STOCK) };
quic-config: ( $(config cid), $(config tuple), $(config stock) );
quic-server: { $(server cid) $(server tuple) $(server stock) };
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"

ours() { # NAME PORT OPTION...
    local name=$1 port=$2
    shift 2
    start "$name" "$(ns_of 1)" "$quic_server" -p "$port" -k "$tmp/key.pem" -c "$tmp/cert.pem" "$@" $VIP 10.0.2.11
    wait_for 5 grep -q ready "$tmp/$name.log" || fail "$name is not ready"
}
ours cid $CID -i "$(id_of 1 3)" -l 0 -n 5 -e $KEY
cid_pid=$started
ours tuple $TUPLE -i "$(id_of 1 3)" -u
tuple_pid=$started
if $stock; then
    mkdir "$tmp/htdocs"
    "$quic_client" -w -o "$octets" >"$tmp/file"
    start stock "$(ns_of 1)" gtlsserver -q --no-quic-dump --no-http-dump -d "$tmp/htdocs" '*' $STOCK "$tmp/key.pem" "$tmp/cert.pem"
    listens() { in_s 1 grep -qi ":$(printf %04X $STOCK) " /proc/net/udp /proc/net/udp6; }
    wait_for 5 listens || fail "gtlsserver does not listen"
fi

# In the background, so that a signal ends it at once.
timed() { # CLIENT SERVER PATH COMMAND...
    local client=$1 server=$2 path=$3 from status=0
    shift 3
    from=${EPOCHREALTIME/./}
    start client "$NS_C" "$@"
    wait "$started" || status=$?
    local took=$((${EPOCHREALTIME/./} - from))
    [ $status = 0 ] || fail "$client to $server, $path: exit $status"
    printf '{"client": "%s", "server": "%s", "path": "%s", "seconds": %d.%06d}\n' "$client" "$server" "$path" \
        $((took / 1000000)) $((took % 1000000)) >&4
}
our_client() { # SERVER PATH OPTION... ADDRESS PORT
    local server=$1 path=$2
    shift 2
    timed ours "$server" "$path" "$quic_client" -t 110 -o "$octets" "$@"
}
stock_client() { # SERVER PATH ADDRESS PORT
    timed ngtcp2 "$1" "$2" timeout 120 gtlsclient -q --no-quic-dump --no-http-dump --exit-on-all-streams-close -m POST \
        -d "$tmp/file" "$3" "$4" "https://localhost:$4/"
}
our_client ours direct 10.0.2.11 $CID
our_client ours cid $VIP $CID
our_client ours tuple $VIP $TUPLE
if $stock; then
    our_client ngtcp2 direct -3 10.0.2.11 $STOCK
    our_client ngtcp2 tuple -3 $VIP $STOCK
    stock_client ours direct 10.0.2.11 $CID
    stock_client ours cid $VIP $CID
    stock_client ours tuple $VIP $TUPLE
    stock_client ngtcp2 direct 10.0.2.11 $STOCK
    stock_client ngtcp2 tuple $VIP $STOCK
fi
# Every octet that came to a server of ours was right, and none at the wrong one.
finish "$cid_pid" || fail "server cid"
finish "$tuple_pid" || fail "server tuple"
for name in cid tuple; do
    say "$name: $(tail -n 1 "$tmp/$name.log")"
    tail -n 1 "$tmp/$name.log" | jq -e '[.resets, .strays, .broken, .bad] | add == 0' >/dev/null || fail "server $name"
done
check_quiet
stop_daemon
