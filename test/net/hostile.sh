#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bad frames through the real receive path: each is dropped under exactly the counter that is stated here, no other
# counter moves, and good traffic goes on.
source "$(dirname "$0")/lib.sh"
make_namespaces
{
    xdp_ports
    cat <<CONF
face: {
  consumer: { port = "left"; remote = "ether://[$MAC_C0]"; };
  consumer4: { port = "left"; remote = "udp4://10.0.1.2:6363"; mac = "$MAC_C0"; };
  producer: { port = "right"; remote = "ether://[$MAC_P0]"; };
};
route: ( { prefix = "/A"; face = "producer"; } );
CONF
} | write_conf "$tmp/conf"
start_daemon "$tmp/conf"
start_producer server /A --ether p0 --remote $MAC_F1 -s 100

all_drops() { ask drops -a | jq -c '[.drops[] | select(.count > 0) | {(.reason): .count}] | add // {}'; }
n=0
while read -r reason times payload; do
    case $reason in '' | \#*) continue ;; esac
    before=$(all_drops)
    in_c python3 "$here/send.py" c0 $MAC_F0 $MAC_C0 "$times" $payload
    ok=
    for _ in $(seq 40); do
        after=$(all_drops)
        moved=$(jq -nc --argjson a "$before" --argjson b "$after" '[$b | to_entries[] | select(.value != ($a[.key] // 0)) | {(.key): (.value - ($a[.key] // 0))}] | add // {}')
        if [ "$moved" = "{\"$reason\":$times}" ]; then ok=1; break; fi
        sleep 0.05
    done
    [ -n "$ok" ] || fail "$payload: wanted $reason=$times, got $moved"
    n=$((n + 1))
done <"$here/hostile.txt"
say "$n kinds of bad frames, each in its own counter"
[ $n -ge 20 ] || fail "only $n rows"
ping_from_consumer /A --ether c0 --remote $MAC_F0 -c 200 -i 1ms -s 100
expect_no_loss 200
check_quiet
stop_daemon
