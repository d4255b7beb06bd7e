#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The arrows between the rooms: who may include what; and every header compiles alone.
# usage: check-deps.sh [--root DIR] [--no-compile] | --self-test
set -uo pipefail
self=$(readlink -f "$0")
root=$(dirname "$(dirname "$self")")
compile=yes
while [ $# -gt 0 ]; do
    case $1 in
    --root) root=$2; shift 2 ;;
    --no-compile) compile=no; shift ;;
    --self-test) self_test=yes; shift ;;
    *) echo "usage: check-deps.sh [--root DIR] [--no-compile] | --self-test" >&2; exit 2 ;;
    esac
done

# A tree with one line of one file must be refused (or accepted): proves that the check can fail.
try() { # WANT FILE LINE
    local dir got=refused
    dir=$(mktemp -d)
    mkdir -p "$dir/$(dirname "$2")"
    printf '// SPDX-License-Identifier: Apache-2.0\n%s\n' "$3" >"$dir/$2"
    "$self" --root "$dir" --no-compile >/dev/null 2>&1 && got=accepted
    rm -rf "$dir"
    if [ "$got" != "$1" ]; then
        echo "check-deps: self-test: $2 with '$3' was $got"
        return 1
    fi
}
if [ "${self_test:-no}" = yes ]; then
    bad=0
    while IFS='|' read -r want file line; do
        [ -n "$want" ] || continue
        try "$want" "$file" "$line" || bad=1
    done <<'CASES'
refused|parser/a.c|#include "fwd/worker.h"
refused|parser/a.h|#include "pit/pit.h"
refused|parser/a.c|#include <rte_mbuf.h>
refused|parser/a.c|  #  include   <openssl/sha.h>
refused|parser/a.c|#include "cursor.h"
refused|parser/a.c|#include "../pit/pit.h"
refused|pit/a.c|#include "fwd/drops.def"
refused|pit/a.c|#include "ports/face.h"
refused|pit/a.c|#include "conf/conf.h"
refused|pit/a.c|#include <libmnl/libmnl.h>
refused|ports/a.c|#include "pit/pit.h"
refused|ports/a.c|#include "fwd/stats.h"
refused|conf/a.c|#include "parser/frame.h"
refused|conf/a.c|#include <rte_ethdev.h>
refused|fwd/a.c|#include "test/bench/bench.h"
refused|parser/a.c|#include MACRO
accepted|parser/a.c|#include "parser/cursor.h"
accepted|parser/a.c|#include <string.h>
accepted|pit/a.c|#include <rte_prefetch.h>
accepted|pit/a.c|#include <openssl/evp.h>
accepted|ports/a.c|#include <bpf/libbpf.h>
accepted|ports/xdp/a.bpf.c|#include <linux/bpf.h>
accepted|conf/a.c|#include <libconfig.h>
accepted|fwd/a.c|#include "conf/conf.h"
accepted|fwd/a.c|#include <jansson.h>
accepted|test/unit/fwd/a.c|#include "fwd/worker.h"
CASES
    [ $bad = 0 ] && echo "check-deps: self-test ok"
    exit $bad
fi

cd "$root" || exit 2
status=0
fail() { echo "check-deps: $*"; status=1; }

libc='(arpa/inet|assert|byteswap|cpuid|ctype|dirent|endian|errno|fcntl|float|fnmatch|getopt|ifaddrs|immintrin|nmmintrin'
libc+='|emmintrin|wmmintrin|tmmintrin|smmintrin|x86intrin|arm_neon|arm_acle|inttypes|limits|locale|math|net/if|net/ethernet'
libc+='|netdb|netinet/[a-z_]+|netpacket/packet|poll|pthread|pwd|grp|sched|signal|stdalign|stdarg|stdatomic|stdbool|stddef'
libc+='|stdint|stdio|stdlib|string|strings|sys/[a-z_]+|syslog|time|unistd|stdnoreturn)\.h'
rte='rte_[a-z0-9_]+\.h|generic/rte_[a-z0-9_]+\.h'

while IFS= read -r file; do
    room=${file%%/*}
    # Examples are for others' programs.
    case $file in conf/examples/*) continue ;; esac
    case $room in
    parser) rooms='parser' system="$libc" ;;
    conf) rooms='conf' system="$libc|libconfig\.h" ;;
    pit) rooms='parser|pit' system="$libc|$rte|openssl/[a-z0-9]+\.h" ;;
    ports) rooms='parser|ports' system="$libc|$rte|bpf/[a-z_]+\.h|linux/[a-z0-9_/]+\.h|libmnl/libmnl\.h|xdp/[a-z_]+\.h|net/[a-z_]+\.h|uv\.h|libwebsockets\.h" ;;
    fwd) rooms='parser|pit|ports|conf|fwd' system='.*' ;;
    *) continue ;;
    esac
    while IFS= read -r hit; do
        number=${hit%%:*} line=${hit#*:}
        if [[ $line =~ ^[[:space:]]*\#[[:space:]]*include[[:space:]]*\<([^\>]*)\> ]]; then
            name=${BASH_REMATCH[1]}
            [[ $name =~ ^($system)$ ]] || fail "$file:$number: $room/ may not include <$name>"
        elif [[ $line =~ ^[[:space:]]*\#[[:space:]]*include[[:space:]]*\"([^\"]*)\" ]]; then
            name=${BASH_REMATCH[1]}
            if [[ $name != */* ]]; then
                # Made by the build (the eBPF skeleton): its name says so.
                [[ $name == *.skel.h && $room == ports ]] || fail "$file:$number: \"$name\": include by path from the root"
            elif [[ $name == *..* ]]; then
                fail "$file:$number: \"$name\": include by path from the root"
            else
                [[ ${name%%/*} =~ ^($rooms)$ ]] || fail "$file:$number: $room/ may not include \"$name\""
            fi
        else
            fail "$file:$number: an include that cannot be checked"
        fi
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file")
done < <(find parser pit ports conf fwd -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) 2>/dev/null | sort)

if [ $compile = yes ]; then
    dpdk=$(pkg-config --cflags libdpdk | sed 's/-I/-isystem /g')
    check_header() {
        # Twice, so that a missing guard shows.
        # shellcheck disable=SC2086
        printf '#include "%s"\n#include "%s"\n' "$1" "$1" |
            ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-function -Werror -I. $dpdk \
                -fsyntax-only -x c - 2>&1 | grep -E 'error|warning' | sed "s|^|check-deps: $1 does not compile alone: |"
    }
    export -f check_header
    export dpdk
    find parser pit ports conf fwd -name '*.h' ! -name '*.bpf.h' ! -name 'vmlinux.h' -print0 | sort -z |
        xargs -0 -n 1 -P "$(nproc)" bash -c 'check_header "$1"' check_header | grep . && status=1
fi
[ $status = 0 ] && echo "check-deps: ok"
exit $status
