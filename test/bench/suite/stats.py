# SPDX-License-Identifier: Apache-2.0
"""How far two sets of samples lie apart, without a guess at their distribution.

The shift is that of Hodges and Lehmann: the median of all differences between a sample of one set and one of the other.
Its confidence interval goes with the Mann-Whitney test: of all differences, in order, those that the test would not
refute. Both are exact for small sets, and a single wild sample moves neither. Logarithms turn ratios into differences.
"""
import math
import statistics
from functools import lru_cache
from itertools import accumulate

CONFIDENCE = 0.95


@lru_cache(maxsize=None)
def rank_sum_counts(n, m):
    """In how many of the C(n + m, n) orders of two sets the Mann-Whitney statistic is 0, 1, ... n * m."""
    # Of the Gaussian binomial coefficient: multiply by (1 - x^(m + i)), divide by (1 - x^i), one i after the other.
    size = n * m + 1
    counts = [1] + [0] * (size - 1)
    for i in range(1, n + 1):
        for at in range(size - 1, m + i - 1, -1):
            counts[at] -= counts[at - m - i]
        for at in range(i, size):
            counts[at] += counts[at - i]
    return counts


def refuted(n, m, confidence):
    """How many of the n * m differences the test would refute at each end."""
    tail = (1 - confidence) / 2 * math.comb(n + m, n)
    return sum(total <= tail for total in accumulate(rank_sum_counts(n, m)))


def shift(a, b, confidence=CONFIDENCE):
    """By how much b is above a: (shift, low, high); low and high are None when there are too few samples to tell."""
    differences = sorted(y - x for x in a for y in b)
    outside = refuted(len(a), len(b), confidence)
    middle = statistics.median(differences)
    if outside == 0:
        return middle, None, None
    return middle, differences[outside - 1], differences[-outside]


def change(a, b, confidence=CONFIDENCE):
    """By what part b is above a, 0.1 being a tenth more: (change, low, high), low and high as in shift()."""
    if min(a) <= 0 or min(b) <= 0:
        raise ValueError("samples must be above 0")
    found = shift([math.log(x) for x in a], [math.log(x) for x in b], confidence)
    return tuple(None if x is None else math.exp(x) - 1 for x in found)
