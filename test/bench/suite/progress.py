# SPDX-License-Identifier: Apache-2.0
"""A line on standard error that says what runs: one that changes on a terminal, lines elsewhere."""
import sys
import time

started = time.monotonic()


def show(text):
    seconds = int(time.monotonic() - started)
    line = f"[{seconds // 60}:{seconds % 60:02}] {text}"
    if sys.stderr.isatty():
        print(f"\r{line[:150]}\033[K", end="", file=sys.stderr, flush=True)
    else:
        print(line, file=sys.stderr, flush=True)


def clear():
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def elapsed():
    seconds = int(time.monotonic() - started)
    return f"{seconds // 60} min {seconds % 60} s"
