#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A daemon for hyperfine, which times whole processes: from start to ready.
# usage: until_ready.sh start FOLDER PROGRAM...   ends when the program has said "ready", and leaves it running
#        until_ready.sh stop FOLDER               ends that program, if there is one
set -u
mode=$1 folder=$2
shift 2
case $mode in
start)
    # Waits without another process: nothing is ever to be read there.
    exec {never}<> <(:)
    # Now, and not when the child gets to it: what an earlier one wrote is no sign of this one.
    : >"$folder/log"
    "$@" >"$folder/log" 2>&1 </dev/null &
    pid=$!
    echo $pid >"$folder/pid"
    lines=()
    until [[ " ${lines[*]} " == *" ready"* ]]; do
        kill -0 $pid 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
        read -rt 0.001 -u "$never"
        mapfile -t lines <"$folder/log"
    done
    ;;
stop)
    [ -s "$folder/pid" ] || exit 0
    pid=$(<"$folder/pid")
    kill "$pid" 2>/dev/null
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.05
    done
    kill -KILL "$pid" 2>/dev/null
    rm "$folder/pid"
    ;;
esac
