#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The threads that read packets hold no capability and can gain none, and forward all the same.
source "$(dirname "$0")/lib.sh"
make_namespaces
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
};
route: ( { prefix = "/A"; face = "producer"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"

workers=0
for task in /proc/"$daemon_pid"/task/*; do
    case $(cat "$task/comm") in rte-worker* | lcore-worker*) ;; *) continue ;; esac
    workers=$((workers + 1))
    for set in CapInh CapPrm CapEff CapAmb; do
        grep -q "^$set:[[:space:]]*0000000000000000$" "$task/status" || fail "$(grep "^$set" "$task/status")"
    done
    grep -q '^NoNewPrivs:[[:space:]]*1$' "$task/status" || fail "a worker may gain privileges"
done
[ "$workers" = "$(status_value workers)" ] || fail "$workers worker threads found"

start_producer server /A --ether p0 --remote $MAC_F1 -s 100
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 500 -i 500us -s 100
expect_no_loss 500
check_quiet
stop_daemon
