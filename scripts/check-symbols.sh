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

# Control objects: they create, read or show tables and never run for a packet.
control() {
    case $1 in
    pit/arena.c) return 0 ;;                      # maps the tables' memory at start
    pit/fib_table.c | pit/fib_write.c) return 0 ;; # FIB updates, control thread
    fwd/dispatch_create.c) return 0 ;;            # rings between workers, made at start
    ports/*) return 0 ;;                          # devices, netlink, face table: checked by name below
    conf/*) return 0 ;;
    fwd/client/* | fwd/daemon/* | fwd/mgmt/*) return 0 ;;
    fwd/telemetry*.c | fwd/stats_text.c) return 0 ;;
    fwd/main.c | fwd/daemon*.c | fwd/setup*.c | fwd/start*.c | fwd/log*.c) return 0 ;;
    esac
    return 1
}
# Data-path objects in the rooms that are otherwise control.
data_path() {
    case $1 in
    ports/classify.c | ports/match_lookup.c) return 0 ;;
    esac
    return 1
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
        # meson names the object of pit/cs.c build/pit/libpit.a.p/cs.c.o, of a file below the library's folder a_b.c.o.
        name=$(basename "$object" .o)
        folder=$(dirname "$(dirname "${object#"$build"/}")")
        source=$folder/$name
        [ -f "$source" ] || source=$folder/${name/_/\/}
        [ -f "$source" ] || { echo "check-symbols: $object: source not found"; status=1; continue; }
        if control "$source" && ! data_path "$source"; then continue; fi
        n=$((n + 1))
        check_object "$object" "$source" || status=1
    done < <(find "$build/$room" -path '*.a.p/*.c.o' 2>/dev/null | sort)
done
if [ $n = 0 ]; then echo "check-symbols: no objects under $build"; status=1; fi
[ $status = 0 ] && echo "check-symbols: $n data-path objects ask for no memory"
exit $status
