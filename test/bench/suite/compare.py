# SPDX-License-Identifier: Apache-2.0
"""What changed from one result to another, and what of it is noise."""
from . import result, stats

STATE_CHANGE = 0.05  # of the calibration loop, above which the machine was in another state


def key(row):
    return row["part"], row["bench"], row["case"]


def verdict(row, low, high):
    """In words: which way a case went, when the interval has no 0 in it."""
    if low is None:
        return "too few samples"
    if low <= 0 <= high:
        return "within noise"
    return "better" if (low > 0) == (row["better"] == "higher") else "worse"


def compare(a, b):
    """Rows of what both documents have: dictionaries of part, bench, case, unit, before, after, change, low, high, words."""
    before = {key(row): row for row in a["cases"]}
    rows = []
    for row in b["cases"]:
        old = before.get(key(row))
        if old is None or old["unit"] != row["unit"] or not old["samples"] or not row["samples"]:
            continue
        if min(old["samples"]) <= 0 or min(row["samples"]) <= 0:
            continue
        change, low, high = stats.change(old["samples"], row["samples"])
        rows.append({"part": row["part"], "bench": row["bench"], "case": row["case"], "unit": row["unit"],
                     "before": result.median(old), "after": result.median(row), "change": change, "low": low,
                     "high": high, "words": verdict(row, low, high)})
    return rows


def only_in(a, b):
    """Cases of a that b lacks."""
    there = {key(row) for row in b["cases"]}
    return [row for row in a["cases"] if key(row) not in there]


def state_change(a, b):
    """By what part the fixed work of the calibration loop took longer in b. None: one of them has none."""
    if not a["calibration_ns"] or not b["calibration_ns"]:
        return None
    return min(b["calibration_ns"]) / min(a["calibration_ns"]) - 1


def percent(x):
    return f"{100 * x:+.1f} %"


def lines(a, b):
    for name, document in (("A", a), ("B", b)):
        yield f"{name}: {document['commit']}, {document['date']}, {document['machine']['cpu']}" + \
            (" (quick: a smoke test, no figures)" if document["quick"] else "")
    if a["machine"]["cpu"] != b["machine"]["cpu"]:
        yield "Two machines: what changed is not the program alone."
    state = state_change(a, b)
    if state is not None and abs(state) > STATE_CHANGE:
        yield f"The machine itself was {'slower' if state > 0 else 'faster'} in B: {percent(state)} for fixed work " \
              "without memory (calibration). Changes below that size say nothing; run both again, in turn."
    rows = compare(a, b)
    if not rows:
        yield "no case is in both"
        return
    yield f"{'part':8} {'bench':10} {'case':58} {'A':>10} {'B':>10} {'unit':5} {'change':>9}  95 % interval"
    for row in rows:
        interval = "" if row["low"] is None else f"{percent(row['low'])} .. {percent(row['high'])}"
        yield f"{row['part']:8} {row['bench']:10} {row['case']:58.58} {row['before']:10.4g} {row['after']:10.4g} " \
              f"{row['unit']:5} {percent(row['change']):>9}  {interval:22} {row['words']}"
    words = [row["words"] for row in rows]
    yield ", ".join(f"{words.count(w)} {w}" for w in ("better", "worse", "within noise", "too few samples"))
    for row in only_in(a, b):
        yield f"only in A: {' '.join(key(row))}"
    for row in only_in(b, a):
        yield f"only in B: {' '.join(key(row))}"


def worst(rows):
    """The largest loss that is no noise, as a part: 0.1 for a tenth slower. 0: there is none."""
    losses = [max(row["low"], -row["high"]) for row in rows if row["words"] == "worse"]
    return max(losses, default=0)
