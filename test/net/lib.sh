# SPDX-License-Identifier: Apache-2.0
# What the network tests share: three namespaces (consumer, forwarder, producer) joined by veth pairs, pitlaned in the
# middle, pitlane ping at the ends, and the checks that every test ends with.
#
# A test sources this file, which makes the namespaces:
#
#   consumer  c0 10.0.1.2 fd00:1::2  --  f0 10.0.1.1 fd00:1::1  forwarder
#   producer  p0 10.0.2.2 fd00:2::2  --  f1 10.0.2.1 fd00:2::1  forwarder
#
# Everything it starts is ended, and everything it makes removed, when the test exits. BUILD names the build folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=${BUILD:-$here/../../build}
BUILD=$(cd "$BUILD" && pwd)
pitlane=$BUILD/pitlane
pitlaned=$BUILD/pitlaned
NS_C=pl$$-c NS_F=pl$$-f NS_P=pl$$-p
MAC_C0=02:00:00:00:01:02 MAC_F0=02:00:00:00:01:01 MAC_F1=02:00:00:00:02:01 MAC_P0=02:00:00:00:02:02
more_ns=() # that a test makes besides
tmp=$(mktemp -d "/tmp/pitlane-net-XXXXXX")
pids=()
daemon_pid=

say() { echo "# $*"; }
fail() {
    echo "FAIL: $*"
    exit 1
}

cleanup() {
    local status=$? pid
    trap - EXIT
    set +e
    for pid in "${pids[@]}"; do kill -CONT "$pid" 2>/dev/null; kill "$pid" 2>/dev/null; done
    for pid in "${pids[@]}"; do
        for _ in $(seq 30); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -KILL "$pid" 2>/dev/null
    done
    if [ $status != 0 ]; then
        for file in "$tmp"/*.log; do
            [ -s "$file" ] || continue
            echo "--- $(basename "$file")"
            tail -n 40 "$file"
        done
    fi
    for ns in "$NS_C" "$NS_F" "$NS_P" "${more_ns[@]}"; do ip netns del "$ns" 2>/dev/null; done
    rm -rf "$tmp"
    exit $status
}
trap cleanup EXIT
trap 'exit 143' TERM INT

in_c() { ip netns exec "$NS_C" "$@"; }
in_f() { ip netns exec "$NS_F" "$@"; }
in_p() { ip netns exec "$NS_P" "$@"; }

# Start a program in a namespace, its output in $tmp/NAME.log; its process id in $started.
started=
start() { # NAME NAMESPACE COMMAND...
    local name=$1 ns=$2
    shift 2
    # Now, and not when the child gets to it: what an earlier one of the same name wrote is no sign of this one.
    : >"$tmp/$name.log"
    ip netns exec "$ns" "$@" >"$tmp/$name.log" 2>&1 </dev/null &
    started=$!
    pids+=("$started")
}

# End a process of ours and give its exit code.
finish() { # PID
    kill "$1" 2>/dev/null || true
    local status=0
    wait "$1" || status=$?
    return $status
}

# Wait until a command succeeds, at most SECONDS.
wait_for() { # SECONDS COMMAND...
    local tries=$(($1 * 20))
    shift
    for _ in $(seq "$tries"); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.05
    done
    return 1
}

# veth pair between two namespaces: fixed MAC addresses, and checksums finished by the sender, since veth leaves them
# to a device that is not there.
link_pair() { # NS_A IF_A MAC_A NS_B IF_B MAC_B
    ip link add "$2" netns "$1" address "$3" type veth peer name "$5" netns "$4" address "$6"
    ip netns exec "$1" ethtool -K "$2" tx off rx off >/dev/null
    ip netns exec "$4" ethtool -K "$5" tx off rx off >/dev/null
}

make_namespace() { # NAME
    ip netns add "$1"
    # No duplicate address detection and no router solicitations: addresses work at once.
    ip netns exec "$1" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 \
        net.ipv6.conf.default.router_solicitations=0 net.ipv6.conf.all.forwarding=0
    ip -n "$1" link set lo up
}

make_namespaces() {
    local ns
    for ns in "$NS_C" "$NS_F" "$NS_P"; do make_namespace "$ns"; done
    link_pair "$NS_C" c0 $MAC_C0 "$NS_F" f0 $MAC_F0
    link_pair "$NS_P" p0 $MAC_P0 "$NS_F" f1 $MAC_F1
    addresses "$NS_C" c0 1 2
    addresses "$NS_F" f0 1 1
    addresses "$NS_F" f1 2 1
    addresses "$NS_P" p0 2 2
}
addresses() { # NS IF NET HOST
    ip -n "$1" addr add "10.0.$3.$4/24" dev "$2"
    ip -n "$1" addr add "fd00:$3::$4/64" dev "$2" nodad
    ip -n "$1" link set "$2" up
}

# The head of a configuration: small tables, files under the test's own folder. What is read from stdin follows it. Of
# sockets there is the Unix one only, $tmp/run/FILE/nfd.sock, unless SOCKETS says what the others do.
quiet_sockets='tcp: { listen = false; }; udp: { listen = false; multicast = false; }; websocket: { listen = false; };'
write_conf() { # FILE [workers settings]
    cat - >"$1.tail"
    cat >"$1" <<CONF
daemon: { runtime-dir = "$tmp/run"; };
unix: { path = "$tmp/run/$(basename "$1")/nfd.sock"; ${UNIX:-} };
${SOCKETS-$quiet_sockets}
workers: { ${2:-count = 1;} };
memory: { mbufs = ${MBUFS:-16384}; mbuf-size = ${MBUF_SIZE:-2176}; };
pit: { capacity = 16384; dead-nonce-capacity = 65536; };
cs: { capacity = ${CS_CAPACITY:-0}; };
fib: { capacity = ${FIB_CAPACITY:-1024}; };
CONF
    cat "$1.tail" >>"$1"
    rm "$1.tail"
}

# The ports of the forwarder on AF_XDP.
xdp_ports() {
    cat <<'CONF'
port: {
  left: { netdev = "f0"; address4 = "10.0.1.1/24"; address6 = "fd00:1::1/64"; };
  right: { netdev = "f1"; address4 = "10.0.2.1/24"; address6 = "fd00:2::1/64"; };
};
CONF
}

# The configuration of most tests: AF_XDP, the hosts at both ends as Ethernet neighbours, one prefix to the producer.
ether_conf() { # FILE [PREFIX [workers settings]]
    {
        xdp_ports
        cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
};
route: ( { prefix = "${2:-/A}"; face = "producer"; } );
CONF
    } | write_conf "$1" "${3:-}"
}

# Start pitlaned and wait until it forwards.
start_daemon() { # CONF
    mkdir -p "$tmp/run"
    start pitlaned "$NS_F" "$pitlaned" -c "$1"
    daemon_pid=$started
    if ! wait_for 20 daemon_ready; then
        kill -0 "$daemon_pid" 2>/dev/null || fail "pitlaned ended before it was ready"
        fail "pitlaned is not ready after 20 s"
    fi
    pool_baseline=$(status_value pool_in_use)
}
daemon_ready() { grep -qw ready "$tmp/pitlaned.log"; }

stop_daemon() {
    local status=0 from
    from=$(date +%s%N)
    finish "$daemon_pid" || status=$?
    local ms=$((($(date +%s%N) - from) / 1000000))
    [ $status = 0 ] || fail "pitlaned exits with $status at SIGTERM"
    [ $ms -le 2000 ] || fail "pitlaned took $ms ms to stop"
    daemon_pid=
}

ask() { "$pitlane" "$@" -j -r "$tmp/run"; }
show() { "$pitlane" "$@" -r "$tmp/run"; }
status_value() { ask status | jq -r ".$1"; }
face_value() { ask face list | jq -r ".faces[] | select(.name == \"$1\") | .$2"; } # FACE KEY
drop_count() { ask drops -a | jq -r "[.drops[] | select(.reason == \"$1\") | .count] | add // 0"; }

# What must hold after every test once it is quiet: every frame received or made is sent, consumed, held or dropped
# under a name; packet buffers are back where they were at the start, but for what a port keeps for itself.
POOL_SLACK=${POOL_SLACK:-256}
check_quiet() {
    local state error in_use
    for _ in $(seq 40); do
        state=$(ask status)
        error=$(jq '.received + .originated - .sent - .consumed - .dropped - .held' <<<"$state")
        in_use=$(jq '.pool_in_use' <<<"$state")
        if [ "$error" = 0 ] && [ $((in_use - pool_baseline)) -le "$POOL_SLACK" ]; then
            say "conservation: $(jq -c '{received, originated, sent, consumed, dropped, held, pool_in_use}' <<<"$state")"
            return 0
        fi
        sleep 0.1
    done
    echo "$state"
    ask drops || true
    [ "$error" = 0 ] || fail "$error frames are unaccounted for"
    fail "$in_use packet buffers in use, $pool_baseline at the start"
}

# A producer; ready when it returns. Its counts are in $tmp/NAME.log after the test stopped it.
start_producer() { # NAME PREFIX OPTION...
    local name=$1 prefix=$2
    shift 2
    start "$name" "$NS_P" "$pitlane" pingserver "$prefix" -q "$@"
    wait_for 5 grep -q ready "$tmp/$name.log" || fail "pingserver is not ready"
}

# Ping and keep the summary in $summary; the test says what must hold.
summary=
ping_from_consumer() { # PREFIX OPTION...
    local prefix=$1
    shift
    summary=$(in_c "$pitlane" ping "$prefix" -j "$@") || true
    say "ping $prefix $*: $(jq -c '{sent, received, nacked, timeouts, bad, p50: .rtt_ms.p50, p99: .rtt_ms.p99}' <<<"$summary")"
}
expect() { # JQ-EXPRESSION
    [ "$(jq "$1" <<<"$summary")" = true ] || fail "not so: $1 in $summary"
}
expect_no_loss() { # COUNT
    expect ".sent == $1 and .received == $1 and .bad == 0"
}
