# SPDX-License-Identifier: Apache-2.0
"""What a run found: cases with all their samples, and the JSON file that keeps them.

A case is one thing that was measured, once in every round:

    part, bench, case   its name; these three together are unique
    unit                "ns", "us", "s" ... of what gets better when it falls; "M/s" ... of what gets better when it rises
    better              "lower" or "higher"
    samples             one number for each round, in the order of the rounds
    best                the number to compare with a peer's best; absent: the median of the samples
    target, goal, peer  numbers in the same unit, or None
    testpmd             bench and case that did the same with testpmd, or None
    testpmd_factor      how many of testpmd's units of work one of ours is (an exchange is two packets)
"""
import datetime
import json
import os
import statistics

from . import machine

VERSION = 2


class Result:
    def __init__(self, quick=False):
        self.cases = {}
        self.skipped = []  # sentences
        self.calibration_ns = []
        self.tables = {}  # further tables, as Markdown
        self.head = {"version": VERSION, "date": datetime.datetime.now().isoformat(timespec="seconds"),
                     "commit": machine.commit(), "machine": machine.describe(), "quick": quick}

    def add(self, part, bench, case, unit, sample, better="lower", best=None, **more):
        """One sample; what the others of the case have said besides stays."""
        key = (part, bench, case)
        if key not in self.cases:
            self.cases[key] = {"part": part, "bench": bench, "case": case, "unit": unit, "better": better,
                               "samples": [], "target": None, "goal": None, "peer": None, "testpmd": None,
                               "testpmd_factor": 1, **more}
        found = self.cases[key]
        found["samples"].append(sample)
        if best is not None:
            worst = float("inf") if better == "lower" else float("-inf")
            found["best"] = (min if better == "lower" else max)(found.get("best", worst), best)
        return found

    def skip(self, what, why):
        self.skipped.append(f"{what}: {why}")

    def find(self, part, bench, case):
        return self.cases.get((part, bench, case))

    def rows(self):
        return list(self.cases.values())

    def document(self):
        return {**self.head, "calibration_ns": self.calibration_ns, "skipped": self.skipped, "tables": self.tables,
                "cases": self.rows()}

    def save(self, path):
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            json.dump(self.document(), f, indent=1)
            f.write("\n")


def load(path):
    """The document of a file. Raises ValueError with a sentence when it is none of ours."""
    try:
        with open(path) as f:
            document = json.load(f)
    except (OSError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(document, dict) or document.get("version") != VERSION:
        raise ValueError(f"{path}: no result of this version of scripts/bench")
    return document


def median(row):
    return statistics.median(row["samples"])


def best(row):
    return row.get("best", median(row))
