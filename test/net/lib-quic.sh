# SPDX-License-Identifier: Apache-2.0
# What the QUIC network tests share, on top of lib.sh: servers behind a virtual address, which answer clients directly.
#
#   client ------------ forwarder ------------ switch and router ---- server 1   e0 10.0.2.11 fd00:2::11
#     c0 10.0.1.2   f0 10.0.1.1   f1 10.0.2.1    br0 10.0.2.2    \--- server 2   e0 10.0.2.12 fd00:2::12
#     c1 10.0.3.2 ------------------------------ r1 10.0.3.1      \-- ...
#
# Towards the servers: the client sends to the virtual address (10.0.9.1, fd00:9::1) by the forwarder, where pitlaned
# takes QUIC off the interface f0 and gives it to a server by f1; the bridge brings the frame to the server's MAC address.
# Back: servers have the virtual address on their loopback, where ARP does not tell of it, and their default route is the
# router, which reaches the client by a link of its own: answers never pass the forwarder.
# The kernel of the forwarder has the virtual address, too, for ping, and forwards packets to the servers' own addresses:
# the direct path over the same veth pairs.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

VIP=10.0.9.1 VIP6=fd00:9::1 VPORT=4433
quic_server=$BUILD/test/quic/quic_server
quic_client=$BUILD/test/quic/quic_client
for program in "$quic_server" "$quic_client"; do
    [ -x "$program" ] || fail "$program is not there"
done
KEY=8f95f09245765f80256934e50c66207f # of encrypted connection IDs

ns_of() { echo "pl$$-s$1"; }                # SERVER
mac_of() { printf '02:00:00:00:03:%02x' "$1"; } # SERVER
in_s() { # SERVER COMMAND...
    local ns
    ns=$(ns_of "$1")
    shift
    ip netns exec "$ns" "$@"
}

make_server_ns() { # SERVER
    local ns
    ns=$(ns_of "$1")
    more_ns+=("$ns")
    make_namespace "$ns"
    link_pair "$ns" e0 "$(mac_of "$1")" "$NS_P" "s$1" "$(printf '02:00:00:00:04:%02x' "$1")"
    ip -n "$NS_P" link set "s$1" master br0 up
    in_s "$1" sysctl -qw net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2 \
        net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.e0.rp_filter=0
    ip -n "$ns" addr add "10.0.2.$((10 + $1))/24" dev e0
    ip -n "$ns" addr add "fd00:2::$((10 + $1))/64" dev e0 nodad
    ip -n "$ns" link set e0 up
    ip -n "$ns" addr add $VIP/32 dev lo
    ip -n "$ns" addr add $VIP6/128 dev lo nodad
    ip -n "$ns" route add default via 10.0.2.2
    ip -n "$ns" -6 route add default via fd00:2::2
}

make_quic_namespaces() { # SERVERS
    local ns i
    make_namespaces
    ip -n "$NS_P" link add br0 address 02:00:00:00:02:fe type bridge forward_delay 0 mcast_snooping 0
    ip -n "$NS_P" addr flush dev p0
    ip -n "$NS_P" link set p0 master br0
    addresses "$NS_P" br0 2 2
    link_pair "$NS_C" c1 02:00:00:00:05:02 "$NS_P" r1 02:00:00:00:05:01
    addresses "$NS_C" c1 3 2
    addresses "$NS_P" r1 3 1
    for ns in "$NS_C" "$NS_F" "$NS_P"; do
        ip netns exec "$ns" sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0
    done
    in_c sysctl -qw net.ipv4.conf.c1.rp_filter=0
    in_p sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 net.ipv4.conf.br0.rp_filter=0
    in_f sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
    ip -n "$NS_P" route add 10.0.1.2/32 via 10.0.3.2
    ip -n "$NS_P" -6 route add fd00:1::2/128 via fd00:3::2
    ip -n "$NS_C" route add $VIP/32 via 10.0.1.1 src 10.0.1.2
    ip -n "$NS_C" -6 route add $VIP6/128 via fd00:1::1 src fd00:1::2
    ip -n "$NS_C" route add 10.0.2.0/24 via 10.0.1.1 src 10.0.1.2
    ip -n "$NS_C" -6 route add fd00:2::/64 via fd00:1::1 src fd00:1::2
    ip -n "$NS_F" addr add $VIP/32 dev lo
    ip -n "$NS_F" addr add $VIP6/128 dev lo nodad
    for i in $(seq "$1"); do make_server_ns "$i"; done
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$tmp/key.pem" \
        -out "$tmp/cert.pem" -subj /CN=localhost -days 2 >/dev/null 2>&1 || fail "no certificate"
    (umask 077 && echo $KEY >"$tmp/cid.key")
}

# A server's ID of LENGTH octets; every server has one for each length.
id_of() { # SERVER LENGTH
    local all
    all=$(printf 'c46%x5e0102030405060708090a0b0c0d' "$1")
    echo "${all:0:$((2 * $2))}"
}

# A server of ours at the virtual address; ready when it returns. OPTIONs choose its connection IDs.
start_server() { # SERVER OPTION...
    local i=$1
    shift
    start "server$i" "$(ns_of "$i")" "$quic_server" -p $VPORT -k "$tmp/key.pem" -c "$tmp/cert.pem" "$@" $VIP $VIP6 \
        "10.0.2.$((10 + i))" "fd00:2::$((10 + i))"
    server_pid[i]=$started
    wait_for 5 grep -q ready "$tmp/server$i.log" || fail "server $i is not ready"
}
server_pid=()

# Sockets that take what comes and answer nothing, so that the servers' kernel does not refuse it.
sink() { # SERVER ADDRESS:PORT-RANGE...
    start "sink$1" "$(ns_of "$1")" python3 -u -c '
import signal, socket, sys
kept = []
for where in sys.argv[1:]:
    address, ports = where.rsplit(":", 1)
    first, last = ports.split("-")
    for port in range(int(first), int(last) + 1):
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        s.bind((address, port))
        kept.append(s)
print("ready")
signal.pause()' "${@:2}"
    wait_for 10 grep -q ready "$tmp/sink$1.log" || fail "sink"
}

# What a server of ours counted so far.
server_count() { # SERVER COUNTER
    local lines
    lines=$(wc -l <"$tmp/server$1.log")
    kill -USR1 "${server_pid[$1]}"
    wait_for 5 more_lines "$tmp/server$1.log" "$lines" || fail "server $1 does not tell its counters"
    grep '^{' "$tmp/server$1.log" | tail -n 1 | jq ".$2"
}
more_lines() { [ "$(wc -l <"$1")" -gt "$2" ]; }

# End servers of ours, and see that no datagram came to one of them that belonged to another.
stop_servers() { # SERVER...
    local i
    for i in "$@"; do
        finish "${server_pid[$i]}" || fail "server $i"
        say "server $i: $(grep '^{' "$tmp/server$i.log" | tail -n 1)"
        [ "$(grep '^{' "$tmp/server$i.log" | tail -n 1 | jq '[.resets, .strays, .broken, .bad] | add')" = 0 ] ||
            fail "server $i got what is not its own"
    done
}

# Uploads from the client, which all must succeed; the summary is in $summary.
upload() { # OPTION... ADDRESS
    local status=0
    in_c timeout 120 "$quic_client" "$@" $VPORT >"$tmp/client.log" 2>&1 || status=$?
    summary=$(tail -n 1 "$tmp/client.log")
    say "upload $*: $summary"
    [ $status = 0 ] || fail "client exits with $status"
}

# The configuration of most tests: both ports, one service "web" with both virtual addresses. SERVICE has more of its
# keys; stdin has what follows, servers too.
quic_conf() { # FILE [workers settings]
    {
        xdp_ports
        cat <<CONF
quic: { web: { vip = [ "$VIP:$VPORT", "[$VIP6]:$VPORT" ]; ${SERVICE:-} }; };
CONF
        cat -
    } | write_conf "$1" "${2:-}"
}

# Keys of a server in the configuration: LENGTHs are of its IDs.
conf_server() { # SERVER STATE LENGTH...
    local i=$1 state=$2 ids= length
    shift 2
    for length in "$@"; do ids="$ids${ids:+, }\"$(id_of "$i" "$length")\""; done
    echo "server$i: { service = \"web\"; address = \"10.0.2.$((10 + i))\"; id = [ $ids ]; state = \"$state\"; };"
}

# The same in the background, until upload_end. upload_stop lets the client begin no more connections before.
upload_begin() { # OPTION... ADDRESS
    start client "$NS_C" timeout 120 "$quic_client" "$@" $VPORT
    upload_pid=$started
    say "upload $* begins"
}
upload_stop() {
    kill "$upload_pid" || fail "the client has ended already"
    upload_end
}
upload_end() {
    local status=0
    wait "$upload_pid" || status=$?
    summary=$(tail -n 1 "$tmp/client.log")
    say "upload: $summary"
    [ $status = 0 ] || fail "client exits with $status"
}

# At the end of a test: nothing was lost but for the reasons given, and what always may be: a busy machine does not empty a
# port in time.
check_drops() { # REASON...
    local drops
    drops=$(ask drops -a | jq -c '[.drops[] | select(.count > 0)] | map({(.reason): .count}) | add // {}')
    say "drops: $drops"
    jq -e --arg allowed " tx_full $* " 'all(keys[]; . as $k | $allowed | contains(" " + $k + " "))' <<<"$drops" >/dev/null ||
        fail "drops by another reason than $*: $drops"
}
