#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faces over sockets of the kernel, without any port: two forwarders joined by TCP, UDP and a multicast group; what
# becomes of them when one ends and comes back; the Unix socket taken over, refused, crowded and misused.
source "$(dirname "$0")/lib.sh"
make_namespaces
SOCKETS='tcp: { listen = true; }; udp: { listen = true; idle-timeout = "2s"; }; websocket: { listen = true; };
sockets: { stall-timeout = "1s"; faces = 2000; };'
unset PITLANE_SOCKET
export HOME=$tmp

path_of() { echo "$tmp/run/$1.conf/nfd.sock"; }
configure() { # NAME
    write_conf "$tmp/$1.conf" </dev/null
    sed -i "s|^daemon: {|daemon: { file-prefix = \"$1\";|" "$tmp/$1.conf"
}
declare -A daemon
launch() { # NAME NAMESPACE
    : >"$tmp/$1.log"
    start "$1" "$2" "$pitlaned" -c "$tmp/$1.conf"
    daemon[$1]=$started
    wait_for 20 grep -qw ready "$tmp/$1.log" || fail "$1 is not ready"
}
# A command for one of them.
at() { # NAME COMMAND...
    local name=$1
    shift
    NDN_CLIENT_TRANSPORT=unix://$(path_of "$name") "$pitlane" "$@"
}
create() { # NAME URI [ARGUMENT...]: prints the FaceId
    at "$1" face create "${@:2}" -j | jq -e .id || fail "face create ${*:2}"
}
face_is() { # NAME EXPRESSION
    at "$1" face list -j | jq -e "[.faces[] | select($2)] | length > 0" >/dev/null
}
face_is_not() { ! face_is "$@"; }
ping_at() { # NAME PREFIX OPTION...
    local name=$1 prefix=$2
    shift 2
    summary=$(at "$name" ping "$prefix" -j "$@") || true
    say "ping $prefix: $(jq -c '{sent, received, p99: .rtt_ms.p99}' <<<"$summary")"
}

mkdir "$tmp/run"
configure left
configure right
launch left "$NS_C"
launch right "$NS_F"
start server "$NS_F" env "NDN_CLIENT_TRANSPORT=unix://$(path_of right)" "$pitlane" pingserver /A -q -s 5000
server=$started
wait_for 5 grep -q ready "$tmp/server.log" || fail "no producer"

say "channels"
for uri in "unix://$(path_of left)" tcp4://0.0.0.0:6363 'tcp6://[::]:6363' udp4://0.0.0.0:6363 'udp6://[::]:6363' \
    ws://0.0.0.0:9696 'ws://[::]:9696'; do
    at left channel list -j | jq -e --arg uri "$uri" '.channels | any(.local == $uri)' >/dev/null || fail "no channel $uri"
done

for remote in tcp4://10.0.1.1:6363 'tcp6://[fd00:1::1]:6363' udp4://10.0.1.1:6363 'udp6://[fd00:1::1]:6363'; do
    say "$remote"
    id=$(create left "$remote")
    at left route add "/A/ping" "$id" >/dev/null
    ping_at left /A -c 200 -i 1ms -s 5000
    expect_no_loss 200
    face_is left ".id == $id and .scope == \"non-local\" and .persistency == \"persistent\"" || fail "$(at left face list)"
    case $remote in
    udp4*) local=udp4://10.0.1.2:6363 ;;
    udp6*) local='udp6://[fd00:1::2]:6363' ;;
    *) local= ;;
    esac
    if [ -n "$local" ]; then
        face_is right ".remote == \"$local\" and .persistency == \"on-demand\"" || fail "$(at right face list)"
    fi
    at left face destroy "$id" >/dev/null
done
udp_idle() { face_is_not right '.persistency == "on-demand" and (.remote | startswith("udp"))'; }
wait_for 8 udp_idle || fail "silent UDP faces stay: $(at right face list)"

say "multicast"
group='udp4://224.0.23.170:56363'
for name in left right; do
    face_is $name ".remote == \"$group\" and .persistency == \"permanent\" and .link_type == \"multi-access\"" ||
        fail "$(at $name face list)"
    face_is $name '.remote | startswith("udp6://[ff02::1234%")' || fail "$(at $name face list)"
done
for remote in $group 'udp6://[ff02::1234%'; do
    id=$(at left face list -j | jq "[.faces[] | select(.remote | startswith(\"$remote\")) | .id] | first")
    at left route add /A/ping "$id" >/dev/null
    ping_at left /A -c 50 -i 5ms -s 5000
    expect_no_loss 50
    at left route remove /A/ping "$id" >/dev/null
done

say "a permanent face finds its peer again"
id=$(create left tcp4://10.0.1.1:6363 permanent)
at left route add /A/ping "$id" >/dev/null
kill -KILL "${daemon[right]}"
wait "${daemon[right]}" 2>/dev/null || true
finish "$server" || true
[ -S "$(path_of right)" ] || fail "nothing was left behind"
sleep 1.2
launch right "$NS_F" # over the socket that the killed one left
start server "$NS_F" env "NDN_CLIENT_TRANSPORT=unix://$(path_of right)" "$pitlane" pingserver /A -q -s 5000
wait_for 5 grep -q ready "$tmp/server.log" || fail "no producer"
reaches() {
    summary=$(at left ping /A -j -c 1 -W 500ms -s 5000) || true
    [ "$(jq .received <<<"$summary")" = 1 ]
}
wait_for 10 reaches || fail "the face does not come back: $(at left face list)"
face_is left ".id == $id" || fail "it is another face"

say "a socket that is listened on is not taken"
sed "s|file-prefix = \"right\"|file-prefix = \"thief\"|" "$tmp/right.conf" >"$tmp/thief.conf"
status=0
timeout 20 ip netns exec "$NS_P" "$pitlaned" -c "$tmp/thief.conf" >"$tmp/thief.out" 2>&1 || status=$?
[ $status = 1 ] || fail "exit $status"
grep -q "unix socket $(path_of right): another process listens on it" "$tmp/thief.out" || fail "$(cat "$tmp/thief.out")"
ping_at right /A -c 10 -i 1ms -s 5000
expect_no_loss 10

say "misuse of the socket, and a neighbour who does not notice"
start other "$NS_F" env "NDN_CLIENT_TRANSPORT=unix://$(path_of right)" "$pitlane" pingserver /B -q -s 5000
wait_for 5 grep -q ready "$tmp/other.log" || fail "no producer"
python3 "$here/misuse.py" "$(path_of right)" stalled &
misuse=$!
pids+=("$misuse")
sleep 0.3
ping_at right /A -c 2000 -i 500us -s 5000
expect_no_loss 2000
wait "$misuse" || fail "a stalled reader"
for what in octets half connects thousand; do
    timeout 100 python3 "$here/misuse.py" "$(path_of right)" $what || fail "$what"
done
ping_at right /A -c 100 -i 1ms -s 5000
expect_no_loss 100
count() { show sockets -p right -j | jq ".sockets[] | select(.counter == \"$1\") | .count"; }
[ "$(count stalled)" = 3 ] && [ "$(count malformed)" = 1 ] && [ "$(count queue_full)" -gt 100 ] ||
    fail "$(show sockets -p right)"
only_ours() { face_is_not right '(.remote | startswith("fd://")) and .in_interests == 0 and .in_data == 0'; }
wait_for 5 only_ours || fail "faces are left: $(at right face list | tail -n 20)"

say "accounts"
UNIX='users = [ "nobody" ]; mode = "0666";'
configure right
finish "${daemon[right]}" || fail "exit $?"
launch right "$NS_F"
at right status >/dev/null 2>&1 && fail "root is let in"
chmod 0711 "$tmp"
setpriv --reuid nobody --regid nogroup --clear-groups env "NDN_CLIENT_TRANSPORT=unix://$(path_of right)" \
    "$pitlane" channel list >/dev/null || fail "nobody is refused"
grep -q 'peer of account 0: may not connect to the Unix socket' "$tmp/right.log" || fail "no word of it"
for name in left right; do finish "${daemon[$name]}" || fail "$name: exit $?"; done
[ -z "$(find "$tmp/run" -name nfd.sock)" ] || fail "sockets are left"
