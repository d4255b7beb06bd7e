#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The threads that read packets hold no capability and can gain none, and forward all the same. With an account of its
# own the daemon still opens a netdev that comes back, and leaves nothing behind.
source "$(dirname "$0")/lib.sh"
make_namespaces
ether_conf "$tmp/conf"
start_daemon "$tmp/conf"

check_workers() {
    local workers=0 io=0 task set
    for task in /proc/"$daemon_pid"/task/*; do
        case $(cat "$task/comm") in
        rte-worker* | lcore-worker*) workers=$((workers + 1)) ;;
        pitlane-io) io=1 ;;
        *) continue ;;
        esac
        for set in CapInh CapPrm CapEff CapAmb; do
            grep -q "^$set:[[:space:]]*0000000000000000$" "$task/status" || fail "$(grep "^$set" "$task/status")"
        done
        grep -q '^NoNewPrivs:[[:space:]]*1$' "$task/status" || fail "a worker may gain privileges"
    done
    [ "$workers" = "$(status_value workers)" ] || fail "$workers worker threads found"
    [ $io = 1 ] || fail "no I/O thread found"
}
check_workers

start_producer server /A --ether p0 --remote $MAC_F1 -s 100
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 500 -i 500us -s 100
expect_no_loss 500
check_quiet
stop_daemon

say "with daemon.user"
# The runtime folder has to be reached by the account.
chmod 0711 "$tmp"
sed -i 's|^daemon: {|daemon: { user = "nobody";|' "$tmp/conf"
start_daemon "$tmp/conf"
check_workers
for task in /proc/"$daemon_pid"/task/*; do
    grep -q "^Uid:[[:space:]]*$(id -u nobody)[[:space:]]" "$task/status" || fail "$(cat "$task/comm") is not nobody's"
done
ip -n "$NS_F" link del f1
port_gone() { grep -q 'port right: the interface is gone' "$tmp/pitlaned.log"; }
wait_for 2 port_gone || fail "the port is still there"
link_pair "$NS_P" p0 $MAC_P0 "$NS_F" f1 $MAC_F1
addresses "$NS_P" p0 2 2
addresses "$NS_F" f1 2 1
producer_up() { [ "$(face_value producer state)" = up ]; }
wait_for 5 producer_up || fail "the netdev that came back is not opened"
start_producer server2 /A --ether p0 --remote $MAC_F1 -s 100
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 100 -i 1ms -s 100
expect_no_loss 100
check_quiet
stop_daemon
[ -z "$(find "$tmp/run" -type s)" ] || fail "sockets are left: $(find "$tmp/run" -type s)"
if ip -n "$NS_F" link show | grep -q xdp; then fail "an eBPF program is left"; fi
