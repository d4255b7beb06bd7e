#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# House rules that a machine can check: an SPDX line in every source, layout by clang-format, no machine paths, no
# leftovers. Prints every finding; exit 0 when there is none.
set -uo pipefail
cd "$(dirname "$0")/.."
status=0
fail() { echo "check-style: $*"; status=1; }

list() { git ls-files --cached --others --exclude-standard -- "$@"; }

while IFS= read -r file; do
    [ -f "$file" ] || continue
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || fail "$file: no SPDX line"
done < <(list '*.c' '*.h' '*.def' '*.py' '*.sh' '*.mjs' '*.conf' '*meson.build' meson_options.txt 'scripts/*' '.ci/*' |
    grep -v '^scripts/pktgen/.*\.pcap$')

sources=$(list '*.c' '*.h' | while IFS= read -r file; do if [ -f "$file" ]; then echo "$file"; fi; done)
if [ -n "$sources" ]; then
    # shellcheck disable=SC2086
    findings=$(clang-format --dry-run --Werror $sources 2>&1 | grep -E 'error:')
    if [ -n "$findings" ]; then
        while IFS= read -r line; do fail "$line"; done <<<"$findings"
    fi
fi

# Paths of one machine, package registries and work left over have no place in the tree. The pattern is written so as not
# to match itself.
pattern='/(roo[t]|hom[e]|wor[k])/|https?://([a-z]+\.)*(registr[y]|snapsho[t]|de[b])\.|TO[D]O|FIX[M]E|\bXX[X]\b|not supported ye[t]'
while IFS= read -r file; do
    [ -f "$file" ] || continue
    case $file in test/fuzz/corpus/* | test/fuzz/regress/*) continue ;; esac
    grep -InE "$pattern" "$file" | sed "s|^|check-style: $file:|" | grep . && status=1
done < <(list)

[ $status = 0 ] && echo "check-style: ok"
exit $status
