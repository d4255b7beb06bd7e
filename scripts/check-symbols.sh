#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No data-path object may ask for memory: nm over the objects of a build must show no malloc-family symbol, except in
# the control objects listed here by name. usage: check-symbols.sh [BUILD] | --self-test
set -uo pipefail
self=$(readlink -f "$0")
cd "$(dirname "$self")/.." || exit 2

family='malloc|calloc|realloc|reallocarray|free|cfree|posix_memalign|aligned_alloc|memalign|valloc|strdup|strndup'
family+='|__strdup|__strndup|asprintf|vasprintf|__asprintf_chk|__vasprintf_chk|getline|getdelim|open_memstream|mmap|sbrk'
family+='|rte_malloc|rte_zmalloc|rte_calloc|rte_realloc|rte_free|rte_malloc_socket|rte_zmalloc_socket|rte_mempool_create'

# Control objects: they make, write or show tables at start or on command and never run for a packet.
control() {
    case $1 in
    pit/arena.c) ;;                       # maps the tables' memory at start
    pit/fib_table.c | pit/fib_write.c) ;; # FIB updates, control thread; workers read through pit/fib.c
    fwd/dispatch_create.c) ;;             # rings between workers, made at start
    fwd/strategy_set.c) ;;                # instances, made by the control thread
    fwd/client/* | fwd/daemon/* | fwd/mgmt/*) ;;
    ports/match_lookup.c) return 1 ;;     # of ports/, workers run only this and what headers inline
    ports/*) ;;
    *) return 1 ;;
    esac
}

check_object() { # OBJECT SOURCE
    local found
    found=$(nm -u "$1" | awk '{print $NF}' | grep -xE "$family" | sort -u | tr '\n' ' ')
    [ -z "$found" ] && return 0
    echo "check-symbols: $2 uses $found"
    return 1
}

if [ "${1:-}" = --self-test ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    echo '#include <stdlib.h>
void *f(void); void *f(void) { return malloc(3); }' | ${CC:-gcc} -O2 -c -x c - -o "$dir/bad.o"
    echo 'int g(int x); int g(int x) { return x + 1; }' | ${CC:-gcc} -O2 -c -x c - -o "$dir/good.o"
    if check_object "$dir/bad.o" bad.c >/dev/null; then echo "check-symbols: self-test: malloc was not seen"; exit 1; fi
    check_object "$dir/good.o" good.c || exit 1
    echo "check-symbols: self-test ok"
    exit 0
fi

build=${1:-build}
status=0
n=0
for room in parser pit ports fwd; do
    while IFS= read -r object; do
        # build/fwd/client/libclient.a.p/ping.c.o is made of fwd/client/ping.c.
        source=${object#"$build/"}
        source=${source%/*.a.p/*}/$(basename "$object" .o)
        [ -f "$source" ] || continue # made by the build itself, or left from a source that is gone
        if control "$source"; then continue; fi
        n=$((n + 1))
        check_object "$object" "$source" || status=1
    done < <(find "$build/$room" -path '*.a.p/*.c.o' 2>/dev/null | sort)
done
if [ $n -lt 30 ]; then echo "check-symbols: only $n data-path objects under $build"; status=1; fi
[ $status = 0 ] && echo "check-symbols: $n data-path objects ask for no memory"
exit $status
