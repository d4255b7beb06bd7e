#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The data path may not need more instructions than it did: callgrind counts those of fixed NDN and QUIC work, from the
# frames of a burst to the frames that are sent, and compares them with test/bench/instructions.txt. Counts repeat to
# the instruction whatever else the machine does; time would not. valgrind shows the programs a CPU without AVX-512, so
# that the same path is counted everywhere.
# usage: check-instructions.sh [BUILD]           fail when a count is more than 2 % above its baseline
#        check-instructions.sh --update [BUILD]  write the counts of BUILD as the new baseline
#        check-instructions.sh --self-test
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.." || exit 2
baseline=test/bench/instructions.txt
permille=20

# Call $1 with the name of each work and what does it. No clock and no random numbers but seeded ones are part of it.
each_work() {
    $1 ndn bench_pipeline --quick
    $1 ndn-no-cache bench_pipeline --quick --cs 0 --comps 8
    $1 quic-by-id bench_quic --quick --only "packet four-pass"
    $1 quic-mix bench_quic --quick --only "packet mix"
}

# The verdict on one count. @return 0 when it is within the limit
judge() { # NAME COUNT BASELINE
    local change
    change=$(awk -v a="$2" -v b="$3" 'BEGIN { printf "%+.2f %%", 100 * (a - b) / b }')
    if [ $((($2 - $3) * 1000)) -gt $(($3 * permille)) ]; then
        echo "check-instructions: $1: $2 instructions, $change of $3: more than the 2 % that are allowed"
        return 1
    fi
    if [ $((($3 - $2) * 1000)) -gt $(($3 * permille)) ]; then
        echo "check-instructions: $1: $2 instructions, $change of $3: write a new baseline with --update"
    else
        echo "check-instructions: $1: $2 instructions, $change of $3"
    fi
}

# Instructions of one work, in $number. @return 0 when there are any
count() { # PROGRAM ARGUMENT...
    local scratch program=$1
    shift
    scratch=$(mktemp -d)
    number=$(timeout 300 valgrind --tool=callgrind --callgrind-out-file="$scratch/out" --toggle-collect=fwd_input \
        --toggle-collect=fwd_flush --toggle-collect=fwd_poll "$build/test/bench/$program" "$@" 2>&1 |
        awk '/Collected :/ { print $4 }')
    rm -rf "$scratch"
    case $number in
    '' | 0 | *[!0-9]*) echo "check-instructions: nothing was counted in $program $*"; return 1 ;;
    esac
}

check() { # NAME PROGRAM ARGUMENT...
    local name=$1 before
    shift
    before=$(awk -v name="$name" '$1 == name { print $2 }' $baseline)
    if [ -z "$before" ]; then
        echo "check-instructions: $name has no baseline"
        status=1
    elif ! count "$@" || ! judge "$name" "$number" "$before"; then
        status=1
    fi
}

note() { # NAME PROGRAM ARGUMENT...
    local name=$1
    shift
    if count "$@"; then written+="$name $number"$'\n'; else status=1; fi
}

if [ "${1:-}" = --self-test ]; then
    judge exact 1000000 1000000 >/dev/null && judge at-the-limit 1020000 1000000 >/dev/null &&
        judge faster 900000 1000000 >/dev/null && ! judge above-it 1020001 1000000 >/dev/null ||
        { echo "check-instructions: self-test failed"; exit 1; }
    echo "check-instructions: self-test ok"
    exit 0
fi

status=0
if [ "${1:-}" != --update ]; then
    build=${1:-build}
    each_work check
    exit $status
fi
build=${2:-build}
written=
each_work note
if [ $status = 0 ]; then
    printf '# Instructions of fixed work; written by scripts/check-instructions.sh --update.\n%s' "$written" >$baseline
    cat $baseline
fi
exit $status
