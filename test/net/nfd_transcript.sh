#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recorded sessions of NFD's own client and of NDNts with NFD: pitlaned gives the same answers, element by element.
. "$(dirname "$0")/lib.sh"
make_namespaces

ip -n "$NS_F" addr add 198.18.2.1/24 dev f1
ip -n "$NS_P" addr add 198.18.2.2/24 dev p0
# What the recorded forwarder had been told beforehand.
{
    cat <<CONF
port: { vfp: { netdev = "f1"; address4 = "198.18.2.1/24"; }; };
face: {
  bu: { port = "vfp"; remote = "udp4://198.18.2.2:6363"; persistency = "permanent"; };
  be: { port = "vfp"; remote = "ether://[$MAC_P0]"; persistency = "permanent"; };
};
route: ( { prefix = "/bu"; face = "bu"; }, { prefix = "/be"; face = "be"; } );
CONF
} | CS_CAPACITY=4096 MBUFS=32768 write_conf "$tmp/conf"
for session in nfdc ndnts; do
    start_daemon "$tmp/conf"
    "$here/nfd_transcript.py" "$tmp/run/conf/nfd.sock" "$here/../cases/nfd_transcripts/$session.hex" >"$tmp/$session.log" ||
        fail "$session: $(grep -A20 DIFFERENT "$tmp/$session.log")"
    say "$session: $(tail -n 1 "$tmp/$session.log")"
    stop_daemon
done
