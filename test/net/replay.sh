#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Captures replayed: what the forwarder sends, and that it is the same each time; captures that are none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../../build}
tmp=$(mktemp -d "/tmp/pitlane-net-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
PYTHONDONTWRITEBYTECODE=1 python3 "$here/replay.py" "$(cd "$BUILD" && pwd)/pitlaned" "$tmp"
