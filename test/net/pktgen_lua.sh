#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Lua scripts for Pktgen-DPDK, without it: on a model of its calls, where searches, counts and results can be checked
# exactly; and their results are JSON.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
scripts=$here/../../scripts/pktgen
tmp=$(mktemp -d /tmp/pitlane-net-XXXXXX)
trap 'rm -rf "$tmp"' EXIT
for script in "$scripts"/*.lua "$here"/pktgen_*.lua; do
    luac5.4 -p "$script" || { echo "FAIL: $script is no Lua"; exit 1; }
done
PITLANE_TEST_ENVIRONMENT=environment lua5.4 "$here/pktgen_cases.lua" "$scripts" "$tmp"
count=0
for result in "$tmp"/*.json; do
    jq -e '(.script | type) == "string" and (.settings | type) == "object" and
        (has("error") or (.trials | type == "array" and all(.loss >= 0 and .loss <= 1)))' "$result" >/dev/null || {
        echo "FAIL: $(basename "$result"): $(cat "$result")"
        exit 1
    }
    count=$((count + 1))
done
[ $count -gt 20 ] || { echo "FAIL: $count results"; exit 1; }
echo "# $count results are JSON"
