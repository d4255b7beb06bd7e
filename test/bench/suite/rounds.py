# SPDX-License-Identifier: Apache-2.0
"""How often everything is measured: as often as asked for, or as often as its share of the time allows."""
import time


def rounds(result, options, part, default, budget):
    """Pairs of a round's number, from 0, and of how many there are to be. No round begins that would end behind the
    budget, in seconds, as far as the shortest one so far tells; unless --rounds asked for it."""
    count = options.rounds or (1 if options.quick else default)
    began, shortest = time.monotonic(), float("inf")
    for turn in range(count):
        before = time.monotonic()
        yield turn, count
        now = time.monotonic()
        shortest = min(shortest, now - before)
        if options.rounds is None and turn + 1 < count and now - began + shortest > budget:
            result.skip(f"{part}: {count - turn - 1} of {count} rounds", f"they do not fit into {budget} s")
            return
