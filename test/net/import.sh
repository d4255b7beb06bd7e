#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An nfd.conf with everything in it becomes a configuration that pitlaned takes and forwards with.
source "$(dirname "$0")/lib.sh"

nfd_conf=$(dirname "$0")/../unit/fwd/nfd_conf
cp "$nfd_conf"/* "$tmp"
"$pitlane" import-nfd-conf "$tmp/complete.conf" -o "$tmp/imported.conf" >"$tmp/report" || fail "not imported"
"$pitlaned" -t -c "$tmp/imported.conf" || fail "pitlaned refuses what was imported"
grep -q 'complete.conf:[0-9]*: face_system.unix.path' "$tmp/report" || fail "nothing is said of the socket"

# One that no other daemon is in the way of: sockets in this test's folder, no network.
cat >"$tmp/nfd.conf" <<EOF
tables {
  cs_max_packets 100
  strategy_choice {
    / /localhost/nfd/strategy/best-route
    /group /localhost/nfd/strategy/multicast
  }
}
face_system {
  unix {
    path $tmp/nfd.sock
  }
}
authorizations {
  authorize {
    certfile any
    privileges {
      faces
      fib
      cs
      strategy-choice
    }
  }
}
rib {
  localhost_security {
    trust-anchor {
      type any
    }
  }
}
EOF
"$pitlane" import-nfd-conf "$tmp/nfd.conf" -o "$tmp/small.conf" >>"$tmp/report" || fail "not imported"
"$pitlane" import-nfd-conf "$tmp/nfd.conf" 2>/dev/null | cmp - "$tmp/small.conf" || fail "standard output differs"
{
    echo "daemon: { runtime-dir = \"$tmp/run\"; };"
    echo 'memory: { hugepages = "no"; }; pit: { capacity = 1024; dead-nonce-capacity = 1024; };'
    cat "$tmp/small.conf"
} >"$tmp/run.conf"
make_namespaces
start_daemon "$tmp/run.conf"
export HOME=$tmp NDN_CLIENT_TRANSPORT=unix://$tmp/nfd.sock
[ "$(stat -c %a "$tmp/nfd.sock")" = 666 ] || fail "the socket has mode $(stat -c %a "$tmp/nfd.sock")"
in_f "$pitlane" cs info | grep -q 100 || fail "the capacity of the CS is not what nfd.conf says"
in_f "$pitlane" strategy list | grep -q '^/group .*multicast' || fail "no strategy of /group"
in_f "$pitlane" channel list | grep -qE 'tcp|udp|ws' && fail "there are channels that nfd.conf has no sections for"
in_f "$pitlane" cs config capacity 50 | grep -q 'capacity=50' || fail "cs config is refused"
stop_daemon
